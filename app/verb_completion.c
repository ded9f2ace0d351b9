/* frix completion: shell completions made from the verb table. */
#include "app.h"

#include <string.h>

static void put_names(const char *choices, const char *separator) {
  char name[128];
  for (int k = 0; fx_choice(choices, k, name, sizeof name); k++) printf("%s%s", k ? separator : "", name);
}

static void put_flags(const fx_verb *verb) {
  for (const fx_flag *flag = verb->flag; flag->name; flag++) printf("%s%s", flag == verb->flag ? "" : " ", flag->name);
}

/* ---- bash */

/* Values of flags with a fixed list; everything else completes to files. */
static void bash_values(const fx_verb *verb) {
  for (const fx_flag *flag = verb->flag; flag->name; flag++) {
    if (!flag->choices) continue;
    printf("    %s:%s) words=\"", verb->name, flag->name);
    put_names(flag->choices, " ");
    printf("\" ;;\n");
  }
}

static void bash(void) {
  printf(
      "# bash completion for frix, made by 'frix completion bash'\n_frix() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} verb=${COMP_WORDS[1]} words=\n"
      "  COMPREPLY=()\n  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    COMPREPLY=($(compgen -W \"");
  put_names("@verbs", " ");
  printf(" --version --help\" -- \"$word\"))\n    return\n  fi\n  case $verb:$before in\n");
  for (int k = 0; fx_verb_table(k); k++) bash_values(fx_verb_table(k));
  printf("  esac\n  if [ -z \"$words\" ]; then\n    case $verb:$word in\n");
  for (int k = 0; fx_verb_table(k); k++) {
    const fx_verb *verb = fx_verb_table(k);
    printf("      %s:-*) words=\"", verb->name);
    put_flags(verb);
    printf("\" ;;\n");
    if (!verb->words) continue;
    printf("      %s:*) [ \"$COMP_CWORD\" -eq 2 ] && words=\"", verb->name);
    put_names(verb->words, " ");
    printf("\" ;;\n");
  }
  printf(
      "    esac\n  fi\n  if [ -n \"$words\" ]; then\n    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
      "  else\n    COMPREPLY=($(compgen -f -- \"$word\"))\n  fi\n}\ncomplete -o filenames -F _frix frix\n");
}

/* ---- zsh */

/* Text inside a quoted _arguments specification. */
static void zsh_text(const char *text) {
  for (; *text; text++) {
    if (*text == '\'') {
      printf("'\\''");
    } else if (strchr("[]:\\", *text)) {
      printf("\\%c", *text);
    } else {
      putchar(*text);
    }
  }
}

static void zsh_flag(const fx_flag *flag) {
  bool many = !strcmp(flag->name, "--set");
  printf("        '%s%s[", many ? "*" : "", flag->name);
  zsh_text(flag->summary);
  printf("]");
  if (flag->value) {
    printf(":");
    zsh_text(flag->value);
    printf(":");
    if (flag->choices) {
      printf("(");
      put_names(flag->choices, " ");
      printf(")");
    } else {
      printf("_files");
    }
  }
  printf("' \\\n");
}

static void zsh(void) {
  printf(
      "#compdef frix\n# zsh completion for frix, made by 'frix completion zsh'\n_frix() {\n"
      "  if (( CURRENT == 2 )); then\n    local -a verbs=(\n");
  for (int k = 0; fx_verb_table(k); k++) {
    printf("      '%s:", fx_verb_table(k)->name);
    zsh_text(fx_verb_table(k)->summary);
    printf("'\n");
  }
  printf(
      "    )\n    _describe verb verbs\n    return\n  fi\n  local verb=$words[2]\n"
      "  shift words\n  (( CURRENT-- ))\n  case $verb in\n");
  for (int k = 0; fx_verb_table(k); k++) {
    const fx_verb *verb = fx_verb_table(k);
    printf("    %s)\n      _arguments \\\n", verb->name);
    for (const fx_flag *flag = verb->flag; flag->name; flag++) zsh_flag(flag);
    if (verb->words) {
      printf("        '1:word:(");
      put_names(verb->words, " ");
      printf(")'");
      if (verb->max_words > 1) printf(" '*:file:_files'");
      printf(" ;;\n");
    } else {
      printf("        '*:file:_files' ;;\n");
    }
  }
  printf("  esac\n}\n_frix \"$@\"\n");
}

#define SHELLS "bash|zsh"

static int run_completion(const fx_args *args) {
  int k = fx_choose(SHELLS, "shell", args->word[0]);
  if (k == 0) bash();
  if (k == 1) zsh();
  return k < 0 ? FX_EXIT_USAGE : FX_EXIT_SOLVED;
}

static const fx_flag flags[] = {{0}};

const fx_verb fx_verb_completion = {
    .name = "completion",
    .arguments = "bash|zsh",
    .summary = "print a shell completion script",
    .example =
        "  source <(frix completion bash)                              # this shell\n"
        "  frix completion zsh > \"${fpath[1]}/_frix\"                   # zsh, for good",
    .flag = flags,
    .words = SHELLS,
    .min_words = 1,
    .max_words = 1,
    .run = run_completion,
};
