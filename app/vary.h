/* Parameters of a scene that fit and design vary, and runs with given values of them. */
#ifndef FX_VARY_H
#define FX_VARY_H

#include "subject.h"

enum { FX_MOST_VARIED = 8 };

typedef struct fx_varied {
  char name[64];
  int32_t parameter; /* of the scene; -1: the mass of a body, -2: the friction of a file */
  frix_body_id body;
  double start, least, most;
} fx_varied;

/* A coordinate of a body: x y z, vx vy vz, wx wy wz. */
typedef struct fx_reading {
  frix_body_id body;
  int coordinate;
  double time;
} fx_reading;

typedef struct fx_vary {
  frix_context *context;
  fx_subject subject;
  frix_sim_config config;
  frix_options *options;
  double h;
  fx_varied varied[FX_MOST_VARIED];
  int count;
  int64_t runs, steps;
  bool certified; /* every step of all runs */
} fx_vary;

/* The scene, its settings and --vary; false after a message. */
bool fx_vary_open(fx_vary *vary, const fx_args *args, const char *word);
void fx_vary_close(fx_vary *vary);
/* "cup.x" into body and coordinate; false after a message. */
bool fx_vary_reading(const fx_vary *vary, const char *text, fx_reading *out);
/* Number of a coordinate by its name, -1: none. */
int fx_vary_coordinate(const char *name);
/* Runs with these values; readings are sorted by time, those between two steps interpolated. False after a message. */
bool fx_vary_run(fx_vary *vary, const double *value, const fx_reading *reading, int count, double *out);
/* Derivatives of the readings by the parameters, count x vary->count, by central differences of certified runs. */
bool fx_vary_jacobian(fx_vary *vary, const double *value, const fx_reading *reading, int count, double *out);
void fx_vary_clamp(const fx_vary *vary, double *value);

/* Gauss-Newton with damping on sum (reading - wanted)^2. */
typedef struct fx_least_squares {
  double value[FX_MOST_VARIED];
  double *residual, *jacobian;                       /* at value */
  double sum;                                        /* of squares */
  double covariance[FX_MOST_VARIED][FX_MOST_VARIED]; /* over the variance of a reading */
  bool known[FX_MOST_VARIED];                        /* some reading depends on it */
  double correlation;                                /* the largest between two parameters */
  int pair[2];                                       /* these */
  bool singular, converged;
  int iterations;
} fx_least_squares;

bool fx_least_squares_find(fx_vary *vary, const fx_reading *reading, const double *wanted, int count,
                           fx_least_squares *out);
void fx_least_squares_free(fx_least_squares *fit);

#define FX_VARY_FLAGS                                                                                                  \
  {"--vary", "LIST", NULL, "parameters to find, separated by commas: real parameters of the scene, mass:BODY"},        \
      {"--set", "k=v", NULL,                                                                                           \
       "set a parameter of the scene (start of the search) or an option of a solver; may be repeated"},                \
      {"--dt", "H", NULL, "time step in s; default: the scene's"},                                                     \
      {"--seed", "N", NULL, "seed of the random parts of the scene"}, {"--json", NULL, NULL, "print one JSON object"}, \
      FX_SIM_FLAGS

#endif
