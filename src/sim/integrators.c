/* Integrators: one table.
 *
 *   moreau       contacts at q0;            gap + h v_N >= 0;        q1 = q0 + h v1
 *   two_step     contacts at q0 + h/2 v0;   gap + h/2 v_N >= 0;      q1 = q0 + h/2 (v0 + v1)
 *   variational  contacts at q0, closed ones only;  v_N + e v0_N >= 0;   q1 = q0 + h/2 (v0 + v1), forces at the middle
 *
 * Moreau's velocity-impulse Euler scheme is the default: speculative (open gaps may close within the step, not be
 * crossed), penetrations shrink by the part `stabilisation` per step. two_step is Kaufman's predictor-corrector
 * (eqs. 4.63 to 4.68), variational his symmetric half-step scheme (eqs. 4.51 to 4.55): the constraint on the middle
 * velocity, N'(v0 + v1)/2 >= 0, is restitution 1; other restitutions come from the material.
 * References: J. J. Moreau, Unilateral contact and dry friction in finite freedom dynamics, 1988; D. Kaufman, Coupled
 * Principles for Computational Frictional Contact Mechanics, 2009, ch. 4. */
#include "base/option.h"
#include "sim/sim.h"

#include <string.h>

/* ---- normal rows ---- */

double fx_restitution_speed(const frix_sim *sim) {
  double given = sim->config.restitution_speed;
  return given >= 0.0 ? given : 2.0 * sim->h * fx_norm(sim->state.gravity);
}

bool fx_strikes(const frix_sim *sim, const fx_normal *n) {
  double fastest = n->before < n->free ? n->before : n->free;
  return n->restitution > 0.0 && -n->before > fx_restitution_speed(sim) &&
         n->gap + sim->h * sim->integrator->position_time * fastest <= 0.0;
}

/* Contacts that will close in this step and come fast enough bounce at once; others close their gap. */
static bool takes_all(const frix_sim *sim, double gap) {
  (void)sim, (void)gap;
  return true;
}

static double speculative(const frix_sim *sim, const fx_normal *n) {
  double t = sim->h * sim->integrator->position_time;
  double w = n->gap > 0.0 ? n->gap / t : sim->config.stabilisation * n->gap / t;
  if (fx_strikes(sim, n)) {
    double bounce = n->compress ? 0.0 : n->restitution * n->before;
    w = n->gap > 0.0 || bounce < w ? bounce : w;
  }
  return w;
}

static bool takes_closed(const frix_sim *sim, double gap) {
  return gap <= 1e-6 * sim->h * sim->h * fx_norm(sim->state.gravity);
}

static double closed_only(const frix_sim *sim, const fx_normal *n) {
  double w = n->before < 0.0 && !n->compress ? n->restitution * n->before : 0.0;
  double push = sim->config.stabilisation * n->gap / sim->h;
  return n->restitution == 0.0 && push < w ? push : w;
}

/* ---- poses ---- */

static void begin_at_start(frix_sim *sim) { (void)sim; }

static void move_kinematic(frix_sim *sim, double h) {
  fx_state *s = &sim->state;
  for (int32_t k = 1; k < s->count; k++)
    if (s->prototype[k] > 0 && fx_slot_body(sim, k)->kind == FRIX_BODY_KINEMATIC) {
      s->pose[k].p = fx_mad(sim->pose0[k].p, h, s->velocity[k]);
      s->pose[k].q = fx_turn(sim->pose0[k].q, s->spin[k], h);
    }
}

/* Everything moves for half a step with its old velocity. */
static void begin_at_half(frix_sim *sim) {
  fx_state *s = &sim->state;
  move_kinematic(sim, 0.5 * sim->h);
  for (int32_t k = 0; k < sim->mover_count; k++) {
    const fx_mover *m = &sim->mover[k];
    s->pose[m->slot] = fx_advance(fx_slot_body(sim, m->slot), m->pose0, m->v0, m->L0, m->w0, 0.5 * sim->h);
  }
}

static void finish_with(frix_sim *sim, double before, double after) {
  fx_state *s = &sim->state;
  move_kinematic(sim, sim->h);
  for (int32_t k = 0; k < sim->mover_count; k++) {
    const fx_mover *m = &sim->mover[k];
    const fx_body *body = fx_slot_body(sim, m->slot);
    frix_vec3 L0 = m->L0, L1 = fx_add(L0, fx_sym3_mul(m->J, fx_sub(m->w1, m->w0)));
    frix_vec3 v = fx_mad(fx_scale(after, m->v1), before, m->v0), w = fx_mad(fx_scale(after, m->w1), before, m->w0);
    frix_vec3 L = fx_mad(fx_scale(after, L1), before, L0);
    s->pose[m->slot] = fx_advance(body, m->pose0, v, L, w, sim->h);
    s->velocity[m->slot] = m->v1;
    s->momentum[m->slot] = L1;
    s->spin[m->slot] = fx_spin_of(body, s->pose[m->slot], L1, m->w1);
  }
}

static void finish_new(frix_sim *sim) { finish_with(sim, 0.0, 1.0); }
static void finish_mean(frix_sim *sim) { finish_with(sim, 0.5, 0.5); }

static const fx_integrator table[] = {
    {{"moreau", "velocity-impulse Euler, gaps closed but not crossed (default)"},
     1.0,
     false,
     begin_at_start,
     takes_all,
     speculative,
     finish_new},
    {{"two_step", "predictor at the half step, corrector by the contact problem"},
     0.5,
     false,
     begin_at_half,
     takes_all,
     speculative,
     finish_mean},
    {{"variational", "symmetric half step: keeps energy where nothing dissipates"},
     1.0,
     true,
     begin_at_start,
     takes_closed,
     closed_only,
     finish_mean},
};

enum { ROWS = sizeof table / sizeof *table };

const fx_integrator *fx_integrator_at(int32_t k) { return k >= 0 && k < ROWS ? &table[k] : NULL; }

const frix_integrator_info *frix_integrator_table(int32_t k) { return k >= 0 && k < ROWS ? &table[k].info : NULL; }

int32_t fx_integrator_find(frix_context *context, const char *name) {
  int32_t nearest = 0;
  for (int32_t k = 0; k < ROWS; k++) {
    if (!strcmp(table[k].info.name, name)) return k;
    if (fx_text_distance(name, table[k].info.name) < fx_text_distance(name, table[nearest].info.name)) nearest = k;
  }
  fx_fail(context, FRIX_ERROR_INPUT, "unknown integrator '%s'; did you mean %s?", name, table[nearest].info.name);
  return -1;
}
