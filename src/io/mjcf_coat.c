/* Surfaces of geoms and pairs: margin, gap, adhesion, and how they move. */
#include <math.h>
#include <string.h>

#include "base/sort.h"
#include "io/mjcf_robot.h"

static bool is_bare(const fx_coat *c) {
  return c->margin == 0.0 && c->adhesion == 0.0 && fx_is_zero(c->flow) && fx_is_zero(c->turn);
}

#define FARTHEST 1e6 /* m: beyond, overlaps are lost in rounding */
#define FASTEST 1e6  /* m/s and rad/s: beyond, other velocities are */

static frix_status check(fx_mjcf_reader *r, const fx_xml_element *where, const char *name, double value) {
  if (value > FARTHEST && strcmp(name, "negative adhesion"))
    return fx_mjcf_fail(r, where, "margin and gap are at most %g m, not %g", FARTHEST, value);
  static const char text[] = "not supported: it is negative, and taken as 0";
  return value < 0.0 ? fx_mjcf_missing(r, where, name, text) : FRIX_OK;
}

/* margin, gap and adhesion of a geom or a pair. */
static frix_status read_distances(fx_mjcf_reader *r, const fx_mjcf_item *item, double *margin, double *gap,
                                  double *adhesion) {
  frix_status status;
  if ((status = fx_mjcf_real(r, item, "margin", margin)) || (status = fx_mjcf_real(r, item, "gap", gap)) ||
      (status = fx_mjcf_real(r, item, "adhesion", adhesion)) ||
      (status = check(r, item->element, "negative margin", *margin)) ||
      (status = check(r, item->element, "negative gap", *gap)) ||
      (status = check(r, item->element, "negative adhesion", *adhesion)))
    return status;
  *margin = fx_max(*margin, 0.0), *gap = fx_max(*gap, 0.0), *adhesion = fx_max(*adhesion, 0.0);
  if (r->robot || *margin == 0.0) return FRIX_OK; /* a tree has it */
  return fx_mjcf_note_add(r, FRIX_MJCF_UNSUPPORTED, item->element, "geom margin",
                          "not supported: contact acts at the surface, not at a margin from it");
}

frix_status fx_mjcf_coat_read(fx_mjcf_reader *r, const fx_mjcf_item *item, fx_mjcf_geom *g) {
  double motion[6] = {0.0};
  fx_coat *c = &g->coat;
  c->priority = g->priority;
  frix_status status = read_distances(r, item, &c->margin, &c->gap, &c->adhesion);
  if (!status) status = fx_mjcf_reals(r, item, "surfacevel", 1, 6, motion, NULL);
  for (int k = 0; k < 6 && !status; k++)
    if (fabs(motion[k]) > FASTEST)
      return fx_mjcf_fail(r, item->element, "geom surfacevel: at most %g, not %g", FASTEST, motion[k]);
  c->flow = fx_vec(motion[0], motion[1], motion[2]), c->turn = fx_vec(motion[3], motion[4], motion[5]);
  return status;
}

void fx_mjcf_coat_move(fx_mjcf_geom *g, frix_pose given) {
  frix_vec3 way = fx_pose_unpoint(given, g->pose.p);
  frix_quat turn = fx_quat_mul(fx_quat_conj(given.q), g->pose.q);
  g->coat.flow = fx_unrotate(turn, fx_add(g->coat.flow, fx_cross(g->coat.turn, way)));
  g->coat.turn = fx_unrotate(turn, g->coat.turn);
}

frix_status fx_mjcf_coat_pair(fx_mjcf_reader *r, const fx_mjcf_item *item, int32_t a, int32_t b) {
  fx_coat_pair p = {.a = a < b ? a : b, .b = a < b ? b : a};
  frix_status status = read_distances(r, item, &p.margin, &p.gap, &p.adhesion);
  if (status) return status;
  if (!FX_MJCF_ROOM(r, coat_pair)) return FRIX_ERROR_MEMORY;
  r->coat_pair[r->coat_pair_count++] = p;
  return FRIX_OK;
}

/* Pairs are not read yet when trees are made: any that has a margin or adhesion counts. */
frix_status fx_mjcf_coated(fx_mjcf_reader *r, bool *out) {
  frix_status status = FRIX_OK;
  int32_t instance = -1;
  *out = false;
  for (int32_t k = 0; k < r->geom_count; k++) *out |= !is_bare(&r->geom[k].coat);
  for (const fx_xml_element *e = NULL; !status && !*out && (e = fx_mjcf_next_of_all(r, "contact", &instance, e));) {
    fx_mjcf_item item;
    double margin = 0.0, gap = 0.0, adhesion = 0.0;
    if (strcmp(e->name, "pair")) continue;
    status = fx_mjcf_item_of(r, e, fx_mjcf_source_of(e)->classes, &item);
    if (!status) status = read_distances(r, &item, &margin, &gap, &adhesion);
    *out |= margin > 0.0 || adhesion > 0.0;
  }
  return status;
}

static int32_t by_geoms(int32_t x, int32_t y, const void *user) {
  const fx_coat_pair *p = user;
  return p[x].a != p[y].a ? (p[x].a > p[y].a) - (p[x].a < p[y].a) : (p[x].b > p[y].b) - (p[x].b < p[y].b);
}

frix_status fx_mjcf_coat_link(fx_mjcf_reader *r, frix_context *context, fx_robot_link *link) {
  bool any = false;
  size_t pairs = (size_t)r->coat_pair_count;
  for (int32_t k = 0; k < r->shape_count; k++) any |= !is_bare(&r->geom[r->shape_geom[k]].coat);
  for (size_t k = 0; k < pairs; k++) any |= r->coat_pair[k].margin > 0.0 || r->coat_pair[k].adhesion > 0.0;
  if (!any) return FRIX_OK;
  int32_t *order = FX_TAKE(&r->arena, int32_t, pairs), *scratch = FX_TAKE(&r->arena, int32_t, pairs);
  link->coat = FX_NEW(context, fx_coat, r->shape_count);
  if (pairs) link->coat_pair = FX_NEW(context, fx_coat_pair, pairs);
  if (!order || !scratch || !link->coat || (pairs && !link->coat_pair)) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < r->shape_count; k++) link->coat[k] = r->geom[r->shape_geom[k]].coat;
  for (size_t k = 0; k < pairs; k++) order[k] = (int32_t)k;
  fx_sort_by(order, scratch, pairs, by_geoms, r->coat_pair);
  for (size_t k = 0; k < pairs; k++) link->coat_pair[k] = r->coat_pair[order[k]];
  link->coat_pair_count = (int32_t)pairs;
  return FRIX_OK;
}
