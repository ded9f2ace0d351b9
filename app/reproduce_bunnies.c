/* bunny-drop: the largest rigid scene of the document.
 *
 * S5, table 7.2, right, and figure 7.9 (b): two thousand rigid bunnies are dropped, 12,276 degrees of freedom, solved
 * with a decomposition of the contacts; 37.5 s a solve. */
#ifdef FRIX_HAVE_EXAMPLES
#include <math.h>

#include "reproduce.h"
#include "reproduce_trial.h"

static void tell(fx_report *report, const fx_trial *t, const char *when, bool headline) {
  double steps = (double)t->steps;
  fx_report_compare(report, (fx_compared){NAN, (double)t->contacts / steps, "", false}, "%s: mean contacts", when);
  fx_report_compare(report, (fx_compared){37.5, t->seconds / steps, "s", headline},
                    "%s: CPU time of a whole step (document: of the solve)", when);
  fx_report_compare(report, (fx_compared){NAN, 100.0 * (double)t->certified / steps, "%", headline},
                    "%s: steps certified to %g, of %lld", when, t->config.tolerance, (long long)t->steps);
  fx_report_compare(report, (fx_compared){NAN, t->residual, "", false}, "%s: worst residual", when);
  fx_report_compare(report, (fx_compared){NAN, t->penetration, "m", false}, "%s: deepest penetration", when);
}

static bool run(fx_report *report) {
  const fx_reproduce_settings *settings = fx_report_settings(report);
  int64_t n = fx_report_size(report, 27, 2046);
  double fall = settings->quick ? 0.2 : 0.4, rest = settings->quick ? 0.1 : 0.6;
  fx_trial t;
  bool good = fx_trial_new(&t, frix_scene_find("bunnies")) && fx_trial_set(&t, "n", (double)n);
  t.config.tolerance = settings->tolerance > 0 ? settings->tolerance : 1e-4;
  if (settings->solver) t.config.solver = settings->solver;
  fx_report_text(
      report,
      "%lld bunnies fall into a tub, rigid, mu %g, in steps of %g s, relative residual %g (the document's scenes end "
      "where friction changes by less than 1e-4). The document's bunnies are meshes; these are an ellipsoid, a sphere "
      "and two capsules each, so that ears catch. Friction, tub and step of the document's drop are not told. Method "
      "%s, "
      "warm starts from step to step.",
      (long long)n, t.value[1], t.h, t.config.tolerance, t.config.solver ? t.config.solver : "auto");
  good = good && fx_trial_start(&t) && fx_trial_run(&t, fall);
  if (good) {
    fx_report_compare(report, (fx_compared){12276, 6.0 * (double)n, "", true}, "degrees of freedom");
    tell(report, &t, "falling", false);
    fx_trial_reset(&t);
  }
  good = good && fx_trial_run(&t, rest);
  if (good) tell(report, &t, "coming to rest", true);
  fx_trial_end(&t);
  return good;
}

const fx_reproduction fx_reproduce_bunnies = {
    .name = "bunny-drop",
    .document = "S5",
    .place = "table 7.2, right, figure 7.9 (b)",
    .summary = "two thousand rigid bunnies fall into a tub",
    .size = "bunnies",
    .seconds = 40,
    .quick_seconds = 0.5,
    .run = run,
};
#endif
