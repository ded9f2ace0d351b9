/* painleve-domains: iterations of a method over the predictor plane of Painleve's rod.
 *
 *   W = [1 c; c 1], c = cos(angle), q = -(p_y, p_x sin(angle) + p_y c)        examples/painleve.c
 *
 * D. Kaufman, Coupled principles for computational frictional contact mechanics, 2009, figures 6.2 to 6.8: staggered
 * projections, relative error 1e-7. Angles other than 2 pi/3, pi/5, pi/9 and the values of mu in 6.3 to 6.8 are not in
 * the text of the document and are chosen here. */
#ifdef FRIX_HAVE_EXAMPLES
#include "painleve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "examples/examples.h"
#include "reproduce.h"

enum { GRID = 61, QUICK_GRID = 9, LIMIT = 500, DIRECTIONS = 90, SWITCH_POINTS = 48, ANGLES = 4 };

static const double switch_angle[ANGLES] = {20, 36, 60, 120};
static const double degree = 3.14159265358979323846 / 180;

static const domain_figure figures[] = {
    {"6.2", "\xce\xbc fixed in each row, the angle varies", 4, 4, 3, {20, 36, 60, 120}, {0.4, 0.8, 1.0}, false},
    {"6.3", "angle 120\xc2\xb0, realistic friction", 3, 1, 6, {120}, {0.2, 0.4, 0.6, 0.8, 1.0, 1.2}, false},
    {"6.4", "angle 36\xc2\xb0, realistic friction", 3, 1, 6, {36}, {0.2, 0.4, 0.6, 0.8, 1.0, 1.2}, false},
    {"6.5", "angle 20\xc2\xb0, realistic friction", 3, 1, 6, {20}, {0.2, 0.4, 0.6, 0.8, 1.0, 1.2}, false},
    {"6.6",
     "angle 120\xc2\xb0, large friction: iterations, and the certified residual below",
     4,
     1,
     4,
     {120},
     {1.5, 2.0, 3.0, 5.0},
     true},
    {"6.7",
     "angle 36\xc2\xb0, large friction: iterations, and the certified residual below",
     4,
     1,
     4,
     {36},
     {1.5, 2.0, 3.0, 5.0},
     true},
    {"6.8",
     "angle 20\xc2\xb0, large friction: iterations, and the certified residual below",
     4,
     1,
     4,
     {20},
     {1.5, 2.0, 3.0, 5.0},
     true},
};
enum { FIGURES = sizeof figures / sizeof figures[0], MOST_PANELS = 12 };

typedef struct study {
  fx_report *report;
  frix_context *context;
  frix_solve_config config;
  const frix_example *example;
  domain_text text;
  FILE *csv;
  int64_t solves, failures;
  double crossing[ANGLES]; /* mu where sliding becomes harder than sticking; 0: not seen */
} study;

/* ---- one solve */

typedef struct sample {
  frix_outcome outcome;
  int64_t iterations;
  double residual;
} sample;

static bool measure(study *s, double angle, double mu, double x, double y, sample *out) {
  double value[4] = {angle, mu, x, y};
  frix_problem *problem = NULL;
  frix_solution *solution = NULL;
  bool good = frix_example_build(s->example, s->context, value, &problem) == FRIX_OK &&
              frix_solve(s->context, problem, &s->config, &solution) == FRIX_OK;
  if (good) {
    frix_result r = {.size = sizeof r};
    frix_solution_view(solution, &r);
    *out = (sample){r.outcome, r.iterations, r.certificate.residual};
    s->solves++;
    s->failures += r.outcome != FRIX_OUTCOME_SOLVED;
  } else {
    fx_error("painleve-domains: %s", frix_error_text(s->context));
  }
  frix_solution_destroy(solution);
  frix_problem_destroy(problem);
  return good && !fx_interrupted(NULL);
}

/* Iterations as shown: a start that is the answer counts as one, a failure as infinite. */
static double shown(const sample *a) {
  return a->outcome != FRIX_OUTCOME_SOLVED ? INFINITY : a->iterations > 1 ? (double)a->iterations : 1;
}

/* ---- the maps */

static bool measure_domain(study *s, const char *figure, domain *d) {
  size_t count = (size_t)d->columns * (size_t)d->rows;
  d->iterations = fx_grow(NULL, count, sizeof *d->iterations);
  d->residual = fx_grow(NULL, count, sizeof *d->residual);
  for (int row = 0; row < d->rows; row++)
    for (int column = 0; column < d->columns; column++) {
      double x = DOMAIN_LEFT + (DOMAIN_RIGHT - DOMAIN_LEFT) * (column + 0.5) / d->columns;
      double y = DOMAIN_BOTTOM + (DOMAIN_TOP - DOMAIN_BOTTOM) * (row + 0.5) / d->rows;
      sample a;
      if (!measure(s, d->angle, d->mu, x, y, &a)) return false;
      d->iterations[row * d->columns + column] = shown(&a);
      d->residual[row * d->columns + column] = a.residual;
      fprintf(s->csv, "%s,%g,%g,%.6f,%.6f,%lld,%s,%.3e\n", figure, d->angle, d->mu, x, y, (long long)a.iterations,
              frix_outcome_name(a.outcome), a.residual);
    }
  return true;
}

static bool make_figure(study *s, const domain_figure *figure) {
  domain panel[MOST_PANELS] = {{0}};
  int count = 0, columns = (int)fx_report_size(s->report, QUICK_GRID, GRID);
  int rows = (int)(columns * (DOMAIN_TOP - DOMAIN_BOTTOM) / (DOMAIN_RIGHT - DOMAIN_LEFT) + 0.5);
  bool good = true;
  for (int m = 0; m < figure->mu_count && good; m++)
    for (int a = 0; a < figure->angle_count && good; a++) {
      domain *d = &panel[count++];
      *d = (domain){.angle = figure->angle[a], .mu = figure->mu[m], .columns = columns, .rows = rows > 0 ? rows : 1};
      fx_progress("figure %s: angle %g, mu %g", figure->number, d->angle, d->mu);
      good = measure_domain(s, figure->number, d);
    }
  char name[64];
  snprintf(name, sizeof name, "-%s.svg", figure->number);
  FILE *file = good ? fx_report_open(s->report, name) : NULL;
  if (file) fx_domain_plot(file, figure, panel, &s->text);
  good = file && fx_report_close(s->report, file);
  for (int k = 0; k < count; k++) {
    free(panel[k].iterations);
    free(panel[k].residual);
  }
  return good;
}

/* ---- the switch: by homogeneity only the direction of the predictor matters */

/* Whether p = (x, y) lies in the cone between n + mu d and n - mu d: the contact then sticks. */
static bool sticks(double angle, double mu, double x, double y) {
  double s = sin(angle * degree), c = cos(angle * degree);
  double tangential = x / s, normal = y - c * tangential; /* p = normal n + tangential d */
  return fabs(tangential) <= mu * normal;
}

static bool measure_switch(study *s, double angle, domain_switch *out) {
  double sum[2] = {0, 0};
  int count[2] = {0, 0};
  for (int k = 0; k < DIRECTIONS; k++) {
    double direction = 180.0 * (k + 0.5) / DIRECTIONS, x = cos(direction * degree), y = sin(direction * degree);
    int inside = sticks(angle, out->mu, x, y);
    sample a;
    if (!measure(s, angle, out->mu, x, y, &a)) return false;
    sum[inside] += isfinite(shown(&a)) ? shown(&a) : s->text.limit;
    count[inside]++;
  }
  out->outside = count[0] ? sum[0] / count[0] : NAN;
  out->inside = count[1] ? sum[1] / count[1] : NAN;
  return true;
}

static bool make_switch(study *s) {
  const double *angle = switch_angle;
  domain_switch point[ANGLES * SWITCH_POINTS];
  FILE *csv = fx_report_open(s->report, "-switch.csv");
  if (!csv) return false;
  fprintf(csv, "angle,cosine,mu,mean_iterations_sticking,mean_iterations_sliding\n");
  bool good = true;
  for (int a = 0; a < ANGLES && good; a++)
    for (int k = 0; k < SWITCH_POINTS && good; k++) {
      domain_switch *p = &point[a * SWITCH_POINTS + k];
      *p = (domain_switch){.mu = 0.05 * pow(60, k / (SWITCH_POINTS - 1.0))};
      fx_progress("the switch: angle %g, mu %.2f", angle[a], p->mu);
      good = measure_switch(s, angle[a], p);
      if (good && p->outside > p->inside && s->crossing[a] == 0) s->crossing[a] = p->mu;
      fprintf(csv, "%g,%.6f,%.6f,%.3f,%.3f\n", angle[a], cos(angle[a] * degree), p->mu, p->inside, p->outside);
    }
  good = fx_report_close(s->report, csv) && good;
  FILE *file = good ? fx_report_open(s->report, "-switch.svg") : NULL;
  if (file) fx_domain_switch_plot(file, angle, ANGLES, point, SWITCH_POINTS, &s->text);
  return file && fx_report_close(s->report, file);
}

/* ---- the whole */

static const frix_solver_info *find_solver(const char *name) {
  for (int k = 0; frix_solver_table(k); k++)
    if (!strcmp(frix_solver_table(k)->name, name)) return frix_solver_table(k);
  return NULL;
}

static const char *documents_solver(void) {
  if (find_solver("staggered")) return "staggered";
  fx_warning("painleve-domains: this build has no staggered projections, measured with nsgs");
  return "nsgs";
}

/* The document alternates plainly: acceleration is off unless it is asked for. */
static bool choose_options(study *s, frix_options **options) {
  if (!fx_report_options(s->report, s->context, options)) return false;
  const frix_solver_info *solver = find_solver(s->config.solver);
  bool plain = !strcmp(s->config.solver, "staggered") && !fx_arg(fx_report_settings(s->report)->args, "--set");
  for (int32_t k = 0; plain && k < solver->option_count; k++)
    if (!strcmp(solver->option[k].name, "anderson") && frix_options_set(*options, "staggered.anderson", "0") == FRIX_OK)
      s->text.solver = "plain staggered projections";
  s->config.options = *options;
  return true;
}

/* Mean iterations over the upper half of the map, for the comparison. */
static void compare(study *s) {
  fx_report_compare(s->report, (fx_compared){NAN, (double)s->failures, "", true},
                    "not solved within %d iterations, of %lld", LIMIT, (long long)s->solves);
  for (int a = 0; a < ANGLES; a++)
    if (s->crossing[a] > 0)
      fx_report_compare(s->report, (fx_compared){fabs(cos(switch_angle[a] * degree)), s->crossing[a], "", a == 1},
                        "mu where sliding becomes harder than sticking, angle %g", switch_angle[a]);
}

static bool run(fx_report *report) {
  const fx_reproduce_settings *settings = fx_report_settings(report);
  study s = {.report = report, .context = fx_context(false), .config = frix_solve_default()};
  s.config.solver = settings->solver ? settings->solver : documents_solver();
  s.config.tolerance = settings->tolerance > 0 ? settings->tolerance : 1e-7;
  s.config.max_iterations = LIMIT;
  s.config.cancel = fx_interrupted;
  s.text = (domain_text){s.config.solver, s.config.tolerance, LIMIT};
  s.example = frix_example_find("painleve");
  s.csv = fx_report_open(report, "-maps.csv");
  frix_options *options = NULL;
  bool good = s.csv && choose_options(&s, &options);
  if (good) {
    fprintf(s.csv, "figure,angle,mu,px,py,iterations,outcome,residual\n");
    fx_report_text(report,
                   "Method %s, relative residual %g. Colour: iterations over the plane of the predictor; white the "
                   "normal, red the friction set, yellow the edges of the friction cone, dotted the border below "
                   "which the contact opens. The angles of figure 6.2 and the values of mu in 6.3 to 6.8 are not in "
                   "the text of the document and are chosen here.",
                   s.text.solver, s.config.tolerance);
  }
  for (int k = 0; k < FIGURES && good; k++) good = make_figure(&s, &figures[k]);
  if (s.csv) good = fx_report_close(report, s.csv) && good;
  good = good && make_switch(&s);
  if (good) compare(&s);
  frix_options_destroy(options);
  frix_context_destroy(s.context);
  return good;
}

const fx_reproduction fx_reproduce_painleve = {
    .name = "painleve-domains",
    .document = "S5",
    .place = "figures 6.2 to 6.8",
    .summary = "iterations of staggered projections over the predictor plane of Painleve's rod",
    .size = "grid points along an edge",
    .seconds = 15,
    .quick_seconds = 2,
    .run = run,
};
#endif
