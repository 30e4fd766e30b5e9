import { EmbeddedScene, PanelBuilders, SceneAppPage, SceneFlexItem, SceneFlexLayout, VizPanel } from '@grafana/scenes';
import { PanelOptions } from '../panel/options';
import { ask, pageState } from './controls';
import { LEASES, PANEL } from './ids';
import { leasePage } from './lease';

/** All leases that the data source shows: the picture first, the table below it. */
export function leasesPage(): SceneAppPage {
  return new SceneAppPage({
    title: 'Leases',
    subTitle: 'Which leases are paid for and little used?',
    url: LEASES,
    routePath: 'leases/*',
    getScene: leasesScene,
    drilldowns: [{ routePath: ':lease/*', getPage: leasePage }],
  });
}

export function leasesScene(): EmbeddedScene {
  return new EmbeddedScene({
    ...pageState(),
    $data: ask({ type: 'leases' }),
    body: new SceneFlexLayout({
      direction: 'column',
      children: [
        new SceneFlexItem({ minHeight: 360, body: efficiencyPanel() }),
        new SceneFlexItem({ minHeight: 280, body: leasesTable() }),
      ],
    }),
  });
}

function efficiencyPanel(): VizPanel {
  const options: PanelOptions = { wasteBelow: 0.5, labels: true, leaseLink: `${LEASES}/\${lease}` };
  return new VizPanel({
    title: 'What does each lease cost against how well it is used?',
    description: 'Upper left is waste: dear and little used. A point is as large as the lease has GPUs, as solid as its use was measured.',
    pluginId: PANEL,
    options,
  });
}

function leasesTable(): VizPanel {
  return PanelBuilders.table()
    .setTitle('How does every lease do?')
    .setDescription('One row a lease over the chosen time. A blank cell was not measured; it is not zero.')
    .setNoValue('not measured')
    .setOverrides((b) =>
      b
        .matchFieldsWithName('lease')
        .overrideLinks([{ title: 'Open the lease', url: `${LEASES}/\${__value.raw:percentencode}` }])
        .matchFieldsWithName('utilization')
        .overrideDecimals(1)
        .matchFieldsWithName('coverage')
        .overrideDecimals(1)
    )
    .build();
}
