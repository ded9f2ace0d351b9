/* Restitution: one table, and the bound that keeps impacts from creating energy.
 *
 *   newton    u_N after = -e u_N before
 *   poisson   compression, then decompression with e times its normal impulse (poisson.c)
 *   bounded   newton's law with s e instead of e, s in [0, 1] the largest for which the contacts of an island create no
 *             energy; s = 1 wherever they create none
 *
 * Newton's law fixes the normal velocity and friction the tangential one; where normal and tangential motion are
 * coupled (a rod that falls on its end), both together may ask for more energy than there was. With e = 0 they never do
 * (power.c), so there is a largest s. It is found per island, because islands cannot lend each other energy, by
 * regula falsi (Illinois) over full solves: every answer is certified as the contact problem of its own e. Islands are
 * what impulses connect, so another e may connect others: what was found is looked at again with the islands it has
 * then; where these created energy a second search follows, and then e = 0 for all of them. Poisson's
 * law with one e for all contacts creates none either: with the normal impulses (1 + e) r_c given, friction takes most,
 * more than (1 + e) times that of compression, and on that ray the energy is a parabola whose lowest point lies at 1 or
 * beyond. With several e it may, and is bounded in the same way.
 * References: J. J. Moreau, 1988 (above, integrators.c); M. Anitescu, F. Potra, 1997 (poisson.c); D. Stewart,
 * Rigid-body dynamics with friction and impact, 2000 (energy and Newton's law). */
#include "base/option.h"
#include "sim/step.h"

#include <math.h>
#include <string.h>

static const frix_restitution_info table[] = {
    [FRIX_RESTITUTION_NEWTON] = {"newton", "u_N after = -e u_N before: with friction it may create energy"},
    [FRIX_RESTITUTION_POISSON] = {"poisson", "decompression with e times the normal impulse of compression"},
    [FRIX_RESTITUTION_BOUNDED] = {"bounded", "newton with e reduced where it would create energy (default)"},
};

enum { LAWS = sizeof table / sizeof *table, ROUNDS = 12, SEARCHES = 3 };

#define NEAR 1e-3 /* of the energy that the full restitution would create, or of s: near enough to the largest */

const frix_restitution_info *frix_restitution_table(int32_t k) { return k >= 0 && k < LAWS ? &table[k] : NULL; }

/* The search in one island: energy created beyond what is allowed is below 0 at low, above at high. */
typedef struct bracket {
  double low, high, at;
  double under, over; /* created there, as regula falsi weighs them */
  double found;       /* created with the full restitution */
  int side;           /* which end stayed the last time */
  bool searched, done;
} bracket;

typedef struct search {
  frix_sim *sim;
  fx_assembly *a;
  fx_bounce bounce;
  void *user;
  fx_step_islands islands;
  fx_power *power;
  double *turned;
  bracket *at;
  double *best; /* impulses at low */
  double *base; /* by group: the part of restitution kept before the search, which multiplies it */
} search;

static bool strikes(const search *x, const fx_group *g) {
  return g->kind == FX_GROUP_CONTACT && x->sim->surface[g->source].restitution > 0.0 &&
         fx_group_velocity(x->sim, x->a, g, 0, FX_BEFORE) < 0.0;
}

/* Energy that restitution created in an island: neither the step's own nor a rounding of the answer. */
static double created(const search *x, int32_t k) {
  return fx_power_gain(&x->power[k]) - x->turned[k] - fmax(x->sim->config.tolerance, 1e-12) * x->power[k].size;
}

static frix_status measure(search *x) {
  double *before = FX_TAKE_RAW(&x->sim->arena, double, x->a->row_count);
  if (!before) return FRIX_ERROR_MEMORY;
  fx_rows_velocities(x->sim, x->a, FX_BEFORE, before);
  fx_power_find(x->sim, x->a, &x->islands, before, x->power);
  return fx_power_turned(x->sim, x->a, &x->islands, x->turned);
}

/* Solves with the parts of restitution that the brackets ask for. */
static frix_status solve_at(search *x, bool best) {
  fx_assembly *a = x->a;
  for (int32_t k = 0; k < a->group_count; k++) {
    fx_group *g = &a->group[k];
    int32_t island = fx_island_of(&x->islands, g);
    if (island >= 0 && x->at[island].searched && strikes(x, g))
      fx_contact_keep(x->sim, a, g, x->base[k] * x->at[island].at);
  }
  frix_status status = x->bounce(x->sim, a, best ? x->best : NULL, x->user);
  return status == FRIX_OK ? measure(x) : status;
}

/* Impulses of the islands whose lower end is what was just solved. */
static void keep_best(search *x) {
  for (int32_t k = 0; k < x->a->group_count; k++) {
    const fx_group *g = &x->a->group[k];
    int32_t island = fx_island_of(&x->islands, g);
    if (island >= 0 && x->at[island].searched && x->at[island].at != x->at[island].low) continue;
    memcpy(x->best + g->row, x->a->r + g->row, (size_t)g->dim * sizeof *x->best);
  }
}

/* Where to look next; Illinois: an end that stays twice weighs half. */
static double next_of(const bracket *b) {
  double s = b->low + (b->high - b->low) * b->under / (b->under - b->over);
  double edge = 0.01 * (b->high - b->low);
  return fx_clamp(s, b->low + edge, b->high - edge);
}

static void narrow(bracket *b, double now, bool certified) {
  bool fits = certified && now <= 0.0;
  if (fits) {
    b->low = b->at, b->under = now;
    if (b->side > 0) b->over *= 0.5;
  } else {
    b->high = b->at, b->over = now > 0.0 ? now : b->over;
    if (b->side < 0) b->under *= 0.5;
  }
  b->side = fits ? 1 : -1;
  b->done = b->high - b->low <= NEAR || (fits && now >= -NEAR * b->found);
}

/* Islands that created energy; false: none. */
static bool begin(search *x) {
  bool any = false;
  for (int32_t k = 0; k < x->islands.count; k++) {
    double now = created(x, k);
    x->at[k] =
        (bracket){.high = 1.0, .at = 1.0, .over = now, .found = now, .searched = now > 0.0, .done = !(now > 0.0)};
    any |= now > 0.0;
  }
  return any;
}

/* Without restitution nothing is created but by an answer that is not exact. */
static frix_status begin_low(search *x) {
  for (int32_t k = 0; k < x->islands.count; k++) x->at[k].at = x->at[k].searched ? 0.0 : 1.0;
  frix_status status = solve_at(x, false);
  if (status != FRIX_OK) return status;
  keep_best(x);
  for (int32_t k = 0; k < x->islands.count; k++) {
    bracket *b = &x->at[k];
    b->under = created(x, k);
    if (b->searched && !(b->under < 0.0)) b->done = true;
  }
  return FRIX_OK;
}

static frix_status look(search *x) {
  frix_status status = begin_low(x);
  int rounds = x->sim->deadline > 0.0 ? 0 : ROUNDS; /* under a deadline: without restitution */
  for (int round = 0; status == FRIX_OK && round < rounds; round++) {
    bool open = false;
    for (int32_t k = 0; k < x->islands.count; k++) {
      bracket *b = &x->at[k];
      if (b->searched) b->at = b->done ? b->low : next_of(b);
      open |= !b->done;
    }
    if (!open) break;
    if ((status = solve_at(x, false)) != FRIX_OK) break;
    for (int32_t k = 0; k < x->islands.count; k++)
      if (!x->at[k].done) narrow(&x->at[k], created(x, k), x->sim->report.certified);
    keep_best(x);
  }
  if (status != FRIX_OK) return status;
  for (int32_t k = 0; k < x->islands.count; k++) {
    bracket *b = &x->at[k];
    if (b->searched) b->at = b->low;
  }
  return solve_at(x, true);
}

/* The least part of a restitution that was kept. */
static double least_kept(const search *x) {
  double least = 1.0;
  for (int32_t k = 0; k < x->a->group_count; k++)
    if (strikes(x, &x->a->group[k])) least = fmin(least, x->a->group[k].kept);
  return least;
}

/* Islands of the present answer, and what they created; *any: some did. */
static frix_status look_at(search *x, bool *any) {
  frix_sim *sim = x->sim;
  frix_status status = fx_step_islands_find(sim, x->a, &x->islands);
  if (status != FRIX_OK) return status;
  x->power = FX_TAKE(&sim->arena, fx_power, x->islands.count);
  x->turned = FX_TAKE(&sim->arena, double, x->islands.count);
  x->at = FX_TAKE(&sim->arena, bracket, x->islands.count);
  if (!x->power || !x->turned || !x->at) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < x->a->group_count; k++) x->base[k] = x->a->group[k].kept;
  status = measure(x);
  *any = begin(x);
  return status;
}

/* Without restitution, in all islands that created energy, or in all. */
static frix_status let_go(search *x, bool all) {
  for (int32_t k = 0; k < x->islands.count; k++) {
    if (all) x->at[k].searched = true;
    x->at[k].at = 0.0;
  }
  return solve_at(x, false);
}

frix_status fx_restitution_bound(frix_sim *sim, fx_bounce bounce, void *user) {
  search x = {.sim = sim, .a = &sim->rows, .bounce = bounce, .user = user};
  bool any = false;
  for (int32_t k = 0; k < x.a->group_count && !any; k++)
    any = strikes(&x, &x.a->group[k]) && x.a->r[x.a->group[k].row] > 0.0;
  if (!any || !sim->report.certified) return FRIX_OK;
  x.best = FX_TAKE(&sim->arena, double, x.a->row_count);
  x.base = FX_TAKE(&sim->arena, double, x.a->group_count);
  if (!x.best || !x.base) return FRIX_ERROR_MEMORY;
  frix_status status = look_at(&x, &any);
  for (int round = 0; status == FRIX_OK && any && round < SEARCHES + 2; round++) {
    status = round < SEARCHES ? look(&x) : let_go(&x, round > SEARCHES);
    if (status == FRIX_OK) status = look_at(&x, &any);
  }
  if (status == FRIX_OK && any) fx_fail_phase(sim, "restitution", FRIX_OUTCOME_MAX_ITERATIONS);
  sim->report.restitution = fmin(sim->report.restitution, least_kept(&x));
  return status;
}

/* One solve of the whole step. */
static frix_status bounce_once(frix_sim *sim, fx_assembly *a, const double *start, void *user) {
  (void)user;
  memcpy(a->guess, start ? start : a->r, (size_t)a->row_count * sizeof *a->guess);
  return fx_sim_solve(sim, a);
}

frix_status fx_retry_bounces(frix_sim *sim, fx_round round, fx_redo *redo) {
  (void)round, (void)redo;
  sim->report.restitution = 1.0;
  if (sim->config.restitution == FRIX_RESTITUTION_POISSON) return fx_poisson(sim);
  return sim->config.restitution == FRIX_RESTITUTION_BOUNDED ? fx_restitution_bound(sim, bounce_once, NULL) : FRIX_OK;
}
