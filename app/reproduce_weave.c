/* weave: woven strands that hang, at three frictions and two stiffnesses; and thrown at pegs.
 *
 * S5, section 7.3 shows woven composites whose strands hold, creep or come apart. Here: how far the lowest strand of
 * the weft has come down, and how many of the weft left the warp. */
#ifdef FRIX_HAVE_EXAMPLES
#include <math.h>

#include "reproduce.h"
#include "reproduce_trial.h"

static const double frictions[] = {0.1, 0.3, 0.5}, youngs[] = {5e4, 1e6};
enum { FRICTIONS = 3, YOUNGS = 2, WARPS = 4, WEFTS = 4 };

static const double pitch = 0.05; /* of the scene: a strand that sank by more has left its place */

static bool hang(fx_report *report, double mu, double young) {
  const fx_reproduce_settings *settings = fx_report_settings(report);
  fx_trial t;
  bool good =
      fx_trial_new(&t, frix_scene_find("weave")) && fx_trial_set(&t, "mu", mu) && fx_trial_set(&t, "young", young);
  t.config.contact = FRIX_CONTACT_KIND_STIFF;
  t.config.tolerance = settings->tolerance > 0 ? settings->tolerance : 1e-8;
  if (settings->solver) t.config.solver = settings->solver;
  good = good && fx_trial_start(&t) && fx_trial_run(&t, settings->quick ? 0.1 : 3.0);
  if (good) {
    double speed = 0, sunk = 0;
    int left = 0;
    for (int32_t k = WARPS; k < WARPS + WEFTS; k++) {
      frix_body_state s = fx_trial_body(&t, k);
      double drop = t.home[k].z - s.center.z;
      sunk = fmax(sunk, drop), left += drop > pitch;
      speed = fmax(speed, fabs(s.velocity.z));
    }
    const char *what = left ? "comes apart" : speed > 1e-3 ? "creeps" : "holds";
    fx_report_compare(report, (fx_compared){NAN, sunk, "m", false},
                      "mu %g, E %g Pa: %s, %d of %d strands left; the lowest sank", mu, young, what, left, (int)WEFTS);
    fx_report_compare(report, (fx_compared){NAN, 100.0 * (double)t.certified / (double)t.steps, "%", true},
                      "mu %g, E %g Pa: steps certified to %g, of %lld", mu, young, t.config.tolerance,
                      (long long)t.steps);
    fx_report_compare(report, (fx_compared){NAN, t.penetration, "m", false}, "mu %g, E %g Pa: deepest penetration", mu,
                      young);
  }
  fx_trial_end(&t);
  return good;
}

static bool throw_at_pegs(fx_report *report) {
  const fx_reproduce_settings *settings = fx_report_settings(report);
  fx_trial t;
  bool good = fx_trial_new(&t, frix_scene_find("weave-thrown"));
  t.config.contact = FRIX_CONTACT_KIND_STIFF;
  t.config.tolerance = settings->tolerance > 0 ? settings->tolerance : 1e-8;
  if (settings->solver) t.config.solver = settings->solver;
  good = good && fx_trial_start(&t) && fx_trial_run(&t, settings->quick ? 0.05 : 1.0);
  if (good) {
    fx_report_compare(report, (fx_compared){NAN, 100.0 * (double)t.certified / (double)t.steps, "%", true},
                      "thrown at pegs: steps certified to %g, of %lld", t.config.tolerance, (long long)t.steps);
    fx_report_compare(report, (fx_compared){NAN, (double)t.contacts / (double)t.steps, "", false},
                      "thrown at pegs: mean contacts, on %lld degrees of freedom", (long long)t.last.dof_count);
    fx_report_compare(report, (fx_compared){NAN, t.penetration, "m", false}, "thrown at pegs: deepest penetration");
  }
  fx_trial_end(&t);
  return good;
}

static bool run(fx_report *report) {
  fx_report_text(report,
                 "Four by four strands of square section, woven. A stiff weave is held by its shape; a soft one by "
                 "friction, which decides how many strands of the weft stay.");
  for (int y = 0; y < YOUNGS; y++)
    for (int m = 0; m < FRICTIONS; m++)
      if (!hang(report, frictions[m], youngs[y])) return false;
  return throw_at_pegs(report);
}

const fx_reproduction fx_reproduce_weave = {
    .name = "weave",
    .document = "S5",
    .place = "section 7.3",
    .summary = "woven strands hold, creep or come apart",
    .seconds = 60,
    .quick_seconds = 5,
    .run = run,
};
#endif
