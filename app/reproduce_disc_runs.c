/* disc-runs: cannonball piles of 21, 136 and 210 discs, step after step.
 *
 * S1, section 4.B: discs of diameter 3, h = 0.05. 21 discs, mu 0.05: pivoting, the fixed point to 1e-5 and its first
 * iterate; 136 discs, mu 0.2, where only the first iterate came through; 210 discs. */
#ifdef FRIX_HAVE_EXAMPLES
#include <math.h>
#include <stdlib.h>

#include "reproduce.h"
#include "reproduce_trial.h"

typedef struct variant {
  const char *name, *solver;
  frix_law law;
} variant;

static const variant variants[] = {
    {"LCP0 (lemke)", "lemke", FRIX_LAW_COULOMB},
    {"LCP1 (fixed_point)", "fixed_point", FRIX_LAW_COULOMB},
    {"LCP2 (qp_active_set, approximate)", "qp_active_set", FRIX_LAW_ASSOCIATED},
    {"exact (auto)", "auto", FRIX_LAW_COULOMB},
};
enum { VARIANTS = 4, MOST_STEPS = 400 };

typedef struct disc_run {
  double time[MOST_STEPS], seconds[MOST_STEPS], centre[MOST_STEPS];
  int count;
  double mean, most, residual, lift;
  int64_t certified;
} disc_run;

/* Mean normal velocity of loaded contacts: the error of the relaxed law. */
static double lift_of(const fx_trial *t) {
  double sum = 0;
  int count = 0;
  for (int32_t k = 0; k < frix_sim_contact_count(t->sim); k++) {
    frix_contact_report c = {0};
    if (frix_sim_contact(t->sim, k, &c) != FRIX_OK || c.phase == FRIX_CONTACT_END) continue;
    double push = c.impulse.x * c.normal.x + c.impulse.y * c.normal.y;
    double speed = c.velocity.x * c.normal.x + c.velocity.y * c.normal.y + fmax(c.gap, 0) / t->h;
    if (push > 1e-6) sum += fmax(speed, 0), count++;
  }
  return count ? sum / count : 0;
}

static bool run_one(const variant *v, double levels, double mu, int steps, disc_run *out) {
  fx_trial t;
  bool good = fx_trial_new(&t, frix_scene_find("cannonball")) && fx_trial_set(&t, "levels", levels) &&
              fx_trial_set(&t, "mu", mu);
  t.config.solver = v->solver;
  t.config.law = v->law;
  t.config.polish = 0; /* timed as the document does: one answer a step */
  t.config.seek_rest = false;
  good = good && fx_trial_start(&t);
  *out = (disc_run){0};
  for (int k = 0; k < steps && k < MOST_STEPS && good; k++) {
    double before = t.seconds;
    good = fx_trial_step(&t);
    double seconds = t.seconds - before, centre = 0;
    int32_t n = frix_sim_body_count(t.sim);
    for (int32_t b = 0; b < n && good; b++) centre += fx_trial_body(&t, b).center.y / n;
    out->time[k] = (k + 1) * t.h, out->seconds[k] = seconds, out->centre[k] = centre;
    out->most = fmax(out->most, seconds);
    if (good) out->lift = fmax(out->lift, lift_of(&t));
    out->count++;
  }
  out->mean = t.seconds / (t.steps ? (double)t.steps : 1);
  out->residual = t.residual, out->certified = t.certified;
  fx_trial_end(&t);
  return good;
}

static bool compare_21(fx_report *report, int steps, disc_run *all) {
  const double frame = 0.05; /* s a step may take in real time */
  for (int k = 0; k < VARIANTS; k++) {
    fx_progress("disc-runs: 21 discs, %s", variants[k].name);
    if (!run_one(&variants[k], 6, 0.05, steps, &all[k])) return false;
    fx_report_compare(report, (fx_compared){k == 1 ? NAN : frame, all[k].mean, "s", k != 2},
                      "21 discs, mu 0.05, %s: CPU time a step (document: below)", variants[k].name);
    fx_report_compare(report, (fx_compared){NAN, all[k].most, "s", false}, "21 discs, %s: slowest step",
                      variants[k].name);
    if (variants[k].law == FRIX_LAW_COULOMB)
      fx_report_compare(report, (fx_compared){NAN, (double)all[k].certified, "", false},
                        "21 discs, %s: steps certified to 1e-8, of %d", variants[k].name, all[k].count);
    else
      fx_report_compare(report, (fx_compared){NAN, all[k].lift, "m/s", false},
                        "21 discs, %s: mean normal velocity error", variants[k].name);
  }
  return true;
}

/* The larger piles: exact, and by one convex programme. */
static bool compare_large(fx_report *report, double levels, int discs, int steps) {
  disc_run *r = fx_grow(NULL, 1, sizeof *r);
  bool good = true;
  for (int k = 2; k < VARIANTS && good; k++) {
    fx_progress("disc-runs: %d discs, %s", discs, variants[k].name);
    good = run_one(&variants[k], levels, 0.2, steps, r);
    if (!good) break;
    fx_report_compare(report, (fx_compared){k == 3 ? INFINITY : NAN, r->mean, "s", k == 3},
                      "%d discs, mu 0.2, %s: CPU time a step", discs, variants[k].name);
    if (k == 3) {
      fx_report_compare(report, (fx_compared){0, (double)r->certified, "", true},
                        "%d discs, mu 0.2, exact: steps certified to 1e-8, of %d", discs, r->count);
      fx_report_compare(report, (fx_compared){NAN, r->residual, "", false}, "%d discs, exact: worst residual", discs);
    } else {
      fx_report_compare(report, (fx_compared){discs == 136 ? 0.12 : NAN, r->lift, "m/s", false},
                        "%d discs, LCP2: mean normal velocity error, largest over the steps", discs);
    }
  }
  free(r);
  return good;
}

static bool charts(fx_report *report, const disc_run *all) {
  fx_curve cost[VARIANTS], fall[VARIANTS];
  for (int k = 0; k < VARIANTS; k++) {
    cost[k] = (fx_curve){variants[k].name, all[k].time, all[k].seconds, all[k].count, FX_CURVE_LINE};
    fall[k] = (fx_curve){variants[k].name, all[k].time, all[k].centre, all[k].count,
                         k == 3 ? FX_CURVE_DASHED : FX_CURVE_LINE};
  }
  fx_chart chart = {
      .title = "21 discs, mu = 0.05: time of a step",
      .subtitle = "LCP0 pivoting, LCP1 fixed point, LCP2 one convex programme; the document's limit is 50 ms",
      .x_label = "simulated time, s",
      .y_label = "CPU seconds",
      .log_y = true,
      .mark = 0.05,
      .mark_text = "real time",
      .curve = cost,
      .curve_count = VARIANTS};
  if (!fx_report_chart(report, "-time.svg", &chart)) return false;
  chart = (fx_chart){.title = "21 discs, mu = 0.05: height of the centre of mass",
                     .subtitle = "the pile runs apart; LCP2 lifts what slides",
                     .x_label = "simulated time, s",
                     .y_label = "m",
                     .curve = fall,
                     .curve_count = VARIANTS};
  return fx_report_chart(report, "-height.svg", &chart);
}

static bool run(fx_report *report) {
  int steps = (int)fx_report_size(report, 10, 100);
  if (steps > MOST_STEPS) steps = MOST_STEPS;
  disc_run *all = fx_grow(NULL, VARIANTS, sizeof *all);
  fx_report_text(report, "%d steps of 0.05 s from rest. The discs are 1 kg/m2; the document does not give its mass.",
                 steps);
  bool good = compare_21(report, steps, all);
  if (good && !fx_report_settings(report)->quick)
    good = compare_large(report, 16, 136, steps) && compare_large(report, 20, 210, steps);
  else
    good = good && compare_large(report, 10, 55, 3);
  good = good && charts(report, all);
  free(all);
  return good;
}

const fx_reproduction fx_reproduce_disc_runs = {
    .name = "disc-runs",
    .document = "S1",
    .place = "section 4.B, figures 3 and 4",
    .summary = "piles of 21, 136 and 210 discs collapsing, by LCP0, LCP1, LCP2 and exactly",
    .size = "steps",
    .seconds = 30,
    .quick_seconds = 0.5,
    .run = run,
};
#endif
