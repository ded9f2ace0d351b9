/* disc-table, lemke-table, hexapyramid: one step of planar piles by pivoting, by one convex programme, and exactly.
 *
 *   LCP0  Lemke's method on the linear complementarity problem (planar contacts: no approximation)
 *   LCP1  fixed point over convex programmes    LCP2  its first iterate, the associated law: sliding contacts lift
 *
 * S1, table 1: 210 discs of diameter 3, 20 at the bottom, h = 0.05, first step from rest. S2: 10 to 210 discs. The
 * error of LCP2 is the normal velocity mu |u_T| of a loaded contact. */
#ifdef FRIX_HAVE_EXAMPLES
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "examples/examples.h"
#include "reproduce.h"

typedef struct attempt {
  frix_outcome outcome;
  int64_t iterations;
  int32_t contacts;
  double seconds, residual;
  double lift; /* largest normal velocity of a bearing contact */
} attempt;

typedef struct method {
  const char *name, *solver;
  frix_law law;
  const char *setting[2]; /* key, value */
  int64_t limit;
  double tolerance;
} method;

static double lift_of(const frix_problem *problem, const frix_result *r) {
  frix_problem_data d;
  frix_problem_view(problem, &d);
  double most = 0, scale = 0;
  for (int32_t i = 0; i < r->row_count; i++) scale = fmax(scale, fabs(r->r[i]));
  for (int32_t c = 0, row = 0; c < r->contact_count; row += 2, c++)
    if (r->r[row] > 1e-6 * scale) most = fmax(most, r->u[row]);
  return most;
}

/* The quickest of a few solves; false after a message. */
static bool try_method(const frix_problem *problem, frix_context *context, const method *m, attempt *out) {
  frix_solve_config config = frix_solve_default();
  frix_options *options = NULL;
  bool good = frix_options_create(context, &options) == FRIX_OK;
  if (good && m->setting[0]) good = frix_options_set(options, m->setting[0], m->setting[1]) == FRIX_OK;
  config.solver = m->solver;
  config.law = m->law;
  config.options = options;
  config.max_iterations = m->limit;
  config.tolerance = m->tolerance > 0 ? m->tolerance : 1e-8;
  config.cancel = fx_interrupted;
  *out = (attempt){.seconds = INFINITY};
  for (int k = 0; k < 3 && good && !fx_interrupted(NULL); k++) {
    frix_solution *solution = NULL;
    double begin = fx_cpu_seconds();
    good = frix_solve(context, problem, &config, &solution) == FRIX_OK;
    double seconds = fx_cpu_seconds() - begin;
    if (good) {
      frix_result r = {.size = sizeof r};
      frix_solution_view(solution, &r);
      *out = (attempt){
          r.outcome,           r.iterations, r.contact_count, fmin(seconds, out->seconds), r.certificate.residual,
          lift_of(problem, &r)};
    }
    frix_solution_destroy(solution);
    if (seconds > 1) break;
  }
  if (!good) fx_error("%s: %s", m->solver, frix_error_text(context));
  frix_options_destroy(options);
  return good && !fx_interrupted(NULL);
}

static frix_problem *pile(frix_context *context, double levels, double mu) {
  frix_problem *problem = NULL;
  double value[2] = {levels, mu};
  if (frix_example_build(frix_example_find("discs"), context, value, &problem) != FRIX_OK)
    fx_error("discs: %s", frix_error_text(context));
  return problem;
}

static double time_or_failure(const attempt *a) { return a->outcome == FRIX_OUTCOME_SOLVED ? a->seconds : INFINITY; }

/* ---- S1, table 1 */

static const method lemke = {"LCP0, lemke", "lemke", FRIX_LAW_COULOMB, {"lemke.start", "cold"}, 10000, 0};

static bool table_row(fx_report *report, frix_context *context, double levels, double mu, const double document[3]) {
  static const method lcp2[] = {
      {"LCP2, qp_active_set", "qp_active_set", FRIX_LAW_ASSOCIATED, {NULL, NULL}, 0, 0},
      {"LCP2, interior_point", "interior_point", FRIX_LAW_ASSOCIATED, {NULL, NULL}, 0, 0},
  };
  static const method exact[] = {
      {"LCP1, fixed_point", "fixed_point", FRIX_LAW_COULOMB, {NULL, NULL}, 0, 0},
      {"exact, auto", "auto", FRIX_LAW_COULOMB, {NULL, NULL}, 0, 0},
  };
  frix_problem *problem = pile(context, levels, mu);
  attempt a;
  bool good = problem && try_method(problem, context, &lemke, &a);
  if (good)
    fx_report_compare(report, (fx_compared){document[0], time_or_failure(&a), "s", mu > 0.1 && mu < 0.3},
                      "mu %g, LCP0, lemke, 10,000 pivots: CPU time", mu);
  for (int k = 0; k < 2 && good; k++) {
    good = try_method(problem, context, &lcp2[k], &a);
    if (!good) break;
    fx_report_compare(report, (fx_compared){document[1], time_or_failure(&a), "s", k == 0 && mu > 0.1 && mu < 0.3},
                      "mu %g, %s: CPU time", mu, lcp2[k].name);
    fx_report_compare(report, (fx_compared){document[2], a.lift, "m/s", false}, "mu %g, %s: normal velocity error", mu,
                      lcp2[k].name);
  }
  for (int k = 0; k < 2 && good; k++) {
    good = try_method(problem, context, &exact[k], &a);
    if (!good) break;
    fx_report_compare(report, (fx_compared){k ? document[0] : NAN, time_or_failure(&a), "s", k == 1},
                      "mu %g, %s: CPU time", mu, exact[k].name);
    fx_report_compare(report, (fx_compared){NAN, a.residual, "", k == 1 && mu > 0.1 && mu < 0.3},
                      "mu %g, %s: certified residual", mu, exact[k].name);
  }
  frix_problem_destroy(problem);
  return good;
}

static bool run_table(fx_report *report) {
  static const double mu[5] = {0.1, 0.2, 0.4, 0.6, 0.8};
  static const double document[5][3] = {{29.76, 34.42, 0.06},
                                        {INFINITY, 36.28, 0.12},
                                        {INFINITY, 24.03, 0.07},
                                        {INFINITY, 20.40, 1e-8},
                                        {INFINITY, 14.52, 8e-11}};
  int64_t levels = fx_report_size(report, 8, 20);
  frix_context *context = fx_context(false);
  fx_report_text(report,
                 "%lld discs of diameter 3 in %lld rows, first step of 0.05 s from rest. LCP0 is given the document's "
                 "10,000 pivots, from Lemke's own start. LCP2 solves one convex programme instead of the law (an "
                 "approximation, by choice); its error is the normal velocity of contacts that bear. The document has "
                 "no exact answer beyond mu = 0.1.",
                 (long long)(levels * (levels + 1) / 2), (long long)levels);
  bool good = true;
  for (int k = 0; k < 5 && good; k++) {
    fx_progress("disc-table: mu %g", mu[k]);
    static const double unknown[3] = {NAN, NAN, NAN}; /* of other piles */
    good = table_row(report, context, (double)levels, mu[k], levels == 20 ? document[k] : unknown);
  }
  frix_context_destroy(context);
  return good;
}

const fx_reproduction fx_reproduce_disc_table = {
    .name = "disc-table",
    .document = "S1",
    .place = "table 1",
    .summary = "210 discs, the first step: pivoting, one convex programme, and the exact law",
    .size = "rows of the pile",
    .seconds = 200,
    .quick_seconds = 0.5,
    .run = run_table,
};

/* ---- S2, Lemke's method from 10 to 210 bodies */

static bool run_lemke(fx_report *report) {
  static const struct {
    int bodies, contacts;
    double levels, mu, seconds;
  } row[] = {{10, 21, 4, 0.2, 0.04},      {10, 21, 4, 0.8, 0.03},       {21, 52, 6, 0.2, 0.28},
             {21, 52, 6, 0.8, 0.20},      {36, 93, 8, 0.2, 0.81},       {36, 93, 8, 0.8, 0.82},
             {55, 146, 10, 0.2, 2.10},    {55, 146, 10, 0.8, 2.07},     {210, 574, 20, 0.0, 0.80},
             {210, 574, 20, 0.2, 174.29}, {210, 574, 20, 0.8, INFINITY}};
  enum { ROWS = sizeof row / sizeof row[0] };
  static const method any = {"lemke", "lemke", FRIX_LAW_COULOMB, {"lemke.start", "cold"}, 10000, 0},
                      automatic = {"auto", "auto", FRIX_LAW_COULOMB, {NULL, NULL}, 0, 0};
  double x[2][ROWS], y[3][ROWS];
  int64_t largest = fx_report_size(report, 36, 210);
  frix_context *context = fx_context(false);
  bool good = true;
  int count = 0;
  fx_report_text(report,
                 "CPU time of the first step, h = 0.05, from rest; at most 10,000 pivots. The contacts of the document "
                 "differ by one "
                 "or two from ours except for 210 bodies (574 there, 590 here).");
  for (int k = 0; k < ROWS && good; k++) {
    if (row[k].bodies > largest) continue;
    fx_progress("lemke-table: %d bodies, mu %g", row[k].bodies, row[k].mu);
    frix_problem *problem = pile(context, row[k].levels, row[k].mu);
    attempt pivoting, ours;
    good = problem && try_method(problem, context, &any, &pivoting) && try_method(problem, context, &automatic, &ours);
    frix_problem_destroy(problem);
    if (!good) break;
    bool main_row = row[k].bodies == 10 || row[k].bodies == 210;
    fx_report_compare(report, (fx_compared){row[k].contacts, ours.contacts, "", false}, "%d bodies, mu %g: contacts",
                      row[k].bodies, row[k].mu);
    fx_report_compare(report, (fx_compared){row[k].seconds, time_or_failure(&pivoting), "s", main_row && row[k].mu > 0},
                      "%d bodies, mu %g, lemke, %lld pivots: CPU time", row[k].bodies, row[k].mu,
                      (long long)pivoting.iterations);
    fx_report_compare(report, (fx_compared){row[k].seconds, time_or_failure(&ours), "s", main_row && row[k].mu > 0},
                      "%d bodies, mu %g, auto: CPU time", row[k].bodies, row[k].mu);
    if (row[k].mu != 0.2) continue;
    x[0][count] = row[k].bodies, y[0][count] = row[k].seconds;
    y[1][count] = time_or_failure(&pivoting), y[2][count++] = time_or_failure(&ours);
  }
  frix_context_destroy(context);
  if (!good) return false;
  fx_curve curve[3] = {{"document, PATH (Lemke)", x[0], y[0], count, FX_CURVE_BOTH},
                       {"frix, lemke", x[0], y[1], count, FX_CURVE_BOTH},
                       {"frix, auto", x[0], y[2], count, FX_CURVE_BOTH}};
  fx_chart chart = {.title = "One step of a disc pile, mu = 0.2",
                    .subtitle = "CPU time against the number of discs",
                    .x_label = "discs",
                    .y_label = "seconds",
                    .log_x = true,
                    .log_y = true,
                    .curve = curve,
                    .curve_count = 3};
  return fx_report_chart(report, ".svg", &chart);
}

const fx_reproduction fx_reproduce_lemke = {
    .name = "lemke-table",
    .document = "S2",
    .place = "PATH timing table",
    .summary = "Lemke's method on piles of 10 to 210 discs, beside frix's default",
    .size = "most discs",
    .seconds = 100,
    .quick_seconds = 0.5,
    .run = run_lemke,
};

/* ---- S1, section 3: two solutions whose average is none */

/* The largest violation of the complementarity problem by impulses c_n, beta = 0 and slacks lambda, in N s and m/s. */
static double violation(const double *u, const double *normal, const double *lambda, double mu) {
  double worst = 0;
  for (int k = 0; k < 6; k++) {
    double n = normal[k], slip = hypot(u[3 * k + 1], u[3 * k + 2]);
    worst = fmax(worst, fmax(fmin(fabs(n), fabs(u[3 * k])), fmin(mu * n, lambda[k])));
    worst = fmax(worst, fmax(-n, fmax(-u[3 * k], slip - lambda[k])));
  }
  return worst;
}

static bool run_hexapyramid(fx_report *report) {
  static const char *const text[3] = {"corners 1, 3, 5 carry", "corners 2, 4, 6 carry", "their average"};
  const double mu = 0.5, weight = 0.01 * FRIX_EXAMPLE_GRAVITY; /* h m g */
  frix_context *context = fx_context(false);
  frix_problem *problem = NULL;
  double value[3] = {mu, 1, 6};
  bool good = frix_example_build(frix_example_find("hexapyramid"), context, value, &problem) == FRIX_OK;
  fx_report_text(report,
                 "A pyramid of 1 kg on six corners, friction pyramids of six sides. With the slack lambda as an "
                 "unknown the solutions do not form a convex set; the motion (at rest) and the impulses by themselves "
                 "do. The average violates "
                 "mu c_n _|_ lambda by mu h m g / 6 = %.5f.",
                 mu * weight / 6);
  for (int which = 0; which < 3 && good; which++) {
    double r[18] = {0}, normal[6], lambda[6], u[18], v[6], speed = 0;
    for (int k = 0; k < 6; k++) {
      bool loaded = k % 2 == which;
      r[3 * k] = normal[k] = which == 2 ? weight / 6 : loaded ? weight / 3 : 0;
      lambda[k] = which == 2 ? 0.5 : !loaded;
    }
    frix_certificate c;
    good = frix_certify(context, problem, FRIX_LAW_COULOMB, r, NULL, &c, u, v) == FRIX_OK;
    for (int i = 0; i < 6; i++) speed = fmax(speed, fabs(v[i]));
    double worst = good ? violation(u, normal, lambda, mu) : NAN;
    fx_report_compare(report, (fx_compared){which == 2 ? NAN : 0, worst < 1e-14 ? 0 : worst, "", true},
                      "%s: violation of the complementarity problem", text[which]);
    fx_report_compare(report, (fx_compared){0, speed < 1e-14 ? 0 : speed, "m/s", false}, "%s: speed", text[which]);
  }
  static const char *const solver[] = {"lemke", "auto", "semismooth"};
  for (int k = 0; k < 3 && good; k++) {
    method m = {solver[k], solver[k], FRIX_LAW_COULOMB, {NULL, NULL}, 0, 0};
    attempt a;
    good = try_method(problem, context, &m, &a);
    if (good) fx_report_compare(report, (fx_compared){NAN, a.residual, "", false}, "%s: certified residual", solver[k]);
  }
  if (!good) fx_error("hexapyramid: %s", frix_error_text(context));
  frix_problem_destroy(problem);
  frix_context_destroy(context);
  return good;
}

const fx_reproduction fx_reproduce_hexapyramid = {
    .name = "hexapyramid",
    .document = "S1",
    .place = "section 3",
    .summary = "a pyramid on six corners: two solutions of the complementarity problem whose average is none",
    .seconds = 0.01,
    .quick_seconds = 0.01,
    .run = run_hexapyramid,
};
#endif
