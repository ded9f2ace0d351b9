/* Growth of cost with the number of bodies: chains, walls, piles from 100 to 10,000.
 *
 *   bench_growth [--most N] [--out DIR]
 *
 *   factors      one iteration of newton with factorisations, analysis shared over the five that are run
 *   iteration    the same with BiCGStab or conjugate gradients and incomplete factors
 *   solve        auto to a certified 1e-4, from nothing (chains, walls) or from the last step (piles)
 *
 * Time is that of the processor. The exponent is the slope of the least-squares line through the logarithms. Writes
 * growth.csv and growth.svg. */
#include "cases.h"
#include "spheres.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZES = 5, KINDS = 3, FAMILIES = 3, ITERATIONS = 5 };

static const double sizes[SIZES] = {100, 300, 1000, 3000, 10000};
static const char *const families[FAMILIES] = {"chain", "wall", "pile"};
static const char *const kinds[KINDS] = {"factors", "iteration", "solve"};

typedef struct sample {
  double bodies, seconds, residual; /* seconds NAN: not run or not reached */
} sample;

static frix_problem *build(frix_context *context, int family, double bodies) {
  int side = (int)(sqrt(bodies) + 0.5);
  if (family == 0) return case_example(context, "chain", (case_value[]){{"count", bodies}, {0}});
  if (family == 1) return case_example(context, "wall", (case_value[]){{"columns", side}, {"courses", side}, {0}});
  return spheres_settled(context, (int32_t)bodies);
}

/* One kind of run; short ones are repeated and the shortest counts. */
static sample run(frix_context *context, const frix_problem *problem, double bodies, int kind) {
  sample s = {bodies, NAN, NAN};
  frix_solve_config config = frix_solve_default();
  frix_options *options = NULL;
  if (frix_options_create(context, &options) != FRIX_OK) return s;
  config.options = options;
  config.solver = kind == 2 ? "auto" : "newton";
  config.tolerance = kind == 2 ? 1e-4 : 1e-15;
  config.max_iterations = kind == 2 ? 0 : ITERATIONS;
  config.time_limit = kind == 2 ? 600 : 0;
  if (kind < 2) frix_options_set(options, "newton.linear", kind == 0 ? "direct" : "krylov");
  double spent = 0;
  for (int turn = 0; turn < 20 && spent < 1; turn++) {
    frix_solution *solution = NULL;
    frix_result result;
    double start = case_seconds();
    if (frix_solve(context, problem, &config, &solution) != FRIX_OK) break;
    double seconds = case_seconds() - start;
    spent += seconds;
    frix_solution_view(solution, &result);
    s.residual = result.certificate.residual;
    if (kind < 2) seconds /= ITERATIONS;
    bool reached = kind < 2 || result.outcome == FRIX_OUTCOME_SOLVED;
    if (reached && !(s.seconds <= seconds)) s.seconds = seconds;
    frix_solution_destroy(solution);
  }
  frix_options_destroy(options);
  return s;
}

/* Slope of log seconds over log bodies. */
static double exponent(const sample *s) {
  double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (int k = 0; k < SIZES; k++) {
    if (!(s[k].seconds > 0)) continue;
    double x = log(s[k].bodies), y = log(s[k].seconds);
    n++, sx += x, sy += y, sxx += x * x, sxy += x * y;
  }
  return n < 2 ? NAN : (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

/* ---- picture ---- */

static double place_x(double bodies) { return 80 + 420 * (log10(bodies) - 2) / 2; }
static double place_y(double seconds) { return 420 - 340 * (log10(seconds) + 5) / 7; }

static void draw(FILE *f, sample s[FAMILIES][KINDS][SIZES]) {
  static const char *const colour[FAMILIES] = {"#0969da", "#bc4c00", "#1a7f37"};
  static const char *const dash[KINDS] = {"", "7 4", "2 3"};
  fprintf(
      f,
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"800\" height=\"480\" viewBox=\"0 0 800 480\" "
      "font-family=\"system-ui,'DejaVu Sans',sans-serif\" font-size=\"12\" fill=\"#24292f\">\n"
      "<rect width=\"800\" height=\"480\" fill=\"#fff\"/>\n"
      "<text x=\"80\" y=\"32\" font-size=\"18\" font-weight=\"600\">Growth of cost with the number of bodies</text>\n"
      "<text x=\"80\" y=\"52\" fill=\"#57606a\">seconds of processor time, one thread; exponents beside the "
      "names</text>\n");
  for (int e = 2; e <= 4; e++)
    fprintf(
        f, "<path d=\"M%.1f 80V420\" stroke=\"#e6e8eb\"/><text x=\"%.1f\" y=\"440\" text-anchor=\"middle\">%g</text>\n",
        place_x(pow(10, e)), place_x(pow(10, e)), pow(10, e));
  for (int e = -5; e <= 2; e++)
    fprintf(f,
            "<path d=\"M80 %.1fH500\" stroke=\"#e6e8eb\"/><text x=\"72\" y=\"%.1f\" text-anchor=\"end\">1e%d</text>\n",
            place_y(pow(10, e)), place_y(pow(10, e)) + 4, e);
  fprintf(f, "<text x=\"290\" y=\"464\" text-anchor=\"middle\">bodies</text>\n");
  for (int family = 0, line = 0; family < FAMILIES; family++)
    for (int kind = 0; kind < KINDS; kind++, line++) {
      bool begun = false;
      fprintf(f, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"2\" stroke-dasharray=\"%s\" d=\"", colour[family],
              dash[kind]);
      for (int k = 0; k < SIZES; k++)
        if (s[family][kind][k].seconds > 0) {
          fprintf(f, "%c%.1f %.1f", begun ? 'L' : 'M', place_x(s[family][kind][k].bodies),
                  place_y(s[family][kind][k].seconds));
          begun = true;
        }
      fprintf(f,
              "\"/>\n<path stroke=\"%s\" stroke-width=\"2\" stroke-dasharray=\"%s\" d=\"M530 %dh30\"/>"
              "<text x=\"570\" y=\"%d\">%s, %s: %.2f</text>\n",
              colour[family], dash[kind], 90 + 24 * line, 94 + 24 * line, families[family], kinds[kind],
              exponent(s[family][kind]));
    }
  fputs("</svg>\n", f);
}

/* ---- the program ---- */

static bool write_files(const char *folder, sample s[FAMILIES][KINDS][SIZES]) {
  char path[1024];
  snprintf(path, sizeof path, "%s/growth.csv", folder);
  FILE *f = fopen(path, "w");
  if (!f) return false;
  fprintf(f, "family,kind,bodies,seconds,residual\n");
  for (int family = 0; family < FAMILIES; family++)
    for (int kind = 0; kind < KINDS; kind++)
      for (int k = 0; k < SIZES; k++)
        fprintf(f, "%s,%s,%g,%.6g,%.3g\n", families[family], kinds[kind], s[family][kind][k].bodies,
                s[family][kind][k].seconds, s[family][kind][k].residual);
  fclose(f);
  snprintf(path, sizeof path, "%s/growth.svg", folder);
  if (!(f = fopen(path, "w"))) return false;
  draw(f, s);
  fclose(f);
  return true;
}

int main(int argc, char **argv) {
  const char *out = NULL;
  double most = 10000;
  bool known = true;
  for (int k = 1; k < argc && known; k++) {
    if (!strcmp(argv[k], "--most") && k + 1 < argc)
      most = atof(argv[++k]);
    else if (!strcmp(argv[k], "--out") && k + 1 < argc)
      out = argv[++k];
    else
      known = false;
  }
  if (!known) {
    fprintf(stderr, "usage: bench_growth [--most N] [--out DIR]\n");
    return 2;
  }
  static sample s[FAMILIES][KINDS][SIZES];
  frix_context *context = NULL;
  if (frix_context_create(NULL, &context) != FRIX_OK) return 1;
  printf("%-8s %-10s", "family", "ms of");
  for (int k = 0; k < SIZES; k++) printf(" %10g", sizes[k]);
  printf(" %9s\n", "exponent");
  for (int family = 0; family < FAMILIES; family++) {
    for (int k = 0; k < SIZES; k++) {
      frix_problem *problem = sizes[k] <= most ? build(context, family, sizes[k]) : NULL;
      for (int kind = 0; kind < KINDS; kind++)
        s[family][kind][k] = problem ? run(context, problem, sizes[k], kind) : (sample){sizes[k], NAN, NAN};
      frix_problem_destroy(problem);
    }
    for (int kind = 0; kind < KINDS; kind++) {
      printf("%-8s %-10s", families[family], kinds[kind]);
      for (int k = 0; k < SIZES; k++) printf(" %10.2f", 1e3 * s[family][kind][k].seconds);
      printf(" %9.2f\n", exponent(s[family][kind]));
      fflush(stdout);
    }
  }
  if (out && !write_files(out, s)) perror(out);
  frix_context_destroy(context);
  return 0;
}
