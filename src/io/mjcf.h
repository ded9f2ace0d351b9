/* What the parts of the MJCF reader share.
 *
 *   files      mjcf_file.c      the document with its includes; paths that stay beneath the model's folder
 *   names      mjcf_schema.c    every element and attribute is known, and what is not read is noted
 *   values     mjcf_value.c     attributes with their default classes, numbers, words
 *   settings   mjcf_setting.c   compiler, option, default classes
 *   assets     mjcf_asset.c     meshes and height fields, mass of meshes in mjcf_mass.c
 *   bodies     mjcf_body.c      the tree unrolled: frames and replicas resolved, bodies and geoms as lists
 *   contacts   mjcf_contact.c   who meets whom, and with what friction
 *   model      mjcf_build.c     lists to a frix_model
 *   keyframes  mjcf_key.c
 *
 * Every pass returns at the first fault, with file and line. */
#ifndef FX_IO_MJCF_H
#define FX_IO_MJCF_H

#include <frix/mjcf.h>

#include "io/mesh_file.h"
#include "io/xml.h"
#include "model/shape.h"

/* A default class: where its elements stand, and the class it extends. */
typedef struct fx_mjcf_class {
  const char *name;
  const fx_xml_element *element; /* the <default> */
  struct fx_mjcf_class *parent, *next;
} fx_mjcf_class;

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
  fx_mesh mesh;
  fx_mass mass; /* of the mesh for density 1 */
  frix_geometry_id hull, soup;
  int32_t row_count, column_count; /* height field */
  double size[4], *height;
  frix_geometry_id field;
} fx_mjcf_asset;

typedef struct fx_mjcf_body {
  const fx_xml_element *element;
  const char *name;
  int32_t parent; /* -1 for the world, which is body 0 */
  int32_t root;   /* the body of the model it is part of: 0, or one with `top` */
  bool top;       /* a body of the model: free, mocap, or standing on the world */
  bool free, mocap;
  frix_pose world; /* at the start */
  frix_pose in_root;
  double gravcomp;
  int32_t qpos_size, qvel_size;    /* of its joints in a keyframe */
  int32_t qpos, qvel, mocap_place; /* where they start there */
  const fx_xml_element *inertial;
  frix_pose inertial_frame; /* the frame <inertial> stands in */
  fx_mass mass;             /* its own, in its frame */
  int32_t part_count;       /* top: how many bodies of the file it holds */
  frix_body_id id;
} fx_mjcf_body;

typedef enum fx_mjcf_geom_type {
  FX_GEOM_PLANE,
  FX_GEOM_HFIELD,
  FX_GEOM_SPHERE,
  FX_GEOM_CAPSULE,
  FX_GEOM_ELLIPSOID,
  FX_GEOM_CYLINDER,
  FX_GEOM_BOX,
  FX_GEOM_MESH,
  FX_GEOM_SDF
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
  double mass, density;           /* mass < 0: by density */
  int32_t own_kind, own_material; /* > 0: alone of its sort, since a pair or an exclusion names it */
  int32_t kind;                   /* of who meets whom */
  int32_t material;               /* into fx_mjcf_reader.material */
} fx_mjcf_geom;

/* Same friction, same answer. */
typedef struct fx_mjcf_material {
  double friction[3];
  int32_t condim, priority, special;
  frix_material_id id;
} fx_mjcf_material;

typedef struct fx_mjcf_reader {
  frix_context *context;
  frix_mjcf_config config;
  frix_mjcf *out;
  fx_arena arena;    /* the document and everything that is not in the result */
  char *folder;      /* of the model, with its '/', or "" */
  const char *real;  /* the same without links */
  const char **file; /* real paths of what was read */
  int32_t file_count, file_room;
  fx_xml_element *root;
  fx_mjcf_class *classes; /* main first */
  frix_builder *builder;

  /* compiler */
  bool radian, balance_inertia, strip_path;
  int mesh_inertia; /* fx_mjcf_mesh_inertia of meshes that do not say */
  char euler[4];
  const char *mesh_folder;
  double bound_mass, bound_inertia, total_mass;
  int inertia_from_geom; /* 0 false, 1 true, 2 auto */
  int32_t inertia_group[2];
  /* option */
  bool no_gravity, no_contact;

  fx_mjcf_asset *asset;
  fx_mjcf_body *body;
  fx_mjcf_geom *geom;
  fx_mjcf_material *material;
  frix_mjcf_note *note;
  frix_mjcf_key *key;
  int32_t asset_count, asset_room, body_count, body_room, geom_count, geom_room;
  int32_t material_count, material_room, note_count, note_room, key_count, key_room;
  int32_t qpos_count, qvel_count, mocap_count;
  int32_t *body_by_name, *geom_by_name; /* sorted: those that have a name */
  int32_t named_bodies, named_geoms;
  int32_t special_count;
  uint32_t meets[32]; /* by kind of geom: the kinds it meets */
} fx_mjcf_reader;

struct frix_mjcf {
  frix_context *context;
  fx_arena arena; /* texts of the result */
  frix_model *model;
  frix_mjcf_info info;
};

/* Room for one more entry of a list of the reader; false without memory. */
bool fx_mjcf_room(fx_mjcf_reader *r, void **list, int32_t count, int32_t *room, size_t size);
#define FX_MJCF_ROOM(r, what) \
  fx_mjcf_room((r), (void **)&(r)->what, (r)->what##_count, &(r)->what##_room, sizeof *(r)->what)

/* ---- messages: "file:line: ..." ---- */
frix_status fx_mjcf_fail(const fx_mjcf_reader *r, const fx_xml_element *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* What another part complained about, with the place; memory stays as it is. */
frix_status fx_mjcf_place(const fx_mjcf_reader *r, const fx_xml_element *at, frix_status status);
/* Adds one to the note of that name, or makes it. An unsupported one is an error in a strict read. */
frix_status fx_mjcf_note_add(fx_mjcf_reader *r, frix_mjcf_note_kind kind, const fx_xml_element *at, const char *name,
                             const char *text);

/* ---- files ---- */
frix_status fx_mjcf_load(fx_mjcf_reader *r, const char *path, const char *bytes, size_t count);
/* Reads a file the document names; *bytes lives in the arena. */
frix_status fx_mjcf_open(fx_mjcf_reader *r, const fx_xml_element *at, const char *folder, const char *name,
                         const char **path, char **bytes, size_t *count);

/* ---- names ---- */
frix_status fx_mjcf_check(fx_mjcf_reader *r);
/* The nearest of the names in a list "a b c" to a word, "" where none is near. */
typedef struct fx_mjcf_hint {
  char text[96];
} fx_mjcf_hint;
fx_mjcf_hint fx_mjcf_nearest(const char *list, const char *word);

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
/* pos and the orientation in any of its forms. */
frix_status fx_mjcf_pose(const fx_mjcf_reader *r, const fx_mjcf_item *item, frix_pose *out);
/* Angles in the file's unit, in the order of compiler eulerseq. */
frix_quat fx_mjcf_euler(const fx_mjcf_reader *r, const double angle[3]);
/* The shortest turn that brings z to a unit vector. */
frix_quat fx_mjcf_to_z(frix_vec3 z);

/* ---- settings ---- */
frix_status fx_mjcf_settings(fx_mjcf_reader *r);
frix_status fx_mjcf_classes(fx_mjcf_reader *r);
frix_status fx_mjcf_class_of(const fx_mjcf_reader *r, const fx_xml_element *at, const char *name,
                             const fx_mjcf_class **out);
/* The class of an element: its own, or the one in force. */
frix_status fx_mjcf_item_of(const fx_mjcf_reader *r, const fx_xml_element *element, const fx_mjcf_class *in_force,
                            fx_mjcf_item *out);

/* ---- assets ---- */
frix_status fx_mjcf_assets(fx_mjcf_reader *r);
fx_mjcf_asset *fx_mjcf_find_asset(fx_mjcf_reader *r, bool is_mesh, const char *name);
/* Read when a geom needs it. */
frix_status fx_mjcf_ready(fx_mjcf_reader *r, fx_mjcf_asset *asset);
frix_status fx_mjcf_hull(fx_mjcf_reader *r, fx_mjcf_asset *asset);
/* For density 1; zero where there is no volume. */
fx_mass fx_mjcf_mesh_mass(const fx_mesh *mesh, fx_mjcf_mesh_inertia kind);
/* Own masses of all bodies, by <inertial> or from geoms, with the compiler's bounds. */
frix_status fx_mjcf_masses(fx_mjcf_reader *r);

/* ---- bodies, contacts, model, keyframes ---- */
frix_status fx_mjcf_bodies(fx_mjcf_reader *r);
frix_status fx_mjcf_geom_read(fx_mjcf_reader *r, const fx_mjcf_item *item, fx_mjcf_geom *out);
frix_status fx_mjcf_shape(fx_mjcf_reader *r, const fx_mjcf_geom *geom, bool dynamic, frix_shape_config *out);
frix_status fx_mjcf_contacts(fx_mjcf_reader *r);
frix_status fx_mjcf_build(fx_mjcf_reader *r);
frix_status fx_mjcf_keys(fx_mjcf_reader *r);

/* Who meets whom by contype and conaffinity, pairs and exclusions aside. */
static inline bool fx_mjcf_bits_meet(const fx_mjcf_geom *a, const fx_mjcf_geom *b) {
  return (a->contype & b->conaffinity) || (b->contype & a->conaffinity);
}

/* Children of that name in all elements `section` of the root: start with NULL. */
const fx_xml_element *fx_mjcf_next(const fx_mjcf_reader *r, const char *section, const fx_xml_element *after);

#endif
