/* frix scene: write a scene as MJCF. */
#include "scene_file.h"

#include <stdlib.h>
#include <string.h>

#include "subject.h"

static bool write_model(frix_context *context, const frix_model *model, const char *name, double step,
                        const char *out) {
  frix_mjcf_write_config config = frix_mjcf_write_default();
  config.name = name && name[0] ? name : NULL;
  config.timestep = step;
  int32_t joints = frix_model_count(model).joint_count;
  if (frix_mjcf_write(context, model, out, &config) == FRIX_OK) {
    if (joints) fx_warning("%s: its %d joints are not written: bodies are free there", out, (int)joints);
    return true;
  }
  fx_error("%s", frix_error_text(context));
  return false;
}

/* Of the table, with its parameters. */
static bool write_named(frix_context *context, const fx_args *args, const char *out) {
  fx_subject subject;
  bool good = fx_subject_read(args, args->word[0], &subject) && fx_subject_build(&subject, context) &&
              write_model(context, subject.model, subject.word, subject.step, out);
  fx_subject_free(&subject);
  return good;
}

static bool write_file(frix_context *context, const fx_args *args, const char *out) {
  frix_mjcf *scene = fx_read_scene(context, args->word[0], args, 1);
  frix_mjcf_info info = frix_mjcf_view(scene);
  if (scene) fx_print_notes(&info, true);
  bool good = scene && write_model(context, info.model, info.name, info.timestep, out);
  frix_mjcf_destroy(scene);
  return good;
}

static int run_scene(const fx_args *args) {
  const char *out = fx_arg(args, "--out");
  if (!out) {
    fx_error("scene needs --out FILE.xml");
    return FX_EXIT_USAGE;
  }
  frix_context *context = fx_context(false);
  bool file = fx_is_scene_file(args->word[0]);
  bool good =
      fx_check_output(context, out) && (file ? write_file(context, args, out) : write_named(context, args, out));
  frix_context_destroy(context);
  return good ? FX_EXIT_SOLVED : FX_EXIT_USAGE;
}

static const fx_flag flags[] = {
    {"--out", "FILE", NULL, "file to write (.xml)"},
    {"--set", "k=v", NULL, "set a parameter of the scene (levels=4); may be repeated"},
    {"--seed", "N", NULL, "seed of the random parts of the scene; if not 0, exact worlds are perturbed slightly"},
    {"--key", "NAME", NULL, "files: start at this keyframe"},
    {"--strict", NULL, NULL, "files: treat unsupported features as errors"},
    {"--allow-outside", NULL, NULL, "files: allow meshes and includes outside the scene's folder"},
    {0},
};

const fx_verb fx_verb_scene = {
    .name = "scene",
    .arguments = "SCENE|FILE --out FILE.xml",
    .summary = "write a scene as MJCF that other tools load",
    .detail =
        "Writes one self-contained file: replicas unrolled, includes and meshes inlined, masses and inertias in full. "
        "A\n"
        "comment at its head names what MJCF cannot represent. 'frix list scenes' lists the scenes.",
    .example =
        "  frix scene cardhouse --set levels=4 --out cardhouse.xml\n"
        "  frix scene bunnies.xml --out flat.xml",
    .flag = flags,
    .words = "@scenes",
    .min_words = 1,
    .max_words = 1,
    .run = run_scene,
};
