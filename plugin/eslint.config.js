const grafana = require('@grafana/eslint-config/flat');

// The types are those of React 19 and Grafana 13, the host may be React 18 and Grafana 12.3:
// what the older ones lack must not be used, though it compiles.
const react19 = ['use', 'useActionState', 'useOptimistic', 'useEffectEvent', 'Activity'];
const grafana13 = {
  '@grafana/ui': ['Sidebar', 'PageLoader', 'QueryInput', 'CloseButton', 'useFieldContext'],
  '@grafana/data': ['generateUUID', 'getPanelDataSummary'],
  '@grafana/runtime': ['TracedError'],
};

module.exports = [
  { ignores: ['dist/', 'node_modules/', 'harness/dist/'] },
  ...grafana,
  {
    files: ['src/**/*.{ts,tsx}'],
    ignores: ['src/**/*.test.{ts,tsx}'],
    rules: {
      'react/prop-types': 'off', // TypeScript's
      'react/react-in-jsx-scope': 'off', // the automatic runtime
      'no-restricted-imports': [
        'error',
        {
          paths: [
            { name: 'react', importNames: react19, message: 'Grafana 12.3 has React 18.' },
            { name: 'react-router-dom', message: 'Grafana 12.3 gives plugins version 5 under that name.' },
            { name: '@grafana/runtime/unstable', message: 'Grafana 12.3 lacks it.' },
            ...Object.entries(grafana13).map(([name, importNames]) => ({ name, importNames, message: 'Grafana 12.3 lacks it.' })),
          ],
        },
      ],
    },
  },
  {
    files: ['**/*.test.{ts,tsx}', 'harness/**/*.{ts,tsx}'],
    rules: { 'react/prop-types': 'off', 'react/react-in-jsx-scope': 'off' },
  },
];
