/* Correlations of a packing, without a bias at the boundary: only centres and points that lie deeper in the region than
 * the reach count, their partners lie anywhere.
 *
 *   g(r)    pairs of centres at distance r over those of the same density without order; the density is that of the
 *           centres within the region
 *   S2(r)   the probability that two points at distance r both lie in grains: S2(0) is the packing fraction, far away
 *           its square [Torquato, Random Heterogeneous Materials, 2002]. Points are a fixed sequence of random ones. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "grains.h"

enum { POINTS = 20000 };

static const double pi = 3.14159265358979323846;

/* Grains sorted into cells as wide as the largest one or more. */
typedef struct sorted {
  double low[3], width;
  int32_t cells[3], *start, *list;
} sorted;

static int32_t place(const sorted *s, const double p[3], int32_t at[3]) {
  for (int a = 0; a < 3; a++) {
    double k = floor((p[a] - s->low[a]) / s->width);
    at[a] = k < 0 ? 0 : k >= s->cells[a] ? s->cells[a] - 1 : (int32_t)k;
  }
  return (at[2] * s->cells[1] + at[1]) * s->cells[0] + at[0];
}

static void numbers(const fx_grain *g, double out[3]) {
  out[0] = g->center.x, out[1] = g->center.y, out[2] = g->center.z;
}

static sorted sort_grains(const fx_grains *g) {
  sorted s = {.width = 2 * g->largest, .cells = {1, 1, 1}};
  double high[3] = {-INFINITY, -INFINITY, -INFINITY}, p[3];
  int32_t at[3], total;
  for (int a = 0; a < 3; a++) s.low[a] = INFINITY;
  for (int32_t k = 0; k < g->count; k++) {
    numbers(&g->grain[k], p);
    for (int a = 0; a < 3; a++) s.low[a] = fmin(s.low[a], p[a]), high[a] = fmax(high[a], p[a]);
  }
  /* a few grains that flew far away do not ask for a huge table */
  for (double wanted = INFINITY; g->count && wanted > 64.0 * g->count + 1e4; s.width *= 1.25) {
    wanted = 1;
    for (int a = 0; a < 3; a++) wanted *= floor((high[a] - s.low[a]) / s.width) + 1;
    for (int a = 0; a < 3 && wanted <= 64.0 * g->count + 1e4; a++)
      s.cells[a] = (int32_t)floor((high[a] - s.low[a]) / s.width) + 1;
  }
  if (g->count) s.width /= 1.25;
  total = s.cells[0] * s.cells[1] * s.cells[2];
  s.start = fx_grow(NULL, (size_t)total + 2, sizeof *s.start);
  s.list = fx_grow(NULL, (size_t)g->count, sizeof *s.list);
  memset(s.start, 0, ((size_t)total + 2) * sizeof *s.start);
  for (int32_t k = 0; k < g->count; k++) numbers(&g->grain[k], p), s.start[place(&s, p, at) + 2]++;
  for (int32_t k = 0; k <= total; k++) s.start[k + 1] += s.start[k];
  for (int32_t k = 0; k < g->count; k++) numbers(&g->grain[k], p), s.list[s.start[place(&s, p, at) + 1]++] = k;
  return s;
}

/* Calls `each` with all grains in cells within `reach` of a point. */
typedef struct visit {
  const fx_grains *grains;
  frix_vec3 point;
  double reach;
  void (*each)(struct visit *v, int32_t k);
  fx_pairs *pairs;
  int32_t self;
  bool solid;
} visit;

static void around(const sorted *s, visit *v) {
  double p[3] = {v->point.x, v->point.y, v->point.z}, q[3];
  int32_t low[3], high[3];
  for (int a = 0; a < 3; a++) q[a] = p[a] - v->reach;
  place(s, q, low);
  for (int a = 0; a < 3; a++) q[a] = p[a] + v->reach;
  place(s, q, high);
  for (int32_t z = low[2]; z <= high[2]; z++)
    for (int32_t y = low[1]; y <= high[1]; y++) {
      int32_t row = (z * s->cells[1] + y) * s->cells[0];
      for (int32_t k = s->start[row + low[0]]; k < s->start[row + high[0] + 1]; k++) v->each(v, s->list[k]);
    }
}

static double distance(frix_vec3 a, frix_vec3 b) {
  frix_vec3 d = fx_grain_minus(a, b);
  return sqrt(fx_grain_dot(d, d));
}

static void count_pair(visit *v, int32_t k) {
  double r = distance(v->grains->grain[k].center, v->point);
  if (k != v->self && r < v->pairs->reach) v->pairs->pairs[(int)(r / v->pairs->width)]++;
}

static void find_solid(visit *v, int32_t k) {
  v->solid = v->solid || distance(v->grains->grain[k].center, v->point) < v->grains->grain[k].radius;
}

static bool solid_at(const sorted *s, const fx_grains *g, frix_vec3 p) {
  visit v = {.grains = g, .point = p, .reach = g->largest, .each = find_solid};
  around(s, &v);
  return v.solid;
}

void fx_pairs_new(fx_pairs *pairs, double reach) { *pairs = (fx_pairs){.reach = reach, .width = reach / FX_PAIR_BINS}; }

static double uniform(uint64_t *state) {
  uint64_t x = *state += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return ((double)((x ^ (x >> 31)) >> 11) + 0.5) * 0x1p-53;
}

/* A random unit vector. */
static frix_vec3 direction(int dim, uint64_t *random) {
  double angle = 2 * pi * uniform(random), z = dim == 3 ? 2 * uniform(random) - 1 : 0, r = sqrt(1 - z * z);
  return (frix_vec3){r * cos(angle), r * sin(angle), z};
}

static frix_vec3 random_point(const fx_region *region, int dim, uint64_t *random) {
  const double *low = region->low, *high = region->high;
  double x = region->round ? region->axis[0] + high[0] * (2 * uniform(random) - 1)
                           : low[0] + (high[0] - low[0]) * uniform(random);
  double y = region->round ? region->axis[1] + high[0] * (2 * uniform(random) - 1)
                           : low[1] + (high[1] - low[1]) * uniform(random);
  return (frix_vec3){x, y, dim == 3 ? low[2] + (high[2] - low[2]) * uniform(random) : 0};
}

static void add_two_point(fx_pairs *pairs, const fx_grains *g, const sorted *s, const fx_region *region) {
  uint64_t random = 1 + (uint64_t)pairs->moments; /* other points in every frame: grains at rest stay where they are */
  for (int64_t k = 0, tries = 0; k < POINTS && tries < 100 * POINTS; tries++) {
    frix_vec3 p = random_point(region, g->dim, &random), d = direction(g->dim, &random);
    int bin = (int)(k % FX_PAIR_BINS);
    double r = (bin + 0.5) * pairs->width;
    if (fx_region_depth(region, g->dim, p) < pairs->reach) continue;
    k++;
    bool solid = solid_at(s, g, p);
    pairs->points++, pairs->solid += solid;
    pairs->tried[bin]++;
    pairs->both[bin] += solid && solid_at(s, g, (frix_vec3){p.x + r * d.x, p.y + r * d.y, p.z + r * d.z});
  }
}

bool fx_pairs_add(fx_pairs *pairs, const fx_grains *g, const fx_region *region) {
  sorted s = sort_grains(g);
  fx_grid whole = {.region = *region, .cells = {1, 1, 1}, .dim = g->dim};
  double inside = 0, centers = 0;
  for (int32_t k = 0; k < g->count; k++) {
    double depth = fx_region_depth(region, g->dim, g->grain[k].center);
    inside += depth >= 0;
    if (depth < pairs->reach) continue;
    centers++;
    visit v = {
        .grains = g, .point = g->grain[k].center, .reach = pairs->reach, .each = count_pair, .pairs = pairs, .self = k};
    around(&s, &v);
  }
  if (centers > 0) add_two_point(pairs, g, &s, region);
  pairs->centers += centers;
  pairs->density += inside / fx_grid_volume(&whole, 0);
  pairs->moments++;
  free(s.start);
  free(s.list);
  return centers > 0;
}

double fx_pairs_radial(const fx_pairs *pairs, int dim, int k) {
  double a = k * pairs->width, b = a + pairs->width;
  double shell = dim == 3 ? 4.0 / 3.0 * pi * (b * b * b - a * a * a) : pi * (b * b - a * a);
  return pairs->centers > 0 ? pairs->pairs[k] / (pairs->centers * shell * pairs->density / pairs->moments) : NAN;
}

double fx_pairs_two_point(const fx_pairs *pairs, int k) {
  return pairs->tried[k] > 0 ? pairs->both[k] / pairs->tried[k] : NAN;
}
