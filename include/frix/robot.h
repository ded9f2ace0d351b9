/* frix: robots as articulated trees in reduced coordinates.
 *
 *   frix_robot *robot = NULL;
 *   frix_robot_state *state = NULL;
 *   if (frix_robot_read(context, "arm.xml", NULL, &robot)) puts(frix_error_text(context));
 *   frix_robot_state_create(robot, &state);
 *   double *q = frix_robot_data(state, FRIX_ROBOT_QPOS, NULL);
 *   q[0] = 0.3;
 *   frix_robot_forward(state);            poses, mass matrix, bias, forces, accelerations, sensors
 *
 * Coordinates, velocities and controls are numbered as in MJCF: a free joint has position and unit quaternion (7
 * numbers) and velocity in the world with spin in its own axes (6), a ball 4 and 3, hinges and slides 1. Accelerations
 * are those of smooth forces: without contacts, limits, dry friction and equalities. See docs/robots.md. */
#ifndef FRIX_ROBOT_H
#define FRIX_ROBOT_H

#include <frix/mjcf.h>
#include <frix/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum frix_robot_joint_kind {
  FRIX_ROBOT_FREE,
  FRIX_ROBOT_BALL,
  FRIX_ROBOT_SLIDE,
  FRIX_ROBOT_HINGE
} frix_robot_joint_kind;

typedef enum frix_robot_transmission {
  FRIX_ROBOT_AT_JOINT,
  FRIX_ROBOT_AT_JOINT_IN_PARENT,
  FRIX_ROBOT_AT_CRANK,
  FRIX_ROBOT_AT_TENDON,
  FRIX_ROBOT_AT_SITE,
  FRIX_ROBOT_AT_BODY
} frix_robot_transmission;

typedef enum frix_robot_sensor_kind {
  FRIX_SENSOR_ACCELEROMETER,
  FRIX_SENSOR_VELOCIMETER,
  FRIX_SENSOR_GYRO,
  FRIX_SENSOR_FORCE,
  FRIX_SENSOR_TORQUE,
  FRIX_SENSOR_MAGNETOMETER,
  FRIX_SENSOR_JOINT_POS,
  FRIX_SENSOR_JOINT_VEL,
  FRIX_SENSOR_TENDON_POS,
  FRIX_SENSOR_TENDON_VEL,
  FRIX_SENSOR_ACTUATOR_POS,
  FRIX_SENSOR_ACTUATOR_VEL,
  FRIX_SENSOR_ACTUATOR_FORCE,
  FRIX_SENSOR_JOINT_ACTUATOR_FORCE,
  FRIX_SENSOR_TENDON_ACTUATOR_FORCE,
  FRIX_SENSOR_BALL_QUAT,
  FRIX_SENSOR_BALL_ANGVEL,
  FRIX_SENSOR_JOINT_LIMIT_POS,
  FRIX_SENSOR_JOINT_LIMIT_VEL,
  FRIX_SENSOR_JOINT_LIMIT_FORCE,
  FRIX_SENSOR_TENDON_LIMIT_POS,
  FRIX_SENSOR_TENDON_LIMIT_VEL,
  FRIX_SENSOR_TENDON_LIMIT_FORCE,
  FRIX_SENSOR_FRAME_POS,
  FRIX_SENSOR_FRAME_QUAT,
  FRIX_SENSOR_FRAME_X_AXIS,
  FRIX_SENSOR_FRAME_Y_AXIS,
  FRIX_SENSOR_FRAME_Z_AXIS,
  FRIX_SENSOR_FRAME_LINVEL,
  FRIX_SENSOR_FRAME_ANGVEL,
  FRIX_SENSOR_FRAME_LINACC,
  FRIX_SENSOR_FRAME_ANGACC,
  FRIX_SENSOR_SUBTREE_COM,
  FRIX_SENSOR_SUBTREE_LINVEL,
  FRIX_SENSOR_SUBTREE_ANGMOM,
  FRIX_SENSOR_POTENTIAL_ENERGY,
  FRIX_SENSOR_KINETIC_ENERGY,
  FRIX_SENSOR_CLOCK,
  FRIX_SENSOR_INSIDE_SITE,
  FRIX_SENSOR_CAM_PROJECTION,
  /* in a simulation; a state by itself has no shapes and reads 0 */
  FRIX_SENSOR_TOUCH, /* normal forces of the contacts in its site */
  FRIX_SENSOR_CONTACT,
  FRIX_SENSOR_RANGEFINDER,
  FRIX_SENSOR_DISTANCE,
  FRIX_SENSOR_NORMAL,
  FRIX_SENSOR_FROMTO,
  FRIX_SENSOR_TACTILE, /* depths of the points of a mesh in what touches it, and slip along their tangents */
  FRIX_SENSOR_OTHER,   /* image of distances, user sensor or plugin: reads 0 */
  FRIX_SENSOR_COUNT
} frix_robot_sensor_kind;

typedef struct frix_robot frix_robot;
typedef struct frix_robot_state frix_robot_state;

/* ---- the robot ---- */

/* From an MJCF or URDF file, with the settings of frix_mjcf_read (NULL: the defaults; key is not used). */
FRIX_API frix_status frix_robot_read(frix_context *context, const char *path, const frix_mjcf_config *config,
                                     frix_robot **out);
FRIX_API frix_status frix_robot_read_memory(frix_context *context, const char *name, const void *bytes, size_t count,
                                            const frix_mjcf_config *config, frix_robot **out);
FRIX_API void frix_robot_destroy(frix_robot *robot);
/* Writes a URDF file as MJCF. Paths of its meshes are relative to the folder of the written file, absolute if they lie
 * outside of it; omissions are logged. */
FRIX_API frix_status frix_urdf_convert(frix_context *context, const char *path, const frix_mjcf_config *config,
                                       const char *to);

typedef struct frix_robot_info {
  const char *name;
  int32_t body_count, joint_count, site_count, tendon_count, actuator_count, sensor_count, equality_count, key_count;
  int32_t mocap_count;
  int32_t q_count, v_count, act_count, sensor_size; /* numbers in qpos, qvel, act, sensor data */
  double mass, timestep;
  frix_vec3 gravity;
  int32_t note_count;
  const frix_mjcf_note *note; /* unsupported features of the file */
} frix_robot_info;

FRIX_API frix_robot_info frix_robot_view(const frix_robot *robot);

/* Names are NULL if the file gives none. All functions below take numbers from 0 and fail past the end. */
typedef struct frix_robot_body {
  const char *name;
  int32_t parent;                          /* -1: it is the world */
  int32_t joint_first, joint_count, mocap; /* mocap: -1, or which */
  double mass;
  frix_vec3 center;  /* of mass, in its frame */
  frix_sym3 inertia; /* about it, in its axes */
} frix_robot_body;

typedef struct frix_robot_joint {
  const char *name;
  frix_robot_joint_kind kind;
  int32_t body, q, v; /* first of its numbers */
  bool limited;
  double range[2], stiffness, damping, friction, armature;
} frix_robot_joint;

typedef struct frix_robot_actuator {
  const char *name;
  frix_robot_transmission transmission;
  const char *object; /* what it acts on */
  int32_t act_first, act_count;
  bool ctrl_limited, force_limited;
  double ctrl_range[2], force_range[2];
  int32_t ctrl_first, ctrl_count; /* its controls: one, or several of a pid */
} frix_robot_actuator;

typedef struct frix_robot_sensor {
  const char *name;
  frix_robot_sensor_kind kind;
  int32_t first, count; /* of its numbers in the sensor data */
} frix_robot_sensor;

FRIX_API frix_status frix_robot_get_body(const frix_robot *robot, int32_t k, frix_robot_body *out);
FRIX_API frix_status frix_robot_get_joint(const frix_robot *robot, int32_t k, frix_robot_joint *out);
FRIX_API frix_status frix_robot_get_actuator(const frix_robot *robot, int32_t k, frix_robot_actuator *out);
FRIX_API frix_status frix_robot_get_sensor(const frix_robot *robot, int32_t k, frix_robot_sensor *out);

typedef enum frix_robot_part {
  FRIX_ROBOT_BODY,
  FRIX_ROBOT_JOINT,
  FRIX_ROBOT_SITE,
  FRIX_ROBOT_TENDON,
  FRIX_ROBOT_ACTUATOR,
  FRIX_ROBOT_SENSOR,
  FRIX_ROBOT_KEY,
  FRIX_ROBOT_EQUALITY
} frix_robot_part;

/* The number of the element with this name, -1: none. */
FRIX_API int32_t frix_robot_find(const frix_robot *robot, frix_robot_part part, const char *name);
/* NULL: none. */
FRIX_API const char *frix_robot_name(const frix_robot *robot, frix_robot_part part, int32_t k);
FRIX_API const char *frix_robot_sensor_word(frix_robot_sensor_kind kind);

/* ---- the state ---- */

/* At the reference, at rest; the robot must outlive it. */
FRIX_API frix_status frix_robot_state_create(const frix_robot *robot, frix_robot_state **out);
FRIX_API void frix_robot_state_destroy(frix_robot_state *state);
/* At a keyframe, or at the reference for -1. */
FRIX_API frix_status frix_robot_reset(frix_robot_state *state, int32_t key);

typedef enum frix_robot_array {
  /* set by the caller */
  FRIX_ROBOT_QPOS,
  FRIX_ROBOT_QVEL,
  FRIX_ROBOT_CTRL,
  FRIX_ROBOT_ACT,
  FRIX_ROBOT_MOCAP,   /* position and quaternion of every mocap body, 7 numbers each */
  FRIX_ROBOT_APPLIED, /* forces along the coordinates */
  /* set by frix_robot_forward */
  FRIX_ROBOT_BIAS, /* Coriolis, centrifugal and gravity */
  FRIX_ROBOT_PASSIVE,
  FRIX_ROBOT_ACTUATOR_TORQUE, /* of all actuators along the coordinates */
  FRIX_ROBOT_ACTUATOR_FORCE,  /* of each */
  FRIX_ROBOT_ACTUATOR_LENGTH,
  FRIX_ROBOT_ACTUATOR_VELOCITY,
  FRIX_ROBOT_ACT_RATE,
  FRIX_ROBOT_TENDON_LENGTH,
  FRIX_ROBOT_TENDON_VELOCITY,
  FRIX_ROBOT_ACCELERATION, /* of smooth forces */
  FRIX_ROBOT_SENSOR_DATA,
  FRIX_ROBOT_ARRAY_COUNT
} frix_robot_array;

/* The numbers themselves; count may be NULL. */
FRIX_API double *frix_robot_data(frix_robot_state *state, frix_robot_array which, int32_t *count);

/* Computes everything from configuration, velocity, control and activation. Normalises quaternions first. */
FRIX_API frix_status frix_robot_forward(frix_robot_state *state);

/* ---- results of an evaluated state ---- */
FRIX_API frix_pose frix_robot_body_pose(const frix_robot_state *state, int32_t body);
FRIX_API frix_pose frix_robot_site_pose(const frix_robot_state *state, int32_t site);
/* Rows of the velocity (3) and of the spin (3) of a point of a body, v_count numbers each, world axes; either NULL. */
FRIX_API frix_status frix_robot_jacobian(const frix_robot_state *state, int32_t body, frix_vec3 point,
                                         double *translation, double *rotation);
FRIX_API frix_status frix_robot_site_jacobian(const frix_robot_state *state, int32_t site, double *translation,
                                              double *rotation);
/* Dense, v_count squared. */
FRIX_API void frix_robot_mass_matrix(const frix_robot_state *state, double *out);
/* x := M^-1 x */
FRIX_API void frix_robot_mass_solve(const frix_robot_state *state, double *x);
/* The forces along the coordinates that give an acceleration: M a + bias - passive - actuators. */
FRIX_API frix_status frix_robot_inverse(frix_robot_state *state, const double *acceleration, double *out);
/* d length / d q of a tendon or an actuator, v_count numbers. */
FRIX_API frix_status frix_robot_tendon_moment(const frix_robot_state *state, int32_t tendon, double *out);
FRIX_API frix_status frix_robot_actuator_moment(const frix_robot_state *state, int32_t actuator, double *out);
/* Derivatives of an actuator's force by its length and velocity, and its bounds (infinite: none). */
typedef struct frix_robot_drive {
  double force, by_length, by_velocity, lowest, highest;
} frix_robot_drive;
FRIX_API frix_status frix_robot_get_drive(const frix_robot_state *state, int32_t actuator, frix_robot_drive *out);
/* Sensor data for an acceleration other than that of smooth forces. */
FRIX_API frix_status frix_robot_sense(frix_robot_state *state, const double *acceleration);
FRIX_API double frix_robot_potential_energy(const frix_robot_state *state);
FRIX_API double frix_robot_kinetic_energy(const frix_robot_state *state);

/* A row of an equality: violation and its Jacobian. At most `most` rows are written, v_count numbers each; returns
 * their number, 0 if it is not active. Without a jacobian: the violations only. */
FRIX_API int32_t frix_robot_equality_rows(frix_robot_state *state, int32_t equality, int32_t most, double *violation,
                                          double *jacobian);

/* ---- in a simulation ---- */

/* The robot of a model that was read in reduced coordinates (frix_mjcf_config.coordinates); NULL: it has none. */
FRIX_API const frix_robot *frix_model_robot(const frix_model *model);
/* Its state in a simulation, evaluated at the end of the last step. Values set by the caller (QPOS, QVEL, CTRL, ACT,
 * APPLIED) take effect from the next step on; controls and applied forces persist. NULL: there is no robot, nor
 * joints of the model that are coordinates. Poses of
 * links follow from the coordinates: frix_sim_set_pose and similar functions reject links of files. Trees of a model's
 * own joints are made anew after bodies or joints were changed: the state of before is gone then. */
FRIX_API frix_robot_state *frix_sim_robot(frix_sim *sim);
/* Sets a keyframe, or the reference for -1; links move there immediately, and the ledger books it as work. */
FRIX_API frix_status frix_sim_robot_reset(frix_sim *sim, int32_t key);
/* Updates the links after coordinates or velocities were set by hand, instead of at the next step. */
FRIX_API frix_status frix_sim_robot_place(frix_sim *sim);
/* Sensor data and forces of the present state, with the accelerations of the last step, including contacts. */
FRIX_API frix_status frix_sim_robot_sense(frix_sim *sim);
/* Forces of contacts, limits, dry friction and equalities of the last step along the coordinates, v_count numbers. */
FRIX_API frix_status frix_sim_robot_held(frix_sim *sim, double *out);
/* The forces along the coordinates that give an acceleration (NULL: that of the last step) if these are as in
 * the last step: M a + bias - passive - actuators - held. In static equilibrium zero, to the tolerance. */
FRIX_API frix_status frix_sim_robot_inverse(frix_sim *sim, const double *acceleration, double *out);
/* The part of the robot on which row k of the last step (frix_sim_row) acts; -1: none. A coordinate is given by its
 * joint. */
FRIX_API int32_t frix_sim_robot_row(const frix_sim *sim, int32_t k, frix_robot_part *part);

/* ---- configurations ---- */
/* qpos moved by h times a velocity; the velocity that moves one qpos to another in time h. */
FRIX_API void frix_robot_integrate(const frix_robot *robot, double *qpos, const double *velocity, double h);
FRIX_API void frix_robot_differentiate(const frix_robot *robot, const double *from, const double *to, double h,
                                       double *velocity);

#ifdef __cplusplus
}
#endif
#endif
