/* What the parts of the MJCF reader share.
 *
 *   files      mjcf_file.c        the document with its includes; paths that stay beneath the model's folder
 *   schema     mjcf_schema.c      every element and attribute is known, and what is not read is noted
 *   values     mjcf_value.c       attributes with their default classes, numbers, words
 *   settings   mjcf_setting.c     compiler, option, default classes
 *   assets     mjcf_asset.c       meshes and height fields; mass of meshes in mjcf_mass.c, fits to them in mjcf_fit.c
 *   bodies     mjcf_body.c        the tree unrolled: frames, replicas, attached models (mjcf_attach.c); bodies, geoms,
 *                                 joints (mjcf_joint.c) as lists
 *   names      mjcf_name.c        what a reference stands for
 *   drives     mjcf_drive.c       actuators as the file has them; what they do to joints in mjcf_actuator.c; tendons in
 *                                 mjcf_tendon.c
 *   keyframes  mjcf_key.c         numbers, and the poses they mean (mjcf_motion.c)
 *   links      mjcf_link.c        which joints of the model the joints of a body become; equality in mjcf_equality.c
 *   contacts   mjcf_contact.c     who meets whom, and with what friction
 *   soft       mjcf_flex.c        soft bodies, where they are asked for
 *   model      mjcf_build.c       lists to a frix_model
 *   robots     mjcf_robot.c       lists to an articulated tree instead: bodies and joints there, tendons and actuators
 * in mjcf_robot_drive.c, sensors in mjcf_robot_sensor.c, equalities and keyframes in mjcf_robot_key.c
 *
 * Every pass returns at the first fault, with file and line. */
#ifndef FX_IO_MJCF_H
#define FX_IO_MJCF_H

#include <frix/mjcf.h>

#include "io/mesh_file.h"
#include "io/xml.h"
#include "model/model_internal.h"
#include "model/shape.h"

/* A default class: where its elements stand, and the class it extends. */
typedef struct fx_mjcf_class {
  const char *name;
  const fx_xml_element *element; /* the <default> */
  struct fx_mjcf_class *parent, *next;
} fx_mjcf_class;

/* A model file with its includes: what its compiler says, its classes, where its files lie. A model that is attached
 * has its own; every element knows the one it is part of. */
typedef struct fx_mjcf_source {
  fx_xml_element *root;
  fx_mjcf_class *classes;        /* main first */
  const char *folder;            /* of the file, with its '/', or "" */
  const fx_xml_element *element; /* the <asset><model> that names it, NULL for the main file */
  bool radian, balance_inertia, strip_path, fit_box, auto_limits, align_free;
  int mesh_inertia; /* fx_mjcf_mesh_inertia of meshes that do not say */
  char euler[4];
  const char *mesh_folder;
  double bound_mass, bound_inertia, total_mass;
  int inertia_from_geom; /* 0 false, 1 true, 2 auto */
  int32_t inertia_group[2];
  struct fx_mjcf_source *next;
} fx_mjcf_source;

static inline const fx_mjcf_source *fx_mjcf_source_of(const fx_xml_element *e) { return e->owner; }

/* A source at the place where it is attached; the first is the main file. Its names have prefix and suffix. */
typedef struct fx_mjcf_instance {
  const fx_mjcf_source *source;
  const char *prefix, *suffix;
} fx_mjcf_instance;

/* An element as it counts: its own attributes, then those of its class. */
typedef struct fx_mjcf_item {
  const fx_xml_element *element;
  const fx_mjcf_class *class;
} fx_mjcf_item;

typedef enum fx_mjcf_mesh_inertia { FX_MESH_LEGACY, FX_MESH_EXACT, FX_MESH_CONVEX, FX_MESH_SHELL } fx_mjcf_mesh_inertia;

typedef struct fx_mjcf_asset {
  fx_mjcf_item item;
  const char *name;
  bool is_mesh, ready, triangles; /* triangles: as they are on static bodies, not their hull */
  bool missing;                   /* of a sort frix does not make: geoms of it are left out */
  bool flat;                      /* the plate of a touch sensor: an area, no body */
  frix_vec3 (*tangent)[2];        /* of vertices of a touch sensor's surface; NULL: others have none */
  fx_mesh mesh;
  fx_mass mass;    /* of the mesh for density 1 */
  frix_pose frame; /* its centre of mass and principal axes, largest moment first */
  double moment[3];
  frix_geometry_id hull, soup;
  int32_t row_count, column_count; /* height field */
  double size[4], *height;
  frix_geometry_id field;
} fx_mjcf_asset;

typedef enum fx_mjcf_link {                    /* how a body hangs on its parent */
                            FX_LINK_NONE,      /* part of it */
                            FX_LINK_FREE,      /* not at all */
                            FX_LINK_JOINT,     /* by the joint of the model that is its one joint */
                            FX_LINK_UNIVERSAL, /* by two hinges that cross at right angles */
                            FX_LINK_BALL,      /* by three hinges through one point */
                            FX_LINK_TREE,      /* by coordinates of the robot the model has */
                            FX_LINK_WELD       /* by joints the model has no like of: part of it */
} fx_mjcf_link;

typedef struct fx_mjcf_body {
  const fx_xml_element *element;
  const char *name;
  int32_t parent;  /* -1 for the world, which is body 0 */
  int32_t root;    /* the body of the model it is part of: 0, or one that is its own root */
  bool mocap, own; /* own: a body of the model */
  fx_mjcf_link link;
  frix_pose place;   /* in its parent, joints at their reference */
  frix_pose in_root; /* at the start */
  double gravcomp;
  int32_t joint_first, joint_count, mocap_place;
  const fx_xml_element *inertial;
  frix_pose inertial_frame; /* the frame <inertial> stands in */
  fx_mass mass;             /* its own, in its frame */
  int32_t weighed_count;    /* geoms with mass that make it */
  bool has_axes;            /* its principal axes are given, by <inertial> or by its only geom */
  frix_quat axes;
  bool lost; /* a geom was left out */
  frix_body_id id;
} fx_mjcf_body;

typedef enum fx_mjcf_joint_type { FX_JOINT_FREE, FX_JOINT_BALL, FX_JOINT_SLIDE, FX_JOINT_HINGE } fx_mjcf_joint_type;

/* What actuators do along a joint: force - stiffness q - damping rate, q the joint's own number. */
typedef struct fx_mjcf_drive {
  int32_t count; /* actuators in it */
  double force, stiffness, damping;
} fx_mjcf_drive;

typedef struct fx_mjcf_joint {
  fx_mjcf_item item;
  const char *name;
  int32_t body, instance;
  fx_mjcf_joint_type type;
  frix_vec3 pos, axis; /* in the body's frame */
  double ref, spring_ref;
  bool limited, force_limited;
  double range[2], force_range[2], margin; /* range: where the limit acts */
  double given_range[2];
  double stiffness, damping, friction, armature;
  double stiffness_more[2], damping_more[2]; /* of higher order */
  bool carries_gravcomp;
  double spring_damper[2]; /* both positive: time constant and damping ratio that stiffness and damping are to give */
  double inertia;          /* of all that it moves, along it, at the reference */
  int32_t qpos, qvel;      /* where its numbers stand in a keyframe */
  fx_mjcf_drive free, bounded; /* drives without bounds, and one with |force| <= bound */
  double bound;
  double start;       /* its number at the start */
  frix_joint_id id;   /* of the model; null: there is none */
  int32_t coordinate; /* which of that joint */
  double shift;       /* coordinate = number - shift */
} fx_mjcf_joint;

typedef enum fx_mjcf_dynamics {
  FX_DYN_OF_NONE,
  FX_DYN_OF_INTEGRATOR,
  FX_DYN_OF_FILTER,
  FX_DYN_OF_FILTER_EXACT,
  FX_DYN_OF_MUSCLE,
  FX_DYN_OF_PID,
  FX_DYN_OF_MOTOR,
  FX_DYN_OF_OTHER
} fx_mjcf_dynamics;
typedef enum fx_mjcf_form {
  FX_FORM_PLAIN,
  FX_FORM_AFFINE,
  FX_FORM_MUSCLE,
  FX_FORM_MOTOR,
  FX_FORM_TURN,
  FX_FORM_OTHER
} fx_mjcf_form; /* plain: a constant gain; no bias. motor: <dcmotor>, turn: <orientation> */

/* An actuator as the file has it, its classes included. */
typedef struct fx_mjcf_actuator {
  const fx_xml_element *element;
  int32_t instance;
  fx_mjcf_dynamics dynamics;
  fx_mjcf_form gain_form, bias_form;
  double dyn[10], gain[10], bias[10]; /* as given; slope_of is what counts */
  double damp_ratio;                  /* not 0: the damping, as a share of the critical one at the reference */
  double gear[6];                     /* joints and tendons have the first */
  int ctrl_limited, force_limited, act_limited; /* 0 false, 1 true, 2 auto */
  bool ctrl_given, force_given, act_given, length_given, inherits_act;
  double ctrl_range[2], force_range[2], act_range[2], length_range[2], inherit;
  double crank_length, damping[3], armature;
  int act_early, interp;
  double delay;
  int32_t sample_count;                    /* controls that are remembered */
  int32_t act_dim, group;                  /* act_dim < 0: as the dynamics want it */
  bool pid, plugin;                        /* plugin: a pid with the law of mujoco.pid */
  bool quaternion;                         /* the control of an orientation */
  bool inputs[4];                          /* of a pid: length, rate, added force; of a dcmotor a voltage too */
  double ki, most, slew, more_range[2][2]; /* ranges of rate and force */
  bool more_given[2];
} fx_mjcf_actuator;

/* A fixed tendon: sum of coef times joint. */
typedef struct fx_mjcf_tendon {
  const fx_xml_element *element;
  bool fixed;
  int32_t term_count;
  struct fx_mjcf_term {
    int32_t joint;
    double coef;
  } * term;
} fx_mjcf_tendon;

typedef struct fx_mjcf_site {
  const char *name; /* NULL: none */
  int32_t body;
  frix_pose pose; /* in its body's frame */
  int kind;       /* fx_site_kind */
  double size[3];
} fx_mjcf_site;

/* A camera is a frame that sensors may stand in. */
typedef struct fx_mjcf_camera {
  const char *name; /* NULL: none */
  int32_t body;
  frix_pose pose;
  bool follows;               /* it is not fixed to its body */
  double focal[2], center[2]; /* in pixels */
} fx_mjcf_camera;

typedef enum fx_mjcf_geom_type {
  FX_GEOM_PLANE,
  FX_GEOM_HFIELD,
  FX_GEOM_SPHERE,
  FX_GEOM_CAPSULE,
  FX_GEOM_ELLIPSOID,
  FX_GEOM_CYLINDER,
  FX_GEOM_BOX,
  FX_GEOM_MESH,
  FX_GEOM_SDF,
  FX_GEOM_LEFT_OUT
} fx_mjcf_geom_type;

typedef struct fx_mjcf_geom {
  fx_mjcf_item item;
  const char *name;
  int32_t body;
  fx_mjcf_geom_type type;
  frix_pose pose; /* in its body's frame */
  double size[3];
  fx_mjcf_asset *asset;
  int32_t contype, conaffinity, condim, priority, group;
  double friction[3];
  double mass, density; /* mass < 0: by density */
  bool shell;           /* density is per area */
  fx_coat coat;
  int32_t own_kind, own_material; /* > 0: apart from others of its sort, since a pair or an exclusion names it */
  bool alone;                     /* no other geom is of its kind */
  int32_t kind;                   /* of who meets whom */
  int32_t material;               /* into fx_mjcf_reader.material */
} fx_mjcf_geom;

/* Same friction, same answer. */
typedef struct fx_mjcf_material {
  double friction[3];
  int32_t condim, priority, special;
  frix_material_id id;
} fx_mjcf_material;

/* A soft body that a <flexcomp> becomes: a grid, or the mesh of a file. */
typedef struct fx_mjcf_flex {
  const fx_xml_element *element;
  const char *name, *path; /* path NULL: a grid */
  int32_t body, count[3];
  frix_pose pose; /* in its body */
  double spacing[3], mass, young, poisson, damping, friction;
} fx_mjcf_flex;

#define FX_MJCF_FLEX_BIT 0x80000000u /* of who meets whom: soft bodies */

/* ---- names ---- */

typedef enum fx_mjcf_named {
  FX_NAMED_BODY,
  FX_NAMED_GEOM,
  FX_NAMED_JOINT,
  FX_NAMED_SITE,
  FX_NAMED_CAMERA,
  FX_NAMED_TENDON,
  FX_NAMED_ACTUATOR,
  FX_NAMED_FLEX
} fx_mjcf_named;
enum { FX_NAMED_KINDS = FX_NAMED_FLEX + 1 };

typedef struct fx_mjcf_name {
  const char *full, *suffix; /* suffix: the end of full that replicas got */
  int32_t thing, instance, copy;
  const fx_xml_element *element;
} fx_mjcf_name;

typedef struct fx_mjcf_names {
  fx_mjcf_name *name;
  int32_t name_count, name_room;
  int32_t *by_full, *by_base; /* by name; by name without suffix, then instance, then suffix */
} fx_mjcf_names;

/* What a reference stands for: one thing, or one in each replica. */
typedef struct fx_mjcf_found {
  const int32_t *entry; /* into fx_mjcf_names.name */
  int32_t count;
} fx_mjcf_found;

/* ---- keyframes ---- */

/* The numbers of a keyframe, each list NULL where it is not given. */
typedef struct fx_mjcf_numbers {
  double *qpos, *qvel, *mpos, *mquat, *ctrl, *act;
} fx_mjcf_numbers;

/* A body's frame: where, and how fast (its origin, in the world). */
typedef struct fx_mjcf_motion {
  frix_pose local, world; /* in its parent; in the world */
  frix_vec3 velocity, spin;
} fx_mjcf_motion;

/* ---- the reader ---- */

typedef struct fx_mjcf_reader {
  frix_context *context;
  frix_mjcf_config config;
  frix_mjcf *out;
  fx_arena arena;     /* the document and everything that is not in the result */
  const char *folder; /* of the main file: nothing above it is read */
  const char *real;   /* the same without links */
  const char **file;  /* real paths of what was read into the present source */
  int32_t file_count, file_room;
  fx_mjcf_source *source; /* all of them, the main file first */
  frix_builder *builder;
  int32_t robot_act_count, robot_ctrl_count; /* numbers in a keyframe of a robot */
  int32_t copy_count;                        /* replicas made so far */
  bool again;                                /* an element is read again, for another replica: it is noted already */
  bool reduced;                              /* for a model whose joints are those of a robot */
  struct frix_robot *own_robot;              /* of such a model, until it has it */
  bool robot; /* for a tree in reduced coordinates, which does more of the file than the bodies of a model */

  /* option */
  frix_vec3 wind, magnetic;
  double density, viscosity;
  uint32_t actuator_groups_off;
  bool no_gravity, no_contact, no_equality, no_limit, no_friction, no_spring, no_damper, no_actuation, no_clamp;
  bool no_parent_filter;

  fx_mjcf_instance *instance;
  fx_mjcf_asset **asset;
  fx_mjcf_body *body;
  fx_mjcf_geom *geom;
  fx_mjcf_joint *joint; /* sorted by body */
  fx_mjcf_site *site;
  fx_mjcf_camera *camera;
  fx_mjcf_flex *flex;
  fx_mjcf_tendon *tendon;
  fx_mjcf_material *material;
  frix_mjcf_note *note;
  frix_mjcf_key *key;
  fx_mjcf_numbers *numbers; /* of the keys */
  int32_t instance_count, instance_room, asset_count, asset_room, body_count, body_room, geom_count, geom_room;
  int32_t joint_count, joint_room, site_count, site_room, camera_count, camera_room, tendon_count, tendon_room;
  int32_t material_count, material_room, note_count, note_room, key_count, key_room, numbers_count, numbers_room;
  int32_t flex_count, flex_room;
  int32_t qpos_count, qvel_count, mocap_count, actuator_count;
  fx_mjcf_names names[FX_NAMED_KINDS];
  fx_mjcf_numbers start;  /* of the keyframe the model starts at */
  fx_mjcf_motion *motion; /* of the bodies at the start */
  int32_t special_count;
  uint32_t meets[32];               /* by kind of geom: the kinds it meets */
  int32_t shape_count, *shape_geom; /* the geom of each shape of the model */
  fx_coat_pair *coat_pair;          /* of explicit pairs */
  int32_t coat_pair_count, coat_pair_room;
} fx_mjcf_reader;

/* Files that switch off springs and dampers have no passive forces at all: no gravity compensation, no air. */
static inline bool fx_mjcf_no_passive(const fx_mjcf_reader *r) { return r->no_spring && r->no_damper; }

struct frix_mjcf {
  frix_context *context;
  fx_arena arena; /* texts of the result */
  frix_model *model;
  frix_mjcf_info info;
};

/* Where a walk through the tree is. */
typedef struct fx_mjcf_at {
  int32_t body;
  frix_pose frame; /* in the body */
  const fx_mjcf_class *class;
  const char *suffix; /* of replicas */
  int32_t instance;
  int depth;    /* of models in models */
  int32_t copy; /* of the replica that holds it, the innermost, counted as they are made from 1; 0: none */
} fx_mjcf_at;

/* Room for one more entry of a list of the reader; false without memory. */
bool fx_mjcf_room(fx_mjcf_reader *r, void **list, int32_t count, int32_t *room, size_t size);
#define FX_MJCF_ROOM(r, what) FX_MJCF_ROOM_IN(r, r, what)
/* The same of a list in another struct. */
#define FX_MJCF_ROOM_IN(r, in, what) \
  fx_mjcf_room((r), (void **)&(in)->what, (in)->what##_count, &(in)->what##_room, sizeof *(in)->what)

/* mjcf_reduced.c: a model whose joints are coordinates of a robot. */
frix_status fx_mjcf_read_reduced(frix_context *context, const char *name, const void *bytes, size_t count,
                                 const frix_mjcf_config *config, frix_mjcf **out);
bool fx_is_urdf(const char *name);
/* The robot becomes the model's, with which body is which. */
frix_status fx_mjcf_attach_robot(fx_mjcf_reader *r);
/* The passes of a model and its result; the reader's kind is set before. */
frix_status fx_mjcf_read_model(fx_mjcf_reader *r, const char *name, const void *bytes, size_t count,
                               const frix_mjcf_config *config, frix_mjcf **out);

/* ---- the life of a reader: context and kind are set before ---- */
frix_status fx_mjcf_open_reader(fx_mjcf_reader *r, const frix_mjcf_config *config);
/* Notes by kind, keys and the name go to the result. */
frix_status fx_mjcf_finish_reader(fx_mjcf_reader *r);
/* Leaves the result. */
void fx_mjcf_close_reader(fx_mjcf_reader *r);

/* ---- messages: "file:line: ..." ---- */
frix_status fx_mjcf_fail(const fx_mjcf_reader *r, const fx_xml_element *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* What another part complained about, with the place; memory stays as it is. */
frix_status fx_mjcf_place(const fx_mjcf_reader *r, const fx_xml_element *at, frix_status status);
/* Adds one to the note of that name, or makes it. An unsupported one is an error in a strict read. */
frix_status fx_mjcf_note_add(fx_mjcf_reader *r, frix_mjcf_note_kind kind, const fx_xml_element *at, const char *name,
                             const char *text);
/* An unsupported one, with the words for it where text is NULL. */
frix_status fx_mjcf_missing(fx_mjcf_reader *r, const fx_xml_element *at, const char *name, const char *text);
/* A copy that lives as long as the result. */
const char *fx_mjcf_keep(fx_mjcf_reader *r, const char *text);

/* ---- files ---- */
/* The main file. */
frix_status fx_mjcf_load(fx_mjcf_reader *r, const char *path, const char *bytes, size_t count);
/* The file that an <asset><model> names, as another source. */
frix_status fx_mjcf_load_model(fx_mjcf_reader *r, const fx_xml_element *model, fx_mjcf_source **out);
/* Reads a file the document names; *bytes lives in the arena. */
frix_status fx_mjcf_open(fx_mjcf_reader *r, const fx_xml_element *at, const char *folder, const char *name,
                         const char **path, char **bytes, size_t *count);

/* ---- schema ---- */
frix_status fx_mjcf_check(fx_mjcf_reader *r, const fx_mjcf_source *source);
/* The nearest of the names in a list "a b c" to a word, "" where none is near. */
typedef struct fx_mjcf_hint {
  char text[96];
} fx_mjcf_hint;
fx_mjcf_hint fx_mjcf_nearest(const char *list, const char *word);
/* Whether an element is an actuator. */
bool fx_mjcf_is_actuator(const char *name);
/* One of a plugin (mjcf_plugin.c); of a kind that is not known where the plugin is not. */
frix_status fx_mjcf_read_plugin(const fx_mjcf_reader *r, const fx_mjcf_item *item, fx_mjcf_actuator *a);

/* ---- values; each leaves *out alone where the attribute is absent ---- */
const char *fx_mjcf_text(const fx_mjcf_item *item, const char *name, const fx_xml_element **where);
/* Between least and most numbers; *count may be NULL where least == most. */
frix_status fx_mjcf_reals(const fx_mjcf_reader *r, const fx_mjcf_item *item, const char *name, int32_t least,
                          int32_t most, double *out, int32_t *count);
frix_status fx_mjcf_real(const fx_mjcf_reader *r, const fx_mjcf_item *item, const char *name, double *out);
frix_status fx_mjcf_integer(const fx_mjcf_reader *r, const fx_mjcf_item *item, const char *name, int32_t minimum,
                            int32_t maximum, int32_t *out);
/* A list of any length, in the arena. */
frix_status fx_mjcf_list(fx_mjcf_reader *r, const fx_mjcf_item *item, const char *name, double **out, int64_t *count);
/* The place of the value in "first second third". */
frix_status fx_mjcf_word(const fx_mjcf_reader *r, const fx_mjcf_item *item, const char *name, const char *words,
                         int *out);
frix_status fx_mjcf_need(const fx_mjcf_reader *r, const fx_mjcf_item *item, const char *name, const char **out);
/* Whether a range holds: limited="false true auto", and auto with autolimits means that the range is given. */
frix_status fx_mjcf_limited(const fx_mjcf_reader *r, const fx_mjcf_item *item, const char *limited, const char *range,
                            bool *out);
/* pos and the orientation in any of its forms. */
frix_status fx_mjcf_pose(const fx_mjcf_reader *r, const fx_mjcf_item *item, frix_pose *out);
/* fromto, where it is given: the middle, z towards the first end, as MuJoCo has it; length may be NULL. */
frix_status fx_mjcf_ends(const fx_mjcf_reader *r, const fx_mjcf_item *item, frix_pose *pose, double *length);
/* Angles in the file's unit, in the order of compiler eulerseq. */
frix_quat fx_mjcf_euler(const fx_mjcf_source *source, const double angle[3]);
double fx_mjcf_radian(const fx_mjcf_source *source, double angle);
/* About a unit axis. */
frix_quat fx_mjcf_turn(frix_vec3 axis, double radian);
/* The shortest turn that brings z to a unit vector. */
frix_quat fx_mjcf_to_z(frix_vec3 z);

/* ---- settings ---- */
frix_status fx_mjcf_settings(fx_mjcf_reader *r, fx_mjcf_source *source);
frix_status fx_mjcf_classes(fx_mjcf_reader *r, fx_mjcf_source *source);
frix_status fx_mjcf_class_of(const fx_mjcf_reader *r, const fx_xml_element *at, const char *name,
                             const fx_mjcf_class **out);
/* The class of an element: its own, or the one in force. */
frix_status fx_mjcf_item_of(const fx_mjcf_reader *r, const fx_xml_element *element, const fx_mjcf_class *in_force,
                            fx_mjcf_item *out);
/* Children in all elements `section` of the root: start with NULL. */
const fx_xml_element *fx_mjcf_next(const fx_mjcf_source *source, const char *section, const fx_xml_element *after);
/* The same in every instance in turn, the main file first, as MuJoCo has them: start with *instance = -1 and NULL. */
const fx_xml_element *fx_mjcf_next_of_all(const fx_mjcf_reader *r, const char *section, int32_t *instance,
                                          const fx_xml_element *after);

/* ---- assets ---- */
frix_status fx_mjcf_assets(fx_mjcf_reader *r, const fx_mjcf_source *source);
fx_mjcf_asset *fx_mjcf_find_asset(fx_mjcf_reader *r, const fx_mjcf_source *source, bool is_mesh, const char *name);
/* Read when a geom needs it. */
frix_status fx_mjcf_builtin_mesh(fx_mjcf_reader *r, fx_mjcf_asset *asset, const char *name);
frix_status fx_mjcf_ready(fx_mjcf_reader *r, fx_mjcf_asset *asset);
frix_status fx_mjcf_hull(fx_mjcf_reader *r, fx_mjcf_asset *asset);
/* For density 1; zero where there is no volume. */
fx_mass fx_mjcf_mesh_mass(const fx_mesh *mesh, fx_mjcf_mesh_inertia kind);
/* A primitive's size and place from the mesh the geom names. */
frix_status fx_mjcf_fit(fx_mjcf_reader *r, fx_mjcf_geom *geom);

/* ---- mjcf_coat.c ---- */
frix_status fx_mjcf_coat_read(fx_mjcf_reader *r, const fx_mjcf_item *item, fx_mjcf_geom *geom);
/* The geom's frame was `given` when its surface was read. */
void fx_mjcf_coat_move(fx_mjcf_geom *geom, frix_pose given);
/* Of an explicit pair. */
frix_status fx_mjcf_coat_pair(fx_mjcf_reader *r, const fx_mjcf_item *item, int32_t geom_a, int32_t geom_b);
/* Whether any surface needs more than a bare contact. */
frix_status fx_mjcf_coated(fx_mjcf_reader *r, bool *out);
/* For the shapes of the model. */
frix_status fx_mjcf_coat_link(fx_mjcf_reader *r, frix_context *context, fx_robot_link *link);
/* Area, and inertia for density 1 per area (mjcf_shell.c). */
fx_mass fx_mjcf_shell_mass(const fx_mjcf_geom *geom);
/* Moments, largest first, and principal axes of an inertia by Jacobi rotations (mjcf_axes.c). */
frix_quat fx_mjcf_principal(frix_sym3 inertia, double stop, double moment[3]);
/* Own masses of all bodies, by <inertial> or from geoms, with the compiler's bounds; and the inertias of joints. */
frix_status fx_mjcf_masses(fx_mjcf_reader *r);
/* Cables as the bodies they stand for (mjcf_composite.c); the class of what they are made of: no default counts. */
frix_status fx_mjcf_composites(fx_mjcf_reader *r, fx_xml_element *root);
extern const char fx_mjcf_no_class[];
/* Frames of free bodies that are to be those of their inertia. */
frix_status fx_mjcf_align(fx_mjcf_reader *r);

/* ---- bodies, geoms, joints ---- */
frix_status fx_mjcf_bodies(fx_mjcf_reader *r);
/* No more replicas than the caller allows, before any is made. */
frix_status fx_mjcf_check_count(const fx_mjcf_reader *r, const fx_mjcf_source *source);
/* The children of an element, or one body, into the lists. */
frix_status fx_mjcf_visit(fx_mjcf_reader *r, const fx_xml_element *parent, fx_mjcf_at at);
frix_status fx_mjcf_add_body(fx_mjcf_reader *r, const fx_xml_element *e, fx_mjcf_at at);
frix_status fx_mjcf_add_frame(fx_mjcf_reader *r, const fx_xml_element *e, fx_mjcf_at at);
frix_status fx_mjcf_attach(fx_mjcf_reader *r, const fx_xml_element *e, fx_mjcf_at at);
frix_status fx_mjcf_add_joint(fx_mjcf_reader *r, const fx_xml_element *e, fx_mjcf_at at);
frix_status fx_mjcf_add_flex(fx_mjcf_reader *r, const fx_xml_element *e, fx_mjcf_at at);
/* Joints in the order of their bodies, and where their numbers stand in a keyframe. */
frix_status fx_mjcf_place_joints(fx_mjcf_reader *r);
frix_status fx_mjcf_geom_read(fx_mjcf_reader *r, const fx_mjcf_item *item, fx_mjcf_geom *out);
frix_status fx_mjcf_shape(fx_mjcf_reader *r, const fx_mjcf_geom *geom, bool dynamic, frix_shape_config *out);

/* ---- names ---- */
/* Keeps the name an element gives to a thing; *full is NULL where it has none. */
frix_status fx_mjcf_name_add(fx_mjcf_reader *r, fx_mjcf_named kind, int32_t thing, const fx_xml_element *e,
                             const fx_mjcf_at *at, const char **full);
/* No two of a kind share a name. */
frix_status fx_mjcf_names_sort(fx_mjcf_reader *r, fx_mjcf_named kind);
/* What attribute `key` of an element of an instance names. In the main file it must be there; of an attached model
 * everything may be that was not attached: none then. */
frix_status fx_mjcf_find(fx_mjcf_reader *r, int32_t instance, const fx_xml_element *e, fx_mjcf_named kind,
                         const char *key, fx_mjcf_found *out);
static inline int32_t fx_mjcf_thing(const fx_mjcf_reader *r, fx_mjcf_named kind, const fx_mjcf_found *f, int32_t k) {
  return r->names[kind].name[f->entry[k]].thing;
}
/* Two references read together, from *n = 0 on: replicas go with replicas of the same suffix, what is not replicated
 * goes with each. False past the last. */
bool fx_mjcf_combined(const fx_mjcf_reader *r, fx_mjcf_named kind, const fx_mjcf_found *a, const fx_mjcf_found *b,
                      int32_t *n, int32_t *thing_a, int32_t *thing_b);

/* ---- drives, tendons, keyframes ---- */
frix_status fx_mjcf_tendons(fx_mjcf_reader *r);
frix_status fx_mjcf_actuators(fx_mjcf_reader *r);
frix_status fx_mjcf_read_motor(const fx_mjcf_reader *r, const fx_mjcf_item *item, fx_mjcf_actuator *a);
frix_status fx_mjcf_read_orientation(const fx_mjcf_reader *r, const fx_mjcf_item *item, fx_mjcf_actuator *a);
/* Which controls it has. */
frix_status fx_mjcf_read_inputs(const fx_mjcf_reader *r, const fx_mjcf_item *item, fx_mjcf_actuator *a);
frix_status fx_mjcf_actuator_read(const fx_mjcf_reader *r, const fx_xml_element *e, fx_mjcf_actuator *out);
/* Whether a range of an actuator holds. */
static inline bool fx_mjcf_holds(const fx_mjcf_actuator *a, int limited, bool given) {
  return limited == 1 || (limited == 2 && given && fx_mjcf_source_of(a->element)->auto_limits);
}
/* Numbers of all keyframes, and which the model starts at. */
frix_status fx_mjcf_keys_read(fx_mjcf_reader *r);
/* What they mean for the bodies of the model, once it has them. */
frix_status fx_mjcf_keys_finish(fx_mjcf_reader *r);
frix_mjcf_state fx_mjcf_state_of(const fx_mjcf_body *body, const fx_mjcf_motion *motion);
/* Where the bodies are. */
void fx_mjcf_move(const fx_mjcf_reader *r, const fx_mjcf_numbers *numbers, fx_mjcf_motion *out);

/* ---- links, contacts, model ---- */
/* How every body hangs on its parent, and the bodies of the model that makes. */
frix_status fx_mjcf_links(fx_mjcf_reader *r);
static inline bool fx_mjcf_moves(const fx_mjcf_body *body) {
  return body->link != FX_LINK_NONE && body->link != FX_LINK_WELD;
}
/* The joints of the model. */
frix_status fx_mjcf_link_build(fx_mjcf_reader *r);
frix_status fx_mjcf_equalities(fx_mjcf_reader *r);
frix_status fx_mjcf_contacts(fx_mjcf_reader *r);
frix_status fx_mjcf_build(fx_mjcf_reader *r);
/* Soft bodies, after all shapes (mjcf_flex.c); whether they are asked for, and whether a geom meets them. */
frix_status fx_mjcf_flexes(fx_mjcf_reader *r);
static inline bool fx_mjcf_reads_flex(const fx_mjcf_reader *r) { return r->config.soft_modes > 0 && !r->robot; }
static inline uint32_t fx_mjcf_flex_bit(const fx_mjcf_reader *r, const fx_mjcf_geom *g) {
  return r->flex_count && g->type != FX_GEOM_LEFT_OUT && ((g->contype | g->conaffinity) & 1) ? FX_MJCF_FLEX_BIT : 0;
}

/* Who meets whom by contype and conaffinity, pairs and exclusions aside. */
static inline bool fx_mjcf_bits_meet(const fx_mjcf_geom *a, const fx_mjcf_geom *b) {
  return (a->contype & b->conaffinity) || (b->contype & a->conaffinity);
}

#endif
