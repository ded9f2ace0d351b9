/* What is told of every step of a run: one table. A row is a column of PREFIX_steps.csv; with a unit its largest value
 * over the run is also a line of the summary and NAME_max with NAME_step in JSON, of runs and of their files. Whoever
 * adds a number to the step report adds a row here, and one in src/io/export.c for npz, hdf5 and csv of a file. */
#include "run.h"

#include <math.h>

#define REPORT(name, what) \
  static double name(const fx_step_view *v) { return (double)v->report->what; }
REPORT(contacts, contact_count)
REPORT(touching, touching_count)
REPORT(certified, certified)
REPORT(overlaps_left, overlaps_left)
REPORT(residual, certificate.residual)
REPORT(iterations, iterations)
REPORT(penetration, penetration)
REPORT(worst_velocity, certificate.worst_velocity)
REPORT(signorini, certificate.signorini)
REPORT(bilateral, certificate.bilateral)

/* The largest violation of the equalities of a robot: open loops. */
static double loop_error(const fx_step_view *v) {
  double worst = 0, error[6];
  frix_robot_state *state = v->sim ? frix_sim_robot(v->sim) : NULL;
  int32_t count = state ? frix_robot_view(frix_model_robot(v->model)).equality_count : 0;
  for (int32_t k = 0; k < count; k++) {
    int32_t rows = frix_robot_equality_rows(state, k, 6, error, NULL);
    for (int32_t n = 0; n < rows; n++)
      if (!(fabs(error[n]) <= worst)) worst = fabs(error[n]);
  }
  return worst;
}

/* The farthest a joint is from where it should hold; files do not keep it. */
static double joint_error(const fx_step_view *v) {
  double worst = loop_error(v);
  int32_t count = v->sim ? frix_model_count(v->model).joint_count : 0;
  for (int32_t k = 0; k < count; k++) {
    frix_joint_state s;
    if (frix_sim_joint(v->sim, frix_model_joint_at(v->model, k), &s) == FRIX_OK && !(s.error <= worst)) worst = s.error;
  }
  return worst;
}

static const fx_step_column table[] = {
    {"contacts", NULL, NULL, true, contacts},
    {"touching", NULL, NULL, true, touching},
    {"certified", NULL, NULL, true, certified},
    {"overlaps_left", NULL, NULL, true, overlaps_left},
    {"residual", NULL, NULL, false, residual},
    {"iterations", NULL, NULL, true, iterations},
    {"penetration", NULL, NULL, false, penetration},
    {"worst_velocity", "m/s", "largest violation of the contact law at one contact", false, worst_velocity},
    {"signorini", "m/s", "approach at a closed contact, tension, or force across a gap", false, signorini},
    {"bilateral", "m/s", "velocity error of a joint", false, bilateral},
    {"joint_error", "m, rad", "position error of a joint", false, joint_error},
};
enum { ROWS = sizeof table / sizeof *table };
_Static_assert(ROWS <= (int)FX_STEP_COLUMNS, "room in fx_account for the worst of every column");

const fx_step_column *fx_step_column_at(int k) { return k >= 0 && k < ROWS ? &table[k] : NULL; }

void fx_worst_add(fx_worst worst[FX_STEP_COLUMNS], const fx_step_view *view, int64_t step) {
  for (int k = 0; k < ROWS; k++) {
    double value = table[k].unit ? table[k].get(view) : 0;
    if (table[k].unit && !(value <= worst[k].value)) worst[k] = (fx_worst){value, step};
  }
}

void fx_worst_print(const fx_worst worst[FX_STEP_COLUMNS], int width) {
  for (int k = 0; k < ROWS; k++)
    if (table[k].unit && worst[k].value != 0)
      printf("  %-*s %.2e %s at most, at step %lld: %s\n", width, table[k].name, worst[k].value, table[k].unit,
             (long long)worst[k].step, table[k].summary);
}

void fx_worst_put(fx_json *json, const fx_worst worst[FX_STEP_COLUMNS]) {
  for (int k = 0; k < ROWS; k++) {
    char key[64];
    if (!table[k].unit) continue;
    snprintf(key, sizeof key, "%s_max", table[k].name);
    fx_put_real(json, key, worst[k].value);
    snprintf(key, sizeof key, "%s_step", table[k].name);
    fx_put_integer(json, key, worst[k].step);
  }
}
