/* One contact in every state of every law, by solutions made to measure.
 *
 * Choose the velocity u and the impulse r the law allows together, then q = u - W r - R (r - r_c): the solver must find
 * them again. W is diagonally dominant and nonsymmetric, so the answer is unique. */
#include "answer.h"

enum { STICK, SLIP, OPEN, STATES };
static const char *const state_name[STATES] = {"sticking", "slipping", "open"};

static double dot(const double *a, const double *b, int n) {
  double sum = 0;
  for (int k = 0; k < n; k++) sum += a[k] * b[k];
  return sum;
}

/* The friction impulse of largest dissipation against the slip u_T, for r_N = 1. */
static void dissipate(const frix_contact *c, const double *slip, double *r) {
  switch (c->cone) {
    case FRIX_CONE_CIRCULAR:
    case FRIX_CONE_PLANAR:
    case FRIX_CONE_ROLLING: {
      int n = c->cone == FRIX_CONE_PLANAR ? 1 : 2;
      for (int k = 0; k < n; k++) r[k] = -c->mu * slip[k] / sqrt(dot(slip, slip, n));
      if (c->cone == FRIX_CONE_ROLLING)
        for (int k = 2; k < 4; k++) r[k] = -c->mu_r * slip[k] / sqrt(dot(slip + 2, slip + 2, 2));
      break;
    }
    case FRIX_CONE_ELLIPTIC: {
      double length = sqrt(dot(c->axis, c->axis, 2)), e[2] = {c->axis[0] / length, c->axis[1] / length};
      double a = e[0] * slip[0] + e[1] * slip[1], b = e[0] * slip[1] - e[1] * slip[0];
      double power = sqrt(c->mu * c->mu * a * a + c->mu2 * c->mu2 * b * b);
      a *= -c->mu * c->mu / power, b *= -c->mu2 * c->mu2 / power;
      r[0] = e[0] * a - e[1] * b, r[1] = e[1] * a + e[0] * b;
      break;
    }
    case FRIX_CONE_PYRAMID: {
      double best = -INFINITY;
      for (int k = 0; k < c->facets; k++) {
        double angle = 2 * 3.14159265358979323846 * k / c->facets, d[2] = {c->mu * cos(angle), c->mu * sin(angle)};
        if (-dot(d, slip, 2) > best) best = -dot(d, slip, 2), r[0] = d[0], r[1] = d[1];
      }
      break;
    }
    default: break;
  }
}

static void make(fx_test *t, const frix_contact *c, int state, double *r, double *u) {
  int n = c->dim, tangents = n - 1;
  double slip[FRIX_MAX_DIM] = {0};
  for (int k = 0; k < n; k++) r[k] = u[k] = 0;
  if (state == OPEN) {
    for (int k = 0; k < n; k++) u[k] = fx_test_random(t);
    u[0] = fabs(u[0]) + 0.1;
    return;
  }
  r[0] = 1 + 0.5 * fx_test_random(t);
  for (int k = 0; k < tangents; k++) slip[k] = fx_test_random(t);
  dissipate(c, slip, r + 1);
  double part = state == STICK ? 0.7 * r[0] : r[0];
  for (int k = 1; k < n; k++) r[k] *= part;
  bool glides = state == SLIP || c->cone == FRIX_CONE_FRICTIONLESS; /* without friction nothing sticks */
  for (int k = 1; k < n; k++) u[k] = glides ? slip[k - 1] : 0;
}

/* A contact with everything that belongs to it. */
typedef struct sample {
  frix_contact contact;
  double W[25], q[5], R[5], r_c[5], r[5], u[5];
} sample;

static sample make_sample(fx_test *t, frix_cone cone, int state, int round, bool compliant, frix_law law) {
  sample s = {.contact = {.cone = cone, .facets = 3 + round, .mu = 0.1 + 0.05 * round, .mu2 = 0.6, .mu_r = 0.2}};
  int n = s.contact.dim = frix_cone_table((int32_t)cone)->max_dim;
  s.contact.axis[0] = fx_test_random(t), s.contact.axis[1] = fx_test_random(t);
  for (int k = 0; k < n * n; k++) s.W[k] = 0.08 * fx_test_random(t) + (k % (n + 1) == 0);
  for (int k = 0; k < n && compliant; k++) s.R[k] = 0.5 + 0.5 * fx_test_random(t), s.r_c[k] = fx_test_random(t);
  make(t, &s.contact, state, s.r, s.u);
  /* the associated law lifts a slipping contact by the power of the friction set against the slip */
  if (law == FRIX_LAW_ASSOCIATED) s.u[0] = state == OPEN ? s.u[0] + 3 : -dot(s.r + 1, s.u + 1, n - 1) / s.r[0];
  for (int i = 0; i < n; i++) {
    s.q[i] = s.u[i] - s.R[i] * (s.r[i] - s.r_c[i]);
    for (int j = 0; j < n; j++) s.q[i] -= s.W[j * n + i] * s.r[j];
  }
  return s;
}

/* Solves a sample; returns the largest error of r, NAN where there is no certified answer. */
static double solve_sample(fx_test *t, const sample *s, bool compliant, frix_law law) {
  answer a = {0};
  int n = s->contact.dim;
  double error = NAN;
  frix_problem_data data = frix_problem_data_default();
  data.form = FRIX_FORM_LOCAL;
  data.contact_count = 1;
  data.contact = &s->contact;
  data.W = (frix_matrix){.format = FRIX_MATRIX_DENSE, .row_count = n, .col_count = n, .x = s->W};
  data.q = s->q;
  if (compliant) data.R = s->R, data.r_c = s->r_c;
  data.title = frix_cone_table((int32_t)s->contact.cone)->name;
  CHECK(t, frix_context_create(NULL, &a.context) == FRIX_OK);
  CHECK(t, frix_problem_create(a.context, &data, &a.problem) == FRIX_OK);
  if (a.problem && answer_solve(t, &a, law, 1e-12)) {
    error = 0;
    for (int k = 0; k < n; k++) error = fmax(error, fabs(a.result.r[k] - s->r[k]));
  }
  answer_free(&a);
  return error;
}

static void laws(fx_test *t, bool compliant, frix_law law) {
  enum { ROUNDS = 12 };
  double worst = 0;
  for (int cone = 0; cone < FRIX_CONE_BILATERAL; cone++)
    for (int state = 0; state < STATES; state++)
      for (int round = 0; round < ROUNDS; round++) {
        sample s = make_sample(t, (frix_cone)cone, state, round, compliant, law);
        double error = solve_sample(t, &s, compliant, law);
        worst = fmax(worst, error);
        if (!(error < 1e-9))
          fx_test_fail(t, __FILE__, __LINE__, "%s, %s, mu %g: r off by %.2e", frix_cone_table(cone)->name,
                       state_name[state], s.contact.mu, error);
      }
  fx_test_note(t, "r to %.1e", worst);
}

static void coulomb(fx_test *t) { laws(t, false, FRIX_LAW_COULOMB); }
static void coulomb_compliant(fx_test *t) { laws(t, true, FRIX_LAW_COULOMB); }
static void associated(fx_test *t) { laws(t, false, FRIX_LAW_ASSOCIATED); }
static void associated_compliant(fx_test *t) { laws(t, true, FRIX_LAW_ASSOCIATED); }

/* A contact on a spring that remembers: W = w I, sticking r = (R r_c - q) / (w + R), slipping: on the cone in that
 * direction. */
static void spring_memory(fx_test *t) {
  const double w = 2, k = 0.5, mu = 0.5;
  static const double row[][6] = {
      {-3, 0.5, 0, 0, 0.2, -0.1}, /* sticks */
      {-3, 0.5, 0, 0, 4, 3},      /* the memory alone makes it slip */
      {-1, 3, 4, 2, 0, 0},        /* slips, memory in the normal */
      {1, 0.2, 0.1, 0.5, 0.3, 0}, /* open: r = 0 */
  };
  for (int j = 0; j < 4; j++) {
    double expected[3], q[3] = {row[j][0], row[j][1], row[j][2]}, r_c[3] = {row[j][3], row[j][4], row[j][5]};
    for (int i = 0; i < 3; i++) expected[i] = (k * r_c[i] - q[i]) / (w + k);
    double length = hypot(expected[1], expected[2]), bound = mu * fmax(expected[0], 0);
    for (int i = 1; i < 3 && length > bound; i++) expected[i] *= bound / length;
    expected[0] = fmax(expected[0], 0);
    sample s = {.contact = frix_contact_of_dim(3, mu, 0)};
    for (int i = 0; i < 3; i++) {
      s.W[4 * i] = w, s.R[i] = k;
      s.q[i] = q[i], s.r_c[i] = r_c[i], s.r[i] = expected[i];
    }
    CHECK(t, solve_sample(t, &s, true, FRIX_LAW_COULOMB) < 1e-12);
  }
}

const fx_test_row test_laws[] = {
    {"laws/coulomb", coulomb},
    {"laws/coulomb_compliant", coulomb_compliant},
    {"laws/associated", associated},
    {"laws/associated_compliant", associated_compliant},
    {"laws/spring_memory", spring_memory},
    {0},
};
