/* Masses of geoms with shellinertia="true": all of it lies in the surface.
 *
 * Moments per mass, with the part f of the area that is round or flat:
 *   sphere    2/3 r^2
 *   capsule   tube r^2/2 + h^2/12 across, r^2 along; half spheres, centre r/2 from their rim, by parallel axes
 *   cylinder  tube likewise; discs r^2/4 across and h^2/4 away, r^2/2 along
 *   box       of two faces across x: (b^2 + c^2)/3 about x, c^2/3 + a^2 about y, b^2/3 + a^2 about z
 *   ellipsoid what lies between half axes a, b, c and a + e, b + e, c + e, with e = 1e-6 m, as MuJoCo has it; its area
 *             is Thomsen's, 4 pi (((ab)^p + (bc)^p + (ca)^p) / 3)^(1/p) with p = 1.6075, 1 % off at most
 * with r the radius, h the length between the ends, a, b, c half widths. */
#include "base/trig.h"
#include "io/mjcf_internal.h"

static fx_mass around_z(double area, double across, double along) {
  return (fx_mass){area, {0.0, 0.0, 0.0}, {area * across, area * across, area * along, 0.0, 0.0, 0.0}};
}

static fx_mass capsule(double r, double h) {
  double round = 2.0 * r / (2.0 * r + h), tube = 1.0 - round, away = 0.5 * h + 0.5 * r;
  double across = tube * (0.5 * r * r + h * h / 12.0) + round * (2.0 / 3.0 * r * r + away * away - 0.25 * r * r);
  return around_z(2.0 * FX_PI * r * (2.0 * r + h), across, (tube + 2.0 / 3.0 * round) * r * r);
}

static fx_mass cylinder(double r, double h) {
  double flat = r / (r + h), tube = 1.0 - flat;
  double across = tube * (0.5 * r * r + h * h / 12.0) + flat * 0.25 * (r * r + h * h);
  return around_z(2.0 * FX_PI * r * (r + h), across, (tube + 0.5 * flat) * r * r);
}

static fx_mass box(const double half[3]) {
  fx_mass out = {0};
  double j[3] = {0.0, 0.0, 0.0};
  for (int k = 0; k < 3; k++) {
    int u = (k + 1) % 3, v = (k + 2) % 3;
    double a = half[k] * half[k], b = half[u] * half[u], c = half[v] * half[v], area = 8.0 * half[u] * half[v];
    j[k] += area * (b + c) / 3.0, j[u] += area * (c / 3.0 + a), j[v] += area * (b / 3.0 + a);
    out.mass += area;
  }
  out.inertia = (frix_sym3){j[0], j[1], j[2], 0.0, 0.0, 0.0};
  return out;
}

/* Second moments of the layer: abc a^2 / 5 of what is outside less that of what is inside, over the difference of abc;
 * both written as sums, not as differences of near numbers. */
static fx_mass ellipsoid(const double half[3]) {
  const double e = 1e-6, p = 1.6075;
  double sum = 0.0, layer = 0.0, spread[3];
  for (int k = 0; k < 3; k++) sum += fx_pow(half[k] * half[(k + 1) % 3], p);
  double area = 4.0 * FX_PI * fx_pow(sum / 3.0, 1.0 / p), inside = half[0] * half[1] * half[2];
  for (int k = 0; k < 3; k++) layer += e * half[k] * half[(k + 1) % 3] + e * e * half[k];
  layer += e * e * e;
  for (int k = 0; k < 3; k++) {
    double outer = half[k] + e;
    spread[k] = (layer * outer * outer + inside * e * (2.0 * half[k] + e)) / (5.0 * layer);
  }
  return (fx_mass){
      area,
      {0.0, 0.0, 0.0},
      {area * (spread[1] + spread[2]), area * (spread[2] + spread[0]), area * (spread[0] + spread[1]), 0.0, 0.0, 0.0}};
}

fx_mass fx_mjcf_shell_mass(const fx_mjcf_geom *g) {
  double r = g->size[0];
  switch (g->type) {
    case FX_GEOM_SPHERE: return around_z(4.0 * FX_PI * r * r, 2.0 / 3.0 * r * r, 2.0 / 3.0 * r * r);
    case FX_GEOM_CAPSULE: return capsule(r, 2.0 * g->size[1]);
    case FX_GEOM_CYLINDER: return cylinder(r, 2.0 * g->size[1]);
    case FX_GEOM_BOX: return box(g->size);
    case FX_GEOM_ELLIPSOID: return ellipsoid(g->size);
    case FX_GEOM_MESH: return fx_mjcf_mesh_mass(&g->asset->mesh, FX_MESH_SHELL);
    default: return (fx_mass){0};
  }
}
