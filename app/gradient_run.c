/* frix gradient --run: derivatives of a whole run by parameters of its scene, by forces, or by the step
 * (docs/explain.md). */
#include "gradient_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "vary.h"

enum { MOST = 16 };

typedef struct wrt {
  char name[64];
  char model_name[64]; /* of a number of the model */
  int32_t parameter;   /* of the scene; -1: the step, -2: a force, -3: a torque, -4: a number of the model */
  frix_body_id body;
  int axis;
} wrt;

typedef struct study {
  frix_context *context;
  fx_subject subject;
  wrt wrt[MOST];
  int wrt_count;
  char of[MOST][64];
  fx_reading reading[MOST];
  int of_count;
  double value[MOST], h, time;
  frix_sensitivity *sensitivity;
  frix_sensitivity_result result;
  bool backward;
  double found[MOST][MOST]; /* backward: of, by */
} study;

/* ---- the world for given values ---- */

static void scene_values(const study *s, const double *p, double *out) {
  memcpy(out, s->subject.value, sizeof s->subject.value);
  for (int k = 0; k < s->wrt_count; k++)
    if (s->wrt[k].parameter >= 0) out[s->wrt[k].parameter] = p[k];
}

static frix_status build(frix_context *context, const double *p, frix_model **out, void *user) {
  const study *s = user;
  const char *name[MOST];
  double value[FRIX_SCENE_MAX_PARAMETERS], number[MOST];
  frix_model *scene = NULL;
  int32_t count = 0;
  frix_status status = FRIX_OK;
  scene_values(s, p, value);
  if (s->subject.scene) status = frix_scene_build(s->subject.scene, context, value, s->subject.seed, &scene);
  const frix_model *base = scene ? scene : s->subject.model;
  for (int k = 0; status == FRIX_OK && k < s->wrt_count; k++) {
    if (s->wrt[k].parameter != -4) continue;
    /* from what the parameters of the scene make of it: it may depend on one that is varied too */
    name[count] = s->wrt[k].model_name;
    status = frix_model_quantity(context, base, name[count], &number[count]);
    number[count++] += p[k] - s->value[k];
  }
  if (status == FRIX_OK) status = frix_model_vary(context, base, count, name, number, out);
  frix_model_destroy(scene);
  return status;
}

static frix_status drive(frix_sim *sim, double h, const double *p, void *user) {
  const study *s = user;
  double value[FRIX_SCENE_MAX_PARAMETERS];
  scene_values(s, p, value);
  frix_status status = FRIX_OK;
  if (s->subject.scene) status = frix_scene_drive(s->subject.scene, sim, frix_sim_model(sim), value, h);
  for (int k = 0; status == FRIX_OK && k < s->wrt_count; k++) {
    bool force = s->wrt[k].parameter == -2;
    frix_vec3 push = {s->wrt[k].axis == 0 ? p[k] : 0, s->wrt[k].axis == 1 ? p[k] : 0, s->wrt[k].axis == 2 ? p[k] : 0};
    frix_vec3 none = {0, 0, 0};
    if (force || s->wrt[k].parameter == -3)
      status = frix_sim_add_force(sim, s->wrt[k].body, force ? push : none, force ? none : push);
  }
  return status;
}

/* ---- words ---- */

/* "cup.force.x" or "force:cup.x"; torque alike. */
static bool read_push(const study *s, const char *text, wrt *w) {
  size_t length = strlen(text);
  char body[64];
  if (length < 3 || text[length - 2] != '.' || text[length - 1] < 'x' || text[length - 1] > 'z') return false;
  for (int torque = 0; torque < 2; torque++) {
    const char *word = torque ? "torque" : "force";
    size_t n = strlen(word);
    if (!strncmp(text, word, n) && text[n] == ':')
      snprintf(body, sizeof body, "%.*s", (int)(length - n - 3), text + n + 1);
    else if (length > n + 3 && !strncmp(text + length - n - 2, word, n) && text[length - n - 3] == '.')
      snprintf(body, sizeof body, "%.*s", (int)(length - n - 3), text);
    else
      continue;
    w->parameter = torque ? -3 : -2, w->axis = text[length - 1] - 'x';
    w->body = frix_model_find_body(s->subject.model, body);
    return w->body.index != 0;
  }
  return false;
}

/* "cup.mass", or "mass:cup" as a step has it. */
static bool read_number(const study *s, const char *text, wrt *w, double *value) {
  const char *colon = strchr(text, ':');
  w->parameter = -4;
  if (colon)
    snprintf(w->model_name, sizeof w->model_name, "%s.%.*s", colon + 1, (int)(colon - text), text);
  else
    snprintf(w->model_name, sizeof w->model_name, "%s", text);
  return frix_model_quantity(s->context, s->subject.model, w->model_name, value) == FRIX_OK;
}

static bool read_wrt(study *s, const char *text) {
  wrt *w = &s->wrt[s->wrt_count];
  const frix_scene *scene = s->subject.scene;
  snprintf(w->name, sizeof w->name, "%s", text);
  double *value = &s->value[s->wrt_count++];
  w->parameter = scene ? frix_scene_parameter_index(scene, text) : -1;
  if (w->parameter >= 0 && scene->parameter[w->parameter].kind == FRIX_OPTION_REAL) {
    *value = s->subject.value[w->parameter];
    return true;
  }
  if (!strcmp(text, "h")) {
    w->parameter = -1, *value = s->h;
    return true;
  }
  if (read_push(s, text, w) || read_number(s, text, w, value)) return true;
  fx_error(
      "--wrt '%s': a real parameter of %s, h, BODY.force.x, BODY.torque.x, or a number of its model ('frix gradient "
      "%s --list')",
      text, s->subject.word, s->subject.word);
  return false;
}

static bool read_of(study *s, const char *text) {
  fx_vary v;
  memset(&v, 0, sizeof v);
  v.subject = s->subject;
  snprintf(s->of[s->of_count], sizeof s->of[0], "%s", text);
  return fx_vary_reading(&v, text, &s->reading[s->of_count++]);
}

static bool each(study *s, const char *list, bool (*read)(study *s, const char *text), const int *count) {
  for (const char *p = list; p && *p;) {
    char word[64];
    size_t n = strcspn(p, ",");
    if (*count == MOST || n >= sizeof word) {
      fx_error("at most %d quantities", (int)MOST);
      return false;
    }
    memcpy(word, p, n), word[n] = 0;
    if (!read(s, word)) return false;
    p += n + (p[n] == ',');
  }
  return true;
}

static bool open_study(study *s, frix_context *context, const fx_args *args) {
  if (!fx_subject_read(args, args->word[0], &s->subject)) return false;
  s->context = context;
  if (!fx_subject_build(&s->subject, context)) return false;
  if (!s->subject.model) {
    fx_error("%s: gradient needs a scene, not a problem file", s->subject.word);
    return false;
  }
  s->h = s->subject.step;
  if (!fx_arg_real(args, "--dt", 1e-9, 1, &s->h)) return false;
  s->time = s->subject.time;
  return fx_arg_real(args, "--at", s->h, 1e9, &s->time) && each(s, fx_arg(args, "--wrt"), read_wrt, &s->wrt_count) &&
         each(s, fx_arg(args, "--of"), read_of, &s->of_count);
}

/* ---- the run ---- */

/* One pass back for what is asked for. */
static frix_status go_back(study *s, int of) {
  frix_sensitivity_weight weight = {.body = s->reading[of].body};
  frix_sensitivity_motion *m = &weight.weight;
  double *const all[9] = {&m->place.x,    &m->place.y, &m->place.z, &m->velocity.x, &m->velocity.y,
                          &m->velocity.z, &m->spin.x,  &m->spin.y,  &m->spin.z};
  *all[s->reading[of].coordinate] = 1;
  fx_progress("gradient: back from %s", s->of[of]);
  frix_sensitivity_adjoint_config config = {
      .size = sizeof config, .weight_count = 1, .weight = &weight, .parameter = s->found[of]};
  return frix_sensitivity_adjoint(s->sensitivity, &config);
}

/* Widths of the differences. Masses, sizes and coefficients have no scale but their own. */
static void find_increments(const study *s, double *out) {
  static const char *const positive[] = {"mass",    "inertia.x",   "inertia.y", "inertia.z", "mu",
                                         "rolling", "restitution", "stiffness", "size.x",    "size.y",
                                         "size.z",  "radius",      "length"};
  for (int k = 0; k < s->wrt_count; k++) {
    double size = fabs(s->value[k]);
    const char *name = s->wrt[k].model_name;
    out[k] = size > 0 ? fmax(4e-6 * size, 1e-7) : 1e-6;
    for (size_t e = 0; e < sizeof positive / sizeof *positive && size > 0; e++) {
      size_t n = strlen(name), m = strlen(positive[e]);
      if (s->wrt[k].parameter == -4 && n >= m && !strcmp(name + n - m, positive[e])) out[k] = 4e-6 * size;
    }
  }
}

static bool run(study *s, frix_context *context, const fx_args *args) {
  double increment[MOST];
  frix_sim_config sim;
  frix_options *options = NULL;
  frix_sensitivity_config config = frix_sensitivity_default();
  if (!fx_sim_settings(context, args, &sim, &options)) return false;
  if (!fx_arg(args, "--restitution")) sim.restitution = FRIX_RESTITUTION_NEWTON;
  config.parameter_count = s->wrt_count, config.parameter = s->value, config.step = s->h;
  config.build = build, config.drive = drive, config.user = s;
  find_increments(s, increment);
  config.increment = increment;
  config.backward = s->backward = fx_arg(args, "--backward") != NULL;
  for (int k = 0; k < s->wrt_count; k++)
    if (s->wrt[k].parameter == -1) config.step_parameter = k;
  frix_status status = frix_sensitivity_create(context, &sim, &config, &s->sensitivity);
  int64_t steps = (int64_t)(s->time / s->h + 0.5);
  for (int64_t k = 0; status == FRIX_OK && k < steps && !fx_interrupted(NULL); k++) {
    status = frix_sensitivity_step(s->sensitivity, &s->result);
    fx_progress("gradient: step %lld of %lld", (long long)k + 1, (long long)steps);
  }
  bool smooth = status == FRIX_OK && s->result.run_verdict == FRIX_GRADIENT_SMOOTH;
  for (int k = 0; k < s->of_count && s->backward && smooth && status == FRIX_OK; k++) status = go_back(s, k);
  fx_progress_clear();
  if (status != FRIX_OK) fx_error("%s: %s", s->subject.word, frix_error_text(context));
  frix_options_destroy(options);
  return status == FRIX_OK;
}

static double derivative(const study *s, int of, int by) {
  frix_sensitivity_motion m;
  if (s->backward) return s->found[of][by];
  if (frix_sensitivity_body(s->sensitivity, s->reading[of].body, by, &m) != FRIX_OK) return NAN;
  const double all[9] = {m.place.x,    m.place.y, m.place.z, m.velocity.x, m.velocity.y,
                         m.velocity.z, m.spin.x,  m.spin.y,  m.spin.z};
  return all[s->reading[of].coordinate];
}

static void print_text(const study *s) {
  const frix_sensitivity_result *r = &s->result;
  printf("%s%s%s over %g s, %lld steps: %s", fx_colour_on(FX_BOLD), s->subject.word, fx_colour_off(), s->time,
         (long long)r->step, frix_gradient_verdict_name(r->run_verdict));
  if (r->first_kink) printf(", from step %lld on", (long long)r->first_kink);
  printf("; nearest change of mode %.3g\n", r->run_distance);
  for (int k = 0; !r->first_kink && k < s->of_count; k++)
    for (int e = 0; e < s->wrt_count; e++)
      printf("d %s / d %s = %.12g\n", s->of[k], s->wrt[e].name, derivative(s, k, e));
}

static void print_json(const study *s) {
  const frix_sensitivity_result *r = &s->result;
  fx_json json = {stdout, false};
  fx_put_open(&json, NULL, '{');
  fx_put_text(&json, "subject", s->subject.word);
  fx_put_real(&json, "time", s->time);
  fx_put_integer(&json, "steps", r->step);
  fx_put_text(&json, "verdict", frix_gradient_verdict_name(r->run_verdict));
  fx_put_real(&json, "distance", r->run_distance);
  fx_put_integer(&json, "first_kink", r->first_kink);
  fx_put_boolean(&json, "certified", r->certified);
  fx_put_open(&json, "gradient", '[');
  for (int k = 0; !r->first_kink && k < s->of_count; k++)
    for (int e = 0; e < s->wrt_count; e++) {
      fx_put_open(&json, NULL, '{');
      fx_put_text(&json, "of", s->of[k]);
      fx_put_text(&json, "wrt", s->wrt[e].name);
      fx_put_real(&json, "value", derivative(s, k, e));
      fx_put_close(&json, '}');
    }
  fx_put_close(&json, ']');
  fx_put_close(&json, '}');
  fx_put_end_line(&json);
}

int fx_gradient_of_run(const fx_args *args) {
  const char *contact = fx_arg(args, "--contact");
  if (contact && strcmp(contact, "rigid") != 0) {
    fx_error(
        "--run differentiates rigid contacts: springs would carry their memory from step to step. One step of "
        "stiff contacts has derivatives: leave out --run");
    return FX_EXIT_USAGE;
  }
  study *s = fx_grow(NULL, 1, sizeof *s);
  memset(s, 0, sizeof *s);
  frix_context *context = fx_context(false);
  fx_catch_interrupt();
  int code = FX_EXIT_USAGE;
  if (open_study(s, context, args)) {
    bool good = run(s, context, args);
    if (good) (fx_arg(args, "--json") ? print_json : print_text)(s);
    bool smooth = good && s->result.run_verdict == FRIX_GRADIENT_SMOOTH && s->result.certified;
    code = smooth ? FX_EXIT_SOLVED : FX_EXIT_UNSOLVED;
  }
  frix_sensitivity_destroy(s->sensitivity);
  fx_subject_free(&s->subject);
  frix_context_destroy(context);
  free(s);
  return code;
}

static void list_part(const frix_robot *robot, const char *word, frix_robot_part part, int32_t count) {
  for (int32_t k = 0; k < count; k++) {
    const char *name = frix_robot_name(robot, part, k);
    if (name) printf("%s:%s\n", word, name);
  }
}

/* Of steps of robots in reduced coordinates. */
static void list_robot(const study *s) {
  const frix_robot *robot = frix_model_robot(s->subject.model);
  if (!robot) return;
  frix_robot_info info = frix_robot_view(robot);
  list_part(robot, "ctrl", FRIX_ROBOT_ACTUATOR, info.actuator_count);
  list_part(robot, "qpos", FRIX_ROBOT_JOINT, info.joint_count);
  list_part(robot, "qvel", FRIX_ROBOT_JOINT, info.joint_count);
  list_part(robot, "applied", FRIX_ROBOT_JOINT, info.joint_count);
}

int fx_gradient_list(const fx_args *args) {
  static const char *const push[6] = {"force.x", "force.y", "force.z", "torque.x", "torque.y", "torque.z"};
  study *s = fx_grow(NULL, 1, sizeof *s);
  memset(s, 0, sizeof *s);
  frix_context *context = fx_context(false);
  bool good = fx_subject_read(args, args->word[0], &s->subject) && fx_subject_build(&s->subject, context);
  if (good && !s->subject.model)
    fx_error("%s: gradient needs a scene, not a problem file", s->subject.word), good = false;
  const frix_scene *scene = good ? s->subject.scene : NULL;
  for (int32_t k = 0; scene && k < scene->parameter_count; k++)
    if (scene->parameter[k].kind == FRIX_OPTION_REAL)
      printf("%-28s %.9g\n", scene->parameter[k].name, s->subject.value[k]);
  if (good) printf("%-28s %.9g\n", "h", s->subject.step);
  if (good) list_robot(s);
  int32_t bodies = good ? frix_model_count(s->subject.model).body_count : -1;
  for (int32_t k = -2; k < bodies; k++) {
    frix_body_config body = {.name = k == -2 ? "gravity" : "world"};
    if (k >= 0 && frix_model_body(s->subject.model, frix_model_body_at(s->subject.model, k), &body) != FRIX_OK)
      continue;
    for (int32_t f = 0; body.name && frix_quantity_field(f); f++) {
      char name[160];
      double value;
      snprintf(name, sizeof name, "%s.%s", body.name, frix_quantity_field(f));
      if (frix_model_quantity(context, s->subject.model, name, &value) == FRIX_OK) printf("%-28s %.9g\n", name, value);
    }
    for (int e = 0; k >= 0 && body.name && body.kind == FRIX_BODY_DYNAMIC && e < 6; e++)
      printf("%s.%-*s 0\n", body.name, (int)(27 - strlen(body.name) % 27), push[e]);
  }
  fx_subject_free(&s->subject);
  frix_context_destroy(context);
  free(s);
  return good ? FX_EXIT_SOLVED : FX_EXIT_USAGE;
}
