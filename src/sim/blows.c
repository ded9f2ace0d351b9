/* Blows on stiff contacts: what springs expect of them.
 *
 *   u = v + w + R (r - memory - e),   e the impulses of the blow
 *
 * A spring that meets a blow leaves R / (W + R) of its speed, and would give back what it was pressed by. So contacts
 * that are struck, or through which a blow goes, expect its impulses e, as an answer on the way tells them
 * (step_solve.c): they are part of r_c, and springs do not remember them.
 *
 * What is expected must not bring energy. Over an island, v1 the velocities of rows with the answer, v_free without
 * impulses, both with those of surfaces that run (a->drive, which is part of a->w and no part of w here), contacts
 * bring
 *
 *   r . (v_free + v1) / 2 = r . v1 - r' W r / 2,   r' W r = r . (v1 - v_free),   r . v1 = r . u - r (w + R (r - r_c)).
 *
 * Springs and overlaps give -(r - e) (w + R (r - e - memory)). What is left is the gain by e,
 *
 *   e . (v1 - u) + r . u - r . (v1 - v_free) / 2,
 *
 * where r . u <= 0 is what friction takes. Where the gain is positive, the island expects nothing. (u is not 0 where a
 * contact slips: friction that was expected beyond its bound, |e_T| > mu r_N, brings energy.) */
#include "base/threads.h"
#include "sim/mechanism.h"

#include <math.h>

#define FALSE_BLOW 0.1 /* of what is expected: a contact that gets so much less would be pushed apart by its spring */

enum { MOST_ROUNDS = 3 }; /* in which blows are expected */

/* Mass that the stiffness of a contact stands for. */
static double rule_mass(const frix_sim *sim, const fx_group *g) {
  return sim->surface[g->source].stiffness * sim->h * sim->h / FX_KAPPA;
}

/* Speed that the forces of a step bring at most. */
static double push_of(const frix_sim *sim, const fx_assembly *a, const fx_group *g) {
  double before = fx_group_velocity(sim, a, g, 0, FX_BEFORE), free = fx_group_velocity(sim, a, g, 0, FX_FREE);
  return sim->h * fx_norm(sim->state.gravity) + fx_max(0.0, before - free);
}

double fx_blow_of(const frix_sim *sim, const fx_assembly *a, const fx_group *g) {
  if (!fx_is_stiff(sim, g)) return 0.0;
  double time = sim->h * sim->integrator->position_time;
  double room = fx_max(0.0, sim->contact[g->source].gap - g->natural); /* a load is no approach */
  double blow = -fx_group_velocity(sim, a, g, 0, FX_BEFORE) - room / time;
  if (!(blow > sim->h * fx_norm(sim->state.gravity))) return 0.0; /* as nearly always */
  double push = push_of(sim, a, g);
  return blow > push ? blow / fx_max(push, 1e-9 * blow) : 0.0;
}

int fx_blow_rounds(double blow) {
  int rounds = 0;
  for (; blow > 1.0 && rounds < MOST_ROUNDS; rounds++) blow /= (FX_KAPPA + 1.0) * (rounds ? 1.0 : FX_KAPPA + 1.0);
  return rounds;
}

/* The impulse of the normal spring where nothing moves. */
static double load_of(const fx_assembly *a, const fx_group *g) {
  return fx_max(0.0, (a->drive[g->row] - a->w[g->row]) / a->R[g->row]);
}

typedef struct expectation {
  const frix_sim *sim;
  fx_assembly *a;
  bool any[FX_PARTS];
} expectation;

static void expect_some(int32_t part, int32_t first, int32_t end, void *user) {
  expectation *t = user;
  fx_assembly *a = t->a;
  for (int32_t k = first; k < end; k++) {
    const fx_group *g = &a->group[k];
    if (g->kind != FX_GROUP_CONTACT || !fx_is_stiff(t->sim, g) || !(a->R[g->row] > 0.0)) continue;
    double extra = a->r[g->row] - load_of(a, g);
    if (!(extra > 0.0)) continue; /* as every open contact */
    bool hit = g->blow > 0.0 || a->expected[g->row] > 0.0 || extra > rule_mass(t->sim, g) * push_of(t->sim, a, g);
    if (!hit) continue;
    for (int32_t j = 0; j < g->dim; j++) {
      double *expected = &a->expected[g->row + j], *r_c = &a->r_c[g->row + j], memory = *r_c - *expected;
      *expected = j == 0 ? extra : a->r[g->row + j] - memory;
      *r_c = memory + *expected;
    }
    t->any[part] = true;
  }
}

bool fx_expect_blows(const frix_sim *sim, fx_assembly *a) {
  expectation t = {.sim = sim, .a = a};
  fx_threads threads = fx_sim_threads(sim);
  int32_t parts = fx_parallel_range(threads, a->joint_first, FX_LEAST_CONTACTS, expect_some, &t);
  bool any = false;
  for (int32_t k = 0; k < parts; k++) any |= t.any[k];
  return any;
}

void fx_forget_blow(fx_assembly *a, const fx_group *g) {
  for (int32_t k = g->row; a->expected && k < g->row + g->dim; k++) {
    a->r_c[k] -= a->expected[k];
    a->expected[k] = 0.0;
  }
}

static void drop_some(int32_t part, int32_t first, int32_t end, void *user) {
  expectation *t = user;
  fx_assembly *a = t->a;
  for (int32_t k = first; k < end; k++) {
    const fx_group *g = &a->group[k];
    double expected = a->expected[g->row];
    if (!(expected > 0.0) || g->kind != FX_GROUP_CONTACT || g->held || !(a->R[g->row] > 0.0)) continue;
    if (!(fx_held(a, g->row) < -FALSE_BLOW * expected)) continue;
    fx_forget_blow(a, g);
    t->any[part] = true;
  }
}

bool fx_drop_false_blows(const frix_sim *sim, fx_assembly *a) {
  expectation t = {.sim = sim, .a = a};
  fx_threads threads = fx_sim_threads(sim);
  if (!a->expected) return false;
  int32_t parts = fx_parallel_range(threads, a->joint_first, FX_LEAST_CONTACTS, drop_some, &t);
  bool any = false;
  for (int32_t k = 0; k < parts; k++) any |= t.any[k];
  return any;
}

static bool expects(const fx_assembly *a, const fx_group *g) {
  for (int32_t k = g->row; k < g->row + g->dim; k++)
    if (a->expected[k] != 0.0) return true;
  return false;
}

/* ---- islands that would gain ---- */

typedef struct gains {
  const frix_sim *sim;
  const fx_assembly *a;
  const fx_step_islands *islands;
  const uint8_t *expecting; /* by island */
  double *of;               /* by group */
} gains;

static bool some_expects(const fx_assembly *a) {
  for (int32_t k = 0; k < a->joint_first; k++)
    if (expects(a, &a->group[k])) return true;
  return false;
}

/* Marks the islands that expect something of a blow. */
static void find_expecting(const fx_assembly *a, const fx_step_islands *islands, uint8_t *expecting) {
  for (int32_t k = 0; k < a->joint_first; k++) {
    int32_t island = fx_island_of(islands, &a->group[k]);
    if (island >= 0 && expects(a, &a->group[k])) expecting[island] = 1;
  }
}

static double gain_of(const gains *t, const fx_group *g) {
  const fx_assembly *a = t->a;
  double free[FRIX_MAX_DIM], after[FRIX_MAX_DIM], gain = 0.0;
  fx_group_velocities(t->sim, a, g, FX_FREE, free);
  fx_group_velocities(t->sim, a, g, FX_AFTER, after);
  for (int32_t j = 0; j < g->dim; j++) {
    int32_t row = g->row + j;
    double ask = a->w[row] - a->drive[row], u = after[j] + ask + a->R[row] * (a->r[row] - a->r_c[row]);
    gain -= 0.5 * a->r[row] * (after[j] - free[j]);
    if (g->kind == FX_GROUP_CONTACT) gain += a->expected[row] * (after[j] - u) + a->r[row] * u;
  }
  return gain;
}

/* Groups that carry nothing and expect nothing bring nothing. */
static void find_gains(int32_t part, int32_t first, int32_t end, void *user) {
  const gains *t = user;
  const fx_assembly *a = t->a;
  (void)part;
  for (int32_t k = first; k < end; k++) {
    const fx_group *g = &a->group[k];
    int32_t island = fx_island_of(t->islands, g);
    bool counts = island >= 0 && t->expecting[island] && (fx_group_acts(a, g) || expects(a, g));
    t->of[k] = counts ? gain_of(t, g) : 0.0;
  }
}

frix_status fx_drop_gains(frix_sim *sim, fx_assembly *a, bool *any) {
  fx_step_islands islands;
  *any = false;
  if (!some_expects(a)) return FRIX_OK;
  frix_status status = fx_step_islands_find(sim, a, &islands);
  if (status != FRIX_OK) return status;
  uint8_t *expecting = FX_TAKE(&sim->arena, uint8_t, islands.count);
  double *gain = FX_TAKE(&sim->arena, double, islands.count), *of = FX_TAKE_RAW(&sim->arena, double, a->group_count);
  if (!expecting || !gain || !of) return FRIX_ERROR_MEMORY;
  find_expecting(a, &islands, expecting);
  gains t = {sim, a, &islands, expecting, of};
  fx_threads threads = fx_sim_threads(sim);
  fx_parallel_range(threads, a->group_count, FX_LEAST_CONTACTS, find_gains, &t);
  for (int32_t k = 0; k < a->group_count; k++)
    if (of[k] != 0.0) gain[fx_island_of(&islands, &a->group[k])] += of[k];
  for (int32_t k = 0; k < a->joint_first; k++) {
    const fx_group *g = &a->group[k];
    int32_t island = fx_island_of(&islands, g);
    if (island < 0 || g->held || !(gain[island] > 0.0) || !expects(a, g)) continue;
    fx_forget_blow(a, g);
    *any = true;
  }
  return FRIX_OK;
}
