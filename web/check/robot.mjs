/* The replay page of a robot's run in a real browser: node robot.mjs PAGE.html CSV. A picked link shows the plots of its
 * joint and of the forces there, and all actuators have theirs; numbers are those of the sensors of the run (CSV with
 * columns shoulder, rate, push, lift). */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { counter, launch, LOADING } from './browser.mjs';

const [page, csv] = process.argv.slice(2);
const { check, end } = counter('web robot');
const [head, ...lines] = readFileSync(csv, 'utf8').trim().split('\n').map((line) => line.split(',').map((cell) => cell.replaceAll('"', '')));
const column = (name) => lines.map((line) => Number(line[head.indexOf(name)]));

const browser = await launch();
try {
  const context = await browser.newContext({ viewport: { width: 1000, height: 900 }, offline: true });
  const tab = await context.newPage();
  tab.on('pageerror', (error) => check(error.message, false));
  await tab.goto(`file://${resolve(page)}#pause`);
  await tab.waitForFunction(() => window.frix?.stage?.drawn > 0, null, { timeout: LOADING });
  const titles = () => tab.$$eval('figure.plot figcaption b', (list) => list.map((b) => b.textContent));
  check('the actuators are plotted', (await titles()).includes('Forces of actuators'));
  const shown = await tab.evaluate(() => {
    const { frix } = window;
    const slot = frix.replay.names.indexOf('upper');
    const of = Array.from(frix.replay.slotPattern).indexOf(slot);
    frix.pick({ kind: 'body', slot: of, body: slot });
    frix.player.step(Infinity);
    return { numbers: Array.from({ length: frix.replay.frameCount }, (_, k) => Array.from(frix.replay.robot(k))), card: document.getElementById('card').textContent };
  });
  const list = await titles();
  for (const title of ['Joint shoulder, rad', 'Joint shoulder, rad/s', 'Actuators of joint shoulder, N m']) check(`a picked link shows '${title}'`, list.includes(title));
  check('its card tells the joint', shown.card.includes('joint shoulder') && shown.card.includes('its actuators'));
  /* frame 0 is the start, which sensors do not tell */
  for (const [name, k] of [['shoulder', 0], ['rate', 1], ['push', 2], ['lift', shown.numbers[0].length - 2]]) {
    const wanted = column(name);
    const apart = wanted.reduce((most, x, i) => Math.max(most, Math.abs(shown.numbers[i + 1][k] - x)), 0);
    check(`${name}: ${apart} from the sensor`, wanted.length === shown.numbers.length - 1 && apart < 1e-5);
  }
  await tab.keyboard.press('Escape');
  check('nothing picked, no joint', !(await titles()).some((title) => title.startsWith('Joint')));
} catch (error) {
  check(error.stack, false);
}
await browser.close();
end();
