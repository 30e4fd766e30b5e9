import './publicPath';
import { lazy, Suspense } from 'react';
import { AppPlugin, AppRootProps } from '@grafana/data';
import { LoadingPlaceholder } from '@grafana/ui';

// Scenes are a hundred times the size of this file: they are loaded with the first page.
const App = lazy(() => import('./app/App'));

export function Root(_: AppRootProps) {
  return (
    <Suspense fallback={<LoadingPlaceholder text="Loading Leasewatch" />}>
      <App />
    </Suspense>
  );
}

export const plugin = new AppPlugin().setRootPage(Root);
