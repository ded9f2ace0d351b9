/* Contacts of sharp edges of soft surfaces with each other and with edges of rigid boxes and hulls (skin_edges.c):
 * what points of neither body reach.
 *
 * An edge contact is named by the two edges. On each side its rows are those of a place of a triangle, which the edge
 * bounds. */
#include "sim/softs.h"

static const double deepest = 0.25; /* of the shorter edge: deeper ones have passed each other */

/* Of an edge at a part of its length. */
static frix_vec3 velocity_at(const fx_soft_skin *skin, int32_t edge, double part) {
  const fx_soft_edge *e = &skin->state->soft->tree.edge[edge];
  frix_vec3 a = fx_soft_skin_velocity(skin, e->point[0]), b = fx_soft_skin_velocity(skin, e->point[1]);
  return fx_mad(a, part, fx_sub(b, a));
}

static fx_soft_region around(const fx_edge_line *e, double reach) {
  frix_vec3 p = e->end[0], q = e->end[1];
  return (fx_soft_region){.bounded = true,
                          .low = fx_vec(fx_min(p.x, q.x), fx_min(p.y, q.y), fx_min(p.z, q.z)),
                          .high = fx_vec(fx_max(p.x, q.x), fx_max(p.y, q.y), fx_max(p.z, q.z)),
                          .reach = reach};
}

/* Where edges may be that touch this one. */
static fx_soft_region reach_of(const fx_edge_line *e, double far) {
  return around(e, fx_max(far, deepest * fx_norm(fx_sub(e->end[1], e->end[0]))));
}

void fx_soft_meet_edges(double margin, double h, fx_soft_body *a, fx_soft_body *b,
                        void (*take)(void *user, const fx_edge_touch *touch), void *user) {
  double far = margin + h * (a->skin.fastest + b->skin.fastest);
  fx_soft_region region = {.bounded = true, .low = b->skin.low, .high = b->skin.high, .reach = far};
  if (!b->soft->tree.edge_count) return;
  int32_t count = fx_soft_edges_near(&a->skin, &region);
  for (int32_t k = 0; k < count; k++) {
    int32_t i = a->skin.edges[k];
    fx_edge_line line = fx_soft_edge_line(&a->skin, i);
    fx_soft_region own = reach_of(&line, far);
    int32_t others = fx_soft_edges_near(&b->skin, &own);
    for (int32_t m = 0; m < others; m++) {
      int32_t j = b->skin.edges[m];
      fx_edge_line other = fx_soft_edge_line(&b->skin, j);
      fx_soft_crossing c;
      if (!fx_edges_cross(&line, &other, &c) || c.gap > far || c.gap < -deepest * c.length) continue;
      frix_vec3 speed = fx_sub(velocity_at(&a->skin, i, c.part_a), velocity_at(&b->skin, j, c.part_b));
      if (c.gap > margin + h * fx_norm(speed)) continue;
      fx_edge_touch touch = {i, j, a->soft->tree.edge[i].triangle[0], b->soft->tree.edge[j].triangle[0], c};
      take(user, &touch);
    }
  }
}

/* ---- rigid edges ---- */

static int32_t edge_count_of(const fx_shape *s) {
  return s->kind == FRIX_SHAPE_BOX ? 12 : s->kind == FRIX_SHAPE_HULL ? s->geometry->hull.edge_count : 0;
}

/* Of a box: along axis k / 4, at the sides of the other two that the bits of k tell. */
static fx_edge_line box_edge(frix_vec3 half, int32_t k) {
  double at[3] = {half.x, half.y, half.z}, end[2][3], across[2][3], out[3] = {0.0, 0.0, 0.0};
  int along = k / 4, one = (along + 1) % 3, two = (along + 2) % 3;
  double x = k & 1 ? at[one] : -at[one], y = k & 2 ? at[two] : -at[two];
  for (int e = 0; e < 2; e++) {
    end[e][along] = e ? at[along] : -at[along], end[e][one] = x, end[e][two] = y;
    across[e][along] = 0.0, across[e][one] = e ? x : -x, across[e][two] = e ? -y : y;
  }
  out[one] = k & 1 ? 1.0 : -1.0, out[two] = k & 2 ? 1.0 : -1.0;
  return (fx_edge_line){{{end[0][0], end[0][1], end[0][2]}, {end[1][0], end[1][1], end[1][2]}},
                        {{across[0][0], across[0][1], across[0][2]}, {across[1][0], across[1][1], across[1][2]}},
                        {out[0], out[1], out[2]}};
}

/* The corner of a face that is farthest from its edge. */
static frix_vec3 corner_across(const fx_polyhedron *h, int32_t face, frix_vec3 p, frix_vec3 q) {
  frix_vec3 best = p, along = fx_unit(fx_sub(q, p));
  double most = 0.0;
  for (int32_t k = h->face_start[face]; k < h->face_start[face + 1]; k++) {
    frix_vec3 x = h->vertex[h->face_vertex[k]];
    double far = fx_norm(fx_cross(fx_sub(x, p), along));
    if (far > most) most = far, best = x;
  }
  return best;
}

static fx_edge_line hull_edge(const fx_polyhedron *h, int32_t k) {
  const fx_edge *e = &h->edge[k];
  frix_vec3 p = h->vertex[e->tail], q = h->vertex[e->head];
  return (fx_edge_line){{p, q},
                        {corner_across(h, e->left, p, q), corner_across(h, e->right, p, q)},
                        fx_add(h->face_normal[e->left], h->face_normal[e->right])};
}

static fx_edge_line rigid_edge(const fx_shape *s, frix_pose pose, int32_t k) {
  fx_edge_line e = s->kind == FRIX_SHAPE_BOX ? box_edge(s->half, k) : hull_edge(&s->geometry->hull, k);
  for (int i = 0; i < 2; i++) e.end[i] = fx_pose_point(pose, e.end[i]), e.across[i] = fx_pose_point(pose, e.across[i]);
  e.outward = fx_rotate(pose.q, e.outward);
  return e;
}

void fx_soft_meet_rigid_edges(frix_sim *sim, double margin, double h, fx_soft_body *a, int32_t slot,
                              const fx_shape *shape, frix_pose pose,
                              void (*take)(void *user, const fx_edge_touch *touch), void *user) {
  const fx_state *s = &sim->state;
  double far = margin + h * a->skin.fastest + (h > 0.0 ? sim->reach[slot] : 0.0);
  if (!a->soft->tree.edge_count) return;
  for (int32_t j = 0; j < edge_count_of(shape); j++) {
    fx_edge_line other = rigid_edge(shape, pose, j);
    fx_soft_region region = reach_of(&other, far);
    int32_t count = fx_soft_edges_near(&a->skin, &region);
    for (int32_t k = 0; k < count; k++) {
      int32_t i = a->skin.edges[k];
      fx_edge_line line = fx_soft_edge_line(&a->skin, i);
      fx_soft_crossing c;
      if (!fx_edges_cross(&line, &other, &c) || c.gap > far || c.gap < -deepest * c.length) continue;
      frix_vec3 own = fx_add(s->velocity[slot], fx_cross(s->spin[slot], fx_sub(c.point_b, s->pose[slot].p)));
      if (c.gap > margin + h * fx_norm(fx_sub(velocity_at(&a->skin, i, c.part_a), own))) continue;
      fx_edge_touch touch = {i, j, a->soft->tree.edge[i].triangle[0], -1, c};
      take(user, &touch);
    }
  }
}
