/* Grains that flow out of a silo.
 *
 * grains-beverloo   flow through a hole of width w grows as (w - k d)^(5/2), k = 1.4 [Beverloo et al. 1961] */
#ifdef FRIX_HAVE_EXAMPLES
#include <math.h>
#include <stdlib.h>

#include "grains.h"
#include "reproduce.h"
#include "reproduce_trial.h"

static const double diameter = 0.1, gravity = 9.81, pi = 3.14159265358979323846;

static void make_plain(fx_trial *t) { t->config.polish = 0, t->config.seek_rest = false, t->config.tolerance = 1e-4; }

/* ---- Beverloo */

/* Grains per second through the hole between two times. */
static bool flow_out(int64_t n, double width, double hole, double from, double time, double *rate) {
  fx_trial t;
  bool good = fx_trial_new(&t, frix_scene_find("silo")) && fx_trial_set(&t, "n", (double)n) &&
              fx_trial_set(&t, "width", width) && fx_trial_set(&t, "outlet", hole);
  make_plain(&t);
  good = good && fx_trial_start(&t) && fx_trial_run(&t, from);
  fx_motion motion = {.has_plane = true, .plane = -0.05};
  fx_grains *g = fx_grains_new();
  fx_region all = {.low = {-100, -100, -1e6}, .high = {100, 100, 1e6}};
  for (int k = 0; k <= 10 && good; k++) {
    if (k) good = fx_trial_run(&t, time / 10);
    fx_grains_sim(g, t.model, t.sim, t.h);
    fx_grain_motion_add(&motion, g, &all);
  }
  *rate = motion.crossed / time;
  fx_grain_motion_free(&motion);
  fx_grains_free(g);
  fx_trial_end(&t);
  return good;
}

static bool run_beverloo(fx_report *report) {
  static const double hole[] = {4, 5, 6, 7};
  enum { ROWS = sizeof hole / sizeof *hole };
  bool quick = fx_report_settings(report)->quick, good = true;
  int64_t n = fx_report_size(report, 700, 2500);
  double width = quick ? 10 : 14, from = 0.3, time = quick ? 0.3 : 0.6, rate[ROWS], law[ROWS], x[ROWS];
  double sx = 0, sy = 0, sxx = 0, sxy = 0, scale = 0;
  int rows = 0;
  fx_report_text(
      report,
      "%d spheres of 0.1 m, mu = 0.5, in a square silo %g diameters wide with a square hole of width w in its flat "
      "floor; from %g s on grains are counted for %g s. k = 1.4 diameters, as in the document.",
      (int)n, width, from, time);
  for (int k = 0; k < ROWS && good; k++) {
    if (quick && k % 3) continue;
    good = flow_out(n, width, hole[k], from, time, &rate[rows]);
    if (!good) break;
    double a = log(hole[k] - 1.4), b = log(rate[rows]);
    sx += a, sy += b, sxx += a * a, sxy += a * b;
    x[rows] = hole[k];
    fx_report_compare(report, (fx_compared){NAN, rate[rows], "/s", false}, "w = %g d: grains per second", hole[k]);
    rows++;
  }
  if (!good) return false;
  double exponent = (rows * sxy - sx * sy) / (rows * sxx - sx * sx);
  fx_report_compare(report, (fx_compared){2.5, exponent, "", true}, "exponent of w - 1.4 d");
  for (int k = 0; k < rows; k++) scale += rate[k] / pow(x[k] - 1.4, 2.5) / rows;
  /* Q = C rho_bulk sqrt(g) (w - k d)^(5/2), in grains; a bulk fraction of 0.58, spheres of pi/6 d^3 */
  double constant = scale / (0.58 * 6 / pi * sqrt(gravity / diameter));
  fx_report_compare(report, (fx_compared){0.58 * 4 / pi, constant, "", false},
                    "constant C (document: 0.58 for a round hole, times 4 / pi for a square)");
  for (int k = 0; k < rows; k++) law[k] = scale * pow(x[k] - 1.4, 2.5);
  fx_curve curve[] = {{"frix", x, rate, rows, FX_CURVE_POINTS}, {"(w - 1.4 d)^2.5", x, law, rows, FX_CURVE_LINE}};
  fx_chart chart = {.title = "Flow out of a silo",
                    .subtitle = "spheres through a square hole",
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
    .size = "spheres",
    .seconds = 180,
    .quick_seconds = 8,
    .run = run_beverloo,
};
#endif
