// Grafana's own panels are not packages: these stand in for them, on the same components.
import {
  FieldConfigProperty,
  getFieldDisplayValues,
  PanelPlugin,
  PanelProps,
  ReduceDataOptions,
} from '@grafana/data';
import { GraphDrawStyle, LegendDisplayMode } from '@grafana/schema';
import { BigValue, BigValueColorMode, BigValueGraphMode, BigValueJustifyMode, Table, TimeSeries, useTheme2 } from '@grafana/ui';
import { config } from '@grafana/runtime';

function TablePanel({ data, width, height }: PanelProps) {
  const frame = data.series[0];
  if (!frame || frame.length === 0) {
    return <p>No data</p>;
  }
  return <Table data={frame} width={width} height={height} columnMinWidth={110} />;
}

function StatPanel({ data, width, height, options, fieldConfig, replaceVariables, timeZone }: PanelProps<{ reduceOptions: ReduceDataOptions }>) {
  const theme = useTheme2();
  const values = getFieldDisplayValues({ data: data.series, reduceOptions: options.reduceOptions, fieldConfig, replaceVariables, theme, timeZone });
  const each = Math.floor(width / Math.max(values.length, 1));
  return (
    <div style={{ display: 'flex' }}>
      {values.map(({ display }, i) => (
        <BigValue
          key={i}
          value={display}
          width={each}
          height={height}
          theme={theme}
          colorMode={BigValueColorMode.None}
          graphMode={BigValueGraphMode.None}
          justifyMode={BigValueJustifyMode.Auto}
        />
      ))}
    </div>
  );
}

function TimeSeriesPanel({ data, width, height, timeRange, timeZone }: PanelProps) {
  if (data.series.length === 0) {
    return <p>No data</p>;
  }
  const legend = { showLegend: true, displayMode: LegendDisplayMode.List, placement: 'bottom' as const, calcs: [] };
  return <TimeSeries frames={data.series} width={width} height={height} timeRange={timeRange} timeZone={timeZone} legend={legend} />;
}

function named(id: string, plugin: PanelPlugin): [string, PanelPlugin] {
  plugin.meta = config.panels[id];
  return [id, plugin];
}

/** The panels of Grafana's that the pages ask for, by their ids. */
export function standIns(): Record<string, PanelPlugin> {
  return Object.fromEntries([
    named('table', new PanelPlugin(TablePanel).useFieldConfig()),
    named('stat', new PanelPlugin<{ reduceOptions: ReduceDataOptions }>(StatPanel).useFieldConfig()),
    named(
      'timeseries',
      new PanelPlugin(TimeSeriesPanel).useFieldConfig({
        standardOptions: { [FieldConfigProperty.Color]: { settings: { byValueSupport: false } } },
        useCustomConfig: (builder) =>
          builder
            .addTextInput({ path: 'drawStyle', name: 'Style', defaultValue: GraphDrawStyle.Line })
            .addNumberInput({ path: 'lineWidth', name: 'Line', defaultValue: 1 })
            .addNumberInput({ path: 'fillOpacity', name: 'Fill', defaultValue: 0 }),
      })
    ),
  ]);
}

