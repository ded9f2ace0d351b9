/* Threads: every task once, also after a rest and inside another job; parts that depend on the length alone. And the
 * width of a contact graph, which bounds the cost of its factors. */
#include "base/threads.h"
#include "solver/factor_width.h"
#include "solver/newton_linear.h"
#include "sphere_pile.h"

#include <string.h>
#include <time.h>

enum { TASKS = 37 };

typedef struct counts {
  frix_context *context;
  int32_t of[TASKS], inner[TASKS][3];
} counts;

static void count_inner(int32_t task, void *user) { ((int32_t *)user)[task]++; }

static void count_task(int32_t task, void *user) {
  counts *c = user;
  c->of[task]++;
  fx_parallel(c->context, 2, 3, count_inner, c->inner[task]);
}

static void rest(long milliseconds) {
  struct timespec time = {0, milliseconds * 1000000};
  nanosleep(&time, NULL);
}

/* Jobs that follow each other at once, and after pauses in which helpers fall asleep. */
static void every_task_once(fx_test *t) {
  enum { JOBS = 400 };
  counts c = {0};
  REQUIRE(t, frix_context_create(NULL, &c.context) == FRIX_OK);
  for (int32_t job = 0; job < JOBS; job++) {
    if (job % 100 == 99) rest(30);
    fx_parallel(c.context, 1 + job % 4, TASKS, count_task, &c);
  }
  int32_t wrong = 0;
  for (int32_t k = 0; k < TASKS; k++) {
    wrong += c.of[k] != JOBS;
    for (int e = 0; e < 3; e++) wrong += c.inner[k][e] != JOBS;
  }
  CHECK(t, wrong == 0);
  frix_context_destroy(c.context);
}

typedef struct harmonic {
  int32_t count;
  double sum[FX_PARTS];
  int32_t end[FX_PARTS];
  bool aligned[FX_PARTS];
} harmonic;

static void add_part(int32_t part, int32_t first, int32_t end, void *user) {
  harmonic *h = user;
  h->aligned[part] = first % 8 == 0;
  h->end[part] = end - first;
  for (int32_t k = first; k < end; k++) h->sum[part] += 1.0 / (k + 1);
}

static double add_all(fx_test *t, frix_context *context, int32_t threads, int32_t count) {
  harmonic h = {.count = count};
  double sum = 0;
  int32_t parts = fx_parallel_range((fx_threads){context, threads}, count, 100, add_part, &h), covered = 0;
  CHECK(t, parts >= 1 && parts <= FX_PARTS);
  for (int32_t k = 0; k < parts; k++) {
    sum += h.sum[k];
    covered += h.end[k];
    CHECK(t, h.aligned[k]);
  }
  CHECK(t, covered == count);
  return sum;
}

static void same_sums(fx_test *t) {
  static const int32_t counts_of[] = {0, 1, 99, 250, 1001, 54321};
  frix_context *context;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  for (int k = 0; k < 6; k++) {
    double alone = add_all(t, context, 1, counts_of[k]);
    for (int32_t threads = 2; threads <= 8; threads *= 2) {
      double sum = add_all(t, context, threads, counts_of[k]);
      CHECK(t, memcmp(&sum, &alone, sizeof sum) == 0);
    }
  }
  frix_context_destroy(context);
}

/* Of piles the estimate is at most what an ordering finds, and not a trifle of it; marked contacts alone count. */
static void width(fx_test *t) {
  static const int32_t spheres_of[] = {300, 1000};
  for (int k = 0; k < 2; k++) {
    pile p;
    bool good = pile_make(&p, spheres_of[k], 1e-2, false, 60);
    CHECK(t, good);
    fx_arena arena;
    fx_system s;
    if (good) fx_arena_init(&arena, p.context);
    if (good && fx_system_build(&arena, p.problem, FRIX_FORM_GLOBAL, &s) == FRIX_OK) {
      frix_status status;
      double guess = fx_factor_cost_guess(&arena, &s, NULL);
      fx_newton_linear *linear = fx_newton_linear_create(&arena, &s, &status);
      uint8_t *none = calloc((size_t)s.contact_count, 1);
      CHECK(t, linear && guess <= linear->lu.cost && guess > 1e-3 * linear->lu.cost);
      CHECK(t, none && fx_factor_cost_guess(&arena, &s, none) < 1e3);
      if (linear) fx_test_note(t, "%d contacts: %.1e of %.1e", s.contact_count, guess, linear->lu.cost);
      free(none);
    }
    if (good) fx_arena_free(&arena);
    pile_free(&p);
  }
}

const fx_test_row test_threads[] = {
    {"threads/every_task_once", every_task_once},
    {"threads/same_sums", same_sums},
    {"threads/width_of_a_pile", width},
    {0},
};
