/* MJCF: every form of every thing against another form of it, against closed forms, and against what it was written
 * from; the models that come with MuJoCo; what they ask for and frix does not do. */
#include <frix/frix.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shell.h"
#ifdef FRIX_HAVE_EXAMPLES
#include "examples/scene.h"
#endif

#if defined(FRIX_HAVE_EXPAT) && defined(FRIX_HAVE_QHULL)

typedef struct scene {
  frix_context *context;
  frix_mjcf *mjcf;
  frix_mjcf_info info;
  const frix_model *model;
} scene;

static scene read_with(fx_test *t, const char *text, const frix_mjcf_config *config) {
  scene s = {0};
  char name[4096];
  snprintf(name, sizeof name, "%s", fx_test_scratch(t, "scene.xml"));
  if (frix_context_create(NULL, &s.context)) return s;
  if (frix_mjcf_read_memory(s.context, name, text, strlen(text), config, &s.mjcf))
    fx_test_fail(t, __FILE__, __LINE__, "%s", frix_error_text(s.context));
  s.info = frix_mjcf_view(s.mjcf);
  s.model = s.info.model;
  return s;
}

static scene read_text(fx_test *t, const char *text) { return read_with(t, text, NULL); }

static scene read_path(fx_test *t, const char *path) {
  scene s = {0};
  if (frix_context_create(NULL, &s.context)) return s;
  if (frix_mjcf_read(s.context, path, NULL, &s.mjcf))
    fx_test_fail(t, __FILE__, __LINE__, "%s", frix_error_text(s.context));
  s.info = frix_mjcf_view(s.mjcf);
  s.model = s.info.model;
  return s;
}

static void scene_free(scene *s) {
  frix_mjcf_destroy(s->mjcf);
  frix_context_destroy(s->context);
}

static frix_body_config body_at(const scene *s, int32_t k) {
  frix_body_config body = frix_body_default();
  frix_model_body(s->model, frix_model_body_at(s->model, k), &body);
  return body;
}

static frix_shape_config shape_at(const scene *s, int32_t k) {
  frix_shape_config shape = frix_shape_default();
  frix_model_shape(s->model, frix_model_shape_at(s->model, k), &shape, NULL);
  return shape;
}

static frix_material_config law_between(const scene *s, int32_t a, int32_t b) {
  frix_material_config law = frix_material_default();
  frix_model_pair(s->model, shape_at(s, a).material, shape_at(s, b).material, &law);
  return law;
}

static bool meet(const scene *s, int32_t a, int32_t b) {
  frix_shape_config x = shape_at(s, a), y = shape_at(s, b);
  return (x.group & y.mask) && (y.group & x.mask);
}

/* The same turn: quaternions up to sign. */
static double quat_gap(frix_quat a, frix_quat b) {
  double dot = a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z, s = dot < 0 ? -1 : 1;
  return fabs(a.w - s * b.w) + fabs(a.x - s * b.x) + fabs(a.y - s * b.y) + fabs(a.z - s * b.z);
}

static double vec_gap(frix_vec3 a, frix_vec3 b) { return fabs(a.x - b.x) + fabs(a.y - b.y) + fabs(a.z - b.z); }

static double sym_gap(frix_sym3 a, frix_sym3 b) {
  return fabs(a.xx - b.xx) + fabs(a.yy - b.yy) + fabs(a.zz - b.zz) + fabs(a.xy - b.xy) + fabs(a.xz - b.xz) +
         fabs(a.yz - b.yz);
}

#define BALL "<freejoint/><geom size='0.1'/>"

/* ---- orientations ---- */

/* Rows of one text stand for the same turn. */
static void orientations(fx_test *t) {
  static const struct {
    const char *compiler, *first, *second;
  } rows[] = {
      {"", "quat='2 0 0 2'", "euler='0 0 90'"},
      {"", "axisangle='0 0 3 90'", "euler='0 0 90'"},
      {"", "xyaxes='0 2 0 -1 0.5 0'", "euler='0 0 90'"},
      {"", "zaxis='0 -1 0'", "euler='90 0 0'"},
      {"", "zaxis='0 0 -5'", "axisangle='1 0 0 180'"},
      {"", "zaxis='1e-9 0 -1'", "axisangle='0 1 0 179.99999994270422'"},
      {"angle='radian'", "euler='0 0 1.5707963267948966'", "axisangle='0 0 1 1.5707963267948966'"},
  };
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    char text[1024];
    snprintf(text, sizeof text,
             "<mujoco><compiler %s/><worldbody><body %s>" BALL "</body><body %s>" BALL "</body></worldbody></mujoco>",
             rows[k].compiler, rows[k].first, rows[k].second);
    scene s = read_text(t, text);
    if (!(quat_gap(body_at(&s, 0).pose.q, body_at(&s, 1).pose.q) < 1e-9))
      fx_test_fail(t, __FILE__, __LINE__, "%s is not %s", rows[k].first, rows[k].second);
    scene_free(&s);
  }
  /* turning axes in one order are fixed axes in the other */
  scene a = read_text(t, "<mujoco><worldbody><body euler='10 20 30'>" BALL "</body></worldbody></mujoco>");
  scene b = read_text(
      t, "<mujoco><compiler eulerseq='ZYX'/><worldbody><body euler='30 20 10'>" BALL "</body></worldbody></mujoco>");
  CHECK(t, quat_gap(body_at(&a, 0).pose.q, body_at(&b, 0).pose.q) < 1e-15);
  scene_free(&a);
  scene_free(&b);
  /* Rx(10) Ry(20) Rz(30) as a matrix */
  const double d = acos(-1.0) / 180;
  scene s = read_text(t, "<mujoco><worldbody><body euler='10 20 30'>" BALL "</body></worldbody></mujoco>");
  frix_quat q = body_at(&s, 0).pose.q;
  CHECK_NEAR(t, 2 * (q.x * q.z + q.w * q.y), sin(20 * d), 1e-15);
  CHECK_NEAR(t, 1 - 2 * (q.y * q.y + q.z * q.z), cos(20 * d) * cos(30 * d), 1e-15);
  CHECK_NEAR(t, 1 - 2 * (q.x * q.x + q.y * q.y), cos(10 * d) * cos(20 * d), 1e-15);
  scene_free(&s);
}

static void from_to(fx_test *t) {
  scene s = read_text(t,
                      "<mujoco><worldbody><geom type='capsule' size='0.1' fromto='1 0 0 1 0 4'/>"
                      "<geom type='box' size='0.1' fromto='0 0 0 3 0 4'/>"
                      "<geom type='capsule' size='0.1 2' pos='1 0 2'/></worldbody></mujoco>");
  CHECK_NEAR(t, shape_at(&s, 0).half_length, 2, 1e-15);
  CHECK_NEAR(t, shape_at(&s, 0).radius, 0.1, 0);
  CHECK_NEAR(t, vec_gap(shape_at(&s, 0).pose.p, shape_at(&s, 2).pose.p), 0, 1e-15);
  CHECK_NEAR(t, shape_at(&s, 1).half.z, 2.5, 1e-15);
  CHECK_NEAR(t, shape_at(&s, 1).half.y, 0.1, 0);
  /* z runs towards the first end */
  frix_quat q = shape_at(&s, 1).pose.q;
  CHECK_NEAR(t, 2 * (q.x * q.z + q.w * q.y), -0.6, 1e-15);
  scene_free(&s);
}

/* ---- defaults, frames, replicas, includes ---- */

static void defaults(fx_test *t) {
  scene s =
      read_text(t,
                "<mujoco><default><geom type='box' size='1 1 1' friction='0.1'/>"
                "<default class='a'><geom size='2 2 2'/><default class='b'><geom friction='0.3'/></default></default>"
                "<default class='c'><geom type='sphere'/></default></default><default><geom density='500'/></default>"
                "<worldbody><geom/><geom class='a'/><geom class='b'/>"
                "<body childclass='b'><geom/><geom class='c' size='5'/><body><geom/></body>"
                "<body childclass='a'><geom/></body><frame childclass='c'><geom/></frame></body></worldbody></mujoco>");
  static const double size[] = {1, 2, 2, 2, 5, 2, 2, 1}, mu[] = {0.1, 0.1, 0.3, 0.3, 0.1, 0.3, 0.1, 0.1};
  for (int32_t k = 0; k < 8; k++) {
    frix_shape_config c = shape_at(&s, k);
    bool ball = k == 4 || k == 7;
    CHECK(t, c.kind == (ball ? FRIX_SHAPE_SPHERE : FRIX_SHAPE_BOX));
    CHECK_NEAR(t, ball ? c.radius : c.half.x, size[k], 0);
    CHECK_NEAR(t, law_between(&s, k, k).mu, mu[k], 0);
  }
  scene_free(&s);
}

/* Of a list that may be short, what it leaves out stays as the classes have it, the nearest first. */
static void short_lists(fx_test *t) {
  scene s = read_text(t,
                      "<mujoco><default><geom type='box' size='1 2 3' friction='0.9 0.1 0.2' condim='6'/>"
                      "<default class='a'><geom size='4 5' friction='0.8 0.3'/></default></default>"
                      "<worldbody><geom size='6'/><geom class='a' size='7' friction='0.5'/><geom friction='0.4'/>"
                      "</worldbody></mujoco>");
  static const double size[][3] = {{6, 2, 3}, {7, 5, 3}, {1, 2, 3}};
  static const double mu[][3] = {{0.9, 0.1, 0.2}, {0.5, 0.3, 0.2}, {0.4, 0.1, 0.2}};
  for (int32_t k = 0; k < 3; k++) {
    frix_vec3 half = shape_at(&s, k).half;
    frix_material_config law = law_between(&s, k, k);
    CHECK(t, half.x == size[k][0] && half.y == size[k][1] && half.z == size[k][2]);
    CHECK(t, law.mu == mu[k][0] && law.spinning == mu[k][1] && law.rolling == mu[k][2]);
  }
  scene_free(&s);
}

#define DENTED                                                                                                  \
  "<asset><mesh name='m' vertex='0 0 0 1 0 0 0 1 0 0 0 1 0.1 0.1 0.1' face='0 2 1 0 1 3 0 3 2 4 1 2 4 2 3 4 3 " \
  "1'/></asset>"                                                                                                \
  "<worldbody><body><freejoint/><geom type='mesh' mesh='m' density='6000'/></body></worldbody></mujoco>"

/* A tetrahedron whose face is pushed in to 0.3 of its volume: files of older versions ask for exact inertias of all. */
static void exact_meshes(fx_test *t) {
  scene legacy = read_text(t, "<mujoco>" DENTED);
  scene exact = read_text(t, "<mujoco><compiler exactmeshinertia='true'/>" DENTED);
  CHECK_NEAR(t, body_at(&exact, 0).mass, 300, 1e-9);
  CHECK(t, body_at(&legacy, 0).mass > 400);
  scene_free(&legacy);
  scene_free(&exact);
}

static void frames_and_replicas(fx_test *t) {
  scene s =
      read_text(t, "<mujoco><worldbody><body name='first'>" BALL
                   "</body>"
                   "<replicate count='12' offset='1 0 0' euler='0 0 90' sep='-'><body name='r' pos='0 0 1'>" BALL
                   "</body></replicate><replicate count='2'><replicate count='3' offset='0 2 0'><body name='n'>" BALL
                   "</body></replicate></replicate>"
                   "<frame pos='0 0 5' euler='0 0 90'><frame pos='1 0 0'><body name='f' pos='1 0 0'>" BALL
                   "</body></frame></frame></worldbody></mujoco>");
  CHECK(t, frix_model_count(s.model).body_count == 1 + 12 + 6 + 1);
  CHECK(t, !strcmp(body_at(&s, 1).name, "r-00") && !strcmp(body_at(&s, 12).name, "r-11"));
  /* round the square */
  CHECK_NEAR(t, vec_gap(body_at(&s, 2).pose.p, (frix_vec3){1, 0, 1}), 0, 1e-15);
  CHECK_NEAR(t, vec_gap(body_at(&s, 3).pose.p, (frix_vec3){1, 1, 1}), 0, 1e-15);
  CHECK_NEAR(t, vec_gap(body_at(&s, 5).pose.p, (frix_vec3){0, 0, 1}), 0, 1e-14);
  CHECK(t, !strcmp(body_at(&s, 13).name, "n00") && !strcmp(body_at(&s, 14).name, "n10") &&
               !strcmp(body_at(&s, 16).name, "n01"));
  CHECK_NEAR(t, body_at(&s, 15).pose.p.y, 4, 0);
  CHECK_NEAR(t, vec_gap(body_at(&s, 19).pose.p, (frix_vec3){0, 2, 5}), 0, 1e-15);
  scene_free(&s);
}

static void includes(fx_test *t) {
  shell_result r =
      shell(t,
            "mkdir -p sub/deep; echo '<mujoco><worldbody><geom name=\"a\" size=\"1\"/></worldbody>"
            "<include file=\"deep/two.xml\"/></mujoco>' > sub/one.xml; "
            "echo '<mujoco><compiler angle=\"radian\"/><worldbody><geom name=\"b\" size=\"2\"/></worldbody>"
            "</mujoco>' > sub/deep/two.xml; echo '<x><geom name=\"c\" size=\"3\"/></x>' > part.xml");
  shell_free(&r);
  scene s = read_text(t,
                      "<mujoco><include file='sub/one.xml'/><worldbody><body><include file='part.xml'/></body>"
                      "</worldbody></mujoco>");
  CHECK(t, frix_model_count(s.model).shape_count == 3);
  CHECK(t, !strcmp(shape_at(&s, 2).name, "c"));
  scene_free(&s);
}

/* ---- masses ---- */

#define CUBE "-1 -2 -3  1 -2 -3  -1 2 -3  1 2 -3  -1 -2 3  1 -2 3  -1 2 3  1 2 3"

static void write_meshes(fx_test *t) {
  static const int face[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                                  {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  FILE *obj = fopen(fx_test_scratch(t, "cube.obj"), "w"), *ascii = fopen(fx_test_scratch(t, "ascii.stl"), "w"),
       *stl = fopen(fx_test_scratch(t, "cube.stl"), "w"), *msh = fopen(fx_test_scratch(t, "cube.msh"), "w");
  if (!obj || !ascii || !stl || !msh) return;
  float v[8][3];
  int32_t counts[4] = {8, 0, 0, 12};
  fwrite(counts, 4, 4, msh);
  for (int k = 0; k < 8; k++) {
    v[k][0] = k & 1 ? 1 : -1, v[k][1] = k & 2 ? 2 : -2, v[k][2] = k & 4 ? 3 : -3;
    fprintf(obj, "v %g %g %g\n", v[k][0], v[k][1], v[k][2]);
    fwrite(v[k], 4, 3, msh);
  }
  fprintf(obj, "vn 0 0 1\nusemtl x\nf 1//1 3//1 4//1 2//1\nf -4 -3 -1 -2\n");
  fprintf(ascii, "solid cube\n");
  char head[80] = "solid but binary";
  int32_t triangles = 12;
  fwrite(head, 1, 80, stl);
  fwrite(&triangles, 4, 1, stl);
  for (int f = 0; f < 12; f++) {
    float normal[3] = {0};
    uint16_t none = 0;
    if (f > 3) fprintf(obj, "f %d/1 %d/2 %d/3\r\n", face[f][0] + 1, face[f][1] + 1, face[f][2] + 1);
    fprintf(ascii, "facet normal 0 0 0\nouter loop\n");
    fwrite(normal, 4, 3, stl);
    for (int k = 0; k < 3; k++) {
      const float *p = v[face[f][k]];
      fprintf(ascii, "vertex %g %g %g\n", p[0], p[1], p[2]);
      fwrite(p, 4, 3, stl);
      int32_t corner = face[f][k];
      fwrite(&corner, 4, 1, msh);
    }
    fprintf(ascii, "endloop\nendfacet\n");
    fwrite(&none, 2, 1, stl);
  }
  fprintf(ascii, "endsolid cube\n");
  fclose(obj), fclose(ascii), fclose(stl), fclose(msh);
}

/* A box as a mesh, in every file format and by every rule, is a box. */
static void mesh_masses(fx_test *t) {
  write_meshes(t);
  static const char *const mesh[] = {"vertex='" CUBE "'", "file='cube.obj'", "file='cube.stl'", "file='ascii.stl'",
                                     "file='cube.msh'"};
  static const char *const kind[] = {"legacy", "exact", "convex"};
  for (size_t m = 0; m < 5; m++)
    for (size_t k = 0; k < 3; k++) {
      char text[1024];
      snprintf(text, sizeof text,
               "<mujoco><asset><mesh name='m' %s inertia='%s' scale='0.5 -1 1' refpos='0 0 1'/></asset><worldbody>"
               "<body><freejoint/><geom type='mesh' mesh='m' euler='0 0 90'/></body>"
               "<body><freejoint/><geom type='box' size='0.5 2 3' euler='0 0 90' pos='0 0 -1'/></body>"
               "</worldbody></mujoco>",
               mesh[m], kind[k]);
      scene s = read_text(t, text);
      frix_body_config a = body_at(&s, 0), b = body_at(&s, 1);
      CHECK_NEAR(t, a.mass, 24000, 1e-9);
      CHECK_NEAR(t, b.mass, 24000, 1e-9);
      CHECK_NEAR(t, vec_gap(a.center, b.center), 0, 1e-14);
      CHECK_NEAR(t, sym_gap(a.inertia, b.inertia), 0, 1e-9 * b.inertia.xx);
      CHECK(t, shape_at(&s, 0).kind == FRIX_SHAPE_HULL);
      scene_free(&s);
    }
  /* the surface of a cube of half width h: 5/3 ... m (2 h)^2 5/18 */
  scene s = read_text(t,
                      "<mujoco><asset><mesh name='m' inertia='shell' vertex='-1 -1 -1 1 -1 -1 -1 1 -1 1 1 -1 -1 -1 1 "
                      "1 -1 1 -1 1 1 1 1 1'/></asset><worldbody><body><freejoint/><geom type='mesh' mesh='m' "
                      "mass='2'/></body></worldbody></mujoco>");
  CHECK_NEAR(t, body_at(&s, 0).mass, 2, 1e-15);
  CHECK_NEAR(t, body_at(&s, 0).inertia.xx, 2 * 4 * 5.0 / 18, 1e-14);
  scene_free(&s);
}

static void inertials(fx_test *t) {
  scene s = read_text(t,
                      "<mujoco><worldbody>"
                      "<body><freejoint/><inertial mass='2' pos='1 2 3' diaginertia='2 3 4' euler='0 0 90'/></body>"
                      "<body><freejoint/><inertial mass='2' pos='1 2 3' fullinertia='3 2 4 0 0 0'/></body>"
                      "<body><freejoint/><frame pos='1 0 0' euler='0 0 90'><inertial mass='2' pos='2 -2 3' "
                      "diaginertia='2 3 4'/></frame></body></worldbody></mujoco>");
  for (int32_t k = 0; k < 3; k++) {
    frix_body_config b = body_at(&s, k);
    CHECK_NEAR(t, b.mass, 2, 0);
    CHECK_NEAR(t, sym_gap(b.inertia, (frix_sym3){3, 2, 4, 0, 0, 0}), 0, 1e-15);
    if (k < 2) CHECK_NEAR(t, vec_gap(b.center, (frix_vec3){1, 2, 3}), 0, 1e-15);
  }
  CHECK_NEAR(t, vec_gap(body_at(&s, 2).center, (frix_vec3){3, 2, 3}), 0, 1e-14);
  scene_free(&s);

  /* the compiler's rules */
  s = read_text(t,
                "<mujoco><compiler settotalmass='6' boundmass='2' inertiagrouprange='0 1' balanceinertia='true'/>"
                "<worldbody><body><freejoint/><geom size='1' mass='1'/><geom size='1' mass='9' group='3'/></body>"
                "<body><freejoint/><inertial mass='1' diaginertia='1 1 4'/><geom size='1'/></body></worldbody>"
                "</mujoco>");
  CHECK_NEAR(t, body_at(&s, 0).mass, 3, 1e-15);
  CHECK_NEAR(t, body_at(&s, 1).mass, 3, 1e-15);
  CHECK_NEAR(t, sym_gap(body_at(&s, 1).inertia, (frix_sym3){3, 3, 3, 0, 0, 0}), 0, 1e-14);
  CHECK_NEAR(t, body_at(&s, 0).inertia.xx, 1.5 * 0.4, 1e-15);
  scene_free(&s);

  /* parts that are fixed to a free body are one with it: two balls, one on a child */
  s = read_text(t,
                "<mujoco><worldbody><body><freejoint/><geom size='0.1' mass='1'/>"
                "<body pos='2 0 0'><geom size='0.1' mass='1'/></body></body></worldbody></mujoco>");
  CHECK_NEAR(t, body_at(&s, 0).center.x, 1, 1e-15);
  CHECK_NEAR(t, body_at(&s, 0).inertia.yy, 2 * 0.4 * 0.01 + 2, 1e-14);
  CHECK(t, s.info.fused_count == 1 && frix_model_count(s.model).shape_count == 2);
  scene_free(&s);
}

static void height_fields(fx_test *t) {
  scene s = read_text(t,
                      "<mujoco><asset><hfield name='h' nrow='2' ncol='3' size='1 2 3 0.1' elevation='1 2 3 4 5 9'/>"
                      "</asset><worldbody><geom type='hfield' hfield='h'/></worldbody></mujoco>");
  frix_geometry_config g = frix_geometry_default();
  CHECK(t, frix_model_geometry(s.model, shape_at(&s, 0).geometry, &g) == FRIX_OK);
  static const double height[] = {1.125, 1.5, 3, 0, 0.375, 0.75};
  for (int k = 0; k < 6; k++) CHECK_NEAR(t, g.height ? g.height[k] : NAN, height[k], 1e-15);
  CHECK_NEAR(t, g.width, 2, 0);
  CHECK_NEAR(t, g.depth, 4, 0);
  scene_free(&s);
}

/* ---- contacts ---- */

static void friction(fx_test *t) {
  scene s = read_text(t,
                      "<mujoco><worldbody>"
                      "<geom size='1' friction='0.2 0.01 0.002' condim='1'/>"
                      "<body><freejoint/><geom size='1' friction='0.5 0.02 0.001' condim='3'/></body>"
                      "<body><freejoint/><geom size='1' friction='0.1 0.03 0.003' condim='6'/></body>"
                      "<body><freejoint/><geom size='1' friction='0.05 0 0' condim='1' priority='2'/></body>"
                      "<body><freejoint/><geom size='1' friction='0.3 0.04 0.1' condim='4' priority='1'/></body>"
                      "</worldbody></mujoco>");
  static const double want[5][5][3] = {
      [0][0] = {0, 0, 0},          [0][1] = {0.5, 0, 0},        [0][2] = {0.2, 0.03, 0.003}, [0][3] = {0, 0, 0},
      [1][1] = {0.5, 0, 0},        [1][2] = {0.5, 0.03, 0.003}, [1][3] = {0, 0, 0},          [0][4] = {0.3, 0.04, 0},
      [2][2] = {0.1, 0.03, 0.003}, [2][4] = {0.3, 0.04, 0},     [3][4] = {0, 0, 0},
  };
  for (int32_t a = 0; a < 4; a++)
    for (int32_t b = a; b < 5; b++) {
      if ((a == 1 && b == 4) || (a == 2 && b == 3) || (a == 3 && b == 3)) continue;
      frix_material_config law = law_between(&s, a, b);
      CHECK_NEAR(t, law.mu, want[a][b][0], 0);
      CHECK_NEAR(t, law.spinning, want[a][b][1], 0);
      CHECK_NEAR(t, law.rolling, want[a][b][2], 0);
    }
  scene_free(&s);
}

static void who_meets_whom(fx_test *t) {
  scene s = read_text(t,
                      "<mujoco><worldbody>"
                      "<geom name='floor' size='1' contype='1' conaffinity='2'/>"
                      "<body name='a'><freejoint/><geom name='ga' size='1' contype='2' conaffinity='0'/></body>"
                      "<body name='b'><freejoint/><geom name='gb' size='1' contype='4' conaffinity='1'/></body>"
                      "<body name='c'><freejoint/><geom name='gc' size='1' contype='4' conaffinity='0'/></body>"
                      "<body name='d'><freejoint/><geom name='gd' size='1' friction='0.7'/><body name='part'>"
                      "<geom name='gp' size='1'/></body></body></worldbody>"
                      "<contact><exclude body1='a' body2='world'/><exclude body1='part' body2='b'/>"
                      "<pair geom1='gc' geom2='floor' friction='0.25' condim='3'/></contact></mujoco>");
  CHECK(t, meet(&s, 0, 1) && meet(&s, 0, 2)); /* the first is excluded by body */
  CHECK(t, meet(&s, 0, 3));                   /* by the pair alone */
  CHECK(t, !meet(&s, 1, 2) && !meet(&s, 2, 3) && !meet(&s, 3, 3));
  CHECK(t, meet(&s, 2, 4) && !meet(&s, 2, 5)); /* b meets d but not its part */
  CHECK_NEAR(t, law_between(&s, 0, 3).mu, 0.25, 0);
  CHECK_NEAR(t, law_between(&s, 0, 4).mu, 1, 0);
  scene_free(&s);
  s = read_text(t,
                "<mujoco><option><flag contact='disable' gravity='disable'/></option><worldbody><geom size='1'/>"
                "<body mocap='true'><geom size='1'/></body><body gravcomp='0.25'>" BALL "</body></worldbody></mujoco>");
  CHECK(t, !meet(&s, 0, 1) && frix_model_gravity(s.model).z == 0);
  CHECK(t, body_at(&s, 0).kind == FRIX_BODY_KINEMATIC);
  CHECK_NEAR(t, body_at(&s, 1).gravity_scale, 0.75, 0);
  scene_free(&s);
}

/* ---- keyframes ---- */

static void keyframes(fx_test *t) {
  static const char text[] =
      "<mujoco><worldbody><body><body><joint/><joint type='ball'/><geom size='1'/></body></body>"
      "<body mocap='true' pos='9 9 9'/>"
      "<body name='b'><freejoint/><geom size='0.1' pos='0 0 1'/></body></worldbody>"
      "<keyframe><key name='rest'/><key name='go' time='2' mpos='1 2 3' qpos='0 1 0 0 0  5 6 7 0.5 0.5 0.5 0.5' "
      "qvel='0 0 0 0 1 2 3 4 0 0'/></keyframe></mujoco>";
  frix_mjcf_config config = frix_mjcf_default();
  config.key = "go";
  scene s = read_with(t, text, &config);
  REQUIRE(t, s.info.key_count == 2 && s.info.key[1].state_count == 2);
  CHECK(t, !strcmp(s.info.key[0].name, "rest"));
  CHECK_NEAR(t, s.info.key[0].state[0].pose.p.x, 9, 0);
  CHECK_NEAR(t, s.info.key[1].time, 2, 0);
  CHECK_NEAR(t, s.info.key[1].state[0].pose.p.y, 2, 0);
  /* x, y, z of the body lie along y, z, x; its spin of 4 about its own x is 4 about y of the world, its centre lies
   * 1 along x: the centre moves with v + w x d = (1, 2, 3) + (0, 4, 0) x (1, 0, 0) */
  frix_body_config b = body_at(&s, 2);
  CHECK_NEAR(t, vec_gap(b.pose.p, (frix_vec3){5, 6, 7}), 0, 0);
  CHECK_NEAR(t, vec_gap(b.spin, (frix_vec3){0, 4, 0}), 0, 1e-15);
  CHECK_NEAR(t, vec_gap(b.velocity, (frix_vec3){1, 2, -1}), 0, 1e-14);
  CHECK_NEAR(t, vec_gap(body_at(&s, 1).pose.p, (frix_vec3){1, 2, 3}), 0, 0);
  scene_free(&s);
}

/* ---- what is not there ---- */

static void notes(fx_test *t) {
  static const struct {
    const char *file, *names; /* unsupported, in the order of the file */
  } rows[] = {
      {"models/mjcf/humanoid/humanoid.xml",
       "tendon fixed range 2 192, joint range 6 126, joint stiffness 6 126, joint damping 6 126, joint armature 6 126, "
       "joints of one body: hinge hinge 2 134"},
      {"models/mjcf/car/car.xml", ""},
      {"models/mjcf/cube/cube_3x3x3.xml", "joint frictionloss of a ball 20 123"},
      {"models/mjcf/cards/cards.xml",
       "option density 1 14, option viscosity 1 14, geom fluidcoef 108 183, geom fluidshape 53 185"},
      {"models/mjcf/mug/mug.xml", ""},
      {"models/mjcf/replicate/bunnies.xml", ""},
      {"models/mjcf/replicate/particle_free.xml", ""}};
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    const char *path = fx_test_shared(t, rows[k].file);
    if (!path) return;
    scene s = read_path(t, path);
    char names[2048] = "";
    for (int32_t n = 0; n < s.info.note_count; n++) {
      const frix_mjcf_note *note = &s.info.note[n];
      if (note->kind != FRIX_MJCF_UNSUPPORTED) continue;
      size_t at = strlen(names);
      snprintf(names + at, sizeof names - at, "%s%s %d %d", at ? ", " : "", note->name, (int)note->count,
               (int)note->line);
      CHECK(t, !strcmp(note->file, path));
    }
    if (strcmp(names, rows[k].names)) fx_test_fail(t, __FILE__, __LINE__, "%s: %s", rows[k].file, names);
    scene_free(&s);
    frix_mjcf_config config = frix_mjcf_default();
    config.strict = true;
    frix_context *context = NULL;
    frix_mjcf *mjcf = NULL;
    CHECK(t, frix_context_create(NULL, &context) == FRIX_OK);
    frix_status status = frix_mjcf_read(context, path, &config, &mjcf);
    CHECK(t, status == (*rows[k].names ? FRIX_ERROR_UNSUPPORTED : FRIX_OK));
    frix_mjcf_destroy(mjcf);
    frix_context_destroy(context);
  }
}

/* Softness is answered; defaults count where they are used, and a neutral value is no demand. */
static void answers(fx_test *t) {
  scene s = read_text(t,
                      "<mujoco><option impratio='10' noslip_iterations='3'/><default><geom solref='0.01 1'/>"
                      "<joint damping='1'/><default class='wet'><geom fluidshape='ellipsoid'/></default></default>"
                      "<worldbody><geom size='1' solimp='0 1 1' gap='0.1'/><body>"
                      "<freejoint/><geom size='1' rgba='1 0 0 1' fluidshape='none' class='wet'/></body>"
                      "</worldbody></mujoco>");
  char names[1024] = "";
  for (int32_t n = 0; n < s.info.note_count; n++) {
    const frix_mjcf_note *note = &s.info.note[n];
    size_t at = strlen(names);
    snprintf(names + at, sizeof names - at, "%d %s %d;", (int)note->kind, note->name, (int)note->count);
    if (note->kind == FRIX_MJCF_NOT_NEEDED) CHECK(t, strstr(note->text, "solves contacts and limits exactly") != NULL);
  }
  if (strcmp(names, "1 option impratio 1;1 option noslip_iterations 1;1 geom solimp 1;1 geom solref 2;2 geom rgba 1;"))
    fx_test_fail(t, __FILE__, __LINE__, "%s", names);
  scene_free(&s);
}

/* ---- running ---- */

static void shared_models_run(fx_test *t) {
  static const struct {
    const char *file;
    int32_t free;
    int steps;
    double h;
  } rows[] = {{"models/mjcf/replicate/particle_free.xml", 27, 60, 0.01},
              {"models/mjcf/replicate/bunnies.xml", 125, 12, 0.01},
              {"models/mjcf/mug/mug.xml", 1, 40, 0.002},
              {"models/mjcf/cards/cards.xml", 53, 20, 0.001}};
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    const char *path = fx_test_shared(t, rows[k].file);
    if (!path) return;
    scene s = read_path(t, path);
    frix_sim *sim = NULL;
    int32_t dynamic = 0;
    for (int32_t b = 0; b < frix_model_count(s.model).body_count; b++)
      dynamic += body_at(&s, b).kind == FRIX_BODY_DYNAMIC;
    CHECK(t, dynamic == rows[k].free);
    CHECK(t, frix_sim_create(s.context, s.model, NULL, &sim) == FRIX_OK);
    int32_t contacts = 0;
    for (int step = 0; sim && step < rows[k].steps; step++) {
      frix_step_report report = {.size = sizeof report};
      if (frix_sim_step(sim, rows[k].h, &report) || !report.certified) {
        fx_test_fail(t, __FILE__, __LINE__, "%s: step %d: residual %g, %s", rows[k].file, step,
                     report.certificate.residual, frix_error_text(s.context));
        break;
      }
      contacts = report.contact_count > contacts ? report.contact_count : contacts;
    }
    fx_test_note(t, "%d ", (int)contacts);
    frix_sim_destroy(sim);
    scene_free(&s);
  }
}

/* ---- writing ---- */

/* Shapes by body, as a file lists them; within a body in the order of adding. */
static int32_t *by_body(const scene *s) {
  frix_model_counts c = frix_model_count(s->model);
  int32_t *order = malloc(sizeof *order * (size_t)(c.shape_count + 1)), at = 0;
  for (int32_t b = 0; order && b <= c.body_count; b++)
    for (int32_t k = 0; k < c.shape_count; k++) {
      frix_shape_config shape;
      frix_body_id body;
      frix_model_shape(s->model, frix_model_shape_at(s->model, k), &shape, &body);
      if (body.index == (uint32_t)b) order[at++] = k;
    }
  return order;
}

static void compare_shapes(fx_test *t, const scene *a, const scene *b, double *worst) {
  int32_t *x = by_body(a), *y = by_body(b), count = frix_model_count(a->model).shape_count;
  for (int32_t k = 0; x && y && k < count; k++) {
    frix_shape_config p = shape_at(a, x[k]), q = shape_at(b, y[k]);
    CHECK(t, p.kind == q.kind && p.radius == q.radius);
    *worst = fmax(*worst, vec_gap(p.pose.p, q.pose.p) + quat_gap(p.pose.q, q.pose.q));
    for (int32_t j = 0; j < count && count < 60; j++) {
      CHECK(t, meet(a, x[k], x[j]) == meet(b, y[k], y[j]));
      if (meet(a, x[k], x[j])) CHECK_NEAR(t, law_between(b, y[k], y[j]).mu, law_between(a, x[k], x[j]).mu, 0);
    }
  }
  free(x);
  free(y);
}

static void compare(fx_test *t, const scene *a, const scene *b) {
  frix_model_counts x = frix_model_count(a->model), y = frix_model_count(b->model);
  REQUIRE(t, x.body_count == y.body_count && x.shape_count == y.shape_count);
  double worst = 0;
  for (int32_t k = 0; k < x.body_count; k++) {
    frix_body_config p = body_at(a, k), q = body_at(b, k);
    CHECK(t, p.kind == q.kind && p.gravity_scale == q.gravity_scale);
    CHECK(t, p.mass == q.mass);
    double scale = 1e-300 + p.inertia.xx + p.inertia.yy + p.inertia.zz;
    worst = fmax(worst, vec_gap(p.pose.p, q.pose.p) + quat_gap(p.pose.q, q.pose.q) + vec_gap(p.center, q.center) +
                            sym_gap(p.inertia, q.inertia) / scale);
  }
  compare_shapes(t, a, b, &worst);
  CHECK_NEAR(t, worst, 0, 1e-13);
}

static void round_trip_of(fx_test *t, scene *a) {
  const char *path = fx_test_scratch(t, "written.xml");
  frix_mjcf_write_config config = frix_mjcf_write_default();
  config.name = "a <name> & \"more\"";
  if (frix_mjcf_write(a->context, a->model, path, &config))
    fx_test_fail(t, __FILE__, __LINE__, "%s", frix_error_text(a->context));
  scene b = read_path(t, fx_test_scratch(t, "written.xml"));
  CHECK(t, b.info.name && !strcmp(b.info.name, config.name));
  if (b.model) compare(t, a, &b);
  scene_free(&b);
}

static void round_trip(fx_test *t) {
  write_meshes(t);
  scene s = read_text(t,
                      "<mujoco><asset><mesh name='m' file='cube.obj'/><hfield name='h' nrow='2' ncol='2' size='1 1 1 "
                      "1' elevation='0 1 2 3'/></asset><custom><text name='frix_triangles' data='m'/></custom>"
                      "<worldbody><geom type='plane' size='1 1 1' friction='0.3'/><geom type='hfield' hfield='h' "
                      "pos='0 0 -9'/><geom type='mesh' mesh='m' pos='20 0 0'/>"
                      "<body mocap='true' pos='0 0 7'><geom type='cylinder' size='1 2'/></body>"
                      "<body name='x' pos='1 2 3' euler='10 20 30' gravcomp='0.5'><freejoint/>"
                      "<geom type='mesh' mesh='m' pos='0.1 0.2 0.3' euler='5 6 7' contype='2' conaffinity='3'/>"
                      "<geom type='capsule' size='0.1 0.2' condim='6' friction='0.5 0.1 0.01'/></body>"
                      "<body><freejoint/><geom type='ellipsoid' size='1 2 3' priority='1' friction='0.4'/></body>"
                      "<body name='y'><freejoint/><geom type='box' size='1 2 3' contype='2' conaffinity='2'/></body>"
                      "</worldbody><contact><exclude body1='x' body2='y'/></contact></mujoco>");
  CHECK(t, shape_at(&s, 2).kind == FRIX_SHAPE_MESH);
  round_trip_of(t, &s);
  scene_free(&s);
  static const char *const file[] = {"replicate/bunnies.xml", "replicate/particle_free.xml", "mug/mug.xml",
                                     "cards/cards.xml", "car/car.xml"};
  for (size_t k = 0; k < sizeof file / sizeof *file; k++) {
    char name[128];
    snprintf(name, sizeof name, "models/mjcf/%s", file[k]);
    const char *path = fx_test_shared(t, name);
    if (!path) return;
    s = read_path(t, path);
    round_trip_of(t, &s);
    scene_free(&s);
  }
}

/* Scenes of the table go out and come back; the flat ones say that they cannot. */
static void scenes(fx_test *t) {
#ifdef FRIX_HAVE_EXAMPLES
  static const char *const name[] = {"cardhouse", "stack", "wall", "loghouse", "dominoes", "balls", "top", "incline"};
  for (size_t k = 0; k < sizeof name / sizeof *name; k++) {
    scene s = {0};
    frix_model *model = NULL;
    const frix_scene *row = frix_scene_find(name[k]);
    REQUIRE(t, row && frix_context_create(NULL, &s.context) == FRIX_OK);
    CHECK(t, frix_scene_build(row, s.context, NULL, 0, &model) == FRIX_OK);
    s.model = model;
    if (model) round_trip_of(t, &s);
    frix_model_destroy(model);
    frix_context_destroy(s.context);
  }
#else
  fx_test_skip(t, "built without examples");
#endif
}

/* frix's own way of mixing, velocities, things MJCF has no place for. */
static void written_models(fx_test *t) {
  frix_context *context = NULL;
  frix_builder *builder = NULL;
  scene a = {0};
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  CHECK(t, frix_builder_create(context, &builder) == FRIX_OK);
  frix_material_id id[3];
  static const double mu[] = {0.2, 0.8, 0.4};
  for (int k = 0; k < 3; k++) {
    frix_material_config m = frix_material_default();
    m.mu = mu[k], m.restitution = k == 1 ? 0.5 : 0;
    CHECK(t, frix_builder_add_material(builder, &m, &id[k]) == FRIX_OK);
  }
  frix_shape_config shape = frix_shape_default();
  shape.kind = FRIX_SHAPE_PLANE, shape.material = id[0];
  CHECK(t, frix_builder_add_shape(builder, (frix_body_id){0, 0}, &shape, NULL) == FRIX_OK);
  for (int k = 0; k < 40; k++) {
    frix_body_config body = frix_body_default();
    frix_body_id b;
    body.name = k < 2 ? "twin" : NULL;
    body.pose.p = (frix_vec3){k, 0, 1};
    body.velocity.x = 0.1 * k, body.spin = (frix_vec3){0, 1, 2};
    shape.kind = FRIX_SHAPE_SPHERE, shape.radius = 0.1, shape.material = id[k % 2 + 1];
    shape.pose.p.z = 0.2;
    CHECK(t, frix_builder_add_body(builder, &body, &b) == FRIX_OK);
    CHECK(t, frix_builder_add_shape(builder, b, &shape, NULL) == FRIX_OK);
  }
  frix_model *model = NULL;
  CHECK(t, frix_builder_compile(builder, &model) == FRIX_OK);
  const char *path = fx_test_scratch(t, "written.xml");
  CHECK(t, frix_mjcf_write(context, model, path, NULL) == FRIX_OK);
  char *text = shell_read(fx_test_scratch(t, "written.xml"));
  CHECK(t, strstr(text, "not in this file: restitution") != NULL);
  free(text);
  frix_mjcf_config config = frix_mjcf_default();
  config.key = "start";
  a.context = context, a.model = model;
  scene b = {.context = context};
  if (frix_mjcf_read(context, fx_test_scratch(t, "written.xml"), &config, &b.mjcf))
    fx_test_fail(t, __FILE__, __LINE__, "%s", frix_error_text(context));
  b.info = frix_mjcf_view(b.mjcf);
  b.model = b.info.model;
  if (b.model) {
    compare(t, &a, &b);
    for (int32_t k = 0; k < 40; k++) {
      CHECK_NEAR(t, vec_gap(body_at(&a, k).velocity, body_at(&b, k).velocity), 0, 1e-14);
      CHECK_NEAR(t, vec_gap(body_at(&a, k).spin, body_at(&b, k).spin), 0, 1e-15);
    }
  }
  frix_mjcf_destroy(b.mjcf);
  frix_model_destroy(model);
  frix_builder_destroy(builder);
  frix_context_destroy(context);
}

/* ---- the command, memory ---- */

static void command(fx_test *t) {
  shell_result r = shell(t,
                         "echo '<mujoco><worldbody><body name=\"b\"><freejoint/><geom size=\"1\"/></body></worldbody>"
                         "<actuator><muscle body=\"b\"/></actuator></mujoco>' > s.xml; $frix info s.xml --json");
  CHECK(t, r.code == 0 && shell_json(r.out) && strstr(r.out, "\"actuator muscle\"") && strstr(r.out, "\"line\": 1"));
  shell_free(&r);
  r = shell(t, "$frix info s.xml --strict");
  CHECK(t, r.code == 2 && strstr(r.err, "s.xml:1: actuator muscle"));
  shell_free(&r);
  r = shell(t, "$frix scene s.xml --out w.xml && $frix info w.xml");
  CHECK(t, r.code == 0 && strstr(r.out, "1 moving") && strstr(r.err, "actuator muscle"));
  shell_free(&r);
}

typedef struct miser {
  int64_t left, held;
} miser;

static void *take(size_t bytes, void *user) {
  miser *m = user;
  if (m->left-- <= 0) return NULL;
  m->held++;
  return malloc(bytes);
}

static void give(void *pointer, size_t bytes, void *user) {
  (void)bytes;
  ((miser *)user)->held--;
  free(pointer);
}

/* Memory that runs out anywhere is an error and loses nothing. */
static void memory(fx_test *t) {
  static const char text[] =
      "<mujoco model='m'><default><geom rgba='1 1 1 1'/></default><asset><mesh name='m' vertex='" CUBE
      "'/><hfield name='h' nrow='2' ncol='2' size='1 1 1 1'/></asset><worldbody><geom type='hfield' hfield='h'/>"
      "<replicate count='3'><body name='b'><freejoint/><geom name='g' type='mesh' mesh='m'/></body></replicate>"
      "<body name='l'><joint name='j'/><geom size='1'/><site name='s'/><body><joint name='k'/><geom size='1'/></body>"
      "</body></worldbody><contact><exclude body1='b0' body2='b1'/><pair geom1='g1' "
      "geom2='g2'/></contact><keyframe><key "
      "name='k' qvel='0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0'/></keyframe><sensor><x/></sensor><tendon><fixed "
      "name='t'>"
      "<joint joint='j' coef='1'/></fixed></tendon><equality><connect body1='l' anchor='0 0 0'/><joint joint1='j' "
      "joint2='k'/></equality><actuator><position joint='j'/><motor tendon='t'/></actuator></mujoco>";
  int64_t k = 0;
  for (; k < 5000; k++) {
    miser m = {.left = k};
    frix_context_config config = frix_context_default();
    config.allocate = take, config.release = give, config.user = &m;
    frix_context *context = NULL;
    frix_mjcf *mjcf = NULL;
    frix_status status = frix_context_create(&config, &context);
    if (!status) status = frix_mjcf_read_memory(context, "m.xml", text, sizeof text - 1, NULL, &mjcf);
    if (!status) status = frix_mjcf_write(context, frix_mjcf_view(mjcf).model, "/dev/null", NULL);
    frix_mjcf_destroy(mjcf);
    frix_context_destroy(context);
    if (m.held) fx_test_fail(t, __FILE__, __LINE__, "%d blocks lost when allocation %d fails", (int)m.held, (int)k);
    if (status == FRIX_OK) break;
    if (status != FRIX_ERROR_MEMORY)
      fx_test_fail(t, __FILE__, __LINE__, "allocation %d: status %d", (int)k, (int)status);
  }
  CHECK(t, k < 5000);
  fx_test_note(t, "%d allocations", (int)k);
}

const fx_test_row test_mjcf[] = {{"mjcf/orientations", orientations},
                                 {"mjcf/from-to", from_to},
                                 {"mjcf/defaults", defaults},
                                 {"mjcf/frames-and-replicas", frames_and_replicas},
                                 {"mjcf/includes", includes},
                                 {"mjcf/mesh-masses", mesh_masses},
                                 {"mjcf/inertials", inertials},
                                 {"mjcf/height-fields", height_fields},
                                 {"mjcf/friction", friction},
                                 {"mjcf/short_lists", short_lists},
                                 {"mjcf/exact_meshes", exact_meshes},
                                 {"mjcf/who-meets-whom", who_meets_whom},
                                 {"mjcf/keyframes", keyframes},
                                 {"mjcf/notes", notes},
                                 {"mjcf/answers", answers},
                                 {"mjcf/shared-models-run", shared_models_run},
                                 {"mjcf/round-trip", round_trip},
                                 {"mjcf/scenes", scenes},
                                 {"mjcf/written-models", written_models},
                                 {"mjcf/command", command},
                                 {"mjcf/memory", memory},
                                 {0}};

#else

static void absent(fx_test *t) { fx_test_skip(t, "built without expat or qhull"); }

const fx_test_row test_mjcf[] = {{"mjcf", absent}, {0}};

#endif
