/* Whether a point is outside of a deformed surface: the winding number, by a ray along an axis.
 *
 * Seen along the ray a triangle is met where the point lies to one side of all three edges,
 *
 *   side(a, b) = sign(x_a y_b - x_b y_a)        x, y from the point to the corners
 *
 * and the surface winds round the point as often as the ray crosses it to the outside more than to the inside: a
 * surface may cross itself. A ray that meets an edge or a corner must count what is around it once. The sign is exact,
 * and where it is 0 that of a ray moved by (e, e^2), e -> 0 (Edelsbrunner and Muecke 1990): both triangles at an edge
 * then see one and the same ray, which meets no edge. What is left to rounding is on which side of a triangle a point
 * lies that is on it. */
#include <float.h>

#include "soft/soft_internal.h"

typedef struct ray {
  frix_vec3 p;
  int axis, side; /* side: 1 or -1 */
  int crossings;  /* to the outside, without those to the inside */
} ray;

/* To where the box of the surface ends soonest. */
static ray shortest_way(const fx_soft_skin *skin, frix_vec3 p) {
  ray r = {.p = p};
  double least = INFINITY;
  for (int axis = 0; axis < 3; axis++) {
    double up = fx_at(skin->high, axis) - fx_at(p, axis), down = fx_at(p, axis) - fx_at(skin->low, axis);
    if (fx_min(up, down) < least) least = fx_min(up, down), r.axis = axis, r.side = up <= down ? 1 : -1;
  }
  return r;
}

/* What the rounded product p of two numbers misses (Dekker 1971). */
static double missing(double a, double b, double p) {
  double s = 134217729.0 * a, t = 134217729.0 * b;
  double a0 = s - (s - a), b0 = t - (t - b), a1 = a - a0, b1 = b - b0;
  return ((a0 * b0 - p) + a0 * b1 + a1 * b0) + a1 * b1;
}

static int sign_of(double x) { return (x > 0.0) - (x < 0.0); }

/* The side of the edge from a to b; 0: they are one point of the plane. *area: x_a y_b - x_b y_a, rounded. */
static int side_of(const double a[2], const double b[2], double *area) {
  double p = a[0] * b[1], q = b[0] * a[1];
  *area = p - q;
  if (fabs(*area) > 4.0 * DBL_EPSILON * (fabs(p) + fabs(q))) return sign_of(*area);
  double own = missing(a[0], b[1], p), other = missing(b[0], a[1], q), rest = own - other, part = own - rest;
  double lost = (own - (rest + part)) + (part - other); /* of own - other, nearly always 0 */
  int sign = sign_of(*area + rest);
  if (sign == 0) sign = sign_of(lost);
  if (sign == 0) sign = sign_of(a[1] - b[1]);
  return sign ? sign : sign_of(b[0] - a[0]);
}

static void cross_triangle(ray *r, fx_soft_skin *skin, int32_t k) {
  const int32_t *t = skin->state->soft->info.triangle + 3 * (size_t)k;
  double x[3][2], z[3], area[3];
  for (int c = 0; c < 3; c++) {
    frix_vec3 off = fx_sub(fx_soft_skin_place(skin, t[c]), r->p);
    x[c][0] = fx_at(off, (r->axis + 1) % 3), x[c][1] = fx_at(off, (r->axis + 2) % 3);
    z[c] = r->side * fx_at(off, r->axis);
  }
  if (z[0] < 0.0 && z[1] < 0.0 && z[2] < 0.0) return;
  int side = side_of(x[0], x[1], &area[0]);
  if (side == 0 || side_of(x[1], x[2], &area[1]) != side || side_of(x[2], x[0], &area[2]) != side) return;
  double height = fabs(area[1]) * z[0] + fabs(area[2]) * z[1] + fabs(area[0]) * z[2];
  if (height > 0.0) r->crossings += side;
}

bool fx_soft_outside(fx_soft_skin *skin, frix_vec3 p) {
  enum { DEEPEST = 64 };
  const double room = 1.0 + 1e-9; /* of a sphere: its own rounding */
  const fx_soft_tree *tree = &skin->state->soft->tree;
  ray r = shortest_way(skin, p);
  int i = (r.axis + 1) % 3, j = (r.axis + 2) % 3;
  int32_t stack[DEEPEST], depth = 0;
  stack[depth++] = 0;
  while (depth) {
    int32_t at = stack[--depth];
    const fx_soft_node *n = &tree->node[at];
    const fx_soft_sphere *s = fx_soft_skin_sphere(skin, at);
    frix_vec3 off = fx_sub(s->center, p);
    double x = fx_at(off, i), y = fx_at(off, j), radius = room * s->radius;
    if (r.side * fx_at(off, r.axis) < -radius || x * x + y * y > radius * radius) continue;
    for (int32_t k = 0; n->child < 0 && k < n->triangle_count; k++)
      cross_triangle(&r, skin, tree->triangle[n->triangle + k]);
    if (n->child >= 0) stack[depth++] = n->child, stack[depth++] = n->child + 1;
  }
  return r.crossings == 0;
}
