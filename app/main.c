/* The frix command: the table of verbs, help, version, and the way from words to a verb. */
#include "app.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

extern const fx_verb fx_verb_solve, fx_verb_info, fx_verb_convert, fx_verb_list, fx_verb_example, fx_verb_certify,
    fx_verb_bench, fx_verb_mcp, fx_verb_reproduce, fx_verb_view, fx_verb_completion, fx_verb_help, fx_verb_run,
    fx_verb_check, fx_verb_limit, fx_verb_export, fx_verb_render, fx_verb_scene, fx_verb_selftest, fx_verb_batch,
    fx_verb_robot, fx_verb_soften, fx_verb_swing, fx_verb_haptic, fx_verb_forces, fx_verb_gradient, fx_verb_measure,
    fx_verb_explain, fx_verb_fit, fx_verb_design, fx_verb_label, fx_verb_bed, fx_verb_hold;

static const fx_verb *const verbs[] = {
    &fx_verb_run,      &fx_verb_bed,        &fx_verb_batch,   &fx_verb_check,   &fx_verb_limit,  &fx_verb_hold,
    &fx_verb_explain,  &fx_verb_fit,        &fx_verb_design,  &fx_verb_label,   &fx_verb_forces, &fx_verb_gradient,
    &fx_verb_view,     &fx_verb_render,     &fx_verb_export,  &fx_verb_measure, &fx_verb_scene,  &fx_verb_robot,
    &fx_verb_soften,   &fx_verb_swing,      &fx_verb_haptic,  &fx_verb_solve,   &fx_verb_info,   &fx_verb_convert,
    &fx_verb_list,     &fx_verb_example,    &fx_verb_certify, &fx_verb_bench,   &fx_verb_mcp,    &fx_verb_reproduce,
    &fx_verb_selftest, &fx_verb_completion, &fx_verb_help,
};

const fx_verb *fx_verb_table(int k) { return k >= 0 && k < (int)(sizeof verbs / sizeof verbs[0]) ? verbs[k] : NULL; }

/* ---- help */

static void print_choices(const char *choices) {
  char name[128];
  printf(" (");
  for (int k = 0; fx_choice(choices, k, name, sizeof name); k++) printf("%s%s", k ? ", " : "", name);
  printf(")");
}

static void verb_help(const fx_verb *verb) {
  printf("frix %s: %s\n\n", verb->name, verb->summary);
  printf("usage: frix %s %s%s\n", verb->name, verb->arguments, verb->flag->name ? " [options]" : "");
  if (verb->detail) printf("\n%s\n", verb->detail);
  if (verb->flag->name) printf("\noptions:\n");
  for (const fx_flag *flag = verb->flag; flag->name; flag++) {
    char head[64];
    snprintf(head, sizeof head, "%s%s%s", flag->name, flag->value ? " " : "", flag->value ? flag->value : "");
    printf("  %-22s %s", head, flag->summary);
    if (flag->choices && flag->choices[0] == '@') print_choices(flag->choices);
    printf("\n");
  }
  if (verb->example) printf("\nexamples:\n%s\n", verb->example);
}

/* Title above the verb, NULL inside a group. */
static const char *title_above(const char *verb) {
  static const struct {
    const char *verb, *title;
  } row[] = {{"run", "Simulate"},
             {"check", "Analyse"},
             {"view", "Look at and export runs"},
             {"scene", "Scenes, robots, soft bodies"},
             {"solve", "Contact problems"},
             {"reproduce", "Results of the literature, closed forms"},
             {"completion", "Other"}};
  for (size_t k = 0; k < sizeof row / sizeof row[0]; k++)
    if (!strcmp(row[k].verb, verb)) return row[k].title;
  return NULL;
}

static void overview(void) {
  printf("frix %s: simulates rigid bodies with exact, certified friction\n\nusage: frix VERB ...\n", frix_version());
  for (int k = 0; fx_verb_table(k); k++) {
    char head[64];
    const char *title = title_above(fx_verb_table(k)->name);
    if (title) printf("\n%s:\n", title);
    snprintf(head, sizeof head, "%s %s", fx_verb_table(k)->name, fx_verb_table(k)->arguments);
    printf("  %-36s %s\n", head, fx_verb_table(k)->summary);
  }
  printf("  %-36s %s\n", "--version", "the version");
  printf(
      "\n'frix help VERB' explains a command, with examples. Start with 'frix run arch' or 'frix list scenes'.\n"
      "Exit code 0: all solved to tolerance; 1: some not; 2: bad usage or input; 3: solved, but a scene file uses\n"
      "unsupported features.\n");
}

static int run_help(const fx_args *args) {
  if (args->word_count == 0) {
    overview();
    return FX_EXIT_SOLVED;
  }
  int k = fx_choose("@verbs", "verb", args->word[0]);
  if (k < 0) return FX_EXIT_USAGE;
  verb_help(fx_verb_table(k));
  return FX_EXIT_SOLVED;
}

static const fx_flag no_flags[] = {{0}};

const fx_verb fx_verb_help = {
    .name = "help",
    .arguments = "[VERB]",
    .summary = "explain a command",
    .example = "  frix help solve",
    .flag = no_flags,
    .words = "@verbs",
    .max_words = 1,
    .run = run_help,
};

/* ---- dispatch */

static bool wants_help(int argc, char **argv) {
  for (int k = 0; k < argc && strcmp(argv[k], "--"); k++)
    if (!strcmp(argv[k], "--help") || !strcmp(argv[k], "-h")) return true;
  return false;
}

static int dispatch(int argc, char **argv) {
  const char *word = argc > 1 ? argv[1] : "--help";
  if (!strcmp(word, "--version") || !strcmp(word, "-V")) {
    printf("frix %s\n", frix_version());
    return FX_EXIT_SOLVED;
  }
  if (!strcmp(word, "--help") || !strcmp(word, "-h")) {
    overview();
    return argc > 1 ? FX_EXIT_SOLVED : FX_EXIT_USAGE;
  }
  int k = fx_choose("@verbs", "verb", word);
  if (k < 0) return FX_EXIT_USAGE;
  const fx_verb *verb = fx_verb_table(k);
  if (wants_help(argc - 2, argv + 2)) {
    verb_help(verb);
    return FX_EXIT_SOLVED;
  }
  fx_args args;
  int code = fx_args_parse(verb, argc - 2, argv + 2, &args) ? verb->run(&args) : FX_EXIT_USAGE;
  fx_args_free(&args);
  return code;
}

int main(int argc, char **argv) {
  signal(SIGPIPE, SIG_IGN); /* a closed pipe shows as a failed write, so that files are still finished */
  signal(SIGXFSZ, SIG_IGN); /* so does a file that may not grow */
  int code = dispatch(argc, argv);
  fx_progress_clear();
  int reason = 0;
  if (fx_output_alive(&reason) || reason == EPIPE) return code; /* EPIPE: the reader had enough */
  fx_error("cannot write to standard output: %s", reason ? strerror(reason) : "write failed");
  return FX_EXIT_USAGE;
}
