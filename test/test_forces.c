/* Admissible impulses: intervals against closed forms, limit analysis and other answers; verdicts with witnesses. */
#include "examples/examples.h"
#include "instances.h"
#include "shell.h"

#include <math.h>

/* ---- problems of one planar or spatial world, dense ---- */

enum { MOST_DOF = 200, MOST_ROWS = 300 };

typedef struct world {
  double M[MOST_DOF], H[MOST_DOF * MOST_ROWS], f[MOST_DOF], w[MOST_ROWS];
  frix_contact contact[MOST_ROWS];
  int dof, rows, contacts;
} world;

static frix_problem *problem_of(fx_test *t, frix_context *context, const world *d) {
  frix_problem *problem = NULL;
  double *M = calloc((size_t)d->dof * (size_t)d->dof, sizeof *M),
         *H = calloc((size_t)d->dof * (size_t)d->rows, sizeof *H);
  for (int k = 0; k < d->dof; k++) M[k * (d->dof + 1)] = d->M[k];
  for (int c = 0; c < d->rows; c++)
    for (int r = 0; r < d->dof; r++) H[c * d->dof + r] = d->H[c * MOST_DOF + r];
  frix_problem_data data = frix_problem_data_default();
  data.form = FRIX_FORM_GLOBAL;
  data.contact_count = d->contacts;
  data.contact = d->contact;
  data.dof_count = d->dof;
  data.M = (frix_matrix){.format = FRIX_MATRIX_DENSE, .row_count = d->dof, .col_count = d->dof, .x = M};
  data.H = (frix_matrix){.format = FRIX_MATRIX_DENSE, .row_count = d->dof, .col_count = d->rows, .x = H};
  data.f = d->f;
  data.w = d->w;
  CHECK(t, frix_problem_create(context, &data, &problem) == FRIX_OK);
  free(M);
  free(H);
  return problem;
}

/* A contact below a body of 6 degrees of freedom: normal z, tangents x and y, at p from its centre. */
static void add_foot(world *d, double x, double y, double z, double mu) {
  const double direction[3][3] = {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}}, p[3] = {x, y, z};
  for (int e = 0; e < 3; e++, d->rows++) {
    double *column = d->H + d->rows * MOST_DOF;
    const double *n = direction[e];
    for (int k = 0; k < 3; k++) column[k] = n[k];
    for (int k = 0; k < 3; k++) column[3 + k] = p[(k + 1) % 3] * n[(k + 2) % 3] - p[(k + 2) % 3] * n[(k + 1) % 3];
  }
  d->contact[d->contacts++] = frix_contact_of_dim(3, mu, 0);
}

/* A table of weight P (an impulse) whose load lies at (ex, ey) of its half sides. */
static void make_table(world *d, double P, double ex, double ey, double mu) {
  memset(d, 0, sizeof *d);
  d->dof = 6;
  for (int k = 0; k < 6; k++) d->M[k] = k < 3 ? 2 : 0.3;
  for (int leg = 0; leg < 4; leg++) {
    double sx = leg == 0 || leg == 3 ? 1 : -1, sy = leg < 2 ? 1 : -1;
    add_foot(d, 0.5 * sx, 0.8 * sy, -0.7, mu);
  }
  d->f[2] = -P;
  d->f[3] = -P * 0.8 * ey, d->f[4] = P * 0.5 * ex; /* torque of the load about the centre */
}

typedef struct open_set {
  frix_context *context;
  frix_problem *problem;
  frix_forces *forces;
} open_set;

static bool open_world(fx_test *t, const world *d, open_set *out) {
  *out = (open_set){0};
  if (frix_context_create(NULL, &out->context) != FRIX_OK) return false;
  out->problem = problem_of(t, out->context, d);
  bool good = out->problem && frix_forces_create(out->context, out->problem, NULL, &out->forces) == FRIX_OK;
  if (!good) fx_test_fail(t, __FILE__, __LINE__, "%s", frix_error_text(out->context));
  return good;
}

static void close_set(open_set *s) {
  frix_forces_destroy(s->forces);
  frix_problem_destroy(s->problem);
  frix_context_destroy(s->context);
}

static frix_interval interval_of_row(fx_test *t, const open_set *s, int row, double *r_least, double *r_most) {
  double c[MOST_ROWS] = {0};
  frix_interval v = {0};
  c[row] = 1;
  CHECK(t, frix_forces_interval(s->forces, c, NULL, r_least, r_most, &v) == FRIX_OK);
  return v;
}

/* ---- closed forms ---- */

/* N_i = b_i + s (-1)^i,  b_i = P/4 (1 + sx ex)(1 + sy ey):  s runs until a leg is empty. */
static void table(fx_test *t) {
  static const double load[][2] = {{0, 0}, {0.3, -0.2}, {0.7, 0.6}, {-0.1, 0.9}};
  static world d;
  double worst = 0;
  for (size_t n = 0; n < sizeof load / sizeof *load; n++) {
    double P = 20, b[4], even = INFINITY, odd = INFINITY;
    make_table(&d, P, load[n][0], load[n][1], 0.4);
    for (int leg = 0; leg < 4; leg++) {
      double sx = leg == 0 || leg == 3 ? 1 : -1, sy = leg < 2 ? 1 : -1;
      b[leg] = P / 4 * (1 + sx * load[n][0]) * (1 + sy * load[n][1]);
      if (leg % 2)
        odd = fmin(odd, b[leg]);
      else
        even = fmin(even, b[leg]);
    }
    open_set s;
    if (open_world(t, &d, &s)) {
      for (int leg = 0; leg < 4; leg++) {
        frix_interval v = interval_of_row(t, &s, 3 * leg, NULL, NULL);
        CHECK_NEAR(t, v.least, b[leg] - (leg % 2 ? odd : even), 1e-9 * P);
        CHECK_NEAR(t, v.most, b[leg] + (leg % 2 ? even : odd), 1e-9 * P);
        CHECK(t, v.gap <= 1e-9 && v.residual <= 1e-9);
        worst = fmax(worst, v.gap);
      }
      frix_force_verdict verdict;
      CHECK(t, frix_forces_unique(s.forces, &verdict, NULL) == FRIX_OK && verdict == FRIX_FORCES_SEVERAL);
    }
    close_set(&s);
  }
  fx_test_note(t, "largest gap %.1e", worst);
}

/* Every corner of the hexagon carries from nothing to half the weight. */
static void hexapyramid(fx_test *t) {
  open_set s = {0};
  REQUIRE(t, frix_context_create(NULL, &s.context) == FRIX_OK);
  CHECK(t, frix_example_build(frix_example_find("hexapyramid"), s.context, NULL, &s.problem) == FRIX_OK);
  CHECK(t, s.problem && frix_forces_create(s.context, s.problem, NULL, &s.forces) == FRIX_OK);
  if (s.forces) {
    frix_forces_result view = {.size = sizeof view};
    frix_forces_view(s.forces, &view);
    double weight = 0;
    for (int32_t i = 0; i < view.contact_count; i++) weight += view.r[3 * i];
    for (int32_t i = 0; i < view.contact_count; i++) {
      frix_interval v = interval_of_row(t, &s, 3 * i, NULL, NULL);
      CHECK_NEAR(t, v.least, 0, 1e-9 * weight);
      CHECK_NEAR(t, v.most, weight / 2, 1e-9 * weight);
      CHECK(t, v.gap <= 1e-9);
    }
  }
  close_set(&s);
}

/* Held between two walls by friction: each wall presses with at least P / (2 mu), and with any force above. */
static void jam(fx_test *t) {
  static world d;
  memset(&d, 0, sizeof d);
  d.dof = 3, d.rows = 4, d.contacts = 2; /* x, z, turn; walls at x = -1 and 1 */
  for (int k = 0; k < 3; k++) d.M[k] = 1;
  for (int side = 0; side < 2; side++) {
    double *normal = d.H + 2 * side * MOST_DOF, *tangent = normal + MOST_DOF, x = side ? 1 : -1;
    normal[0] = -x, tangent[1] = 1, tangent[2] = x;
    d.contact[side] = frix_contact_of_dim(2, 0.5, 0);
  }
  d.f[1] = -6;
  frix_context *context = NULL;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  frix_problem *problem = problem_of(t, context, &d);
  const double r[4] = {10, 3, 10, 3};
  frix_forces_config config = frix_forces_default();
  config.r = r;
  open_set s = {context, problem, NULL};
  CHECK(t, problem && frix_forces_create(context, problem, &config, &s.forces) == FRIX_OK);
  if (s.forces) {
    frix_interval v = interval_of_row(t, &s, 0, NULL, NULL);
    CHECK_NEAR(t, v.least, 6, 1e-8);
    CHECK(t, isinf(v.most) && v.most > 0 && v.gap <= 1e-8);
    double centre[4];
    bool all = true;
    CHECK(t, frix_forces_centre(s.forces, centre, NULL, &all) == FRIX_OK && !all);
  }
  close_set(&s);
}

/* ---- an arch against limit analysis ---- */

typedef struct arch {
  int n;
  double inner, outer, delta, weight; /* of a voussoir, at the middle radius */
} arch;

static void polar(double radius, double angle, double out[2]) {
  double s, c;
  frix_sincos(angle, &s, &c);
  out[0] = radius * c, out[1] = radius * s;
}

/* Two contacts at each of the n + 1 joints; voussoir j lies between joints j and j + 1, counted from the right. */
static void make_arch(const arch *a, double mu, world *d) {
  memset(d, 0, sizeof *d);
  d->dof = 3 * a->n;
  for (int j = 0; j < a->n; j++) {
    d->M[3 * j] = d->M[3 * j + 1] = 1, d->M[3 * j + 2] = 0.1;
    d->f[3 * j + 1] = -a->weight;
  }
  for (int joint = 0; joint <= a->n; joint++)
    for (int end = 0; end < 2; end++, d->contacts++) {
      double p[2], normal[2], s, c;
      polar(end ? a->outer : a->inner, joint * a->delta, p);
      frix_sincos(joint * a->delta, &s, &c);
      normal[0] = -s, normal[1] = c; /* towards the next voussoir */
      for (int e = 0; e < 2; e++, d->rows++) {
        double g[2] = {e ? c : normal[0], e ? s : normal[1]};
        for (int side = 0; side < 2; side++) {
          int body = joint - 1 + side;
          if (body < 0 || body >= a->n) continue;
          double *column = d->H + d->rows * MOST_DOF + 3 * body, sign = side ? 1 : -1, centre[2];
          polar(0.5 * (a->inner + a->outer), (body + 0.5) * a->delta, centre);
          column[0] = sign * g[0], column[1] = sign * g[1];
          column[2] = sign * ((p[0] - centre[0]) * g[1] - (p[1] - centre[1]) * g[0]);
        }
      }
      d->contact[d->contacts] = frix_contact_of_dim(2, mu, 0);
    }
}

/* The line of thrust of half the arch: a thrust H at height m / H over the crown, and the weights W_j at x_j up to a
 * joint, have no moment about a point between its ends,
 *   m - H y_in - A(x_in) >= 0 >= m - H y_out - A(x_out),   A(x) = sum_j W_j (x - x_j)
 * so that every pair of an inner and an outer end bounds H. */
static void limit_analysis(const arch *a, double *least, double *most) {
  enum { MOST = 100 };
  double height[2][MOST], moment[2][MOST];
  int joints = a->n / 2 + 1;
  *least = 0, *most = INFINITY;
  for (int joint = 0; joint < joints; joint++)
    for (int end = 0; end < 2; end++) {
      double p[2], x;
      polar(end ? a->outer : a->inner, joint * a->delta, p);
      height[end][joint] = p[1];
      moment[end][joint] = 0;
      for (int j = joint; 2 * j < a->n; j++) {
        double centre[2];
        polar(0.5 * (a->inner + a->outer), (j + 0.5) * a->delta, centre);
        x = 2 * j + 1 == a->n ? 0 : centre[0];
        moment[end][joint] += (2 * j + 1 == a->n ? 0.5 : 1) * a->weight * (p[0] - x);
      }
    }
  for (int in = 0; in < joints; in++)
    for (int out = 0; out < joints; out++) {
      double rise = height[1][out] - height[0][in], needs = moment[0][in] - moment[1][out];
      if (rise > 1e-12) *least = fmax(*least, needs / rise);
      if (rise < -1e-12) *most = fmin(*most, needs / rise);
    }
}

static void arch_thrust(fx_test *t) {
  static const int count[] = {5, 8, 11, 16, 25};
  static world d;
  double worst = 0, gap = 0;
  for (size_t k = 0; k < sizeof count / sizeof *count; k++) {
    arch a = {.n = count[k], .inner = 0.9, .outer = 1.15, .delta = 3.14159265358979323846 / count[k], .weight = 1};
    double least, most, c[MOST_ROWS] = {0};
    open_set s;
    make_arch(&a, 10, &d);
    limit_analysis(&a, &least, &most);
    for (int e = 0; e < 4; e++) c[e] = -d.H[e * MOST_DOF]; /* thrust on the right abutment */
    if (open_world(t, &d, &s)) {
      frix_interval v;
      CHECK(t, frix_forces_interval(s.forces, c, NULL, NULL, NULL, &v) == FRIX_OK);
      CHECK_NEAR(t, v.least, least, 1e-8 * most);
      CHECK_NEAR(t, v.most, most, 1e-8 * most);
      CHECK(t, v.gap <= 1e-8 && v.residual <= 1e-8);
      worst = fmax(worst, fmax(fabs(v.least - least), fabs(v.most - most)) / most);
      gap = fmax(gap, v.gap);
    }
    close_set(&s);
  }
  fx_test_note(t, "arches of 5 to 25 voussoirs: %.1e from limit analysis, gap %.1e", worst, gap);
}

/* ---- the centre ---- */

static void centre(fx_test *t) {
  static world d;
  open_set s;
  make_table(&d, 20, 0, 0, 0.4);
  if (open_world(t, &d, &s)) {
    double r[12];
    bool all = false;
    frix_certificate judged;
    CHECK(t, frix_forces_centre(s.forces, r, NULL, &all) == FRIX_OK && all);
    for (int leg = 0; leg < 4; leg++) {
      CHECK_NEAR(t, r[3 * leg], 5, 1e-9);
      CHECK_NEAR(t, r[3 * leg + 1], 0, 1e-9);
    }
    CHECK(t, frix_certify(s.context, s.problem, FRIX_LAW_COULOMB, r, NULL, &judged, NULL, NULL) == FRIX_OK);
    CHECK(t, judged.residual <= 1e-10);
  }
  close_set(&s);
  /* it moves smoothly: a load that moves by 1e-6 moves it by as much */
  double first[12], second[12];
  for (int round = 0; round < 2; round++) {
    make_table(&d, 20, 0.2 + 1e-6 * round, 0.1, 0.4);
    if (open_world(t, &d, &s)) CHECK(t, frix_forces_centre(s.forces, round ? second : first, NULL, NULL) == FRIX_OK);
    close_set(&s);
  }
  for (int k = 0; k < 12; k++) CHECK_NEAR(t, second[k], first[k], 1e-4);
}

static double barrier(const double *r, int contacts, double mu) {
  double sum = 0;
  for (int i = 0; i < contacts; i++, r += 3) {
    double det = mu * mu * r[0] * r[0] - r[1] * r[1] - r[2] * r[2];
    if (!(det > 0) || !(r[0] > 0)) return -INFINITY;
    sum += log(det);
  }
  return sum;
}

/* Under a push that friction holds: no admissible answer beside the centre has a larger sum of log det. */
static void centre_is_best(fx_test *t) {
  static world d;
  open_set s;
  make_table(&d, 20, 0.3, -0.2, 0.4);
  d.f[0] = 3, d.f[1] = -2, d.f[4] += 3 * 0.7, d.f[3] += 2 * 0.7, d.f[5] = 0.4; /* at the feet, and a twist */
  if (open_world(t, &d, &s)) {
    double r[12], end[2][12];
    bool all = false;
    CHECK(t, frix_forces_centre(s.forces, r, NULL, &all) == FRIX_OK && all);
    double best = barrier(r, 4, 0.4);
    CHECK(t, isfinite(best));
    for (int row = 0; row < 12; row++) {
      interval_of_row(t, &s, row, end[0], end[1]);
      for (int k = 0; k < 2; k++) {
        double beside[12];
        for (int e = 0; e < 12; e++) beside[e] = r[e] + 1e-3 * (end[k][e] - r[e]);
        CHECK(t, barrier(beside, 4, 0.4) <= best + 1e-12);
      }
    }
  }
  close_set(&s);
}

/* ---- verdicts ---- */

static void verdicts(fx_test *t) {
  open_set s = {0};
  frix_force_verdict forces;
  frix_motion_verdict motion;
  REQUIRE(t, frix_context_create(NULL, &s.context) == FRIX_OK);
  const double wall[FRIX_EXAMPLE_MAX_PARAMETERS] = {5, 5, 0.6, 20};
  CHECK(t, frix_example_build(frix_example_find("wall"), s.context, wall, &s.problem) == FRIX_OK);
  CHECK(t, s.problem && frix_forces_create(s.context, s.problem, NULL, &s.forces) == FRIX_OK);
  if (s.forces) {
    frix_problem_data data = frix_problem_data_default();
    frix_problem_view(s.problem, &data);
    double *r = calloc((size_t)data.row_count, sizeof *r), distance = 0;
    frix_certificate judged;
    CHECK(t, frix_forces_unique(s.forces, &forces, r) == FRIX_OK && forces == FRIX_FORCES_SEVERAL);
    CHECK(t, frix_certify(s.context, s.problem, FRIX_LAW_COULOMB, r, NULL, &judged, NULL, NULL) == FRIX_OK);
    CHECK(t, judged.residual <= 1e-8);
    CHECK(t, frix_forces_motion(s.forces, &motion, r, &distance) == FRIX_OK && motion != FRIX_MOTION_UNIQUE);
    if (motion == FRIX_MOTION_SEVERAL) {
      CHECK(t, frix_certify(s.context, s.problem, FRIX_LAW_COULOMB, r, NULL, &judged, NULL, NULL) == FRIX_OK);
      CHECK(t, judged.residual <= 1e-8 && distance > 1e-4);
    }
    fx_test_note(t, "pushed wall: motion %s, %.1e apart", frix_motion_verdict_name(motion), distance);
    free(r);
  }
  close_set(&s);
  /* a point on the ground with little friction: proved */
  static world d;
  memset(&d, 0, sizeof d);
  d.dof = 6;
  for (int k = 0; k < 6; k++) d.M[k] = 1;
  add_foot(&d, 0, 0, 0, 0.3);
  d.f[2] = -1, d.f[0] = 2;
  if (open_world(t, &d, &s)) {
    CHECK(t, frix_forces_unique(s.forces, &forces, NULL) == FRIX_OK && forces == FRIX_FORCES_UNIQUE);
    CHECK(t, frix_forces_motion(s.forces, &motion, NULL, NULL) == FRIX_OK && motion == FRIX_MOTION_UNIQUE);
  }
  close_set(&s);
}

/* Friction that slides leaves a direction, not a cone: forces of a sliding table keep to the motion. */
static void sliding(fx_test *t) {
  static world d;
  open_set s;
  make_table(&d, 20, 0, 0, 0.4);
  d.f[0] = 30;
  if (open_world(t, &d, &s)) {
    frix_forces_result view = {.size = sizeof view};
    double least[12], most[12];
    frix_forces_view(s.forces, &view);
    for (int leg = 0; leg < 4; leg++) CHECK(t, view.face[leg] == FRIX_FACE_SLIP || view.face[leg] == FRIX_FACE_NONE);
    frix_interval v = interval_of_row(t, &s, 0, least, most);
    CHECK(t, v.residual <= 1e-8 && v.gap <= 1e-8);
    CHECK_NEAR(t, least[0], v.least, 1e-9);
    CHECK_NEAR(t, most[0], v.most, 1e-9);
    CHECK_NEAR(t, fabs(most[1]), 0.4 * most[0], 1e-9);
  }
  close_set(&s);
}

/* ---- problem files ---- */

typedef struct tally {
  int files, measures, answers;
  double gap, residual, outside;
} tally;

/* Answers of other methods and starts, where they have the same velocity, lie within the interval. */
static void sample(fx_test *t, frix_context *context, const frix_problem *problem, const double *u, const double *c,
                   const frix_interval *v, tally *sum) {
  static const char *const method[] = {"auto", "nsgs", "newton"};
  frix_problem_data data = frix_problem_data_default();
  frix_problem_view(problem, &data);
  double *start = calloc((size_t)data.row_count, sizeof *start), fast = 0, apart = 0, value = 0;
  for (size_t m = 0; m < sizeof method / sizeof *method; m++) {
    frix_solve_config config = frix_solve_default();
    frix_solution *solution = NULL;
    config.solver = method[m];
    config.tolerance = 1e-10;
    config.time_limit = 2;
    for (int32_t k = 0; k < data.row_count; k++) start[k] = v->scale * fx_test_random(t);
    config.guess_r = start;
    if (frix_solve(context, problem, &config, &solution) != FRIX_OK) continue;
    frix_result result = {.size = sizeof result};
    frix_solution_view(solution, &result);
    fast = apart = value = 0;
    for (int32_t k = 0; k < data.row_count; k++) {
      fast = fmax(fast, fabs(u[k]));
      apart = fmax(apart, fabs(u[k] - result.u[k]));
      value += c[k] * result.r[k];
    }
    if (result.certificate.residual <= 1e-10 && apart <= 1e-9 * fast) {
      double outside = fmax(v->least_bound - value, value - v->most_bound) / v->scale;
      sum->outside = fmax(sum->outside, outside);
      sum->answers++;
      if (!(outside <= 1e-6)) fx_test_fail(t, __FILE__, __LINE__, "%s: %g outside", method[m], outside);
    }
    frix_solution_destroy(solution);
  }
  free(start);
}

static void visit(fx_test *t, frix_context *context, const char *name, const frix_problem *problem, void *user) {
  enum { CONTACTS = 5 };
  tally *sum = user;
  frix_problem_data data = frix_problem_data_default();
  frix_problem_view(problem, &data);
  frix_forces *forces = NULL;
  if (data.contact_count > 600) return;
  if (frix_forces_create(context, problem, NULL, &forces) != FRIX_OK) {
    fx_test_fail(t, __FILE__, __LINE__, "%s: %s", name, frix_error_text(context));
    return;
  }
  frix_forces_result view = {.size = sizeof view};
  frix_forces_view(forces, &view);
  double *c = calloc((size_t)data.row_count, sizeof *c);
  int32_t dim = data.contact[0].dim, stride = 1 + data.contact_count / CONTACTS;
  bool large = data.contact_count > 300;
  for (int32_t i = -1; i < data.contact_count; i += i < 0 ? 1 : large ? 3 * stride : stride) {
    frix_interval v;
    memset(c, 0, (size_t)data.row_count * sizeof *c);
    for (int32_t k = 0; k < data.contact_count; k++) c[k * dim] = i < 0 || i == k;
    CHECK(t, frix_forces_interval(forces, c, NULL, NULL, NULL, &v) == FRIX_OK);
    if (!(v.gap <= 1e-8 && v.residual <= 1e-8))
      fx_test_fail(t, __FILE__, __LINE__, "%s, contact %d: gap %g, residual %g", name, i, v.gap, v.residual);
    sum->gap = fmax(sum->gap, v.gap);
    sum->residual = fmax(sum->residual, v.residual);
    sum->measures++;
    if (i < 0 && !large) sample(t, context, problem, view.u, c, &v, sum);
  }
  sum->files++;
  free(c);
  frix_forces_destroy(forces);
}

static void files(fx_test *t) {
  tally sum = {0};
  if (!instances_visit(t, "problems/contact", visit, &sum)) return;
  instances_visit(t, "problems/rolling", visit, &sum);
  CHECK(t, sum.files >= 30 && sum.answers > 0);
  fx_test_note(t, "%d files, %d intervals: gap %.1e, residual at ends %.1e; %d other answers, %.1e outside", sum.files,
               sum.measures, sum.gap, sum.residual, sum.answers, fmax(sum.outside, 0));
}

/* ---- the command ---- */

static void command(fx_test *t) {
  shell_result r = shell(t, "$frix forces hexapyramid --json");
  CHECK(t, r.code == 0 && strstr(r.out, "\"forces\": \"several\"") && strstr(r.out, "\"most\": 4.90"));
  shell_free(&r);
  r = shell(t, "$frix forces stack --set n=3 --of cube_0.z --forces solver");
  if (r.code != 0 && r.code != 2) fx_test_fail(t, __FILE__, __LINE__, "%d %s", r.code, r.err);
  shell_free(&r);
  r = shell(t, "$frix forces hexapyramid --of nobody.x");
  CHECK(t, r.code == 2 && strstr(r.err, "no contacts"));
  shell_free(&r);
  /* the second answer is one for frix certify */
  r = shell(t,
            "$frix example hexapyramid --out hp.json && $frix forces hp.json --of total --witness other.json && "
            "$frix certify hp.json --solution other.json");
  CHECK(t, r.code == 0 && strstr(r.out, "several forces"));
  shell_free(&r);
  r = shell(t, "$frix forces nothing.dat");
  CHECK(t, r.code == 2 && r.err[0]);
  shell_free(&r);
}

/* ---- memory that runs out ---- */

typedef struct ledger {
  int64_t calls, fail_at, blocks;
} ledger;

static void *ledger_allocate(size_t bytes, void *user) {
  ledger *l = user;
  if (l->calls++ == l->fail_at) return NULL;
  l->blocks++;
  return malloc(bytes);
}

static void ledger_release(void *block, size_t bytes, void *user) {
  (void)bytes;
  if (block) ((ledger *)user)->blocks--;
  free(block);
}

/* Every question once; the first status that is not FRIX_OK. */
static frix_status ask_all(frix_context *context, const frix_problem *problem) {
  frix_forces *forces = NULL;
  frix_gradient *gradient = NULL;
  frix_force_verdict verdict;
  frix_motion_verdict motion;
  frix_interval v;
  double c[12] = {1}, r[12], f[6] = {1}, out[6];
  frix_gradient_data along = {.size = sizeof along, .f = f};
  frix_gradient_parts parts = {.size = sizeof parts, .f = out};
  frix_status status = frix_forces_create(context, problem, NULL, &forces);
  if (status == FRIX_OK) status = frix_forces_unique(forces, &verdict, r);
  if (status == FRIX_OK) status = frix_forces_motion(forces, &motion, r, NULL);
  if (status == FRIX_OK) status = frix_forces_centre(forces, r, NULL, NULL);
  if (status == FRIX_OK) status = frix_forces_interval(forces, c, NULL, NULL, NULL, &v);
  if (status == FRIX_OK) status = frix_gradient_create(context, problem, NULL, &gradient);
  if (status == FRIX_OK) status = frix_gradient_forward(gradient, &along, out, NULL, NULL);
  if (status == FRIX_OK) status = frix_gradient_adjoint(gradient, f, NULL, &parts);
  frix_gradient_destroy(gradient);
  frix_forces_destroy(forces);
  return status;
}

static void memory(fx_test *t) {
  static world d;
  int64_t fail = 0, failures = 0;
  make_table(&d, 20, 0.2, 0.1, 0.4);
  for (bool more = true; more && fail < 20000; fail++) {
    ledger l = {.fail_at = -1};
    frix_context_config config = frix_context_default();
    frix_context *context = NULL;
    config.allocate = ledger_allocate, config.release = ledger_release, config.user = &l;
    REQUIRE(t, frix_context_create(&config, &context) == FRIX_OK);
    frix_problem *problem = problem_of(t, context, &d);
    int64_t before = l.calls;
    l.fail_at = before + fail;
    frix_status status = ask_all(context, problem);
    more = l.calls > l.fail_at;
    failures += status == FRIX_ERROR_MEMORY;
    if (status != FRIX_OK && status != FRIX_ERROR_MEMORY)
      fx_test_fail(t, __FILE__, __LINE__, "allocation %lld: %s", (long long)fail, frix_status_name(status));
    frix_problem_destroy(problem);
    frix_context_destroy(context);
    if (l.blocks)
      fx_test_fail(t, __FILE__, __LINE__, "allocation %lld: %lld blocks lost", (long long)fail, (long long)l.blocks);
  }
  CHECK(t, failures > 20);
  fx_test_note(t, "%lld allocations failed in turn, %lld told", (long long)fail, (long long)failures);
}

static void refuses(fx_test *t) {
  frix_context *context = NULL;
  frix_forces *forces = NULL;
  static world d;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  make_table(&d, 20, 0, 0, 0.4);
  frix_problem *problem = problem_of(t, context, &d);
  frix_forces_config config = frix_forces_default();
  double wrong[12] = {1};
  config.r = wrong;
  CHECK(t, frix_forces_create(context, problem, &config, &forces) == FRIX_ERROR_CERTIFICATE && !forces);
  config = frix_forces_default();
  config.tolerance = 2;
  CHECK(t, frix_forces_create(context, problem, &config, &forces) == FRIX_ERROR_INPUT);
  config = frix_forces_default();
  CHECK(t, frix_forces_create(context, problem, &config, &forces) == FRIX_OK);
  frix_interval v;
  wrong[0] = NAN;
  CHECK(t, forces && frix_forces_interval(forces, wrong, NULL, NULL, NULL, &v) == FRIX_ERROR_INPUT);
  frix_forces_destroy(forces);
  frix_problem_destroy(problem);
  frix_context_destroy(context);
}

const fx_test_row test_forces[] = {
    {"forces/table", table},
    {"forces/hexapyramid", hexapyramid},
    {"forces/jam", jam},
    {"forces/arch", arch_thrust},
    {"forces/centre", centre},
    {"forces/centre_is_best", centre_is_best},
    {"forces/verdicts", verdicts},
    {"forces/sliding", sliding},
    {"forces/files", files},
    {"forces/command", command},
    {"forces/refuses", refuses},
    {"forces/memory", memory},
    {0},
};
