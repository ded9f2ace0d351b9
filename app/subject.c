/* A scene of the table or a world from a file, with its parameters. */
#include "subject.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scene_file.h"

static const double file_time = 5,
                    file_step = 0.002; /* s, of a world from a file unless it or the user says otherwise */

/* ---- parameters */

static void parameter_names(const frix_scene *scene, char *out, size_t size) {
  size_t used = 0;
  out[0] = 0;
  for (int32_t k = 0; k < scene->parameter_count && used < size; k++)
    used += (size_t)snprintf(out + used, size - used, "%s%s", k ? "|" : "", scene->parameter[k].name);
}

static bool read_value(const frix_scene *scene, int k, const char *text, double *out) {
  const frix_option_info *row = &scene->parameter[k];
  if (row->kind == FRIX_OPTION_CHOICE) {
    int choice = fx_choose(row->choices, row->name, text);
    *out = choice;
    return choice >= 0;
  }
  char *end = NULL;
  double value = strtod(text, &end);
  if (end != text && !*end && frix_scene_allows(scene, k, value)) {
    *out = value;
    return true;
  }
  fx_error("%s '%s' is not a %snumber between %g and %g: see 'frix list scenes'", row->name, text,
           row->kind == FRIX_OPTION_INTEGER ? "whole " : "", row->minimum, row->maximum);
  return false;
}

/* One --set name=value; options of methods have a dot in their name and are not for the scene. */
static bool set_parameter(fx_subject *subject, const char *setting) {
  char *key = NULL, names[512];
  const char *text = NULL;
  if (!fx_split_setting(setting, &key, &text)) return false;
  bool good = strchr(key, '.') != NULL;
  if (!good && !subject->scene) fx_error("--set %s: a world from a file has no parameters", setting);
  if (!good && subject->scene) {
    parameter_names(subject->scene, names, sizeof names);
    int k = fx_choose(names, "parameter", key);
    good = k >= 0 && read_value(subject->scene, k, text, &subject->value[k]);
  }
  free(key);
  return good;
}

void fx_subject_value(const frix_option_info *parameter, double value, char *out, size_t size) {
  if (parameter->kind == FRIX_OPTION_CHOICE) {
    fx_choice(parameter->choices, (int)value, out, size);
  } else {
    snprintf(out, size, "%.10g", value);
  }
}

/* ---- the word */

static bool looks_like_file(const char *word) { return strpbrk(word, "./") || access(word, F_OK) == 0; }

bool fx_subject_read(const fx_args *args, const char *word, fx_subject *out) {
  memset(out, 0, sizeof *out);
  out->word = word;
  out->args = args;
  out->friction = 1;
  out->step = file_step, out->time = file_time;
  out->scene = frix_scene_find(word);
  int64_t seed = 0;
  if (!out->scene && !looks_like_file(word)) {
    fx_choose("@scenes", "scene or file", word);
    return false;
  }
  if (out->scene) {
    out->step = out->scene->step, out->time = out->scene->time;
    for (int32_t k = 0; k < out->scene->parameter_count; k++) out->value[k] = out->scene->parameter[k].initial;
  }
  int cursor = 0;
  for (const char *setting; (setting = fx_arg_next(args, "--set", &cursor));)
    if (!set_parameter(out, setting)) return false;
  if (!fx_arg_integer(args, "--seed", 0, INT64_MAX, &seed)) return false;
  out->seed = (uint64_t)seed;
  return true;
}

/* ---- the model */

void fx_no_body(const fx_subject *subject, const char *name) {
  enum { KNOWN = 256, SHOWN = 5 }; /* bodies compared, and listed if none is near */
  char all[KNOWN * 32] = "", list[SHOWN * 36] = "", near[128];
  int32_t count = frix_model_count(subject->model).body_count;
  for (int32_t k = 0; k < count && k < KNOWN; k++) {
    frix_body_config body;
    if (frix_model_body(subject->model, frix_model_body_at(subject->model, k), &body) || !body.name) continue;
    size_t used = strlen(all), shown = strlen(list);
    snprintf(all + used, sizeof all - used, "%s%.30s", used ? "|" : "", body.name);
    if (k < SHOWN) snprintf(list + shown, sizeof list - shown, "%s%.30s", shown ? ", " : "", body.name);
  }
  fx_nearest(all, name, near, sizeof near);
  if (near[0]) {
    fx_error("%s has no body '%s': did you mean '%s'?", subject->word, name, near);
  } else {
    fx_error("%s has no body '%s'; its bodies: %s%s", subject->word, name, list, count > SHOWN ? ", ..." : "");
  }
}

/* Worlds from files: MJCF. */
static bool read_world(fx_subject *subject, frix_context *context) {
  frix_mjcf *file = fx_read_scene(context, subject->word, subject->args, subject->friction);
  if (!file) return false;
  frix_mjcf_info info = frix_mjcf_view(file);
  if (!subject->told) {
    fx_print_notes(&info, fx_arg(subject->args, "--quiet") != NULL);
    subject->missing = fx_missing_of(&info, fx_arg(subject->args, "--allow-missing") != NULL);
    if (!subject->missing.moving) fx_warning("%s: no body of the file can move", subject->word);
  }
  subject->told = true;
  subject->step = info.timestep;
  subject->own = frix_mjcf_take_model(file);
  frix_mjcf_destroy(file);
  return true;
}

bool fx_subject_build(fx_subject *subject, frix_context *context) {
  frix_model_destroy(subject->own);
  subject->own = NULL, subject->model = NULL;
  bool good;
  if (subject->scene) {
    good = frix_scene_build(subject->scene, context, subject->value, subject->seed, &subject->own) == FRIX_OK;
    if (!good) fx_error("%s: %s", subject->word, frix_error_text(context));
  } else {
    good = read_world(subject, context);
  }
  subject->model = subject->own;
  return good;
}

bool fx_subject_drive(const fx_subject *subject, frix_context *context, frix_sim *sim, double h) {
  if (!subject->scene || frix_scene_drive(subject->scene, sim, subject->model, subject->value, h) == FRIX_OK)
    return true;
  fx_error("%s: %s", subject->word, frix_error_text(context));
  return false;
}

void fx_subject_free(fx_subject *subject) {
  frix_model_destroy(subject->own);
  fx_missing_free(&subject->missing);
  memset(subject, 0, sizeof *subject);
}

/* ---- how it is simulated */

/* NULL where none is set: then the state is all that a step depends on, and one that repeats the last costs nothing. */
static bool method_options(frix_context *context, const fx_args *args, frix_options **out) {
  int cursor = 0;
  *out = NULL;
  for (const char *text; (text = fx_arg_next(args, "--set", &cursor));) {
    char *key = NULL;
    const char *value = NULL;
    if (!fx_split_setting(text, &key, &value)) return false;
    bool method = strchr(key, '.') != NULL, good = true;
    if (method && !*out) good = frix_options_create(context, out) == FRIX_OK;
    if (method && good) good = frix_options_set(*out, key, value) == FRIX_OK;
    free(key);
    if (good) continue;
    fx_error("--set %s: %s", text, frix_error_text(context));
    return false;
  }
  return true;
}

bool fx_sim_settings(frix_context *context, const fx_args *args, frix_sim_config *config, frix_options **options) {
  *config = frix_sim_default();
  int64_t threads = 1;
  const char *integrator = fx_arg(args, "--integrator"), *solver = fx_arg(args, "--solver");
  if (!fx_arg_real(args, "--tol", 1e-300, 1, &config->tolerance)) return false;
  if (!fx_arg_integer(args, "--threads", 1, 1024, &threads)) return false;
  config->thread_count = (int32_t)threads;
  config->law = fx_arg_choice(args, "--law", 0) == 1 ? FRIX_LAW_ASSOCIATED : FRIX_LAW_COULOMB;
  if (fx_arg(args, "--plain")) config->polish = 0, config->seek_rest = false;
  config->policy = fx_arg(args, "--strict") ? FRIX_POLICY_STRICT : FRIX_POLICY_REPORT;
  if (integrator) {
    int k = fx_choose("@integrators", "integrator", integrator);
    if (k < 0) return false;
    config->integrator = frix_integrator_table(k)->name;
  }
  if (fx_arg(args, "--coordinates")) {
    int k = fx_arg_choice(args, "--coordinates", 1);
    if (k < 0) return false;
    config->coordinates = k == 0 ? FRIX_COORDINATES_REDUCED : FRIX_COORDINATES_MAXIMAL;
  }
  const char *contact = fx_arg(args, "--contact");
  if (contact) {
    int k = fx_choose("@contacts", "contact law", contact);
    if (k < 0) return false;
    config->contact = (frix_contact_kind)k;
  }
  const char *restitution = fx_arg(args, "--restitution");
  if (restitution) {
    int k = fx_choose("@restitutions", "restitution", restitution);
    if (k < 0) return false;
    config->restitution = (frix_restitution)k;
  }
  if (solver) {
    const frix_solver_info *info = fx_find_solver(solver);
    if (!info) return false;
    if (config->law == FRIX_LAW_COULOMB ? !info->coulomb : !info->associated) {
      fx_error("solver %s does not solve law %s", info->name, frix_law_name(config->law));
      return false;
    }
    config->solver = info->name;
  }
  if (!method_options(context, args, options)) return false;
  config->options = *options;
  return true;
}

/* ---- names */

void fx_body_name(const frix_sim *sim, const frix_model *model, frix_body_id id, char *out, size_t size) {
  frix_body_id pattern = id;
  frix_body_config body;
  if (!id.index) {
    snprintf(out, size, "world");
    return;
  }
  frix_sim_pattern(sim, id, &pattern);
  bool named = frix_model_body(model, pattern, &body) == FRIX_OK && body.name && body.name[0];
  bool spawned = pattern.index != id.index || pattern.generation != id.generation;
  if (named && spawned) {
    snprintf(out, size, "%s#%u", body.name, (unsigned)id.index);
  } else if (named) {
    snprintf(out, size, "%s", body.name);
  } else {
    snprintf(out, size, "body_%u", (unsigned)id.index);
  }
}
