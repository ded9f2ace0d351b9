/* frix convert: a problem from one file format to another, and robots from URDF to MJCF. */
#include "app.h"

#include <string.h>

#include "robot_print.h"

/* A URDF file as MJCF. */
static int convert_robot(const fx_args *args) {
  frix_context *context = fx_context(false);
  frix_mjcf_config config = frix_mjcf_default();
  const char *package[64];
  config.allow_outside = fx_arg(args, "--allow-outside") != NULL;
  config.package = package, config.package_count = fx_packages(args, package, 64);
  bool good = fx_check_output(context, args->word[1]);
  if (good && frix_urdf_convert(context, args->word[0], &config, args->word[1])) {
    fx_error("%s", frix_error_text(context));
    good = false;
  }
  frix_context_destroy(context);
  return good ? FX_EXIT_SOLVED : FX_EXIT_USAGE;
}

static int run_convert(const fx_args *args) {
  size_t length = strlen(args->word[0]);
  if (length > 5 && !strcmp(args->word[0] + length - 5, ".urdf")) return convert_robot(args);
  const char *from = args->word[0], *to = args->word[1], *format = fx_arg(args, "--format");
  if (format && fx_choose("@formats", "format", format) < 0) return FX_EXIT_USAGE;
  frix_context *context = fx_context(false);
  frix_problem *problem = fx_check_output(context, to) ? fx_read_problem(context, from, fx_arg(args, "--text")) : NULL;
  bool good = problem != NULL;
  int form = fx_arg_choice(args, "--form", -1);
  frix_problem_data data = frix_problem_data_default();
  if (good) frix_problem_view(problem, &data);
  if (good && form == 1 && data.form == FRIX_FORM_LOCAL) {
    fx_error("%s: a local problem has no M and H, so it has no global form", from);
    good = false;
  }
  if (good && form == 0 && data.form == FRIX_FORM_GLOBAL) {
    frix_problem *reduced = NULL;
    good = frix_problem_reduce(problem, &reduced) == FRIX_OK;
    if (!good) fx_error("%s: %s", from, frix_error_text(context));
    frix_problem_destroy(problem);
    problem = reduced;
  }
  if (good && frix_problem_write(problem, to, format) != FRIX_OK) {
    fx_error("%s", frix_error_text(context));
    good = false;
  }
  frix_problem_destroy(problem);
  frix_context_destroy(context);
  return good ? FX_EXIT_SOLVED : FX_EXIT_USAGE;
}

static const fx_flag flags[] = {
    {"--form", "FORM", "local|global", "local: reduce a global problem to W, q"},
    {"--format", "NAME", "@formats", "format of B; default: by its extension"},
    {"--text", "KIND", "local|global|lcp|mlcp", "kind of problem in a .dat file, if the file does not say"},
    {"--package", "NAME=DIR", NULL, "folder of package://NAME of a URDF file; may be repeated"},
    {"--allow-outside", NULL, NULL, "allow meshes of a URDF file outside its folder and packages"},
    {0},
};

const fx_verb fx_verb_convert = {
    .name = "convert",
    .arguments = "A B",
    .summary = "write problem A in the format of B",
    .detail =
        "The extension chooses the format: .dat (text), .hdf5 or .h5 (fclib), .json. Every number is kept exactly. B "
        "is\n"
        "written completely or not at all. A robot in URDF (.urdf) is written as MJCF.",
    .example =
        "  frix convert wall.dat wall.hdf5\n"
        "  frix convert wall.hdf5 wall.json --form local\n"
        "  frix convert robot.urdf robot.xml --package arm_description=../arm",
    .flag = flags,
    .min_words = 2,
    .max_words = 2,
    .run = run_convert,
};
