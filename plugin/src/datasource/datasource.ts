import { CoreApp, DataSourceInstanceSettings, MetricFindValue, ScopedVars } from '@grafana/data';
import { DataSourceWithBackend, getTemplateSrv } from '@grafana/runtime';
import { DEFAULT_QUERY, LeaseChoice, LeasewatchOptions, LeasewatchQuery } from './types';

/** The data source: all work is done by its backend; here variables are filled in. */
export class LeasewatchDataSource extends DataSourceWithBackend<LeasewatchQuery, LeasewatchOptions> {
  constructor(settings: DataSourceInstanceSettings<LeasewatchOptions>) {
    super(settings);
  }

  getDefaultQuery(_: CoreApp): Partial<LeasewatchQuery> {
    return DEFAULT_QUERY;
  }

  applyTemplateVariables(query: LeasewatchQuery, scopedVars: ScopedVars): LeasewatchQuery {
    const fill = (text?: string) => (text ? getTemplateSrv().replace(text, scopedVars) : text);
    return { ...query, lease: fill(query.lease), month: fill(query.month) };
  }

  /** A query that names no lease where it needs one is not sent: it is still being written. */
  filterQuery(query: LeasewatchQuery): boolean {
    return !query.hide && ((query.type ?? 'leases') === 'leases' || Boolean(query.lease));
  }

  getLeases(): Promise<LeaseChoice[]> {
    return this.getResource<LeaseChoice[]>('leases');
  }

  /** Dashboard variables list the leases that the token may see. */
  async metricFindQuery(): Promise<MetricFindValue[]> {
    const leases = await this.getLeases();
    return leases.map(({ lease }) => ({ text: lease, value: lease }));
  }
}
