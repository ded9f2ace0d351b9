/* The contact problem of a step, and its answer back to the movers.
 *
 * The impulses of the last step are judged first; at rest they are the answer.
 *
 * Drilling friction: the problem holds its bound as a known normal impulse; it is solved again until the bound agrees
 * with the normal impulse of the contact. An answer that is not certified is scaled back until the contacts take energy
 * out: v = v_free + s M^-1 (H r + G lambda), the s in [0, 1] of least kinetic energy where the full one adds some. */
#include "base/threads.h"
#include "sim/mechanism.h"

#include <math.h>
#include <string.h>

#define ROUNDING 1e-14   /* of a sum of some tens of terms */
#define FINE 1e-8        /* a looser tolerance is refined by a digit more: spheres that fall magnify errors */
#define ROLLING_GOAL 0.1 /* rows about an inertia lower rho, and a residual then sees less of the velocities */

enum {
  SPIN_ROUNDS = 30,
  SPIN_FAILURES = 3,
  POLISH_STEPS = 40,
  LARGE_WORLD = 1000,
  SMALL_WORLD = 40,
  REFINE_SWEEPS = 400
};
enum { POLISH_WAIT = 7, LARGE_WAIT = 127, LARGE_STEPS = 10 }; /* a factorisation of thousands of bodies is not cheap */
enum { POLISH_JOINTS = 6000 };

/* ---- the answer ---- */

/* |J' r| of one body's block, linear and angular; inlined with the sizes of the common contacts. */
static inline void sum_size(int32_t dim, int32_t dof, const double *J, const double *r, double size[2]) {
  double linear = 0.0, angular = 0.0;
  for (int32_t j = 0; j < dim; j++, J += dof) {
    double f = fabs(r[j]);
    if (f == 0.0) continue;
    linear += f * (fabs(J[0]) + fabs(J[1]) + (dof == 3 ? 0.0 : fabs(J[2])));
    angular += f * (dof == 3 ? fabs(J[2]) : fabs(J[3]) + fabs(J[4]) + fabs(J[5]));
  }
  size[0] += linear;
  size[1] += angular;
}

/* Sizes of what the movers' velocities are the sums of: |v_free| + |M^-1| |J' r|, linear and angular. */
void fx_sum_sizes(const frix_sim *sim, const fx_assembly *a, const double *r, double (*size)[2]) {
  for (int32_t k = 0; k < a->group_count; k++) {
    const fx_group *g = &a->group[k];
    const double *J = a->J + g->value;
    for (int32_t b = 0; b < g->body_count; b++) {
      int32_t dof = sim->mover[g->mover[b]].dof;
      if (sim->mover[g->mover[b]].tree) { /* by coordinate: fx_tree_stands */
        J += g->dim * dof;
        continue;
      }
      if (dof == 6 && g->dim == 3)
        sum_size(3, 6, J, r + g->row, size[g->mover[b]]);
      else
        sum_size(g->dim, dof, J, r + g->row, size[g->mover[b]]);
      J += g->dim * dof;
    }
  }
  for (int32_t k = 0; k < sim->mover_count; k++) {
    const fx_mover *m = &sim->mover[k];
    frix_sym3 B = m->B_inverse;
    size[k][0] = fx_norm(m->v_free) + m->A_inverse.xx * size[k][0];
    size[k][1] = fx_norm(m->w_free) + (m->dof == 3 ? B.zz : fmax(B.xx, fmax(B.yy, B.zz))) * size[k][1];
  }
}

/* A velocity no larger than the rounding of the terms that cancelled is zero. So what rests keeps every bit, and the
 * impulses of one step are those of the next. */
static frix_status still(frix_sim *sim, const fx_assembly *a) {
  double(*size)[2] = (double(*)[2])FX_TAKE(&sim->arena, double, 2 * (size_t)sim->mover_count);
  if (!size) return FRIX_ERROR_MEMORY;
  fx_sum_sizes(sim, a, a->r, size);
  for (int32_t k = 0; k < sim->mover_count; k++) {
    fx_mover *m = &sim->mover[k];
    if (m->tree) {
      if (m->first >= 0 && fx_tree_stands(sim, a, a->r, k, ROUNDING))
        memset(m->tree->v1, 0, (size_t)m->dof * sizeof *m->tree->v1);
      continue;
    }
    if (m->first < 0 || fx_norm(m->v1) > ROUNDING * size[k][0] || fx_norm(m->w1) > ROUNDING * size[k][1]) continue;
    m->v1 = m->w1 = fx_vec(0.0, 0.0, 0.0);
  }
  return FRIX_OK;
}

void fx_put_answer(frix_sim *sim, const double *v) {
  for (int32_t k = 0; k < sim->mover_count; k++) {
    fx_mover *m = &sim->mover[k];
    m->v1 = m->v_free;
    m->w1 = m->w_free;
    if (m->tree)
      memcpy(m->tree->v1, m->first < 0 ? m->tree->v_free : v + m->first, (size_t)m->dof * sizeof *v);
    if (m->first < 0 || m->tree) continue;
    const double *x = v + m->first;
    m->v1 = m->dof == 3 ? fx_vec(x[0], x[1], 0.0) : fx_vec(x[0], x[1], x[2]);
    m->w1 = m->dof == 3 ? fx_vec(0.0, 0.0, x[2]) : fx_vec(x[3], x[4], x[5]);
  }
}

static bool all_finite(const double *x, int32_t count) {
  for (int32_t k = 0; k < count; k++)
    if (!isfinite(x[k])) return false;
  return true;
}

/* Scales the impulses so that they add no energy to the free motion. */
static void hold_energy(frix_sim *sim, fx_assembly *a) {
  double before = 0.0, after = 0.0; /* r . J v_free and r . J v1 */
  bool good = all_finite(a->r, a->row_count);
  for (int32_t k = 0; good && k < a->group_count; k++) {
    const fx_group *g = &a->group[k];
    for (int32_t j = 0; j < g->dim; j++) {
      double r = a->r[g->row + j], drive = a->drive[g->row + j];
      before += r * (fx_group_velocity(sim, a, g, j, FX_FREE) - drive);
      after += r * (fx_group_velocity(sim, a, g, j, FX_AFTER) - drive);
    }
  }
  if (good && 0.5 * (before + after) <= 0.0) return;
  double s = good && before < 0.0 && after > before ? -before / (after - before) : 0.0;
  for (int32_t k = 0; k < a->row_count; k++) a->r[k] = s > 0.0 ? s * a->r[k] : 0.0;
  for (int32_t k = 0; k < sim->mover_count; k++) {
    fx_mover *m = &sim->mover[k];
    m->v1 = s > 0.0 ? fx_mad(m->v_free, s, fx_sub(m->v1, m->v_free)) : m->v_free;
    m->w1 = s > 0.0 ? fx_mad(m->w_free, s, fx_sub(m->w1, m->w_free)) : m->w_free;
    for (int32_t i = 0; m->tree && i < m->dof; i++) {
      double free = m->tree->v_free[i];
      m->tree->v1[i] = s > 0.0 ? free + s * (m->tree->v1[i] - free) : free;
    }
  }
}

/* Bounds of drilling friction from the contacts' normal impulses; true where one moved. */
static bool update_spinning(fx_assembly *a) {
  bool moved = false;
  for (int32_t k = 1; k < a->joint_first; k++) {
    if (a->group[k].kind != FX_GROUP_SPINNING) continue;
    double normal = a->r[a->group[k - 1].row], *bound = &a->r_c[a->group[k].row]; /* its contact stands just before */
    if (fabs(normal - *bound) > 1e-13 * fabs(normal)) moved = true;
    *bound = a->r[a->group[k].row] = normal;
  }
  return moved;
}

/* Bounds of drilling friction from the answer, friction kept within them, and the answer judged once more. False where
 * there is none. */
static bool set_bounds(fx_assembly *a) {
  bool any = false;
  update_spinning(a);
  for (int32_t k = 1; k < a->joint_first; k++) {
    if (a->group[k].kind != FX_GROUP_SPINNING) continue;
    double *r = a->r + a->group[k].row, bound = a->law[k].mu * (r[0] > 0.0 ? r[0] : 0.0);
    if (fabs(r[1]) > bound) r[1] = r[1] > 0.0 ? bound : -bound;
    any = true;
  }
  return any;
}

static frix_status build_once(frix_sim *sim, const fx_assembly *a) {
  return sim->problem.row ? FRIX_OK : fx_rows_build(sim, a, &sim->arena, &sim->problem);
}

frix_status fx_solve_once(frix_sim *sim, fx_assembly *a, bool again, double best, const fx_polisher *with) {
  frix_status status = build_once(sim, a);
  if (status != FRIX_OK) return status;
  frix_solve_config config = frix_solve_default();
  config.solver = sim->config.solver;
  config.options = sim->config.options;
  config.law = sim->config.law;
  config.tolerance = sim->config.tolerance;
  config.max_iterations = sim->config.max_iterations;
  config.thread_count = sim->config.thread_count;
  if (sim->deadline > 0.0) config.time_limit = fmax(sim->solve_end - fx_seconds(), 1e-9);
  config.guess_r = again ? a->r : a->guess;
  config.guess_lambda = (again ? a->r : a->guess) + sim->problem.row_count;
  if (with) {
    config.solver = with->solver;
    config.tolerance = with->tolerance;
    config.max_iterations = with->max_iterations;
  }
  frix_solution *solution;
  status = frix_solve(sim->inner, &sim->problem, &config, &solution);
  if (status != FRIX_OK) return fx_fail(sim->context, status, "%s", frix_error_text(sim->inner));
  frix_result result;
  frix_solution_view(solution, &result);
  frix_step_report *report = &sim->report;
  report->iterations += result.iterations;
  if (!(result.certificate.residual < best)) {
    frix_solution_destroy(solution);
    return FRIX_OK;
  }
  bool good = result.certificate.residual <= sim->config.tolerance;
  report->outcome = good ? FRIX_OUTCOME_SOLVED : result.outcome;
  report->certificate = result.certificate;
  report->approximate = result.approximate;
  report->finisher = result.finisher;
  report->island_count = result.island_count;
  memcpy(a->r, result.r, (size_t)a->row_count * sizeof *a->r);
  fx_put_answer(sim, result.v);
  frix_solution_destroy(solution);
  return FRIX_OK;
}

/* Bounds of drilling friction follow the answer, until they agree or the problem is not solved again and again. */
static frix_status agree_on_bounds(frix_sim *sim, fx_assembly *a) {
  frix_status status = FRIX_OK;
  int failed = 0;
  for (int round = 0; status == FRIX_OK && round < SPIN_ROUNDS && failed < SPIN_FAILURES && update_spinning(a);
       round++) {
    status = fx_solve_once(sim, a, true, INFINITY, NULL);
    failed = fx_certified(sim) ? 0 : failed + 1;
  }
  return status;
}

/* Friction and normal impulses of drilling contacts agree at last, or the certificate says that they do not. */
static frix_status judge_bounds(frix_sim *sim, fx_assembly *a) {
  frix_status status = FRIX_OK;
  int failed = 0;
  for (int round = 0; status == FRIX_OK && !sim->report.approximate && set_bounds(a); round++) {
    double *v = FX_TAKE_RAW(&sim->arena, double, sim->problem.dof_count);
    if (!v) return FRIX_ERROR_MEMORY;
    status = fx_rows_judge(sim, a, a->r, a->u, v, &sim->report.certificate);
    if (status != FRIX_OK) break;
    fx_put_answer(sim, v);
    if (fx_certified(sim) || round == SPIN_ROUNDS || sim->deadline > 0.0) break;
    if (failed == SPIN_FAILURES) break;
    status = fx_solve_once(sim, a, true, INFINITY, NULL);
    failed = fx_certified(sim) ? 0 : failed + 1;
  }
  return status;
}

/* Nothing moves more than a thousandth of what one step of gravity would make it. */
static bool near_rest(const frix_sim *sim) {
  double slow = 1e-3 * sim->h * fx_norm(sim->state.gravity);
  for (int32_t k = 0; k < sim->mover_count; k++)
    if (sim->mover[k].first >= 0 && fx_norm(sim->mover[k].v0) > slow) return false;
  return true;
}

/* Joints are equations, and newton solves them to rounding in one step more. An error they keep is a velocity times all
 * the tension of a chain, always of one sign, and drives it. */
static bool has_joints(const frix_sim *sim) {
  return sim->problem.joint_count > 0 && sim->problem.joint_count <= POLISH_JOINTS &&
         sim->problem.contact_count <= LARGE_WORLD;
}

/* Polishing starts where the residual is ten times the goal, and waits ever longer where it failed. The step after a
 * success polishes to the goal once more: the first one also stopped what had been moving, so its impulses are not yet
 * those of rest. */
static bool needs_polish(const frix_sim *sim, double residual) {
  int32_t count = sim->problem.contact_count + sim->problem.joint_count;
  double from = (sim->state.polish_again ? 1.0 : 10.0) * sim->config.polish;
  bool rigid = sim->springs || sim->config.contact == FRIX_CONTACT_KIND_RIGID; /* what is stiff settles (settle.c) */
  bool fit = has_joints(sim) || (rigid && (count <= SMALL_WORLD || near_rest(sim)));
  return sim->config.polish > 0.0 && sim->deadline == 0.0 && residual > from && fit &&
         sim->state.step_count >= sim->state.polish_at;
}

static bool is_large(const frix_sim *sim) {
  return sim->problem.contact_count + sim->problem.joint_count > LARGE_WORLD;
}

static void count_polish(frix_sim *sim) {
  fx_state *s = &sim->state;
  bool done = sim->report.certificate.residual <= 10.0 * sim->config.polish;
  int64_t longest = is_large(sim) ? LARGE_WAIT : POLISH_WAIT;
  s->polish_again = done && !s->polish_again;
  s->polish_wait = done ? 0 : s->polish_wait < longest ? 2 * s->polish_wait + 1 : longest;
  s->polish_at = s->step_count + 1 + s->polish_wait;
}

static frix_status polish(frix_sim *sim, fx_assembly *a) {
  static const char *const method[] = {"newton", "nsgs", "newton"};
  const frix_certificate *certificate = &sim->report.certificate;
  frix_status status = FRIX_OK;
  int tries = is_large(sim) ? 1 : 3;
  for (int k = 0; k < tries && status == FRIX_OK && (k == 0 || certificate->residual > sim->config.polish); k++) {
    int64_t steps = is_large(sim) ? LARGE_STEPS : POLISH_STEPS;
    fx_polisher with = {method[k], 1e-3 * sim->config.polish, steps}; /* as near as a few steps come */
    status = fx_solve_once(sim, a, true, certificate->residual, &with);
  }
  count_polish(sim);
  return status;
}

/* A relative residual is one number for all contacts: in a pile of thousands one of them may err by the root of their
 * number times the mean. With stiffness a pile has one answer, and sweeps bring a digit for some fifteen of them: so it
 * is refined until every contact holds its law to the tolerance, and near rest to where velocities are rounding. */
static double goal_of_springs(const frix_sim *sim, const fx_assembly *a) {
  int32_t count = sim->problem.contact_count;
  bool refined = sim->springs && sim->config.polish > 0.0 && sim->deadline == 0.0 && count > SMALL_WORLD;
  if (!refined || sim->config.law != FRIX_LAW_COULOMB) return INFINITY;
  double tolerance = sim->config.tolerance;
  double goal = (tolerance > FINE ? fmax(FINE, 0.1 * tolerance) : tolerance) / sqrt((double)count);
  if (a->rolls) goal *= ROLLING_GOAL;
  return near_rest(sim) && sim->config.polish < goal ? sim->config.polish : goal;
}

/* Bounds of drilling friction follow the refined impulses: they would hold the error of the first answer. */
static frix_status refine(frix_sim *sim, fx_assembly *a) {
  fx_polisher with = {"sweeps", goal_of_springs(sim, a), REFINE_SWEEPS};
  double residual = sim->report.certificate.residual;
  bool worth = residual > with.tolerance && residual <= sim->config.tolerance && !sim->report.approximate;
  frix_status status = worth ? fx_solve_once(sim, a, true, residual, &with) : FRIX_OK;
  for (int round = 0; worth && status == FRIX_OK && round < SPIN_ROUNDS && update_spinning(a); round++)
    status = fx_solve_once(sim, a, true, INFINITY, &with);
  return status;
}

/* The impulses of the last step, judged as they are; true: they are the answer. */
static frix_status try_guess(frix_sim *sim, fx_assembly *a, bool *good) {
  frix_certificate certificate;
  double *v = FX_TAKE_RAW(&sim->arena, double, sim->problem.dof_count);
  *good = false;
  if (!v) return FRIX_ERROR_MEMORY;
  frix_status status = fx_rows_judge(sim, a, a->guess, a->u, v, &certificate);
  if (status != FRIX_OK) return status;
  double goal = fmin(sim->config.tolerance, goal_of_springs(sim, a));
  if (!(certificate.residual <= goal) || needs_polish(sim, certificate.residual)) return FRIX_OK;
  memcpy(a->r, a->guess, (size_t)a->row_count * sizeof *a->r);
  fx_put_answer(sim, v);
  sim->report.certificate = certificate;
  sim->report.finisher = "warm start";
  sim->state.polish_again = 0;
  *good = true;
  return FRIX_OK;
}

/* What the driver takes before its first iteration and after its last: so many judgements of the rows, and so long at
 * least. */
#define DRIVER_JUDGEMENTS 12.0
#define DRIVER_SECONDS 5e-5

/* Under a deadline the last impulses are swept first, so that there is an answer however little the time; `judged` is
 * what it took to judge them. What follows counts where it is better. */
static frix_status solve_in_time(frix_sim *sim, fx_assembly *a, double judged) {
  frix_step_report *report = &sim->report;
  double *v = FX_TAKE_RAW(&sim->arena, double, sim->problem.dof_count);
  if (!v) return FRIX_ERROR_MEMORY;
  double driver = DRIVER_JUDGEMENTS * judged + DRIVER_SECONDS;
  bool time_for_more = fx_seconds() + 2.0 * driver < sim->solve_end;
  memcpy(a->r, a->guess, (size_t)a->row_count * sizeof *a->r);
  frix_status status = fx_sweep_rows(sim, a, time_for_more ? 0.0 : sim->solve_end - judged, &report->iterations);
  if (status == FRIX_OK) status = fx_rows_judge(sim, a, a->r, a->u, v, &report->certificate);
  if (status != FRIX_OK) return status;
  fx_put_answer(sim, v);
  report->finisher = "nsgs";
  report->outcome = FRIX_OUTCOME_TIME_LIMIT;
  if (report->certificate.residual <= sim->config.tolerance || !(fx_seconds() + driver < sim->solve_end))
    return FRIX_OK;
  return fx_solve_once(sim, a, true, report->certificate.residual, NULL);
}

static bool worth_polishing(const frix_sim *sim) {
  double residual = sim->report.certificate.residual;
  return needs_polish(sim, residual) && residual <= sim->config.tolerance && sim->config.law == FRIX_LAW_COULOMB &&
         !sim->report.approximate;
}

/* Overlaps of a hyperstatic structure ask for push-out velocities that contradict each other a little, and forces that
 * decide between them may be beyond reach. Then this step leaves overlaps as they are; true where some were asked out.
 */
static bool drop_push_out(const frix_sim *sim, fx_assembly *a) {
  bool any = false;
  for (int32_t k = 0; k < a->joint_first; k++) {
    const fx_group *g = &a->group[k];
    bool rigid = g->kind == FX_GROUP_CONTACT && sim->surface[g->source].stiffness == 0.0;
    if (!rigid || sim->contact[g->source].gap >= 0.0) continue;
    double w = a->drive[g->row] + fx_contact_shift(sim, a, g, 0.0); /* what bounces still does */
    any |= a->w[g->row] != w;
    a->w[g->row] = w;
  }
  return any;
}

/* The answer without push-out where it is certified, else the one there was. */
static frix_status solve_without_push_out(frix_sim *sim, fx_assembly *a) {
  size_t rows = (size_t)a->row_count * sizeof *a->w;
  double *kept = FX_TAKE(&sim->arena, double, 2 * (size_t)a->row_count);
  fx_mover *mover = fx_movers_save(sim);
  if (!kept || !mover) return FRIX_ERROR_MEMORY;
  memcpy(kept, a->w, rows);
  memcpy(kept + a->row_count, a->r, rows);
  frix_step_report report = sim->report;
  if (!drop_push_out(sim, a)) return FRIX_OK;
  frix_status status = fx_solve_once(sim, a, false, INFINITY, NULL);
  if (status != FRIX_OK) return status;
  if (fx_certified(sim)) {
    sim->report.overlaps_left = a->leaves_overlaps = true;
    return FRIX_OK;
  }
  memcpy(a->w, kept, rows);
  memcpy(a->r, kept + a->row_count, rows);
  fx_movers_restore(sim, mover);
  report.iterations = sim->report.iterations;
  sim->report = report;
  return FRIX_OK;
}

static void find_velocities(const frix_sim *sim, fx_assembly *a) {
  for (int32_t k = 0; k < a->group_count; k++)
    fx_group_velocities(sim, a, &a->group[k], FX_AFTER, a->u + a->group[k].row);
}

frix_status fx_sim_solve(frix_sim *sim, fx_assembly *a) {
  frix_step_report *report = &sim->report;
  report->row_count = a->contact_rows = 0;
  report->outcome = FRIX_OUTCOME_SOLVED;
  report->certificate = (frix_certificate){.worst_contact = -1, .worst_row = -1};
  report->finisher = "";
  report->certified = true;
  report->phase = "contacts";
  frix_status status = fx_rows_count(sim, a);
  if (status != FRIX_OK) return status;
  report->row_count = sim->problem.row_count;
  report->joint_count = sim->problem.joint_count;
  report->dof_count = sim->problem.dof_count;
  report->contact_count = sim->problem.contact_count;
  if (a->row_count == 0) {
    fx_put_answer(sim, NULL);
    return FRIX_OK;
  }
  bool good = false, coulomb = sim->config.law == FRIX_LAW_COULOMB, sought = fx_may_rest(sim, a);
  double begun = sim->deadline > 0.0 ? fx_seconds() : 0.0;
  if (sim->deadline > 0.0 && sim->solve_end == 0.0) sim->solve_end = begun + sim->deadline;
  if (sought && (status = fx_seek_rest(sim, a, true)) != FRIX_OK) return status;
  if (coulomb && (status = try_guess(sim, a, &good)) != FRIX_OK) return status;
  if (!good && coulomb && sim->deadline > 0.0)
    status = solve_in_time(sim, a, fx_seconds() - begun);
  else if (!good)
    status = fx_solve_once(sim, a, false, INFINITY, NULL);
  if (status == FRIX_OK && !good && !sought && fx_leaves_rest(sim, a)) { /* where forces exist that hold it, it stays */
    if ((status = fx_seek_rest(sim, a, false)) == FRIX_OK) status = try_guess(sim, a, &good);
    /* springs were set for a rest that is none: the answer and its certificate must be those of the rows as they are */
    if (status == FRIX_OK && !good && a->compliant) status = fx_solve_once(sim, a, false, INFINITY, NULL);
  }
  if (status == FRIX_OK) status = agree_on_bounds(sim, a);
  if (status == FRIX_OK && worth_polishing(sim)) status = polish(sim, a);
  if (status == FRIX_OK) status = refine(sim, a);
  if (status == FRIX_OK && !good) status = fx_settle(sim, a);
  bool may_drop = a->pushes_out && sim->deadline == 0.0;
  if (status == FRIX_OK && may_drop && !fx_certified(sim)) status = solve_without_push_out(sim, a);
  if (status != FRIX_OK) return status;
  if ((status = judge_bounds(sim, a)) != FRIX_OK) return status;
  fx_name_worst_row(sim, a);
  report->certified = fx_certified(sim);
  if (report->certified) {
    report->outcome = FRIX_OUTCOME_SOLVED;
    if ((status = still(sim, a)) != FRIX_OK) return status;
  }
  if (!report->certified) {
    if (report->outcome == FRIX_OUTCOME_SOLVED) report->outcome = FRIX_OUTCOME_STALLED;
    hold_energy(sim, a);
  }
  find_velocities(sim, a);
  return FRIX_OK;
}

frix_status fx_take_answer(frix_sim *sim, fx_assembly *a, const double *r, const double *v,
                           const frix_certificate *certificate) {
  memcpy(a->r, r, (size_t)a->row_count * sizeof *a->r);
  fx_put_answer(sim, v);
  sim->report.certificate = *certificate;
  fx_name_worst_row(sim, a);
  frix_status status = still(sim, a);
  find_velocities(sim, a);
  return status;
}
