/* The command haptic: a scripted hand presses a soft body; what it feels, what is refused, what is recorded. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "shell.h"
#include "test.h"

static double number(const char *text, const char *key) {
  const char *at = strstr(text, key);
  return at ? strtod(at + strlen(key), NULL) : NAN;
}

/* Without a clock and a deadline every step is certified, and the ball is pushed back by what it presses. */
static void presses(fx_test *t) {
  shell_result r = shell(t, "$frix haptic touch --set cells=3 --time 0.6 --fast --budget 0 --json --record held.frx");
  CHECK(t, r.code == 0 && shell_json(r.out));
  CHECK_NEAR(t, number(r.out, "\"certified\": "), 600, 0);
  double force = number(r.out, "\"force\": ");
  CHECK(t, force > 5 && force < 50);
  CHECK_NEAR(t, number(r.out, "\"energy_brought\": "), 0, 1e-9);
  fx_test_note(t, "%.1f N felt, %g contacts on %g coordinates", force, number(r.out, "\"contacts\": "),
               number(r.out, "\"coordinates\": "));
  shell_free(&r);
  r = shell(t, "$frix info held.frx --json");
  CHECK(t, r.code == 0 && shell_json(r.out) && strstr(r.out, "61"));
  shell_free(&r);
}

/* Contacts that open, close, stick and slip while the hand comes down and strokes: Newton arrives from anywhere. */
static void is_certified_in_time(fx_test *t) {
  shell_result r = shell(t, "$frix haptic touch --time 1 --fast --json");
  CHECK(t, r.code == 0 && shell_json(r.out));
  double certified = number(r.out, "\"certified\": ");
  CHECK(t, certified >= 990);
  CHECK(t, number(r.out, "\"energy_brought\": ") < 1e-9);
  fx_test_note(t, "%g of 1000 steps, %.0f us of CPU in the middle, %.0f us at 99.9 %%", certified,
               1e6 * number(r.out, "\"cpu_median\": "), 1e6 * number(r.out, "\"cpu_999\": "));
  shell_free(&r);
}

/* The real clock and a deadline nobody can meet: steps are late or not certified, and the report says so. */
static void is_late(fx_test *t) {
  shell_result r = shell(t, "$frix haptic touch --set cells=3 --time 0.1 --budget 1 --json");
  CHECK(t, (r.code == 0 || r.code == 1) && shell_json(r.out) && strstr(r.out, "\"lateness\""));
  CHECK_NEAR(t, number(r.out, "\"steps\": "), 100, 0);
  CHECK(t, number(r.out, "\"energy_brought\": ") < 1e-9);
  shell_free(&r);
}

static void follows_a_path(fx_test *t) {
  shell_result r = shell(t,
                         "printf 'time,x,y,z\\n0,0,0,0\\n0.1,0,0,0.05\\n0.2,0,0,0.05\\n' >up.csv; "
                         "$frix haptic touch --set cells=3 --path up.csv --time 0.3 --fast --budget 0 --json");
  CHECK(t, r.code == 0 && number(r.out, "\"force\": ") < 50);
  shell_free(&r);
  r = shell(t, "printf '0,0,0,0\\n0,1,1,1\\n' >bad.csv; $frix haptic touch --path bad.csv --fast");
  CHECK(t, r.code == 2 && strstr(r.err, "bad.csv:2"));
  shell_free(&r);
  r = shell(t, "$frix haptic touch --hold nobody --fast");
  CHECK(t, r.code == 2 && strstr(r.err, "nobody"));
  shell_free(&r);
  r = shell(t, "$frix haptic touch --press x --fast");
  CHECK(t, r.code == 2 && strstr(r.err, "DEPTH,RADIUS"));
  shell_free(&r);
}

const fx_test_row test_haptic[] = {{"haptic/presses", presses},
                                   {"haptic/is_certified_in_time", is_certified_in_time},
                                   {"haptic/is_late", is_late},
                                   {"haptic/follows_a_path", follows_a_path},
                                   {0}};
