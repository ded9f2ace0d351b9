/* frix: scenes in MJCF, the XML format of MuJoCo: its rigid part, read and written.
 *
 *   frix_mjcf *scene = NULL;
 *   frix_mjcf_config config = frix_mjcf_default();
 *   if (frix_mjcf_read(context, "scene.xml", &config, &scene)) puts(frix_error_text(context));
 *   frix_mjcf_info info = frix_mjcf_view(scene);     info.model goes to frix_sim_create
 *
 * Free, jointed and mocap bodies (kinematic) and the world; primitives, convex hulls of meshes, height fields; drives
 * and equality constraints that the model supports. Unsupported features of the file are listed once per name, with
 * their first place; a strict read fails instead. docs/mjcf.md lists name by name what is read.
 */
#ifndef FRIX_MJCF_H
#define FRIX_MJCF_H

#include <frix/model.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct frix_mjcf_config {
  uint32_t size;                /* set by frix_mjcf_default */
  bool strict;                  /* an unsupported name is an error */
  bool allow_outside;           /* allow meshes and includes outside the folder of the model */
  const char *key;              /* start at this keyframe; NULL: at the poses of the file */
  int64_t max_bytes;            /* of one file; default 256 MiB */
  int64_t max_count;            /* of bodies and geoms after replicate; default 1,000,000 */
  double friction;              /* factor on every friction of the file, default 1 */
  int32_t package_count;        /* of URDF files: where package://NAME is, as "NAME=FOLDER"; others are looked for */
  const char *const *package;   /* in the folders above the file */
  frix_coordinates coordinates; /* default maximal; of URDF files always reduced */
  int32_t soft_modes;           /* flexcomp of dim 3 as soft bodies of so many modes; 0 (default): they are left out */
} frix_mjcf_config;

FRIX_API void frix_mjcf_init(frix_mjcf_config *out, size_t size);
static inline frix_mjcf_config frix_mjcf_default(void) {
  frix_mjcf_config out;
  frix_mjcf_init(&out, sizeof out);
  return out;
}

/* ---- elements of the file that are not in the model ---- */
typedef enum frix_mjcf_note_kind {
  FRIX_MJCF_UNSUPPORTED, /* affects the motion; frix does not support it */
  FRIX_MJCF_NOT_NEEDED,  /* softness of contacts, solver settings: frix has its own contact law and solver */
  FRIX_MJCF_LOOKS,       /* colours, lights, cameras, sensors: no effect on the motion */
} frix_mjcf_note_kind;

typedef struct frix_mjcf_note {
  frix_mjcf_note_kind kind;
  const char *name; /* "actuator motor", "joint type=hinge", "geom solref", ... */
  const char *text; /* explanation */
  const char *file; /* first place */
  int32_t line;
  int32_t count; /* elements that have it */
} frix_mjcf_note;

/* ---- keyframes ---- */
typedef struct frix_mjcf_state {
  frix_body_id body;        /* of the model: dynamic, or mocap */
  frix_pose pose;           /* of the body's frame */
  frix_vec3 velocity, spin; /* of the centre of mass, world: as for frix_sim_set_velocity */
} frix_mjcf_state;

typedef struct frix_mjcf_key {
  const char *name; /* NULL: none */
  double time;
  int32_t state_count;
  const frix_mjcf_state *state; /* every dynamic and mocap body, in the order of the model */
} frix_mjcf_key;

/* ---- joints ---- */
typedef struct frix_mjcf_joint {
  const char *name;    /* NULL: none */
  frix_joint_id joint; /* of the model; null if it has no joint of its own (free, fixed, one of three in a ball) */
  int32_t axis;        /* which coordinate of that */
  int32_t qpos;        /* where its numbers start in MuJoCo's qpos */
  double shift;        /* coordinate = qpos - shift */
} frix_mjcf_joint;

/* ---- the result ---- */
typedef struct frix_mjcf frix_mjcf;

/* Pointers live as long as the frix_mjcf. */
typedef struct frix_mjcf_info {
  const frix_model *model;
  const char *name;    /* of the model, "" when it has none */
  double timestep;     /* option timestep, default 0.002 */
  frix_vec3 gravity;   /* also in the model */
  bool elliptic;       /* option cone; frix always uses the exact cone */
  int32_t fused_count; /* bodies of the file that became part of the body they are fixed to */
  int32_t key_count, note_count, joint_count;
  const frix_mjcf_joint *joint; /* of the file, in the order of qpos */
  const frix_mjcf_key *key;
  const frix_mjcf_note *note; /* unsupported ones first, each kind in the order of the file */
  int32_t soft_count;         /* soft bodies that stand for a flexcomp */
} frix_mjcf_info;

/* Errors name the file and the line. */
FRIX_API frix_status frix_mjcf_read(frix_context *context, const char *path, const frix_mjcf_config *config,
                                    frix_mjcf **out);
/* The same from memory; name is used in messages, and its folder is searched for meshes and includes. */
FRIX_API frix_status frix_mjcf_read_memory(frix_context *context, const char *name, const void *bytes, size_t count,
                                           const frix_mjcf_config *config, frix_mjcf **out);
FRIX_API void frix_mjcf_destroy(frix_mjcf *scene);
FRIX_API frix_mjcf_info frix_mjcf_view(const frix_mjcf *scene);
/* Passes the model to the caller, who destroys it; the view then has none. */
FRIX_API frix_model *frix_mjcf_take_model(frix_mjcf *scene);
/* Whether this build reads XML. */
FRIX_API bool frix_mjcf_available(void);

/* ---- writing ---- */
typedef struct frix_mjcf_write_config {
  uint32_t size;    /* set by frix_mjcf_write_default */
  const char *name; /* of the model; NULL: none */
  double timestep;  /* default 0.002 */
} frix_mjcf_write_config;

FRIX_API void frix_mjcf_write_init(frix_mjcf_write_config *out, size_t size);
static inline frix_mjcf_write_config frix_mjcf_write_default(void) {
  frix_mjcf_write_config out;
  frix_mjcf_write_init(&out, sizeof out);
  return out;
}

/* Writes a model as one self-contained file (meshes are inline). Masses, inertias and poses are written in full and
 * read back unchanged. Planar bodies cannot be written (FRIX_ERROR_UNSUPPORTED); a comment at the head of the file
 * names other losses (joints, restitution, ...). config may be NULL. */
FRIX_API frix_status frix_mjcf_write(frix_context *context, const frix_model *model, const char *path,
                                     const frix_mjcf_write_config *config);

#ifdef __cplusplus
}
#endif
#endif
