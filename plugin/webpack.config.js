// Three plugins, three compilations: one build with three entries breaks the lazy chunks of
// the nested plugins (they would be looked for in the wrong folder).
const fs = require('fs');
const path = require('path');
const webpack = require('webpack');
const CopyPlugin = require('copy-webpack-plugin');
const pkg = require('./package.json');

// What Grafana hands to plugins at run time. Strings match exactly, so the jsx runtimes are
// listed beside react. react-router-dom is not here on purpose: 12.3 gives version 5 under that name.
const externals = [
  'react',
  'react-dom',
  'react/jsx-runtime',
  'react/jsx-dev-runtime',
  'react-router',
  'rxjs',
  'lodash',
  'i18next',
  '@emotion/css',
  '@emotion/react',
  // AMD's own module object, for the public path.
  { 'amd-module': 'module' },
  ({ request }, done) => (/^@grafana\/(data|ui|runtime)(\/|$)/.test(request) ? done(null, request) : done()),
];

const today = new Date(process.env.SOURCE_DATE_EPOCH ? process.env.SOURCE_DATE_EPOCH * 1000 : Date.now())
  .toISOString()
  .slice(0, 10);

function stamp(content) {
  return content.toString().replaceAll('%VERSION%', pkg.version).replaceAll('%TODAY%', today);
}

/** One plugin: its id, its folder below src and where its bundle goes below dist. */
function plugin(id, folder, extra = []) {
  const src = path.resolve(__dirname, 'src', folder);
  const out = path.resolve(__dirname, 'dist', folder);
  return {
    name: id,
    mode: 'production',
    context: src,
    target: 'web',
    entry: { module: './module.tsx' },
    devtool: 'source-map',
    cache: false,
    externals,
    output: {
      path: out,
      filename: '[name].js',
      chunkFilename: '[name].js?_cache=[contenthash]',
      library: { type: 'amd' },
      publicPath: `public/plugins/${id}/`,
      uniqueName: id,
      clean: false,
      crossOriginLoading: 'anonymous',
    },
    resolve: { extensions: ['.ts', '.tsx', '.mjs', '.js'] },
    module: {
      rules: [
        { test: /\.mjs$/, type: 'javascript/auto', resolve: { fullySpecified: false } },
        {
          test: /\.tsx?$/,
          exclude: /node_modules/,
          use: {
            loader: 'swc-loader',
            options: {
              jsc: {
                target: 'es2022',
                parser: { syntax: 'typescript', tsx: true },
                transform: { react: { runtime: 'automatic' } },
              },
            },
          },
        },
      ],
    },
    plugins: [
      // AMD's own "module" tells the address that Grafana loaded the bundle from.
      new webpack.BannerPlugin({ banner: '/* leasewatch */', raw: true, entryOnly: true }),
      new CopyPlugin({
        patterns: [
          { from: 'plugin.json', to: '.', transform: stamp },
          { from: path.resolve(__dirname, 'src/img'), to: 'img' },
          ...extra,
        ],
      }),
    ],
    performance: { hints: false },
  };
}

function fromRoot(name, to = '.') {
  const file = path.resolve(__dirname, name);
  return fs.existsSync(file) ? [{ from: file, to }] : [];
}

module.exports = [
  plugin('leasewatch-gpu-app', '.', [
    ...fromRoot('README.md'),
    ...fromRoot('CHANGELOG.md'),
    ...fromRoot('../LICENSE'),
    ...fromRoot('../dashboards/json', 'dashboards'),
  ]),
  plugin('leasewatch-gpu-datasource', 'datasource'),
  plugin('leasewatch-gpu-efficiency-panel', 'panel'),
];
