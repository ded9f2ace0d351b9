/* Finite elements and modes of free bodies: closed forms of bars under refinement, and dense answers. */
#include "linalg/symmetric_eigen.h"
#include "soft_tools.h"

static const double young = 2e9, density = 1200;

typedef struct bar {
  frix_vec3 size;
  int32_t cells, order, modes;
  double poisson;
} bar;

/* Angular frequencies of a bar; the shapes stay in the arena. */
static bool solve(lab *l, fx_test *t, bar b, fx_fem *fem, fx_basis *basis) {
  fx_tets tets;
  fx_elements elements;
  fx_soft_watch watch = {NULL, NULL};
  if (!lab_shape(l, t, "bar", b.size, b.cells, &tets)) return false;
  if (!fx_elements_make(&l->arena, &tets, b.order, &elements) &&
      !fx_fem_make(&l->arena, &elements, young, b.poisson, density, fem) &&
      !fx_modes_find(&l->arena, fem, b.modes, &watch, basis))
    return true;
  fx_test_fail(t, __FILE__, __LINE__, "%s", frix_error_text(l->context));
  return false;
}

/* Bending of a thin free bar: w = (b/L)^2 sqrt(E I / rho A), with cos b cosh b = 1; every frequency comes twice. Shear
 * and turning of the sections, which beam theory leaves out, lower it by 0.1 %. Linear elements are far too stiff. */
static void bends(fx_test *t) {
  static const double root[3] = {4.730040744862704, 7.853204624095838, 10.995607838001671};
  double length = 1, thick = 1.0 / 60, error[2][3];
  for (int fine = 0; fine < 2; fine++) {
    lab l;
    fx_fem fem;
    fx_basis basis;
    REQUIRE(t, lab_open(&l));
    if (solve(&l, t, (bar){{length, thick, thick}, 2, 1 + fine, 6, 0.3}, &fem, &basis)) {
      for (int k = 0; k < 3; k++) {
        double exact = root[k] * root[k] / (length * length) * sqrt(young * thick * thick / (12 * density));
        double found = sqrt(basis.value[2 * k]), twin = sqrt(basis.value[2 * k + 1]);
        error[fine][k] = found / exact - 1;
        CHECK_NEAR(t, twin / found, 1, 1e-3);
      }
      CHECK(t, basis.residual < 1e-8);
    }
    lab_close(&l);
  }
  fx_test_note(t, "%.2f %.2f %.2f %% -> %.2f %.2f %.2f %%", 100 * error[0][0], 100 * error[0][1], 100 * error[0][2],
               100 * error[1][0], 100 * error[1][1], 100 * error[1][2]);
  for (int k = 0; k < 2; k++) CHECK(t, fabs(error[1][k]) < 0.01);
  CHECK(t, fabs(error[1][0]) < 0.004 && error[0][0] > 0.05);
}

/* Without lateral contraction a free bar has the exact longitudinal modes cos(n pi x / L), w = n pi / L sqrt(E/rho).
 * The error falls with the fourth power of the cell for quadratic elements, with the second for linear ones. */
static void stretches(fx_test *t) {
  double error[2][2];
  for (int order = 1; order <= 2; order++) {
    for (int fine = 0; fine < 2; fine++) {
      lab l;
      fx_fem fem;
      fx_basis basis;
      REQUIRE(t, lab_open(&l));
      double length = 1, exact = 3.14159265358979323846 / length * sqrt(young / density), best = 1;
      double side = (order == 1 ? 0.25 : 0.5) / (fine + 1); /* does not matter to modes along the axis */
      frix_vec3 size = {length, side, side};
      if (solve(&l, t, (bar){size, 1, order, 12, 0}, &fem, &basis))
        for (int k = 0; k < 12; k++) {
          double found = sqrt(basis.value[k]) / exact - 1;
          /* the shape moves along x alone */
          double along = 0, all = 0;
          for (int32_t i = 0; i < fx_fem_size(&fem); i++) {
            double x = basis.shape[(size_t)k * (size_t)fx_fem_size(&fem) + (size_t)i];
            all += x * x, along += i % 3 ? 0 : x * x;
          }
          if (along > 0.98 * all && fabs(found) < fabs(best)) best = found;
        }
      error[order - 1][fine] = best;
      lab_close(&l);
    }
  }
  fx_test_note(t, "linear %.2g -> %.2g, quadratic %.2g -> %.2g", error[0][0], error[0][1], error[1][0], error[1][1]);
  CHECK(t, error[1][1] > 0 && error[1][1] < 1e-3 && error[1][0] > 8 * error[1][1]);
  CHECK(t, error[0][1] > 0 && error[0][1] < 0.05 && error[0][0] > 2.5 * error[0][1]);
}

/* The same numbers as a dense eigenproblem solved by Jacobi rotations: M = L L', eigenvalues of L^-1 K L^-T. */
static void agrees_with_dense(fx_test *t) {
  for (int order = 1; order <= 2; order++) {
    lab l;
    fx_fem fem;
    fx_basis basis;
    REQUIRE(t, lab_open(&l));
    bar b = {{1, 0.8, 0.6}, order == 1 ? 2 : 1, order, 14, 0.25};
    if (solve(&l, t, b, &fem, &basis)) {
      int n = fx_fem_size(&fem);
      double *K = calloc((size_t)n * n, sizeof *K), *M = calloc((size_t)n * n, sizeof *M);
      double *x = calloc((size_t)n, sizeof *x), *value = calloc((size_t)n, sizeof *value);
      for (int j = 0; j < n; j++) {
        memset(x, 0, (size_t)n * sizeof *x);
        x[j] = 1;
        fx_fem_stiffness(&fem, x, K + (size_t)j * n);
        fx_fem_mass(&fem, x, M + (size_t)j * n);
      }
      for (int j = 0; j < n; j++) { /* Cholesky of M in its lower triangle */
        for (int k = 0; k < j; k++)
          for (int i = j; i < n; i++) M[i * n + j] -= M[i * n + k] * M[j * n + k];
        double d = sqrt(M[j * n + j]);
        for (int i = j; i < n; i++) M[i * n + j] /= d;
      }
      for (int side = 0; side < 2; side++) { /* K := (L^-1 K)' twice */
        for (int j = 0; j < n; j++)
          for (int i = 0; i < n; i++) {
            for (int k = 0; k < i; k++) K[i * n + j] -= M[i * n + k] * K[k * n + j];
            K[i * n + j] /= M[i * n + i];
          }
        for (int i = 0; i < n; i++)
          for (int j = 0; j < i; j++) {
            double kept = K[i * n + j];
            K[i * n + j] = K[j * n + i], K[j * n + i] = kept;
          }
      }
      lab_jacobi(n, K, value);
      double worst = 0;
      for (int k = 0; k < 6; k++) CHECK(t, fabs(value[k]) < 1e-6 * value[6]);
      for (int k = 0; k < 14; k++) worst = fmax(worst, fabs(basis.value[k] / value[6 + k] - 1));
      CHECK(t, worst < 1e-10);
      fx_test_note(t, "order %d, %d nodes: %.1e", order, n / 3, worst);
      free(K), free(M), free(x), free(value);
    }
    lab_close(&l);
  }
}

/* A cube has modes that come in twos and threes; all of them are found, orthonormal and free of rigid motion. */
static void keeps_multiplicities(fx_test *t) {
  lab l;
  fx_fem fem;
  fx_basis basis;
  REQUIRE(t, lab_open(&l));
  if (solve(&l, t, (bar){{1, 1, 1}, 2, 2, 20, 0.3}, &fem, &basis)) {
    int n = fx_fem_size(&fem);
    double *M = calloc((size_t)n, sizeof *M), worst = 0;
    for (int i = 0; i < 20; i++) {
      fx_fem_mass(&fem, basis.shape + (size_t)i * n, M);
      for (int j = 0; j < 20; j++) worst = fmax(worst, fabs(fx_fem_dot(n, basis.shape + (size_t)j * n, M) - (i == j)));
      for (int r = 0; r < 6; r++) worst = fmax(worst, fabs(fx_fem_dot(n, fem.rigid[r], M)));
      if (i) CHECK(t, basis.value[i] >= basis.value[i - 1]);
    }
    CHECK(t, worst < 1e-10);
    /* torsion of a cube about its axes: the lowest, twice (the third is their sum) */
    CHECK_NEAR(t, basis.value[1] / basis.value[0], 1, 1e-2);
    fx_test_note(t, "orthonormal to %.0e, residual %.0e", worst, basis.residual);
    free(M);
  }
  lab_close(&l);
}

/* Uniform strain is carried exactly (patch test): the energy of u = A x is V/2 A:C:A for both orders. */
static void carries_uniform_strain(fx_test *t) {
  for (int order = 1; order <= 2; order++) {
    lab l;
    fx_fem fem;
    fx_basis basis;
    REQUIRE(t, lab_open(&l));
    if (solve(&l, t, (bar){{1, 0.7, 0.5}, 2, order, 3, 0.3}, &fem, &basis)) {
      int n = fx_fem_size(&fem);
      double A[3][3], *u = calloc((size_t)n, sizeof *u), *f = calloc((size_t)n, sizeof *f), trace = 0, square = 0;
      for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) A[i][j] = fx_test_random(t);
      for (int i = 0; i < 3; i++) {
        trace += A[i][i];
        for (int j = 0; j < 3; j++) square += 0.25 * (A[i][j] + A[j][i]) * (A[i][j] + A[j][i]);
      }
      for (int32_t k = 0; k < fem.e.node_count; k++)
        for (int i = 0; i < 3; i++)
          u[3 * k + i] = A[i][0] * fem.e.node[k].x + A[i][1] * fem.e.node[k].y + A[i][2] * fem.e.node[k].z;
      fx_fem_stiffness(&fem, u, f);
      double exact = 0.35 * (0.5 * fem.lambda * trace * trace + fem.mu * square);
      CHECK_NEAR(t, 0.5 * fx_fem_dot(n, u, f) / exact, 1, 1e-12);
      CHECK_NEAR(t, fem.total, 0.35 * density, 1e-9);
      free(u), free(f);
    }
    lab_close(&l);
  }
}

/* Static answers of a free body: K x is the load without the part that accelerates it. */
static void relieves_inertia(fx_test *t) {
  lab l;
  fx_fem fem;
  fx_basis basis;
  REQUIRE(t, lab_open(&l));
  if (solve(&l, t, (bar){{1, 0.4, 0.3}, 2, 1, 3, 0.3}, &fem, &basis)) {
    int n = fx_fem_size(&fem);
    double *x = calloc((size_t)n, sizeof *x), *b = calloc((size_t)n, sizeof *b), *y = calloc(2 * (size_t)n, sizeof *y);
    for (int i = 0; i < n; i++) x[i] = b[i] = fx_test_random(t);
    fx_fem_static(&fem, x, y);
    fx_fem_stiffness(&fem, x, y);
    double wrong = 0;
    for (int r = 0; r < 6; r++) { /* b - K x lies in the span of M R */
      double share = fx_fem_dot(n, fem.rigid[r], b);
      fx_fem_mass(&fem, fem.rigid[r], y + n);
      for (int i = 0; i < n; i++) b[i] -= share * y[n + i];
    }
    for (int i = 0; i < n; i++) wrong = fmax(wrong, fabs(b[i] - y[i]));
    CHECK(t, wrong < 1e-8);
    free(x), free(b), free(y);
  }
  lab_close(&l);
}

/* The dense solver of the library against Jacobi rotations. */
static void dense_eigenvalues(fx_test *t) {
  enum { N = 24 };
  for (int kind = 0; kind < 3; kind++) {
    double A[N * N], B[N * N], C[N * N], value[N], second[N], vector[N * N], work[3 * N];
    for (int i = 0; i < N; i++)
      for (int j = 0; j <= i; j++)
        A[i * N + j] = A[j * N + i] = kind == 0 ? fx_test_random(t) : kind == 1 ? i == j ? i / 3 : 0 : 1e-200 * (i + j);
    memcpy(B, A, sizeof A), memcpy(C, A, sizeof A);
    CHECK(t, fx_symmetric_eigen(N, B, value, vector, work));
    if (kind < 2) {
      lab_jacobi(N, C, second);
      for (int k = 0; k < N; k++) CHECK_NEAR(t, value[k], second[k], 1e-13 * 10);
    }
    double scale = fmax(fabs(value[0]), fabs(value[N - 1]));
    for (int k = 0; k < N; k++)
      for (int i = 0; i < N; i++) {
        double x = 0, y = 0;
        for (int j = 0; j < N; j++) x += A[i * N + j] * vector[k * N + j], y += vector[k * N + j] * vector[i * N + j];
        CHECK_NEAR(t, x / scale, value[k] / scale * vector[k * N + i], 1e-14 * N);
        CHECK_NEAR(t, y, i == k, 1e-13);
      }
  }
}

const fx_test_row test_soft_modes[] = {{"soft_modes/bends", bends},
                                       {"soft_modes/stretches", stretches},
                                       {"soft_modes/agrees_with_dense", agrees_with_dense},
                                       {"soft_modes/keeps_multiplicities", keeps_multiplicities},
                                       {"soft_modes/carries_uniform_strain", carries_uniform_strain},
                                       {"soft_modes/relieves_inertia", relieves_inertia},
                                       {"soft_modes/dense_eigenvalues", dense_eigenvalues},
                                       {0}};
