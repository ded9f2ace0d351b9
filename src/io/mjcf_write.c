/* A model as MJCF: one file, masses and inertias in full.
 *
 * What meets what: shapes of equal group and mask are one kind; kind k has contype 1 << k, and its conaffinity lists
 * the kinds it meets. Friction: each geom has its material's; where MuJoCo's rule (the larger of both) is not what the
 * model says of two materials, their geoms are listed as pairs. */
#include <stdio.h>
#include <string.h>

#include "base/abi.h"
#include "base/sort.h"
#include "io/draft.h"
#include "io/file.h"
#include "io/mjcf_internal.h"

enum { MOST_KINDS = 31, MOST_PAIRS = 100000 };

typedef struct writer {
  frix_context *context;
  const frix_model *model;
  fx_arena arena;
  fx_buffer text;
  const char **body_name, **shape_name, **geometry_name; /* by index in the model, from 0; NULL: none */
  int32_t *kind;                                         /* by place in model->shape */
  int32_t kind_count;
  struct {
    uint32_t group, mask;
  } kinds[MOST_KINDS];
  bool *used_material;
  fx_buffer lost;
} writer;

static frix_mjcf_write_config default_mjcf_write(void) {
  frix_mjcf_write_config config = {0};
  config.size = sizeof config;
  config.timestep = 0.002;
  return config;
}

void frix_mjcf_write_init(frix_mjcf_write_config *out, size_t size) {
  frix_mjcf_write_config all = default_mjcf_write();
  fx_give_struct(out, size, &all, sizeof all);
}

/* ---- text ---- */

static void put(writer *w, const char *text) { fx_buffer_text(&w->text, text); }

static void put_quoted(writer *w, const char *name, const char *value) {
  put(w, " "), put(w, name), put(w, "=\"");
  for (const char *c = value; *c; c++) {
    char one[8] = {*c, 0};
    bool break_in_line = *c == '\t' || *c == '\n' || *c == '\r'; /* other control characters have no XML */
    if (break_in_line) snprintf(one, sizeof one, "&#%d;", *c);
    if ((unsigned char)*c < 32 && !break_in_line) one[0] = '?';
    put(w, *c == '&' ? "&amp;" : *c == '<' ? "&lt;" : *c == '"' ? "&quot;" : one);
  }
  put(w, "\"");
}

static void put_reals(writer *w, const char *name, const double *value, int32_t count) {
  put(w, " "), put(w, name), put(w, "=\"");
  for (int32_t k = 0; k < count; k++) {
    if (k) put(w, " ");
    fx_buffer_real(&w->text, value[k] + 0.0); /* no minus before zero */
  }
  put(w, "\"");
}

static void put_integer(writer *w, const char *name, int64_t value) {
  put(w, " "), put(w, name), put(w, "=\"");
  fx_buffer_integer(&w->text, value);
  put(w, "\"");
}

static void put_vec(writer *w, const char *name, frix_vec3 v) { put_reals(w, name, (double[]){v.x, v.y, v.z}, 3); }

static void put_pose(writer *w, frix_pose pose) {
  frix_quat q = pose.q;
  if (fx_norm2(pose.p) > 0.0) put_vec(w, "pos", pose.p);
  if (q.w != 1.0) put_reals(w, "quat", (double[]){q.w, q.x, q.y, q.z}, 4);
}

static void lose(writer *w, const char *what) {
  if (w->lost.count && strstr(w->lost.bytes, what)) return;
  if (w->lost.count) w->lost.count--; /* the 0 */
  if (w->lost.count) fx_buffer_text(&w->lost, "; ");
  fx_buffer_text(&w->lost, what);
  char *end = fx_buffer_reserve(&w->lost, 1);
  if (end) *end = 0, w->lost.count++;
}

/* ---- names: MuJoCo wants them to differ ---- */

typedef const char *name_at(const frix_model *model, int32_t k);

static const char *body_name(const frix_model *m, int32_t k) { return m->body[k + 1].name; }
static const char *shape_name(const frix_model *m, int32_t k) { return m->shape[k].name; }
static const char *geometry_name(const frix_model *m, int32_t k) { return m->geometry[k]->name; }

static int compare_names(int32_t a, int32_t b, const void *user) {
  const char *const *name = user;
  return strcmp(name[a] ? name[a] : "", name[b] ? name[b] : "");
}

static const char *numbered(writer *w, const char *stem, int32_t k) {
  size_t size = strlen(stem) + 16;
  char *text = fx_arena_take(&w->arena, size, 1);
  if (text) snprintf(text, size, "%s.%d", stem, (int)k);
  return text;
}

/* The second of a name gets its number; stem, where given, names those without. */
static const char **make_names(writer *w, int32_t count, name_at *at, const char *stem) {
  const char **name = FX_TAKE(&w->arena, const char *, count);
  int32_t *order = FX_TAKE(&w->arena, int32_t, count), *scratch = FX_TAKE(&w->arena, int32_t, count);
  if (!name || !order || !scratch) return NULL;
  for (int32_t k = 0; k < count; k++) {
    name[k] = at(w->model, k);
    order[k] = k;
    if (name[k] && (!*name[k] || !strcmp(name[k], "world"))) name[k] = NULL;
  }
  fx_sort_by(order, scratch, (size_t)count, compare_names, name);
  const char *last = NULL;
  for (int32_t k = 0; k < count; k++) {
    const char *own = name[order[k]];
    bool again = own && last && !strcmp(own, last);
    last = own;
    if (again || (!own && stem)) name[order[k]] = numbered(w, own ? own : stem, order[k]);
    if ((again || stem) && !name[order[k]]) return NULL;
  }
  return name;
}

/* ---- who meets whom ---- */

static frix_status find_kinds(writer *w) {
  const frix_model *m = w->model;
  w->kind = FX_TAKE(&w->arena, int32_t, m->shape_count);
  if (!w->kind) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < m->shape_count; k++) {
    const fx_shape *s = &m->shape[k];
    int32_t at = 0;
    while (at < w->kind_count && (w->kinds[at].group != s->group || w->kinds[at].mask != s->mask)) at++;
    if (at == MOST_KINDS)
      return fx_fail(w->context, FRIX_ERROR_UNSUPPORTED, "MJCF: more than %d kinds of shapes by group and mask",
                     MOST_KINDS);
    if (at == w->kind_count) w->kinds[w->kind_count].group = s->group, w->kinds[w->kind_count++].mask = s->mask;
    w->kind[k] = at;
  }
  return FRIX_OK;
}

static bool kinds_meet(const writer *w, int32_t a, int32_t b) {
  return (w->kinds[a].group & w->kinds[b].mask) && (w->kinds[b].group & w->kinds[a].mask);
}

static void put_kind(writer *w, int32_t kind) {
  int64_t meets = 0;
  for (int32_t k = 0; k < w->kind_count; k++)
    if (kinds_meet(w, kind, k)) meets |= (int64_t)1 << k;
  int64_t own = meets ? (int64_t)1 << kind : 0;
  if (own == 1 && meets == 1) return; /* as by default */
  put_integer(w, "contype", own);
  put_integer(w, "conaffinity", meets);
}

/* ---- friction ---- */

static int condim_of(double mu, double spinning, double rolling) {
  return rolling > 0.0 ? 6 : spinning > 0.0 ? 4 : mu > 0.0 ? 3 : 1;
}

static void put_friction(writer *w, const fx_surface *s, bool pair) {
  double mu = fx_max(s->mu, s->mu2);
  double five[5] = {mu, mu, s->spinning, s->rolling, s->rolling}, three[3] = {mu, s->spinning, s->rolling};
  put_integer(w, "condim", condim_of(mu, s->spinning, s->rolling));
  put_reals(w, "friction", pair ? five : three, pair ? 5 : 3);
  if (s->anisotropic) lose(w, "friction by direction (the larger is written)");
  if (s->restitution > 0.0) lose(w, "restitution");
  if (s->stiffness > 0.0) lose(w, "stiffness of contacts");
}

/* What MuJoCo makes of two geoms with their own frictions. */
static bool rule_holds(const frix_model *m, int32_t a, int32_t b) {
  fx_surface x = fx_model_surface(m, a, a), y = fx_model_surface(m, b, b), s = fx_model_surface(m, a, b);
  return fx_max(x.mu, y.mu) == s.mu && fx_max(x.spinning, y.spinning) == s.spinning &&
         fx_max(x.rolling, y.rolling) == s.rolling;
}

static void put_pairs(writer *w) {
  const frix_model *m = w->model;
  int32_t count = 0;
  for (int32_t i = 0; i < m->shape_count; i++)
    for (int32_t j = i + 1; j < m->shape_count; j++) {
      const fx_shape *a = &m->shape[i], *b = &m->shape[j];
      if (a->material == b->material || a->body == b->body) continue;
      if (m->body[a->body].dof == 0 && m->body[b->body].dof == 0) continue;
      if (!kinds_meet(w, w->kind[i], w->kind[j]) || fx_model_excluded(m, a->body, b->body)) continue;
      if (rule_holds(m, a->material, b->material)) continue;
      if (count++ == MOST_PAIRS) {
        lose(w, "friction of most pairs of materials (too many pairs of shapes)");
        return;
      }
      fx_surface s = fx_model_surface(m, a->material, b->material);
      put(w, "    <pair");
      put_quoted(w, "geom1", w->shape_name[i]);
      put_quoted(w, "geom2", w->shape_name[j]);
      put_friction(w, &s, true);
      put(w, "/>\n");
    }
}

/* ---- assets ---- */

static void field_range(const fx_geometry *g, double *low, double *high) {
  *low = INFINITY, *high = -INFINITY;
  for (int32_t k = 0; k < g->row_count * g->column_count; k++)
    *low = fx_min(*low, g->height[k]), *high = fx_max(*high, g->height[k]);
}

static void put_field(writer *w, const fx_geometry *g) {
  double low, high;
  field_range(g, &low, &high);
  put_integer(w, "nrow", g->row_count);
  put_integer(w, "ncol", g->column_count);
  put_reals(w, "size", (double[]){0.5 * g->width, 0.5 * g->depth, high > low ? high - low : 1.0, 1.0}, 4);
  put(w, " elevation=\"");
  for (int32_t i = g->row_count - 1; i >= 0; i--)
    for (int32_t j = 0; j < g->column_count; j++) {
      fx_buffer_real(&w->text, g->height[i * g->column_count + j]);
      put(w, " ");
    }
  put(w, "\"");
}

static void put_mesh(writer *w, const fx_geometry *g) {
  bool hull = g->kind == FRIX_GEOMETRY_HULL;
  const frix_vec3 *v = hull ? g->hull.vertex : g->vertex;
  put(w, hull ? " inertia=\"convex\"" : " inertia=\"shell\"");
  put_reals(w, "vertex", &v[0].x, 3 * (hull ? g->hull.vertex_count : g->vertex_count));
  if (hull) return;
  put(w, " face=\"");
  for (int32_t k = 0; k < 3 * g->triangle_count; k++) {
    fx_buffer_integer(&w->text, g->triangle[k]);
    put(w, " ");
  }
  put(w, "\"");
}

static void put_assets(writer *w) {
  const frix_model *m = w->model;
  bool triangles = false;
  if (m->geometry_count) put(w, "  <asset>\n");
  for (int32_t k = 0; k < m->geometry_count; k++) {
    const fx_geometry *g = m->geometry[k];
    bool field = g->kind == FRIX_GEOMETRY_HEIGHT_FIELD;
    if (g->kind == FRIX_GEOMETRY_POLYGON) continue;
    triangles |= g->kind == FRIX_GEOMETRY_MESH;
    put(w, field ? "    <hfield" : "    <mesh");
    put_quoted(w, "name", w->geometry_name[k]);
    field ? put_field(w, g) : put_mesh(w, g);
    put(w, "/>\n");
  }
  if (m->geometry_count) put(w, "  </asset>\n");
  if (!triangles) return;
  lose(w, "meshes as they are (MuJoCo takes their hulls; frix reads them back in full)");
  put(w, "  <custom>\n    <text name=\"frix_triangles\" data=\"");
  for (int32_t k = 0; k < m->geometry_count; k++)
    if (m->geometry[k]->kind == FRIX_GEOMETRY_MESH) put(w, w->geometry_name[k]), put(w, " ");
  put(w, "\"/>\n  </custom>\n");
}

/* ---- bodies ---- */

static frix_status put_geom(writer *w, int32_t k, frix_vec3 center) {
  const frix_model *m = w->model;
  const fx_shape *s = &m->shape[k];
  frix_pose pose = {fx_add(s->local.p, center), s->local.q};
  const char *type = frix_shape_table((int32_t)s->kind)->name;
  if (frix_shape_table((int32_t)s->kind)->flat)
    return fx_fail(w->context, FRIX_ERROR_UNSUPPORTED, "MJCF: a %s is flat, and MJCF has no planar worlds", type);
  put(w, s->body ? "      <geom" : "    <geom");
  if (w->shape_name[k]) put_quoted(w, "name", w->shape_name[k]);
  int32_t geometry = -1;
  for (int32_t g = 0; s->geometry && g < m->geometry_count; g++)
    if (m->geometry[g] == s->geometry) geometry = g;
  if (s->kind == FRIX_SHAPE_HEIGHT_FIELD) {
    double low, high;
    field_range(s->geometry, &low, &high);
    pose.p = fx_pose_point(pose, fx_vec(0.0, 0.0, low));
    put_quoted(w, "type", "hfield");
    put_quoted(w, "hfield", w->geometry_name[geometry]);
  } else if (geometry >= 0) {
    put_quoted(w, "type", "mesh");
    put_quoted(w, "mesh", w->geometry_name[geometry]);
  } else {
    put_quoted(w, "type", type);
  }
  if (s->kind == FRIX_SHAPE_BOX || s->kind == FRIX_SHAPE_ELLIPSOID) put_vec(w, "size", s->half);
  if (s->kind == FRIX_SHAPE_SPHERE) put_reals(w, "size", &s->radius, 1);
  if (s->kind == FRIX_SHAPE_CAPSULE || s->kind == FRIX_SHAPE_CYLINDER)
    put_reals(w, "size", (double[]){s->radius, s->half_length}, 2);
  if (s->kind == FRIX_SHAPE_PLANE) put_reals(w, "size", (double[]){0.0, 0.0, 1.0}, 3);
  put_pose(w, pose);
  put_kind(w, w->kind[k]);
  fx_surface own = fx_model_surface(m, s->material, s->material);
  put_friction(w, &own, false);
  put(w, "/>\n");
  return FRIX_OK;
}

static void put_inertia(writer *w, const fx_body *b) {
  frix_sym3 j = b->inertia;
  put(w, "      <inertial");
  put_vec(w, "pos", b->center);
  put_reals(w, "mass", &b->mass, 1);
  if (j.xy == 0.0 && j.xz == 0.0 && j.yz == 0.0)
    put_reals(w, "diaginertia", (double[]){j.xx, j.yy, j.zz}, 3);
  else
    put_reals(w, "fullinertia", (double[]){j.xx, j.yy, j.zz, j.xy, j.xz, j.yz}, 6);
  put(w, "/>\n");
}

static frix_status put_body(writer *w, int32_t k) {
  const fx_body *b = &w->model->body[k];
  frix_status status = FRIX_OK;
  if (b->spawn_only) {
    lose(w, "bodies that are patterns");
    return FRIX_OK;
  }
  if (b->planar)
    return fx_fail(w->context, FRIX_ERROR_UNSUPPORTED, "MJCF: body '%s' is planar, and MJCF has no planar worlds",
                   b->name ? b->name : "");
  put(w, "    <body");
  if (w->body_name[k - 1]) put_quoted(w, "name", w->body_name[k - 1]);
  put_pose(w, fx_body_user_pose(b, b->start));
  if (b->kind == FRIX_BODY_KINEMATIC) put_quoted(w, "mocap", "true");
  if (b->gravity_scale != 1.0) put_reals(w, "gravcomp", (double[]){1.0 - b->gravity_scale}, 1);
  put(w, ">\n");
  if (b->dof) {
    put(w, "      <freejoint/>\n");
    put_inertia(w, b);
  }
  for (int32_t s = 0; s < b->shape_count && !status; s++) status = put_geom(w, b->shape_start + s, b->center);
  put(w, "    </body>\n");
  return status;
}

/* Velocities have no place in a body; a keyframe holds them. */
static void put_start(writer *w) {
  const frix_model *m = w->model;
  bool moving = false;
  for (int32_t k = 1; k < m->body_count; k++) {
    bool moves = fx_norm2(m->body[k].velocity) + fx_norm2(m->body[k].spin) > 0.0;
    if (moves && !m->body[k].dof) lose(w, "velocities of kinematic bodies");
    moving |= moves && m->body[k].dof;
  }
  if (!moving) return;
  put(w, "  <keyframe>\n    <key name=\"start\"");
  for (int list = 0; list < 2; list++) {
    put(w, list ? " qvel=\"" : " qpos=\"");
    for (int32_t k = 1; k < m->body_count; k++) {
      const fx_body *b = &m->body[k];
      if (!b->dof || b->spawn_only) continue;
      frix_pose pose = fx_body_user_pose(b, b->start);
      frix_vec3 spin = fx_unrotate(pose.q, b->spin);
      frix_vec3 v = fx_sub(b->velocity, fx_cross(b->spin, fx_rotate(pose.q, b->center)));
      const double q[7] = {pose.p.x, pose.p.y, pose.p.z, pose.q.w, pose.q.x, pose.q.y, pose.q.z};
      const double u[6] = {v.x, v.y, v.z, spin.x, spin.y, spin.z};
      for (int i = 0; i < (list ? 6 : 7); i++) fx_buffer_real(&w->text, list ? u[i] : q[i]), put(w, " ");
    }
    put(w, "\"");
  }
  put(w, "/>\n  </keyframe>\n");
}

static void put_exclusions(writer *w) {
  const frix_model *m = w->model;
  for (int32_t k = 0; k < m->excluded_count; k++) {
    fx_pair pair = m->excluded[k];
    put(w, "    <exclude");
    put_quoted(w, "body1", pair.a ? w->body_name[pair.a - 1] : "world");
    put_quoted(w, "body2", w->body_name[pair.b - 1]);
    put(w, "/>\n");
  }
}

/* Bodies and shapes that pairs and exclusions name need names. */
static bool needs_names(const writer *w) {
  const frix_model *m = w->model;
  bool *used = w->used_material;
  if (m->excluded_count) return true;
  for (int32_t k = 0; k < m->shape_count; k++) used[m->shape[k].material] = true;
  for (int32_t a = 0; a < m->material_count; a++)
    for (int32_t b = a + 1; b < m->material_count; b++)
      if (used[a] && used[b] && !rule_holds(m, a, b)) return true;
  return false;
}

/* ---- the whole ---- */

static frix_status write_all(writer *w, const frix_mjcf_write_config *config) {
  const frix_model *m = w->model;
  w->used_material = FX_TAKE(&w->arena, bool, m->material_count);
  if (!w->used_material) return FRIX_ERROR_MEMORY;
  bool named = needs_names(w);
  w->body_name = make_names(w, m->body_count - 1, body_name, named ? "body" : NULL);
  w->shape_name = make_names(w, m->shape_count, shape_name, named ? "shape" : NULL);
  w->geometry_name = make_names(w, m->geometry_count, geometry_name, "geometry");
  if (!w->body_name || !w->shape_name || !w->geometry_name) return FRIX_ERROR_MEMORY;
  frix_status status = find_kinds(w);
  if (status) return status;
  if (m->joint_count) lose(w, "joints");
  put(w, "<mujoco");
  if (config->name) put_quoted(w, "model", config->name);
  put(w, ">\n  <compiler angle=\"radian\"/>\n  <option");
  put_reals(w, "timestep", &config->timestep, 1);
  put_vec(w, "gravity", m->gravity);
  put(w, " cone=\"elliptic\"/>\n");
  put_assets(w);
  put(w, "  <worldbody>\n");
  for (int32_t s = 0; s < m->body[0].shape_count && !status; s++)
    status = put_geom(w, m->body[0].shape_start + s, fx_vec(0.0, 0.0, 0.0));
  for (int32_t k = 1; k < m->body_count && !status; k++) status = put_body(w, k);
  put(w, "  </worldbody>\n");
  if (named) {
    put(w, "  <contact>\n");
    put_exclusions(w);
    put_pairs(w);
    put(w, "  </contact>\n");
  }
  put_start(w);
  put(w, "</mujoco>\n");
  return status ? status : fx_buffer_status(&w->text);
}

/* The head comes last, when it is known what was lost. */
static frix_status save(writer *w, const char *path) {
  fx_buffer whole;
  fx_buffer_init(&whole, w->context);
  fx_buffer_text(&whole, "<!-- written by frix " FRIX_VERSION_TEXT);
  if (w->lost.count) fx_buffer_text(&whole, "; not in this file: "), fx_buffer_text(&whole, w->lost.bytes);
  fx_buffer_text(&whole, " -->\n");
  char *room = fx_buffer_reserve(&whole, w->text.count);
  if (room) memcpy(room, w->text.bytes, w->text.count), whole.count += w->text.count;
  frix_status status = fx_buffer_status(&whole);
  if (!status) status = fx_file_write(w->context, path, whole.bytes, whole.count);
  fx_buffer_free(&whole);
  return status;
}

frix_status frix_mjcf_write(frix_context *context, const frix_model *model, const char *path,
                            const frix_mjcf_write_config *config) {
  if (!context || !model || !path) return FRIX_ERROR_INPUT;
  FX_WHOLE(frix_mjcf_write_config, config, frix_mjcf_write_default());
  frix_mjcf_write_config used = config ? *config : frix_mjcf_write_default();
  if (used.size != sizeof used || !(used.timestep > 0.0))
    return fx_fail(context, FRIX_ERROR_INPUT, "frix_mjcf_write: start from frix_mjcf_write_default(), timestep > 0");
  writer w = {.context = context, .model = model};
  fx_arena_init(&w.arena, context);
  fx_buffer_init(&w.text, context);
  fx_buffer_init(&w.lost, context);
  frix_status status = write_all(&w, &used);
  if (!status) status = save(&w, path);
  fx_buffer_free(&w.lost);
  fx_buffer_free(&w.text);
  fx_arena_free(&w.arena);
  return status;
}
