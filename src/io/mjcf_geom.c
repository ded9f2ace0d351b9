/* Geoms: type, size, place, friction; and the shape of the model each becomes. */
#include <string.h>

#include "io/draft.h"
#include "io/mjcf_internal.h"

frix_status fx_mjcf_ends(const fx_mjcf_reader *r, const fx_mjcf_item *item, frix_pose *pose, double *length) {
  const fx_xml_element *where;
  double v[6];
  if (!fx_mjcf_text(item, "fromto", &where)) return FRIX_OK;
  frix_status status = fx_mjcf_reals(r, item, "fromto", 6, 6, v, NULL);
  if (status) return status;
  frix_vec3 a = {v[0], v[1], v[2]}, b = {v[3], v[4], v[5]}, along = fx_sub(a, b);
  double between = fx_norm(along);
  if (!(between > 1e-14) || !isfinite(between))
    return fx_mjcf_fail(r, where, "%s fromto: the ends are the same point", item->element->name);
  *pose = (frix_pose){fx_scale(0.5, fx_add(a, b)), fx_mjcf_to_z(fx_scale(1.0 / between, along))};
  if (length) *length = between;
  return FRIX_OK;
}

/* Half the length between the ends is the last size. */
static frix_status read_ends(const fx_mjcf_reader *r, const fx_mjcf_item *item, fx_mjcf_geom *g) {
  const fx_xml_element *where;
  double length = 0.0;
  if (!fx_mjcf_text(item, "fromto", &where)) return FRIX_OK;
  if (fx_mjcf_text(item, "pos", NULL)) return fx_mjcf_fail(r, item->element, "geom: both pos and fromto");
  bool round = g->type == FX_GEOM_CAPSULE || g->type == FX_GEOM_CYLINDER;
  if (!round && g->type != FX_GEOM_BOX && g->type != FX_GEOM_ELLIPSOID)
    return fx_mjcf_fail(r, where, "geom fromto: is for capsule, cylinder, ellipsoid and box");
  frix_status status = fx_mjcf_ends(r, item, &g->pose, &length);
  if (status) return status;
  g->size[1] = round ? 0.5 * length : g->size[0];
  g->size[2] = round ? 0.0 : 0.5 * length;
  return FRIX_OK;
}

static frix_status check_size(const fx_mjcf_reader *r, const fx_mjcf_geom *g) {
  static const int wanted[] = {[FX_GEOM_SPHERE] = 1,   [FX_GEOM_CAPSULE] = 2, [FX_GEOM_ELLIPSOID] = 3,
                               [FX_GEOM_CYLINDER] = 2, [FX_GEOM_BOX] = 3,     [FX_GEOM_LEFT_OUT] = 0};
  static const char *const what[] = {"", "a radius", "a radius and a half length (or fromto)", "three half widths"};
  for (int k = 0; k < wanted[g->type]; k++)
    if (!(g->size[k] > 0.0))
      return fx_mjcf_fail(r, g->item.element, "geom size: number %d is %g; wants %s, all positive", k + 1, g->size[k],
                          what[wanted[g->type]]);
  return FRIX_OK;
}

/* Of an asset that frix does not make, the geom is left out. */
static frix_status take_asset(fx_mjcf_reader *r, fx_mjcf_geom *g) {
  frix_status status = fx_mjcf_ready(r, g->asset);
  if (!status && g->asset->flat)
    return fx_mjcf_fail(r, g->item.element, "geom of a plate: it has no volume, and is for tactile sensors");
  if (status || !g->asset->missing) return status;
  g->type = FX_GEOM_LEFT_OUT;
  return fx_mjcf_missing(r, g->item.element, "geom of a mesh that is not read", "left out, with its mass");
}

static frix_status find_asset(fx_mjcf_reader *r, fx_mjcf_geom *g) {
  bool is_mesh = g->type != FX_GEOM_HFIELD;
  const char *key = is_mesh ? "mesh" : "hfield", *name;
  const fx_mjcf_source *source = fx_mjcf_source_of(g->item.element);
  frix_status status = fx_mjcf_need(r, &g->item, key, &name);
  if (status) return status;
  g->asset = fx_mjcf_find_asset(r, source, is_mesh, name);
  if (g->asset) return take_asset(r, g);
  const char *best = NULL;
  for (int32_t k = 0; k < r->asset_count && !best; k++) {
    const fx_mjcf_asset *other = r->asset[k];
    if (other->is_mesh == is_mesh && *fx_mjcf_nearest(other->name, name).text) best = other->name;
  }
  return fx_mjcf_fail(r, g->item.element, "there is no %s '%s' in <asset>%s%s%s", key,
                      fx_word_of(name, strlen(name)).text, best ? "; did you mean '" : "",
                      best ? fx_word_of(best, strlen(best)).text : "", best ? "'?" : "");
}

static frix_status read_numbers(fx_mjcf_reader *r, const fx_mjcf_item *item, fx_mjcf_geom *g) {
  int shell = 0;
  const fx_xml_element *where;
  frix_status status;
  if ((status = fx_mjcf_reals(r, item, "size", 0, 3, g->size, NULL)) ||
      (status = fx_mjcf_reals(r, item, "friction", 1, 3, g->friction, NULL)) ||
      (status = fx_mjcf_integer(r, item, "contype", INT32_MIN, INT32_MAX, &g->contype)) ||
      (status = fx_mjcf_integer(r, item, "conaffinity", INT32_MIN, INT32_MAX, &g->conaffinity)) ||
      (status = fx_mjcf_integer(r, item, "condim", 1, 6, &g->condim)) ||
      (status = fx_mjcf_integer(r, item, "priority", INT32_MIN, INT32_MAX, &g->priority)) ||
      (status = fx_mjcf_integer(r, item, "group", INT32_MIN, INT32_MAX, &g->group)) ||
      (status = fx_mjcf_word(r, item, "shellinertia", "false true", &shell)) ||
      (status = fx_mjcf_real(r, item, "mass", &g->mass)) || (status = fx_mjcf_real(r, item, "density", &g->density)))
    return status;
  if (g->condim != 1 && g->condim != 3 && g->condim != 4 && g->condim != 6)
    return fx_mjcf_fail(r, item->element, "geom condim: %d is none of 1, 3, 4, 6", (int)g->condim);
  for (int k = 0; k < 3; k++)
    if (!(g->friction[k] >= 0.0))
      return fx_mjcf_fail(r, item->element, "geom friction: %g is negative", g->friction[k]);
  if (fx_mjcf_text(item, "mass", &where) && !(g->mass >= 0.0))
    return fx_mjcf_fail(r, where, "geom mass: %g is negative", g->mass);
  if (!(g->density >= 0.0)) return fx_mjcf_fail(r, item->element, "geom density: %g is negative", g->density);
  g->shell = shell == 1;
  return fx_mjcf_coat_read(r, item, g);
}

frix_status fx_mjcf_geom_read(fx_mjcf_reader *r, const fx_mjcf_item *item, fx_mjcf_geom *g) {
  int type = FX_GEOM_SPHERE;
  g->contype = g->conaffinity = 1, g->condim = 3;
  g->friction[0] = 1.0, g->friction[1] = 0.005, g->friction[2] = 0.0001;
  g->mass = -1.0, g->density = 1000.0;
  frix_status status;
  if ((status = fx_mjcf_word(r, item, "type", "plane hfield sphere capsule ellipsoid cylinder box mesh sdf", &type)) ||
      (status = read_numbers(r, item, g)) || (status = fx_mjcf_pose(r, item, &g->pose)))
    return status;
  g->type = (fx_mjcf_geom_type)type;
  if (type == FX_GEOM_SDF) {
    g->type = FX_GEOM_LEFT_OUT;
    return fx_mjcf_missing(r, item->element, "geom type=sdf",
                           "not supported: shapes of plugins; left out, with its mass");
  }
  if (type == FX_GEOM_MESH || type == FX_GEOM_HFIELD) return find_asset(r, g);
  if (type == FX_GEOM_PLANE) return FRIX_OK;
  if (fx_mjcf_text(item, "mesh", NULL)) {
    frix_pose given = g->pose;
    status = find_asset(r, g);
    if (status || g->type == FX_GEOM_LEFT_OUT) return status;
    status = fx_mjcf_fit(r, g);
    fx_mjcf_coat_move(g, given);
  } else {
    status = read_ends(r, item, g);
  }
  return status ? status : check_size(r, g);
}

/* ---- shapes ---- */

static frix_status mesh_shape(fx_mjcf_reader *r, const fx_mjcf_geom *g, bool dynamic, frix_shape_config *out) {
  fx_mjcf_asset *a = g->asset;
  if (dynamic || !a->triangles) {
    out->kind = FRIX_SHAPE_HULL;
    frix_status status = fx_mjcf_hull(r, a);
    out->geometry = a->hull;
    return status;
  }
  out->kind = FRIX_SHAPE_MESH;
  if (!a->soup.generation) {
    frix_geometry_config config = frix_geometry_default();
    config.kind = FRIX_GEOMETRY_MESH;
    config.name = a->name;
    config.point_count = a->mesh.vertex_count, config.point = a->mesh.vertex;
    config.triangle_count = a->mesh.triangle_count, config.triangle = a->mesh.triangle;
    frix_status status = frix_builder_add_geometry(r->builder, &config, &a->soup);
    if (status) return fx_mjcf_place(r, a->item.element, status);
  }
  out->geometry = a->soup;
  return FRIX_OK;
}

static frix_status field_shape(fx_mjcf_reader *r, const fx_mjcf_geom *g, frix_shape_config *out) {
  fx_mjcf_asset *a = g->asset;
  out->kind = FRIX_SHAPE_HEIGHT_FIELD;
  if (!a->field.generation) {
    frix_geometry_config config = frix_geometry_default();
    config.kind = FRIX_GEOMETRY_HEIGHT_FIELD;
    config.name = a->name;
    config.row_count = a->row_count, config.column_count = a->column_count;
    config.width = 2.0 * a->size[0], config.depth = 2.0 * a->size[1];
    config.height = a->height;
    frix_status status = frix_builder_add_geometry(r->builder, &config, &a->field);
    if (status) return fx_mjcf_place(r, a->item.element, status);
  }
  out->geometry = a->field;
  return FRIX_OK;
}

static void rod_shape(frix_shape_kind kind, const fx_mjcf_geom *g, frix_shape_config *out) {
  out->kind = kind;
  out->radius = g->size[0];
  out->half_length = kind == FRIX_SHAPE_SPHERE ? 0.0 : g->size[1];
}

static void half_shape(frix_shape_kind kind, const fx_mjcf_geom *g, frix_shape_config *out) {
  out->kind = kind;
  out->half = fx_vec(g->size[0], g->size[1], g->size[2]);
}

frix_status fx_mjcf_shape(fx_mjcf_reader *r, const fx_mjcf_geom *g, bool dynamic, frix_shape_config *out) {
  *out = frix_shape_default();
  out->name = g->name;
  switch (g->type) {
    case FX_GEOM_PLANE: out->kind = FRIX_SHAPE_PLANE; break;
    case FX_GEOM_HFIELD: return field_shape(r, g, out);
    case FX_GEOM_MESH: return mesh_shape(r, g, dynamic, out);
    case FX_GEOM_SPHERE: rod_shape(FRIX_SHAPE_SPHERE, g, out); break;
    case FX_GEOM_CAPSULE: rod_shape(FRIX_SHAPE_CAPSULE, g, out); break;
    case FX_GEOM_CYLINDER: rod_shape(FRIX_SHAPE_CYLINDER, g, out); break;
    case FX_GEOM_ELLIPSOID: half_shape(FRIX_SHAPE_ELLIPSOID, g, out); break;
    case FX_GEOM_BOX: half_shape(FRIX_SHAPE_BOX, g, out); break;
    case FX_GEOM_SDF:
    case FX_GEOM_LEFT_OUT: return FRIX_ERROR_UNSUPPORTED;
  }
  return FRIX_OK;
}
