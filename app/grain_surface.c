/* Angle of repose: a cone (planar: two straight sides) fitted to the free surface of a heap.
 *
 * Columns of two mean diameters hold the top of the highest grain in them. The axis of the cone is the mean of the
 * columns' places, weighted with their heights. Columns between 15 and 85 % of the height give, by least squares over
 * means of rings, the line height = top - tan(angle) * distance from the axis. */
#include <math.h>
#include <stdlib.h>

#include "app.h"
#include "grains.h"

enum { RINGS = 400 };

static const double degrees = 180 / 3.14159265358979323846;

typedef struct columns {
  int32_t count[2];
  double low[2], width, base;
  double *top; /* -INFINITY: empty */
} columns;

static void up_and_sides(const fx_grains *g, const fx_grain *grain, double *up, double side[2]) {
  side[0] = grain->center.x, side[1] = g->dim == 3 ? grain->center.y : 0;
  *up = g->dim == 3 ? grain->center.z : grain->center.y;
}

static columns raise_columns(const fx_grains *g, const fx_region *region) {
  columns c = {.width = 4 * g->mean, .count = {1, 1}, .low = {region->low[0], region->low[1]}, .base = INFINITY};
  double high[2] = {region->high[0], region->high[1]}, up, side[2];
  for (int a = 0; a < 2 && region->round; a++)
    c.low[a] = region->axis[a] - region->high[0], high[a] = region->axis[a] + region->high[0];
  for (int a = 0; a < g->dim - 1; a++) c.count[a] = (int32_t)fmin(2000, ceil((high[a] - c.low[a]) / c.width));
  int32_t total = c.count[0] * c.count[1];
  c.top = fx_grow(NULL, (size_t)total, sizeof *c.top);
  for (int32_t k = 0; k < total; k++) c.top[k] = -INFINITY;
  for (int32_t k = 0; k < g->count; k++) {
    const fx_grain *grain = &g->grain[k];
    if (fx_region_depth(region, g->dim, grain->center) < 0) continue;
    up_and_sides(g, grain, &up, side);
    int32_t x = (int32_t)((side[0] - c.low[0]) / c.width),
            y = g->dim == 3 ? (int32_t)((side[1] - c.low[1]) / c.width) : 0;
    if (x >= c.count[0] || y >= c.count[1]) continue;
    double *top = &c.top[y * c.count[0] + x];
    *top = fmax(*top, up + grain->radius);
    c.base = fmin(c.base, up - grain->radius);
  }
  return c;
}

static void middle(const columns *c, int32_t k, double out[2]) {
  out[0] = c->low[0] + (k % c->count[0] + 0.5) * c->width;
  out[1] = c->count[1] > 1 ? c->low[1] + (k / c->count[0] + 0.5) * c->width : 0;
}

/* Where the axis stands, and the height above the base; false where there is no column. */
static bool find_axis(const columns *c, double axis[2], double *height) {
  double weight = 0, at[2];
  axis[0] = axis[1] = *height = 0;
  for (int32_t k = 0; k < c->count[0] * c->count[1]; k++) {
    if (!(c->top[k] > -INFINITY)) continue;
    double h = c->top[k] - c->base;
    middle(c, k, at);
    axis[0] += h * at[0], axis[1] += h * at[1], weight += h;
    *height = fmax(*height, h);
  }
  if (weight > 0) axis[0] /= weight, axis[1] /= weight;
  return weight > 0;
}

typedef struct line {
  double n, x, y, xx, xy, yy;
} line;

static void add_ring(line *l, double x, double y) {
  l->n++, l->x += x, l->y += y, l->xx += x * x, l->xy += x * y, l->yy += y * y;
}

fx_slope fx_surface_slope(const fx_grains *g, const fx_region *region) {
  fx_slope out = {.angle = NAN, .height = NAN, .foot = NAN, .spread = NAN};
  if (!g->count) return out;
  columns c = raise_columns(g, region);
  double axis[2], at[2], ring[RINGS] = {0}, filled[RINGS] = {0};
  line l = {0};
  if (find_axis(&c, axis, &out.height)) {
    for (int32_t k = 0; k < c.count[0] * c.count[1]; k++) {
      if (!(c.top[k] > -INFINITY)) continue;
      middle(&c, k, at);
      double r = hypot(at[0] - axis[0], at[1] - axis[1]);
      if (r < RINGS * c.width) ring[(int)(r / c.width)] += c.top[k] - c.base, filled[(int)(r / c.width)]++;
    }
    for (int k = 0; k < RINGS; k++) {
      double h = filled[k] > 0 ? ring[k] / filled[k] : 0;
      if (h < 0.15 * out.height || h > 0.85 * out.height) continue;
      add_ring(&l, (k + 0.5) * c.width, h);
      out.columns += (int32_t)filled[k];
    }
  }
  free(c.top);
  double spread = l.n * l.xx - l.x * l.x;
  if (l.n < 3 || !(spread > 0)) return out;
  double slope = (l.n * l.xy - l.x * l.y) / spread, rest = (l.y - slope * l.x) / l.n;
  double square = (l.yy - slope * l.xy - rest * l.y) / l.n;
  out.angle = degrees * atan(-slope);
  out.foot = slope < 0 ? -rest / slope : NAN;
  out.spread = sqrt(fmax(0, square)) / (2 * g->mean);
  return out;
}
