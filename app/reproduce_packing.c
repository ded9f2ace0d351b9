/* Packings of spheres: how dense, how many neighbours, and what the walls of a silo carry.
 *
 * grains-packing   packing fraction and coordination of poured spheres over friction: random close packing without
 *                  friction [Scott and Kilgour 1969], random loose packing with much of it [Onoda and Liniger 1990];
 *                  3 contacts per grain without friction, 2 (coordination 4) with [Silbert 2010]
 * grains-janssen   vertical stress of a column saturates: sigma = rho g l (1 - exp(-z / l)), l = D / (4 K mu_wall)
 *                  [Janssen 1895] */
#ifdef FRIX_HAVE_EXAMPLES
#include <math.h>
#include <stdlib.h>

#include "grains.h"
#include "reproduce.h"
#include "reproduce_trial.h"

static const double diameter = 0.1, gravity = 9.81, lift = 0.05;

/* Cheap steps: one answer each, to 1e-4. */
static void make_plain(fx_trial *t) { t->config.polish = 0, t->config.seek_rest = false, t->config.tolerance = 1e-4; }

/* ---- packing */

typedef struct packed {
  double mu, fraction, coordination, rattlers, per_grain, speed;
} packed;

/* Inside of the box: one and a half diameters from walls and floor, two and a half below the top. */
static fx_region inner_region(const fx_grains *g) {
  fx_region all;
  fx_region_box(&all, NULL, g);
  double height = 0;
  for (int32_t k = 0; k < g->count; k++) height += 2 * g->grain[k].center.z / g->count;
  for (int a = 0; a < 2; a++) all.low[a] += 1.5 * diameter, all.high[a] -= 1.5 * diameter;
  all.low[2] = 1.5 * diameter, all.high[2] = height - 2.0 * diameter;
  return all;
}

static bool pour(int64_t n, double mu, double stiffness, double time, packed *out) {
  fx_trial t;
  bool good = fx_trial_new(&t, frix_scene_find("pile")) && fx_trial_set(&t, "n", (double)n) &&
              fx_trial_set(&t, "mu", mu) && fx_trial_set(&t, "stiffness", stiffness);
  make_plain(&t);
  good = good && fx_trial_start(&t) && fx_trial_run(&t, time);
  if (good) {
    fx_grains *g = fx_grains_new();
    fx_grains_sim(g, t.model, t.sim, t.h);
    fx_grid grid = {.region = inner_region(g), .cells = {1, 1, 1}, .dim = 3};
    fx_state state;
    fx_state_new(&state, 1);
    fx_grid_share(&grid, g);
    fx_state_add(&state, g, &grid);
    fx_grain_cell c = fx_state_cell(&state, &grid, 0);
    *out = (packed){
        mu, c.packing, c.coordination_bearing, c.rattlers, (double)g->touch_count / g->count, sqrt(3 * c.temperature)};
    fx_state_free(&state);
    fx_grid_free(&grid);
    fx_grains_free(g);
  }
  fx_trial_end(&t);
  return good;
}

static bool run_packing(fx_report *report) {
  static const double mu[] = {0, 0.1, 0.3, 1};
  enum { ROWS = sizeof mu / sizeof *mu };
  bool quick = fx_report_settings(report)->quick, good = true;
  int64_t n = fx_report_size(report, 300, 1000);
  double time = quick ? 0.8 : 2.0, stiffness = 1e7, x[ROWS], fraction[ROWS], z[ROWS];
  int rows = 0;
  fx_report_text(
      report,
      "%d spheres of 0.1 m +- 10 %% fall into a box and come to rest, %g s, contacts of %g N/m, steps of 5 ms to "
      "1e-4. Measured 1.5 diameters away from walls and floor.",
      (int)n, time, stiffness);
  for (int k = 0; k < ROWS && good; k++) {
    if (quick && k % 3) continue;
    packed p;
    good = pour(n, mu[k], stiffness, time, &p);
    if (!good) break;
    bool least = k == 0, most = k == ROWS - 1;
    double close = least ? 0.6366 : most ? 0.555 : NAN, isostatic = least ? 6 : most ? 4 : NAN;
    x[rows] = p.mu, fraction[rows] = p.fraction, z[rows++] = p.coordination;
    fx_report_compare(report, (fx_compared){close, p.fraction, "", least || most}, "mu %g: packing fraction", p.mu);
    fx_report_compare(report, (fx_compared){isostatic, p.coordination, "", least || most},
                      "mu %g: coordination without rattlers", p.mu);
    fx_report_compare(report, (fx_compared){least ? 3 : NAN, p.per_grain, "", false},
                      "mu %g: contacts per grain, walls included", p.mu);
    fx_report_compare(report, (fx_compared){NAN, p.rattlers, "", false}, "mu %g: rattlers, share", p.mu);
    fx_report_compare(report, (fx_compared){NAN, p.speed, "m/s", false}, "mu %g: speed left", p.mu);
  }
  fx_curve curve[] = {{"packing fraction x 10", x, fraction, rows, FX_CURVE_BOTH},
                      {"coordination", x, z, rows, FX_CURVE_BOTH}};
  for (int k = 0; k < rows; k++) fraction[k] *= 10;
  fx_chart chart = {.title = "Poured spheres over friction",
                    .subtitle = "inside of the box",
                    .x_label = "friction",
                    .y_label = "coordination, 10 x packing fraction",
                    .from_zero = true,
                    .curve = curve,
                    .curve_count = 2};
  return good && fx_report_chart(report, ".svg", &chart);
}

const fx_reproduction fx_reproduce_packing = {
    .name = "grains-packing",
    .document = "S6",
    .place = "Scott and Kilgour 1969, Onoda and Liniger 1990, Silbert 2010",
    .summary = "packing fraction and coordination of poured spheres over friction",
    .size = "spheres",
    .seconds = 120,
    .quick_seconds = 6,
    .run = run_packing,
};

/* ---- Janssen */

enum { LAYERS = 16, SAMPLES = 10 };
#define SAMPLE_TIME 0.02

typedef struct column {
  double depth[LAYERS], stress[LAYERS]; /* below the surface; over rho g D */
  double length, misfit;                /* l over D, root mean square error over the largest stress */
  double bottom, height;                /* load of the floor over the weight; height over D */
  double ratio;                         /* of stress across to that along the column */
} column;

static double janssen(double depth, double length) { return length * (1 - exp(-depth / length)); }

/* Least squares over l, by golden section; D is the unit. */
static void fit(column *c) {
  double low = 0.05, high = 50, ratio = 0.5 * (sqrt(5.0) - 1), most = 0, best = 0;
  for (int k = 0; k < 100; k++) {
    double error[2], at[2] = {high - ratio * (high - low), low + ratio * (high - low)};
    for (int s = 0; s < 2; s++) {
      error[s] = 0;
      for (int i = 0; i < LAYERS; i++) error[s] += pow(c->stress[i] - janssen(c->depth[i], at[s]), 2);
    }
    if (error[0] < error[1])
      high = at[1];
    else
      low = at[0];
    best = fmin(error[0], error[1]);
  }
  c->length = 0.5 * (low + high);
  for (int i = 0; i < LAYERS; i++) most = fmax(most, c->stress[i]);
  c->misfit = sqrt(best / LAYERS) / most;
}

/* Force of the floor on the grains, upwards, over their weight. */
static double floor_load(const fx_grains *g) {
  double force = 0, weight = 0;
  for (int32_t k = 0; k < g->count; k++) weight += gravity * g->grain[k].mass;
  for (int32_t k = 0; k < g->touch_count; k++)
    if (g->touch[k].b < 0 && g->touch[k].normal.z > 0.9) force += g->touch[k].force.z;
  return force / weight;
}

/* Layers of the column over SAMPLES moments. */
static bool measure_column(fx_trial *t, double width, column *out) {
  fx_grains *g = fx_grains_new();
  fx_grains_sim(g, t->model, t->sim, t->h);
  double top = 0, side = width * diameter, mass = 0, across = 0, along = 0;
  for (int32_t k = 0; k < g->count; k++) top = fmax(top, g->grain[k].center.z), mass += g->grain[k].mass;
  top -= diameter; /* the surface is rough */
  double density = mass / (side * side * top);
  fx_grid grid = {.dim = 3, .cells = {1, 1, LAYERS}};
  grid.region = (fx_region){.low = {-side / 2, -side / 2, 0}, .high = {side / 2, side / 2, top}};
  fx_state state;
  fx_state_new(&state, LAYERS);
  bool good = true;
  out->bottom = 0;
  for (int k = 0; k < SAMPLES && good; k++) {
    fx_grid_share(&grid, g);
    fx_state_add(&state, g, &grid);
    out->bottom += floor_load(g) / SAMPLES;
    good = fx_trial_run(t, SAMPLE_TIME);
    fx_grains_sim(g, t->model, t->sim, t->h);
  }
  for (int k = 0; k < LAYERS; k++) {
    fx_grain_cell c = fx_state_cell(&state, &grid, k);
    out->depth[k] = top * (1 - (k + 0.5) / LAYERS) / side;
    out->stress[k] = c.stress[FX_ZZ] / (density * gravity * side);
    across += 0.5 * (c.stress[FX_XX] + c.stress[FX_YY]), along += c.stress[FX_ZZ];
  }
  out->height = top / side;
  out->ratio = across / along;
  fit(out);
  fx_state_free(&state);
  fx_grid_free(&grid);
  fx_grains_free(g);
  return good;
}

static bool stand_in_silo(int64_t n, double width, double wall, double time, column *out) {
  fx_trial t;
  bool good = fx_trial_new(&t, frix_scene_find("silo")) && fx_trial_set(&t, "n", (double)n) &&
              fx_trial_set(&t, "width", width) && fx_trial_set(&t, "wall", wall) && fx_trial_set(&t, "lift", lift);
  make_plain(&t);
  good = good && fx_trial_start(&t) && fx_trial_run(&t, time);
  good = good && measure_column(&t, width, out);
  fx_trial_end(&t);
  return good;
}

static bool run_janssen(fx_report *report) {
  static const double wall[] = {0.5, 0.25, 0};
  static const char *const name[] = {"mu_wall 0.5", "mu_wall 0.25", "mu_wall 0"};
  bool quick = fx_report_settings(report)->quick, good = true;
  int64_t n = fx_report_size(report, 350, 1500);
  double width = quick ? 4 : 6, time = quick ? 1.0 : 2.0;
  column c[3];
  fx_curve curve[3];
  fx_report_text(
      report,
      "%d spheres of 0.1 m in a square silo %g diameters wide, packed; its walls move up by %g m/s for %g s, so that "
      "their friction is mobilised [Bertho et al., Phys. Rev. Lett. 90, 2003]; mu = 0.5 between grains. Vertical "
      "stress of layers; D is the width, l the length fitted to Janssen's law.",
      (int)n, width, lift, time);
  for (int k = 0; k < 3 && good; k++) {
    good = stand_in_silo(n, width, wall[k], time, &c[k]);
    if (!good) break;
    curve[k] = (fx_curve){name[k], c[k].depth, c[k].stress, LAYERS, FX_CURVE_BOTH};
    fx_report_compare(report, (fx_compared){wall[k] > 0 ? NAN : 1, c[k].bottom, "", true},
                      "%s: load of the floor over the weight", name[k]);
    if (wall[k] == 0) continue;
    fx_report_compare(report, (fx_compared){janssen(c[k].height, c[k].length) / c[k].height, c[k].bottom, "", false},
                      "%s: the same by the fitted law", name[k]);
    fx_report_compare(report, (fx_compared){NAN, c[k].length, "", false}, "%s: l over D", name[k]);
    fx_report_compare(report, (fx_compared){NAN, 1 / (4 * wall[k] * c[k].length), "", true}, "%s: K = D / (4 mu l)",
                      name[k]);
    fx_report_compare(report, (fx_compared){NAN, c[k].ratio, "", false}, "%s: stress across over stress along",
                      name[k]);
    fx_report_compare(report, (fx_compared){0, c[k].misfit, "", false}, "%s: misfit over the largest stress", name[k]);
  }
  fx_chart chart = {.title = "Vertical stress in a silo",
                    .subtitle = "over rho g D; without friction at the walls it grows with the depth",
                    .x_label = "depth over D",
                    .y_label = "stress over rho g D",
                    .from_zero = true,
                    .curve = curve,
                    .curve_count = 3};
  return good && fx_report_chart(report, ".svg", &chart);
}

const fx_reproduction fx_reproduce_janssen = {
    .name = "grains-janssen",
    .document = "S6",
    .place = "Janssen 1895",
    .summary = "stress in a silo saturates with the depth",
    .size = "spheres",
    .seconds = 120,
    .quick_seconds = 8,
    .run = run_janssen,
};
#endif
