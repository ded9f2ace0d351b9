/* frix info: what a file of a problem or a scene holds. */
#include "scene_file.h"
#include "soft_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What is worth knowing before solving. */
typedef struct summary {
  frix_problem_data data;
  int32_t islands;
  int32_t cone_count[FRIX_CONE_COUNT];
  double min_mu, max_mu;
  double asymmetry; /* largest |A - A'| / largest |A|, of W or M */
} summary;

static double entry(const frix_matrix *A, int32_t row, int32_t col) {
  int32_t low = A->p[col], high = A->p[col + 1];
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    if (A->i[middle] < row) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < A->p[col + 1] && A->i[low] == row ? A->x[low] : 0;
}

static double asymmetry(const frix_matrix *A) {
  double gap = 0, largest = 0;
  if (A->format != FRIX_MATRIX_CSC) return 0;
  for (int32_t col = 0; col < A->col_count; col++) {
    for (int32_t k = A->p[col]; k < A->p[col + 1]; k++) {
      gap = fmax(gap, fabs(A->x[k] - entry(A, col, A->i[k])));
      largest = fmax(largest, fabs(A->x[k]));
    }
  }
  return largest > 0 ? gap / largest : 0;
}

static bool summarise(frix_context *context, const char *path, const frix_problem *problem, summary *out) {
  memset(out, 0, sizeof *out);
  out->data = frix_problem_data_default();
  frix_problem_view(problem, &out->data);
  if (frix_problem_island_count(problem, &out->islands) != FRIX_OK) {
    fx_error("%s: %s", path, frix_error_text(context));
    return false;
  }
  out->min_mu = HUGE_VAL;
  for (int32_t k = 0; k < out->data.contact_count; k++) {
    const frix_contact *c = &out->data.contact[k];
    out->cone_count[c->cone]++;
    if (c->cone == FRIX_CONE_LIMIT || c->cone == FRIX_CONE_BILATERAL || c->cone == FRIX_CONE_FRICTIONLESS) continue;
    out->min_mu = fmin(out->min_mu, c->mu);
    out->max_mu = fmax(out->max_mu, c->mu);
  }
  if (!isfinite(out->min_mu)) out->min_mu = 0;
  out->asymmetry = asymmetry(out->data.form == FRIX_FORM_LOCAL ? &out->data.W : &out->data.M);
  return true;
}

static void print_matrix(const char *name, const frix_matrix *A) {
  if (A->format == FRIX_MATRIX_NONE) return;
  printf("  %-10s %d x %d, %lld entries\n", name, (int)A->row_count, (int)A->col_count, (long long)A->nonzero_count);
}

static void print_text(const char *path, const summary *s) {
  const frix_problem_data *d = &s->data;
  bool local = d->form == FRIX_FORM_LOCAL;
  printf("%s%s%s\n", fx_colour_on(FX_BOLD), path, fx_colour_off());
  if (d->title && d->title[0]) printf("  title      %s\n", d->title);
  printf("  form       %s\n", local ? "local (u = W r + q)" : "global (M v = H r + G lambda + f, u = H' v + w)");
  printf("  contacts   %d in %d rows:", (int)d->contact_count, (int)d->row_count);
  for (int c = 0; c < FRIX_CONE_COUNT; c++)
    if (s->cone_count[c]) printf(" %d %s", (int)s->cone_count[c], frix_cone_table(c)->name);
  printf("\n  friction   %g to %g\n", s->min_mu, s->max_mu);
  printf("  dof        %d\n", (int)d->dof_count);
  if (d->joint_count) printf("  joints     %d rows\n", (int)d->joint_count);
  printf("  islands    %d\n", (int)s->islands);
  print_matrix("W", &d->W);
  print_matrix("M", &d->M);
  print_matrix("H", &d->H);
  print_matrix("G", &d->G);
  printf("  asymmetry  %.2g of the largest entry of %s\n", s->asymmetry, local ? "W" : "M");
  if (d->R) printf("  compliance yes%s\n", d->r_c ? ", with remembered impulses" : "");
  if (d->guess) printf("  guess      yes\n");
}

static void print_json(const char *path, const summary *s) {
  const frix_problem_data *d = &s->data;
  fx_json json = {stdout, false};
  fx_put_open(&json, NULL, '{');
  fx_put_text(&json, "file", path);
  if (d->title) fx_put_text(&json, "title", d->title);
  fx_put_text(&json, "form", d->form == FRIX_FORM_LOCAL ? "local" : "global");
  fx_put_integer(&json, "contacts", d->contact_count);
  fx_put_integer(&json, "rows", d->row_count);
  fx_put_integer(&json, "dof", d->dof_count);
  fx_put_integer(&json, "joints", d->joint_count);
  fx_put_integer(&json, "islands", s->islands);
  fx_put_open(&json, "cones", '{');
  for (int c = 0; c < FRIX_CONE_COUNT; c++)
    if (s->cone_count[c]) fx_put_integer(&json, frix_cone_table(c)->name, s->cone_count[c]);
  fx_put_close(&json, '}');
  fx_put_open(&json, "mu", '[');
  fx_put_real(&json, NULL, s->min_mu);
  fx_put_real(&json, NULL, s->max_mu);
  fx_put_close(&json, ']');
  fx_put_real(&json, "asymmetry", s->asymmetry);
  fx_put_boolean(&json, "compliance", d->R != NULL);
  fx_put_boolean(&json, "guess", d->guess != NULL);
  fx_put_close(&json, '}');
  fx_put_end_line(&json);
}

/* Whether the file begins so. Others than regular files are left to the reader, who refuses them. */
static bool begins(const char *path, const char *text) {
  char head[16] = "";
  struct stat status;
  bool regular = stat(path, &status) == 0 && S_ISREG(status.st_mode);
  FILE *file = regular ? fopen(path, "rb") : NULL;
  size_t count = file ? fread(head, 1, sizeof head - 1, file) : 0;
  if (file) fclose(file);
  return count >= strlen(text) && !strncmp(head, text, strlen(text));
}

static int run_info(const fx_args *args) {
  frix_context *context = fx_context(false);
  int code = FX_EXIT_SOLVED;
  for (int k = 0; k < args->word_count; k++) {
    if (begins(args->word[k], "frix-trajectory") || begins(args->word[k], "frix parts")) {
      int found = fx_info_run(context, args->word[k], fx_arg(args, "--json"));
      if (found > code) code = found;
      continue;
    }
    if (begins(args->word[k], "frix-soft-body")) {
      if (!fx_info_soft(context, args->word[k], fx_arg(args, "--json"))) code = FX_EXIT_USAGE;
      continue;
    }
    if (fx_is_scene_file(args->word[k]) || begins(args->word[k], "<")) {
      if (!fx_info_scene(context, args->word[k], args)) code = FX_EXIT_USAGE;
      continue;
    }
    summary s;
    frix_problem *problem = fx_read_problem(context, args->word[k], fx_arg(args, "--text"));
    if (!problem || !summarise(context, args->word[k], problem, &s)) {
      code = FX_EXIT_USAGE;
    } else if (fx_arg(args, "--json")) {
      print_json(args->word[k], &s);
    } else {
      print_text(args->word[k], &s);
    }
    frix_problem_destroy(problem);
  }
  frix_context_destroy(context);
  return code;
}

static const fx_flag flags[] = {
    {"--json", NULL, NULL, "print one JSON object per file, one per line"},
    {"--text", "KIND", "local|global|lcp|mlcp", "kind of problem in a .dat file, if the file does not say"},
    {"--strict", NULL, NULL, "scenes: treat unsupported features as errors"},
    {"--key", "NAME", NULL, "scenes: show bodies at this keyframe"},
    {"--coordinates", "KIND", "reduced|maximal", "scenes: coordinates of joints, as in frix run; default reduced"},
    {"--soft-modes", "K", NULL, "scenes: read flexcomp of dimension 3 as soft bodies with K modes, as in frix run"},
    {"--allow-outside", NULL, NULL, "scenes: allow meshes and includes outside the scene's folder"},
    {0},
};

const fx_verb fx_verb_info = {
    .name = "info",
    .arguments = "FILE...",
    .summary = "show the contents of a problem, scene, run or soft body file",
    .detail =
        "Problems: form, contacts and cones, degrees of freedom, islands, sizes of the matrices, friction, and the "
        "asymmetry\n"
        "of W (or M). Scenes (MJCF, .xml): bodies, shapes, masses, keyframes, and every unsupported name with file and "
        "line;\n"
        "--json adds poses and inertias. Runs (.frx): frames. Soft bodies (.frixsoft): material, mesh, mass, "
        "frequencies.",
    .example =
        "  frix info wall.hdf5\n"
        "  frix info *.dat --json\n"
        "  frix info humanoid.xml",
    .flag = flags,
    .min_words = 1,
    .max_words = 1 << 30,
    .run = run_info,
};
