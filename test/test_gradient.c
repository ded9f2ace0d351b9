/* Gradients of certified answers against central differences of certified solves, and analytic cases. */
#include "examples/examples.h"
#include "examples/scene.h"
#include "shell.h"

#include <frix/frix.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEP_RATIO 0.3 /* of one step of central differences to the next */

/* ---- problems with changed data ---- */

typedef struct change {
  double *f, *w, *mu; /* NULL: none; w is of q in reduced form */
} change;

static double *moved(const double *from, int32_t n, const double *by, double step) {
  double *out = malloc(((size_t)n + 1) * sizeof *out);
  for (int32_t k = 0; k < n; k++) out[k] = from[k] + (by ? step * by[k] : 0);
  return out;
}

/* u and v of the answer, to 1e-12, of the problem moved by step along the change; false where it is not found. */
static bool answer_at(frix_context *context, const frix_problem *problem, const change *by, double step,
                      const double *guess, double *u, double *v) {
  frix_problem_data data = frix_problem_data_default();
  frix_problem *other = NULL;
  frix_solution *solution = NULL;
  frix_problem_view(problem, &data);
  bool global = data.form == FRIX_FORM_GLOBAL;
  double *f = global ? moved(data.f, data.dof_count, by->f, step) : NULL;
  double *w = moved(global ? data.w : data.q, data.row_count, by->w, step);
  frix_contact *contact = malloc((size_t)data.contact_count * sizeof *contact);
  memcpy(contact, data.contact, (size_t)data.contact_count * sizeof *contact);
  for (int32_t i = 0; by->mu && i < data.contact_count; i++) contact[i].mu += step * by->mu[i];
  if (global)
    data.f = f, data.w = w;
  else
    data.q = w;
  data.contact = contact;
  frix_solve_config config = frix_solve_default();
  config.tolerance = 1e-12;
  config.guess_r = guess;
  bool good = frix_problem_create(context, &data, &other) == FRIX_OK &&
              frix_solve(context, other, &config, &solution) == FRIX_OK;
  if (good) {
    frix_result result = {.size = sizeof result};
    frix_solution_view(solution, &result);
    good = result.certificate.residual <= 1e-11;
    memcpy(u, result.u, (size_t)data.row_count * sizeof *u);
    if (global) memcpy(v, result.v, (size_t)data.dof_count * sizeof *v);
  }
  frix_solution_destroy(solution);
  frix_problem_destroy(other);
  free(f);
  free(w);
  free(contact);
  return good;
}

/* ---- one problem, ten directions ---- */

typedef struct tally {
  int problems, smooth, kinks, not_unique, directions, refused, unsolved;
  double worst, adjoint;
} tally;

static double largest(const double *x, int32_t n) {
  double most = 0;
  for (int32_t k = 0; k < n; k++) most = fmax(most, fabs(x[k]));
  return most;
}

/* Central differences at a step and at a larger one (before; NULL: none), extrapolated to step zero; the largest
 * distance of a from them. before is left with the differences of this step. */
static double apart(const double *a, const double *plus, const double *minus, double step, bool refine, double *before,
                    int32_t n) {
  double most = 0, square = STEP_RATIO * STEP_RATIO;
  for (int32_t k = 0; k < n; k++) {
    double slope = (plus[k] - minus[k]) / (2 * step);
    double limit = refine ? (slope - square * before[k]) / (1 - square) : slope;
    most = fmax(most, fmin(fabs(a[k] - limit), fabs(a[k] - slope)));
    before[k] = slope;
  }
  return most;
}

static void random_change(fx_test *t, const frix_problem_data *data, int kind, change *out) {
  bool global = data->form == FRIX_FORM_GLOBAL;
  double drive = global ? 0 : largest(data->q, data->row_count);
  for (int pass = 0; global && kind != 1 && pass < 2; pass++) /* the same energy for all degrees of freedom */
    for (int32_t c = 0; c < data->dof_count; c++)
      for (int32_t k = data->M.p[c]; k < data->M.p[c + 1]; k++) {
        if (data->M.i[k] != c) continue;
        if (pass == 0) drive = fmax(drive, fabs(data->f[c]) / sqrt(data->M.x[k]));
        if (pass == 1) out->f[c] = drive * sqrt(data->M.x[k]) * fx_test_random(t);
      }
  if (!global && kind != 1)
    for (int32_t k = 0; k < data->row_count; k++) out->w[k] = drive * fx_test_random(t);
  if (kind != 0)
    for (int32_t i = 0; i < data->contact_count; i++)
      out->mu[i] = data->contact[i].cone == FRIX_CONE_CIRCULAR || data->contact[i].cone == FRIX_CONE_PLANAR
                       ? data->contact[i].mu * fx_test_random(t)
                       : 0;
}

/* What the change would do to velocities without impulses: all derivatives are measured by it. */
static double free_change(const frix_problem_data *data, const change *by) {
  double most = largest(by->w, data->row_count);
  for (int32_t c = 0; data->form == FRIX_FORM_GLOBAL && c < data->dof_count; c++)
    for (int32_t k = data->M.p[c]; k < data->M.p[c + 1]; k++)
      if (data->M.i[k] == c) most = fmax(most, fabs(by->f[c]) / data->M.x[k]);
  return most;
}

/* Along one direction: forward against differences, adjoint against forward. */
static void check_direction(fx_test *t, frix_context *context, const char *name, const frix_problem *problem,
                            const frix_gradient *g, int kind, tally *sum) {
  frix_problem_data data = frix_problem_data_default();
  frix_gradient_result view = {.size = sizeof view};
  frix_problem_view(problem, &data);
  frix_gradient_view(g, &view);
  size_t n = (size_t)(data.row_count > data.dof_count ? data.row_count : data.dof_count) + 1;
  double *room = calloc(14 * n, sizeof *room), *a[14];
  for (int k = 0; k < 14; k++) a[k] = room + (size_t)k * n;
  change by = {.f = a[0], .w = a[1], .mu = a[2]};
  double *du = a[3], *dv = a[4], *plus = a[5], *minus = a[6], *v_plus = a[7], *v_minus = a[8];
  bool global = data.form == FRIX_FORM_GLOBAL;
  random_change(t, &data, kind, &by);
  frix_gradient_data along = {.size = sizeof along, .f = global ? by.f : NULL, .w = by.w, .mu = by.mu};
  frix_status status = frix_gradient_forward(g, &along, dv, du, NULL);
  if (status != FRIX_OK) {
    sum->refused++; /* told, not wrong */
    free(room);
    return;
  }
  double scale = fmax(free_change(&data, &by), largest(du, data.row_count)), best = INFINITY;
  if (kind == 1) scale = fmax(largest(du, data.row_count), largest(view.u, data.row_count));
  bool seen = false;
  /* steps that lead over a change of mode, or are lost to rounding, are not the derivative's fault */
  for (double step = 1e-3; step >= 1e-6 && best > 1e-7; step *= STEP_RATIO) {
    if (step > 0.1 * view.distance || !answer_at(context, problem, &by, step, view.r, plus, v_plus) ||
        !answer_at(context, problem, &by, -step, view.r, minus, v_minus))
      continue;
    double off = apart(du, plus, minus, step, seen, a[12], data.row_count);
    if (global) off = fmax(off, apart(dv, v_plus, v_minus, step, seen, a[13], data.dof_count));
    seen = true;
    best = fmin(best, scale > 1e-9 ? off / scale : 0);
  }
  if (best < INFINITY) {
    sum->worst = fmax(sum->worst, best);
    sum->directions++;
    if (!(best <= 1e-6))
      fx_test_fail(t, __FILE__, __LINE__, "%s, kind %d: %g (distance %g)", name, kind, best, view.distance);
  } else {
    sum->unsolved++;
  }
  /* c . forward(direction) = direction . adjoint(c) */
  double *c = a[9], *w = a[10], *f = a[11], *mu = a[5], left = 0, right = 0, size = 0;
  for (int32_t k = 0; k < data.row_count; k++)
    c[k] = fx_test_random(t), left += c[k] * du[k], size += fabs(c[k] * du[k]);
  size += scale;
  frix_gradient_parts parts = {.size = sizeof parts, .f = f, .w = w, .mu = mu};
  if (frix_gradient_adjoint(g, NULL, c, &parts) == FRIX_OK) {
    for (int32_t k = 0; k < data.row_count; k++) right += w[k] * by.w[k];
    for (int32_t k = 0; global && k < data.dof_count; k++) right += f[k] * by.f[k];
    for (int32_t k = 0; k < data.contact_count; k++) right += mu[k] * by.mu[k];
    sum->adjoint = fmax(sum->adjoint, size > 0 ? fabs(left - right) / size : 0);
    CHECK(t, fabs(left - right) <= 1e-7 * size + 1e-12);
  }
  free(room);
}

static void check_problem(fx_test *t, frix_context *context, const char *name, const frix_problem *problem,
                          tally *sum) {
  enum { DIRECTIONS = 10 };
  frix_gradient *g = NULL;
  frix_status status = frix_gradient_create(context, problem, NULL, &g);
  if (status != FRIX_OK) {
    fx_test_fail(t, __FILE__, __LINE__, "%s: %s", name, frix_error_text(context));
    return;
  }
  frix_gradient_result view = {.size = sizeof view};
  frix_gradient_view(g, &view);
  sum->problems++;
  sum->smooth += view.verdict == FRIX_GRADIENT_SMOOTH;
  sum->kinks += view.verdict == FRIX_GRADIENT_KINK;
  sum->not_unique += view.verdict == FRIX_GRADIENT_NOT_UNIQUE;
  for (int d = 0; view.verdict == FRIX_GRADIENT_SMOOTH && d < DIRECTIONS; d++)
    check_direction(t, context, name, problem, g, d % 3, sum);
  frix_gradient_destroy(g);
}

/* ---- steps of scenes ---- */

typedef struct row {
  const char *scene, *parameter;
  double value;
  int steps;
  frix_contact_kind kind;
} row;

static const row rows[] = {
    {"stack", "n", 3, 1, FRIX_CONTACT_KIND_STIFF},          {"stack", "n", 4, 1, FRIX_CONTACT_KIND_RIGID},
    {"hexapyramid", "mu", 0.4, 1, FRIX_CONTACT_KIND_STIFF}, {"hexapyramid", "mu", 0.4, 1, FRIX_CONTACT_KIND_RIGID},
    {"dominoes", "n", 4, 30, FRIX_CONTACT_KIND_STIFF},      {"dominoes", "n", 4, 60, FRIX_CONTACT_KIND_STIFF},
    {"dominoes", "n", 6, 150, FRIX_CONTACT_KIND_STIFF},     {"ellipse", "spin", 3, 120, FRIX_CONTACT_KIND_STIFF},
    {"ellipse", "spin", 2, 150, FRIX_CONTACT_KIND_RIGID},   {"painleve", "mu", 0.5, 10, FRIX_CONTACT_KIND_STIFF},
    {"painleve", "mu", 0.3, 20, FRIX_CONTACT_KIND_RIGID},   {"top", "spin", 100, 50, FRIX_CONTACT_KIND_STIFF},
    {"top", "spin", 60, 100, FRIX_CONTACT_KIND_RIGID},      {"balls", "n", 6, 40, FRIX_CONTACT_KIND_STIFF},
    {"balls", "n", 8, 80, FRIX_CONTACT_KIND_STIFF},         {"balls", "n", 10, 120, FRIX_CONTACT_KIND_STIFF},
    {"balls", "n", 10, 150, FRIX_CONTACT_KIND_STIFF},       {"drop5", "n", 5, 45, FRIX_CONTACT_KIND_STIFF},
    {"drop5", "n", 3, 60, FRIX_CONTACT_KIND_STIFF},         {"cannonball", "levels", 4, 2, FRIX_CONTACT_KIND_STIFF},
    {"cannonball", "mu", 0.1, 3, FRIX_CONTACT_KIND_STIFF},  {"cardhouse", "levels", 1, 1, FRIX_CONTACT_KIND_RIGID},
    {"cardhouse", "levels", 1, 3, FRIX_CONTACT_KIND_STIFF}, {"arch", "voussoirs", 5, 1, FRIX_CONTACT_KIND_RIGID},
    {"arch", "voussoirs", 7, 2, FRIX_CONTACT_KIND_STIFF},   {"wall", "columns", 2, 1, FRIX_CONTACT_KIND_RIGID},
    {"pile", "n", 12, 60, FRIX_CONTACT_KIND_STIFF},         {"pile", "n", 20, 90, FRIX_CONTACT_KIND_STIFF},
    {"bunnies", "n", 3, 20, FRIX_CONTACT_KIND_STIFF},       {"grip", "force", 12, 5, FRIX_CONTACT_KIND_STIFF},
    {"funnel", "n", 15, 150, FRIX_CONTACT_KIND_STIFF},      {"segregation", "n", 20, 10, FRIX_CONTACT_KIND_STIFF},
};

static bool step_of(fx_test *t, frix_context *context, const row *of, frix_model **model, frix_sim **sim) {
  const frix_scene *scene = frix_scene_find(of->scene);
  double value[FRIX_SCENE_MAX_PARAMETERS] = {0};
  if (!scene) return false;
  for (int32_t k = 0; k < scene->parameter_count; k++) value[k] = scene->parameter[k].initial;
  value[frix_scene_parameter_index(scene, of->parameter)] = of->value;
  frix_sim_config config = frix_sim_default();
  config.contact = of->kind;
  bool good = frix_scene_build(scene, context, value, 1, model) == FRIX_OK &&
              frix_sim_create(context, *model, &config, sim) == FRIX_OK;
  for (int k = 0; good && k < of->steps; k++)
    good = frix_scene_drive(scene, *sim, *model, value, scene->step) == FRIX_OK &&
           frix_sim_step(*sim, scene->step, NULL) == FRIX_OK;
  if (!good) fx_test_fail(t, __FILE__, __LINE__, "%s: %s", of->scene, frix_error_text(context));
  return good;
}

static void scenes(fx_test *t) {
  tally sum = {0};
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    frix_context *context = NULL;
    frix_model *model = NULL;
    frix_sim *sim = NULL;
    frix_problem *problem = NULL;
    REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
    if (step_of(t, context, &rows[k], &model, &sim) && frix_sim_problem(sim, &problem) == FRIX_OK)
      check_problem(t, context, rows[k].scene, problem, &sum);
    frix_problem_destroy(problem);
    frix_sim_destroy(sim);
    frix_model_destroy(model);
    frix_context_destroy(context);
  }
  CHECK(t, sum.smooth >= 15 && sum.directions >= 100);
  fx_test_note(
      t, "%d steps: %d smooth, %d kinks, %d not unique; %d directions to %.1e, %d refused, %d too near; adjoint %.1e",
      sum.problems, sum.smooth, sum.kinks, sum.not_unique, sum.directions, sum.worst, sum.refused, sum.unsolved,
      sum.adjoint);
}

static void examples(fx_test *t) {
  static const struct {
    const char *name;
    double value[FRIX_EXAMPLE_MAX_PARAMETERS];
  } list[] = {{"slope", {0.6, 20}},
              {"slope", {0.3, 40}},
              {"slide", {0.5, 1, 30}},
              {"slide", {0.2, 3, 100}},
              {"anisotropic", {0.3, 0.9, 20, 40}},
              {"hexapyramid", {0.5, 1, 0}},
              {"stack", {4, 0.5, 10, 0, 0}},
              {"stack", {3, 0.5, 1, 1e6, 0}},
              {"arch", {7, 0.2, 0.7}},
              {"rolling", {0.5, 0.01, 5, 1, 2}}};
  tally sum = {0};
  for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
    frix_context *context = NULL;
    frix_problem *problem = NULL;
    REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
    if (frix_example_build(frix_example_find(list[k].name), context, list[k].value, &problem) == FRIX_OK)
      check_problem(t, context, list[k].name, problem, &sum);
    else
      fx_test_fail(t, __FILE__, __LINE__, "%s: %s", list[k].name, frix_error_text(context));
    frix_problem_destroy(problem);
    frix_context_destroy(context);
  }
  fx_test_note(t, "%d problems: %d smooth, %d kinks, %d not unique; %d directions to %.1e, %d refused; adjoint %.1e",
               sum.problems, sum.smooth, sum.kinks, sum.not_unique, sum.directions, sum.worst, sum.refused,
               sum.adjoint);
}

/* ---- analytic cases: one point of mass 2 on the ground ---- */

static frix_gradient *point(fx_test *t, frix_context *context, double fx, double fz, double mu, double w,
                            frix_problem **problem) {
  static const double M[9] = {2, 0, 0, 0, 2, 0, 0, 0, 2}, H[9] = {0, 0, 1, 1, 0, 0, 0, 1, 0};
  const double f[3] = {fx, 0, fz}, shift[3] = {w, 0, 0};
  frix_contact contact = frix_contact_of_dim(3, mu, 0);
  frix_problem_data data = frix_problem_data_default();
  frix_gradient *g = NULL;
  data.form = FRIX_FORM_GLOBAL;
  data.contact_count = 1;
  data.contact = &contact;
  data.dof_count = 3;
  data.M = (frix_matrix){.format = FRIX_MATRIX_DENSE, .row_count = 3, .col_count = 3, .x = M};
  data.H = (frix_matrix){.format = FRIX_MATRIX_DENSE, .row_count = 3, .col_count = 3, .x = H};
  data.f = f;
  data.w = shift;
  CHECK(t, frix_problem_create(context, &data, problem) == FRIX_OK);
  CHECK(t, *problem && frix_gradient_create(context, *problem, NULL, &g) == FRIX_OK);
  return g;
}

/* slide: v_x = (f_x + mu f_z) / m.  stick: v = 0.  bounce: v_z = -w. */
static void analytic(fx_test *t) {
  frix_context *context = NULL;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  const double one = 1, f_x[3] = {1, 0, 0}, f_z[3] = {0, 0, 1}, w[3] = {1, 0, 0};
  for (int c = 0; c < 3; c++) {
    frix_problem *problem = NULL;
    frix_gradient *g = point(t, context, c == 0 ? 8 : 1, -10, 0.4, c == 2 ? -3 : 0, &problem);
    double v[3], r[3];
    frix_gradient_data by_mu = {.size = sizeof by_mu, .mu = &one}, by_x = {.size = sizeof by_x, .f = f_x};
    frix_gradient_data by_z = {.size = sizeof by_z, .f = f_z}, by_w = {.size = sizeof by_w, .w = w};
    if (g) {
      CHECK(t, frix_gradient_forward(g, &by_mu, v, NULL, r) == FRIX_OK);
      CHECK_NEAR(t, v[0], c == 0 ? -5 : 0, 1e-9);
      CHECK(t, frix_gradient_forward(g, &by_x, v, NULL, r) == FRIX_OK);
      CHECK_NEAR(t, v[0], c == 0 ? 0.5 : 0, 1e-9);
      CHECK_NEAR(t, r[1], c == 0 ? 0 : -1, 1e-9);
      CHECK(t, frix_gradient_forward(g, &by_z, v, NULL, r) == FRIX_OK);
      CHECK_NEAR(t, v[0], c == 0 ? 0.2 : 0, 1e-9);
      CHECK_NEAR(t, r[0], -1, 1e-9);
      CHECK(t, frix_gradient_forward(g, &by_w, v, NULL, r) == FRIX_OK);
      CHECK_NEAR(t, v[2], -1, 1e-9);
    }
    frix_gradient_destroy(g);
    frix_problem_destroy(problem);
  }
  frix_context_destroy(context);
}

/* At the limit of friction, at the edge of lifting and where nothing holds it: told, and refused. */
static void kinks(fx_test *t) {
  static const double force[][2] = {{4, -10}, {0, 0}};
  frix_context *context = NULL;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  for (size_t c = 0; c < sizeof force / sizeof *force; c++) {
    frix_problem *problem = NULL;
    frix_gradient *g = point(t, context, force[c][0], force[c][1], 0.4, 0, &problem);
    const double one = 1;
    double v[3];
    frix_gradient_data by_mu = {.size = sizeof by_mu, .mu = &one};
    frix_gradient_result view = {.size = sizeof view};
    if (g) {
      frix_gradient_view(g, &view);
      CHECK(t, view.verdict == FRIX_GRADIENT_KINK && view.contact == 0 && view.distance <= 1e-7);
      CHECK(t, frix_gradient_forward(g, &by_mu, v, NULL, NULL) == FRIX_ERROR_UNSUPPORTED);
    }
    frix_gradient_destroy(g);
    frix_problem_destroy(problem);
  }
  frix_context_destroy(context);
}

static void command(fx_test *t) {
  shell_result r =
      shell(t, "$frix gradient painleve --set mu=0.3 --at 0.02 --wrt mu,force:rod.x --of rod.vx,rod.x --json");
  CHECK(t, r.code == 0 && strstr(r.out, "\"verdict\": \"smooth\"") && strstr(r.out, "\"wrt\": \"force:rod.x\""));
  shell_free(&r);
  r = shell(t, "$frix gradient painleve --wrt mu");
  CHECK(t, r.code == 2 && strstr(r.err, "--of"));
  shell_free(&r);
  r = shell(t, "$frix gradient painleve --wrt charm --of rod.x");
  CHECK(t, r.code == 2 && strstr(r.err, "charm"));
  shell_free(&r);
  r = shell(t, "$frix gradient painleve --wrt mu --of nobody.x");
  CHECK(t, r.code == 2 && strstr(r.err, "nobody"));
  shell_free(&r);
}

/* A step as a function of a force, against steps of other sims. */
static double rod_speed(fx_test *t, double push, frix_gradient **gradient, double *h) {
  frix_context *context = NULL;
  frix_model *model = NULL;
  frix_sim *sim = NULL;
  row of = {"painleve", "mu", 0.3, 10, FRIX_CONTACT_KIND_RIGID};
  double speed = NAN;
  if (frix_context_create(NULL, &context) != FRIX_OK) return speed;
  *h = frix_scene_find("painleve")->step;
  if (step_of(t, context, &of, &model, &sim)) {
    frix_body_id rod = frix_model_find_body(model, "rod");
    frix_body_state state;
    CHECK(t, frix_sim_add_force(sim, rod, (frix_vec3){push, 0, 0}, (frix_vec3){0, 0, 0}) == FRIX_OK);
    CHECK(t, frix_sim_step(sim, *h, NULL) == FRIX_OK && frix_sim_body(sim, rod, &state) == FRIX_OK);
    speed = state.velocity.x;
    if (gradient) CHECK(t, frix_gradient_of_step(sim, NULL, gradient) == FRIX_OK);
    if (gradient && *gradient) {
      int32_t first = 0, count = 0;
      frix_gradient_result view = {.size = sizeof view};
      frix_gradient_view(*gradient, &view);
      CHECK(t, frix_gradient_body(*gradient, rod, &first, &count) == FRIX_OK && count >= 3);
      double c[6] = {0}, f[6] = {0};
      c[first] = 1;
      frix_gradient_parts parts = {.size = sizeof parts, .f = f};
      CHECK(t, view.dof_count <= 6 && frix_gradient_adjoint(*gradient, c, NULL, &parts) == FRIX_OK);
      CHECK_NEAR(t, view.v[first], speed, 1e-9);
      speed = f[first] * *h;
      frix_gradient_destroy(*gradient);
    }
  }
  frix_sim_destroy(sim);
  frix_model_destroy(model);
  frix_context_destroy(context);
  return speed;
}

static void step(fx_test *t) {
  frix_gradient *g = NULL;
  double h, slope = rod_speed(t, 0, &g, &h), plus = rod_speed(t, 1e-2, NULL, &h);
  double minus = rod_speed(t, -1e-2, NULL, &h);
  CHECK_NEAR(t, slope, (plus - minus) / 2e-2, 1e-6 * h);
}

/* A compliant point under f: r = (R r_c - f / m) / (1 / m + R), v = (f + r) / m. */
static void compliant(fx_test *t) {
  static const double M[1] = {2}, H[1] = {1};
  const double f = -10, w = 0, R = 0.25, r_c = 3, one = 1;
  frix_contact contact = {.cone = FRIX_CONE_LIMIT, .dim = 1};
  frix_problem_data data = frix_problem_data_default();
  frix_context *context = NULL;
  frix_problem *problem = NULL;
  frix_gradient *g = NULL;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  data.form = FRIX_FORM_GLOBAL;
  data.contact_count = data.dof_count = 1;
  data.contact = &contact;
  data.M = (frix_matrix){.format = FRIX_MATRIX_DENSE, .row_count = 1, .col_count = 1, .x = M};
  data.H = (frix_matrix){.format = FRIX_MATRIX_DENSE, .row_count = 1, .col_count = 1, .x = H};
  data.f = &f, data.w = &w, data.R = &R, data.r_c = &r_c;
  CHECK(t, frix_problem_create(context, &data, &problem) == FRIX_OK);
  CHECK(t, problem && frix_gradient_create(context, problem, NULL, &g) == FRIX_OK);
  if (g) {
    double v, r, by_R, by_rc, answer = (R * r_c - f / 2) / (0.5 + R);
    frix_gradient_data by = {.size = sizeof by, .r_c = &one}, stiffness = {.size = sizeof stiffness, .R = &one};
    frix_gradient_parts parts = {.size = sizeof parts, .R = &by_R, .r_c = &by_rc};
    CHECK(t, frix_gradient_forward(g, &by, &v, NULL, &r) == FRIX_OK);
    CHECK_NEAR(t, r, R / (0.5 + R), 1e-12);
    CHECK_NEAR(t, v, 0.5 * R / (0.5 + R), 1e-12);
    CHECK(t, frix_gradient_forward(g, &stiffness, &v, NULL, &r) == FRIX_OK);
    CHECK_NEAR(t, r, (r_c - answer) / (0.5 + R), 1e-12);
    CHECK(t, frix_gradient_adjoint(g, &one, NULL, &parts) == FRIX_OK);
    CHECK_NEAR(t, by_R, 0.5 * (r_c - answer) / (0.5 + R), 1e-12);
    CHECK_NEAR(t, by_rc, 0.5 * R / (0.5 + R), 1e-12);
  }
  frix_gradient_destroy(g);
  frix_problem_destroy(problem);
  frix_context_destroy(context);
}

const fx_test_row test_gradient[] = {
    {"gradient/analytic", analytic}, {"gradient/kinks", kinks},
    {"gradient/examples", examples}, {"gradient/scenes", scenes},
    {"gradient/step", step},         {"gradient/compliant", compliant},
    {"gradient/command", command},   {0},
};
