import { useEffect, useState } from 'react';
import { QueryEditorProps } from '@grafana/data';
import { Combobox, InlineField, Input, Stack } from '@grafana/ui';
import { LeasewatchDataSource } from './datasource';
import { LeaseChoice, LeasewatchOptions, LeasewatchQuery, METRICS, QueryType } from './types';

type Props = QueryEditorProps<LeasewatchDataSource, LeasewatchQuery, LeasewatchOptions>;

const TYPES: Array<{ value: QueryType; label: string; description: string }> = [
  { value: 'leases', label: 'Leases', description: 'One row a lease: cost against utilisation' },
  { value: 'usage', label: 'Cost and use', description: 'One lease over time: cost beside utilisation' },
  { value: 'cards', label: 'GPUs and MIG instances', description: 'One lease, one row a GPU or slice: cost against utilisation' },
  { value: 'sla', label: 'SLA', description: 'One lease: the verdict of a month, with both bounds' },
  { value: 'downtime', label: 'Downtime', description: 'One lease: every downtime with its witnesses' },
];

const STEPS: Array<{ value: '' | 'hour' | 'day'; label: string }> = [
  { value: '', label: 'Fits the span' },
  { value: 'hour', label: 'Hour' },
  { value: 'day', label: 'Day' },
];

export function QueryEditor({ datasource, query, onChange, onRunQuery }: Props) {
  const [leases, setLeases] = useState<LeaseChoice[]>([]);
  const [error, setError] = useState<string>();
  const type = query.type ?? 'leases';

  useEffect(() => {
    let open = true;
    datasource
      .getLeases()
      .then((found) => open && setLeases(found))
      .catch((cause) => open && setError(cause?.data?.message ?? cause?.message ?? 'the leases cannot be listed'));
    return () => {
      open = false;
    };
  }, [datasource]);

  const change = (part: Partial<LeasewatchQuery>) => {
    onChange({ ...query, type, ...part });
    onRunQuery();
  };
  const metrics = [{ value: '', label: 'All' }, ...METRICS[type]];

  return (
    <Stack direction="row" wrap="wrap" gap={0.5}>
      <InlineField label="Query" labelWidth={12}>
        <Combobox
          width={24}
          options={TYPES}
          value={type}
          onChange={(option) => change({ type: option.value, metric: '' })}
          aria-label="Query type"
        />
      </InlineField>
      {type !== 'leases' && (
        <InlineField label="Lease" labelWidth={12} invalid={Boolean(error)} error={error}>
          <Combobox
            width={32}
            createCustomValue
            placeholder="Choose a lease, or a variable such as $lease"
            options={leases.map((l) => ({ value: l.lease, label: l.lease, description: `${l.tenant}, ${l.sku}` }))}
            value={query.lease ?? null}
            onChange={(option) => change({ lease: option.value })}
            aria-label="Lease"
          />
        </InlineField>
      )}
      {type === 'usage' && (
        <InlineField label="Step" labelWidth={12}>
          <Combobox
            width={20}
            options={STEPS}
            value={query.step ?? ''}
            onChange={(option) => change({ step: option.value })}
            aria-label="Step"
          />
        </InlineField>
      )}
      {type === 'sla' && (
        <InlineField label="Month" labelWidth={12} tooltip="A month of the contract, as YYYY-MM; empty is the present one">
          <Input
            width={16}
            placeholder="YYYY-MM"
            defaultValue={query.month ?? ''}
            onBlur={(event) => change({ month: event.currentTarget.value.trim() })}
            aria-label="Month"
          />
        </InlineField>
      )}
      {metrics.length > 1 && (
        <InlineField label="Metric" labelWidth={12} tooltip="Alert rules need one metric">
          <Combobox
            width={32}
            options={metrics}
            value={query.metric ?? ''}
            onChange={(option) => change({ metric: option.value })}
            aria-label="Metric"
          />
        </InlineField>
      )}
    </Stack>
  );
}
