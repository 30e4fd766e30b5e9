import { fireEvent, render, screen } from '@testing-library/react';
import { DataSourcePluginOptionsEditorProps } from '@grafana/data';
import { ConfigEditor } from './ConfigEditor';
import { LeasewatchOptions, LeasewatchSecrets } from './types';

type Props = DataSourcePluginOptionsEditorProps<LeasewatchOptions, LeasewatchSecrets>;

function show(options: Partial<Props['options']>) {
  const onOptionsChange = jest.fn();
  const whole = { jsonData: {}, secureJsonFields: {}, ...options } as Props['options'];
  render(<ConfigEditor options={whole} onOptionsChange={onOptionsChange} />);
  return onOptionsChange;
}

describe('ConfigEditor', () => {
  it('takes the address without blanks', () => {
    const changed = show({});
    fireEvent.change(screen.getByLabelText(/Server/), { target: { value: ' http://gpu-house:8080 ' } });
    expect(changed.mock.calls[0][0].jsonData).toEqual({ url: 'http://gpu-house:8080' });
  });

  it('keeps the token apart from what viewers may read', () => {
    const changed = show({ jsonData: { url: 'http://h' } });
    fireEvent.change(screen.getByLabelText(/Token/), { target: { value: 'lw_1' } });
    expect(changed.mock.calls[0][0].secureJsonData).toEqual({ token: 'lw_1' });
    expect(JSON.stringify(changed.mock.calls[0][0].jsonData)).not.toContain('lw_1');
  });

  it('does not show a token that is set, and forgets it on reset', () => {
    const changed = show({ secureJsonFields: { token: true } });
    expect(screen.getByLabelText(/Token/)).toBeDisabled();
    fireEvent.click(screen.getByText('Reset'));
    expect(changed.mock.calls[0][0]).toMatchObject({ secureJsonFields: { token: false }, secureJsonData: { token: '' } });
  });

  it('grants alerting and anonymous visitors each by itself, neither by default', () => {
    const changed = show({});
    expect(screen.getByLabelText(/Allow alerting/)).not.toBeChecked();
    expect(screen.getByLabelText(/Allow anonymous/)).not.toBeChecked();
    fireEvent.click(screen.getByLabelText(/Allow alerting/));
    expect(changed.mock.calls[0][0].jsonData).toEqual({ allowAlerting: true });
  });
});
