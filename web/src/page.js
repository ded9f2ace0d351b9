/* The script of a replay page. */
import { startReplay } from './main.js';

startReplay();
