import '../publicPath';
import { DataSourcePlugin } from '@grafana/data';
import { ConfigEditor } from './ConfigEditor';
import { LeasewatchDataSource } from './datasource';
import { QueryEditor } from './QueryEditor';
import { LeasewatchOptions, LeasewatchQuery, LeasewatchSecrets } from './types';

export const plugin = new DataSourcePlugin<LeasewatchDataSource, LeasewatchQuery, LeasewatchOptions, LeasewatchSecrets>(
  LeasewatchDataSource
)
  .setConfigEditor(ConfigEditor)
  .setQueryEditor(QueryEditor);
