/* A soft body as a mover: mass block, free motion, rows of places on its surface, ledger.
 *
 *   row of a place at p with shape U (weights of the corners):  d . (v + w x (p - c) + R U s)
 *   K1 - K0 = v . M (v1 - v0), v = (v0 + v1) / 2: every force times v is booked; elastic forces and the turning of M
 * come back in the energies of the new place and go to the scheme until then. */
#include "sim/softs.h"

#include <math.h>
#include <string.h>

#include "linalg/product.h"

bool fx_soft_collect(frix_sim *sim, int32_t slot) {
  fx_soft_body *b = fx_soft_at(sim, slot);
  int32_t n = b->part.count;
  double mass = b->soft->info.mass;
  fx_tree_mover *t = FX_TAKE(&sim->arena, fx_tree_mover, 1);
  double *numbers = FX_TAKE(&sim->arena, double, 3 * (size_t)n);
  if (!t || !numbers) return false;
  *t = (fx_tree_mover){.soft = b, .part = &b->part, .count = n};
  t->v0 = t->came = numbers, t->v_free = numbers + n, t->v1 = numbers + 2 * (size_t)n;
  frix_sym3 unit = {mass, mass, mass, 0.0, 0.0, 0.0};
  b->mover = sim->mover_count;
  b->momentum = sim->state.momentum[slot];
  sim->mover_of[slot] = sim->mover_count;
  sim->mover[sim->mover_count++] = (fx_mover){.slot = slot,
                                              .dof = n,
                                              .first = -1,
                                              .mass = mass,
                                              .A = unit,
                                              .B = unit,
                                              .J = unit,
                                              .pose0 = sim->state.pose[slot],
                                              .tree = t};
  return true;
}

/* ---- free motion ---- */

static void add_slope(const frix_sim *sim, const fx_soft_body *b, double *A, double *right) {
  const fx_load *load = &sim->state.load[b->slot];
  const double *v0 = sim->mover[b->mover].tree->v0;
  double h = sim->h;
  int32_t n = b->part.count;
  frix_sym3 D = load->damping, K = load->stiffness, T = load->torque_damping;
  const double linear[3][3] = {{D.xx, D.xy, D.xz}, {D.xy, D.yy, D.yz}, {D.xz, D.yz, D.zz}};
  const double spring[3][3] = {{K.xx, K.xy, K.xz}, {K.xy, K.yy, K.yz}, {K.xz, K.yz, K.zz}};
  const double turning[3][3] = {{T.xx, T.xy, T.xz}, {T.xy, T.yy, T.yz}, {T.xz, T.yz, T.zz}};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      A[(size_t)i * n + j] += h * linear[i][j] + h * h * spring[i][j];
      A[(size_t)(3 + i) * n + 3 + j] += h * turning[i][j];
      right[i] += h * linear[i][j] * v0[j];
      right[3 + i] += h * turning[i][j] * v0[3 + j];
    }
}

/* Force of a pull before the step: -k (x - place) - c (- velocity of the place), and its slope h (k h + c). */
static void add_pulls(const frix_sim *sim, fx_soft_body *b, double *A, double *right) {
  const fx_softs *s = sim->softs;
  double h = sim->h, t = h * sim->integrator->position_time;
  int32_t n = b->part.count;
  for (int32_t m = 0; m < s->pull_count; m++) {
    const fx_pull *p = &s->pull[m];
    if (p->slot != b->slot) continue;
    /* both are seen at the same time */
    frix_vec3 to = fx_mad(p->place, h - t, p->velocity), off = fx_sub(fx_soft_skin_place(&b->skin, p->point), to);
    double slope = h * t * p->stiffness + h * p->damping;
    fx_soft_rows(b->x, p->point, s->row);
    for (int c = 0; c < 3; c++) {
      const double *row = s->row + (size_t)c * n;
      double push = -h * p->stiffness * fx_at(off, c) + slope * fx_at(p->velocity, c);
      for (int32_t i = 0; i < n; i++) {
        right[i] += push * row[i];
        for (int32_t j = 0; j < n; j++) A[(size_t)i * n + j] += slope * row[i] * row[j];
      }
    }
  }
}

/* The free motion of a symmetric step: forces of spin and rates, dT/dq, at the mean of the velocities before and after.
 * t->v_free holds the right side with those of before. */
static void free_middle(fx_soft_body *b, double h, fx_tree_mover *t) {
  int32_t n = t->count, k = n - 6;
  double *inertial = b->force + k, *right = b->x->work + 6 * (size_t)n, *mean = right + n, *spare = mean + n;
  memcpy(right, t->v_free, (size_t)n * sizeof *right);
  for (int again = 0; again < 4; again++) {
    memcpy(t->v_free, right, (size_t)n * sizeof *right);
    fx_dense_solve(&b->part, t->v_free);
    for (int32_t i = 0; i < n; i++) mean[i] = 0.5 * (t->v0[i] + t->v_free[i]);
    frix_vec3 spin = fx_unrotate(b->x->pose.q, fx_vec(mean[3], mean[4], mean[5]));
    fx_soft_centrifugal(b->soft, b->x->amplitude, spin, mean + 6, spare);
    for (int32_t i = 0; i < k; i++) {
      right[6 + i] += h * (spare[i] - inertial[i]);
      inertial[i] = spare[i];
    }
  }
  memcpy(t->v_free, right, (size_t)n * sizeof *right);
  fx_dense_solve(&b->part, t->v_free);
}

void fx_softs_load(frix_sim *sim) {
  sim->softs->weight = NULL;
  for (int32_t k = 0; k < sim->softs->count; k++) {
    fx_soft_body *b = &sim->softs->body[k];
    if (b->mover < 0) continue;
    fx_mover *m = &sim->mover[b->mover];
    fx_tree_mover *t = m->tree;
    const fx_load *load = &sim->state.load[b->slot];
    int32_t n = t->count;
    frix_vec3 gravity = fx_scale(fx_slot_body(sim, b->slot)->gravity_scale, sim->state.gravity);
    double h = sim->h, *A = b->part.dense, *right = t->v_free;
    const double push[6] = {load->force.x,  load->force.y,  load->force.z,
                            load->torque.x, load->torque.y, load->torque.z};
    fx_soft_block(b->x, 0.0, 0.0, b->mass);
    fx_soft_load(b->x, h, b->when, gravity, A, right);
    int32_t modes = n - 6;
    if (modes) memcpy(b->force, b->x->force, (size_t)modes * sizeof *b->force);
    fx_soft_centrifugal(b->soft, b->x->amplitude, fx_soft_spin(b->x), b->x->rate, b->force + modes);
    for (int i = 0; i < 6; i++) right[i] += h * push[i];
    if (load->slope) add_slope(sim, b, A, right);
    if (sim->softs->pull_count) add_pulls(sim, b, A, right);
    fx_dense_factor(&b->part);
    if (sim->integrator->implicit && modes)
      free_middle(b, h, t);
    else
      fx_dense_solve(&b->part, right);
    memcpy(t->v1, t->v_free, (size_t)n * sizeof *t->v1);
    m->v_free = m->v1 = fx_vec(right[0], right[1], right[2]);
    m->w_free = m->w1 = fx_vec(right[3], right[4], right[5]);
    m->force = load->force, m->torque = load->torque;
  }
}

/* ---- rows ---- */

int32_t fx_soft_corners(const fx_soft_body *b, fx_soft_skin *skin, int32_t place, frix_vec3 p, int32_t point[3],
                        double weight[3]) {
  if (place > 0) {
    point[0] = place - 1, weight[0] = 1.0;
    return 1;
  }
  const int32_t *t = b->soft->info.triangle + 3 * (size_t)(-place - 1);
  for (int k = 0; k < 3; k++) point[k] = t[k];
  frix_vec3 corner[3];
  for (int k = 0; k < 3; k++) corner[k] = fx_soft_skin_place(skin, t[k]);
  fx_nearest_weights(p, corner[0], corner[1], corner[2], weight);
  return 3;
}

void fx_soft_fill(const frix_sim *sim, const fx_mover *m, int32_t place, int32_t dim, double sign, const fx_contact *c,
                  frix_vec3 p, double *J) {
  fx_soft_body *b = m->tree->soft;
  int32_t n = m->dof, k = n - 6, point[3];
  double weight[3];
  frix_pose pose = sim->state.pose[b->slot];
  frix_vec3 axis[3] = {c->normal, c->tangent[0], c->tangent[1]}, zero = {0.0, 0.0, 0.0}, arm = fx_sub(p, pose.p);
  int32_t corners = fx_soft_corners(b, &b->skin, place, p, point, weight);
  for (int32_t row = 0; row < dim; row++, J += n) {
    frix_vec3 d = fx_scale(sign, axis[row < 3 ? row : row - 2]), lin = row < 3 ? d : zero;
    frix_vec3 ang = row < 3 ? fx_cross(arm, d) : d, own = fx_unrotate(pose.q, lin);
    J[0] = lin.x, J[1] = lin.y, J[2] = lin.z, J[3] = ang.x, J[4] = ang.y, J[5] = ang.z;
    for (int32_t j = 0; j < k; j++) J[6 + j] = 0.0;
    for (int32_t corner = 0; corner < corners && row < 3; corner++) {
      const double *U = b->soft->info.shape + 3 * (size_t)point[corner] * k;
      const double part[3] = {weight[corner] * own.x, weight[corner] * own.y, weight[corner] * own.z};
      fx_add_rows(3, k, U, part, J + 6);
    }
  }
}

/* Rows of one mover, some of them together. */
enum { BATCH = 48 };
typedef struct batch {
  const fx_mover *mover;
  int32_t count;
  double *row, *out[BATCH];
} batch;

static void flush(batch *b) {
  double weight[BATCH];
  if (b->count) fx_soft_weights(b->mover, b->count, b->row, weight);
  for (int32_t k = 0; k < b->count; k++) *b->out[k] = weight[k];
  b->count = 0;
}

/* The block of a mover in a group: its rows, where their weights go, and the next block of the same mover. */
typedef struct block {
  const double *J;
  double *own;
  int32_t dim, next;
} block;

static void weigh(const frix_sim *sim, int32_t mover, const block *list, int32_t at, batch *b) {
  const fx_mover *m = b->mover = &sim->mover[mover];
  for (; at >= 0; at = list[at].next)
    for (int32_t j = 0; j < list[at].dim; j++) {
      if (b->count == BATCH) flush(b);
      memcpy(b->row + (size_t)b->count * m->dof, list[at].J + (size_t)j * m->dof, (size_t)m->dof * sizeof *b->row);
      b->out[b->count++] = list[at].own + 2 * j;
    }
  flush(b);
}

/* Blocks of soft movers, those of each in the order of the groups. */
static void list_blocks(const frix_sim *sim, const fx_assembly *a, double *own, block *list, int32_t *first,
                        int32_t *last) {
  int32_t count = 0;
  for (int32_t k = 0; k < sim->mover_count; k++) first[k] = last[k] = -1;
  for (int32_t k = 0; k < a->group_count; k++) {
    const fx_group *g = &a->group[k];
    const double *J = a->J + g->value;
    for (int32_t body = 0; body < g->body_count; body++) {
      int32_t mover = g->mover[body];
      const fx_mover *m = &sim->mover[mover];
      if (m->tree && m->tree->soft) {
        list[count] = (block){J, own, g->dim, -1};
        *(first[mover] < 0 ? &first[mover] : &list[last[mover]].next) = count;
        last[mover] = count++;
      }
      J += (size_t)g->dim * m->dof, own += 2 * g->dim;
    }
  }
}

const double *fx_softs_weights(const frix_sim *sim, const fx_assembly *a) {
  fx_softs *s = sim->softs;
  if (a != &sim->rows) return NULL; /* rows that live as long as the step */
  if (s->weight && s->weight_of == a->group && s->weight_rows == a->row_count) return s->weight;
  size_t count = 0, blocks = 0;
  for (int32_t k = 0; k < a->group_count; k++) {
    count += 2 * (size_t)(a->group[k].dim * a->group[k].body_count);
    blocks += (size_t)a->group[k].body_count;
  }
  batch b = {.row = FX_TAKE_RAW(a->arena, double, BATCH *(size_t)s->widest)};
  block *list = FX_TAKE_RAW(a->arena, block, blocks + 1);
  int32_t *first = FX_TAKE_RAW(a->arena, int32_t, 2 * (size_t)sim->mover_count + 1);
  s->weight = FX_TAKE_RAW(a->arena, double, count + 1);
  s->weight_of = a->group, s->weight_rows = a->row_count;
  if (!b.row || !list || !first) s->weight = NULL;
  if (!s->weight) return NULL;
  list_blocks(sim, a, s->weight, list, first, first + sim->mover_count);
  for (int32_t k = 0; k < s->count; k++)
    if (s->body[k].mover >= 0) weigh(sim, s->body[k].mover, list, first[s->body[k].mover], &b);
  return s->weight;
}

/* All of L is there. */
void fx_soft_weights(const fx_mover *m, int32_t dim, const double *J, double *out) {
  double work[9 * (6 + FX_MOST_COORDINATES)];
  fx_weigh_rows(dim, m->dof, m->tree->part->factor, J, work, out);
}

double fx_soft_weight(const fx_mover *m, const double *J) {
  double weight;
  fx_soft_weights(m, 1, J, &weight);
  return weight;
}

/* ---- energy ---- */

double fx_soft_kinetic(const frix_sim *sim, const fx_soft_body *b) {
  const fx_state *s = &sim->state;
  int32_t k = b->soft->info.coordinates;
  const double *rate = s->robot + b->at + k, *momentum = rate + k;
  double sum = b->soft->info.mass * fx_norm2(s->velocity[b->slot]) + fx_dot(s->spin[b->slot], s->momentum[b->slot]);
  for (int32_t j = 0; j < k; j++) sum += rate[j] * momentum[j];
  return 0.5 * sum;
}

double fx_soft_potential(const frix_sim *sim, const fx_soft_body *b) {
  return fx_soft_elastic(b->soft, sim->state.robot + b->at, NULL, NULL);
}

/* What pulls did at the mean velocity. */
static double pulled(const frix_sim *sim, fx_soft_body *b, const fx_tree_mover *t) {
  const fx_softs *s = sim->softs;
  double h = sim->h, ahead = h * sim->integrator->position_time, sum = 0.0;
  for (int32_t m = 0; m < s->pull_count; m++) {
    const fx_pull *p = &s->pull[m];
    if (p->slot != b->slot) continue;
    frix_vec3 off = fx_sub(fx_soft_skin_place(&b->skin, p->point), fx_mad(p->place, h - ahead, p->velocity));
    fx_soft_rows(b->x, p->point, s->row);
    for (int c = 0; c < 3; c++) {
      double before = 0.0, after = 0.0, slope = h * ahead * p->stiffness + h * p->damping;
      for (int32_t j = 0; j < t->count; j++) {
        before += s->row[(size_t)c * t->count + j] * t->v0[j];
        after += s->row[(size_t)c * t->count + j] * t->v1[j];
      }
      double impulse = -h * p->stiffness * fx_at(off, c) - slope * (after - fx_at(p->velocity, c));
      sum += impulse * 0.5 * (before + after);
    }
  }
  return sum;
}

/* What slopes of applied forces add to them: (M - A) dv - h^2 K v0 of the frame. */
static double sloped(const frix_sim *sim, const fx_soft_body *b, const fx_tree_mover *t) {
  const fx_load *load = &sim->state.load[b->slot];
  if (!load->slope) return 0.0;
  double h = sim->h;
  frix_vec3 v0 = fx_vec(t->v0[0], t->v0[1], t->v0[2]), v1 = fx_vec(t->v1[0], t->v1[1], t->v1[2]);
  frix_vec3 w0 = fx_vec(t->v0[3], t->v0[4], t->v0[5]), w1 = fx_vec(t->v1[3], t->v1[4], t->v1[5]);
  frix_vec3 push =
      fx_mad(fx_scale(h, fx_sym3_mul(load->damping, fx_sub(v1, v0))), h * h, fx_sym3_mul(load->stiffness, v1));
  frix_vec3 turn = fx_scale(h, fx_sym3_mul(load->torque_damping, fx_sub(w1, w0)));
  return -0.5 * (fx_dot(push, fx_add(v0, v1)) + fx_dot(turn, fx_add(w0, w1)));
}

double fx_soft_book(const frix_sim *sim, const fx_mover *m, frix_energy *e, double *booked) {
  const fx_tree_mover *t = m->tree;
  fx_soft_body *b = t->soft;
  int32_t n = t->count, k = n - 6;
  double h = sim->h, change = 0.0;
  for (int32_t i = 0; i < n; i++) {
    double moved = 0.0;
    for (int32_t j = 0; j < n; j++) moved += b->mass[(size_t)i * n + j] * (t->v1[j] - t->v0[j]);
    change += 0.5 * (t->v0[i] + t->v1[i]) * moved;
  }
  frix_vec3 v = fx_scale(0.5, fx_vec(t->v0[0] + t->v1[0], t->v0[1] + t->v1[1], t->v0[2] + t->v1[2]));
  frix_vec3 w = fx_scale(0.5, fx_vec(t->v0[3] + t->v1[3], t->v0[4] + t->v1[4], t->v0[5] + t->v1[5]));
  double scale = m->mass * fx_slot_body(sim, b->slot)->gravity_scale;
  double within = h * scale * fx_dot(v, sim->state.gravity), damped = sloped(sim, b, t);
  double work = h * (fx_dot(v, m->force) + fx_dot(w, m->torque)) + pulled(sim, b, t);
  for (int32_t i = 0; i < k; i++) {
    double middle = 0.5 * (t->v0[6 + i] + t->v1[6 + i]), elastic = b->force[i] - b->force[k + i];
    for (int32_t j = 0; j < k; j++)
      elastic += b->x->tangent[(size_t)i * k + j] * (b->when.ahead * t->v1[6 + j] - b->when.back * t->v0[6 + j]);
    within -= h * elastic * middle;
    damped -= h * b->soft->info.damping[i] * t->v1[6 + i] * middle;
  }
  e->scheme += within, e->work += work, e->damping -= damped;
  *booked += within + work + damped;
  return change;
}
