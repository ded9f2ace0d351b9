// What makers of random robots share: choices, XML, and tendons, equalities, actuators and sensors for
// make_robot_models.mjs.

// reproducible choices
export function choices(seed) {
  let x = (seed * 2654435761 + 12345) >>> 0 || 1;
  const unit = () => {
    x ^= x << 13; x >>>= 0; x ^= x >>> 17; x ^= x << 5; x >>>= 0;
    return x / 2 ** 32;
  };
  for (let k = 0; k < 8; k++) unit();
  const c = {
    unit, // in [0, 1)
    real: (low, high) => low + (high - low) * unit(),
    whole: (low, high) => low + Math.floor((high - low + 1) * unit()),
    chance: p => unit() < p,
    pick: list => list[Math.floor(unit() * list.length)],
    text: (low, high, n = 1) => Array.from({ length: n }, () => Number(c.real(low, high).toFixed(4))).join(' '),
  };
  return c;
}

const attributes = a => Object.entries(a).filter(([, v]) => v !== undefined && v !== null).map(([k, v]) => ` ${k}="${v}"`).join('');
export const element = (name, a, inside = '') => inside ? `<${name}${attributes(a)}>${inside}</${name}>\n` : `<${name}${attributes(a)}/>\n`;

class Drives {
  constructor(maker) { this.m = maker; this.c = maker.c; this.tendons = []; this.actuators = []; this.unsure = false; }

  // numbers of one sort of actuator; those of its class are not in it
  law(kind, inClass) {
    const c = this.c, m = this.m, a = {};
    const poly = high => c.chance(0.2) ? c.text(0, high, c.whole(2, 3)) : c.text(0, high);
    switch (kind) {
      case 'position': a.kp = m.maybe(0.9, c.text(1, 50)); if (c.chance(0.3)) a.kv = c.text(0, 3); else if (c.chance(0.3)) a.dampratio = c.text(0.2, 1.5); a.timeconst = m.maybe(0.15, c.text(0, 0.3)); break;
      case 'velocity': a.kv = m.maybe(0.8, c.text(0.1, 5)); break;
      case 'intvelocity': a.kp = m.maybe(0.9, c.text(1, 50)); if (c.chance(0.3)) a.kv = c.text(0, 3); else if (c.chance(0.3)) a.dampratio = c.text(0.2, 1.5); break;
      case 'damper': a.kv = m.maybe(0.9, c.text(0.1, 5)); break;
      case 'cylinder': a.timeconst = m.maybe(0.7, c.text(0.05, 0.5)); if (c.chance(0.5)) a.area = c.text(0.1, 2); else a.diameter = m.maybe(0.5, c.text(0.1, 1)); a.bias = m.maybe(0.5, c.text(-1, 0, 3)); break;
      case 'general': {
        a.dyntype = m.maybe(0.5, c.pick(['none', 'integrator', 'filter', 'filterexact', 'muscle']));
        a.gaintype = m.maybe(0.6, c.pick(['fixed', 'affine', 'muscle']));
        a.biastype = m.maybe(0.6, c.pick(['none', 'affine', 'muscle']));
        const muscle = n => c.chance(0.5) ? undefined : `0.8 1.1 ${c.text(1, 30)} ${c.text(50, 200)} 0.5 1.6 1.5 1.3 1.2`;
        a.dynprm = m.maybe(a.dyntype === 'muscle' ? 1 : 0.6, a.dyntype === 'muscle' ? `${c.text(0.01, 0.1, 2)} ${c.text(0, 0.2)}` : c.text(0.02, 0.5));
        a.gainprm = a.gaintype === 'muscle' ? muscle() : m.maybe(0.8, c.text(-3, 3, c.whole(1, 3)));
        a.biasprm = a.biastype === 'muscle' ? muscle() : m.maybe(0.7, c.text(-3, 0.3, c.whole(1, 3)));
        a.actearly = m.maybe(0.2, c.pick(['true', 'false']));
        break;
      }
      case 'muscle': Object.assign(a, { timeconst: m.maybe(0.4, '0.02 0.05'), tausmooth: m.maybe(0.3, c.text(0, 0.3)), range: '0.7 1.2', force: m.maybe(0.6, c.text(1, 50)), scale: m.maybe(0.3, c.text(50, 300)), lmin: m.maybe(0.3, c.text(0.3, 0.6)), lmax: m.maybe(0.3, c.text(1.5, 1.8)), vmax: m.maybe(0.3, c.text(1, 2)), fpmax: m.maybe(0.3, c.text(1, 2)), fvmax: m.maybe(0.3, c.text(1.1, 1.5)) }); break;
      case 'pid': Object.assign(a, { kp: c.text(0, 10), ki: m.maybe(0.4, c.text(0, 3)), imax: m.maybe(0.3, c.text(0.1, 2)), slewmax: m.maybe(0.2, c.text(0.5, 3)) }); if (c.chance(0.5)) a.kv = c.text(0, 2); else if (c.chance(0.3)) a.dampratio = c.text(0.3, 1.2); if (!a.ki && !a.slewmax) a.input = m.maybe(0.5, c.pick(['pos', 'vel', 'pos ff', 'pos vel ff', 'vel ff'])); break;
      case 'dcmotor': {
        if (c.chance(0.5)) a.motorconst = c.text(0.02, 0.2, c.whole(1, 2)); else a.nominal = `${c.text(6, 24)} ${c.text(0.2, 2)} ${c.text(20, 200)}`;
        if (!a.nominal || c.chance(0.3)) a.resistance = c.text(0.5, 4);
        a.saturation = m.maybe(0.4, `${c.text(0.02, 0.5)} ${c.text(0, 5)} ${c.chance(0.5) ? c.text(1, 50) : 0}`);
        a.inductance = m.maybe(0.4, c.chance(0.5) ? c.text(0.001, 0.02) : `0 ${c.text(0.001, 0.1)}`);
        a.cogging = m.maybe(0.3, `${c.text(0, 0.2)} ${c.whole(1, 12)} ${c.text(0, 1)}`);
        a.lugre = m.maybe(0.4, `${c.text(5, 200)} ${c.text(0, 0.5)} ${c.text(0.02, 0.1)} ${c.text(0.1, 0.2)} ${c.text(0.05, 1)}`);
        a.thermal = m.maybe(0.3, c.pick([`${c.text(1, 3)} ${c.text(1, 3)} 0`, `${c.text(1, 3)} 0 ${c.text(2, 9)}`, `0 ${c.text(1, 3)} ${c.text(2, 9)}`]) + ` ${c.text(0, 0.005)} ${c.text(15, 30)} ${c.text(15, 40)}`);
        a.input = m.maybe(0.7, c.pick(['pos', 'vel', 'pos vel', 'pos vel ff', 'ff', 'pos voltage', 'vel ff voltage', 'pos vel ff voltage', 'none', 'voltage']));
        if (/pos|vel|ff/.test(a.input ?? '')) a.controller = `${c.text(0, 5)} ${a.input.includes('pos') && c.chance(0.5) ? c.text(0, 2) : 0} ${c.text(0, 0.5)} ${c.chance(0.4) ? c.text(0.5, 20) : 0} ${c.chance(0.5) ? c.text(0.2, 1) : 0} ${c.chance(0.5) ? c.text(1, 24) : 0}`;
        break;
      }
      default: break;
    }
    if (kind === 'dcmotor') {
      if (!inClass) a.ctrlrange = m.maybe(0.3, m.range(-2, 2));
    } else if (!inClass || c.chance(0.3)) {
      if (kind !== 'damper' && kind !== 'pid') a.ctrlrange = m.maybe(0.5, m.range(-2, 2));
      if (kind === 'damper') a.ctrlrange = `0 ${c.text(0.5, 2)}`;
      a.forcerange = m.maybe(0.3, m.range(-4, 4));
      m.limits(a, 'forcerange', 'forcelimited');
      if (kind !== 'damper') m.limits(a, 'ctrlrange', 'ctrllimited');
    }
    a.gear = m.maybe(0.4, inClass ? c.text(-2, 2) : c.text(-2, 2, c.chance(0.3) ? 6 : 1));
    a.armature = kind !== 'muscle' ? m.maybe(0.1, c.text(0, 0.02)) : undefined;
    a.damping = m.maybe(0.1, poly(0.1));
    return a;
  }

  inClass() {
    const c = this.c, kind = c.pick(['position', 'velocity', 'general', 'motor', 'position', 'general', 'muscle', 'cylinder', 'damper', 'intvelocity', 'pid', 'dcmotor']);
    const a = this.law(kind, true);
    if (kind === 'damper' && !a.ctrlrange) a.ctrlrange = '0 1';
    a.armature = a.damping = undefined;
    if (kind === 'intvelocity') a.actrange = '-1 1';
    this.m.classKinds = (this.m.classKinds ?? new Map()).set(this.m.classes.length, kind);
    return element(kind, a);
  }

  tendonSection() {
    const c = this.c, m = this.m;
    const scalar = m.joints.filter(j => j.type === 'hinge' || j.type === 'slide');
    let text = '';
    const common = () => {
      const a = { name: m.name('t'), class: m.class(0.3), stiffness: m.maybe(0.4, c.chance(0.3) ? c.text(0, 5, 3) : c.text(0, 5)), damping: m.maybe(0.4, c.chance(0.3) ? c.text(0, 1, 3) : c.text(0, 1)), frictionloss: m.maybe(0.2, c.text(0, 0.4)), armature: m.maybe(0.15, c.text(0, 0.05)),
        springlength: m.maybe(0.3, c.chance(0.5) ? c.text(0, 0.5) : `${c.text(0, 0.2)} ${c.text(0.3, 0.6)}`), range: m.maybe(0.3, `${c.text(-1, 0)} ${c.text(0.2, 1)}`), margin: m.maybe(0.1, '0.01'), actuatorfrcrange: m.maybe(0.2, m.range(-2, 2)) };
      m.limits(a, 'range', 'limited'); m.limits(a, 'actuatorfrcrange', 'actuatorfrclimited');
      return a;
    };
    for (let n = scalar.length ? c.whole(0, 2) : 0; n > 0; n--) {
      const a = common();
      let path = '';
      const used = new Set();
      for (let k = c.whole(1, 3); k > 0; k--) { const j = c.pick(scalar); if (!used.has(j)) path += element('joint', { joint: j.name, coef: c.text(-2, 2) }); used.add(j); }
      text += element('fixed', a, path);
      this.tendons.push({ name: a.name, range: a.range && a.limited !== 'false' && (m.autolimits || a.limited === 'true') });
    }
    const wraps = m.geoms.filter(g => g.type === 'sphere' || g.type === 'cylinder');
    for (let n = m.sites.length > 1 && !m.compiler.fusestatic ? c.whole(0, 2) : 0; n > 0; n--) { // MuJoCo takes other sites where it fuses
      const a = common(), sites = [...m.sites].sort(() => c.unit() - 0.5).slice(0, c.whole(2, 5));
      let path = '';
      sites.forEach((s, k) => {
        path += element('site', { site: s });
        const more = k + 1 < sites.length;
        if (more && wraps.length && !a.armature && c.chance(0.4)) path += element('geom', { geom: c.pick(wraps).name, sidesite: m.maybe(0.5, c.pick(m.sites)) });
        else if (k > 0 && k + 2 < sites.length && c.chance(0.3)) path += element('pulley', { divisor: c.text(1, 3) }) + element('site', { site: c.pick(m.sites.filter(x => x !== sites[k + 1])) });
      });
      text += element('spatial', a, path);
      this.tendons.push({ name: a.name, range: a.range && a.limited !== 'false' && (m.autolimits || a.limited === 'true') });
    }
    return text && element('tendon', {}, text);
  }

  equalitySection() {
    const c = this.c, m = this.m, scalar = m.joints.filter(j => j.type === 'hinge' || j.type === 'slide');
    const two = list => { const a = c.whole(0, list.length - 1), b = c.whole(0, list.length - 2); return [list[a], list[b >= a ? b + 1 : b]]; };
    let text = '';
    const common = () => ({ name: m.maybe(0.5, m.name('e')), class: m.class(0.2), active: m.maybe(0.15, 'false') });
    for (let n = c.whole(0, 3); n > 0; n--) {
      const kind = c.pick(['connect', 'weld', 'joint', 'tendon', 'connect', 'weld']);
      if ((kind === 'connect' || kind === 'weld') && c.chance(0.3) && m.sites.length > 1) { const [a, b] = two(m.sites); text += element(kind, { ...common(), site1: a, site2: b }); }
      else if ((kind === 'connect' || kind === 'weld') && m.bodies.length > 1) {
        const [a, b] = two(m.bodies);
        text += element(kind, { ...common(), body1: a, body2: m.maybe(0.8, b), anchor: kind === 'connect' ? c.text(-0.2, 0.2, 3) : m.maybe(0.4, c.text(-0.2, 0.2, 3)), relpose: kind === 'weld' ? m.maybe(0.4, c.text(-0.5, 0.5, 7)) : undefined, torquescale: kind === 'weld' ? m.maybe(0.3, c.text(0.5, 2)) : undefined });
      } else if (kind === 'joint' && scalar.length > 1) { const [a, b] = two(scalar); text += element(kind, { ...common(), joint1: a.name, joint2: m.maybe(0.8, b.name), polycoef: m.maybe(0.8, c.text(-1, 1, c.whole(1, 5))) }); }
      else if (kind === 'tendon' && this.tendons.length > 1) { const [a, b] = two(this.tendons); text += element(kind, { ...common(), tendon1: a.name, tendon2: m.maybe(0.8, b.name), polycoef: m.maybe(0.8, c.text(-1, 1, c.whole(1, 5))) }); }
    }
    return text && element('equality', {}, text);
  }

  actuatorSection() {
    const c = this.c, m = this.m, scalar = m.joints.filter(j => j.type === 'hinge' || j.type === 'slide'), balls = m.joints.filter(j => j.type === 'ball' || j.type === 'free');
    const KINDS = ['motor', 'position', 'velocity', 'intvelocity', 'damper', 'cylinder', 'general', 'general', 'general', 'muscle', 'pid', 'adhesion', 'position', 'dcmotor', 'dcmotor', 'orientation'];
    let text = '', turned = false; // MuJoCo 3.14 loses slider-cranks after an orientation servo
    for (let n = c.whole(0, 6); n > 0; n--) {
      const kind = c.pick(KINDS), a = { name: m.name('a'), class: m.class(0.35), group: m.maybe(0.15, c.whole(0, 3)), ...this.law(kind, false) };
      if (kind === 'adhesion') {
        if (!m.bodies.length) continue;
        text += element('adhesion', { name: a.name, body: c.pick(m.bodies), ctrlrange: '0 1', gain: c.text(1, 10) });
        this.actuators.push(a.name);
        continue;
      }
      if (kind === 'orientation') {
        const ball = m.joints.filter(j => j.type === 'ball');
        if (!ball.length) continue;
        const joint = c.pick(ball).name, kp = c.text(0.5, 20), forcerange = m.maybe(0.3, `0 ${c.text(0.5, 5)}`);
        if (forcerange && !m.autolimits) continue;
        if (c.chance(0.6)) text += element('orientation', { name: a.name, class: a.class, joint, kp, [c.pick(['kv', 'dampratio'])]: c.text(0.1, 2), input: m.maybe(0.5, c.pick(['expmap', 'quat'])), ctrlrange: m.autolimits ? m.maybe(0.2, m.range(-1, 1)) : undefined, forcerange });
        else text += element('general', { name: a.name, joint, gaintype: 'so3', biastype: 'so3', gainprm: kp, biasprm: `${c.text(-1, 1)} -${kp} -${c.text(0, 1)}`, dyntype: c.pick(['none', 'integrator']), actearly: c.pick(['true', 'false']), forcerange });
        this.actuators.push(a.name);
        turned = true;
        continue;
      }
      const at = c.pick(['joint', 'joint', 'joint', 'jointinparent', 'ball', 'tendon', 'site', 'crank'].slice(0, kind === 'muscle' || m.compiler.fusestatic ? 6 : 8));
      let range = false;
      if (at === 'tendon' && this.tendons.length) { const t = c.pick(this.tendons); a.tendon = t.name; range = t.range; }
      else if (at === 'site' && m.sites.length > 1) { a.site = c.pick(m.sites); if (c.chance(0.5)) a.refsite = c.pick(m.sites.filter(s => s !== a.site)); a.gear = a.refsite ? `${c.text(-1, 1, 3)} 0 0 0` : c.text(-1, 1, 6); /* turns between sites: docs/robots.md */ }
      else if (at === 'crank' && !turned && m.sites.length > 1) { a.cranksite = c.pick(m.sites); a.slidersite = c.pick(m.sites.filter(s => s !== a.cranksite)); a.cranklength = c.text(0.1, 1); }
      else if (at === 'ball' && balls.length) { a[c.pick(['joint', 'jointinparent'])] = c.pick(balls).name; a.gear = c.text(-1, 1, 6); }
      else if (scalar.length) { const j = c.pick(scalar); a[at === 'jointinparent' ? at : 'joint'] = j.name; range = j.limited; }
      else continue;
      if (kind === 'muscle' || kind === 'general') // without it MuJoCo looks for it by simulation
        a.lengthrange = `${c.text(0.05, 0.3)} ${c.text(0.5, 1.5)}`;
      if (kind === 'intvelocity') { a.actrange = m.range(-1, 1); if (!m.autolimits) a.actlimited = 'true'; }
      if ((kind === 'position' || kind === 'intvelocity') && range && (a.joint || a.tendon) && c.chance(0.4)) { a.inheritrange = c.text(0.5, 1.2); if (kind === 'position') a.ctrlrange = a.ctrllimited = undefined; else a.actrange = a.ctrlrange = a.ctrllimited = a.class = undefined; }
      if (kind === 'general' && a.dyntype && a.dyntype !== 'none' && c.chance(0.3)) { a.actrange = m.range(-1, 1); m.limits(a, 'actrange', 'actlimited'); }
      if ((a.armature || a.damping) && (!a.joint || balls.some(j => j.name === a.joint))) a.armature = a.damping = undefined;
      text += element(kind, a);
      this.actuators.push(a.name);
    }
    return text && element('actuator', {}, text);
  }

  sensorSection() {
    const c = this.c, m = this.m;
    const scalar = m.joints.filter(j => j.type === 'hinge' || j.type === 'slide').map(j => j.name), limited = m.joints.filter(j => j.limited && j.type !== 'free').map(j => j.name), balls = m.joints.filter(j => j.type === 'ball').map(j => j.name);
    const geoms = m.geoms.map(g => g.name), tendons = this.tendons.map(t => t.name), ranged = this.tendons.filter(t => t.range).map(t => t.name);
    const frames = [['site', m.sites], ['body', m.bodies], ['xbody', m.bodies], ['geom', m.sensed], ['camera', m.cameras]].filter(([, l]) => l.length);
    const rows = [...['accelerometer', 'velocimeter', 'gyro', 'magnetometer', 'touch'].map(t => [t, 'site', m.sites]),
      ...['force', 'torque'].map(t => [t, 'site', m.sites.slice(m.ground)]) /* MuJoCo adds torques of trees about different points in the world */, ...['jointpos', 'jointvel', 'jointactuatorfrc'].map(t => [t, 'joint', scalar]), ...['tendonpos', 'tendonvel', 'tendonactuatorfrc'].map(t => [t, 'tendon', tendons]),
      ...['actuatorpos', 'actuatorvel', 'actuatorfrc'].map(t => [t, 'actuator', this.actuators]), ...['ballquat', 'ballangvel'].map(t => [t, 'joint', balls]), ...['jointlimitpos', 'jointlimitvel'].map(t => [t, 'joint', limited.filter(x => scalar.includes(x))]),
      ...['tendonlimitpos', 'tendonlimitvel'].map(t => [t, 'tendon', ranged]), ...['subtreecom', 'subtreelinvel', 'subtreeangmom'].map(t => [t, 'body', m.bodies]), ...(m.attached ? [] : ['e_potential', 'e_kinetic', 'clock']).map(t => [t, null, null])] /* MuJoCo copies them with what is attached */;
    const FRAME = ['framepos', 'framequat', 'framexaxis', 'frameyaxis', 'framezaxis', 'framelinvel', 'frameangvel', 'framelinacc', 'frameangacc'];
    let text = '';
    for (let n = c.whole(0, 14); n > 0; n--) {
      const a = { name: m.maybe(0.6, m.name('n')), cutoff: m.maybe(0.1, c.text(0.1, 2)), noise: m.maybe(0.05, '0.1') };
      const choice = c.whole(0, 9);
      if (choice < 4 && frames.length) {
        const type = c.pick(FRAME), [objtype, list] = c.pick(frames);
        Object.assign(a, { objtype, objname: c.pick(list) });
        if (!type.endsWith('acc') && c.chance(0.4)) { const [reftype, refs] = c.pick(frames); Object.assign(a, { reftype, refname: c.pick(refs) }); }
        if (/quat|axis/.test(type)) a.cutoff = undefined;
        text += element(type, a);
      } else if (choice === 4 && m.sites.length && frames.length) { const [objtype, list] = c.pick(frames); text += element('insidesite', { ...a, site: c.pick(m.sites), objtype, objname: c.pick(list), cutoff: undefined }); }
      else if (choice === 5 && m.sites.length && m.cameras.length) text += element('camprojection', { ...a, site: c.pick(m.sites), camera: c.pick(m.cameras), cutoff: undefined });
      else if (choice === 6 && m.meshes.length && geoms.length && c.chance(0.5)) text += element('tactile', { ...a, mesh: c.pick(m.meshes), geom: c.pick(geoms) });
      else {
        const [type, key, list] = c.pick(rows);
        if (list && !list.length) continue;
        if (type === 'ballquat') a.cutoff = undefined;
        text += element(type, key ? { ...a, [key]: c.pick(list) } : a);
      }
    }
    return text && element('sensor', {}, text);
  }

  sections() {
    const parts = [this.tendonSection(), this.equalitySection(), this.actuatorSection(), this.sensorSection()];
    return this.m.compiler.fusestatic ? parts[0] + parts[2] : parts.join(''); // MuJoCo takes other geoms and sites where it fuses
  }
}

export const makeDrives = maker => new Drives(maker);
