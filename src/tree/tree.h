/* Articulated trees in reduced coordinates: a model of bodies, joints, tendons, actuators and sensors, and the state
 * that is computed from configuration, velocity and control.
 *
 *   M(q) a + c(q, v) = passive + actuator + applied        (without contacts, limits, dry friction and equalities,
 * which are rows: tree_rows.c)
 *
 *   tree_kinematics.c     poses of bodies, sites and geoms; motion axes of the coordinates; Jacobians
 *   tree_inertia.c        M by composite rigid bodies, its L'DL factor and solve
 *   tree_bias.c           velocities, recursive Newton-Euler, inverse dynamics
 *   tree_passive.c        springs, dampers, gravity compensation; air in tree_fluid.c
 *   tree_tendon.c         lengths and moments; wrapping in tree_wrap.c
 *   tree_transmission.c   lengths and moments of actuators; their forces in tree_actuator.c, muscles in tree_muscle.c,
 *                         DC motors in tree_motor.c, orientation servos in tree_turn.c
 *   tree_sensor.c         sensors
 *   tree_configuration.c  integrate and differentiate on the manifold
 *   tree_rows.c           equalities, limits, dry friction as rows
 *   tree_finish.c         numbers of the model that follow from others (at the reference); tree_state.c the state
 *
 * Coordinates are those of MJCF. Bodies stand after their parents, body 0 is the world. Spatial vectors are taken in
 * the axes of the world at a point that all bodies of a tree share (the centre of mass of its first body), which is
 * held while a state is evaluated: they add without transformation (Featherstone, Rigid Body Dynamics Algorithms,
 * 2008). */
#ifndef FX_TREE_TREE_H
#define FX_TREE_TREE_H

#include <frix/robot.h>

#include "base/arena.h"
#include "linalg/vector.h"
#include "model/shape.h"

/* ---- spatial vectors ---- */

/* Velocity or acceleration, or a force: turning part first. */
typedef struct fx_spatial {
  frix_vec3 w, v;
} fx_spatial;

/* Mass, first moment m c and second moments about the tree's point. */
typedef struct fx_inertia {
  double mass;
  frix_vec3 first;
  frix_sym3 second;
} fx_inertia;

static inline fx_spatial fx_spatial_add(fx_spatial a, fx_spatial b) {
  return (fx_spatial){fx_add(a.w, b.w), fx_add(a.v, b.v)};
}
static inline fx_spatial fx_spatial_mad(fx_spatial a, double s, fx_spatial b) {
  return (fx_spatial){fx_mad(a.w, s, b.w), fx_mad(a.v, s, b.v)};
}
static inline double fx_spatial_dot(fx_spatial a, fx_spatial b) { return fx_dot(a.w, b.w) + fx_dot(a.v, b.v); }
/* The rate of a motion axis b that moves with velocity a. */
static inline fx_spatial fx_spatial_cross(fx_spatial a, fx_spatial b) {
  return (fx_spatial){fx_cross(a.w, b.w), fx_add(fx_cross(a.w, b.v), fx_cross(a.v, b.w))};
}
/* The rate of a momentum or force f that moves with velocity a. */
static inline fx_spatial fx_spatial_cross_force(fx_spatial a, fx_spatial f) {
  return (fx_spatial){fx_add(fx_cross(a.w, f.w), fx_cross(a.v, f.v)), fx_cross(a.w, f.v)};
}
static inline fx_spatial fx_inertia_mul(const fx_inertia *i, fx_spatial a) {
  return (fx_spatial){fx_add(fx_sym3_mul(i->second, a.w), fx_cross(i->first, a.v)),
                      fx_sub(fx_scale(i->mass, a.v), fx_cross(i->first, a.w))};
}
void fx_inertia_add(fx_inertia *sum, const fx_inertia *part);
/* Of a body at a pose, about a point. */
fx_inertia fx_inertia_of(const fx_mass *mass, frix_pose pose, frix_vec3 point);

/* ---- the model ---- */

/* Reals that a joint's law may have: linear, and two of higher order. */
enum { FX_TREE_POLYNOMIAL = 3 };

typedef struct fx_tree_body {
  const char *name;
  int32_t parent; /* -1 for the world */
  int32_t link;   /* the body whose joints carry it: itself or one above; 0: it does not move by coordinates */
  int32_t root;   /* the first link of its tree; 0 where link is 0 */
  int32_t joint_first, joint_count, dof_first, dof_count;
  int32_t dof_last; /* the last coordinate that moves it, -1: none */
  int32_t mocap;    /* -1: none */
  frix_pose place;  /* in its parent, joints at their reference */
  fx_mass mass;     /* its own, in its frame */
  fx_mass carried;  /* of a link: with all that is fixed to it, in its frame */
  bool has_axes;    /* the axes are given; otherwise they follow, largest moment first */
  frix_quat axes;   /* of its principal moments, in its frame */
  frix_vec3 moments;
  double gravcomp;
  bool ellipsoids; /* air acts on its geoms, not on its box */
} fx_tree_body;

typedef struct fx_tree_joint {
  const char *name;
  frix_robot_joint_kind kind;
  int32_t body, q, v; /* where its numbers start */
  frix_vec3 pos, axis;
  double ref[7], spring[7]; /* numbers at the reference, and where its spring rests */
  double stiffness[FX_TREE_POLYNOMIAL], damping[FX_TREE_POLYNOMIAL], friction, armature, margin;
  double spring_damper[2]; /* both positive: time constant and damping ratio that its spring and damper are to have */
  bool limited, force_limited, carries_gravcomp;
  double range[2], force_range[2];
} fx_tree_joint;

typedef struct fx_tree_dof {
  int32_t joint, body, parent; /* parent: the coordinate before it on the way to the root, -1: none */
  int32_t row;                 /* of M: diagonal, then its ancestors, nearest first */
} fx_tree_dof;

/* Where a site senses touches. */
typedef enum fx_site_kind {
  FX_SITE_SPHERE,
  FX_SITE_CAPSULE,
  FX_SITE_ELLIPSOID,
  FX_SITE_CYLINDER,
  FX_SITE_BOX
} fx_site_kind;

typedef struct fx_tree_site {
  const char *name;
  int32_t body;
  frix_pose pose; /* in its body */
  fx_site_kind kind;
  double size[3];
} fx_tree_site;

typedef struct fx_tree_camera {
  int32_t body;
  frix_pose pose;             /* in its body; it looks along -z */
  double focal[2], center[2]; /* in pixels */
} fx_tree_camera;

typedef enum fx_tree_geom_kind { FX_TREE_GEOM_OTHER, FX_TREE_GEOM_SPHERE, FX_TREE_GEOM_CYLINDER } fx_tree_geom_kind;

typedef struct fx_tree_geom {
  const char *name;
  int32_t body;
  frix_pose pose;
  fx_tree_geom_kind kind; /* for tendons to wrap */
  double radius;
  bool ellipsoid; /* air acts on it as on an ellipsoid of these semi-axes, with MJCF's coefficients */
  double half[3], fluid[5], added_mass[3], added_inertia[3];
} fx_tree_geom;

/* A list of coordinates: from first on in fx_tree.list. */
typedef struct fx_tree_span {
  int32_t first, count;
} fx_tree_span;

typedef enum fx_tree_wrap_kind {
  FX_WRAP_JOINT,
  FX_WRAP_PULLEY,
  FX_WRAP_SITE,
  FX_WRAP_SPHERE,
  FX_WRAP_CYLINDER
} fx_tree_wrap_kind;

typedef struct fx_tree_wrap {
  fx_tree_wrap_kind kind;
  int32_t object, side; /* joint, site or geom; the site that tells the side, -1: none */
  double value;         /* coefficient of a joint, divisor of a pulley */
} fx_tree_wrap;

typedef struct fx_tree_tendon {
  const char *name;
  int32_t wrap_first, wrap_count;
  fx_tree_span dofs;
  bool spatial, limited, force_limited;
  double range[2], force_range[2], margin, friction, armature;
  double stiffness[FX_TREE_POLYNOMIAL], damping[FX_TREE_POLYNOMIAL];
  double spring[2]; /* no force between them; -1: the length where the springs of joints rest */
  double length0;   /* at the reference */
} fx_tree_tendon;

typedef enum fx_tree_dynamics {
  FX_DYN_NONE,
  FX_DYN_INTEGRATOR,
  FX_DYN_FILTER,
  FX_DYN_FILTER_EXACT,
  FX_DYN_MUSCLE,
  FX_DYN_PID,  /* the setpoint within its slew rate, then the integral, where there are such */
  FX_DYN_MOTOR /* tree_motor.c */
} fx_tree_dynamics;
typedef enum fx_tree_gain { FX_GAIN_FIXED, FX_GAIN_AFFINE, FX_GAIN_MUSCLE } fx_tree_gain;
typedef enum fx_tree_bias { FX_BIAS_NONE, FX_BIAS_AFFINE, FX_BIAS_MUSCLE } fx_tree_bias;

enum { FX_TREE_PARAMETERS = 10 };

/* What a PID controller has beside gain (kp), bias[1] = -kp and bias[2] = -kv. */
typedef struct fx_tree_pid {
  bool used;
  bool plugin;   /* of mujoco.pid: its integral stands first and has the error of the step; no slew bound at time 0 */
  int32_t at[3]; /* setpoint of length and rate, added force: which of its controls, -1: 0 */
  double ki, most, slew; /* most: of the integral, slew: of the setpoint's rate; 0: no bound */
  bool limited[3];       /* limited[0] and range[0] are ctrl_limited and ctrl_range */
  double range[3][2];
} fx_tree_pid;

/* A DC motor, tree_motor.c. What is 0 is not there. */
typedef struct fx_tree_motor {
  bool used;
  int32_t at[4]; /* setpoints of length and rate, added torque, voltage: which of its controls, -1: 0 */
  int32_t setpoint_at, integral_at, heat_at, bristle_at, current_at; /* among its activations, -1: none */
  double resistance, constant, time, most_rate;                      /* time: electrical; most_rate: of the current */
  double kp, ki, kd, slew, most_integral, most_voltage;
  double heat_slope, heat_reference, heat_ambient, heat_resistance, heat_capacity;
  double cogging[3];                                  /* amplitude, poles, phase */
  double stiffness, damping, sliding, sticking, slow; /* of its bristles; friction, and the rate it changes at */
} fx_tree_motor;

typedef struct fx_tree_actuator {
  const char *name;
  frix_robot_transmission transmission;
  int32_t object, object2; /* joint, tendon, site, body; refsite or slidersite, -1: none */
  fx_tree_span dofs;
  fx_tree_dynamics dynamics;
  fx_tree_gain gain_kind;
  fx_tree_bias bias_kind;
  double dyn[FX_TREE_PARAMETERS], gain[FX_TREE_PARAMETERS], bias[FX_TREE_PARAMETERS];
  double damp_ratio; /* above 0: bias[2] is to follow from the inertia at the reference */
  bool wants_range;  /* of lengths: the file does not say it */
  double gear[6], crank_length, length_range[2], acc0, damping[FX_TREE_POLYNOMIAL], armature;
  bool ctrl_limited, force_limited, act_limited, act_early, off;
  double ctrl_range[2], force_range[2], act_range[2];
  int32_t act_first, act_count, ctrl_first, ctrl_count;
  fx_tree_pid pid;
  fx_tree_motor motor;
  int turn;        /* of an orientation servo, three actuators in a row: which of them, from 1 on; 0: another kind */
  bool quaternion; /* its control: otherwise a rotation vector */
  double delay;    /* of its control; 0: none */
  int32_t sample_count; /* past controls that are kept: their times, then their values, oldest first */
  int32_t history_first;
  int interp; /* between two of them: 0 the earlier one, 1 linear, 2 cubic */
} fx_tree_actuator;

typedef enum fx_tree_object {
  FX_OBJECT_NONE,
  FX_OBJECT_BODY,
  FX_OBJECT_XBODY,
  FX_OBJECT_GEOM,
  FX_OBJECT_SITE,
  FX_OBJECT_CAMERA
} fx_tree_object;

/* What a contact sensor tells of each contact, and a rangefinder of what its ray meets; in this order. */
typedef enum fx_contact_field {
  FX_CONTACT_FOUND,
  FX_CONTACT_FORCE,
  FX_CONTACT_TORQUE,
  FX_CONTACT_DIST,
  FX_CONTACT_POS,
  FX_CONTACT_NORMAL,
  FX_CONTACT_TANGENT
} fx_contact_field;
typedef enum fx_ray_field {
  FX_RAY_DIST,
  FX_RAY_DIR,
  FX_RAY_ORIGIN,
  FX_RAY_POINT,
  FX_RAY_NORMAL,
  FX_RAY_DEPTH
} fx_ray_field;
/* Which contacts it tells of: the first ones, the nearest, those of the largest forces, or the sum of all. */
typedef enum fx_tree_choice { FX_CHOICE_FIRST, FX_CHOICE_NEAREST, FX_CHOICE_STRONGEST, FX_CHOICE_SUM } fx_tree_choice;

/* A point of a tactile sensor, in the frame of its geom. */
typedef struct fx_taxel {
  frix_vec3 at, tangent[2]; /* zero: it has none */
} fx_taxel;

typedef struct fx_tree_sensor {
  const char *name;
  frix_robot_sensor_kind kind;
  fx_tree_object kind1, kind2;
  int32_t object, object2; /* -1: none */
  double cutoff;
  int32_t first, count;
  uint32_t fields;       /* of contact (fx_contact_field) and rangefinder (fx_ray_field) */
  int32_t slots;         /* of a contact sensor */
  fx_tree_choice choice; /* likewise */
  int32_t taxel_count;   /* of a tactile sensor */
  const fx_taxel *taxel;
} fx_tree_sensor;

typedef enum fx_tree_equality_kind {
  FX_EQUAL_CONNECT,
  FX_EQUAL_WELD,
  FX_EQUAL_JOINT,
  FX_EQUAL_TENDON
} fx_tree_equality_kind;

typedef struct fx_tree_equality {
  const char *name;
  fx_tree_equality_kind kind;
  int32_t first, second; /* bodies, joints, tendons; -1: none */
  bool active, of_sites; /* of_sites: both frames are given; otherwise one follows from the other at the reference */
  bool second_given;     /* the second is, the first follows */
  frix_pose at[2];       /* frames in the two bodies that are to coincide */
  double torque_scale, coef[5];
} fx_tree_equality;

typedef struct fx_tree_key {
  const char *name;
  double time;
  double *qpos, *qvel, *ctrl, *act, *mocap; /* all given; mocap: 7 each */
} fx_tree_key;

typedef struct fx_tree {
  int32_t body_count, joint_count, dof_count, q_count, site_count, camera_count, geom_count, tendon_count, wrap_count,
      actuator_count, ctrl_count;
  bool left_out; /* the file has actuators that the tree has not */
  int32_t act_count, history_count, sensor_count, sensor_size, equality_count, key_count, mocap_count, list_count,
      m_count;
  fx_tree_body *body;
  fx_tree_joint *joint;
  fx_tree_dof *dof;
  fx_tree_site *site;
  fx_tree_camera *camera;
  fx_tree_geom *geom;
  fx_tree_tendon *tendon;
  fx_tree_wrap *wrap;
  fx_tree_actuator *actuator;
  fx_tree_sensor *sensor;
  fx_tree_equality *equality;
  fx_tree_key *key;
  int32_t *list; /* coordinates of tendons and actuators */
  double *m0;    /* diagonal of M at the reference */
  double *qpos0;
  frix_vec3 gravity, wind, magnetic;
  double density, viscosity, timestep;
  bool no_spring, no_damper, no_gravity, no_actuation, no_clamp, no_limit, no_friction, no_equality;
  bool coated; /* contacts act at a margin, pull, or move along: the step needs the robot for them */
} fx_tree;

/* A robot is a tree with its memory and what was left out of its file. */
struct frix_robot {
  frix_context *context;
  fx_arena arena;
  fx_tree tree;
  const char *name;
  int32_t note_count;
  const frix_mjcf_note *note;
};

/* Everything that follows from the lists of bodies, joints, sites, geoms, tendons, actuators and equalities: links,
 * coordinates, rows of M, spans, then numbers at the reference. Lists of the tree live in the arena. */
frix_status fx_tree_finish(frix_context *context, fx_arena *arena, fx_tree *tree);

/* ---- the state ---- */

struct frix_robot_state {
  frix_context *context;
  const fx_tree *tree;
  fx_arena arena;
  double time;
  double *qpos, *qvel, *ctrl, *act, *mocap, *applied, *history;
  double *placed; /* qpos, qvel and mocap that what follows was found from */
  bool is_placed; /* it was */
  /* of the configuration */
  frix_pose *pose;                                                           /* of bodies */
  frix_vec3 *center;                                                         /* of mass of bodies */
  frix_vec3 *anchor, *axis;                                                  /* of joints, world */
  fx_spatial *motion;                                                        /* axes of coordinates */
  fx_inertia *inertia, *composite;                                           /* of links */
  double *m, *factor, *factor_diagonal;                                      /* rows of M; rows of L and 1 / D */
  double *tendon_length, *tendon_moment, *actuator_length, *actuator_moment; /* moments on the spans */
  /* of the velocity */
  fx_spatial *velocity, *motion_rate; /* of links (index: body); of the axes */
  double *turned;                     /* qvel that these were found from */
  bool is_turned;                     /* they were, at this configuration */
  double *tendon_velocity, *actuator_velocity;
  /* forces */
  double *bias, *passive, *act_rate, *actuator_force, *actuator_beside, *actuator_torque, *tendon_force, *smooth,
      *acceleration;
  double *gravcomp;
  double *sensor;
  double potential, kinetic;
  /* scratch */
  fx_spatial *spatial, *spatial2; /* by body */
  frix_sym3 *turning;             /* likewise */
  double *row;                    /* by coordinate, zero between uses */
  double *row2;
};

/* A state of a tree; free with frix_robot_state_destroy. */
frix_status fx_tree_state(frix_context *context, const fx_tree *tree, frix_robot_state **out);
/* Poses, M and what is at rest known from the configuration alone. */
void fx_tree_evaluate_position(frix_robot_state *s);

frix_vec3 fx_tree_point_of(const frix_robot_state *s, int32_t body);
frix_pose fx_tree_site_pose(const frix_robot_state *s, int32_t site);
/* Whether a point lies in the volume of a site. */
bool fx_tree_site_holds(const frix_robot_state *s, int32_t site, frix_vec3 point);
frix_pose fx_tree_geom_pose(const frix_robot_state *s, int32_t geom);

/* ---- kinematics ---- */
void fx_tree_kinematics(frix_robot_state *s);
/* out[dof] += scale * d . J(point), for the coordinates that move the body; turn: the rate of rotation instead. */
void fx_tree_add_jacobian(const frix_robot_state *s, int32_t body, frix_vec3 point, frix_vec3 d, double *out);
void fx_tree_add_turn(const frix_robot_state *s, int32_t body, frix_vec3 d, double *out);
/* Spatial velocity of a body about the tree's point. */
fx_spatial fx_tree_velocity_of(const frix_robot_state *s, int32_t body);
frix_vec3 fx_tree_point_velocity(const frix_robot_state *s, int32_t body, frix_vec3 point);

/* ---- mass matrix ---- */
void fx_tree_mass(frix_robot_state *s);
/* False where M is singular to working precision. */
bool fx_tree_factor(frix_robot_state *s);
/* b := M^-1 b */
void fx_tree_solve(const frix_robot_state *s, double *b);
/* The same for coordinates first .. first + count - 1, which are whole trees; b begins with the first of them. */
void fx_tree_solve_part(const frix_robot_state *s, int32_t first, int32_t count, double *b);
/* Two vectors at once, each with the bits that it has alone. */
typedef double fx_twin __attribute__((vector_size(2 * sizeof(double))));
void fx_tree_solve_pair(const frix_robot_state *s, int32_t first, int32_t count, fx_twin *b);
/* b := L'^-1 b with M = L'DL: coordinates that b does not move, and what they carry, stay zero. */
void fx_tree_half_solve(const frix_robot_state *s, int32_t first, int32_t count, double *b);
/* out = M x */
void fx_tree_mass_mul(const frix_robot_state *s, const double *x, double *out);
/* out = m x for a matrix m of the pattern of M, in the same coordinates as above. */
void fx_tree_mul_part(const fx_tree *t, const double *m, int32_t first, int32_t count, const double *restrict x,
                      double *restrict out);
void fx_tree_mul_pair(const fx_tree *t, const double *m, int32_t first, int32_t count, const fx_twin *restrict x,
                      fx_twin *restrict out);
/* m += weight moment moment', where the coordinates of the moment lie on one chain (fx_tree_is_chain). */
void fx_tree_add_outer(frix_robot_state *s, double *m, fx_tree_span span, const double *moment, double weight);
bool fx_tree_is_chain(const fx_tree *t, fx_tree_span span);
/* m += what inertia of the links against turning, in the world's axes, adds to M. */
void fx_tree_add_turning(frix_robot_state *s, const frix_sym3 *inertia, double *m);

/* ---- bias ---- */
void fx_tree_velocities(frix_robot_state *s);
/* tau = M a + c without armature of M a where a is NULL. */
void fx_tree_newton_euler(frix_robot_state *s, const double *a, double *tau);
/* Forces on the links, summed from the leaves on, and what they are along the coordinates. */
void fx_tree_gather(const frix_robot_state *s, fx_spatial *force, double *tau);
/* The part of c that gravity has. */
void fx_tree_gravity(const frix_robot_state *s, double *tau);

/* ---- forces ---- */
void fx_tree_passive(frix_robot_state *s);
/* The part of them that dampers and air have. */
void fx_tree_dampers(frix_robot_state *s, double *out);
/* Slopes of springs and dampers of the joints, by coordinate; none is negative. */
void fx_tree_slopes(const frix_robot_state *s, double *stiffness, double *damping);
/* The same of a tendon, along its length. */
void fx_tree_tendon_slopes(const frix_robot_state *s, int32_t tendon, double *stiffness, double *damping);
void fx_tree_fluid(frix_robot_state *s, double *out);
/* Added mass and inertia of an ellipsoid. */
void fx_tree_fluid_prepare(fx_tree_geom *geom);
void fx_tree_tendons(frix_robot_state *s);
/* Second rate of the length of a spatial tendon, with the accelerations of links that fx_tree_newton_euler leaves. */
double fx_tree_tendon_drift(frix_robot_state *s, int32_t tendon);
/* force[body] += what a spatial tendon does to the bodies it runs along when it pulls with a negative tension. */
void fx_tree_tendon_pull(frix_robot_state *s, int32_t tendon, double tension, fx_spatial *force);
/* Of springs and dampers of a tendon, along its length. */
double fx_tree_tendon_force(const frix_robot_state *s, int32_t tendon);
void fx_tree_transmissions(frix_robot_state *s);
void fx_tree_actuators(frix_robot_state *s);
/* Shortest and longest within the ranges of its joints; false where nothing bounds it. room: a configuration. */
bool fx_tree_find_length_range(frix_robot_state *s, int32_t actuator, double *room, double range[2]);
/* pulls: by body, what acts on it beside its joints and tendons, at fx_tree_point_of; NULL: nothing. */
void fx_tree_sensors(frix_robot_state *s, const double *acceleration, const fx_spatial *pulls);
/* What an equality does to its bodies, where its rows act with these forces. */
void fx_tree_equality_pull(const frix_robot_state *s, const fx_tree_equality *e, const double *force,
                           fx_spatial *pulls);
void fx_tree_energy(frix_robot_state *s);
double fx_tree_spring_energy(const frix_robot_state *s);
/* Of armatures alone, which bodies do not have. */
double fx_tree_rotor_energy(const frix_robot_state *s);
/* Activations at the end of a step of the tree's timestep, from their rates. */
void fx_tree_activate(frix_robot_state *s);
/* Controls of the state's time join those that are remembered; and nothing but zero controls before a time. */
void fx_tree_remember(frix_robot_state *s);
void fx_tree_forget(frix_robot_state *s);

/* The shortest path between two points about a sphere or cylinder; its length, or -1 where it does not touch. */
double fx_tree_wrap_path(frix_vec3 from, frix_vec3 to, frix_pose frame, double radius, bool sphere,
                         const frix_vec3 *side, frix_vec3 touch[2]);
/* Muscles as in MJCF: gain and bias for a length and velocity; rate of activation. */
double fx_muscle_gain(const fx_tree_actuator *a, double length, double velocity);
double fx_muscle_bias(const fx_tree_actuator *a, double length);
double fx_muscle_rate(double control, double activation, const double *parameter);

/* Force of an actuator, without bounds, and its slopes. */
typedef struct fx_tree_drive {
  double force, by_length, by_velocity;
  double beside; /* the part of the force that its bounds do not hold */
} fx_tree_drive;
fx_tree_drive fx_tree_drive_of(const frix_robot_state *s, int32_t actuator);
/* One of its controls as it acts now, after the delay; within ctrlrange. */
double fx_tree_control(const frix_robot_state *s, const fx_tree_actuator *a, int32_t which);

/* DC motors: force, rates of the activations, and these at the end of the step. */
enum { FX_MOTOR_STATES = 5 };
fx_tree_drive fx_motor_drive(const frix_robot_state *s, int32_t actuator);
void fx_motor_activation(const frix_robot_state *s, int32_t actuator, double rate[FX_MOTOR_STATES],
                         double next[FX_MOTOR_STATES]);
/* Orientation servos: the force of one of the three; the integrated target at the end of the step. */
fx_tree_drive fx_turn_drive(const frix_robot_state *s, int32_t actuator);
frix_vec3 fx_turn_next(const frix_robot_state *s, int32_t actuator);
double fx_tree_exp(double x);

/* ---- the manifold ---- */
frix_quat fx_quat_at(const double *q);
void fx_quat_put(frix_quat q, double *out);
/* The turn as a vector: axis times angle, within half a turn. */
frix_vec3 fx_quat_log(frix_quat q);
frix_quat fx_quat_exp(frix_vec3 v);
void fx_tree_integrate(const fx_tree *t, double *qpos, const double *v, double h);
void fx_tree_differentiate(const fx_tree *t, const double *from, const double *to, double h, double *v);

static inline int32_t fx_joint_q_size(frix_robot_joint_kind kind) {
  return kind == FRIX_ROBOT_FREE ? 7 : kind == FRIX_ROBOT_BALL ? 4 : 1;
}
static inline int32_t fx_joint_v_size(frix_robot_joint_kind kind) {
  return kind == FRIX_ROBOT_FREE ? 6 : kind == FRIX_ROBOT_BALL ? 3 : 1;
}

#endif
