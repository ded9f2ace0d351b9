/* Whether a structure stands. */
#include "stand.h"

#include <math.h>
#include <stdlib.h>

static const double ACCELERATION = 1e-5; /* of g, see stand.h */

static frix_vec3 scaled(double a, frix_vec3 v) { return (frix_vec3){a * v.x, a * v.y, a * v.z}; }
static double length(frix_vec3 v) { return sqrt(v.x * v.x + v.y * v.y + v.z * v.z); }

/* Down, and the horizontal direction asked for: x, and y or, where y is up, z. */
static frix_vec3 direction_of(frix_vec3 gravity, int direction) {
  double g = length(gravity);
  frix_vec3 down = g > 0 ? scaled(1 / g, gravity) : (frix_vec3){0, 0, -1};
  bool y_up = fabs(down.y) > 0.7;
  switch (direction) {
    case 0: return (frix_vec3){1, 0, 0};
    case 1: return (frix_vec3){-1, 0, 0};
    case 2: return y_up ? (frix_vec3){0, 0, 1} : (frix_vec3){0, 1, 0};
    case 3: return y_up ? (frix_vec3){0, 0, -1} : (frix_vec3){0, -1, 0};
    default: return down;
  }
}

static frix_vec3 tilted(frix_vec3 gravity, int direction, double angle) {
  double s, c, g = length(gravity);
  frix_vec3 side = direction_of(gravity, direction);
  frix_sincos(angle, &s, &c);
  return (frix_vec3){c * gravity.x + s * g * side.x, c * gravity.y + s * g * side.y, c * gravity.z + s * g * side.z};
}

/* ---- watching */

typedef struct watch {
  frix_body_id *id;
  frix_vec3 *start;
  int32_t count;
} watch;

static watch watch_begin(const frix_sim *sim, const frix_model *model) {
  int32_t count = frix_sim_body_count(sim);
  watch w = {fx_grow(NULL, (size_t)count, sizeof *w.id), fx_grow(NULL, (size_t)count, sizeof *w.start), 0};
  for (frix_body_id id = frix_sim_body_next(sim, (frix_body_id){0, 0}); id.index; id = frix_sim_body_next(sim, id)) {
    frix_body_config body;
    frix_body_state state;
    w.id[w.count] = id;
    if (frix_model_body(model, w.id[w.count], &body) != FRIX_OK || body.kind != FRIX_BODY_DYNAMIC) continue;
    if (frix_sim_body(sim, w.id[w.count], &state) != FRIX_OK) continue;
    w.start[w.count++] = state.center;
  }
  return w;
}

static void look(const watch *w, const frix_sim *sim, fx_verdict *out) {
  out->drift = out->speed = 0;
  for (int32_t k = 0; k < w->count; k++) {
    frix_body_state s;
    if (frix_sim_body(sim, w->id[k], &s) != FRIX_OK) continue;
    frix_vec3 d = {s.center.x - w->start[k].x, s.center.y - w->start[k].y, s.center.z - w->start[k].z};
    double moved = length(d), speed = length(s.velocity);
    if (!(moved <= out->drift)) out->drift = moved, out->body = w->id[k];
    if (!(speed <= out->speed)) out->speed = speed;
  }
}

/* ---- stepping */

static bool step_while_standing(const fx_stand_case *c, frix_sim *sim, const watch *w, double g, fx_verdict *out) {
  int64_t steps = (int64_t)(c->time / c->h + 0.5);
  frix_vec3 push = scaled(c->load, direction_of(frix_model_gravity(c->subject->model), c->direction));
  double limit = 0.5 * ACCELERATION * g * c->time * c->time;
  out->certified = true;
  for (out->steps = 0; out->steps < steps && out->drift <= 10 * limit; out->steps++) {
    frix_step_report report;
    frix_status status = FRIX_OK;
    if (c->load != 0) status = frix_sim_add_force(sim, c->body, push, (frix_vec3){0, 0, 0});
    if (status == FRIX_OK) status = frix_sim_step(sim, c->h, &report);
    if (status != FRIX_OK) return false;
    bool counts = !report.certified || report.certificate.residual <= c->config->tolerance;
    if (!report.certified) out->certified = false;
    if (counts && !(report.certificate.residual <= out->residual)) out->residual = report.certificate.residual;
    look(w, sim, out);
  }
  out->time = frix_sim_time(sim);
  out->stands = out->drift <= limit && out->speed <= ACCELERATION * g * c->time;
  return true;
}

bool fx_stand(const fx_stand_case *c, fx_verdict *out, frix_sim **keep) {
  frix_sim *sim = NULL;
  *out = (fx_verdict){0};
  frix_vec3 gravity = frix_model_gravity(c->subject->model);
  double g = length(gravity) > 0 ? length(gravity) : 9.81;
  bool good = frix_sim_create(c->context, c->subject->model, c->config, &sim) == FRIX_OK;
  if (good && c->tilt != 0) good = frix_sim_set_gravity(sim, tilted(gravity, c->direction, c->tilt)) == FRIX_OK;
  if (good) {
    watch w = watch_begin(sim, c->subject->model);
    good = step_while_standing(c, sim, &w, g, out);
    free(w.id);
    free(w.start);
  }
  if (!good) fx_error("%s: %s", c->subject->word, frix_error_text(c->context));
  if (good && keep)
    *keep = sim;
  else
    frix_sim_destroy(sim);
  return good;
}

bool fx_stand_settings(const fx_args *args, fx_stand_case *c, frix_sim_config *config, frix_options **options) {
  c->time = 1;
  if (!fx_sim_settings(c->context, args, config, options)) return false;
  if (!fx_arg(args, "--tol")) config->tolerance = 1e-10;
  c->config = config;
  if (!fx_subject_build(c->subject, c->context)) return false;
  c->h = c->subject->step;
  return fx_arg_real(args, "--dt", 1e-9, 1e3, &c->h) && fx_arg_real(args, "--time", 1e-3, 1e6, &c->time);
}

bool fx_bisect(fx_stand_case *c, bool (*set)(fx_stand_case *c, double value, void *user), void *user, double *low,
               double *high, bool low_stands, double tolerance, int *runs, bool *certified) {
  enum { MOST = 60 };
  for (int k = 0; k < MOST && fabs(*high - *low) > tolerance * fmax(fabs(*low), fabs(*high)); k++) {
    double middle = 0.5 * (*low + *high);
    fx_verdict verdict;
    if (fx_interrupted(NULL)) {
      fx_error("interrupted");
      return false;
    }
    fx_progress("between %g and %g", fmin(*low, *high), fmax(*low, *high));
    if (!set(c, middle, user) || !fx_stand(c, &verdict, NULL)) return false;
    ++*runs;
    if (!verdict.certified) *certified = false;
    if (verdict.stands == low_stands)
      *low = middle;
    else
      *high = middle;
  }
  fx_progress_clear();
  return true;
}
