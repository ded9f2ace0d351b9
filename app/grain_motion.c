/* Where grains go: mean-square displacement, flow through a plane, and how long they stay between two jumps.
 *
 * A grain that comes farther between two moments than twice its speeds explain, and 4 diameters, was put there (fuel
 * that comes back on top); so was one that rises farther under gravity than its upward speeds explain, however far
 * apart the moments are. It is followed no longer in the mean-square displacement; the time between two jumps of one
 * grain is a residence. A grain that was above the plane and comes back on top went through the plane unseen, and
 * counts. */
#include <math.h>
#include <stdlib.h>

#include "app.h"
#include "grains.h"

typedef struct fx_traveller {
  uint32_t generation; /* of the body that had this slot, 0: none */
  frix_vec3 start, last, velocity;
  double entered; /* NaN: it was there before the first moment */
  bool followed;
} fx_traveller;

void fx_grain_motion_free(fx_motion *motion) { free(motion->traveller); }

static void make_room(fx_motion *m, int32_t count) {
  if (count <= m->count) return;
  m->traveller = fx_grow(m->traveller, (size_t)count, sizeof *m->traveller);
  for (int32_t k = m->count; k < count; k++) m->traveller[k] = (fx_traveller){0};
  m->count = count;
}

static double size_of(frix_vec3 v) { return sqrt(fx_grain_dot(v, v)); }

static double upright(const fx_grains *g, frix_vec3 v) { return g->dim == 3 ? v.z : v.y; }

static bool rose(const fx_grains *all, const fx_traveller *t, const fx_grain *g, double dt) {
  double up = fmax(fmax(upright(all, t->velocity), upright(all, g->velocity)), 0);
  return all->heavy && upright(all, g->center) - upright(all, t->last) > 8 * g->radius + 2 * up * dt;
}

static bool jumped(const fx_traveller *t, const fx_grain *g, double dt) {
  double way = size_of(fx_grain_minus(g->center, t->last)), speed = fmax(size_of(t->velocity), size_of(g->velocity));
  return way > 8 * g->radius + 2 * speed * dt + 10 * dt * dt;
}

static void leave(fx_motion *m, fx_traveller *t, double time) {
  m->jumps++;
  if (isfinite(t->entered)) {
    double stay = time - t->entered;
    m->stay_least = m->stays ? fmin(m->stay_least, stay) : stay;
    m->stay_most = m->stays ? fmax(m->stay_most, stay) : stay;
    m->stays++;
    m->stay_sum += stay;
  }
  t->entered = time;
  t->followed = false;
}

/* Downwards through the plane, within the region's sides: 1, upwards: -1. */
static int crossing(const fx_motion *m, const fx_region *region, int dim, frix_vec3 from, frix_vec3 to) {
  double a = dim == 3 ? from.z : from.y, b = dim == 3 ? to.z : to.y, at[3];
  if (!m->has_plane || (a >= m->plane) == (b >= m->plane)) return 0;
  double part = (a - m->plane) / (a - b);
  fx_region_place(region, (frix_vec3){from.x + part * (to.x - from.x), from.y + part * (to.y - from.y), 0}, at);
  for (int k = 0; k < dim - 1; k++)
    if (!(region->round && k == 1) && !(at[k] >= region->low[k] && at[k] < region->high[k])) return 0;
  return a >= m->plane ? 1 : -1;
}

typedef struct way {
  double sum[3], square[3], count;
} way;

static void follow(way *w, const fx_traveller *t) {
  const double d[3] = {t->last.x - t->start.x, t->last.y - t->start.y, t->last.z - t->start.z};
  for (int a = 0; a < 3; a++) w->sum[a] += d[a], w->square[a] += d[a] * d[a];
  w->count++;
}

void fx_grain_motion_add(fx_motion *m, const fx_grains *g, const fx_region *region) {
  double dt = m->moments ? g->time - m->time : 0, crossed = 0, mass = 0;
  way total = {0};
  make_room(m, g->slot_count);
  for (int32_t k = 0; k < g->count; k++) {
    const fx_grain *grain = &g->grain[k];
    fx_traveller *t = &m->traveller[grain->id.index];
    if (t->generation != grain->id.generation + 1) {
      bool first = m->moments == 0;
      *t = (fx_traveller){grain->id.generation + 1, grain->center,         grain->center,
                          grain->velocity,          first ? NAN : g->time, false};
      t->followed = first && fx_region_depth(region, g->dim, grain->center) >= 0;
    } else if (rose(g, t, grain, dt) || jumped(t, grain, dt)) {
      bool through = m->has_plane && rose(g, t, grain, dt) && upright(g, t->last) >= m->plane;
      crossed += through, mass += through ? grain->mass : 0;
      leave(m, t, g->time);
    } else {
      int sign = crossing(m, region, g->dim, t->last, grain->center);
      crossed += sign, mass += sign * grain->mass;
    }
    t->last = grain->center, t->velocity = grain->velocity;
    if (t->followed) follow(&total, t);
  }
  for (int a = 0; a < 3; a++) {
    m->drift[a] = total.count > 0 ? total.sum[a] / total.count : NAN;
    m->displacement2[a] = total.count > 0 ? fmax(0, total.square[a] / total.count - m->drift[a] * m->drift[a]) : NAN;
  }
  m->followed = total.count;
  m->crossed += crossed, m->crossed_mass += mass;
  m->flow = dt > 0 ? crossed / dt : NAN, m->flow_mass = dt > 0 ? mass / dt : NAN;
  m->time = g->time;
  m->grains = g->count;
  m->moments++;
}
