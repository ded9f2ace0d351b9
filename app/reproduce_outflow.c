/* Grains that flow out of a silo.
 *
 * grains-beverloo   W = C rho sqrt(g) (D - k d)^(5/2) grains leave through a round hole of width D in a flat floor:
 * W^(2/5) is a straight line over D that meets zero at k d, with k of 1 to 2 and C of 0.55 to 0.65 [Beverloo et al.
 * 1961; Nedderman et al. 1982]. The law is one of holes of 6 d and more, of silos of 2.5 D and more, filled higher than
 * D, and of the steady flow */
#ifdef FRIX_HAVE_EXAMPLES
#include <math.h>

#include "examples/bed_run.h"
#include "reproduce.h"

static const double diameter = 0.01, gravity = 9.81, pi = 3.14159265358979323846, bulk = 0.6;

typedef struct outflow {
  double hole;      /* over the diameter */
  double rate;      /* grains per second */
  double certified; /* share of the steps */
} outflow;

static frix_status step_to(frix_bed *bed, double h, double time, outflow *out, int64_t *steps, int64_t *left) {
  frix_status status = FRIX_OK;
  while (!status && frix_bed_time(bed) < time - 0.5 * h) {
    frix_bed_report report;
    status = frix_bed_step(bed, h, &report);
    if (status) break;
    *left += report.left, *steps += 1, out->certified += report.certified;
  }
  return status;
}

/* A silo as wide as 2.5 holes, 1.2 times as high, whose hole is open from the start; from `from` on grains count. */
static bool flow_out(double hole, double h, double from, double time, outflow *out) {
  const ex_bed_scene *scene = ex_bed_find("hopper");
  double width = 2.5 * hole, count = floor(bulk * 0.25 * pi * width * width * 1.2 * width / (pi / 6));
  const struct {
    const char *name;
    double value;
  } set[] = {{"n", count}, {"radius", 0.5 * diameter}, {"width", width}, {"hole", hole}, {"slope", 0}, {"rate", 0}};
  double value[EX_BED_PARAMETERS];
  int64_t steps = 0, before = 0, left = 0;
  frix_bed_config config = frix_bed_default();
  frix_context *context = fx_context(false);
  frix_bed *bed = NULL;
  config.tolerance = 1e-3;
  *out = (outflow){.hole = hole};
  ex_bed_values(scene, value);
  for (size_t k = 0; k < sizeof set / sizeof *set; k++) value[ex_bed_parameter(scene, set[k].name)] = set[k].value;
  frix_status status = scene->build(context, &config, value, 1, &bed);
  if (!status) status = step_to(bed, h, from, out, &steps, &before);
  if (!status) status = step_to(bed, h, from + time, out, &steps, &left);
  if (status) fx_error("%s", frix_error_text(context));
  out->rate = (double)left / time, out->certified /= (double)steps;
  frix_bed_destroy(bed);
  frix_context_destroy(context);
  return !status;
}

/* y = slope (x - zero), by least squares. */
static void fit_line(int n, const double *x, const double *y, double *slope, double *zero) {
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (int k = 0; k < n; k++) sx += x[k], sy += y[k], sxx += x[k] * x[k], sxy += x[k] * y[k];
  *slope = (n * sxy - sx * sy) / (n * sxx - sx * sx);
  *zero = (sx - sy / *slope) / n;
}

static bool run_beverloo(fx_report *report) {
  static const double all[] = {6, 8, 10}, small[] = {5, 7};
  enum { ROWS = sizeof all / sizeof *all };
  bool quick = fx_report_settings(report)->quick;
  const double *hole = quick ? small : all;
  double h = quick ? 0.002 : 0.001, from = quick ? 0.1 : 0.2, time = quick ? 0.2 : 0.4;
  double x[ROWS], rate[ROWS], y[ROWS], law[ROWS], slope, zero, certified = 1;
  int rows = quick ? 2 : ROWS;
  fx_report_text(
      report,
      "Spheres of %g mm, mu = 0.5 (floor and walls too), springs of 1e5 N/m, steps of %g ms to 1e-3, in a round silo "
      "2.5 holes wide and filled three holes high, with a round hole of width D in its flat floor; from %g s on grains "
      "are counted for %g s. W^(2/5) over D is fitted by a straight line, which meets zero at k d.",
      1e3 * diameter, 1e3 * h, from, time);
  for (int k = 0; k < rows; k++) {
    outflow flow;
    if (!flow_out(hole[k], h, from, time, &flow)) return false;
    x[k] = hole[k], rate[k] = flow.rate, y[k] = pow(flow.rate, 0.4), certified = fmin(certified, flow.certified);
    fx_report_compare(report, (fx_compared){NAN, rate[k], "/s", false}, "D = %g d: grains per second", hole[k]);
  }
  fit_line(rows, x, y, &slope, &zero);
  double worst = 0, scale = pow(slope, 2.5);
  for (int k = 0; k < rows; k++) {
    law[k] = scale * pow(x[k] - zero, 2.5);
    worst = fmax(worst, fabs(rate[k] / law[k] - 1));
  }
  fx_report_compare(report, (fx_compared){1.4, zero, "", true}, "k, where W^(2/5) meets zero (published: 1 to 2)");
  fx_report_compare(report, (fx_compared){0.58, scale / (bulk * 6 / pi * sqrt(gravity / diameter)), "", true},
                    "constant C (published: 0.55 to 0.65)");
  fx_report_compare(report, (fx_compared){NAN, 100 * worst, "%", false}, "largest departure of a flow from the law");
  double log_x[ROWS], log_rate[ROWS], exponent;
  for (int k = 0; k < rows; k++) log_x[k] = log(x[k] - 1.4), log_rate[k] = log(rate[k]);
  fit_line(rows, log_x, log_rate, &exponent, &zero);
  fx_report_compare(report, (fx_compared){2.5, exponent, "", true}, "exponent of D - 1.4 d");
  if (certified < 1) fx_report_text(report, "Of one silo %.2f %% of the steps are certified.", 100 * certified);
  fx_curve curve[] = {{"frix", x, rate, rows, FX_CURVE_POINTS}, {"C (D - k d)^2.5", x, law, rows, FX_CURVE_LINE}};
  fx_chart chart = {.title = "Flow out of a silo",
                    .subtitle = "spheres through a round hole in a flat floor",
                    .x_label = "width of the hole over the diameter",
                    .y_label = "grains per second",
                    .from_zero = true,
                    .curve = curve,
                    .curve_count = 2};
  return fx_report_chart(report, ".svg", &chart);
}

const fx_reproduction fx_reproduce_beverloo = {
    .name = "grains-beverloo",
    .document = "S6",
    .place = "Beverloo et al. 1961",
    .summary = "flow out of a silo over the width of its hole",
    .seconds = 200,
    .quick_seconds = 12,
    .run = run_beverloo,
};
#endif
