/* Runs cases and counts. A case is a class, a seed and an index. */
#ifndef ADVERSARY_TRIALS_H
#define ADVERSARY_TRIALS_H

#include "judge.h"
#include "random_world.h"

typedef struct tally {
  int64_t worlds, refused;               /* refused: the builder or the sim does not take them */
  int64_t steps, certified, wrong, open; /* open: not certified; wrong: certified and against a law */
  int64_t failed;                        /* steps that returned an error */
  int64_t law[LAW_COUNT];
  double seconds;
} tally;

/* Where contact problems are written as they are solved, NULL: nowhere. */
extern const char *run_save;

void tally_add(tally *to, const tally *from);

/* What a case showed first. */
typedef struct finding {
  int step; /* -1: nothing */
  law law;
  double excess;
  char text[512];
} finding;

/* Counts what the judge says of an answer that is certified. */
void count_verdict(int step, double residual, const verdict *v, tally *t, finding *f, FILE *log);
/* One world, all of its steps. log: NULL, or where every step is described. */
void run_world(world *w, tally *t, finding *f, FILE *log);
/* One contact problem, solved; it counts as a step. config NULL: defaults. Destroys the problem. */
void run_problem(frix_context *context, frix_problem *problem, const frix_solve_config *config, tally *t, finding *f,
                 FILE *log);
/* Impulses of someone else, certified by frix and judged. */
void run_answer(frix_context *context, frix_problem *problem, const double *r, tally *t, finding *f, FILE *log);
void run_case(const world_class *class, uint64_t seed, uint64_t index, tally *t, finding *f, FILE *log);

/* ---- named cases: defects that were found once ---- */
typedef struct named_case {
  const char *name;
  const char *summary;
  void (*run)(tally *t, finding *f, FILE *log);
} named_case;

const named_case *named_case_at(int k); /* NULL past the end */

#endif
