/* What contacts do to the energy of a step, island by island.
 *
 *   K1 - K0 = v . (p + H r),   v = (v0 + v1) / 2,   p = h F,   r the impulses of all rows
 *   u1 - u0 = H' M^-1 (H r + p),   r . (u1 + w + R (r - r_c)) <= 0 by the law of each row, so that over an island
 *   r . (u0 + u1) / 2 <= -r . (w + R (r - r_c)) - r' W r / 2 - r . H' M^-1 p / 2
 *                     <= -r . (w + R (r - r_c)) + p . M^-1 p / 8
 *
 * What contacts bring beyond that is restitution's, -r . w with w = e u0. Motors and springs of joints count as forces:
 * their impulses are part of p, so that what a motor might have brought excuses no contact. An island's gain has these
 * parts: what joints ask for (w of their own), what pushes overlaps out, what the slip of the middle asks
 * for (w of tangential rows), at most p . M^-1 p / 8 where a step turns something round, which is O(h^2), and the rest,
 * which no energetically consistent law has.
 *
 * Joints under tension damp a spin by d = -S w1 (tension.c): a row with u = w, r = d and R = 1 / S among the others, M
 * the inertia without S. It takes w1 . S w1, but where a blow turns the spin round it also drives what the blow began,
 *
 *   d . (w0 + w1) / 2 + w1 . S w1 = w1 . S (w1 - w0) / 2
 *
 * and contacts that seem to take energy may create some together with it. */
#include "sim/mechanism.h"

#include <math.h>

/* ---- islands of a step ---- */

static int32_t root_of(int32_t *parent, int32_t k) {
  while (parent[k] != k) k = parent[k] = parent[parent[k]];
  return k;
}

bool fx_group_acts(const fx_assembly *a, const fx_group *g) {
  for (int32_t k = 0; k < g->dim; k++)
    if (a->r[g->row + k] != 0.0) return true;
  return false;
}

frix_status fx_step_islands_find(frix_sim *sim, const fx_assembly *a, fx_step_islands *out) {
  int32_t n = sim->mover_count, *parent = FX_TAKE_RAW(&sim->arena, int32_t, n);
  *out = (fx_step_islands){.of_mover = FX_TAKE_RAW(&sim->arena, int32_t, n)};
  if (!parent || !out->of_mover) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < n; k++) parent[k] = k;
  for (int32_t k = 0; k < a->group_count; k++)
    for (int32_t b = 1; b < a->group[k].body_count && fx_group_acts(a, &a->group[k]); b++) {
      int32_t i = root_of(parent, a->group[k].mover[0]), j = root_of(parent, a->group[k].mover[b]);
      parent[i > j ? i : j] = i > j ? j : i;
    }
  for (int32_t k = 0; k < n; k++) {
    int32_t root = root_of(parent, k);
    out->of_mover[k] = root == k ? out->count++ : out->of_mover[root]; /* a root stands before all others */
  }
  return FRIX_OK;
}

int32_t fx_island_of(const fx_step_islands *islands, const fx_group *g) {
  return g->body_count > 0 ? islands->of_mover[g->mover[0]] : -1;
}

/* ---- one group ---- */

static fx_share share_of(const fx_group *g, int32_t k) {
  bool friction = g->kind == FX_GROUP_SPINNING || (g->kind == FX_GROUP_AXIS && g->part == FX_AXIS_FRICTION);
  return friction ? FX_SHARE_SLIDING : k == 0 ? FX_SHARE_IMPACT : k < 3 ? FX_SHARE_SLIDING : FX_SHARE_ROLLING;
}

static bool is_spring(const fx_assembly *a, const fx_group *g, int32_t k) {
  return a->R[g->row + k] > 0.0 && (g->kind == FX_GROUP_CONTACT || (g->kind == FX_GROUP_SPINNING && k == 1));
}

/* Motors and springs of joints act like forces. */
static bool drives(const fx_group *g) {
  return g->kind == FX_GROUP_AXIS && (g->part == FX_AXIS_MOTOR || g->part == FX_AXIS_SPRING);
}

bool fx_group_takes(const fx_group *g) {
  return g->kind != FX_GROUP_JOINT && g->kind != FX_GROUP_TENSION &&
         (g->kind != FX_GROUP_AXIS || (g->part != FX_AXIS_MOTOR && g->part != FX_AXIS_SPRING));
}

/* What a row did, with what it asks for beside restitution: r . ((u0 + u1) / 2 + w + R (r - r_c)). */
static double balance(const fx_assembly *a, int32_t row, double middle) {
  double r = a->r[row];
  return r * (middle + a->w[row] - a->drive[row] + a->R[row] * (r - a->r_c[row]));
}

/* What the spring of a stiff contact gives in the step: its law makes r . u1 at most that, -r (w + R (r - memory)), but
 * for what is expected of a blow, which must not bring anything. Poisson's law has that in both of its phases, and in
 * between an impulse that no spring carries. What the spring might have given with another impulse is no excuse: under
 * its cover restitution would create energy. */
static double given(const fx_assembly *a, const fx_group *g, int32_t k, double ask) {
  int32_t row = g->row + k;
  double r = a->r[row], R = a->R[row], expected = r - fx_held(a, row), memory = a->r_c[row] - expected;
  double first = a->compression ? a->compression[row] : r,
         known = a->rebound && k == 0 ? a->rebound[g - a->group] : 0.0;
  double held = first - expected, later = r - first - known;
  if (r == 0.0) return 0.0;
  return (R * memory - ask) * (held + later) - R * (held * held + held * later + later * later);
}

static void add_taking(const frix_sim *sim, const fx_assembly *a, const fx_group *g, int32_t k, double middle,
                       fx_power *power) {
  int32_t row = g->row + k;
  double r = a->r[row], full = r * middle, ask = a->w[row] - a->drive[row];
  if (is_spring(a, g, k) && fx_is_stiff(sim, g) && k < 3) { /* what the spring does not store is lost */
    double now = g->keeps ? 0.5 * a->R[row] * sim->integrator->position_time * fx_held(a, row) * fx_held(a, row) : 0.0;
    double before = k < 2 ? g->stored[k] : 0.0, stored = now - before;
    power->size += now + before; /* their rounding is no gain */
    power->spring -= stored;
    power->other -= given(a, g, k, ask) + stored;
    full += stored;
  } else if (is_spring(a, g, k)) { /* the potential has its energy, but for rolling and drilling */
    double slip = k == 0 ? 0.0 : r * (a->u[row] + a->R[row] * (r - a->r_c[row]));
    power->spring += full - slip;
    power->other += balance(a, row, middle) - slip;
    full = slip;
  } else if (k == 0 && g->kind != FX_GROUP_SPINNING) {
    double push = r * fmax(0.0, fx_contact_bounce(sim, a, g) - ask);
    if (a->late) push += (r - a->compression[row]) * a->late[g - a->group];
    power->push += push;
    full -= push;
  } else if (g->kind == FX_GROUP_CONTACT) {
    power->turn -= r * ask;
  }
  power->share[share_of(g, k)] += full;
}

void fx_group_power(const frix_sim *sim, const fx_assembly *a, const fx_group *g, const double *before,
                    fx_power *power) {
  for (int32_t k = 0; k < g->dim; k++) {
    int32_t row = g->row + k;
    double r = a->r[row], u = a->u[row], middle = 0.5 * (before[k] + u);
    if (r == 0.0 && !(k < 2 && g->stored[k] > 0.0)) continue;
    power->size += 0.5 * fabs(r) * (fabs(before[k]) + fabs(u));
    if (fx_group_takes(g)) {
      add_taking(sim, a, g, k, middle, power);
    } else if (!drives(g)) {
      power->other += balance(a, row, middle);
    }
  }
}

/* ---- all of them ---- */

static void add_tension(const fx_mover *m, fx_power *power) {
  frix_vec3 w0 = m->w0, w1 = m->w1;
  if (m->dof == 3) w0 = fx_vec(0.0, 0.0, w0.z), w1 = fx_vec(0.0, 0.0, w1.z);
  frix_vec3 held = fx_sym3_mul(m->tension, w1);
  double before = fx_dot(held, w0), after = fx_dot(held, w1);
  power->tension += 0.5 * (after - before);
  power->size += 0.5 * (fabs(before) + fabs(after));
}

void fx_power_find(const frix_sim *sim, const fx_assembly *a, const fx_step_islands *islands, const double *before,
                   fx_power *power) {
  for (int32_t k = 0; k < islands->count; k++) power[k] = (fx_power){0};
  for (int32_t k = 0; k < a->group_count; k++) {
    const fx_group *g = &a->group[k];
    int32_t island = fx_island_of(islands, g);
    if (island < 0) continue;
    fx_group_power(sim, a, g, before + g->row, &power[island]);
  }
  for (int32_t k = 0; k < sim->mover_count; k++)
    if (fx_is_tense(&sim->mover[k])) add_tension(&sim->mover[k], &power[islands->of_mover[k]]);
}

double fx_power_gain(const fx_power *p) {
  double sum = p->other + p->tension;
  for (int k = 0; k < FX_SHARES; k++) sum += p->share[k];
  return sum - fmax(0.0, p->turn);
}

/* p . M^-1 p of a mover that is changed by v and w. */
static double energy_of(const fx_mover *m, frix_vec3 v, frix_vec3 w) {
  double spin = m->dof == 3 ? m->B.zz * w.z * w.z : fx_dot(w, fx_sym3_mul(m->B, w));
  return fx_dot(v, fx_sym3_mul(m->A, v)) + spin;
}

/* Adds what the motors and springs of joints change velocities by: v and w by mover. */
static void add_drives(const frix_sim *sim, const fx_assembly *a, frix_vec3 (*change)[2]) {
  for (int32_t k = 0; k < a->group_count; k++) { /* motors with bounds stand among the contacts */
    const fx_group *g = &a->group[k];
    const double *J = a->J + g->value;
    for (int32_t b = 0; b < g->body_count && drives(g); b++) {
      const fx_mover *m = &sim->mover[g->mover[b]];
      frix_vec3 *to = change[g->mover[b]];
      if (m->tree) {
        J += g->dim * m->dof;
        continue;
      }
      for (int32_t i = 0; i < g->dim; i++, J += m->dof) {
        double r = a->r[g->row + i];
        bool flat = m->dof == 3;
        frix_vec3 lin = {J[0], J[1], flat ? 0.0 : J[2]};
        frix_vec3 ang = flat ? fx_vec(0.0, 0.0, J[2]) : fx_vec(J[3], J[4], J[5]);
        to[0] = fx_mad(to[0], r, fx_sym3_mul(m->A_inverse, lin));
        to[1] = fx_mad(to[1], r, fx_spin_change(m, ang));
      }
    }
  }
}

/* The same of a tree, with its own drives and those of joints: the groups listed. */
static double tree_turned(const frix_sim *sim, const fx_assembly *a, const int32_t *list, int32_t count,
                          int32_t mover) {
  const fx_mover *m = &sim->mover[mover];
  double change[FX_TREE_MOST], y[FX_TREE_MOST];
  for (int32_t i = 0; i < m->dof; i++) change[i] = m->tree->v_free[i] - m->tree->came[i];
  for (int32_t k = 0; k < count; k++) {
    const fx_group *g = &a->group[list[k]];
    const double *J = fx_group_block(sim, a, g, mover, 0);
    for (int32_t j = 0; J && j < g->dim; j++) {
      fx_tree_respond(m, J + j * m->dof, y);
      for (int32_t i = 0; i < m->dof; i++) change[i] += a->r[g->row + j] * y[i];
    }
  }
  return fx_tree_energy_of(m, change);
}

frix_status fx_power_turned(frix_sim *sim, const fx_assembly *a, const fx_step_islands *islands, double *bound) {
  frix_vec3(*change)[2] = (frix_vec3(*)[2])FX_TAKE_RAW(&sim->arena, frix_vec3, 2 * (size_t)sim->mover_count);
  int32_t *list = FX_TAKE_RAW(&sim->arena, int32_t, a->group_count), count = 0;
  if (!change || !list) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < a->group_count; k++)
    if (drives(&a->group[k])) list[count++] = k;
  for (int32_t k = 0; k < islands->count; k++) bound[k] = 0.0;
  for (int32_t k = 0; k < sim->mover_count; k++) {
    const fx_mover *m = &sim->mover[k];
    if (m->tree) {
      bound[islands->of_mover[k]] += tree_turned(sim, a, list, count, k) / 8.0;
      continue;
    }
    change[k][0] = fx_sub(m->v_free, m->v0);
    change[k][1] = fx_sub(m->w_free, m->w0);
    if (fx_is_tense(m)) change[k][1] = fx_scale(sim->h, fx_spin_change(m, m->torque)); /* tension is a row */
  }
  add_drives(sim, a, change);
  for (int32_t k = 0; k < sim->mover_count; k++)
    if (!sim->mover[k].tree) bound[islands->of_mover[k]] += energy_of(&sim->mover[k], change[k][0], change[k][1]) / 8.0;
  return FRIX_OK;
}
