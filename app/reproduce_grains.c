/* segregation, correlation, pebbles: granular matter.
 *
 * S2: 270 bodies shaken, h = 0.1 s, 50 s; the two-point correlation function of a planar packing; loading of a reactor
 * vessel with 2,000 pebbles, which took 20 h of CPU time there. */
#ifdef FRIX_HAVE_EXAMPLES
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reproduce.h"
#include "reproduce_trial.h"

/* ---- segregation */

/* Mean heights of the large and of the small discs above the shaken box. */
static void heights(const fx_trial *t, double *large, double *small) {
  double sum[2] = {0, 0}, floor = 0;
  int count[2] = {0, 0};
  for (int32_t k = 0; k < frix_model_count(t->model).body_count; k++) {
    frix_body_config body = {.size = sizeof body};
    frix_model_body(t->model, frix_model_body_at(t->model, k), &body);
    double y = fx_trial_body(t, k).center.y;
    if (body.kind != FRIX_BODY_DYNAMIC) floor = fx_trial_body(t, k).pose.p.y;
    if (body.kind != FRIX_BODY_DYNAMIC || !body.name) continue;
    int is_large = !strncmp(body.name, "large", 5);
    sum[is_large] += y, count[is_large]++;
  }
  *large = count[1] ? sum[1] / count[1] - floor : 0, *small = count[0] ? sum[0] / count[0] - floor : 0;
}

static bool run_segregation(fx_report *report) {
  enum { MOST = 2000 };
  double time = (double)fx_report_size(report, 2, 50), at[MOST], large[MOST], small[MOST], first[2];
  int count = 0;
  fx_trial t;
  bool good = fx_trial_new(&t, frix_scene_find("segregation"));
  if (fx_report_settings(report)->quick) good = good && fx_trial_set(&t, "n", 45);
  t.config.tolerance = 1e-6;
  good = good && fx_trial_start(&t);
  fx_report_text(
      report,
      "%g s in steps of 0.1 s, relative residual 1e-6; one disc in nine is twice as large, in rows that lie evenly "
      "among "
      "those of the small ones at first. The slides show pictures only, and not how the box is shaken: here over 3 m, "
      "once a second (6 g), mu 0.6. That was chosen after weaker shaking (2 to 3 g, mu 0.3) had moved the bed as one, "
      "with nothing rising: that they rise does not confirm the slides. The discs have a contact stiffness and no "
      "restitution; the document's have one, which it does not tell.",
      time);
  if (good) heights(&t, &first[0], &first[1]);
  for (int64_t k = 0; k < (int64_t)(time / t.h + 0.5) && good; k++) {
    fx_progress("segregation: %.1f s of %g s", frix_sim_time(t.sim), time);
    good = fx_trial_step(&t);
    if (count == MOST || !good) continue;
    at[count] = frix_sim_time(t.sim);
    heights(&t, &large[count], &small[count]);
    count++;
  }
  if (good) {
    fx_report_compare(report, (fx_compared){270, frix_sim_body_count(t.sim) - 1, "", false}, "bodies");
    fx_report_compare(report, (fx_compared){NAN, first[0] - first[1], "m", true},
                      "large over small, mean heights: start");
    fx_report_compare(report, (fx_compared){NAN, large[count - 1] - small[count - 1], "m", true},
                      "large over small, mean heights: after %g s", time);
    fx_report_compare(report, (fx_compared){NAN, 100.0 * (double)t.certified / (double)t.steps, "%", true},
                      "steps certified to 1e-6, of %lld", (long long)t.steps);
    fx_report_compare(report, (fx_compared){NAN, t.seconds / (double)t.steps, "s", true}, "CPU time a step of 0.1 s");
  }
  fx_trial_end(&t);
  fx_curve curve[2] = {{"large", at, large, count, FX_CURVE_LINE}, {"small", at, small, count, FX_CURVE_LINE}};
  fx_chart chart = {.title = "Size segregation in a shaken box",
                    .subtitle = "mean height of the centres over the floor of the box",
                    .x_label = "time, s",
                    .y_label = "m",
                    .curve = curve,
                    .curve_count = 2};
  return good && fx_report_chart(report, ".svg", &chart);
}

const fx_reproduction fx_reproduce_segregation = {
    .name = "segregation",
    .document = "S2",
    .place = "size segregation",
    .summary = "270 discs of two sizes shaken for 50 s in steps of 0.1 s: how far the large ones rise",
    .size = "simulated seconds",
    .seconds = 60,
    .quick_seconds = 0.5,
    .run = run_segregation,
};

/* ---- two-point correlation */

/* Pairs at a distance, over those of the same density without order; centres at least `reach` from the hull count. */
static void correlate(const frix_vec3 *p, int count, double reach, double diameter, double *g, int bins, double width) {
  double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
  for (int k = 0; k < count; k++) {
    low[0] = fmin(low[0], p[k].x), high[0] = fmax(high[0], p[k].x);
    low[1] = fmin(low[1], p[k].y), high[1] = fmax(high[1], p[k].y);
  }
  high[1] -= diameter; /* the uneven surface */
  double density = 0, area = (high[0] - low[0]) * (high[1] - low[1]);
  int inside = 0;
  memset(g, 0, (size_t)bins * sizeof *g);
  for (int k = 0; k < count; k++) density += p[k].y <= high[1];
  density /= area;
  for (int i = 0; i < count; i++) {
    if (p[i].x < low[0] + reach || p[i].x > high[0] - reach || p[i].y < low[1] + reach || p[i].y > high[1] - reach)
      continue;
    inside++;
    for (int j = 0; j < count; j++) {
      double r = hypot(p[i].x - p[j].x, p[i].y - p[j].y) / diameter;
      if (i != j && r < bins * width) g[(int)(r / width)] += 1;
    }
  }
  for (int b = 0; b < bins; b++) {
    double ring = 3.14159265358979 * width * width * (2 * b + 1) * diameter * diameter;
    g[b] = inside ? g[b] / (inside * density * ring) : NAN;
  }
}

/* Mean diameter of the discs. */
static double diameter_of(const frix_model *model) {
  double sum = 0;
  int count = 0;
  for (int32_t k = 0; k < frix_model_count(model).shape_count; k++) {
    frix_shape_config shape = {.size = sizeof shape};
    if (frix_model_shape(model, frix_model_shape_at(model, k), &shape, NULL) != FRIX_OK ||
        shape.kind != FRIX_SHAPE_DISC)
      continue;
    sum += 2 * shape.radius, count++;
  }
  return count ? sum / count : 1;
}

static bool run_correlation(fx_report *report) {
  enum { BINS = 28 };
  const double width = 0.125;
  int n = (int)fx_report_size(report, 60, 400);
  bool quick = fx_report_settings(report)->quick;
  double r[BINS], g[BINS], peak = 0, at = 0;
  fx_trial t;
  bool good = fx_trial_new(&t, frix_scene_find("segregation")) && fx_trial_set(&t, "n", n) &&
              fx_trial_set(&t, "ratio", 1) && fx_trial_set(&t, "amplitude", 0);
  t.h = 0.01;
  t.config.tolerance = 1e-5;
  good = good && fx_trial_start(&t) && fx_trial_run(&t, quick ? 1 : 2);
  fx_report_text(report,
                 "%d discs of one size (+- 5 %%) fall together in a box, relative residual 1e-5; pairs at distance "
                 "r over those of a disordered plane. The slides show a curve from a first peak of about 3.5 at "
                 "r = D down to 1, of an equilibrium found by Metropolis' method.",
                 n);
  if (good) {
    frix_vec3 *p = fx_grow(NULL, (size_t)n, sizeof *p);
    double diameter = diameter_of(t.model);
    int count = 0;
    for (int32_t k = 0; k < frix_model_count(t.model).body_count && count < n; k++) {
      frix_body_config body = {.size = sizeof body};
      frix_model_body(t.model, frix_model_body_at(t.model, k), &body);
      if (body.kind == FRIX_BODY_DYNAMIC) p[count++] = fx_trial_body(&t, k).center;
    }
    correlate(p, count, quick ? 2 * diameter : 3.5 * diameter, diameter, g, BINS, width);
    free(p);
    for (int b = 0; b < BINS; b++) {
      r[b] = (b + 0.5) * width;
      if (g[b] > peak) peak = g[b], at = r[b];
    }
    fx_report_compare(report, (fx_compared){1, at, "D", true}, "first peak: distance");
    fx_report_compare(report, (fx_compared){3.5, peak, "", true}, "first peak: height");
    fx_report_compare(report, (fx_compared){NAN, 100.0 * (double)t.certified / (double)t.steps, "%", false},
                      "steps certified to 1e-5");
  }
  fx_trial_end(&t);
  fx_curve curve = {"frix", r, g, BINS, FX_CURVE_BOTH};
  fx_chart chart = {.title = "Two-point correlation of a planar packing",
                    .subtitle = "pairs at distance r over those without order",
                    .x_label = "r / D",
                    .y_label = "g(r)",
                    .from_zero = true,
                    .mark = 1,
                    .mark_text = "no order",
                    .curve = &curve,
                    .curve_count = 1};
  return good && fx_report_chart(report, ".svg", &chart);
}

const fx_reproduction fx_reproduce_correlation = {
    .name = "correlation",
    .document = "S2",
    .place = "two-point correlation",
    .summary = "two-point correlation function of a planar packing",
    .size = "discs",
    .seconds = 20,
    .quick_seconds = 0.5,
    .run = run_correlation,
};

/* ---- pebbles */

static bool run_pebbles(fx_report *report) {
  static const double size[] = {125, 500, 2000};
  bool quick = fx_report_settings(report)->quick;
  int rows = quick ? 1 : 3;
  double n[3], cost[3], time = quick ? 0.2 : 0.6;
  bool good = true;
  fx_report_text(
      report,
      "Pebbles of 60 mm fall together in a closed vessel, rigid, mu 0.4, %g s in steps of 5 ms, relative "
      "residual 1e-5. The document took 20 h of CPU time for 2,000; what time that simulates is not said, so no ratio.",
      time);
  for (int k = 0; k < rows && good; k++) {
    fx_trial t;
    good =
        fx_trial_new(&t, frix_scene_find("pebbles")) && fx_trial_set(&t, "n", size[k]) && fx_trial_set(&t, "outlet", 0);
    t.config.tolerance = 1e-5;
    good = good && fx_trial_start(&t) && fx_trial_run(&t, time);
    if (good) {
      n[k] = size[k], cost[k] = t.seconds / (double)t.steps;
      fx_report_compare(report, (fx_compared){NAN, t.seconds, "s", k == rows - 1}, "%g pebbles: CPU time for %g s",
                        size[k], time);
      fx_report_compare(report, (fx_compared){NAN, cost[k], "s", false}, "%g pebbles: CPU time a step", size[k]);
      fx_report_compare(report, (fx_compared){NAN, (double)t.last.touching_count, "", false},
                        "%g pebbles: contacts at the end", size[k]);
      fx_report_compare(report, (fx_compared){NAN, 100.0 * (double)t.certified / (double)t.steps, "%", k == rows - 1},
                        "%g pebbles: steps certified to 1e-5", size[k]);
    }
    fx_trial_end(&t);
  }
  fx_curve curve = {"frix", n, cost, rows, FX_CURVE_BOTH};
  fx_chart chart = {.title = "Loading a pebble-bed reactor",
                    .subtitle = "CPU time of a step of 5 ms, mean while the pebbles come together",
                    .x_label = "pebbles",
                    .y_label = "seconds",
                    .log_x = true,
                    .log_y = true,
                    .curve = &curve,
                    .curve_count = 1};
  return good && fx_report_chart(report, ".svg", &chart);
}

const fx_reproduction fx_reproduce_pebbles = {
    .name = "pebbles",
    .document = "S2",
    .place = "pebble bed",
    .summary = "loading a reactor vessel with 125, 500 and 2,000 pebbles",
    .seconds = 60,
    .quick_seconds = 0.5,
    .run = run_pebbles,
};
#endif
