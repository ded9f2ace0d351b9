/* frix certify: judge an answer that came from anywhere. */
#include "app.h"

#include <stdlib.h>

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

static int judge(frix_context *context, const fx_args *args, const char *solution, double tolerance) {
  frix_problem *problem = fx_read_problem(context, args->word[0], fx_arg(args, "--text"));
  if (!problem) return FX_EXIT_USAGE;
  int code = FX_EXIT_USAGE;
  frix_law law = fx_arg_choice(args, "--law", 0) == 1 ? FRIX_LAW_ASSOCIATED : FRIX_LAW_COULOMB;
  frix_problem_data data = frix_problem_data_default();
  frix_problem_view(problem, &data);
  double *r = fx_grow(NULL, (size_t)data.row_count, sizeof *r);
  frix_certificate c;
  if (frix_guess_read(context, problem, solution, r) != FRIX_OK ||
      frix_certify(context, problem, law, r, NULL, &c, NULL, NULL) != FRIX_OK) {
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
  frix_context *context = fx_context();
  int code = judge(context, args, solution, tolerance);
  frix_context_destroy(context);
  return code;
}

static const fx_flag flags[] = {
    {"--solution", "FILE", NULL, "the answer: .json with r, or an fclib file with a solution"},
    {"--law", "LAW", "coulomb|associated", "the law to judge by; default coulomb"},
    {"--tol", "X", NULL, "residual that counts as solved; default 1e-8"},
    {"--json", NULL, NULL, "one JSON object"},
    {"--text", "KIND", "local|global|lcp", "what a .dat file holds, where it leaves it open"},
    {0},
};

const fx_verb fx_verb_certify = {
    .name = "certify",
    .arguments = "FILE --solution ANSWER",
    .summary = "judge an answer by the certificate",
    .detail =
        "Reads r from ANSWER, recomputes u (and v) from the problem and prints every part of the certificate. Exit\n"
        "code 0 when the residual is at or below the tolerance, 1 when it is not.",
    .example = "  frix certify wall.hdf5 --solution answer.json",
    .flag = flags,
    .min_words = 1,
    .max_words = 1,
    .run = run_certify,
};
