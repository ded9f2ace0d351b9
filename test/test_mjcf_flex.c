/* <flexcomp> as reduced soft bodies: what is read, what is left out and said, what is refused. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "shell.h"
#include "test.h"

#include <frix/mjcf.h>
#include <frix/sim.h>
#include <frix/soft.h>

#define WORLD(INSIDE) \
  "<mujoco><option timestep='0.002'/><worldbody><geom type='plane' size='2 2 .1'/>" INSIDE "</worldbody></mujoco>"
#define ELASTIC "<elasticity young='2e5' poisson='.3' damping='.002'/>"
#define BLOCK "<flexcomp name='block' type='grid' count='4 4 4' spacing='.05 .05 .05' pos='0 0 .1' dim='3' mass='2'>"
#define BEAM "<flexcomp name='beam' type='grid' count='9 3 3' spacing='.05 .05 .05' pos='0 1 .5' dim='3' mass='1'>"

typedef struct scene {
  frix_context *context;
  frix_mjcf *mjcf;
  frix_mjcf_info info;
  frix_status status;
} scene;

static scene read_text(const char *text, int32_t modes) {
  scene s = {0};
  frix_mjcf_config config = frix_mjcf_default();
  config.soft_modes = modes;
  if (frix_context_create(NULL, &s.context)) return s;
  s.status = frix_mjcf_read_memory(s.context, "flex.xml", text, strlen(text), &config, &s.mjcf);
  if (!s.status) s.info = frix_mjcf_view(s.mjcf);
  return s;
}

static void end(scene *s) {
  frix_mjcf_destroy(s->mjcf);
  frix_context_destroy(s->context);
}

static bool notes(const scene *s, const char *name) {
  for (int32_t k = 0; k < s->info.note_count; k++)
    if (s->info.note[k].kind == FRIX_MJCF_UNSUPPORTED && !strcmp(s->info.note[k].name, name)) return true;
  return false;
}

/* A block falls on the floor and a beam, pinned at one end, sags: mass, size and friction are those of the file. */
static void is_read(fx_test *t) {
  scene s = read_text(WORLD(BLOCK ELASTIC "<contact friction='.5'/></flexcomp>" BEAM
                                          "<elasticity young='1e6' poisson='0' damping='.01'/>"
                                          "<pin gridrange='0 0 0 0 2 2'/></flexcomp>"),
                      8);
  frix_sim *sim = NULL;
  frix_sim_config config = frix_sim_default();
  REQUIRE(t, !s.status && s.info.soft_count == 2 && !notes(&s, "flexcomp"));
  frix_body_id block = frix_model_find_body(s.info.model, "block"), beam = frix_model_find_body(s.info.model, "beam");
  const frix_soft *soft = frix_model_soft(s.info.model, block), *bar = frix_model_soft(s.info.model, beam);
  REQUIRE(t, soft && bar && !frix_sim_create(s.context, s.info.model, &config, &sim));
  CHECK_NEAR(t, frix_soft_view(soft).mass, 2.0, 1e-12);
  CHECK_NEAR(t, frix_soft_view(soft).volume, 0.15 * 0.15 * 0.15, 1e-12);
  CHECK_NEAR(t, frix_soft_view(bar).volume, 0.4 * 0.1 * 0.1, 1e-12);
  frix_step_report report = {.size = sizeof report};
  frix_body_state low, held;
  int certified = 0;
  for (int k = 0; k < 500; k++) {
    if (frix_sim_step(sim, 0.002, &report)) break;
    certified += report.certified;
  }
  CHECK(t, certified == 500);
  CHECK(t, !frix_sim_body(sim, block, &low) && !frix_sim_body(sim, beam, &held));
  CHECK_NEAR(t, low.pose.p.z, 0.075, 2e-3);
  /* w = m g L^3 / (8 E I) at the tip; linear tetrahedra are stiffer */
  double theory = 1.0 * 9.81 * 0.4 * 0.4 * 0.4 / (8.0 * 1e6 * 0.1 * 0.1 * 0.1 * 0.1 / 12.0);
  frix_soft_info info = frix_soft_view(bar);
  frix_vec3 *point = malloc((size_t)info.point_count * sizeof *point);
  double tip = 0.0, fixed = 0.0;
  REQUIRE(t, point && !frix_sim_surface(sim, beam, point));
  for (int32_t k = 0; k < info.point_count; k++) {
    double sunk = 0.5 + info.point[k].z - point[k].z;
    if (info.point[k].x > 0.199) tip = fmax(tip, sunk);
    if (info.point[k].x < -0.199) fixed = fmax(fixed, fabs(sunk));
  }
  CHECK(t, tip > 0.4 * theory && tip < 1.2 * theory);
  CHECK(t, fixed < 0.1 * tip);
  fx_test_note(t, "tip sinks by %.2f mm, theory of beams %.2f mm", 1e3 * tip, 1e3 * theory);
  free(point);
  frix_sim_destroy(sim);
  end(&s);
}

/* Without modes nothing is read; of what there is no like of, it is said. */
static void is_left_out(fx_test *t) {
  static const struct {
    const char *text;
    int32_t modes, count;
  } list[] = {
      {WORLD(BLOCK ELASTIC "</flexcomp>"), 0, 0},
      {WORLD(BLOCK "</flexcomp>"), 4, 0},
      {WORLD("<flexcomp type='grid' count='4 4 1' spacing='.1 .1 .1' dim='2'>" ELASTIC "</flexcomp>"), 4, 0},
      {WORLD("<flexcomp type='ellipsoid' count='4 4 4' spacing='.1 .1 .1' dim='3'>" ELASTIC "</flexcomp>"), 4, 0},
      {WORLD("<body><freejoint/><geom size='.1'/>" BLOCK ELASTIC "</flexcomp></body>"), 4, 0},
  };
  for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
    scene s = read_text(list[k].text, list[k].modes);
    if (s.status || s.info.soft_count != list[k].count || !notes(&s, "flexcomp"))
      fx_test_fail(t, __FILE__, __LINE__, "case %d: %s", (int)k, frix_error_text(s.context));
    end(&s);
  }
  scene s = read_text(
      WORLD("<flexcomp type='grid' count='3 3 3' spacing='.1 .05 .05' dim='3'>" ELASTIC "<pin id='0'/></flexcomp>"), 4);
  CHECK(t, !s.status && s.info.soft_count == 1 && notes(&s, "flexcomp pin"));
  end(&s);
}

static void is_refused(fx_test *t) {
  static const char *const list[] = {
      WORLD("<flexcomp type='grid' count='1 4 4' spacing='.1 .1 .1' dim='3'>" ELASTIC "</flexcomp>"),
      WORLD("<flexcomp type='grid' count='4 4 4' spacing='.1 -.1 .1' dim='3'>" ELASTIC "</flexcomp>"),
      WORLD("<flexcomp type='grid' count='4000 4000 4000' spacing='.1 .1 .1' dim='3'>" ELASTIC "</flexcomp>"),
      WORLD("<flexcomp type='grid' count='4 4 4' spacing='.1 .1 .1' dim='3' mass='0'>" ELASTIC "</flexcomp>"),
      WORLD(BLOCK ELASTIC "<pin id='64'/></flexcomp>"),
      WORLD(BLOCK ELASTIC "<pin gridrange='0 0 0 4 0 0'/></flexcomp>"),
      WORLD(BLOCK ELASTIC "<pin grid='0 0'/></flexcomp>"),
      WORLD(BLOCK "<elasticity young='2e5' poisson='.7'/></flexcomp>"),
      WORLD("<flexcomp type='gmsh' file='nowhere.msh' dim='3'>" ELASTIC "</flexcomp>"),
      WORLD("<flexcomp type='gmsh' dim='3'>" ELASTIC "</flexcomp>"),
  };
  for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
    scene s = read_text(list[k], 4);
    if (!s.status || !strstr(frix_error_text(s.context), "flex.xml:"))
      fx_test_fail(t, __FILE__, __LINE__, "case %d: %s", (int)k, frix_error_text(s.context));
    end(&s);
  }
}

/* The command: exit code 3 without the option, what differs with it. */
static void command_says(fx_test *t) {
  shell_result r = shell(t, "cat >f.xml <<'E'\n" WORLD(BLOCK ELASTIC "</flexcomp>") "\nE\n$frix run f.xml --time 0.01");
  CHECK(t, r.code == 3 && strstr(r.err, "--soft-modes"));
  shell_free(&r);
  r = shell(t, "$frix run f.xml --time 0.01 --soft-modes 6");
  CHECK(t, r.code == 0 && strstr(r.err, "1 soft body of 6 modes"));
  shell_free(&r);
}

const fx_test_row test_mjcf_flex[] = {{"mjcf_flex/is_read", is_read},
                                      {"mjcf_flex/is_left_out", is_left_out},
                                      {"mjcf_flex/is_refused", is_refused},
                                      {"mjcf_flex/command_says", command_says},
                                      {0}};
