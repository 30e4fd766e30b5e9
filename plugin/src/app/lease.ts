import { MappingType } from '@grafana/data';
import { BigValueColorMode, BigValueTextMode, GraphDrawStyle } from '@grafana/schema';
import {
  EmbeddedScene,
  PanelBuilders,
  SceneAppPage,
  SceneAppPageLike,
  SceneFlexItem,
  SceneFlexLayout,
  SceneRouteMatch,
  VizPanel,
} from '@grafana/scenes';
import { ask, pageState } from './controls';
import { LEASES } from './ids';

/** One lease: what it cost beside its use, and what its SLA is worth. */
export function leasePage(match: SceneRouteMatch<{ lease: string }>, parent: SceneAppPageLike): SceneAppPage {
  const lease = nameOf(match.params.lease);
  return new SceneAppPage({
    title: lease,
    subTitle: 'What did this lease cost, how was it used, and was its SLA kept?',
    url: `${LEASES}/${encodeURIComponent(lease)}`,
    routePath: ':lease/*',
    getParentPage: () => parent,
    getScene: () => leaseScene(lease),
  });
}

/** The router may hand the name over encoded; a name that is not so encoded stays as it is. */
export function nameOf(param: string): string {
  try {
    return decodeURIComponent(param);
  } catch {
    return param;
  }
}

export function leaseScene(lease: string): EmbeddedScene {
  return new EmbeddedScene({
    ...pageState(),
    body: new SceneFlexLayout({
      direction: 'column',
      children: [
        new SceneFlexItem({ height: 120, body: verdict(lease) }),
        new SceneFlexItem({ minHeight: 320, body: costBesideUse(lease) }),
        new SceneFlexItem({ minHeight: 260, body: cards(lease) }),
        new SceneFlexItem({ minHeight: 220, body: downtime(lease) }),
      ],
    }),
  });
}

function verdict(lease: string): VizPanel {
  return PanelBuilders.stat()
    .setTitle('Was the SLA of the present month kept?')
    .setDescription('Unknown time counts as down in the low bound and as up in the high one.')
    .setData(ask({ type: 'sla', lease }))
    .setNoValue('no data')
    .setOption('textMode', BigValueTextMode.ValueAndName)
    .setOption('colorMode', BigValueColorMode.None)
    .setOption('reduceOptions', {
      calcs: ['lastNotNull'],
      fields: '/^(Verdict|Availability, .*|Target|Down|No data|Budget left|Credit)$/',
    })
    .setOverrides((b) =>
      b.matchFieldsWithName('outcome').overrideMappings([
        {
          type: MappingType.ValueToText,
          options: {
            Kept: { text: '●\u00a0Kept', color: '#1a7f5a' },
            Breached: { text: '✕\u00a0Breached', color: '#c0362c' },
            'Not proven': { text: '?\u00a0Not\u00a0proven', color: '#8b5fbf' },
          },
        },
      ])
    )
    .build();
}

function costBesideUse(lease: string): VizPanel {
  return PanelBuilders.timeseries()
    .setTitle('What did it cost beside its use?')
    .setDescription('Bars are money by the step, the line is the utilisation of measured time. A gap was not measured.')
    .setData(ask({ type: 'usage', lease, metric: 'cost' }, { type: 'usage', lease, metric: 'utilization' }))
    .setNoValue('no usage in this span')
    .setOverrides((b) =>
      b
        .matchFieldsWithName('cost')
        .overrideMin(0)
        .overrideCustomFieldConfig('drawStyle', GraphDrawStyle.Bars)
        .overrideCustomFieldConfig('fillOpacity', 40)
        .overrideColor({ mode: 'fixed', fixedColor: '#0072b2' })
        .matchFieldsWithName('utilization')
        .overrideMin(0)
        .overrideMax(1)
        .overrideCustomFieldConfig('lineWidth', 2)
        .overrideColor({ mode: 'fixed', fixedColor: '#e69f00' })
    )
    .build();
}

function cards(lease: string): VizPanel {
  return PanelBuilders.table()
    .setTitle('Which of its GPUs and slices earn their cost?')
    .setDescription('Empty where no GPU served the lease in the chosen time. A blank figure was not measured.')
    .setData(ask({ type: 'cards', lease }))
    .setNoValue('no GPU in this span')
    .build();
}

function downtime(lease: string): VizPanel {
  return PanelBuilders.table()
    .setTitle('Which downtime is recorded, and who saw it?')
    .setDescription('Empty where the lease had no downtime in the chosen time.')
    .setData(ask({ type: 'downtime', lease }))
    .setNoValue('no downtime in this span')
    .build();
}
