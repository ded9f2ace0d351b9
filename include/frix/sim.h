/* frix: simulation.
 *
 *   frix_sim_create(context, model, config, &sim);
 *   for (...) frix_sim_step(sim, h, &report);      collide -> assemble -> solve -> integrate
 *
 * Every step returns a certificate (how exactly Coulomb's law holds) and updates an energy ledger that balances. A sim
 * reads its model, which must outlive it; any number of sims can share a model. Use a sim from one thread at a time.
 * Positions are in metres in the world frame; velocities are those of the centre of mass. */
#ifndef FRIX_SIM_H
#define FRIX_SIM_H

#include <frix/model.h>
#include <frix/solve.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct frix_sim frix_sim;

/* What a step does when its answer does not reach the tolerance. */
typedef enum frix_policy {
  FRIX_POLICY_REPORT, /* continues with the best answer; the report says so */
  FRIX_POLICY_STRICT, /* undoes the step and returns FRIX_ERROR_CERTIFICATE */
} frix_policy;

typedef enum frix_restitution {
  FRIX_RESTITUTION_NEWTON,  /* u_N after = -e u_N before; with friction it may create energy */
  FRIX_RESTITUTION_POISSON, /* compression, then decompression with e times its normal impulse */
  FRIX_RESTITUTION_BOUNDED, /* newton, with e reduced in islands where it would create energy; default */
} frix_restitution;

/* The law of contacts whose materials have no stiffness; both have the exact friction cone. */
typedef enum frix_contact_kind {
  FRIX_CONTACT_KIND_STIFF, /* springs of 25 m / h^2, m the geometric mean of the masses: forces are unique; default */
  FRIX_CONTACT_KIND_RIGID, /* no overlap at all: forces may have several solutions */
} frix_contact_kind;

/* A row of the table of contact laws. */
typedef struct frix_contact_kind_info {
  const char *name;
  const char *summary;
} frix_contact_kind_info;

/* Row k, the law with this number; NULL past the end. */
FRIX_API const frix_contact_kind_info *frix_contact_kind_table(int32_t k);

/* A row of the table of restitution laws. */
typedef struct frix_restitution_info {
  const char *name;
  const char *summary;
} frix_restitution_info;

/* Row k, the law with this number; NULL past the end. */
FRIX_API const frix_restitution_info *frix_restitution_table(int32_t k);

typedef struct frix_sim_config {
  uint32_t size;          /* set by frix_sim_default */
  const char *integrator; /* name in the table; default "moreau" */
  const char *solver;     /* name in the solver table; default "auto" */
  const frix_options *options;
  frix_law law;
  double tolerance; /* tolerance of the certificate, default 1e-8 */
  double polish;    /* certified answers are refined to this if the world is small or near rest, default 1e-13; 0: no */
  bool seek_rest;   /* a world at rest stays there if an equilibrium exists (frix/equilibrium.h); default true */
  int64_t max_iterations; /* 0: the method's own */
  int32_t thread_count;   /* default 1; results have the same bits for any number */
  frix_policy policy;
  frix_restitution restitution;
  double restitution_speed;       /* slower impacts do not bounce; negative (default): 2 |gravity| h */
  double stabilisation;           /* gamma: part of a penetration removed per step, default 0.2 */
  double joint_stabilisation;     /* the same for joints, default 1 */
  double margin;                  /* contacts are created up to this gap; negative (default): from sizes and speeds */
  int32_t projections;            /* steps of projection on the joint and contact manifold after each step, default 0 */
  bool sleep;                     /* bodies at rest are not simulated until something touches them; default false */
  double sleep_speed, sleep_time; /* below this speed for this long, default 1e-4 m/s, 0.5 s */
  /* Called when the integrator needs forces, at the poses where it needs them: query bodies, then add forces. May be
   * NULL.
   */
  void (*force)(frix_sim *sim, double time, void *user);
  void *user;
  frix_contact_kind contact; /* default stiff */
  /* Called with `user` while a step is solved, from any of its threads; true undoes the step, which then returns
   * FRIX_ERROR_CANCELLED. May be NULL. */
  bool (*cancel)(void *user);
  /* Coordinates of the joints of the model, default reduced: hinges, sliders, balls, universal and fixed joints are
   * coordinates of trees; joints that close loops, distances and couplings are rows, as are all joints where it says
   * maximal. A model that was read as a robot has its trees whatever this says. */
  frix_coordinates coordinates;
} frix_sim_config;

FRIX_API void frix_sim_init(frix_sim_config *out, size_t size);
static inline frix_sim_config frix_sim_default(void) {
  frix_sim_config out;
  frix_sim_init(&out, sizeof out);
  return out;
}

/* A row of the integrator table. */
typedef struct frix_integrator_info {
  const char *name;
  const char *summary;
} frix_integrator_info;

/* Row k of the table, NULL past its end. */
FRIX_API const frix_integrator_info *frix_integrator_table(int32_t k);

/* config may be NULL. The model must outlive the sim. */
FRIX_API frix_status frix_sim_create(frix_context *context, const frix_model *model, const frix_sim_config *config,
                                     frix_sim **out);
FRIX_API void frix_sim_destroy(frix_sim *sim);

/* ---- stepping ---- */

/* Energies in J. kinetic and potential are current values; the others are sums over all steps since the sim was created
 * or the ledger reset, and kinetic + potential = start + work - friction - impact - damping + joint + contact + scheme
 * + error up to rounding, where start is the energy at the reset. */
typedef struct frix_energy {
  double start;
  double kinetic;
  double potential; /* gravity, springs of joints and of compliant contacts */
  double work;     /* done by forces, motors, kinematic bodies and changes of the state (poses, velocities, spawning) */
  double friction; /* lost to sliding and rolling friction in contacts and joints; never decreases */
  double impact;   /* lost along the normals of contacts and at limits; never decreases */
  double damping;  /* lost in dampers and implicit forces */
  double joint;    /* added by the bilateral rows (drift control) and by preloading contact springs at rest */
  double contact;  /* added by contacts: overlaps pushed out, and energy created by restitution law newton */
  double scheme;   /* added by the time discretisation: gravity and springs over a finite step, finite rotations, slip
                    * that   reverses within a step */
  double error;    /* added by the solver: error of M v = H r + G lambda + f */
} frix_energy;

/* Kind of a row of a step's problem. */
typedef enum frix_row_kind {
  FRIX_ROW_NONE,
  FRIX_ROW_CONTACT,
  FRIX_ROW_DRILLING, /* friction about the normal of a contact */
  FRIX_ROW_LIMIT,
  FRIX_ROW_FRICTION, /* dry friction of a joint */
  FRIX_ROW_MOTOR,
  FRIX_ROW_SPRING,
  FRIX_ROW_JOINT,
} frix_row_kind;

FRIX_API const char *frix_row_kind_name(frix_row_kind kind);

/* A step is certified if each of its phases is. Phases are "contacts" (contacts and joints), "compression" and
 * "decompression" (Poisson's restitution), "forces" (an implicit step whose forces must agree with its answer),
 * "thrown" (bodies that an impact throws into others), "restitution" (a bounce that creates energy however much it is
 * reduced), "ball friction" (dry friction of ball joints whose direction was not found) and "projection". */
typedef struct frix_step_report {
  uint32_t size;
  frix_outcome outcome;         /* of the worst phase */
  frix_certificate certificate; /* of the worst phase */
  bool certified;               /* the residual of every phase is at most the tolerance */
  const char *phase;            /* the worst one */
  frix_row_kind worst_kind;     /* what the worst row of its certificate belongs to, and the bodies it acts on; for a */
  frix_body_id worst_a, worst_b; /* joint row also which joint */
  frix_joint_id worst_joint;
  bool approximate;   /* the chosen method or law is an approximation */
  bool overlaps_left; /* overlaps were not pushed out in this step: with push-out no certified answer was found. The
                       * certificate is that of the problem without it. Or soft surfaces overlap where the last solve
                       * of the step takes them, by less than a hundredth of their size */
  double restitution; /* smallest factor applied to the restitution of an impact: below 1 if it was reduced */
  int64_t iterations;
  const char *finisher;
  int32_t contact_count; /* in the problem, including open ones */
  int32_t touching_count;
  int32_t row_count, dof_count, joint_count, island_count;
  int32_t awake_count;
  double penetration; /* deepest, before the step */
  double seconds, collide_seconds, assemble_seconds, solve_seconds, integrate_seconds;
  bool repeated;      /* the state equals, bit by bit, that before and after the last step, whose answer is reused */
  double reserved[7]; /* zero; for later versions (docs/library.md) */
} frix_step_report;

/* report may be NULL. */
FRIX_API frix_status frix_sim_step_sized(frix_sim *sim, double h, frix_step_report *report, size_t size);
static inline frix_status frix_sim_step(frix_sim *sim, double h, frix_step_report *report) {
  return frix_sim_step_sized(sim, h, report, sizeof *report);
}
/* The best answer after so many microseconds of solving. If it is not certified, it is scaled so that contacts add no
 * energy to the free motion. */
FRIX_API frix_status frix_sim_step_within_sized(frix_sim *sim, double h, double microseconds, frix_step_report *report,
                                                size_t size);
static inline frix_status frix_sim_step_within(frix_sim *sim, double h, double microseconds, frix_step_report *report) {
  return frix_sim_step_within_sized(sim, h, microseconds, report, sizeof *report);
}

FRIX_API double frix_sim_time(const frix_sim *sim);
FRIX_API int64_t frix_sim_step_count(const frix_sim *sim);
FRIX_API void frix_sim_energy_sized(const frix_sim *sim, frix_energy *out, size_t size);
static inline frix_energy frix_sim_energy(const frix_sim *sim) {
  frix_energy out;
  frix_sim_energy_sized(sim, &out, sizeof out);
  return out;
}
FRIX_API void frix_sim_reset_ledger(frix_sim *sim);
FRIX_API frix_status frix_sim_set_gravity(frix_sim *sim, frix_vec3 gravity);
/* The contact problem of the last step; the caller destroys it. */
FRIX_API frix_status frix_sim_problem(const frix_sim *sim, frix_problem **out);

/* ---- bodies: ids of the model's bodies are valid in every sim until removed there ---- */
typedef struct frix_body_state {
  frix_pose pose;           /* of the body's frame as given by the user */
  frix_vec3 center;         /* of mass, world */
  frix_vec3 velocity, spin; /* of the centre of mass, world */
  bool asleep;
  double reserved[2]; /* zero; for later versions (docs/library.md) */
} frix_body_state;

FRIX_API int32_t frix_sim_body_count(const frix_sim *sim); /* living ones */
/* The k-th living body, null past the end. */
FRIX_API frix_body_id frix_sim_body_at(const frix_sim *sim, int32_t k);
/* The living body after this one (null: the first); null after the last. Iterating over all bodies takes linear time.
 */
FRIX_API frix_body_id frix_sim_body_next(const frix_sim *sim, frix_body_id id);
FRIX_API bool frix_sim_alive(const frix_sim *sim, frix_body_id id);
FRIX_API frix_status frix_sim_body_sized(const frix_sim *sim, frix_body_id id, frix_body_state *out, size_t size);
static inline frix_status frix_sim_body(const frix_sim *sim, frix_body_id id, frix_body_state *out) {
  return frix_sim_body_sized(sim, id, out, sizeof *out);
}
/* Which body of the model this one is an instance of. */
FRIX_API frix_status frix_sim_pattern(const frix_sim *sim, frix_body_id id, frix_body_id *out);
/* Another instance of a model body (without its joints). */
FRIX_API frix_status frix_sim_spawn(frix_sim *sim, frix_body_id pattern, frix_pose pose, frix_vec3 velocity,
                                    frix_vec3 spin, frix_body_id *out);
/* Also removes its contacts and joints. */
FRIX_API frix_status frix_sim_remove(frix_sim *sim, frix_body_id id);
/* Of this body alone, also where its joints are coordinates: joints that are open then close by rows. */
FRIX_API frix_status frix_sim_set_pose(frix_sim *sim, frix_body_id id, frix_pose pose);
/* Kinematic bodies keep this velocity. */
FRIX_API frix_status frix_sim_set_velocity(frix_sim *sim, frix_body_id id, frix_vec3 velocity, frix_vec3 spin);
/* Kinematic: velocities that bring it to pose in the time h. */
FRIX_API frix_status frix_sim_move_to(frix_sim *sim, frix_body_id id, frix_pose pose, double h);
/* Forces act during the next step only. */
FRIX_API frix_status frix_sim_add_force(frix_sim *sim, frix_body_id id, frix_vec3 force, frix_vec3 torque);
FRIX_API frix_status frix_sim_add_force_at(frix_sim *sim, frix_body_id id, frix_vec3 force, frix_vec3 point);
/* Derivatives of the force on the centre of mass, -dF/dx and -dF/dv (positive semidefinite), for the next step, which
 * is then linearly implicit in this force and stable for any stiffness. torque_damping: -dT/dw. */
FRIX_API frix_status frix_sim_add_slope(frix_sim *sim, frix_body_id id, frix_sym3 stiffness, frix_sym3 damping,
                                        frix_sym3 torque_damping);
FRIX_API frix_status frix_sim_wake(frix_sim *sim, frix_body_id id);

/* ---- contacts of the last step ---- */
/* A contact touches if its impulse is above the error of the answer and its gap closes within the step, or if it stays
 * closed without load (state open): docs/simulation.md. */
typedef enum frix_contact_phase { FRIX_CONTACT_BEGIN, FRIX_CONTACT_PERSIST, FRIX_CONTACT_END } frix_contact_phase;
typedef enum frix_contact_state { FRIX_CONTACT_OPEN, FRIX_CONTACT_STICK, FRIX_CONTACT_SLIP } frix_contact_state;

typedef struct frix_contact_report {
  uint64_t id; /* the same from step to step while the same features touch */
  frix_body_id a, b;
  frix_shape_id shape_a, shape_b;
  frix_contact_phase phase;
  frix_contact_state state;
  frix_vec3 point, normal, tangent[2]; /* the normal points from b to a */
  double gap;                          /* before the step */
  double mu;
  double margin;         /* |r_T| / (mu r_N): 1 slides, below 1 sticks; 0 without friction or force */
  frix_vec3 impulse;     /* on a, world frame */
  frix_vec3 force;       /* impulse / h */
  frix_vec3 roll;        /* rolling and spinning impulse on a, N m s */
  frix_vec3 velocity;    /* of a against b at the point, after the step */
  void *user_a, *user_b; /* of the shapes; NULL in frames of files */
  double reserved[4];    /* zero; for later versions (docs/library.md) */
} frix_contact_report;

/* Touching contacts, in a fixed order; then those that ended in this step (phase END, with their last impulse). */
FRIX_API int32_t frix_sim_contact_count(const frix_sim *sim);
FRIX_API frix_status frix_sim_contact_sized(const frix_sim *sim, int32_t k, frix_contact_report *out, size_t size);
static inline frix_status frix_sim_contact(const frix_sim *sim, int32_t k, frix_contact_report *out) {
  return frix_sim_contact_sized(sim, k, out, sizeof *out);
}
/* Sum of the contact forces that b exerts on a in the last step, and their torque about the centre of a. Null ids: the
 * world. */
FRIX_API frix_status frix_sim_pair_force(const frix_sim *sim, frix_body_id a, frix_body_id b, frix_vec3 *force,
                                         frix_vec3 *torque);

/* ---- rows of the last step: every impulse that acted in it, open contacts and limits included ---- */

/* Rows that share one law. The impulse of row k acts along direction[k]: for contacts and drilling friction on a at
 * `point` and reversed on b; for joints on b and reversed on a. */
typedef struct frix_row_report {
  frix_row_kind kind;
  frix_body_id a, b;   /* null: the world */
  frix_contact law;    /* its cone; joint: bilateral */
  frix_joint_id joint; /* limit, friction, motor, spring, joint */
  int32_t axis;        /* coordinate of the joint */
  bool upper;          /* limit: the upper one, whose impulse is positive towards smaller coordinates */
  uint64_t contact;    /* id as in frix_contact_report: contact, drilling */
  frix_shape_id shape_a, shape_b;
  frix_vec3 point; /* of the contact, where it was found */
  double gap;
  frix_vec3 direction[FRIX_MAX_DIM]; /* zero where a row moves no body (known bounds of friction), or several joints */
  bool angular[FRIX_MAX_DIM];
  double impulse[FRIX_MAX_DIM];     /* N s or N m s */
  double compression[FRIX_MAX_DIM]; /* Poisson's restitution: that of the first phase; else the same */
  double memory[FRIX_MAX_DIM];      /* r_c: impulse that a compliant row remembers, or the known bound */
  double shift[FRIX_MAX_DIM];       /* shift of the row: u = J v + shift + R (r - r_c) */
  double compliance[FRIX_MAX_DIM];  /* R */
  double expected[FRIX_MAX_DIM];    /* stiff contact: the part of r_c that is a predicted impact impulse */
  int32_t
      soft_place[2];  /* where sides a and b are met on a soft body: point k as k + 1, triangle t of frix_soft_info as
                         -(t + 1); 0: the side is rigid */
  double reserved[1]; /* zero; for later versions (docs/library.md) */
} frix_row_report;

FRIX_API int32_t frix_sim_row_count(const frix_sim *sim);
FRIX_API frix_status frix_sim_row_sized(const frix_sim *sim, int32_t k, frix_row_report *out, size_t size);
static inline frix_status frix_sim_row(const frix_sim *sim, int32_t k, frix_row_report *out) {
  return frix_sim_row_sized(sim, k, out, sizeof *out);
}

/* ---- joints ---- */
typedef struct frix_joint_state {
  bool active;                        /* both bodies are there */
  double coordinate[FRIX_JOINT_AXES]; /* angles count full turns */
  double rate[FRIX_JOINT_AXES];
  double axis_force[FRIX_JOINT_AXES]; /* limits, motors, friction, springs together, N or N m, on b */
  frix_vec3 force, torque;            /* of the bilateral rows on b, at its anchor, world frame */
  double error;                       /* distance from the joint manifold, m and rad together */
  double reserved[4];                 /* zero; for later versions (docs/library.md) */
} frix_joint_state;

FRIX_API frix_status frix_sim_joint_sized(const frix_sim *sim, frix_joint_id id, frix_joint_state *out, size_t size);
static inline frix_status frix_sim_joint(const frix_sim *sim, frix_joint_id id, frix_joint_state *out) {
  return frix_sim_joint_sized(sim, id, out, sizeof *out);
}
FRIX_API frix_status frix_sim_set_axis(frix_sim *sim, frix_joint_id id, int32_t axis, const frix_axis_config *config);
FRIX_API frix_status frix_sim_axis(const frix_sim *sim, frix_joint_id id, int32_t axis, frix_axis_config *out);

/* ---- snapshots ---- */
typedef struct frix_snapshot frix_snapshot;

/* Everything the future depends on, bit by bit. */
FRIX_API frix_status frix_sim_save(const frix_sim *sim, frix_snapshot **out);
/* Into the same sim or another one of the same model and config. */
FRIX_API frix_status frix_sim_restore(frix_sim *sim, const frix_snapshot *snapshot);
FRIX_API void frix_snapshot_destroy(frix_snapshot *snapshot);
/* Hash of everything a snapshot holds. */
FRIX_API frix_status frix_sim_hash(const frix_sim *sim, uint64_t *out);

#ifdef __cplusplus
}
#endif
#endif
