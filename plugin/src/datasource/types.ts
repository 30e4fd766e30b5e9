import { DataQuery } from '@grafana/schema';
import { DataSourceJsonData } from '@grafana/data';

/** What a query asks for; the backend's plugin package has the same names. */
export type QueryType = 'leases' | 'usage' | 'cards' | 'sla' | 'downtime';

export interface LeasewatchQuery extends DataQuery {
  type: QueryType;
  lease?: string;
  /** hour, day, or empty for one that fits the span */
  step?: '' | 'hour' | 'day';
  /** one column, as alerting needs it; empty is all */
  metric?: string;
  /** YYYY-MM; empty is the present month */
  month?: string;
}

export const DEFAULT_QUERY: Partial<LeasewatchQuery> = { type: 'leases' };

export interface LeasewatchOptions extends DataSourceJsonData {
  url?: string;
  allowAlerting?: boolean;
  allowAnonymous?: boolean;
}

export interface LeasewatchSecrets {
  token?: string;
}

/** One lease, as the editors offer it. */
export interface LeaseChoice {
  lease: string;
  tenant: string;
  sku: string;
}

/** The columns of each query type that can be chosen alone. */
export const METRICS: Record<QueryType, Array<{ value: string; label: string }>> = {
  leases: [
    { value: 'cost', label: 'Cost' },
    { value: 'idle_cost', label: 'Idle cost' },
    { value: 'utilization', label: 'Utilisation' },
    { value: 'coverage', label: 'Coverage' },
    { value: 'useful_hour_cost', label: 'Cost per used GPU-hour' },
    { value: 'gpus', label: 'GPUs' },
  ],
  usage: [
    { value: 'cost', label: 'Cost' },
    { value: 'idle_cost', label: 'Idle cost' },
    { value: 'utilization', label: 'Utilisation' },
    { value: 'coverage', label: 'Coverage' },
    { value: 'held', label: 'Held by a job' },
    { value: 'working', label: 'Multiprocessors at work' },
  ],
  cards: [
    { value: 'cost', label: 'Cost' },
    { value: 'idle_cost', label: 'Idle cost' },
    { value: 'utilization', label: 'Utilisation' },
    { value: 'coverage', label: 'Coverage' },
    { value: 'working', label: 'Multiprocessors at work' },
    { value: 'useful_hour_cost', label: 'Cost per used hour' },
  ],
  sla: [
    { value: 'availability_low', label: 'Availability, unknown as down' },
    { value: 'availability_high', label: 'Availability, unknown as up' },
    { value: 'coverage', label: 'Coverage' },
    { value: 'down_seconds', label: 'Down' },
    { value: 'unknown_seconds', label: 'No data' },
    { value: 'budget_left_seconds', label: 'Budget left' },
    { value: 'credit', label: 'Credit' },
  ],
  downtime: [],
};
