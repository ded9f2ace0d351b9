/* Grains that flow: out of a silo, and out of a column.
 *
 * grains-beverloo   flow through a hole of width w grows as (w - k d)^(5/2), k = 1.4 [Beverloo et al. 1961]
 * grains-collapse   a column of aspect a = height over radius runs out by 1.24 a radii for a < 1.7, by 1.6 sqrt(a)
 * above [Lube et al. 2004]; beds of pairs of spheres: two sizes, the limit of columns without end, and one column of
 * 20,000 grains as it is */
#ifdef FRIX_HAVE_EXAMPLES
#include <math.h>
#include <stdlib.h>

#include "examples/bed_run.h"
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

/* ---- collapse */

static const double grain = 0.01; /* diameter of the sphere with a grain's volume */

typedef struct outline {
  double radius, height; /* of what stands or lies; height: twice that of the centre of mass */
  double top;
} outline;

/* Where the deposit ends: from the axis outwards the last ring of two diameters that grains cover by 0.4 and more. */
static double edge_of(const frix_bed *bed) {
  enum { RINGS = 400 };
  double covered[RINGS] = {0}, width = 2 * grain;
  frix_bed_grain g;
  for (int32_t k = 0; k < frix_bed_count(bed) && frix_bed_at(bed, k, &g) == FRIX_OK; k++) {
    double r = hypot(g.position.x, g.position.y);
    if (r < RINGS * width) covered[(int)(r / width)] += 0.25 * pi * grain * grain;
  }
  int k = 0;
  while (k < RINGS && covered[k] >= 0.4 * pi * width * width * (2 * k + 1)) k++;
  /* the ring that is not full, by its share */
  double share = k < RINGS ? covered[k] / (0.8 * pi * width * width * (2 * k + 1)) : 0;
  return (k + share) * width;
}

static outline outline_of(const frix_bed *bed) {
  outline o = {0};
  frix_bed_grain g;
  int32_t count = frix_bed_count(bed);
  for (int32_t k = 0; k < count && frix_bed_at(bed, k, &g) == FRIX_OK; k++) {
    o.radius = fmax(o.radius, hypot(g.position.x, g.position.y) + 0.5 * grain);
    o.height += 2 * g.position.z / count;
    o.top = fmax(o.top, g.position.z + 0.5 * grain);
  }
  return o;
}

typedef struct deposit {
  double aspect, size;  /* height over radius as it stood; radius over the diameter of a grain */
  double run_out, left; /* way of the edge and height at the end, over the radius */
  double certified;     /* share of the steps */
} deposit;

static frix_status step_to(frix_bed *bed, const double *value, double time, deposit *out, double *steps) {
  const ex_bed_scene *scene = ex_bed_find("column");
  const double h = 0.002;
  frix_status status = FRIX_OK;
  while (!status && frix_bed_time(bed) < time - 0.5 * h) {
    frix_bed_report report;
    status = scene->drive(bed, value, h);
    if (!status) status = frix_bed_step(bed, h, &report);
    out->certified += !status && report.certified, *steps += 1;
  }
  return status;
}

/* Settles for 0.6 s within the cylinder, which is then gone, and spreads until nothing moves far. */
static bool collapse(int64_t n, double aspect, int spheres, deposit *out) {
  const ex_bed_scene *scene = ex_bed_find("column");
  const struct {
    const char *name;
    double value;
  } set[] = {{"n", (double)n}, {"aspect", aspect}, {"clump", spheres}, {"stiffness", 1e4}, {"release", 0.6}};
  double value[EX_BED_PARAMETERS], steps = 0;
  frix_bed_config config = frix_bed_default();
  frix_context *context = fx_context(false);
  frix_bed *bed = NULL;
  config.tolerance = 1e-3;
  *out = (deposit){0};
  ex_bed_values(scene, value);
  for (size_t k = 0; k < sizeof set / sizeof *set; k++) value[ex_bed_parameter(scene, set[k].name)] = set[k].value;
  frix_status status = scene->build(context, &config, value, 1, &bed);
  if (!status) status = step_to(bed, value, 0.6, out, &steps);
  outline stood = status ? (outline){0} : outline_of(bed);
  if (!status) status = step_to(bed, value, 1.0 + 4 * sqrt(2 * stood.height / gravity), out, &steps);
  if (!status) {
    out->aspect = stood.height / stood.radius, out->size = stood.radius / grain;
    out->run_out = edge_of(bed) / stood.radius - 1;
    out->left = outline_of(bed).top / stood.radius;
    out->certified /= steps;
  }
  if (status) fx_error("%s", frix_error_text(context));
  frix_bed_destroy(bed);
  frix_context_destroy(context);
  return !status;
}

/* Run-out and height of columns of sand, sugar and rice, hundreds of grains across [Lube et al. 2004]. */
static double lube_run_out(double a) { return a < 1.7 ? 1.24 * a : 1.6 * sqrt(a); }
static double lube_height(double a) { return a < 1 ? a : 0.88 * pow(a, 1.0 / 6); }

/* A column is some grains across, and its edge stops a few grains short: run-out over the law is taken to differ from
 * that of a column without end by a constant over R / d, found from two sizes [Warnett et al. 2014; Man et al. 2021].
 */
static double without_end(const deposit *small, const deposit *large) {
  double few = small->run_out / lube_run_out(small->aspect), many = large->run_out / lube_run_out(large->aspect);
  return (large->size * many - small->size * few) / (large->size - small->size) * lube_run_out(large->aspect);
}

typedef struct slump {
  double aspect, small, large, endless, law;
} slump;

static bool run_pairs(fx_report *report, int64_t n, double aspect, slump *out) {
  deposit small, large;
  if (!collapse(n / 4, aspect, 2, &small) || !collapse(n, aspect, 2, &large)) return false;
  double a = large.aspect;
  *out = (slump){a, small.run_out, large.run_out, without_end(&small, &large), lube_run_out(a)};
  fx_report_compare(report, (fx_compared){NAN, small.run_out, "", false}, "aspect %g, radius of %.1f grains: run-out",
                    aspect, small.size);
  fx_report_compare(report, (fx_compared){NAN, large.run_out, "", false}, "aspect %g, radius of %.1f grains: run-out",
                    aspect, large.size);
  fx_report_compare(report, (fx_compared){out->law, out->endless, "", true}, "aspect %g: run-out without end", aspect);
  fx_report_compare(report, (fx_compared){lube_height(a), large.left, "", false}, "aspect %g: height left", aspect);
  if (small.certified < 1 || large.certified < 1)
    fx_report_text(report, "aspect %g: %.2f and %.2f %% of the steps are certified.", aspect, 100 * small.certified,
                   100 * large.certified);
  return true;
}

/* A column of enough grains that its edge needs no correction. */
static bool run_large(fx_report *report, int64_t n) {
  deposit d;
  if (!collapse(n, 1, 2, &d)) return false;
  fx_report_compare(report, (fx_compared){lube_run_out(d.aspect), d.run_out, "", true},
                    "aspect 1, radius of %.1f grains: run-out as it is", d.size);
  fx_report_compare(report, (fx_compared){lube_height(d.aspect), d.left, "", false},
                    "aspect 1, radius of %.1f grains: height left", d.size);
  return true;
}

/* Spheres roll on a smooth floor and never stop: what they leave is no heap. */
static bool run_spheres(fx_report *report, int64_t n) {
  deposit d;
  if (!collapse(n, 1, 1, &d)) return false;
  fx_report_compare(report, (fx_compared){lube_run_out(d.aspect), d.run_out, "", false}, "spheres, aspect 1: run-out");
  fx_report_compare(report, (fx_compared){lube_height(d.aspect), d.left, "", false}, "spheres, aspect 1: height left");
  return true;
}

static bool run_collapse(fx_report *report) {
  enum { ASPECTS = 4 };
  static const double all[ASPECTS] = {1, 0.6, 1.6, 3};
  bool quick = fx_report_settings(report)->quick;
  int64_t n = fx_report_size(report, 1000, 4000);
  int count = quick ? 1 : ASPECTS;
  double x[ASPECTS], large[ASPECTS], endless[ASPECTS], law[ASPECTS];
  fx_report_text(
      report,
      "%d and %d grains of the volume of a sphere of 10 mm in a cylinder whose wall is gone at once, mu = 0.5 (floor "
      "too), springs of 1e4 N/m: pairs of touching spheres, and spheres, which roll away on the smooth floor. The "
      "deposit ends where grains cover less than 0.4 of a ring; lengths are over the radius. The law is one of sands, "
      "hundreds of grains across; from both sizes that limit is told.",
      (int)(n / 4), (int)n);
  for (int k = 0; k < count; k++) {
    slump s;
    if (!run_pairs(report, n, all[k], &s)) return false;
    x[k] = s.aspect, large[k] = s.large, endless[k] = s.endless, law[k] = s.law;
  }
  if (!run_spheres(report, n) || (!quick && !run_large(report, 5 * n))) return false;
  fx_curve curve[] = {{"pairs", x, large, count, FX_CURVE_POINTS},
                      {"without end", x, endless, count, FX_CURVE_POINTS},
                      {"Lube et al.", x, law, count, FX_CURVE_POINTS}};
  fx_chart chart = {.title = "Collapse of a column",
                    .subtitle = "way of the edge over the radius",
                    .x_label = "height over radius",
                    .y_label = "run-out over radius",
                    .from_zero = true,
                    .curve = curve,
                    .curve_count = 3};
  return fx_report_chart(report, ".svg", &chart);
}

const fx_reproduction fx_reproduce_collapse = {
    .name = "grains-collapse",
    .document = "S6",
    .place = "Lube et al. 2004",
    .summary = "how far a collapsing column of grains runs out",
    .size = "spheres",
    .seconds = 600,
    .quick_seconds = 15,
    .run = run_collapse,
};
#endif
