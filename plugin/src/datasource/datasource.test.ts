import { CoreApp, DataSourceInstanceSettings } from '@grafana/data';
import { setTemplateSrv, TemplateSrv } from '@grafana/runtime';
import { LeasewatchDataSource } from './datasource';
import { LeasewatchOptions, LeasewatchQuery } from './types';

const source = () =>
  new LeasewatchDataSource({ uid: 'ds', name: 'Leasewatch', jsonData: {} } as DataSourceInstanceSettings<LeasewatchOptions>);
const query = (part: Partial<LeasewatchQuery>): LeasewatchQuery => ({ refId: 'A', type: 'leases', ...part });

beforeEach(() =>
  setTemplateSrv({ replace: (text = '') => text.replace('$lease', 'acme-train').replace('$month', '2026-05') } as TemplateSrv)
);

describe('the data source', () => {
  it('fills variables in, and leaves the rest as it is', () => {
    expect(source().applyTemplateVariables(query({ type: 'sla', lease: '$lease', month: '$month', metric: 'coverage' }), {})).toEqual({
      refId: 'A', type: 'sla', lease: 'acme-train', month: '2026-05', metric: 'coverage',
    });
    expect(source().applyTemplateVariables(query({}), {})).toEqual({ refId: 'A', type: 'leases', lease: undefined, month: undefined });
  });

  it('does not send a query that is still being written, nor a hidden one', () => {
    expect(source().filterQuery(query({}))).toBe(true);
    expect(source().filterQuery(query({ hide: true }))).toBe(false);
    expect(source().filterQuery(query({ type: 'usage' }))).toBe(false);
    expect(source().filterQuery(query({ type: 'usage', lease: 'a' }))).toBe(true);
  });

  it('takes a query without a type for one of leases, as the backend does', () => {
    expect(source().filterQuery({ refId: 'A' } as LeasewatchQuery)).toBe(true);
  });

  it('starts with the leases, and offers them to variables', async () => {
    const ds = source();
    expect(ds.getDefaultQuery(CoreApp.Explore)).toEqual({ type: 'leases' });
    jest.spyOn(ds, 'getResource').mockResolvedValue([{ lease: 'a', tenant: 't', sku: 's' }]);
    await expect(ds.metricFindQuery()).resolves.toEqual([{ text: 'a', value: 'a' }]);
  });
});
