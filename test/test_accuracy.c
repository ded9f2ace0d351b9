/* frix run --accuracy: motions with closed forms are right to what was asked for, and chaos is told. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "shell.h"
#include "test.h"

static double number(const char *text, const char *key) {
  const char *at = text ? strstr(text, key) : NULL;
  return at ? strtod(at + strlen(key), NULL) : NAN;
}

/* A puck stops behind v^2 / (2 mu g); the step at which friction ends its motion is found. */
static void slides_and_stops(fx_test *t) {
  double worst = 0;
  for (int k = 0; k < 3; k++) {
    double accuracy = pow(10, -3 - k);
    shell_result r = shell(t, "$frix run puck --set direction=0 --accuracy %g --poses", accuracy);
    double x = number(r.out, "\"pos\": ["), off = fabs(x - 4 / (2 * 0.4 * 9.81));
    CHECK(t, r.code == 0 && strstr(r.out, "\"reached\": true"));
    CHECK(t, off <= accuracy);
    worst = fmax(worst, off / accuracy);
    shell_free(&r);
  }
  fx_test_note(t, "off by at most %.1e of what was allowed", worst);
}

/* g (sin a - mu cos a) t^2 / 2 along a slope of 30 degrees. */
static void slides_down(fx_test *t) {
  shell_result start = shell(t, "$frix run incline --set angle=30 --set mu=0.3 --time 0 --poses");
  shell_result r = shell(t, "$frix run incline --set angle=30 --set mu=0.3 --time 1 --accuracy 1e-5 --poses");
  double moved = number(r.out, "\"pos\": [") - number(start.out, "\"pos\": [");
  double along = 0.5 * 9.81 * (0.5 - 0.3 * sqrt(0.75)), expected = along * sqrt(0.75);
  CHECK(t, r.code == 0);
  CHECK_NEAR(t, fabs(moved), expected, 1e-5);
  shell_free(&start);
  shell_free(&r);
}

/* Balls thrown into a box: after some impacts it is unknown where they are to 1e-6 m. */
static void chaos(fx_test *t) {
  shell_result r = shell(t, "$frix run balls --set n=5 --time 1 --accuracy 1e-6 --json");
  CHECK(t, r.code == 1 && strstr(r.out, "\"reached\": false"));
  fx_test_note(t, "right up to %.2g s of 1", number(r.out, "\"until\": "));
  shell_free(&r);
  r = shell(t, "$frix run puck --accuracy 1e-4 --live");
  CHECK(t, r.code == 2);
  shell_free(&r);
}

const fx_test_row test_accuracy[] = {{"accuracy/slides_and_stops", slides_and_stops},
                                     {"accuracy/slides_down", slides_down},
                                     {"accuracy/chaos", chaos},
                                     {0}};
