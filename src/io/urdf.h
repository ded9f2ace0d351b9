/* URDF: what its two parts share. urdf.c reads a file into links and joints, urdf_write.c puts them down as MJCF. */
#ifndef FX_IO_URDF_H
#define FX_IO_URDF_H

#include <frix/robot.h>

#include "io/file.h"
#include "io/xml.h"
#include "linalg/vector.h"

typedef struct fx_urdf_link {
  const fx_xml_element *element;
  const char *name;
  int32_t joint; /* that carries it, -1: it is the root */
  bool has_mass, placed;
  double mass;
  frix_pose frame;   /* of the inertia, in the link */
  frix_sym3 inertia; /* in that frame */
} fx_urdf_link;

typedef enum fx_urdf_kind {
  FX_URDF_FIXED,
  FX_URDF_REVOLUTE,
  FX_URDF_CONTINUOUS,
  FX_URDF_PRISMATIC,
  FX_URDF_FLOATING,
  FX_URDF_PLANAR
} fx_urdf_kind;

typedef struct fx_urdf_joint {
  const fx_xml_element *element;
  const char *name;
  fx_urdf_kind kind;
  int32_t parent, child;
  frix_pose origin;
  frix_vec3 axis;
  bool limited;
  double lower, upper, effort, damping, friction;
  int32_t mimic; /* -1: none */
  double multiplier, offset;
} fx_urdf_joint;

typedef struct fx_urdf {
  frix_context *context;
  fx_arena arena;
  const char *path, *folder; /* folder with its '/', or "" */
  const char *target;        /* the real folder of the file that is written, with its '/'; NULL: none is */
  const char *name;
  frix_mjcf_config config;
  fx_xml_element *root;
  fx_urdf_link *link;
  fx_urdf_joint *joint;
  int32_t link_count, joint_count, root_link;
  frix_mjcf_note note[32];
  int32_t note_count;
} fx_urdf;

frix_status fx_urdf_read(fx_urdf *u, const char *bytes, size_t count);
/* The same as MJCF; whole: mesh files as seen from the target, by their absolute paths where they lie outside it. */
frix_status fx_urdf_write(fx_urdf *u, bool whole, fx_buffer *out);
void fx_urdf_free(fx_urdf *u);

/* "file:line: ..." */
frix_status fx_urdf_fail(const fx_urdf *u, const fx_xml_element *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Once per name; the text must be static. */
void fx_urdf_note(fx_urdf *u, frix_mjcf_note_kind kind, const fx_xml_element *at, const char *name, const char *text);
/* Exactly `wanted` numbers of an attribute of an element (NULL: absent); left alone where it is absent. */
frix_status fx_urdf_numbers(const fx_urdf *u, const fx_xml_element *e, const char *name, int wanted, double *out);
/* The place that <origin xyz rpy> in an element gives. */
frix_status fx_urdf_origin(const fx_urdf *u, const fx_xml_element *e, frix_pose *out);
const fx_xml_element *fx_urdf_child(const fx_xml_element *e, const char *name);

#endif
