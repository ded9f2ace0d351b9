/* The robot of a model as part of a simulation: trees of links that are one mover each.
 *
 *   M(q) (v1 - v0) = h (forces - bias) + J' r,   M~ = M + h D + h^2 K with the slopes of springs, dampers and servos
 *   M~ v_free = M~ v0 + h (forces - bias) - h^2 K v0
 *
 * A tree has as many coordinates as its joints; each of its links is a slot whose pose and velocity follow from them.
 * A free body that nothing but contacts acts on stays a body, with the bits it always had.
 *
 *   mechanism.c         which trees there are, the numbers of the state, coordinates to slots and back
 *   mechanism_joints.c  a robot of the joints of a model
 *   mechanism_sleep.c   sleep of trees
 *   mechanism_edit.c    the same after bodies or joints were changed by hand
 *   mechanism_load.c    forces, M~ and the free motion
 *   mechanism_adhesion.c  actuators that act through contacts
 *   mechanism_hold.c    dry friction that holds or slides as expected
 *   mechanism_loops.c   loops within a tree as part of M~
 *   mechanism_rows.c    limits, dry friction, servos with bounds, tendons, equalities as rows
 *   mechanism_energy.c  what the trees do to the ledger
 *   mechanism_sense.c   sensors of contacts, limits and loops
 *   mechanism_look.c    sensors that choose among contacts, rays, distances
 *   mechanism_tactile.c sensors of many points that stand in other shapes
 *   mechanism_inverse.c inverse dynamics with the forces of contacts
 *   mechanism_flight.c  momentum of trees that fly
 *   mechanism_forces.c  forces of the joints
 *   mechanism_transport.c  velocity products by the momentum that links carry
 *   mechanism_half.c    the same in the schemes of the half step
 *   tree_mover.c        rows, products and answers of one tree */
#ifndef FX_SIM_MECHANISM_H
#define FX_SIM_MECHANISM_H

#include <stdatomic.h>

#include "sim/sim_internal.h"
#include "tree/tree.h"

#define FX_JOINT_CLOSED 1e-9 /* m, rad: a joint of the model that may be a coordinate */

enum { FX_TREE_MOST = 2048, FX_DENSE_MOST = 256 }; /* coordinates of one tree; of one whose M~ is dense */

/* A tree that moves as one. */
typedef struct fx_part {
  int32_t root, first, count; /* its first link; its coordinates */
  int32_t slot;               /* of the root */
  int32_t body_end;           /* bodies root .. body_end - 1 are its */
  double mass;
  double *dense, *factor; /* M~ and its factor where loops and drives act across branches; NULL: the pattern of M is
                             enough */
  int32_t *column, *column_count; /* by row of the factor: where it is not zero */
  bool floats;                    /* it hangs on one free joint and is tied to nothing else */
  int32_t tied;                   /* the first of the trees that equalities and tendons tie it to, or itself */
  bool driven;                    /* of the first one: an actuator or a mocap body acts on them */
  bool flies;                     /* nothing holds it in this step: its momentum is to be this one, about this point */
  double theta;                   /* share of c at the beginning among its velocity products */
  double lift_change;             /* mechanism_half.c: of the last round */
  bool held;                      /* likewise: by loops or stuck friction */
  bool lifted, lifts;             /* mechanism_half.c: the iteration has ended; its result is taken */
  double turn;                    /* likewise: the largest one of a link in the step */
  double energy, took;            /* likewise: twice the kinetic one with the answer, and what coming took of it */
  frix_sym3 frozen;               /* mechanism_flight.c: inertia of the whole at the half step, in axes of the root */
  fx_spatial momentum;
  frix_vec3 point, center, start; /* centre of mass and linear momentum before the step */
} fx_part;

/* An equality within one tree: part of M~ and of the free motion, with compliance R and memory r_c as its row would
 * have: r = r_c - (J v + w) / R. */
typedef struct fx_loop {
  int32_t equality, part, rows;
  double R, w[FRIX_MAX_DIM], r_c[FRIX_MAX_DIM];
  double *J; /* rows over the coordinates of its tree */
} fx_loop;

/* An implicit force along a moment: impulse -(h^2 k + h c)(m . dv) - h^2 k (m . v0). */
typedef struct fx_slope {
  fx_tree_span span;
  const double *moment;
  double stiffness, damping; /* h^2 k, h c */
  bool drives;               /* its work is that of an actuator */
  bool across;               /* its coordinates are not those of one chain */
} fx_slope;

/* How an actuator acts in a step. */
typedef enum fx_drive_mode { FX_DRIVE_NONE, FX_DRIVE_FORCE, FX_DRIVE_SLOPE, FX_DRIVE_ROW } fx_drive_mode;
typedef struct fx_drive {
  fx_drive_mode mode;
  bool as_row; /* it is expected to reach its bounds */
  double force, stiffness, damping, lowest, highest;
} fx_drive;

/* How the dry friction of a coordinate acts in a step (mechanism_hold.c). */
typedef enum fx_hold_mode { FX_HOLD_NONE, FX_HOLD_STUCK, FX_HOLD_SLIDES, FX_HOLD_ROW } fx_hold_mode;
typedef struct fx_hold {
  fx_hold_mode mode;
  double bound;          /* h F */
  double impulse, slope; /* r = impulse - slope v */
} fx_hold;

/* Places in fx_state.robot. */
typedef struct fx_robot_places {
  int32_t qpos, qvel, ctrl, act, mocap, applied, history;
  int32_t flown, carried;     /* by body: V', 6 each; by part: it is that of the last step (mechanism_transport.c) */
  int32_t row_left, row_wait; /* steps for which dry friction stays a row, and was to, by coordinate */
  int32_t lower, upper, friction; /* impulses of the last step by coordinate */
  int32_t tendon_lower, tendon_upper, tendon_friction, tendon_spring, drive, equality;
  int32_t count;
} fx_robot_places;

/* A robot made of joints of a model, which simulations and snapshots share. It may have no body but the world. */
typedef struct fx_layout {
  atomic_int holders;
  bool first; /* of the model as a simulation starts */
  frix_robot robot;
  const frix_model *model;
  int32_t slot_count, joint_count; /* of the model */
  int32_t *body;                   /* by body of the robot: that of the model */
  int32_t *joint_of_body;          /* the joint of the model that carries it, -1: it floats */
  int32_t *was, *from;    /* the body of the layout before of the same tree, -1: none; that goes on as it was */
  frix_pose *frame;       /* of the joints of the model, two each */
  double *contact_mass;   /* by body of the robot: as the simulation began with the tree; NULL: as they follow */
  bool *tree_joint;       /* by joint of the model: it is one of coordinates */
  bool *waits, any_waits; /* it would be if it were closed */
} fx_layout;

typedef struct fx_mechanism {
  const frix_robot *robot;
  fx_layout *own;       /* made of joints of the model; NULL: the robot is the model's */
  int32_t slot_count;   /* of the model it was made of */
  frix_vec3 (*push)[2]; /* by slot of the model: forces and torques of its joints' motors */
  fx_arena arena;
  fx_tree tree; /* with the gravity and the step of the simulation */
  frix_robot_state *state;
  fx_robot_places at;
  int32_t part_count;
  fx_part *part;
  int32_t *part_of_body; /* by body of the tree, -1: it is no part of a tree that moves as one */
  int32_t *part_of_dof;
  int32_t *body_of_slot; /* by slot of the model; -1: no link */
  int32_t *slot_of_body; /* -1: fixed to another */
  double *contact_mass;  /* by body: what the stiff law takes for its mass */
  bool *tendon_chain, *actuator_chain, *joint_shared;
  bool *tendon_fits, *actuator_fits;     /* they may be part of M~: one chain, or a tree that is dense */
  int32_t loop_count, *loop_of_equality; /* -1: it is a row */
  int32_t *equality_row;                 /* by row of the step: which of the equality's it is, FRIX_MAX_DIM each */
  fx_loop *loop;
  double *seen;                        /* coordinates and velocities that the state was evaluated at */
  double *q0;                          /* coordinates before the step */
  double *implicit;                    /* rows of M~ */
  double *spring_slope, *damper_slope; /* h^2 k, h c by coordinate */
  int32_t slope_count;
  fx_slope *slope;
  fx_hold *hold; /* by coordinate */
  fx_drive *drive;
  double *drive_force; /* explicit forces of actuators along the coordinates */
  double *damper_force, *load_force, *smooth;
  double *acceleration;       /* of the last step */
  frix_sym3 *tension;         /* by link: S of tension.c */
  frix_vec3 *turn;            /* by link: scratch */
  bool tense;                 /* some S is not zero */
  frix_vec3 (*load)[2];       /* by slot: forces and torques of the step, those of motors among them */
  fx_spatial *wrench;         /* by body: what acts on it beside its joints (mechanism_forces.c) */
  fx_spatial *flown;          /* by body, while it moves: spin in its axes and velocity of its centre */
  fx_spatial *before, *after; /* by body, schemes of the half step: momenta with which links leave both ends */
  frix_robot_state *ahead;    /* likewise: where the step ends */
  double *drift, *end;        /* likewise, by coordinate: rates from the half step on, and those at the end */
  double *tendon_speed;       /* likewise: with the momenta */
  double *lift;               /* likewise, rows: M with the slopes of what holds */
  bool singular;              /* M~ of this step is */
  double *row;                /* a dense row, zero between uses */
  double *jacobian;           /* of an equality */
  int32_t *mover;             /* by part, of the step */
} fx_mechanism;

/* One tree during a step. */
typedef struct fx_tree_mover {
  const fx_mechanism *mechanism; /* NULL: a soft body */
  struct fx_soft_body *soft;     /* NULL: a tree */
  const fx_part *part;
  int32_t first, count;
  double *v0, *v_free, *v1;
  double *came; /* v0 with the velocity products of the step: what its links come to contacts with (FX_BEFORE) */
  bool stands;  /* v1 is rounding: the impulses of loops and dry friction follow from it, the state is at rest */
} fx_tree_mover;

/* ---- mechanism.c ---- */
frix_status fx_mechanism_create(frix_sim *sim);
/* Trees of a layout at its reference, and a list of numbers for the state; the layout is held. */
frix_status fx_mechanism_build(frix_sim *sim, fx_layout *layout);
void fx_mechanism_destroy(frix_sim *sim);
/* Links follow the coordinates where those were changed by hand, and bodies of their own the slots. */
void fx_mechanism_place(frix_sim *sim);
/* After numbers and slots were set together: what follows from them. */
void fx_mechanism_evaluate(frix_sim *sim);
/* The coordinates are those that the links follow: nothing was set by hand. */
void fx_mechanism_remember(fx_mechanism *x);
/* Whether what the user may have set is. */
bool fx_mechanism_finite(const frix_sim *sim);
/* Before the movers of a step are collected: coordinates as they were. */
void fx_mechanism_collect(frix_sim *sim);
/* A slot of a link that its coordinates hold. */
static inline bool fx_is_link(const frix_sim *sim, int32_t slot) {
  const fx_mechanism *m = sim->mechanism;
  if (!m || slot >= m->slot_count || m->body_of_slot[slot] < 0) return false;
  return !sim->state.stale || (sim->state.prototype[slot] == slot && sim->state.generation[slot] == 1);
}
/* Trees where contacts are seen, a part of the step on with the old velocities; and to its end with the new ones. */
void fx_mechanism_begin(frix_sim *sim, double part);
void fx_mechanism_finish(frix_sim *sim, double part);

/* ---- mechanism_joints.c: a robot of the joints of a model ---- */
/* Of bodies and joints as they are; holders: one. */
frix_status fx_layout_make(const frix_sim *sim, fx_layout **out);
fx_layout *fx_layout_hold(fx_layout *layout);
void fx_layout_release(fx_layout *layout);
/* How many of the numbers in fx_state.robot are those of its trees. */
int32_t fx_layout_numbers(const fx_layout *layout);
/* The velocities of the coordinates from those of the slots. */
void fx_mechanism_start(frix_sim *sim);
static inline bool fx_in_tree(const frix_sim *sim, int32_t joint) {
  const fx_layout *own = sim->mechanism ? sim->mechanism->own : NULL;
  return own && joint < own->joint_count && own->tree_joint[joint];
}

/* ---- mechanism_sleep.c ---- */
void fx_mechanism_tie(fx_mechanism *x);
/* Whether a tree sleeps: it is no mover of the step. */
bool fx_part_sleeps(const frix_sim *sim, int32_t part);
/* A slot that stands for all links that sleep together with this one, -1: it is no link. */
int32_t fx_mechanism_island(const frix_sim *sim, int32_t slot);
/* Whether nothing but rows, gravity and springs acts on the tree of a slot. */
bool fx_mechanism_rests(const frix_sim *sim, int32_t slot);
/* Trees whose links fell asleep stop. */
void fx_mechanism_stop(frix_sim *sim);
/* Trees that were set in motion by hand wake. */
void fx_mechanism_wake(frix_sim *sim);

/* ---- mechanism_edit.c: trees of joints of the model that were changed by hand ---- */
/* A body, or joints and bodies (0), are not what they were: trees are made anew before they are needed. */
void fx_mechanism_touch(frix_sim *sim, int32_t slot);
/* Makes them, where that is due. */
frix_status fx_mechanism_renew(frix_sim *sim);
/* A joint that a change left open has closed: it may be a coordinate again. */
void fx_mechanism_await(frix_sim *sim);
/* The velocity of a link was set by hand: those of its tree give the coordinates theirs. */
void fx_mechanism_set_motion(frix_sim *sim, int32_t slot);
/* The trees that a state of this many numbers is of take the place of those there are; its numbers follow. */
frix_status fx_mechanism_take(frix_sim *sim, const fx_state *state);

/* ---- mechanism_load.c ---- */
void fx_mechanism_load(frix_sim *sim);

/* out += scale J_w' S J_w v, S of tension. */
void fx_tension_push(const fx_mechanism *x, const double *v, double scale, double *out);

/* ---- mechanism_adhesion.c ---- */
void fx_mechanism_adhere(frix_sim *sim);

/* ---- mechanism_hold.c ---- */
/* Before a step: what friction did in the last one, it is expected to do again. */
void fx_holds_begin(frix_sim *sim);
/* Into M~ and the right side. */
void fx_holds_load(const frix_sim *sim, double *smooth);
/* Where an expectation does not hold in the answer it is another one; true: some is. rows: it is a row. */
bool fx_holds_check(frix_sim *sim, bool rows);
/* After a step: which rows stay. */
void fx_holds_keep(frix_sim *sim);

/* ---- mechanism_loops.c ---- */
/* Which equalities are within one tree, and which trees are dense for them. */
frix_status fx_loops_create(frix_sim *sim);
/* Their rows where the trees are; M~ is factored without them. */
void fx_loops_load(frix_sim *sim);
/* What they bring to the right side of the free motion. */
void fx_loops_push(const fx_mechanism *x, double *smooth);
/* Dense M~ and its factor. */
void fx_dense_build(const fx_mechanism *x, const fx_part *part);
/* The factor of a dense part from the lower triangle of its matrix; the upper one is filled for products. */
void fx_dense_factor(const fx_part *part);
void fx_dense_solve(const fx_part *part, double *b);
void fx_dense_half_solve(const fx_part *part, double *b); /* b := L'^-1 b */
/* The impulse of row k of a loop for velocities of its tree. */
double fx_loop_impulse(const fx_mechanism *x, const fx_loop *loop, int32_t k, const double *v);

/* ---- mechanism_sense.c ---- */
/* Sensors with the accelerations, contacts, limits and loops of the last step. */
frix_status fx_mechanism_sense(frix_sim *sim);

/* ---- mechanism_flight.c: momentum of trees that nothing holds ---- */
void fx_flight_create(fx_mechanism *x);
/* Before the step. */
void fx_flight_start(frix_sim *sim);
/* With the new velocities at the place of the contacts; then at the new place: their centres, true where one flies; and
 * their velocities. */
void fx_flight_begin(frix_sim *sim, double part);
bool fx_flight_move(frix_sim *sim, double part);
void fx_flight_end(frix_sim *sim);
/* The root's velocity of a rigid body with the tree's inertia and momentum, the angular one times `spin`; twice its
 * energy about the centre of mass. */
double fx_flight_rigid(const fx_mechanism *x, const fx_part *p, double spin, double whole[6]);
/* At the half step: the whole as a rigid body. Later: twice the energy of its spin if it had gone on as that body, with
 * the momentum that the tree has now. */
void fx_flight_freeze(const fx_mechanism *x, fx_part *p);
double fx_flight_frozen(const fx_mechanism *x, const fx_part *p);
/* Verdict `turn`: of floating trees whose links turn too far in a step of second order to have a pose at its end. */
void fx_flight_judge(frix_sim *sim);

/* ---- mechanism_transport.c: momentum that links carry ---- */
/* The bias of the step from that of the state, before M~ is factored. */
void fx_transport_load(frix_sim *sim);
/* The force that body b needs for the acceleration a of its link beyond V', about the tree's point. */
fx_spatial fx_transport_force(const frix_sim *sim, int32_t b, fx_spatial a);
/* Links come with the velocities they begin with. */
void fx_transport_start(frix_sim *sim);
/* With the new velocities at the old place, and at the new one. */
void fx_transport_leave(frix_sim *sim);
void fx_transport_arrive(frix_sim *sim);
/* Trees whose numbers were set by hand carry none. */
void fx_transport_forget(frix_sim *sim);
/* As if the coordinates of all trees had been set by hand. */
void fx_transport_drop(frix_sim *sim);
/* With what a link came here; false: as its slot says. */
bool fx_transport_motion(const frix_sim *sim, int32_t slot, frix_vec3 *velocity, frix_vec3 *spin);

/* What flies as one: a link of a robot, each body of a tree that joints of the model made. NULL: no part of a tree. */
const fx_mass *fx_unit_of(const fx_mechanism *x, int32_t body);

/* ---- mechanism_half.c: the same where contacts are seen at the half step ---- */
static inline bool fx_sees_half(const frix_sim *sim) { return sim->integrator->position_time < 1.0; }
frix_status fx_half_create(frix_sim *sim);
/* At the place before the step: the momenta of the links. */
void fx_half_leave(frix_sim *sim);
/* What the joints of the half step take of them, by coordinate: (M v0 - J' P) / h. */
void fx_half_lose(const frix_sim *sim, double *out);
/* With the answer: how the trees go on to the end of the step. */
void fx_half_go_on(frix_sim *sim);
/* At the end: no energy from turns that steps do not resolve. */
void fx_half_end(frix_sim *sim);
/* The change of momentum of a body in the step by time, about the tree's point. */
fx_spatial fx_half_force(const frix_sim *sim, int32_t body);

/* ---- mechanism_forces.c ---- */
/* Forces and torques of joints of the model that are coordinates, for the answer of the step. */
void fx_mechanism_forces(frix_sim *sim);

/* ---- mechanism_tactile.c ---- */
frix_status fx_tactile_sense(const frix_sim *sim, const fx_tree_sensor *s, fx_arena *arena, double *out);

/* ---- mechanism_look.c ---- */
/* Sensors that choose among contacts, or ask where shapes are. */
frix_status fx_mechanism_look(frix_sim *sim);

/* ---- mechanism_rows.c ---- */
/* Rows of an equality without those that only rounding moves: in mechanism.jacobian, violations in error. */
int32_t fx_equality_rows(const frix_sim *sim, int32_t equality, double *error);
/* The impulse of row k of the step in the last one. */
double *fx_equality_memory(const frix_sim *sim, int32_t equality, int32_t k);
/* The speed with which an error of a coordinate is to go. */
double fx_returning(const frix_sim *sim, double error);
double fx_closing(const frix_sim *sim, int32_t slot, double error);
/* Whether the impulse of the last step is that of a loop which is closed. */
bool fx_loop_remembers(double error);
extern const double fx_loop_softness;
void fx_mechanism_room(const frix_sim *sim, int32_t *groups, int32_t *rows, size_t *values);
void fx_mechanism_rows(frix_sim *sim, fx_assembly *a);
/* Impulses of the step, for the next one. */
void fx_mechanism_keep(frix_sim *sim);

/* ---- mechanism_energy.c ---- */
double fx_mechanism_kinetic(const frix_sim *sim);   /* beside that of the links */
double fx_mechanism_potential(const frix_sim *sim); /* beside their weight */
/* Books what forces did to a tree; returns the change of its kinetic energy and adds what is booked. */
double fx_tree_book(const frix_sim *sim, const fx_mover *m, frix_energy *e, double *booked);

/* ---- tree_mover.c ---- */
/* A velocity that is rounding of the places which gaps and loops are found from. */
#define FX_STANDS_PLACE 1e-15 /* of a place: what its rounding moves it by in a step */
#define FX_STANDS_LOAD 1e-10  /* of the terms that cancel: what such rounding may leave of them */
#define FX_STANDS_STUCK 100.0 /* times as much where dry friction holds a coordinate */
#define FX_STANDS_FAST 1e-5   /* m/s, rad/s: what is faster is no rounding of any load */
#define FX_STANDS_LOOPS 64.0  /* times as much where loops turn it from one coordinate into others */
bool fx_has_loops(const frix_sim *sim);
void fx_tree_row(const frix_sim *sim, const fx_mover *m, int32_t slot, frix_vec3 lin, frix_vec3 ang, double *J);
/* out += J times its velocities, of dim rows. */
void fx_tree_add_products(const fx_mover *m, int32_t dim, const double *J, fx_when when, double *out);
void fx_tree_motion(const frix_sim *sim, const fx_mover *m, int32_t slot, fx_when when, frix_vec3 *v, frix_vec3 *w);
/* y = M~^-1 J' */
void fx_tree_respond(const fx_mover *m, const double *J, double *y);
/* y = J L^-1 and z = D^-1 y' with M~ = L'DL: the product of two rows is y . z. */
void fx_tree_half_respond(const fx_mover *m, const double *J, double *y, double *z);
double fx_tree_weight(const fx_mover *m, const double *J);
/* The fastest link. */
void fx_tree_ways_raise(const frix_sim *sim, const fx_mover *m, fx_when when, double *reach, double *inner);
double fx_tree_speed(const frix_sim *sim, const fx_mover *m, fx_when when);
/* Bound of the velocity of the farthest point of a link. */
double fx_tree_outer_speed(const frix_sim *sim, const fx_mover *m, fx_when when);
/* x' M~ x and M~ x. */
double fx_tree_energy_of(const fx_mover *m, const double *x);
/* The largest rate before and after the step of a coordinate of a tree of links that is an angle. */
double fx_tree_turn_rate(const fx_mover *m);
void fx_tree_multiply(const fx_mover *m, const double *x, double *out);
void fx_tree_multiply_pair(const fx_mover *m, const fx_twin *restrict x, fx_twin *restrict out);
size_t fx_tree_entries(const fx_mover *m);
int32_t fx_tree_put_mass(const fx_mover *m, fx_sparse *M, int32_t at);
/* How fast a row may be at most, one size or radian per step. */
/* Number of the motion that coordinate i of a tree belongs to, ascending from 0. */
int32_t fx_tree_motion_of(const fx_mover *m, int32_t i);
/* What the free motion of a tree brings to rows with the responses Y and Z, by motion (problem/row_links.c); room for
 * count numbers. */
void fx_tree_rows_carry(const fx_mover *m, int32_t count, const double *Y, const double *Z, double *room, double *out);
double fx_tree_span_of(const frix_sim *sim, const fx_mover *m, const double *J);
double fx_tree_size(const frix_sim *sim, const fx_mover *m);

#endif
