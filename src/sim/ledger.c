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
 * mean velocity is too large by as much. How much that can be is known (power.c); what an island gains through its
 * contacts beyond that is booked as `contact`. */
#include "base/threads.h"
#include "sim/softs.h"

#include <math.h>

static double kinetic_of(const frix_sim *sim, int32_t k) {
  const fx_state *s = &sim->state;
  const fx_soft_body *soft = fx_soft_at(sim, k);
  if (soft) return fx_soft_kinetic(sim, soft);
  const fx_body *body = fx_slot_body(sim, k);
  frix_vec3 velocity = s->velocity[k], spin = s->spin[k];
  fx_transport_motion(sim, k, &velocity, &spin);
  frix_vec3 w = fx_unrotate(s->pose[k].q, spin);
  return 0.5 * (body->mass * fx_norm2(velocity) + fx_dot(w, fx_sym3_mul(body->inertia, w)));
}

static double potential_of(const frix_sim *sim, int32_t k) {
  const fx_body *body = fx_slot_body(sim, k);
  const fx_soft_body *soft = fx_soft_at(sim, k);
  double weight = -body->mass * body->gravity_scale * fx_dot(sim->state.gravity, sim->state.pose[k].p);
  return soft ? weight + fx_soft_potential(sim, soft) : weight;
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
  return sum + fx_joints_kinetic(sim) + fx_mechanism_kinetic(sim);
}

/* Springs of compliant contacts: F^2 / 2k. */
static double contacts_potential(const frix_sim *sim) {
  const fx_state *s = &sim->state;
  double sum = 0.0;
  for (int32_t k = 0; k < s->touching_count; k++) {
    double stiffness = s->touching[k].stiffness;
    if (stiffness > 0.0)
      sum += fx_norm2(fx_held_impulse(&s->touching[k])) / (2.0 * stiffness * s->last_step * s->last_step);
  }
  return sum;
}

double fx_potential(const frix_sim *sim) {
  double sum = 0.0;
  for (int32_t k = 1; k < sim->state.count; k++)
    if (counts(sim, k)) sum += potential_of(sim, k);
  return sum + fx_joints_potential(sim) + contacts_potential(sim) + fx_mechanism_potential(sim);
}

/* ---- one step ---- */

/* Nothing moves before or after: no power in any row. */
static bool is_still(const fx_assembly *a, const fx_group *g, const double *before) {
  for (int32_t k = 0; k < g->dim; k++)
    if (before[k] != 0.0 || a->u[g->row + k] != 0.0 || a->drive[g->row + k] != 0.0) return false;
  return true;
}

/* What velocity products of trees add to the velocity of row k before the step. */
static double products_along(const frix_sim *sim, const fx_group *g, int32_t k) {
  double sum = 0.0;
  for (int32_t b = 0; b < g->body_count && sim->mechanism; b++) {
    const fx_mover *m = &sim->mover[g->mover[b]];
    const double *J = m->tree && !m->tree->soft ? fx_group_block(sim, &sim->rows, g, g->mover[b], k) : NULL;
    for (int32_t i = 0; J && i < m->dof; i++) sum += J[i] * (m->tree->came[i] - m->tree->v0[i]);
  }
  return sum;
}

/* Row k of a group that takes nothing: r . u at the middle velocity. What joints take of velocity products is the
 * scheme's, as these are. */
static void book_row(const frix_sim *sim, const fx_group *g, int32_t k, double before, frix_energy *e) {
  const fx_assembly *a = &sim->rows;
  int32_t row = g->row + k;
  double r = a->r[row], middle = 0.5 * (before + a->u[row]);
  if (g->kind == FX_GROUP_JOINT) {
    double products = 0.5 * r * products_along(sim, g, k);
    e->joint += r * middle - products;
    e->scheme += products;
  } else if (g->kind == FX_GROUP_TENSION) {
    e->scheme += r * middle;
  } else if (g->part == FX_AXIS_MOTOR) {
    e->work += r * middle;
  } else {
    double damper = -g->damper * a->u[row]; /* its share of the impulse */
    double rotor = -g->armature * (a->u[row] - before);
    e->damping -= damper * middle;
    e->kinetic -= rotor * middle;
    e->scheme += (r - damper - rotor) * middle;
  }
}

/* What the impulses of a group bring into the movers. Contacts are booked by island: *moves where there are some. */
static double book_group(const frix_sim *sim, const fx_group *g, const double *before, frix_energy *e, bool *moves) {
  const fx_assembly *a = &sim->rows;
  double total = 0.0;
  if (!a->compliant && is_still(a, g, before)) return 0.0;
  for (int32_t k = 0; k < g->dim; k++) {
    int32_t row = g->row + k;
    double r = a->r[row], drive = a->drive[row];
    if (r == 0.0 && !(k < 2 && g->stored[k] > 0.0)) continue;
    double middle = 0.5 * (before[k] + a->u[row]);
    total += r * (middle - drive);
    e->work -= r * drive; /* what kinematic bodies and moving fixtures bring */
    if (fx_group_takes(g))
      *moves = true;
    else
      book_row(sim, g, k, before[k], e);
  }
  return total;
}

/* Impacts and friction of an island take energy or none. Where the mean velocity says otherwise the step turned a slip
 * round or caught what a force pressed on, which brings no more than `turned` and what the slip of the middle asks for;
 * the rest was created, or pushed overlaps out. Where one of the two takes and the other gives, the sum is booked. */
static void book_island(const fx_power *p, double turned, frix_energy *e) {
  double normal = p->share[FX_SHARE_IMPACT] + p->push, push = fmax(0.0, fmin(normal, p->push));
  double impact = push - normal, friction = -p->share[FX_SHARE_SLIDING] - p->share[FX_SHARE_ROLLING];
  double lost = impact + friction;
  if (lost >= 0.0) {
    e->impact += impact < 0.0 ? 0.0 : friction < 0.0 ? lost : impact;
    e->friction += friction < 0.0 ? 0.0 : impact < 0.0 ? lost : friction;
  } else {
    double joint = fmin(-lost, fmax(0.0, -p->other)); /* what joints took of it, or asked for */
    double scheme = fmin(-lost - joint, turned + fmax(0.0, p->turn));
    e->joint += joint;
    e->scheme += scheme;
    e->contact += -lost - joint - scheme;
  }
  e->contact += push;
  e->scheme += p->spring;
}

/* What contacts bring and what excuses it, which two threads may find side by side. */
typedef struct weighing {
  frix_sim *sim;
  const double *before;
  fx_step_islands islands;
  fx_power *power;
  double *turned;
  frix_status status;
} weighing;

static void weigh(int32_t which, void *user) {
  weighing *t = user;
  if (which == 0)
    fx_power_find(t->sim, &t->sim->rows, &t->islands, t->before, t->power);
  else
    t->status = fx_power_turned(t->sim, &t->sim->rows, &t->islands, t->turned);
}

static frix_status book_contacts(frix_sim *sim, const double *before, frix_energy *e) {
  weighing t = {.sim = sim, .before = before};
  frix_status status = fx_step_islands_find(sim, &sim->rows, &t.islands);
  if (status != FRIX_OK) return status;
  t.power = FX_TAKE(&sim->arena, fx_power, t.islands.count);
  t.turned = FX_TAKE(&sim->arena, double, t.islands.count);
  if (!t.power || !t.turned) return FRIX_ERROR_MEMORY;
  fx_parallel(sim->inner, sim->config.thread_count, 2, weigh, &t);
  for (int32_t k = 0; k < t.islands.count && t.status == FRIX_OK; k++) book_island(&t.power[k], t.turned[k], e);
  return t.status;
}

/* Groups that threads book, part by part. */
typedef struct booking {
  const frix_sim *sim;
  const double *before;
  struct {
    frix_energy energy;
    double booked;
    bool moves;
  } part[FX_PARTS];
} booking;

static void book_some(int32_t part, int32_t first, int32_t end, void *user) {
  booking *b = user;
  const fx_assembly *a = &b->sim->rows;
  for (int32_t k = first; k < end; k++) {
    const fx_group *g = &a->group[k];
    b->part[part].booked += book_group(b->sim, g, b->before + g->row, &b->part[part].energy, &b->part[part].moves);
  }
}

/* What all groups bring, on top of what is booked already; true where there are contacts among them. */
static bool book_groups(const frix_sim *sim, const double *before, frix_energy *e, double *booked) {
  booking b = {.sim = sim, .before = before};
  b.part[0].energy = *e;
  b.part[0].booked = *booked;
  fx_threads threads = fx_sim_threads(sim);
  int32_t parts = fx_parallel_range(threads, sim->rows.group_count, FX_LEAST_CONTACTS, book_some, &b);
  bool moves = b.part[0].moves;
  *e = b.part[0].energy;
  *booked = b.part[0].booked;
  for (int32_t k = 1; k < parts; k++) {
    const frix_energy *one = &b.part[k].energy;
    e->work += one->work;
    e->joint += one->joint;
    e->scheme += one->scheme;
    e->damping += one->damping;
    e->kinetic += one->kinetic;
    *booked += b.part[k].booked;
    moves |= b.part[k].moves;
  }
  return moves;
}

frix_status fx_ledger_solve(frix_sim *sim, frix_energy *e) {
  const fx_assembly *a = &sim->rows;
  double change = 0.0, booked = 0.0;
  for (int32_t k = 0; k < sim->mover_count; k++) {
    const fx_mover *m = &sim->mover[k];
    if (m->tree) {
      change += m->tree->soft ? fx_soft_book(sim, m, e, &booked) : fx_tree_book(sim, m, e, &booked);
      continue;
    }
    frix_vec3 v = fx_scale(0.5, fx_add(m->v0, m->v1)), w = fx_scale(0.5, fx_add(m->w0, m->w1));
    frix_vec3 dv = fx_sub(m->v1, m->v0), dw = fx_sub(m->w1, m->w0);
    frix_vec3 weight = fx_scale(m->mass * fx_slot_body(sim, m->slot)->gravity_scale, sim->state.gravity);
    change += m->mass * fx_dot(v, dv) + fx_dot(w, fx_sym3_mul(m->J, dw));
    double gravity = sim->h * fx_dot(v, weight);
    double force = sim->h * (fx_dot(v, fx_sub(m->force, weight)) + fx_dot(w, m->torque));
    /* impulse of implicit forces beyond h F: m dv = A dv - (A - m) dv */
    frix_vec3 slope = fx_sub(fx_sub(fx_scale(m->mass, dv), fx_sym3_mul(m->A, dv)), m->spring);
    frix_vec3 held = fx_neg(fx_sym3_mul(m->tension, m->w1));
    frix_vec3 turn = fx_add(fx_sub(fx_sym3_mul(m->J, dw), fx_sym3_mul(m->B, dw)), fx_sym3_mul(m->tension, dw));
    if (m->dof == 3) turn = fx_vec(0.0, 0.0, turn.z), slope.z = 0.0;
    double damping = fx_dot(v, slope) + fx_dot(w, turn), tension = fx_dot(w, held);
    e->scheme += gravity + tension; /* the new potential takes gravity back */
    e->work += force;
    e->damping -= damping;
    booked += gravity + force + damping + tension;
  }
  double *before = FX_TAKE_RAW(&sim->arena, double, a->row_count);
  if (!before) return FRIX_ERROR_MEMORY;
  fx_rows_velocities(sim, a, FX_BEFORE, before);
  bool moves = book_groups(sim, before, e, &booked);
  e->error = change - booked;
  e->kinetic += change; /* to that of the rotors */
  return moves ? book_contacts(sim, before, e) : FRIX_OK;
}

void fx_ledger_add(frix_energy *e, const frix_energy *step, double kinetic, double potential) {
  e->work += step->work;
  e->friction += step->friction;
  e->impact += step->impact;
  e->damping += step->damping;
  e->joint += step->joint;
  e->contact += step->contact;
  e->error += step->error;
  e->scheme += step->scheme + (kinetic - e->kinetic - step->kinetic) + (potential - e->potential);
  e->kinetic = kinetic;
  e->potential = potential;
}

/* Kinetic and potential energy side by side. */
typedef struct energies {
  const frix_sim *sim;
  double of[2];
} energies;

static void find_energy(int32_t which, void *user) {
  energies *t = user;
  t->of[which] = which == 0 ? fx_kinetic(t->sim) : fx_potential(t->sim);
}

void fx_ledger_close(frix_sim *sim, const frix_energy *step) {
  energies t = {.sim = sim};
  fx_parallel(sim->inner, sim->config.thread_count, 2, find_energy, &t);
  fx_ledger_add(&sim->state.energy, step, t.of[0], t.of[1]);
}
