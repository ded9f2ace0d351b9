/* Hundreds of thousands of spheres: each a quad that faces the camera, on which the shader finds the point of the sphere
 * that the ray through the pixel meets, with its normal and its depth. */
import * as THREE from 'three';

const vertex = /* glsl */ `
  attribute vec4 place;   /* centre, radius */
  attribute vec3 tone;
  varying vec3 vTone;
  varying vec3 vCentre;
  varying vec3 vCorner;
  varying float vRadius;
  void main() {
    vTone = tone;
    vRadius = place.w;
    vec4 centre = modelViewMatrix * vec4(place.xyz, 1.0);
    vCentre = centre.xyz;
    vec3 sight = isOrthographic ? vec3(0.0, 0.0, -1.0) : normalize(centre.xyz);
    vec3 side = normalize(cross(sight, vec3(0.0, 1.0, 0.0)));
    vec3 up = cross(side, sight);
    /* seen from near, the outline of a sphere is wider than its radius */
    float d = length(centre.xyz);
    float wide = isOrthographic ? 1.0 : d / sqrt(max(d * d - vRadius * vRadius, 1e-4 * d * d));
    vCorner = centre.xyz + (side * position.x + up * position.y) * vRadius * wide;
    gl_Position = projectionMatrix * vec4(vCorner, 1.0);
  }`;

const fragment = /* glsl */ `
  uniform mat4 projectionMatrix;
  uniform vec3 sun;       /* towards the light, in view space */
  uniform vec3 sky;       /* up, in view space */
  uniform float opacity;
  varying vec3 vTone;
  varying vec3 vCentre;
  varying vec3 vCorner;
  varying float vRadius;
  void main() {
    vec3 start = isOrthographic ? vec3(vCorner.xy, 0.0) : vec3(0.0);
    vec3 ray = isOrthographic ? vec3(0.0, 0.0, -1.0) : normalize(vCorner);
    vec3 to = vCentre - start;
    float along = dot(ray, to);
    float inside = vRadius * vRadius - dot(to, to) + along * along;
    if (inside < 0.0) discard;
    vec3 hit = start + ray * (along - sqrt(inside));
    vec3 normal = (hit - vCentre) / vRadius;
    float direct = max(dot(normal, sun), 0.0);
    float soft = 0.5 + 0.5 * dot(normal, sky);
    gl_FragColor = vec4(vTone * (0.25 + 0.4 * soft + 0.55 * direct), opacity);
    vec4 clip = projectionMatrix * vec4(hit, 1.0);
    gl_FragDepth = 0.5 + 0.5 * clip.z / clip.w;
    #include <colorspace_fragment>
  }`;

export class SphereCloud {
  /** @param {import('./bodies.js').Instance[]} instances */
  constructor(instances) {
    this.instances = instances;
    const n = instances.length;
    const geometry = new THREE.InstancedBufferGeometry();
    geometry.setAttribute('position', new THREE.Float32BufferAttribute([-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0], 3));
    geometry.setIndex([0, 1, 2, 0, 2, 3]);
    this.place = new THREE.InstancedBufferAttribute(new Float32Array(4 * n), 4).setUsage(THREE.DynamicDrawUsage);
    this.tone = new THREE.InstancedBufferAttribute(new Float32Array(3 * n), 3);
    geometry.setAttribute('place', this.place);
    geometry.setAttribute('tone', this.tone);
    geometry.instanceCount = n;
    const material = new THREE.ShaderMaterial({
      vertexShader: vertex,
      fragmentShader: fragment,
      uniforms: { sun: { value: new THREE.Vector3(0, 0, 1) }, sky: { value: new THREE.Vector3(0, 1, 0) }, opacity: { value: 1 } },
    });
    this.mesh = new THREE.Mesh(geometry, material);
    this.mesh.frustumCulled = false;
    this.mesh.onBeforeRender = (_renderer, _scene, camera) => this.light(camera);
  }

  light(camera) {
    const { sun, sky } = this.mesh.material.uniforms;
    sun.value.set(0.45, -0.6, 0.9).normalize().transformDirection(camera.matrixWorldInverse);
    sky.value.set(0, 0, 1).transformDirection(camera.matrixWorldInverse);
  }

  show(poses, row) {
    const out = this.place.array;
    const { position, turn } = poses;
    const local = new THREE.Vector3();
    const q = new THREE.Quaternion();
    this.instances.forEach(({ slot, local: l, scale }, i) => {
      const r = slot < 0 ? -1 : row[slot];
      const centred = l[0] === 0 && l[1] === 0 && l[2] === 0;
      if (r < 0 || centred) local.set(l[0], l[1], l[2]);
      else local.set(l[0], l[1], l[2]).applyQuaternion(q.fromArray(turn, 4 * r));
      for (let c = 0; c < 3; c++) out[4 * i + c] = (r < 0 ? 0 : position[3 * r + c]) + local.getComponent(c);
      out[4 * i + 3] = slot >= 0 && r < 0 ? 0 : scale[0];
    });
    this.place.needsUpdate = true;
  }

  paint(colourOf) {
    this.instances.forEach((instance, i) => colourOf(instance).toArray(this.tone.array, 3 * i));
    this.tone.needsUpdate = true;
  }

  seeThrough(on) {
    const { material } = this.mesh;
    material.transparent = on;
    material.depthWrite = !on;
    material.uniforms.opacity.value = on ? 0.25 : 1;
    material.needsUpdate = true;
  }

  /** @param {THREE.Box3} box @param {(slot: number) => boolean} wanted */
  grow(box, wanted) {
    const { array } = this.place;
    const low = [Infinity, Infinity, Infinity];
    const high = [-Infinity, -Infinity, -Infinity];
    this.instances.forEach(({ slot }, i) => {
      if (!wanted(slot)) return;
      for (let c = 0; c < 3; c++) {
        low[c] = Math.min(low[c], array[4 * i + c] - array[4 * i + 3]);
        high[c] = Math.max(high[c], array[4 * i + c] + array[4 * i + 3]);
      }
    });
    box.union(new THREE.Box3(new THREE.Vector3(...low), new THREE.Vector3(...high)));
  }

  /** @param {THREE.Ray} ray */
  pick(ray) {
    const { array } = this.place;
    const { origin: o, direction: d } = ray;
    let distance = Infinity;
    let best = -1;
    for (let i = 0; i < this.instances.length; i++) {
      const x = array[4 * i] - o.x, y = array[4 * i + 1] - o.y, z = array[4 * i + 2] - o.z, r = array[4 * i + 3];
      const along = x * d.x + y * d.y + z * d.z;
      const inside = r * r - (x * x + y * y + z * z) + along * along;
      if (inside < 0 || r === 0) continue;
      const t = along - Math.sqrt(inside);
      if (t > 0 && t < distance) [distance, best] = [t, i];
    }
    return best < 0 ? null : { distance, instance: this.instances[best] };
  }
}
