/* Columns and slabs of grains that collapse.
 *
 * grains-collapse   a column of aspect a = height over radius runs out by 1.24 a radii for a < 1.7, by 1.6 sqrt(a)
 * above [Lube et al. 2004]; a slab of aspect a = height over length by 1.2 a lengths for a < 1.8, by 1.9 a^(2/3) above
 * 2.8 [Lube et al. 2005; Lajeunesse et al. 2005]. Beds of pairs of spheres: two sizes, the limit of columns without
 * end, one column of 20,000 grains as it is, and slabs, which are more grains long than a column of as many grains */
#ifdef FRIX_HAVE_EXAMPLES
#include <math.h>
#include <stdlib.h>

#include "examples/bed_run.h"
#include "grains.h"
#include "reproduce.h"
#include "reproduce_trial.h"

static const double gravity = 9.81, pi = 3.14159265358979323846;

static const double grain = 0.01; /* diameter of the sphere with a grain's volume */

typedef struct outline {
  double radius, height; /* of the column, standing or lying; height: twice that of the centre of mass */
  double top;
} outline;

/* Where the deposit ends: outwards the last ring or strip of two diameters that grains cover by 0.4 and more, and of
 * the next its share. depth: of a slab. */
static double edge_of(const frix_bed *bed, double depth) {
  enum { RINGS = 1000 };
  double covered[RINGS] = {0}, width = 2 * grain;
  frix_bed_grain g;
  for (int32_t k = 0; k < frix_bed_count(bed) && frix_bed_at(bed, k, &g) == FRIX_OK; k++) {
    double r = depth > 0 ? g.position.x : hypot(g.position.x, g.position.y);
    if (r >= 0 && r < RINGS * width) covered[(int)(r / width)] += 0.25 * pi * grain * grain;
  }
  for (int k = 0; k < RINGS; k++) {
    double area = depth > 0 ? width * depth : pi * width * width * (2 * k + 1);
    if (covered[k] < 0.4 * area) return (k + covered[k] / (0.8 * area)) * width;
  }
  return RINGS * width;
}

static outline outline_of(const frix_bed *bed, double depth) {
  outline o = {0};
  frix_bed_grain g;
  int32_t count = frix_bed_count(bed);
  for (int32_t k = 0; k < count && frix_bed_at(bed, k, &g) == FRIX_OK; k++) {
    double r = depth > 0 ? g.position.x : hypot(g.position.x, g.position.y);
    o.radius = fmax(o.radius, r + 0.5 * grain);
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

/* Settles within the cylinder or behind the gate, which is then gone, and spreads until nothing moves far. slab: how
 * many diameters it is deep; 0: a column. */
static bool collapse(int64_t n, double aspect, int spheres, double slab, deposit *out) {
  const ex_bed_scene *scene = ex_bed_find("column");
  /* a slab starts four times as high as it settles */
  double height = slab > 0 ? grain * sqrt((double)n * aspect * pi / 6 / 0.6 / slab) : 0;
  double settled = fmax(0.6, 0.1 * ceil(10 * (0.3 + sqrt(6 * height / gravity))));
  const struct {
    const char *name;
    double value;
  } set[] = {{"n", (double)n},   {"aspect", aspect},   {"clump", spheres},
             {"stiffness", 1e4}, {"release", settled}, {"depth", slab}};
  double value[EX_BED_PARAMETERS], steps = 0;
  frix_bed_config config = frix_bed_default();
  frix_context *context = fx_context(false);
  frix_bed *bed = NULL;
  config.tolerance = 1e-3;
  *out = (deposit){0};
  ex_bed_values(scene, value);
  for (size_t k = 0; k < sizeof set / sizeof *set; k++) value[ex_bed_parameter(scene, set[k].name)] = set[k].value;
  double depth = slab * grain;
  frix_status status = scene->build(context, &config, value, 1, &bed);
  if (!status) status = step_to(bed, value, settled, out, &steps);
  outline stood = status ? (outline){0} : outline_of(bed, depth);
  if (!status) status = step_to(bed, value, settled + 0.4 + 4 * sqrt(2 * stood.height / gravity), out, &steps);
  if (!status) {
    out->aspect = stood.height / stood.radius, out->size = stood.radius / grain;
    out->run_out = edge_of(bed, depth) / stood.radius - 1;
    out->left = outline_of(bed, depth).top / stood.radius;
    out->certified /= steps;
  }
  if (status) fx_error("%s", frix_error_text(context));
  frix_bed_destroy(bed);
  frix_context_destroy(context);
  return !status;
}

/* Slabs in channels [Lube et al. 2005; Lajeunesse et al. 2005, who say 2.3 where the former say 1.8 to 2.8]. */
static double slab_run_out(double a) { return a < 2.3 ? 1.2 * a : 1.9 * cbrt(a * a); }
static double slab_height(double a) { return a < 0.7 ? a : cbrt(a); }

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
  if (!collapse(n / 4, aspect, 2, 0, &small) || !collapse(n, aspect, 2, 0, &large)) return false;
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
  if (!collapse(n, 1, 2, 0, &d)) return false;
  fx_report_compare(report, (fx_compared){lube_run_out(d.aspect), d.run_out, "", true},
                    "aspect 1, radius of %.1f grains: run-out as it is", d.size);
  fx_report_compare(report, (fx_compared){lube_height(d.aspect), d.left, "", false},
                    "aspect 1, radius of %.1f grains: height left", d.size);
  return true;
}

/* A slab is more grains long than a column of as many grains, and has no rounded edge. Depth: 8 diameters. */
static bool run_slab(fx_report *report, int64_t n, double aspect) {
  deposit d;
  if (!collapse(n, aspect, 2, 8, &d)) return false;
  fx_report_compare(report, (fx_compared){slab_run_out(d.aspect), d.run_out, "", true},
                    "slab of aspect %g, length of %.1f grains: run-out", aspect, d.size);
  fx_report_compare(report, (fx_compared){slab_height(d.aspect), d.left, "", false},
                    "slab of aspect %g, length of %.1f grains: height left", aspect, d.size);
  if (d.certified < 1) fx_report_text(report, "%.2f %% of its steps are certified.", 100 * d.certified);
  return true;
}

/* Spheres roll on a smooth floor and never stop: what they leave is no heap. */
static bool run_spheres(fx_report *report, int64_t n) {
  deposit d;
  if (!collapse(n, 1, 1, 0, &d)) return false;
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
      "hundreds of grains across; from both sizes that limit is told. Slabs, periodic across and 8 diameters deep, "
      "are more grains long; their law is that of channels.",
      (int)(n / 4), (int)n);
  for (int k = 0; k < count; k++) {
    slump s;
    if (!run_pairs(report, n, all[k], &s)) return false;
    x[k] = s.aspect, large[k] = s.large, endless[k] = s.endless, law[k] = s.law;
  }
  static const double slab[] = {1, 3};
  for (int64_t few = n / 4; few <= (quick ? n : 4 * n); few *= 4)
    for (int k = 0; k < (quick ? 1 : 2); k++)
      if (!run_slab(report, few, slab[k])) return false;
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
    .seconds = 1500,
    .quick_seconds = 18,
    .run = run_collapse,
};
#endif
