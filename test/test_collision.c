/* Collision: manifolds, names, continuity, meshes, broad phase, whole runs. Pairs are in test_pairs.c. */
#include "shapes.h"

#include "base/threads.h"
#include "collision/broad.h"
#include "collision/poly.h"

/* ---- tables ---- */

/* Every side of every face of the box names the right edge, and every edge its two faces. */
static void box_topology(fx_test *t) {
  fx_shape s = loose_shape(FRIX_SHAPE_BOX, 0, 0, fx_vec(1, 2, 3), NULL);
  fx_poly p;
  REQUIRE(t, fx_poly_of(&s, &p));
  for (int f = 0; f < 6; f++)
    for (int k = 0; k < 4; k++) {
      int v = p.face_vertex[4 * f + k], w = p.face_vertex[4 * f + (k + 1) % 4];
      fx_edge e = p.edge[p.face_edge[4 * f + k]];
      CHECK(t, (e.tail == v && e.head == w && e.left == f) || (e.tail == w && e.head == v && e.right == f));
      CHECK_NEAR(t, fx_dot(p.face_normal[f], p.vertex[v]), p.face_offset[f], 0.0);
      frix_vec3 x = fx_sub(p.vertex[w], p.vertex[v]);
      frix_vec3 y = fx_sub(p.vertex[p.face_vertex[4 * f + (k + 2) % 4]], p.vertex[w]);
      CHECK(t, fx_dot(fx_cross(x, y), p.face_normal[f]) > 0.0);
    }
}

/* ---- boxes as boxes and as hulls ---- */

static void hull_box_equals_box(fx_test *t) {
  NEED_QHULL(t);
  frix_context *context = new_context(t);
  REQUIRE(t, context);
  frix_vec3 ha = fx_vec(0.5, 0.4, 0.3), hb = fx_vec(0.3, 0.6, 0.2);
  fx_geometry *ga = box_hull(context, ha), *gb = box_hull(context, hb);
  REQUIRE(t, ga && gb);
  CHECK(t, ga->hull.face_count == 6 && ga->hull.edge_count == 12 && ga->hull.vertex_count == 8);
  fx_shape a = loose_shape(FRIX_SHAPE_BOX, 0, 0, ha, NULL), b = loose_shape(FRIX_SHAPE_BOX, 0, 0, hb, NULL);
  fx_shape ca = loose_shape(FRIX_SHAPE_HULL, 0, 0, ha, ga), cb = loose_shape(FRIX_SHAPE_HULL, 0, 0, hb, gb);
  fx_manifold m = {.context = context}, n = {.context = context};
  int count = 0;
  double worst = 0.0;
  for (int trial = 0; trial < 3000; trial++) {
    frix_pose pa = {{0, 0, 0}, random_quat(t)}, pb = {fx_scale(0.8, random_vec(t)), random_quat(t)};
    if (trial % 3 == 0) { /* flat on each other, turned about the normal */
      pa.q = fx_quat_one();
      pb.q = quat_of(fx_vec(0, 0, 3 * fx_test_random(t)));
      pb.p = fx_vec(0.3 * fx_test_random(t), 0.3 * fx_test_random(t), 0.5 + 1e-4 * fx_test_random(t));
    }
    m.count = n.count = 0;
    fx_narrow_pair(&a, pa, &b, pb, 0.01, &m);
    fx_narrow_pair(&ca, pa, &cb, pb, 0.01, &n);
    if (m.count != n.count) {
      fx_test_fail(t, __FILE__, __LINE__, "trial %d: %d contacts as boxes, %d as hulls", trial, m.count, n.count);
      continue;
    }
    for (int i = 0; i < m.count; i++) {
      double nearest = INFINITY;
      for (int j = 0; j < n.count; j++)
        nearest = fmin(nearest, fx_norm(fx_sub(m.touch[i].point_a, n.touch[j].point_a)) +
                                    fx_norm(fx_sub(m.touch[i].normal, n.touch[j].normal)) +
                                    fabs(m.touch[i].gap - n.touch[j].gap));
      worst = fmax(worst, nearest);
    }
    count += m.count;
  }
  CHECK(t, worst < 1e-9);
  CHECK(t, count > 3000);
  fx_test_note(t, "%d contacts, within %.1e", count, worst);
  fx_free(context, m.touch);
  fx_free(context, n.touch);
  fx_geometry_release(context, ga);
  fx_geometry_release(context, gb);
  frix_context_destroy(context);
}

/* ---- manifolds ---- */

static void flat_manifolds(fx_test *t) {
  frix_context *context = new_context(t);
  REQUIRE(t, context);
  fx_manifold m = {.context = context};
  fx_shape box = loose_shape(FRIX_SHAPE_BOX, 0, 0, fx_vec(0.5, 0.5, 0.5), NULL),
           plane = loose_shape(FRIX_SHAPE_PLANE, 0, 0, box.half, NULL);
  fx_shape rod = loose_shape(FRIX_SHAPE_CYLINDER, 0.5, 0.5, box.half, NULL),
           capsule = loose_shape(FRIX_SHAPE_CAPSULE, 0.5, 0.5, box.half, NULL);
  frix_pose ground = fx_pose_one(), on_top = {{0, 0, 1}, fx_quat_one()}, at_half = {{0, 0, 0.5}, fx_quat_one()};
  frix_quat lying = quat_of(fx_vec(0, 1.5707963267948966, 0));

  CHECK(t, contacts_of(&box, at_half, &plane, ground, 1e-3, &m) == 4);
  CHECK(t, contacts_of(&box, on_top, &box, ground, 1e-3, &m) == 4);
  for (int k = 0; k < m.count; k++) {
    CHECK_NEAR(t, m.touch[k].gap, 0.0, 1e-15);
    CHECK_NEAR(t, m.touch[k].normal.z, 1.0, 0.0);
  }
  frix_pose turned = {{0, 0, 1}, quat_of(fx_vec(0, 0, 0.7853981633974483))};
  CHECK(t, contacts_of(&box, turned, &box, ground, 1e-3, &m) == 8);
  frix_pose shifted = {{0.3, 0.2, 1}, fx_quat_one()};
  CHECK(t, contacts_of(&box, shifted, &box, ground, 1e-3, &m) == 4);
  CHECK(t, contacts_of(&rod, at_half, &plane, ground, 1e-3, &m) == 8);
  CHECK(t, contacts_of(&rod, (frix_pose){{0, 0, 0.5}, lying}, &plane, ground, 1e-3, &m) == 2);
  CHECK(t, contacts_of(&rod, on_top, &box, ground, 1e-3, &m) >= 4);
  for (int k = 0; k < m.count; k++) CHECK_NEAR(t, m.touch[k].normal.z, 1.0, 0.0);
  CHECK(t, contacts_of(&rod, (frix_pose){{0, 0, 1}, lying}, &box, ground, 1e-3, &m) == 2);
  for (int k = 0; k < m.count; k++) CHECK_NEAR(t, m.touch[k].normal.z, 1.0, 1e-15);
  CHECK(t, contacts_of(&rod, on_top, &rod, ground, 1e-3, &m) >= 8);
  CHECK(t, contacts_of(&capsule, (frix_pose){{0, 0, 1}, lying}, &box, ground, 1e-3, &m) == 2);
  CHECK(t, contacts_of(&capsule, (frix_pose){{0, 0, 0.5}, lying}, &plane, ground, 1e-3, &m) == 2);
  CHECK(t,
        contacts_of(&capsule, (frix_pose){{0, 0, 1}, lying}, &capsule, (frix_pose){{0.2, 0, 0}, lying}, 1e-3, &m) == 2);
  CHECK(t, contacts_of(&rod, (frix_pose){{0, 0, 1}, lying}, &rod, (frix_pose){{0.2, 0, 0}, lying}, 1e-3, &m) == 2);
  /* separated by more than the margin: nothing; by less: speculative, with its gap */
  CHECK(t, contacts_of(&box, (frix_pose){{0, 0, 1.1}, fx_quat_one()}, &box, ground, 0.05, &m) == 0);
  CHECK(t, contacts_of(&box, (frix_pose){{0, 0, 1.1}, fx_quat_one()}, &box, ground, 0.2, &m) == 4);
  CHECK_NEAR(t, m.touch[0].gap, 0.1, 1e-15);
  fx_free(context, m.touch);
  frix_context_destroy(context);
}

/* Ridge on ridge, as the cards of a card house lean: two contacts on the common edge, below, at and above contact. */
static void ridge_on_ridge(fx_test *t) {
  frix_context *context = new_context(t);
  REQUIRE(t, context);
  fx_manifold m = {.context = context};
  fx_shape card = loose_shape(FRIX_SHAPE_BOX, 0, 0, fx_vec(0.001, 0.03, 0.045), NULL);
  double lean = 0.4, s = sin(lean), c = cos(lean);
  /* upper inner corner (half.x, half.z) of the left card at x = 0 */
  double x = c * 0.001 + s * 0.045;
  double gaps[] = {-1e-6, -1e-9, -1e-12, 0.0, 1e-12, 1e-10, 1e-9, 1e-8};
  for (size_t k = 0; k < sizeof gaps / sizeof *gaps; k++) {
    frix_pose left = {{-x - 0.5 * gaps[k], 0, 0}, quat_of(fx_vec(0, lean, 0))};
    frix_pose right = {{x + 0.5 * gaps[k], 0, 0}, quat_of(fx_vec(0, -lean, 0))};
    int count = contacts_of(&card, left, &card, right, 1e-4, &m);
    if (count < 2) fx_test_fail(t, __FILE__, __LINE__, "gap %g: %d contacts", gaps[k], count);
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < count; i++) low = fmin(low, m.touch[i].point_a.y), high = fmax(high, m.touch[i].point_a.y);
    CHECK_NEAR(t, high - low, 0.06, 1e-6);
  }
  fx_free(context, m.touch);
  frix_context_destroy(context);
}

/* ---- continuity and names ---- */

/* Under a small motion the support of the manifold moves little: the gap at the deepest point, the mean point, the
 * normal; and for sliding boxes and hulls the names stay. */
static void slides_keep_names(fx_test *t) {
  NEED_QHULL(t);
  frix_context *context = new_context(t);
  REQUIRE(t, context);
  frix_vec3 half = fx_vec(0.5, 0.5, 0.5);
  fx_geometry *g = box_hull(context, half);
  REQUIRE(t, g);
  fx_shape shape[2] = {loose_shape(FRIX_SHAPE_BOX, 0, 0, half, NULL), loose_shape(FRIX_SHAPE_HULL, 0, 0, half, g)};
  fx_manifold m = {.context = context};
  for (int kind = 0; kind < 2; kind++) {
    uint64_t before[64];
    int count = 0, changes = 0, flickers = 0;
    for (int step = 0; step <= 400; step++) {
      double at = 1e-3 * step;
      frix_pose pose = {{0.05 + at, 0.02, 1.0 + 1e-10 * fx_test_random(t)},
                        quat_of(fx_add(fx_vec(0, 0, 0.3 + 0.5 * at), fx_scale(1e-11, random_vec(t))))};
      contacts_of(&shape[kind], pose, &shape[kind], fx_pose_one(), 1e-3, &m);
      if (m.count < 4) flickers++;
      int lost = 0;
      for (int i = 0; i < count; i++) {
        bool found = false;
        for (int j = 0; j < m.count; j++) found |= m.touch[j].feature == before[i];
        lost += !found;
      }
      changes += lost;
      count = m.count;
      for (int i = 0; i < count; i++) before[i] = m.touch[i].feature;
    }
    CHECK(t, flickers == 0);
    CHECK(t, changes <= 8); /* corners that pass an edge on the way */
    fx_test_note(t, "%s: %d names changed in 400 steps", kind ? "hull" : "box", changes);
  }
  fx_free(context, m.touch);
  fx_geometry_release(context, g);
  frix_context_destroy(context);
}

/* Equal cubes exactly on top of each other, disturbed in the last digits: always the same four names. */
static void aligned_stack_is_calm(fx_test *t) {
  frix_context *context = new_context(t);
  REQUIRE(t, context);
  fx_manifold m = {.context = context};
  fx_shape box = loose_shape(FRIX_SHAPE_BOX, 0, 0, fx_vec(0.5, 0.5, 0.5), NULL);
  uint64_t name[4] = {0};
  for (int step = 0; step < 1000; step++) {
    frix_pose pose = {fx_add(fx_vec(0, 0, 1), fx_scale(1e-9, random_vec(t))), quat_of(fx_scale(1e-10, random_vec(t)))};
    REQUIRE(t, contacts_of(&box, pose, &box, fx_pose_one(), 1e-3, &m) == 4);
    for (int k = 0; k < 4; k++) {
      if (step == 0) name[k] = m.touch[k].feature;
      bool found = false;
      for (int j = 0; j < 4; j++) found |= m.touch[j].feature == name[k];
      CHECK(t, found);
      CHECK(t, fabs(m.touch[k].gap) < 3e-9);
    }
  }
  fx_free(context, m.touch);
  frix_context_destroy(context);
}

/* Cubes that lie on each other with any turn and a small tilt, corners overhanging: never fewer than four contacts, and
 * the deepest one is the true gap. */
static void tilted_faces_keep_contacts(fx_test *t) {
  frix_context *context = new_context(t);
  REQUIRE(t, context);
  fx_manifold m = {.context = context};
  fx_shape box = loose_shape(FRIX_SHAPE_BOX, 0, 0, fx_vec(0.5, 0.5, 0.5), NULL);
  int fewest = 99;
  for (int trial = 0; trial < 2000; trial++) {
    double tilt = pow(10.0, between(t, -9.0, -2.5)), x = 0.3 * fx_test_random(t), y = 0.3 * fx_test_random(t);
    frix_quat turn = quat_of(fx_vec(0, 0, 3.0 * fx_test_random(t))), lean = quat_of(fx_scale(tilt, random_vec(t)));
    frix_pose pose = {{x, y, 1.0 + 1e-4 * fx_test_random(t)}, fx_quat_unit(fx_quat_mul(lean, turn))};
    int count = contacts_of(&box, pose, &box, fx_pose_one(), 0.02, &m);
    if (count < fewest) fewest = count;
    if (count < 4) fx_test_fail(t, __FILE__, __LINE__, "tilt %g: %d contacts", tilt, count);
  }
  fx_test_note(t, "at least %d contacts", fewest);
  fx_free(context, m.touch);
  frix_context_destroy(context);
}

static void moves_continuously(fx_test *t) {
  stock s;
  REQUIRE(t, stock_new(t, &s));
  fx_manifold m = {.context = s.context};
  double worst = 0.0;
  int jumps = 0;
  for (int i = 0; i < BOUNDED; i++)
    for (int j = i; j < BOUNDED; j++) {
      if ((bounded[i] == FRIX_SHAPE_HULL || bounded[j] == FRIX_SHAPE_HULL) && !s.hull[0]) continue;
      for (int trial = 0; trial < 10; trial++) {
        fx_shape a = random_shape(t, &s, bounded[i]), b = random_shape(t, &s, bounded[j]);
        frix_pose pa = {{0, 0, 0}, random_quat(t)},
                  pb = {fx_scale(0.75 * (a.bound + b.bound), random_unit(t)), random_quat(t)};
        frix_vec3 move = fx_scale(1e-7, random_vec(t)), turn = fx_scale(1e-7, random_vec(t));
        double before = NAN;
        for (int step = 0; step < 4; step++) {
          contacts_of(&a, pa, &b, pb, 0.3, &m);
          const fx_touch *x = deepest(&m);
          double gap = x ? x->gap : 0.3;
          if (step) worst = fmax(worst, fabs(gap - before));
          if (step && fabs(gap - before) > 5e-6 && jumps++ < 5)
            fx_test_fail(t, __FILE__, __LINE__, "%s/%s: gap jumps from %.9g to %.9g",
                         frix_shape_table((int)a.kind)->name, frix_shape_table((int)b.kind)->name, before, gap);
          before = gap;
          pb.p = fx_add(pb.p, move);
          pb.q = fx_quat_unit(fx_quat_mul(quat_of(turn), pb.q));
        }
      }
    }
  fx_test_note(t, "largest change of the gap under 2e-7 of motion: %.1e", worst);
  fx_free(s.context, m.touch);
  stock_free(&s);
}

/* ---- meshes ---- */

/* A floor of triangles is a plane: same gaps and normals, no contact on inner edges. */
static void mesh_floor_is_plane(fx_test *t) {
  stock s;
  REQUIRE(t, stock_new(t, &s));
  fx_geometry *g = level_field(s.context);
  REQUIRE(t, g);
  fx_shape floor = loose_shape(FRIX_SHAPE_HEIGHT_FIELD, 0, 0, fx_vec(0, 0, 0), g),
           plane = loose_shape(FRIX_SHAPE_PLANE, 0, 0, fx_vec(0, 0, 0), NULL);
  fx_manifold m = {.context = s.context}, n = {.context = s.context};
  for (int i = 0; i < BOUNDED; i++) {
    if (bounded[i] == FRIX_SHAPE_HULL && !s.hull[0]) continue;
    for (int trial = 0; trial < 60; trial++) {
      fx_shape a = random_shape(t, &s, bounded[i]);
      frix_pose pose = {{2 * fx_test_random(t), 2 * fx_test_random(t), 0}, trial % 2 ? random_quat(t) : fx_quat_one()};
      if (trial % 4 == 0) pose.p.x = (int)pose.p.x;
      contacts_of(&a, pose, &plane, fx_pose_one(), 1e9, &n);
      pose.p.z -= deepest(&n)->gap + 1e-3 * fx_test_random(t);
      contacts_of(&a, pose, &plane, fx_pose_one(), 2e-3, &n);
      contacts_of(&a, pose, &floor, fx_pose_one(), 2e-3, &m);
      const fx_touch *x = deepest(&m), *y = deepest(&n);
      if (!x || fabs(x->gap - y->gap) > 1e-8 || fabs(x->normal.z - 1.0) > 1e-12) {
        fx_test_fail(t, __FILE__, __LINE__, "%s: gap %g on the mesh, %g on the plane, normal z %g",
                     frix_shape_table((int)a.kind)->name, x ? x->gap : NAN, y->gap, x ? x->normal.z : NAN);
        continue;
      }
      bool flat = a.kind == FRIX_SHAPE_BOX && trial % 2 == 0;
      if (flat && m.count != 4) fx_test_fail(t, __FILE__, __LINE__, "box: %d contacts", m.count);
    }
  }
  fx_free(s.context, m.touch);
  fx_free(s.context, n.touch);
  fx_geometry_release(s.context, g);
  stock_free(&s);
}

/* A cube of twelve triangles, as a soup: spheres and boxes around it get the cube's own gap. */
static void mesh_cube_is_box(fx_test *t) {
  frix_context *context = new_context(t);
  REQUIRE(t, context);
  static const int face[6][4] = {{1, 3, 7, 5}, {0, 4, 6, 2}, {2, 6, 7, 3}, {0, 1, 5, 4}, {4, 5, 7, 6}, {0, 2, 3, 1}};
  frix_vec3 p[36];
  int32_t index[36];
  for (int f = 0; f < 6; f++)
    for (int k = 0; k < 6; k++) {
      int v = face[f][k < 3 ? k : k == 3 ? 0 : k - 2];
      p[6 * f + k] = fx_vec(v & 1 ? 0.5 : -0.5, v & 2 ? 0.5 : -0.5, v & 4 ? 0.5 : -0.5);
      index[6 * f + k] = 6 * f + k;
    }
  frix_geometry_config c = frix_geometry_default();
  c.kind = FRIX_GEOMETRY_MESH, c.point = p, c.point_count = 36, c.triangle = index, c.triangle_count = 12;
  fx_geometry *g = NULL;
  REQUIRE(t, fx_geometry_create(context, &c, &g) == FRIX_OK);
  fx_shape mesh = loose_shape(FRIX_SHAPE_MESH, 0, 0, fx_vec(0, 0, 0), g),
           cube = loose_shape(FRIX_SHAPE_BOX, 0, 0, fx_vec(0.5, 0.5, 0.5), NULL);
  fx_manifold m = {.context = context}, n = {.context = context};
  double worst = 0.0;
  int seen = 0;
  for (int trial = 0; trial < 600; trial++) {
    fx_shape a = trial % 2 ? loose_shape(FRIX_SHAPE_SPHERE, 0.3, 0, cube.half, NULL)
                           : loose_shape(FRIX_SHAPE_BOX, 0, 0, fx_vec(0.3, 0.2, 0.25), NULL);
    frix_pose pose = {fx_scale(0.5 + 0.3 * fx_test_random(t) + 0.5, random_unit(t)), random_quat(t)};
    contacts_of(&a, pose, &cube, fx_pose_one(), 0.2, &n);
    if (n.count == 0 || deepest(&n)->gap < 0.0) continue;
    contacts_of(&a, pose, &mesh, fx_pose_one(), 0.2, &m);
    const fx_touch *x = deepest(&m), *y = deepest(&n);
    seen++;
    if (!x || fabs(x->gap - y->gap) > 1e-6) {
      fx_test_fail(t, __FILE__, __LINE__, "%s: gap %g at the mesh, %g at the box", trial % 2 ? "sphere" : "box",
                   x ? x->gap : NAN, y->gap);
      continue;
    }
    worst = fmax(worst, fabs(x->gap - y->gap));
  }
  fx_test_note(t, "%d pairs, gap within %.1e", seen, worst);
  fx_free(context, m.touch);
  fx_free(context, n.touch);
  fx_geometry_release(context, g);
  frix_context_destroy(context);
}

/* ---- broad phase ---- */

static bool boxes_overlap(const fx_proxy *p, const fx_proxy *q) {
  return p->low.x <= q->high.x && q->low.x <= p->high.x && p->low.y <= q->high.y && q->low.y <= p->high.y &&
         p->low.z <= q->high.z && q->low.z <= p->high.z;
}

static void broad_brute(fx_test *t) {
  enum { N = 400 };
  frix_context *context = new_context(t);
  fx_broad *broad = NULL;
  REQUIRE(t, context && fx_broad_create(context, &broad) == FRIX_OK);
  fx_proxy p[N];
  int64_t total = 0;
  for (int round = 0; round < 40; round++) {
    for (int k = 0; k < N; k++) {
      double size = round % 4 == 0   ? 0.1
                    : round % 4 == 1 ? pow(10.0, 2 * fx_test_random(t)) * 0.02
                                     : between(t, 0.05, 0.1);
      if (round % 4 == 3) size = pow(2.0, k % 14 - 9);
      frix_vec3 c = fx_scale(round % 8 == 5 ? 1e9 : 1.0, random_vec(t)),
                half = {size, size * 0.7, round % 5 ? size : 0.0};
      if (round % 3 == 0) c.z = 0.0;
      if (k % 97 == 96) c = fx_scale(1e12, c); /* strays */
      p[k] = (fx_proxy){.low = fx_sub(c, half),
                        .high = fx_add(c, half),
                        .slot = k / 2,
                        .ball = INFINITY,
                        .group = 1,
                        .mask = 1,
                        .mobile = k % 5 != 0};
    }
    const fx_pair *pair;
    int32_t count, at = 0;
    REQUIRE(t, fx_broad_run(broad, p, N, N / 2, 1, &pair, &count) == FRIX_OK);
    for (int a = 0; a < N / 2; a++)
      for (int b = a + 1; b < N / 2; b++)
        for (int i = 2 * a; i < 2 * a + 2; i++)
          for (int j = 2 * b; j < 2 * b + 2; j++) {
            if (!(p[i].mobile || p[j].mobile) || !boxes_overlap(&p[i], &p[j])) continue;
            if (at >= count || pair[at].a != i || pair[at].b != j) {
              fx_test_fail(t, __FILE__, __LINE__, "round %d: pair %d of %d should be %d, %d", round, at, count, i, j);
              goto cleanup;
            }
            at++;
          }
    CHECK(t, at == count);
    total += count;
  }
  fx_test_note(t, "%d pairs", (int)total);
cleanup:
  fx_broad_destroy(broad);
  frix_context_destroy(context);
}

/* ---- whole runs ---- */

typedef struct world {
  frix_context *context;
  frix_model *model;
  fx_collision *collision;
  int32_t count;
  int32_t *prototype;
  frix_pose *pose;
} world;

static void world_free(world *w) {
  if (w->collision) fx_collision_destroy(w->collision);
  frix_model_destroy(w->model);
  if (w->context) {
    fx_free(w->context, w->prototype);
    fx_free(w->context, w->pose);
    frix_context_destroy(w->context);
  }
}

/* n^3 spheres of radius r in a lattice as dense as a settled pile (about six contacts each), on a floor, within walls.
 */
static bool world_of_spheres(fx_test *t, world *w, int n, double r, double squeeze) {
  memset(w, 0, sizeof *w);
  w->context = new_context(t);
  frix_builder *b = NULL;
  if (!w->context || frix_builder_create(w->context, &b)) return false;
  frix_shape_config floor = frix_shape_default(), ball = frix_shape_default();
  floor.kind = FRIX_SHAPE_PLANE;
  bool ok = frix_builder_add_shape(b, (frix_body_id){0, 0}, &floor, NULL) == FRIX_OK;
  frix_body_config body = frix_body_default();
  ball.radius = r;
  for (int k = 0; ok && k < n * n * n; k++) {
    double jitter = 0.01 * r;
    body.pose.p = fx_add(fx_scale(2.0 * r * squeeze, fx_vec(k % n, k / n % n, k / (n * n))), fx_vec(0, 0, r));
    body.pose.p = fx_add(body.pose.p, fx_scale(jitter, random_vec(t)));
    frix_body_id id;
    ok = frix_builder_add_body(b, &body, &id) == FRIX_OK && frix_builder_add_shape(b, id, &ball, NULL) == FRIX_OK;
  }
  ok = ok && frix_builder_compile(b, &w->model) == FRIX_OK;
  frix_builder_destroy(b);
  if (!ok) return false;
  w->count = w->model->body_count;
  w->prototype = FX_NEW(w->context, int32_t, w->count);
  w->pose = FX_NEW(w->context, frix_pose, w->count);
  for (int32_t k = 0; k < w->count; k++) w->prototype[k] = k, w->pose[k] = w->model->body[k].start;
  return fx_collision_create(w->context, w->model, &w->collision) == FRIX_OK;
}

static void spheres_8000(fx_test *t) {
  world w;
  REQUIRE(t, world_of_spheres(t, &w, 20, 0.05, 0.998));
  fx_placement p = {.count = w.count, .prototype = w.prototype, .pose = w.pose};
  const fx_contact *contact;
  int32_t count = 0;
  double best = INFINITY, broad = 0.0;
  for (int k = 0; k < 40; k++) {
    double margin = 1e-3 + 1e-12 * (k % 2); /* never twice the same question */
    REQUIRE(t, fx_collision_run(w.collision, &p, margin, 1, &contact, &count) == FRIX_OK);
    fx_collision_stats s = fx_collision_statistics(w.collision);
    if (s.broad_seconds + s.narrow_seconds < best) best = s.broad_seconds + s.narrow_seconds, broad = s.broad_seconds;
  }
  CHECK(t, count > 20000);
  fx_test_note(t, "%d contacts, %.2f ms wall (broad %.2f)", count, 1e3 * best, 1e3 * broad);
#ifndef FRIX_SANITIZED
  CHECK(t, best < 0.02); /* far above the measured figure: the machine may be busy */
#endif
  for (int32_t k = 1; k < count; k++) CHECK(t, fx_contact_order(&contact[k - 1], &contact[k]) < 0);
  world_free(&w);
}

static void million(fx_test *t) {
#ifdef FRIX_SANITIZED
  fx_test_skip(t, "too slow under sanitizers");
  return;
#endif
  enum { N = 1000000 };
  frix_context *context = new_context(t);
  fx_broad *broad = NULL;
  REQUIRE(t, context && fx_broad_create(context, &broad) == FRIX_OK);
  fx_proxy *p = FX_NEW(context, fx_proxy, N);
  REQUIRE(t, p);
  for (int k = 0; k < N; k++) {
    frix_vec3 c = fx_add(fx_scale(0.1, fx_vec(k % 100, k / 100 % 100, k / 10000)), fx_scale(0.02, random_vec(t)));
    frix_vec3 half = {0.05, 0.05, 0.05};
    p[k] = (fx_proxy){.low = fx_sub(c, half),
                      .high = fx_add(c, half),
                      .slot = k,
                      .ball = INFINITY,
                      .group = 1,
                      .mask = 1,
                      .mobile = true};
  }
  const fx_pair *pair;
  int32_t count = 0;
  double best = INFINITY;
  uint64_t sum[2] = {0, 0}; /* of one thread and of two */
  for (int k = 0; k < 2; k++) {
    double start = fx_seconds();
    REQUIRE(t, fx_broad_run(broad, p, N, N, 1 + k, &pair, &count) == FRIX_OK);
    best = fmin(best, fx_seconds() - start);
    for (int32_t j = 0; j < count; j++) sum[k] = 31 * sum[k] + (uint64_t)pair[j].a * N + (uint64_t)pair[j].b;
  }
  CHECK(t, sum[0] == sum[1]);
  fx_test_note(t, "%d pairs in %.0f ms", count, 1e3 * best);
  CHECK(t, count > 1000000);
  fx_free(context, p);
  fx_broad_destroy(broad);
  frix_context_destroy(context);
}

static void same_bits_for_threads(fx_test *t) {
  world w;
  REQUIRE(t, world_of_spheres(t, &w, 8, 0.05, 0.99));
  fx_placement p = {.count = w.count, .prototype = w.prototype, .pose = w.pose};
  const fx_contact *contact;
  int32_t count = 0, first_count = 0;
  REQUIRE(t, fx_collision_run(w.collision, &p, 1e-3, 1, &contact, &first_count) == FRIX_OK);
  fx_contact *first = FX_NEW(w.context, fx_contact, first_count);
  REQUIRE(t, first);
  memcpy(first, contact, (size_t)first_count * sizeof *first);
  for (int threads = 2; threads <= 8; threads *= 2) {
    REQUIRE(t, fx_collision_run(w.collision, &p, 2e-3, threads, &contact, &count) == FRIX_OK); /* forget the first */
    REQUIRE(t, fx_collision_run(w.collision, &p, 1e-3, threads, &contact, &count) == FRIX_OK);
    CHECK(t, count == first_count && !memcmp(first, contact, (size_t)count * sizeof *first));
  }
  fx_free(w.context, first);
  world_free(&w);
}

/* Some bodies move, come, go, fall asleep or change their reach: the contacts are those of a collision without past. */
static void past_changes_nothing(fx_test *t) {
  world w;
  REQUIRE(t, world_of_spheres(t, &w, 9, 0.05, 0.998));
  uint32_t *generation = FX_NEW(w.context, uint32_t, w.count);
  double *reach = FX_NEW(w.context, double, w.count);
  uint8_t *asleep = FX_NEW(w.context, uint8_t, w.count);
  REQUIRE(t, generation && reach && asleep);
  fx_placement p = {.count = w.count,
                    .prototype = w.prototype,
                    .generation = generation,
                    .pose = w.pose,
                    .reach = reach,
                    .asleep = asleep};
  int64_t compared = 0;
  for (int round = 0; round < 24; round++) {
    for (int k = 0; k < round % 6 * 3; k++) { /* none in every sixth round */
      int32_t slot = 1 + (int32_t)(0.5 * (1.0 + fx_test_random(t)) * (w.count - 1));
      switch (k % 6) {
        case 0: w.prototype[slot] = w.prototype[slot] < 0 ? slot : -1; break;
        case 1: generation[slot]++; break;
        case 2: asleep[slot] = !asleep[slot]; break;
        case 3: reach[slot] = 1e-3 * (1.0 + fx_test_random(t)); break;
        default: w.pose[slot].p = fx_add(w.pose[slot].p, fx_scale(1e-3, random_vec(t))); break;
      }
    }
    fx_collision *fresh = NULL;
    const fx_contact *found, *expected;
    int32_t count, expected_count, threads = round % 2 ? 4 : 1;
    p.count = round % 7 == 6 ? w.count - 20 : w.count;
    REQUIRE(t, fx_collision_create(w.context, w.model, &fresh) == FRIX_OK);
    CHECK(t, fx_collision_run(fresh, &p, 1e-3, 1, &expected, &expected_count) == FRIX_OK);
    CHECK(t, fx_collision_run(w.collision, &p, 1e-3, threads, &found, &count) == FRIX_OK);
    CHECK(t, count == expected_count && !memcmp(found, expected, (size_t)count * sizeof *found));
    compared += count;
    fx_collision_destroy(fresh);
  }
  fx_test_note(t, "%lld contacts", (long long)compared);
  fx_free(w.context, generation);
  fx_free(w.context, reach);
  fx_free(w.context, asleep);
  world_free(&w);
}

static void bad_poses_are_refused(fx_test *t) {
  world w;
  REQUIRE(t, world_of_spheres(t, &w, 2, 0.05, 0.99));
  fx_placement p = {.count = w.count, .prototype = w.prototype, .pose = w.pose};
  const fx_contact *contact;
  int32_t count;
  w.pose[3].p.y = NAN;
  CHECK(t, fx_collision_run(w.collision, &p, 1e-3, 1, &contact, &count) == FRIX_ERROR_INPUT);
  CHECK(t, strstr(frix_error_text(w.context), "slot 3"));
  w.pose[3].p.y = 0.0;
  CHECK(t, fx_collision_run(w.collision, &p, NAN, 1, &contact, &count) == FRIX_ERROR_INPUT);
  w.prototype[3] = -1; /* an empty slot is skipped */
  CHECK(t, fx_collision_run(w.collision, &p, 1e-3, 1, &contact, &count) == FRIX_OK);
  for (int32_t k = 0; k < count; k++) CHECK(t, contact[k].body_a != 3 && contact[k].body_b != 3);
  world_free(&w);
}

const fx_test_row test_collision[] = {
    {"collision/box-topology", box_topology},
    {"collision/hull-box-equals-box", hull_box_equals_box},
    {"collision/manifold/flat-faces", flat_manifolds},
    {"collision/manifold/ridge-on-ridge", ridge_on_ridge},
    {"collision/manifold/aligned-stack", aligned_stack_is_calm},
    {"collision/manifold/sliding", slides_keep_names},
    {"collision/manifold/tilted", tilted_faces_keep_contacts},
    {"collision/manifold/continuous", moves_continuously},
    {"collision/mesh/floor", mesh_floor_is_plane},
    {"collision/mesh/cube", mesh_cube_is_box},
    {"collision/broad/brute-force", broad_brute},
    {"collision/broad/million", million},
    {"collision/spheres-8000", spheres_8000},
    {"collision/threads", same_bits_for_threads},
    {"collision/past_changes_nothing", past_changes_nothing},
    {"collision/bad-poses", bad_poses_are_refused},
    {0},
};
