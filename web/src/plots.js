/* Residual, energy and contacts over time. A line shows where the replay stands; pressing or dragging goes there. */
import uPlot from 'uplot';
import { count, number, power } from './text.js';
import { actuatorPlots } from './track.js';

const INK = {
  light: { text: '#5b6675', grid: '#e6eaef', lines: ['#1f6fd1', '#e0631b', '#2c8a5a', '#8a5cc4', '#a8781d', '#8a94a3', '#c2447a', '#3f8f9b', '#6b4f2a', '#c0392b'], limit: '#c0392b' },
  dark: { text: '#94a1b3', grid: '#232b36', lines: ['#5aa7ff', '#ff8f4a', '#55c08a', '#b595e8', '#e0b45c', '#8b97a8', '#f07fb0', '#6cc4d0', '#c49a6c', '#ff6b5e'], limit: '#ff6b5e' },
};

const HEIGHT = 116;

const inkOf = (plan, ink, k) => ink.lines[plan.inks?.[k] ?? k];

/** What each plot shows. @param {import('./payload.js').Replay} replay */
function plans(replay) {
  const list = (name) => Array.from(replay.column(`series.${name}`));
  const tolerance = replay.index.tolerance;
  const also = (name) => {
    const data = list(name);
    return data.some((x) => Math.abs(x) > 1e-6 * scale) ? [[name, data]] : [];
  };
  const potential = list('potential');
  const lowest = potential.reduce((a, b) => Math.min(a, b), Infinity);
  const scale = Math.max(...['kinetic', 'friction', 'impact'].map((name) => list(name).reduce((a, b) => Math.max(a, Math.abs(b)), 0)));
  return [
    {
      title: 'Residual',
      hint: 'largest relative natural-map residual since the frame before; dashed: tolerance',
      log: true,
      limit: tolerance,
      series: [['residual', list('residual').map((x) => (x > 0 ? Math.max(x, 1e-18) : null))]],
      value: (x) => (x == null ? '–' : power(x)),
    },
    {
      title: 'Energy, J',
      hint: 'potential energy from its lowest; friction, impact, damping: lost so far; work, joint, contact, scheme, error: put in so far by forces, drift control, overlaps, time stepping and solver',
      series: [
        ['kinetic', list('kinetic')],
        ['potential', potential.map((x) => x - lowest)],
        ['friction', list('friction')],
        ['impact', list('impact')],
        ...['work', 'damping', 'joint', 'contact', 'scheme', 'error'].flatMap(also),
      ],
      value: (x) => number(x),
    },
    {
      title: 'Contacts',
      hint: 'touching contacts by what they do',
      series: [['stick', list('stick')], ['slip', list('slip')], ['open', list('open')]],
      inks: [0, 1, 5],
      value: (x) => (x == null ? '–' : count(x)),
    },
    ...actuatorPlots(replay).map(([title, series]) => ({ title, hint: 'force or torque of each actuator at the end of the step', series, value: (x) => number(x) })),
  ];
}

export class Plots {
  /** @param {HTMLElement} home @param {import('./player.js').Player} player */
  constructor(home, player) {
    this.home = home;
    this.player = player;
    this.plans = plans(player.replay);
    this.times = Array.from(player.replay.time);
    this.plots = [];
    player.listen(() => this.follow());
    new ResizeObserver(() => this.resize()).observe(home);
  }

  /** More plots, of what is picked. @param {[string, [string, (number|null)[]][]][]} list titles and series */
  extra(list) {
    const more = list.map(([title, series]) => ({ title, hint: 'of what is picked, in every frame', picked: true, series, value: (x) => (x == null ? '–' : number(x)) }));
    this.plans = [...more, ...this.plans.filter(({ picked }) => !picked)];
    this.paint(this.theme ?? 'light');
  }

  /** @param {'light'|'dark'} theme */
  paint(theme) {
    this.theme = theme;
    this.plots.forEach(({ plot }) => plot.destroy());
    this.home.replaceChildren();
    this.plots = this.plans.map((plan) => this.add(plan, INK[theme]));
    this.follow();
  }

  add(plan, ink) {
    const figure = document.createElement('figure');
    figure.className = 'plot';
    const head = document.createElement('figcaption');
    head.title = plan.hint;
    head.dataset.count = String(plan.series.length);
    head.innerHTML = `<b></b>`;
    head.firstChild.textContent = plan.title;
    const values = plan.series.map(([name], k) => {
      const key = document.createElement('span');
      key.innerHTML = '<i></i><span class="name"></span> <output></output>';
      key.firstChild.style.background = inkOf(plan, ink, k);
      key.querySelector('.name').textContent = plan.series.length > 1 ? name : '';
      head.append(key);
      return key.querySelector('output');
    });
    figure.append(head);
    this.home.append(figure);
    const plot = new uPlot(this.options(plan, ink), [this.times, ...plan.series.map(([, data]) => data)], figure);
    const hand = document.createElement('div');
    hand.className = 'hand';
    plot.over.append(hand);
    plot.over.setAttribute('role', 'img');
    plot.over.setAttribute('aria-label', `${plan.title} over time: ${plan.hint}`);
    this.listen(plot);
    return { plan, plot, hand, values };
  }

  options(plan, ink) {
    const axis = { stroke: ink.text, grid: { stroke: ink.grid, width: 1 }, ticks: { show: false }, font: '11px system-ui' };
    return {
      width: Math.max(120, this.home.clientWidth),
      height: HEIGHT,
      padding: [6, 10, 0, 0],
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
      scales: { x: { time: false }, y: plan.log ? { distr: 3, range: (_, low, high) => logRange(low, high, plan.limit) } : { range: linearRange } },
      axes: [
        { ...axis, size: 24, values: (_, ticks) => ticks.map((t) => `${Number(t.toPrecision(6))}`) },
        { ...axis, size: 46, ...(plan.log ? { splits: (_, __, low, high) => decades(low, high), filter: (_, ticks) => ticks, values: (_, ticks) => ticks.map(power) } : { values: (_, ticks) => ticks.map(short) }) },
      ],
      series: [{}, ...plan.series.map(([name], k) => ({ label: name, stroke: inkOf(plan, ink, k), width: 1.5, points: { show: this.times.length === 1 } }))],
      hooks: { draw: [(plot) => plan.limit && dashed(plot, plan.limit, ink.limit)] },
    };
  }

  listen(plot) {
    const go = (event) => {
      const x = event.clientX - plot.over.getBoundingClientRect().left;
      this.player.pause();
      this.player.seek(plot.posToIdx(x));
    };
    plot.over.addEventListener('pointerdown', (event) => {
      plot.over.setPointerCapture(event.pointerId);
      go(event);
    });
    plot.over.addEventListener('pointermove', (event) => event.buttons && go(event));
  }

  follow() {
    const { frame } = this.player;
    for (const { plan, plot, hand, values } of this.plots) {
      hand.style.transform = `translateX(${plot.valToPos(this.times[frame], 'x')}px)`;
      values.forEach((out, k) => (out.textContent = plan.value(plan.series[k][1][frame])));
    }
  }

  resize() {
    for (const { plot } of this.plots) plot.setSize({ width: Math.max(120, this.home.clientWidth), height: HEIGHT });
    this.follow();
  }
}

function logRange(low, high, limit) {
  const bottom = Math.min(low ?? limit, limit);
  const top = Math.max(high ?? limit, limit);
  return [10 ** (Math.floor(Math.log10(bottom)) - 0.3), 10 ** (Math.ceil(Math.log10(top)) + 0.3)];
}

function linearRange(_, low, high) {
  if (low == null) return [0, 1];
  const span = high - low || Math.abs(high) || 1;
  return [low >= 0 && low < span ? 0 : low - 0.06 * span, high + 0.08 * span];
}

/* Powers of ten, at most six of them. */
function decades(low, high) {
  const first = Math.ceil(Math.log10(low) - 1e-9);
  const last = Math.floor(Math.log10(high) + 1e-9);
  const step = Math.max(1, Math.ceil((last - first) / 5));
  return Array.from({ length: Math.floor((last - first) / step) + 1 }, (_, k) => Number(`1e${first + k * step}`));
}

const short = (v) => (Math.abs(v) >= 1e4 || (v !== 0 && Math.abs(v) < 1e-2) ? power(v) : String(Number(v.toPrecision(6))));

function dashed(plot, value, colour) {
  const { ctx, bbox } = plot;
  const y = plot.valToPos(value, 'y', true);
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.setLineDash([5 * devicePixelRatio, 4 * devicePixelRatio]);
  ctx.lineWidth = devicePixelRatio;
  ctx.beginPath();
  ctx.moveTo(bbox.left, y);
  ctx.lineTo(bbox.left + bbox.width, y);
  ctx.stroke();
  ctx.restore();
}
