/* frix: models: bodies, shapes, materials, joints.
 *
 * A builder collects and checks the parts and compiles them to a model, which never changes and which any number of
 * sims can share. Lengths are in metres, masses in kilograms, angles in radians, in the world frame unless a comment
 * says otherwise.
 *
 *   frix_builder_create -> add materials, geometries, bodies, shapes, joints -> frix_builder_compile -> frix_model
 *
 * Planar bodies have three degrees of freedom: they move in the plane z = 0 and rotate about z. They have flat shapes
 * (disc, rectangle, ellipse, polygon, half plane), which collide with flat shapes only; a planar world has its gravity
 * along -y. */
#ifndef FRIX_MODEL_H
#define FRIX_MODEL_H

#include <frix/base.h>
#include <frix/vec.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Ids identify elements: zero is null (for a body: the world), and the id of a removed element is rejected. */
typedef struct frix_body_id {
  uint32_t index, generation;
} frix_body_id;
typedef struct frix_shape_id {
  uint32_t index, generation;
} frix_shape_id;
typedef struct frix_material_id {
  uint32_t index, generation;
} frix_material_id;
typedef struct frix_geometry_id {
  uint32_t index, generation;
} frix_geometry_id;
typedef struct frix_joint_id {
  uint32_t index, generation;
} frix_joint_id;

/* ---- materials ----
 *
 * Two materials in contact are combined as follows, unless frix_builder_set_pair defines the pair:
 *   mu, mu2             geometric mean
 *   axis                of the anisotropic one; of the first in the pair if both are
 *   rolling, spinning   the larger
 *   restitution         the larger
 *   stiffness           springs in series; without a stiffness: infinitely stiff */
typedef struct frix_material_config {
  uint32_t size; /* set by frix_material_default */
  const char *name;
  void *user;
  double mu;          /* sliding friction, default 0.5 */
  double mu2;         /* friction across axis; only with an axis */
  frix_vec3 axis;     /* direction of mu in the shape's frame; zero (default): the same in all directions */
  double rolling;     /* rolling friction in metres, default 0 */
  double spinning;    /* spinning (drilling) friction in metres, default 0 */
  double restitution; /* 0 .. 1, default 0 */
  double stiffness;   /* N/m of a contact; INFINITY: rigid; 0 (default): by the contact law of the simulation */
} frix_material_config;

FRIX_API void frix_material_init(frix_material_config *out, size_t size);
static inline frix_material_config frix_material_default(void) {
  frix_material_config out;
  frix_material_init(&out, sizeof out);
  return out;
}

/* ---- geometries: point sets that several shapes can share ---- */
typedef enum frix_geometry_kind {
  FRIX_GEOMETRY_HULL,         /* the convex hull of points */
  FRIX_GEOMETRY_MESH,         /* triangles as they are; on static and kinematic bodies */
  FRIX_GEOMETRY_HEIGHT_FIELD, /* heights over a rectangle; on static and kinematic bodies */
  FRIX_GEOMETRY_POLYGON,      /* the convex hull of points in the plane (z ignored) */
} frix_geometry_kind;

typedef struct frix_geometry_config {
  uint32_t size; /* set by frix_geometry_default */
  const char *name;
  void *user;
  frix_geometry_kind kind;
  int32_t point_count;
  const frix_vec3 *point;
  int32_t triangle_count;          /* mesh */
  const int32_t *triangle;         /* mesh: three points each, counter-clockwise seen from outside */
  int32_t row_count, column_count; /* height field: at least 2 x 2 */
  double width, depth;             /* height field: extent in x (columns) and y (rows), centred on the origin */
  const double *height;            /* height field: row_count * column_count, rows of constant y, lowest y first */
} frix_geometry_config;

FRIX_API void frix_geometry_init(frix_geometry_config *out, size_t size);
static inline frix_geometry_config frix_geometry_default(void) {
  frix_geometry_config out;
  frix_geometry_init(&out, sizeof out);
  return out;
}

/* ---- shapes ---- */
typedef enum frix_shape_kind {
  FRIX_SHAPE_SPHERE,       /* radius */
  FRIX_SHAPE_CAPSULE,      /* radius, half_length of the core along z (without the round ends) */
  FRIX_SHAPE_BOX,          /* half */
  FRIX_SHAPE_CYLINDER,     /* radius, half_length along z */
  FRIX_SHAPE_ELLIPSOID,    /* half: its half axes */
  FRIX_SHAPE_PLANE,        /* the half space below z = 0; static and kinematic bodies */
  FRIX_SHAPE_HULL,         /* geometry */
  FRIX_SHAPE_MESH,         /* geometry */
  FRIX_SHAPE_HEIGHT_FIELD, /* geometry */
  FRIX_SHAPE_DISC,         /* flat: radius */
  FRIX_SHAPE_RECTANGLE,    /* flat: half.x, half.y */
  FRIX_SHAPE_ELLIPSE,      /* flat: half.x, half.y */
  FRIX_SHAPE_POLYGON,      /* flat: geometry */
  FRIX_SHAPE_HALF_PLANE,   /* flat: below y = 0; static and kinematic bodies */
  FRIX_SHAPE_COUNT
} frix_shape_kind;

typedef struct frix_shape_config {
  uint32_t size; /* set by frix_shape_default */
  const char *name;
  void *user;
  frix_shape_kind kind;
  frix_pose pose; /* in the frame of its body */
  double radius, half_length;
  frix_vec3 half;
  frix_geometry_id geometry;
  frix_material_id material; /* null: the default material */
  double density;            /* kg/m^3 (flat shapes: kg/m^2), default 1000; used if the body's mass is not given */
  uint32_t group, mask; /* shapes collide if the group of each has a bit in the mask of the other; default 1, all */
} frix_shape_config;

FRIX_API void frix_shape_init(frix_shape_config *out, size_t size);
static inline frix_shape_config frix_shape_default(void) {
  frix_shape_config out;
  frix_shape_init(&out, sizeof out);
  return out;
}

/* A row of the shape table, for lists and help. */
typedef struct frix_shape_info {
  const char *name;
  const char *summary;
  bool flat;    /* for planar bodies */
  bool massive; /* has a volume (flat: an area), so that dynamic bodies can consist of it */
  bool convex;
} frix_shape_info;

/* Row k of the table, NULL past its end; k is the frix_shape_kind. */
FRIX_API const frix_shape_info *frix_shape_table(int32_t k);

/* ---- bodies ---- */
typedef enum frix_body_kind {
  FRIX_BODY_DYNAMIC,
  FRIX_BODY_KINEMATIC, /* moves with prescribed velocity */
  FRIX_BODY_STATIC,
} frix_body_kind;

typedef struct frix_body_config {
  uint32_t size; /* set by frix_body_default */
  const char *name;
  void *user;
  frix_body_kind kind;
  bool planar;              /* three degrees of freedom in the plane z = 0 */
  bool spawn_only;          /* a pattern for bodies that a sim spawns; not present at the start */
  bool can_sleep;           /* default true; used only if the sim sleeps */
  frix_pose pose;           /* of the body's frame */
  frix_vec3 velocity, spin; /* of the centre of mass, world frame; kinematic bodies keep this velocity */
  double mass;              /* 0: from the shapes and their densities */
  frix_vec3 center;         /* centre of mass in the body's frame; used if the inertia is given */
  frix_sym3
      inertia; /* about the centre of mass, in the body's axes (planar: zz). Zero: from the shapes, scaled to mass */
  double gravity_scale; /* default 1 */
} frix_body_config;

FRIX_API void frix_body_init(frix_body_config *out, size_t size);
static inline frix_body_config frix_body_default(void) {
  frix_body_config out;
  frix_body_init(&out, sizeof out);
  return out;
}

/* ---- joints ----
 *
 * A joint connects a frame fixed in body a with one fixed in body b. Its axis is z of frame a.
 * Coordinates (b against a):  hinge: angle about z;  slider: travel along z;  distance: length between the origins;
 * universal: angle about z of a, then angle about x of b (the two axes stay perpendicular);  ball and fixed: none. */
/* How joints are represented: as constraint rows between bodies with six degrees of freedom each, or as coordinates of
 * trees (docs/robots.md). */
typedef enum frix_coordinates { FRIX_COORDINATES_MAXIMAL, FRIX_COORDINATES_REDUCED } frix_coordinates;

typedef enum frix_joint_kind {
  FRIX_JOINT_BALL,      /* origins coincide */
  FRIX_JOINT_HINGE,     /* origins and z axes coincide */
  FRIX_JOINT_SLIDER,    /* no rotation, origin of b on the z axis of a */
  FRIX_JOINT_UNIVERSAL, /* origins coincide, z of a perpendicular to x of b */
  FRIX_JOINT_FIXED,     /* frames coincide */
  FRIX_JOINT_DISTANCE,  /* origins at a fixed distance; with limits: between the limits */
  FRIX_JOINT_COUPLING,  /* a gear: q(first) = ratio q(second) + offset, over coordinates of two other joints */
  FRIX_JOINT_COUNT
} frix_joint_kind;

typedef enum frix_motor_kind {
  FRIX_MOTOR_NONE,
  FRIX_MOTOR_VELOCITY, /* drives the rate of the coordinate to target with at most max_force */
  FRIX_MOTOR_POSITION, /* drives the coordinate to target, at most max_speed, with at most max_force */
  FRIX_MOTOR_FORCE,    /* applies target as force or torque */
  FRIX_MOTOR_SERVO,    /* a spring and a damper to its targets: gain (target - q) + rate_gain (target_rate - rate), with
                          at most max_force; linearly implicit */
  FRIX_MOTOR_COUNT
} frix_motor_kind;

/* Limits and forces along one coordinate of a joint. Forces in N (angles: N m). */
typedef struct frix_axis_config {
  bool limited;
  double lower, upper;
  double friction;           /* dry friction: holds up to this force */
  double stiffness, damping; /* spring to rest and damper, treated linearly implicitly */
  double rest;
  frix_motor_kind motor;
  double target, max_speed, max_force;
  double gain, rate_gain, target_rate; /* servo */
  double armature; /* inertia that moves with the coordinate alone, such as a rotor behind a gear: kg m^2 or kg */
} frix_axis_config;

#define FRIX_JOINT_AXES 2

typedef struct frix_joint_config {
  uint32_t size; /* set by frix_joint_default */
  const char *name;
  void *user;
  frix_joint_kind kind;
  frix_body_id a, b;          /* one may be null: the world */
  frix_pose frame_a, frame_b; /* in the bodies' frames; frix_joint_place fills them from world coordinates */
  bool collide;               /* the two bodies can still collide; default false */
  frix_axis_config axis[FRIX_JOINT_AXES]; /* by coordinate; ball: [0] acts on the relative spin
                                              (friction, damping, armature) */
  double length;                          /* distance: negative (default) for the length at the start */
  frix_joint_id first, second;            /* coupling */
  int32_t first_axis, second_axis;        /* coupling: which coordinate, 0 or 1 */
  double ratio, offset;                   /* coupling */
} frix_joint_config;

FRIX_API void frix_joint_init(frix_joint_config *out, size_t size, frix_joint_kind kind);
static inline frix_joint_config frix_joint_default(frix_joint_kind kind) {
  frix_joint_config out;
  frix_joint_init(&out, sizeof out, kind);
  return out;
}

typedef struct frix_joint_info {
  const char *name;
  const char *summary;
  int32_t row_count;        /* bilateral rows in space */
  int32_t planar_row_count; /* between planar bodies, -1: not for them */
  int32_t coordinate_count; /* coordinates on which limits, motors, friction and springs act */
} frix_joint_info;

/* Row k of the table, NULL past its end; k is the frix_joint_kind. */
FRIX_API const frix_joint_info *frix_joint_table(int32_t k);

/* ---- builder ---- */
typedef struct frix_builder frix_builder;
typedef struct frix_model frix_model;

FRIX_API frix_status frix_builder_create(frix_context *context, frix_builder **out);
FRIX_API void frix_builder_destroy(frix_builder *builder);

/* Default (0, 0, -9.81). */
FRIX_API frix_status frix_builder_set_gravity(frix_builder *builder, frix_vec3 gravity);

/* Every add function checks its config, copies its data and sets *out (which may be NULL). */
FRIX_API frix_status frix_builder_add_material(frix_builder *builder, const frix_material_config *config,
                                               frix_material_id *out);
FRIX_API frix_status frix_builder_add_geometry(frix_builder *builder, const frix_geometry_config *config,
                                               frix_geometry_id *out);
FRIX_API frix_status frix_builder_add_body(frix_builder *builder, const frix_body_config *config, frix_body_id *out);
/* A null body is the world, which is static and always present. */
FRIX_API frix_status frix_builder_add_shape(frix_builder *builder, frix_body_id body, const frix_shape_config *config,
                                            frix_shape_id *out);
FRIX_API frix_status frix_builder_add_joint(frix_builder *builder, const frix_joint_config *config, frix_joint_id *out);

/* Sets frame_a and frame_b so that both are at `anchor` with z along `axis` (universal: x of b along axis2; other
 * joints ignore axis2, which may be zero), in world coordinates at the start. Distance: anchor on a, anchor_b on b. */
FRIX_API frix_status frix_joint_place(const frix_builder *builder, frix_joint_config *config, frix_vec3 anchor,
                                      frix_vec3 axis, frix_vec3 axis2, frix_vec3 anchor_b);

/* Contact parameters of these two materials, instead of the combination rule; axis is in the frame of a shape of a. */
FRIX_API frix_status frix_builder_set_pair(frix_builder *builder, frix_material_id a, frix_material_id b,
                                           const frix_material_config *config);
/* These two bodies never collide; a null body is the world. */
FRIX_API frix_status frix_builder_exclude(frix_builder *builder, frix_body_id a, frix_body_id b);

/* Checks everything and compiles a copy; the builder can be changed and compiled again. */
FRIX_API frix_status frix_builder_compile(frix_builder *builder, frix_model **out);
FRIX_API void frix_model_destroy(frix_model *model);

/* ---- reading a model ---- */
typedef struct frix_model_counts {
  int32_t body_count; /* the world is not counted */
  int32_t shape_count, material_count, geometry_count, joint_count;
} frix_model_counts;

FRIX_API frix_model_counts frix_model_count(const frix_model *model);
FRIX_API frix_vec3 frix_model_gravity(const frix_model *model);

/* The k-th element in the order of adding, k from 0; null past the end, and for a joint that was removed
 * (frix/edit.h). */
FRIX_API frix_body_id frix_model_body_at(const frix_model *model, int32_t k);
FRIX_API frix_shape_id frix_model_shape_at(const frix_model *model, int32_t k);
FRIX_API frix_material_id frix_model_material_at(const frix_model *model, int32_t k);
FRIX_API frix_geometry_id frix_model_geometry_at(const frix_model *model, int32_t k);
FRIX_API frix_joint_id frix_model_joint_at(const frix_model *model, int32_t k);

/* By name; null when there is none. */
FRIX_API frix_body_id frix_model_find_body(const frix_model *model, const char *name);
FRIX_API frix_joint_id frix_model_find_joint(const frix_model *model, const char *name);

/* The given config with computed values filled in (mass, center, inertia; for a geometry the corners of its hull and
 * its triangles). Pointers are valid as long as the model. */
FRIX_API frix_status frix_model_body(const frix_model *model, frix_body_id id, frix_body_config *out);
FRIX_API frix_status frix_model_shape(const frix_model *model, frix_shape_id id, frix_shape_config *out,
                                      frix_body_id *body);
FRIX_API frix_status frix_model_material(const frix_model *model, frix_material_id id, frix_material_config *out);
FRIX_API frix_status frix_model_geometry(const frix_model *model, frix_geometry_id id, frix_geometry_config *out);
FRIX_API frix_status frix_model_joint(const frix_model *model, frix_joint_id id, frix_joint_config *out);
/* The combined values, or those of the pair table, of two materials; null: the default material. */
FRIX_API frix_status frix_model_pair(const frix_model *model, frix_material_id a, frix_material_id b,
                                     frix_material_config *out);

#ifdef __cplusplus
}
#endif
#endif
