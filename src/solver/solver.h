/* Solvers: one file and one table row each. */
#ifndef FX_SOLVER_SOLVER_H
#define FX_SOLVER_SOLVER_H

#include "solver/monitor.h"

enum { FX_MAX_OPTIONS = 16 };

/* What an island needed, in the order of effort: hints, kept by the caller from step to step. */
enum { FX_NEEDED_UNKNOWN, FX_NEEDED_SWEEPS, FX_NEEDED_NEWTON, FX_NEEDED_START };

/* One run of one method on one island. */
typedef struct fx_call {
  const fx_system *system;
  frix_law law;
  const double *option;        /* values of the method's own rows */
  const frix_options *options; /* all values, for methods made of methods; NULL: defaults */
  fx_arena *arena;             /* workspace; nothing is taken once iterations run */
  fx_monitor *monitor;
  struct fx_newton_linear *linear;     /* analysed already by a method made of methods, or NULL */
  const struct fx_exact_sweep *packed; /* W as exact sweeps read it, where they come again and again, or NULL */
  double *r;                           /* start; the method may leave anything here, the monitor keeps the best */
  const double *start;                 /* what the caller of the driver started from; r may be further */
  const char *finisher;                /* out: the method that gave the answer, where it is not the one called */
  int32_t thread_count;                /* that this run may use; never changes a bit */
  const uint8_t *swept; /* sweeps: by contact, those that are swept; others keep their impulses. NULL: all */
  bool (*widen)(struct fx_call *call); /* asked after a check: true where `swept` marks more than before */
  bool outgrown;                       /* out: sweeps left off because these did not fit */
  bool of_many;  /* one of many islands: an answer that nearly is one may do, the whole is judged next */
  bool left_off; /* out: that was made use of */
  double goal;   /* sweeps: residual at which `reached` is asked whether to go on; 0: none */
  bool (*reached)(struct fx_call *call); /* false: leave off. May set another goal; r is what was reached */
  bool shifted;                          /* set by `reached`: q of the system is another from here on */
  void *user;                            /* of `reached` */
  struct fx_revised *revised;            /* rows that change on the way (revision.h), or NULL */
  bool brief;   /* springs: one of many solves; where sweeps or newton do not do, nothing else is tried */
  uint8_t hint; /* in: what this island needed the last time, 0: unknown; out: what it needed now */
} fx_call;

typedef struct fx_solver {
  frix_solver_info info;
  bool prefers_velocity; /* works on M and H where it may choose */
  bool takes_islands;    /* sweeps over many islands as easily as over one: they need not be taken apart */
  frix_status (*solve)(fx_call *call);
} fx_solver;

/* Options of auto. */
enum { FX_AUTO_PILE, FX_AUTO_PILE_TOLERANCE, FX_AUTO_WORK };

extern const fx_solver fx_solver_auto, fx_solver_nsgs, fx_solver_newton, fx_solver_pgs, fx_solver_apgd, fx_solver_admm;
extern const fx_solver fx_solver_continuation, fx_solver_lemke, fx_solver_qp_active_set, fx_solver_sweeps;
extern const fx_solver fx_solver_interior_point, fx_solver_fixed_point, fx_solver_staggered;
extern const fx_solver fx_solver_sqp; /* builds with NLopt only */
extern const fx_solver fx_solver_box_trust_region, fx_solver_semismooth;
extern const fx_solver fx_solver_implicit, fx_solver_spring_newton;

/* Whether spring_newton can take this system: velocity form, cones of discs, limits and joints. */
bool fx_spring_newton_fits(const fx_system *system);

/* frix_certify on blocks at hand; u and v belong to r. */
frix_status fx_certify_system(fx_arena *arena, const frix_problem *problem, const fx_system *system, frix_law law,
                              const double *r, const double *u, const double *v, frix_certificate *out);

/* Row k of the table, NULL past its end. */
const fx_solver *fx_solver_at(int32_t k);
/* Its index. */
int32_t fx_solver_row(const fx_solver *solver);
/* Index of a name, or -1 with the error text set, nearest name suggested. */
int32_t fx_solver_find(frix_context *context, const char *name);

/* Values of the options of row k: those set, else the defaults. */
void fx_options_values(const frix_options *options, int32_t k, double value[FX_MAX_OPTIONS]);

/* The call by another method, which is then its finisher; who asks for that, and why, for the log. */
frix_status fx_solve_instead(fx_call *call, const fx_solver *other, const char *who, const char *why);

/* Cones: all bits of the cone table. */
#define FX_ALL_CONES ((1u << FRIX_CONE_COUNT) - 1)

#endif
