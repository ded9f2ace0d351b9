/* frix limit: the value of a parameter up to which an equilibrium exists, and up to which a simulation stays, each in a
 * bracket.
 *
 *   tilt, load      the values with an equilibrium form an interval: its ends by one conic programme each (of tilts
 *                   where no force but weight acts; else as below)
 *   mu, friction    more friction never takes an equilibrium away: bisected
 *   anything else   nothing is known: seen at SCAN values, and bisected where the verdict changes next to the present
 * one
 */
#include "exists.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

enum { SCAN = 16 };

typedef enum rule { CONVEX, MONOTONE, SCANNED } rule;

typedef struct vary {
  const char *name;
  int32_t parameter; /* of the scene, -1: tilt, load, or the friction of a file */
  rule rule;
  double present, least, most;
} vary;

static bool is_tilt(const vary *v) { return v->parameter < 0 && !strcmp(v->name, "tilt"); }

static bool set_value(fx_stand_case *c, double value, void *user) {
  const vary *v = user;
  if (is_tilt(v)) {
    c->tilt = value * pi / 180;
    return true;
  }
  if (v->parameter < 0 && !strcmp(v->name, "load")) {
    c->load = value;
    return true;
  }
  *(v->parameter < 0 ? &c->subject->friction : &c->subject->value[v->parameter]) = value;
  return fx_subject_build(c->subject, c->context);
}

/* ---- what is varied */

static double weight_of(const frix_model *model) {
  double mass = 0;
  for (int32_t k = 0; k < frix_model_count(model).body_count; k++) {
    frix_body_config body;
    if (frix_model_body(model, frix_model_body_at(model, k), &body) == FRIX_OK && body.kind == FRIX_BODY_DYNAMIC)
      mass += body.mass;
  }
  frix_vec3 g = frix_model_gravity(model);
  return mass * sqrt(g.x * g.x + g.y * g.y + g.z * g.z);
}

/* The dynamic body whose centre is highest. */
static frix_body_id highest(const frix_model *model) {
  frix_body_id best = {0, 0};
  frix_vec3 g = frix_model_gravity(model);
  double top = -HUGE_VAL;
  for (int32_t k = 0; k < frix_model_count(model).body_count; k++) {
    frix_body_id id = frix_model_body_at(model, k);
    frix_body_config b;
    if (frix_model_body(model, id, &b) != FRIX_OK || b.kind != FRIX_BODY_DYNAMIC || b.spawn_only) continue;
    /* the centre of mass, seen against gravity */
    frix_quat q = b.pose.q;
    frix_vec3 c = b.center, t = {2 * (q.y * c.z - q.z * c.y), 2 * (q.z * c.x - q.x * c.z), 2 * (q.x * c.y - q.y * c.x)};
    frix_vec3 p = {b.pose.p.x + c.x + q.w * t.x + q.y * t.z - q.z * t.y,
                   b.pose.p.y + c.y + q.w * t.y + q.z * t.x - q.x * t.z,
                   b.pose.p.z + c.z + q.w * t.z + q.x * t.y - q.y * t.x};
    double height = -(p.x * g.x + p.y * g.y + p.z * g.z);
    if (height > top) top = height, best = id;
  }
  return best;
}

static bool find_body(const fx_args *args, fx_stand_case *c) {
  const char *name = fx_arg(args, "--body");
  c->body = name ? frix_model_find_body(c->subject->model, name) : highest(c->subject->model);
  frix_body_config body;
  bool good = c->body.index && frix_model_body(c->subject->model, c->body, &body) == FRIX_OK &&
              body.kind == FRIX_BODY_DYNAMIC && !body.spawn_only;
  if (!good) fx_error("--body: %s has no moving body '%s'", c->subject->word, name ? name : "");
  return good;
}

static bool find_vary(const fx_args *args, fx_stand_case *c, vary *v) {
  const frix_scene *scene = c->subject->scene;
  char names[512];
  snprintf(names, sizeof names, scene ? "tilt|load" : "tilt|load|friction");
  for (int32_t k = 0; scene && k < scene->parameter_count; k++) {
    size_t used = strlen(names);
    if (scene->parameter[k].kind == FRIX_OPTION_REAL)
      snprintf(names + used, sizeof names - used, "|%s", scene->parameter[k].name);
  }
  *v = (vary){.name = fx_arg(args, "--vary"), .parameter = -1};
  if (!v->name) {
    fx_error("limit needs --vary %s", names);
    return false;
  }
  if (fx_choose(names, "parameter", v->name) < 0) return false;
  v->parameter = scene ? frix_scene_parameter_index(scene, v->name) : -1;
  v->rule = !strcmp(v->name, "mu") || !strcmp(v->name, "friction") ? MONOTONE : v->parameter < 0 ? CONVEX : SCANNED;
  c->direction = fx_arg_choice(args, "--direction", strcmp(v->name, "load") ? 0 : FX_DOWN);
  if (v->parameter >= 0) {
    v->present = c->subject->value[v->parameter];
    v->least = scene->parameter[v->parameter].minimum, v->most = scene->parameter[v->parameter].maximum;
  } else if (!strcmp(v->name, "tilt")) {
    v->most = 89;
    if (c->direction == FX_DOWN) {
      fx_error("--direction of a tilt is x, -x, y or -y");
      return false;
    }
  } else if (!strcmp(v->name, "friction")) {
    v->present = 1, v->most = 100;
  } else {
    if (!find_body(args, c)) return false;
    v->most = 1e3 * weight_of(c->subject->model);
  }
  double present_least = v->least, present_most = v->most;
  return fx_arg_real(args, "--from", present_least, v->present, &v->least) &&
         fx_arg_real(args, "--to", v->present, present_most, &v->most);
}

/* ---- the answer */

typedef struct side {
  fx_bracket exists, stays;
  fx_exists mechanism; /* beyond the limit */
} side;

typedef struct answer {
  fx_exists present;
  side side[2]; /* lower, upper */
  int changes;  /* of the verdict, where values were scanned */
  double within;
  fx_trials trials;
} answer;

/* The end of the interval, where it lies in the range; *holds: false where the programme's answer is not that of the
 * angles. */
static bool find_convex(fx_stand_case *c, const vary *v, answer *a, bool *holds) {
  *holds = true;
  for (int k = 0; k < 2 && *holds; k++) {
    fx_exists *e = &a->side[k].mechanism;
    fx_bracket *b = &a->side[k].exists;
    double sign = k ? 1 : -1;
    if (is_tilt(v)) {
      if (!fx_exists_tilt(c, k == 1, v->most, &a->trials, b, e, holds)) return false;
    } else {
      if (!fx_exists_limit(c, false, sign, e)) return false;
      a->trials.asked++;
      *b = (fx_bracket){e->standing == FRIX_STANDING_STANDS && isfinite(e->falls), sign * e->stands, sign * e->falls};
    }
    b->found = b->found && fx_clamp_bracket(b, v->least, v->most) && (k ? b->falls < v->most : b->falls > v->least);
  }
  return true;
}

static bool find_bisected(fx_stand_case *c, vary *v, answer *a) {
  for (int k = 0; k < 2; k++) {
    side *s = &a->side[k];
    s->exists = (fx_bracket){0};
    if (!fx_first_change(c, set_value, v, fx_judge_exists, v->present, a->present.standing, k ? v->most : v->least,
                         v->rule == MONOTONE ? 1 : SCAN, a->within, &a->trials, &s->exists, &a->changes))
      return false;
    if (s->exists.found && !(set_value(c, s->exists.falls, v) && fx_exists_now(c, &s->mechanism))) return false;
  }
  return true;
}

/* What the simulation makes of it: on the standing side as far as the other limit or the end of the range. */
static bool find_stays(fx_stand_case *c, vary *v, answer *a) {
  for (int k = 0; k < 2; k++) {
    side *s = &a->side[k];
    if (!s->exists.found) continue;
    bool above = s->exists.stands > s->exists.falls; /* it stands above the limit */
    const fx_bracket *other = &a->side[1 - k].exists;
    double inner = other->found && (above ? other->stands > s->exists.stands : other->stands < s->exists.stands)
                       ? other->stands
                   : above ? v->most
                           : v->least;
    if (!fx_find_stays(c, set_value, v, &s->exists, inner, above ? v->least : v->most, &a->trials, &s->stays))
      return false;
  }
  return true;
}

static bool find_limits(const fx_args *args, fx_stand_case *c, vary *v, answer *a) {
  *a = (answer){.within = 1e-8, .trials = {.certified = true}};
  if (!find_vary(args, c, v) || !fx_arg_real(args, "--within", 1e-12, 0.5, &a->within)) return false;
  if (!fx_exists_now(c, &a->present)) return false;
  a->trials.asked = 1;
  bool holds = true;
  if (v->rule == CONVEX && !find_convex(c, v, a, &holds)) return false;
  if (!holds) v->rule = SCANNED;
  if (v->rule != CONVEX && !find_bisected(c, v, a)) return false;
  return find_stays(c, v, a);
}

/* A limit was found, and the simulation stays before it and moves beyond it, every step certified. */
static bool agrees(const answer *a) {
  bool any = false;
  for (int k = 0; k < 2; k++) {
    if (!a->side[k].exists.found) continue;
    any = true;
    if (!a->side[k].stays.found) return false;
  }
  return any && a->trials.certified;
}

/* ---- telling */

static const char *const rule_text[] = {
    [CONVEX] = "the values with an equilibrium form an interval; its end by a conic programme",
    [MONOTONE] = "more friction never takes an equilibrium away; bisected",
    [SCANNED] = "bisected where the verdict changes next to the present value",
};

static void print_side(const vary *v, const side *s, const char *unit) {
  const fx_bracket *e = &s->exists, *m = &s->stays;
  printf("  an equilibrium exists at %s %.10g, none at %.10g%s\n", v->name, e->stands, e->falls, unit);
  if (m->found)
    printf("    the simulation from rest stays at %.8g, moves at %.8g\n", m->stands, m->falls);
  else if (isnan(m->stands))
    printf("    the simulation from rest moves wherever it was tried\n");
  else
    printf("    the simulation from rest stays at %.8g and wherever it was tried beyond\n", m->stands);
  fx_print_mechanism(&s->mechanism, "    beyond the limit move:");
}

static void print(const fx_stand_case *c, const vary *v, const answer *a) {
  const char *unit = is_tilt(v) ? " degrees" : strcmp(v->name, "load") ? "" : " N";
  printf("%s%s%s at %s %.6g%s: %s\n", fx_colour_on(FX_BOLD), c->subject->word, fx_colour_off(), v->name, v->present,
         unit, fx_exists_text(a->present.standing));
  for (int k = 0; k < 2; k++)
    if (a->side[k].exists.found) print_side(v, &a->side[k], unit);
  if (!a->side[0].exists.found && !a->side[1].exists.found)
    printf("  the same from %.6g to %.6g%s: no limit in this range\n", v->least, v->most, unit);
  if (a->present.standing == FRIX_STANDING_FALLS) fx_print_mechanism(&a->present, "  at the present value move:");
  printf("  %s\n", rule_text[v->rule]);
  if (v->rule == SCANNED) printf("  changes of the verdict at %d values to either side: %d\n", SCAN, a->changes);
  printf("  %d equilibria computed, %d simulations of %g s, %s\n", a->trials.asked, a->trials.runs, c->time,
         a->trials.certified ? "every step certified" : "not every step certified");
}

static void put_side(fx_json *json, const char *key, const side *s) {
  if (!s->exists.found) {
    fx_put_text(json, key, NULL);
    return;
  }
  fx_put_open(json, key, '{');
  fx_put_real(json, "stands", s->exists.stands);
  fx_put_real(json, "falls", s->exists.falls);
  fx_put_open(json, "simulation", '{');
  fx_put_real(json, "stays", s->stays.stands);
  fx_put_real(json, "moves", s->stays.falls);
  fx_put_close(json, '}');
  fx_put_mechanism(json, "mechanism", &s->mechanism);
  fx_put_close(json, '}');
}

static void print_json(const fx_stand_case *c, const vary *v, const answer *a) {
  static const char *const rule_name[] = {"convex", "monotone", "scanned"};
  fx_json json = {stdout, false};
  fx_put_open(&json, NULL, '{');
  fx_put_text(&json, "scene", c->subject->word);
  fx_put_text(&json, "vary", v->name);
  fx_put_real(&json, "present", v->present);
  fx_put_boolean(&json, "stands", a->present.standing == FRIX_STANDING_STANDS);
  fx_put_exists(&json, "equilibrium", &a->present);
  put_side(&json, "lower", &a->side[0]);
  put_side(&json, "upper", &a->side[1]);
  fx_put_text(&json, "rule", rule_name[v->rule]);
  if (v->rule == SCANNED) fx_put_integer(&json, "changes", a->changes);
  fx_put_real(&json, "from", v->least);
  fx_put_real(&json, "to", v->most);
  fx_put_integer(&json, "equilibria", a->trials.asked);
  fx_put_integer(&json, "trials", a->trials.runs);
  fx_put_boolean(&json, "agree", agrees(a));
  fx_put_boolean(&json, "certified", a->trials.certified);
  fx_missing_put(&json, &c->subject->missing);
  fx_put_close(&json, '}');
  fx_put_end_line(&json);
}

static int run_limit(const fx_args *args) {
  fx_subject subject = {0};
  frix_sim_config config;
  frix_options *options = NULL;
  fx_stand_case c = {.context = fx_context(false), .subject = &subject};
  vary v = {0};
  answer a = {0};
  fx_catch_interrupt();
  bool good = fx_subject_read(args, args->word[0], &subject) && fx_stand_settings(args, &c, &config, &options) &&
              find_limits(args, &c, &v, &a);
  if (good && fx_arg(args, "--json")) print_json(&c, &v, &a);
  if (good && !fx_arg(args, "--json")) print(&c, &v, &a), fx_missing_print(&subject.missing, 10);
  int code = fx_missing_code(&subject.missing, good && agrees(&a) ? FX_EXIT_SOLVED : FX_EXIT_UNSOLVED);
  frix_options_destroy(options);
  fx_subject_free(&subject);
  frix_context_destroy(c.context);
  return good ? code : FX_EXIT_USAGE;
}

static const fx_flag flags[] = {
    {"--vary", "NAME", NULL,
     "what to vary: tilt (degrees), load (N), a scene parameter (mu, angle ...), friction (factor, for files)"},
    {"--direction", "D", FX_DIRECTIONS, "direction of the tilt (default x) or the load (default down)"},
    {"--body", "NAME", NULL, "body on which the load acts; default: the highest body"},
    {"--from", "X", NULL, "lower end of the search; default: the parameter's minimum"},
    {"--to", "X", NULL, "upper end of the search; default: the parameter's maximum, 89 degrees, 1000 times the weight"},
    {"--within", "X", NULL, "relative precision of a bisected limit, default 1e-8"},
    FX_STAND_FLAGS,
    {"--json", NULL, NULL, "print one JSON object"},
    {0},
};

const fx_verb fx_verb_limit = {
    .name = "limit",
    .arguments = "SCENE|FILE --vary NAME",
    .summary = "find the value of a parameter at which a structure begins to fall",
    .detail =
        "Reports two limits. Equilibrium: up to this value forces within the friction cones balance the loads, and "
        "beyond it a\n"
        "mechanism proves that none do. Simulation: up to this value the structure stays when run from rest for "
        "--time\n"
        "seconds; a body with an acceleration above 1e-5 g counts as moving. A limit of tilt or load comes from one "
        "conic\n"
        "programme; friction is bisected, since more friction never harms; other parameters are sampled at 16 values "
        "on\n"
        "either side and bisected where the verdict first changes. Exit code 0: a limit was found, the simulation "
        "agrees and\n"
        "every step is certified; 1: not; 2: bad usage or input; 3: found, but the file uses unsupported features.",
    .example =
        "  frix limit incline --vary angle                                # atan(mu)\n"
        "  frix limit arch --vary thickness --set mu=0.7 --set voussoirs=21\n"
        "  frix limit stack --vary tilt --direction y",
    .flag = flags,
    .words = "@scenes",
    .min_words = 1,
    .max_words = 1,
    .run = run_limit,
};
