import { SceneQueryRunner } from '@grafana/scenes';
import { ask } from './controls';
import { leaseScene, nameOf } from './lease';
import { leasesPage, leasesScene } from './leases';

describe('the pages', () => {
  it('live under the path that plugin.json names, with room for a lease below it', () => {
    const page = leasesPage();
    expect(page.state.url).toBe('/a/leasewatch-gpu-app/leases');
    expect(page.state.routePath).toBe('leases/*');
    expect(page.state.drilldowns?.[0].routePath).toBe(':lease/*');
  });

  it('ask only the data source that the picker chose', () => {
    const runner = ask({ type: 'usage', lease: 'a', metric: 'cost' }, { type: 'usage', lease: 'a', metric: 'utilization' });
    expect(runner.state.datasource).toEqual({ type: 'leasewatch-gpu-datasource', uid: '${ds}' });
    expect(runner.state.queries.map((q) => q.refId)).toEqual(['A', 'B']);
  });

  it('have a time range and a choice of data source', () => {
    for (const scene of [leasesScene(), leaseScene('a')]) {
      expect(scene.state.$timeRange?.state.from).toBe('now-30d');
      expect(scene.state.$variables?.state.variables.map((v) => v.state.name)).toEqual(['ds']);
    }
    expect(leasesScene().state.$data).toBeInstanceOf(SceneQueryRunner);
  });

  it('read a name that the router left encoded, and one that only looks so', () => {
    expect(nameOf('a%2Fb%20c')).toBe('a/b c');
    expect(nameOf('100%')).toBe('100%');
  });
});
