/* Numbers at the ends of double precision. Whatever the certificate believes is judged once more by the law itself, in
 * long double, whose exponents reach far beyond those of double, contact by contact and with no sum over contacts:
 *
 *   u_N >= 0,   r_N >= 0,   |r_T| <= mu r_N,   r_N u_N = 0,   r_T opposes u_T with mu r_N where it slides
 *
 * each relative to what the contact itself carries. Nothing is shared with the certificate's formula: no natural map,
 * no projection, no scale of the whole problem. */
#include <frix/frix.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

typedef long double real;

enum { MOST_CONTACTS = 9, MOST_ROWS = 3 * MOST_CONTACTS };

/* Circular contacts with a full W. */
typedef struct local {
  int contacts;
  double mu;
  double W[MOST_ROWS * MOST_ROWS], q[MOST_ROWS];
} local;

static local diagonal(int contacts, double mu, const double *W, const double *q) {
  local p = {.contacts = contacts, .mu = mu};
  int n = 3 * contacts;
  for (int k = 0; k < n; k++) p.W[k * n + k] = W[k], p.q[k] = q[k];
  return p;
}

/* ---- the law, in long double ---- */

static real length2(real a, real b) { return hypotl(a, b); }

/* How much of what contact i carries its velocity and impulse are off the law: speeds relative to the largest term they
 * are the sum of, impulses to the contact's own. */
static real law_error(const local *p, int i, const double *r) {
  int n = 3 * p->contacts;
  real u[3], speed = 0, impulse = length2(r[3 * i], length2(r[3 * i + 1], r[3 * i + 2])), worst = 0;
  for (int a = 0; a < 3; a++) {
    u[a] = p->q[3 * i + a];
    speed = fmaxl(speed, fabsl(u[a]));
    for (int k = 0; k < n; k++) {
      real term = (real)p->W[(3 * i + a) * n + k] * r[k];
      u[a] += term, speed = fmaxl(speed, fabsl(term));
    }
  }
  for (int a = 0; a < 3; a++)
    if (!isfinite(r[3 * i + a])) return INFINITY;
  if (speed == 0) return 0;
  real normal = r[3 * i], friction = length2(r[3 * i + 1], r[3 * i + 2]), slip = length2(u[1], u[2]);
  worst = fmaxl(worst, -u[0] / speed);                                          /* penetration */
  if (impulse > 0) worst = fmaxl(worst, -normal / impulse);                     /* pulling */
  if (impulse > 0) worst = fmaxl(worst, (friction - p->mu * normal) / impulse); /* beyond the cone */
  if (impulse > 0) worst = fmaxl(worst, fminl(u[0] / speed, normal / impulse)); /* a force across a gap */
  if (impulse > 0 && slip > 0) {                                                /* not against the slip */
    real lost = -(r[3 * i + 1] * u[1] + r[3 * i + 2] * u[2]) / slip;
    worst = fmaxl(worst, fminl(slip / speed, (p->mu * normal - lost) / impulse));
  }
  return worst;
}

static real worst_error(const local *p, const double *r) {
  real worst = 0;
  for (int i = 0; i < p->contacts; i++) worst = fmaxl(worst, law_error(p, i, r));
  return worst;
}

/* ---- problems ---- */

static frix_problem *build(frix_context *context, const local *p) {
  frix_contact contact[MOST_CONTACTS];
  frix_problem *problem = NULL;
  for (int i = 0; i < p->contacts; i++) contact[i] = frix_contact_of_dim(3, p->mu, 0);
  frix_problem_data d = frix_problem_data_default();
  d.form = FRIX_FORM_LOCAL;
  d.contact_count = p->contacts;
  d.contact = contact;
  d.W =
      (frix_matrix){.format = FRIX_MATRIX_DENSE, .row_count = 3 * p->contacts, .col_count = 3 * p->contacts, .x = p->W};
  d.q = p->q;
  return frix_problem_create(context, &d, &problem) == FRIX_OK ? problem : NULL;
}

static frix_certificate certify(fx_test *t, const local *p, const double *r) {
  frix_certificate c = {.residual = NAN};
  frix_context *context = NULL;
  if (frix_context_create(NULL, &context) != FRIX_OK) return c;
  frix_problem *problem = build(context, p);
  CHECK(t, problem && frix_certify(context, problem, FRIX_LAW_COULOMB, r, NULL, &c, NULL, NULL) == FRIX_OK);
  frix_problem_destroy(problem);
  frix_context_destroy(context);
  return c;
}

/* Solves; what is called solved must obey the law. True where it was. */
static bool solve_honestly(fx_test *t, const char *solver, const local *p, int number) {
  frix_context *context = NULL;
  frix_solution *solution = NULL;
  bool solved = false;
  if (frix_context_create(NULL, &context) != FRIX_OK) return false;
  frix_problem *problem = build(context, p);
  frix_solve_config config = frix_solve_default();
  config.solver = solver, config.max_iterations = 200, config.time_limit = 5;
  if (problem && frix_solve(context, problem, &config, &solution) == FRIX_OK) {
    frix_result result = {.size = sizeof result};
    frix_solution_view(solution, &result);
    solved = result.outcome == FRIX_OUTCOME_SOLVED;
    real error = worst_error(p, result.r);
    if (solved && !(error <= 1e-6L))
      fx_test_fail(t, __FILE__, __LINE__, "%s, problem %d: solved, residual %.1e, and off the law by %.1Lg", solver,
                   number, result.certificate.residual, error);
  }
  frix_solution_destroy(solution);
  frix_problem_destroy(problem);
  frix_context_destroy(context);
  return solved;
}

/* ---- squares that overflow or vanish ---- */

static const struct {
  double W[6], q[6];
} far[] = {
    {{1e308, 0.5, 0.5, 1, 1, 1}, {-0.5, 0.1, 0, -1, 0, 0}},
    {{1, 1, 1, 1, 1, 1}, {-1e308, 1e308, 0, -1e308, 0, 0}},
    {{1, 1, 1, 1, 1, 1}, {-1e-170, 0, 0, -1e-170, 1e-170, 0}},
    {{1, 1, 1, 1, 1, 1}, {-1e200, 3e200, 0, -1, 0, 0}},
    {{1e-200, 1e-200, 1e-200, 1, 1, 1}, {-1, 1, 0, -1, 0, 1}},
    {{1e200, 1e200, 1e200, 1, 1, 1}, {-1, 1, 0, -1, 0, 1}},
    {{1e-160, 1e-160, 1e-160, 1e-160, 1e-160, 1e-160}, {-1e-160, 1e-160, 0, -1e-150, 0, 0}},
    {{1, 1, 1, 1, 1, 1}, {-1e-300, 2e-300, 0, -1e300, 0, 0}},
};
enum { FAR = sizeof far / sizeof *far };

/* No impulse at all leaves every one of them penetrated. */
static void squares_certified(fx_test *t) {
  const double nothing[6] = {0};
  for (int k = 0; k < FAR; k++) {
    local p = diagonal(2, 0.5, far[k].W, far[k].q);
    CHECK(t, worst_error(&p, nothing) > 0.1L);
    frix_certificate c = certify(t, &p, nothing);
    if (c.residual <= 1e-8) fx_test_fail(t, __FILE__, __LINE__, "problem %d: residual %.1e", k, c.residual);
  }
}

static void squares_solved(fx_test *t) {
  static const char *const solver[] = {"auto", "nsgs", "newton", "interior_point", "lemke", "admm"};
  int solved = 0;
  for (int k = 0; k < FAR; k++)
    for (int s = 0; s < 6; s++) {
      local p = diagonal(2, 0.5, far[k].W, far[k].q);
      solved += solve_honestly(t, solver[s], &p, k);
    }
  /* in other units they are ordinary problems, which are solved */
  const double W[6] = {1, 0.5, 0.5, 1, 1, 1}, q[6] = {-0.5, 0.1, 0, -1, 2, 0};
  local p = diagonal(2, 0.5, W, q);
  for (int s = 0; s < 6; s++) CHECK(t, solve_honestly(t, solver[s], &p, -1) || !strcmp(solver[s], "lemke"));
  fx_test_note(t, "%d of %d solved", solved, 6 * FAR);
}

/* ---- numbers that are none ---- */

/* In any row of any of nine contacts (four are judged at once), and not lost in any maximum that comes after. */
static void not_a_number(fx_test *t) {
  double W[MOST_ROWS], q[MOST_ROWS];
  for (int k = 0; k < MOST_ROWS; k++) W[k] = 1, q[k] = k % 3 ? 0.1 : -1;
  local p = diagonal(MOST_CONTACTS, 0.5, W, q);
  for (int row = 0; row < MOST_ROWS; row++)
    for (int kind = 0; kind < 3; kind++) {
      double r[MOST_ROWS] = {0};
      for (int k = 0; k < MOST_ROWS; k += 3) r[k] = 1, r[k + 1] = r[k + 2] = -0.1;
      CHECK(t, certify(t, &p, r).residual <= 1e-8); /* they stick: without the bad one it is the answer */
      r[row] = kind == 0 ? NAN : kind == 1 ? INFINITY : -INFINITY;
      frix_certificate c = certify(t, &p, r);
      if (c.residual <= 1e300 || c.worst_velocity <= 1e300)
        fx_test_fail(t, __FILE__, __LINE__, "%g in row %d: residual %g, worst velocity %g", r[row], row, c.residual,
                     c.worst_velocity);
      CHECK(t, c.worst_contact == row / 3);
    }
}

/* The same in the multipliers of joints. */
static void not_a_number_in_joints(fx_test *t) {
  const double M[4] = {1, 0, 0, 1}, H[2] = {0, 1}, G[4] = {1, 0, 0, 1}, f[2] = {0, 0.1}, w[1] = {0}, b[2] = {0, 0};
  const double r[1] = {0}, good[2] = {0, -0.1};
  frix_contact contact = frix_contact_of_dim(1, 0, 0);
  frix_context *context = NULL;
  frix_problem *problem = NULL;
  frix_problem_data d = frix_problem_data_default();
  d.form = FRIX_FORM_GLOBAL;
  d.contact_count = 1, d.contact = &contact, d.dof_count = 2, d.joint_count = 2;
  d.M = (frix_matrix){.format = FRIX_MATRIX_DENSE, .row_count = 2, .col_count = 2, .x = M};
  d.H = (frix_matrix){.format = FRIX_MATRIX_DENSE, .row_count = 2, .col_count = 1, .x = H};
  d.G = (frix_matrix){.format = FRIX_MATRIX_DENSE, .row_count = 2, .col_count = 2, .x = G};
  d.f = f, d.w = w, d.b = b;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  CHECK(t, frix_problem_create(context, &d, &problem) == FRIX_OK);
  for (int k = -1; problem && k < 2; k++) {
    frix_certificate c;
    double lambda[2] = {good[0], good[1]};
    if (k >= 0) lambda[k] = NAN;
    CHECK(t, frix_certify(context, problem, FRIX_LAW_COULOMB, r, lambda, &c, NULL, NULL) == FRIX_OK);
    CHECK(t, (c.residual <= 1e-8) == (k < 0) && (c.bilateral <= 1e-8) == (k < 0));
  }
  frix_problem_destroy(problem);
  frix_context_destroy(context);
}

/* ---- impulses so large that velocities vanish beside them ---- */

/* Two contacts on opposite sides of one body, in a slot too narrow for it: u_1 + u_2 = -2 whatever they press. */
static void absorbed(fx_test *t) {
  for (double size = 1; size < 1e30; size *= 100) {
    local p = {.contacts = 2, .mu = 0};
    for (int a = 0; a < 2; a++)
      for (int b = 0; b < 2; b++) p.W[18 * a + 3 * b] = a == b ? 1 : -1;
    for (int k = 0; k < 6; k++)
      if (k % 3) p.W[7 * k] = 1;
    p.q[0] = p.q[3] = -1;
    double r[6] = {size, 0, 0, size, 0, 0};
    frix_certificate c = certify(t, &p, r);
    if (c.residual <= 1e-8)
      fx_test_fail(t, __FILE__, __LINE__, "two impulses of %g in a slot too narrow: residual %.1e", size, c.residual);
  }
}

static void absorbed_sliding(fx_test *t) {
  for (double size = 1; size < 1e30; size *= 100) {
    const double W[3] = {1 / size, 1, 1}, q[3] = {-1, 1, 0}; /* the answer: r_N = size, r_T = -1: it sticks */
    local p = diagonal(1, 0.5, W, q);
    const double wrong[3] = {1.5 * size, -1, 0}; /* lifts off at 0.5 m/s and presses */
    frix_certificate c = certify(t, &p, wrong);
    CHECK(t, law_error(&p, 0, wrong) > 0.1L);
    if (c.residual <= 1e-8) fx_test_fail(t, __FILE__, __LINE__, "an impulse of %g: residual %.1e", size, c.residual);
  }
}

/* ---- steps of any length ---- */

enum { PILE = 3 };

typedef struct pile {
  frix_context *context;
  frix_model *model;
  frix_sim *sim;
  frix_body_id id[PILE];
} pile;

/* Boxes on the ground, on each other, under gravity that leans by less than friction allows. */
static bool pile_new(pile *p, const char *solver) {
  frix_builder *builder = NULL;
  frix_shape_config plane = frix_shape_default(), box = frix_shape_default();
  plane.kind = FRIX_SHAPE_PLANE, box.kind = FRIX_SHAPE_BOX, box.half = (frix_vec3){0.2, 0.2, 0.1};
  frix_sim_config config = frix_sim_default();
  config.contact = FRIX_CONTACT_KIND_RIGID;
  config.solver = solver;
  *p = (pile){0};
  bool good = frix_context_create(NULL, &p->context) == FRIX_OK &&
              frix_builder_create(p->context, &builder) == FRIX_OK &&
              frix_builder_set_gravity(builder, (frix_vec3){1, 2, -9}) == FRIX_OK &&
              frix_builder_add_shape(builder, (frix_body_id){0, 0}, &plane, NULL) == FRIX_OK;
  for (int k = 0; good && k < PILE; k++) {
    frix_body_config body = frix_body_default();
    body.pose.p = (frix_vec3){0.02 * k, -0.03 * k, 0.1 + 0.2 * k}, body.mass = 1 + k;
    good = frix_builder_add_body(builder, &body, &p->id[k]) == FRIX_OK &&
           frix_builder_add_shape(builder, p->id[k], &box, NULL) == FRIX_OK;
  }
  good = good && frix_builder_compile(builder, &p->model) == FRIX_OK &&
         frix_sim_create(p->context, p->model, &config, &p->sim) == FRIX_OK;
  frix_builder_destroy(builder);
  return good;
}

static void pile_end(pile *p) {
  frix_sim_destroy(p->sim);
  frix_model_destroy(p->model);
  frix_context_destroy(p->context);
}

/* The fastest of them, relative to g h. */
static real pile_speed(const pile *p, double h) {
  real most = 0;
  for (int k = 0; k < PILE; k++) {
    frix_body_state s = {0};
    frix_sim_body(p->sim, p->id[k], &s);
    real v = length2(s.velocity.x, length2(s.velocity.y, s.velocity.z)) / h / 9.27L;
    if (!(v <= most)) most = v;
  }
  return most;
}

/* Certified steps leave them at rest, refused ones change nothing. */
static void step_lengths(fx_test *t) {
  static const double length[] = {1e-300, 1e-250, 1e-200, 1e-170, 1e-160, 1e-150, 1e-100, 1e-30, 1e-9,
                                  1e30,   1e100,  1e150,  1e155,  1e160,  1e200,  1e250,  1e300};
  static const char *const solver[] = {"auto", "nsgs", "newton"};
  int certified[3] = {0}, refused = 0, count = sizeof length / sizeof *length;
  for (int k = 0; k < 3 * count; k++) {
    double h = length[k / 3];
    pile p;
    frix_step_report report = {0};
    bool good = pile_new(&p, solver[k % 3]);
    CHECK(t, good);
    frix_status status = good ? frix_sim_step(p.sim, h, &report) : FRIX_ERROR_INPUT;
    real speed = good ? pile_speed(&p, h) : 0;
    if (status == FRIX_OK && report.certified && !(speed <= 1e-6L))
      fx_test_fail(t, __FILE__, __LINE__, "%s, h = %g: certified, residual %.1e, and moves with %.1Lg g h",
                   solver[k % 3], h, report.certificate.residual, speed);
    if (status != FRIX_OK) CHECK(t, good && speed == 0 && frix_sim_time(p.sim) == 0);
    certified[k % 3] += status == FRIX_OK && report.certified, refused += status != FRIX_OK;
    pile_end(&p);
  }
  CHECK(t, certified[0] >= 4); /* from 1e-100 to 1e100 it is an ordinary step */
  fx_test_note(t, "of %d lengths %d, %d, %d certified, %d refused", count, certified[0], certified[1], certified[2],
               refused);
}

/* ---- spins whose squares underflow ---- */

/* Momenta are kept, however small: 1e-170 rad/s is not rest. */
static void tiny_spin(fx_test *t) {
  frix_vec3 spin = {3e-170, -2e-170, 1e-170};
  pile p;
  bool good = pile_new(&p, "auto");
  CHECK(t, good);
  for (int k = 0; good && k < PILE; k++) {
    frix_pose away = {{0, 0, 5.0 + 5 * k}, {1, 0, 0, 0}};
    good = frix_sim_set_pose(p.sim, p.id[k], away) == FRIX_OK &&
           frix_sim_set_velocity(p.sim, p.id[k], (frix_vec3){0, 0, 0}, spin) == FRIX_OK;
  }
  for (int k = 0; good && k < 5; k++) good = frix_sim_step(p.sim, 1e-3, NULL) == FRIX_OK;
  CHECK(t, good);
  for (int k = 0; good && k < PILE; k++) {
    frix_body_state s = {0};
    frix_sim_body(p.sim, p.id[k], &s);
    CHECK(t, fabs(s.spin.x - spin.x) < 1e-183 && fabs(s.spin.y - spin.y) < 1e-183 && fabs(s.spin.z - spin.z) < 1e-183);
  }
  pile_end(&p);
}

const fx_test_row test_extremes[] = {
    {"extremes/squares_certified", squares_certified},
    {"extremes/squares_solved", squares_solved},
    {"extremes/not_a_number", not_a_number},
    {"extremes/not_a_number_in_joints", not_a_number_in_joints},
    {"extremes/absorbed", absorbed},
    {"extremes/absorbed_sliding", absorbed_sliding},
    {"extremes/step_lengths", step_lengths},
    {"extremes/tiny_spin", tiny_spin},
    {0},
};
