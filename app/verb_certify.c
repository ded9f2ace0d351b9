/* frix certify: judge an answer that came from anywhere. */
#include "app.h"

#include <stdlib.h>
#include <string.h>

static void print_json(const char *path, frix_law law, double tolerance, const frix_certificate *c, bool solved,
                       const char *approximation) {
  fx_json json = {stdout, false};
  fx_put_open(&json, NULL, '{');
  fx_put_text(&json, "file", path);
  fx_put_text(&json, "law", frix_law_name(law));
  fx_put_boolean(&json, "approximate", approximation[0] != 0);
  if (approximation[0]) fx_put_text(&json, "approximation", approximation);
  fx_put_real(&json, "tolerance", tolerance);
  fx_put_boolean(&json, "solved", solved);
  fx_put_real(&json, "residual", c->residual);
  fx_put_certificate(&json, "certificate", c);
  fx_put_close(&json, '}');
  fx_put_end_line(&json);
}

/* The joint impulses that go with r: the same problem without contacts, their impulses moved into the forces,
 *   M v = G lambda + (f + H r),  G' v + b = 0.
 * An answer thus needs its r alone; how well lambda was found shows in the certificate. False after a message. */
static bool joint_impulses(frix_context *context, const frix_problem_data *data, const double *r, double *lambda) {
  frix_problem_data joints = *data;
  static const int32_t no_columns[1] = {0}, no_rows[1] = {0};
  static const double no_entries[1] = {0}, no_velocities[1] = {0};
  double *f = fx_grow(NULL, (size_t)data->dof_count, sizeof *f);
  memcpy(f, data->f, (size_t)data->dof_count * sizeof *f);
  for (int32_t col = 0; col < data->H.col_count; col++)
    for (int32_t k = data->H.p[col]; k < data->H.p[col + 1]; k++) f[data->H.i[k]] += data->H.x[k] * r[col];
  joints.contact_count = joints.row_count = 0;
  joints.contact = NULL;
  joints.H = (frix_matrix){FRIX_MATRIX_CSC, data->dof_count, 0, 0, no_columns, no_rows, no_entries};
  joints.f = f;
  joints.w = no_velocities;
  joints.R = joints.r_c = joints.guess = NULL;
  frix_problem *problem = NULL;
  frix_solution *solution = NULL;
  frix_solve_config config = frix_solve_default();
  config.tolerance = 1e-14;
  config.time_limit = 60;
  bool good = frix_problem_create(context, &joints, &problem) == FRIX_OK &&
              frix_solve(context, problem, &config, &solution) == FRIX_OK;
  if (good) {
    frix_result result = {.size = sizeof result};
    frix_solution_view(solution, &result);
    memcpy(lambda, result.lambda, (size_t)data->joint_count * sizeof *lambda);
  } else {
    fx_error("%s", frix_error_text(context));
  }
  frix_solution_destroy(solution);
  frix_problem_destroy(problem);
  free(f);
  return good;
}

static int judge(frix_context *context, const fx_args *args, const char *solution, double tolerance) {
  frix_problem *problem = fx_read_problem(context, args->word[0], fx_arg(args, "--text"));
  if (!problem) return FX_EXIT_USAGE;
  int code = FX_EXIT_USAGE;
  frix_law law = fx_arg_choice(args, "--law", 0) == 1 ? FRIX_LAW_ASSOCIATED : FRIX_LAW_COULOMB;
  frix_problem_data data = frix_problem_data_default();
  frix_problem_view(problem, &data);
  double *r = fx_grow(NULL, (size_t)data.row_count, sizeof *r);
  double *lambda = fx_grow(NULL, (size_t)data.joint_count, sizeof *lambda);
  frix_certificate c;
  if (frix_guess_read(context, problem, solution, r) != FRIX_OK) {
    fx_error("%s", frix_error_text(context));
  } else if (data.joint_count && !joint_impulses(context, &data, r, lambda)) {
    code = FX_EXIT_USAGE;
  } else if (frix_certify(context, problem, law, r, data.joint_count ? lambda : NULL, &c, NULL, NULL) != FRIX_OK) {
    fx_error("%s", frix_error_text(context));
  } else {
    bool solved = c.residual <= tolerance;
    char approximation[128];
    fx_approximation(problem, NULL, law, approximation, sizeof approximation);
    code = solved ? FX_EXIT_SOLVED : FX_EXIT_UNSOLVED;
    if (fx_arg(args, "--json")) {
      print_json(args->word[0], law, tolerance, &c, solved, approximation);
    } else {
      fx_print_certificate(&c);
      if (approximation[0])
        printf("%sapproximate:%s judged by %s\n", fx_colour_on(FX_YELLOW), fx_colour_off(), approximation);
      printf("%s%s%s to %g\n", fx_colour_on(solved ? FX_GREEN : FX_RED), solved ? "solved" : "not solved",
             fx_colour_off(), tolerance);
    }
  }
  free(lambda);
  free(r);
  frix_problem_destroy(problem);
  return code;
}

static int run_certify(const fx_args *args) {
  const char *solution = fx_arg(args, "--solution");
  double tolerance = frix_solve_default().tolerance;
  if (!solution) {
    fx_error("certify needs --solution FILE (.json or .hdf5 with r)");
    return FX_EXIT_USAGE;
  }
  if (!fx_arg_real(args, "--tol", 0, 1, &tolerance)) return FX_EXIT_USAGE;
  frix_context *context = fx_context(false);
  int code = judge(context, args, solution, tolerance);
  frix_context_destroy(context);
  return code;
}

static const fx_flag flags[] = {
    {"--solution", "FILE", NULL, "file with the answer: .json with r, or fclib with a solution"},
    {"--law", "LAW", "coulomb|associated", "law to judge by; default coulomb"},
    {"--tol", "X", NULL, "largest residual that counts as solved; default 1e-8"},
    {"--json", NULL, NULL, "print one JSON object"},
    {"--text", "KIND", "local|global|lcp|mlcp", "kind of problem in a .dat file, if the file does not say"},
    {0},
};

const fx_verb fx_verb_certify = {
    .name = "certify",
    .arguments = "FILE --solution ANSWER",
    .summary = "compute the certificate of an answer",
    .detail =
        "Reads r from ANSWER, recomputes u (and v) from the problem and prints every part of the certificate. Exit "
        "code 0\n"
        "if the residual is at most the tolerance, else 1.",
    .example = "  frix certify wall.hdf5 --solution answer.json",
    .flag = flags,
    .min_words = 1,
    .max_words = 1,
    .run = run_certify,
};
