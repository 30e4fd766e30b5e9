import {
  DataSourceVariable,
  EmbeddedSceneState,
  SceneControlsSpacer,
  SceneQueryRunner,
  SceneRefreshPicker,
  SceneTimePicker,
  SceneTimeRange,
  SceneVariableSet,
  VariableValueSelectors,
} from '@grafana/scenes';
import { LeasewatchQuery } from '../datasource/types';
import { CHOSEN, DATASOURCE } from './ids';

/** What every page has: a time range, the choice of data source, refresh. */
export function pageState(): Pick<EmbeddedSceneState, '$timeRange' | '$variables' | 'controls'> {
  return {
    $timeRange: new SceneTimeRange({ from: 'now-30d', to: 'now' }),
    $variables: new SceneVariableSet({
      variables: [new DataSourceVariable({ name: 'ds', label: 'Data source', pluginId: DATASOURCE })],
    }),
    controls: [
      new VariableValueSelectors({}),
      new SceneControlsSpacer(),
      new SceneTimePicker({ isOnCanvas: true }),
      new SceneRefreshPicker({ intervals: ['1m', '5m', '1h'], isOnCanvas: true }),
    ],
  };
}

/** Runs queries against the chosen data source. */
export function ask(...queries: Array<Omit<LeasewatchQuery, 'refId'>>): SceneQueryRunner {
  return new SceneQueryRunner({
    datasource: CHOSEN,
    queries: queries.map((query, i) => ({ refId: String.fromCharCode(65 + i), ...query })),
  });
}
