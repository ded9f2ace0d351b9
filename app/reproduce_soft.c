/* soft-tables: scenes of deformable bodies beside those of the document.
 *
 * S5, table 7.1: mean solve time, contacts and degrees of freedom of composites (921 contacts on 192), chairs (9,025 on
 * 1,766), dinosaurs (4,690 on 315) and the haptic scene (117 on 72), tolerance 1e-4. Here to 1e-8, with stiff contacts.
 * Meshes and the gap from which on pairs are contacts are chosen so that there are as many contacts as there. */
#ifdef FRIX_HAVE_EXAMPLES
#include <math.h>

#include "reproduce.h"
#include "reproduce_trial.h"

typedef struct row {
  const char *name, *scene, *what;
  double contacts, coordinates, seconds; /* of the document */
  double h, margin;                      /* step, and the gap from which on pairs are contacts; below 0: as it is */
  const char *parameter[4];
  double quick[4], full[4];
  double begin, time; /* simulated before the measurement, and in it */
} row;

static const row rows[] = {
    {.name = "composites",
     .scene = "weave",
     .what = "a weave that hangs",
     .contacts = 921,
     .coordinates = 192,
     .seconds = 0.56,
     .h = 3e-3,
     .margin = 4e-3,
     .parameter = {"warp", "weft", "modes", "cells"},
     .quick = {2, 2, 14, 1},
     .full = {4, 4, 18, 2},
     .begin = 0.3,
     .time = 0.15},
    {.name = "chairs",
     .scene = "chairs",
     .what = "chairs that slide on an inclined floor",
     .contacts = 9025,
     .coordinates = 1766,
     .seconds = 0.72,
     .h = 1e-2,
     .margin = -1,
     .parameter = {"n", "cells", "rate", "stop"},
     .quick = {2, 1, 60, 60},
     .full = {68, 5, 60, 60},
     .begin = 0.4,
     .time = 0.2},
    {.name = "dinosaurs",
     .scene = "dinosaurs",
     .what = "creatures on each other",
     .contacts = 4690,
     .coordinates = 315,
     .seconds = 0.61,
     .h = 1e-2,
     .margin = 0.0255,
     .parameter = {"n", "cells"},
     .quick = {2, 1},
     .full = {14, 2},
     .begin = 1.0,
     .time = 1.0},
    {.name = "haptic",
     .scene = "touch",
     .what = "two soft cubes and a ball",
     .contacts = 117,
     .coordinates = 72,
     .seconds = 0.0032,
     .h = 1e-2,
     .margin = -1,
     .parameter = {"cells"},
     .quick = {3},
     .full = {6},
     .begin = 0,
     .time = 0.5},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static bool measure(fx_report *report, const row *r) {
  const fx_reproduce_settings *settings = fx_report_settings(report);
  bool quick = settings->quick;
  fx_trial t;
  bool good = fx_trial_new(&t, frix_scene_find(r->scene));
  for (int k = 0; k < 4 && good && r->parameter[k]; k++)
    good = fx_trial_set(&t, r->parameter[k], quick ? r->quick[k] : r->full[k]);
  t.config.contact = FRIX_CONTACT_KIND_STIFF; /* many points on few coordinates: forces of rigid ones are not unique */
  t.config.margin = quick ? -1 : r->margin;
  t.h = r->h;
  t.config.tolerance = settings->tolerance > 0 ? settings->tolerance : 1e-8;
  if (settings->solver) t.config.solver = settings->solver;
  good = good && fx_trial_start(&t) && fx_trial_run(&t, quick ? 0.05 : r->begin);
  if (good) fx_trial_reset(&t);
  good = good && fx_trial_run(&t, quick ? 0.02 : r->time);
  if (good) {
    double steps = (double)t.steps, seconds = t.seconds / steps;
    fx_report_compare(report, (fx_compared){r->contacts, (double)t.groups / steps, "", false},
                      "%s: contacts of the problem (%s)", r->name, r->what);
    fx_report_compare(report, (fx_compared){r->coordinates, (double)t.last.dof_count, "", false},
                      "%s: degrees of freedom", r->name);
    fx_report_compare(report, (fx_compared){r->seconds, t.solving / steps, "s", true},
                      "%s: CPU time of the solve, from contacts to certificate", r->name);
    fx_report_compare(report, (fx_compared){NAN, seconds, "s", true}, "%s: CPU time of the whole step", r->name);
    fx_report_compare(report, (fx_compared){NAN, (double)t.iterations / steps, "", false},
                      "%s: Newton steps of a solve (document: other iterations)", r->name);
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
      "Deformable bodies of few modes in contact. The document's meshes are not published: strands, chairs, creatures "
      "and cubes are generated, with as many contacts and degrees of freedom as far as they go. The document times the "
      "solve, which ends where friction changes by less than 1e-4, on a 3 GHz Pentium D; the solve here is from "
      "contacts "
      "to certificate, and the whole step has the search for contacts too.");
  for (int k = 0; k < ROWS; k++)
    if (!measure(report, &rows[k])) return false;
  return true;
}

const fx_reproduction fx_reproduce_soft = {
    .name = "soft-tables",
    .document = "S5",
    .place = "table 7.1, section 7.3",
    .summary = "a soft weave, chairs, creatures and a haptic scene",
    .seconds = 90,
    .quick_seconds = 2,
    .run = run,
};
#endif
