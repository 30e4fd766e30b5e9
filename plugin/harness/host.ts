// The services that Grafana's front end gives to plugins, as far as this plugin asks them.
import { catchError, from, map, Observable, of } from 'rxjs';
import {
  DataQueryError,
  DataSourceApi,
  DataSourceInstanceSettings,
  DataSourcePlugin,
  DataSourceRef,
  EventBusSrv,
  LoadingState,
  PanelPlugin,
  ScopedVars,
  toDataFrame,
} from '@grafana/data';
import {
  BackendSrv,
  BackendSrvRequest,
  config,
  DataSourceSrv,
  FetchResponse,
  setAppEvents,
  setBackendSrv,
  setDataSourceSrv,
  setEchoSrv,
  setLocationSrv,
  setPluginImportUtils,
  setRunRequest,
  setTemplateSrv,
} from '@grafana/runtime';
import { initializeLoggersRegistry } from '@grafana/runtime/unstable';
import { load } from './amd';
import { standIns } from './panels';
import { register } from './registry';

const ROOT = '/public/plugins/leasewatch-gpu-app';

async function call(options: BackendSrvRequest): Promise<FetchResponse> {
  const answer = await fetch(options.url, {
    method: options.method ?? 'GET',
    headers: { 'Content-Type': 'application/json', ...options.headers },
    body: options.data === undefined ? undefined : JSON.stringify(options.data),
  });
  const data = await answer.json();
  const { status, statusText, ok, headers, url, redirected, type } = answer;
  const response = { data, status, statusText, ok, headers, url, redirected, type, config: options };
  if (!ok) {
    throw response;
  }
  return response;
}

function backend(): BackendSrv {
  const send = (method: string) => async (url: string, data?: unknown) => (await call({ url, method, data })).data;
  const service: Partial<BackendSrv> = {
    fetch: <T>(options: BackendSrvRequest) => from(call(options)) as Observable<FetchResponse<T>>,
    get: (url: string) => send('GET')(url),
    post: send('POST'),
    put: send('PUT'),
    datasourceRequest: <T>(options: BackendSrvRequest) => call(options) as Promise<FetchResponse<T>>,
  };
  return service as BackendSrv;
}

interface SceneLike {
  parent?: SceneLike;
  state: { $variables?: { state: { variables: Array<{ state: { name: string }; getValue?: () => unknown }> } } };
}

/** Fills ${name} in with the nearest variable of that name above the scene object that asks. */
function fill(text = '', scopedVars?: ScopedVars): string {
  return text.replace(/\$\{(\w+)\}|\$(\w+)/g, (whole, braced, bare) => {
    for (let at = scopedVars?.__sceneObject?.value?.valueOf() as SceneLike | undefined; at; at = at.parent) {
      const found = at.state.$variables?.state.variables.find((v) => v.state.name === (braced ?? bare));
      if (found?.getValue) {
        return String(found.getValue());
      }
    }
    return whole;
  });
}

/** Sets up the host and returns the data source's plugin and its one instance. */
export async function start() {
  initializeLoggersRegistry();
  register();
  setBackendSrv(backend());
  setAppEvents(new EventBusSrv());
  setEchoSrv({ flush() {}, addBackend() {}, addEvent() {}, onInteraction: () => () => undefined });
  setLocationSrv({ update() {} });
  setTemplateSrv({ getVariables: () => [], replace: fill, containsTemplate: () => false, updateTimeRange() {} });

  const settings = Object.values(config.datasources)[0] as DataSourceInstanceSettings;
  const { plugin } = await load<{ plugin: DataSourcePlugin<DataSourceApi> }>(`${ROOT}/datasource/module.js`);
  const { plugin: panel } = await load<{ plugin: PanelPlugin }>(`${ROOT}/panel/module.js`);
  const instance = new plugin.DataSourceClass(settings);
  instance.components = plugin.components;
  instance.meta = settings.meta;

  const mine = (ref?: DataSourceRef | string | null, scopedVars?: ScopedVars) => {
    const uid = fill(typeof ref === 'string' ? ref : ref?.uid, scopedVars);
    return !uid || uid === settings.uid || uid === settings.name;
  };
  const sources: Partial<DataSourceSrv> = {
    get: async (ref, scopedVars) => {
      if (!mine(ref, scopedVars)) {
        throw new Error(`no data source ${JSON.stringify(ref)}`);
      }
      return instance;
    },
    getList: () => [settings],
    getInstanceSettings: (ref, scopedVars) => (mine(ref, scopedVars) ? settings : undefined),
  };
  setDataSourceSrv(sources as DataSourceSrv);

  panel.meta = config.panels['leasewatch-gpu-efficiency-panel'];
  const panels: Record<string, PanelPlugin> = { ...standIns(), 'leasewatch-gpu-efficiency-panel': panel };
  setPluginImportUtils({
    importPanelPlugin: async (id) => panels[id],
    getPanelPluginFromCache: (id) => panels[id],
  });

  setRunRequest((source, request) =>
    from(source.query(request)).pipe(
      map((answer) => ({
        state: answer.errors?.length ? LoadingState.Error : LoadingState.Done,
        series: answer.data.map((frame) => toDataFrame(frame)),
        errors: answer.errors,
        error: answer.errors?.[0],
        request,
        timeRange: request.range,
      })),
      catchError((cause: DataQueryError) =>
        of({ state: LoadingState.Error, series: [], error: cause, errors: [cause], request, timeRange: request.range })
      )
    )
  );
  return { plugin, instance, settings };
}
