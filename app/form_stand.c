/* Closed forms of structures that stand up to a limit known from statics. Each limit is found by bisection; what has
 * not moved at all stands. */
#include "form_groups.h"

static double part_of(const fx_form *form) { return form->part; }

/* ---- the farthest that bodies come ---- */

enum { MOST_WATCHED = 128 };

typedef struct watched {
  int count;
  frix_body_id id[MOST_WATCHED];
  frix_vec3 start[MOST_WATCHED];
} watched;

static void watch(watched *all, frix_body_id id) { all->id[all->count++] = id; }

static double moved(const fx_lab *lab, const watched *all) {
  double most = 0;
  for (int k = 0; k < all->count; k++) {
    frix_vec3 c = fx_lab_state(lab, all->id[k]).center, s = all->start[k];
    most = fmax(most, hypot(c.x - s.x, hypot(c.y - s.y, c.z - s.z)));
  }
  return most;
}

/* Whether nothing has moved farther than `far` in the time; ends the lab, early where something has. */
static bool stands(fx_lab *lab, watched *all, double h, double time, double far) {
  if (!fx_lab_start(lab)) return fx_lab_end(lab, 0), false;
  for (int k = 0; k < all->count; k++) all->start[k] = fx_lab_state(lab, all->id[k]).center;
  for (int64_t k = fx_steps_in(time, h); k > 0 && moved(lab, all) < far; k--) fx_lab_step(lab, h);
  return fx_lab_end(lab, moved(lab, all)) < far;
}

/* ---- tilt table: gravity turns instead of the table; part is width over height ---- */

static bool tilt_holds(const fx_form *form, double slope, double h, fx_tally *tally) {
  double angle = atan(slope), g = FX_GRAVITY;
  watched all = {0};
  fx_lab lab = fx_lab_new(form, form->mu, 0, tally);
  fx_lab_slope(&lab, 0);
  if (!tally->failure[0])
    FX_DO(&lab, frix_builder_set_gravity(lab.builder, fx_xyz(g * sin(angle), 0, -g * cos(angle))));
  watch(&all, fx_lab_put(&lab, fx_body(fx_at(0, 0, 0.5)), fx_box(form->part / 2, 0.2, 0.5)));
  return stands(&lab, &all, h, 1, 1e-9);
}

static double tilt_exact(const fx_form *form) { return fmin(form->mu, form->part); }

static double tilt_limit(const fx_form *form, double h, fx_tally *tally) {
  double exact = tilt_exact(form);
  return fx_threshold(form, tilt_holds, 0.93 * exact, 1.1 * exact, 1e-6, h, tally);
}

/* ---- a ladder against a wall of friction part; x is the tangent of its angle ---- */

static bool ladder_holds(const fx_form *form, double x, double h, fx_tally *tally) {
  double half = 0.5, tip = 1e-4, angle = atan(1 / x), c = half * cos(angle), s = half * sin(angle);
  watched all = {0};
  fx_lab lab = fx_lab_new(form, form->mu, 0, tally);
  fx_lab_line(&lab);
  frix_material_config m = frix_material_default();
  m.mu = form->part;
  frix_shape_config wall = frix_shape_default();
  wall.kind = FRIX_SHAPE_HALF_PLANE, wall.pose.q = frix_quat_turn(fx_xyz(0, 0, 1), FX_PI / 2); /* solid where x > 0 */
  wall.material = fx_lab_material(&lab, m);
  fx_lab_shape(&lab, (frix_body_id){0, 0}, wall);
  frix_body_config b = fx_body(fx_at(-c, s, 0));
  b.planar = true, b.mass = 1, b.inertia.zz = half * half / 3;
  frix_shape_config foot = fx_disc(tip), head = fx_disc(tip); /* they touch where the ladder ends */
  foot.pose.p = fx_xyz(-c, tip - s, 0), head.pose.p = fx_xyz(c - tip, s, 0);
  watch(&all, fx_lab_put(&lab, b, foot));
  fx_lab_shape(&lab, all.id[0], head);
  return stands(&lab, &all, h, 0.5, 1e-9);
}

static double ladder_exact(const fx_form *form) {
  double mu = form->mu;
  return form->part > 0 ? (1 - mu * mu) / (2 * mu) : 1 / (2 * mu);
}

/* Steeper ladders stand: the bisection runs over the cotangent. */
static double ladder_limit(const fx_form *form, double h, fx_tally *tally) {
  double exact = 1 / ladder_exact(form);
  return 1 / fx_threshold(form, ladder_holds, 0.93 * exact, 1.1 * exact, 1e-7, h, tally);
}

/* ---- bricks that overhang a table ---- */

enum { BRICKS = 5 };

static double overhang_exact(const fx_form *form) {
  double sum = 0;
  (void)form;
  for (int k = 1; k <= BRICKS; k++) sum += 0.5 / k;
  return sum;
}

static bool overhang_holds(const fx_form *form, double reach, double h, fx_tally *tally) {
  double length = 0.2, high = 0.05, x = 0;
  watched all = {0};
  fx_lab lab = fx_lab_new(form, form->mu, 0, tally);
  frix_body_config table = fx_body(fx_at(-0.5, 0, -0.1)); /* it ends at x = 0 */
  table.kind = FRIX_BODY_STATIC;
  fx_lab_put(&lab, table, fx_box(0.5, 0.2, 0.1));
  /* brick j from the bottom reaches its share of length / (2 (n - j)) over the one below */
  for (int j = 0; j < BRICKS; j++) {
    x += reach / overhang_exact(form) * length / (2 * (BRICKS - j));
    watch(&all,
          fx_lab_put(&lab, fx_body(fx_at(x - length / 2, 0, (j + 0.5) * high)), fx_box(length / 2, 0.05, high / 2)));
  }
  return stands(&lab, &all, h, 1.5, 1e-9);
}

static double overhang_limit(const fx_form *form, double h, fx_tally *tally) {
  double exact = overhang_exact(form);
  return fx_threshold(form, overhang_holds, 0.93 * exact, 1.1 * exact, 1e-5, h, tally);
}

/* ---- three cylinders, two below touching, one on top ---- */

static bool three_stand(const fx_form *form, double mu_cylinder, double mu_ground, double h, fx_tally *tally) {
  watched all = {0};
  fx_lab lab = fx_lab_new(form, mu_ground, 0, tally);
  fx_lab_line(&lab);
  frix_material_config m = frix_material_default();
  m.mu = mu_cylinder;
  frix_material_id wood = fx_lab_material(&lab, m);
  m.mu = mu_ground;
  if (!tally->failure[0]) FX_DO(&lab, frix_builder_set_pair(lab.builder, wood, lab.material, &m));
  double r = 0.1, x[3] = {-r, r, 0}, y[3] = {r, r, r + sqrt(3.0) * r};
  for (int k = 0; k < 3; k++) {
    frix_shape_config s = fx_disc(r);
    s.material = wood;
    frix_body_config b = fx_body(fx_at(x[k], y[k], 0));
    b.planar = true;
    watch(&all, fx_lab_put(&lab, b, s));
  }
  return stands(&lab, &all, h, 0.5, 1e-9);
}

/* The bisection runs over the inverse of the friction: with more of it they stand. */
static bool cylinders_hold(const fx_form *form, double x, double h, fx_tally *tally) {
  return three_stand(form, 1 / x, 0.2, h, tally);
}

static bool ground_holds(const fx_form *form, double x, double h, fx_tally *tally) {
  return three_stand(form, 0.6, 1 / x, h, tally);
}

static double cylinders_exact(const fx_form *form) { return tan(FX_PI / 12) / form->part; }

static double cylinders_limit(const fx_form *form, double h, fx_tally *tally) {
  double exact = 1 / cylinders_exact(form);
  fx_holds holds = form->part > 1 ? ground_holds : cylinders_hold;
  return 1 / fx_threshold(form, holds, 0.93 * exact, 1.1 * exact, 1e-6, h, tally);
}

/* ---- a chain of beads over a quarter of a drum, pulled with T_1 and x T_1 ---- */

static bool capstan_holds(const fx_form *form, double ratio, double h, fx_tally *tally) {
  enum { MOST = 64 };
  int n = form->count;
  double drum = 0.5, r = 0.01, arc = FX_PI / 2, wrap = drum + r, pull = 10, slips = 1e-6;
  frix_body_id bead[MOST];
  fx_lab lab = fx_lab_new(form, form->mu, 0, tally);
  if (!tally->failure[0]) FX_DO(&lab, frix_builder_set_gravity(lab.builder, fx_xyz(0, 0, 0)));
  fx_lab_shape(&lab, (frix_body_id){0, 0}, fx_disc(drum));
  for (int k = 0; k < n; k++) { /* in the middle of equal parts of the arc */
    double a = arc * (k + 0.5) / n;
    frix_body_config b = fx_body(fx_at(wrap * cos(a), wrap * sin(a), 0));
    b.planar = true, b.mass = 0.01, b.inertia.zz = 1e3; /* beads do not roll */
    bead[k] = fx_lab_put(&lab, b, fx_disc(r));
    frix_joint_config j = frix_joint_default(FRIX_JOINT_DISTANCE);
    if (k) j.a = bead[k - 1], j.b = bead[k];
    if (k && !tally->failure[0]) FX_DO(&lab, frix_builder_add_joint(lab.builder, &j, NULL));
  }
  if (!fx_lab_start(&lab)) return fx_lab_end(&lab, 0), false;
  double speed = 0;
  for (int k = 0; k < 20 && speed < slips && !tally->failure[0]; k++) {
    /* the ends leave along the chords, half a part away from the tangent: along x at one end, along y at the other */
    FX_DO(&lab, frix_sim_add_force(lab.sim, bead[0], fx_xyz(0, -pull, 0), fx_xyz(0, 0, 0)));
    FX_DO(&lab, frix_sim_add_force(lab.sim, bead[n - 1], fx_xyz(-pull * ratio, 0, 0), fx_xyz(0, 0, 0)));
    fx_lab_step(&lab, h);
    frix_vec3 v = fx_lab_state(&lab, bead[0]).velocity;
    speed = hypot(v.x, v.y);
  }
  return fx_lab_end(&lab, speed) < slips;
}

/* Each bead turns the chain by 2 b = arc / n: T' (cos b - mu sin b) = T (cos b + mu sin b). */
static double capstan_exact(const fx_form *form) {
  double b = FX_PI / 4 / form->count, m = form->mu;
  return pow((cos(b) + m * sin(b)) / (cos(b) - m * sin(b)), form->count);
}

static double capstan_limit(const fx_form *form, double h, fx_tally *tally) {
  double exact = capstan_exact(form);
  return fx_threshold(form, capstan_holds, 0.93 * exact, 1.1 * exact, 1e-5, h, tally);
}

/* ---- half a ring of flat-faced voussoirs of mean radius 1 on the ground; x: 1 / thickness, thicker ones stand ---- */

static bool arch_holds(const fx_form *form, double x, double h, fx_tally *tally) {
  int n = form->count;
  double inner = 1 - 0.5 / x, outer = 1 + 0.5 / x;
  watched all = {0};
  fx_lab lab = fx_lab_new(form, form->mu, 0, tally);
  fx_lab_line(&lab);
  for (int k = 0; k < n; k++) {
    double a = FX_PI * k / n, b = FX_PI * (k + 1) / n;
    frix_vec3 corner[4] = {{inner * cos(a), inner * sin(a), 0},
                           {outer * cos(a), outer * sin(a), 0},
                           {outer * cos(b), outer * sin(b), 0},
                           {inner * cos(b), inner * sin(b), 0}};
    frix_geometry_config polygon = frix_geometry_default();
    polygon.kind = FRIX_GEOMETRY_POLYGON, polygon.point_count = 4, polygon.point = corner;
    frix_shape_config s = frix_shape_default();
    s.kind = FRIX_SHAPE_POLYGON;
    if (!tally->failure[0]) FX_DO(&lab, frix_builder_add_geometry(lab.builder, &polygon, &s.geometry));
    frix_body_config stone = fx_body(fx_at(0, 0, 0));
    stone.planar = true;
    watch(&all, fx_lab_put(&lab, stone, s));
  }
  return stands(&lab, &all, h, 2, 1e-6);
}

static double arch_limit(const fx_form *form, double h, fx_tally *tally) {
  double exact = 1 / form->part;
  return 1 / fx_threshold(form, arch_holds, 0.97 * exact, 1.03 * exact, 1e-4, h, tally);
}

/* ---- a capsule of 45 g between two pads pressed with part N: its speed downwards ---- */

static double grip_creep(const fx_form *form, double h, fx_tally *tally) {
  double r = 0.004, time = 60;
  fx_lab lab = fx_lab_new(form, form->mu, 0, tally);
  for (int side = 0; side < 2; side++) {
    double sign = side ? -1 : 1;
    frix_body_config b = fx_body(fx_at(sign * (r + 0.01), 0, 0));
    b.mass = 0.1;
    frix_joint_config j = frix_joint_default(FRIX_JOINT_SLIDER);
    j.b = fx_lab_put(&lab, b, fx_box(0.01, 0.02, 0.02));
    j.axis[0].motor = FRIX_MOTOR_FORCE, j.axis[0].target = -sign * form->part;
    fx_lab_joint(&lab, j, b.pose.p, fx_xyz(1, 0, 0));
  }
  frix_shape_config capsule = fx_ball(r);
  capsule.kind = FRIX_SHAPE_CAPSULE, capsule.half_length = 0.01;
  frix_body_config b = fx_body(fx_at(0, 0, 0));
  b.mass = 0.045;
  frix_body_id held = fx_lab_put(&lab, b, capsule);
  if (!fx_lab_start(&lab)) return fx_lab_end(&lab, NAN);
  fx_lab_run(&lab, h, 0.1);
  double z = fx_lab_state(&lab, held).center.z;
  fx_lab_run(&lab, h, time);
  return fx_lab_end(&lab, (z - fx_lab_state(&lab, held).center.z) / time);
}

/* ---- a house of cards of 90 x 60 x 2 mm ---- */

static void put_cards(fx_lab *lab, watched *all, int levels) {
  double length = 0.090, width = 0.060, thick = 0.002, lean = 25 * FX_PI / 180, z = 0;
  double pitch = length + 0.001, ax = -thick * cos(lean), az = thick * sin(lean), dx = length * sin(lean),
         dz = length * cos(lean);
  for (int level = 0; level < levels; level++) {
    double first = level * pitch / 2;
    for (int k = 0; k < 2 * (levels - level); k++) { /* leaning pairs */
      double sign = k % 2 ? -1 : 1, foot = first + k / 2 * pitch - sign * dx;
      frix_body_config card = fx_body(fx_at(foot + sign * 0.5 * (ax + dx), 0, z + 0.5 * (az + dz)));
      card.pose.q = frix_quat_turn(fx_xyz(0, 1, 0), sign * lean);
      watch(all, fx_lab_put(lab, card, fx_box(thick / 2, width / 2, length / 2)));
    }
    z += az + dz;
    for (int k = 0; k + 1 < levels - level; k++) /* lying ones between */
      watch(all, fx_lab_put(lab, fx_body(fx_at(first + (k + 0.5) * pitch, 0, z + thick / 2)),
                            fx_box(length / 2, width / 2, thick / 2)));
    z += thick;
  }
}

static double cards_drift(const fx_form *form, double h, fx_tally *tally) {
  watched all = {0};
  fx_lab lab = fx_lab_new(form, form->mu, 0, tally);
  fx_lab_slope(&lab, 0);
  put_cards(&lab, &all, form->count);
  if (!fx_lab_start(&lab)) return fx_lab_end(&lab, NAN);
  fx_lab_run(&lab, h, 0.6);
  for (int k = 0; k < all.count; k++) all.start[k] = fx_lab_state(&lab, all.id[k]).center;
  fx_lab_run(&lab, h, 60);
  return fx_lab_end(&lab, moved(&lab, &all));
}

static const fx_form rows[] = {
    {"tilt-slides", "a wide block on a tilting table slides at", "tan t = mu", "", tilt_limit, tilt_exact, .mu = 0.4,
     .part = 0.5, .floor = 1e-6},
    {"tilt-topples", "a block b wide and h high, b / h < mu, topples at", "tan t = b / h", "", tilt_limit, tilt_exact,
     .mu = 0.4, .part = 0.3, .floor = 1e-6},
    {"ladder-smooth", "a ladder against a smooth wall stands from", "tan a = 1 / (2 mu)", "", ladder_limit,
     ladder_exact, .mu = 0.4, .part = 0, .floor = 1e-6},
    {"ladder-rough", "with the same friction at the wall", "tan a = (1 - mu^2) / (2 mu)", "", ladder_limit,
     ladder_exact, .mu = 0.4, .part = 0.4, .floor = 1e-6},
    {"overhang", "five bricks reach over a table's edge, in brick lengths", "(1 + 1/2 + ... + 1/5) / 2", "",
     overhang_limit, overhang_exact, .mu = 0.5, .floor = 1e-4},
    {"cylinders", "two cylinders carry a third from this friction between them on", "tan 15 deg", "", cylinders_limit,
     cylinders_exact, .part = 1, .floor = 1e-6},
    {"cylinders-ground", "and from this friction with the ground", "tan 15 deg / 3", "", cylinders_limit,
     cylinders_exact, .part = 3, .floor = 1e-6},
    {"capstan-4", "a chain of 4 beads over a quarter of a drum holds T_2 / T_1 up to",
     "((cos b + mu sin b) / (cos b - mu sin b))^n", "", capstan_limit, capstan_exact, .mu = 0.4, .count = 4,
     .floor = 1e-4},
    {"capstan-16", "of 16 beads; exp(mu pi / 2) = 1.87446 for a rope", "the same, b = pi / (4 n)", "", capstan_limit,
     capstan_exact, .mu = 0.4, .count = 16, .floor = 1e-4},
    {"arch-7", "an arch of 7 voussoirs needs a thickness over radius of", "0.09570", "", arch_limit, part_of, .mu = 0.7,
     .count = 7, .part = 0.09570, .floor = 2e-5},
    {"arch-11", "of 11 voussoirs", "0.10459", "", arch_limit, part_of, .mu = 0.7, .count = 11, .part = 0.10459,
     .floor = 2e-5},
    {"arch-21", "of 21 voussoirs", "0.10669", "", arch_limit, part_of, .mu = 0.7, .count = 21, .part = 0.10669,
     .floor = 2e-5},
    {"arch-101", "of 101 voussoirs; 0.107478 for a continuous ring", "0.10745", "", arch_limit, part_of, .mu = 0.7,
     .count = 101, .part = 0.10745, .floor = 2e-5},
    {"grip-12", "a capsule held by two pads with 12 N: its speed downwards", "0", "m/s", grip_creep, fx_form_zero,
     .mu = 0.7, .part = 12, .floor = 1e-13},
    {"grip-60", "with 60 N", "0", "m/s", grip_creep, fx_form_zero, .mu = 0.7, .part = 60, .floor = 1e-13},
    {"cards-2", "a house of cards of 2 levels: how far a card moves in a minute", "0", "m", cards_drift, fx_form_zero,
     .mu = 0.8, .count = 2, .floor = 1e-13},
    {"cards-4", "of 4 levels", "0", "m", cards_drift, fx_form_zero, .mu = 0.8, .part = 4, .floor = 1e-13},
};

const fx_form_group fx_forms_stand = {"stand", rows, sizeof rows / sizeof *rows};
