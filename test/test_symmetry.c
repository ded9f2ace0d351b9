/* What contacts must not depend on: the order of the bodies, left and right, where the edges of a mesh lie. */
#include "shapes.h"

/* The mirror image of a pose in the plane x = 0, for shapes that are their own mirror image. */
static frix_pose mirrored(frix_pose p) { return (frix_pose){{-p.p.x, p.p.y, p.p.z}, {p.q.w, p.q.x, -p.q.y, -p.q.z}}; }

/* Largest distance from a contact of m to the nearest one of n, seen turned round or in the mirror. */
static double unlike(const fx_manifold *m, const fx_manifold *n, bool swapped, bool mirror) {
  double worst = m->count == n->count ? 0.0 : INFINITY;
  for (int i = 0; i < m->count; i++) {
    double nearest = INFINITY;
    for (int j = 0; j < n->count; j++) {
      frix_vec3 p = swapped ? n->touch[j].point_b : n->touch[j].point_a, d = n->touch[j].normal;
      if (swapped) d = fx_neg(d);
      if (mirror) p.x = -p.x, d.x = -d.x;
      nearest = fmin(nearest, fx_norm(fx_sub(m->touch[i].point_a, p)) + fx_norm(fx_sub(m->touch[i].normal, d)) +
                                  fabs(m->touch[i].gap - n->touch[j].gap));
    }
    worst = fmax(worst, nearest);
  }
  return worst;
}

/* Two boxes, solid or flat, that meet edge to edge like leaning cards, lie on each other, or any way. Edges of flat
 * ones within 25 degrees of each other count as lying on each other, along the first one's normal. */
static void meet(fx_test *t, int trial, bool flat, fx_shape *s, frix_pose *pa, frix_pose *pb) {
  bool ridges = trial % 4 == 0;
  frix_vec3 half = ridges ? fx_vec(0.001, flat ? 0.045 : 0.03, 0.045) : fx_vec(0.5, 0.4, 0.3);
  *s = loose_shape(flat ? FRIX_SHAPE_RECTANGLE : FRIX_SHAPE_BOX, 0, 0, half, NULL);
  frix_vec3 axis = flat ? fx_vec(0, 0, -1) : fx_vec(0, 1, 0);
  *pa = (frix_pose){{0, 0, 0}, random_quat(t)};
  *pb = (frix_pose){fx_scale(0.8, random_vec(t)), random_quat(t)};
  if (flat) {
    pa->q = quat_of(fx_vec(0, 0, 3 * fx_test_random(t)));
    pb->q = quat_of(fx_vec(0, 0, 3 * fx_test_random(t)));
    pb->p.z = 0;
  }
  if (ridges) {
    double lean = (flat ? 0.25 : 0.02) + 0.5 * fabs(fx_test_random(t)), x = cos(lean) * half.x + sin(lean) * half.z;
    double gap = trial % 8 ? 1e-9 * fx_test_random(t) : -1e-4 * fabs(fx_test_random(t));
    *pa = (frix_pose){{-x - 0.5 * gap, 0, 0}, quat_of(fx_scale(lean, axis))};
    *pb = (frix_pose){{x + 0.5 * gap, 0, 0}, quat_of(fx_scale(-lean, axis))};
  }
  if (trial % 4 == 1 && !flat) {
    pa->q = fx_quat_one(), pb->q = quat_of(fx_vec(0, 0, 3 * fx_test_random(t)));
    pb->p = fx_vec(0.3 * fx_test_random(t), 0.3 * fx_test_random(t), 0.6 + 1e-6 * fx_test_random(t));
  }
}

/* Nothing depends on which of them comes first, nor on left and right. */
static void order_and_mirror(fx_test *t) {
  frix_context *context = new_context(t);
  REQUIRE(t, context);
  fx_manifold m = {.context = context}, n = {.context = context};
  int touching = 0;
  for (int trial = 0; trial < 8000; trial++) {
    fx_shape s;
    frix_pose pa, pb;
    meet(t, trial % 4000, trial >= 4000, &s, &pa, &pb);
    contacts_of(&s, pa, &s, pb, 1e-3, &m);
    touching += m.count > 0;
    contacts_of(&s, pb, &s, pa, 1e-3, &n);
    double swapped = unlike(&m, &n, true, false);
    contacts_of(&s, mirrored(pa), &s, mirrored(pb), 1e-3, &n);
    double mirror = unlike(&m, &n, false, true);
    if (!(swapped < 1e-7) || !(mirror < 1e-7))
      fx_test_fail(t, __FILE__, __LINE__, "trial %d: %d contacts, order %.1e, mirror %.1e", trial, m.count, swapped,
                   mirror);
    if (trial % 4 == 0) CHECK(t, m.count > 0 && fabs(m.touch[0].normal.x) > 1.0 - 1e-9);
  }
  CHECK(t, touching > 4000);
  fx_free(context, m.touch);
  fx_free(context, n.touch);
  frix_context_destroy(context);
}

/* Shapes that lie exactly on edges and corners of the triangles: they keep their contacts, as on the plane. */
static void mesh_edges(fx_test *t) {
  frix_context *context = new_context(t);
  REQUIRE(t, context);
  fx_geometry *g = level_field(context);
  REQUIRE(t, g);
  fx_shape floor = loose_shape(FRIX_SHAPE_HEIGHT_FIELD, 0, 0, fx_vec(0, 0, 0), g),
           plane = loose_shape(FRIX_SHAPE_PLANE, 0, 0, fx_vec(0, 0, 0), NULL);
  fx_manifold m = {.context = context}, n = {.context = context};
  enum { BOX, SQUARE, STANDING, LYING, ROD, KINDS };
  const frix_quat down = quat_of(fx_vec(0, 1.57079632679489661923, 0));
  for (int trial = 0; trial < 3 * 3 * 9 * 9 * KINDS; trial++) {
    int kind = trial % KINDS, place = trial / KINDS;
    double size = 0.25 * (1 + place % 3), turn = 0.78539816339744830962 * (place / 3 % 3);
    double tall = kind == LYING ? size : kind == ROD ? 0.25 : 0.5;
    fx_shape shape = kind == ROD        ? loose_shape(FRIX_SHAPE_CAPSULE, 0.25, size, fx_vec(0, 0, 0), NULL)
                     : kind >= STANDING ? loose_shape(FRIX_SHAPE_CYLINDER, size, 0.5, fx_vec(0, 0, 0), NULL)
                                        : loose_shape(FRIX_SHAPE_BOX, 0, 0, fx_vec(size, kind ? size : 0.5, 0.5), NULL);
    frix_pose pose = {{0.25 * (place / 9 % 9), 0.25 * (place / 81), tall}, quat_of(fx_vec(0, 0, turn))};
    if (kind >= LYING) pose.q = fx_quat_mul(pose.q, down);
    contacts_of(&shape, pose, &plane, fx_pose_one(), 1e-3, &n);
    contacts_of(&shape, pose, &floor, fx_pose_one(), 1e-3, &m);
    double off = 0.0;
    for (int i = 0; i < n.count; i++) { /* each contact of the plane is there; others between them may be, too */
      double nearest = INFINITY;
      for (int j = 0; j < m.count; j++)
        nearest = fmin(nearest, fx_norm(fx_sub(n.touch[i].point_a, m.touch[j].point_a)) +
                                    fx_norm(fx_sub(n.touch[i].normal, m.touch[j].normal)));
      off = fmax(off, nearest);
    }
    if (n.count < 2 || !(off < 1e-6))
      fx_test_fail(t, __FILE__, __LINE__, "kind %d, place %d: %d contacts on the plane, %d on the mesh, off by %.1e",
                   kind, place, n.count, m.count, off);
  }
  fx_free(context, m.touch);
  fx_free(context, n.touch);
  fx_geometry_release(context, g);
  frix_context_destroy(context);
}

const fx_test_row test_symmetry[] = {
    {"collision/symmetry/order-and-mirror", order_and_mirror},
    {"collision/symmetry/mesh-edges", mesh_edges},
    {0},
};
