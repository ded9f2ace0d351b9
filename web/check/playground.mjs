/* The playground in a real browser: node playground.mjs PAGE FOLDER [NATIVE.txt [PROBLEM.hdf5 SOLVED.json]]. NATIVE.txt is what
 * bench_scene_hashes printed: the page must find the same hashes. PROBLEM.hdf5 is a contact problem and SOLVED.json what `frix solve
 * --json` says of it. Pictures of what was seen go to FOLDER. */
import { counter, launch, LOADING } from './browser.mjs';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const [page, folder, native, problem, solved] = process.argv.slice(2);
const { check, end } = counter('playground');
mkdirSync(folder, { recursive: true });
const browser = await launch();

/** Opens the page from disk, without a network; whatever it complains about is a failure. */
async function open(hash = '', { width = 1200, height = 720, phone = false, scheme = 'light', path = page } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, hasTouch: phone, isMobile: phone, colorScheme: scheme, offline: true, acceptDownloads: true });
  const tab = await context.newPage();
  tab.on('console', (message) => message.type() === 'error' && check(`console: ${message.text()}`, false));
  tab.on('pageerror', (error) => check(error.message, false));
  tab.on('request', (request) => request.url().startsWith('http') && check(`asks for ${request.url()}`, false));
  await tab.goto(`file://${resolve(path)}${hash}`);
  if (path === page) await tab.waitForFunction(() => window.frix?.first?.frame && window.frix.first.stage?.drawn > 0, null, { timeout: LOADING });
  return tab;
}
const shot = (tab, name) => tab.screenshot({ path: join(folder, `${name}.png`), timeout: LOADING });
const state = (tab, k = 0) => tab.evaluate((i) => ({ ...window.frix.views[i].frame.state, base: window.frix.views[i].base }), k);
const until = (tab, test, arg) => tab.waitForFunction(test, arg, { timeout: LOADING });
const stop = (tab) => tab.evaluate(() => window.frix.setPlaying(false));
const slide = (tab, id, value) =>
  tab.evaluate(([name, x]) => {
    const slider = document.getElementById(name);
    slider.value = String(x);
    slider.dispatchEvent(new Event('input'));
    slider.dispatchEvent(new Event('change'));
  }, [id, value]);

/* ---- loads, steps, certifies */
check('the page is below 2 MB', statSync(page).size < 2e6, `${statSync(page).size} bytes`);
let tab = await open();
await until(tab, () => window.frix.first.frame.state.steps > 30);
const firstDrawn = await tab.evaluate(() => window.frix.first.stage.firstDrawn);
check('the first picture comes within a few seconds', firstDrawn < 8000, String(firstDrawn));
console.log(`playground: first picture after ${Math.round(firstDrawn)} ms`);
let s = await state(tab);
check('every step is certified', s.certified_steps === s.steps && s.worst <= 1e-8);
await shot(tab, 'arch');

/* ---- friction down until the arch falls */
const stood = await tab.evaluate(() => ({ position: Array.from(window.frix.first.frame.poses.position), time: window.frix.first.frame.state.time }));
await slide(tab, 'p-mu', 0.15);
await until(tab, (before) => window.frix.first.frame.poses.position.some((y, k) => k % 3 === 1 && y < before.position[k] - 0.3), stood);
check('time and ledger go on where friction changes', await tab.evaluate((t) => window.frix.first.frame.state.time > t && window.frix.first.frame.state.steps > 30, stood.time));
await shot(tab, 'arch_falls');
s = await state(tab);
check('while it falls every step is certified', s.certified_steps === s.steps, JSON.stringify(s));

/* ---- check and limit */
await tab.click('#restart');
await slide(tab, 'p-mu', 0.6);
await tab.click('#check');
await until(tab, () => document.getElementById('verdict').textContent.includes('margin of tilt'));
check('the check tells the margins of friction and tilt', /mu 0\.30769, a reserve of 1\.95.*to x it stands up to 15\.935°/.test(await tab.textContent('#verdict')), await tab.textContent('#verdict'));
check('the check names what is nearest to slipping', /nearest to slipping: .+ at 0\.\d+ of its cone/.test(await tab.textContent('#verdict')), await tab.textContent('#verdict'));
await shot(tab, 'arch_check');
await tab.click('#limit');
await until(tab, () => /mu 0\.\d+: it falls/.test(document.getElementById('verdict').textContent) && Number(document.getElementById('p-mu').value) < 0.5);
await shot(tab, 'arch_search');
await until(tab, () => document.getElementById('verdict').textContent.includes('limit:'));
check('friction is back where it was', (await tab.inputValue('#p-mu')) === '0.6' && !(await tab.textContent('#words')).includes('mu='), await tab.textContent('#words'));
const limit = Number(/from mu ([\d.]+)/.exec(await tab.textContent('#verdict'))?.[1]);
check('the limit of the arch lies between 0.2 and 0.5', limit > 0.2 && limit < 0.5, String(limit));
console.log(`playground: the arch falls below mu ${limit}`);
await shot(tab, 'arch_limit');

/* ---- keys: pause, one step, slow motion, marks, colours */
await tab.click('#restart');
await tab.focus('#canvas-a'); /* on a button the space bar presses it */
await tab.keyboard.press(' ');
check('the space bar pauses', !(await tab.evaluate(() => window.frix.playing)));
await tab.waitForTimeout(300);
const stoodAt = (await state(tab)).steps;
await tab.keyboard.press('ArrowRight');
await until(tab, (n) => window.frix.first.frame.state.steps === n + 1, stoodAt);
await tab.keyboard.press('ArrowDown');
check('an arrow key slows down', (await tab.inputValue('#speed')) === '0.5');
await tab.keyboard.press('ArrowUp');
for (const [key, id] of [['c', 'points'], ['v', 'forces'], ['k', 'cones'], ['n', 'chains'], ['x', 'through']]) {
  const pressed = await tab.getAttribute(`#${id}`, 'aria-pressed');
  await tab.keyboard.press(key);
  check(`the key ${key} changes ${id}`, (await tab.getAttribute(`#${id}`, 'aria-pressed')) !== pressed);
  await tab.keyboard.press(key);
}
await tab.keyboard.press('t');
check('T makes it dark', (await tab.evaluate(() => document.documentElement.dataset.theme)) === 'dark');
await tab.keyboard.press('t');
await tab.keyboard.press(' ');

/* ---- tilt: a block on a slope rests below the angle of friction and slides above it */
await tab.selectOption('#scene', 'incline');
await slide(tab, 'p-angle', 0);
await slide(tab, 'p-mu', 0.5);
const along = () => tab.evaluate(() => Math.hypot(...window.frix.first.frame.poses.position.slice(0, 3)));
const tilted = async (angle) => {
  await slide(tab, 'tilt', angle);
  const { steps } = await state(tab);
  await until(tab, (n) => window.frix.first.frame.state.steps > n + 40, steps);
  const from = await along();
  await until(tab, (n) => window.frix.first.frame.state.steps > n + 80, steps);
  return Math.abs((await along()) - from);
};
await until(tab, () => window.frix.first.frame.poses.count === 1 && window.frix.first.frame.state.steps > 5);
const [rests, slides] = [await tilted(25), await tilted(28)];
check('at a tilt of 25 degrees a block with mu = 0.5 rests, at 28 it slides', rests < 1e-6 && slides > 1e-4, `${rests} ${slides}`);

/* ---- hands: drag, push, drop */
await tab.selectOption('#scene', 'stack');
await until(tab, () => window.frix.first.frame.poses.count === 10 && window.frix.first.frame.state.steps > 5); /* no longer the arch */
await until(tab, () => document.getElementById('words').textContent.includes('stack'));
const place = await tab.evaluate(() => {
  const { first } = window.frix;
  const top = [...first.frame.poses.slot.keys()].reduce((a, b) => (first.frame.poses.position[3 * b + 2] > first.frame.poses.position[3 * a + 2] ? b : a), 0);
  const p = first.stage.controls.target.clone().fromArray(first.frame.poses.position, 3 * top).project(first.stage.camera);
  const box = first.canvas.getBoundingClientRect();
  return [box.left + (p.x * 0.5 + 0.5) * box.width, box.top + (0.5 - p.y * 0.5) * box.height];
});
const before = await tab.evaluate(() => Array.from(window.frix.first.frame.poses.position));
await tab.mouse.move(...place);
await tab.mouse.down();
await tab.mouse.move(place[0] + 60, place[1] - 20, { steps: 5 });
await tab.waitForTimeout(900);
await tab.mouse.move(place[0] + 130, place[1] - 30, { steps: 5 });
await until(tab, (old) => window.frix.first.frame.poses.position.some((x, k) => Math.abs(x - old[k]) > 0.05), before);
await shot(tab, 'drag');
await tab.mouse.up();
await tab.keyboard.press('d');
await until(tab, (n) => window.frix.first.frame.poses.count > n, before.length / 3);
check('a dropped body is there', (await tab.evaluate(() => window.frix.first.live.slotCount)) > before.length / 3);
await tab.keyboard.press('p');

/* ---- a link brings back the same world, to the bit */
await stop(tab);
await tab.waitForTimeout(300);
await tab.evaluate(() => window.frix.share());
const last = await tab.evaluate(() => window.frix.first.ask('hash'));
const hash = await tab.evaluate(() => location.hash);
check('the link holds what was done', /do=/.test(hash));
const again = await open(hash);
await stop(again);
const same = await again.evaluate(async (steps) => {
  const { first } = window.frix;
  const now = await first.ask('hash');
  first.send('steps', { count: steps - now.steps });
  return first.ask('hash');
}, last.steps);
check('the link replays to the same hash', same.hash === last.hash && same.steps === last.steps, `${JSON.stringify(same)} ${JSON.stringify(last)}`);
console.log(`playground: a link of ${hash.length} characters replays ${last.steps} steps to hash ${same.hash}`);
await shot(again, 'link');
await again.context().close();

/* ---- a file of the reader's */
await tab.evaluate(async () => {
  const text = '<mujoco><worldbody><geom type="plane" size="5 5 .1"/><body name="mine" pos="0 0 .5"><freejoint/><geom type="box" size=".1 .2 .1"/></body></worldbody></mujoco>';
  await window.frix.take([new File([text], 'mine.xml')]);
  window.frix.setPlaying(true);
});
await until(tab, () => window.frix.first.live?.names?.includes('mine') && window.frix.first.frame.state.steps > 100);
await shot(tab, 'mjcf');
s = await state(tab);
check('the file is simulated and certified', s.certified_steps === s.steps, JSON.stringify(s));
await tab.evaluate(async () => {
  const corners = [[-1, -1, -1], [1, -1, -1], [0, 1, -1], [0, 0, 1]];
  const faces = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]];
  const obj = [...corners.map((c) => `v ${c.join(' ')}`), ...faces.map((f) => `f ${f.map((k) => k + 1).join(' ')}`)].join('\n');
  await window.frix.take([new File([obj], 'tetra.obj')]);
});
await until(tab, () => window.frix.first.live?.names?.includes('tetra.obj') && window.frix.first.frame.state.steps > 100);
await shot(tab, 'obj');
const shownSteps = (await state(tab)).steps;
await tab.evaluate(() => window.frix.take([new File(['<mujoco><body'], 'broken.xml')]));
await until(tab, () => !document.getElementById('message').hidden);
await until(tab, (n) => window.frix.first.frame.state.steps > n, shownSteps); /* the world before it goes on */
await shot(tab, 'broken');
check('a broken file is named with its line', /^\/?broken\.xml:1/.test(await tab.textContent('#message')), await tab.textContent('#message'));

/* ---- a contact problem of fclib, let go over the page: the answer is the native one */
if (problem) {
  const drop = (bytes, name) =>
    tab.evaluate(([list, label]) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([new Uint8Array(list)], label));
      document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
    }, [bytes, name]);
  const bytes = [...readFileSync(problem)];
  const { contacts, residual } = JSON.parse(readFileSync(solved, 'utf8'));
  await drop(bytes, 'cards.hdf5');
  await until(tab, () => document.getElementById('verdict').textContent.includes('cards.hdf5'));
  const told = await tab.textContent('#verdict');
  check('a dropped fclib file is solved', told.includes(`${contacts} contacts, solved`), told);
  console.log(`playground: ${told} (native ${residual.toExponential(1)})`);
  await shot(tab, 'fclib');
  await drop(bytes.slice(0, 3000), 'cut.hdf5');
  await until(tab, () => document.getElementById('message').textContent.includes('cut.hdf5'));
  await until(tab, () => !document.getElementById('message').hidden);
}

/* ---- recording */
await tab.selectOption('#scene', 'cardhouse');
await until(tab, () => window.frix.first.frame.state.steps > 3 && document.getElementById('words').textContent.includes('cardhouse'));
await tab.click('#record');
await tab.waitForTimeout(600);
const [download] = await Promise.all([tab.waitForEvent('download', { timeout: LOADING }), tab.click('#record')]);
await download.saveAs(join(folder, 'recorded.frx'));
check('a recording is downloaded', statSync(join(folder, 'recorded.frx')).size > 1000);
await tab.waitForSelector('#save-page', { timeout: LOADING });
const [replay] = await Promise.all([tab.waitForEvent('download', { timeout: LOADING }), tab.click('#save-page')]);
await replay.saveAs(join(folder, 'recorded.html'));
const shown = await open('', { path: join(folder, 'recorded.html') });
await until(shown, () => window.frix?.player);
check('its replay page plays, and every step is certified', (await shown.textContent('#badges')).includes('100 % certified'), await shown.textContent('#badges'));
await shot(shown, 'recorded');
await shown.context().close();
await tab.click('#chains');
await shot(tab, 'cardhouse');
await tab.context().close();

/* ---- side by side, dark */
tab = await open('#run=puck&beside=pgs', { scheme: 'dark' });
await until(tab, () => window.frix.views[1]?.frame?.state.steps > 60 && window.frix.first.frame.state.steps > 60);
const exact = await state(tab, 0);
check('the exact world is certified', exact.certified_steps === exact.steps, JSON.stringify(exact));
await until(tab, () => window.frix.views[1].frame.state.approximate === 1); /* not in steps whose start already holds */
check('the approximation is not certified throughout', (({ certified_steps, steps }) => certified_steps < steps)(await state(tab, 1)));
check('both are seen from one place', await tab.evaluate(() => ((a, b) => a.distanceTo(b) < 1e-9)(...window.frix.views.map((view) => view.stage.camera.position))));
await shot(tab, 'side_by_side');
await tab.context().close();

/* ---- a phone */
tab = await open('#run=dominoes', { width: 390, height: 780, phone: true });
await until(tab, () => window.frix.first.frame.state.steps > 20);
await shot(tab, 'phone');
check('phone: nothing is wider than the screen', await tab.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
/* a finger pulls a domino */
const [fx, fy] = await tab.evaluate(() => {
  const { first } = window.frix;
  const { position, count } = first.frame.poses;
  const p = first.stage.controls.target.clone().fromArray(position, 3 * (count >> 1)).project(first.stage.camera);
  const box = first.canvas.getBoundingClientRect();
  return [box.left + (p.x * 0.5 + 0.5) * box.width, box.top + (0.5 - p.y * 0.5) * box.height];
});
const finger = await tab.context().newCDPSession(tab);
const touch = (type, ...at) => finger.send('Input.dispatchTouchEvent', { type, touchPoints: at.length ? [{ x: at[0], y: at[1] }] : [] });
await touch('touchStart', fx, fy);
for (let k = 1; k <= 6; k++) await touch('touchMove', fx - 8 * k, fy - 12 * k);
await tab.waitForTimeout(400);
const held = await tab.evaluate(async () => (await window.frix.first.ask('log')).log.filter(([, kind, slot]) => kind === 'hold' && slot >= 0).length);
await touch('touchEnd');
check('phone: a finger pulls a body', held > 0, String(held));
const unnamed = await tab.evaluate(() => [...document.querySelectorAll('button, select, input, canvas')].filter((e) => !(e.textContent.trim() || e.ariaLabel || e.getAttribute('aria-label') || e.labels?.length)).map((e) => e.id));
check('everything has an accessible name', unnamed.length === 0, unnamed.join(' '));

/* ---- the same bits as the native build */
if (native) {
  const rows = readFileSync(native, 'utf8').trim().split('\n').map((line) => line.split(' '));
  let different = 0;
  for (const [scene, ...rest] of rows) {
    const wanted = rest.slice(0, -1);
    const { hashes } = await tab.evaluate(([name, at]) => window.frix.first.ask('hashes', { words: [name], at }), [scene, wanted.map((pair) => Number(pair.split(':')[0]))]);
    if (hashes.join(' ') !== wanted.join(' ')) {
      different++;
      console.error(`playground: ${scene}: ${hashes.join(' ')} instead of ${wanted.join(' ')}`);
    }
  }
  check(`the hashes of ${rows.length} scenes are those of the native build`, different === 0);
  console.log(`playground: hashes of ${rows.length} scenes compared in Chromium, ${different} different`);
}
await browser.close();
end(`; pictures in ${folder}`);
