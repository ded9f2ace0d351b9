/* Whether a structure stays where it is. */
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

frix_vec3 fx_stand_direction(const fx_stand_case *c) {
  return direction_of(frix_model_gravity(c->subject->model), c->direction);
}

frix_vec3 fx_stand_gravity(const fx_stand_case *c) {
  frix_vec3 gravity = frix_model_gravity(c->subject->model), side = fx_stand_direction(c);
  double s, cosine, g = length(gravity);
  frix_sincos(c->tilt, &s, &cosine);
  return (frix_vec3){cosine * gravity.x + s * g * side.x, cosine * gravity.y + s * g * side.y,
                     cosine * gravity.z + s * g * side.z};
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
  frix_vec3 push = scaled(c->load, fx_stand_direction(c));
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
  out->stays = out->drift <= limit && out->speed <= ACCELERATION * g * c->time;
  return true;
}

bool fx_stand(const fx_stand_case *c, fx_verdict *out, frix_sim **keep) {
  frix_sim *sim = NULL;
  *out = (fx_verdict){0};
  frix_vec3 gravity = frix_model_gravity(c->subject->model);
  double g = length(gravity) > 0 ? length(gravity) : 9.81;
  bool good = frix_sim_create(c->context, c->subject->model, c->config, &sim) == FRIX_OK;
  if (good && c->tilt != 0) good = frix_sim_set_gravity(sim, fx_stand_gravity(c)) == FRIX_OK;
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
  if (!fx_arg(args, "--contact")) config->contact = FRIX_CONTACT_KIND_RIGID; /* limits are those of rigid bodies */
  c->config = config;
  if (!fx_subject_build(c->subject, c->context)) return false;
  c->h = c->subject->step;
  return fx_arg_real(args, "--dt", 1e-9, 1e3, &c->h) && fx_arg_real(args, "--time", 1e-3, 1e6, &c->time);
}

/* ---- searching */

bool fx_judge_stays(fx_stand_case *c, fx_trials *trials, frix_standing *out) {
  fx_verdict v;
  if (!fx_stand(c, &v, NULL)) return false;
  trials->runs++;
  if (!v.certified) trials->certified = false;
  *out = v.stays ? FRIX_STANDING_STANDS : FRIX_STANDING_FALLS;
  return true;
}

static bool judge_at(fx_stand_case *c, fx_set set, void *user, fx_judge judge, double value, fx_trials *trials,
                     frix_standing *out) {
  if (fx_interrupted(NULL)) {
    fx_error("interrupted");
    return false;
  }
  return set(c, value, user) && judge(c, trials, out);
}

/* Between `yes`, which has the verdict, and `no`, which has not. */
static bool find_edge(fx_stand_case *c, fx_set set, void *user, fx_judge judge, frix_standing wanted, double within,
                      fx_trials *trials, double *yes, double no) {
  enum { MOST = 60 };
  for (int k = 0; k < MOST && fabs(no - *yes) > within * fmax(fabs(*yes), fabs(no)); k++) {
    double middle = 0.5 * (*yes + no);
    frix_standing found;
    fx_progress("between %g and %g", fmin(*yes, no), fmax(*yes, no));
    if (!judge_at(c, set, user, judge, middle, trials, &found)) return false;
    *(found == wanted ? yes : &no) = middle;
  }
  return true;
}

bool fx_clamp_bracket(fx_bracket *b, double least, double most) {
  double noise = 1e-9 * (most - least), *end[2] = {&b->stands, &b->falls};
  for (int k = 0; k < 2; k++) {
    if (!(*end[k] >= least - noise && *end[k] <= most + noise)) return false;
    *end[k] = fmin(fmax(*end[k], least), most);
  }
  return true;
}

bool fx_bisect(fx_stand_case *c, fx_set set, void *user, fx_judge judge, double within, fx_trials *trials,
               fx_bracket *b) {
  enum { MOST = 60 };
  bool good = true, decided = true;
  for (int k = 0; good && decided && k < MOST; k++) {
    if (fabs(b->falls - b->stands) <= within * fmax(fabs(b->stands), fabs(b->falls))) break;
    double middle = 0.5 * (b->stands + b->falls);
    frix_standing found = FRIX_STANDING_UNDECIDED;
    fx_progress("between %g and %g", fmin(b->stands, b->falls), fmax(b->stands, b->falls));
    good = judge_at(c, set, user, judge, middle, trials, &found);
    decided = found != FRIX_STANDING_UNDECIDED;
    if (good && decided) *(found == FRIX_STANDING_STANDS ? &b->stands : &b->falls) = middle;
    if (good && !decided)
      good = find_edge(c, set, user, judge, FRIX_STANDING_STANDS, within, trials, &b->stands, middle) &&
             find_edge(c, set, user, judge, FRIX_STANDING_FALLS, within, trials, &b->falls, middle);
  }
  fx_progress_clear();
  return good;
}

bool fx_first_change(fx_stand_case *c, fx_set set, void *user, fx_judge judge, double from, frix_standing verdict,
                     double end, int steps, double within, fx_trials *trials, fx_bracket *b, int *changes) {
  frix_standing last = verdict, is;
  double before = from;
  if (end == from) return true;
  for (int k = 1; k <= steps; k++) {
    double at = k == steps ? end : from + (end - from) * k / steps;
    if (!judge_at(c, set, user, judge, at, trials, &is)) return false;
    bool changed = is != last && is != FRIX_STANDING_UNDECIDED && last != FRIX_STANDING_UNDECIDED;
    if (changed && !b->found) {
      bool stands = last == FRIX_STANDING_STANDS;
      *b = (fx_bracket){true, stands ? before : at, stands ? at : before};
    }
    if (changes) *changes += changed;
    before = at, last = is;
  }
  return !b->found || fx_bisect(c, set, user, judge, within, trials, b);
}

/* From `from` towards `end`, in ever longer steps, until the verdict is the wanted one; *found tells. */
static bool walk(fx_stand_case *c, fx_set set, void *user, frix_standing wanted, double from, double end, double step,
                 fx_trials *trials, double *value, int *steps, bool *found) {
  double sign = end < from ? -1 : 1;
  frix_standing is;
  *found = false;
  for (*steps = 0; !*found; step *= 8) {
    double at = from + sign * step;
    bool last = sign * (at - end) >= 0;
    *value = last ? end : at;
    if (!judge_at(c, set, user, fx_judge_stays, *value, trials, &is)) return false;
    ++*steps;
    *found = is == wanted;
    if (last) break;
  }
  return true;
}

bool fx_find_stays(fx_stand_case *c, fx_set set, void *user, const fx_bracket *exists, double inner, double outer,
                   fx_trials *trials, fx_bracket *out) {
  const double near = 1e-4;
  double step = near * fmax(fmax(fabs(exists->stands), fabs(exists->falls)), near * fabs(outer - inner));
  int inward, outward;
  bool stays, moves;
  *out = (fx_bracket){0};
  if (!walk(c, set, user, FRIX_STANDING_STANDS, exists->stands, inner, step, trials, &out->stands, &inward, &stays) ||
      !walk(c, set, user, FRIX_STANDING_FALLS, exists->falls, outer, step, trials, &out->falls, &outward, &moves))
    return false;
  out->found = stays && moves;
  if (!stays) out->stands = NAN;
  if (!moves) out->falls = NAN;
  return !out->found || inward + outward <= 2 || fx_bisect(c, set, user, fx_judge_stays, near, trials, out);
}
