/* URDF into links and joints.
 *
 * A place is xyz and the turns rpy about the fixed axes x, y, z: R = Rz Ry Rx. A link without <inertial> weighs
 * nothing, as the format says. Limits in reverse, loops, second parents, mimics of themselves are errors with file and
 * line. */
#include "io/urdf.h"

#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/trig.h"
#include "io/draft.h"

frix_status fx_urdf_fail(const fx_urdf *u, const fx_xml_element *at, const char *format, ...) {
  char text[768];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  return fx_fail(u->context, FRIX_ERROR_FORMAT, "%s:%d: %s", at->file, (int)at->line, text);
}

void fx_urdf_note(fx_urdf *u, frix_mjcf_note_kind kind, const fx_xml_element *at, const char *name, const char *text) {
  for (int32_t k = 0; k < u->note_count; k++)
    if (!strcmp(u->note[k].name, name)) {
      u->note[k].count++;
      return;
    }
  if (u->note_count == (int32_t)(sizeof u->note / sizeof *u->note)) return;
  u->note[u->note_count++] = (frix_mjcf_note){kind, name, text, at->file, at->line, 1};
}

const fx_xml_element *fx_urdf_child(const fx_xml_element *e, const char *name) {
  for (const fx_xml_element *c = e ? e->first : NULL; c; c = c->next)
    if (!strcmp(c->name, name)) return c;
  return NULL;
}

/* ---- values ---- */

frix_status fx_urdf_numbers(const fx_urdf *u, const fx_xml_element *e, const char *name, int wanted, double *out) {
  const char *text = e ? fx_xml_value(e, name) : NULL;
  int found = 0;
  for (const char *at = text ? text : ""; *at; found++) {
    at += strspn(at, " \t\n\r");
    size_t length = strcspn(at, " \t\n\r");
    double value;
    if (!length) break;
    if (!fx_parse_real(*at == '+' ? at + 1 : at, *at == '+' ? length - 1 : length, &value) || !isfinite(value))
      return fx_urdf_fail(u, e, "%s %s: '%s' is not a finite number", e->name, name, fx_word_of(at, length).text);
    if (found < wanted) out[found] = value;
    at += length;
  }
  if (text && found != wanted) return fx_urdf_fail(u, e, "%s %s: %d numbers, wants %d", e->name, name, found, wanted);
  return FRIX_OK;
}

frix_status fx_urdf_origin(const fx_urdf *u, const fx_xml_element *e, frix_pose *out) {
  double xyz[3] = {0}, rpy[3] = {0};
  const fx_xml_element *origin = fx_urdf_child(e, "origin");
  frix_status status = fx_urdf_numbers(u, origin, "xyz", 3, xyz);
  if (!status) status = fx_urdf_numbers(u, origin, "rpy", 3, rpy);
  frix_quat q = frix_quat_turn(fx_vec(1.0, 0.0, 0.0), rpy[0]);
  q = fx_quat_mul(frix_quat_turn(fx_vec(0.0, 1.0, 0.0), rpy[1]), q);
  q = fx_quat_mul(frix_quat_turn(fx_vec(0.0, 0.0, 1.0), rpy[2]), q);
  *out = (frix_pose){fx_vec(xyz[0], xyz[1], xyz[2]), fx_quat_unit(q)};
  return status;
}

static frix_status need(const fx_urdf *u, const fx_xml_element *e, const char *name, const char **out) {
  *out = fx_xml_value(e, name);
  if (*out && **out) return FRIX_OK;
  return fx_urdf_fail(u, e, "<%s> needs the attribute '%s'", e->name, name);
}

/* ---- links ---- */

static frix_status check_inertia(const fx_urdf *u, const fx_xml_element *e, const fx_urdf_link *l) {
  double p[3];
  if (!(l->mass >= 0.0)) return fx_urdf_fail(u, e, "link '%s': its mass %g is negative", l->name, l->mass);
  fx_sym3_eigen(l->inertia, p, NULL);
  if (p[0] < 0.0)
    return fx_urdf_fail(u, e, "link '%s': principal moments %g, %g, %g must not be negative", l->name, p[0], p[1],
                        p[2]);
  if (p[2] > (p[0] + p[1]) * (1.0 + 1e-6))
    return fx_urdf_fail(u, e,
                        "link '%s': no body has principal moments %g, %g, %g: the largest exceeds the others' sum",
                        l->name, p[0], p[1], p[2]);
  return FRIX_OK;
}

static frix_status read_link(fx_urdf *u, const fx_xml_element *e, fx_urdf_link *l) {
  *l = (fx_urdf_link){.element = e, .joint = -1};
  frix_status status = need(u, e, "name", &l->name);
  const fx_xml_element *inertial = fx_urdf_child(e, "inertial");
  if (status || !inertial) return status;
  const fx_xml_element *mass = fx_urdf_child(inertial, "mass"), *inertia = fx_urdf_child(inertial, "inertia");
  static const char *const name[] = {"ixx", "iyy", "izz", "ixy", "ixz", "iyz"};
  double j[6] = {0};
  if (!mass || !inertia) return fx_urdf_fail(u, inertial, "link '%s': <inertial> needs mass and inertia", l->name);
  if ((status = fx_urdf_origin(u, inertial, &l->frame)) || (status = fx_urdf_numbers(u, mass, "value", 1, &l->mass)))
    return status;
  for (int k = 0; k < 6; k++)
    if ((status = fx_urdf_numbers(u, inertia, name[k], 1, &j[k]))) return status;
  l->inertia = (frix_sym3){j[0], j[1], j[2], j[3], j[4], j[5]};
  l->has_mass = true;
  return check_inertia(u, inertial, l);
}

static int32_t find_link(const fx_urdf *u, const char *name) {
  for (int32_t k = 0; k < u->link_count; k++)
    if (!strcmp(u->link[k].name, name)) return k;
  return -1;
}

static int32_t find_joint(const fx_urdf *u, const char *name) {
  for (int32_t k = 0; k < u->joint_count; k++)
    if (!strcmp(u->joint[k].name, name)) return k;
  return -1;
}

/* ---- joints ---- */

static frix_status read_kind(const fx_urdf *u, fx_urdf_joint *j) {
  static const char *const word[] = {"fixed", "revolute", "continuous", "prismatic", "floating", "planar"};
  const char *type;
  frix_status status = need(u, j->element, "type", &type);
  for (int k = 0; k < 6 && !status; k++)
    if (!strcmp(type, word[k])) {
      j->kind = (fx_urdf_kind)k;
      return FRIX_OK;
    }
  if (status) return status;
  return fx_urdf_fail(u, j->element,
                      "joint '%s': there is no type '%s'; there are fixed, revolute, continuous, "
                      "prismatic, floating and planar",
                      j->name, fx_word_of(type, strlen(type)).text);
}

static frix_status read_end(const fx_urdf *u, const fx_urdf_joint *j, const char *which, int32_t *out) {
  const fx_xml_element *e = fx_urdf_child(j->element, which);
  const char *name;
  if (!e) return fx_urdf_fail(u, j->element, "joint '%s' has no <%s>", j->name, which);
  frix_status status = need(u, e, "link", &name);
  if (status) return status;
  *out = find_link(u, name);
  return *out >= 0
             ? FRIX_OK
             : fx_urdf_fail(u, e, "joint '%s': there is no link '%s'", j->name, fx_word_of(name, strlen(name)).text);
}

static frix_status read_limits(fx_urdf *u, fx_urdf_joint *j) {
  const fx_xml_element *limit = fx_urdf_child(j->element, "limit"), *dynamics = fx_urdf_child(j->element, "dynamics");
  bool ranged = j->kind == FX_URDF_REVOLUTE || j->kind == FX_URDF_PRISMATIC;
  frix_status status;
  if ((status = fx_urdf_numbers(u, limit, "lower", 1, &j->lower)) ||
      (status = fx_urdf_numbers(u, limit, "upper", 1, &j->upper)) ||
      (status = fx_urdf_numbers(u, limit, "effort", 1, &j->effort)) ||
      (status = fx_urdf_numbers(u, dynamics, "damping", 1, &j->damping)) ||
      (status = fx_urdf_numbers(u, dynamics, "friction", 1, &j->friction)))
    return status;
  if (ranged && !limit) return fx_urdf_fail(u, j->element, "joint '%s' needs a <limit>", j->name);
  if (ranged && j->lower > j->upper)
    return fx_urdf_fail(u, limit, "joint '%s': limits %g to %g are reversed", j->name, j->lower, j->upper);
  j->limited = ranged && j->lower < j->upper;
  if (ranged && !j->limited) j->kind = FX_URDF_FIXED; /* no room to move */
  if (j->effort < 0.0 || j->damping < 0.0 || j->friction < 0.0)
    return fx_urdf_fail(u, j->element, "joint '%s': effort, damping and friction must not be negative", j->name);
  if (limit && fx_xml_value(limit, "velocity"))
    fx_urdf_note(u, FRIX_MJCF_NOT_NEEDED, limit, "limit velocity", "a bound of drivers, not of the joint");
  return FRIX_OK;
}

static frix_status read_joint(fx_urdf *u, fx_urdf_joint *j) {
  const fx_xml_element *e = j->element;
  double axis[3] = {1.0, 0.0, 0.0};
  frix_status status;
  j->mimic = -1, j->multiplier = 1.0;
  if ((status = read_kind(u, j)) || (status = read_end(u, j, "parent", &j->parent)) ||
      (status = read_end(u, j, "child", &j->child)) || (status = fx_urdf_origin(u, e, &j->origin)) ||
      (status = fx_urdf_numbers(u, fx_urdf_child(e, "axis"), "xyz", 3, axis)) || (status = read_limits(u, j)))
    return status;
  j->axis = fx_vec(axis[0], axis[1], axis[2]);
  bool needs_axis = j->kind != FX_URDF_FIXED && j->kind != FX_URDF_FLOATING;
  if (needs_axis && !(fx_norm(j->axis) > 1e-12))
    return fx_urdf_fail(u, e, "joint '%s': its axis has no length", j->name);
  j->axis = fx_unit(j->axis);
  if (u->link[j->child].joint >= 0)
    return fx_urdf_fail(u, e, "joint '%s': link '%s' hangs on joint '%s' already", j->name, u->link[j->child].name,
                        u->joint[u->link[j->child].joint].name);
  u->link[j->child].joint = (int32_t)(j - u->joint);
  static const char *const passed[] = {"safety_controller", "calibration"};
  for (size_t k = 0; k < sizeof passed / sizeof *passed; k++)
    if (fx_urdf_child(e, passed[k]))
      fx_urdf_note(u, FRIX_MJCF_NOT_NEEDED, fx_urdf_child(e, passed[k]), passed[k], "for drivers, not for dynamics");
  return FRIX_OK;
}

static frix_status read_mimic(const fx_urdf *u, fx_urdf_joint *j) {
  const fx_xml_element *e = fx_urdf_child(j->element, "mimic");
  const char *name;
  frix_status status;
  if (!e) return FRIX_OK;
  if ((status = need(u, e, "joint", &name)) || (status = fx_urdf_numbers(u, e, "multiplier", 1, &j->multiplier)) ||
      (status = fx_urdf_numbers(u, e, "offset", 1, &j->offset)))
    return status;
  j->mimic = find_joint(u, name);
  if (j->mimic < 0) return fx_urdf_fail(u, e, "mimic: there is no joint '%s'", fx_word_of(name, strlen(name)).text);
  return FRIX_OK;
}

static frix_status check_mimics(const fx_urdf *u) {
  for (int32_t k = 0; k < u->joint_count; k++) {
    int32_t steps = 0;
    for (int32_t j = u->joint[k].mimic; j >= 0; j = u->joint[j].mimic)
      if (j == k || ++steps > u->joint_count)
        return fx_urdf_fail(u, u->joint[k].element, "joint '%s' mimics itself", u->joint[k].name);
  }
  return FRIX_OK;
}

/* One root, and every link reaches it. */
static frix_status check_tree(fx_urdf *u) {
  u->root_link = -1;
  for (int32_t k = 0; k < u->link_count; k++) {
    const fx_urdf_link *l = &u->link[k];
    int32_t steps = 0;
    for (int32_t up = k; u->link[up].joint >= 0; up = u->joint[u->link[up].joint].parent)
      if (++steps > u->link_count) return fx_urdf_fail(u, l->element, "link '%s' is part of a loop of joints", l->name);
    if (l->joint >= 0) continue;
    if (u->root_link >= 0)
      return fx_urdf_fail(u, l->element, "links '%s' and '%s' both have no parent", u->link[u->root_link].name,
                          l->name);
    u->root_link = k;
  }
  return u->root_link >= 0 ? FRIX_OK : fx_urdf_fail(u, u->root, "a URDF file without a link");
}

/* ---- the file ---- */

static frix_status collect(fx_urdf *u) {
  int32_t count = 0;
  for (const fx_xml_element *e = u->root->first; e; e = e->next) count++;
  u->link = FX_TAKE(&u->arena, fx_urdf_link, count);
  u->joint = FX_TAKE(&u->arena, fx_urdf_joint, count);
  if (!u->link || !u->joint) return FRIX_ERROR_MEMORY;
  frix_status status = FRIX_OK;
  for (const fx_xml_element *e = u->root->first; e && !status; e = e->next) {
    if (!strcmp(e->name, "link")) {
      status = read_link(u, e, &u->link[u->link_count]);
      if (!status && find_link(u, u->link[u->link_count].name) >= 0)
        status = fx_urdf_fail(u, e, "a second link is called '%s'", u->link[u->link_count].name);
      u->link_count++;
    } else if (!strcmp(e->name, "joint")) {
      fx_urdf_joint *j = &u->joint[u->joint_count];
      j->element = e;
      status = need(u, e, "name", &j->name);
      if (!status && find_joint(u, j->name) >= 0) status = fx_urdf_fail(u, e, "a second joint is called '%s'", j->name);
      u->joint_count++;
    } else if (!strcmp(e->name, "transmission")) {
      fx_urdf_note(u, FRIX_MJCF_UNSUPPORTED, e, "transmission", "not supported: the robot has no actuators");
    } else if (!strcmp(e->name, "gazebo")) {
      fx_urdf_note(u, FRIX_MJCF_UNSUPPORTED, e, "gazebo", "not supported: settings of another simulator");
    } else if (strcmp(e->name, "material")) {
      fx_urdf_note(u, FRIX_MJCF_LOOKS, e, e->name, "no part of URDF that changes the motion");
    }
  }
  return status;
}

frix_status fx_urdf_read(fx_urdf *u, const char *bytes, size_t count) {
  fx_arena_init(&u->arena, u->context);
  const char *slash = strrchr(u->path, '/');
  size_t length = slash ? (size_t)(slash - u->path) + 1 : 0;
  char *folder = fx_arena_take(&u->arena, length + 1, 1);
  if (!folder) return FRIX_ERROR_MEMORY;
  memcpy(folder, u->path, length);
  u->folder = folder;
  frix_status status = fx_xml_parse(&u->arena, u->path, bytes, count, &u->root);
  if (status) return status;
  if (strcmp(u->root->name, "robot"))
    return fx_urdf_fail(u, u->root, "a URDF file begins with <robot>, not <%s>", u->root->name);
  const char *name = fx_xml_value(u->root, "name");
  u->name = name ? name : "";
  if ((status = collect(u))) return status;
  for (int32_t k = 0; k < u->joint_count && !status; k++) status = read_joint(u, &u->joint[k]);
  for (int32_t k = 0; k < u->joint_count && !status; k++) status = read_mimic(u, &u->joint[k]);
  if (!status) status = check_mimics(u);
  return status ? status : check_tree(u);
}

void fx_urdf_free(fx_urdf *u) { fx_arena_free(&u->arena); }
