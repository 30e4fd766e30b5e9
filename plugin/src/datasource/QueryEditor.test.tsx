import { fireEvent, render, screen, waitFor } from '@testing-library/react';
import { LeasewatchDataSource } from './datasource';
import { QueryEditor } from './QueryEditor';
import { LeasewatchQuery } from './types';

function show(query: Partial<LeasewatchQuery>, getLeases = jest.fn().mockResolvedValue([{ lease: 'acme-train', tenant: 'acme', sku: 'h100' }])) {
  const onChange = jest.fn();
  const onRunQuery = jest.fn();
  const datasource = { getLeases } as unknown as LeasewatchDataSource;
  render(<QueryEditor datasource={datasource} query={{ refId: 'A', ...query } as LeasewatchQuery} onChange={onChange} onRunQuery={onRunQuery} />);
  return { onChange, onRunQuery, getLeases };
}

describe('QueryEditor', () => {
  it('asks for a lease only where one is needed', async () => {
    const { getLeases } = show({ type: 'leases' });
    expect(screen.getByLabelText('Query type')).toHaveValue('Leases');
    expect(screen.queryByLabelText('Lease')).not.toBeInTheDocument();
    await waitFor(() => expect(getLeases).toHaveBeenCalled());
  });

  it('shows the fields of each type', async () => {
    show({ type: 'usage', lease: 'acme-train', step: 'day' });
    await waitFor(() => expect(screen.getByLabelText('Lease')).toHaveValue('acme-train'));
    expect(screen.getByLabelText('Step')).toHaveValue('Day');
    expect(screen.getByLabelText('Metric')).toHaveValue('All');
    expect(screen.queryByLabelText('Month')).not.toBeInTheDocument();
  });

  it('takes the month when its field is left, and runs the query', async () => {
    const { onChange, onRunQuery } = show({ type: 'sla', lease: 'acme-train' });
    fireEvent.change(screen.getByLabelText('Month'), { target: { value: ' 2026-05 ' } });
    fireEvent.blur(screen.getByLabelText('Month'));
    expect(onChange).toHaveBeenCalledWith(expect.objectContaining({ type: 'sla', lease: 'acme-train', month: '2026-05' }));
    await waitFor(() => expect(onRunQuery).toHaveBeenCalled());
  });

  it('offers no metric where rows are no numbers', async () => {
    const { getLeases } = show({ type: 'downtime', lease: 'acme-train' });
    expect(screen.queryByLabelText('Metric')).not.toBeInTheDocument();
    await waitFor(() => expect(getLeases).toHaveBeenCalled());
  });

  it('says why the leases cannot be listed', async () => {
    show({ type: 'usage' }, jest.fn().mockRejectedValue({ data: { message: 'the server does not know the token' } }));
    expect(await screen.findByText('the server does not know the token')).toBeInTheDocument();
  });
});
