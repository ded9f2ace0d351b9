/* The replay page in a real browser: node check.mjs TEMPLATE FOLDER [PAGE.html...]. Pages are made up here, and those of
 * real runs are named. Exit code 0 only when all of it works. */
import { counter, launch, LOADING } from './browser.mjs';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { everyFlatShape, everyShape, makePage, manySpheres } from './synthetic.mjs';

const [template, folder, ...real] = process.argv.slice(2);
const { check, end } = counter('web');

mkdirSync(folder, { recursive: true });
const page = readFileSync(template, 'utf8');
const made = (name, run) => {
  const path = resolve(folder, `${name}.html`);
  writeFileSync(path, makePage(page, run));
  return path;
};

const browser = await launch();

/** Opens a page from disk; whatever it complains about is a failure. */
async function open(path, { width = 1000, height = 640, hash = '#pause', phone = false, scheme = 'light' } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, hasTouch: phone, isMobile: phone, colorScheme: scheme, offline: true });
  const tab = await context.newPage();
  const name = path.split('/').pop();
  tab.on('console', (message) => message.type() === 'error' && check(`${name}: console: ${message.text()}`, false));
  tab.on('pageerror', (error) => check(`${name}: ${error.message}`, false));
  tab.on('request', (request) => request.url().startsWith('http') && check(`${name}: asks for ${request.url()}`, false));
  await tab.goto(`file://${path}${hash}`);
  await tab.waitForFunction(() => window.frix?.stage?.drawn > 0, null, { timeout: LOADING });
  return tab;
}

const frame = (tab) => tab.evaluate(() => window.frix.player.frame);
const drawn = (tab) => tab.evaluate(() => window.frix.stage.drawn);

/** Does something, waits until it is drawn. */
async function after(tab, action) {
  const before = await drawn(tab);
  await action();
  await tab.waitForFunction((n) => window.frix.stage.drawn > n, before, { timeout: LOADING });
}

/** The picture of the scene, and how many colours it has. */
async function picture(tab) {
  const shot = await tab.locator('#view').screenshot({ timeout: LOADING });
  const colours = await tab.evaluate(() => {
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [200, 150];
    const pen = canvas.getContext('2d');
    pen.drawImage(document.getElementById('canvas'), 0, 0, 200, 150);
    const { data } = pen.getImageData(0, 0, 200, 150);
    const seen = new Set();
    for (let i = 0; i < data.length; i += 4) seen.add((data[i] >> 3 << 10) | (data[i + 1] >> 3 << 5) | (data[i + 2] >> 3));
    return seen.size;
  });
  return { bytes: shot.toString('base64'), colours };
}

/* Where a body is on the screen. */
const placeOf = (tab, slot) =>
  tab.evaluate((s) => {
    const { bodies, stage } = window.frix;
    const p = stage.controls.target.clone().fromArray(bodies.poses.position, 3 * bodies.row[s]).project(stage.camera);
    const box = stage.canvas.getBoundingClientRect();
    return [box.left + (p.x * 0.5 + 0.5) * box.width, box.top + (0.5 - p.y * 0.5) * box.height];
  }, slot);

async function desktop(path) {
  const tab = await open(path);
  const first = await picture(tab);
  check('the scene is not empty', first.colours > 20);
  check('the title names the scene', (await tab.title()).startsWith('shapes'));
  check('what a user wrote is shown as text', (await tab.locator('#run b').count()) === 0);
  check('the verdict is shown', /100 % certified/.test(await tab.locator('#badges').innerText()));

  /* playing, stepping, scrubbing, plots */
  await tab.keyboard.press('ArrowRight');
  check('an arrow key steps', (await frame(tab)) === 1);
  await tab.locator('#play').click();
  await tab.waitForFunction(() => window.frix.player.frame > 4, null, { timeout: LOADING });
  await tab.keyboard.press(' ');
  check('the space bar pauses', !(await tab.evaluate(() => window.frix.player.playing)));
  await after(tab, () => tab.locator('#scrub').fill('30'));
  check('the scrubber seeks', (await frame(tab)) === 30);
  check('the picture changes with time', (await picture(tab)).bytes !== first.bytes);
  const plot = await tab.locator('.u-over').first().boundingBox();
  await tab.mouse.click(plot.x + plot.width / 2, plot.y + plot.height / 2);
  check('a click on a plot seeks', Math.abs((await frame(tab)) - 19.5) <= 1);
  check('there are three plots', (await tab.locator('.plot').count()) === 3);

  /* picking */
  await after(tab, () => tab.evaluate(() => window.frix.player.seek(0)));
  const [x, y] = await placeOf(tab, 2);
  await tab.mouse.click(x, y);
  check('a click picks a body', (await tab.evaluate(() => window.frix.picked?.slot)) === 2);
  check('its numbers are shown', /body 2[\s\S]*mass\s*3 kg[\s\S]*speed\s*0.5 m\/s/.test(await tab.locator('#card').innerText()));
  const contact = await tab.evaluate(() => {
    const { marks, stage } = window.frix;
    const p = stage.controls.target.clone().fromArray(marks.contacts.point, 3).project(stage.camera);
    const box = stage.canvas.getBoundingClientRect();
    return [box.left + (p.x * 0.5 + 0.5) * box.width, box.top + (0.5 - p.y * 0.5) * box.height];
  });
  await tab.mouse.click(...contact);
  const card = await tab.locator('#card').innerText();
  check('a click picks a contact', /body 1 on world/.test(card));
  check('its force, margin, gap and state are shown', /stick/.test(card) && /0\.4/.test(card) && /19\.7[23] N/.test(card) && /−1\.00×10⁻⁶ m/.test(card));
  await tab.keyboard.press('Escape');
  check('escape picks nothing', (await tab.evaluate(() => window.frix.picked)) === null);

  /* what is picked is followed, plotted, and found again by its link */
  await tab.evaluate(() => window.frix.pick({ kind: 'body', slot: 2, body: window.frix.replay.slotPattern[2] }));
  check('the speed of a picked body is plotted', (await tab.locator('.plot').count()) === 4);
  await after(tab, () => tab.locator('#follow').click());
  await tab.locator('#link').click();
  check('the link holds time and camera', /t=.*camera=/.test(await tab.evaluate(() => location.hash)));
  await tab.locator('#follow').click();
  await tab.keyboard.press('Escape');
  const [saved] = await Promise.all([tab.waitForEvent('download'), tab.locator('#png').click()]);
  check('the picture is saved as PNG', saved.suggestedFilename().endsWith('.png'));
  for (const name of ['size', 'name', 'speed', 'force', 'state', 'body']) {
    const old = await picture(tab);
    await after(tab, () => tab.locator('#tones').selectOption(name));
    const told = (await tab.locator('#scale').isVisible()) ? await tab.locator('#scale').innerText() : '';
    check(`the colours by ${name} are explained`, ['body', 'state'].includes(name) ? told === '' : /0|first/.test(told), told);
    check(`coloured by ${name} it looks different`, (await picture(tab)).bytes !== old.bytes);
  }

  /* what is shown */
  const plain = await picture(tab);
  for (const name of ['points', 'forces', 'cones', 'through']) {
    await after(tab, () => tab.locator(`#${name}`).click());
    check(`the button ${name} changes the picture`, (await picture(tab)).bytes !== plain.bytes);
    await after(tab, () => tab.locator(`#${name}`).click());
  }
  await after(tab, () => tab.keyboard.press('t'));
  check('dark looks different', (await picture(tab)).bytes !== plain.bytes && (await tab.evaluate(() => window.frix.theme)) === 'dark');
  await tab.keyboard.press('i');
  check('the sheet opens', await tab.locator('#sheet').isVisible());
  check('every button has a name', await tab.evaluate(() => [...document.querySelectorAll('button, input, select')].every((e) => e.ariaLabel || e.innerText.trim() || e.labels?.length)));
  await tab.context().close();
}

async function phone(path) {
  const tab = await open(path, { width: 390, height: 780, phone: true, scheme: 'dark' });
  check('phone: dark as the system asks', (await tab.evaluate(() => window.frix.theme)) === 'dark');
  check('phone: nothing is wider than the screen', await tab.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  check('phone: the scene is not empty', (await picture(tab)).colours > 15);
  const [x, y] = await placeOf(tab, 2);
  await tab.touchscreen.tap(x, y - 2);
  check('phone: a tap picks', (await tab.evaluate(() => window.frix.picked)) !== null);
  const small = await tab.evaluate(() => [...document.querySelectorAll('button')].filter((b) => b.offsetHeight > 0 && b.offsetHeight < 30).map((b) => b.id));
  check(`phone: buttons are large enough: ${small}`, small.length === 0);
  await tab.context().close();
}

async function flat(path) {
  const tab = await open(path);
  check('flat: seen straight on', await tab.evaluate(() => window.frix.stage.flat && window.frix.stage.camera.isOrthographicCamera));
  const first = await picture(tab);
  check('flat: not empty', first.colours > 10);
  await after(tab, () => tab.keyboard.press('End'));
  check('flat: changes', (await picture(tab)).bytes !== first.bytes);
  await tab.context().close();
}

async function large(path, count) {
  const begin = Date.now();
  const tab = await open(path, { width: 800, height: 500 });
  const loaded = Date.now() - begin;
  const first = await picture(tab);
  check('many: not empty', first.colours > 8);
  check('many: all are drawn', (await tab.evaluate(() => window.frix.bodies.cloud.instances.length)) === count);
  const next = Date.now();
  await after(tab, () => tab.keyboard.press('ArrowRight'));
  console.log(`web: ${count} spheres: ${loaded} ms to the first picture, ${Date.now() - next} ms to the next, software rendering`);
  check('many: changes', (await picture(tab)).bytes !== first.bytes);
  const [x, y] = await placeOf(tab, count - 1);
  await tab.mouse.click(x, y);
  check('many: picks', (await tab.evaluate(() => window.frix.picked?.kind)) === 'body');
  await tab.context().close();
}

/* 10,000 bodies with 20,000 contacts at 60 frames a second, drawing aside: processor time of the page's thread, the best of five. */
async function fast(path) {
  const tab = await open(path, { width: 800, height: 500 });
  const session = await tab.context().newCDPSession(tab);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const spent = async () => 1000 * (await session.send('Performance.getMetrics')).metrics.find(({ name }) => name === 'TaskDuration').value;
  const FRAMES = 20;
  let best = Infinity;
  for (let k = 0; k < 5; k++) {
    const before = await spent();
    await tab.evaluate((n) => {
      const { player, stage } = window.frix;
      const { refresh } = stage;
      stage.refresh = () => {};
      for (let f = 0; f < n; f++) player.seek(f % 2);
      stage.refresh = refresh;
    }, FRAMES);
    best = Math.min(best, ((await spent()) - before) / FRAMES);
  }
  console.log(`web: 10,000 bodies with 20,000 contacts: ${best.toFixed(1)} ms a frame, drawing aside`);
  check('10,000 bodies: 60 frames a second', best < 1000 / 60, String(best));
  await tab.context().close();
}

/* A page opens playing, and starts anew at its end. */
async function loops(path) {
  const tab = await open(path, { hash: '#speed=5' });
  await tab.waitForFunction(() => window.frix.player.playing && window.frix.player.frame > 3, null, { timeout: LOADING });
  await tab.waitForFunction(() => window.frix.player.frame === window.frix.player.last, null, { timeout: LOADING });
  await tab.waitForFunction(() => window.frix.player.playing && window.frix.player.frame < window.frix.player.last, null, { timeout: LOADING });
  check('a page plays and starts anew', true);
  await tab.context().close();
}

/* Packed pages hold the numbers of plain ones, rounded as docs/replay.md says. */
async function packed(path, plain) {
  const read = async (file) => {
    const tab = await open(file);
    const out = await tab.evaluate(() => {
      const { replay } = window.frix;
      const frames = [];
      for (let k = 0; k < replay.frameCount; k++) {
        const p = replay.poses(k);
        const c = replay.contacts(k);
        frames.push({ position: [...p.position], turn: [...p.turn], count: c.count, point: [...c.point], force: [...c.force], id: [...c.id], a: [...c.a], b: [...c.b], state: [...c.state], margin: [...c.margin] });
      }
      return { frames, hash: [...replay.column('frame.hash')], kinetic: [...replay.column('series.kinetic')] };
    });
    await tab.context().close();
    return out;
  };
  const [a, b] = [await read(path), await read(plain)];
  const far = (x, y) => Math.max(0, ...x.map((v, i) => Math.abs(v - y[i])));
  const same = (x, y) => x.length === y.length && x.every((v, i) => v === y[i]);
  const worst = { position: 0, turn: 0, point: 0, force: 0, margin: 0 };
  let exact = a.frames.length === b.frames.length && same(a.hash, b.hash) && same(a.kinetic, b.kinetic);
  a.frames.forEach((f, k) => {
    for (const name of Object.keys(worst)) worst[name] = Math.max(worst[name], far(f[name], b.frames[k][name]));
    for (const name of ['id', 'a', 'b', 'state']) exact &&= same(f[name], b.frames[k][name]);
  });
  check('packed: names, states, hashes and series are those of the plain page', exact);
  /* cards of 1 mm by half: a grid below 1 um; 1/2048 of a quaternion; 1/128 of a margin; 1/128 of a card's weight or 1/512 */
  const top = Math.max(...b.frames.flatMap((f) => f.force.map(Math.abs)));
  check(`packed: rounding is as said: ${JSON.stringify(worst)}`, worst.position < 1e-6 && worst.point < 1e-6 && worst.turn < 1 / 2000 && worst.margin <= 1 / 250 && worst.force < 0.01 * top);
}

/* A page that frix wrote: it plays, and shows as many frames as it says. */
async function simulated(path) {
  const tab = await open(path, { hash: '#t=0.2' });
  const name = path.split('/').pop();
  check(`${name}: not empty`, (await picture(tab)).colours > 20);
  const state = await tab.evaluate(() => {
    const { replay } = window.frix;
    const unit = [0, replay.frameCount - 1].every((k) => {
      const { turn, position, count } = replay.poses(k);
      const good = (i) => Math.abs(Math.hypot(...turn.subarray(4 * i, 4 * i + 4)) - 1) < 1e-3 && position.subarray(3 * i, 3 * i + 3).every(Number.isFinite);
      return count > 0 && Array.from({ length: count }, (_, i) => i).every(good);
    });
    let contacts = 0;
    let wrong = 0;
    for (let k = 0; k < replay.frameCount; k++) {
      const c = replay.contacts(k);
      for (let i = 0; i < c.count; i++) {
        const n = c.normal.subarray(3 * i, 3 * i + 3);
        const along = (c.force[3 * i] * n[0] + c.force[3 * i + 1] * n[1] + c.force[3 * i + 2] * n[2]) / 32767;
        const whole = Math.hypot(...c.force.subarray(3 * i, 3 * i + 3));
        const across = Math.sqrt(Math.max(0, whole * whole - along * along));
        contacts++;
        /* the margin is |r_T| / (mu r_N), up to the 16 bits of the normal */
        if (along > 0 && c.mu[i] > 0 && Math.abs(across - c.margin[i] * c.mu[i] * along) > 1e-3 * whole) wrong++;
      }
    }
    return { unit, contacts, wrong, increasing: replay.time.every((t, k) => k === 0 || t > replay.time[k - 1]) };
  });
  check(`${name}: poses make sense`, state.unit);
  check(`${name}: times increase`, state.increasing);
  check(`${name}: ${state.wrong} of ${state.contacts} contacts disagree with their margin`, state.contacts > 0 && state.wrong === 0);
  await after(tab, () => tab.keyboard.press('End'));
  await tab.context().close();
}

/* Pictures of frix render have the colours of the page. */
function sameColours() {
  const here = dirname(fileURLToPath(import.meta.url));
  const found = (path, name) => (new RegExp(`${name}[^\\n]*= [{[]([^\\]}]*)[\\]}]`).exec(readFileSync(join(here, path), 'utf8'))?.[1].match(/[0-9a-f]{6}/gi) ?? []).join(' ');
  const inBodies = (theme) => (new RegExp(`${theme}: \\[([^\\]]*)\\]`).exec(readFileSync(join(here, '../src/bodies.js'), 'utf8'))?.[1].match(/[0-9a-f]{6}/g) ?? []).join(' ');
  for (const [own, other] of [['RAMP_TEXT', 'ramp\\[\\]'], ['NAMES', 'kinds\\[\\]']]) {
    const list = found('../../app/tones.c', other);
    check(`${own} is that of frix render`, list !== '' && list === found('../src/colours.js', own), list);
  }
  for (const theme of ['light', 'dark']) check(`bodies are painted as by frix render (${theme})`, inBodies(theme) !== '' && inBodies(theme) === found('../../app/tones.c', `${theme}\\[\\]`), inBodies(theme));
}

try {
  sameColours();
  const shapes = made('shapes', everyShape());
  await desktop(shapes);
  await phone(shapes);
  await loops(shapes);
  await flat(made('flat', everyFlatShape()));
  await fast(made('fast', manySpheres(10000, 20000)));
  const count = Number(process.env.SPHERES ?? 400000);
  await large(made('many', manySpheres(count)), count);
  for (const path of real) await simulated(resolve(path));
  if (real.length) await packed(resolve(join(folder, 'packed.html')), resolve(real[0]));
} catch (error) {
  check(error.stack, false);
}
await browser.close();
end();
