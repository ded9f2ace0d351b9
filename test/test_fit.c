/* Parameters from motion: friction of a slide without noise and with it, what cannot be told apart, and a scene that is
 * tuned so that a body ends where it should. */
#include <frix/frix.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shell.h"
#include "test.h"

static double number(const char *text, const char *key) {
  const char *at = text ? strstr(text, key) : NULL;
  return at ? strtod(at + strlen(key), NULL) : NAN;
}

static void noiseless(fx_test *t) {
  shell_result r = shell(t,
                         "$frix run incline --set angle=30 --set mu=0.3 --csv slide --quiet && "
                         "$frix fit slide_bodies.csv incline --set angle=30 --set mu=0.45 --vary mu --json");
  CHECK(t, r.code == 0);
  CHECK_NEAR(t, number(r.out, "\"value\": "), 0.3, 1e-6);
  fx_test_note(t, "mu off by %.1e", fabs(number(r.out, "\"value\": ") - 0.3));
  shell_free(&r);
  r = shell(t, "$frix fit slide_bodies.csv incline --set angle=27 --set mu=0.45 --vary mu,angle --json");
  CHECK(t, r.code == 0);
  CHECK_NEAR(t, number(r.out, "\"value\": "), 0.3, 1e-6);
  shell_free(&r);
}

/* A block that slides on a slope, its places with noise of 1 mm, 40 times: the interval of 95 % holds mu about as
 * often. */
static void noisy(fx_test *t) {
  enum { TRIALS = 40 };
  int inside = 0;
  shell_result r = shell(t, "$frix run incline --set angle=30 --set mu=0.3 --csv clean --quiet");
  CHECK(t, r.code == 0);
  shell_free(&r);
  const char *path = fx_test_scratch(t, "noisy.csv");
  r = shell(t, "cat clean_bodies.csv");
  REQUIRE(t, r.code == 0);
  for (int trial = 0; trial < TRIALS; trial++) {
    FILE *file = fopen(path, "w");
    REQUIRE(t, file != NULL);
    fprintf(file, "time,body,x,y,z\n");
    const char *line = strchr(r.out, '\n');
    for (; line && line[1]; line = strchr(line + 1, '\n')) {
      double time, x, y, z, noise[3];
      if (sscanf(line + 1, "%*d,%lf,\"block\",%lf,%lf,%lf", &time, &x, &y, &z) != 4) break;
      for (int k = 0; k < 3; k++) { /* sum of twelve: nearly normal, deviation 1 mm */
        noise[k] = 0;
        for (int n = 0; n < 12; n++) noise[k] += 0.5e-3 * fx_test_random(t);
      }
      fprintf(file, "%.17g,block,%.17g,%.17g,%.17g\n", time, x + noise[0], y + noise[1], z + noise[2]);
    }
    fclose(file);
    shell_result fit = shell(t, "$frix fit '%s' incline --set angle=30 --set mu=0.4 --vary mu --json", path);
    CHECK(t, fit.code == 0);
    inside += number(fit.out, "\"lower\": ") <= 0.3 && number(fit.out, "\"upper\": ") >= 0.3;
    CHECK_NEAR(t, number(fit.out, "\"deviation\": "), 1e-3, 2e-4);
    shell_free(&fit);
  }
  shell_free(&r);
  fx_test_note(t, "%d of %d intervals hold mu", inside, TRIALS);
  CHECK(t, inside >= 34);
}

static void identifiable(fx_test *t) {
  shell_result r = shell(t,
                         "$frix run incline --set angle=30 --set mu=0.3 --csv slide --quiet && "
                         "$frix fit slide_bodies.csv incline --set angle=30 --vary mu,mass:block");
  CHECK(t, r.code == 1 && strstr(r.out, "do not depend on mass:block"));
  shell_free(&r);
  r = shell(t, "$frix fit nothing.csv incline --vary mu");
  CHECK(t, r.code == 2);
  shell_free(&r);
  r = shell(t, "$frix fit slide_bodies.csv incline --vary charm");
  CHECK(t, r.code == 2 && strstr(r.err, "charm"));
  shell_free(&r);
}

/* How far a puck slides: v^2 / (2 mu g) but for the step; a run with the value that was found ends there. */
static void design(fx_test *t) {
  shell_result r = shell(t, "$frix design puck --set direction=0 --vary speed --of puck.x --target 0.4 --json");
  double speed = number(r.out, "\"speed\": ");
  CHECK(t, r.code == 0);
  CHECK_NEAR(t, speed, sqrt(2 * 0.4 * 9.81 * 0.4), 0.02);
  CHECK_NEAR(t, number(r.out, "\"reached\": "), 0.4, 1e-6);
  shell_free(&r);
  r = shell(t, "$frix design puck --set direction=0 --set mu=0.5 --vary mu --of puck.x --least --at 0.3 --json");
  CHECK_NEAR(t, number(r.out, "\"mu\": "), 2, 1e-6);
  shell_free(&r);
  r = shell(t, "$frix design puck --vary speed --of puck.x");
  CHECK(t, r.code == 2 && strstr(r.err, "--target"));
  shell_free(&r);
}

const fx_test_row test_fit[] = {
    {"fit/noiseless", noiseless}, {"fit/noisy", noisy}, {"fit/identifiable", identifiable}, {"fit/design", design}, {0},
};
