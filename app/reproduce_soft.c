/* soft-tables: scenes of deformable bodies beside those of the document.
 *
 * S5, table 7.1: solve time, contacts, degrees of freedom of chairs (9,025 contacts on 1,766), dinosaurs (4,690 on 315)
 * and the haptic scene (117 on 72), tolerance 1e-4. Here the whole step, to 1e-8, with stiff contacts. */
#ifdef FRIX_HAVE_EXAMPLES
#include <math.h>

#include "reproduce.h"
#include "reproduce_trial.h"

typedef struct row {
  const char *name, *scene, *what;
  double contacts, coordinates, seconds; /* of the document */
  const char *parameter[3];
  double quick[3], full[3];
  double begin, time; /* simulated before the measurement, and in it */
} row;

static const row rows[] = {
    {"chairs",
     "chairs",
     "chairs that slide on an inclined floor",
     9025,
     1766,
     0.72,
     {"n", "cells", "rate"},
     {2, 1, 60},
     {68, 4, 60},
     0.4,
     0.1},
    {"dinosaurs", "dinosaurs", "creatures on each other", 4690, 315, 0.61, {"n", NULL}, {2, 0}, {14, 0}, 1.0, 0.25},
    {"haptic", "touch", "two soft cubes and a ball", 117, 72, 0.0032, {"cells", NULL}, {3, 0}, {5, 0}, 0.1, 0.2},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static bool measure(fx_report *report, const row *r) {
  const fx_reproduce_settings *settings = fx_report_settings(report);
  bool quick = settings->quick;
  fx_trial t;
  bool good = fx_trial_new(&t, frix_scene_find(r->scene));
  for (int k = 0; k < 3 && good && r->parameter[k]; k++)
    good = fx_trial_set(&t, r->parameter[k], quick ? r->quick[k] : r->full[k]);
  t.config.contact = FRIX_CONTACT_KIND_STIFF; /* many points on few coordinates: forces of rigid ones are not unique */
  t.config.tolerance = settings->tolerance > 0 ? settings->tolerance : 1e-8;
  if (settings->solver) t.config.solver = settings->solver;
  good = good && fx_trial_start(&t) && fx_trial_run(&t, quick ? 0.05 : r->begin);
  if (good) fx_trial_reset(&t);
  good = good && fx_trial_run(&t, quick ? 0.02 : r->time);
  if (good) {
    double steps = (double)t.steps, seconds = t.seconds / steps;
    fx_report_compare(report, (fx_compared){r->contacts, (double)t.last.contact_count, "", false},
                      "%s: contacts of the problem (%s)", r->name, r->what);
    fx_report_compare(report, (fx_compared){r->coordinates, (double)t.last.dof_count, "", false},
                      "%s: degrees of freedom", r->name);
    fx_report_compare(report, (fx_compared){r->seconds, seconds, "s", true},
                      "%s: CPU time of a whole step (document: of the solve)", r->name);
    fx_report_compare(report, (fx_compared){NAN, 100.0 * (double)t.certified / steps, "%", true},
                      "%s: steps certified to %g, of %lld", r->name, t.config.tolerance, (long long)t.steps);
    fx_report_compare(report, (fx_compared){NAN, t.penetration, "m", false}, "%s: deepest penetration", r->name);
  }
  fx_trial_end(&t);
  return good;
}

static bool run(fx_report *report) {
  fx_report_text(
      report,
      "Deformable bodies of few modes in contact. The document's meshes are not published: chairs, creatures "
      "and cubes are generated, so that contacts and degrees of freedom are like those of the document, not "
      "equal. The document ends where friction changes by less than 1e-4; times there are of a 3 GHz "
      "Pentium D.");
  for (int k = 0; k < ROWS; k++)
    if (!measure(report, &rows[k])) return false;
  return true;
}

const fx_reproduction fx_reproduce_soft = {
    .name = "soft-tables",
    .document = "S5",
    .place = "table 7.1, section 7.3",
    .summary = "soft chairs, creatures and a haptic scene",
    .seconds = 90,
    .quick_seconds = 2,
    .run = run,
};
#endif
