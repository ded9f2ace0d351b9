/* Contacts of sharp edges of soft surfaces with each other (skin_edges.c): what points of neither body reach.
 *
 * An edge contact is named by the two edges. On each side its rows are those of a place of a triangle, which the edge
 * bounds. */
#include "sim/softs.h"

static const double deepest_edge = 0.1; /* of the shorter edge: deeper ones have passed each other */

/* Of an edge at a part of its length. */
static frix_vec3 velocity_at(const fx_soft_skin *skin, int32_t edge, double part) {
  const fx_soft_edge *e = &skin->state->soft->tree.edge[edge];
  frix_vec3 a = fx_soft_skin_velocity(skin, e->point[0]), b = fx_soft_skin_velocity(skin, e->point[1]);
  return fx_mad(a, part, fx_sub(b, a));
}

static fx_soft_region around_edge(fx_soft_skin *skin, int32_t edge, double reach) {
  const fx_soft_edge *e = &skin->state->soft->tree.edge[edge];
  frix_vec3 p = fx_soft_skin_place(skin, e->point[0]), q = fx_soft_skin_place(skin, e->point[1]);
  return (fx_soft_region){.bounded = true,
                          .low = fx_vec(fx_min(p.x, q.x), fx_min(p.y, q.y), fx_min(p.z, q.z)),
                          .high = fx_vec(fx_max(p.x, q.x), fx_max(p.y, q.y), fx_max(p.z, q.z)),
                          .reach = reach};
}

void fx_soft_meet_edges(frix_sim *sim, double margin, fx_soft_body *a, fx_soft_body *b,
                        void (*take)(void *user, const fx_edge_touch *touch), void *user) {
  double h = sim->h, far = margin + h * (a->skin.fastest + b->skin.fastest);
  fx_soft_region region = {.bounded = true, .low = b->skin.low, .high = b->skin.high, .reach = far};
  if (!b->soft->tree.edge_count) return;
  int32_t count = fx_soft_edges_near(&a->skin, &region);
  for (int32_t k = 0; k < count; k++) {
    int32_t i = a->skin.edges[k];
    fx_soft_region own = around_edge(&a->skin, i, far);
    int32_t others = fx_soft_edges_near(&b->skin, &own);
    for (int32_t m = 0; m < others; m++) {
      int32_t j = b->skin.edges[m];
      fx_soft_crossing c;
      if (!fx_soft_edges_cross(&a->skin, i, &b->skin, j, &c) || c.gap > far || c.gap < -deepest_edge * c.length)
        continue;
      frix_vec3 speed = fx_sub(velocity_at(&a->skin, i, c.part_a), velocity_at(&b->skin, j, c.part_b));
      if (c.gap > margin + h * fx_norm(speed)) continue;
      fx_edge_touch touch = {i, j, a->soft->tree.edge[i].triangle[0], b->soft->tree.edge[j].triangle[0], c};
      take(user, &touch);
    }
  }
}
