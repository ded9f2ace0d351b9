/* frix run, check, limit as other tools rely on them: exit codes, JSON, files, resuming, limits known on paper. */
#include <frix/mjcf.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shell.h"

#define EXPECT(t, result, expected)                                                                                  \
  do {                                                                                                               \
    if ((result).code != (expected))                                                                                 \
      fx_test_fail((t), __FILE__, __LINE__, "exit code %d, expected %d; stderr: %s", (result).code, (int)(expected), \
                   (result).err);                                                                                    \
  } while (0)

static void check_refused(fx_test *t, int line, shell_result r, const char *part) {
  if (r.code != 2 || strncmp(r.err, "frix: ", 6) || r.out[0] || !strstr(r.err, part))
    fx_test_fail(t, __FILE__, line, "exit code %d, '%s' is not in stderr '%s', stdout '%s'", r.code, part, r.err,
                 r.out);
  shell_free(&r);
}
#define REFUSED(t, part, ...) check_refused((t), __LINE__, shell((t), __VA_ARGS__), (part))

/* The number behind a key, NaN where there is none. */
static double number(const char *json, const char *key) {
  char quoted[64];
  snprintf(quoted, sizeof quoted, "\"%s\": ", key);
  const char *at = strstr(json, quoted);
  return at ? strtod(at + strlen(quoted), NULL) : NAN;
}

static void text_of(const char *json, const char *key, char *out, size_t size) {
  char quoted[64];
  snprintf(quoted, sizeof quoted, "\"%s\": \"", key);
  const char *at = strstr(json, quoted);
  snprintf(out, size, "%.*s", at ? (int)strcspn(at + strlen(quoted), "\"") : 0, at ? at + strlen(quoted) : "");
}

/* ---- run ---- */

static void json_keys(fx_test *t) {
  static const char *const keys[] = {"steps",         "wall_seconds",    "cpu_seconds",      "ms_per_step",
                                     "contacts_mean", "contacts_max",    "residual_max",     "certified_steps",
                                     "final_hash",    "max_penetration", "max_displacement", "energy"};
  shell_result r = shell(t, "$frix run incline --set angle=20 --time 0.5 --json");
  EXPECT(t, r, 0);
  CHECK(t, shell_json(r.out) && shell_lines(r.out) == 1);
  for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\": ", keys[k]);
    if (!strstr(r.out, quoted)) fx_test_fail(t, __FILE__, __LINE__, "%s is missing", quoted);
  }
  CHECK(t, number(r.out, "steps") == 50 && number(r.out, "certified_steps") == 50);
  CHECK(t, number(r.out, "max_displacement") < 1e-12 && number(r.out, "residual_max") <= 1e-8);
  shell_free(&r);
  r = shell(t, "$frix run puck --poses");
  EXPECT(t, r, 0);
  CHECK(t, shell_json(r.out) && strstr(r.out, "\"bodies\": {\"puck\": {\"pos\": [") && strstr(r.out, "\"angvel\": ["));
  CHECK(t, fabs(number(r.out, "max_displacement") - 4 / (2 * 0.4 * 9.81)) < 0.01);
  shell_free(&r);
}

/* Steps of what rests repeat the last one. Options of a method end that: they make every step anew, with the same
 * result. */
static void rest_is_cheap(fx_test *t) {
  char hash[2][32];
  double cost[2];
  for (int k = 0; k < 2; k++) {
    shell_result r = shell(
        t, k ? "$frix run cardhouse --time 5 --json --set nsgs.relaxation=1" : "$frix run cardhouse --time 5 --json");
    EXPECT(t, r, 0);
    cost[k] = number(r.out, "cpu_seconds");
    text_of(r.out, "final_hash", hash[k], sizeof hash[k]);
    shell_free(&r);
  }
  CHECK(t, hash[0][0] && !strcmp(hash[0], hash[1]) && cost[0] < 0.5 * cost[1]);
  fx_test_note(t, "1,000 steps at rest: %.1f ms, made anew %.1f ms", 1e3 * cost[0], 1e3 * cost[1]);
}

static void summary(fx_test *t) {
  shell_result r = shell(t, "$frix run incline --set angle=40 --time 0.2");
  EXPECT(t, r, 0);
  CHECK(t, strstr(r.out, "20 of 20 steps") && strstr(r.out, "lost to friction") && strstr(r.out, "penetration"));
  CHECK(t, !strstr(r.out, "\033") && !r.err[0]);
  shell_free(&r);
  r = shell(t, "$frix run incline --time 0.1 --quiet");
  CHECK(t, r.code == 0 && !r.out[0] && !r.err[0]);
  shell_free(&r);
  r = shell(t, "$frix run incline --time 0.1 --law associated --solver admm");
  CHECK(t, strstr(r.out, "approximate"));
  shell_free(&r);
}

/* A step that cannot reach its tolerance: exit code 1, and a strict run ends there. */
static void not_certified(fx_test *t) {
  shell_result r = shell(t, "$frix run balls --solver pgs --time 0.5 --json");
  EXPECT(t, r, 1);
  CHECK(t, number(r.out, "certified_steps") < number(r.out, "steps") && strstr(r.out, "\"approximate\": true"));
  shell_free(&r);
  r = shell(t, "$frix run balls --solver pgs --time 0.5 --strict --json");
  EXPECT(t, r, 1);
  CHECK(t, strstr(r.err, "is not certified") && number(r.out, "steps") < 100);
  shell_free(&r);
}

/* A cube in a slot 1 mm too narrow: certified, but only without push-out, and every output says so. */
static void overlaps_left(fx_test *t) {
  shell_result r =
      shell(t,
            "cat >slot.xml <<'END'\n<mujoco><worldbody>"
            "<geom type='plane' size='1 1 1'/>"
            "<geom type='box' size='.1 .5 .5' pos='-.1995 0 .5'/><geom type='box' size='.1 .5 .5' pos='.1995 0 .5'/>"
            "<body pos='0 0 .1'><freejoint/><geom type='box' size='.1 .1 .1'/></body>"
            "</worldbody></mujoco>\nEND\n$frix run slot.xml --contact rigid --dt 0.01 --time 0.1 --csv slot --json");
  EXPECT(t, r, 0);
  CHECK(t, number(r.out, "overlaps_left_steps") == 10 && number(r.out, "certified_steps") == 10);
  shell_free(&r);
  r = shell(t, "cut -d, -f6 slot_steps.csv | sort | uniq -c; $frix run slot.xml --contact rigid --dt 0.01 --time 0.1");
  EXPECT(t, r, 0);
  CHECK(t,
        strstr(r.out, "10 1\n") && strstr(r.out, "1 overlaps_left") && strstr(r.out, "overlaps left     in 10 steps"));
  shell_free(&r);
  r = shell(t, "$frix run incline --time 0.1 --json");
  CHECK(t, number(r.out, "overlaps_left_steps") == 0);
  shell_free(&r);
}

static void refused(fx_test *t) {
  REFUSED(t, "did you mean 'cardhouse'", "$frix run cardhose");
  REFUSED(t, "did you mean 'levels'", "$frix run cardhouse --set level=3");
  REFUSED(t, "between 1 and 40", "$frix run cardhouse --set levels=0");
  REFUSED(t, "whole number", "$frix run cardhouse --set levels=2.5");
  REFUSED(t, "between 0 and 2", "$frix run cardhouse --set mu=nan");
  REFUSED(t, "did you mean 'catenary'", "$frix run arch --set shape=catenry");
  REFUSED(t, "did you mean 'moreau'", "$frix run arch --integrator moreu");
  REFUSED(t, "did you mean 'newton'", "$frix run arch --solver newtn");
  REFUSED(t, "relaxaton", "$frix run arch --set nsgs.relaxaton=1");
  REFUSED(t, "--dt", "$frix run arch --dt 0");
  REFUSED(t, "--time", "$frix run arch --time -1");
  REFUSED(t, "too many steps", "$frix run arch --time 1e12 --dt 1e-9");
  REFUSED(t, "--seed", "$frix run arch --seed x");
  REFUSED(t, "cannot", "$frix run arch --out nowhere/x.frx");
  REFUSED(t, "cannot write", "$frix run arch --csv nowhere/x");
  REFUSED(t, "cannot", "$frix run nothing.xml");
  REFUSED(t, "usage", "$frix run");
  REFUSED(t, "give no other scene", "$frix run arch --resume x.frx");
  REFUSED(t, "cannot", "$frix run --resume nothing.frx");
  REFUSED(t, "half a step", "$frix run incline --dt 10 --time 1");
  REFUSED(t, "--tol '0'", "$frix run incline --tol 0");
  REFUSED(t, "did you mean 'mu'", "$frix limit incline --vary nu");
  REFUSED(t, "--vary", "$frix limit incline");
  REFUSED(t, "no moving body", "$frix limit arch --vary load --body nobody");
  shell_result r = shell(t, "echo rubbish > bad.frx; $frix run --resume bad.frx");
  EXPECT(t, r, 2);
  shell_free(&r);
}

/* A run goes on as it began and not to a time before its end; info tells what is in its file. */
static void resumes_as_it_began(fx_test *t) {
  shell_result r = shell(t, "$frix run incline --time 0.2 --out own.frx --quiet && $frix info own.frx --json");
  EXPECT(t, r, 0);
  CHECK(t, number(r.out, "frames") == 21 && number(r.out, "certified_frames") == 21 && number(r.out, "end") > 0.19);
  shell_free(&r);
  static const char *const flag[] = {"--set mu=0.1", "--seed 3", "--tol 1e-3", "--solver nsgs", "--dt 0.1"};
  for (size_t k = 0; k < sizeof flag / sizeof *flag; k++) {
    r = shell(t, "$frix run --resume own.frx --time 0.3 %s", flag[k]);
    EXPECT(t, r, 2);
    CHECK(t, strstr(r.err, "cannot be changed with --resume"));
    shell_free(&r);
  }
  r = shell(t, "$frix run --resume own.frx --time 0.1 --quiet");
  EXPECT(t, r, 0);
  CHECK(t, strstr(r.err, "at 0.2 s already"));
  shell_free(&r);
  r = shell(t, "$frix render own.frx --time 9 --out x.png");
  EXPECT(t, r, 2);
  shell_free(&r);
  r = shell(t, "$frix render own.frx --out x.jpg");
  EXPECT(t, r, 2);
  shell_free(&r);
  r = shell(t, "head -c 9000 own.frx > cut.frx; $frix info cut.frx");
  EXPECT(t, r, 0);
  CHECK(t, strstr(r.err, "ends inside a block"));
  shell_free(&r);
  r = shell(t, "echo '<robot/>' > arm.urdf; $frix info arm.urdf");
  EXPECT(t, r, 2);
  CHECK(t, strstr(r.err, "URDF"));
  shell_free(&r);
}

static void tables(fx_test *t) {
  shell_result r = shell(t,
                         "$frix run incline --time 0.1 --csv 'a b' --export-problems dir --every 5 --quiet &&"
                         " wc -l < 'a b_steps.csv' && ls dir | wc -l && $frix solve dir/* --json | wc -l");
  EXPECT(t, r, 0);
  CHECK(t, strstr(r.out, "3") == r.out && strstr(r.out, "\n2\n2\n"));
  shell_free(&r);
  /* what fclib has no place for, a stiffness, goes into JSON */
  r = shell(t, "$frix run pile --set n=8 --time 0.05 --export-problems soft --quiet && $frix solve soft/*.json");
  EXPECT(t, r, 0);
  shell_free(&r);
}

/* ---- files ---- */

/* A run in two parts ends with the bits of one in a single part, also when a blow falls into the second. */
static void resumes(fx_test *t) {
  char whole[32], parts[32], first[32];
  shell_result r = shell(t, "$frix run arch --set blow=keystone --time 1 --out a.frx --json");
  EXPECT(t, r, 0);
  text_of(r.out, "final_hash", whole, sizeof whole);
  shell_free(&r);
  r = shell(t, "$frix run arch --set blow=keystone --time 0.4 --checkpoint 25 --out b.frx --json");
  EXPECT(t, r, 0);
  text_of(r.out, "final_hash", first, sizeof first);
  shell_free(&r);
  r = shell(t, "$frix run --resume b.frx --time 1 --json");
  EXPECT(t, r, 0);
  text_of(r.out, "final_hash", parts, sizeof parts);
  CHECK(t, number(r.out, "first_step") == 40 && number(r.out, "steps") == 100);
  CHECK(t, strstr(r.out, "\"blow\": \"keystone\""));
  CHECK(t, whole[0] && !strcmp(whole, parts) && strcmp(whole, first));
  shell_free(&r);
  r = shell(t, "$frix run --resume b.frx --json"); /* at its end already */
  EXPECT(t, r, 0);
  text_of(r.out, "final_hash", parts, sizeof parts);
  CHECK(t, number(r.out, "steps") == 100 && number(r.out, "first_step") == 100 && !strcmp(whole, parts));
  shell_free(&r);
  REFUSED(t, "--dt", "$frix run --resume b.frx --dt 0.1");
  REFUSED(t, "its own file", "$frix run --resume b.frx --out c.frx");
}

/* A file that was cut short, or damaged in a frame, in the head of a block or in its last checkpoint: what is lost is
 * said, and the run ends as it would have. */
static void resumes_damaged(fx_test *t) {
  static const struct {
    const char *harm, *said;
  } row[] = {
      {"truncate -s -100 d.frx", "ends inside a block at byte"},
      {"harm=$((size / 2))", "1 of 31 frames are unreadable"},
      {"harm=$(($(grep -abo frxb d.frx | sed -n 20p | cut -d: -f1) + 9))", "is damaged at byte"},
      {"harm=$((size - 50))", "1 of 2 checkpoints are lost; continuing at step 0"},
  };
  char whole[32], parts[32];
  shell_result r = shell(t, "$frix run arch --time 0.4 --json");
  EXPECT(t, r, 0);
  text_of(r.out, "final_hash", whole, sizeof whole);
  shell_free(&r);
  for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
    r = shell(t,
              "$frix run arch --time 0.3 --out d.frx --quiet; size=$(wc -c <d.frx); harm=; %s; "
              "[ -z \"$harm\" ] || printf '\\377\\125' | dd of=d.frx bs=1 seek=$harm conv=notrunc 2>/dev/null; "
              "$frix run --resume d.frx --time 0.4 --json",
              row[k].harm);
    EXPECT(t, r, 0);
    CHECK(t, strstr(r.err, row[k].said));
    text_of(r.out, "final_hash", parts, sizeof parts);
    CHECK(t, !strcmp(whole, parts) && number(r.out, "steps") == 40 && number(r.out, "certified_steps") == 40);
    shell_free(&r);
  }
}

/* Killed at some moment, and resumed: the same end. */
static void survives_a_kill(fx_test *t) {
  char whole[32], parts[32];
  shell_result r = shell(t, "$frix run cannonball --set mu=0.2 --time 20 --json");
  EXPECT(t, r, 0);
  text_of(r.out, "final_hash", whole, sizeof whole);
  shell_free(&r);
  for (int k = 0; k < 3; k++) {
    r = shell(t,
              "rm -f k.frx; $frix run cannonball --set mu=0.2 --time 20 --checkpoint 20 --out k.frx --quiet & "
              "until [ -s k.frx ]; do sleep 0.01; done; sleep 0.0%d; kill -9 $! 2>/dev/null; wait; "
              "$frix run --resume k.frx --json",
              1 + 3 * k);
    text_of(r.out, "final_hash", parts, sizeof parts);
    EXPECT(t, r, 0);
    CHECK(t, whole[0] && !strcmp(whole, parts));
    fx_test_note(t, "resumed at step %g", number(r.out, "first_step"));
    shell_free(&r);
  }
}

/* A disk that fills up: the message says so, exit code 2, and the file is whole to its last frame and goes on
 * elsewhere. The disk is a tmpfs in a namespace of its own, where that is allowed. */
static void full_disk(fx_test *t) {
  char whole[32], parts[32];
  shell_result r = shell(t,
                         "mkdir -p full; for how in 'unshare -m' 'unshare -rm'; do "
                         "$how mount -t tmpfs -o size=64k none full 2>/dev/null && echo $how && break; done");
  char how[32];
  snprintf(how, sizeof how, "%.*s", (int)strcspn(r.out, "\n"), r.out);
  shell_free(&r);
  if (!how[0]) {
    fx_test_skip(t, "mounting a small tmpfs is not allowed here");
    return;
  }
  r = shell(t, "$frix run cardhouse --time 2 --json");
  EXPECT(t, r, 0);
  text_of(r.out, "final_hash", whole, sizeof whole);
  shell_free(&r);
  r = shell(t,
            "export frix; %s sh -c 'mount -t tmpfs -o size=512k none full; "
            "$frix run cardhouse --time 2 --checkpoint 10 --out full/run.frx --quiet; "
            "code=$?; cp full/run.frx kept.frx; exit $code'",
            how);
  EXPECT(t, r, 2);
  CHECK(t, strstr(r.err, "full/run.frx: cannot write: No space left on device") && shell_lines(r.err) == 1);
  shell_free(&r);
  r = shell(t, "$frix export kept.frx --out kept.npz && $frix run --resume kept.frx --json");
  EXPECT(t, r, 0);
  CHECK(t, !r.err[0]);
  text_of(r.out, "final_hash", parts, sizeof parts);
  CHECK(t, whole[0] && !strcmp(whole, parts) && number(r.out, "first_step") > 0);
  shell_free(&r);
}

/* Ctrl-C: the summary so far, exit code 1, a file that goes on. */
static void interrupted(fx_test *t) {
  /* a child in the background has SIGINT ignored unless it asks for it, which frix does */
  shell_result r = shell(t,
                         "$frix run arch --time 1000 --out i.frx --json > i.json & sleep 0.5; kill -INT $!; wait $!; "
                         "echo code $?; cat i.json; $frix run --resume i.frx --time 0.1 --quiet");
  CHECK(t, strstr(r.out, "code 1") && strstr(r.out, "\"interrupted\": true") && r.code == 0);
  shell_free(&r);
}

/* ---- check and limit ---- */

/* tan(angle) = mu; Couplet and Heyman's least thickness of 21 voussoirs; atan(1/3) for three cubes; limit analysis of
 * a pile that a simulation left too early one way, and below too much friction. Equilibria to 1e-6, the simulation
 * beside them. */
static void limits(fx_test *t) {
  static const struct {
    const char *words, *side, *rule;
    double exact;
  } rows[] = {
      {"incline --vary angle", "upper", "scanned", 26.565051177077990},
      {"incline --vary mu", "lower", "monotone", 0.48773258856586144},
      {"incline --set angle=0 --vary tilt --direction -y", "upper", "convex", 26.565051177077990},
      {"incline --set angle=30 --vary tilt --direction -x", "lower", "convex", 30 - 26.565051177077990},
      {"arch --vary thickness --set mu=0.7 --set voussoirs=21 --set thickness=0.12", "lower", "scanned", 0.1066947999},
      {"arch --vary mu", "lower", "monotone", 0.3076886156},
      {"stack --set n=3 --vary tilt", "upper", "convex", 18.434948822922010},
      {"stack --set n=1 --vary load --direction x", "upper", "convex", 0.5 * 9.81},
      {"cannonball --set levels=4 --vary tilt", "upper", "convex", 8.3488724642},
      {"cannonball --set levels=4 --vary tilt --direction -x", "upper", "convex", 8.3488724642},
      {"cannonball --set levels=4 --vary mu", "lower", "monotone", 0.4729599415},
      {"grip --vary mu", "lower", "monotone", 0.045 * 9.81 / 24},
  };
  for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
    shell_result r = shell(t, "$frix limit %s --json", rows[k].words);
    EXPECT(t, r, 0);
    CHECK(t, shell_json(r.out) && strstr(r.out, "\"agree\": true"));
    char key[32], rule[32];
    snprintf(key, sizeof key, "\"%s\": {", rows[k].side);
    snprintf(rule, sizeof rule, "\"rule\": \"%s\"", rows[k].rule);
    const char *bracket = strstr(r.out, key);
    double near = 1e-6 * rows[k].exact, beside = 2e-3 * rows[k].exact;
    if (!bracket || !strstr(r.out, rule) || !(fabs(number(bracket, "stands") - rows[k].exact) < near) ||
        !(fabs(number(bracket, "falls") - rows[k].exact) < near) ||
        !(fabs(number(bracket, "stays") - rows[k].exact) < beside) ||
        !(fabs(number(bracket, "moves") - rows[k].exact) < beside))
      fx_test_fail(t, __FILE__, __LINE__, "%s: %s", rows[k].words, r.out);
    shell_free(&r);
  }
}

/* Both statements by name, a mechanism where there is none, and exit code 1 where nothing is found. */
static void limits_told(fx_test *t) {
  shell_result r = shell(t, "$frix limit stack --set n=2 --vary tilt");
  EXPECT(t, r, 0);
  CHECK(t,
        strstr(r.out, "an equilibrium exists at tilt 26.56505") && strstr(r.out, "the simulation from rest stays at"));
  CHECK(t, strstr(r.out, "beyond the limit move: cube_"));
  shell_free(&r);
  r = shell(t, "$frix limit stack --set n=2 --vary mu");
  EXPECT(t, r, 1);
  CHECK(t, strstr(r.out, "no limit in this range"));
  shell_free(&r);
  r = shell(t, "$frix limit grip --vary tilt --direction y"); /* motors do not turn with gravity: asked at angles */
  EXPECT(t, r, 1);
  CHECK(t, strstr(r.out, "no limit in this range") && strstr(r.out, "changes of the verdict"));
  shell_free(&r);
  r = shell(t, "$frix check incline --set angle=30 --json");
  EXPECT(t, r, 1);
  CHECK(t, strstr(r.out, "\"verdict\": \"falls\"") && strstr(r.out, "\"mechanism\": [{\"body\": \"block\""));
  CHECK(t, number(r.out, "power") > number(r.out, "resistance") && strstr(r.out, "\"stays\": false"));
  shell_free(&r);
  r = shell(t, "$frix check cannonball --set levels=4 --json");
  EXPECT(t, r, 0);
  const char *one = strstr(r.out, "\"x\": {"), *other = strstr(r.out, "\"-x\": {");
  CHECK(t, one && other && fabs(number(one, "stands") - 8.3488724642) < 1e-7);
  CHECK(t, one && other && fabs(number(one, "falls") - number(other, "stands")) < 1e-7);
  CHECK(t, strstr(r.out, "\"verdict\": \"stands\"") && number(r.out, "imbalance") < 1e-12);
  shell_free(&r);
}

static void checks(fx_test *t) {
  shell_result r = shell(t, "$frix check stack --set n=2 --json");
  EXPECT(t, r, 0);
  CHECK(t, shell_json(r.out) && strstr(r.out, "\"stands\": true") && strstr(r.out, "\"worst\": {"));
  CHECK(t, fabs(number(strstr(r.out, "\"tilt\": {"), "stands") - 26.56505) < 1e-5); /* slides and topples at once */
  CHECK(t, number(r.out, "topple") > 0.99 && number(r.out, "drift") < 1e-9);
  shell_free(&r);
  r = shell(t, "$frix check incline --set angle=30");
  EXPECT(t, r, 1);
  CHECK(t, strstr(r.out, "does not stand") && strstr(r.out, "block"));
  shell_free(&r);
  r = shell(t, "$frix check incline --set angle=20 --set mu=0.4");
  EXPECT(t, r, 0);
  CHECK(t, strstr(r.out, "stands at mu 0.36397") && strstr(r.out, "nearest to slipping"));
  shell_free(&r);
  r = shell(t, "$frix check cardhouse --quick");
  EXPECT(t, r, 0);
  CHECK(t, strstr(r.out, "cardhouse stands"));
  shell_free(&r);
}

/* A block of a file on a slope of 20 degrees: tan 20 = 0.36397, all frictions scaled alike. */
static void check_of_files(fx_test *t) {
  if (!frix_mjcf_available()) {
    fx_test_skip(t, "this build reads no MJCF");
    return;
  }
  for (int two = 0; two < 2; two++) {
    shell_result r = shell(
        t,
        "printf '<mujoco><option gravity=\"3.3552 0 -9.2184\" timestep=\"0.01\"/><worldbody>"
        "<geom type=\"plane\" size=\"1 1 1\" friction=\"0.4\" solref=\"0.1 1\"/>"
        "<body pos=\"0 0 0.1\"><freejoint/><geom type=\"box\" size=\"0.3 0.3 0.1\" friction=\"0.4\"/></body>"
        "%s</worldbody></mujoco>' > slope.xml; $frix check slope.xml --json",
        two ? "<body pos=\"3 0 0.1\"><freejoint/><geom type=\"box\" size=\"0.3 0.3 0.1\" friction=\"0.8\"/></body>"
            : "");
    EXPECT(t, r, 0);
    const char *least = strstr(r.out, two ? "\"least_friction\": {" : "\"least_mu\": {");
    double unit = two ? 0.4 : 1;
    CHECK(t, shell_json(r.out) && least);
    CHECK(t, least && fabs(unit * number(least, "stands") - 0.36397) < 1e-5);
    CHECK(t, least && fabs(number(least, "reserve") - 0.4 / 0.36397) < 1e-4);
    const char *told = strstr(r.err, "not needed");
    CHECK(t, told && !strstr(told + 1, "not needed")); /* once, however often the file is read */
    shell_free(&r);
  }
  shell_result r = shell(t, "$frix limit slope.xml --vary friction --json");
  EXPECT(t, r, 0);
  CHECK(t, fabs(0.4 * number(strstr(r.out, "\"lower\": {"), "falls") - 0.36397) < 1e-5);
  shell_free(&r);
}

const fx_test_row test_run[] = {
    {"run/json_keys", json_keys},
    {"run/summary", summary},
    {"run/rest_is_cheap", rest_is_cheap},
    {"run/not_certified", not_certified},
    {"run/overlaps_left", overlaps_left},
    {"run/refused", refused},
    {"run/tables", tables},
    {"run/resumes_as_it_began", resumes_as_it_began},
    {"run/resumes", resumes},
    {"run/resumes_damaged", resumes_damaged},
    {"run/survives_a_kill", survives_a_kill},
    {"run/full_disk", full_disk},
    {"run/interrupted", interrupted},
    {"run/limits", limits},
    {"run/limits_told", limits_told},
    {"run/checks", checks},
    {"run/check_of_files", check_of_files},
    {0},
};
