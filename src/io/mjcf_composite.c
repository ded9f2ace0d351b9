/* <composite type="cable"> as the bodies it stands for, before anything else is read.
 *
 * A cable of n vertices is a chain of n - 1 bodies, each at its vertex with x along the edge to the next one; ball
 * joints between them, the first by `initial`. Vertices are given, or lie on a curve: of each coordinate 0, s, cos(s)
 * or sin(s), with size = length, amplitude, frequency. The frame is carried along without twist (parallel transport):
 * from one edge to the next it turns by the smallest turn. Defaults have no say in what it makes, as in MuJoCo, which
 * also keeps vertices in single precision. */
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/trig.h"
#include "io/draft.h"
#include "io/mjcf_internal.h"

enum { MOST = 2000, VALUE = 160 };

const char fx_mjcf_no_class[] = "none";

typedef struct cable {
  fx_mjcf_reader *r;
  fx_xml_element *from;
  const fx_xml_element *joint, *geom, *site; /* NULL: none */
  const char *prefix;
  frix_vec3 *vertex, offset, normal; /* normal zero: the first two edges are in line */
  int32_t count;
  int initial;
} cable;

enum { INITIAL_FREE, INITIAL_BALL, INITIAL_NONE };

/* ---- elements ---- */

static bool is_in(const char *list, const char *name) {
  size_t length = strlen(name);
  for (const char *at = list; (at = strstr(at, name)); at += length)
    if ((at == list || at[-1] == ' ') && (at[length] == ' ' || !at[length])) return true;
  return false;
}

/* A new element inside of another, with room for the attributes of `like` and some more. */
static fx_xml_element *add(cable *c, fx_xml_element *parent, const char *name, const fx_xml_element *like) {
  fx_arena *arena = &c->r->arena;
  fx_xml_element *e = FX_TAKE(arena, fx_xml_element, 1);
  fx_xml_attribute *list = FX_TAKE(arena, fx_xml_attribute, (like ? like->attribute_count : 0) + 6);
  if (!e || !list) return NULL;
  const fx_xml_element *place = like ? like : c->from;
  *e = (fx_xml_element){.name = name, .file = place->file, .line = place->line, .attribute = list};
  e->owner = c->from->owner;
  if (parent) fx_xml_append(parent, e);
  return e;
}

static bool set(cable *c, fx_xml_element *e, const char *name, const char *value) {
  char *copy = e ? fx_arena_take(&c->r->arena, strlen(value) + 1, 1) : NULL;
  if (!copy) return false;
  memcpy(copy, value, strlen(value) + 1);
  e->attribute[e->attribute_count++] = (fx_xml_attribute){name, copy};
  return true;
}

static bool set_reals(cable *c, fx_xml_element *e, const char *name, const double *value, int count) {
  char text[VALUE] = "";
  for (int k = 0; k < count; k++) {
    char number[32];
    fx_print_real(number, value[k]);
    size_t used = strlen(text);
    snprintf(text + used, sizeof text - used, "%s%s", k ? " " : "", number);
  }
  return set(c, e, name, text);
}

static bool set_name(cable *c, fx_xml_element *e, const char *kind, const char *number) {
  size_t size = strlen(c->prefix) + strlen(kind) + strlen(number) + 1;
  char *text = fx_arena_take(&c->r->arena, size, 1);
  if (!text || !e) return false;
  snprintf(text, size, "%s%s%s", c->prefix, kind, number);
  e->attribute[e->attribute_count++] = (fx_xml_attribute){"name", text};
  return true;
}

/* What the composite says of its joints, geoms or sites, but for some names. */
static void copy(fx_xml_element *to, const fx_xml_element *from, const char *but) {
  for (int32_t k = 0; from && k < from->attribute_count; k++)
    if (!is_in(but, from->attribute[k].name)) to->attribute[to->attribute_count++] = from->attribute[k];
  to->attribute[to->attribute_count++] = (fx_xml_attribute){"class", fx_mjcf_no_class};
}

/* ---- vertices ---- */

/* One word of the curve for each coordinate: 0 s cos(s) sin(s). */
static frix_status read_curve(cable *c, int shape[3]) {
  static const char *const word[] = {"0", "s",
                                     "cos"
                                     "(s)",
                                     "sin"
                                     "(s)"};
  const char *at = fx_xml_value(c->from, "curve");
  for (int k = 0; at && k < 3; k++) {
    size_t length = strcspn(at += strspn(at, " \t\n"), " \t\n");
    if (!length) break;
    for (shape[k] = 0; shape[k] < 4; shape[k]++)
      if (strlen(word[shape[k]]) == length && !strncmp(at, word[shape[k]], length)) break;
    if (shape[k] == 4)
      return fx_mjcf_fail(c->r, c->from, "composite curve: '%s' is none of 0, s, its cosine and its sine",
                          fx_word_of(at, length).text);
    at += length;
  }
  return FRIX_OK;
}

static frix_status make_curve(cable *c) {
  fx_mjcf_item item = {c->from, NULL};
  double count[3] = {1, 1, 1}, size[3] = {1, 0, 0}, quat[4] = {1, 0, 0, 0};
  int shape[3] = {0};
  frix_status status;
  if ((status = fx_mjcf_reals(c->r, &item, "count", 1, 3, count, NULL)) ||
      (status = fx_mjcf_reals(c->r, &item, "size", 1, 3, size, NULL)) ||
      (status = fx_mjcf_reals(c->r, &item, "quat", 4, 4, quat, NULL)) || (status = read_curve(c, shape)))
    return status;
  if (!(count[0] >= 3 && count[0] <= MOST) || count[1] != 1 || count[2] != 1 || floor(count[0]) != count[0])
    return fx_mjcf_fail(c->r, c->from, "composite count: a cable has 3 to %d vertices in one row", MOST);
  frix_quat turn = fx_quat_unit((frix_quat){quat[0], quat[1], quat[2], quat[3]});
  c->count = (int32_t)count[0];
  if (!(c->vertex = FX_TAKE(&c->r->arena, frix_vec3, c->count))) return FRIX_ERROR_MEMORY;
  for (int32_t i = 0; i < c->count; i++) {
    double along = i * size[0] / (c->count - 1), sine, cosine;
    fx_sincos(FX_PI * i * size[2] / (c->count - 1), &sine, &cosine);
    const double value[4] = {0.0, along, size[1] * cosine, size[1] * sine};
    c->vertex[i] = fx_rotate(turn, fx_vec(value[shape[0]], value[shape[1]], value[shape[2]]));
  }
  return FRIX_OK;
}

static frix_status take_vertices(cable *c) {
  fx_mjcf_item item = {c->from, NULL};
  double *list = NULL;
  int64_t count = 0;
  if (!fx_xml_value(c->from, "vertex")) return make_curve(c);
  frix_status status = fx_mjcf_list(c->r, &item, "vertex", &list, &count);
  if (status) return status;
  if (count % 3 || count < 9 || count > 3 * MOST)
    return fx_mjcf_fail(c->r, c->from, "composite vertex: a cable has 3 to %d vertices of 3 numbers", MOST);
  c->count = (int32_t)(count / 3);
  if (!(c->vertex = FX_TAKE(&c->r->arena, frix_vec3, c->count))) return FRIX_ERROR_MEMORY;
  for (int32_t i = 0; i < c->count; i++) c->vertex[i] = fx_vec(list[3 * i], list[3 * i + 1], list[3 * i + 2]);
  return FRIX_OK;
}

/* gcc 12 drops the rounding of two neighbours that go to single precision and back (-O3): hence volatile. */
static double single(double x) {
  volatile float rounded = (float)x;
  return (double)rounded;
}

static frix_status check_edges(cable *c) {
  for (int32_t i = 0; i < c->count; i++) {
    frix_vec3 *v = &c->vertex[i];
    *v = fx_vec(single(v->x), single(v->y), single(v->z));
    if (i && !(fx_norm(fx_sub(*v, v[-1])) > 1e-9))
      return fx_mjcf_fail(c->r, c->from, "composite: vertices %d and %d of the cable are at one place", (int)i - 1,
                          (int)i);
  }
  return FRIX_OK;
}

/* ---- frames ---- */

static frix_vec3 tangent_of(const cable *c, int32_t i) { return fx_unit(fx_sub(c->vertex[i + 1], c->vertex[i])); }

/* Where no normal is known: x turned to the tangent, about y and z, or about the middle of both. */
static frix_quat straight(frix_vec3 t) {
  return fx_quat_unit(t.x > 0.0 ? (frix_quat){1.0 + t.x, 0.0, -t.z, t.y} : (frix_quat){t.y, t.z, 0.0, 1.0 - t.x});
}

static frix_quat frame_of(cable *c, int32_t i) {
  frix_vec3 t = tangent_of(c, i);
  if (i == 0) {
    frix_vec3 b = fx_cross(t, tangent_of(c, 1));
    c->normal = fx_norm(b) > 1e-14 ? fx_unit(fx_cross(fx_unit(b), t)) : fx_vec(0.0, 0.0, 0.0);
  } else if (fx_norm(c->normal) > 0.0) {
    frix_vec3 past = tangent_of(c, i - 1), b = fx_cross(past, t);
    double cosine = fx_dot(past, t);
    if (cosine > -1.0 + 1e-14)
      c->normal = fx_unit(fx_rotate(fx_quat_unit((frix_quat){1.0 + cosine, b.x, b.y, b.z}), c->normal));
  }
  if (!(fx_norm(c->normal) > 0.0)) return straight(t);
  return fx_quat_of_axes(t, c->normal, fx_cross(t, c->normal));
}

/* ---- bodies ---- */

static bool add_geom(cable *c, fx_xml_element *body, double length, const char *number) {
  fx_xml_element *e = add(c, body, "geom", c->geom);
  const char *type = c->geom ? fx_xml_value(c->geom, "type") : NULL;
  bool box = type && !strcmp(type, "box");
  const double ends[6] = {0, 0, 0, length, 0, 0}, middle[3] = {0.5 * length, 0, 0};
  if (!e) return false;
  copy(e, c->geom, box ? "size" : "");
  if (!box) return set_name(c, e, "G", number) && set_reals(c, e, "fromto", ends, 6);
  fx_mjcf_item item = {c->geom, NULL};
  double size[3] = {0};
  if (fx_mjcf_reals(c->r, &item, "size", 3, 3, size, NULL)) return false;
  size[0] = 0.5 * length;
  return set_name(c, e, "G", number) && set_reals(c, e, "size", size, 3) && set_reals(c, e, "pos", middle, 3);
}

static bool add_joint(cable *c, fx_xml_element *body, bool first, const char *number) {
  bool free = first && c->initial == INITIAL_FREE;
  if (first && c->initial == INITIAL_NONE) return true;
  fx_xml_element *e = add(c, body, "joint", c->joint);
  if (!e) return false;
  copy(e, free ? NULL : c->joint, "kind solreffix solimpfix type axis");
  return set_name(c, e, "J", number) && set(c, e, "type", free ? "free" : "ball");
}

static bool add_site(cable *c, fx_xml_element *body, double at, const char *number) {
  fx_xml_element *e = add(c, body, "site", c->site);
  const double pos[3] = {at, 0, 0};
  if (!e) return false;
  copy(e, c->site, "");
  return set_name(c, e, "S", number) && set_reals(c, e, "pos", pos, 3);
}

static void number_of(const cable *c, int32_t i, char text[16]) {
  if (i == 0)
    memcpy(text, "_first", 7);
  else if (i == c->count - 2)
    memcpy(text, "_last", 6);
  else
    snprintf(text, 16, "_%d", (int)i);
}

/* Body i inside of another; the next one stands inside of it. */
static fx_xml_element *add_body(cable *c, fx_xml_element *parent, int32_t i, frix_quat *past) {
  frix_quat own = frame_of(c, i), q = i ? fx_quat_mul(fx_quat_conj(*past), own) : own;
  frix_vec3 at = fx_add(c->offset, c->vertex[i]);
  double before = i ? fx_norm(fx_sub(c->vertex[i], c->vertex[i - 1])) : 0.0;
  double length = fx_norm(fx_sub(c->vertex[i + 1], c->vertex[i]));
  const double pos[3] = {i ? before : at.x, i ? 0.0 : at.y, i ? 0.0 : at.z}, quat[4] = {q.w, q.x, q.y, q.z};
  char number[16], plain[16];
  bool first = i == 0, last = i == c->count - 2;
  fx_xml_element *e = add(c, parent, "body", NULL);
  number_of(c, i, number);
  snprintf(plain, sizeof plain, "%d", (int)i);
  *past = own;
  bool made = e && set_name(c, e, "B", number) && set_reals(c, e, "pos", pos, 3) && set_reals(c, e, "quat", quat, 4) &&
              add_geom(c, e, length, plain) && add_joint(c, e, first, number) &&
              (!(first || last) || add_site(c, e, last ? length : 0.0, number));
  return made ? e : NULL;
}

/* Neighbours do not meet. */
static bool exclude(cable *c, fx_xml_element *root) {
  fx_xml_element *contact = add(c, root, "contact", NULL);
  for (int32_t i = 0; contact && i < c->count - 2; i++) {
    fx_xml_element *e = add(c, contact, "exclude", NULL);
    char number[2][16];
    number_of(c, i, number[0]), number_of(c, i + 1, number[1]);
    for (int k = 0; k < 2; k++) {
      if (!set_name(c, e, "B", number[k])) return false;
      e->attribute[e->attribute_count - 1].name = k ? "body2" : "body1";
    }
  }
  return contact != NULL;
}

static frix_status read_parts(cable *c) {
  frix_status status = FRIX_OK;
  static const char known[] = "prefix type count offset vertex initial curve size quat";
  for (int32_t k = 0; k < c->from->attribute_count; k++)
    if (!is_in(known, c->from->attribute[k].name))
      return fx_mjcf_fail(c->r, c->from, "<composite> has no attribute '%s'", c->from->attribute[k].name);
  for (const fx_xml_element *e = c->from->first; e && !status; e = e->next) {
    if (!strcmp(e->name, "joint"))
      c->joint = e;
    else if (!strcmp(e->name, "geom"))
      c->geom = e;
    else if (!strcmp(e->name, "site"))
      c->site = e;
    else if (!strcmp(e->name, "plugin"))
      status = fx_mjcf_missing(c->r, e, "composite plugin", "not supported: the cable has no stiffness of its own");
    else if (strcmp(e->name, "skin"))
      status = fx_mjcf_fail(c->r, e, "there is no <%s> in <composite>", fx_word_of(e->name, strlen(e->name)).text);
  }
  if (status) return status;
  const char *type = c->geom ? fx_xml_value(c->geom, "type") : NULL;
  if (!type || !is_in("capsule cylinder box", type))
    return fx_mjcf_fail(c->r, c->from, "a cable is made of geoms of type capsule, cylinder or box");
  return FRIX_OK;
}

/* The bodies, to stand where the composite stood. */
static frix_status expand(cable *c, fx_xml_element *root, fx_xml_element **out) {
  fx_mjcf_item item = {c->from, NULL};
  double offset[3] = {0};
  const char *prefix = fx_xml_value(c->from, "prefix");
  frix_quat past;
  frix_status status;
  c->prefix = prefix ? prefix : "";
  c->initial = INITIAL_BALL;
  if ((status = read_parts(c)) || (status = fx_mjcf_word(c->r, &item, "initial", "free ball none", &c->initial)) ||
      (status = fx_mjcf_reals(c->r, &item, "offset", 3, 3, offset, NULL)) || (status = take_vertices(c)) ||
      (status = check_edges(c)))
    return status;
  c->offset = fx_vec(offset[0], offset[1], offset[2]);
  fx_xml_element *inner = add_body(c, NULL, 0, &past);
  *out = inner;
  for (int32_t i = 1; i < c->count - 1 && inner; i++) inner = add_body(c, inner, i, &past);
  return inner && exclude(c, root) ? FRIX_OK : FRIX_ERROR_MEMORY;
}

static frix_status expand_inside(fx_mjcf_reader *r, fx_xml_element *root, fx_xml_element *parent) {
  fx_xml_element *next = parent->first;
  parent->first = parent->last = NULL;
  for (fx_xml_element *e = next; e; e = next) {
    next = e->next;
    const char *type = fx_xml_value(e, "type");
    bool made = !strcmp(e->name, "composite") && type && !strcmp(type, "cable");
    cable c = {.r = r, .from = e};
    fx_xml_element *body = e;
    frix_status status = made ? expand(&c, root, &body) : expand_inside(r, root, e);
    if (status) return status;
    fx_xml_append(parent, body);
  }
  return FRIX_OK;
}

frix_status fx_mjcf_composites(fx_mjcf_reader *r, fx_xml_element *root) {
  for (fx_xml_element *e = root->first; e; e = e->next) {
    frix_status status = strcmp(e->name, "worldbody") ? FRIX_OK : expand_inside(r, root, e);
    if (status) return status;
  }
  return FRIX_OK;
}
