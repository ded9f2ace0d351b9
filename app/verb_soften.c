/* frix soften: a soft body of few coordinates from a mesh, a closed surface or a generated shape. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "soft_report.h"

bool fx_arg_vec(const fx_args *args, const char *name, frix_vec3 *out) {
  const char *text = fx_arg(args, name), *at = text;
  double v[3];
  if (!text) return true;
  for (int k = 0; k < 3; k++) {
    char *end;
    v[k] = strtod(at, &end);
    bool last = k == 2;
    if (end == at || !isfinite(v[k]) || (last ? *end != 0 : *end != ',')) {
      fx_error("%s: expected three numbers X,Y,Z, not '%s'", name, text);
      return false;
    }
    at = end + 1;
  }
  *out = (frix_vec3){v[0], v[1], v[2]};
  return true;
}

static bool show(const char *stage, double share, void *user) {
  (void)user;
  fx_progress("%s %3.0f %%", stage, 100 * share);
  return fx_interrupted(NULL);
}

static bool settings(const fx_args *args, frix_soft_config *c) {
  int64_t modes = c->modes, derivatives = c->derivatives, order = c->order, cells = c->cells, waves = 0;
  bool fine =
      fx_arg_integer(args, "--modes", 0, 100, &modes) && fx_arg_integer(args, "--derivatives", 0, 119, &derivatives) &&
      fx_arg_integer(args, "--order", 1, 2, &order) && fx_arg_integer(args, "--cells", 1, 1000, &cells) &&
      fx_arg_real(args, "--young", 1e-3, 1e15, &c->young) &&
      fx_arg_real(args, "--poisson", -0.999, 0.4999, &c->poisson) &&
      fx_arg_real(args, "--density", 1e-6, 1e9, &c->density) &&
      fx_arg_real(args, "--damping-mass", 0, 1e9, &c->damping_mass) &&
      fx_arg_real(args, "--damping-stiffness", 0, 1e9, &c->damping_stiffness) &&
      fx_arg_real(args, "--damping-ratio", 0, 100, &c->damping_ratio) && fx_arg_vec(args, "--size", &c->sides) &&
      fx_arg_vec(args, "--hold-low", &c->hold_low) && fx_arg_vec(args, "--hold-high", &c->hold_high) &&
      fx_arg_integer(args, "--waves", 0, 1000, &waves) && fx_arg_real(args, "--wave", -1e6, 1e6, &c->wave);
  c->modes = (int32_t)modes, c->derivatives = (int32_t)derivatives, c->order = (int32_t)order,
  c->cells = (int32_t)cells, c->waves = (int32_t)waves;
  c->strains = fx_arg(args, "--strains") != NULL;
  c->material = fx_arg_choice(args, "--material", 0) ? FRIX_SOFT_STVK : FRIX_SOFT_LINEAR;
  return fine;
}

static int run_soften(const fx_args *args) {
  frix_soft_config config = frix_soft_default();
  const char *out = fx_arg(args, "--out");
  if (!settings(args, &config)) return FX_EXIT_USAGE;
  frix_context *context = fx_context(false);
  frix_soft *soft = NULL;
  int code = FX_EXIT_USAGE;
  fx_catch_interrupt();
  config.progress = show;
  if (fx_check_output(context, out)) {
    frix_status status = frix_soft_make(context, args->word[0], &config, &soft);
    fx_progress_clear();
    if (!status && out) status = frix_soft_write(soft, out);
    if (status)
      fx_error("%s", frix_error_text(context));
    else
      code = FX_EXIT_SOLVED;
    if (!status) fx_print_soft(out ? out : args->word[0], soft, fx_arg(args, "--json"));
  }
  frix_soft_destroy(soft);
  frix_context_destroy(context);
  return code;
}

static const fx_flag flags[] = {
    {"--out", "BODY.frixsoft", NULL, "file to write"},
    {"--modes", "K", NULL, "number of vibration modes (12); 0: a rigid body"},
    {"--material", "NAME", "linear|stvk", "linear, or stvk: St.Venant-Kirchhoff with modal derivatives"},
    {"--derivatives", "D", NULL, "number of modal derivatives (with stvk: as many as modes)"},
    {"--young", "E", NULL, "Young's modulus in Pa (1e6)"},
    {"--poisson", "NU", NULL, "Poisson's ratio (0.3)"},
    {"--density", "RHO", NULL, "density in kg/m^3 (1000)"},
    {"--damping-mass", "A", NULL, "Rayleigh damping A M, in 1/s (0)"},
    {"--damping-stiffness", "B", NULL, "Rayleigh damping B K, in s (0)"},
    {"--damping-ratio", "Z", NULL, "damping of every mode as a fraction of critical damping (0)"},
    {"--order", "N", NULL, "order of the tetrahedra: 1 linear, 2 quadratic (2)"},
    {"--size", "X,Y,Z", NULL, "side lengths of a generated shape in m"},
    {"--cells", "N", NULL, "cells across the thinnest side; for a surface or blob along the longest"},
    {"--strains", NULL, NULL, "add six uniform strains to the basis, for flat faces in contact"},
    {"--hold-low", "X,Y,Z", NULL, "low corner of a box of the mesh at which the body will be held"},
    {"--hold-high", "X,Y,Z", NULL, "high corner of that box; adds six shapes to the basis"},
    {"--waves", "N", NULL, "generated shapes: bend by N half waves along x"},
    {"--wave", "H", NULL, "generated shapes: height of the waves along z in m"},
    {"--json", NULL, NULL, "print one JSON object"},
    {0}};

const fx_verb fx_verb_soften = {
    .name = "soften",
    .arguments = "MESH",
    .summary = "make a soft body with few coordinates from a mesh",
    .detail =
        "MESH is a tetrahedral mesh (.msh of Gmsh 2.2 or 4.1 in ASCII, .vtk legacy, .node with .ele), a closed surface "
        "(.obj,\n"
        ".stl), which is filled with tetrahedra, or the name of a generated shape: bar, plate, strand, chair, blob. "
        "Open,\n"
        "inverted, self-intersecting and disconnected meshes are rejected (docs/soft.md).",
    .example =
        "  frix soften bar --modes 6 --young 2e9 --out bar.frixsoft\n"
        "  frix soften chair.msh --modes 20 --material stvk --out chair.frixsoft\n"
        "  frix soften bunny.stl --cells 20 --json",
    .flag = flags,
    .min_words = 1,
    .max_words = 1,
    .run = run_soften,
};
