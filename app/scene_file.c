/* Scenes from MJCF files: reading, and saying what was left out. */
#include <string.h>

#include "missing.h"
#include "scene_file.h"

bool fx_is_scene_file(const char *path) {
  static const char *const ending[] = {".xml", ".XML", ".urdf", ".URDF"};
  size_t length = strlen(path);
  for (size_t k = 0; k < sizeof ending / sizeof *ending; k++) {
    size_t size = strlen(ending[k]);
    if (length > size && !strcmp(path + length - size, ending[k])) return true;
  }
  return false;
}

static bool has_flag(const fx_verb *verb, const char *name) {
  for (const fx_flag *flag = verb->flag; flag->name; flag++)
    if (!strcmp(flag->name, name)) return true;
  return false;
}

frix_mjcf *fx_read_scene(frix_context *context, const char *path, const fx_args *args, double friction) {
  frix_mjcf_config config = frix_mjcf_default();
  config.friction = friction;
  config.strict = has_flag(args->verb, "--strict") && fx_arg(args, "--strict");
  config.allow_outside = has_flag(args->verb, "--allow-outside") && fx_arg(args, "--allow-outside");
  config.key = has_flag(args->verb, "--key") ? fx_arg(args, "--key") : NULL;
  /* equilibria are found for bodies */
  static const char *const maximal[] = {"check", "limit"};
  int absent = !has_flag(args->verb, "--coordinates");
  for (size_t k = 0; k < sizeof maximal / sizeof *maximal; k++) absent |= !strcmp(args->verb->name, maximal[k]);
  int coordinates = has_flag(args->verb, "--coordinates") ? fx_arg_choice(args, "--coordinates", absent) : 1;
  if (coordinates < 0) return NULL;
  config.coordinates = coordinates == 0 ? FRIX_COORDINATES_REDUCED : FRIX_COORDINATES_MAXIMAL;
  frix_mjcf *scene = NULL;
  int64_t modes = 0;
  if (has_flag(args->verb, "--soft-modes") && !fx_arg_integer(args, "--soft-modes", 0, 1000, &modes)) return NULL;
  config.soft_modes = (int32_t)modes;
  if (frix_mjcf_read(context, path, &config, &scene)) {
    fx_error("%s", frix_error_text(context));
  } else if (frix_mjcf_view(scene).soft_count) {
    int count = (int)frix_mjcf_view(scene).soft_count;
    fx_remark(
        "%d soft bod%s of %d modes and six strains stand%s for flexcomp: what these cannot bend is rigid, "
        "contacts act at the surface without a radius, and a body does not meet itself",
        count, count == 1 ? "y" : "ies", (int)modes, count == 1 ? "s" : "");
  }
  return scene;
}

static int count_kind(const frix_mjcf_info *info, frix_mjcf_note_kind kind) {
  int count = 0;
  for (int32_t k = 0; k < info->note_count; k++) count += info->note[k].kind == kind;
  return count;
}

/* "geom solref, geom solimp, ..." */
static void list_names(const frix_mjcf_info *info, frix_mjcf_note_kind kind, char *out, size_t size) {
  out[0] = 0;
  for (int32_t k = 0; k < info->note_count; k++) {
    if (info->note[k].kind != kind) continue;
    size_t at = strlen(out);
    snprintf(out + at, size - at, "%s%s", at ? ", " : "", info->note[k].name);
  }
}

void fx_print_notes(const frix_mjcf_info *info, bool quiet) {
  char names[512];
  for (int32_t k = 0; k < info->note_count; k++) {
    const frix_mjcf_note *n = &info->note[k];
    if (n->kind == FRIX_MJCF_UNSUPPORTED)
      fx_warning("%s:%d: %s (%d): %s", n->file, (int)n->line, n->name, (int)n->count, n->text);
  }
  if (quiet || !count_kind(info, FRIX_MJCF_NOT_NEEDED)) return;
  list_names(info, FRIX_MJCF_NOT_NEEDED, names, sizeof names);
  fx_remark("not needed, frix solves contacts and limits exactly: %s", names);
}

void fx_put_notes(fx_json *json, const frix_mjcf_info *info) {
  fx_missing missing = fx_missing_of(info, false);
  fx_missing_put(json, &missing);
  fx_missing_free(&missing);
  fx_put_open(json, "looks", '[');
  for (int32_t k = 0; k < info->note_count; k++)
    if (info->note[k].kind == FRIX_MJCF_LOOKS) fx_put_text(json, NULL, info->note[k].name);
  fx_put_close(json, ']');
}
