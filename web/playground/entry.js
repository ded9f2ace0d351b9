/* One script for two pages: the playground, and the replay pages that it saves. */
import { startReplay } from '../src/main.js';
import { startPlayground } from './playground.js';

if (document.body.classList.contains('playground')) startPlayground();
else startReplay();
