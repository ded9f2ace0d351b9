/* Derivatives where contacts are at a change of their mode: one-sided ones against closed forms and against certified
 * answers beside the kink; smoothed ones against the equations of the central path. */
#include <frix/frix.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "shell.h"
#include "test.h"

enum { MOST = 4, ROWS = 3 * MOST };

typedef struct world {
  int contacts;
  double W[ROWS * ROWS], q[ROWS], mu[MOST];
} world;

static frix_problem *make_problem(fx_test *t, frix_context *context, const world *w) {
  frix_problem_data data = frix_problem_data_default();
  frix_contact contact[MOST];
  int32_t rows = 3 * w->contacts;
  frix_problem *problem = NULL;
  memset(contact, 0, sizeof contact);
  for (int k = 0; k < w->contacts; k++)
    contact[k].cone = FRIX_CONE_CIRCULAR, contact[k].dim = 3, contact[k].mu = w->mu[k];
  data.form = FRIX_FORM_LOCAL;
  data.contact_count = w->contacts, data.row_count = rows, data.contact = contact;
  data.W = (frix_matrix){.format = FRIX_MATRIX_DENSE, .row_count = rows, .col_count = rows, .x = w->W};
  data.q = w->q;
  if (frix_problem_create(context, &data, &problem) != FRIX_OK)
    fx_test_fail(t, __FILE__, __LINE__, "%s", frix_error_text(context));
  return problem;
}

static bool answer(fx_test *t, frix_context *context, const world *w, double *u) {
  frix_problem *problem = make_problem(t, context, w);
  frix_solve_config config = frix_solve_default();
  frix_solution *solution = NULL;
  frix_result result = {.size = sizeof result};
  config.tolerance = 1e-12;
  bool good = problem && frix_solve(context, problem, &config, &solution) == FRIX_OK;
  if (good) {
    frix_solution_view(solution, &result);
    good = result.certificate.residual <= 1e-11;
    memcpy(u, result.u, 3 * (size_t)w->contacts * sizeof *u);
  }
  frix_solution_destroy(solution);
  frix_problem_destroy(problem);
  return good;
}

/* ---- closed forms: a point of mass 1 ---- */

typedef struct point_case {
  double q[3], mu, dq[3], dmu, du[3], dr[3];
} point_case;

static const point_case points[] = {
    {{-1, 0.5, 0}, 0.5, {0, 1, 0}, 0, {0, 1, 0}, {0, 0, 0}},      /* pulled as far as friction goes, and farther */
    {{-1, 0.5, 0}, 0.5, {0, -1, 0}, 0, {0, 0, 0}, {0, 1, 0}},     /* and back */
    {{-1, 0.5, 0}, 0.5, {0, 0, 1}, 0, {0, 0, 0}, {0, 0, -1}},     /* across: it turns on the edge of the cone */
    {{-1, 0.5, 0}, 0.5, {0, 0, 0}, -1, {0, 1, 0}, {0, 1, 0}},     /* less friction */
    {{-1, 0.5, 0}, 0.5, {0, 0, 0}, 1, {0, 0, 0}, {0, 0, 0}},      /* more */
    {{-1, 0.5, 0}, 0.5, {1, 0, 0}, 0, {0, 0.5, 0}, {-1, 0.5, 0}}, /* less weight */
    {{0, 1, 0}, 0.3, {-1, 0, 0}, 0, {0, -0.3, 0}, {1, -0.3, 0}},  /* slides along without weight: pressed */
    {{0, 1, 0}, 0.3, {1, 0, 0}, 0, {1, 0, 0}, {0, 0, 0}},         /* lifted */
    {{0, 0, 0}, 0.5, {-1, 0.3, 0}, 0, {0, 0, 0}, {1, -0.3, 0}},   /* nothing acts: it sticks, */
    {{0, 0, 0}, 0.5, {-1, 2, 0}, 0, {0, 1.5, 0}, {1, -0.5, 0}},   /* slides, */
    {{0, 0, 0}, 0.5, {1, 2, -1}, 0, {1, 2, -1}, {0, 0, 0}},       /* or leaves */
    {{-1, 0.4, 0}, 0.5, {0.2, 1, 0.1}, 0, {0, 0, 0}, {-0.2, -1, -0.1}}, /* smooth */
};

static void point(fx_test *t) {
  frix_context *context = NULL;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  for (size_t k = 0; k < sizeof points / sizeof *points; k++) {
    const point_case *c = &points[k];
    world w = {.contacts = 1, .W = {1, 0, 0, 0, 1, 0, 0, 0, 1}, .mu = {c->mu}};
    double du[3] = {NAN}, dr[3] = {NAN};
    frix_gradient *g = NULL;
    memcpy(w.q, c->q, sizeof c->q);
    frix_problem *problem = make_problem(t, context, &w);
    frix_gradient_data data = {.size = sizeof data, .w = c->dq, .mu = &c->dmu};
    frix_status status = frix_gradient_create(context, problem, NULL, &g);
    if (status == FRIX_OK) status = frix_gradient_one_sided(g, &data, NULL, du, dr);
    if (status != FRIX_OK) fx_test_fail(t, __FILE__, __LINE__, "case %d: %s", (int)k, frix_error_text(context));
    for (int e = 0; e < 3; e++)
      if (!(fabs(du[e] - c->du[e]) <= 1e-9 && fabs(dr[e] - c->dr[e]) <= 1e-9))
        fx_test_fail(t, __FILE__, __LINE__, "case %d, row %d: du %g, dr %g, expected %g, %g", (int)k, e, du[e], dr[e],
                     c->du[e], c->dr[e]);
    frix_gradient_destroy(g);
    frix_problem_destroy(problem);
  }
  frix_context_destroy(context);
}

/* ---- random kinks: r and u are chosen to obey the law, q follows ---- */

static void random_world(fx_test *t, world *w, int contacts) {
  int rows = 3 * contacts;
  double B[ROWS * ROWS], r[ROWS] = {0}, u[ROWS] = {0};
  memset(w, 0, sizeof *w);
  w->contacts = contacts;
  for (int k = 0; k < rows * rows; k++) B[k] = fx_test_random(t);
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < rows; j++) {
      w->W[i * rows + j] = i == j ? 1.5 : 0;
      for (int k = 0; k < rows; k++) w->W[i * rows + j] += 0.1 * B[i * rows + k] * B[j * rows + k];
    }
  for (int k = 0; k < contacts; k++) {
    double a = 3.14159 * fx_test_random(t), n = 1 + 0.5 * fx_test_random(t), mu = 0.3 + 0.2 * fx_test_random(t);
    double e[2] = {cos(a), sin(a)}, slip = 1 + 0.5 * fx_test_random(t);
    int mode = (int)(6 * fabs(fx_test_random(t))) % 6;
    w->mu[k] = mu;
    if (k == 0) mode %= 3; /* at least one kink */
    switch (mode) {
      case 0: r[3 * k] = n, r[3 * k + 1] = mu * n * e[0], r[3 * k + 2] = mu * n * e[1]; break; /* about to slip */
      case 1: u[3 * k + 1] = slip * e[0], u[3 * k + 2] = slip * e[1]; break; /* slides, about to open */
      case 2: break;                                                         /* nothing */
      case 3: r[3 * k] = n, r[3 * k + 1] = 0.4 * mu * n * e[0]; break;       /* sticks */
      case 4:                                                                /* slides */
        r[3 * k] = n, r[3 * k + 1] = mu * n * e[0], r[3 * k + 2] = mu * n * e[1];
        u[3 * k + 1] = -slip * e[0], u[3 * k + 2] = -slip * e[1];
        break;
      default: u[3 * k] = slip, u[3 * k + 1] = e[0]; break; /* opens */
    }
  }
  for (int i = 0; i < rows; i++) {
    w->q[i] = u[i];
    for (int j = 0; j < rows; j++) w->q[i] -= w->W[i * rows + j] * r[j];
  }
}

/* The change of u per change of the data, from answers beside, extrapolated. */
static bool beside(fx_test *t, frix_context *context, const world *w, const double *dq, const double *dmu,
                   double *out) {
  double u[3][ROWS];
  const double step[3] = {0, 1e-4, 5e-5};
  for (int k = 0; k < 3; k++) {
    world other = *w;
    for (int e = 0; e < 3 * w->contacts; e++) other.q[e] += step[k] * dq[e];
    for (int e = 0; e < w->contacts; e++) other.mu[e] += step[k] * dmu[e];
    if (!answer(t, context, &other, u[k])) return false;
  }
  for (int e = 0; e < 3 * w->contacts; e++) out[e] = 2 * (u[2][e] - u[0][e]) / step[2] - (u[1][e] - u[0][e]) / step[1];
  return true;
}

static void random_kinks(fx_test *t) {
  frix_context *context = NULL;
  int tried = 0, found = 0;
  double worst = 0;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  for (int k = 0; k < 150; k++) {
    world w;
    frix_gradient *g = NULL;
    frix_gradient_result view = {.size = sizeof view};
    random_world(t, &w, 1 + k % MOST);
    frix_problem *problem = make_problem(t, context, &w);
    REQUIRE(t, frix_gradient_create(context, problem, NULL, &g) == FRIX_OK);
    frix_gradient_view(g, &view);
    CHECK(t, view.verdict == FRIX_GRADIENT_KINK);
    for (int d = 0; d < 2; d++) {
      double dq[ROWS], dmu[MOST], expected[ROWS], du[ROWS], off = 0;
      for (int e = 0; e < 3 * w.contacts; e++) dq[e] = fx_test_random(t);
      for (int e = 0; e < w.contacts; e++) dmu[e] = 0.3 * fx_test_random(t);
      frix_gradient_data data = {.size = sizeof data, .w = dq, .mu = dmu};
      if (!beside(t, context, &w, dq, dmu, expected)) continue;
      tried++;
      CHECK(t, frix_gradient_forward(g, &data, NULL, du, NULL) == FRIX_ERROR_UNSUPPORTED);
      if (frix_gradient_one_sided(g, &data, NULL, du, NULL) != FRIX_OK) {
        fx_test_fail(t, __FILE__, __LINE__, "world %d: %s", k, frix_error_text(context));
        continue;
      }
      for (int e = 0; e < 3 * w.contacts; e++) off = fmax(off, fabs(du[e] - expected[e]));
      if (!(off < 1e-5)) fx_test_fail(t, __FILE__, __LINE__, "world %d, direction %d: %g", k, d, off);
      worst = fmax(worst, off), found++;
    }
    frix_gradient_destroy(g);
    frix_problem_destroy(problem);
  }
  fx_test_note(t, "%d of %d directions, largest difference %.1e", found, tried, worst);
  CHECK(t, tried >= 250 && found == tried);
  frix_context_destroy(context);
}

/* ---- smoothed ---- */

/* What r and u miss of the central path of a point of mass 1 (S = 1), tangential row 1 alone: u~_N from the second
 * equation, k from the first. */
static double miss_path(double mu, const double *r, const double *u, double k, double *out) {
  double lifted = u[0] + mu * (sqrt(u[1] * u[1] + k * k) - k);
  out[0] = r[0] * lifted + r[1] * u[1] - k * k;
  out[1] = r[0] * mu * u[1] + lifted * r[1] / mu;
  return lifted;
}

static void central_path(fx_test *t) {
  frix_context *context = NULL;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  world w = {.contacts = 1, .W = {1, 0, 0, 0, 1, 0, 0, 0, 1}, .mu = {0.5}};
  w.q[0] = -1, w.q[1] = 0.5; /* at the edge of slipping */
  double last = 1;
  for (double kappa = 0.1; kappa > 1e-5; kappa *= 0.1) {
    frix_problem *problem = make_problem(t, context, &w);
    frix_gradient *g = NULL;
    frix_gradient_result view = {.size = sizeof view};
    REQUIRE(t, frix_gradient_smoothed(context, problem, NULL, kappa, &g) == FRIX_OK);
    frix_gradient_view(g, &view);
    CHECK(t, view.verdict == FRIX_GRADIENT_SMOOTHED && !strcmp(frix_gradient_verdict_name(view.verdict), "smoothed"));
    const double *r = view.r, *u = view.u, mu = 0.5, e = 1e-5;
    double lifted = -mu * mu * r[0] * u[1] / r[1], k = sqrt(r[0] * lifted + r[1] * u[1]), off[2], du[3], dr[3];
    CHECK_NEAR(t, miss_path(mu, r, u, k, off), lifted, 1e-9);
    CHECK(t, fabs(off[0]) + fabs(off[1]) < 1e-9 && k > 0.1 * kappa && k < 10 * kappa);
    CHECK(t, fabs(u[1]) < last && r[0] > 1); /* towards the certified answer, u = 0 */
    last = fabs(u[1]);
    const double dq[3] = {0.3, 1, 0};
    frix_gradient_data data = {.size = sizeof data, .w = dq};
    CHECK(t, frix_gradient_forward(g, &data, NULL, du, dr) == FRIX_OK);
    double beside[2][2];
    for (int s = 0; s < 2; s++) {
      double step = (s ? e : -e) * kappa, x[2] = {r[0] + step * dr[0], r[1] + step * dr[1]},
             y[2] = {u[0] + step * du[0], u[1] + step * du[1]};
      miss_path(mu, x, y, k, beside[s]);
    }
    for (int a = 0; a < 2; a++) CHECK_NEAR(t, (beside[1][a] - beside[0][a]) / (2 * e * kappa), 0, 1e-5);
    /* between both one-sided derivatives, 0 and 1 (and the parts of the normal direction) */
    const double pull[3] = {0, 1, 0};
    data.w = pull;
    CHECK(t, frix_gradient_forward(g, &data, NULL, du, NULL) == FRIX_OK && du[1] > 0.05 && du[1] < 0.95);
    double adjoint[3], c[3] = {0, 1, 0};
    frix_gradient_parts parts = {.size = sizeof parts, .w = adjoint};
    CHECK(t, frix_gradient_adjoint(g, NULL, c, &parts) == FRIX_OK);
    CHECK_NEAR(t, adjoint[1], du[1], 1e-9);
    frix_gradient_destroy(g);
    frix_problem_destroy(problem);
  }
  frix_problem *problem = make_problem(t, context, &w);
  frix_gradient *g = NULL;
  CHECK(t, frix_gradient_smoothed(context, problem, NULL, 0, &g) == FRIX_ERROR_INPUT && !g);
  frix_problem_destroy(problem);
  frix_context_destroy(context);
}

/* With small kappa, where smooth: the exact derivative; by mu too. */
static void smoothed_limit(fx_test *t) {
  frix_context *context = NULL;
  double worst = 0;
  int tried = 0;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  for (int k = 0; k < 60; k++) {
    world w;
    frix_gradient *g = NULL, *s = NULL;
    frix_gradient_result view = {.size = sizeof view};
    double dq[ROWS], dmu[MOST], exact[ROWS], near[ROWS], off = 0;
    random_world(t, &w, 1 + k % MOST);
    for (int e = 0; e < 3 * w.contacts; e++) w.q[e] += 0.3 * fx_test_random(t), dq[e] = fx_test_random(t);
    for (int e = 0; e < w.contacts; e++) dmu[e] = fx_test_random(t);
    frix_problem *problem = make_problem(t, context, &w);
    frix_gradient_data data = {.size = sizeof data, .w = dq, .mu = dmu};
    bool good = frix_gradient_create(context, problem, NULL, &g) == FRIX_OK;
    if (good) frix_gradient_view(g, &view);
    if (good && view.verdict == FRIX_GRADIENT_SMOOTH && view.distance > 0.03) {
      if (frix_gradient_smoothed(context, problem, NULL, 1e-5, &s) != FRIX_OK)
        fx_test_fail(t, __FILE__, __LINE__, "world %d: %s", k, frix_error_text(context));
      CHECK(t, frix_gradient_forward(g, &data, NULL, exact, NULL) == FRIX_OK);
      CHECK(t, s && frix_gradient_forward(s, &data, NULL, near, NULL) == FRIX_OK);
      for (int e = 0; e < 3 * w.contacts && s; e++) off = fmax(off, fabs(exact[e] - near[e]));
      if (!(off < 1e-3)) fx_test_fail(t, __FILE__, __LINE__, "world %d: %g", k, off);
      worst = fmax(worst, off), tried++;
    }
    frix_gradient_destroy(s);
    frix_gradient_destroy(g);
    frix_problem_destroy(problem);
  }
  fx_test_note(t, "%d worlds, kappa 1e-5: %.1e from the exact derivative", tried, worst);
  CHECK(t, tried >= 20);
  frix_context_destroy(context);
}

/* A step of a scene: smoothed is named as such, one-sided derivatives of a smooth step are equal. */
static void command(fx_test *t) {
  shell_result r = shell(t, "$frix gradient painleve --set mu=0.3 --at 0.02 --wrt mu --of rod.vx --smoothed 1e-3");
  CHECK(t,
        r.code == 0 && strstr(r.out, "smoothed") && strstr(r.out, "approximate") && strstr(r.out, "d rod.vx / d mu"));
  shell_free(&r);
  r = shell(t, "$frix gradient painleve --set mu=0.3 --at 0.02 --wrt mu --of rod.vx --one-sided --json");
  const char *above = strstr(r.out, "\"above\": "), *below = strstr(r.out, "\"below\": ");
  CHECK(t, r.code == 0 && shell_json(r.out) && above && below);
  if (above && below) CHECK_NEAR(t, strtod(above + 9, NULL), strtod(below + 9, NULL), 1e-9);
  shell_free(&r);
  r = shell(t, "$frix gradient puck --set direction=0 --wrt mu --of puck.vx --smoothed 1e-3"); /* W outlives the path */
  CHECK(t, r.code == 0 && strstr(r.out, "d puck.vx / d mu"));
  shell_free(&r);
  r = shell(t, "$frix gradient painleve --wrt mu --of rod.vx --one-sided --smoothed 1e-3");
  CHECK(t, r.code == 2 && strstr(r.err, "--one-sided"));
  shell_free(&r);
  r = shell(t, "$frix gradient painleve --wrt mu --of rod.vx --smoothed 2");
  CHECK(t, r.code == 2);
  shell_free(&r);
}

const fx_test_row test_gradient_kinks[] = {{"gradient_kinks/point", point},
                                           {"gradient_kinks/random", random_kinks},
                                           {"gradient_kinks/central_path", central_path},
                                           {"gradient_kinks/smoothed_limit", smoothed_limit},
                                           {"gradient_kinks/command", command},
                                           {0}};
