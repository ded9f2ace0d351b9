/* Sensors of a tree: one table of their elements. */
#include <stdio.h>
#include <string.h>

#include "io/draft.h"
#include "io/mjcf_robot.h"

typedef enum target {
  AT_SITE,
  AT_JOINT,
  AT_TENDON,
  AT_ACTUATOR,
  AT_BODY,
  AT_FRAME,
  AT_PAIR,
  AT_POINTS,
  AT_NOTHING
} target;

typedef struct sensor_row {
  const char *name;
  frix_robot_sensor_kind kind;
  target target;
  int32_t size;
} sensor_row;

static const sensor_row rows[] = {
    {"accelerometer", FRIX_SENSOR_ACCELEROMETER, AT_SITE, 3},
    {"velocimeter", FRIX_SENSOR_VELOCIMETER, AT_SITE, 3},
    {"gyro", FRIX_SENSOR_GYRO, AT_SITE, 3},
    {"force", FRIX_SENSOR_FORCE, AT_SITE, 3},
    {"torque", FRIX_SENSOR_TORQUE, AT_SITE, 3},
    {"magnetometer", FRIX_SENSOR_MAGNETOMETER, AT_SITE, 3},
    {"jointpos", FRIX_SENSOR_JOINT_POS, AT_JOINT, 1},
    {"jointvel", FRIX_SENSOR_JOINT_VEL, AT_JOINT, 1},
    {"tendonpos", FRIX_SENSOR_TENDON_POS, AT_TENDON, 1},
    {"tendonvel", FRIX_SENSOR_TENDON_VEL, AT_TENDON, 1},
    {"actuatorpos", FRIX_SENSOR_ACTUATOR_POS, AT_ACTUATOR, 1},
    {"actuatorvel", FRIX_SENSOR_ACTUATOR_VEL, AT_ACTUATOR, 1},
    {"actuatorfrc", FRIX_SENSOR_ACTUATOR_FORCE, AT_ACTUATOR, 1},
    {"jointactuatorfrc", FRIX_SENSOR_JOINT_ACTUATOR_FORCE, AT_JOINT, 1},
    {"tendonactuatorfrc", FRIX_SENSOR_TENDON_ACTUATOR_FORCE, AT_TENDON, 1},
    {"ballquat", FRIX_SENSOR_BALL_QUAT, AT_JOINT, 4},
    {"ballangvel", FRIX_SENSOR_BALL_ANGVEL, AT_JOINT, 3},
    {"jointlimitpos", FRIX_SENSOR_JOINT_LIMIT_POS, AT_JOINT, 1},
    {"jointlimitvel", FRIX_SENSOR_JOINT_LIMIT_VEL, AT_JOINT, 1},
    {"jointlimitfrc", FRIX_SENSOR_JOINT_LIMIT_FORCE, AT_JOINT, 1},
    {"tendonlimitpos", FRIX_SENSOR_TENDON_LIMIT_POS, AT_TENDON, 1},
    {"tendonlimitvel", FRIX_SENSOR_TENDON_LIMIT_VEL, AT_TENDON, 1},
    {"tendonlimitfrc", FRIX_SENSOR_TENDON_LIMIT_FORCE, AT_TENDON, 1},
    {"framepos", FRIX_SENSOR_FRAME_POS, AT_FRAME, 3},
    {"framequat", FRIX_SENSOR_FRAME_QUAT, AT_FRAME, 4},
    {"framexaxis", FRIX_SENSOR_FRAME_X_AXIS, AT_FRAME, 3},
    {"frameyaxis", FRIX_SENSOR_FRAME_Y_AXIS, AT_FRAME, 3},
    {"framezaxis", FRIX_SENSOR_FRAME_Z_AXIS, AT_FRAME, 3},
    {"framelinvel", FRIX_SENSOR_FRAME_LINVEL, AT_FRAME, 3},
    {"frameangvel", FRIX_SENSOR_FRAME_ANGVEL, AT_FRAME, 3},
    {"framelinacc", FRIX_SENSOR_FRAME_LINACC, AT_FRAME, 3},
    {"frameangacc", FRIX_SENSOR_FRAME_ANGACC, AT_FRAME, 3},
    {"subtreecom", FRIX_SENSOR_SUBTREE_COM, AT_BODY, 3},
    {"subtreelinvel", FRIX_SENSOR_SUBTREE_LINVEL, AT_BODY, 3},
    {"subtreeangmom", FRIX_SENSOR_SUBTREE_ANGMOM, AT_BODY, 3},
    {"e_potential", FRIX_SENSOR_POTENTIAL_ENERGY, AT_NOTHING, 1},
    {"e_kinetic", FRIX_SENSOR_KINETIC_ENERGY, AT_NOTHING, 1},
    {"clock", FRIX_SENSOR_CLOCK, AT_NOTHING, 1},
    {"touch", FRIX_SENSOR_TOUCH, AT_SITE, 1},
    {"insidesite", FRIX_SENSOR_INSIDE_SITE, AT_FRAME, 1},
    {"camprojection", FRIX_SENSOR_CAM_PROJECTION, AT_SITE, 2},
    {"contact", FRIX_SENSOR_CONTACT, AT_PAIR, 1},
    {"rangefinder", FRIX_SENSOR_RANGEFINDER, AT_SITE, 1},
    {"distance", FRIX_SENSOR_DISTANCE, AT_PAIR, 1},
    {"normal", FRIX_SENSOR_NORMAL, AT_PAIR, 3},
    {"fromto", FRIX_SENSOR_FROMTO, AT_PAIR, 6},
    {"tactile", FRIX_SENSOR_TACTILE, AT_POINTS, 0},
    /* these read 0 */
    {"user", FRIX_SENSOR_OTHER, AT_NOTHING, 1},
    {"plugin", FRIX_SENSOR_OTHER, AT_NOTHING, 0},
};

static frix_status find_row(fx_robot_maker *m, const fx_xml_element *e, const sensor_row **out) {
  char names[1024] = "";
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    if (!strcmp(e->name, rows[k].name)) {
      *out = &rows[k];
      return FRIX_OK;
    }
    size_t at = strlen(names);
    snprintf(names + at, sizeof names - at, "%s ", rows[k].name);
  }
  fx_mjcf_hint hint = fx_mjcf_nearest(names, e->name);
  return fx_mjcf_fail(m->r, e, "there is no sensor <%s>%s%s%s", e->name, *hint.text ? "; did you mean <" : "",
                      hint.text, *hint.text ? ">?" : "");
}

/* A list of words as bits and the number of numbers they stand for; words come in the order of the table. */
typedef struct field_row {
  const char *name;
  int32_t size;
} field_row;

static frix_status read_fields(fx_robot_maker *m, const fx_xml_element *e, const field_row *row, fx_tree_sensor *s) {
  const char *at = fx_xml_value(e, "data");
  int32_t last = -1, size = 0;
  for (at = at ? at : row[0].name; *(at += strspn(at, " \t\n")); at += strcspn(at, " \t\n")) {
    size_t length = strcspn(at, " \t\n");
    int32_t k = 0;
    while (row[k].name && (strlen(row[k].name) != length || strncmp(row[k].name, at, length))) k++;
    if (!row[k].name || k <= last)
      return fx_mjcf_fail(m->r, e, "sensor %s data: '%s' %s", e->name, fx_word_of(at, length).text,
                          row[k].name ? "stands after one that follows it" : "is none of its fields");
    s->fields |= 1u << k, size += row[k].size, last = k;
  }
  s->count = size;
  return s->fields ? FRIX_OK : fx_mjcf_fail(m->r, e, "sensor %s data: nothing is asked for", e->name);
}

static frix_status set_size(fx_robot_maker *m, const fx_xml_element *e, fx_tree_sensor *s) {
  static const field_row of_contact[] = {{"found", 1}, {"force", 3},  {"torque", 3},  {"dist", 1},
                                         {"pos", 3},   {"normal", 3}, {"tangent", 3}, {NULL, 0}};
  static const field_row of_ray[] = {{"dist", 1},   {"dir", 3},   {"origin", 3}, {"point", 3},
                                     {"normal", 3}, {"depth", 1}, {NULL, 0}};
  fx_mjcf_item item = {e, NULL};
  int choice = FX_CHOICE_FIRST;
  s->slots = 1;
  if (!strcmp(e->name, "user")) return fx_mjcf_integer(m->r, &item, "dim", 0, 1000000, &s->count);
  if (s->kind == FRIX_SENSOR_RANGEFINDER) return read_fields(m, e, of_ray, s);
  if (s->kind != FRIX_SENSOR_CONTACT) return FRIX_OK;
  frix_status status = read_fields(m, e, of_contact, s);
  if (!status) status = fx_mjcf_integer(m->r, &item, "num", 1, 1000, &s->slots);
  if (!status) status = fx_mjcf_word(m->r, &item, "reduce", "none mindist maxforce netforce", &choice);
  s->choice = (fx_tree_choice)choice, s->count *= s->slots;
  return status;
}

/* objtype and objname, or reftype and refname. */
static frix_status find_frame(fx_robot_maker *m, int32_t instance, const fx_xml_element *e, const char *type,
                              const char *name, fx_tree_object *kind, fx_robot_reference *out) {
  static const fx_mjcf_named named[] = {FX_NAMED_BODY, FX_NAMED_BODY, FX_NAMED_BODY,
                                        FX_NAMED_GEOM, FX_NAMED_SITE, FX_NAMED_CAMERA};
  fx_mjcf_item item = {e, NULL};
  int word = -1;
  *kind = FX_OBJECT_NONE;
  if (!fx_xml_value(e, type)) return FRIX_OK;
  frix_status status = fx_mjcf_word(m->r, &item, type, "none body xbody geom site camera", &word);
  if (status) return status;
  *kind = (fx_tree_object)word;
  return fx_robot_refer(m, instance, e, named[word], name, out);
}

/* One of the two sides of a contact or a distance. */
static frix_status find_side(fx_robot_maker *m, int32_t instance, const fx_xml_element *e, int side, bool needed,
                             fx_tree_object *kind, fx_robot_reference *out) {
  static const struct {
    const char *key[2];
    fx_tree_object kind;
    fx_mjcf_named named;
  } row[] = {{{"geom1", "geom2"}, FX_OBJECT_GEOM, FX_NAMED_GEOM},
             {{"body1", "body2"}, FX_OBJECT_BODY, FX_NAMED_BODY},
             {{"subtree1", "subtree2"}, FX_OBJECT_XBODY, FX_NAMED_BODY},
             {{"site", NULL}, FX_OBJECT_SITE, FX_NAMED_SITE}};
  frix_status status = FRIX_OK;
  *kind = FX_OBJECT_NONE;
  for (size_t k = 0; k < (needed ? 2 : 4) && !status; k++) {
    const char *key = row[k].key[side];
    if (!key || !fx_xml_value(e, key)) continue;
    if (*kind != FX_OBJECT_NONE) return fx_mjcf_fail(m->r, e, "sensor %s: %s beside another", e->name, key);
    *kind = row[k].kind;
    status = fx_robot_refer(m, instance, e, row[k].named, key, out);
  }
  if (!status && needed && *kind == FX_OBJECT_NONE)
    return fx_mjcf_fail(m->r, e, "sensor %s needs geom%d or body%d", e->name, side + 1, side + 1);
  return status;
}

/* The second reference of a sensor. */
static frix_status find_second(fx_robot_maker *m, int32_t instance, const fx_xml_element *e, fx_tree_sensor *s,
                               fx_robot_reference *x) {
  const char *text;
  fx_mjcf_item item = {e, NULL};
  frix_status status = FRIX_OK;
  if (s->kind == FRIX_SENSOR_INSIDE_SITE) {
    status = fx_mjcf_need(m->r, &item, "site", &text);
    if (!status && fx_xml_value(e, "enclosed"))
      status = fx_mjcf_missing(m->r, e, "sensor insidesite enclosed", "not supported: the origin of the object counts");
    return status ? status : fx_robot_refer(m, instance, e, FX_NAMED_SITE, "site", x);
  }
  if (s->kind != FRIX_SENSOR_CAM_PROJECTION) return FRIX_OK;
  status = fx_mjcf_need(m->r, &item, "camera", &text);
  s->kind2 = FX_OBJECT_CAMERA;
  return status ? status : fx_robot_refer(m, instance, e, FX_NAMED_CAMERA, "camera", x);
}

/* The vertices of a mesh as MuJoCo keeps them, in the frame of its mass, placed at the geom. */
static frix_status find_points(fx_robot_maker *m, int32_t instance, const fx_xml_element *e, fx_tree_sensor *s,
                               fx_robot_reference *x) {
  const char *name, *text;
  fx_mjcf_item item = {e, NULL};
  frix_status status = fx_mjcf_need(m->r, &item, "mesh", &name);
  if (!status) status = fx_mjcf_need(m->r, &item, "geom", &text);
  if (!status) status = fx_robot_refer(m, instance, e, FX_NAMED_GEOM, "geom", x);
  if (status) return status;
  fx_mjcf_asset *a = fx_mjcf_find_asset(m->r, fx_mjcf_source_of(e), true, name);
  if (!a) return fx_mjcf_fail(m->r, e, "sensor tactile: there is no mesh '%s'", fx_word_of(name, strlen(name)).text);
  if ((status = fx_mjcf_ready(m->r, a))) return status;
  int32_t count = a->mesh.vertex_count;
  fx_taxel *taxel = FX_TAKE(&m->r->out->arena, fx_taxel, count);
  if (!taxel) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < count; k++) {
    taxel[k].at = fx_pose_unpoint(a->frame, a->mesh.vertex[k]);
    for (int t = 0; t < 2 && a->tangent; t++) taxel[k].tangent[t] = fx_unrotate(a->frame.q, a->tangent[k][t]);
  }
  s->kind1 = FX_OBJECT_GEOM;
  s->taxel = taxel, s->taxel_count = count;
  s->count = 3 * count;
  return FRIX_OK;
}

/* A camera that turns after something is read as if it were fixed to its body. */
static frix_status note_camera(fx_robot_maker *m, const fx_xml_element *e, fx_tree_object kind,
                               const fx_robot_reference *x) {
  if (kind != FX_OBJECT_CAMERA || !x->found.count || !m->r->camera[fx_robot_thing(m, x, 0)].follows) return FRIX_OK;
  return fx_mjcf_missing(m->r, e, "sensor at a camera that follows", "the camera is taken as fixed to its body");
}

static frix_status find_target(fx_robot_maker *m, int32_t instance, const fx_xml_element *e, const sensor_row *row,
                               fx_tree_sensor *s, fx_robot_reference x[2]) {
  static const char *const key[] = {"site", "joint", "tendon", "actuator", "body"};
  static const fx_mjcf_named kind[] = {FX_NAMED_SITE, FX_NAMED_JOINT, FX_NAMED_TENDON, FX_NAMED_ACTUATOR,
                                       FX_NAMED_BODY};
  if (row->target == AT_NOTHING) return FRIX_OK;
  if (row->target == AT_POINTS) return find_points(m, instance, e, s, &x[0]);
  if (row->target == AT_PAIR) {
    bool needed = row->kind != FRIX_SENSOR_CONTACT;
    frix_status status = find_side(m, instance, e, 0, needed, &s->kind1, &x[0]);
    return status ? status : find_side(m, instance, e, 1, needed, &s->kind2, &x[1]);
  }
  if (row->target != AT_FRAME) {
    const char *text;
    fx_mjcf_item item = {e, NULL};
    frix_status status = fx_mjcf_need(m->r, &item, key[row->target], &text);
    if (!status) status = fx_robot_refer(m, instance, e, kind[row->target], key[row->target], &x[0]);
    return status ? status : find_second(m, instance, e, s, &x[1]);
  }
  frix_status status = find_frame(m, instance, e, "objtype", "objname", &s->kind1, &x[0]);
  if (!status && s->kind == FRIX_SENSOR_INSIDE_SITE) return find_second(m, instance, e, s, &x[1]);
  return status ? status : find_frame(m, instance, e, "reftype", "refname", &s->kind2, &x[1]);
}

static frix_status check_joint(fx_robot_maker *m, const fx_xml_element *e, const sensor_row *row,
                               const fx_tree_sensor *s) {
  if (row->target != AT_JOINT) return FRIX_OK;
  frix_robot_joint_kind kind = m->tree->joint[s->object].kind;
  bool ball = s->kind == FRIX_SENSOR_BALL_QUAT || s->kind == FRIX_SENSOR_BALL_ANGVEL;
  bool any = s->kind >= FRIX_SENSOR_JOINT_LIMIT_POS && s->kind <= FRIX_SENSOR_JOINT_LIMIT_FORCE;
  bool fits = ball ? kind == FRIX_ROBOT_BALL : any || kind == FRIX_ROBOT_HINGE || kind == FRIX_ROBOT_SLIDE;
  return fits ? FRIX_OK : fx_mjcf_fail(m->r, e, "sensor %s: the joint is of another kind", e->name);
}

static frix_status add_copies(fx_robot_maker *m, int32_t instance, const fx_xml_element *e, const sensor_row *row,
                              fx_tree_sensor s, const fx_robot_reference x[2]) {
  fx_tree *t = m->tree;
  bool needs = row->target != AT_NOTHING && s.kind1 == FX_OBJECT_NONE && row->target != AT_FRAME;
  if (row->target == AT_PAIR) needs = (s.kind1 && !x[0].found.count) || (s.kind2 && !x[1].found.count);
  int32_t copies = x[0].found.count ? x[0].found.count : needs ? 0 : 1;
  if (row->target == AT_PAIR && !needs && x[1].found.count > copies) copies = x[1].found.count;
  if (row->target == AT_FRAME && !x[0].found.count) s.kind = FRIX_SENSOR_OTHER;
  frix_status status = FRIX_OK;
  int32_t k, end;
  status = fx_robot_copies(m, instance, e, &x[x[1].found.count > x[0].found.count], copies, &k, &end);
  for (; k < end && !status; k++) {
    if (!FX_ROBOT_ROOM(m, sensor)) return FRIX_ERROR_MEMORY;
    s.object = fx_robot_thing(m, &x[0], k), s.object2 = fx_robot_thing(m, &x[1], k);
    s.name = fx_robot_name_of(m, instance, e, &x[0], k);
    s.first = t->sensor_size;
    if ((status = check_joint(m, e, row, &s))) break;
    if (row->target == AT_ACTUATOR) s.count = t->actuator[s.object].turn ? 3 : 1;
    t->sensor_size += s.count;
    t->sensor[t->sensor_count++] = s;
  }
  return status;
}

/* Sensors tell the state as it is. */
static frix_status note_history(fx_robot_maker *m, const fx_xml_element *e) {
  static const char *const key[] = {"delay", "interval", "nsample"};
  for (size_t k = 0; k < sizeof key / sizeof *key; k++) {
    const char *text = fx_xml_value(e, key[k]);
    if (!text || strspn(text, "0. ") == strlen(text)) continue;
    char name[64];
    snprintf(name, sizeof name, "sensor %s", key[k]);
    frix_status status = fx_mjcf_missing(m->r, e, name, "not supported: it tells the present state");
    if (status) return status;
  }
  return FRIX_OK;
}

static frix_status read_sensor(fx_robot_maker *m, int32_t instance, const fx_xml_element *e) {
  fx_mjcf_item item = {e, NULL};
  fx_robot_reference x[2] = {{0}};
  static const sensor_row image = {"rangefinder", FRIX_SENSOR_OTHER, AT_NOTHING, 1};
  const sensor_row *row = NULL;
  frix_status status = find_row(m, e, &row);
  if (status) return status;
  fx_tree_sensor s = {.kind = row->kind, .object = -1, .object2 = -1, .count = row->size};
  if (s.kind == FRIX_SENSOR_RANGEFINDER && fx_xml_value(e, "camera")) s.kind = FRIX_SENSOR_OTHER, row = &image;
  if ((status = fx_mjcf_real(m->r, &item, "cutoff", &s.cutoff)) || (status = set_size(m, e, &s)) ||
      (status = find_target(m, instance, e, row, &s, x)) || (status = note_camera(m, e, s.kind1, &x[0])) ||
      (status = note_camera(m, e, s.kind2, &x[1])) || (status = note_history(m, e)))
    return status;
  if (row->kind == FRIX_SENSOR_OTHER) {
    char name[64];
    snprintf(name, sizeof name, "sensor %s%s", e->name, row == &image ? " at a camera" : "");
    status = fx_mjcf_note_add(m->r, FRIX_MJCF_LOOKS, e, name, "reads 0: of the user, a plugin or an image");
  }
  return status ? status : add_copies(m, instance, e, row, s, x);
}

frix_status fx_robot_sensors(fx_robot_maker *m) { return fx_robot_read_all(m, "sensor", read_sensor); }
