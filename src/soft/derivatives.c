/* What joins the modes in a basis: modal derivatives, uniform strains, and shapes of held regions.
 *
 * Modal derivatives (Idelsohn and Cardona, 1985; Barbic and James, 2005): where modes i and j are excited, the force
 * 2 f2(x_i, x_j) of second order appears, and the body answers it with K d_ij = -2 f2(x_i, x_j).
 *
 * The strongest directions among the d_ij, weighted by 1/(l_i l_j) as a static load excites them, and made orthogonal
 * to the modes, join the basis; then the basis is turned so that its stiffness is diagonal. */
#include "linalg/symmetric_eigen.h"
#include "soft/soft_internal.h"

#include <string.h>

enum { MOST_PARENTS = 20 }; /* modes that are paired */

typedef struct family {
  const fx_fem *f;
  int32_t n, modes, parents, count; /* count: pairs */
  const fx_basis *basis;
  double *child;       /* count vectors */
  double *M, *scratch; /* n, 2 n */
} family;

static double *child_at(const family *a, int32_t k) { return a->child + (size_t)k * a->n; }

static frix_status make_children(fx_arena *arena, family *a, const fx_soft_watch *watch) {
  int32_t at = 0, n = a->n;
  double softest = a->basis->value[0];
  for (int32_t i = 0; i < a->parents; i++) {
    for (int32_t j = 0; j <= i; j++, at++) {
      const double *x = a->basis->shape + (size_t)i * n, *y = a->basis->shape + (size_t)j * n;
      double *d = child_at(a, at), weight = -2.0 * softest * softest / (a->basis->value[i] * a->basis->value[j]);
      fx_fem_second_order(a->f, x, y, d);
      for (int32_t m = 0; m < n; m++) d[m] *= weight;
      fx_fem_static(a->f, d, a->scratch);
      for (int twice = 0; twice < 2; twice++) {
        fx_fem_mass(a->f, d, a->M);
        for (int32_t k = 0; k < a->modes; k++) {
          const double *v = a->basis->shape + (size_t)k * n;
          double share = fx_fem_dot(n, v, a->M);
          for (int32_t m = 0; m < n; m++) d[m] -= share * v[m];
        }
      }
      if (fx_watch(watch, "modal derivatives", (double)(at + 1) / a->count))
        return fx_fail(arena->context, FRIX_ERROR_INPUT, "ended by the user");
    }
  }
  return FRIX_OK;
}

/* The eigenvectors of the children's Gram matrix, strongest first, as new vectors behind the modes. */
static frix_status choose(fx_arena *arena, const family *a, int32_t wanted, double *to, int32_t *found) {
  int32_t p = a->count, n = a->n;
  double *G = FX_TAKE_RAW(arena, double, (size_t)p *p), *vector = FX_TAKE_RAW(arena, double, (size_t)p *p);
  double *value = FX_TAKE_RAW(arena, double, p), *work = FX_TAKE_RAW(arena, double, 3 * (size_t)p);
  if (!G || !vector || !value || !work) return FRIX_ERROR_MEMORY;
  for (int32_t i = 0; i < p; i++) {
    fx_fem_mass(a->f, child_at(a, i), a->M);
    for (int32_t j = 0; j <= i; j++) G[(size_t)i * p + j] = fx_fem_dot(n, child_at(a, j), a->M);
  }
  if (!fx_symmetric_eigen(p, G, value, vector, work))
    return fx_fail(arena->context, FRIX_ERROR_INPUT, "the modal derivatives of the mesh cannot be computed");
  *found = 0;
  for (int32_t k = p - 1; k >= 0 && *found < wanted && value[k] > 1e-18 * value[p - 1]; k--, ++*found) {
    double *d = to + (size_t)*found * n;
    memset(d, 0, (size_t)n * sizeof *d);
    for (int32_t j = 0; j < p; j++) {
      double s = vector[(size_t)k * p + j];
      const double *c = child_at(a, j);
      for (int32_t m = 0; m < n; m++) d[m] += s * c[m];
    }
  }
  return FRIX_OK;
}

/* Orthonormal in the mass to the vectors before. */
static void orthonormalise(const family *a, double *shape, int32_t from, int32_t count) {
  int32_t n = a->n;
  for (int32_t k = from; k < count; k++) {
    double *d = shape + (size_t)k * n;
    for (int twice = 0; twice < 2; twice++) {
      fx_fem_relax(a->f, d, a->scratch);
      fx_fem_mass(a->f, d, a->M);
      for (int32_t j = 0; j < k; j++) {
        const double *v = shape + (size_t)j * n;
        double share = fx_fem_dot(n, v, a->M);
        for (int32_t m = 0; m < n; m++) d[m] -= share * v[m];
      }
      fx_fem_mass(a->f, d, a->M);
      double scale = 1.0 / sqrt(fx_fem_dot(n, d, a->M));
      for (int32_t m = 0; m < n; m++) d[m] *= scale;
    }
  }
}

/* Turns the basis into the axes of its stiffness. */
static frix_status turn(fx_arena *arena, const family *a, double *shape, int32_t count, fx_basis *out) {
  int32_t n = a->n;
  double *K = FX_TAKE_RAW(arena, double, (size_t)count *count), *S = FX_TAKE_RAW(arena, double, (size_t)count *count);
  double *work = FX_TAKE_RAW(arena, double, 3 * (size_t)count), *value = FX_TAKE_RAW(arena, double, count);
  double *turned = FX_TAKE(arena, double, (size_t)count *n);
  if (!K || !S || !work || !value || !turned) return FRIX_ERROR_MEMORY;
  for (int32_t i = 0; i < count; i++) {
    fx_fem_stiffness(a->f, shape + (size_t)i * n, a->M);
    for (int32_t j = 0; j <= i; j++) K[(size_t)i * count + j] = fx_fem_dot(n, shape + (size_t)j * n, a->M);
  }
  if (!fx_symmetric_eigen(count, K, value, S, work))
    return fx_fail(arena->context, FRIX_ERROR_INPUT, "the basis of the mesh cannot be computed");
  for (int32_t k = 0; k < count; k++) {
    double *x = turned + (size_t)k * n;
    for (int32_t j = 0; j < count; j++) {
      const double s = S[(size_t)k * count + j], *v = shape + (size_t)j * n;
      for (int32_t m = 0; m < n; m++) x[m] += s * v[m];
    }
    /* as the modes are: the largest entry is positive */
    int32_t big = 0;
    for (int32_t m = 0; m < n; m++)
      if (fabs(x[m]) > 1.0000001 * fabs(x[big])) big = m;
    for (int32_t m = 0; x[big] < 0.0 && m < n; m++)
      if (m != big) x[m] = -x[m];
    if (x[big] < 0.0) x[big] = -x[big];
  }
  out->count = count, out->shape = turned, out->value = value;
  return FRIX_OK;
}

/* ---- held regions ---- */

static bool within(frix_vec3 p, frix_vec3 low, frix_vec3 high) {
  return p.x >= low.x && p.y >= low.y && p.z >= low.z && p.x <= high.x && p.y <= high.y && p.z <= high.z;
}

/* Answers to a force along (kind 0 to 2) or a torque about an axis at the middle of the held nodes; how many there are.
 */
static int32_t hold_shapes(const family *a, frix_vec3 low, frix_vec3 high, double *to) {
  const fx_elements *e = &a->f->e;
  frix_vec3 middle = {0.0, 0.0, 0.0};
  int32_t held = 0;
  for (int32_t k = 0; k < e->node_count; k++)
    if (within(e->node[k], low, high)) middle = fx_add(middle, e->node[k]), held++;
  if (!held) return 0;
  middle = fx_scale(1.0 / held, middle);
  for (int kind = 0; kind < 6; kind++) {
    double *load = to + (size_t)kind * a->n, *field = a->scratch;
    frix_vec3 axis = {kind % 3 == 0, kind % 3 == 1, kind % 3 == 2};
    for (int32_t k = 0; k < e->node_count; k++) {
      frix_vec3 f = kind < 3 ? axis : fx_cross(axis, fx_sub(e->node[k], middle));
      double inside = within(e->node[k], low, high);
      field[3 * (size_t)k] = inside * f.x, field[3 * (size_t)k + 1] = inside * f.y;
      field[3 * (size_t)k + 2] = inside * f.z;
    }
    fx_fem_mass(a->f, field, load);
    fx_fem_static(a->f, load, a->scratch);
  }
  return held;
}

/* Room for six more shapes behind those of the basis; NULL without memory. */
static double *six_more(fx_arena *arena, family *a) {
  a->M = FX_TAKE_RAW(arena, double, a->n), a->scratch = FX_TAKE_RAW(arena, double, 2 * (size_t)a->n);
  double *shape = FX_TAKE(arena, double, (size_t)(a->modes + 6) * a->n);
  if (!a->M || !a->scratch || !shape) return NULL;
  if (a->modes) memcpy(shape, a->basis->shape, (size_t)a->modes * a->n * sizeof *shape);
  return shape;
}

frix_status fx_basis_hold(fx_arena *arena, const fx_fem *f, frix_vec3 low, frix_vec3 high, fx_basis *basis) {
  family a = {.f = f, .n = fx_fem_size(f), .modes = basis->count, .basis = basis};
  double slack = 1e-9 * fx_norm(fx_sub(high, low));
  frix_vec3 little = {slack, slack, slack};
  if (!(slack > 0.0)) return FRIX_OK;
  double *shape = six_more(arena, &a);
  if (!shape) return FRIX_ERROR_MEMORY;
  /* nodes stand about the centre of mass by now, the box in the axes of the mesh */
  low = fx_sub(fx_sub(low, f->center), little), high = fx_add(fx_sub(high, f->center), little);
  int32_t held = hold_shapes(&a, low, high, shape + (size_t)a.modes * a.n);
  if (held < 3)
    return fx_fail(arena->context, FRIX_ERROR_INPUT,
                   "the box in which the body is held has %d nodes, at least 3 are needed", (int)held);
  orthonormalise(&a, shape, a.modes, a.modes + 6);
  return turn(arena, &a, shape, a.modes + 6, basis);
}

frix_status fx_basis_strain(fx_arena *arena, const fx_fem *f, fx_basis *basis) {
  static const int pair[6][2] = {{0, 0}, {1, 1}, {2, 2}, {1, 2}, {2, 0}, {0, 1}};
  family a = {.f = f, .n = fx_fem_size(f), .modes = basis->count, .basis = basis};
  double *shape = six_more(arena, &a);
  if (!shape) return FRIX_ERROR_MEMORY;
  for (int k = 0; k < 6; k++) {
    double *u = shape + (size_t)(a.modes + k) * a.n;
    for (int32_t v = 0; v < f->e.node_count; v++) {
      u[3 * (size_t)v + pair[k][0]] += fx_at(f->e.node[v], pair[k][1]);
      if (k >= 3) u[3 * (size_t)v + pair[k][1]] += fx_at(f->e.node[v], pair[k][0]);
    }
  }
  orthonormalise(&a, shape, a.modes, a.modes + 6);
  return turn(arena, &a, shape, a.modes + 6, basis);
}

frix_status fx_basis_derive(fx_arena *arena, const fx_fem *f, int32_t derivatives, const fx_soft_watch *watch,
                            fx_basis *basis) {
  if (!derivatives) return FRIX_OK;
  family a = {.f = f, .n = fx_fem_size(f), .modes = basis->count, .basis = basis};
  a.parents = a.modes < MOST_PARENTS ? a.modes : MOST_PARENTS;
  a.count = a.parents * (a.parents + 1) / 2;
  a.child = FX_TAKE_RAW(arena, double, (size_t)a.count *a.n);
  a.M = FX_TAKE_RAW(arena, double, a.n), a.scratch = FX_TAKE_RAW(arena, double, 2 * (size_t)a.n);
  double *shape = FX_TAKE_RAW(arena, double, (size_t)(a.modes + derivatives) * a.n);
  if (!a.child || !a.M || !a.scratch || !shape) return FRIX_ERROR_MEMORY;
  memcpy(shape, basis->shape, (size_t)a.modes * a.n * sizeof *shape);
  int32_t found = 0;
  frix_status status = make_children(arena, &a, watch);
  if (!status) status = choose(arena, &a, derivatives, shape + (size_t)a.modes * a.n, &found);
  if (status) return status;
  orthonormalise(&a, shape, a.modes, a.modes + found);
  return turn(arena, &a, shape, a.modes + found, basis);
}
