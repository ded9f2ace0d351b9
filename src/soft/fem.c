/* Finite elements: assembly, rigid motions, static answers of a free body, forces of second order.
 *
 *   K_ab = sum over points of  w (lambda g_a g_b' + mu g_b g_a' + mu (g_a . g_b) 1)
 *   f2(u, v) . d = sum of  w [ e(d).C q(u, v) + e(u).C q(v, d) + e(v).C q(u, d) ],  e(u) = sym D,  q(u, v) = sym(D_u'
 * D_v)/2
 */
#include "soft/fem.h"

#include <string.h>

#include "base/sort.h"
#include "linalg/dense.h"

/* ---- pattern ---- */

/* Elements of each node, as lists. */
static frix_status node_elements(fx_arena *arena, const fx_elements *e, int32_t **start, int32_t **list) {
  int32_t *s = FX_TAKE(arena, int32_t, (size_t)e->node_count + 1), *l;
  l = FX_TAKE_RAW(arena, int32_t, (size_t)e->nodes * e->element_count);
  if (!s || !l) return FRIX_ERROR_MEMORY;
  int64_t total = (int64_t)e->nodes * e->element_count;
  for (int64_t k = 0; k < total; k++) s[e->index[k]]++;
  for (int32_t n = 0, sum = 0; n <= e->node_count; n++) {
    int32_t here = n < e->node_count ? s[n] : 0;
    s[n] = sum;
    sum += here;
  }
  int32_t *next = FX_TAKE_RAW(arena, int32_t, e->node_count);
  if (!next) return FRIX_ERROR_MEMORY;
  memcpy(next, s, (size_t)e->node_count * sizeof *next);
  for (int64_t k = 0; k < total; k++) l[next[e->index[k]]++] = (int32_t)(k / e->nodes);
  *start = s, *list = l;
  return FRIX_OK;
}

static frix_status make_pattern(fx_arena *arena, fx_fem *f) {
  const fx_elements *e = &f->e;
  int32_t n = e->node_count, *first, *list;
  frix_status status = node_elements(arena, e, &first, &list);
  if (status) return status;
  int32_t *seen = FX_TAKE_RAW(arena, int32_t, n), *start = FX_TAKE_RAW(arena, int32_t, (size_t)n + 1);
  int32_t *index = NULL, room = 0, count = 0;
  f->row = FX_TAKE_RAW(arena, int32_t, (size_t)n + 1);
  if (!seen || !start || !f->row) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < n; k++) seen[k] = -1;
  for (int32_t k = 0; k <= n; k++) f->row[k] = 3 * k;
  for (int32_t k = 0; k < n; k++) {
    start[k] = count;
    for (int32_t m = first[k]; m < first[k + 1]; m++) {
      const int32_t *node = e->index + (size_t)e->nodes * list[m];
      for (int c = 0; c < e->nodes; c++) {
        if (seen[node[c]] == k) continue;
        seen[node[c]] = k;
        if (!fx_soft_room(arena, (void **)&index, count, &room, sizeof *index)) return FRIX_ERROR_MEMORY;
        index[count++] = node[c];
      }
    }
    fx_sort(index + start[k], (size_t)(count - start[k]));
  }
  start[n] = count;
  status = fx_block_from_pattern(arena, n, f->row, n, f->row, start, index, &f->K);
  f->mass = FX_TAKE(arena, double, count);
  return status ? status : f->mass ? FRIX_OK : FRIX_ERROR_MEMORY;
}

static int32_t block_of(const fx_block_matrix *K, int32_t i, int32_t j) {
  int32_t low = K->start[i], high = K->start[i + 1];
  while (low + 1 < high) {
    int32_t middle = low + (high - low) / 2;
    if (K->index[middle] <= j)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/* ---- assembly ---- */

static void element_stiffness(const fx_fem *f, int32_t element, double *out) {
  const fx_elements *e = &f->e;
  frix_vec3 g[FX_MOST_NODES];
  int n = e->nodes;
  memset(out, 0, 9 * (size_t)n * n * sizeof *out);
  for (int32_t point = 0; point < e->points; point++) {
    double w = fx_element_gradients(e, element, point, g), l = w * f->lambda, m = w * f->mu;
    for (int a = 0; a < n; a++) {
      for (int b = 0; b < n; b++) {
        double *k = out + 9 * (a * n + b), dot = m * fx_dot(g[a], g[b]);
        const double ga[3] = {g[a].x, g[a].y, g[a].z}, gb[3] = {g[b].x, g[b].y, g[b].z};
        for (int i = 0; i < 3; i++) {
          for (int j = 0; j < 3; j++) k[3 * i + j] += l * ga[i] * gb[j] + m * gb[i] * ga[j];
          k[4 * i] += dot;
        }
      }
    }
  }
}

static void assemble(fx_fem *f, double *stiffness) {
  const fx_elements *e = &f->e;
  double mass[FX_MOST_NODES * FX_MOST_NODES];
  int n = e->nodes;
  for (int32_t k = 0; k < e->element_count; k++) {
    const int32_t *node = e->index + (size_t)n * k;
    element_stiffness(f, k, stiffness);
    fx_element_mass(e, k, mass);
    for (int a = 0; a < n; a++) {
      for (int b = 0; b < n; b++) {
        int32_t at = block_of(&f->K, node[a], node[b]);
        double *to = fx_block(&f->K, at);
        for (int c = 0; c < 9; c++) to[c] += stiffness[9 * (a * n + b) + c];
        f->mass[at] += f->density * mass[a * n + b];
      }
    }
  }
}

/* ---- products ---- */

void fx_fem_stiffness(const fx_fem *f, const double *x, double *y) {
  memset(y, 0, (size_t)fx_fem_size(f) * sizeof *y);
  fx_block_multiply_add(&f->K, x, y);
}

void fx_fem_mass(const fx_fem *f, const double *x, double *y) {
  const fx_block_matrix *K = &f->K;
  for (int32_t i = 0; i < K->row_blocks; i++) {
    double a = 0.0, b = 0.0, c = 0.0;
    for (int32_t k = K->start[i]; k < K->start[i + 1]; k++) {
      const double *v = x + 3 * (size_t)K->index[k];
      a += f->mass[k] * v[0], b += f->mass[k] * v[1], c += f->mass[k] * v[2];
    }
    y[3 * (size_t)i] = a, y[3 * (size_t)i + 1] = b, y[3 * (size_t)i + 2] = c;
  }
}

double fx_fem_dot(int32_t n, const double *x, const double *y) { return fx_dot_quad(n, x, y); }

/* ---- rigid motions and the support ---- */

static void move_to_center(fx_fem *f) {
  const fx_block_matrix *K = &f->K;
  frix_vec3 sum = {0.0, 0.0, 0.0};
  f->total = 0.0;
  for (int32_t i = 0; i < K->row_blocks; i++) {
    double here = 0.0;
    for (int32_t k = K->start[i]; k < K->start[i + 1]; k++) here += f->mass[k];
    f->total += here;
    sum = fx_mad(sum, here, f->e.node[i]);
  }
  f->center = fx_scale(1.0 / f->total, sum);
  for (int32_t i = 0; i < K->row_blocks; i++) f->e.node[i] = fx_sub(f->e.node[i], f->center);
}

static frix_status make_rigid(fx_arena *arena, fx_fem *f) {
  int32_t n = fx_fem_size(f);
  double *M = FX_TAKE_RAW(arena, double, n);
  if (!M) return FRIX_ERROR_MEMORY;
  for (int k = 0; k < 6; k++) {
    double *r = f->rigid[k] = FX_TAKE(arena, double, n);
    if (!r) return FRIX_ERROR_MEMORY;
    for (int32_t i = 0; i < f->e.node_count; i++) {
      frix_vec3 p = f->e.node[i], axis = {k == 3, k == 4, k == 5}, v = fx_cross(axis, p);
      r[3 * (size_t)i] = k < 3 ? k == 0 : v.x;
      r[3 * (size_t)i + 1] = k < 3 ? k == 1 : v.y;
      r[3 * (size_t)i + 2] = k < 3 ? k == 2 : v.z;
    }
    for (int twice = 0; twice < 2; twice++) {
      fx_fem_mass(f, r, M);
      for (int j = 0; j < k; j++) {
        double share = fx_fem_dot(n, f->rigid[j], M);
        for (int32_t i = 0; i < n; i++) r[i] -= share * f->rigid[j][i];
      }
    }
    fx_fem_mass(f, r, M);
    double scale = 1.0 / sqrt(fx_fem_dot(n, r, M));
    for (int32_t i = 0; i < n; i++) r[i] *= scale;
  }
  return FRIX_OK;
}

static int32_t farthest(const fx_elements *e, frix_vec3 from, frix_vec3 along) {
  int32_t best = 0;
  double most = -1.0;
  for (int32_t k = 0; k < e->node_count; k++) {
    frix_vec3 d = fx_sub(e->node[k], from);
    double far = fx_norm2(fx_mad(d, -fx_dot(d, along), along));
    if (far > most) most = far, best = k;
  }
  return best;
}

/* Adds s (d d') to the diagonal block of a node. */
static void add_spring(fx_block_matrix *K, int32_t node, double s, frix_vec3 d) {
  double *to = fx_block(K, block_of(K, node, node));
  const double v[3] = {d.x, d.y, d.z};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) to[3 * i + j] += s * v[i] * v[j];
}

/* Six springs that hold the body and no more: three at a node, two across the line to a second, one across the plane of
 * both and a third. A load in balance leaves them without force, so the answer is that of the free body. */
static frix_status make_support(fx_arena *arena, fx_fem *f) {
  fx_block_matrix K = f->K;
  size_t count = K.offset[K.start[K.row_blocks]];
  K.x = FX_TAKE_RAW(arena, double, count);
  if (!K.x) return FRIX_ERROR_MEMORY;
  memcpy(K.x, f->K.x, count * sizeof *K.x);
  double mean = 0.0;
  for (int32_t i = 0; i < K.row_blocks; i++) {
    const double *d = fx_block(&K, block_of(&K, i, i));
    mean += (d[0] + d[4] + d[8]) / (3.0 * K.row_blocks);
  }
  frix_vec3 none = {0.0, 0.0, 0.0};
  int32_t a = farthest(&f->e, none, none), b = farthest(&f->e, f->e.node[a], none);
  frix_vec3 way = fx_unit(fx_sub(f->e.node[b], f->e.node[a]));
  int32_t c = farthest(&f->e, f->e.node[a], way);
  frix_vec3 normal = fx_unit(fx_cross(way, fx_sub(f->e.node[c], f->e.node[a]))), side = fx_cross(normal, way);
  add_spring(&K, a, mean, way), add_spring(&K, a, mean, side), add_spring(&K, a, mean, normal);
  add_spring(&K, b, mean, side), add_spring(&K, b, mean, normal);
  add_spring(&K, c, mean, normal);
  frix_status status = fx_block_lu_analyze(arena, &K, &f->factor);
  if (status) return status;
  if (!fx_block_lu_factor(&f->factor, &K, 0.0, true))
    return fx_fail(arena->context, FRIX_ERROR_INPUT, "the stiffness of the mesh is not positive");
  return FRIX_OK;
}

void fx_fem_relax(const fx_fem *f, double *x, double *scratch) {
  int32_t n = fx_fem_size(f);
  fx_fem_mass(f, x, scratch);
  for (int k = 0; k < 6; k++) {
    double share = fx_fem_dot(n, f->rigid[k], scratch);
    for (int32_t i = 0; i < n; i++) x[i] -= share * f->rigid[k][i];
  }
}

void fx_fem_static(const fx_fem *f, double *load, double *scratch) {
  int32_t n = fx_fem_size(f);
  /* load - M R R' load is in balance */
  double share[6];
  for (int k = 0; k < 6; k++) share[k] = fx_fem_dot(n, f->rigid[k], load);
  double *push = scratch, *M = scratch + n;
  memset(push, 0, (size_t)n * sizeof *push);
  for (int k = 0; k < 6; k++)
    for (int32_t i = 0; i < n; i++) push[i] += share[k] * f->rigid[k][i];
  fx_fem_mass(f, push, M);
  for (int32_t i = 0; i < n; i++) load[i] -= M[i];
  fx_block_lu_solve(&f->factor, load);
  fx_fem_relax(f, load, scratch);
}

frix_status fx_fem_make(fx_arena *arena, const fx_elements *e, double young, double poisson, double density,
                        fx_fem *out) {
  *out = (fx_fem){.e = *e,
                  .lambda = young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson)),
                  .mu = young / (2.0 * (1.0 + poisson)),
                  .density = density};
  double *stiffness = FX_TAKE_RAW(arena, double, 9 * FX_MOST_NODES * FX_MOST_NODES);
  frix_status status = stiffness ? make_pattern(arena, out) : FRIX_ERROR_MEMORY;
  if (status) return status;
  assemble(out, stiffness);
  move_to_center(out);
  status = make_rigid(arena, out);
  return status ? status : make_support(arena, out);
}

/* ---- forces of second order ---- */

void fx_fem_gradient(const fx_elements *e, int32_t element, const frix_vec3 *gradient, const double *u, double D[9]) {
  const int32_t *node = e->index + (size_t)e->nodes * element;
  memset(D, 0, 9 * sizeof *D);
  for (int a = 0; a < e->nodes; a++) {
    const double *v = u + 3 * (size_t)node[a];
    for (int i = 0; i < 3; i++)
      D[3 * i] += v[i] * gradient[a].x, D[3 * i + 1] += v[i] * gradient[a].y, D[3 * i + 2] += v[i] * gradient[a].z;
  }
}

/* Stress C e of a strain sym(D). */
static void stress_of(const fx_fem *f, const double strain[9], double out[9]) {
  double trace = strain[0] + strain[4] + strain[8];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      out[3 * i + j] = f->mu * (strain[3 * i + j] + strain[3 * j + i]) + (i == j ? f->lambda * trace : 0.0);
}

static void product(const double a[9], const double b[9], bool transposed, double out[9]) {
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      double sum = 0.0;
      for (int k = 0; k < 3; k++) sum += (transposed ? a[3 * k + i] : a[3 * i + k]) * b[3 * k + j];
      out[3 * i + j] = sum;
    }
  }
}

void fx_fem_second_order(const fx_fem *f, const double *u, const double *v, double *out) {
  const fx_elements *e = &f->e;
  memset(out, 0, (size_t)fx_fem_size(f) * sizeof *out);
  for (int32_t k = 0; k < e->element_count; k++) {
    const int32_t *node = e->index + (size_t)e->nodes * k;
    for (int32_t point = 0; point < e->points; point++) {
      frix_vec3 g[FX_MOST_NODES];
      double w = fx_element_gradients(e, k, point, g), U[9], V[9], q[9], Sq[9], Su[9], Sv[9], a[9], b[9], P[9];
      fx_fem_gradient(e, k, g, u, U);
      fx_fem_gradient(e, k, g, v, V);
      product(U, V, true, q); /* q(u, v) is half its symmetric part: stress_of takes the part, half follows */
      for (int i = 0; i < 9; i++) q[i] *= 0.5;
      stress_of(f, q, Sq);
      stress_of(f, U, Su);
      stress_of(f, V, Sv);
      /* e(u).C q(v, d) = (1/2) Su : D_v' D_d, hence the stress D_v Su / 2 on D_d */
      product(V, Su, false, a);
      product(U, Sv, false, b);
      for (int i = 0; i < 9; i++) P[i] = w * (Sq[i] + 0.5 * (a[i] + b[i]));
      for (int c = 0; c < e->nodes; c++) {
        double *to = out + 3 * (size_t)node[c];
        for (int i = 0; i < 3; i++) to[i] += P[3 * i] * g[c].x + P[3 * i + 1] * g[c].y + P[3 * i + 2] * g[c].z;
      }
    }
  }
}
