/* cardhouse, arch, stacks: structures that stand on friction alone, and the blows that bring them down.
 *
 * S5, sections 7.3.4, 7.3.5, 7.4 and 7.5: a card house of four levels (mu 0.8, e 0.1) stands for ten simulated minutes
 * and comes down in sections under dropped blocks; a catenary arch (mu 0.6) stands a blow on its keystone and falls by
 * one at a leg; stacks stand where iterative packages let them slide apart. */
#ifdef FRIX_HAVE_EXAMPLES
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reproduce.h"
#include "reproduce_trial.h"

static void compare_certified(fx_report *report, const fx_trial *t, const char *what, bool headline) {
  fx_report_compare(report,
                    (fx_compared){NAN, 100.0 * (double)t->certified / (double)(t->steps ? t->steps : 1), "%", headline},
                    "%s: steps certified to 1e-8, of %lld", what, (long long)t->steps);
  fx_report_compare(report, (fx_compared){NAN, t->residual, "", false}, "%s: worst residual", what);
  fx_report_compare(report, (fx_compared){NAN, t->penetration, "m", false}, "%s: deepest penetration", what);
}

/* ---- card house */

static bool standing_cards(fx_report *report, double time) {
  fx_trial t;
  bool good = fx_trial_new(&t, frix_scene_find("cardhouse")) && fx_trial_start(&t) && fx_trial_run(&t, time);
  if (good) {
    fx_report_compare(report, (fx_compared){600, frix_sim_time(t.sim), "s", true}, "four levels: stands for");
    fx_report_compare(report, (fx_compared){0, fx_trial_moved(&t), "m", true},
                      "four levels: largest displacement then");
    compare_certified(report, &t, "four levels, standing", true);
    fx_report_compare(report, (fx_compared){4.7, t.seconds / (double)t.steps, "s", true},
                      "four levels, standing: CPU time a step (document: struck and standing)");
  }
  fx_trial_end(&t);
  return good;
}

enum { MOST_SAMPLES = 4000 };

/* Blocks fall; heights of the highest card tell of the sections that went. */
static bool struck_cards(fx_report *report, double levels, int blows, double time) {
  double *at = fx_grow(NULL, MOST_SAMPLES, sizeof *at), *fallen = fx_grow(NULL, MOST_SAMPLES, sizeof *fallen);
  double *speed = fx_grow(NULL, MOST_SAMPLES, sizeof *speed);
  int count = 0;
  fx_trial t;
  bool good = fx_trial_new(&t, frix_scene_find("cardhouse")) && fx_trial_set(&t, "levels", levels) &&
              fx_trial_set(&t, "blow", blows) && fx_trial_start(&t);
  int64_t steps = (int64_t)(time / t.h + 0.5);
  for (int64_t k = 0; k < steps && good; k++) {
    if (k % 20 == 0) fx_progress("cardhouse: struck, %.2f s of %g s", frix_sim_time(t.sim), time);
    good = fx_trial_step(&t);
    if (k % 5 || count == MOST_SAMPLES || !good) continue;
    at[count] = frix_sim_time(t.sim), fallen[count] = fx_trial_moved_count(&t, 0.03);
    speed[count++] = fx_trial_speed(&t);
  }
  if (good) {
    fx_report_compare(report, (fx_compared){NAN, fallen[count - 1], "", true},
                      "struck, %g levels, %d blocks: cards fallen", levels, blows);
    fx_report_compare(report, (fx_compared){0, fx_trial_speed(&t), "m/s", false}, "struck: largest speed at the end");
    compare_certified(report, &t, "struck", true);
    fx_report_compare(report, (fx_compared){4.7, t.seconds / (double)t.steps, "s", true}, "struck: CPU time a step");
    fx_curve curve = {"cards out of place", at, fallen, count, FX_CURVE_LINE};
    fx_chart chart = {.title = "A card house under dropped blocks",
                      .subtitle = "cards more than 3 cm from their place; a block every 1.5 s from 1 s on",
                      .x_label = "time, s",
                      .y_label = "cards",
                      .from_zero = true,
                      .curve = &curve,
                      .curve_count = 1};
    good = fx_report_chart(report, ".svg", &chart);
  }
  fx_trial_end(&t);
  free(at), free(fallen), free(speed);
  return good;
}

/* Projected Gauss-Seidel, as packages of the time had it; where the house slides apart, it ends. */
static bool approximate_cards(fx_report *report, double time) {
  fx_trial t;
  bool good = fx_trial_new(&t, frix_scene_find("cardhouse")) && fx_trial_set(&t, "levels", 2);
  t.config.solver = "pgs";
  t.config.max_iterations = 100;
  t.config.polish = 0, t.config.seek_rest = false;
  t.seed = 1;
  good = good && fx_trial_start(&t);
  double fell = NAN;
  for (int64_t k = 0; k < (int64_t)(time / t.h) && good && isnan(fell); k++) {
    good = fx_trial_step(&t);
    if (fx_trial_moved(&t) > 0.02) fell = frix_sim_time(t.sim);
  }
  if (good) {
    fx_report_compare(report,
                      (fx_compared){NAN, isnan(fell) ? fx_trial_moved(&t) : fell, isnan(fell) ? "m" : "s", false},
                      isnan(fell) ? "two levels, pgs with 100 iterations (approximate): displacement after %g s"
                                  : "two levels, pgs with 100 iterations (approximate): falls after (of %g s)",
                      time);
  }
  fx_trial_end(&t);
  return good;
}

static bool run_cards(fx_report *report) {
  bool quick = fx_report_settings(report)->quick;
  double time = (double)fx_report_size(report, 2, 600);
  fx_report_text(report,
                 "Cards of 90 x 60 x 2 mm, leaning by 25 degrees, 84 contacts (the document: 528); steps of 5 ms (the "
                 "document: 1 ms). Other packages "
                 "of the document's time fell at all sizes. The solver is frix's default, tolerance 1e-8.");
  return standing_cards(report, time) && struck_cards(report, quick ? 2 : 4, quick ? 1 : 4, quick ? 1.6 : 8) &&
         approximate_cards(report, quick ? 0.5 : 5);
}

const fx_reproduction fx_reproduce_cardhouse = {
    .name = "cardhouse",
    .document = "S5",
    .place = "sections 7.3.5 and 7.4, figure 7.6",
    .summary = "a card house stands for ten minutes, then blocks bring it down in sections",
    .size = "simulated seconds of standing",
    .seconds = 60,
    .quick_seconds = 1,
    .run = run_cards,
};

/* ---- arch */

static bool arch_blow(fx_report *report, int blow, double time) {
  static const char *const name[3] = {"untouched", "keystone struck", "leg struck"};
  fx_trial t;
  bool good = fx_trial_new(&t, frix_scene_find("arch")) && fx_trial_set(&t, "shape", 1) &&
              fx_trial_set(&t, "blow", blow) && fx_trial_start(&t) && fx_trial_run(&t, time);
  if (good) {
    double moved = fx_trial_moved(&t);
    fx_report_compare(report, (fx_compared){blow < 2, moved < 0.05, "", true}, "%s: stands (1) or falls (0)",
                      name[blow]);
    fx_report_compare(report, (fx_compared){NAN, moved, "m", false}, "%s: largest displacement after %g s", name[blow],
                      time);
    compare_certified(report, &t, name[blow], blow > 0);
    fx_report_compare(report, (fx_compared){1.2, t.seconds / (double)t.steps, "s", blow == 2}, "%s: CPU time a step",
                      name[blow]);
  }
  fx_trial_end(&t);
  return good;
}

static bool run_arch(fx_report *report) {
  double time = (double)fx_report_size(report, 3, 600);
  fx_report_text(
      report,
      "25 flat-faced voussoirs along a catenary, mu 0.6, in the plane: some 56 contacts (the document's arch is "
      "spatial, 162 degrees of freedom and 2,042 contacts), steps of 10 ms as there. The document does not "
      "give its blows. Here three stones of 0.15 m are dropped on the crown, and three of 0.30 m thrown at a "
      "leg with 10 m/s; stones of 0.12 m with 6 m/s had left the arch standing, so that the leg falls is a "
      "matter of the blow chosen.");
  bool good = true;
  for (int blow = 0; blow < 3 && good; blow++) good = arch_blow(report, blow, time);
  return good;
}

const fx_reproduction fx_reproduce_arch = {
    .name = "arch",
    .document = "S5",
    .place = "section 7.3.4, figure 7.5",
    .summary = "a catenary arch stands a blow on its keystone and falls by one at a leg",
    .size = "simulated seconds",
    .seconds = 30,
    .quick_seconds = 1,
    .run = run_arch,
};

/* ---- stacks */

static bool stack(fx_report *report, const char *solver, int n, double h, double time, bool approximate) {
  fx_trial t;
  bool good = fx_trial_new(&t, frix_scene_find("stack")) && fx_trial_set(&t, "n", n);
  t.config.solver = solver;
  t.h = h;
  t.seed = 1;
  if (approximate) t.config.polish = 0, t.config.seek_rest = false, t.config.max_iterations = 100;
  good = good && fx_trial_start(&t) && fx_trial_run(&t, time);
  if (good) {
    double moved = fx_trial_moved(&t);
    fx_report_compare(report, (fx_compared){approximate ? INFINITY : 0, moved, "m", !approximate},
                      "%d blocks, %s%s, %g s: displacement", n, solver,
                      approximate ? " (approximate, 100 iterations)" : "", time);
    if (!approximate)
      fx_report_compare(report, (fx_compared){NAN, 100.0 * (double)t.certified / (double)t.steps, "%", false},
                        "%d blocks, %s: steps certified to 1e-8", n, solver);
    fx_report_compare(report, (fx_compared){NAN, t.seconds / (double)t.steps, "s", false},
                      "%d blocks, %s: CPU time a step", n, solver);
  }
  fx_trial_end(&t);
  return good;
}

static bool run_stacks(fx_report *report) {
  bool quick = fx_report_settings(report)->quick;
  double time = (double)fx_report_size(report, 2, 600);
  fx_report_text(report,
                 "Cubes of 0.5 m laid down to a millimetre. In the document iterative packages let stacks slide apart "
                 "within seconds (100 iterations, steps down to 0.1 ms), pivoting comes to 15 blocks, staggered "
                 "projections stand for ten minutes.");
  bool good = stack(report, "auto", 10, 0.01, time, false) &&
              stack(report, "auto", quick ? 15 : 100, 0.01, time, false) &&
              stack(report, "staggered", 15, 0.01, time, false);
  return good && stack(report, "pgs", 10, 0.01, quick ? 1 : 10, true) &&
         (quick || stack(report, "pgs", 100, 0.01, 10, true));
}

const fx_reproduction fx_reproduce_stacks = {
    .name = "stacks",
    .document = "S5",
    .place = "section 7.5.1",
    .summary = "stacks of 10, 15 and 100 blocks for ten minutes, beside projected Gauss-Seidel",
    .size = "simulated seconds",
    .seconds = 60,
    .quick_seconds = 0.5,
    .run = run_stacks,
};
#endif
