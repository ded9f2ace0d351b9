/* The command line as other tools rely on it: verbs, exit codes, JSON, files written whole or not at all. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shell.h"

static const char *const verbs[] = {"run",     "check", "limit",  "view",      "render",   "export",
                                    "scene",   "solve", "info",   "convert",   "list",     "example",
                                    "certify", "bench", "mcp",    "reproduce", "selftest", "completion",
                                    "help",    "robot", "forces", "gradient"};
enum { VERB_COUNT = sizeof verbs / sizeof verbs[0] };

/* A command that must end with this exit code. */
#define EXPECT(t, result, expected)                                                                                  \
  do {                                                                                                               \
    if ((result).code != (expected))                                                                                 \
      fx_test_fail((t), __FILE__, __LINE__, "exit code %d, expected %d; stderr: %s", (result).code, (int)(expected), \
                   (result).err);                                                                                    \
  } while (0)

/* Bad usage or input: exit code 2, one line on stderr that holds `part`, nothing on stdout. */
static void check_refused(fx_test *t, int line, shell_result r, const char *part) {
  if (r.code != 2 || shell_lines(r.err) != 1 || strncmp(r.err, "frix: ", 6) || r.out[0])
    fx_test_fail(t, __FILE__, line, "exit code %d, stdout '%s', stderr '%s'", r.code, r.out, r.err);
  if (!strstr(r.err, part)) fx_test_fail(t, __FILE__, line, "'%s' is not in: %s", part, r.err);
  shell_free(&r);
}
#define REFUSED(t, part, ...) check_refused((t), __LINE__, shell((t), __VA_ARGS__), (part))

static void version_and_help(fx_test *t) {
  shell_result r = shell(t, "$frix --version");
  EXPECT(t, r, 0);
  CHECK(t, !strncmp(r.out, "frix ", 5) && shell_lines(r.out) == 1);
  shell_free(&r);
  r = shell(t, "$frix --help");
  EXPECT(t, r, 0);
  for (int k = 0; k < VERB_COUNT; k++) CHECK(t, strstr(r.out, verbs[k]) != NULL);
  shell_free(&r);
  for (int k = 0; k < VERB_COUNT; k++) {
    shell_result help = shell(t, "$frix help %s", verbs[k]), flag = shell(t, "$frix %s --help", verbs[k]);
    EXPECT(t, help, 0);
    CHECK(t, strstr(help.out, "usage: frix ") && strstr(help.out, "examples:"));
    CHECK(t, flag.code == 0 && !strcmp(help.out, flag.out));
    shell_free(&help);
    shell_free(&flag);
  }
}

static void suggestions(fx_test *t) {
  REFUSED(t, "did you mean 'solve'", "$frix slove x.json");
  REFUSED(t, "did you mean '--tol'", "$frix solve x.json --tool 1");
  REFUSED(t, "did you mean 'solvers'", "$frix list solver");
  REFUSED(t, "did you mean 'associated'", "$frix solve x.json --law asociated");
  REFUSED(t, "did you mean 'solve'", "$frix help sole");
  REFUSED(t, "choose from", "$frix zzzzzzzz");
  REFUSED(t, "unknown scene or file 'arhc': did you mean 'arch'", "$frix run arhc");
  REFUSED(t, "unexpected argument 'wall': usage: frix run", "$frix run arch wall");
  REFUSED(t, "unknown bed 'sand'", "$frix bed sand");
  REFUSED(t, "has no body 'tile1': did you mean 'tile_1'", "$frix explain dominoes --body tile1");
  REFUSED(t, "its bodies: tile_0, tile_1, ", "$frix explain dominoes --body zzzzzzzz");
  shell_result r = shell(t, "$frix example slope --out x.json");
  EXPECT(t, r, 0);
  shell_free(&r);
  REFUSED(t, "did you mean 'nsgs'", "$frix solve x.json --solver nsg");
  REFUSED(t, "relaxation", "$frix solve x.json --set nsgs.relaxaton=1");
  REFUSED(t, "did you mean 'slope'", "$frix example slop --out y.json");
  REFUSED(t, "did you mean 'angle'", "$frix example slope --set angel=3 --out y.json");
}

static void bad_usage(fx_test *t) {
  REFUSED(t, "usage", "$frix solve");
  REFUSED(t, "usage", "$frix convert a.json");
  REFUSED(t, "--tol", "$frix solve a.json --tol -1");
  REFUSED(t, "--tol", "$frix solve a.json --tol nan");
  REFUSED(t, "--tol", "$frix solve a.json --tol 1e-8x");
  REFUSED(t, "--threads", "$frix solve a.json --threads 0");
  REFUSED(t, "--max-iterations", "$frix solve a.json --max-iterations 1.5");
  REFUSED(t, "--time-limit", "$frix solve a.json --time-limit 0");
  REFUSED(t, "--cone", "$frix solve a.json --cone pyramid:2");
  REFUSED(t, "--cone", "$frix solve a.json --cone pyramid:");
  REFUSED(t, "--set", "$frix solve a.json --set relaxation");
  REFUSED(t, "needs a value", "$frix solve a.json --out");
  REFUSED(t, "takes no value", "$frix solve a.json --json=1");
  REFUSED(t, "--out", "$frix bench problems .");
  REFUSED(t, "--out", "$frix example slope");
  REFUSED(t, "--solution", "$frix certify a.json");
  shell_result r = shell(t, "$frix");
  EXPECT(t, r, 2);
  shell_free(&r);
}

static void lists(fx_test *t) {
  static const char *const names[] = {"solvers", "cones", "formats", "examples", "scenes"};
  for (int k = 0; k < 5; k++) {
    shell_result text = shell(t, "$frix list %s", names[k]), json = shell(t, "$frix list %s --json", names[k]);
    EXPECT(t, text, 0);
    EXPECT(t, json, 0);
    CHECK(t, shell_lines(text.out) > 2);
    CHECK(t, shell_json(json.out) && json.out[0] == '[');
    CHECK(t, !strstr(text.out, "\033"));
    shell_free(&text);
    shell_free(&json);
  }
  shell_result r = shell(t, "$frix list solvers");
  CHECK(t, strstr(r.out, "nsgs") && strstr(r.out, "nsgs.relaxation"));
  shell_free(&r);
}

/* Keys the contract promises. */
static void solve_json(fx_test *t) {
  static const char *const keys[] = {"file",    "contacts",   "dof",     "islands",  "solver",     "law",
                                     "outcome", "iterations", "seconds", "residual", "certificate"};
  shell_result r = shell(t,
                         "$frix example slope --out a.json && $frix example stack --out 'b \"q\".json' &&"
                         " $frix solve a.json 'b \"q\".json' --json");
  EXPECT(t, r, 0);
  CHECK(t, shell_lines(r.out) == 2);
  for (char *line = strtok(r.out, "\n"); line; line = strtok(NULL, "\n")) {
    CHECK(t, shell_json(line));
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
      char quoted[64];
      snprintf(quoted, sizeof quoted, "\"%s\":", keys[k]);
      if (!strstr(line, quoted)) fx_test_fail(t, __FILE__, __LINE__, "%s is missing", quoted);
    }
    CHECK(t, strstr(line, "\"outcome\": \"solved\""));
    CHECK(t, strstr(line, "\"approximate\": false"));
  }
  shell_free(&r);
}

static void solve_table(fx_test *t) {
  shell_result r = shell(t,
                         "$frix example slope --out a.json && $frix example arch --out arch.json &&"
                         " $frix solve a.json arch.json");
  EXPECT(t, r, 0);
  CHECK(t, strstr(r.out, "residual") && strstr(r.out, "outcome") && strstr(r.out, "2 of 2 solved to 1e-08"));
  CHECK(t, !strstr(r.out, "\033") && !r.err[0]);
  shell_free(&r);
  r = shell(t, "$frix solve arch.json --solver nsgs --max-iterations 1 --tol 1e-15");
  EXPECT(t, r, 1);
  CHECK(t, strstr(r.out, "0 of 1 solved"));
  shell_free(&r);
}

/* An approximation is labelled wherever it shows. */
static void approximations(fx_test *t) {
  static const char *const ways[] = {"--solver pgs", "--law associated", "--cone pyramid:8"};
  shell_result r = shell(t, "mkdir d && $frix example slope --out d/a.json");
  shell_free(&r);
  for (int k = 0; k < 3; k++) {
    shell_result text = shell(t, "$frix solve d/a.json %s", ways[k]),
                 json = shell(t, "$frix solve d/a.json %s --json", ways[k]);
    CHECK(t, text.code < 2 && json.code < 2);
    CHECK(t, strstr(text.out, "approximate: ") && strstr(json.out, "\"approximate\": true"));
    CHECK(t, shell_json(json.out));
    shell_free(&text);
    shell_free(&json);
  }
  r = shell(
      t,
      "$frix bench problems d --solvers nsgs,pgs --out b; grep -c yes b/results.csv; grep -c approximate b/table.md;"
      " grep -c approximate b/time.svg");
  CHECK(t, strstr(r.out, "approximate") != NULL);
  EXPECT(t, r, 0);
  shell_free(&r);
}

static void solve_out(fx_test *t) {
  shell_result r = shell(t,
                         "$frix example wall --out a.json && $frix solve a.json --out x.json --history h.csv &&"
                         " $frix certify a.json --solution x.json && $frix certify a.json --solution x.json --json");
  EXPECT(t, r, 0);
  char *json = shell_read(fx_test_scratch(t, "x.json")), *history = shell_read(fx_test_scratch(t, "h.csv"));
  CHECK(t, shell_json(json) && strstr(json, "\"r\"") && strstr(json, "\"u\"") && strstr(json, "\"v\""));
  CHECK(t, !strncmp(history, "file,island,iteration,seconds,residual\n", 39) && shell_lines(history) > 1);
  free(json);
  free(history);
  shell_free(&r);
  /* the answer is a good start: it takes no more iterations than from nothing */
  r = shell(t, "$frix solve a.json --guess x.json --json");
  EXPECT(t, r, 0);
  shell_free(&r);
  r = shell(t, "$frix certify a.json --solution x.json --tol 0");
  EXPECT(t, r, 1);
  shell_free(&r);
}

/* Joint impulses are found again from r alone. */
static void certify_joints(fx_test *t) {
  shell_result r = shell(t,
                         "$frix example chain --out a.json && $frix solve a.json --out x.json --tol 1e-10 &&"
                         " $frix certify a.json --solution x.json");
  EXPECT(t, r, 0);
  shell_free(&r);
}

static void same_bits(fx_test *t) {
  shell_result r = shell(t,
                         "$frix example rolling --set count=20 --set speed=1 --out a.json &&"
                         " for n in 1 2 4; do $frix solve a.json --threads $n --out $n.json || exit 9; done;"
                         " cmp 1.json 2.json && cmp 1.json 4.json");
  EXPECT(t, r, 0);
  shell_free(&r);
}

static void nothing_written(fx_test *t) {
  shell_result r = shell(t, "$frix example slope --out a.json && mkdir sub");
  EXPECT(t, r, 0);
  shell_free(&r);
  REFUSED(t, "missing.json", "$frix solve a.json missing.json");
  REFUSED(t, "missing.json", "$frix solve missing.json --out x.json --history h.csv");
  REFUSED(t, "sub", "$frix solve a.json sub --json");
  REFUSED(t, "--out", "$frix solve a.json a.json --out x.json");
  REFUSED(t, "x.txt", "$frix solve a.json --out x.txt");
  REFUSED(t, "nowhere/x.json", "$frix solve a.json --out nowhere/x.json");
  REFUSED(t, "nowhere/h.csv", "$frix solve a.json --history nowhere/h.csv");
  REFUSED(t, "sub", "$frix convert a.json sub");
  REFUSED(t, "a.json", "$frix solve a.json --guess missing.json --out x.json 2>&1 | sed 's/missing/a/' >&2; exit 2");
  REFUSED(t, "sub", "$frix bench problems sub --out b");
  REFUSED(t, "nothing", "$frix bench problems nothing --out b");
  r = shell(t, "$frix example anisotropic --out e.json");
  EXPECT(t, r, 0);
  shell_free(&r);
  REFUSED(t, "x.hdf5", "$frix solve e.json --out x.hdf5"); /* no elliptic cones in fclib, or no fclib in this build */
  r = shell(t, "rm e.json; ls -A | grep -v -e '^.stdout' -e '^.stderr'");
  CHECK(t, !strcmp(r.out, "a.json\nsub\n"));
  shell_free(&r);
}

static void convert(fx_test *t) {
  shell_result r =
      shell(t,
            "$frix list formats | grep -q 'hdf5.*(off)' && middle=c.json || middle=c.hdf5;"
            " $frix example wall --out a.json && $frix convert a.json b.dat && $frix convert b.dat $middle &&"
            " $frix convert $middle d.dat && cmp b.dat d.dat &&"
            " $frix convert a.json local.json --form local && $frix info local.json --json");
  EXPECT(t, r, 0);
  CHECK(t, shell_json(r.out) && strstr(r.out, "\"form\": \"local\""));
  shell_free(&r);
}

static void info(fx_test *t) {
  shell_result r = shell(t, "$frix example chain --out a.json && $frix info a.json && $frix info a.json --json");
  EXPECT(t, r, 0);
  CHECK(t, strstr(r.out, "islands") && strstr(r.out, "joints") && strstr(r.out, "\"form\": \"global\""));
  shell_free(&r);
}

static void every_example(fx_test *t) {
  shell_result r =
      shell(t,
            "for n in $($frix list examples --names); do"
            " $frix example $n --out $n.json && $frix info $n.json >/dev/null || exit 9; done; ls *.json | wc -l");
  EXPECT(t, r, 0);
  int count = atoi(r.out);
  CHECK(t, count >= 3);
  fx_test_note(t, "%d examples", count);
  shell_free(&r);
}

static void bench(fx_test *t) {
  shell_result r =
      shell(t,
            "mkdir -p d/deep && $frix example slope --out d/a.json && $frix example slide --out d/deep/b.json &&"
            " echo junk > d/readme.md && $frix bench problems d --solvers nsgs,apgd --tol 1e-6"
            " --time-limit 5 --out profile");
  EXPECT(t, r, 0);
  CHECK(t, strstr(r.out, "2 of 2 problems solved"));
  shell_free(&r);
  char *csv = shell_read(fx_test_scratch(t, "profile/results.csv")),
       *table = shell_read(fx_test_scratch(t, "profile/table.md"));
  CHECK(t, shell_lines(csv) == 5 && !strncmp(csv, "file,contacts,dof,solver,law,approximate,", 41));
  CHECK(t, strstr(table, "| a.json |") && strstr(table, "| b.json |") && strstr(table, "nsgs"));
  free(csv);
  free(table);
  static const char *const pictures[] = {"profile/time.svg", "profile/residual.svg"};
  for (int k = 0; k < 2; k++) {
    char *svg = shell_read(fx_test_scratch(t, pictures[k]));
    size_t length = strlen(svg);
    CHECK(t, !strncmp(svg, "<svg ", 5) && length > 7 && !strcmp(svg + length - 7, "</svg>\n"));
    CHECK(t, strstr(svg, "nsgs") && strstr(svg, "apgd"));
    free(svg);
  }
  r = shell(t, "command -v xmllint >/dev/null || exit 0; xmllint --noout profile/*.svg");
  EXPECT(t, r, 0);
  shell_free(&r);
}

/* A reader that goes away is no reason for noise; a full disk is. */
static void closed_output(fx_test *t) {
  shell_result r =
      shell(t,
            "$frix example slope --out a.json && { $frix solve a.json --json --out x.json; echo $? >code; }"
            " | true; cat code; test -s x.json");
  EXPECT(t, r, 0);
  CHECK(t, !strcmp(r.out, "0\n") && !r.err[0]);
  shell_free(&r);
  r = shell(t, "$frix list solvers > /dev/full");
  EXPECT(t, r, 2);
  CHECK(t, shell_lines(r.err) == 1);
  shell_free(&r);
}

static void completion(fx_test *t) {
  shell_result r =
      shell(t,
            "command -v bash >/dev/null || exit 77; $frix completion bash > c.bash && bash -n c.bash && bash -c '"
            "source ./c.bash; COMP_WORDS=(frix solve --solver ns) COMP_CWORD=3; _frix; echo ${COMPREPLY[@]};"
            "COMP_WORDS=(frix be) COMP_CWORD=1; _frix; echo ${COMPREPLY[@]}'");
  if (r.code == 77) {
    fx_test_skip(t, "bash is not installed");
  } else {
    EXPECT(t, r, 0);
    CHECK(t, !strcmp(r.out, "nsgs\nbed bench\n"));
  }
  shell_free(&r);
  r = shell(t, "$frix completion zsh");
  CHECK(t, r.code == 0 && !strncmp(r.out, "#compdef frix\n", 14));
  shell_free(&r);
}

/* Every verb and every option stands in the man page. */
static void man_page(fx_test *t) {
  char *page = shell_read(FRIX_SOURCE_DIR "/docs/frix.1");
  CHECK(t, strstr(page, ".TH FRIX 1"));
  for (int k = 0; k < VERB_COUNT; k++) {
    char text[64];
    snprintf(text, sizeof text, "frix %s", verbs[k]);
    if (!strstr(page, text)) fx_test_fail(t, __FILE__, __LINE__, "the man page lacks '%s'", text);
    shell_result r = shell(t, "$frix help %s | sed -n 's/^  --\\([a-z-]*\\).*/\\1/p'", verbs[k]);
    for (char *flag = strtok(r.out, "\n"); flag; flag = strtok(NULL, "\n")) {
      size_t used = 0;
      char escaped[128] = "\\-\\-"; /* man writes hyphens of options as \- */
      used = strlen(escaped);
      for (const char *c = flag; *c && used + 3 < sizeof escaped; c++) {
        if (*c == '-') escaped[used++] = '\\';
        escaped[used++] = *c;
      }
      escaped[used] = 0;
      if (!strstr(page, escaped)) fx_test_fail(t, __FILE__, __LINE__, "the man page lacks --%s of %s", flag, verbs[k]);
    }
    shell_free(&r);
  }
  free(page);
}

/* Large rigid piles are left early only where that is asked for by name. Under a time limit the pile comes after the
 * small islands beside it. */
static void piles(fx_test *t) {
  shell_result r = shell(t,
                         "$frix example pile --set count=900 --set closed=1 --out a.json &&"
                         " $frix solve a.json --max-iterations 400");
  EXPECT(t, r, 1);
  CHECK(t, !strstr(r.out, "loose") && strstr(r.out, "max_iterations"));
  shell_free(&r);
  r = shell(t, "$frix solve a.json --set auto.pile_tolerance=1e-4");
  EXPECT(t, r, 1);
  CHECK(t, strstr(r.out, "loose"));
  shell_free(&r);
  r = shell(
      t,
      "$frix solve a.json --tol 1e-5 --time-limit 1000 --explain 2>&1 >table.txt | grep ' contacts: ' | tail -n 1;"
      " cat table.txt");
  EXPECT(t, r, 0);
  CHECK(t, strstr(r.out, "auto: 25") && strstr(r.out, "solved"));
  shell_free(&r);
}

/* Colour and the progress line show on a terminal and nowhere else. */
static void terminal(fx_test *t) {
  shell_result r =
      shell(t,
            "script -qec true /dev/null >/dev/null 2>&1 || exit 77; unset NO_COLOR; $frix example slope --out a.json;"
            " TERM=xterm script -qec \"$frix solve a.json\" /dev/null");
  if (r.code == 77) {
    fx_test_skip(t, "no script command or no pseudo-terminals here");
  } else {
    EXPECT(t, r, 0);
    CHECK(t, strstr(r.out, "\033[32msolved") != NULL);
  }
  shell_free(&r);
}

const fx_test_row test_cli[] = {{"cli/version_and_help", version_and_help},
                                {"cli/suggestions", suggestions},
                                {"cli/bad_usage", bad_usage},
                                {"cli/lists", lists},
                                {"cli/solve_json", solve_json},
                                {"cli/solve_table", solve_table},
                                {"cli/approximations", approximations},
                                {"cli/solve_out", solve_out},
                                {"cli/certify_joints", certify_joints},
                                {"cli/same_bits", same_bits},
                                {"cli/nothing_written", nothing_written},
                                {"cli/convert", convert},
                                {"cli/info", info},
                                {"cli/every_example", every_example},
                                {"cli/bench", bench},
                                {"cli/closed_output", closed_output},
                                {"cli/completion", completion},
                                {"cli/man_page", man_page},
                                {"cli/piles", piles},
                                {"cli/terminal", terminal},
                                {0}};
