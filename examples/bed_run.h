/* Runs of beds: steps, frames and saved states, for the command and for ranks of MPI alike. */
#ifndef EX_BED_RUN_H
#define EX_BED_RUN_H

#include "beds.h"

typedef struct ex_bed_job {
  const ex_bed_scene *scene;
  double value[EX_BED_PARAMETERS];
  uint64_t seed;
  double h, time, tolerance;
  int32_t threads, max_sweeps; /* max_sweeps 0: the default */
  int64_t every;               /* steps from frame to frame */
  int64_t save;                /* steps from saved state to saved state, 0: none */
  const char *out;             /* file of frames, NULL: none; states go to OUT.state */
  const char *resume;          /* a saved state to go on from, NULL: from the start */
  bool contacts;               /* frames hold them */
  const frix_bed_link *link;   /* NULL: alone */
  void (*tell)(const frix_bed *bed, const frix_bed_report *report, void *user); /* after each step; may be NULL */
  void *user;
} ex_bed_job;

typedef struct ex_bed_outcome {
  int64_t steps, certified, sweeps, grains, came, left;
  double worst;   /* residual */
  double seconds; /* wall time of the steps */
  uint64_t hash;
  size_t bytes; /* of the bed on this rank */
  frix_bed_report last;
} ex_bed_outcome;

/* A job with the values of the scene. */
ex_bed_job ex_bed_job_of(const ex_bed_scene *scene);
/* "n=400" into the job; NULL, or what is wrong with it. */
const char *ex_bed_set(ex_bed_job *job, const char *setting);
/* The law of contact in force, by name. */
const char *ex_bed_law(const ex_bed_job *job);
/* All ranks call it with the same job but for the link. */
frix_status ex_bed_run(frix_context *context, const ex_bed_job *job, ex_bed_outcome *out);

#endif
