/* What tests of soft bodies share: finite elements written a second time, plainly and densely. */
#ifndef FX_TEST_SOFT_TOOLS_H
#define FX_TEST_SOFT_TOOLS_H

#include <frix/frix.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "soft/soft_internal.h"
#include "test.h"

typedef struct lab {
  frix_context *context;
  fx_arena arena;
} lab;

static inline bool lab_open(lab *l) {
  if (frix_context_create(NULL, &l->context)) return false;
  fx_arena_init(&l->arena, l->context);
  return true;
}

static inline void lab_close(lab *l) {
  fx_arena_free(&l->arena);
  frix_context_destroy(l->context);
}

/* A generated shape, checked. */
static inline bool lab_shape(lab *l, fx_test *t, const char *name, frix_vec3 size, int32_t cells, fx_tets *out) {
  const char *found;
  frix_vec3 usual;
  for (int32_t k = 0; fx_shape_of_tets(k, &found, &usual); k++) {
    if (strcmp(found, name)) continue;
    if (!fx_tets_generate(&l->arena, k, size, cells, out) && !fx_tets_check(&l->arena, out)) return true;
  }
  fx_test_fail(t, __FILE__, __LINE__, "%s: %s", name, frix_error_text(l->context));
  return false;
}

/* Energy and nodal forces of St.Venant-Kirchhoff tetrahedra by deformation gradient and second Piola-Kirchhoff stress:
 * F = 1 + D, E = (F'F - 1)/2, S = lambda tr(E) 1 + 2 mu E, P = F S. */
static inline double lab_stvk(const fx_fem *f, const double *u, double *force) {
  const fx_elements *e = &f->e;
  double energy = 0;
  memset(force, 0, (size_t)fx_fem_size(f) * sizeof *force);
  for (int32_t k = 0; k < e->element_count; k++) {
    const int32_t *node = e->index + (size_t)e->nodes * k;
    for (int32_t point = 0; point < e->points; point++) {
      frix_vec3 g[FX_MOST_NODES];
      double w = fx_element_gradients(e, k, point, g), F[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, E[3][3], P[3][3];
      for (int a = 0; a < e->nodes; a++) {
        const double d[3] = {g[a].x, g[a].y, g[a].z};
        for (int i = 0; i < 3; i++)
          for (int j = 0; j < 3; j++) F[i][j] += u[3 * node[a] + i] * d[j];
      }
      double trace = 0, square = 0;
      for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
          E[i][j] = i == j ? -0.5 : 0;
          for (int m = 0; m < 3; m++) E[i][j] += 0.5 * F[m][i] * F[m][j];
          square += E[i][j] * E[i][j];
        }
        trace += E[i][i];
      }
      energy += w * (0.5 * f->lambda * trace * trace + f->mu * square);
      for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
          P[i][j] = f->lambda * trace * F[i][j];
          for (int m = 0; m < 3; m++) P[i][j] += 2 * f->mu * F[i][m] * E[m][j];
        }
      }
      for (int a = 0; a < e->nodes; a++)
        for (int i = 0; i < 3; i++)
          force[3 * node[a] + i] += w * (P[i][0] * g[a].x + P[i][1] * g[a].y + P[i][2] * g[a].z);
    }
  }
  return energy;
}

/* All eigenvalues of a dense symmetric matrix by cyclic Jacobi rotations, ascending. A is destroyed. */
static inline void lab_jacobi(int n, double *A, double *value) {
  for (int sweep = 0; sweep < 30; sweep++) {
    double off = 0, all = 0;
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) all += A[i * n + j] * A[i * n + j], off += i == j ? 0 : A[i * n + j] * A[i * n + j];
    if (off <= 1e-30 * all) break;
    for (int p = 0; p < n; p++) {
      for (int q = p + 1; q < n; q++) {
        if (A[p * n + q] == 0) continue;
        double theta = (A[q * n + q] - A[p * n + p]) / (2 * A[p * n + q]);
        double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1)), c = 1 / sqrt(t * t + 1), s = t * c;
        for (int k = 0; k < n; k++) {
          double x = A[k * n + p], y = A[k * n + q];
          A[k * n + p] = c * x - s * y, A[k * n + q] = s * x + c * y;
        }
        for (int k = 0; k < n; k++) {
          double x = A[p * n + k], y = A[q * n + k];
          A[p * n + k] = c * x - s * y, A[q * n + k] = s * x + c * y;
        }
      }
    }
  }
  for (int i = 0; i < n; i++) value[i] = A[i * n + i];
  for (int i = 1; i < n; i++)
    for (int j = i; j && value[j - 1] > value[j]; j--) {
      double kept = value[j];
      value[j] = value[j - 1], value[j - 1] = kept;
    }
}

#endif
