/* Integrators: one table.
 *
 *   moreau       contacts, joints, forces at q0;   v1 = v0 + M^-1 (h F + H r);          q1 = q0 + h v1
 *   two_step     the same at s = q0 + h/2 v0;                                           q1 = s + h/2 v1
 *   variational  contacts and joints at s, forces at the middle (q0 + q1) / 2;          q1 = s + h/2 v1
 *
 * Moreau's velocity-impulse Euler scheme is the default. two_step is Kaufman's predictor-corrector (eqs. 4.63 to 4.68):
 * drift, kick, drift. Its places s follow each other as Moreau's do, s' = s + h v1, so that gaps and joint errors
 * seen at s are closed within h, not within the half step that is left: with h/2 an error would come back with its
 * sign turned, and never decay. variational is Kaufman's symmetric scheme (eqs. 4.51 to 4.55); what bounces does so
 * where it is closed, v_N + e v0_N >= 0, and no gap is closed before.
 *
 * All rows are speculative otherwise: open gaps may close within the step, not be crossed, and penetrations shrink by
 * the part `stabilisation` per step.
 * References: J. J. Moreau, Unilateral contact and dry friction in finite freedom dynamics, 1988; D. Kaufman, Coupled
 * Principles for Computational Frictional Contact Mechanics, 2009, ch. 4. */
#include "base/option.h"
#include "sim/softs.h"

#include <string.h>

/* ---- normal rows ---- */

double fx_restitution_speed(const frix_sim *sim) {
  double given = sim->config.restitution_speed;
  return given >= 0.0 ? given : 2.0 * sim->h * fx_norm(sim->state.gravity);
}

bool fx_strikes(const frix_sim *sim, const fx_normal *n) {
  double fastest = n->before < n->free ? n->before : n->free;
  return n->restitution > 0.0 && -n->before > fx_restitution_speed(sim) && n->gap + sim->h * fastest <= 0.0;
}

double fx_bounce_of(const fx_normal *n) { return n->compress ? 0.0 : n->kept * n->restitution * n->before; }

double fx_normal_shift(const frix_sim *sim, const fx_normal *n) {
  double w = n->gap > 0.0 ? n->gap / sim->h : sim->config.stabilisation * n->gap / sim->h;
  if (!fx_strikes(sim, n)) return w;
  double bounce = fx_bounce_of(n);
  return n->gap > 0.0 || n->compress || bounce < w ? bounce : w;
}

/* ---- poses ---- */

static void begin_at_start(frix_sim *sim) {
  if (sim->mechanism) fx_mechanism_begin(sim, 0.0);
  if (sim->softs) fx_softs_begin(sim, 0.0);
}

static void move_kinematic(frix_sim *sim, double h) {
  fx_state *s = &sim->state;
  for (int32_t k = 1; k < s->count; k++)
    if (s->prototype[k] > 0 && fx_slot_body(sim, k)->kind == FRIX_BODY_KINEMATIC) {
      s->pose[k].p = fx_mad(sim->pose0[k].p, h, s->velocity[k]);
      s->pose[k].q = fx_turn(sim->pose0[k].q, s->spin[k], h);
    }
}

/* Everything moves for half a step with its old momenta; inertia and spin are those of that place. */
static void begin_at_half(frix_sim *sim) {
  fx_state *s = &sim->state;
  move_kinematic(sim, 0.5 * sim->h);
  for (int32_t k = 0; k < sim->mover_count; k++) {
    fx_mover *m = &sim->mover[k];
    if (m->tree) continue;
    const fx_body *body = fx_slot_body(sim, m->slot);
    s->pose[m->slot] = fx_advance(body, m->pose0, m->v0, m->L0, s->spin[m->slot], 0.5 * sim->h);
    m->J = fx_world_inertia(body, s->pose[m->slot]);
    m->w0 = fx_spin_of(body, s->pose[m->slot], m->L0, s->spin[m->slot]);
  }
  if (sim->mechanism) fx_mechanism_begin(sim, 0.5);
  if (sim->softs) fx_softs_begin(sim, 0.5);
}

typedef struct finishing {
  frix_sim *sim;
  double part;
} finishing;

static void finish_some(int32_t part, int32_t first, int32_t end, void *user) {
  const finishing *f = user;
  frix_sim *sim = f->sim;
  fx_state *s = &sim->state;
  (void)part;
  for (int32_t k = first; k < end; k++) {
    const fx_mover *m = &sim->mover[k];
    if (m->tree) continue;
    const fx_body *body = fx_slot_body(sim, m->slot);
    frix_vec3 L1 = fx_momentum_after(m);
    s->pose[m->slot] = fx_advance(body, s->pose[m->slot], m->v1, L1, m->w1, f->part * sim->h);
    s->velocity[m->slot] = m->v1;
    s->momentum[m->slot] = L1;
    s->spin[m->slot] = fx_spin_of(body, s->pose[m->slot], L1, m->w1);
  }
}

/* From where the contacts were seen on with the new momenta, for a part of the step. */
static void finish_after(frix_sim *sim, double part) {
  finishing f = {sim, part};
  move_kinematic(sim, sim->h);
  fx_parallel_range(fx_sim_threads(sim), sim->mover_count, FX_LEAST_MOVERS, finish_some, &f);
  if (sim->mechanism) fx_mechanism_finish(sim, part);
  if (sim->softs) fx_softs_finish(sim, part);
}

static void finish_whole(frix_sim *sim) { finish_after(sim, 1.0); }
static void finish_half(frix_sim *sim) { finish_after(sim, 0.5); }

static const fx_integrator table[] = {
    {{"moreau", "velocity-impulse Euler, gaps closed but not crossed (default)"},
     1.0,
     false,
     begin_at_start,
     finish_whole},
    {{"two_step", "predictor at the half step, corrector by the contact problem"},
     0.5,
     false,
     begin_at_half,
     finish_half},
    {{"variational", "symmetric half step: keeps energy where nothing dissipates"},
     0.5,
     true,
     begin_at_half,
     finish_half},
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
