/* MJCF: the public calls and the order of the passes. */
#include "base/abi.h"
#include "io/mjcf_internal.h"

#include <stdio.h>
#include <string.h>

#include "io/draft.h"
#include "io/file.h"
#include "model/builder.h"

static frix_mjcf_config default_mjcf(void) {
  frix_mjcf_config config = {0};
  config.size = sizeof config;
  config.max_bytes = (int64_t)256 << 20;
  config.max_count = 1000000;
  config.friction = 1.0;
  return config;
}

void frix_mjcf_init(frix_mjcf_config *out, size_t size) {
  frix_mjcf_config all = default_mjcf();
  fx_give_struct(out, size, &all, sizeof all);
}

bool frix_mjcf_available(void) { return fx_xml_available(); }

bool fx_mjcf_room(fx_mjcf_reader *r, void **list, int32_t count, int32_t *room, size_t size) {
  if (count < *room) return true;
  int32_t wanted = count < 16 ? 16 : 2 * count;
  void *grown = fx_realloc(r->context, *list, (size_t)count, (size_t)wanted, size);
  if (!grown) return false;
  *list = grown;
  *room = wanted;
  return true;
}

/* ---- messages and notes ---- */

frix_status fx_mjcf_fail(const fx_mjcf_reader *r, const fx_xml_element *at, const char *format, ...) {
  char text[768];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  return fx_fail(r->context, FRIX_ERROR_FORMAT, "%s:%d: %s", at->file, (int)at->line, text);
}

frix_status fx_mjcf_place(const fx_mjcf_reader *r, const fx_xml_element *at, frix_status status) {
  if (status == FRIX_ERROR_MEMORY) return status;
  char text[768];
  snprintf(text, sizeof text, "%s", frix_error_text(r->context));
  return fx_fail(r->context, status == FRIX_ERROR_INPUT ? FRIX_ERROR_FORMAT : status, "%s:%d: %s", at->file,
                 (int)at->line, text);
}

const char *fx_mjcf_keep(fx_mjcf_reader *r, const char *text) {
  size_t size = strlen(text) + 1;
  char *copy = fx_arena_take(&r->out->arena, size, 1);
  return copy ? memcpy(copy, text, size) : NULL;
}

frix_status fx_mjcf_note_add(fx_mjcf_reader *r, frix_mjcf_note_kind kind, const fx_xml_element *at, const char *name,
                             const char *text) {
  /* what a tree does, or does not need */
  static const char *const in_trees[] = {"option wind",
                                         "option density",
                                         "option viscosity",
                                         "option magnetic",
                                         "option actuatorgroupdisable",
                                         "joint actuatorgravcomp",
                                         "sensor",
                                         "site",
                                         "camera",
                                         "geom fluidshape",
                                         "geom fluidcoef",
                                         "geom surfacevel",
                                         "geom adhesion",
                                         "pair adhesion"};
  static const char *const endings[] = {" armature", " damping", " delay"}; /* of actuators */
  for (size_t k = 0; r->robot && k < sizeof in_trees / sizeof *in_trees; k++)
    if (!strcmp(name, in_trees[k])) return FRIX_OK;
  for (size_t k = 0; r->robot && k < sizeof endings / sizeof *endings; k++)
    if (strlen(name) > strlen(endings[k]) && !strcmp(name + strlen(name) - strlen(endings[k]), endings[k]))
      return FRIX_OK;
  if (r->again) return FRIX_OK;
  if (kind == FRIX_MJCF_UNSUPPORTED && r->config.strict) {
    fx_mjcf_fail(r, at, "%s: %s", name, text);
    return FRIX_ERROR_UNSUPPORTED;
  }
  for (int32_t k = 0; k < r->note_count; k++)
    if (r->note[k].kind == kind && !strcmp(r->note[k].name, name)) {
      r->note[k].count++;
      return FRIX_OK;
    }
  if (!FX_MJCF_ROOM(r, note)) return FRIX_ERROR_MEMORY;
  frix_mjcf_note note = {kind, fx_mjcf_keep(r, name), text, fx_mjcf_keep(r, at->file), at->line, 1};
  if (!note.name || !note.file) return FRIX_ERROR_MEMORY;
  r->note[r->note_count++] = note;
  return FRIX_OK;
}

frix_status fx_mjcf_missing(fx_mjcf_reader *r, const fx_xml_element *at, const char *name, const char *text) {
  return fx_mjcf_note_add(r, FRIX_MJCF_UNSUPPORTED, at, name,
                          text ? text : "not supported; the motion is computed without it");
}

/* ---- the passes ---- */

static frix_status run(fx_mjcf_reader *r, const char *path, const char *bytes, size_t count) {
  frix_status status = frix_builder_create(r->context, &r->builder);
  if (status) return status;
  if ((status = fx_mjcf_load(r, path, bytes, count)) || (status = fx_mjcf_bodies(r)) || (status = fx_mjcf_masses(r)) ||
      (status = fx_mjcf_align(r)) || (!r->reduced && (status = fx_mjcf_tendons(r))) ||
      (status = fx_mjcf_keys_read(r)) || (!r->reduced && (status = fx_mjcf_actuators(r))) ||
      (status = fx_mjcf_links(r)) || (status = fx_mjcf_build(r)))
    return status;
  return fx_mjcf_keys_finish(r);
}

frix_status fx_mjcf_finish_reader(fx_mjcf_reader *r) {
  frix_mjcf *out = r->out;
  const char *name = fx_xml_value(r->source->root, "model");
  frix_mjcf_note *note = FX_TAKE(&out->arena, frix_mjcf_note, r->note_count);
  frix_mjcf_key *key = FX_TAKE(&out->arena, frix_mjcf_key, r->key_count);
  out->info.name = fx_mjcf_keep(r, name ? name : "");
  if (!note || !key || !out->info.name) return FRIX_ERROR_MEMORY;
  int32_t at = 0;
  for (int kind = FRIX_MJCF_UNSUPPORTED; kind <= FRIX_MJCF_LOOKS; kind++)
    for (int32_t k = 0; k < r->note_count; k++)
      if (r->note[k].kind == (frix_mjcf_note_kind)kind) note[at++] = r->note[k];
  for (int32_t k = 0; k < r->key_count; k++) key[k] = r->key[k];
  out->info.note = note, out->info.note_count = r->note_count;
  out->info.key = key, out->info.key_count = r->key_count;
  return FRIX_OK;
}

void fx_mjcf_close_reader(fx_mjcf_reader *r) {
  frix_context *context = r->context;
  void *list[] = {(void *)r->file, (void *)r->asset, r->instance, r->body, r->geom,    r->joint, r->site,     r->camera,
                  r->flex,         r->tendon,        r->material, r->note, r->numbers, r->key,   r->coat_pair};
  for (int k = 0; k < FX_NAMED_KINDS; k++) fx_free(context, r->names[k].name);
  for (size_t k = 0; k < sizeof list / sizeof *list; k++) fx_free(context, list[k]);
  frix_builder_destroy(r->builder);
  fx_arena_free(&r->arena);
}

frix_status fx_mjcf_open_reader(fx_mjcf_reader *r, const frix_mjcf_config *config) {
  frix_context *context = r->context;
  r->config = config ? *config : frix_mjcf_default();
  fx_arena_init(&r->arena, context);
  if (r->config.size != sizeof r->config)
    return fx_fail(context, FRIX_ERROR_INPUT, "frix_mjcf_read: start from frix_mjcf_default()");
  if (!(r->config.friction >= 0.0 && r->config.friction <= 1e6))
    return fx_fail(context, FRIX_ERROR_INPUT, "frix_mjcf_read: a factor of %g on friction", r->config.friction);
  r->out = FX_NEW(context, frix_mjcf, 1);
  if (!r->out) return FRIX_ERROR_MEMORY;
  r->out->context = context;
  fx_arena_init(&r->out->arena, context);
  return FRIX_OK;
}

frix_status fx_mjcf_read_model(fx_mjcf_reader *r, const char *name, const void *bytes, size_t count,
                               const frix_mjcf_config *config, frix_mjcf **out) {
  frix_status status = fx_mjcf_open_reader(r, config);
  if (!status) status = run(r, name, bytes ? bytes : "", count);
  if (!status && r->reduced) status = fx_mjcf_attach_robot(r);
  if (!status) status = fx_mjcf_finish_reader(r);
  fx_mjcf_close_reader(r);
  if (status) {
    frix_mjcf_destroy(r->out);
    return status;
  }
  *out = r->out;
  return FRIX_OK;
}

frix_status frix_mjcf_read_memory(frix_context *context, const char *name, const void *bytes, size_t count,
                                  const frix_mjcf_config *config, frix_mjcf **out) {
  if (!context || !name || (!bytes && count) || !out) return FRIX_ERROR_INPUT;
  FX_WHOLE(frix_mjcf_config, config, frix_mjcf_default());
  *out = NULL;
  frix_mjcf_config used = config ? *config : frix_mjcf_default();
  if (used.size == sizeof used && (used.coordinates == FRIX_COORDINATES_REDUCED || fx_is_urdf(name)))
    return fx_mjcf_read_reduced(context, name, bytes, count, &used, out);
  fx_mjcf_reader r = {.context = context};
  return fx_mjcf_read_model(&r, name, bytes, count, &used, out);
}

frix_status frix_mjcf_read(frix_context *context, const char *path, const frix_mjcf_config *config, frix_mjcf **out) {
  if (!context || !path || !out) return FRIX_ERROR_INPUT;
  FX_WHOLE(frix_mjcf_config, config, frix_mjcf_default());
  *out = NULL;
  char *bytes = NULL;
  size_t count = 0;
  frix_mjcf_config used = config ? *config : frix_mjcf_default();
  frix_status status = fx_file_read(context, path, used.max_bytes, &bytes, &count);
  if (status) return status;
  status = frix_mjcf_read_memory(context, path, bytes, count, &used, out);
  fx_free(context, bytes);
  return status;
}

void frix_mjcf_destroy(frix_mjcf *scene) {
  if (!scene) return;
  frix_model_destroy(scene->model);
  fx_arena_free(&scene->arena);
  fx_free(scene->context, scene);
}

frix_mjcf_info frix_mjcf_view(const frix_mjcf *scene) {
  frix_mjcf_info info = {0};
  if (!scene) return info;
  info = scene->info;
  info.model = scene->model;
  return info;
}

frix_model *frix_mjcf_take_model(frix_mjcf *scene) {
  if (!scene) return NULL;
  frix_model *model = scene->model;
  scene->model = NULL;
  return model;
}
