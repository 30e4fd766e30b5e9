import { ChangeEvent } from 'react';
import { DataSourcePluginOptionsEditorProps } from '@grafana/data';
import { Field, Input, SecretInput, Switch } from '@grafana/ui';
import { LeasewatchOptions, LeasewatchSecrets } from './types';

type Props = DataSourcePluginOptionsEditorProps<LeasewatchOptions, LeasewatchSecrets>;

export function ConfigEditor({ options, onOptionsChange }: Props) {
  const { jsonData, secureJsonFields, secureJsonData } = options;
  const setJson = (part: Partial<LeasewatchOptions>) =>
    onOptionsChange({ ...options, jsonData: { ...jsonData, ...part } });

  return (
    <>
      <Field label="Server" description="Address of the Leasewatch server, as Grafana reaches it">
        <Input
          id="leasewatch-url"
          width={60}
          placeholder="http://127.0.0.1:8080"
          value={jsonData.url ?? ''}
          onChange={(event: ChangeEvent<HTMLInputElement>) => setJson({ url: event.target.value.trim() })}
        />
      </Field>
      <Field
        label="Token"
        description="From `leasewatch token create`. What this data source shows is what its token may see: give each tenant a data source of its own, with a token of role tenant."
      >
        <SecretInput
          id="leasewatch-token"
          width={60}
          isConfigured={Boolean(secureJsonFields?.token)}
          value={secureJsonData?.token ?? ''}
          onChange={(event: ChangeEvent<HTMLInputElement>) =>
            onOptionsChange({ ...options, secureJsonData: { ...secureJsonData, token: event.target.value } })
          }
          onReset={() =>
            onOptionsChange({
              ...options,
              secureJsonFields: { ...secureJsonFields, token: false },
              secureJsonData: { ...secureJsonData, token: '' },
            })
          }
        />
      </Field>
      <Field label="Allow alerting" description="Alert rules are evaluated for no person: they see what the token may see">
        <Switch
          id="leasewatch-alerting"
          value={jsonData.allowAlerting ?? false}
          onChange={(event) => setJson({ allowAlerting: event.currentTarget.checked })}
        />
      </Field>
      <Field label="Allow anonymous" description="Visitors without a login see what the token may see">
        <Switch
          id="leasewatch-anonymous"
          value={jsonData.allowAnonymous ?? false}
          onChange={(event) => setJson({ allowAnonymous: event.currentTarget.checked })}
        />
      </Field>
    </>
  );
}
