import { Component, ComponentType, ReactNode, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { MemoryRouter, Route, Routes } from 'react-router';
import {
  AppPlugin,
  applyFieldOverrides,
  AppRootProps,
  createTheme,
  DataQuery,
  DataSourceApi,
  DataSourcePluginOptionsEditorProps,
  DataSourceSettings,
  dateTime,
  LoadingState,
  PanelData,
  QueryEditorProps,
  ThemeContext,
} from '@grafana/data';
import { getBackendSrv, getRunRequest, locationService, LocationServiceProvider } from '@grafana/runtime';
import { GlobalStyles, PortalContainer, Table } from '@grafana/ui';
import { load } from './amd';
import { start } from './host';

const asked = new URLSearchParams(location.search);
const theme = createTheme({ colors: { mode: asked.get('theme') === 'dark' ? 'dark' : 'light' } });
const view = asked.get('view') ?? 'leases';

/** Shows what broke, so that the test can say it. */
class Boundary extends Component<{ children: ReactNode }, { error?: Error }> {
  state: { error?: Error } = {};
  static getDerivedStateFromError(error: Error) {
    return { error };
  }
  render() {
    return this.state.error ? <pre data-broken="1">{String(this.state.error.stack)}</pre> : this.props.children;
  }
}

function Page({ Root, path }: { Root: ComponentType<AppRootProps>; path: string }) {
  const props = { path, basename: '/a/leasewatch-gpu-app', query: {}, meta: {} } as unknown as AppRootProps;
  return (
    <MemoryRouter initialEntries={[path]}>
      <Routes>
        <Route path="/a/leasewatch-gpu-app/*" element={<Root {...props} />} />
      </Routes>
    </MemoryRouter>
  );
}

type Editor = ComponentType<QueryEditorProps<DataSourceApi, DataQuery>>;

/** The query editor, with what its query gives as a table below it. */
function Query({ Edit, source, first }: { Edit: Editor; source: DataSourceApi; first: DataQuery }) {
  const [query, setQuery] = useState(first);
  const [data, setData] = useState<PanelData>();
  const run = () => {
    const from = dateTime().subtract(30, 'days');
    const to = dateTime();
    const range = { from, to, raw: { from: 'now-30d', to: 'now' } };
    const request = {
      requestId: 'Q', app: 'explore', interval: '1h', intervalMs: 3_600_000, maxDataPoints: 500, range, scopedVars: {},
      startTime: Date.now(), targets: [query], timezone: 'utc',
    };
    getRunRequest()(source, request).subscribe(setData);
  };
  const frames = applyFieldOverrides({
    data: data?.series ?? [],
    fieldConfig: { defaults: {}, overrides: [] },
    replaceVariables: (text) => text,
    theme,
    timeZone: 'utc',
  });
  return (
    <div style={{ padding: 16 }}>
      <Edit datasource={source} query={query} onChange={setQuery} onRunQuery={() => undefined} />
      <button id="run" onClick={run}>
        Run query
      </button>
      {data?.state === LoadingState.Error && <p role="alert">{data.error?.message ?? 'the query failed'}</p>}
      {frames[0] && <Table data={frames[0]} width={1200} height={300} />}
    </div>
  );
}

function Settings({ Edit, uid, options }: { Edit: ComponentType<DataSourcePluginOptionsEditorProps>; uid: string; options: unknown }) {
  const [now, setNow] = useState(options as DataSourceSettings);
  const [message, setMessage] = useState('');
  const test = async () => {
    const health = await getBackendSrv().get(`/api/datasources/uid/${uid}/health`);
    setMessage(`${health.status}: ${health.message}`);
  };
  return (
    <div style={{ padding: 16, maxWidth: 800 }}>
      <Edit options={now} onOptionsChange={(next) => setNow(next as DataSourceSettings)} />
      <button id="test" onClick={test}>
        Save &amp; test
      </button>
      <p role="status">{message}</p>
    </div>
  );
}

async function screen(): Promise<ReactNode> {
  const { plugin, instance, settings } = await start();
  switch (view) {
    case 'query':
      return (
        <Query
          Edit={plugin.components.QueryEditor as Editor}
          source={instance}
          first={JSON.parse(asked.get('query') ?? '{"refId":"A","type":"leases"}')}
        />
      );
    case 'config':
      return (
        <Settings
          Edit={plugin.components.ConfigEditor as unknown as ComponentType<DataSourcePluginOptionsEditorProps>}
          uid={settings.uid}
          options={{ jsonData: settings.jsonData, secureJsonFields: { token: true }, secureJsonData: {} }}
        />
      );
  }
  const app = await load<{ plugin: AppPlugin }>('/public/plugins/leasewatch-gpu-app/module.js');
  return <Page Root={app.plugin.root!} path={`/a/leasewatch-gpu-app/${view}`} />;
}

document.body.style.background = theme.colors.background.canvas;
screen()
  .then((content) =>
    createRoot(document.getElementById('root')!).render(
      <ThemeContext.Provider value={theme}>
        <GlobalStyles />
        <LocationServiceProvider service={locationService}>
          <Boundary>{content}</Boundary>
        </LocationServiceProvider>
        <PortalContainer />
      </ThemeContext.Provider>
    )
  )
  .catch((cause) => {
    document.body.innerHTML = '<pre data-broken="1"></pre>';
    document.querySelector('pre')!.textContent = String(cause?.stack ?? cause);
  });
