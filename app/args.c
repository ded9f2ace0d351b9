/* Arguments: words and flags checked against the rows of a verb, numbers within bounds, and the nearest name for a
 * misspelt one. */
#include "app.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "form.h"
#include "reproduce.h"

#include "examples/scene.h"

#ifdef FRIX_HAVE_EXAMPLES
#include "examples/examples.h"
#endif

/* ---- lists of names */

static const char *table_name(const char *table, int k) {
  if (!strcmp(table, "@solvers")) return frix_solver_table(k) ? frix_solver_table(k)->name : NULL;
  if (!strcmp(table, "@formats")) return frix_format_table(k) ? frix_format_table(k)->name : NULL;
  if (!strcmp(table, "@exports")) return frix_export_table(k) ? frix_export_table(k)->name : NULL;
  if (!strcmp(table, "@forms")) return fx_form_table(k) ? fx_form_table(k)->name : NULL;
  if (!strcmp(table, "@reproductions")) return fx_reproduction_table(k) ? fx_reproduction_table(k)->name : NULL;
  if (!strcmp(table, "@methods")) return frix_mcp_method_table(k) ? frix_mcp_method_table(k)->name : NULL;
  if (!strcmp(table, "@problems")) return frix_mcp_library(k) ? frix_mcp_library(k)->name : NULL;
  if (!strcmp(table, "@verbs")) return fx_verb_table(k) ? fx_verb_table(k)->name : NULL;
  if (!strcmp(table, "@integrators")) return frix_integrator_table(k) ? frix_integrator_table(k)->name : NULL;
  if (!strcmp(table, "@contacts")) return frix_contact_kind_table(k) ? frix_contact_kind_table(k)->name : NULL;
  if (!strcmp(table, "@restitutions")) return frix_restitution_table(k) ? frix_restitution_table(k)->name : NULL;
  if (!strcmp(table, "@scenes")) return frix_scene_table(k) ? frix_scene_table(k)->name : NULL;
#ifdef FRIX_HAVE_EXAMPLES
  if (!strcmp(table, "@examples")) return frix_example_table(k) ? frix_example_table(k)->name : NULL;
#endif
  return !strcmp(table, "@cones") && frix_cone_table(k) ? frix_cone_table(k)->name : NULL;
}

bool fx_choice(const char *choices, int k, char *out, size_t size) {
  if (!choices) return false;
  if (choices[0] == '@') {
    const char *name = table_name(choices, k);
    if (name) snprintf(out, size, "%s", name);
    return name != NULL;
  }
  for (; k > 0; k--) {
    choices = strchr(choices, '|');
    if (!choices) return false;
    choices++;
  }
  snprintf(out, size, "%.*s", (int)strcspn(choices, "|"), choices);
  return true;
}

/* Edit distance of short words; longer ones count as far. */
static int distance(const char *a, const char *b) {
  enum { LIMIT = 64 };
  size_t n = strlen(a), m = strlen(b);
  if (n >= LIMIT || m >= LIMIT) return LIMIT;
  int row[LIMIT + 1];
  for (size_t j = 0; j <= m; j++) row[j] = (int)j;
  for (size_t i = 1; i <= n; i++) {
    int diagonal = row[0];
    row[0] = (int)i;
    for (size_t j = 1; j <= m; j++) {
      int change = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      int shift = 1 + (row[j] < row[j - 1] ? row[j] : row[j - 1]);
      row[j] = change < shift ? change : shift;
    }
  }
  return row[m];
}

void fx_nearest(const char *choices, const char *word, char *out, size_t size) {
  char name[128];
  int best = 1 + (int)strlen(word) / 2;
  if (best > 4) best = 4;
  if (size) out[0] = 0;
  for (int k = 0; fx_choice(choices, k, name, sizeof name); k++) {
    bool begins = strlen(word) >= 2 && !strncmp(name, word, strlen(word));
    int d = begins ? 0 : distance(word, name);
    if (d >= best) continue;
    best = d;
    snprintf(out, size, "%s", name);
  }
}

int fx_choose(const char *choices, const char *what, const char *word) {
  char name[128], all[4096] = "";
  for (int k = 0; fx_choice(choices, k, name, sizeof name); k++) {
    if (!strcmp(name, word)) return k;
    size_t used = strlen(all);
    snprintf(all + used, sizeof all - used, "%s%s", used ? ", " : "", name);
  }
  fx_nearest(choices, word, name, sizeof name);
  if (name[0]) {
    fx_error("unknown %s '%s': did you mean '%s'?", what, word, name);
  } else {
    fx_error("unknown %s '%s': choose from %s", what, word, all[0] ? all : "(none in this build)");
  }
  return -1;
}

const frix_solver_info *fx_find_solver(const char *name) {
  int k = fx_choose("@solvers", "solver", name);
  return k < 0 ? NULL : frix_solver_table(k);
}

/* ---- parsing */

static const fx_flag *find_flag(const fx_verb *verb, const char *name, size_t length) {
  for (const fx_flag *flag = verb->flag; flag->name; flag++)
    if (strlen(flag->name) == length && !strncmp(flag->name, name, length)) return flag;
  return NULL;
}

static bool unknown_flag(const fx_verb *verb, const char *name, size_t length) {
  char all[1024] = "", word[64], near[128];
  for (const fx_flag *flag = verb->flag; flag->name; flag++) {
    size_t used = strlen(all);
    snprintf(all + used, sizeof all - used, "%s%s", used ? "|" : "", flag->name);
  }
  snprintf(word, sizeof word, "%.*s", (int)length, name);
  fx_nearest(all, word, near, sizeof near);
  if (near[0]) {
    fx_error("%s has no option '%s': did you mean '%s'?", verb->name, word, near);
  } else {
    fx_error("%s has no option '%s': see 'frix help %s'", verb->name, word, verb->name);
  }
  return false;
}

/* A flag at argv[*k]; its value may stand behind '=' or in the next word. */
static bool take_flag(const fx_verb *verb, int argc, char **argv, int *k, fx_args *out) {
  const char *word = argv[*k];
  size_t length = strcspn(word, "=");
  const fx_flag *flag = find_flag(verb, word, length);
  if (!flag) return unknown_flag(verb, word, length);
  const char *value = "";
  if (flag->value && word[length] == '=') {
    value = word + length + 1;
  } else if (flag->value) {
    if (*k + 1 >= argc) {
      fx_error("%s needs a value: %s %s", flag->name, flag->name, flag->value);
      return false;
    }
    value = argv[++*k];
  } else if (word[length] == '=') {
    fx_error("%s takes no value", flag->name);
    return false;
  }
  if (flag->choices && flag->choices[0] != '@' && fx_choose(flag->choices, flag->name + 2, value) < 0) return false;
  out->flag[out->flag_count] = flag;
  out->value[out->flag_count++] = value;
  return true;
}

bool fx_args_parse(const fx_verb *verb, int argc, char **argv, fx_args *out) {
  memset(out, 0, sizeof *out);
  out->verb = verb;
  size_t room = (size_t)argc + 1;
  out->word = fx_grow(NULL, room, sizeof *out->word);
  out->flag = fx_grow(NULL, room, sizeof *out->flag);
  out->value = fx_grow(NULL, room, sizeof *out->value);
  bool flags = true;
  for (int k = 0; k < argc; k++) {
    if (flags && !strcmp(argv[k], "--")) {
      flags = false;
    } else if (flags && argv[k][0] == '-' && argv[k][1]) {
      if (!take_flag(verb, argc, argv, &k, out)) return false;
    } else {
      out->word[out->word_count++] = argv[k];
    }
  }
  if (out->word_count > verb->max_words) {
    fx_error("unexpected argument '%s': usage: frix %s %s, see 'frix help %s'", out->word[verb->max_words], verb->name,
             verb->arguments, verb->name);
    return false;
  }
  if (out->word_count < verb->min_words) {
    fx_error("usage: frix %s %s: see 'frix help %s'", verb->name, verb->arguments, verb->name);
    return false;
  }
  return true;
}

void fx_args_free(fx_args *args) {
  free(args->word);
  free(args->flag);
  free(args->value);
}

/* ---- values */

const char *fx_arg_next(const fx_args *args, const char *name, int *cursor) {
  while (*cursor < args->flag_count) {
    int k = (*cursor)++;
    if (!strcmp(args->flag[k]->name, name)) return args->value[k];
  }
  return NULL;
}

const char *fx_arg(const fx_args *args, const char *name) {
  const char *last = NULL;
  int cursor = 0;
  for (const char *value; (value = fx_arg_next(args, name, &cursor));) last = value;
  return last;
}

bool fx_arg_real(const fx_args *args, const char *name, double minimum, double maximum, double *out) {
  const char *text = fx_arg(args, name);
  if (!text) return true;
  char *end = NULL;
  double value = strtod(text, &end);
  if (end == text || *end || !(value >= minimum && value <= maximum)) {
    if (maximum < HUGE_VAL) {
      fx_error("%s '%s' is not a number between %g and %g", name, text, minimum, maximum);
    } else {
      fx_error("%s '%s' is not a number of at least %g", name, text, minimum);
    }
    return false;
  }
  *out = value;
  return true;
}

bool fx_arg_integer(const fx_args *args, const char *name, int64_t minimum, int64_t maximum, int64_t *out) {
  const char *text = fx_arg(args, name);
  if (!text) return true;
  char *end = NULL;
  errno = 0;
  long long value = strtoll(text, &end, 10);
  if (end == text || *end || errno || value < minimum || value > maximum) {
    fx_error("%s '%s' is not a whole number between %lld and %lld", name, text, (long long)minimum, (long long)maximum);
    return false;
  }
  *out = value;
  return true;
}

int fx_arg_choice(const fx_args *args, const char *name, int absent) {
  const char *text = fx_arg(args, name);
  const fx_flag *flag = find_flag(args->verb, name, strlen(name));
  return text ? fx_choose(flag->choices, name + 2, text) : absent;
}

bool fx_split_setting(const char *text, char **key, const char **value) {
  const char *equals = strchr(text, '=');
  if (!equals || equals == text) {
    fx_error("--set '%s' should read name=value", text);
    return false;
  }
  *key = fx_join(text, "");
  (*key)[equals - text] = 0;
  *value = equals + 1;
  return true;
}
