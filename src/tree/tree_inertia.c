/* The mass matrix by composite rigid bodies, and its factor.
 *
 *   M_ij = s_j . I_i^c s_i   for j = i or an ancestor of i, 0 otherwise;   I_i^c the inertia of all that i carries
 *
 * Row i holds its diagonal and then its ancestors, nearest first. M = L' D L, L unit lower triangular, has the same
 * pattern when rows are eliminated from the leaves to the root (Featherstone 2005, "Efficient factorization of the
 * joint-space inertia matrix for branched kinematic trees"). Armature of joints and actuators is added to the diagonal,
 * that of a tendon along its moment where that lies in one chain. */
#include <string.h>

#include "linalg/scaled_row.h"
#include "tree/tree.h"

void fx_inertia_add(fx_inertia *sum, const fx_inertia *part) {
  sum->mass += part->mass;
  sum->first = fx_add(sum->first, part->first);
  sum->second.xx += part->second.xx, sum->second.yy += part->second.yy, sum->second.zz += part->second.zz;
  sum->second.xy += part->second.xy, sum->second.xz += part->second.xz, sum->second.yz += part->second.yz;
}

fx_inertia fx_inertia_of(const fx_mass *mass, frix_pose pose, frix_vec3 point) {
  frix_vec3 c = fx_sub(fx_pose_point(pose, mass->center), point);
  frix_sym3 j = fx_sym3_turn(pose.q, mass->inertia);
  double m = mass->mass, square = fx_norm2(c);
  j.xx += m * (square - c.x * c.x), j.yy += m * (square - c.y * c.y), j.zz += m * (square - c.z * c.z);
  j.xy -= m * c.x * c.y, j.xz -= m * c.x * c.z, j.yz -= m * c.y * c.z;
  return (fx_inertia){m, fx_scale(m, c), j};
}

void fx_tree_add_outer(frix_robot_state *s, double *m, fx_tree_span span, const double *moment, double weight) {
  const fx_tree *t = s->tree;
  const int32_t *list = t->list + span.first;
  for (int32_t n = 0; n < span.count; n++) s->row[list[n]] = moment[n];
  for (int32_t n = 0; n < span.count; n++) {
    double *row = m + t->dof[list[n]].row;
    for (int32_t j = list[n]; j >= 0; j = t->dof[j].parent) *row++ += weight * moment[n] * s->row[j];
  }
  for (int32_t n = 0; n < span.count; n++) s->row[list[n]] = 0.0;
}

bool fx_tree_is_chain(const fx_tree *t, fx_tree_span span) {
  for (int32_t n = 1; n < span.count; n++) {
    int32_t above = t->list[span.first + n - 1], j = t->list[span.first + n];
    while (j > above) j = t->dof[j].parent;
    if (j != above) return false;
  }
  return true;
}

static void add_armatures(frix_robot_state *s) {
  const fx_tree *t = s->tree;
  for (int32_t i = 0; i < t->dof_count; i++) s->m[t->dof[i].row] += t->joint[t->dof[i].joint].armature;
  for (int32_t k = 0; k < t->tendon_count; k++) {
    const fx_tree_tendon *x = &t->tendon[k];
    if (x->armature != 0.0) fx_tree_add_outer(s, s->m, x->dofs, s->tendon_moment + x->dofs.first, x->armature);
  }
}

void fx_tree_mass(frix_robot_state *s) {
  const fx_tree *t = s->tree;
  for (int32_t b = 1; b < t->body_count; b++)
    if (t->body[b].link == b)
      s->composite[b] = s->inertia[b] = fx_inertia_of(&t->body[b].carried, s->pose[b], fx_tree_point_of(s, b));
  for (int32_t b = t->body_count - 1; b > 0; b--) {
    if (t->body[b].link != b) continue;
    int32_t above = t->body[t->body[b].parent].link;
    if (above) fx_inertia_add(&s->composite[above], &s->composite[b]);
  }
  for (int32_t i = 0; i < t->dof_count; i++) {
    fx_spatial f = fx_inertia_mul(&s->composite[t->dof[i].body], s->motion[i]);
    double *m = s->m + t->dof[i].row;
    for (int32_t j = i; j >= 0; j = t->dof[j].parent) *m++ = fx_spatial_dot(s->motion[j], f);
  }
  add_armatures(s);
}

void fx_tree_add_turning(frix_robot_state *s, const frix_sym3 *inertia, double *m) {
  const fx_tree *t = s->tree;
  for (int32_t b = t->body_count - 1; b > 0; b--)
    if (t->body[b].link == b) s->turning[b] = (frix_sym3){0};
  for (int32_t b = t->body_count - 1; b > 0; b--) {
    if (t->body[b].link != b) continue;
    s->turning[b] = fx_sym3_add(s->turning[b], inertia[b]);
    int32_t above = t->body[t->body[b].parent].link;
    if (above) s->turning[above] = fx_sym3_add(s->turning[above], s->turning[b]);
  }
  for (int32_t i = 0; i < t->dof_count; i++) {
    frix_vec3 f = fx_sym3_mul(s->turning[t->dof[i].body], s->motion[i].w);
    double *row = m + t->dof[i].row;
    for (int32_t j = i; j >= 0; j = t->dof[j].parent) *row++ += fx_dot(s->motion[j].w, f);
  }
}

/* The ancestors of an ancestor end the row, as they end that of the ancestor itself: both are read in sequence. */
static inline __attribute__((always_inline)) bool factor(const fx_tree *t, const double *m, double *l,
                                                         double *diagonal) {
  bool regular = true;
  memcpy(l, m, (size_t)t->m_count * sizeof *l);
  for (int32_t i = t->dof_count - 1, end = t->m_count; i >= 0; end = t->dof[i--].row) {
    int32_t size = end - t->dof[i].row, at = 1;
    double *row = l + t->dof[i].row, inverse = 1.0 / row[0];
    if (!(row[0] > 1e-13 * m[t->dof[i].row])) regular = false;
    for (int32_t j = t->dof[i].parent; j >= 0; j = t->dof[j].parent, at++)
      fx_subtract_scaled(size - at, row[at] * inverse, row + at, l + t->dof[j].row);
    for (at = 1; at < size; at++) row[at] *= inverse;
    diagonal[i] = inverse;
  }
  return regular;
}

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("avx2"))) static bool factor_avx2(const fx_tree *t, const double *m, double *l,
                                                        double *diagonal) {
  return factor(t, m, l, diagonal);
}

/* Number by number: the bits do not depend on how wide the machine's registers are. */
bool fx_tree_factor(frix_robot_state *s) {
  if (__builtin_cpu_supports("avx2")) return factor_avx2(s->tree, s->m, s->factor, s->factor_diagonal);
  return factor(s->tree, s->m, s->factor, s->factor_diagonal);
}
#else
bool fx_tree_factor(frix_robot_state *s) { return factor(s->tree, s->m, s->factor, s->factor_diagonal); }
#endif

void fx_tree_half_solve(const frix_robot_state *s, int32_t first, int32_t count, double *b) {
  const fx_tree *t = s->tree;
  b -= first; /* numbers of coordinates are those of the whole */
  for (int32_t i = first + count - 1; i >= first; i--) {
    const double *row = s->factor + t->dof[i].row + 1, x = b[i];
    if (x == 0.0) continue;
    for (int32_t j = t->dof[i].parent; j >= 0; j = t->dof[j].parent) b[j] -= *row++ * x;
  }
}

void fx_tree_solve_part(const frix_robot_state *s, int32_t first, int32_t count, double *b) {
  const fx_tree *t = s->tree;
  fx_tree_half_solve(s, first, count, b);
  b -= first;
  for (int32_t i = first; i < first + count; i++) {
    const double *row = s->factor + t->dof[i].row + 1;
    double x = b[i] * s->factor_diagonal[i];
    for (int32_t j = t->dof[i].parent; j >= 0; j = t->dof[j].parent) x -= *row++ * b[j];
    b[i] = x;
  }
}

void fx_tree_solve_pair(const frix_robot_state *s, int32_t first, int32_t count, fx_twin *b) {
  const fx_tree *t = s->tree;
  b -= first;
  for (int32_t i = first + count - 1; i >= first; i--) {
    const double *row = s->factor + t->dof[i].row + 1;
    fx_twin x = b[i];
    bool whole = x[0] != 0.0 && x[1] != 0.0, none = x[0] == 0.0 && x[1] == 0.0;
    for (int32_t j = t->dof[i].parent; j >= 0 && !none; j = t->dof[j].parent, row++) {
      if (whole)
        b[j] -= *row * x;
      else /* what is zero changes no sign of another zero, as in one vector alone */
        b[j][x[0] == 0.0] -= *row * x[x[0] == 0.0];
    }
  }
  for (int32_t i = first; i < first + count; i++) {
    const double *row = s->factor + t->dof[i].row + 1;
    fx_twin x = b[i] * s->factor_diagonal[i];
    for (int32_t j = t->dof[i].parent; j >= 0; j = t->dof[j].parent) x -= *row++ * b[j];
    b[i] = x;
  }
}

void fx_tree_solve(const frix_robot_state *s, double *b) { fx_tree_solve_part(s, 0, s->tree->dof_count, b); }

void fx_tree_mul_part(const fx_tree *t, const double *m, int32_t first, int32_t count, const double *restrict x,
                      double *restrict out) {
  x -= first, out -= first;
  for (int32_t i = first; i < first + count; i++) {
    const double *row = m + t->dof[i].row;
    double own = x[i], sum = 0.0 + row[0] * own;
    for (int32_t j = t->dof[i].parent; j >= 0; j = t->dof[j].parent) {
      row++;
      sum += row[0] * x[j];
      out[j] += row[0] * own;
    }
    out[i] = sum;
  }
}

void fx_tree_mul_pair(const fx_tree *t, const double *m, int32_t first, int32_t count, const fx_twin *restrict x,
                      fx_twin *restrict out) {
  x -= first, out -= first;
  for (int32_t i = first; i < first + count; i++) {
    const double *row = m + t->dof[i].row;
    fx_twin own = x[i], sum = 0.0 + row[0] * own;
    for (int32_t j = t->dof[i].parent; j >= 0; j = t->dof[j].parent) {
      row++;
      sum += row[0] * x[j];
      out[j] += row[0] * own;
    }
    out[i] = sum;
  }
}

void fx_tree_mass_mul(const frix_robot_state *s, const double *x, double *out) {
  fx_tree_mul_part(s->tree, s->m, 0, s->tree->dof_count, x, out);
}
