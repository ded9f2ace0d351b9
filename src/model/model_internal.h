/* The compiled model: flat arrays that collision and simulation read.
 *
 * Internally, a body's frame is its *central frame*: origin at the centre of mass, axes of the frame the user gave.
 * Shape poses and joint frames are already expressed in it. World = central frame of body 0 = identity. For static and
 * kinematic bodies the central frame is the user's frame. Indices: bodies from 1 (0 is the world), materials from 1 (0
 * is the default), shapes, geometries and joints from 0. An id's index is the body's and material's index, and one more
 * than the others'; generations in a model are 1. */
#ifndef FX_MODEL_MODEL_H
#define FX_MODEL_MODEL_H

#include "base/context.h"
#include "linalg/vector.h"

#include <frix/model.h>
#include <stdatomic.h>

typedef struct fx_geometry fx_geometry; /* model/geometry.h */

typedef struct fx_body {
  frix_body_kind kind;
  bool planar, spawn_only, can_sleep;
  int32_t dof;       /* 6, 3, or 0 where it is not dynamic */
  double mass;       /* 0 where not dynamic */
  frix_sym3 inertia; /* about the centre of mass, body axes; planar: zz only */
  frix_vec3 center;  /* of mass in the user's frame: user pose = central pose * {-center, 1} */
  frix_pose start;   /* of the central frame */
  frix_vec3 velocity, spin;
  double gravity_scale;
  double radius; /* of the smallest ball about the central origin that holds all shapes; infinite with planes */
  int32_t shape_start, shape_count; /* into fx_model.shape, contiguous */
  char *name;
  void *user;
} fx_body;

typedef struct fx_shape {
  frix_shape_kind kind;
  int32_t body, material;
  uint32_t group, mask;
  frix_pose local; /* in the central frame */
  bool centred;    /* local is the identity */
  double radius;   /* sphere, capsule, cylinder, disc */
  double half_length;
  frix_vec3 half; /* box, ellipsoid, rectangle, ellipse */
  const fx_geometry *geometry;
  double density;
  double bound; /* radius of a ball about the shape's own origin that holds it; infinite for planes */
  int32_t id;   /* index in the order of adding, from 0: id.index - 1. fx_model.shape is sorted by body */
  char *name;
  void *user;
} fx_shape;

typedef struct fx_material {
  frix_material_config config; /* name points into the model */
} fx_material;

/* The law where two shapes meet. */
typedef struct fx_surface {
  double mu, mu2; /* equal unless anisotropic */
  bool anisotropic;
  int axis_side;  /* whose shape frame `axis` is in: 0 the first, 1 the second */
  frix_vec3 axis; /* in that shape's frame */
  double rolling, spinning, restitution;
  double stiffness; /* N/m; INFINITY: rigid; 0: by the law of the simulation. In a step 0: rigid */
  bool by_rule;     /* in a step: its stiffness is that of the simulation's law */
} fx_surface;

typedef struct fx_joint {
  frix_joint_config config; /* frames relative to central frames, length filled; name points into the model */
  int32_t a, b;             /* bodies, 0: the world */
  int32_t first, second;    /* joints of a coupling, -1 otherwise */
  bool planar;              /* between planar bodies (or one and the world) */
  bool removed;             /* of it only the id is left */
} fx_joint;

/* a < b */
typedef struct fx_pair {
  int32_t a, b;
} fx_pair;

typedef struct fx_pair_entry {
  fx_pair material;
  fx_surface surface; /* seen with the shape of material.a first */
} fx_pair_entry;

/* A robot (frix_robot, src/tree) whose links are bodies of the model and whose joints hold them. */
/* What a file asks of the surface of a shape beside its friction. Of two shapes margins and gaps add; so does adhesion,
 * unless one of them has the higher priority. */
typedef struct fx_coat {
  double margin, gap; /* contacts act at this distance from it; adhesion acts so much farther */
  double adhesion;    /* N at each contact */
  int32_t priority;
  frix_vec3 flow, turn; /* of the surface against the body: velocity at the shape's origin, and spin; in its axes */
} fx_coat;

/* The same for two geoms that a file names, in place of what follows from the shapes. Sorted by a, b; a < b. */
typedef struct fx_coat_pair {
  int32_t a, b;
  double margin, gap, adhesion;
} fx_coat_pair;

typedef struct fx_robot_link {
  void *robot; /* NULL: none */
  void (*destroy)(void *robot);
  int32_t body_count;
  int32_t *body;       /* by body of the robot: that of the model which it is, -1: part of another */
  int32_t key;         /* the keyframe it starts at, -1: the reference */
  int32_t *shape_body; /* by shape in the order of adding: the robot's body it belongs to */
  int32_t *shape_geom; /* likewise: its geom of the robot */
  fx_coat *coat;       /* by shape in the order of adding; NULL: none of it */
  fx_coat_pair *coat_pair;
  int32_t coat_pair_count;
} fx_robot_link;

struct frix_model {
  frix_context *context;
  atomic_int holders; /* the last one to let go frees it: the user, sims that were changed to it, snapshots */
  frix_vec3 gravity;
  int32_t body_count; /* with the world */
  int32_t shape_count, material_count, geometry_count, joint_count, pair_count, excluded_count;
  fx_body *body;
  fx_shape *shape;        /* sorted by body, then in the order of adding */
  int32_t shape_id_count; /* with those that were removed */
  int32_t *shape_of_id;   /* order of adding -> place in shape; -1: removed */
  fx_material *material;
  fx_geometry **geometry;
  fx_joint *joint;
  fx_pair_entry *pair; /* sorted by material.a, material.b */
  fx_pair *excluded;   /* bodies, sorted; with those joints hold */
  fx_robot_link robot;
};

/* Mixed or tabled, with material a's shape first. */
fx_surface fx_model_surface(const frix_model *model, int32_t material_a, int32_t material_b);
/* One more who needs it; frix_model_destroy lets go. */
const frix_model *fx_model_hold(const frix_model *model);
/* Whether shapes or joints were removed from it: it is then not written to bytes. */
bool fx_model_has_holes(const frix_model *model);
/* Whether a joint keeps the pair of its bodies apart and they are this one. */
bool fx_joint_excludes(const fx_joint *joint, fx_pair pair);
/* Whether the user, or a joint, keeps these bodies apart. */
bool fx_model_excluded(const frix_model *model, int32_t body_a, int32_t body_b);

/* Central frames of bodies (by index), shapes (in the order of adding) and joints (a, b), bit by bit as another compile
 * of the same model had them; refused where they differ by more than rounding. */
frix_status fx_model_restore_frames(frix_model *model, const frix_pose *start, const frix_pose *local,
                                    const frix_pose (*frame)[2]);

/* User frame <-> central frame of a body. */
static inline frix_pose fx_body_user_pose(const fx_body *body, frix_pose central) {
  return (frix_pose){fx_sub(central.p, fx_rotate(central.q, body->center)), central.q};
}
static inline frix_pose fx_body_central_pose(const fx_body *body, frix_pose user) {
  return (frix_pose){fx_add(user.p, fx_rotate(user.q, body->center)), user.q};
}

#endif
