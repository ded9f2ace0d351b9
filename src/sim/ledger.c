/* The energy ledger.
 *
 *   K1 - K0 = v . (h F + H r + G lambda),   v = (v0 + v1) / 2: exact for the velocities of a step, so every term can be
 *   booked: forces as work, tangential rows as friction, normal rows as impact, joints apart. What remains is the
 *   solver's error. The potential follows the new positions; the difference to the work booked for gravity and springs
 *   within the step, and the turning of inertia, are the scheme's.
 *
 * The law bounds r_T . u_T at the end of the step, not at its middle. A block that a force stops and turns round within
 * one step has slip u0 > 0, u1 = 0 and friction that pushes along u0: r_T . (u0 + u1) / 2 > 0, although friction only
 * held it at the end. Such work is no loss with a minus sign; it goes to the scheme, where the force's own work at the
 * mean velocity is too large by as much. */
#include "sim/sim.h"

#include <math.h>

static double kinetic_of(const frix_sim *sim, int32_t k) {
  const fx_state *s = &sim->state;
  const fx_body *body = fx_slot_body(sim, k);
  frix_vec3 w = fx_unrotate(s->pose[k].q, s->spin[k]);
  return 0.5 * (body->mass * fx_norm2(s->velocity[k]) + fx_dot(w, fx_sym3_mul(body->inertia, w)));
}

static double potential_of(const frix_sim *sim, int32_t k) {
  const fx_body *body = fx_slot_body(sim, k);
  return -body->mass * body->gravity_scale * fx_dot(sim->state.gravity, sim->state.pose[k].p);
}

static bool counts(const frix_sim *sim, int32_t k) {
  return sim->state.prototype[k] > 0 && fx_slot_body(sim, k)->dof > 0;
}

double fx_body_energy(const frix_sim *sim, int32_t slot) {
  return counts(sim, slot) ? kinetic_of(sim, slot) + potential_of(sim, slot) : 0.0;
}

double fx_kinetic(const frix_sim *sim) {
  double sum = 0.0;
  for (int32_t k = 1; k < sim->state.count; k++)
    if (counts(sim, k)) sum += kinetic_of(sim, k);
  return sum;
}

/* Springs of compliant contacts: F^2 / 2k. */
static double contacts_potential(const frix_sim *sim) {
  const fx_state *s = &sim->state;
  double sum = 0.0;
  for (int32_t k = 0; sim->springs && k < s->touching_count; k++) {
    const fx_contact *c = &s->touching[k].contact;
    double stiffness =
        fx_model_surface(sim->model, sim->model->shape[c->shape_a].material, sim->model->shape[c->shape_b].material)
            .stiffness;
    if (stiffness > 0.0) sum += fx_norm2(s->touching[k].impulse) / (2.0 * stiffness * s->last_step * s->last_step);
  }
  return sum;
}

double fx_potential(const frix_sim *sim) {
  double sum = 0.0;
  for (int32_t k = 1; k < sim->state.count; k++)
    if (counts(sim, k)) sum += potential_of(sim, k);
  return sum + fx_joints_potential(sim) + contacts_potential(sim);
}

/* ---- one step ---- */

typedef enum share { IMPACT, SLIDING, ROLLING, SHARES } share;

/* Which part of a group's work a row belongs to. */
static share share_of(const fx_group *g, int32_t k) {
  bool friction = g->kind == FX_GROUP_SPINNING || (g->kind == FX_GROUP_AXIS && g->part == FX_AXIS_FRICTION);
  return friction ? SLIDING : k == 0 ? IMPACT : k < 3 ? SLIDING : ROLLING;
}

/* Impacts and friction take energy or none. Where the mean velocity says otherwise, because the step turned a slip
 * round, caught what a force pressed on, or pushed an overlap out, the finite step brought it. */
static void book_losses(const double power[SHARES], frix_energy *e) {
  for (int k = 0; k < SHARES; k++) {
    double *loss = k == IMPACT ? &e->impact : &e->friction;
    *(power[k] > 0.0 ? &e->scheme : loss) += fabs(power[k]);
  }
}

static bool is_spring(const fx_assembly *a, const fx_group *g, int32_t k) {
  return a->R[g->row + k] > 0.0 && (g->kind == FX_GROUP_CONTACT || (g->kind == FX_GROUP_SPINNING && k == 1));
}

/* Nothing moves before or after: no power in any row. */
static bool is_still(const fx_assembly *a, const fx_group *g, const double *before) {
  for (int32_t k = 0; k < g->dim; k++)
    if (before[k] != 0.0 || a->u[g->row + k] != 0.0 || a->drive[g->row + k] != 0.0) return false;
  return true;
}

/* The rows of one group: r . u at the middle velocity. */
static double book_group(const frix_sim *sim, const fx_group *g, frix_energy *e) {
  const fx_assembly *a = &sim->rows;
  double total = 0.0, before[FRIX_MAX_DIM], lost[SHARES] = {0.0};
  fx_group_velocities(sim, a, g, FX_BEFORE, before);
  if (!a->compliant && is_still(a, g, before)) return 0.0;
  for (int32_t k = 0; k < g->dim; k++) {
    int32_t row = g->row + k;
    double r = a->r[row], drive = a->drive[row];
    if (r == 0.0) continue;
    double middle = 0.5 * (before[k] + a->u[row]);
    double power = r * middle, into = r * (middle - drive);
    total += into;
    e->work += into - power; /* what kinematic bodies and moving fixtures bring */
    if (g->kind == FX_GROUP_JOINT) {
      e->joint += power;
    } else if (g->kind == FX_GROUP_AXIS && g->part == FX_AXIS_MOTOR) {
      e->work += power;
    } else if (g->kind == FX_GROUP_AXIS && g->part == FX_AXIS_SPRING) {
      double damper = -g->damper * a->u[row]; /* its share of the impulse */
      e->damping -= damper * middle;
      e->scheme += (r - damper) * middle;
    } else if (is_spring(a, g, k)) { /* the potential has its energy, but for rolling and drilling */
      double slip = k == 0 ? 0.0 : r * (a->u[row] + a->R[row] * (r - a->r_c[row]));
      e->scheme += power - slip;
      lost[share_of(g, k)] += slip;
    } else {
      lost[share_of(g, k)] += power;
    }
  }
  book_losses(lost, e);
  return total;
}

void fx_ledger_solve(frix_sim *sim, frix_energy *e) {
  const fx_assembly *a = &sim->rows;
  double change = 0.0, booked = 0.0;
  for (int32_t k = 0; k < sim->mover_count; k++) {
    const fx_mover *m = &sim->mover[k];
    frix_vec3 v = fx_scale(0.5, fx_add(m->v0, m->v1)), w = fx_scale(0.5, fx_add(m->w0, m->w1));
    frix_vec3 dv = fx_sub(m->v1, m->v0), dw = fx_sub(m->w1, m->w0);
    frix_vec3 weight = fx_scale(m->mass * fx_slot_body(sim, m->slot)->gravity_scale, sim->state.gravity);
    change += m->mass * fx_dot(v, dv) + fx_dot(w, fx_sym3_mul(m->J, dw));
    double gravity = sim->h * fx_dot(v, weight);
    double force = sim->h * (fx_dot(v, fx_sub(m->force, weight)) + fx_dot(w, m->torque));
    /* impulse of implicit forces beyond h F: m dv = A dv - (A - m) dv */
    frix_vec3 slope = fx_sub(fx_sub(fx_scale(m->mass, dv), fx_sym3_mul(m->A, dv)), m->spring);
    frix_vec3 turn = fx_sub(fx_sym3_mul(m->J, dw), fx_sym3_mul(m->B, dw));
    if (m->dof == 3) turn = fx_vec(0.0, 0.0, turn.z), slope.z = 0.0;
    double damping = fx_dot(v, slope) + fx_dot(w, turn);
    e->scheme += gravity; /* the new potential takes it back */
    e->work += force;
    e->damping -= damping;
    booked += gravity + force + damping;
  }
  for (int32_t k = 0; k < a->group_count; k++) booked += book_group(sim, &a->group[k], e);
  e->error = change - booked;
  e->kinetic = change;
}

void fx_ledger_close(frix_sim *sim, const frix_energy *step) {
  frix_energy *e = &sim->state.energy;
  double kinetic = fx_kinetic(sim), potential = fx_potential(sim);
  e->work += step->work;
  e->friction += step->friction;
  e->impact += step->impact;
  e->damping += step->damping;
  e->joint += step->joint;
  e->error += step->error;
  e->scheme += step->scheme + (kinetic - e->kinetic - step->kinetic) + (potential - e->potential);
  e->kinetic = kinetic;
  e->potential = potential;
}
