/* frix limit: the value of a parameter at which a structure begins to fall, in a bracket. */
#include "stand.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

typedef struct vary {
  const char *name;
  int32_t parameter; /* of the scene, -1: tilt, load, or the friction of a file */
  double present, least, most;
} vary;

static bool set_value(fx_stand_case *c, double value, void *user) {
  const vary *v = user;
  if (v->parameter < 0 && !strcmp(v->name, "tilt")) {
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

typedef struct bound {
  bool found;
  double stands, falls; /* the bracket */
} bound;

static bool find_bound(fx_stand_case *c, vary *v, bool present_stands, double end, double tolerance, int *runs,
                       bool *certified, bound *out) {
  fx_verdict verdict;
  if (end == v->present) return true;
  if (!set_value(c, end, v) || !fx_stand(c, &verdict, NULL)) return false;
  ++*runs;
  if (!verdict.certified) *certified = false;
  if (verdict.stands == present_stands) return true;
  double low = v->present, high = end;
  if (!fx_bisect(c, set_value, v, &low, &high, present_stands, tolerance, runs, certified)) return false;
  out->found = true;
  out->stands = present_stands ? low : high;
  out->falls = present_stands ? high : low;
  return true;
}

static void print(const fx_stand_case *c, const vary *v, bool stands, const bound side[2], int runs, bool certified) {
  const char *unit = strcmp(v->name, "tilt") == 0 && v->parameter < 0 ? " degrees"
                     : strcmp(v->name, "load")                        ? ""
                                                                      : " N";
  printf("%s%s%s %s at %s %.6g%s\n", fx_colour_on(FX_BOLD), c->subject->word, fx_colour_off(),
         stands ? "stands" : "does not stand", v->name, v->present, unit);
  for (int k = 0; k < 2; k++)
    if (side[k].found) printf("  stands at %s %.8g, falls at %.8g%s\n", v->name, side[k].stands, side[k].falls, unit);
  if (!side[0].found && !side[1].found)
    printf("  the same from %.6g to %.6g%s: no limit in this range\n", v->least, v->most, unit);
  printf("  %d trials of %g s, %s\n", runs, c->time, certified ? "every step certified" : "not every step certified");
}

static void print_json(const fx_stand_case *c, const vary *v, bool stands, const bound side[2], int runs,
                       bool certified) {
  fx_json json = {stdout, false};
  static const char *const key[2] = {"lower", "upper"};
  fx_put_open(&json, NULL, '{');
  fx_put_text(&json, "scene", c->subject->word);
  fx_put_text(&json, "vary", v->name);
  fx_put_real(&json, "present", v->present);
  fx_put_boolean(&json, "stands", stands);
  for (int k = 0; k < 2; k++) {
    if (!side[k].found) {
      fx_put_text(&json, key[k], NULL);
      continue;
    }
    fx_put_open(&json, key[k], '{');
    fx_put_real(&json, "stands", side[k].stands);
    fx_put_real(&json, "falls", side[k].falls);
    fx_put_close(&json, '}');
  }
  fx_put_real(&json, "from", v->least);
  fx_put_real(&json, "to", v->most);
  fx_put_integer(&json, "trials", runs);
  fx_put_boolean(&json, "certified", certified);
  fx_put_close(&json, '}');
  fx_put_end_line(&json);
}

static bool find_limits(const fx_args *args, fx_stand_case *c, vary *v, bool *stands, bound side[2], int *runs,
                        bool *certified) {
  double tolerance = 1e-4;
  fx_verdict verdict;
  if (!find_vary(args, c, v) || !fx_arg_real(args, "--within", 1e-12, 0.5, &tolerance)) return false;
  if (!fx_stand(c, &verdict, NULL)) return false;
  *stands = verdict.stands, *certified = verdict.certified, *runs = 1;
  return find_bound(c, v, *stands, v->least, tolerance, runs, certified, &side[0]) &&
         find_bound(c, v, *stands, v->most, tolerance, runs, certified, &side[1]);
}

static int run_limit(const fx_args *args) {
  fx_subject subject = {0};
  frix_sim_config config;
  frix_options *options = NULL;
  fx_stand_case c = {.context = fx_context(false), .subject = &subject};
  vary v = {0};
  bound side[2] = {{0}};
  bool stands = false, certified = true;
  int runs = 0;
  fx_catch_interrupt();
  bool good = fx_subject_read(args, args->word[0], &subject) && fx_stand_settings(args, &c, &config, &options) &&
              find_limits(args, &c, &v, &stands, side, &runs, &certified);
  if (good && fx_arg(args, "--json")) print_json(&c, &v, stands, side, runs, certified);
  if (good && !fx_arg(args, "--json")) print(&c, &v, stands, side, runs, certified);
  frix_options_destroy(options);
  fx_subject_free(&subject);
  frix_context_destroy(c.context);
  bool found = (side[0].found || side[1].found) && certified;
  return !good ? FX_EXIT_USAGE : found ? FX_EXIT_SOLVED : FX_EXIT_UNSOLVED;
}

static const fx_flag flags[] = {
    {"--vary", "NAME", NULL,
     "tilt (degrees), load (N), a parameter of the scene (mu, angle ...), friction (factor, of a file)"},
    {"--direction", "D", FX_DIRECTIONS, "of tilt (default x) and load (default down)"},
    {"--body", "NAME", NULL, "what the load acts on; default: the highest body"},
    {"--from", "X", NULL, "least value tried; default: the parameter's"},
    {"--to", "X", NULL, "largest value tried; default: the parameter's, 89 degrees, 1000 times the weight"},
    {"--within", "X", NULL, "relative width of the bracket, default 1e-4"},
    FX_STAND_FLAGS,
    {"--json", NULL, NULL, "one JSON object"},
    {0},
};

const fx_verb fx_verb_limit = {
    .name = "limit",
    .arguments = "SCENE|FILE --vary NAME",
    .summary = "the value at which a structure begins to fall",
    .detail =
        "From its present value the parameter is taken to both ends of its range; where the verdict changes, the\n"
        "limit is bisected. Every trial steps the world for --time seconds; what is accelerated by more than\n"
        "1e-5 g falls. Exit code 0: a limit was found and every step is certified; 1: not; 2: bad usage or input.",
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
