/* The deformed surface of a soft body: where its points are, and the place of it that is nearest to a point.
 *
 * A point meets the nearest place of a surface: three corners with barycentric weights. Where several triangles are as
 * near (on an edge), the one that faces the point's own surface counts. */
#include "soft/soft.h"

#include <string.h>

#include "linalg/product.h"

static frix_vec3 least(frix_vec3 a, frix_vec3 b) {
  return fx_vec(fx_min(a.x, b.x), fx_min(a.y, b.y), fx_min(a.z, b.z));
}
static frix_vec3 most(frix_vec3 a, frix_vec3 b) { return fx_vec(fx_max(a.x, b.x), fx_max(a.y, b.y), fx_max(a.z, b.z)); }

frix_status fx_soft_skin_take(const frix_soft *soft, fx_arena *arena, fx_soft_skin *out) {
  int32_t n = soft->info.point_count;
  *out = (fx_soft_skin){.place = FX_TAKE_RAW(arena, frix_vec3, n),
                        .outward = FX_TAKE_RAW(arena, frix_vec3, n),
                        .normal = FX_TAKE_RAW(arena, frix_vec3, soft->info.triangle_count)};
  return out->place && out->outward && out->normal ? FRIX_OK : FRIX_ERROR_MEMORY;
}

/* Places: X + sum q_i U_i in the body's axes first, coordinate by coordinate over all points. */
void fx_soft_skin_find(const frix_soft_state *x, fx_soft_skin *out) {
  const frix_soft_info *info = &x->soft->info;
  int32_t n = info->point_count, k = info->coordinates;
  frix_vec3 spin = fx_soft_spin(x);
  double far = 0.0, push = 0.0;
  out->state = x, out->spin = spin, out->faced = false;
  for (int32_t p = 0; p < n; p++) {
    const double *U = info->shape + 3 * (size_t)p * k, *q = x->amplitude;
    double moved[3] = {0.0, 0.0, 0.0};
    fx_add_products(3, k, U, q, moved);
    frix_vec3 r = fx_add(info->point[p], fx_vec(moved[0], moved[1], moved[2]));
    far = fx_max(far, fx_norm2(r));
    out->place[p] = fx_pose_point(x->pose, r);
    out->low = p ? least(out->low, out->place[p]) : out->place[p];
    out->high = p ? most(out->high, out->place[p]) : out->place[p];
  }
  for (int32_t j = 0; j < k; j++) push += fabs(x->rate[j]) * x->soft->farthest[j];
  out->fastest = fx_norm(x->velocity) + fx_norm(spin) * sqrt(far) + push;
}

frix_vec3 fx_soft_skin_velocity(const fx_soft_skin *skin, int32_t point) {
  frix_vec3 v;
  fx_soft_place(skin->state, point, skin->spin, &v);
  return v;
}

void fx_soft_skin_face(fx_soft_skin *out) {
  const frix_soft_info *info = &out->state->soft->info;
  if (out->faced) return;
  out->faced = true;
  memset(out->outward, 0, (size_t)info->point_count * sizeof *out->outward);
  for (int32_t k = 0; k < info->triangle_count; k++) {
    const int32_t *t = info->triangle + 3 * (size_t)k;
    frix_vec3 a = out->place[t[0]], n2 = fx_cross(fx_sub(out->place[t[1]], a), fx_sub(out->place[t[2]], a));
    out->normal[k] = fx_unit(n2);
    for (int c = 0; c < 3; c++) out->outward[t[c]] = fx_add(out->outward[t[c]], out->normal[k]);
  }
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

/* The nearest place of all triangles, which tells on which side of the surface the point is; of those that are as near
 * (on an edge) the one that sees it most from one side. */
typedef struct nearest_side {
  double square, height;
} nearest_side;

static void see_side(nearest_side *any, double square, double height, double tie) {
  bool nearer = square < any->square - tie, as_near = square <= any->square + tie;
  if (nearer || (as_near && fabs(height) > fabs(any->height))) *any = (nearest_side){square, height};
}

/* A place that has the point behind it counts where the point is inside: else it lies on the far side of a thin part.
 */
bool fx_soft_nearest(const frix_soft_info *info, const fx_soft_skin *body, frix_vec3 p, frix_vec3 outward, double reach,
                     fx_soft_near *best) {
  nearest_side any = {reach * reach, 0.0};
  double tie = 1e-12 * reach * reach, behind = 0.0;
  *best = (fx_soft_near){.square = reach * reach, .triangle = -1};
  for (int32_t k = 0; k < info->triangle_count; k++) {
    const int32_t *t = info->triangle + 3 * (size_t)k;
    frix_vec3 a = body->place[t[0]], n = body->normal[k];
    double height = fx_dot(fx_sub(p, a), n), facing = -fx_dot(n, outward), w[3];
    bool faces = facing > 0.0;
    if (height * height > (faces ? best->square : any.square) * (1.0 + 1e-9)) continue;
    bool inside = fx_nearest_weights(p, a, body->place[t[1]], body->place[t[2]], w);
    frix_vec3 c = fx_mad(fx_mad(fx_scale(w[0], a), w[1], body->place[t[1]]), w[2], body->place[t[2]]);
    double square = fx_norm2(fx_sub(p, c));
    see_side(&any, square, height, tie);
    bool nearer = square < best->square - tie, as_near = square <= best->square + tie;
    if (!faces || (!nearer && !(as_near && best->triangle >= 0 && facing > best->facing))) continue;
    *best = (fx_soft_near){square, {w[0], w[1], w[2]}, facing, k, inside};
    behind = height;
  }
  return best->triangle >= 0 && !(behind < 0.0 && any.height > 0.0);
}

double fx_soft_gap(const frix_soft_info *info, const fx_soft_skin *skin, frix_vec3 p, double reach,
                   const fx_soft_near *near, frix_vec3 *place, frix_vec3 *normal) {
  const int32_t *t = info->triangle + 3 * (size_t)near->triangle;
  frix_vec3 n = skin->normal[near->triangle], c = {0.0, 0.0, 0.0};
  for (int k = 0; k < 3; k++) c = fx_mad(c, near->weight[k], skin->place[t[k]]);
  frix_vec3 way = fx_sub(p, c);
  double height = fx_dot(way, n), gap = height < 0.0 ? -sqrt(near->square) : sqrt(near->square);
  /* beside an edge the way itself is the normal, as far as it has a direction */
  if (!near->inside && near->square > 1e-12 * reach * reach) n = fx_scale(height < 0.0 ? -1.0 : 1.0, fx_unit(way));
  *place = c, *normal = n;
  return gap;
}
