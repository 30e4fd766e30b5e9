// jsdom lacks what Grafana's packages ask of a browser.
const { MessageChannel, MessagePort } = require('worker_threads');
const { TextDecoder, TextEncoder } = require('util');

Object.assign(globalThis, { MessageChannel, MessagePort, TextDecoder, TextEncoder });
globalThis.matchMedia ??= () => ({ matches: false, addListener() {}, removeListener() {}, addEventListener() {}, removeEventListener() {} });
globalThis.IntersectionObserver ??= class {
  observe() {}
  unobserve() {}
  disconnect() {}
};
if (globalThis.HTMLCanvasElement) {
  HTMLCanvasElement.prototype.getContext = () => ({ measureText: (text) => ({ width: 8 * text.length }) });
}
