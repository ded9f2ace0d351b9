/* Whether an equilibrium exists. */
#include "exists.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

/* ---- asking */

static void keep(const fx_stand_case *c, const frix_sim *sim, const frix_equilibrium_result *r, fx_exists *out) {
  *out = (fx_exists){.standing = r->standing,
                     .stands = r->stands,
                     .falls = r->falls,
                     .imbalance = r->imbalance,
                     .power = r->power,
                     .resistance = r->resistance,
                     .force_limit = r->force_limit,
                     .body_count = r->motion_count};
  for (; out->moving_count < r->motion_count && out->moving_count < FX_MOVING; out->moving_count++) {
    const frix_body_motion *m = &r->motion[out->moving_count];
    fx_moving *to = &out->moving[out->moving_count];
    fx_body_name(sim, c->subject->model, m->body, to->name, sizeof to->name);
    to->velocity = m->velocity, to->spin = m->spin;
  }
}

static bool ask(const fx_stand_case *c, frix_sim *sim, const frix_load_config *load, fx_exists *out) {
  frix_equilibrium *e = NULL;
  frix_equilibrium_result r;
  frix_vec3 push = fx_stand_direction(c), none = {0, 0, 0};
  push.x *= c->load, push.y *= c->load, push.z *= c->load;
  bool good = c->load == 0 || frix_sim_add_force(sim, c->body, push, none) == FRIX_OK;
  if (good && c->tilt != 0) good = frix_sim_set_gravity(sim, fx_stand_gravity(c)) == FRIX_OK;
  if (good) good = frix_sim_equilibrium(sim, c->h, load, &e) == FRIX_OK;
  if (good) {
    frix_equilibrium_view(e, &r);
    keep(c, sim, &r, out);
  }
  frix_equilibrium_destroy(e);
  return good;
}

static bool ask_fresh(const fx_stand_case *c, const frix_load_config *load, fx_exists *out) {
  frix_sim *sim = NULL;
  bool good = frix_sim_create(c->context, c->subject->model, c->config, &sim) == FRIX_OK && ask(c, sim, load, out);
  if (!good) fx_error("%s: %s", c->subject->word, frix_error_text(c->context));
  frix_sim_destroy(sim);
  return good;
}

bool fx_exists_now(const fx_stand_case *c, fx_exists *out) { return ask_fresh(c, NULL, out); }

bool fx_exists_limit(const fx_stand_case *c, bool tilt, double sign, fx_exists *out) {
  frix_load_config load = frix_load_default();
  frix_vec3 d = fx_stand_direction(c), g = frix_model_gravity(c->subject->model);
  double size = tilt ? sign * sqrt(g.x * g.x + g.y * g.y + g.z * g.z) : sign;
  frix_vec3 along = {size * d.x, size * d.y, size * d.z};
  frix_load on = {.body = c->body, .force = along};
  if (tilt)
    load.gravity = along;
  else
    load.load = &on, load.load_count = 1;
  fx_stand_case plain = *c;
  plain.tilt = 0, plain.load = 0;
  return ask_fresh(&plain, &load, out);
}

/* Whether the verdict at this many degrees is the wanted one. */
static bool confirm(fx_stand_case *c, double degrees, frix_standing wanted, fx_trials *trials, bool *holds) {
  frix_standing is;
  double before = c->tilt;
  c->tilt = degrees * pi / 180;
  bool good = fx_judge_exists(c, trials, &is);
  c->tilt = before;
  *holds = *holds && is == wanted;
  return good;
}

bool fx_exists_tilt(fx_stand_case *c, bool upper, double most, fx_trials *trials, fx_bracket *out, fx_exists *mechanism,
                    bool *holds) {
  const double apart = 1e-6; /* from the limit, relative: what a verdict at one angle tells apart */
  fx_exists *e = mechanism;
  *out = (fx_bracket){0};
  *holds = true;
  if (!fx_exists_limit(c, true, upper ? 1 : -1, e)) return false;
  trials->asked++;
  if (e->standing == FRIX_STANDING_UNDECIDED) return true;
  double sign = upper ? 1 : -1;
  out->stands = sign * atan(e->stands) * 180 / pi;
  out->falls = sign * atan(e->falls) * 180 / pi;
  out->found = e->standing == FRIX_STANDING_STANDS && fx_clamp_bracket(out, 0, most);
  double inside = out->stands * (1 - sign * apart), outside = out->falls * (1 + sign * apart);
  if (out->found && inside >= 0 && inside <= most && !confirm(c, inside, FRIX_STANDING_STANDS, trials, holds))
    return false;
  if (out->found && outside >= 0 && outside <= most) return confirm(c, outside, FRIX_STANDING_FALLS, trials, holds);
  return !upper || out->found ||
         confirm(c, most, out->stands > most ? FRIX_STANDING_STANDS : FRIX_STANDING_FALLS, trials, holds);
}

bool fx_judge_exists(fx_stand_case *c, fx_trials *trials, frix_standing *out) {
  fx_exists e;
  if (!fx_exists_now(c, &e)) return false;
  trials->asked++;
  *out = e.standing;
  return true;
}

/* ---- telling */

const char *fx_exists_text(frix_standing standing) {
  return standing == FRIX_STANDING_STANDS  ? "an equilibrium exists"
         : standing == FRIX_STANDING_FALLS ? "no equilibrium exists"
                                           : "whether an equilibrium exists is undecided";
}

static double length(frix_vec3 v) { return sqrt(v.x * v.x + v.y * v.y + v.z * v.z); }

/* Without what is rounding beside the largest, which is 1. */
static double tidy(double x) { return fabs(x) < 1e-6 ? 0 : x; }

static void print_vector(frix_vec3 v) { printf("%.2g %.2g %.2g", tidy(v.x), tidy(v.y), tidy(v.z)); }

void fx_print_mechanism(const fx_exists *e, const char *head) {
  if (!e->moving_count) return;
  printf("%s", head);
  for (int32_t k = 0; k < e->moving_count; k++) {
    const fx_moving *m = &e->moving[k];
    printf("%s %s (", k ? "," : "", m->name);
    print_vector(m->velocity);
    if (length(m->spin) > 1e-6) printf(", turning "), print_vector(m->spin);
    printf(")");
  }
  if (e->body_count > e->moving_count) printf(" and %d more", (int)(e->body_count - e->moving_count));
  printf("\n");
}

static void put_vector(fx_json *json, const char *key, frix_vec3 v) {
  fx_put_open(json, key, '[');
  fx_put_real(json, NULL, v.x), fx_put_real(json, NULL, v.y), fx_put_real(json, NULL, v.z);
  fx_put_close(json, ']');
}

void fx_put_mechanism(fx_json *json, const char *key, const fx_exists *e) {
  fx_put_open(json, key, '[');
  for (int32_t k = 0; k < e->moving_count; k++) {
    fx_put_open(json, NULL, '{');
    fx_put_text(json, "body", e->moving[k].name);
    put_vector(json, "velocity", e->moving[k].velocity);
    put_vector(json, "spin", e->moving[k].spin);
    fx_put_close(json, '}');
  }
  fx_put_close(json, ']');
}

void fx_put_exists(fx_json *json, const char *key, const fx_exists *e) {
  bool falls = e->standing == FRIX_STANDING_FALLS;
  fx_put_open(json, key, '{');
  fx_put_text(json, "verdict", frix_standing_name(e->standing));
  fx_put_real(json, "imbalance", falls ? NAN : e->imbalance);
  fx_put_real(json, "power", falls ? e->power : NAN);
  fx_put_real(json, "resistance", falls ? e->resistance : NAN);
  fx_put_real(json, "force_limit", falls ? e->force_limit : NAN);
  fx_put_mechanism(json, "mechanism", e);
  fx_put_close(json, '}');
}
