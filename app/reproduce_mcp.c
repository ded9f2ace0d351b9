/* mcp-library, scara: mixed complementarity problems by bound-constrained minimisation, and by frix's default.
 *
 *   min 1/2 (|f - z|^2 + |g|^2 + (u'z)^2),  u, z >= 0        docs/methods/box_trust_region.md
 *
 * S3: Harker's and Scarf's models (table 1), Bertsekas' control problems (figure 1), two SCARA arms holding a cube
 * (figures 2 and 3, tables 2 and 3). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reproduce.h"

/* Over several solves. */
typedef struct tally {
  int runs, solved;
  double iterations, evaluations, inner, products, seconds; /* sums */
  double least, most;                                       /* seconds */
  double objective;                                         /* worst */
} tally;

static bool interrupted(int64_t iteration, double residual, const double *x, void *user) {
  (void)iteration, (void)residual, (void)x;
  return fx_interrupted(user);
}

static bool solve(fx_report *report, frix_context *context, const frix_mcp *mcp, const char *method, int32_t start,
                  FILE *csv, tally *t) {
  frix_mcp_data data = frix_mcp_data_default();
  frix_mcp_view(mcp, &data);
  frix_mcp_config config = frix_mcp_default();
  frix_mcp_result r = {0};
  config.method = method;
  config.cancel = interrupted;
  if (fx_report_settings(report)->tolerance > 0) config.tolerance = fx_report_settings(report)->tolerance;
  double *x = fx_grow(NULL, (size_t)data.count, sizeof *x), begin = fx_cpu_seconds();
  bool good = frix_mcp_start(mcp, start, x) && frix_mcp_solve(context, mcp, &config, x, &r) == FRIX_OK;
  double seconds = fx_cpu_seconds() - begin;
  free(x);
  if (!good || fx_interrupted(NULL)) {
    if (!good) fx_error("%s: %s", data.name, frix_error_text(context));
    return false;
  }
  fprintf(csv, "%s,%d,%d,%s,%s,%lld,%lld,%lld,%lld,%.6f,%.3e,%.3e\n", data.name, (int)data.count, (int)start, method,
          frix_outcome_name(r.outcome), (long long)r.iterations, (long long)r.evaluations,
          (long long)r.inner_iterations, (long long)r.products, seconds, r.certificate.residual,
          r.certificate.objective);
  if (t->runs == 0 || seconds < t->least) t->least = seconds;
  t->most = fmax(t->most, seconds);
  t->runs++;
  t->solved += r.outcome == FRIX_OUTCOME_SOLVED;
  t->iterations += (double)r.iterations, t->evaluations += (double)r.evaluations;
  t->inner += (double)r.inner_iterations, t->products += (double)r.products;
  t->seconds += seconds;
  if (!(r.certificate.objective <= t->objective)) t->objective = r.certificate.objective;
  return true;
}

/* A problem of the library from its first `starts` starting points. */
static bool solve_named(fx_report *report, frix_context *context, const char *name, const char *method, int32_t starts,
                        FILE *csv, tally *t) {
  frix_mcp *mcp = NULL;
  if (frix_mcp_create_named(context, name, &mcp) != FRIX_OK) {
    fx_error("%s", frix_error_text(context));
    return false;
  }
  bool good = true;
  for (int32_t k = 0; k < starts && good; k++) good = solve(report, context, mcp, method, k, csv, t);
  frix_mcp_destroy(mcp);
  return good;
}

static FILE *open_runs(fx_report *report) {
  FILE *csv = fx_report_open(report, "-runs.csv");
  if (csv)
    fprintf(csv,
            "problem,unknowns,start,method,outcome,iterations,evaluations,inner,products,cpu_seconds,residual,"
            "objective\n");
  return csv;
}

static const char *const methods[] = {"box_trust_region", "auto"};
enum { METHODS = 2, STARTS = 4 };

/* ---- the library */

static bool harker(fx_report *report, frix_context *context, FILE *csv) {
  static const char *const name[] = {"harker1_cspe2", "harker1_monop1", "harker1_monop2", "harker1_oligop",
                                     "harker2_cspe2", "harker2_monop1", "harker2_monop2", "harker2_oligop"};
  for (int m = 0; m < METHODS; m++) {
    tally t = {0};
    for (int k = 0; k < 8; k++)
      if (!solve_named(report, context, name[k], methods[m], 1, csv, &t)) return false;
    fx_report_compare(report, (fx_compared){8, t.solved, "", m == 0}, "Harker, 8 models, %s: solved", methods[m]);
    fx_report_compare(report, (fx_compared){1e-10, t.objective, "", m == 0},
                      "Harker, %s: worst objective (document: below)", methods[m]);
  }
  return true;
}

static bool scarf(fx_report *report, frix_context *context, FILE *csv) {
  static const struct {
    const char *name, *text;
    double box, evaluations, inner, products, seconds;
  } row[] = {{"scarf_asum", "sum of prices", 25.3, 29.8, 848.5, 956.0, 32.0},
             {"scarf_anum", "numeraire", 26.3, 30.3, 700.0, 778.9, 30.3}};
  for (int k = 0; k < 2; k++)
    for (int m = 0; m < METHODS; m++) {
      tally t = {0};
      if (!solve_named(report, context, row[k].name, methods[m], STARTS, csv, &t)) return false;
      const char *text = row[k].text, *method = methods[m];
      fx_report_compare(report, (fx_compared){4, t.solved, "", false}, "Scarf, %s, %s: solved of 4", text, method);
      fx_report_compare(report, (fx_compared){row[k].seconds, t.seconds / t.runs, "s", m == 0},
                        "Scarf, %s, %s: CPU time", text, method);
      fx_report_compare(report, (fx_compared){row[k].box, t.iterations / t.runs, "", true}, "Scarf, %s, %s: iterations",
                        text, method);
      if (m > 0) continue;
      fx_report_compare(report, (fx_compared){row[k].evaluations, t.evaluations / t.runs, "", false},
                        "Scarf, %s, %s: evaluations", text, method);
      fx_report_compare(report, (fx_compared){row[k].inner, t.inner / t.runs, "", false},
                        "Scarf, %s, %s: inner iterations", text, method);
      fx_report_compare(report, (fx_compared){row[k].products, t.products / t.runs, "", false},
                        "Scarf, %s, %s: products", text, method);
    }
  return true;
}

/* Five unknowns a stage; the document's largest took 8.8 h. */
static bool control(fx_report *report, frix_context *context, FILE *csv, int64_t most) {
  enum { MOST = 8 };
  double x[MOST], y[MOST], worst = 0;
  int count = 0;
  int64_t size[] = {14, 140, 1400, 14000}, runs = 0, solved = 0;
  for (int k = 0; k < 4 && size[k] * 5 <= most; k++) {
    tally t = {0};
    char name[32];
    snprintf(name, sizeof name, "control-%lld", (long long)size[k]);
    fx_progress("mcp-library: %s", name);
    if (!solve_named(report, context, name, "auto", STARTS, csv, &t)) return false;
    x[count] = 5.0 * (double)size[k], y[count++] = t.seconds / t.runs;
    double published = size[k] == 14000 ? 8.8 * 3600 : NAN;
    fx_report_compare(report, (fx_compared){published, t.seconds / t.runs, "s", size[k] == 14000},
                      "control, %lld unknowns: CPU time", (long long)(5 * size[k]));
    worst = fmax(worst, t.objective), runs += t.runs, solved += t.solved;
  }
  fx_report_compare(report, (fx_compared){(double)runs, (double)solved, "", false}, "control: solved of %lld",
                    (long long)runs);
  fx_report_compare(report, (fx_compared){1e-4, worst, "", false}, "control: worst objective");
  fx_curve curve = {"frix, auto", x, y, count, FX_CURVE_BOTH};
  double largest[1] = {70000}, hours[1] = {8.8 * 3600};
  fx_curve all[2] = {curve, {"document, largest", largest, hours, 1, FX_CURVE_POINTS}};
  fx_chart chart = {.title = "Optimal control as a complementarity problem",
                    .subtitle = "mean CPU time of four starts",
                    .x_label = "unknowns",
                    .y_label = "seconds",
                    .log_x = true,
                    .log_y = true,
                    .curve = all,
                    .curve_count = 2};
  return fx_report_chart(report, "-control.svg", &chart);
}

static bool run_library(fx_report *report) {
  frix_context *context = fx_context(false);
  FILE *csv = open_runs(report);
  int64_t most = fx_report_size(report, 700, 70000);
  bool good = csv != NULL;
  fx_report_text(report,
                 "`box_trust_region` is the document's method, `auto` takes whatever is quickest (semismooth Newton "
                 "with sparse factors). Times are of processors more than twenty years apart; iterations compare "
                 "directly. The objective is that of the bound-constrained reformulation. Restarts after a local "
                 "minimum count as iterations.");
  good = good && harker(report, context, csv) && scarf(report, context, csv) && control(report, context, csv, most);
  if (csv) good = fx_report_close(report, csv) && good;
  frix_context_destroy(context);
  return good;
}

const fx_reproduction fx_reproduce_library = {
    .name = "mcp-library",
    .document = "S3",
    .place = "table 1, figure 1",
    .summary = "Harker's, Scarf's and Bertsekas' complementarity problems",
    .size = "most unknowns of the control problems",
    .seconds = 6,
    .quick_seconds = 0.5,
    .run = run_library,
};

/* ---- the grasps */

typedef struct grasp_figures {
  double solved, iterations, evaluations, inner, products, mean, most; /* NAN: not stated */
} grasp_figures;

static bool grasps(fx_report *report, frix_context *context, frix_scara_form form, const grasp_figures *d,
                   int64_t count, FILE *csv) {
  for (int m = 0; m < METHODS; m++) {
    tally t = {0};
    for (int64_t seed = 1; seed <= count; seed++) {
      frix_mcp *mcp = NULL;
      bool good = frix_mcp_create_scara(context, form, (uint64_t)seed, &mcp) == FRIX_OK;
      if (!good) fx_error("%s", frix_error_text(context));
      good = good && solve(report, context, mcp, methods[m], 0, csv, &t);
      frix_mcp_destroy(mcp);
      if (!good) return false;
    }
    const char *text = frix_scara_form_name(form), *method = methods[m];
    double n = t.runs;
    fx_report_compare(report, (fx_compared){d->solved / 200 * 100, t.solved / n * 100, "%", true},
                      "%s, %s: solved of %lld", text, method, (long long)count);
    fx_report_compare(report, (fx_compared){d->mean, t.seconds / n, "s", false}, "%s, %s: mean CPU time", text, method);
    fx_report_compare(report, (fx_compared){d->most, t.most, "s", false}, "%s, %s: largest CPU time", text, method);
    if (m > 0) continue;
    fx_report_compare(report, (fx_compared){d->iterations, t.iterations / n, "", false}, "%s, %s: iterations", text,
                      method);
    fx_report_compare(report, (fx_compared){d->evaluations, t.evaluations / n, "", false}, "%s, %s: evaluations", text,
                      method);
    fx_report_compare(report, (fx_compared){d->inner, t.inner / n, "", false}, "%s, %s: inner iterations", text,
                      method);
    fx_report_compare(report, (fx_compared){d->products, t.products / n, "", false}, "%s, %s: products", text, method);
    fx_report_compare(report, (fx_compared){1e-10, t.objective, "", false}, "%s, %s: worst objective", text, method);
  }
  return true;
}

static bool run_scara(fx_report *report) {
  static const grasp_figures document[FRIX_SCARA_COUNT] = {
      [FRIX_SCARA_SLIDING] = {200, NAN, NAN, NAN, NAN, NAN, NAN},
      [FRIX_SCARA_CONE] = {183, 57.3, 76.3, 984.2, 1150.8, 0.200, 8.740},
      [FRIX_SCARA_PYRAMID] = {194, 7.5, 8.9, 90.8, 126.3, 0.030, 0.170},
  };
  frix_context *context = fx_context(false);
  FILE *csv = open_runs(report);
  int64_t count = fx_report_size(report, 20, 200);
  bool good = csv != NULL;
  fx_report_text(report,
                 "Two arms squeeze a cube under random wrenches: both contacts slide (4 variables), or roll under "
                 "Coulomb's cone (16) or under a pyramid (20). The random data of the document are not published; "
                 "ours are of the same kind.");
  for (int form = 0; form < FRIX_SCARA_COUNT && good; form++)
    good = grasps(report, context, (frix_scara_form)form, &document[form], count, csv);
  if (csv) good = fx_report_close(report, csv) && good;
  frix_context_destroy(context);
  return good;
}

const fx_reproduction fx_reproduce_scara = {
    .name = "scara",
    .document = "S3",
    .place = "section 4.2, tables 2 and 3",
    .summary = "two SCARA arms grasp a cube: sliding, rolling with cone, rolling with pyramid",
    .size = "instances of each form",
    .seconds = 1.5,
    .quick_seconds = 0.3,
    .run = run_scara,
};
