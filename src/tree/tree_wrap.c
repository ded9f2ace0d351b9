/* Tendons about a sphere or cylinder.
 *
 * Both are a circle of radius r in a plane: that of the two ends and the centre for a sphere, the one across the axis
 * for a cylinder, where the path climbs in proportion to its length. Outside, the path leaves an end e along a tangent
 * and meets the circle at  (r^2 e +- r sqrt(e^2 - r^2) e_perp) / e^2;  of the two ways about it the shorter counts, or
 * the one on the side of a site. With that site inside the circle the path runs through it and touches it from within
 * at one point, where it is reflected: with z the sine of the angle of incidence asin(A z) + asin(B z) - 2 asin(z) + G
 * = 0,   A = r / |a|,  B = r / |b|,  G the angle between the ends, by Newton's method from z = 1 with MuJoCo's first
 * value and last step, so that tendons have its lengths and moments. */
#include "base/trig.h"
#include "tree/tree.h"

typedef struct vec2 {
  double x, y;
} vec2;

static const double tiny = 1e-15;

static double dot2(vec2 a, vec2 b) { return a.x * b.x + a.y * b.y; }
static double cross2(vec2 a, vec2 b) { return a.x * b.y - a.y * b.x; }
static vec2 mad2(vec2 a, double s, vec2 b) { return (vec2){a.x + s * b.x, a.y + s * b.y}; }
static vec2 scale2(double s, vec2 a) { return (vec2){s * a.x, s * a.y}; }
static double norm2(vec2 a) { return sqrt(dot2(a, a)); }
static vec2 unit2(vec2 a) {
  double length = norm2(a);
  return length > tiny ? scale2(1.0 / length, a) : (vec2){1.0, 0.0};
}

static double arc_sine(double x) {
  x = fx_clamp(x, -1.0, 1.0);
  return fx_atan2(x, sqrt((1.0 - x) * (1.0 + x)));
}

/* Of the segments a b and c d. */
static bool intersect(vec2 a, vec2 b, vec2 c, vec2 d) {
  vec2 ab = mad2(b, -1.0, a), cd = mad2(d, -1.0, c), ac = mad2(c, -1.0, a);
  double det = cross2(ab, cd);
  if (fabs(det) < tiny) return false;
  double s = cross2(ac, cd) / det, u = cross2(ac, ab) / det;
  return s >= 0.0 && s <= 1.0 && u >= 0.0 && u <= 1.0;
}

static vec2 nearest_on_segment(vec2 a, vec2 b) {
  vec2 way = mad2(b, -1.0, a);
  return mad2(a, fx_clamp(-dot2(way, a) / dot2(way, way), 0.0, 1.0), way);
}

/* The tangent point of an end, to its left or right. */
static vec2 tangent(vec2 e, double r, double sign) {
  double square = dot2(e, e), root = sqrt(square - r * r);
  return scale2(r / square, (vec2){e.x * r + sign * e.y * root, e.y * r - sign * e.x * root});
}

/* Length of the arc between tangent points, the way round that the first of the two solutions takes. A path that only
 * touches the circle has no arc, not a whole turn. */
static double arc_between(vec2 a, vec2 b, double r, bool first) {
  double angle = fx_atan2(fabs(cross2(a, b)), dot2(a, b)), turn = cross2(a, b);
  if (angle < 1e-9) return 0.0;
  if ((turn < 0.0 && !first) || (turn > 0.0 && first)) angle = 2.0 * FX_PI - angle;
  return r * angle;
}

static double around(vec2 a, vec2 b, double r, const vec2 *side, vec2 touch[2]) {
  vec2 way = mad2(b, -1.0, a), sol[2][2];
  double good[2];
  if (dot2(a, a) < r * r || dot2(b, b) < r * r || r < tiny || dot2(way, way) < tiny) return -1.0;
  vec2 near = nearest_on_segment(a, b);
  if (dot2(near, near) > r * r && (!side || dot2(*side, near) >= 0.0)) return -1.0;
  for (int k = 0; k < 2; k++) {
    double sign = k ? -1.0 : 1.0;
    sol[k][0] = tangent(a, r, sign), sol[k][1] = tangent(b, r, -sign);
    vec2 apart = mad2(sol[k][0], -1.0, sol[k][1]);
    good[k] = side ? dot2(unit2(mad2(sol[k][0], 1.0, sol[k][1])), *side) : -dot2(apart, apart);
    if (intersect(a, sol[k][0], b, sol[k][1])) good[k] = -10000.0;
  }
  int k = good[0] > good[1] ? 0 : 1;
  touch[0] = sol[k][0], touch[1] = sol[k][1];
  if (intersect(a, touch[0], b, touch[1])) return -1.0;
  return arc_between(touch[0], touch[1], r, k == 0);
}

/* The root of the equation above in *z; false: keep the point half way between the ends. */
static bool reflect(double A, double B, double G, double *out) {
  double z = 1.0 - 1e-7, f = arc_sine(A * z) + arc_sine(B * z) - 2.0 * arc_sine(z) + G;
  int k = 0;
  if (f > 0.0) return false;
  for (; k < 20 && fabs(f) > 1e-6; k++) {
    double slope = A / fx_max(tiny, sqrt(1.0 - z * z * A * A)) + B / fx_max(tiny, sqrt(1.0 - z * z * B * B)) -
                   2.0 / fx_max(tiny, sqrt(1.0 - z * z));
    if (slope > -tiny) return false;
    double next = z - f / slope;
    if (next > z) return false;
    z = next;
    f = arc_sine(A * z) + arc_sine(B * z) - 2.0 * arc_sine(z) + G;
    if (f > 1e-6) return false;
  }
  *out = z;
  return k < 20;
}

static double within(vec2 a, vec2 b, double r, vec2 touch[2]) {
  double la = norm2(a), lb = norm2(b), z;
  vec2 way = mad2(b, -1.0, a);
  double square = dot2(way, way);
  if (la <= r || lb <= r || r < tiny) return -1.0;
  if (square > tiny) {
    double share = -dot2(way, a) / square;
    if (share > 0.0 && share < 1.0 && norm2(mad2(a, share, way)) <= r) return -1.0;
  }
  touch[0] = touch[1] = scale2(r, unit2(scale2(0.5, mad2(a, 1.0, b))));
  double A = r / la, B = r / lb, cosine = (la * la + lb * lb - square) / (2.0 * la * lb);
  if (cosine < -1.0 + tiny) return -1.0;
  if (cosine > 1.0 - tiny) return 0.0;
  if (!reflect(A, B, FX_PI / 2.0 - arc_sine(cosine), &z)) return 0.0;
  bool left = cross2(a, b) > 0.0;
  vec2 from = unit2(left ? a : b);
  double s, c;
  fx_sincos(arc_sine(z) - arc_sine((left ? A : B) * z), &s, &c);
  touch[0] = touch[1] = (vec2){r * (c * from.x - s * from.y), r * (s * from.x + c * from.y)};
  return 0.0;
}

/* ---- space ---- */

/* Axes of the circle's plane in the frame of the geom. */
static void plane_of(frix_vec3 a, frix_vec3 b, bool sphere, frix_vec3 axis[2]) {
  axis[0] = fx_vec(1.0, 0.0, 0.0), axis[1] = fx_vec(0.0, 1.0, 0.0);
  if (!sphere) return;
  axis[0] = fx_unit(a);
  frix_vec3 normal = fx_cross(a, b);
  if (!(fx_norm(normal) > tiny)) { /* ends in line with the centre: any plane */
    frix_vec3 other = axis[0];
    double x = fabs(a.x), y = fabs(a.y), z = fabs(a.z);
    if (x > y && x > z)
      other.x = 0.0, other.y = 1.0;
    else if (y > z)
      other.y = 0.0, other.z = 1.0;
    else
      other.z = 0.0, other.x = 1.0;
    normal = fx_cross(axis[0], other);
  }
  axis[1] = fx_cross(fx_unit(normal), axis[0]);
}

double fx_tree_wrap_path(frix_vec3 from, frix_vec3 to, frix_pose frame, double radius, bool sphere,
                         const frix_vec3 *side, frix_vec3 touch[2]) {
  frix_vec3 a = fx_pose_unpoint(frame, from), b = fx_pose_unpoint(frame, to), axis[2];
  if (!(fx_norm(a) > tiny) || !(fx_norm(b) > tiny)) return -1.0;
  plane_of(a, b, sphere, axis);
  vec2 a2 = {fx_dot(a, axis[0]), fx_dot(a, axis[1])}, b2 = {fx_dot(b, axis[0]), fx_dot(b, axis[1])}, touch2[2];
  vec2 side2 = {0.0, 0.0};
  bool inside = false;
  if (side) {
    frix_vec3 local = fx_pose_unpoint(frame, *side);
    inside = fx_norm(local) < radius;
    side2 = scale2(radius, unit2((vec2){fx_dot(local, axis[0]), fx_dot(local, axis[1])}));
  }
  double arc = inside ? within(a2, b2, radius, touch2) : around(a2, b2, radius, side ? &side2 : NULL, touch2);
  if (arc < 0.0) return arc;
  double before = norm2(mad2(a2, -1.0, touch2[0])), after = norm2(mad2(b2, -1.0, touch2[1]));
  double all = before + arc + after, climb = sphere ? 0.0 : b.z - a.z;
  const double share[2] = {before / all, (before + arc) / all};
  for (int k = 0; k < 2; k++) {
    frix_vec3 local = fx_mad(fx_scale(touch2[k].x, axis[0]), touch2[k].y, axis[1]);
    if (!sphere) local.z = a.z + climb * share[k];
    touch[k] = fx_pose_point(frame, local);
  }
  double height = climb * (share[1] - share[0]);
  return sphere ? arc : sqrt(arc * arc + height * height);
}
