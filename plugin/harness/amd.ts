// Loads the plugin's bundles the way Grafana does: as anonymous AMD modules whose externals
// are the host's own packages.
import * as emotionCss from '@emotion/css';
import * as emotionReact from '@emotion/react';
import * as grafanaData from '@grafana/data';
import * as grafanaRuntime from '@grafana/runtime';
import * as grafanaRuntimeUnstable from '@grafana/runtime/unstable';
import * as grafanaUi from '@grafana/ui';
import i18next from 'i18next';
import lodash from 'lodash';
import * as react from 'react';
import * as jsxDevRuntime from 'react/jsx-dev-runtime';
import * as jsxRuntime from 'react/jsx-runtime';
import * as reactDom from 'react-dom';
import * as reactRouter from 'react-router';
import * as rxjs from 'rxjs';

const shared: Record<string, unknown> = {
  react,
  'react-dom': reactDom,
  'react/jsx-runtime': jsxRuntime,
  'react/jsx-dev-runtime': jsxDevRuntime,
  'react-router': reactRouter,
  rxjs,
  lodash,
  '@emotion/css': emotionCss,
  '@emotion/react': emotionReact,
  i18next,
  '@grafana/data': grafanaData,
  '@grafana/ui': grafanaUi,
  '@grafana/runtime': grafanaRuntime,
  '@grafana/runtime/unstable': grafanaRuntimeUnstable,
};

type Factory = (...dependencies: unknown[]) => unknown;
type Define = ((dependencies: string[], factory: Factory) => void) & { amd?: object };

declare global {
  interface Window {
    define?: Define;
  }
}

/** Loads one module.js and returns what it exports. */
export function load<T>(uri: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const define: Define = (dependencies, factory) => {
      const values = dependencies.map((name) => {
        const value = name === 'module' ? { uri } : shared[name];
        if (!value) {
          reject(new Error(`${uri} asks for ${name}, which the host does not share`));
        }
        return value;
      });
      resolve(factory(...values) as T);
    };
    define.amd = {};
    window.define = define;
    const script = document.createElement('script');
    script.src = uri;
    script.onerror = () => reject(new Error(`${uri} does not load`));
    document.head.append(script);
  });
}
