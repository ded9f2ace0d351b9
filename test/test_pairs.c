/* Shape pairs: gaps, normals and points against brute force, other people's colliders and degenerate input. */
#include "shapes.h"

#ifdef FRIX_HAVE_CCD
#include <ccd/ccd.h>
#include <ccd/quat.h>
#endif
#ifdef FRIX_HAVE_ODE
#include <ode/ode.h>
#endif

/* Signed separation across an axis from a to b, by the shapes' own support functions. */
static double separation(const fx_shape *a, frix_pose pa, const fx_shape *b, frix_pose pb, frix_vec3 n) {
  frix_vec3 x = fx_pose_point(pa, fx_shape_row_of(a->kind)->support(a, fx_unrotate(pa.q, n)));
  frix_vec3 y = fx_pose_point(pb, fx_shape_row_of(b->kind)->support(b, fx_unrotate(pb.q, fx_neg(n))));
  return fx_dot(n, fx_sub(y, x));
}

/* The largest separation, by a coarse net and random search: slow, simple, and nothing like GJK. What it finds is a
 * lower bound of the true gap, and so is the separation across any axis of ours: the two together leave no room for
 * error. */
static double brute_gap(fx_test *t, const fx_shape *a, frix_pose pa, const fx_shape *b, frix_pose pb) {
  enum { NET = 160, KEPT = 3 };
  frix_vec3 top[KEPT];
  double value[KEPT], best = -INFINITY;
  int kept = 0;
  for (int k = 0; k < NET; k++) { /* Fibonacci points */
    double z = 1.0 - (2.0 * k + 1.0) / NET, r = sqrt(1.0 - z * z), angle = 2.399963229728653 * k;
    frix_vec3 n = fx_vec(r * cos(angle), r * sin(angle), z);
    double s = separation(a, pa, b, pb, n);
    int at = kept;
    while (at > 0 && value[at - 1] < s) at--;
    if (at == KEPT) continue;
    if (kept < KEPT) kept++;
    for (int j = kept - 1; j > at; j--) value[j] = value[j - 1], top[j] = top[j - 1];
    value[at] = s, top[at] = n;
  }
  for (int k = 0; k < kept; k++) {
    frix_vec3 n = top[k];
    double s = value[k];
    for (double step = 0.2; step > 1e-9; step *= 0.7)
      for (int d = 0; d < 6; d++) {
        frix_vec3 m = fx_unit(fx_mad(n, step, random_vec(t)));
        double trial = separation(a, pa, b, pb, m);
        if (trial > s) s = trial, n = m, d = -1;
      }
    if (s > best) best = s;
  }
  return best;
}

/* How far p is outside of a convex shape (below zero: inside), over a net of directions. */
static double outside(const fx_shape *s, frix_pose pose, frix_vec3 p) {
  double most = -INFINITY;
  for (int k = 0; k < 150; k++) {
    double z = 1.0 - (2.0 * k + 1.0) / 150, r = sqrt(1.0 - z * z), angle = 2.399963229728653 * k;
    frix_vec3 n = fx_vec(r * cos(angle), r * sin(angle), z);
    frix_vec3 x = fx_pose_point(pose, fx_shape_row_of(s->kind)->support(s, fx_unrotate(pose.q, n)));
    most = fmax(most, fx_dot(n, fx_sub(p, x)));
  }
  return most;
}

/* ---- all bounded pairs against brute force ---- */

static void pairs_brute(fx_test *t) {
  stock s;
  REQUIRE(t, stock_new(t, &s));
  fx_manifold m = {.context = s.context};
  double worst = 0.0, worst_axis = 0.0;
  int apart = 0, touching = 0, bad = 0;
  for (int i = 0; i < BOUNDED; i++)
    for (int j = 0; j < BOUNDED; j++) {
      if ((bounded[i] == FRIX_SHAPE_HULL || bounded[j] == FRIX_SHAPE_HULL) && !s.hull[0]) continue;
      for (int trial = 0; trial < 14; trial++) {
        fx_shape a = random_shape(t, &s, bounded[i]), b = random_shape(t, &s, bounded[j]);
        frix_pose pa = {fx_scale(3.0, random_vec(t)), random_quat(t)}, pb = {pa.p, random_quat(t)};
        /* from well apart to well inside, often nearly touching */
        frix_vec3 d = random_unit(t);
        pb.p = fx_mad(pa.p, 0.3 * (a.bound + b.bound), d);
        double gap = brute_gap(t, &a, pa, &b, pb), wish = between(t, -0.2, 0.3);
        if (trial % 3 == 0) wish *= 1e-3;
        if (trial % 3 == 1) wish *= 1e-7;
        for (int k = 0; k < 2; k++) { /* along d the gap grows by at most the step: move towards the wish */
          pb.p = fx_mad(pb.p, wish - gap, d);
          gap = brute_gap(t, &a, pa, &b, pb);
        }
        m.count = 0;
        fx_narrow_pair(&a, pa, &b, pb, 0.5, &m);
        const fx_touch *x = deepest(&m);
        if (gap > 0.49) continue;
        if (!x) {
          fx_test_fail(t, __FILE__, __LINE__, "%s/%s: no contact at gap %g", frix_shape_table((int)a.kind)->name,
                       frix_shape_table((int)b.kind)->name, gap);
          continue;
        }
        double ours = separation(&a, pa, &b, pb, fx_neg(x->normal));
        double error = fabs(x->gap - ours), axis_error = gap - ours;
        if (gap > 0.0) apart++;
        if (gap <= 0.0) touching++;
        worst = fmax(worst, error), worst_axis = fmax(worst_axis, axis_error);
        if (error > 2e-6 || axis_error > 2e-6) {
          if (bad++ < 8)
            fx_test_fail(t, __FILE__, __LINE__, "%s/%s: gap %.12g, brute force %.12g, across our axis %.12g",
                         frix_shape_table((int)a.kind)->name, frix_shape_table((int)b.kind)->name, x->gap, gap, ours);
        }
        /* points lie on their shapes, and belong to the gap and the normal */
        for (int32_t k = 0; k < m.count; k++) {
          const fx_touch *y = &m.touch[k];
          CHECK(t, fabs(fx_norm(y->normal) - 1.0) < 1e-12);
          CHECK(t, fx_norm(fx_sub(fx_sub(y->point_a, y->point_b), fx_scale(y->gap, y->normal))) < 1e-9);
          double off = fmax(outside(&a, pa, y->point_a), outside(&b, pb, y->point_b));
          if (off > 3e-3 && bad++ < 8)
            fx_test_fail(t, __FILE__, __LINE__, "%s/%s: a point is %g off (gap %g, deepest %g)",
                         frix_shape_table((int)a.kind)->name, frix_shape_table((int)b.kind)->name, off, y->gap, gap);
        }
      }
    }
  fx_test_note(t, "%d apart, %d overlapping; gap within %.1e, axis within %.1e", apart, touching, worst, worst_axis);
  fx_free(s.context, m.touch);
  stock_free(&s);
}

/* ---- planes ---- */

static void planes_exact(fx_test *t) {
  stock s;
  REQUIRE(t, stock_new(t, &s));
  fx_manifold m = {.context = s.context};
  fx_shape plane = loose_shape(FRIX_SHAPE_PLANE, 0, 0, fx_vec(0, 0, 0), NULL);
  double worst = 0.0;
  for (int i = 0; i < BOUNDED; i++) {
    if (bounded[i] == FRIX_SHAPE_HULL && !s.hull[0]) continue;
    for (int trial = 0; trial < 100; trial++) {
      fx_shape a = random_shape(t, &s, bounded[i]);
      frix_pose pa = {random_vec(t), random_quat(t)}, pp = {random_vec(t), random_quat(t)};
      frix_vec3 n = fx_rotate(pp.q, fx_vec(0, 0, 1));
      frix_vec3 low = fx_pose_point(pa, fx_shape_row_of(a.kind)->support(&a, fx_unrotate(pa.q, fx_neg(n))));
      double gap = fx_dot(n, fx_sub(low, pp.p));
      bool turned = trial & 1;
      if (turned) {
        contacts_of(&plane, pp, &a, pa, 0.2, &m);
      } else {
        contacts_of(&a, pa, &plane, pp, 0.2, &m);
      }
      const fx_touch *x = deepest(&m);
      if (gap > 0.2) {
        CHECK(t, !x);
        continue;
      }
      REQUIRE(t, x);
      worst = fmax(worst, fabs(x->gap - gap));
      CHECK_NEAR(t, fx_dot(x->normal, n), turned ? -1.0 : 1.0, 1e-12);
    }
  }
  CHECK(t, worst < 1e-8);
  fx_test_note(t, "gap within %.1e", worst);
  fx_free(s.context, m.touch);
  stock_free(&s);
}

/* ---- pairs in the plane ---- */

static double flat_brute(const fx_shape *a, frix_pose pa, const fx_shape *b, frix_pose pb) {
  double best = -INFINITY, at = 0.0;
  for (int k = 0; k < 720; k++) {
    double angle = 6.283185307179586 * k / 720, s = separation(a, pa, b, pb, fx_vec(cos(angle), sin(angle), 0));
    if (s > best) best = s, at = angle;
  }
  for (double step = 0.01; step > 1e-12; step *= 0.5)
    for (int sign = -1; sign <= 1; sign += 2) {
      double angle = at + sign * step, s = separation(a, pa, b, pb, fx_vec(cos(angle), sin(angle), 0));
      if (s > best) best = s, at = angle, step *= 2.0;
    }
  return best;
}

static void flat_pairs(fx_test *t) {
  frix_context *context = new_context(t);
  REQUIRE(t, context);
  const frix_shape_kind kinds[4] = {FRIX_SHAPE_DISC, FRIX_SHAPE_RECTANGLE, FRIX_SHAPE_ELLIPSE, FRIX_SHAPE_POLYGON};
  frix_vec3 p[7];
  for (int k = 0; k < 7; k++) p[k] = fx_scale(between(t, 0.5, 1.0), fx_vec(cos(0.9 * k), sin(0.9 * k), 0));
  frix_geometry_config c = frix_geometry_default();
  c.kind = FRIX_GEOMETRY_POLYGON, c.point = p, c.point_count = 7;
  fx_geometry *g = NULL;
  REQUIRE(t, fx_geometry_create(context, &c, &g) == FRIX_OK);
  fx_manifold m = {.context = context};
  fx_shape ground = loose_shape(FRIX_SHAPE_HALF_PLANE, 0, 0, fx_vec(0, 0, 0), NULL);
  double worst = 0.0;
  int seen = 0;
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 5; j++)
      for (int trial = 0; trial < 200; trial++) {
        fx_shape a = loose_shape(kinds[i], between(t, 0.2, 1), 0, fx_vec(between(t, 0.2, 1), between(t, 0.2, 1), 0), g);
        fx_shape b =
            j == 4 ? ground
                   : loose_shape(kinds[j], between(t, 0.2, 1), 0, fx_vec(between(t, 0.2, 1), between(t, 0.2, 1), 0), g);
        frix_pose pa = {{fx_test_random(t), fx_test_random(t), 0}, quat_of(fx_vec(0, 0, 3 * fx_test_random(t)))};
        frix_pose pb = {{fx_test_random(t), fx_test_random(t), 0}, quat_of(fx_vec(0, 0, 3 * fx_test_random(t)))};
        double gap;
        if (j == 4) {
          frix_vec3 n = fx_rotate(pb.q, fx_vec(0, 1, 0));
          gap = fx_dot(
              n, fx_sub(fx_pose_point(pa, fx_shape_row_of(a.kind)->support(&a, fx_unrotate(pa.q, fx_neg(n)))), pb.p));
        } else {
          gap = flat_brute(&a, pa, &b, pb);
        }
        contacts_of(&a, pa, &b, pb, 0.3, &m);
        const fx_touch *x = deepest(&m);
        if (gap > 0.299) continue;
        if (!x) {
          fx_test_fail(t, __FILE__, __LINE__, "%s/%s: no contact at gap %g", frix_shape_table((int)a.kind)->name,
                       frix_shape_table((int)b.kind)->name, gap);
          continue;
        }
        seen++;
        worst = fmax(worst, fabs(x->gap - gap));
        if (fabs(x->gap - gap) > 2e-6)
          fx_test_fail(t, __FILE__, __LINE__, "%s/%s: gap %.9g, brute force %.9g", frix_shape_table((int)a.kind)->name,
                       frix_shape_table((int)b.kind)->name, x->gap, gap);
        CHECK(t, x->normal.z == 0.0 && x->point_a.z == 0.0);
        CHECK(t, fx_norm(fx_sub(fx_sub(x->point_a, x->point_b), fx_scale(x->gap, x->normal))) < 1e-9);
      }
  fx_test_note(t, "%d pairs, gap within %.1e", seen, worst);
  /* a square on a square: two contacts */
  fx_shape square = loose_shape(FRIX_SHAPE_RECTANGLE, 0, 0, fx_vec(0.5, 0.5, 0), NULL);
  CHECK(t, contacts_of(&square, (frix_pose){{0.1, 1, 0}, fx_quat_one()}, &square, fx_pose_one(), 1e-3, &m) == 2);
  CHECK_NEAR(t, m.touch[0].normal.y, 1.0, 0.0);
  fx_free(context, m.touch);
  fx_geometry_release(context, g);
  frix_context_destroy(context);
}

/* ---- other people's colliders ---- */

#ifdef FRIX_HAVE_CCD
typedef struct placed {
  const fx_shape *shape;
  frix_pose pose;
} placed;

static void ccd_support(const void *object, const ccd_vec3_t *d, ccd_vec3_t *out) {
  const placed *p = object;
  frix_vec3 local = fx_unrotate(p->pose.q, fx_vec(ccdVec3X(d), ccdVec3Y(d), ccdVec3Z(d)));
  frix_vec3 v = fx_pose_point(p->pose, fx_shape_row_of(p->shape->kind)->support(p->shape, local));
  ccdVec3Set(out, v.x, v.y, v.z);
}

static void pairs_libccd(fx_test *t) {
  stock s;
  REQUIRE(t, stock_new(t, &s));
  fx_manifold m = {.context = s.context};
  double worst = -INFINITY;
  int count = 0, agree = 0;
  for (int i = 0; i < BOUNDED; i++)
    for (int j = i; j < BOUNDED; j++) {
      if ((bounded[i] == FRIX_SHAPE_HULL || bounded[j] == FRIX_SHAPE_HULL) && !s.hull[0]) continue;
      for (int trial = 0; trial < 40; trial++) {
        fx_shape a = random_shape(t, &s, bounded[i]), b = random_shape(t, &s, bounded[j]);
        placed pa = {&a, {random_vec(t), random_quat(t)}}, pb = {&b, {random_vec(t), random_quat(t)}};
        pb.pose.p = fx_mad(pa.pose.p, 0.8 * (a.bound + b.bound) * fabs(fx_test_random(t)), random_unit(t));
        ccd_t ccd;
        CCD_INIT(&ccd);
        ccd.support1 = ccd.support2 = ccd_support;
        ccd.max_iterations = 500;
        ccd.epa_tolerance = 1e-7;
        ccd_real_t depth;
        ccd_vec3_t dir, pos;
        int apart = ccdGJKPenetration(&pa, &pb, &ccd, &depth, &dir, &pos);
        contacts_of(&a, pa.pose, &b, pb.pose, 0.0, &m);
        const fx_touch *x = deepest(&m);
        if (apart) { /* or libccd gave up: then we must not be deep */
          if (x && x->gap < -1e-3 && apart == -1)
            fx_test_fail(t, __FILE__, __LINE__, "%s/%s: libccd sees no overlap, we %g",
                         frix_shape_table((int)a.kind)->name, frix_shape_table((int)b.kind)->name, x->gap);
          continue;
        }
        if (depth < 1e-6) continue;
        REQUIRE(t, x);
        count++;
        /* libccd's polytope stops early on smooth shapes. Its axis is one to judge by: the depth across it is an upper
         * bound of the true one, so ours must not be deeper, and should mostly be the same. */
        frix_vec3 axis = fx_unit(fx_vec(ccdVec3X(&dir), ccdVec3Y(&dir), ccdVec3Z(&dir)));
        double across = -separation(&a, pa.pose, &b, pb.pose, axis), error = -x->gap - across;
        worst = fmax(worst, error);
        if (error > 1e-6)
          fx_test_fail(t, __FILE__, __LINE__, "%s/%s: depth %.9g, %.9g across libccd's axis",
                       frix_shape_table((int)a.kind)->name, frix_shape_table((int)b.kind)->name, -x->gap, across);
        if (error > -1e-3) agree++;
      }
    }
  CHECK(t, count > 400 && agree > count * 3 / 4);
  fx_test_note(t, "%d overlaps, never deeper by more than %.1e; %d agree to 1e-3", count, worst, agree);
  fx_free(s.context, m.touch);
  stock_free(&s);
}
#else
static void pairs_libccd(fx_test *t) { fx_test_skip(t, "libccd-dev is not installed"); }
#endif

#ifdef FRIX_HAVE_ODE
static dGeomID ode_geom(const fx_shape *s, frix_pose pose) {
  dGeomID g;
  frix_vec3 n = fx_rotate(pose.q, fx_vec(0, 0, 1));
  switch (s->kind) {
    case FRIX_SHAPE_SPHERE: g = dCreateSphere(0, s->radius); break;
    case FRIX_SHAPE_CAPSULE: g = dCreateCapsule(0, s->radius, 2 * s->half_length); break;
    case FRIX_SHAPE_BOX: g = dCreateBox(0, 2 * s->half.x, 2 * s->half.y, 2 * s->half.z); break;
    case FRIX_SHAPE_CYLINDER: g = dCreateCylinder(0, s->radius, 2 * s->half_length); break;
    default: return dCreatePlane(0, n.x, n.y, n.z, fx_dot(n, pose.p));
  }
  dQuaternion q = {pose.q.w, pose.q.x, pose.q.y, pose.q.z};
  dGeomSetPosition(g, pose.p.x, pose.p.y, pose.p.z);
  dGeomSetQuaternion(g, q);
  return g;
}

static void pairs_ode(fx_test *t) {
  frix_context *context = new_context(t);
  REQUIRE(t, context);
  dInitODE();
  const frix_shape_kind pair[][2] = {{FRIX_SHAPE_SPHERE, FRIX_SHAPE_SPHERE},   {FRIX_SHAPE_SPHERE, FRIX_SHAPE_BOX},
                                     {FRIX_SHAPE_SPHERE, FRIX_SHAPE_CAPSULE},  {FRIX_SHAPE_SPHERE, FRIX_SHAPE_CYLINDER},
                                     {FRIX_SHAPE_SPHERE, FRIX_SHAPE_PLANE},    {FRIX_SHAPE_BOX, FRIX_SHAPE_PLANE},
                                     {FRIX_SHAPE_CAPSULE, FRIX_SHAPE_PLANE},   {FRIX_SHAPE_CYLINDER, FRIX_SHAPE_PLANE},
                                     {FRIX_SHAPE_CAPSULE, FRIX_SHAPE_CAPSULE}, {FRIX_SHAPE_BOX, FRIX_SHAPE_BOX}};
  stock s = {.context = context};
  fx_manifold m = {.context = context};
  double worst = 0.0, worst_normal = 0.0;
  int count = 0;
  for (size_t k = 0; k < sizeof pair / sizeof *pair; k++)
    for (int trial = 0; trial < 200; trial++) {
      fx_shape a = random_shape(t, &s, pair[k][0]), b = random_shape(t, &s, pair[k][1]);
      frix_pose pa = {random_vec(t), random_quat(t)}, pb = {random_vec(t), random_quat(t)};
      dGeomID ga = ode_geom(&a, pa), gb = ode_geom(&b, pb);
      dContactGeom c[64];
      int n = dCollide(ga, gb, 64, c, sizeof *c), best = 0;
      for (int i = 1; i < n; i++)
        if (c[i].depth > c[best].depth) best = i;
      contacts_of(&a, pa, &b, pb, 0.0, &m);
      const fx_touch *x = deepest(&m);
      dGeomDestroy(ga);
      dGeomDestroy(gb);
      if (!n || c[best].depth < 1e-9) {
        if (x && x->gap < -1e-6)
          fx_test_fail(t, __FILE__, __LINE__, "%s/%s: ODE sees no overlap, we %g", frix_shape_table((int)a.kind)->name,
                       frix_shape_table((int)b.kind)->name, x->gap);
        continue;
      }
      REQUIRE(t, x);
      double error = fabs(c[best].depth + x->gap);
      frix_vec3 normal = {c[best].normal[0], c[best].normal[1], c[best].normal[2]};
      bool boxes = a.kind == FRIX_SHAPE_BOX && b.kind == FRIX_SHAPE_BOX;
      /* ODE prefers faces by a fudge factor and takes capsules' cores when they cross: there ours may be shallower */
      bool deep = a.kind == FRIX_SHAPE_CAPSULE && b.kind == FRIX_SHAPE_CAPSULE && -x->gap > 0.9 * (a.radius + b.radius);
      if ((boxes && fx_dot(normal, x->normal) < 1.0 - 1e-10) || deep) {
        CHECK(t, -x->gap <= c[best].depth + 1e-6);
        continue;
      }
      count++;
      worst = fmax(worst, error);
      worst_normal = fmax(worst_normal, fx_norm(fx_sub(normal, x->normal)));
      if (error > 2e-6 || fx_norm(fx_sub(normal, x->normal)) > 1e-5)
        fx_test_fail(t, __FILE__, __LINE__, "%s/%s: depth %.9g, ODE %.9g, normals %g apart",
                     frix_shape_table((int)a.kind)->name, frix_shape_table((int)b.kind)->name, -x->gap, c[best].depth,
                     fx_norm(fx_sub(normal, x->normal)));
    }
  dCloseODE();
  CHECK(t, count > 500);
  fx_test_note(t, "%d overlaps, depth within %.1e, normal within %.1e", count, worst, worst_normal);
  fx_free(context, m.touch);
  frix_context_destroy(context);
}
#else
static void pairs_ode(fx_test *t) { fx_test_skip(t, "libode-dev is not installed"); }
#endif

/* ---- degenerate worlds ---- */

/* Coincident bodies, needles, slabs, scales from 1e-4 to 1e4 and far from the origin: every answer is finite, normals
 * are unit, overlap is seen. */
static void degenerate_pairs(fx_test *t) {
  stock s;
  REQUIRE(t, stock_new(t, &s));
  fx_manifold m = {.context = s.context};
  int count = 0;
  for (int i = 0; i < BOUNDED; i++)
    for (int j = 0; j < BOUNDED; j++) {
      if ((bounded[i] == FRIX_SHAPE_HULL || bounded[j] == FRIX_SHAPE_HULL) && !s.hull[0]) continue;
      for (int trial = 0; trial < 60; trial++) {
        fx_shape a = random_shape(t, &s, bounded[i]), b = random_shape(t, &s, bounded[j]);
        double scale = pow(10.0, trial % 9 - 4), thin = trial % 4 == 0 ? 1e-4 : 1.0;
        if (bounded[i] != FRIX_SHAPE_HULL)
          a = loose_shape(a.kind, scale * a.radius * thin, scale * a.half_length,
                          fx_vec(scale * a.half.x, scale * a.half.y * thin, scale * a.half.z), NULL);
        if (bounded[j] != FRIX_SHAPE_HULL)
          b = loose_shape(b.kind, scale * b.radius, scale * b.half_length * thin, fx_scale(scale, b.half), NULL);
        frix_vec3 far = trial % 3 == 0 ? fx_scale(1e4, random_vec(t)) : fx_vec(0, 0, 0);
        frix_quat q = trial % 5 == 0 ? fx_quat_one() : random_quat(t);
        frix_pose pa = {far, q}, pb = {far, trial % 2 ? q : random_quat(t)}; /* the same place */
        if (trial % 7 == 6) pb.p = fx_add(far, fx_scale(1e-9 * scale, random_vec(t)));
        contacts_of(&a, pa, &b, pb, 0.01 * scale, &m);
        const fx_touch *x = deepest(&m);
        if (!x || !(x->gap < 0.0)) {
          fx_test_fail(t, __FILE__, __LINE__, "%s/%s in one place: %d contacts, gap %g",
                       frix_shape_table((int)a.kind)->name, frix_shape_table((int)b.kind)->name, m.count,
                       x ? x->gap : NAN);
          continue;
        }
        for (int32_t k = 0; k < m.count; k++) {
          CHECK(t, fx_finite(m.touch[k].point_a) && fx_finite(m.touch[k].point_b) && isfinite(m.touch[k].gap));
          CHECK(t, fabs(fx_norm(m.touch[k].normal) - 1.0) < 1e-12);
        }
        count++;
      }
    }
  fx_test_note(t, "%d pairs", count);
  fx_free(s.context, m.touch);
  stock_free(&s);
}

/* A hull with hundreds of corners within the margin of a plane: few are kept, and however it tilts within the step, the
 * corner that would touch first lies hardly deeper than the kept ones. */
static void planes_thinned(fx_test *t) {
  enum { POINTS = 400 };
  frix_context *context = NULL;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  frix_vec3 p[POINTS];
  for (int k = 0; k < POINTS; k++) p[k] = fx_scale(0.1, random_unit(t));
  fx_geometry *hull = hull_of(context, p, POINTS);
  fx_manifold m = {.context = context};
  fx_shape plane = loose_shape(FRIX_SHAPE_PLANE, 0, 0, fx_vec(0, 0, 0), NULL);
  double margin = 0.05, deepest_miss = 0.0;
  int32_t most = 0;
  for (int trial = 0; hull && trial < 50; trial++) {
    fx_shape a = loose_shape(FRIX_SHAPE_HULL, 0, 0, fx_vec(0, 0, 0), hull);
    frix_pose pose = {fx_vec(0, 0, between(t, 0.09, 0.12)), random_quat(t)}, ground = fx_pose_one();
    contacts_of(&a, pose, &plane, ground, margin, &m);
    if (m.count > most) most = m.count;
    for (int tilt = 0; tilt < 50; tilt++) {
      frix_vec3 slope = fx_scale(between(t, 0.0, 0.5), random_unit(t));
      double all = INFINITY, kept = INFINITY;
      for (int k = 0; k < hull->hull.vertex_count; k++) {
        frix_vec3 x = fx_pose_point(pose, hull->hull.vertex[k]);
        if (x.z <= margin) all = fmin(all, x.z - slope.x * x.x - slope.y * x.y);
      }
      for (int k = 0; k < m.count; k++) {
        frix_vec3 x = m.touch[k].point_a;
        kept = fmin(kept, x.z - slope.x * x.x - slope.y * x.y);
      }
      deepest_miss = fmax(deepest_miss, kept - all);
    }
  }
  CHECK(t, !hull || (most > 8 && most <= 60));
  CHECK(t, deepest_miss < 0.1 * margin);
  fx_test_note(t, "at most %d contacts, missed by at most %.1e m", most, deepest_miss);
  fx_free(context, m.touch);
  fx_geometry_release(context, hull);
  frix_context_destroy(context);
}

const fx_test_row test_pairs[] = {
    {"collision/pairs/brute-force", pairs_brute}, {"collision/pairs/libccd", pairs_libccd},
    {"collision/pairs/ode", pairs_ode},           {"collision/pairs/degenerate", degenerate_pairs},
    {"collision/pairs/planes", planes_exact},     {"collision/pairs/thinned", planes_thinned},

    {"collision/pairs/flat", flat_pairs},         {0},
};
