/* The place of a deformed surface that is nearest to a point.
 *
 * A point meets the nearest place of a surface: three corners with barycentric weights. Where several triangles are as
 * near (on an edge), the one that faces the point's own surface counts. */
#include "soft/soft_internal.h"

static const double near_share = 0.1; /* of the deepest overlap: how far is looked at first */
static const double shallow = 0.01;   /* of the deepest overlap: whatever is behind a face by less is in it */
/* Of a distance: a point that is no deeper in the body than that part of its depth behind a face, or of its way to an
 * edge in the plane of whose face it lies, is beside it. */
static const double hardly_in = 1e-3;

frix_vec3 fx_soft_skin_velocity(const fx_soft_skin *skin, int32_t point) {
  frix_vec3 v;
  fx_soft_place(skin->state, point, skin->spin, &v);
  return v;
}

void frix_soft_deform(const frix_soft *soft, frix_pose pose, const double *q, frix_vec3 *out) {
  if (!soft || !out) return;
  const frix_soft_info *info = &soft->info;
  int32_t k = info->coordinates;
  for (int32_t p = 0; p < info->point_count; p++) {
    const double *U = info->shape + 3 * (size_t)p * k;
    frix_vec3 r = info->point[p];
    for (int32_t j = 0; q && j < k; j++) r = fx_mad(r, q[j], fx_vec(U[j], U[k + j], U[2 * (size_t)k + j]));
    out[p] = fx_pose_point(pose, r);
  }
}

/* By the region of the triangle's plane (Ericson, Real-Time Collision Detection, 5.1.5). */
bool fx_nearest_weights(frix_vec3 p, frix_vec3 a, frix_vec3 b, frix_vec3 c, double w[3]) {
  frix_vec3 ab = fx_sub(b, a), ac = fx_sub(c, a), ap = fx_sub(p, a), bp = fx_sub(p, b), cp = fx_sub(p, c);
  double d1 = fx_dot(ab, ap), d2 = fx_dot(ac, ap), d3 = fx_dot(ab, bp), d4 = fx_dot(ac, bp);
  double d5 = fx_dot(ab, cp), d6 = fx_dot(ac, cp);
  double va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2;
  double v = 0.0, u = 0.0; /* of b and c */
  bool inside = false;
  if (d1 <= 0.0 && d2 <= 0.0) {
  } else if (d3 >= 0.0 && d4 <= d3) {
    v = 1.0;
  } else if (d6 >= 0.0 && d5 <= d6) {
    u = 1.0;
  } else if (vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0) {
    v = d1 / (d1 - d3);
  } else if (va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0) {
    u = (d4 - d3) / ((d4 - d3) + (d5 - d6));
    v = 1.0 - u;
  } else if (vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0) {
    u = d2 / (d2 - d6);
  } else {
    double scale = 1.0 / (va + vb + vc);
    v = vb * scale, u = vc * scale;
    inside = true;
  }
  w[0] = 1.0 - v - u, w[1] = v, w[2] = u;
  return inside;
}

/* Of all triangles, or of those that look against the point's surface, the nearest place. */
typedef struct seeker {
  fx_soft_skin *skin;
  frix_vec3 p, outward;
  double reach, tie;  /* reach: a point is before its contact by no more */
  double height;      /* of the point over the best place */
  bool any;           /* of all triangles */
  fx_soft_near *best; /* its square: of the search, before anything is found */
} seeker;

static void try_triangle(seeker *s, int32_t k) {
  fx_soft_skin *skin = s->skin;
  fx_soft_near *best = s->best;
  frix_vec3 n = fx_soft_skin_normal(skin, k);
  double facing = -fx_dot(n, s->outward), w[3];
  if (!s->any && !(facing > 0.0)) return;
  const int32_t *t = skin->state->soft->info.triangle + 3 * (size_t)k;
  frix_vec3 a = skin->place[t[0]], b = skin->place[t[1]], d = skin->place[t[2]];
  double height = fx_dot(fx_sub(s->p, a), n);
  if (height * height > best->square * (1.0 + 1e-9) || (!s->any && height > s->reach)) return;
  bool inside = fx_nearest_weights(s->p, a, b, d, w);
  frix_vec3 c = fx_mad(fx_mad(fx_scale(w[0], a), w[1], b), w[2], d);
  double square = fx_norm2(fx_sub(s->p, c));
  bool nearer = square < best->square - s->tie, as_near = square <= best->square + s->tie && best->triangle >= 0;
  /* of those that are as near (on an edge): the one that faces the point's surface, or sees it most from one side */
  bool better = s->any ? fabs(height) > fabs(s->height) : facing > best->facing;
  if (!nearer && !(as_near && better)) return;
  *best =
      (fx_soft_near){.square = square, .weight = {w[0], w[1], w[2]}, .facing = facing, .triangle = k, .inside = inside};
  s->height = height;
}

/* How far the point is from all that a node holds, at least. */
static double off_node(const seeker *s, int32_t node) {
  const fx_soft_sphere *sphere = fx_soft_skin_sphere(s->skin, node);
  return fx_norm(fx_sub(s->p, sphere->center)) - sphere->radius;
}

static void seek(seeker *s) {
  enum { DEEPEST = 64 };
  const fx_soft_tree *tree = &s->skin->state->soft->tree;
  struct {
    int32_t node;
    double off;
  } stack[DEEPEST];
  int32_t depth = 0;
  stack[depth].node = 0, stack[depth++].off = off_node(s, 0);
  while (depth) {
    double off = stack[--depth].off;
    const fx_soft_node *n = &tree->node[stack[depth].node];
    if (off > 0.0 && off * off > s->best->square * (1.0 + 1e-9)) continue;
    for (int32_t k = 0; n->child < 0 && k < n->triangle_count; k++) try_triangle(s, tree->triangle[n->triangle + k]);
    if (n->child < 0) continue;
    double left = off_node(s, n->child), right = off_node(s, n->child + 1);
    bool first = left <= right; /* the nearer one is looked at first */
    stack[depth].node = n->child + first, stack[depth++].off = first ? right : left;
    stack[depth].node = n->child + !first, stack[depth++].off = first ? left : right;
  }
}

/* ---- the nearest place ---- */

/* Whether the point is inside, by the nearest place of all triangles. That place tells on a face, and on an edge the
 * face of the greatest height does. At a corner one that has the point behind it may be the highest although the point
 * is outside, centimetres before a bent tip; so may an edge where the surface crosses itself. What counts is asked of
 * a ray too. */
static bool is_inside(fx_soft_skin *skin, frix_vec3 p, const fx_soft_near *nearest, double height, double deep) {
  double depth = sqrt(nearest->square);
  if (!(height < -hardly_in * depth)) return false;
  return depth <= shallow * deep || !fx_soft_outside(skin, p);
}

/* A place that has the point behind it counts where the point is inside, which the nearest place of all triangles
 * tells. Else it lies on the far side of a thin part, or the point is beside an edge, a little behind the face that
 * looks against it and in front of the other one, or on that: there the nearest place of all counts, as far as it is in
 * reach. */
bool fx_soft_nearest(fx_soft_skin *skin, frix_vec3 p, frix_vec3 outward, double reach, double deep,
                     fx_soft_near *best) {
  double most = fx_max(reach, deep), tie = 1e-12 * most * most;
  seeker s = {.skin = skin, .p = p, .outward = outward, .reach = reach, .tie = tie, .best = best};
  /* most points that meet a surface are near it: a small search finds them. The large one is for points that are deep
   * inside; outside, what is farther off than the reach does not count. */
  double first = fx_min(fx_max(reach, near_share * most), most);
  *best = (fx_soft_near){.square = first * first, .triangle = -1};
  seek(&s);
  if (best->triangle < 0 && first < most) {
    if (fx_soft_outside(skin, p)) return false;
    best->square = most * most;
    seek(&s);
  }
  if (best->triangle < 0) return false;
  if (!(s.height < 0.0)) return true;
  /* beyond the tie: a place as near as the best one is found too */
  fx_soft_near nearest = {.square = best->square * (1.0 + 1e-9) + 2.0 * tie, .triangle = -1};
  seeker any = {.skin = skin, .p = p, .outward = outward, .tie = tie, .any = true, .best = &nearest};
  seek(&any);
  bool hardly = best->square > shallow * shallow * deep * deep && nearest.square < hardly_in * hardly_in * best->square;
  if (!hardly && is_inside(skin, p, &nearest, any.height, deep)) return best->under = true;
  *best = nearest;
  best->beside = true;
  return nearest.square <= reach * reach;
}

double fx_soft_gap(fx_soft_skin *skin, frix_vec3 p, double reach, const fx_soft_near *near, frix_vec3 *place,
                   frix_vec3 *normal) {
  const int32_t *t = skin->state->soft->info.triangle + 3 * (size_t)near->triangle;
  frix_vec3 n = skin->normal[near->triangle], c = {0.0, 0.0, 0.0};
  for (int k = 0; k < 3; k++) c = fx_mad(c, near->weight[k], skin->place[t[k]]);
  frix_vec3 way = fx_sub(p, c);
  double gap = near->under ? -sqrt(near->square) : sqrt(near->square);
  /* beside an edge the way itself is the normal, as far as it has a direction */
  if (!near->inside && near->square > 1e-12 * reach * reach) n = fx_scale(near->under ? -1.0 : 1.0, fx_unit(way));
  *place = c, *normal = n;
  return gap;
}
