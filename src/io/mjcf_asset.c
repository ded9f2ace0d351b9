/* Assets: meshes from files or inline, height fields. Read when a geom first needs them. */
#include <string.h>

#include "io/draft.h"
#include "io/mjcf_internal.h"
#include "io/png_read.h"

/* ---- the list ---- */

/* "folder/cup.obj" is called "cup". */
static const char *name_of_file(fx_mjcf_reader *r, const char *file) {
  const char *slash = strrchr(file, '/'), *start = slash ? slash + 1 : file, *dot = strrchr(start, '.');
  size_t length = dot && dot > start ? (size_t)(dot - start) : strlen(start);
  char *name = fx_arena_take(&r->arena, length + 1, 1);
  if (name) memcpy(name, start, length);
  return name;
}

fx_mjcf_asset *fx_mjcf_find_asset(fx_mjcf_reader *r, const fx_mjcf_source *source, bool is_mesh, const char *name) {
  for (int32_t k = 0; k < r->asset_count; k++) {
    fx_mjcf_asset *asset = r->asset[k];
    if (fx_mjcf_source_of(asset->item.element) == source && asset->is_mesh == is_mesh && !strcmp(asset->name, name))
      return asset;
  }
  return NULL;
}

static frix_status add_asset(fx_mjcf_reader *r, const fx_mjcf_source *source, const fx_xml_element *e) {
  fx_mjcf_asset asset = {.is_mesh = !strcmp(e->name, "mesh")}, *kept = FX_TAKE(&r->arena, fx_mjcf_asset, 1);
  if (!kept) return FRIX_ERROR_MEMORY;
  frix_status status = fx_mjcf_item_of(r, e, source->classes, &asset.item);
  if (status) return status;
  const char *file = fx_xml_value(e, "file");
  asset.name = fx_xml_value(e, "name");
  if (!asset.name && !file) return fx_mjcf_fail(r, e, "<%s> needs a name or a file", e->name);
  if (!asset.name && !(asset.name = name_of_file(r, file))) return FRIX_ERROR_MEMORY;
  const fx_mjcf_asset *other = fx_mjcf_find_asset(r, source, asset.is_mesh, asset.name);
  if (other)
    return fx_mjcf_fail(r, e, "%s '%s' was defined in line %d already", e->name,
                        fx_word_of(asset.name, strlen(asset.name)).text, (int)other->item.element->line);
  if (!FX_MJCF_ROOM(r, asset)) return FRIX_ERROR_MEMORY;
  *kept = asset;
  r->asset[r->asset_count++] = kept;
  return FRIX_OK;
}

/* <custom><text name="frix_triangles" data="a b"/></custom>: these meshes are taken as they are on static bodies. */
static void mark_triangles(fx_mjcf_reader *r, const fx_mjcf_source *source) {
  for (const fx_xml_element *e = NULL; (e = fx_mjcf_next(source, "custom", e));) {
    const char *name = fx_xml_value(e, "name"), *data = fx_xml_value(e, "data");
    if (strcmp(e->name, "text") || !name || !data || strcmp(name, "frix_triangles")) continue;
    for (const char *at = data; *at;) {
      size_t length = strcspn(at, " ");
      for (int32_t k = 0; k < r->asset_count; k++) {
        fx_mjcf_asset *asset = r->asset[k];
        if (fx_mjcf_source_of(asset->item.element) == source && strlen(asset->name) == length &&
            !strncmp(asset->name, at, length))
          asset->triangles = true;
      }
      at += length;
      while (*at == ' ') at++;
    }
  }
}

frix_status fx_mjcf_assets(fx_mjcf_reader *r, const fx_mjcf_source *source) {
  frix_status status = FRIX_OK;
  for (const fx_xml_element *e = NULL; !status && (e = fx_mjcf_next(source, "asset", e));)
    if (!strcmp(e->name, "mesh") || !strcmp(e->name, "hfield")) status = add_asset(r, source, e);
  if (!status) mark_triangles(r, source);
  return status;
}

/* ---- meshes ---- */

static frix_status read_file(fx_mjcf_reader *r, fx_mjcf_asset *asset, const char **path, char **bytes, size_t *count) {
  const char *name = fx_xml_value(asset->item.element, "file"), *slash = strrchr(name, '/');
  const fx_mjcf_source *source = fx_mjcf_source_of(asset->item.element);
  if (source->strip_path && slash) name = slash + 1;
  return fx_mjcf_open(r, asset->item.element, source->mesh_folder, name, path, bytes, count);
}

static frix_status mesh_from_file(fx_mjcf_reader *r, fx_mjcf_asset *asset) {
  const char *path;
  char *bytes;
  size_t count;
  frix_status status = read_file(r, asset, &path, &bytes, &count);
  if (status) return status;
  status = fx_mesh_read(&r->arena, path, bytes, count, &asset->mesh);
  return status ? fx_mjcf_place(r, asset->item.element, status) : FRIX_OK;
}

static frix_status mesh_inline(fx_mjcf_reader *r, fx_mjcf_asset *asset) {
  const fx_xml_element *e = asset->item.element;
  double *v, *f;
  int64_t vertices, corners;
  frix_status status = fx_mjcf_list(r, &asset->item, "vertex", &v, &vertices);
  if (!status) status = fx_mjcf_list(r, &asset->item, "face", &f, &corners);
  if (status) return status;
  if (vertices < 12 || vertices % 3 || vertices > INT32_MAX / 4)
    return fx_mjcf_fail(r, e, "mesh vertex: %lld numbers; wants three each for at least four vertices",
                        (long long)vertices);
  if (corners % 3 || corners > INT32_MAX / 4) return fx_mjcf_fail(r, e, "mesh face: wants three vertices each");
  fx_mesh *m = &asset->mesh;
  m->vertex_count = (int32_t)(vertices / 3), m->triangle_count = (int32_t)(corners / 3);
  m->vertex = FX_TAKE_RAW(&r->arena, frix_vec3, m->vertex_count);
  m->triangle = FX_TAKE_RAW(&r->arena, int32_t, corners);
  if (!m->vertex || !m->triangle) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < m->vertex_count; k++) m->vertex[k] = fx_vec(v[3 * k], v[3 * k + 1], v[3 * k + 2]);
  for (int64_t k = 0; k < corners; k++) {
    if (!(f[k] >= 0.0) || f[k] >= m->vertex_count || f[k] != floor(f[k]))
      return fx_mjcf_fail(r, e, "mesh face: %g is not one of the vertices 0 to %d", f[k], (int)m->vertex_count - 1);
    m->triangle[k] = (int32_t)f[k];
  }
  return FRIX_OK;
}

/* The reference frame becomes the origin, then the axes are scaled; a mirror image turns its triangles round. */
static frix_status place_mesh(fx_mjcf_reader *r, fx_mjcf_asset *asset) {
  double scale[3] = {1, 1, 1}, p[3] = {0}, q[4] = {1, 0, 0, 0};
  const fx_mjcf_item *item = &asset->item;
  frix_status status;
  if ((status = fx_mjcf_reals(r, item, "scale", 3, 3, scale, NULL)) ||
      (status = fx_mjcf_reals(r, item, "refpos", 3, 3, p, NULL)) ||
      (status = fx_mjcf_reals(r, item, "refquat", 4, 4, q, NULL)))
    return status;
  frix_pose reference = {{p[0], p[1], p[2]}, {q[0], q[1], q[2], q[3]}};
  double mirror = scale[0] * scale[1] * scale[2], norm = fx_quat_norm2(reference.q);
  if (!(mirror != 0.0) || !(norm > 1e-20) || !isfinite(norm))
    return fx_mjcf_fail(r, item->element, "mesh '%s': scale and refquat must not be zero",
                        fx_word_of(asset->name, strlen(asset->name)).text);
  reference.q = fx_quat_unit(reference.q);
  fx_mesh *m = &asset->mesh;
  for (int32_t k = 0; k < m->vertex_count; k++) {
    frix_vec3 v = fx_pose_unpoint(reference, m->vertex[k]);
    m->vertex[k] = fx_vec(scale[0] * v.x, scale[1] * v.y, scale[2] * v.z);
    for (int t = 0; t < 2 && asset->tangent; t++) {
      frix_vec3 *d = &asset->tangent[k][t], turned = fx_unrotate(reference.q, *d);
      *d = fx_unit(fx_vec(turned.x / scale[0], turned.y / scale[1], turned.z / scale[2]));
    }
    if (!fx_finite(m->vertex[k])) return fx_mjcf_fail(r, item->element, "mesh vertex %d is out of range", (int)k);
  }
  for (int32_t k = 0; k < m->triangle_count && mirror < 0.0; k++) {
    int32_t *t = m->triangle + 3 * (size_t)k, swap = t[1];
    t[1] = t[2], t[2] = swap;
  }
  return FRIX_OK;
}

static frix_geometry_config hull_config(const fx_mjcf_asset *asset) {
  frix_geometry_config config = frix_geometry_default();
  config.kind = FRIX_GEOMETRY_HULL;
  config.name = asset->name;
  config.point_count = asset->mesh.vertex_count;
  config.point = asset->mesh.vertex;
  return config;
}

frix_status fx_mjcf_hull(fx_mjcf_reader *r, fx_mjcf_asset *asset) {
  if (asset->hull.generation) return FRIX_OK;
  frix_geometry_config config = hull_config(asset);
  frix_status status = frix_builder_add_geometry(r->builder, &config, &asset->hull);
  return status ? fx_mjcf_place(r, asset->item.element, status) : FRIX_OK;
}

/* The faces of the hull, for meshes without faces of their own and for the convex kind. */
static frix_status take_hull_faces(fx_mjcf_reader *r, const fx_mjcf_asset *asset, fx_mesh *out) {
  fx_geometry *g = NULL;
  frix_geometry_config config = hull_config(asset);
  frix_status status = fx_geometry_create(r->context, &config, &g);
  if (status) return fx_mjcf_place(r, asset->item.element, status);
  out->vertex_count = g->hull.vertex_count, out->triangle_count = g->triangle_count;
  out->vertex = FX_TAKE_RAW(&r->arena, frix_vec3, out->vertex_count);
  out->triangle = FX_TAKE_RAW(&r->arena, int32_t, 3 * (size_t)out->triangle_count);
  if (out->vertex && out->triangle) {
    memcpy(out->vertex, g->hull.vertex, (size_t)out->vertex_count * sizeof *out->vertex);
    memcpy(out->triangle, g->triangle, 3 * (size_t)out->triangle_count * sizeof *out->triangle);
  }
  fx_geometry_release(r->context, g);
  return out->vertex && out->triangle ? FRIX_OK : FRIX_ERROR_MEMORY;
}

/* A tree has the axes and moments that MuJoCo finds, and the inertia they make. */
static void find_axes(fx_mjcf_asset *asset, bool tree) {
  fx_mass *mass = &asset->mass;
  double p[3], *m = asset->moment;
  frix_vec3 axis[3];
  asset->frame.p = mass->center;
  if (tree) {
    asset->frame.q = fx_mjcf_principal(mass->inertia, 1e-7, m);
    mass->inertia = fx_sym3_turn(asset->frame.q, (frix_sym3){m[0], m[1], m[2], 0.0, 0.0, 0.0});
    return;
  }
  fx_sym3_eigen(mass->inertia, p, axis);
  for (int k = 0; k < 3; k++) m[k] = p[2 - k];
  asset->frame.q = fx_quat_of_axes(axis[2], axis[1], fx_cross(axis[2], axis[1]));
}

static frix_status weigh_mesh(fx_mjcf_reader *r, fx_mjcf_asset *asset) {
  int kind = fx_mjcf_source_of(asset->item.element)->mesh_inertia;
  fx_mesh faces = asset->mesh;
  frix_status status = fx_mjcf_word(r, &asset->item, "inertia", "legacy exact convex shell", &kind);
  if (asset->flat) kind = FX_MESH_SHELL;
  if (!status && (kind == FX_MESH_CONVEX || faces.triangle_count == 0)) status = take_hull_faces(r, asset, &faces);
  if (status) return status;
  if (asset->mesh.triangle_count == 0) asset->mesh = faces;
  asset->mass = fx_mjcf_mesh_mass(&faces, (fx_mjcf_mesh_inertia)kind);
  find_axes(asset, r->robot);
  return FRIX_OK;
}

/* Meshes that a plugin makes are known, not made. */
static frix_status note_made(fx_mjcf_reader *r, fx_mjcf_asset *asset, bool *made) {
  const fx_xml_element *e = asset->item.element;
  *made = false;
  for (const fx_xml_element *c = e->first; c; c = c->next) *made |= !strcmp(c->name, "plugin");
  if (!*made) return FRIX_OK;
  asset->missing = true;
  return fx_mjcf_missing(r, e, "mesh plugin", "not supported: meshes are read from files, inline or built in");
}

static frix_status ready_mesh(fx_mjcf_reader *r, fx_mjcf_asset *asset) {
  const fx_xml_element *e = asset->item.element;
  bool made;
  frix_status status = note_made(r, asset, &made);
  if (status || made) return status;
  const char *builtin = fx_mjcf_text(&asset->item, "builtin", NULL);
  if (builtin && !strcmp(builtin, "none")) builtin = NULL;
  bool file = fx_xml_value(e, "file") != NULL, given = fx_xml_value(e, "vertex") != NULL;
  if (file + given + (builtin != NULL) > 1) return fx_mjcf_fail(r, e, "mesh: one of file, vertex and builtin");
  if (!file && !given && !builtin) return fx_mjcf_fail(r, e, "mesh: neither file nor vertex nor builtin is given");
  status = file ? mesh_from_file(r, asset) : builtin ? fx_mjcf_builtin_mesh(r, asset, builtin) : mesh_inline(r, asset);
  /* a tree has the masses that MuJoCo finds, which keeps vertices from text in single precision */
  for (int32_t k = 0; k < asset->mesh.vertex_count && !status && r->robot; k++) {
    frix_vec3 *v = &asset->mesh.vertex[k];
    *v = fx_vec(fx_mesh_single(v->x), fx_mesh_single(v->y), fx_mesh_single(v->z));
  }
  if (!status) status = place_mesh(r, asset);
  return status ? status : weigh_mesh(r, asset);
}

/* ---- height fields ---- */

/* Grey levels as heights; the top row of the picture is that of highest y. */
static frix_status field_from_picture(fx_mjcf_reader *r, fx_mjcf_asset *asset, const char *path, const char *bytes,
                                      size_t count) {
  uint8_t *grey;
  int32_t rows, columns;
  frix_status status = fx_png_read(&r->arena, path, bytes, count, &columns, &rows, &grey);
  if (status) return fx_mjcf_place(r, asset->item.element, status);
  if (rows < 2 || columns < 2)
    return fx_mjcf_fail(r, asset->item.element, "'%s': a height field has at least 2 x 2 pixels", path);
  asset->row_count = rows, asset->column_count = columns;
  asset->height = FX_TAKE_RAW(&r->arena, double, (size_t)rows *(size_t)columns);
  if (!asset->height) return FRIX_ERROR_MEMORY;
  for (int32_t i = 0; i < rows; i++)
    for (int32_t j = 0; j < columns; j++)
      asset->height[(size_t)i * (size_t)columns + (size_t)j] =
          grey[(size_t)(rows - 1 - i) * (size_t)columns + (size_t)j];
  return FRIX_OK;
}

/* Two counts, then single-precision heights, lowest y first. */
static frix_status field_from_file(fx_mjcf_reader *r, fx_mjcf_asset *asset) {
  const fx_xml_element *e = asset->item.element;
  const char *path;
  char *bytes;
  size_t count;
  frix_status status = read_file(r, asset, &path, &bytes, &count);
  if (status) return status;
  if (fx_png_is(bytes, count)) return field_from_picture(r, asset, path, bytes, count);
  uint64_t rows = count >= 8 ? fx_mesh_integer(bytes) : 0, columns = count >= 8 ? fx_mesh_integer(bytes + 4) : 0;
  if (rows < 2 || columns < 2 || rows > 1 << 16 || columns > 1 << 16 || count != 8 + 4 * rows * columns)
    return fx_mjcf_fail(r, e, "'%s': %zu bytes are not a height field of %llu x %llu", path, count,
                        (unsigned long long)rows, (unsigned long long)columns);
  asset->row_count = (int32_t)rows, asset->column_count = (int32_t)columns;
  asset->height = FX_TAKE_RAW(&r->arena, double, rows *columns);
  if (!asset->height) return FRIX_ERROR_MEMORY;
  for (uint64_t k = 0; k < rows * columns; k++) asset->height[k] = fx_mesh_float(bytes + 8 + 4 * k);
  return FRIX_OK;
}

/* Written as seen from above: the row of highest y comes first. */
static frix_status field_inline(fx_mjcf_reader *r, fx_mjcf_asset *asset) {
  const fx_xml_element *e = asset->item.element;
  double *given;
  int64_t count;
  int32_t rows = 0, columns = 0;
  frix_status status;
  if ((status = fx_mjcf_integer(r, &asset->item, "nrow", 0, 1 << 16, &rows)) ||
      (status = fx_mjcf_integer(r, &asset->item, "ncol", 0, 1 << 16, &columns)) ||
      (status = fx_mjcf_list(r, &asset->item, "elevation", &given, &count)))
    return status;
  if (rows < 2 || columns < 2) return fx_mjcf_fail(r, e, "hfield: needs a file, or nrow and ncol of at least 2");
  if ((int64_t)rows * columns > 1 << 26) return fx_mjcf_fail(r, e, "hfield: %d x %d is too large", rows, columns);
  if (given && count != (int64_t)rows * columns)
    return fx_mjcf_fail(r, e, "hfield elevation: %lld numbers, wants %d x %d", (long long)count, (int)rows,
                        (int)columns);
  asset->row_count = rows, asset->column_count = columns;
  asset->height = FX_TAKE(&r->arena, double, (size_t)rows *(size_t)columns);
  if (!asset->height) return FRIX_ERROR_MEMORY;
  for (int32_t i = 0; i < rows && given; i++)
    memcpy(asset->height + (size_t)i * (size_t)columns, given + (size_t)(rows - 1 - i) * (size_t)columns,
           (size_t)columns * sizeof(double));
  return FRIX_OK;
}

/* Heights are brought to 0 .. 1, then scaled to the elevation. */
static frix_status ready_field(fx_mjcf_reader *r, fx_mjcf_asset *asset) {
  const fx_xml_element *e = asset->item.element;
  if (!fx_xml_value(e, "size")) return fx_mjcf_fail(r, e, "hfield: needs size=\"radius_x radius_y elevation base\"");
  frix_status status = fx_mjcf_reals(r, &asset->item, "size", 4, 4, asset->size, NULL);
  if (!status) status = fx_xml_value(e, "file") ? field_from_file(r, asset) : field_inline(r, asset);
  if (status) return status;
  for (int k = 0; k < 4; k++)
    if (!(asset->size[k] > 0.0)) return fx_mjcf_fail(r, e, "hfield size: %g is not positive", asset->size[k]);
  size_t count = (size_t)asset->row_count * (size_t)asset->column_count;
  double low = INFINITY, high = -INFINITY;
  for (size_t k = 0; k < count; k++) {
    if (!isfinite(asset->height[k])) return fx_mjcf_fail(r, e, "hfield: height %zu is not finite", k);
    low = fx_min(low, asset->height[k]), high = fx_max(high, asset->height[k]);
  }
  for (size_t k = 0; k < count; k++)
    asset->height[k] = high > low ? asset->size[2] * ((asset->height[k] - low) / (high - low)) : 0.0;
  return FRIX_OK;
}

frix_status fx_mjcf_ready(fx_mjcf_reader *r, fx_mjcf_asset *asset) {
  if (asset->ready) return FRIX_OK;
  frix_status status = asset->is_mesh ? ready_mesh(r, asset) : ready_field(r, asset);
  asset->ready = !status;
  return status;
}
