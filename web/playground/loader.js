/* Runs first: a worker begins to unpack and to load the core while the page's own script is unpacked and read. */
import { startCore, unpackedText } from '../src/wasm.js';

window.frixStarted = startCore(document);
unpackedText(document.getElementById('frix-script').textContent).then((text) => {
  const script = document.createElement('script');
  script.textContent = text;
  document.body.append(script);
});
