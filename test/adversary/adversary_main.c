/* frix_adversary: random worlds, stepped and judged by someone else.
 *
 *   frix_adversary [COUNT] [--seed S] [--class NAME] [--keep FILE] [--json] [--tolerance T]
 *   frix_adversary [--save FILE] --replay CLASS SEED INDEX   every step of one world, described; a problem as a file
 *   frix_adversary --named                        the defects that were found once
 *   frix_adversary --list
 *
 * --tolerance: what the steps are solved to, judged as if to 1e-8 all the same: below, what remains is not the
 * solver's. COUNT steps altogether (default 10,000), shared by the classes. Exit code 1 where a certified step is
 * wrong. */
#include "trials.h"

#include <stdlib.h>
#include <string.h>

typedef struct settings {
  int64_t count;
  uint64_t seed;
  const char *class;
  const char *keep;
  bool json;
} settings;

static void print_row(const char *name, const tally *t) {
  printf("%-14s %8lld %9lld %9lld %8lld %8lld %7lld %8.1f", name, (long long)t->worlds, (long long)t->steps,
         (long long)t->certified, (long long)t->wrong, (long long)t->open, (long long)(t->refused + t->failed),
         t->steps ? 1e6 * t->seconds / (double)t->steps : 0.0);
  for (int k = 0; k < LAW_COUNT; k++)
    if (t->law[k]) printf("  %s %lld", law_name((law)k), (long long)t->law[k]);
  printf("\n");
}

static void print_json(const char *name, const tally *t, bool first) {
  printf(
      "%s\n  {\"class\": \"%s\", \"worlds\": %lld, \"refused\": %lld, \"steps\": %lld, \"certified\": %lld, "
      "\"certified_wrong\": %lld, \"not_certified\": %lld, \"failed\": %lld, \"seconds\": %.3f, \"laws\": {",
      first ? "" : ",", name, (long long)t->worlds, (long long)t->refused, (long long)t->steps, (long long)t->certified,
      (long long)t->wrong, (long long)t->open, (long long)t->failed, t->seconds);
  for (int k = 0; k < LAW_COUNT; k++) printf("%s\"%s\": %lld", k ? ", " : "", law_name((law)k), (long long)t->law[k]);
  printf("}}");
}

static void run_class(const world_class *c, const settings *s, int64_t steps, tally *t, FILE *keep) {
  for (uint64_t index = 0; t->steps < steps && t->worlds < 4 * steps + 100; index++) {
    finding f;
    run_case(c, s->seed, index, t, &f, NULL);
    if (f.step < 0) continue;
    fprintf(stderr, "%s %llu %llu step %d: %.2e %s\n", c->name, (unsigned long long)s->seed, (unsigned long long)index,
            f.step, f.excess, f.text);
    if (keep) {
      fprintf(keep, "%s %llu %llu %s\n", c->name, (unsigned long long)s->seed, (unsigned long long)index,
              law_name(f.law));
      fflush(keep);
    }
  }
}

static int run_all(const settings *s) {
  int classes = 0, left = 0;
  bool first = true;
  tally total = {0};
  FILE *keep = s->keep ? fopen(s->keep, "a") : NULL;
  for (int k = 0; world_class_at(k); k++) classes += !s->class || !strcmp(s->class, world_class_at(k)->name);
  if (!classes) {
    fprintf(stderr, "frix_adversary: no class '%s'; --list shows them\n", s->class);
    return 2;
  }
  left = classes;
  if (s->json)
    printf("{\"seed\": %llu, \"classes\": [", (unsigned long long)s->seed);
  else
    printf("%-14s %8s %9s %9s %8s %8s %7s %8s  laws broken in certified steps\n", "class", "worlds", "steps",
           "certified", "wrong", "open", "refused", "us/step");
  for (int k = 0; world_class_at(k); k++) {
    const world_class *c = world_class_at(k);
    tally t = {0};
    if (s->class && strcmp(s->class, c->name) != 0) continue;
    run_class(c, s, (s->count - total.steps) / left--, &t, keep);
    if (s->json)
      print_json(c->name, &t, first);
    else
      print_row(c->name, &t);
    fflush(stdout);
    first = false;
    tally_add(&total, &t);
  }
  if (s->json) {
    print_json("all", &total, first);
    printf("\n]}\n");
  } else {
    print_row("all", &total);
  }
  if (keep) fclose(keep);
  return total.wrong > 0;
}

static int run_named(void) {
  bool wrong = false;
  for (int k = 0; named_case_at(k); k++) {
    const named_case *c = named_case_at(k);
    tally t = {0};
    finding f;
    c->run(&t, &f, NULL);
    printf("%-20s %s: %lld steps, %lld certified, %lld wrong%s%s\n", c->name, t.wrong ? "WRONG" : "good ",
           (long long)t.steps, (long long)t.certified, (long long)t.wrong, f.step >= 0 ? "; " : "",
           f.step >= 0 ? f.text : "");
    wrong |= t.wrong > 0;
  }
  return wrong;
}

static int replay(const char *name, uint64_t seed, uint64_t index) {
  tally t = {0};
  finding f;
  for (int k = 0; named_case_at(k); k++)
    if (!strcmp(name, named_case_at(k)->name)) {
      named_case_at(k)->run(&t, &f, stdout);
      return t.wrong > 0;
    }
  const world_class *c = world_class_find(name);
  if (!c) {
    fprintf(stderr, "frix_adversary: no class '%s'; --list shows them\n", name);
    return 2;
  }
  run_case(c, seed, index, &t, &f, stdout);
  return t.wrong > 0;
}

static int list(void) {
  for (int k = 0; world_class_at(k); k++)
    printf("%-14s %s%s\n", world_class_at(k)->name, world_class_at(k)->summary,
           world_class_at(k)->extreme ? " (extreme)" : "");
  for (int k = 0; named_case_at(k); k++)
    printf("%-20s %s (named)\n", named_case_at(k)->name, named_case_at(k)->summary);
  return 0;
}

int main(int count, char **word) {
  settings s = {.count = 10000, .seed = 1};
  for (int k = 1; k < count; k++) {
    bool more = k + 1 < count;
    if (!strcmp(word[k], "--seed") && more)
      s.seed = strtoull(word[++k], NULL, 10);
    else if (!strcmp(word[k], "--class") && more)
      s.class = word[++k];
    else if (!strcmp(word[k], "--keep") && more)
      s.keep = word[++k];
    else if (!strcmp(word[k], "--save") && more)
      run_save = word[++k];
    else if (!strcmp(word[k], "--tolerance") && more)
      world_tolerance = strtod(word[++k], NULL);
    else if (!strcmp(word[k], "--json"))
      s.json = true;
    else if (!strcmp(word[k], "--list"))
      return list();
    else if (!strcmp(word[k], "--named"))
      return run_named();
    else if (!strcmp(word[k], "--replay") && more)
      return replay(word[k + 1], k + 2 < count ? strtoull(word[k + 2], NULL, 10) : 1,
                    k + 3 < count ? strtoull(word[k + 3], NULL, 10) : 0);
    else if (word[k][0] >= '0' && word[k][0] <= '9')
      s.count = (int64_t)strtod(word[k], NULL);
    else {
      fprintf(stderr,
              "usage: frix_adversary [COUNT] [--seed S] [--class NAME] [--keep FILE] [--json]\n"
              "       frix_adversary --replay CLASS SEED INDEX | --named | --list\n");
      return 2;
    }
  }
  return run_all(&s);
}
