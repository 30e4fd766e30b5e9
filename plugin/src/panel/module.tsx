import '../publicPath';
import { PanelPlugin } from '@grafana/data';
import { EfficiencyPanel } from './EfficiencyPanel';
import { PanelOptions } from './options';

export const plugin = new PanelPlugin<PanelOptions>(EfficiencyPanel).setPanelOptions((builder) =>
  builder
    .addNumberInput({
      path: 'wasteBelow',
      name: 'Waste below',
      description: 'Leases under this utilisation (0 to 1) and above the middle cost lie in the waste corner',
      defaultValue: 0.5,
      settings: { min: 0, max: 1, step: 0.05 },
    })
    .addBooleanSwitch({
      path: 'labels',
      name: 'Names beside points',
      defaultValue: true,
    })
    .addTextInput({
      path: 'leaseLink',
      name: 'Link of a point',
      description: 'An address; ${lease} is replaced by the name of the lease',
      defaultValue: '',
    })
);
