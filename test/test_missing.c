/* What a file asks for and frix does not do: in the summary, in JSON, in the file of a run, in the exit code. And the
 * worst numbers of a run, in every output. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shell.h"

static void expect(fx_test *t, int line, shell_result r, int code, const char *out, const char *err) {
  if (r.code != code || (out && !strstr(r.out, out)) || (err && !strstr(r.err, err)))
    fx_test_fail(t, __FILE__, line, "exit code %d, stdout '%s', stderr '%s'", r.code, r.out, r.err);
  shell_free(&r);
}
#define EXPECT(t, code, out, err, ...) expect((t), __LINE__, shell((t), __VA_ARGS__), (code), (out), (err))

#ifdef FRIX_HAVE_EXPAT

/* A block at rest with a muscle, and geoms that are soft in MuJoCo. */
#define MAKE                                                                                                         \
  "echo '<mujoco><worldbody><geom type=\"plane\" size=\"1 1 1\" solref=\"0.1 1\"/><body name=\"b\" pos=\"0 0 .1\">"  \
  "<freejoint/><geom type=\"box\" size=\".1 .1 .1\"/></body></worldbody>\n<actuator><muscle body=\"b\"/></actuator>" \
  "</mujoco>' > f.xml; "

static void codes(fx_test *t) {
  static const char row[] = "\"ignored\": [{\"name\": \"actuator muscle\", \"kind\": \"unsupported\"";
  static const char place[] = "actuator muscle, 1, first at f.xml:2: not supported";
  EXPECT(t, 3, place, "f.xml:2: actuator muscle (1)", MAKE "$frix run f.xml --time 0.02");
  EXPECT(t, 3, row, NULL, "$frix run f.xml --time 0.02 --json --quiet");
  EXPECT(t, 3, "\"kind\": \"not_needed\"", NULL, "$frix run f.xml --time 0.02 --json --quiet");
  EXPECT(t, 0, "which was allowed", "f.xml:2", "$frix run f.xml --time 0.02 --allow-missing");
  EXPECT(t, 0, "\"missing_allowed\": true", NULL, "$frix run f.xml --time 0.02 --allow-missing --json");
  EXPECT(t, 2, "", "f.xml:2: actuator muscle", "$frix run f.xml --time 0.02 --strict");
  EXPECT(t, 3, place, "f.xml:2", "$frix check f.xml --quick --time 0.02");
  EXPECT(t, 3, row, NULL, "$frix check f.xml --quick --time 0.02 --json");
  EXPECT(t, 0, row, NULL, "$frix check f.xml --quick --time 0.02 --json --allow-missing");
  EXPECT(t, 3, place, NULL, "$frix limit f.xml --vary tilt --time 0.05 --within 0.1");
  EXPECT(t, 3, row, NULL, "$frix limit f.xml --vary tilt --time 0.05 --within 0.1 --json");
  EXPECT(t, 0, place, NULL, "$frix info f.xml");
  EXPECT(t, 0, row, NULL, "$frix info f.xml --json");
  /* what tunes softness alone changes nothing */
  EXPECT(t, 0, "not needed        geom solref", NULL,
         "sed -i s/.actuator.*// f.xml; echo '</mujoco>' >> f.xml; "
         "$frix run f.xml --time 0.02");
}

/* The file of a run knows it, and whoever takes the run up. */
static void kept(fx_test *t) {
  static const char place[] = "actuator muscle, 1, first at f.xml:2: not supported";
  EXPECT(t, 3, NULL, NULL, MAKE "$frix run f.xml --time 0.02 --out r.frx");
  EXPECT(t, 0, place, NULL, "$frix info r.frx");
  EXPECT(t, 0, "\"name\": \"actuator muscle\"", NULL, "$frix info r.frx --json");
  EXPECT(t, 0, place, NULL, "$frix render r.frx --out r.png --size 64x64");
  EXPECT(t, 3, place, NULL, "$frix run --resume r.frx --time 0.04");
  EXPECT(t, 0, "which was allowed", NULL, "$frix run --resume r.frx --time 0.06 --allow-missing");
  EXPECT(t, 3, "\"ignored\": [{\"name\": \"actuator muscle\"", NULL, "$frix run --resume r.frx --time 0.08 --json");
  /* scenes of frix's own lack nothing */
  EXPECT(t, 0, "\"ignored\": []", NULL, "$frix run puck --time 0.02 --json");
}

static void nothing_moves(fx_test *t) {
  EXPECT(t, 3, "no motion", "no body of the file can move",
         "echo '<mujoco><worldbody><geom size=\"1\"/></worldbody></mujoco>' > f.xml; $frix run f.xml --time 0.02");
  EXPECT(t, 3, "\"moving_bodies\": 0", NULL, "$frix run f.xml --time 0.02 --json");
  EXPECT(t, 0, NULL, NULL, "$frix run f.xml --time 0.02 --allow-missing");
  EXPECT(t, 0, "no motion", NULL, "$frix info f.xml");
}

/* A file's joints hold and move; they were welded. */
static void joints_move(fx_test *t) {
  EXPECT(t, 0, "\"ignored\": []", NULL,
         "echo '<mujoco><worldbody><body name=\"p\"><joint axis=\"0 1 0\"/><geom type=\"capsule\" size=\".02\" "
         "fromto=\"0 0 0 "
         ".5 0 0\"/></body></worldbody></mujoco>' > p.xml; $frix run p.xml --time 0.4 --poses > p.json; cat p.json");
  EXPECT(t, 0, NULL, NULL, "grep -q '\"max_displacement\": 0\\.[1-9]' p.json");
}

#endif

/* ---- worst numbers ---- */

static void worst(fx_test *t) {
  static const char *const name[] = {"worst_velocity", "signorini", "bilateral", "joint_error"};
  shell_result r = shell(t, "$frix run cardhouse --set levels=2 --time 0.05 --json --csv c --out c.frx");
  CHECK(t, r.code == 0 && shell_json(r.out));
  for (int k = 0; k < 4; k++) {
    char key[64];
    snprintf(key, sizeof key, "\"%s_max\": ", name[k]);
    const char *at = strstr(r.out, key);
    if (!at) fx_test_fail(t, __FILE__, __LINE__, "%s is missing", key);
    double value = at ? strtod(at + strlen(key), NULL) : -1;
    CHECK(t, k < 2 ? value > 0 && value < 1e-3 : value == 0);
  }
  shell_free(&r);
  EXPECT(t, 0, ",penetration,worst_velocity,signorini,bilateral,joint_error,kinetic,", NULL, "head -1 c_steps.csv");
  EXPECT(t, 0, "worst_velocity", NULL, "$frix run cardhouse --set levels=2 --time 0.05");
  EXPECT(t, 0, "\"signorini_max\": ", NULL, "$frix info c.frx --json");
  /* the numbers of the file are those of the run */
  EXPECT(
      t, 0, NULL, NULL,
      "$frix export c.frx --out e.csv && awk -F, 'NR == 1 { for (k = 1; k <= NF; k++) if ($k == \"signorini\") c = k } "
      "NR > 2 { print $c }' e_steps.csv > a && awk -F, 'NR == 1 { for (k = 1; k <= NF; k++) if ($k == \"signorini\") c "
      "= k } "
      "NR > 1 { print $c }' c_steps.csv > b && paste a b | awk '{ d = $1 - $2; if (d * d > 1e-40 || $1 == \"\") exit 1 "
      "}'");
}

/* A run that goes on from steps that were not certified is not certified. */
static void resumed(fx_test *t) {
  EXPECT(t, 1, NULL, NULL, "$frix run dominoes --contact rigid --solver pgs --time 0.05 --out d.frx --quiet");
  EXPECT(t, 1, "the counts below include the steps before it", NULL, "$frix run --resume d.frx --time 0.05");
  EXPECT(t, 0, NULL, NULL,
         "$frix run puck --time 0.05 --out p.frx --quiet && $frix run --resume p.frx --time 0.1 --quiet");
}

const fx_test_row test_missing[] = {
#ifdef FRIX_HAVE_EXPAT
    {"run/missing_codes", codes},     {"run/missing_kept", kept},           {"run/missing_motion", nothing_moves},
    {"run/joints_move", joints_move},
#endif
    {"run/worst_numbers", worst},     {"run/resumed_uncertified", resumed}, {0},
};
