// The options that Grafana's own front end registers for every panel: which of a field's
// settings exist and how an override is applied. Their editors are never shown here.
import {
  dataLinksOverrideProcessor,
  displayNameOverrideProcessor,
  FieldConfigPropertyItem,
  FieldOverrideContext,
  identityOverrideProcessor,
  numberOverrideProcessor,
  standardEditorsRegistry,
  standardFieldConfigEditorRegistry,
  StandardEditorProps,
  thresholdsOverrideProcessor,
  unitOverrideProcessor,
  valueMappingsOverrideProcessor,
} from '@grafana/data';

type Process = (value: never, context: FieldOverrideContext, settings?: never) => unknown;

const properties: Array<[string, unknown]> = [
  ['displayName', displayNameOverrideProcessor],
  ['unit', unitOverrideProcessor],
  ['min', numberOverrideProcessor],
  ['max', numberOverrideProcessor],
  ['decimals', numberOverrideProcessor],
  ['noValue', displayNameOverrideProcessor],
  ['thresholds', thresholdsOverrideProcessor],
  ['mappings', valueMappingsOverrideProcessor],
  ['links', dataLinksOverrideProcessor],
  ['color', identityOverrideProcessor],
];

const Nothing = (_: StandardEditorProps) => null;

export function register() {
  standardEditorsRegistry.setInit(() =>
    ['number', 'slider', 'text', 'select', 'radio', 'boolean', 'multi-select', 'strings', 'color', 'unit', 'links'].map((id) => ({
      id,
      name: id,
      editor: Nothing,
    }))
  );
  standardFieldConfigEditorRegistry.setInit(() =>
    properties.map(([id, process]) => {
      const item: FieldConfigPropertyItem = {
        id,
        path: id,
        name: id,
        editor: Nothing,
        override: Nothing,
        process: process as Process as FieldConfigPropertyItem['process'],
        shouldApply: () => true,
      };
      return item;
    })
  );
}
