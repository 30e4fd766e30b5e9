// Grafana loads each bundle as an AMD module and tells its address; lazy chunks are looked
// for beside it. This import must be the first of every module file.
import amdModule from 'amd-module';

declare let __webpack_public_path__: string;

if (amdModule?.uri) {
  __webpack_public_path__ = amdModule.uri.slice(0, amdModule.uri.lastIndexOf('/') + 1);
}
