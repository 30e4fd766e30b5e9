import { render, screen } from '@testing-library/react';
import { createDataFrame, DataFrame, FieldType, LoadingState, PanelProps } from '@grafana/data';
import { EfficiencyPanel, niceStep } from './EfficiencyPanel';
import { PanelOptions } from './options';

const options: PanelOptions = { wasteBelow: 0.5, labels: true, leaseLink: '/a/leasewatch-gpu-app/leases/${lease}' };

function leases(rows: Array<[string, number, number | null]>): DataFrame {
  return createDataFrame({
    fields: [
      { name: 'lease', type: FieldType.string, values: rows.map((r) => r[0]) },
      { name: 'tenant', type: FieldType.string, values: rows.map(() => 'acme') },
      { name: 'currency', type: FieldType.string, values: rows.map(() => 'USD') },
      { name: 'gpus', type: FieldType.number, values: rows.map(() => 8) },
      { name: 'cost', type: FieldType.number, values: rows.map((r) => r[1]) },
      { name: 'utilization', type: FieldType.number, values: rows.map((r) => r[2]) },
      { name: 'coverage', type: FieldType.number, values: rows.map(() => 0.98) },
    ],
  });
}

function show(series: DataFrame[], changed: Partial<PanelOptions> = {}) {
  const props = { data: { series, state: LoadingState.Done }, width: 600, height: 400, options: { ...options, ...changed } };
  return render(<EfficiencyPanel {...(props as unknown as PanelProps<PanelOptions>)} />);
}

describe('EfficiencyPanel', () => {
  it('tells each lease in words, with its coverage and whether it is waste', () => {
    show([leases([['train', 100, 0.726], ['idle', 200, 0.084]])]);
    expect(screen.getByRole('img', { name: 'train (acme), 8 GPUs: 100.00 USD, 72.6 % used, 98.0 % seen' })).toBeInTheDocument();
    expect(screen.getByRole('img', { name: 'idle (acme), 8 GPUs: 200.00 USD, 8.4 % used, 98.0 % seen, waste' })).toBeInTheDocument();
  });

  it('leads from a point to its lease, with the name escaped', () => {
    show([leases([['a/b c', 100, 0.7]])]);
    expect(screen.getByRole('link')).toHaveAttribute('href', '/a/leasewatch-gpu-app/leases/a%2Fb%20c');
  });

  it('never leads to a script', () => {
    show([leases([['train', 100, 0.7]])], { leaseLink: 'javascript:alert(1)' });
    expect(screen.queryByRole('link')?.getAttribute('href') ?? '').not.toContain('javascript:');
  });

  it('can be reached by keyboard where a point leads nowhere', () => {
    show([leases([['train', 100, 0.7]])], { leaseLink: '' });
    expect(screen.getByRole('img')).toHaveAttribute('tabindex', '0');
  });

  it('names the leases that it cannot place', () => {
    show([leases([['train', 100, 0.7], ['dark', 50, null]])]);
    expect(screen.getByText('not measured: dark')).toBeInTheDocument();
  });

  it('says why it is empty', () => {
    const { unmount } = show([]);
    expect(screen.getByRole('note')).toHaveTextContent('No lease in this span');
    unmount();
    show([leases([['dark', 50, null]])]);
    expect(screen.getByRole('note')).toHaveTextContent('Use was not measured for dark');
  });

  it('draws a lease that cost nothing', () => {
    show([leases([['free', 0, 0.5]])]);
    expect(screen.getByRole('img')).toBeInTheDocument();
  });
});

it.each([
  [0, 1],
  [4, 1],
  [5846, 2000],
  [6932, 2000],
  [0.9, 0.2],
])('niceStep(%d) is %d', (max, step) => expect(niceStep(max)).toBeCloseTo(step, 10));
