/* Errors of single contacts: no large number elsewhere hides one, and the verdict depends neither on units nor on the
 * order of bodies nor on what is added far away. */
#include "test.h"

#include <frix/frix.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BODIES = 4, DOFS = 6 * BODIES, CONTACTS = 7, ROWS = 3 * CONTACTS };

/* A small pile with random directions, and impulses that break the law somewhere. */
typedef struct pile {
  frix_contact contact[CONTACTS + 1];
  double M[DOFS], H[DOFS * (ROWS + 3)], f[DOFS], w[ROWS + 3], r[ROWS + 3];
  int contacts, dofs;
} pile;

static double uniform(fx_test *t, double low, double high) {
  return 0.5 * (low + high + (high - low) * fx_test_random(t));
}

static pile random_pile(fx_test *t) {
  pile p = {.contacts = CONTACTS, .dofs = DOFS};
  for (int b = 0; b < BODIES; b++) {
    double mass = 0.1 + uniform(t, 0, 5), size = 0.1 + uniform(t, 0, 1);
    for (int k = 0; k < 6; k++) {
      p.M[6 * b + k] = k < 3 ? mass : 0.4 * mass * size * size;
      p.f[6 * b + k] = p.M[6 * b + k] * uniform(t, -1, 1);
    }
  }
  for (int i = 0; i < CONTACTS; i++) {
    int a = i % BODIES, b = (i + 1 + i / BODIES) % BODIES;
    p.contact[i] = frix_contact_of_dim(3, uniform(t, 0, 1), 0);
    for (int k = 0; k < 3; k++) {
      double *column = p.H + (size_t)(3 * i + k) * DOFS;
      for (int c = 0; c < 6; c++) column[6 * a + c] = uniform(t, -1, 1) * (c < 3 ? 1 : 0.3);
      for (int c = 0; c < 6; c++) column[6 * b + c] = uniform(t, -1, 1) * (c < 3 ? 1 : 0.3);
      p.w[3 * i + k] = uniform(t, -0.1, 0.1);
      p.r[3 * i + k] = k == 0 ? uniform(t, 0, 1) : uniform(t, -0.3, 0.3);
    }
  }
  return p;
}

static frix_certificate judge(fx_test *t, frix_context *context, const pile *p) {
  frix_certificate out = {0};
  int rows = 3 * p->contacts;
  double M[DOFS * DOFS] = {0};
  for (int k = 0; k < DOFS; k++) M[k * DOFS + k] = p->M[k];
  frix_problem_data d = frix_problem_data_default();
  d.form = FRIX_FORM_GLOBAL;
  d.contact_count = p->contacts;
  d.contact = p->contact;
  d.dof_count = DOFS;
  d.M = (frix_matrix){.format = FRIX_MATRIX_DENSE, .row_count = DOFS, .col_count = DOFS, .x = M};
  d.H = (frix_matrix){.format = FRIX_MATRIX_DENSE, .row_count = DOFS, .col_count = rows, .x = p->H};
  d.f = p->f;
  d.w = p->w;
  frix_problem *problem = NULL;
  if (frix_problem_create(context, &d, &problem) != FRIX_OK) {
    fx_test_fail(t, __FILE__, __LINE__, "%s", frix_error_text(context));
    return out;
  }
  CHECK(t, frix_certify(context, problem, FRIX_LAW_COULOMB, p->r, NULL, &out, NULL, NULL) == FRIX_OK);
  frix_problem_destroy(problem);
  return out;
}

/* Powers of two, so that nothing rounds differently: kilograms, metres and seconds. */
static pile in_units(const pile *p, double mass, double length, double time) {
  pile q = *p;
  for (int k = 0; k < DOFS; k++) {
    bool linear = k % 6 < 3;
    q.M[k] *= linear ? mass : mass * length * length;
    q.f[k] *= (linear ? mass * length : mass * length * length) / time;
  }
  for (int c = 0; c < 3 * p->contacts; c++) {
    for (int k = 0; k < DOFS; k++) q.H[(size_t)c * DOFS + (size_t)k] *= k % 6 < 3 ? 1 : length;
    q.w[c] *= length / time;
    q.r[c] *= mass * length / time;
  }
  return q;
}

static void units(fx_test *t) {
  frix_context *context;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  for (int k = 0; k < 50; k++) {
    pile p = random_pile(t), q = in_units(&p, 0x1p-20, 0x1p-10, 0x1p+5);
    frix_certificate a = judge(t, context, &p), b = judge(t, context, &q);
    CHECK(t, a.row_residual > 0 && a.row_residual == b.row_residual && a.worst_row == b.worst_row);
    CHECK(t, a.residual >= a.row_residual);
  }
  frix_context_destroy(context);
}

/* The same contacts in the opposite order. */
static void order(fx_test *t) {
  frix_context *context;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  for (int k = 0; k < 50; k++) {
    pile p = random_pile(t), q = p;
    for (int i = 0; i < CONTACTS; i++) {
      int j = CONTACTS - 1 - i;
      q.contact[j] = p.contact[i];
      memcpy(q.H + (size_t)(3 * j) * DOFS, p.H + (size_t)(3 * i) * DOFS, 3 * DOFS * sizeof *p.H);
      memcpy(q.w + 3 * j, p.w + 3 * i, 3 * sizeof *p.w);
      memcpy(q.r + 3 * j, p.r + 3 * i, 3 * sizeof *p.r);
    }
    frix_certificate a = judge(t, context, &p), b = judge(t, context, &q);
    CHECK_NEAR(t, b.row_residual / a.row_residual, 1, 1e-9);
    CHECK(t, b.worst_row == ROWS - 3 - a.worst_row);
  }
  frix_context_destroy(context);
}

/* An open contact without impulse, however wide its gap. */
static void open_contact(fx_test *t) {
  frix_context *context;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  for (int k = 0; k < 50; k++) {
    pile p = random_pile(t), q = p;
    q.contacts = CONTACTS + 1;
    q.contact[CONTACTS] = frix_contact_of_dim(3, 0.5, 0);
    for (int c = 0; c < 3; c++)
      for (int a = 0; a < 6; a++) q.H[(size_t)(ROWS + c) * DOFS + (size_t)a] = uniform(t, -1, 1);
    q.w[ROWS] = 1e12;
    frix_certificate a = judge(t, context, &p), b = judge(t, context, &q);
    CHECK(t, a.row_residual == b.row_residual && a.worst_row == b.worst_row);
  }
  frix_context_destroy(context);
}

/* ---- what hid errors ---- */

static frix_certificate judge_diagonal(fx_test *t, const double *W, const double *q, const double *r) {
  frix_context *context;
  frix_certificate out = {.residual = -1};
  if (frix_context_create(NULL, &context) != FRIX_OK) return out;
  frix_contact contact[2] = {frix_contact_of_dim(3, 0.5, 0), frix_contact_of_dim(3, 0.5, 0)};
  double full[36] = {0};
  for (int k = 0; k < 6; k++) full[7 * k] = W[k];
  frix_problem_data d = frix_problem_data_default();
  d.form = FRIX_FORM_LOCAL;
  d.contact_count = 2;
  d.contact = contact;
  d.W = (frix_matrix){.format = FRIX_MATRIX_DENSE, .row_count = 6, .col_count = 6, .x = full};
  d.q = q;
  frix_problem *problem;
  if (frix_problem_create(context, &d, &problem) == FRIX_OK) {
    CHECK(t, frix_certify(context, problem, FRIX_LAW_COULOMB, r, NULL, &out, NULL, NULL) == FRIX_OK);
    frix_problem_destroy(problem);
  }
  frix_context_destroy(context);
  return out;
}

/* A contact at 1,000 m/s beside one that is penetrated with 9 mm/s. */
static void beside_a_giant(fx_test *t) {
  const double W[6] = {1e-6, 1e-6, 1e-6, 1, 1, 1}, q[6] = {-1000, 0, 0, -0.009, 0, 0}, r[6] = {1e9, 0, 0, 0, 0, 0};
  frix_certificate c = judge_diagonal(t, W, q, r);
  CHECK(t, c.contact_residual < 1e-8); /* the sum over all contacts does not see it */
  CHECK(t, c.row_residual > 0.1 && c.residual == c.row_residual && c.worst_row == 3);
}

/* Numbers whose squares overflow or vanish. */
static void beyond_squares(fx_test *t) {
  const double one[6] = {1, 1, 1, 1, 1, 1}, nothing[6] = {0}, large[6] = {-1e200, 0, 0, 0, 0, 0};
  const double huge[6] = {-1e308, 1e308, 0, 0, 0, 0}, tiny[6] = {-1e-170, 0, 0, 0, 0, 0};
  CHECK(t, !(judge_diagonal(t, one, large, nothing).residual <= 1e-8));
  CHECK(t, !(judge_diagonal(t, one, huge, nothing).residual <= 1e-8));
  CHECK(t, !(judge_diagonal(t, one, tiny, nothing).residual <= 1e-8));
  const double answer[6] = {1e-170, 0, 0, 0, 0, 0};
  CHECK(t, judge_diagonal(t, one, tiny, answer).residual <= 1e-8);
  const double bad[6] = {NAN, 0, 0, 0, 0, 0}, q[6] = {-1, 0, 0, -1, 0, 0};
  CHECK(t, !(judge_diagonal(t, one, q, bad).residual <= 1e-8));
}

/* Large impulses that cancel: r - rho u rounds to r, and still the velocity counts. */
static void absorbed(fx_test *t) {
  const double W[6] = {1e-16, 1e-16, 1e-16, 1, 1, 1}, q[6] = {-1, 0, 0, 0, 0, 0}, r[6] = {1e17, 0, 0, 0, 0, 0};
  frix_certificate c = judge_diagonal(t, W, q, r);
  CHECK(t, c.row_residual > 0.1);
}

/* One contact on masses m, each moved by one row: u = r / m + q. */
static double judge_one(fx_test *t, bool global, frix_law law, double mu, const double m[3], const double q[3],
                        const double r[3]) {
  double M[9] = {0}, H[9] = {0}, W[9] = {0}, f[3] = {0}, w[3] = {0};
  for (int k = 0; k < 3; k++) {
    bool moves = isfinite(m[k]); /* else the row moves nobody */
    M[4 * k] = moves ? m[k] : 1, H[4 * k] = moves;
    W[4 * k] = 1 / m[k];
    f[k] = moves ? m[k] * q[k] : 0, w[k] = moves ? 0 : q[k];
  }
  frix_contact contact = frix_contact_of_dim(3, mu, 0);
  frix_problem_data d = frix_problem_data_default();
  d.form = global ? FRIX_FORM_GLOBAL : FRIX_FORM_LOCAL;
  d.contact_count = 1, d.contact = &contact;
  d.W = (frix_matrix){.format = FRIX_MATRIX_DENSE, .row_count = global ? 0 : 3, .col_count = global ? 0 : 3, .x = W};
  d.q = q;
  if (global) {
    d.dof_count = 3;
    d.M = (frix_matrix){.format = FRIX_MATRIX_DENSE, .row_count = 3, .col_count = 3, .x = M};
    d.H = (frix_matrix){.format = FRIX_MATRIX_DENSE, .row_count = 3, .col_count = 3, .x = H};
    d.f = f, d.w = w;
  }
  frix_certificate out = {.residual = NAN};
  frix_context *context = NULL;
  frix_problem *problem = NULL;
  CHECK(t, frix_context_create(NULL, &context) == FRIX_OK);
  CHECK(t, frix_problem_create(context, &d, &problem) == FRIX_OK);
  CHECK(t, problem && frix_certify(context, problem, law, r, NULL, &out, NULL, NULL) == FRIX_OK);
  frix_problem_destroy(problem);
  frix_context_destroy(context);
  return out.residual;
}

/* A large friction impulse along a tangent that moves nobody: no speed of the bodies comes from it, so it hides no
 * error of 1e-6 at the normal. */
static void idle_tangent(fx_test *t) {
  const double m[3] = {1, 1, INFINITY}, q[3] = {-1, -1, 0.5}, mu = 1e6;
  for (int global = 0; global < 2; global++)
    for (int wrong = 0; wrong < 2; wrong++) {
      double N = wrong ? 1 + 1e-6 : 1, across = 1 / (1 + 0.5 / (mu * N)); /* against the slip, at the bound */
      const double r[3] = {N, across, -sqrt(mu * N * mu * N - across * across)};
      double residual = judge_one(t, global, FRIX_LAW_COULOMB, mu, m, q, r);
      CHECK(t, wrong ? residual > 1e-7 : residual <= 1e-8);
    }
}

/* Two limits that press against each other with 2e7 N s hide no error of 1 mm/s: 1,000 times what drives the island is
 * the limit, also where the island has a tangent that moves nobody. Bodies 0 and 2 go on together, dof 1 slides. */
static void idle_row_and_limits(fx_test *t) {
  enum { MOVED = 3, ASKED = 5 };
  const double M[MOVED * MOVED] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  const double H[MOVED * ASKED] = {1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 1, -1, 0, -1};
  const double f[MOVED] = {-1, -1, 1}, w[ASKED] = {0, 0, 0.5, 0, 0}, press = 0x1p24;
  const frix_contact contact[3] = {
      frix_contact_of_dim(3, 0, 0), {.cone = FRIX_CONE_LIMIT, .dim = 1}, {.cone = FRIX_CONE_LIMIT, .dim = 1}};
  frix_problem_data d = frix_problem_data_default();
  d.form = FRIX_FORM_GLOBAL;
  d.contact_count = 3, d.contact = contact, d.dof_count = MOVED;
  d.M = (frix_matrix){.format = FRIX_MATRIX_DENSE, .row_count = MOVED, .col_count = MOVED, .x = M};
  d.H = (frix_matrix){.format = FRIX_MATRIX_DENSE, .row_count = MOVED, .col_count = ASKED, .x = H};
  d.f = f, d.w = w;
  frix_context *context = NULL;
  frix_problem *problem = NULL;
  CHECK(t, frix_context_create(NULL, &context) == FRIX_OK);
  CHECK(t, frix_problem_create(context, &d, &problem) == FRIX_OK);
  for (int wrong = 0; problem && wrong < 2; wrong++) {
    double miss = wrong ? 0x1p-10 : 0;
    const double r[ASKED] = {2 - miss, 0, 0, press, press + 1 - miss};
    frix_certificate c = {.residual = NAN};
    CHECK(t, frix_certify(context, problem, FRIX_LAW_COULOMB, r, NULL, &c, NULL, NULL) == FRIX_OK);
    CHECK(t, wrong ? c.row_residual > 1e-7 : c.residual <= 1e-8);
  }
  frix_problem_destroy(problem);
  frix_context_destroy(context);
}

/* Tangents that move light bodies do not loosen the normal row, under the relaxed law neither. */
static void light_tangent(fx_test *t) {
  const double m[3] = {1, 1e-8, 1e-8}, q[3] = {-1, -1e4, 0};
  const double exact[3] = {1, 1e-4, 0}, wrong[3] = {1 + 1e-6, 1e-4, 0};
  for (int global = 0; global < 2; global++)
    for (int law = 0; law < 2; law++) {
      frix_law which = law ? FRIX_LAW_ASSOCIATED : FRIX_LAW_COULOMB;
      CHECK(t, judge_one(t, global, which, 0.5, m, q, exact) <= 1e-8);
      CHECK(t, judge_one(t, global, which, 0.5, m, q, wrong) > 1e-7);
    }
}

/* Three bodies in a row of the tangents' plane: one of 1 kg that a joint presses with `load`, one of 1e-12 kg across
 * it. The contact is open and keeps an impulse along the light one. turned: the frame of the tangents. */
static double stray_error(fx_test *t, double load, bool turned) {
  enum { N = 3 };
  double c = turned ? 0.6 : 1, s = turned ? 0.8 : 0, tangent = 1e-17;
  const double M[N * N] = {1, 0, 0, 0, 1, 0, 0, 0, 1e-12}, f[N] = {1, 0, 1e-12}, w[4] = {0, 0, 0, 0};
  const double H[4 * N] = {1, 0, 0, 0, c, s, 0, -s, c, 0, 1, 0};
  frix_contact contact[2] = {frix_contact_of_dim(3, 1e10, 0), {.cone = FRIX_CONE_BILATERAL, .dim = 1}};
  const double r[4] = {1e-26, s * tangent, c * tangent, load};
  frix_context *context;
  frix_problem *problem = NULL;
  frix_certificate out = {.row_residual = -1};
  frix_problem_data d = frix_problem_data_default();
  d.form = FRIX_FORM_GLOBAL;
  d.contact_count = 2;
  d.contact = contact;
  d.dof_count = N;
  d.M = (frix_matrix){.format = FRIX_MATRIX_DENSE, .row_count = N, .col_count = N, .x = M};
  d.H = (frix_matrix){.format = FRIX_MATRIX_DENSE, .row_count = N, .col_count = 4, .x = H};
  d.f = f;
  d.w = w;
  if (frix_context_create(NULL, &context) != FRIX_OK) return -1;
  CHECK(t, frix_problem_create(context, &d, &problem) == FRIX_OK);
  if (problem) CHECK(t, frix_certify(context, problem, FRIX_LAW_COULOMB, r, NULL, &out, NULL, NULL) == FRIX_OK);
  frix_problem_destroy(problem);
  frix_context_destroy(context);
  return out.row_residual;
}

static void stray(fx_test *t) {
  /* it brings 1e-5 m/s to a body that carries 1 m/s */
  CHECK_NEAR(t, stray_error(t, 0, false), 1e-5 / sqrt(3), 1e-6);
  for (int turned = 0; turned < 2; turned++) {
    double e = stray_error(t, 1e6, turned);
    if (!(e > 1e-6)) fx_test_fail(t, __FILE__, __LINE__, "a load across it hides the impulse: %g", e);
  }
}

const fx_test_row test_row_errors[] = {
    {"row_errors/units", units},
    {"row_errors/order", order},
    {"row_errors/open_contact", open_contact},
    {"row_errors/beside_a_giant", beside_a_giant},
    {"row_errors/beyond_squares", beyond_squares},
    {"row_errors/absorbed", absorbed},
    {"row_errors/idle_tangent", idle_tangent},
    {"row_errors/light_tangent", light_tangent},
    {"row_errors/stray", stray},
    {"row_errors/idle_row_and_limits", idle_row_and_limits},
    {0},
};
