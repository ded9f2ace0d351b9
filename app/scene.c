/* frix scene: write a scene as MJCF. */
#include <stdlib.h>
#include <string.h>

#include "scene.h"

/* The model with its step, where it comes from a file. */
static int write_scene(const fx_args *args, const char *path, const char *out) {
  frix_context *context = fx_context(false);
  frix_mjcf *scene = fx_read_scene(context, path, args);
  int code = FX_EXIT_USAGE;
  if (scene) {
    frix_mjcf_info info = frix_mjcf_view(scene);
    frix_mjcf_write_config config = frix_mjcf_write_default();
    config.name = info.name[0] ? info.name : NULL;
    config.timestep = info.timestep;
    fx_print_notes(&info, true);
    code = frix_mjcf_write(context, info.model, out, &config) ? FX_EXIT_USAGE : FX_EXIT_SOLVED;
    if (code) fx_error("%s", frix_error_text(context));
  }
  frix_mjcf_destroy(scene);
  frix_context_destroy(context);
  return code;
}

static int run_scene(const fx_args *args) {
  const char *out = fx_arg(args, "--out");
  if (!out) {
    fx_error("scene needs --out FILE.xml");
    return FX_EXIT_USAGE;
  }
  return fx_check_writable(out) ? write_scene(args, args->word[0], out) : FX_EXIT_USAGE;
}

static const fx_flag flags[] = {
    {"--out", "FILE", NULL, "where to write (.xml)"},
    {"--key", "NAME", NULL, "bodies start as in this keyframe"},
    {"--strict", NULL, NULL, "what frix does not do is an error"},
    {"--allow-outside", NULL, NULL, "meshes and includes may lie outside the scene's folder"},
    {0},
};

const fx_verb fx_verb_scene = {
    .name = "scene",
    .arguments = "FILE --out FILE.xml",
    .summary = "write a scene as MJCF that other tools load",
    .detail =
        "One file that needs no other: replicas unrolled, includes and meshes inlined, masses and inertias in full.\n"
        "What MJCF cannot hold is named in a comment at its head.",
    .example = "  frix scene bunnies.xml --out flat.xml",
    .flag = flags,
    .min_words = 1,
    .max_words = 1,
    .run = run_scene,
};
