/* <flexcomp> of dim 3 as reduced soft bodies, where the caller asks for so many modes.
 *
 * MuJoCo moves every vertex of the mesh; here the mesh is reduced to its lowest modes (soft_reduce.c). Read: a grid or
 * a gmsh file, mass, elasticity, the friction of its contacts, and pins: a body is held at up to three of its pinned
 * vertices, which do not lie on a line, and the shapes that forces there make join its basis. What else it asks for is
 * noted. */
#include <frix/soft.h>

#include <math.h>
#include <string.h>

#include "io/mjcf_internal.h"

enum { GRID, GMSH, OTHER, MOST_VERTICES = 1000000 };

/* ---- reading ---- */

static const fx_xml_element *child_of(const fx_xml_element *e, const char *name) {
  for (const fx_xml_element *c = e->first; c; c = c->next)
    if (!strcmp(c->name, name)) return c;
  return NULL;
}

static frix_status leave_out(fx_mjcf_reader *r, const fx_xml_element *e, const char *why) {
  return fx_mjcf_missing(r, e, "flexcomp", why);
}

/* Attributes that change the motion and are not read. */
static frix_status note_rest(fx_mjcf_reader *r, const fx_xml_element *e) {
  static const char *const not_read[][2] = {
      {NULL, "scale"},           {NULL, "origin"},       {NULL, "rigid"},
      {NULL, "inertiabox"},      {"edge", "equality"},   {"edge", "stiffness"},
      {"edge", "damping"},       {"contact", "contype"}, {"contact", "conaffinity"},
      {"contact", "internal"},   {"contact", "condim"},  {"contact", "priority"},
      {"contact", "selfcollide"}};
  frix_status status = FRIX_OK;
  for (size_t k = 0; k < sizeof not_read / sizeof *not_read && !status; k++) {
    const fx_xml_element *at = not_read[k][0] ? child_of(e, not_read[k][0]) : e;
    const char *value = at ? fx_xml_value(at, not_read[k][1]) : NULL;
    if (value && strcmp(value, "none") && strcmp(value, "false"))
      status = fx_mjcf_missing(r, at, "flexcomp with settings of edges, contacts or scale",
                               "they are not read: contacts of its surface are those of a geom of defaults");
  }
  if (!status && child_of(e, "plugin")) status = fx_mjcf_missing(r, e, "plugin", NULL);
  return status;
}

static frix_status read_grid(const fx_mjcf_reader *r, const fx_mjcf_item *item, fx_mjcf_flex *f) {
  double count[3] = {10, 10, 10}, spacing[3] = {0.02, 0.02, 0.02};
  frix_status status = fx_mjcf_reals(r, item, "count", 3, 3, count, NULL);
  if (!status) status = fx_mjcf_reals(r, item, "spacing", 3, 3, spacing, NULL);
  if (status) return status;
  double all = 1.0;
  for (int k = 0; k < 3; k++) {
    if (!(count[k] >= 2) || count[k] != floor(count[k]) || !(spacing[k] > 0.0))
      return fx_mjcf_fail(r, item->element,
                          "a grid of dim 3 has a count of 2 or more and a spacing above 0 on each axis");
    all *= count[k];
  }
  if (!(all <= MOST_VERTICES)) return fx_mjcf_fail(r, item->element, "a grid of more than %d vertices", MOST_VERTICES);
  for (int k = 0; k < 3; k++) f->count[k] = (int32_t)count[k], f->spacing[k] = spacing[k];
  return FRIX_OK;
}

static frix_status read_material(fx_mjcf_reader *r, const fx_xml_element *e, fx_mjcf_flex *f) {
  fx_mjcf_item item = {e, NULL}, elastic = {child_of(e, "elasticity"), NULL}, contact = {child_of(e, "contact"), NULL};
  double friction[3] = {1.0, 0.005, 0.0001};
  f->mass = 1.0;
  frix_status status = fx_mjcf_real(r, &item, "mass", &f->mass);
  if (!status && elastic.element) status = fx_mjcf_real(r, &elastic, "young", &f->young);
  if (!status && elastic.element) status = fx_mjcf_real(r, &elastic, "poisson", &f->poisson);
  if (!status && elastic.element) status = fx_mjcf_real(r, &elastic, "damping", &f->damping);
  if (!status && contact.element) status = fx_mjcf_reals(r, &contact, "friction", 1, 3, friction, NULL);
  f->friction = friction[0];
  if (!status && !(f->mass > 0.0)) return fx_mjcf_fail(r, e, "a flexcomp has a mass above 0");
  return status;
}

frix_status fx_mjcf_add_flex(fx_mjcf_reader *r, const fx_xml_element *e, fx_mjcf_at at) {
  if (!fx_mjcf_reads_flex(r)) return FRIX_OK; /* the schema has noted it */
  fx_mjcf_item item = {e, NULL};
  fx_mjcf_flex flex = {.element = e, .body = at.body};
  frix_pose pose;
  int32_t dim = 2;
  int type = GRID;
  const char *word = fx_xml_value(e, "type"), *file;
  frix_status status = fx_mjcf_integer(r, &item, "dim", 1, 3, &dim);
  if (!status) status = fx_mjcf_pose(r, &item, &pose);
  if (!status) status = read_material(r, e, &flex);
  if (status) return status;
  if (word) type = !strcmp(word, "grid") ? GRID : !strcmp(word, "gmsh") ? GMSH : OTHER;
  if (dim != 3) return leave_out(r, e, "only those of dim 3 are read; it is left out");
  if (type == OTHER) return leave_out(r, e, "only grids and gmsh files are read; it is left out");
  if (!(flex.young > 0.0))
    return leave_out(r, e, "without <elasticity young> there is nothing to reduce; it is left out");
  if (type == GRID)
    status = read_grid(r, &item, &flex);
  else if (!(status = fx_mjcf_need(r, &item, "file", &file))) {
    char *bytes;
    size_t count;
    status = fx_mjcf_open(r, e, fx_mjcf_source_of(e)->mesh_folder, file, &flex.path, &bytes, &count);
  }
  if (!status) status = note_rest(r, e);
  if (!status) status = fx_mjcf_name_add(r, FX_NAMED_FLEX, r->flex_count, e, &at, &flex.name);
  if (status) return status;
  flex.pose = fx_pose_mul(at.frame, pose);
  if (!FX_MJCF_ROOM(r, flex)) return FRIX_ERROR_MEMORY;
  r->flex[r->flex_count++] = flex;
  return FRIX_OK;
}

/* ---- pins ---- */

typedef struct pins {
  const fx_mjcf_flex *flex;
  bool *pinned; /* by vertex, z first */
} pins;

static int32_t vertex_of(const fx_mjcf_flex *f, const int32_t at[3]) {
  return (at[0] * f->count[1] + at[1]) * f->count[2] + at[2];
}

static frix_vec3 place_of(const fx_mjcf_flex *f, int32_t vertex) {
  int32_t at[3] = {vertex / (f->count[1] * f->count[2]), vertex / f->count[2] % f->count[1], vertex % f->count[2]};
  double x[3];
  for (int k = 0; k < 3; k++) x[k] = f->spacing[k] * (at[k] - 0.5 * (f->count[k] - 1));
  return fx_vec(x[0], x[1], x[2]);
}

static bool is_outside(const fx_mjcf_flex *f, int32_t vertex) {
  int32_t at[3] = {vertex / (f->count[1] * f->count[2]), vertex / f->count[2] % f->count[1], vertex % f->count[2]};
  for (int k = 0; k < 3; k++)
    if (at[k] == 0 || at[k] == f->count[k] - 1) return true;
  return false;
}

/* One entry of a list: from one corner to another, by number (wide 1) or by place in the grid (wide 3). */
static bool pin(const pins *p, int wide, const double *low, const double *high) {
  const fx_mjcf_flex *f = p->flex;
  int32_t all = f->count[0] * f->count[1] * f->count[2], from[3] = {0}, to[3] = {0};
  for (int k = 0; k < wide; k++) {
    double most = wide == 1 ? all : f->count[k];
    if (!(low[k] >= 0.0 && high[k] < most && low[k] <= high[k])) return false;
    from[k] = (int32_t)low[k], to[k] = (int32_t)high[k];
  }
  for (int32_t v = from[0]; wide == 1 && v <= to[0]; v++) p->pinned[v] = true;
  if (wide == 1) return true;
  for (int32_t x = from[0]; x <= to[0]; x++)
    for (int32_t y = from[1]; y <= to[1]; y++)
      for (int32_t z = from[2]; z <= to[2]; z++) p->pinned[vertex_of(f, (int32_t[3]){x, y, z})] = true;
  return true;
}

static frix_status read_pins(fx_mjcf_reader *r, const pins *p) {
  static const struct {
    const char *name;
    int wide, corners;
  } list[] = {{"id", 1, 1}, {"range", 1, 2}, {"grid", 3, 1}, {"gridrange", 3, 2}};
  frix_status status = FRIX_OK;
  for (const fx_xml_element *e = p->flex->element->first; e && !status; e = e->next) {
    fx_mjcf_item item = {e, NULL};
    for (size_t k = 0; k < sizeof list / sizeof *list && !strcmp(e->name, "pin") && !status; k++) {
      double *value = NULL;
      int64_t count = 0, size = (int64_t)list[k].wide * list[k].corners;
      status = fx_mjcf_list(r, &item, list[k].name, &value, &count);
      for (int64_t at = 0; at < count && !status; at += size)
        if (at + size > count || !pin(p, list[k].wide, value + at, value + at + list[k].wide * (list[k].corners - 1)))
          status = fx_mjcf_fail(r, e, "pin %s: there is no such vertex", list[k].name);
    }
  }
  return status;
}

/* Up to three pinned vertices of the surface that are far from each other, and from a line; their number. */
static int32_t choose(const pins *p, frix_vec3 at[3]) {
  const fx_mjcf_flex *f = p->flex;
  int32_t all = f->count[0] * f->count[1] * f->count[2], found = 0;
  for (; found < 3; found++) {
    double best = found ? 1e-9 * f->spacing[0] : -1.0;
    frix_vec3 next = {0.0, 0.0, 0.0}, along = found == 2 ? fx_unit(fx_sub(at[1], at[0])) : next;
    bool any = false;
    for (int32_t v = 0; v < all; v++) {
      if (!p->pinned[v] || !is_outside(f, v)) continue;
      frix_vec3 x = place_of(f, v), off = found ? fx_sub(x, at[0]) : along;
      double far = found == 2 ? fx_norm(fx_cross(off, along)) : fx_norm(off);
      if (far > best) best = far, next = x, any = true;
    }
    if (!any) break;
    at[found] = next;
  }
  return found;
}

/* The box of all that is pinned, a little wider. */
static void find_box(const pins *p, frix_vec3 *low, frix_vec3 *high) {
  const fx_mjcf_flex *f = p->flex;
  double wide = 1e-6 * f->spacing[0];
  bool any = false;
  for (int32_t v = 0; v < f->count[0] * f->count[1] * f->count[2]; v++) {
    if (!p->pinned[v]) continue;
    frix_vec3 x = place_of(f, v), a = fx_vec(x.x - wide, x.y - wide, x.z - wide),
              b = fx_vec(x.x + wide, x.y + wide, x.z + wide);
    *low = any ? fx_vec(fx_min(low->x, a.x), fx_min(low->y, a.y), fx_min(low->z, a.z)) : a;
    *high = any ? fx_vec(fx_max(high->x, b.x), fx_max(high->y, b.y), fx_max(high->z, b.z)) : b;
    any = true;
  }
}

/* ---- making ---- */

static bool is_even(const fx_mjcf_flex *f) { return f->spacing[0] == f->spacing[1] && f->spacing[1] == f->spacing[2]; }

static frix_status find_pins(fx_mjcf_reader *r, const fx_mjcf_flex *f, frix_soft_config *c, frix_vec3 at[3],
                             int32_t *count) {
  *count = 0;
  if (!child_of(f->element, "pin")) return FRIX_OK;
  if (f->path || !is_even(f))
    return fx_mjcf_missing(r, f->element, "flexcomp pin", "only of grids with one spacing; nothing is pinned");
  pins p = {f, FX_TAKE(&r->arena, bool, (size_t)f->count[0] * (size_t)f->count[1] * (size_t)f->count[2])};
  if (!p.pinned) return FRIX_ERROR_MEMORY;
  frix_status status = read_pins(r, &p);
  if (status) return status;
  *count = choose(&p, at);
  if (*count == 3) find_box(&p, &c->hold_low, &c->hold_high);
  return FRIX_OK;
}

/* Elements are linear tetrahedra, as in MuJoCo. */
static frix_status make(fx_mjcf_reader *r, const fx_mjcf_flex *f, frix_soft_config *c, frix_soft **out) {
  frix_context *context = r->context;
  double volume = 0.0;
  c->young = f->young, c->poisson = f->poisson, c->damping_stiffness = f->damping;
  c->order = 1, c->strains = true;
  if (f->path) {
    frix_soft_config rigid = frix_soft_default();
    rigid.modes = 0, rigid.order = 1;
    frix_status status = frix_soft_make(context, f->path, &rigid, out);
    if (status) return fx_mjcf_place(r, f->element, status);
    volume = frix_soft_view(*out).volume;
    frix_soft_destroy(*out);
  } else {
    double side[3], least = INFINITY;
    for (int k = 0; k < 3; k++) {
      side[k] = (f->count[k] - 1) * f->spacing[k];
      if (side[k] < least) least = side[k], c->cells = f->count[k] - 1;
    }
    c->sides = fx_vec(side[0], side[1], side[2]);
    volume = side[0] * side[1] * side[2];
  }
  *out = NULL;
  c->density = f->mass / volume;
  c->modes = r->config.soft_modes;
  frix_status status = frix_soft_make(context, f->path ? f->path : "bar", c, out);
  return status ? fx_mjcf_place(r, f->element, status) : FRIX_OK;
}

static frix_status hold(fx_mjcf_reader *r, const fx_mjcf_flex *f, frix_body_id id, frix_pose pose, const frix_vec3 *at,
                        int32_t count) {
  frix_status status = FRIX_OK;
  for (int32_t k = 0; k < count && !status; k++) {
    frix_joint_config joint = frix_joint_default(FRIX_JOINT_BALL);
    joint.b = id;
    joint.frame_b.p = at[k];
    joint.frame_a.p = fx_pose_point(pose, at[k]);
    status = frix_builder_add_joint(r->builder, &joint, NULL);
  }
  return status ? fx_mjcf_place(r, f->element, status) : FRIX_OK;
}

static frix_status build(fx_mjcf_reader *r, const fx_mjcf_flex *f) {
  if (r->body[f->body].root != 0)
    return leave_out(r, f->element, "only those in the world are read, not in a body that moves; it is left out");
  frix_soft_config config = frix_soft_default();
  frix_material_config law = frix_material_default();
  frix_shape_config shape = frix_shape_default();
  frix_body_config body = frix_body_default();
  frix_vec3 at[3];
  frix_soft *soft = NULL;
  frix_body_id id;
  int32_t count;
  law.mu = r->config.friction * f->friction;
  body.name = f->name;
  body.pose = fx_pose_mul(r->motion[f->body].world, f->pose);
  shape.group = FX_MJCF_FLEX_BIT, shape.mask = UINT32_MAX;
  frix_status status = find_pins(r, f, &config, at, &count);
  if (!status) status = frix_builder_add_material(r->builder, &law, &shape.material);
  if (!status) status = make(r, f, &config, &soft);
  if (!status) status = frix_builder_add_soft(r->builder, soft, &body, &shape, &id);
  frix_soft_destroy(soft);
  if (!status) r->out->info.soft_count++;
  return status ? status : hold(r, f, id, body.pose, at, count);
}

frix_status fx_mjcf_flexes(fx_mjcf_reader *r) {
  frix_status status = FRIX_OK;
  for (int32_t k = 0; r->flex_count && k < r->geom_count; k++)
    if (r->geom[k].kind == 31)
      return fx_mjcf_fail(r, r->flex[0].element, "with soft bodies geoms may be of 31 kinds of contact bits, not 32");
  for (int32_t k = 0; k < r->flex_count && !status; k++) status = build(r, &r->flex[k]);
  return status;
}
