// The harness: a page that stands in for Grafana's own front end, so that the plugin's real
// bundles run in a real browser without a Grafana server. Never part of the plugin.
const path = require('path');

module.exports = {
  name: 'leasewatch-harness',
  mode: 'development',
  context: __dirname,
  target: 'web',
  entry: { harness: './index.tsx' },
  devtool: false,
  cache: false,
  output: { path: path.resolve(__dirname, 'dist'), filename: '[name].js', publicPath: '/harness/', uniqueName: 'leasewatch-harness', clean: true },
  resolve: {
    extensions: ['.ts', '.tsx', '.mjs', '.js'],
    // Editors and maps that no page of ours shows are half of the build.
    alias: { 'monaco-editor': false, '@monaco-editor/react': false, ol: false },
    fallback: { stream: false, zlib: false },
  },
  module: {
    // Some of Grafana's packages name exports that their own dependencies no longer have.
    parser: { javascript: { exportsPresence: 'warn' } },
    rules: [
      { test: /\.m?js$/, type: 'javascript/auto', resolve: { fullySpecified: false } },
      { test: /\.css$/, use: ['style-loader', 'css-loader'] },
      {
        test: /\.tsx?$/,
        exclude: /node_modules/,
        use: {
          loader: 'swc-loader',
          options: {
            jsc: { target: 'es2022', parser: { syntax: 'typescript', tsx: true }, transform: { react: { runtime: 'automatic' } } },
          },
        },
      },
    ],
  },
  ignoreWarnings: [/export .* was not found/, /Critical dependency/],
  performance: { hints: false },
};
