/* Degenerate worlds, one list: every step is certified or says that it is not, the state stays finite, a step that is
 * refused leaves everything as it was, and no contact is dropped in silence: what was not pushed through keeps
 * carrying. */
#include "sim_world.h"

typedef struct degenerate {
  const char *name;
  bool (*build)(world *w, double part);
  double part;
  int64_t missed;   /* steps of 100 that may lack a certificate */
  int32_t touching; /* contacts there must be at the end */
  double deepest;   /* overlap that may be left at the end, m */
} degenerate;

/* ---- worlds ---- */

static frix_body_id put(world *w, frix_pose pose, double mass, frix_shape_config shape) {
  frix_body_config b = body_at(pose);
  b.mass = mass;
  return world_body(w, b, shape);
}

static bool tower(world *w, double size, const double mass[3]) {
  world_plane(w, turned(0, 1, 0, 0));
  for (int k = 0; k < 3; k++)
    put(w, at(0, 0, size * (0.1 + 0.2 * k)), mass[k], box_shape(0.1 * size, 0.1 * size, 0.1 * size));
  return world_start(w);
}

static bool heavy_above(world *w, double part) { return tower(w, 1, (double[]){1, 1, part}); }
static bool heavy_below(world *w, double part) { return tower(w, 1, (double[]){part, 1, 1}); }
static bool heavy_between(world *w, double part) { return tower(w, 1, (double[]){1, part, 1}); }
static bool scaled(world *w, double part) { return tower(w, part, (double[]){1, 1, 1}); }

static void new_material(world *w, double mu) {
  frix_material_config m = frix_material_default();
  m.mu = mu;
  MUST(w, frix_builder_add_material(w->builder, &m, &w->material));
}

static bool rubbed(world *w, double part) {
  new_material(w, part);
  put(w, at(1, 0, 0.3), 1, sphere_shape(0.1));
  put(w, (frix_pose){{-1, 0, 0.3}, turned(0.4, 0.6, 0.8, 0)}, 1, box_shape(0.1, 0.05, 0.08));
  return tower(w, 1, (double[]){1, 1, 1});
}

static frix_geometry_id geometry(world *w, frix_geometry_kind kind, const frix_vec3 *point, int32_t points,
                                 const int32_t *triangle, int32_t triangles) {
  frix_geometry_config c = frix_geometry_default();
  frix_geometry_id id = {0, 0};
  c.kind = kind, c.point = point, c.point_count = points, c.triangle = triangle, c.triangle_count = triangles;
  MUST(w, frix_builder_add_geometry(w->builder, &c, &id));
  return id;
}

#ifdef FRIX_HAVE_QHULL
static frix_shape_config hull_shape(world *w, double x, double y, double z) {
  frix_vec3 p[8];
  for (int k = 0; k < 8; k++) p[k] = vec(k & 1 ? x : -x, k & 2 ? y : -y, k & 4 ? z : -z);
  frix_shape_config s = frix_shape_default();
  s.kind = FRIX_SHAPE_HULL;
  s.geometry = geometry(w, FRIX_GEOMETRY_HULL, p, 8, NULL, 0);
  return s;
}
#endif

/* Bodies of one kind in the same place. */
static bool coincident(world *w, double part) {
  frix_shape_config s = part == 0   ? box_shape(0.1, 0.1, 0.1)
                        : part == 1 ? sphere_shape(0.1)
                        : part == 2 ? kind_shape(FRIX_SHAPE_CAPSULE, 0.05, 0.05)
                                    : kind_shape(FRIX_SHAPE_CYLINDER, 0.1, 0.1);
#ifdef FRIX_HAVE_QHULL
  if (part == 4) s = hull_shape(w, 0.1, 0.1, 0.1);
#endif
  world_plane(w, turned(0, 1, 0, 0));
  for (int k = 0; k < 3; k++) put(w, at(0, 0, 0.1), 1, s);
  return world_start(w);
}

/* Needles of 1 m, `part` thick, fall across each other. */
static bool needles(world *w, double part) {
  frix_shape_config s = box_shape(0.5, part, part);
#ifdef FRIX_HAVE_QHULL
  s = hull_shape(w, 0.5, part, part);
#endif
  world_plane(w, turned(0, 1, 0, 0));
  for (int k = 0; k < 3; k++) {
    frix_body_config b = body_at((frix_pose){{0.1 * k, 0, 0.02 * (k + 1)}, turned(1.1 * k, 0, 0, 1)});
    b.mass = 0.1, b.inertia = (frix_sym3){1e-6, 0.01, 0.01, 0, 0, 0};
    world_body(w, b, s);
  }
  return world_start(w);
}

/* A floor of two triangles and three that have no area: a line, a point, and one twice as long as nothing is wide. */
static bool flat_triangles(world *w, double part) {
  (void)part;
  static const frix_vec3 p[] = {{-1, -1, 0}, {1, -1, 0}, {1, 1, 0}, {-1, 1, 0}, {0, 0, 0}, {0.5, 0, 0}};
  static const int32_t t[] = {0, 1, 2, 0, 2, 3, 0, 4, 2, 4, 4, 4, 4, 5, 4};
  frix_shape_config floor = frix_shape_default();
  floor.kind = FRIX_SHAPE_MESH;
  floor.geometry = geometry(w, FRIX_GEOMETRY_MESH, p, 6, t, 5);
  floor.material = w->material;
  MUST(w, frix_builder_add_shape(w->builder, (frix_body_id){0, 0}, &floor, NULL));
  put(w, at(0, 0, 0.15), 1, box_shape(0.1, 0.1, 0.1));
  put(w, at(0.5, 0.5, 0.15), 1, sphere_shape(0.1));
  return world_start(w);
}

/* A slab on part x part welded feet. */
static bool many_feet(world *w, double part) {
  int n = (int)part;
  world_plane(w, turned(0, 1, 0, 0));
  frix_body_config b = body_at(at(0, 0, 0.1));
  b.mass = 10, b.inertia = (frix_sym3){1, 1, 2, 0, 0, 0};
  frix_body_id slab = {0, 0};
  MUST(w, frix_builder_add_body(w->builder, &b, &slab));
  for (int k = 0; k < n * n; k++) {
    frix_shape_config s = box_shape(0.02, 0.02, 0.1);
    s.pose.p = vec(0.1 * (k % n) - 0.05 * (n - 1), 0.1 * (k / n) - 0.05 * (n - 1), 0), s.material = w->material;
    MUST(w, frix_builder_add_shape(w->builder, slab, &s, NULL));
  }
  put(w, at(0, 0, 0.3), 100, box_shape(0.3, 0.3, 0.1));
  return world_start(w);
}

/* Three cubes in a slot that is `part` too narrow for them. */
static bool wedged(world *w, double part) {
  world_plane(w, turned(0, 1, 0, 0));
  for (int side = 0; side < 2; side++) {
    frix_body_config b = body_at(at(side ? 0.2 - part / 2 : -0.2 + part / 2, 0, 0.5));
    b.kind = FRIX_BODY_STATIC;
    world_body(w, b, box_shape(0.1, 0.5, 0.5));
  }
  return tower(w, 1, (double[]){1, 1, 1});
}

/* Jaws that close on a cube at `part` m/s each and cannot: there is no answer, with push-out or without. */
static bool crushed(world *w, double part) {
  world_plane(w, turned(0, 1, 0, 0));
  for (int side = 0; side < 2; side++) {
    frix_body_config b = body_at(at(side ? 0.2 : -0.2, 0, 0.5));
    b.kind = FRIX_BODY_KINEMATIC, b.velocity = vec(side ? -part : part, 0, 0);
    world_body(w, b, box_shape(0.1, 0.4, 0.4));
  }
  put(w, at(0, 0, 0.1), 1, box_shape(0.1, 0.1, 0.1));
  return world_start(w);
}

/* ---- the list ---- */

static const degenerate list[] = {
    {"1e6 kg above", heavy_above, 1e6, 0, 12, 1e-6},
    {"1e6 kg below", heavy_below, 1e6, 0, 12, 1e-6},
    {"1e6 kg between", heavy_between, 1e6, 0, 12, 1e-6},
    {"1e-6 kg above", heavy_above, 1e-6, 0, 12, 1e-6},
    {"1e-6 kg between", heavy_between, 1e-6, 0, 12, 1e-6},
    {"1e-4 m", scaled, 1e-4, 0, 12, 1e-10},
    {"1e4 m", scaled, 1e4, 0, 12, 1e-2},
    {"mu 0", rubbed, 0, 0, 12, 1e-6},
    {"mu 1000", rubbed, 1000, 0, 12, 1e-6},
    {"boxes in one place", coincident, 0, 0, 1, 1},
    {"spheres in one place", coincident, 1, 0, 1, 1},
    {"capsules in one place", coincident, 2, 0, 1, 1},
    {"cylinders in one place", coincident, 3, 0, 1, 1},
    {"hulls in one place", coincident, 4, 0, 1, 1},
    {"needles of 1 mm", needles, 1e-3, 0, 4, 1e-5},
    {"needles of 1 um", needles, 1e-6, 0, 2, 1e-3},
    {"triangles without area", flat_triangles, 0, 0, 5, 1e-6},
    {"100 feet", many_feet, 10, 0, 404, 1e-6},
    {"wedged, exact", wedged, 0, 0, 12, 1e-6},
    {"crushed at 1 mm/s", crushed, 1e-3, 100, 4, 1e-2},
    {"crushed at 0.1 m/s", crushed, 0.1, 100, 4, 1},
    {"wedged, 1 mm too narrow", wedged, 1e-3, 0, 12, 2e-3},
};

enum { WORLDS = sizeof list / sizeof *list };

static bool finite_world(world *w) {
  bool good = true;
  for (frix_body_id id = frix_sim_body_next(w->sim, (frix_body_id){0, 0}); id.index;
       id = frix_sim_body_next(w->sim, id)) {
    frix_body_state s = state_of(w, id);
    good &= isfinite(s.center.x + s.center.y + s.center.z + s.velocity.x + s.velocity.y + s.velocity.z) &&
            isfinite(s.spin.x + s.spin.y + s.spin.z + s.pose.q.w + s.pose.q.x + s.pose.q.y + s.pose.q.z);
  }
  frix_energy e = frix_sim_energy(w->sim);
  return good && isfinite(e.kinetic + e.potential + e.work + e.friction + e.impact + e.scheme + e.error);
}

static void worlds(fx_test *t) {
  for (int k = 0; k < WORLDS; k++) {
    const degenerate *d = &list[k];
    world w = rigid_world(t, 0.5, 0);
    frix_step_report r = {0};
    bool honest = true;
    if (!d->build(&w, d->part)) continue;
    for (int n = 0; n < 100; n++) {
      r = world_step(&w, 0.01);
      honest &= r.certified == (r.outcome == FRIX_OUTCOME_SOLVED);
    }
    if (!honest || !finite_world(&w) || w.unsolved > d->missed || r.touching_count < d->touching ||
        !(r.penetration <= d->deepest))
      fx_test_fail(t, __FILE__, __LINE__, "%s: %d of 100 steps not certified, %d contacts, %.2e m deep%s", d->name,
                   (int)w.unsolved, (int)r.touching_count, r.penetration, finite_world(&w) ? "" : ", not finite");
    if (w.unsolved || w.overlaps_left)
      fx_test_note(t, "%s: %d steps not certified, overlaps left in %d", d->name, (int)w.unsolved,
                   (int)w.overlaps_left);
    world_end(&w);
  }
}

/* A slot that is too narrow has no answer with push-out, and impulses without end would pass for one: the error is
 * small beside them. The step leaves the overlaps, says so, and its forces are those of the weights. */
static void too_narrow(fx_test *t) {
  for (double narrow = 1e-5; narrow < 2e-2; narrow *= 10) {
    world w = rigid_world(t, 0.5, 0);
    REQUIRE(t, wedged(&w, narrow));
    double most = 0;
    for (int n = 0; n < 20; n++) {
      frix_step_report r = world_step(&w, 0.01);
      if (!r.certified || !r.overlaps_left)
        fx_test_fail(t, __FILE__, __LINE__, "%g too narrow, step %d: certified %d, residual %.1e, overlaps left %d",
                     narrow, n, r.certified, r.certificate.residual, r.overlaps_left);
      for (int k = 0; k < r.touching_count; k++) {
        frix_contact_report c;
        MUST(&w, frix_sim_contact(w.sim, k, &c));
        most = fmax(most, fabs(c.force.x) + fabs(c.force.y) + fabs(c.force.z));
      }
    }
    CHECK(t, most < 10 * 3 * 9.81);
    CHECK(t, w.unsolved == 0 && w.overlaps_left == 20);
    world_end(&w);
  }
}

/* Where jaws crush a cube no answer exists, and a strict step says so and stays where it was. */
static void strict(fx_test *t) {
  world w = rigid_world(t, 0.5, 0);
  w.config.policy = FRIX_POLICY_STRICT;
  REQUIRE(t, crushed(&w, 1e-2));
  uint64_t before = 0, after = 0;
  frix_step_report r = {0};
  MUST(&w, frix_sim_hash(w.sim, &before));
  CHECK(t, frix_sim_step(w.sim, 0.01, &r) == FRIX_ERROR_CERTIFICATE);
  CHECK(t, !r.certified && r.outcome != FRIX_OUTCOME_SOLVED &&
               strstr(frix_error_text(w.context), "step 1 is not certified"));
  MUST(&w, frix_sim_hash(w.sim, &after));
  CHECK(t, before == after);
  world_end(&w);
}

/* Forces that are no numbers or overflow are refused, where they are given or by the step, which then changes nothing.
 */
typedef struct pull {
  frix_body_id body;
  frix_vec3 force;
  frix_status status;
} pull;

static void apply(frix_sim *sim, double time, void *user) {
  pull *p = user;
  (void)time;
  p->status = frix_sim_add_force(sim, p->body, p->force, vec(0, 0, 0));
}

static void forces(fx_test *t) {
  static const double sizes[] = {NAN, INFINITY, -INFINITY, 1e308, 1e200, 1e30};
  for (int k = 0; k < (int)(sizeof sizes / sizeof *sizes); k++)
    for (int late = 0; late < 2; late++) {
      pull p = {.force = vec(0, sizes[k], -sizes[k])};
      world w = world_new(t, 0.5, 0);
      uint64_t before = 0, after = 0;
      world_plane(&w, turned(0, 1, 0, 0));
      p.body = put(&w, at(0, 0, 0.1), 1e-3, box_shape(0.1, 0.1, 0.1));
      put(&w, at(0, 0, 0.3), 1, box_shape(0.1, 0.1, 0.1));
      if (late) w.config.force = apply, w.config.user = &p;
      REQUIRE(t, world_start(&w));
      if (!late) p.status = frix_sim_add_force(w.sim, p.body, p.force, vec(0, 0, 0));
      MUST(&w, frix_sim_hash(w.sim, &before));
      frix_step_report r = {0};
      frix_status status = frix_sim_step(w.sim, 0.01, &r);
      CHECK(t, (p.status == FRIX_ERROR_INPUT) == !isfinite(sizes[k]));
      CHECK(t, finite_world(&w));
      if (status != FRIX_OK) {
        MUST(&w, frix_sim_hash(w.sim, &after));
        CHECK(t, before == after && strlen(frix_error_text(w.context)) > 10);
      }
      world_end(&w);
    }
}

const fx_test_row test_degenerate[] = {{"degenerate/worlds", worlds},
                                       {"degenerate/too_narrow", too_narrow},
                                       {"degenerate/strict", strict},
                                       {"degenerate/forces", forces},
                                       {0}};
