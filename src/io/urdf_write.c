/* Links and joints of a URDF file as MJCF.
 *
 *   fixed           part of the body above           revolute, continuous, prismatic   hinge, hinge, slide
 *   planar          two slides across the axis and a hinge about it
 *   floating        a free joint below the world, three slides and a ball elsewhere
 *   mimic           equality joint                   limit effort                      actuatorfrcrange
 *
 * The root is fixed to the world; one without mass and shape that only carries others is the world itself. Inertias are
 * written in the link's axes. Only collision shapes are kept. */
#define _XOPEN_SOURCE 700 /* realpath */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/abi.h"
#include "io/urdf.h"

enum { DEEPEST = 180 }; /* elements of MJCF nest 200 deep at most */

typedef struct writer {
  fx_urdf *u;
  fx_buffer *out;
  bool whole;
  int mesh_count;
} writer;

/* ---- text ---- */

static void put(writer *w, const char *text) { fx_buffer_text(w->out, text); }

static void put_escaped(writer *w, const char *text) {
  for (; *text; text++) {
    char one[2] = {*text, 0};
    put(w, *text == '&' ? "&amp;" : *text == '<' ? "&lt;" : *text == '"' ? "&quot;" : one);
  }
}

static void put_name(writer *w, const char *key, const char *name) {
  put(w, " "), put(w, key), put(w, "=\""), put_escaped(w, name), put(w, "\"");
}

static void put_list(writer *w, const char *key, const double *list, int count) {
  put(w, " "), put(w, key), put(w, "=\"");
  for (int k = 0; k < count; k++) {
    if (k) put(w, " ");
    fx_buffer_real(w->out, list[k]);
  }
  put(w, "\"");
}

static void put_vec(writer *w, const char *key, frix_vec3 v) { put_list(w, key, (const double[]){v.x, v.y, v.z}, 3); }

static void put_pose(writer *w, frix_pose p) {
  put_vec(w, "pos", p.p);
  put_list(w, "quat", (const double[]){p.q.w, p.q.x, p.q.y, p.q.z}, 4);
}

static void indent(writer *w, int depth) {
  put(w, "\n");
  for (int k = 0; k < depth; k++) put(w, "  ");
}

/* What follows comes from there; for messages, not for files. */
static void put_origin(writer *w, const fx_xml_element *e) {
  char text[40];
  if (w->whole) return;
  snprintf(text, sizeof text, "<?line %d?>", (int)e->line);
  put(w, text);
}

/* ---- files ---- */

static char *joined(fx_urdf *u, const char *a, size_t a_size, const char *b, const char *c) {
  size_t m = strlen(b), n = strlen(c);
  char *text = fx_arena_take(&u->arena, a_size + m + n + 1, 1);
  if (!text) return NULL;
  memcpy(text, a, a_size), memcpy(text + a_size, b, m), memcpy(text + a_size + m, c, n);
  return text;
}

static bool climbs(const char *path) {
  for (const char *at = path; (at = strstr(at, "..")); at += 2)
    if ((at == path || at[-1] == '/') && (!at[2] || at[2] == '/')) return true;
  return false;
}

/* The folder of a package: as the caller says, or one of that name at or beside a folder above the file. */
static frix_status find_package(fx_urdf *u, const fx_xml_element *e, const char *name, size_t size, const char **out) {
  for (int32_t k = 0; k < u->config.package_count; k++) {
    const char *given = u->config.package[k];
    if (strncmp(given, name, size) || given[size] != '=') continue;
    char *real = realpath(given + size + 1, NULL); /* it is said where the command runs, not beside the file */
    if (!real) return fx_urdf_fail(u, e, "package '%.*s': there is no folder %s", (int)size, name, given + size + 1);
    *out = joined(u, real, strlen(real), "/", "");
    free(real);
    return *out ? FRIX_OK : FRIX_ERROR_MEMORY;
  }
  char *folder = realpath(*u->folder ? u->folder : ".", NULL);
  size_t length = folder ? strlen(folder) : 0;
  char *own = joined(u, name, size, "", "");
  frix_status status = own ? FRIX_OK : FRIX_ERROR_MEMORY;
  *out = NULL;
  while (!status && !*out && length > 1) {
    size_t base = length;
    while (base > 0 && folder[base - 1] != '/') base--;
    char *beside = joined(u, folder, length, "/", own);
    if (!beside) status = FRIX_ERROR_MEMORY;
    if (length - base == size && !strncmp(folder + base, name, size))
      *out = joined(u, folder, length, "/", "");
    else if (beside && !access(beside, F_OK))
      *out = joined(u, beside, strlen(beside), "/", "");
    length = base > 1 ? base - 1 : base;
  }
  free(folder);
  if (status || *out) return status;
  return fx_urdf_fail(u, e, "package '%.*s' is not above this file; say where it is with --package %.*s=FOLDER",
                      (int)size, name, (int)size, name);
}

/* Where a mesh lies: package://NAME/rest, file://path, or beside the file. */
static frix_status find_mesh(writer *w, const fx_xml_element *e, const char *name, const char **out) {
  fx_urdf *u = w->u;
  const char *folder = u->folder, *rest = name;
  frix_status status = FRIX_OK;
  if (!strncmp(name, "package://", 10)) {
    size_t size = strcspn(name + 10, "/");
    rest = name + 10 + size;
    while (*rest == '/') rest++;
    status = find_package(u, e, name + 10, size, &folder);
  } else if (!strncmp(name, "file://", 7)) {
    rest = name + 7;
  }
  if (status) return status;
  bool absolute = *rest == '/';
  if ((absolute || climbs(rest)) && !u->config.allow_outside)
    return fx_urdf_fail(u, e, "mesh '%s' lies outside the folder of the robot; allow it with --allow-outside", name);
  bool beside = folder == u->folder && !w->whole;
  const char *path = absolute || beside ? rest : joined(u, folder, strlen(folder), rest, "");
  if (path && w->whole && !absolute) {
    char *real = realpath(path, NULL);
    if (!real) return fx_urdf_fail(u, e, "mesh '%s': there is no file %s", name, path);
    size_t above = u->target && !strncmp(real, u->target, strlen(u->target)) ? strlen(u->target) : 0;
    path = joined(u, real + above, strlen(real + above), "", "");
    free(real);
    if (!above)
      fx_urdf_note(u, FRIX_MJCF_UNSUPPORTED, e, "mesh outside the folder of the written file",
                   "its path is absolute: read that file with --allow-outside");
  }
  *out = path;
  return path ? FRIX_OK : FRIX_ERROR_MEMORY;
}

static bool ends_with(const char *text, const char *end) {
  size_t m = strlen(text), n = strlen(end);
  for (size_t k = 0; k < n && m >= n; k++)
    if ((text[m - n + k] | 0x20) != (end[k] | 0x20)) return false;
  return m >= n;
}

/* ---- shapes ---- */

/* The mesh of a geometry, NULL where it is none that is read. */
static const fx_xml_element *mesh_of(const fx_xml_element *collision) {
  const fx_xml_element *mesh = fx_urdf_child(fx_urdf_child(collision, "geometry"), "mesh");
  const char *file = mesh ? fx_xml_value(mesh, "filename") : NULL;
  return file && (ends_with(file, ".stl") || ends_with(file, ".obj")) ? mesh : NULL;
}

static void note_other_mesh(fx_urdf *u, const fx_xml_element *collision) {
  const fx_xml_element *mesh = fx_urdf_child(fx_urdf_child(collision, "geometry"), "mesh");
  if (mesh && !mesh_of(collision))
    fx_urdf_note(u, FRIX_MJCF_UNSUPPORTED, mesh, "mesh that is not STL or OBJ",
                 "left out: convert Collada (.dae) and other meshes to STL or OBJ");
}

static frix_status put_assets(writer *w) {
  frix_status status = FRIX_OK;
  int count = 0;
  put(w, "\n  <asset>");
  for (int32_t k = 0; k < w->u->link_count; k++)
    for (const fx_xml_element *c = w->u->link[k].element->first; c && !status; c = c->next) {
      const fx_xml_element *mesh = strcmp(c->name, "collision") ? NULL : mesh_of(c);
      const char *path = NULL;
      double scale[3] = {1.0, 1.0, 1.0};
      char name[32];
      if (!strcmp(c->name, "collision")) note_other_mesh(w->u, c);
      if (!mesh) continue;
      if ((status = fx_urdf_numbers(w->u, mesh, "scale", 3, scale)) ||
          (status = find_mesh(w, mesh, fx_xml_value(mesh, "filename"), &path)))
        break;
      snprintf(name, sizeof name, "mesh%d", count++);
      put_origin(w, mesh);
      put(w, "\n    <mesh"), put_name(w, "name", name), put_name(w, "file", path), put_list(w, "scale", scale, 3);
      put(w, "/>");
    }
  put(w, "\n  </asset>");
  return status;
}

static frix_status put_shape(writer *w, const fx_xml_element *collision, int depth) {
  fx_urdf *u = w->u;
  const fx_xml_element *g = fx_urdf_child(collision, "geometry"), *e;
  frix_pose pose;
  double size[3] = {0}, length = 0.0;
  frix_status status = fx_urdf_origin(u, collision, &pose);
  if (status) return status;
  char text[96] = "";
  if ((e = fx_urdf_child(g, "box"))) {
    if ((status = fx_urdf_numbers(u, e, "size", 3, size))) return status;
    snprintf(text, sizeof text, " type=\"box\"");
    for (int k = 0; k < 3; k++) size[k] *= 0.5;
  } else if ((e = fx_urdf_child(g, "sphere"))) {
    if ((status = fx_urdf_numbers(u, e, "radius", 1, size))) return status;
    snprintf(text, sizeof text, " type=\"sphere\"");
    size[1] = size[2] = size[0];
  } else if ((e = fx_urdf_child(g, "cylinder")) || (e = fx_urdf_child(g, "capsule"))) {
    if ((status = fx_urdf_numbers(u, e, "radius", 1, size)) || (status = fx_urdf_numbers(u, e, "length", 1, &length)))
      return status;
    snprintf(text, sizeof text, " type=\"%s\"", e->name);
    size[1] = size[2] = 0.5 * length;
  } else if (mesh_of(collision)) {
    snprintf(text, sizeof text, " type=\"mesh\" mesh=\"mesh%d\"", w->mesh_count++);
    size[0] = size[1] = size[2] = 1.0;
  } else {
    return FRIX_OK;
  }
  if (!(size[0] > 0.0 && size[1] > 0.0 && size[2] > 0.0))
    return fx_urdf_fail(u, e ? e : collision, "collision: sizes must be positive");
  put_origin(w, e ? e : collision);
  indent(w, depth), put(w, "<geom"), put(w, text);
  if (!strstr(text, "mesh")) put_list(w, "size", size, strstr(text, "box") ? 3 : strstr(text, "sphere") ? 1 : 2);
  put_pose(w, pose), put(w, "/>");
  return FRIX_OK;
}

/* ---- bodies ---- */

static void put_line(writer *w, const fx_urdf_joint *j, int depth, const char *type, const char *ending,
                     frix_vec3 axis) {
  put_origin(w, j->element);
  indent(w, depth), put(w, "<joint type=\""), put(w, type), put(w, "\" name=\"");
  put_escaped(w, j->name), put(w, ending), put(w, "\"");
  put_vec(w, "axis", axis);
  if (j->limited) put_list(w, "range", (const double[]){j->lower, j->upper}, 2);
  if (j->effort > 0.0) put_list(w, "actuatorfrcrange", (const double[]){-j->effort, j->effort}, 2);
  if (j->damping > 0.0) put_list(w, "damping", &j->damping, 1);
  if (j->friction > 0.0) put_list(w, "frictionloss", &j->friction, 1);
  put(w, "/>");
}

static void put_joint(writer *w, const fx_urdf_joint *j, int depth, bool below_world) {
  frix_vec3 across = fx_across(j->axis);
  const frix_vec3 x = {1.0, 0.0, 0.0}, y = {0.0, 1.0, 0.0}, z = {0.0, 0.0, 1.0};
  switch (j->kind) {
    case FX_URDF_FIXED: break;
    case FX_URDF_REVOLUTE:
    case FX_URDF_CONTINUOUS: put_line(w, j, depth, "hinge", "", j->axis); break;
    case FX_URDF_PRISMATIC: put_line(w, j, depth, "slide", "", j->axis); break;
    case FX_URDF_PLANAR:
      put_line(w, j, depth, "slide", "_x", across);
      put_line(w, j, depth, "slide", "_y", fx_cross(j->axis, across));
      put_line(w, j, depth, "hinge", "_turn", j->axis);
      break;
    case FX_URDF_FLOATING:
      if (below_world) {
        put_origin(w, j->element);
        indent(w, depth), put(w, "<freejoint"), put_name(w, "name", j->name), put(w, "/>");
        break;
      }
      put_line(w, j, depth, "slide", "_x", x), put_line(w, j, depth, "slide", "_y", y);
      put_line(w, j, depth, "slide", "_z", z), put_line(w, j, depth, "ball", "_turn", z);
      break;
  }
}

static void put_inertial(writer *w, const fx_urdf_link *l, int depth) {
  frix_sym3 s = fx_sym3_turn(l->frame.q, l->inertia);
  put_origin(w, fx_urdf_child(l->element, "inertial"));
  indent(w, depth), put(w, "<inertial");
  put_vec(w, "pos", l->frame.p), put_list(w, "mass", &l->mass, 1);
  put_list(w, "fullinertia", (const double[]){s.xx, s.yy, s.zz, s.xy, s.xz, s.yz}, 6), put(w, "/>");
}

static bool carries_nothing(const fx_urdf_link *l) {
  return !l->has_mass && !fx_urdf_child(l->element, "collision") && !fx_urdf_child(l->element, "visual");
}

static frix_status put_link(writer *w, int32_t link, int depth, bool in_world);

static frix_status put_inside(writer *w, int32_t link, int depth, bool is_world) {
  fx_urdf *u = w->u;
  frix_status status = FRIX_OK;
  for (const fx_xml_element *c = u->link[link].element->first; c && !status; c = c->next)
    if (!strcmp(c->name, "collision")) status = put_shape(w, c, depth);
  for (int32_t k = 0; k < u->joint_count && !status; k++)
    if (u->joint[k].parent == link) status = put_link(w, u->joint[k].child, depth, is_world);
  return status;
}

static frix_status put_link(writer *w, int32_t link, int depth, bool in_world) {
  const fx_urdf_link *l = &w->u->link[link];
  if (depth > DEEPEST) return fx_urdf_fail(w->u, l->element, "links hang on each other more than %d deep", DEEPEST);
  put_origin(w, l->element);
  indent(w, depth), put(w, "<body"), put_name(w, "name", l->name);
  if (l->joint >= 0) put_pose(w, w->u->joint[l->joint].origin);
  put(w, ">");
  if (l->joint >= 0) put_joint(w, &w->u->joint[l->joint], depth + 1, in_world);
  if (l->has_mass) put_inertial(w, l, depth + 1);
  frix_status status = put_inside(w, link, depth + 1, false);
  indent(w, depth), put(w, "</body>");
  return status;
}

static void put_mimics(writer *w) {
  put(w, "\n  <equality>");
  for (int32_t k = 0; k < w->u->joint_count; k++) {
    const fx_urdf_joint *j = &w->u->joint[k];
    if (j->mimic < 0) continue;
    bool line = j->kind >= FX_URDF_REVOLUTE && j->kind <= FX_URDF_PRISMATIC;
    const fx_urdf_joint *other = &w->u->joint[j->mimic];
    if (!line || other->kind < FX_URDF_REVOLUTE || other->kind > FX_URDF_PRISMATIC) {
      fx_urdf_note(w->u, FRIX_MJCF_UNSUPPORTED, j->element, "mimic of a joint that does not turn or slide", "left out");
      continue;
    }
    const double coef[5] = {j->offset, j->multiplier, 0.0, 0.0, 0.0};
    put_origin(w, j->element);
    put(w, "\n    <joint"), put_name(w, "joint1", j->name), put_name(w, "joint2", other->name);
    put_list(w, "polycoef", coef, 5), put(w, "/>");
  }
  put(w, "\n  </equality>");
}

/* ---- pairs that do not meet: an SRDF file of the same name beside the robot ---- */

static bool has_link(const fx_urdf *u, const char *name) {
  for (int32_t k = 0; name && k < u->link_count; k++)
    if (!strcmp(u->link[k].name, name)) return k != u->root_link || !carries_nothing(&u->link[k]);
  return false;
}

/* robot.urdf -> robot.srdf; NULL: there is none. */
static const char *srdf_path(fx_urdf *u) {
  size_t length = strlen(u->path);
  char *path = fx_arena_take(&u->arena, length + 1, 1);
  if (!path || length < 5) return NULL;
  memcpy(path, u->path, length + 1);
  path[length - 4] = path[length - 4] == 'U' ? 'S' : 's';
  return access(path, R_OK) == 0 ? path : NULL;
}

static void put_pairs(writer *w, const fx_xml_element *root) {
  put(w, "\n  <contact>");
  for (const fx_xml_element *e = root->first; e; e = e->next) {
    const char *one = fx_xml_value(e, "link1"), *two = fx_xml_value(e, "link2");
    if (strcmp(e->name, "disable_collisions") || !has_link(w->u, one) || !has_link(w->u, two)) continue;
    put(w, "\n    <exclude"), put_name(w, "body1", one), put_name(w, "body2", two), put(w, "/>");
  }
  put(w, "\n  </contact>");
}

static frix_status put_srdf(writer *w) {
  fx_urdf *u = w->u;
  const char *path = srdf_path(u);
  char *bytes = NULL;
  size_t count = 0;
  fx_xml_element *root = NULL;
  if (!path) return FRIX_OK;
  frix_status status = fx_file_read(u->context, path, u->config.max_bytes, &bytes, &count);
  if (!status) status = fx_xml_parse(&u->arena, path, bytes, count, &root);
  if (!status && strcmp(root->name, "robot"))
    status = fx_urdf_fail(u, root, "an SRDF file begins with <robot>, not <%s>", root->name);
  if (!status) put_pairs(w, root);
  fx_free(u->context, bytes);
  return status;
}

frix_status fx_urdf_write(fx_urdf *u, bool whole, fx_buffer *out) {
  writer w = {.u = u, .out = out, .whole = whole};
  put(&w, "<mujoco"), put_name(&w, "model", u->name), put(&w, ">\n  <compiler angle=\"radian\" autolimits=\"true\"");
  put(&w, " inertiafromgeom=\"false\"/>");
  frix_status status = put_assets(&w);
  put(&w, "\n  <worldbody>");
  bool is_world = carries_nothing(&u->link[u->root_link]);
  if (!status) status = is_world ? put_inside(&w, u->root_link, 2, true) : put_link(&w, u->root_link, 2, true);
  put(&w, "\n  </worldbody>");
  put_mimics(&w);
  if (!status) status = put_srdf(&w);
  put(&w, "\n</mujoco>\n");
  return status ? status : fx_buffer_status(out);
}

/* ---- the public calls ---- */

/* The real folder of a file, with its '/'; NULL: there is no such folder. */
static const char *folder_of(fx_urdf *u, const char *path) {
  const char *slash = strrchr(path, '/');
  const char *given = slash ? joined(u, path, (size_t)(slash - path) + 1, "", "") : ".";
  char *real = given ? realpath(given, NULL) : NULL;
  const char *out = real ? joined(u, real, strlen(real), strcmp(real, "/") ? "/" : "", "") : NULL;
  free(real);
  return out;
}

frix_status frix_urdf_convert(frix_context *context, const char *path, const frix_mjcf_config *config, const char *to) {
  if (!context || !path || !to) return FRIX_ERROR_INPUT;
  FX_WHOLE(frix_mjcf_config, config, frix_mjcf_default());
  if (config && config->size != sizeof *config)
    return fx_fail(context, FRIX_ERROR_INPUT, "frix_urdf_convert: start from frix_mjcf_default()");
  fx_urdf u = {.context = context, .path = path, .config = config ? *config : frix_mjcf_default()};
  char *bytes = NULL;
  size_t count = 0;
  fx_buffer out;
  frix_status status = fx_file_read(context, path, u.config.max_bytes, &bytes, &count);
  if (status) return status;
  fx_buffer_init(&out, context);
  status = fx_urdf_read(&u, bytes, count);
  if (!status) u.target = folder_of(&u, to);
  if (!status) status = fx_urdf_write(&u, true, &out);
  if (!status) status = fx_file_write(context, to, out.bytes, out.count);
  for (int32_t k = 0; k < u.note_count && !status; k++)
    if (u.note[k].kind == FRIX_MJCF_UNSUPPORTED)
      fx_log(context, FRIX_LOG_WARNING, "%s:%d: %s (%d): %s", u.note[k].file, (int)u.note[k].line, u.note[k].name,
             (int)u.note[k].count, u.note[k].text);
  fx_buffer_free(&out);
  fx_urdf_free(&u);
  fx_free(context, bytes);
  return status;
}
