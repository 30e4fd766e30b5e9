import { SceneApp, useSceneApp } from '@grafana/scenes';
import { leasesPage } from './leases';

function newApp(): SceneApp {
  return new SceneApp({ pages: [leasesPage()], urlSyncOptions: { updateUrlOnInit: true, createBrowserHistorySteps: true } });
}

export default function App() {
  const app = useSceneApp(newApp);
  return <app.Component model={app} />;
}
