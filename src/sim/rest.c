/* Rest where it is possible.
 *
 * Coulomb's law may have moving solutions beside the one at rest, and a method finds whichever it comes to. A world at
 * rest stays there wherever impulses exist that hold it: H r + G lambda + M v_free = 0, r in K (solver/equilibrium.c).
 * They are only a start; the exact law judges them like any other. */
#include "problem/cone.h"
#include "sim/mechanism.h"
#include "sim/sim_statics.h"
#include "sim/solving.h"
#include "solver/equilibrium_internal.h"

#include <math.h>
#include <string.h>

#define SLOW 4.0     /* of a step's gravity: what starts at rest may have fallen for so many steps */
#define LEAVING 1e-6 /* of the free motion: slower is not moving */
#define NEARLY 1e-4  /* of the free motion: springs take up what is left */
#define MOVING 1e-3  /* of a step's gravity: what is faster does not rest */
#define MARGIN 1e-5  /* of a friction coefficient */
#define TOLERANCE 1e-9
enum { TURNS = 6 };    /* of balancing impulses and taking them into their cones */
enum { LARGE = 1000 }; /* contacts: the relaxed answer is no equilibrium to rounding */
#define MOST_COST 3e8  /* multiplications of a factorisation: a larger world starts from the relaxed law */

/* Rest is a matter of the step's own problem, not of decompression or projection. */
static bool is_sought(const frix_sim *sim, const fx_assembly *a) {
  return sim->config.seek_rest && sim->config.law == FRIX_LAW_COULOMB && sim->deadline == 0.0 && a == &sim->rows &&
         !sim->model->robot.robot && !sim->softs && /* springs of robots and soft bodies come to rest by themselves */
         !(sim->of_state && a->compliant) && !fx_bounces_later(sim, a);
}

bool fx_may_rest(const frix_sim *sim, const fx_assembly *a) {
  int32_t closing = 0, fresh = 0;
  double slow = SLOW * sim->h * fx_norm(sim->state.gravity);
  if (!is_sought(sim, a)) return false;
  for (int32_t k = 0; k < sim->mover_count; k++)
    if (sim->mover[k].first >= 0 && fx_norm(sim->mover[k].v0) > slow) return false;
  for (int32_t k = 0; k < a->joint_first; k++) {
    const fx_group *g = &a->group[k];
    if (g->kind != FX_GROUP_CONTACT) continue;
    bool known = sim->past[g->source] >= 0;
    double shift = a->w[g->row] - a->drive[g->row];
    if (!known && shift + fx_group_velocity(sim, a, g, 0, FX_FREE) >= 0.0) continue;
    closing++;
    fresh += !known;
  }
  return 2 * fresh > closing;
}

bool fx_leaves_rest(const frix_sim *sim, const fx_assembly *a) {
  double speed = 0.0, free = 0.0;
  if (!is_sought(sim, a)) return false;
  for (int32_t k = 0; k < sim->mover_count; k++) {
    const fx_mover *m = &sim->mover[k];
    if (!fx_is_zero(m->v0) || !fx_is_zero(m->w0)) return false;
    if (m->first < 0) continue;
    speed = fmax(speed, fx_norm(m->v1));
    free = fmax(free, fx_norm(m->v_free));
  }
  return speed > LEAVING * free;
}

/* The relaxed law has one velocity, and it is zero wherever forces exist that hold everything. Where they do not, or
 * springs have a say in them, its answer is a start too. */
static frix_status start_relaxed(frix_sim *sim, fx_assembly *a) {
  frix_solve_config config = frix_solve_default();
  config.law = FRIX_LAW_ASSOCIATED;
  config.thread_count = sim->config.thread_count;
  config.guess_r = a->guess;
  config.guess_lambda = a->guess + sim->problem.row_count;
  config.max_iterations = 400;
  frix_solution *solution;
  frix_status status = sim->problem.row ? FRIX_OK : fx_rows_build(sim, a, &sim->arena, &sim->problem);
  if (status == FRIX_OK) status = frix_solve(sim->inner, &sim->problem, &config, &solution);
  if (status == FRIX_ERROR_MEMORY) return fx_fail(sim->context, status, "out of memory");
  if (status != FRIX_OK) return FRIX_OK; /* a cone the relaxation does not know: no start */
  frix_result result;
  frix_solution_view(solution, &result);
  if (result.outcome == FRIX_OUTCOME_SOLVED) memcpy(a->guess, result.r, (size_t)a->row_count * sizeof *a->guess);
  frix_solution_destroy(solution);
  return FRIX_OK;
}

/* The part of what stops the bodies of a group that forces of this step bring: the rest they came with. */
static double load_share(const frix_sim *sim, const fx_group *g) {
  double least = 1.0;
  for (int32_t b = 0; b < g->body_count; b++) {
    const fx_mover *m = &sim->mover[g->mover[b]];
    double came = fx_norm(m->v0), all = fx_norm(m->v_free);
    if (came > 0.0 && all > 0.0) least = fmin(least, fx_norm(fx_sub(m->v_free, m->v0)) / all);
  }
  return least;
}

/* Whether a surface runs under what rests: friction there is at its bound, which no force of rest tells. */
static bool runs(const fx_assembly *a, const fx_group *g) {
  bool any = false;
  for (int32_t k = g->row + 1; k < g->row + g->dim; k++) any |= a->drive[k] != 0.0;
  return any;
}

/* Springs carry the impulses of the guess; a contact that is struck has none. Those along a surface that runs keep
 * theirs. */
static void hold(const frix_sim *sim, fx_assembly *a, fx_group *g) {
  if (!fx_is_stiff(sim, g) || !(a->R[g->row] > 0.0)) return;
  double share = load_share(sim, g), r[FRIX_MAX_DIM];
  bool keeps = runs(a, g);
  memcpy(r, a->guess + g->row, (size_t)g->dim * sizeof *r);
  for (int32_t k = 1; keeps && k < g->dim; k++)
    r[k] = a->r_c[g->row + k] - (a->expected ? a->expected[g->row + k] : 0.0);
  fx_hold_contact(sim, a, g, r);
  if (share < 1.0) fx_leave_blow(sim, a, g, r, share);
  for (int32_t k = 1; keeps && share < 1.0 && k < g->dim; k++) a->expected[g->row + k] = 0.0;
}

/* Velocity of a body's farthest point. */
static double outer_speed(const frix_sim *sim, const fx_mover *m, frix_vec3 v, frix_vec3 w) {
  double radius = fx_slot_body(sim, m->slot)->radius, arm = isfinite(radius) ? radius : 0.0;
  return fx_norm(v) + arm * fx_norm(w);
}

/* Whether the impulses of the guess nearly leave every body at rest under the rows as they are, by its own free motion:
 * what a light body would do must not hide what others do. */
static frix_status rests(frix_sim *sim, fx_assembly *a, bool *out) {
  frix_certificate certificate;
  double *v = FX_TAKE_RAW(&sim->arena, double, sim->problem.dof_count);
  double gravity = sim->h * fx_norm(sim->state.gravity);
  if (!v) return FRIX_ERROR_MEMORY;
  frix_status status = fx_rows_judge(sim, a, a->guess, a->u, v, &certificate);
  *out = status == FRIX_OK && certificate.residual <= NEARLY;
  for (int32_t k = 0; *out && k < sim->mover_count; k++) {
    const fx_mover *m = &sim->mover[k];
    if (m->first < 0) continue;
    const double *x = v + m->first;
    if (m->tree) {
      double size = fx_tree_size(sim, m), came = fx_tree_speed(sim, m, FX_FREE), most = 0.0;
      for (int32_t i = 0; i < m->dof; i++) most = fmax(most, fabs(x[i]) * fmax(1.0, size));
      *out = most <= NEARLY * fmax(came, gravity);
      continue;
    }
    frix_vec3 linear = {x[0], x[1], m->dof == 3 ? 0.0 : x[2]};
    frix_vec3 spin = m->dof == 3 ? (frix_vec3){0, 0, x[2]} : (frix_vec3){x[3], x[4], x[5]};
    *out = outer_speed(sim, m, linear, spin) <= NEARLY * fmax(outer_speed(sim, m, m->v_free, m->w_free), gravity);
  }
  return status;
}

/* Takes impulses into cones that are narrower by MARGIN; returns how far the farthest was outside of its own, over its
 * normal impulse. */
static double pull_in(const fx_assembly *a, double *r) {
  double worst = 0.0, out[FRIX_MAX_DIM];
  for (int32_t k = 0; k < a->joint_first; k++) {
    const fx_group *g = &a->group[k];
    frix_contact law = a->law[k];
    double *own = r + g->row, miss = 0.0;
    if (g->kind != FX_GROUP_CONTACT) continue;
    fx_cone_project(&law, own, out);
    for (int32_t j = 0; j < g->dim; j++) miss = fmax(miss, fabs(own[j] - out[j]));
    worst = fmax(worst, miss > 0.0 ? miss / fabs(own[0]) : 0.0);
    law.mu *= 1.0 - MARGIN, law.mu2 *= 1.0 - MARGIN, law.mu_r *= 1.0 - MARGIN;
    fx_cone_project(&law, own, own);
  }
  return worst;
}

/* The guess, changed as little as brings everything to rest exactly, and by turns into its cones. */
static frix_status balance_guess(frix_sim *sim, fx_assembly *a) {
  double *r = FX_TAKE_RAW(&sim->arena, double, a->row_count);
  frix_status status = r ? FRIX_OK : FRIX_ERROR_MEMORY;
  if (r) memcpy(r, a->guess, (size_t)a->row_count * sizeof *r);
  bool exact = true;
  for (int k = 0; status == FRIX_OK && exact && k < TURNS; k++) {
    double outside = pull_in(a, r);
    if (k > 0 && outside <= 0) break;
    status = fx_balance(sim, a, r, &exact);
    if (status == FRIX_OK && exact) memcpy(a->guess, r, (size_t)a->row_count * sizeof *r);
  }
  return status;
}

/* The relaxed answer; *good: it nearly leaves everything at rest, and in large worlds exactly, where that succeeds. */
static frix_status start_rigid(frix_sim *sim, fx_assembly *a, bool *good) {
  frix_status status = start_relaxed(sim, a);
  if (status == FRIX_OK) status = rests(sim, a, good);
  return status == FRIX_OK && *good && a->joint_first > LARGE ? balance_guess(sim, a) : status;
}

/* The same with stiff contacts, of which some exist: the rigid law is relaxed, and where it leaves everything at rest
 * springs carry its impulses. */
static frix_status start_stiff(frix_sim *sim, fx_assembly *a) {
  fx_attempt before;
  bool good = false;
  frix_status status = fx_attempt_begin(sim, a, &before);
  if (status != FRIX_OK) return status;
  fx_make_rigid(sim, a);
  status = start_rigid(sim, a, &good);
  fx_attempt_restore_rows(a, &before);
  for (int32_t k = 0; good && k < a->joint_first; k++) hold(sim, a, &a->group[k]);
  return status;
}

static bool moves(const frix_sim *sim, const fx_group *g) {
  double slow = MOVING * sim->h * fx_norm(sim->state.gravity);
  for (int32_t b = 0; b < g->body_count; b++) {
    const fx_mover *m = &sim->mover[g->mover[b]];
    if (m->tree ? fx_tree_outer_speed(sim, m, FX_AFTER) > slow : outer_speed(sim, m, m->v1, m->w1) > slow) return true;
  }
  return false;
}

bool fx_release_moving(const frix_sim *sim, fx_assembly *a) {
  const fx_attempt *before = a->unset;
  bool any = false;
  for (int32_t k = 0; k < a->joint_first; k++) {
    fx_group *g = &a->group[k];
    if (!g->held || !moves(sim, g)) continue;
    bool rigid = !(a->R[g->row] > 0.0); /* it became so since */
    double kept = g->kept;              /* of restitution */
    fx_forget_blow(a, g);
    *g = before->group[k];
    g->kept = kept;
    if (!rigid) memcpy(a->w + g->row, before->w + g->row, (size_t)g->dim * sizeof *a->w);
    memcpy(a->r_c + g->row, before->r_c + g->row, (size_t)g->dim * sizeof *a->r_c);
    any = true;
  }
  return any;
}

frix_status fx_seek_rest(frix_sim *sim, fx_assembly *a, bool relax) {
  if (sim->springs) return relax ? start_relaxed(sim, a) : FRIX_OK;
  fx_arena arena;
  fx_arena_init(&arena, sim->inner);
  fx_system system;
  fx_statics statics;
  fx_equilibrium found = {0};
  frix_status status = fx_statics_from_rows(sim, a, &arena, false, &system, &statics);
  if (status == FRIX_OK)
    status = fx_equilibrium_find(&arena, &statics, FX_EQUILIBRIUM_VERDICT, TOLERANCE, MOST_COST, &found);
  bool rests_nearly = false, stiff = a->compliant && sim->config.contact == FRIX_CONTACT_KIND_STIFF;
  if (status == FRIX_OK && stiff && !a->expected && !(a->expected = FX_TAKE(a->arena, double, a->row_count)))
    status = FRIX_ERROR_MEMORY;
  if (status == FRIX_OK && relax && found.standing != FRIX_STANDING_STANDS)
    status = stiff ? start_stiff(sim, a) : start_rigid(sim, a, &rests_nearly);
  for (int32_t i = 0; status == FRIX_OK && i < system.contact_count; i++) {
    bool open = statics.kind[i] == FX_STATICS_OPEN && found.standing == FRIX_STANDING_STANDS;
    if (!open && found.island[i] != FRIX_STANDING_STANDS) continue;
    memcpy(a->guess + system.row[i], found.r + system.row[i], (size_t)system.contact[i].dim * sizeof *a->guess);
    if (!open && i < a->joint_first) hold(sim, a, &a->group[i]); /* joints may be more contacts than groups */
  }
  fx_arena_free(&arena);
  return status;
}
