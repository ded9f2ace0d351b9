/* Renderer, camera, light and ground. Draws only when something changed. */
import * as THREE from 'three';
import { OrbitControls } from 'three/examples/jsm/controls/OrbitControls.js';

const SKY = { light: ['#fbfcfd', '#e3e8ee'], dark: ['#1b222c', '#0e1217'] };
const GROUND = { light: '#dfe4ea', dark: '#242c37' };
const LINES = { light: '#9aa5b4', dark: '#556173' };

/** @param {HTMLCanvasElement} canvas */
export const newRenderer = (canvas) => new THREE.WebGLRenderer({ canvas, antialias: true, preserveDrawingBuffer: true });

export class Stage {
  /** @param {HTMLCanvasElement} canvas @param {{flat: boolean, up: THREE.Vector3, renderer?: THREE.WebGLRenderer}} options */
  constructor(canvas, { flat, up, renderer = newRenderer(canvas) }) {
    this.canvas = canvas;
    this.flat = flat;
    this.up = up;
    this.renderer = renderer;
    this.renderer.shadowMap.type = THREE.PCFShadowMap;
    this.scene = new THREE.Scene();
    this.camera = flat ? new THREE.OrthographicCamera() : new THREE.PerspectiveCamera(32, 1, 0.01, 1000);
    this.camera.up.copy(flat ? new THREE.Vector3(0, 1, 0) : up);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = false;
    this.controls.zoomToCursor = true;
    this.controls.screenSpacePanning = true;
    if (flat) {
      this.controls.enableRotate = false;
      this.controls.mouseButtons.LEFT = THREE.MOUSE.PAN;
      this.controls.touches.ONE = THREE.TOUCH.PAN;
    }
    this.controls.addEventListener('change', () => this.refresh());
    this.controls.addEventListener('start', () => (this.turned = true)); /* by the reader */
    this.before = [];
    this.lights();
    this.sizes = new ResizeObserver(() => this.resize());
    this.sizes.observe(canvas.parentElement);
  }

  /** Leaves canvas and renderer to another stage. */
  leave() {
    cancelAnimationFrame(this.waiting);
    this.sizes.disconnect();
    this.controls.dispose();
  }

  lights() {
    this.sky = new THREE.HemisphereLight('#ffffff', '#b4bac4', 1.5);
    this.sky.position.copy(this.up);
    this.sun = new THREE.DirectionalLight('#fff6ea', 2.1);
    this.fill = new THREE.DirectionalLight('#dfe9ff', 0.5);
    this.scene.add(this.sky, this.sun, this.sun.target, this.fill, this.fill.target);
  }

  /** Light, shadow and ground for a scene of this box. @param {THREE.Box3} box */
  furnish(box, endless, shadows, poseOf) {
    this.box = box.clone();
    const sphere = box.getBoundingSphere(new THREE.Sphere());
    this.radius = Math.max(sphere.radius, 1e-6);
    this.centre = sphere.center;
    if (!this.flat) {
      const towards = (x, y, z) => new THREE.Vector3(x, y, z).applyQuaternion(new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), this.up));
      this.sun.position.copy(this.centre).addScaledVector(towards(0.45, -0.6, 0.9).normalize(), 4 * this.radius);
      this.sun.target.position.copy(this.centre);
      this.fill.position.copy(this.centre).addScaledVector(towards(-0.8, 0.5, 0.3).normalize(), 4 * this.radius);
      this.fill.target.position.copy(this.centre);
      if (shadows) this.shadows();
    }
    this.planes = endless.map((shape) => this.addEndless(shape, poseOf(shape)));
    this.resize();
  }

  shadows() {
    this.renderer.shadowMap.enabled = true;
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(2048, 2048);
    this.sun.shadow.radius = 3;
    this.sun.shadow.normalBias = 0.004 * this.radius;
    const reach = 1.9 * this.radius;
    Object.assign(this.sun.shadow.camera, { left: -reach, right: reach, top: reach, bottom: -reach, near: 0.1 * this.radius, far: 9 * this.radius });
  }

  /* A floor reaches as far as the eye; its lines fade out. Walls are seen from inside only. */
  addEndless(shape, matrix) {
    const normal = new THREE.Vector3(0, 0, 1).transformDirection(matrix);
    const holder = new THREE.Group();
    holder.matrixAutoUpdate = false;
    holder.matrix.copy(matrix);
    const near = this.centre.clone().applyMatrix4(matrix.clone().invert());
    const floor = shape.kind === 'half_plane' || normal.dot(this.up) > 0.5;
    if (shape.kind === 'half_plane') this.addHalfPlane(holder, near);
    else if (floor) this.addFloor(holder, near);
    else this.addWall(holder, matrix);
    this.scene.add(holder);
    return holder;
  }

  /* As much of a wall as stands beside the bodies. */
  addWall(holder, matrix) {
    const part = this.box.clone().applyMatrix4(matrix.clone().invert());
    const size = part.getSize(new THREE.Vector3());
    const geometry = new THREE.PlaneGeometry(size.x, size.y).translate((part.min.x + part.max.x) / 2, (part.min.y + part.max.y) / 2, 0);
    const face = new THREE.Mesh(geometry, new THREE.MeshBasicMaterial({ transparent: true, opacity: 0.1, depthWrite: false }));
    const rim = new THREE.LineSegments(new THREE.EdgesGeometry(geometry), new THREE.LineBasicMaterial({ transparent: true, opacity: 0.6 }));
    for (const thing of [face, rim]) {
      thing.renderOrder = -1;
      thing.userData.tone = LINES;
      holder.add(thing);
    }
  }

  addFloor(holder, near) {
    const reach = 9 * this.radius;
    const step = niceStep(0.22 * this.radius);
    const x = Math.round(near.x / step) * step;
    const y = Math.round(near.y / step) * step;
    const face = new THREE.Mesh(fadingDisc(reach), new THREE.MeshLambertMaterial({ vertexColors: true, transparent: true, depthWrite: false }));
    face.position.set(x, y, 0);
    face.receiveShadow = true;
    face.renderOrder = -2;
    face.userData.tone = GROUND;
    holder.add(face);
    const lines = new THREE.LineSegments(fadingGrid(reach * 0.75, step), new THREE.LineBasicMaterial({ vertexColors: true, transparent: true, depthWrite: false }));
    lines.position.set(x, y, 0);
    lines.renderOrder = -1;
    lines.userData.tone = LINES;
    holder.add(lines);
  }

  addHalfPlane(holder, near) {
    const reach = 40 * this.radius;
    const face = new THREE.Mesh(new THREE.PlaneGeometry(2 * reach, reach), new THREE.MeshBasicMaterial({ side: THREE.DoubleSide }));
    face.position.set(near.x, -reach / 2, -0.02 * this.radius);
    face.userData.tone = GROUND;
    const rim = new THREE.Mesh(new THREE.PlaneGeometry(2 * reach, 0.006 * this.radius), new THREE.MeshBasicMaterial({ side: THREE.DoubleSide }));
    rim.position.set(near.x, -0.003 * this.radius, -0.01 * this.radius);
    rim.userData.tone = LINES;
    holder.add(face, rim);
  }

  /** @param {'light'|'dark'} theme */
  paint(theme) {
    this.scene.background = gradient(SKY[theme]);
    this.sky.intensity = theme === 'dark' ? 1.15 : 1.5;
    this.sun.intensity = theme === 'dark' ? 1.9 : 2.1;
    this.scene.traverse((thing) => thing.userData.tone && thing.material.color.set(thing.userData.tone[theme]));
    this.refresh();
  }

  /** The whole of a box in view. @param {THREE.Box3} box */
  fit(box) {
    const sphere = box.getBoundingSphere(new THREE.Sphere());
    const centre = box.getCenter(new THREE.Vector3());
    const radius = Math.max(sphere.radius, 1e-6);
    this.controls.target.copy(centre);
    if (this.flat) {
      const size = box.getSize(new THREE.Vector3());
      const { camera } = this;
      const aspect = this.aspect();
      this.half = 0.58 * Math.max(size.y, size.x / aspect, 1e-6);
      camera.zoom = 1;
      camera.position.set(centre.x, centre.y, centre.z + 50 * radius);
      camera.near = 0;
      camera.far = 100 * radius;
    } else {
      const angle = THREE.MathUtils.degToRad(this.camera.fov / 2);
      const narrow = Math.min(angle, Math.atan(Math.tan(angle) * this.aspect()));
      const view = this.camera.position.clone().sub(this.controls.target);
      const fresh = !this.fitted;
      const across = new THREE.Vector3(0.55, -1, 0.38).applyQuaternion(new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), this.up));
      const direction = (fresh ? across : view).normalize();
      this.camera.position.copy(centre).addScaledVector(direction, (1.02 * radius) / Math.sin(narrow));
      this.camera.near = 0.01 * radius;
      this.camera.far = 60 * radius;
    }
    this.fitted = true;
    this.project();
    this.controls.update();
    this.refresh();
  }

  /** As another stage of the same kind. @param {Stage} other */
  look(other) {
    const { position, zoom, near, far } = other.camera;
    this.camera.position.copy(position);
    Object.assign(this.camera, { zoom, near, far });
    this.controls.target.copy(other.controls.target);
    this.half = other.half;
    this.fitted = other.fitted;
    this.project();
    this.controls.update();
    this.refresh();
  }

  aspect() {
    return Math.max(1, this.canvas.clientWidth) / Math.max(1, this.canvas.clientHeight);
  }

  project() {
    const { camera } = this;
    if (this.flat) {
      const half = this.half ?? 1;
      Object.assign(camera, { left: -half * this.aspect(), right: half * this.aspect(), top: half, bottom: -half });
    } else camera.aspect = this.aspect();
    camera.updateProjectionMatrix();
  }

  resize() {
    const { clientWidth: w, clientHeight: h } = this.canvas.parentElement;
    if (!w || !h) return;
    this.renderer.setPixelRatio(Math.min(2, devicePixelRatio));
    this.renderer.setSize(w, h, false);
    this.project();
    this.refresh();
  }

  /** Draws once, soon. */
  refresh() {
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = 0;
      for (const step of this.before) step();
      this.renderer.render(this.scene, this.camera);
      this.drawn = (this.drawn ?? 0) + 1;
      if (this.drawn === 1) performance.mark('frix-first-picture');
      this.firstDrawn ??= performance.now(); /* since the page was asked for */
    });
  }

  /** @param {number} x @param {number} y in pixels of the canvas */
  ray(x, y) {
    const raycaster = new THREE.Raycaster();
    raycaster.setFromCamera(new THREE.Vector2((2 * x) / this.canvas.clientWidth - 1, 1 - (2 * y) / this.canvas.clientHeight), this.camera);
    return raycaster;
  }
}

/* 1, 2 or 5 times a power of ten */
function niceStep(length) {
  const power = 10 ** Math.floor(Math.log10(length));
  const first = length / power;
  return power * (first < 2 ? 1 : first < 5 ? 2 : 5);
}

function gradient([top, bottom]) {
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [2, 256];
  const pen = canvas.getContext('2d');
  const ramp = pen.createLinearGradient(0, 0, 0, 256);
  ramp.addColorStop(0, top);
  ramp.addColorStop(1, bottom);
  pen.fillStyle = ramp;
  pen.fillRect(0, 0, 2, 256);
  const texture = new THREE.CanvasTexture(canvas);
  texture.colorSpace = THREE.SRGBColorSpace;
  return texture;
}

function fadingDisc(radius) {
  const geometry = new THREE.RingGeometry(1e-6 * radius, radius, 256, 24); /* fine, for it is seen from the side */
  const { position } = geometry.attributes;
  const colour = new Float32Array(4 * position.count).fill(1);
  for (let i = 0; i < position.count; i++) {
    const part = Math.hypot(position.getX(i), position.getY(i)) / radius;
    colour[4 * i + 3] = (1 - part) ** 1.2;
  }
  geometry.setAttribute('color', new THREE.BufferAttribute(colour, 4));
  return geometry;
}

function fadingGrid(reach, step) {
  const position = [];
  const colour = [];
  const lines = Math.floor(reach / step);
  const parts = 16;
  const put = (x, y) => {
    position.push(x, y, 0);
    colour.push(1, 1, 1, 0.42 * Math.max(0, 1 - Math.hypot(x, y) / reach) ** 1.6);
  };
  for (let k = -lines; k <= lines; k++)
    for (let j = -parts; j < parts; j++) {
      const from = (j / parts) * reach;
      const to = ((j + 1) / parts) * reach;
      put(k * step, from), put(k * step, to);
      put(from, k * step), put(to, k * step);
    }
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute('position', new THREE.Float32BufferAttribute(position, 3));
  geometry.setAttribute('color', new THREE.Float32BufferAttribute(colour, 4));
  return geometry;
}
