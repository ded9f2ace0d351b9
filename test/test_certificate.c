/* The certificate against an independent recomputation (oracle.h), on every instance at hand, every cone, both laws,
 * for random impulses, none at all, and impulses on the boundary of their cones. */
#include "instances.h"
#include "oracle.h"

#include "examples/examples.h"

static const double tolerance = 1e-12;

/* ---- the certificate from the formulas ---- */

typedef struct verdict {
  real contact_residual, joint_residual, residual, rho;
  real worst_velocity, signorini, cone, dissipation, bilateral, power;
  real *velocity; /* natural map of every contact, in velocity units; 0 for bilateral ones */
  /* sizes of the terms, below which agreement means nothing */
  real residual_scale, velocity_scale, power_scale;
} verdict;

/* |r - P_K(r - rho u~)|^2 of one contact. */
static real squared_map(const frix_contact *c, frix_law law, real rho, const real *r, const real *u) {
  real x[FRIX_MAX_DIM] = {0}, p[FRIX_MAX_DIM], minus[FRIX_MAX_DIM] = {0}, sum = 0;
  for (int k = 0; k < c->dim; k++) x[k] = r[k] - rho * u[k], minus[k] = -u[k];
  if (law == FRIX_LAW_COULOMB && c->cone != FRIX_CONE_BILATERAL) x[0] -= rho * oracle_support(c, minus + 1);
  oracle_project(c, x, p);
  for (int k = 0; k < c->dim; k++) sum += (r[k] - p[k]) * (r[k] - p[k]);
  return sum;
}

/* Sums over the rows of one kind: the diagonal of W, the map, r, u and q squared. */
typedef struct totals {
  real diagonal, map, r, u, q;
  int64_t count;
} totals;

static void add_rows(totals *t, const oracle *o, int32_t from, int32_t to, const real *z, const real *u) {
  for (int32_t k = from; k < to; k++) {
    real q = o->q[k];
    if (k < o->row_count && o->data.R && o->data.r_c) q -= (real)o->data.R[k] * o->data.r_c[k];
    t->diagonal += o->diagonal[k];
    t->r += z[k] * z[k];
    t->u += u[k] * u[k];
    t->q += q * q;
    t->count++;
  }
}

/* Signorini, cone and dissipation parts of one contact. */
static void judge_parts(verdict *c, const frix_contact *contact, frix_law law, real rho, const real *r, const real *u) {
  real p[FRIX_MAX_DIM], minus[FRIX_MAX_DIM], outside = 0, friction = 0;
  for (int k = 0; k < contact->dim; k++) minus[k] = -u[k];
  real shift = oracle_support(contact, minus + 1);
  real lift = law == FRIX_LAW_ASSOCIATED ? shift : 0;
  c->signorini = fmaxl(c->signorini, fabsl(fminl(u[0] - lift, r[0] / rho)));
  oracle_project(contact, r, p);
  for (int k = 0; k < contact->dim; k++) outside += (r[k] - p[k]) * (r[k] - p[k]);
  c->cone = fmaxl(c->cone, sqrtl(outside) / rho);
  for (int k = 1; k < contact->dim; k++) friction += r[k] * u[k];
  c->dissipation = fmaxl(c->dissipation, fabsl(fmaxl(r[0], 0) * shift + friction));
  for (int k = 0; k < contact->dim; k++)
    c->velocity_scale = fmaxl(c->velocity_scale, fabsl(u[k]) + fabsl(r[k]) / rho + shift);
}

static verdict judge(oracle *o, frix_law law, const real *z, const real *u) {
  verdict c = {0};
  totals t[2] = {0}; /* contacts, joints */
  int32_t row = 0;
  c.velocity = calloc((size_t)o->data.contact_count + 1, sizeof *c.velocity);
  for (int32_t i = 0; i < o->data.contact_count; row += o->data.contact[i++].dim)
    add_rows(&t[o->data.contact[i].cone == FRIX_CONE_BILATERAL], o, row, row + o->data.contact[i].dim, z, u);
  add_rows(&t[1], o, o->row_count, o->total, z, u);
  real rho = t[0].diagonal > 0 ? t[0].count / t[0].diagonal : 1;
  real rho_b = t[1].diagonal > 0 ? t[1].count / t[1].diagonal : 1;
  row = 0;
  for (int32_t i = 0; i < o->data.contact_count; row += o->data.contact[i++].dim) {
    const frix_contact *contact = &o->data.contact[i];
    if (contact->cone == FRIX_CONE_BILATERAL) {
      for (int k = 0; k < contact->dim; k++) c.bilateral = fmaxl(c.bilateral, fabsl(u[row + k]));
      continue;
    }
    t[0].map += squared_map(contact, law, rho, z + row, u + row);
    real trace = 0;
    for (int k = 0; k < contact->dim; k++) trace += o->diagonal[row + k];
    real rho_i = trace > 0 ? contact->dim / trace : rho;
    c.velocity[i] = sqrtl(squared_map(contact, law, rho_i, z + row, u + row)) / rho_i;
    c.worst_velocity = fmaxl(c.worst_velocity, c.velocity[i]);
    judge_parts(&c, contact, law, rho_i, z + row, u + row);
  }
  for (int32_t k = o->row_count; k < o->total; k++) c.bilateral = fmaxl(c.bilateral, fabsl(u[k]));
  for (int32_t k = 0; k < o->total; k++) c.power += z[k] * u[k], c.power_scale += fabsl(z[k] * u[k]);
  real divisor = t[0].r > 0 ? fminl(sqrtl(t[0].r), 1000 * rho * sqrtl(t[0].q + t[1].q)) : rho * sqrtl(t[0].q);
  divisor = fmaxl(divisor, 1e-7L * sqrtl(rho) * o->carried);
  c.contact_residual = t[0].map > 0 ? sqrtl(t[0].map) / divisor : 0;
  real joint_divisor = fmaxl(sqrtl(t[1].r), rho_b * sqrtl(t[1].q));
  joint_divisor = fminl(joint_divisor, 1000 * rho_b * sqrtl(t[0].q + t[1].q));
  joint_divisor = fmaxl(joint_divisor, 1e-7L * sqrtl(rho_b) * o->carried);
  c.joint_residual = t[1].u > 0 ? rho_b * sqrtl(t[1].u) / joint_divisor : 0;
  c.residual = fmaxl(c.contact_residual, c.joint_residual);
  c.residual_scale = divisor > 0 ? (sqrtl(t[0].r) + rho * sqrtl(t[0].u)) / divisor : 1;
  c.rho = rho;
  return c;
}

/* ---- comparison ---- */

typedef struct comparison {
  fx_test *t;
  const char *name; /* of the instance */
  const char *kind; /* of the impulses */
  double worst;     /* largest disagreement over its scale so far */
} comparison;

static void compare(comparison *c, const char *what, double value, real expected, real scale) {
  if (isinf(expected) && value == (double)expected) return;
  real size = fmaxl(fabsl(expected), scale);
  real error = size > 0 ? fabsl(value - expected) / size : fabsl(value - expected);
  if (error > c->worst) c->worst = (double)error;
  if (!(error <= tolerance))
    fx_test_fail(c->t, __FILE__, __LINE__, "%s, %s: %s is %.17g, expected %.17Lg (scale %.3Lg)", c->name, c->kind, what,
                 value, expected, scale);
}

static void compare_certificates(comparison *c, const oracle *o, const frix_certificate *got, const verdict *want) {
  compare(c, "rho", got->rho, want->rho, 0);
  compare(c, "contact_residual", got->contact_residual, want->contact_residual, want->residual_scale);
  compare(c, "joint_residual", got->joint_residual, want->joint_residual, 1);
  /* test_row_errors.c judges the errors of single contacts */
  compare(c, "residual", got->residual, fmaxl(want->residual, got->row_residual), want->residual_scale);
  compare(c, "worst_velocity", got->worst_velocity, want->worst_velocity, want->velocity_scale);
  compare(c, "signorini", got->signorini, want->signorini, want->velocity_scale);
  compare(c, "cone", got->cone, want->cone, want->velocity_scale);
  compare(c, "dissipation", got->dissipation, want->dissipation, want->power_scale);
  compare(c, "bilateral", got->bilateral, want->bilateral, want->velocity_scale);
  compare(c, "power", got->power, want->power, want->power_scale);
  CHECK(c->t, got->motion <= tolerance);
  if (got->worst_contact >= 0 && got->worst_contact < o->data.contact_count)
    compare(c, "velocity of the worst contact", got->worst_velocity, want->velocity[got->worst_contact],
            want->velocity_scale);
}

/* Certifies z (contacts, then joints) with both laws and compares. */
static void check_impulses(comparison *c, frix_context *context, const frix_problem *problem, oracle *o,
                           const double *z) {
  real *exact = calloc((size_t)o->total + 1, sizeof *exact), *u = calloc((size_t)o->total + 1, sizeof *u);
  double *got_u = calloc((size_t)o->total + 1, sizeof *got_u);
  for (int32_t k = 0; k < o->total; k++) exact[k] = z[k];
  oracle_apply(o, exact, u);
  for (int law = 0; law < 2; law++) {
    frix_certificate got;
    verdict want = judge(o, (frix_law)law, exact, u);
    frix_status status = frix_certify(context, problem, (frix_law)law, z, z + o->row_count, &got, got_u, NULL);
    if (status == FRIX_OK)
      compare_certificates(c, o, &got, &want);
    else
      fx_test_fail(c->t, __FILE__, __LINE__, "%s: %s", c->name, frix_error_text(context));
    free(want.velocity);
    real scale = 0;
    for (int32_t k = 0; k < o->row_count; k++) scale = fmaxl(scale, fabsl(u[k]));
    for (int32_t k = 0; k < o->row_count && status == FRIX_OK; k++) compare(c, "u", got_u[k], u[k], scale);
  }
  free(exact), free(u), free(got_u);
}

/* Random, zero, and boundary impulses of the problem's own size |q| / mean diag W. */
static double check_problem(fx_test *t, frix_context *context, const char *name, const frix_problem *problem) {
  oracle o = oracle_new(problem);
  comparison c = {.t = t, .name = name};
  double *z = calloc((size_t)o.total + 1, sizeof *z);
  real size = 0, diagonal = 0;
  for (int32_t k = 0; k < o.total; k++) size += o.q[k] * o.q[k], diagonal += fabsl(o.diagonal[k]);
  size = diagonal > 0 ? sqrtl(size * o.total) / diagonal : 1;
  if (!(size > 0)) size = 1;

  c.kind = "r = 0";
  check_impulses(&c, context, problem, &o, z);
  c.kind = "random r";
  for (int32_t k = 0; k < o.total; k++) z[k] = (double)size * fx_test_random(t);
  check_impulses(&c, context, problem, &o, z);
  c.kind = "r in K";
  int32_t row = 0;
  for (int32_t i = 0; i < o.data.contact_count; row += o.data.contact[i++].dim) {
    real x[FRIX_MAX_DIM];
    for (int k = 0; k < o.data.contact[i].dim; k++) x[k] = z[row + k];
    if (o.data.contact[i].cone != FRIX_CONE_BILATERAL) x[0] = fabsl(x[0]) / 4; /* mostly on the boundary */
    oracle_project(&o.data.contact[i], x, x);
    for (int k = 0; k < o.data.contact[i].dim; k++) z[row + k] = (double)x[k];
  }
  check_impulses(&c, context, problem, &o, z);
  free(z);
  oracle_free(&o);
  return c.worst;
}

/* ---- instances from files ---- */

static void visit(fx_test *t, frix_context *context, const char *name, const frix_problem *problem, void *user) {
  double *worst = user;
  *worst = fmax(*worst, check_problem(t, context, name, problem));
}

static void check_folder(fx_test *t, const char *folder) {
  double worst = 0;
  int count = instances_visit(t, folder, visit, &worst);
  if (count) fx_test_note(t, "%d files, worst %.1e", count, worst);
}

static void contact_files(fx_test *t) { check_folder(t, "problems/contact"); }
static void rolling_files(fx_test *t) { check_folder(t, "problems/rolling"); }

/* ---- generated instances ---- */

static void examples(fx_test *t) {
  frix_context *context;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  const frix_example *row;
  double worst = 0;
  for (int32_t k = 0; (row = frix_example_table(k)); k++) {
    frix_problem *problem = NULL, *reduced = NULL;
    CHECK(t, frix_example_build(row, context, NULL, &problem) == FRIX_OK);
    if (problem) worst = fmax(worst, check_problem(t, context, row->name, problem));
    if (problem) CHECK(t, frix_problem_reduce(problem, &reduced) == FRIX_OK);
    if (reduced) worst = fmax(worst, check_problem(t, context, row->name, reduced));
    frix_problem_destroy(problem);
    frix_problem_destroy(reduced);
  }
  frix_context_destroy(context);
  fx_test_note(t, "worst %.1e", worst);
}

/* Contact i of a mixed problem: every cone in turn, with coefficients that include 0. */
static frix_contact mixed_contact(fx_test *t, int32_t i) {
  frix_contact c = {.cone = (frix_cone)(i % FRIX_CONE_COUNT)};
  const frix_cone_info *info = frix_cone_table(c.cone);
  c.dim = info->min_dim + (i / FRIX_CONE_COUNT) % (info->max_dim - info->min_dim + 1);
  bool zero = i % 5 == 4;
  c.facets = 3 + i % 10;
  c.mu = zero ? 0 : fabs(fx_test_random(t)) + 0.01;
  c.mu2 = i % 7 == 6 ? 0 : fabs(fx_test_random(t)) + 0.01;
  c.mu_r = i % 11 == 10 ? 0 : 0.3 * fabs(fx_test_random(t));
  c.axis[0] = fx_test_random(t), c.axis[1] = 3 * fx_test_random(t);
  return c;
}

/* W = A A' + a skew part: nonsymmetric, like several of the real instances. */
static void mixed(fx_test *t, bool compliant) {
  enum { COUNT = 40, ROUNDS = 20 };
  frix_context *context;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  double worst = 0;
  for (int round = 0; round < ROUNDS; round++) {
    frix_contact contact[COUNT];
    int32_t n = 0;
    for (int32_t i = 0; i < COUNT; i++) n += (contact[i] = mixed_contact(t, i + 3 * round)).dim;
    size_t size = (size_t)n;
    double *W = calloc(size * size, sizeof *W), *q = calloc(size, sizeof *q), *R = calloc(size, sizeof *R);
    double *r_c = calloc(size, sizeof *r_c);
    for (int32_t j = 0; j < n; j++)
      for (int32_t i = 0; i < n; i++) W[j * n + i] = i == j ? 2 + fx_test_random(t) : 0.1 * fx_test_random(t);
    for (int32_t j = 0; j < n; j++)
      q[j] = fx_test_random(t), R[j] = fabs(fx_test_random(t)), r_c[j] = fx_test_random(t);
    frix_problem_data data = frix_problem_data_default();
    data.form = FRIX_FORM_LOCAL;
    data.contact_count = COUNT;
    data.contact = contact;
    data.W = (frix_matrix){.format = FRIX_MATRIX_DENSE, .row_count = n, .col_count = n, .x = W};
    data.q = q;
    if (compliant) data.R = R, data.r_c = round % 2 ? r_c : NULL;
    frix_problem *problem = NULL;
    CHECK(t, frix_problem_create(context, &data, &problem) == FRIX_OK);
    if (problem) worst = fmax(worst, check_problem(t, context, "mixed", problem));
    frix_problem_destroy(problem);
    free(W), free(q), free(R), free(r_c);
  }
  frix_context_destroy(context);
  fx_test_note(t, "worst %.1e", worst);
}

static void every_cone(fx_test *t) { mixed(t, false); }
static void compliance(fx_test *t) { mixed(t, true); }

/* The projection itself, at points of every size and on purpose in awkward places: W = 1, q = -x, so that at r = 0
 * (associated law) the natural map is -P_K(x / rho). */
static void awkward_points(fx_test *t) {
  frix_context *context;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  static const double coefficient[] = {0, 1e-9, 1e-3, 0.5, 1, 30};
  static const double entry[] = {0, 1, -1, 1e-8, -1e-8, 1e6, -0.5};
  enum { MU = 6, ENTRY = 7 };
  int32_t point = 0;
  double worst = 0;
  for (int cone = 0; cone < FRIX_CONE_COUNT; cone++)
    for (int a = 0; a < MU; a++)
      for (int b = 0; b < MU; b++)
        for (int k = 0; k < 8; k++) {
          frix_contact c = {.cone = (frix_cone)cone, .facets = 3 + k % 8};
          c.dim = frix_cone_table(cone)->max_dim;
          c.mu = coefficient[a], c.mu2 = coefficient[b], c.mu_r = coefficient[b];
          c.axis[0] = k % 3 ? 1 : 0.6, c.axis[1] = k % 3 ? 0 : 0.8;
          double W[FRIX_MAX_DIM * FRIX_MAX_DIM] = {0}, q[FRIX_MAX_DIM];
          for (int j = 0; j < c.dim; j++) {
            point = (point * 31 + 17) % 9973;
            W[j * c.dim + j] = 1, q[j] = -entry[point % ENTRY];
          }
          frix_problem_data data = frix_problem_data_default();
          data.form = FRIX_FORM_LOCAL;
          data.contact_count = 1;
          data.contact = &c;
          data.W = (frix_matrix){.format = FRIX_MATRIX_DENSE, .row_count = c.dim, .col_count = c.dim, .x = W};
          data.q = q;
          frix_problem *problem = NULL;
          char name[64];
          snprintf(name, sizeof name, "%s, mu %g, mu2 %g, point %d", frix_cone_table(c.cone)->name, c.mu, c.mu2, k);
          CHECK(t, frix_problem_create(context, &data, &problem) == FRIX_OK);
          if (problem) worst = fmax(worst, check_problem(t, context, name, problem));
          frix_problem_destroy(problem);
        }
  frix_context_destroy(context);
  fx_test_note(t, "worst %.1e", worst);
}

/* No contact, no impulse, no free velocity: the certificate is 0, not 0/0. */
static void nothing(fx_test *t) {
  frix_context *context;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  double W[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, q[3] = {0, 0, 0}, r[3] = {0, 0, 0};
  frix_contact contact = frix_contact_of_dim(3, 0.5, 0.0);
  frix_problem_data data = frix_problem_data_default();
  data.form = FRIX_FORM_LOCAL;
  data.contact_count = 1;
  data.contact = &contact;
  data.W = (frix_matrix){.format = FRIX_MATRIX_DENSE, .row_count = 3, .col_count = 3, .x = W};
  data.q = q;
  for (int round = 0; round < 2; round++) {
    frix_problem *problem = NULL;
    frix_certificate c;
    REQUIRE(t, frix_problem_create(context, &data, &problem) == FRIX_OK);
    CHECK(t, frix_certify(context, problem, FRIX_LAW_COULOMB, r, NULL, &c, NULL, NULL) == FRIX_OK);
    CHECK(t, c.residual == 0.0 && c.worst_velocity == 0.0);
    CHECK(t, c.worst_contact == (round ? -1 : 0));
    frix_problem_destroy(problem);
    data.contact_count = 0;
    data.W.row_count = data.W.col_count = 0;
  }
  frix_context_destroy(context);
}

/* Two contacts that ask for opposite motions of one body: no impulses obey the law, and none may pass for an answer,
 * however large. */
static void no_answer(fx_test *t) {
  frix_context *context;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  double W[4] = {1, -1, -1, 1}, q[2] = {-1, -1};
  frix_contact contact[2] = {frix_contact_of_dim(1, 0.0, 0.0), frix_contact_of_dim(1, 0.0, 0.0)};
  frix_problem_data data = frix_problem_data_default();
  data.form = FRIX_FORM_LOCAL;
  data.contact_count = 2;
  data.contact = contact;
  data.W = (frix_matrix){.format = FRIX_MATRIX_DENSE, .row_count = 2, .col_count = 2, .x = W};
  data.q = q;
  frix_problem *problem = NULL;
  REQUIRE(t, frix_problem_create(context, &data, &problem) == FRIX_OK);
  for (double size = 1; size < 1e15; size *= 10) {
    double r[2] = {size, size};
    frix_certificate c;
    CHECK(t, frix_certify(context, problem, FRIX_LAW_COULOMB, r, NULL, &c, NULL, NULL) == FRIX_OK);
    CHECK(t, c.residual > 1e-4 && c.contact_residual > 1e-4); /* by row, and over all rows */
  }
  frix_solution *solution = NULL;
  frix_result result;
  REQUIRE(t, frix_solve(context, problem, NULL, &solution) == FRIX_OK);
  frix_solution_view(solution, &result);
  CHECK(t, result.outcome != FRIX_OUTCOME_SOLVED);
  frix_solution_destroy(solution);
  frix_problem_destroy(problem);
  frix_context_destroy(context);
}

const fx_test_row test_certificate[] = {
    {"certificate/contact_files", contact_files},
    {"certificate/rolling_files", rolling_files},
    {"certificate/examples", examples},
    {"certificate/every_cone", every_cone},
    {"certificate/compliance", compliance},
    {"certificate/awkward_points", awkward_points},
    {"certificate/nothing", nothing},
    {"certificate/no_answer", no_answer},
    {0},
};
