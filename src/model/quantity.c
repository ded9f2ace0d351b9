/* Numbers of a model by name, and models in which some of them are others. */
#include "linalg/vector.h"
#include "model/builder.h"

#include <frix/edit.h>
#include <math.h>
#include <string.h>

typedef enum owner { OF_BODY, OF_SHAPE, OF_MATERIAL, OF_TURN, OF_MASS } owner;

typedef struct field {
  const char *name;
  owner of;
  size_t offset; /* in the config; turn: the axis */
} field;

#define BODY(name, member) \
  { name, OF_BODY, offsetof(frix_body_config, member) }
#define SHAPE(name, member) \
  { name, OF_SHAPE, offsetof(frix_shape_config, member) }
#define MATERIAL(name) \
  { #name, OF_MATERIAL, offsetof(frix_material_config, name) }

static const field table[] = {
    MATERIAL(mu),
    MATERIAL(restitution),
    MATERIAL(stiffness),
    MATERIAL(rolling),
    {"mass", OF_MASS, offsetof(frix_body_config, mass)},
    BODY("inertia.x", inertia.xx),
    BODY("inertia.y", inertia.yy),
    BODY("inertia.z", inertia.zz),
    SHAPE("radius", radius),
    SHAPE("length", half_length),
    SHAPE("size.x", half.x),
    SHAPE("size.y", half.y),
    SHAPE("size.z", half.z),
    BODY("x", pose.p.x),
    BODY("y", pose.p.y),
    BODY("z", pose.p.z),
    {"turn.x", OF_TURN, 0},
    {"turn.y", OF_TURN, 1},
    {"turn.z", OF_TURN, 2},
    BODY("velocity.x", velocity.x),
    BODY("velocity.y", velocity.y),
    BODY("velocity.z", velocity.z),
    BODY("spin.x", spin.x),
    BODY("spin.y", spin.y),
    BODY("spin.z", spin.z),
};

enum { FIELDS = sizeof table / sizeof *table };

const char *frix_quantity_field(int32_t k) { return k >= 0 && k < FIELDS ? table[k].name : NULL; }

static double *at(void *config, size_t offset) { return (double *)(void *)((char *)config + offset); }

/* ---- names ---- */

typedef struct place {
  const field *field; /* NULL: a component of gravity */
  int32_t body;       /* -1: all of them; 0: the world */
  double *gravity;
} place;

static int32_t body_named(const frix_builder *b, const char *name, size_t length) {
  if (length == 5 && !memcmp(name, "world", 5)) return 0;
  for (int32_t k = 1; k < b->body_count; k++)
    if (b->body[k].name && strlen(b->body[k].name) == length && !memcmp(b->body[k].name, name, length)) return k;
  return -1;
}

static const field *field_named(const char *name) {
  for (int k = 0; k < FIELDS; k++)
    if (!strcmp(table[k].name, name)) return &table[k];
  return NULL;
}

/* "mu", "cup.mu", "gravity.z": names of bodies may have dots. */
static bool find_place(frix_builder *b, const char *name, place *out) {
  *out = (place){.field = field_named(name), .body = -1};
  if (out->field && out->field->of == OF_MATERIAL) return true;
  out->field = NULL;
  if (!strncmp(name, "gravity.", 8) && name[8] >= 'x' && name[8] <= 'z' && !name[9]) {
    out->gravity = name[8] == 'x' ? &b->gravity.x : name[8] == 'y' ? &b->gravity.y : &b->gravity.z;
    return true;
  }
  for (const char *dot = strchr(name, '.'); dot; dot = strchr(dot + 1, '.')) {
    out->body = body_named(b, name, (size_t)(dot - name));
    out->field = out->body >= 0 ? field_named(dot + 1) : NULL;
    if (out->field) return true;
  }
  return false;
}

/* ---- values ---- */

/* Whether a shape has this size. */
static bool has_size(const frix_shape_config *s, const field *f) {
  frix_shape_kind k = s->kind;
  bool round = k == FRIX_SHAPE_SPHERE || k == FRIX_SHAPE_DISC,
       pin = k == FRIX_SHAPE_CAPSULE || k == FRIX_SHAPE_CYLINDER;
  bool flat = k == FRIX_SHAPE_RECTANGLE || k == FRIX_SHAPE_ELLIPSE;
  if (f->offset == offsetof(frix_shape_config, radius)) return round || pin;
  if (f->offset == offsetof(frix_shape_config, half_length)) return pin;
  if (f->offset == offsetof(frix_shape_config, half.z)) return k == FRIX_SHAPE_BOX || k == FRIX_SHAPE_ELLIPSOID;
  return k == FRIX_SHAPE_BOX || k == FRIX_SHAPE_ELLIPSOID || flat;
}

/* The value; with `change` it is changed by that much. False: there is none. */
static bool visit_shapes(frix_builder *b, const place *p, double change, double *value) {
  bool found = false, *done = FX_NEW(b->context, bool, b->material_count);
  for (int32_t k = 0; done && k < b->shape_count; k++) {
    fx_shape_draft *s = &b->shape[k];
    if (s->removed || (p->body >= 0 && s->body != p->body)) continue;
    bool material = p->field->of == OF_MATERIAL;
    uint32_t m = s->config.material.index;
    if (material ? done[m] : found || !has_size(&s->config, p->field)) continue;
    double *x = at(material ? (void *)&b->material[m] : (void *)&s->config, p->field->offset);
    if (!isfinite(*x) || (material && *x == 0 && p->field->offset == offsetof(frix_material_config, stiffness)))
      continue;
    done[m] |= material;
    if (!found) *value = *x;
    found = true;
    *x += change;
  }
  fx_free(b->context, done);
  return found;
}

static bool visit_body(frix_builder *b, const place *p, double change, double *value) {
  frix_body_config *body = &b->body[p->body];
  frix_sym3 *j = &body->inertia;
  if (p->body == 0 || (p->field->of == OF_MASS && body->kind != FRIX_BODY_DYNAMIC)) return false;
  if (p->field->of == OF_TURN) {
    frix_vec3 axis = {p->field->offset == 0, p->field->offset == 1, p->field->offset == 2};
    *value = 0;
    if (change != 0) body->pose.q = fx_quat_unit(fx_quat_mul(frix_quat_turn(axis, change), body->pose.q));
    return true;
  }
  double *x = at(body, p->field->offset);
  *value = *x;
  *x += change;
  if (p->field->of != OF_MASS || change == 0) return true;
  double grown = *x / *value;
  j->xx *= grown, j->yy *= grown, j->zz *= grown, j->xy *= grown, j->xz *= grown, j->yz *= grown;
  return true;
}

bool fx_builder_quantity(frix_builder *b, const char *name, double change, double *value) {
  place p;
  if (!find_place(b, name, &p)) return false;
  if (p.gravity) {
    *value = *p.gravity, *p.gravity += change;
    return true;
  }
  return (p.field->of == OF_SHAPE || p.field->of == OF_MATERIAL ? visit_shapes : visit_body)(b, &p, change, value);
}

/* ---- models ---- */

frix_status frix_model_quantity(frix_context *context, const frix_model *model, const char *name, double *value) {
  frix_builder *b = NULL;
  if (!context || !model || !name || !value) return FRIX_ERROR_INPUT;
  frix_status status = fx_builder_redraft(context, model, &b);
  if (status != FRIX_OK) return status;
  bool found = fx_builder_quantity(b, name, 0, value);
  frix_builder_destroy(b);
  return found ? FRIX_OK : fx_fail(context, FRIX_ERROR_INPUT, "the model has no number '%s'", name);
}

frix_status frix_model_vary(frix_context *context, const frix_model *model, int32_t count, const char *const *name,
                            const double *value, frix_model **out) {
  frix_builder *b = NULL;
  if (out) *out = NULL;
  if (!context || !model || !out || count < 0 || (count && (!name || !value))) return FRIX_ERROR_INPUT;
  frix_status status = fx_builder_redraft(context, model, &b);
  for (int32_t k = 0; status == FRIX_OK && k < count; k++) {
    double now, old;
    bool found = name[k] && isfinite(value[k]) && fx_builder_quantity(b, name[k], 0, &now);
    if (!found) status = fx_fail(context, FRIX_ERROR_INPUT, "the model has no number '%s'", name[k] ? name[k] : "");
    if (found && value[k] != now) fx_builder_quantity(b, name[k], value[k] - now, &old);
  }
  if (status == FRIX_OK) status = frix_builder_compile(b, out);
  frix_builder_destroy(b);
  return status;
}
