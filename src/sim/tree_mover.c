/* A tree as a mover: rows over its coordinates, products with M~, answers.
 *
 *   row of a point at r from the centre of mass c of a link:  lin . (v + w x r) + ... = sum over its ancestors
 *   s_i.v . lin + s_i.w . (ang + (c - o) x lin),   o the point of the tree that motion axes s_i are taken at:  O(depth)
 *   M~ and its L'DL factor have the branch-induced pattern of M (tree_inertia.c).
 *
 * A soft body answers the same questions: its frame is the slot, M~ is dense. */
#include "sim/softs.h"

#include <math.h>
#include <string.h>

#include "linalg/product.h"

void fx_tree_row(const frix_sim *sim, const fx_mover *m, int32_t slot, frix_vec3 lin, frix_vec3 ang, double *J) {
  if (m->tree->soft) {
    J[0] += lin.x, J[1] += lin.y, J[2] += lin.z, J[3] += ang.x, J[4] += ang.y, J[5] += ang.z;
    return;
  }
  const fx_mechanism *x = m->tree->mechanism;
  const frix_robot_state *s = x->state;
  int32_t body = x->body_of_slot[slot];
  frix_vec3 turn = fx_add(ang, fx_cross(fx_sub(sim->state.pose[slot].p, fx_tree_point_of(s, body)), lin));
  for (int32_t i = x->tree.body[body].dof_last; i >= 0; i = x->tree.dof[i].parent)
    J[i - m->tree->first] += fx_dot(s->motion[i].v, lin) + fx_dot(s->motion[i].w, turn);
}

static const double *velocities(const fx_mover *m, fx_when when) {
  return when == FX_BEFORE ? m->tree->came : when == FX_FREE ? m->tree->v_free : m->tree->v1;
}

void fx_tree_add_products(const fx_mover *m, int32_t dim, const double *J, fx_when when, double *out) {
  const double *v = velocities(m, when);
  if (m->tree->soft) {
    fx_add_products(dim, m->dof, J, v, out);
    return;
  }
  for (int32_t k = 0; k < dim; k++, J += m->dof) {
    double sum = 0.0;
    for (int32_t i = 0; i < m->dof; i++) sum += J[i] * v[i];
    out[k] += sum;
  }
}

void fx_tree_motion(const frix_sim *sim, const fx_mover *m, int32_t slot, fx_when when, frix_vec3 *v, frix_vec3 *w) {
  const double *rate = velocities(m, when);
  if (m->tree->soft) {
    *v = fx_vec(rate[0], rate[1], rate[2]), *w = fx_vec(rate[3], rate[4], rate[5]);
    return;
  }
  const fx_mechanism *x = m->tree->mechanism;
  const frix_robot_state *s = x->state;
  int32_t body = x->body_of_slot[slot];
  fx_spatial sum = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
  for (int32_t i = x->tree.body[body].dof_last; i >= 0; i = x->tree.dof[i].parent)
    sum = fx_spatial_mad(sum, rate[i - m->tree->first], s->motion[i]);
  *w = sum.w;
  *v = fx_add(sum.v, fx_cross(sum.w, fx_sub(sim->state.pose[slot].p, fx_tree_point_of(s, body))));
}

/* Motions of all links at the tree's point, from the root on: into the scratch of the state, by body. */
static const fx_spatial *find_motions(const fx_mover *m, fx_when when) {
  const double *rate = velocities(m, when) - m->tree->first;
  const frix_robot_state *s = m->tree->mechanism->state;
  const fx_tree *t = &m->tree->mechanism->tree;
  for (int32_t b = m->tree->part->root; b < m->tree->part->body_end; b++) {
    if (t->body[b].link != b) continue;
    int32_t above = t->body[t->body[b].parent].link;
    fx_spatial sum = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    if (above >= m->tree->part->root) sum = s->spatial[above];
    for (int32_t i = t->body[b].dof_last; i >= 0 && t->dof[i].body == b; i = t->dof[i].parent)
      sum = fx_spatial_mad(sum, rate[i], s->motion[i]);
    s->spatial[b] = sum;
  }
  return s->spatial;
}

static bool is_slot(const fx_mechanism *x, int32_t b) { return x->slot_of_body[b] >= 0 && x->part_of_body[b] >= 0; }

static frix_vec3 velocity_at(const frix_sim *sim, const fx_mechanism *x, fx_spatial motion, int32_t b) {
  frix_vec3 arm = fx_sub(sim->state.pose[x->slot_of_body[b]].p, fx_tree_point_of(x->state, b));
  return fx_add(motion.v, fx_cross(motion.w, arm));
}

double fx_tree_speed(const frix_sim *sim, const fx_mover *m, fx_when when) {
  if (m->tree->soft) {
    const double *v = velocities(m, when);
    return fx_norm(fx_vec(v[0], v[1], v[2]));
  }
  const fx_mechanism *x = m->tree->mechanism;
  const fx_spatial *motion = find_motions(m, when);
  double most = 0.0;
  for (int32_t b = m->tree->part->root; b < m->tree->part->body_end; b++)
    if (is_slot(x, b)) most = fx_max(most, fx_norm2(velocity_at(sim, x, motion[x->tree.body[b].link], b)));
  return sqrt(most);
}

double fx_tree_outer_speed(const frix_sim *sim, const fx_mover *m, fx_when when) {
  if (m->tree->soft) return fx_tree_speed(sim, m, when);
  const fx_mechanism *x = m->tree->mechanism;
  const fx_spatial *motion = find_motions(m, when);
  double most = 0.0;
  for (int32_t b = m->tree->part->root; b < m->tree->part->body_end; b++) {
    if (!is_slot(x, b)) continue;
    fx_spatial link = motion[x->tree.body[b].link];
    double radius = fx_slot_body(sim, x->slot_of_body[b])->radius, arm = isfinite(radius) ? radius : 0.0;
    most = fx_max(most, fx_norm(velocity_at(sim, x, link, b)) + arm * fx_norm(link.w));
  }
  return most;
}

/* Rigid motion of the root brings no two links of its tree nearer. Where several trees are one mover the whole way
 * counts. */
void fx_tree_ways_raise(const frix_sim *sim, const fx_mover *m, fx_when when, double *reach, double *inner) {
  const fx_mechanism *x = m->tree->mechanism;
  const fx_spatial *motion = find_motions(m, when);
  int32_t root = m->tree->part->root;
  bool single = x->tree.body[m->tree->part->body_end - 1].root == x->tree.body[root].root;
  for (int32_t b = root; b < m->tree->part->body_end; b++) {
    if (!is_slot(x, b)) continue;
    int32_t slot = x->slot_of_body[b];
    fx_spatial link = motion[x->tree.body[b].link];
    double way = fx_body_way(sim, slot, velocity_at(sim, x, link, b), link.w), own = way;
    reach[slot] = fx_max(reach[slot], way);
    if (!inner) continue;
    if (single) {
      fx_spatial off = {fx_sub(link.w, motion[root].w), fx_sub(link.v, motion[root].v)};
      own = fx_body_way(sim, slot, velocity_at(sim, x, off, b), off.w);
    }
    inner[slot] = fx_max(inner[slot], own);
  }
}

/* ---- products ---- */

void fx_tree_respond(const fx_mover *m, const double *J, double *y) {
  memcpy(y, J, (size_t)m->dof * sizeof *y);
  if (m->tree->part->dense)
    fx_dense_solve(m->tree->part, y);
  else
    fx_tree_solve_part(m->tree->mechanism->state, m->tree->first, m->dof, y);
}

void fx_tree_half_respond(const fx_mover *m, const double *J, double *y, double *z) {
  const fx_part *p = m->tree->part;
  int32_t n = m->dof, first = m->tree->first;
  memcpy(y, J, (size_t)n * sizeof *y);
  if (p->dense) {
    fx_dense_half_solve(p, y);
    for (int32_t i = 0; i < n; i++) z[i] = y[i] / p->factor[(size_t)i * (size_t)n + (size_t)i];
    return;
  }
  const frix_robot_state *s = m->tree->mechanism->state;
  fx_tree_half_solve(s, first, n, y);
  for (int32_t i = 0; i < n; i++) z[i] = y[i] * s->factor_diagonal[first + i];
}

double fx_tree_weight(const fx_mover *m, const double *J) {
  if (m->tree->soft) return fx_soft_weight(m, J);
  double y[FX_TREE_MOST], z[FX_TREE_MOST], sum = 0.0;
  fx_tree_half_respond(m, J, y, z);
  for (int32_t i = 0; i < m->dof; i++) sum += y[i] * z[i];
  return sum;
}

void fx_tree_multiply(const fx_mover *m, const double *x, double *out) {
  const fx_mechanism *mechanism = m->tree->mechanism;
  const double *A = m->tree->part->dense;
  if (m->tree->soft) {
    memset(out, 0, (size_t)m->dof * sizeof *out);
    fx_add_products(m->dof, m->dof, A, x, out);
    return;
  }
  for (int32_t i = 0; A && i < m->dof; i++) {
    double sum = 0.0;
    for (int32_t j = 0; j < m->dof; j++) sum += A[i * m->dof + j] * x[j];
    out[i] = sum;
  }
  if (A) return;
  fx_tree_mul_part(&mechanism->tree, mechanism->implicit, m->tree->first, m->dof, x, out);
}

void fx_tree_multiply_pair(const fx_mover *m, const fx_twin *restrict x, fx_twin *restrict out) {
  const double *A = m->tree->part->dense;
  if (m->tree->soft) {
    double in[2][FX_TREE_MOST], product[2][FX_TREE_MOST];
    for (int32_t i = 0; i < m->dof; i++) in[0][i] = x[i][0], in[1][i] = x[i][1];
    for (int k = 0; k < 2; k++) fx_tree_multiply(m, in[k], product[k]);
    for (int32_t i = 0; i < m->dof; i++) out[i] = (fx_twin){product[0][i], product[1][i]};
    return;
  }
  for (int32_t i = 0; A && i < m->dof; i++) {
    fx_twin sum = {0.0, 0.0};
    for (int32_t j = 0; j < m->dof; j++) sum += A[i * m->dof + j] * x[j];
    out[i] = sum;
  }
  if (A) return;
  const fx_mechanism *mechanism = m->tree->mechanism;
  fx_tree_mul_pair(&mechanism->tree, mechanism->implicit, m->tree->first, m->dof, x, out);
}

double fx_tree_energy_of(const fx_mover *m, const double *x) {
  double y[FX_TREE_MOST], sum = 0.0;
  fx_tree_multiply(m, x, y);
  for (int32_t i = 0; i < m->dof; i++) sum += x[i] * y[i];
  return fx_max(sum, 0.0);
}

/* ---- links (problem/row_links.c) ---- */

int32_t fx_tree_motion_of(const fx_mover *m, int32_t i) {
  const fx_tree *t = &m->tree->mechanism->tree;
  return t->dof[m->tree->first + i].joint - t->dof[m->tree->first].joint;
}

/* (L v)_i and D_i of M~ = L'DL. */
static double beyond(const fx_mover *m, int32_t i, const double *v, double *D) {
  const fx_part *p = m->tree->part;
  const fx_tree *t = &m->tree->mechanism->tree;
  double sum = v[i];
  if (p->dense) {
    const double *L = p->factor + (size_t)i * (size_t)m->dof;
    const int32_t *list = p->column + i * m->dof;
    for (int32_t k = 0; k < p->column_count[i]; k++) sum += L[list[k]] * v[list[k]];
    *D = L[i];
    return sum;
  }
  const double *L = m->tree->mechanism->state->factor + t->dof[m->tree->first + i].row + 1;
  for (int32_t j = t->dof[m->tree->first + i].parent; j >= 0; j = t->dof[j].parent) sum += *L++ * v[j - m->tree->first];
  *D = 1.0 / m->tree->mechanism->state->factor_diagonal[m->tree->first + i];
  return sum;
}

void fx_tree_rows_carry(const fx_mover *m, int32_t count, const double *Y, const double *Z, double *room, double *out) {
  double D;
  memset(out, 0, (size_t)count * sizeof *out);
  for (int32_t i = 0, end; i < m->dof; i = end) {
    double energy = 0.0, rate = 0.0;
    for (end = i; end < m->dof && fx_tree_motion_of(m, end) == fx_tree_motion_of(m, i); end++) {
      rate = fabs(beyond(m, end, m->tree->v_free, &D));
      energy += D * rate * rate;
    }
    const double *y = Y + (size_t)i * (size_t)count, *z = Z + (size_t)i * (size_t)count;
    if (end == i + 1) {
      for (int32_t k = 0; k < count; k++) out[k] += fabs(y[k]) * rate;
      continue;
    }
    energy = sqrt(energy);
    memset(room, 0, (size_t)count * sizeof *room);
    for (int32_t a = i; a < end; a++, y += count, z += count)
      for (int32_t k = 0; k < count; k++) room[k] += y[k] * z[k];
    for (int32_t k = 0; k < count; k++) out[k] += sqrt(room[k]) * energy;
  }
}

/* ---- the mass block of the problem ---- */

size_t fx_tree_entries(const fx_mover *m) {
  if (m->tree->part->dense) return (size_t)m->dof * (size_t)m->dof;
  const fx_tree *t = &m->tree->mechanism->tree;
  size_t count = 0;
  for (int32_t i = m->tree->first; i < m->tree->first + m->dof; i++)
    for (int32_t j = i; j >= 0; j = t->dof[j].parent) count += i == j ? 1 : 2;
  return count;
}

static int32_t put_dense(const fx_mover *m, fx_sparse *M, int32_t at) {
  const double *A = m->tree->part->dense;
  for (int32_t c = 0; c < m->dof; c++) {
    for (int32_t r = 0; r < m->dof; r++)
      if (A[r * m->dof + c] != 0.0) M->i[at] = m->first + r, M->x[at++] = A[r * m->dof + c];
    M->p[m->first + c + 1] = at;
  }
  return at;
}

/* Column c holds the ancestors of c, c, and what hangs on it: in ascending order where rows are put in turn. */
int32_t fx_tree_put_mass(const fx_mover *m, fx_sparse *M, int32_t at) {
  if (m->tree->part->dense) return put_dense(m, M, at);
  const fx_mechanism *x = m->tree->mechanism;
  const fx_tree *t = &x->tree;
  int32_t first = m->tree->first, n = m->dof, next[FX_TREE_MOST] = {0}, chain[FX_TREE_MOST];
  for (int32_t r = 0; r < n; r++) {
    const double *row = x->implicit + t->dof[first + r].row;
    for (int32_t j = first + r; j >= 0; j = t->dof[j].parent, row++) {
      next[j - first] += *row != 0.0;
      next[r] += *row != 0.0 && j - first != r;
    }
  }
  for (int32_t c = 0; c < n; c++) {
    int32_t count = next[c];
    next[c] = at;
    M->p[m->first + c + 1] = at += count;
  }
  for (int32_t r = 0; r < n; r++) {
    const double *row = x->implicit + t->dof[first + r].row;
    int32_t depth = 0;
    for (int32_t j = first + r; j >= 0; j = t->dof[j].parent) chain[depth++] = j - first;
    for (int32_t k = depth; k-- > 0;) {
      if (row[k] == 0.0) continue;
      M->i[next[r]] = m->first + chain[k], M->x[next[r]++] = row[k];
      if (k > 0) M->i[next[chain[k]]] = m->first + r, M->x[next[chain[k]]++] = row[k];
    }
  }
  return at;
}

bool fx_has_loops(const frix_sim *sim) {
  for (int32_t k = 0; sim->mechanism && k < sim->mechanism->part_count; k++)
    if (sim->mechanism->part[k].dense) return true;
  return false;
}

/* ---- sizes ---- */

double fx_tree_size(const frix_sim *sim, const fx_mover *m) {
  if (m->tree->soft) return 0.5 * m->tree->soft->size;
  const fx_mechanism *x = m->tree->mechanism;
  double size = 0.0;
  for (int32_t b = m->tree->part->root; b < m->tree->part->body_end; b++) {
    int32_t slot = x->slot_of_body[b];
    if (slot < 0 || x->part_of_body[b] < 0) continue;
    const fx_body *body = fx_slot_body(sim, slot);
    double gyration = sqrt((body->inertia.xx + body->inertia.yy + body->inertia.zz) / body->mass);
    size = fx_max(size, isfinite(body->radius) ? fx_max(body->radius, gyration) : gyration);
  }
  return size;
}

/* Whether a coordinate is a length. */
static bool is_way(const fx_mover *m, int32_t i) {
  const fx_tree *t = &m->tree->mechanism->tree;
  const fx_tree_joint *j = &t->joint[t->dof[m->tree->first + i].joint];
  return j->kind == FRIX_ROBOT_SLIDE || (j->kind == FRIX_ROBOT_FREE && m->tree->first + i < j->v + 3);
}

double fx_tree_span_of(const frix_sim *sim, const fx_mover *m, const double *J) {
  double size = fx_tree_size(sim, m), sum = 0.0;
  if (m->tree->soft) /* amplitudes are scaled by the mass: one of sqrt(m) moves the body by a metre */
    return size * fx_norm(fx_vec(J[0], J[1], J[2])) + fx_norm(fx_vec(J[3], J[4], J[5]));
  for (int32_t i = 0; i < m->dof; i++) sum += fabs(J[i]) * (is_way(m, i) ? size : 1.0);
  return sum;
}

double fx_tree_turn_rate(const fx_mover *m) {
  double most = 0.0;
  for (int32_t i = 0; i < m->dof; i++)
    if (!is_way(m, i)) most = fx_max(most, fx_max(fabs(m->tree->v0[i]), fabs(m->tree->v1[i])));
  return most;
}

/* ---- rest ---- */

/* Where a tree is, at least its size: gaps of its contacts are rounded by a part of that. */
static double place_of(const frix_sim *sim, const fx_mover *m) {
  return fx_norm(sim->state.pose[m->slot].p) + fx_tree_size(sim, m);
}

/* 1 / D of a coordinate. */
static double weight_at(const fx_mover *m, int32_t i) {
  const fx_tree_mover *t = m->tree;
  return t->soft ? 1.0 / t->part->dense[(size_t)i * (size_t)m->dof + (size_t)i]
                 : t->mechanism->state->factor_diagonal[t->first + i];
}

/* Terms of a coordinate that dry friction holds are divided by its slope, which no other rounding is. */
static double slack_of(const fx_mover *m, int32_t i) {
  const fx_mechanism *x = m->tree->mechanism;
  return x && x->hold[m->tree->first + i].mode == FX_HOLD_STUCK ? FX_STANDS_STUCK : 1.0;
}

/* What a coordinate changes by where a point moves by `place`; amplitudes are scaled by the mass. */
static double way_of(const fx_mover *m, int32_t i, double place) {
  if (m->tree->soft) return i < 3 ? place : i < 6 ? 1.0 : place * sqrt(m->mass);
  return is_way(m, i) ? place : 1.0;
}

/* By coordinate: |v1| against the rounding of |v_free| + sum |J| |r| / D, and against that of the places which gaps and
 * loops are found from: velocities before and after the step that move nothing by more than that, and are small against
 * the terms. */
bool fx_tree_stands(const frix_sim *sim, const fx_assembly *a, const double *r, int32_t mover, double most) {
  const fx_mover *m = &sim->mover[mover];
  double size[FX_TREE_MOST], place = 0.0, times = m->tree->part->dense ? FX_STANDS_LOOPS : 1.0;
  for (int32_t i = 0; i < m->dof; i++)
    if (fabs(m->tree->v1[i]) > FX_STANDS_FAST) return false;
  memset(size, 0, (size_t)m->dof * sizeof *size);
  for (int32_t k = 0; k < a->group_count; k++) {
    const fx_group *g = &a->group[k];
    const double *J = a->J + g->value;
    for (int32_t b = 0; b < g->body_count; b++) {
      int32_t dof = sim->mover[g->mover[b]].dof;
      for (int32_t j = 0; j < g->dim && g->mover[b] == mover; j++)
        for (int32_t i = 0; i < dof; i++) size[i] += fabs(J[j * dof + i] * r[g->row + j]);
      J += g->dim * dof;
    }
  }
  for (int32_t i = 0; i < m->dof; i++) {
    double v = fabs(m->tree->v1[i]), terms = fabs(m->tree->v_free[i]) + weight_at(m, i) * size[i];
    if (v <= most * terms) continue;
    if (v > times * slack_of(m, i) * FX_STANDS_LOAD * terms) return false;
    if (place == 0.0) place = place_of(sim, m);
    double most_way = times * FX_STANDS_PLACE * way_of(m, i, place);
    if (fx_max(v, fabs(m->tree->v0[i])) * sim->h > most_way) return false;
  }
  return true;
}
