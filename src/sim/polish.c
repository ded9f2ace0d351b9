/* Answers that are better than the tolerance asks: joints to rounding, worlds that come to rest, piles on springs.
 *
 * An error that a step leaves is a velocity, and a structure keeps trembling by it. Small, slow or jointed worlds are
 * polished by newton to the goal `polish`; piles whose materials name a stiffness are refined by sweeps. */
#include "sim/mechanism.h"
#include "sim/solving.h"

#include <math.h>

#define FINE 1e-8        /* a looser tolerance is refined by a digit more: spheres that fall magnify errors */
#define LOOP_NOISE 1e-10 /* what rounding leaves of answers where loops are part of M~, with numbers of 1 and 1e7 */
#define ROLLING_GOAL 0.1 /* rows about an inertia lower rho, and a residual then sees less of the velocities */

enum { STEPS = 40, LARGE_WORLD = 1000, SMALL_WORLD = 40, REFINE_SWEEPS = 400, REFINE_ROUNDS = 30 };
enum { WAIT = 7, LARGE_WAIT = 127, LARGE_STEPS = 10 }; /* a factorisation of thousands of bodies is not cheap */
enum { MOST_JOINTS = 6000, TREE_STEPS = 4 };

/* Nothing moves more than a thousandth of what one step of gravity would make it. */
static bool near_rest(const frix_sim *sim) {
  double slow = 1e-3 * sim->h * fx_norm(sim->state.gravity);
  for (int32_t k = 1; sim->mechanism && k < sim->model->body_count; k++)
    if (fx_is_link(sim, k) && fx_norm(sim->state.velocity[k]) > slow) return false;
  for (int32_t k = 0; k < sim->mover_count; k++)
    if (sim->mover[k].first >= 0 && fx_norm(sim->mover[k].v0) > slow) return false;
  return true;
}

/* Joints are equations, and newton solves them to rounding in one step more. An error they keep is a velocity times all
 * the tension of a chain, always of one sign, and drives it. */
static bool has_joints(const frix_sim *sim) {
  return sim->problem.joint_count > 0 && sim->problem.joint_count <= MOST_JOINTS &&
         sim->problem.contact_count <= LARGE_WORLD;
}

/* Polishing starts where the residual is ten times the goal, and waits ever longer where it failed. The step after a
 * success polishes to the goal once more: the first one also stopped what had been moving, so its impulses are not yet
 * those of rest. */
bool fx_needs_polish(const frix_sim *sim, double residual) {
  int32_t count = sim->problem.contact_count + sim->problem.joint_count;
  double from = (sim->state.polish_again ? 1.0 : 10.0) * sim->config.polish;
  if (fx_has_loops(sim)) from = fmax(from, LOOP_NOISE);
  bool rigid =
      sim->springs || sim->config.contact == FRIX_CONTACT_KIND_RIGID; /* what is stiff settles (sim_settle.c) */
  bool fit = has_joints(sim) || (rigid && (count <= SMALL_WORLD || near_rest(sim)));
  fit |= sim->mechanism && near_rest(sim); /* dry friction and servos hold to rounding */
  return sim->config.polish > 0.0 && sim->deadline == 0.0 && residual > from && fit &&
         sim->state.step_count >= sim->state.polish_at;
}

static bool is_large(const frix_sim *sim) {
  return sim->problem.contact_count + sim->problem.joint_count > LARGE_WORLD;
}

static void count_polish(frix_sim *sim) {
  fx_state *s = &sim->state;
  bool done = sim->report.certificate.residual <= 10.0 * sim->config.polish;
  int64_t longest = is_large(sim) ? LARGE_WAIT : WAIT;
  s->polish_again = done && !s->polish_again;
  s->polish_wait = done ? 0 : s->polish_wait < longest ? 2 * s->polish_wait + 1 : longest;
  s->polish_at = s->step_count + 1 + s->polish_wait;
}

frix_status fx_polish(frix_sim *sim, fx_assembly *a) {
  static const char *const method[] = {"newton", "nsgs", "newton"};
  const frix_certificate *certificate = &sim->report.certificate;
  frix_status status = FRIX_OK;
  int tries = is_large(sim) || sim->mechanism ? 1 : 3;
  for (int k = 0; k < tries && status == FRIX_OK && (k == 0 || certificate->residual > sim->config.polish); k++) {
    int64_t steps = sim->mechanism ? TREE_STEPS : is_large(sim) ? LARGE_STEPS : STEPS;
    fx_polisher with = {method[k], 1e-3 * sim->config.polish, steps}; /* as near as a few steps come */
    status = fx_solve_once(sim, a, true, certificate->residual, &with);
  }
  count_polish(sim);
  return status;
}

/* A relative residual is one number for all contacts: in a pile of thousands one of them may err by the root of their
 * number times the mean. With stiffness a pile has one answer, and sweeps bring a digit for some fifteen of them: so it
 * is refined until every contact holds its law to the tolerance, and near rest to where velocities are rounding. */
double fx_goal_of_springs(const frix_sim *sim, const fx_assembly *a) {
  int32_t count = sim->problem.contact_count;
  bool refined = sim->springs && sim->config.polish > 0.0 && sim->deadline == 0.0 && count > SMALL_WORLD;
  if (!refined || sim->config.law != FRIX_LAW_COULOMB) return INFINITY;
  double tolerance = sim->config.tolerance;
  double goal = (tolerance > FINE ? fmax(FINE, 0.1 * tolerance) : tolerance) / sqrt((double)count);
  if (a->rolls) goal *= ROLLING_GOAL;
  return near_rest(sim) && sim->config.polish < goal ? sim->config.polish : goal;
}

/* Bounds of drilling friction follow the refined impulses: they would hold the error of the first answer. */
frix_status fx_refine(frix_sim *sim, fx_assembly *a) {
  fx_polisher with = {"sweeps", fx_goal_of_springs(sim, a), REFINE_SWEEPS};
  double residual = sim->report.certificate.residual;
  bool worth = residual > with.tolerance && residual <= sim->config.tolerance && !sim->report.approximate;
  frix_status status = worth ? fx_solve_once(sim, a, true, residual, &with) : FRIX_OK;
  for (int round = 0; worth && status == FRIX_OK && round < REFINE_ROUNDS && fx_drilling_update(a); round++)
    status = fx_solve_once(sim, a, true, INFINITY, &with);
  return status;
}

bool fx_worth_polishing(const frix_sim *sim) {
  double residual = sim->report.certificate.residual;
  return fx_needs_polish(sim, residual) && residual <= sim->config.tolerance && sim->config.law == FRIX_LAW_COULOMB &&
         !sim->report.approximate;
}
