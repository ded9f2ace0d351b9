/* The simulator: state, what one step computes from it, and the pieces a step is made of.
 *
 *   collide -> assemble (groups of rows) -> solve -> integrate (finish, reports, ledger) */
#ifndef FX_SIM_SIM_H
#define FX_SIM_SIM_H

#include "base/arena.h"
#include "collision/collision.h"
#include "model/model_internal.h"
#include "problem/problem_internal.h"
#include "sim/pool.h"

#include <frix/sim.h>

/* ---- state: all that the future depends on ---- */

/* A contact of the last step: warm start and the memory of tangential springs; reported where it touches. */
typedef struct fx_touching {
  fx_contact contact;
  frix_vec3 impulse, roll; /* on a, world */
  double row[5]; /* the same in the contact's frame, without what a blow brought: memory of springs, warm start */
  frix_vec3 velocity;
  double spin_impulse; /* about the normal */
  double mu, margin;
  double stiffness; /* of its spring, N/m; 0: rigid */
  double natural;   /* gap at which the spring carries nothing */
  frix_contact_phase phase;
  frix_contact_state state;
  uint32_t generation_a, generation_b;
  bool touches;
} fx_touching;

/* A force between two bodies beside their contact: on the second, the other way on the first. */
typedef struct fx_attraction {
  int32_t slot[2];
  frix_vec3 force, at;
} fx_attraction;

enum { FX_AXIS_LOWER, FX_AXIS_UPPER, FX_AXIS_FRICTION, FX_AXIS_MOTOR, FX_AXIS_SPRING, FX_AXIS_PARTS };

typedef struct fx_joint_memory {
  frix_axis_config axis[FRIX_JOINT_AXES];
  double coordinate[FRIX_JOINT_AXES], rate[FRIX_JOINT_AXES];
  double part[FRIX_JOINT_AXES][FX_AXIS_PARTS][3]; /* impulses of the last step */
  double lambda[FRIX_MAX_DIM];
  frix_vec3 force, torque;
  double error;
} fx_joint_memory;

/* Forces that the user applies to a body for the next step. */
typedef struct fx_load {
  frix_vec3 force, torque;
  frix_sym3 stiffness, damping, torque_damping;
  bool slope;
} fx_load;

typedef struct fx_state {
  double time, last_step;
  int64_t step_count;
  int64_t polish_at, polish_wait, polish_again; /* when answers are refined next */
  frix_vec3 gravity;
  frix_energy energy;
  int32_t count;      /* slots, with the world at 0 */
  int32_t *prototype; /* model body, -1 where empty */
  uint32_t *generation;
  frix_pose *pose; /* central frames */
  frix_vec3 *velocity, *spin;
  frix_vec3 *momentum; /* angular, world: kept itself, so that free flight keeps every bit */
  fx_load *load;
  uint8_t *asleep;
  double *quiet; /* seconds below the sleeping speed */
  int32_t joint_count;
  fx_joint_memory *joint;
  int32_t touching_count, ended_count; /* all that is remembered, then those that touch no longer */
  fx_touching *touching;
  double *robot; /* coordinates, velocities, controls and impulses of the mechanism (mechanism.h); behind them
                    amplitudes, rates and momenta of soft bodies (softs.h) */
  int32_t robot_count;
  struct fx_layout *trees; /* of joints of the model that these coordinates are of, held; NULL: of a model's robot */
  bool stale;              /* bodies or joints were changed since: trees are made anew (mechanism_edit.c) */
} fx_state;

/* ---- one step ---- */

/* A slot during a step: M = diag(A, B) with A the linear and B the angular part, where contacts are seen. */
typedef struct fx_mover {
  int32_t slot, dof;
  int32_t first; /* first degree of freedom in the problem, -1 where nothing touches it */
  double mass;
  frix_sym3 A, B, A_inverse, B_inverse, J; /* A, B hold the slopes of implicit forces, J is the inertia alone */
  frix_sym3 tension;                       /* the part of B that joints under tension bring */
  frix_pose pose0;
  frix_vec3 v0, w0, L0;       /* before the step; w0 where contacts are seen */
  frix_vec3 gyration;         /* dw/dt without torque */
  frix_vec3 force, torque;    /* with gravity */
  frix_vec3 spring;           /* h^2 K v0 of an implicit force */
  frix_vec3 v_free, w_free;   /* without contacts and joints */
  frix_vec3 v1, w1;           /* the answer, seen with B */
  struct fx_tree_mover *tree; /* several slots in coordinates of their own (mechanism.h), or a soft body (softs.h);
                                 NULL: a body. v0 and v_free are then the fastest of its links, or those of the frame */
} fx_mover;

/* Whether a joint under tension adds to B. */
static inline bool fx_is_tense(const fx_mover *m) { return m->tension.xx + m->tension.yy + m->tension.zz > 0.0; }

typedef enum fx_group_kind {
  FX_GROUP_CONTACT,
  FX_GROUP_SPINNING, /* drilling friction of a contact */
  FX_GROUP_REBOUND,  /* friction under a known normal impulse (decompression) */
  FX_GROUP_AXIS,     /* limit, friction, motor, spring of a joint coordinate */
  FX_GROUP_TENSION,  /* a rod under tension, across it */
  FX_GROUP_JOINT,    /* bilateral rows */
} fx_group_kind;

/* Rows that stand together: one contact of the problem. Bodies in ascending order of their movers. */
typedef struct fx_group {
  fx_group_kind kind;
  int32_t source;     /* contact or joint */
  int32_t axis, part; /* of an axis group */
  int32_t row, dim;
  int32_t body_count;
  int32_t mover[4];
  size_t value;            /* rows of J for each body in turn, dim x dof, in fx_assembly.J */
  double damper, armature; /* spring: h c, inertia of the coordinate */
  double kept;             /* contact: the part of its restitution that is asked for */
  double natural;          /* contact with a spring: the gap at which it carries nothing */
  double stored[2];        /* and what it held before the step, J: along the normal and across it */
  double *memory;          /* of the mechanism: where its impulses are kept */
  bool robot;              /* its source is a part of the mechanism: coordinate, tendon, actuator or equality */
  double blow;             /* contact with a spring: how hard it is struck (fx_blow_of) */
  bool held;               /* its spring was set to carry what holds it at rest */
  bool keeps;              /* after the solve: it remembers the step */
} fx_group;

/* Whether its source is a joint of the model. */
static inline bool fx_group_of_joint(const fx_group *g) {
  return !g->robot && (g->kind == FX_GROUP_AXIS || g->kind == FX_GROUP_JOINT || g->kind == FX_GROUP_TENSION);
}

/* Along or about which a row of a joint acts on b. */
typedef struct fx_row_direction {
  frix_vec3 along;
  bool angular;
} fx_row_direction;

typedef struct fx_assembly {
  fx_arena *arena;
  fx_group *group;
  frix_contact *law;
  int32_t group_count, group_capacity, joint_first; /* joints last */
  int32_t row_count, row_capacity, contact_rows;
  size_t value_count, value_capacity;
  double *J;
  double *w, *R, *r_c, *guess;
  double *limit;               /* largest speeds that errors of rows are measured by: one body size per step */
  double *drive;               /* the part of w that fixed and kinematic bodies bring */
  fx_row_direction *direction; /* of joints beside trees, whose blocks have none; NULL: there are no trees */
  double *r, *u;               /* the answer */
  double *expected;         /* by row: the part of it that springs expected of a blow and do not remember; NULL: none */
  double *compression;      /* Poisson: r of the first phase, NULL where there was no second */
  double *rebound;          /* by group the normal impulse that follows from it */
  double *late;             /* and by group the speed with which the second alone pushes an overlap out */
  struct fx_attempt *unset; /* rows before springs were set for rest; NULL: none were */
  struct fx_tree_products *products; /* by mover: what trees answer to the rows (tree_newton.h); NULL: not found yet */
  bool compliant;
  bool rolls;           /* some contact has rolling or drilling friction */
  bool leaves_overlaps; /* such velocities were dropped */
  bool pushes_out; /* velocities that push overlaps out are asked for, and may be dropped where they have no answer */
} fx_assembly;

/* A flat cap whose rim points the step puts elsewhere than its beginning would. */
typedef struct fx_turned_rim {
  fx_lean pair;
  int side;
  frix_vec3 rim;
} fx_turned_rim;

/* How the dry friction of a ball joint is tried in a step (ball_friction.c). */
typedef struct fx_ball {
  bool holds;             /* three rows, else two with a bound in the plane of direction[0] and [1] */
  bool slid;              /* more than its bound would have been needed to hold it */
  frix_vec3 axis;         /* of the spin; 0: as it is before the step */
  frix_vec3 direction[3]; /* as they were assembled */
} fx_ball;

typedef struct fx_integrator fx_integrator;

/* User data of a body, valid while its slot has this generation. */
typedef struct fx_tag {
  void *user;
  uint32_t generation;
} fx_tag;

struct frix_sim {
  frix_context *context; /* of the user: errors and log */
  fx_pool *pool;
  frix_context *inner;     /* recycles what steps allocate */
  const frix_model *model; /* the present one, held where it is not the root */
  const frix_model *root;  /* the one it was created with */
  frix_sim_config config;
  const fx_integrator *integrator;
  fx_collision *collision;
  fx_state state;
  fx_touching *touching_next; /* where a step writes its list, as long as the state's own */
  int32_t *shown;             /* places of what is reported in state.touching, as long */
  int32_t shown_count;
  int32_t slot_capacity, touching_capacity;
  uint64_t stamp;        /* counts changes of poses by hand; with state.step_count it tells whether they are the same */
  uint64_t arrays_moved; /* counts moves of the state's arrays */
  bool keep_arrays;      /* views of them are out: what they point to lives as long as the sim */
  struct fx_hooks *hooks;         /* belts, sensors, callbacks; NULL: none */
  struct fx_query *query;         /* boxes of all shapes, for questions; NULL: none was asked */
  struct fx_mechanism *mechanism; /* trees of the model's robot or of its joints; NULL: none */
  struct fx_layout *first_trees;  /* of the joints of the root model as the sim was created, held */
  struct fx_softs *softs;         /* soft bodies; NULL: none */
  fx_tag *tag;                    /* user data of bodies, for the first tag_count slots (user_data.c) */
  int32_t tag_count;
  void **retired; /* arrays that the state has left */
  int32_t retired_count;
  double smallest; /* radius of the smallest dynamic body */
  double thinnest; /* half thickness of the thinnest shape */
  bool springs;    /* some materials name a stiffness */
  /* of the running or last step */
  double h;
  double deadline;     /* seconds for the solve, 0: none */
  double solve_end;    /* fx_seconds at which they are over; 0: the solve has not begun */
  int failed_solves;   /* of this step: the solver gave no certified answer */
  double look_seconds; /* of the step, for contacts that the answer led to: part of the search, not of the solve */
  fx_arena arena;
  bool arena_live;
  bool in_force;                 /* inside the user's force callback */
  const struct fx_undo *repeats; /* what the last step began with, where it ended with the same; NULL: it did not */
  uint64_t repeats_stamp;        /* stamp at its end */
  int32_t mover_count;
  fx_mover *mover;
  int32_t *mover_of;  /* by slot, -1: does not move by itself */
  double *reach;      /* by slot: how far its surface may come within the step */
  double *tree_reach; /* the same towards links of its own tree; NULL: there are no trees */
  frix_pose *pose0;   /* by slot: at the start of the step */
  const fx_contact *contact;
  int32_t contact_count;
  int32_t pull_count; /* of adhesion in this step (coats.c) */
  fx_attraction *pull;
  double gap_noise;    /* open gaps below are none */
  bool of_state;       /* rows are smooth functions of the state: gaps keep their noise, springs are what they were */
  fx_surface *surface; /* by contact */
  int32_t *past;       /* by contact: its place in state.touching, -1: new */
  int32_t turned_count;
  fx_turned_rim *turned;
  fx_ball *ball;     /* by joint; NULL: no ball joint has dry friction */
  frix_vec3 *middle; /* implicit: velocities of the answer before, v and w by mover */
  fx_assembly rows;
  frix_problem problem; /* of the last solve; matrices only where they were needed (p->row != NULL) */
  frix_step_report report;
};

/* ---- integrators: one table ---- */

typedef struct fx_normal {
  double gap;
  double before, free; /* where it bounces: normal velocity before the step and without the contact */
  double restitution, kept;
  bool compress; /* Poisson: the bounce follows later, the normal velocity is only stopped here */
} fx_normal;

struct fx_integrator {
  frix_integrator_info info;
  double position_time; /* part of the step after the place where contacts are seen: springs are taken at its end */
  bool implicit;        /* forces are taken at the middle that the answer gives: solved again until it agrees */
  /* Poses where contacts (and forces, unless implicit) are taken, into state.pose; J and w0 of the movers there. */
  void (*begin)(frix_sim *sim);
  /* Poses and velocities of the end from the movers' v1, w1. */
  void (*finish)(frix_sim *sim);
};

/* What restitution asks for where it strikes: kept e u_N before. */
double fx_bounce_of(const fx_normal *n);
/* The velocity w a normal row asks for: u_N = v_N + w >= 0. */
double fx_normal_shift(const frix_sim *sim, const fx_normal *n);
/* Slower impacts do not bounce. */
double fx_restitution_speed(const frix_sim *sim);
/* Whether the contact closes within the step, and fast enough to bounce. */
bool fx_strikes(const frix_sim *sim, const fx_normal *n);
int32_t fx_integrator_find(frix_context *context, const char *name);
const fx_integrator *fx_integrator_at(int32_t k);

/* ---- sim_motion.c: SE(3) and momentum ---- */
frix_quat fx_turn(frix_quat q, frix_vec3 spin, double h);
frix_sym3 fx_sym3_inverse(frix_sym3 s);
/* dw of a body by an angular impulse: B dw = L. Tension makes B ill-conditioned (cond B), and the product with
 * B_inverse misses L by eps cond^2; elimination does by eps |B| |dw|. */
frix_vec3 fx_spin_change(const fx_mover *m, frix_vec3 L);
/* Position and turn over time h with momenta kept: v and the angular momentum L (world) are given. */
frix_pose fx_advance(const fx_body *body, frix_pose pose, frix_vec3 v, frix_vec3 L, frix_vec3 w, double h);
/* Angular momentum of a body after the step; what has stopped has none, not even the rounding of a difference. */
frix_vec3 fx_momentum_after(const fx_mover *m);
/* The spin that has angular momentum L at this pose; w where it needs no turning. */
frix_vec3 fx_spin_of(const fx_body *body, frix_pose pose, frix_vec3 L, frix_vec3 w);
/* After velocities or poses were set. */
void fx_set_momentum(frix_sim *sim, int32_t slot);
frix_sym3 fx_world_inertia(const fx_body *body, frix_pose pose);
bool fx_isotropic(const fx_body *body);
frix_status fx_movers_collect(frix_sim *sim);
/* Forces at state.pose, and the free motion they give. */
frix_status fx_movers_load(frix_sim *sim);

/* ---- sim_movers.c: what all kinds of movers answer ---- */
typedef enum fx_when { FX_BEFORE, FX_FREE, FX_AFTER } fx_when;
/* Velocity of the centre of mass and spin of a slot; of those that do not move by themselves what they have. */
void fx_slot_motion(const frix_sim *sim, int32_t slot, fx_when when, frix_vec3 *v, frix_vec3 *w);
/* How far the surface of a body goes in a step. */
double fx_body_way(const frix_sim *sim, int32_t slot, frix_vec3 v, frix_vec3 w);
/* By slot: at least that far; inner: links against the root of their tree, NULL where there are none. */
void fx_ways_raise(const frix_sim *sim, fx_when when, double *reach, double *inner);
/* Copies of all movers, in the arena of the step (NULL: no memory), and back. */
fx_mover *fx_movers_save(frix_sim *sim);
void fx_movers_restore(frix_sim *sim, const fx_mover *saved);
/* v_free += impulse M^-1 J' of one row. */
void fx_mover_kick(fx_mover *m, const double *J, double impulse);
/* The answer becomes the free motion: what follows starts from it. */
void fx_mover_rebase(fx_mover *m);
void fx_mover_free_again(fx_mover *m, const fx_mover *saved); /* and back */
/* Whether a tree's velocities after the step are no larger than `most` of the terms they are sums of. */
bool fx_tree_stands(const frix_sim *sim, const fx_assembly *a, const double *r, int32_t mover, double most);
/* The numbers that fill a row of J at most. */
size_t fx_row_values(const frix_sim *sim, int32_t bodies);

/* ---- assembly ---- */
frix_status fx_assembly_begin(frix_sim *sim, fx_assembly *a, int32_t groups, int32_t rows, size_t values);
/* bodies: slots that may be fixed; only movers become blocks. NULL: out of memory. */
fx_group *fx_group_add(frix_sim *sim, fx_assembly *a, fx_group_kind kind, int32_t source, frix_contact law,
                       int32_t body_count, const int32_t *slot);
/* The same with J left as it is, to be written whole. */
fx_group *fx_group_add_raw(frix_sim *sim, fx_assembly *a, fx_group_kind kind, int32_t source, frix_contact law,
                           int32_t body_count, const int32_t *slot);
/* The groups with a mark, as an assembly of their own with a copy of their rows; J is shared. */
frix_status fx_assembly_select(const fx_assembly *a, const uint8_t *mark, fx_arena *arena, fx_assembly *out);
/* Adds lin . v + ang . w of a slot to row k of the group. */
void fx_group_term(frix_sim *sim, fx_assembly *a, fx_group *g, int32_t k, int32_t slot, frix_vec3 lin, frix_vec3 ang);
/* The share of deformation in a linear row that acts on a point of a soft surface; point < 0: none. */
void fx_group_bend(frix_sim *sim, fx_assembly *a, fx_group *g, int32_t k, int32_t slot, int32_t point, frix_vec3 d);
/* Row k of the group in the block of a mover; NULL: it does not move it. */
double *fx_group_block(const frix_sim *sim, const fx_assembly *a, const fx_group *g, int32_t mover, int32_t k);
/* The row's velocity for the movers' v0 (or v_free, v1), fixed and kinematic bodies included. */
double fx_group_velocity(const frix_sim *sim, const fx_assembly *a, const fx_group *g, int32_t k, fx_when when);
/* All rows of a group. */
void fx_group_velocities(const frix_sim *sim, const fx_assembly *a, const fx_group *g, fx_when when, double *out);
/* All rows, by threads. */
void fx_rows_velocities(const frix_sim *sim, const fx_assembly *a, fx_when when, double *out);
/* J M^-1 J' of one row */
double fx_group_weight(const frix_sim *sim, const fx_assembly *a, const fx_group *g, int32_t k);

frix_status fx_contacts_assemble(frix_sim *sim, fx_assembly *a);
/* Whether its gap is none, but for noise. */
bool fx_contact_closed(const frix_sim *sim, int32_t i);
/* What its normal row asks for at this gap, beside what drives it: push-out, a gap to close, a bounce. */
double fx_contact_shift(const frix_sim *sim, const fx_assembly *a, const fx_group *g, double gap);
/* The same at the gap it has, without noise. */
double fx_rigid_shift(const frix_sim *sim, const fx_assembly *a, const fx_group *g);
/* The part of that which pushes an overlap out. */
double fx_push_out(const frix_sim *sim, const fx_group *g);
/* The part that restitution asks for, not above 0. */
double fx_contact_bounce(const frix_sim *sim, const fx_assembly *a, const fx_group *g);
/* Asks for a part of its restitution from now on. */
void fx_contact_keep(const frix_sim *sim, const fx_assembly *a, fx_group *g, double kept);
frix_status fx_joints_assemble(frix_sim *sim, fx_assembly *a);
void fx_joints_push(frix_sim *sim); /* motors that are given forces */
void fx_joints_keep(frix_sim *sim); /* impulses of the step, while the poses are still those of the assembly */
void fx_joints_measure(frix_sim *sim, bool fresh);
double fx_joints_potential(const frix_sim *sim);
double fx_joints_kinetic(const frix_sim *sim);
/* Room the joints need at most. */
void fx_joints_room(const frix_sim *sim, int32_t *groups, int32_t *rows, size_t *values);

/* ---- tension.c ---- */
/* What joints under tension add to B, from the forces of the last step. */
void fx_tension_find(frix_sim *sim);
/* After the answer: no body under tension gained momentum that nothing gave it. */
frix_status fx_tension_judge(frix_sim *sim);

/* ---- step_problem.c: the rows as a contact problem ---- */
/* Sizes, the movers' degrees of freedom, and the limits of the rows. */
frix_status fx_rows_count(frix_sim *sim, fx_assembly *a);
/* f = M v_free of a mover, by its degrees of freedom. */
void fx_mover_drive(const fx_mover *m, double *f);
/* Its matrices, in an arena. */
frix_status fx_rows_build(const frix_sim *sim, const fx_assembly *a, fx_arena *arena, frix_problem *p);

/* ---- judge.c ---- */
/* Impulses judged as they are: velocities u and v (all degrees of freedom) and the certificate. */
frix_status fx_rows_judge(frix_sim *sim, fx_assembly *a, const double *r, double *u, double *v, frix_certificate *out);

/* ---- row_reports.c ---- */
frix_row_kind fx_row_kind_of(const fx_group *group);
frix_body_id fx_slot_id(const frix_sim *sim, int32_t slot); /* null for the world */

/* ---- verdict.c ---- */
/* Whether the answer that the report's certificate is of is good. */
bool fx_certified(const frix_sim *sim);
/* Names the worst row of the report's certificate, a row of `a`. */
void fx_name_worst_row(frix_sim *sim, const fx_assembly *a);
/* The verdict of a phase, in sim->report after its solve, joins that of the phases before it: certified where both are,
 * and the worse of the two is reported. */
void fx_join_verdict(frix_sim *sim, const frix_step_report *before, const char *phase);
/* Copies the verdict, not counts and times. */
void fx_take_verdict(frix_step_report *to, const frix_step_report *from);
/* A phase without a certificate of its own failed. */
void fx_fail_phase(frix_sim *sim, const char *phase, frix_outcome outcome);

/* ---- step_solve.c ---- */
/* Movers' v1, w1 and the rows' r, u. */
frix_status fx_sim_solve(frix_sim *sim, fx_assembly *a);
/* A few steps of another method from a good start. */
typedef struct fx_polisher {
  const char *solver;
  double tolerance;
  int64_t max_iterations;
} fx_polisher;
/* One solve from the guess, or again from the answer so far; the answer counts where it is better than `best`. */
frix_status fx_solve_once(frix_sim *sim, fx_assembly *a, bool again, double best, const fx_polisher *with);
/* Velocities of all degrees of freedom become those of the movers. */
void fx_put_answer(frix_sim *sim, const double *v);
/* By mover: sizes of the terms its velocities are sums of, linear and angular. */
void fx_sum_sizes(const frix_sim *sim, const fx_assembly *a, const double *r, double (*size)[2]);

/* ---- stiff.c: the stiff law of contact ---- */
#define FX_KAPPA 25.0 /* its stiffness over m / h^2 */

/* Stiffness of a contact of this step whose materials name none. */
double fx_rule_stiffness(const frix_sim *sim, const fx_contact *c);
/* Sum of 1 / m over the links at a contact, m their apparent masses. */
double fx_links_sliding(const frix_sim *sim, const fx_contact *c);
/* The gap at which the spring of contact i carries nothing. */
double fx_natural_gap(const frix_sim *sim, int32_t i);
/* Whether its compliance is that of the stiff law. */
bool fx_is_stiff(const frix_sim *sim, const fx_group *g);
/* Whether contact i of this step carried next to nothing before it gets this impulse. */
bool fx_is_struck(const frix_sim *sim, int32_t i, double impulse);
/* The impulse that the springs of a contact hold, world. */
frix_vec3 fx_held_impulse(const fx_touching *t);
/* Contacts whose springs the answer presses by a tenth of the thinner of their shapes become rigid; true: some did. */
bool fx_make_pressed_rigid(const frix_sim *sim, fx_assembly *a);
/* Whether its spring may hold bodies that are at rest: its gap is below what bodies sag. */
bool fx_stiff_closed(const frix_sim *sim, const fx_group *g);
/* Sets the spring of such a group so that it carries r with everything at rest where it is. */
void fx_hold_contact(const frix_sim *sim, fx_assembly *a, fx_group *g, const double *r);
/* Of what it holds, only this share is load: the rest stops what moved, and is expected like a blow. */
void fx_leave_blow(const frix_sim *sim, fx_assembly *a, fx_group *g, const double *r, double share);
/* Makes the rows of all such groups those of the rigid law. */
void fx_make_rigid(const frix_sim *sim, fx_assembly *a);

/* ---- blows.c: what springs expect of a blow ---- */
/* The speed it is struck with over what the forces of a step bring; 0: it comes slower. */
double fx_blow_of(const frix_sim *sim, const fx_assembly *a, const fx_group *g);
/* How often the impulses of such a blow must be expected so that what springs leave of it is below that, too. */
int fx_blow_rounds(double blow);
/* Contacts that the answer so far strikes, or through which a blow goes: their springs are set to carry it where they
 * are; true: there is one. a->expected is there. */
bool fx_expect_blows(const frix_sim *sim, fx_assembly *a);
/* Contacts that expect much more of a blow than the answer gives them, and would be thrown apart by their springs,
 * expect nothing any more; true: some did. */
bool fx_drop_false_blows(const frix_sim *sim, fx_assembly *a);
/* Islands that gain by what their contacts expect do so no more; *any: there is one. */
frix_status fx_drop_gains(frix_sim *sim, fx_assembly *a, bool *any);
/* It expects nothing any more. */
void fx_forget_blow(fx_assembly *a, const fx_group *g);
/* What a row carries of the answer without what was expected of a blow. */
static inline double fx_held(const fx_assembly *a, int32_t row) {
  return a->expected ? a->r[row] - a->expected[row] : a->r[row];
}

/* An answer found elsewhere, certified, in place of the one there is. */
frix_status fx_take_answer(frix_sim *sim, fx_assembly *a, const double *r, const double *v,
                           const frix_certificate *certificate);

/* ---- reports.c ---- */
void fx_contacts_match(frix_sim *sim);
frix_status fx_contacts_report(frix_sim *sim);
/* Which contacts of the state are reported. */
void fx_contacts_index(frix_sim *sim);

/* ---- rims.c ---- */
frix_vec3 fx_rim_lean(const void *sim, const fx_lean *pair, const fx_round_face *face);

/* ---- power.c: what contacts do to the energy of each island ---- */
typedef struct fx_step_islands {
  int32_t count;
  int32_t *of_mover;
} fx_step_islands;
typedef enum fx_share { FX_SHARE_IMPACT, FX_SHARE_SLIDING, FX_SHARE_ROLLING, FX_SHARES } fx_share;
typedef struct fx_power {
  double share[FX_SHARES]; /* r . u at the mean velocity, without push; springs: slip alone */
  double push;             /* brought by pushing overlaps out */
  double turn;             /* brought by asking for the slip of the middle of the step; part of share */
  double spring;           /* exchanged with springs of contacts */
  double other;            /* of all rows but these, with what they ask for */
  double tension;          /* of the impulses by which joints under tension damp spins, with what they take */
  double size;             /* of all terms */
} fx_power;

/* Threads of a step, for loops over rows, contacts or movers. */
static inline fx_threads fx_sim_threads(const frix_sim *sim) {
  return (fx_threads){sim->inner, sim->config.thread_count};
}
enum { FX_LEAST_MOVERS = 256 }; /* as `least`: movers that are worth a part of their own */

/* Movers that impulses of the rows connect: others cannot lend each other energy. In the arena of the step. */
frix_status fx_step_islands_find(frix_sim *sim, const fx_assembly *a, fx_step_islands *out);
/* -1: it moves no body */
int32_t fx_island_of(const fx_step_islands *islands, const fx_group *g);
/* Whether it carries anything. */
bool fx_group_acts(const fx_assembly *a, const fx_group *g);
/* Whether a group takes energy or none: contacts, limits, dry friction; not joints, motors and springs. */
bool fx_group_takes(const fx_group *g);
/* Adds one group; before: the velocities of its rows. */
void fx_group_power(const frix_sim *sim, const fx_assembly *a, const fx_group *g, const double *before,
                    fx_power *power);
/* All of them, by island; before: the velocities of all rows. */
void fx_power_find(const frix_sim *sim, const fx_assembly *a, const fx_step_islands *islands, const double *before,
                   fx_power *power);
/* What an island gained beyond what its rows ask for beside restitution. */
double fx_power_gain(const fx_power *power);
/* The most that a step can bring by turning things round, by island: p . M^-1 p / 8, p of forces, motors and springs.
 */
frix_status fx_power_turned(frix_sim *sim, const fx_assembly *a, const fx_step_islands *islands, double *bound);

/* ---- restitution.c ---- */
/* Solves a step anew with the restitution its groups ask for; start: impulses to start from, NULL: those it has. */
typedef frix_status (*fx_bounce)(frix_sim *sim, fx_assembly *a, const double *start, void *user);
/* Reduces the restitution of islands that it gives energy to. */
frix_status fx_restitution_bound(frix_sim *sim, fx_bounce bounce, void *user);

/* What a contact's rows carry, r and u of sim->rows; and as a report, impulses of a step h. */
void fx_contact_carry(const frix_sim *sim, const fx_group *g, fx_touching *out);
void fx_contact_view(const frix_sim *sim, const fx_touching *touching, double h, frix_contact_report *out);

/* ---- ledger.c ---- */
double fx_kinetic(const frix_sim *sim);
double fx_potential(const frix_sim *sim);
frix_status fx_ledger_solve(frix_sim *sim, frix_energy *step);
/* Adds what a step booked; kinetic and potential energy are those of its end. */
void fx_ledger_add(frix_energy *ledger, const frix_energy *step, double kinetic, double potential);
void fx_ledger_close(frix_sim *sim, const frix_energy *step);
/* The energy of a body changed by hand. */
double fx_body_energy(const frix_sim *sim, int32_t slot);

/* ---- step.c ---- */
/* Movers, contacts and rows as the next step of h would have them; the state is left as it is. */
frix_status fx_sim_look(frix_sim *sim, double h);

/* ---- contact_search.c, thrown.c ---- */
double fx_sim_margin(const frix_sim *sim);
/* Within margin and sim->reach, at state.pose. */
frix_status fx_sim_find_contacts(frix_sim *sim, double margin);
/* Their surfaces, and which of them lasted. */
frix_status fx_sim_describe_contacts(frix_sim *sim);
/* Half of the least side of the box around the shape in its own frame; infinite for planes. */
double fx_shape_thickness(const fx_shape *shape);
double fx_model_thinnest(const frix_model *model);

/* ---- change.c, sim.c: another model of the same world ---- */
/* Place of a shape in another model, -1 where it was removed. */
int32_t fx_shape_place(const frix_model *from, const frix_model *to, int32_t place);
/* The sim goes on with this model, one of its own; its state is not touched but for the memory of joints, which becomes
 * the sim's. */
frix_status fx_sim_take_model(frix_sim *sim, const frix_model *model, fx_joint_memory *memory);
/* What the sim knows of its model: the smallest body, the thinnest shape, springs. */
void fx_sim_measure_model(frix_sim *sim);
/* Another list of joints; views of the old one stay readable. */
void fx_sim_swap_joints(frix_sim *sim, fx_joint_memory *memory, int32_t count);

/* ---- others ---- */
frix_status fx_poisson(frix_sim *sim);
frix_status fx_project(frix_sim *sim);
void fx_sleep_update(frix_sim *sim);
/* Wakes what a moving body reaches; true: contacts must be found again. */
bool fx_sleep_wake_touched(frix_sim *sim);
frix_status fx_sim_reserve(frix_sim *sim, int32_t slots);
frix_status fx_sim_reserve_touching(frix_sim *sim, int32_t count);
/* Slot of a living body, -1 with the error text set. allow_world: null gives 0. */
int32_t fx_slot_of(const frix_sim *sim, frix_body_id id, bool allow_world, const char *call);
void fx_wake(frix_sim *sim, int32_t slot);
static inline const fx_body *fx_slot_body(const frix_sim *sim, int32_t slot) {
  return &sim->model->body[sim->state.prototype[slot]];
}
static inline bool fx_is_mover(const frix_sim *sim, int32_t slot) {
  const fx_state *s = &sim->state;
  return s->prototype[slot] > 0 && sim->model->body[s->prototype[slot]].dof > 0 && !s->asleep[slot];
}

#endif
