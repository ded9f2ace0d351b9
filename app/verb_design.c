/* frix design: values of parameters for which a body ends where it should, or as far as it can (docs/explain.md). */
#include "vary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct goal {
  fx_reading reading;
  const char *of;
  bool aimed;
  double target, sign; /* without a target: sign x reading is to be least */
} goal;

typedef struct outcome {
  double value[FX_MOST_VARIED], reached;
  int iterations;
  bool converged;
} outcome;

static bool read_goal(const fx_args *args, const fx_vary *v, goal *g) {
  g->of = fx_arg(args, "--of");
  g->aimed = fx_arg(args, "--target") != NULL;
  g->reading.time = v->subject.time;
  g->sign = fx_arg(args, "--most") ? -1 : 1;
  if (!g->of || g->aimed + (fx_arg(args, "--most") != NULL) + (fx_arg(args, "--least") != NULL) != 1) {
    fx_error("design needs --of BODY.x and one of --target X, --least, --most");
    return false;
  }
  return fx_vary_reading(v, g->of, &g->reading) && fx_arg_real(args, "--target", -1e12, 1e12, &g->target) &&
         fx_arg_real(args, "--at", v->h, 1e9, &g->reading.time);
}

/* ---- the least of a reading: steepest descent in units of the ranges, kept within them ---- */

static bool descend(fx_vary *v, const goal *g, outcome *o) {
  enum { MOST = 60 };
  double slope[FX_MOST_VARIED], range[FX_MOST_VARIED], length = 0.1;
  for (int k = 0; k < v->count; k++) {
    o->value[k] = v->varied[k].start;
    range[k] = fmin(v->varied[k].most - v->varied[k].least, 10 * fmax(fabs(v->varied[k].start), 1e-3));
  }
  if (!fx_vary_run(v, o->value, &g->reading, 1, &o->reached)) return false;
  while (!o->converged && o->iterations++ < MOST) {
    double steep = 0;
    if (!fx_vary_jacobian(v, o->value, &g->reading, 1, slope)) return false;
    for (int k = 0; k < v->count; k++) {
      slope[k] *= g->sign * range[k];
      bool stopped = slope[k] > 0 ? o->value[k] <= v->varied[k].least : o->value[k] >= v->varied[k].most;
      if (stopped) slope[k] = 0;
      steep = fmax(steep, fabs(slope[k]));
    }
    bool better = false;
    while (steep > 0 && !better && length > 1e-9) {
      double at[FX_MOST_VARIED], reached;
      for (int k = 0; k < v->count; k++) at[k] = o->value[k] - length * range[k] * slope[k] / steep;
      fx_vary_clamp(v, at);
      if (!fx_vary_run(v, at, &g->reading, 1, &reached)) return false;
      better = g->sign * reached < g->sign * o->reached;
      if (better) memcpy(o->value, at, sizeof at), o->reached = reached;
      length *= better ? 2 : 0.25;
    }
    o->converged = !better;
    length = fmin(length, 0.5);
    fx_progress("design: %.8g", o->reached);
  }
  fx_progress_clear();
  return true;
}

static bool aim(fx_vary *v, const goal *g, outcome *o) {
  fx_least_squares f;
  bool good = fx_least_squares_find(v, &g->reading, &g->target, 1, &f);
  if (good) {
    memcpy(o->value, f.value, sizeof o->value);
    o->reached = g->target + f.residual[0];
    o->iterations = f.iterations;
    o->converged = fabs(f.residual[0]) <= 1e-6 * fmax(fabs(g->target), 1e-3);
  }
  fx_least_squares_free(&f);
  return good;
}

/* ---- the verb ---- */

static void print_text(const fx_vary *v, const goal *g, const outcome *o) {
  printf("%s%s%s: %s at %g s is %.10g, %s\n", fx_colour_on(FX_BOLD), v->subject.word, fx_colour_off(), g->of,
         g->reading.time, o->reached,
         !o->converged ? "which is as near as was found"
         : g->aimed    ? "as asked for"
                       : "the best that small changes lead to");
  for (int k = 0; k < v->count; k++) printf("  %-12s %.10g\n", v->varied[k].name, o->value[k]);
  printf("  %lld runs, %s\n", (long long)v->runs, v->certified ? "every step certified" : "not every step certified");
}

static void print_json(const fx_vary *v, const goal *g, const outcome *o) {
  fx_json json = {stdout, false};
  fx_put_open(&json, NULL, '{');
  fx_put_text(&json, "subject", v->subject.word);
  fx_put_text(&json, "of", g->of);
  fx_put_real(&json, "at", g->reading.time);
  fx_put_real(&json, "reached", o->reached);
  fx_put_boolean(&json, "converged", o->converged);
  fx_put_integer(&json, "runs", v->runs);
  fx_put_boolean(&json, "certified", v->certified);
  fx_put_open(&json, "parameters", '{');
  for (int k = 0; k < v->count; k++) fx_put_real(&json, v->varied[k].name, o->value[k]);
  fx_put_close(&json, '}');
  fx_put_close(&json, '}');
  fx_put_end_line(&json);
}

static int run_design(const fx_args *args) {
  fx_vary v;
  goal g = {0};
  outcome o = {.iterations = 0};
  fx_catch_interrupt();
  int code = FX_EXIT_USAGE;
  if (fx_vary_open(&v, args, args->word[0]) && read_goal(args, &v, &g) && (g.aimed ? aim : descend)(&v, &g, &o)) {
    (fx_arg(args, "--json") ? print_json : print_text)(&v, &g, &o);
    code = o.converged && v.certified ? FX_EXIT_SOLVED : FX_EXIT_UNSOLVED;
  }
  fx_vary_close(&v);
  return code;
}

static const fx_flag flags[] = {
    {"--of", "BODY.x", NULL, "coordinate to optimise: x, y, z, vx, vy, vz, wx, wy or wz of a body"},
    {"--at", "T", NULL, "time in s at which it counts; default: the end of the scene"},
    {"--target", "X", NULL, "find parameters for which the coordinate is X"},
    {"--least", NULL, NULL, "make the coordinate as small as possible"},
    {"--most", NULL, NULL, "make the coordinate as large as possible"},
    FX_VARY_FLAGS,
    {0},
};

const fx_verb fx_verb_design = {
    .name = "design",
    .arguments = "SCENE --vary LIST --of BODY.x",
    .summary = "find parameters that bring a body to a target",
    .detail =
        "Searches the ranges of the parameters by Gauss-Newton (--target) or descent (--least, --most) over certified "
        "runs,\n"
        "starting at the values of --set. Exit code 1 if the target is not reached to 1e-6 or a step is not certified.",
    .example = "  frix design puck --vary speed --of puck.x --target 0.5",
    .flag = flags,
    .words = "@scenes",
    .min_words = 1,
    .max_words = 1,
    .run = run_design,
};
