/* Tetrahedral meshes: generated shapes, files, surfaces that are filled, and meshes that are refused. */
#include <stdio.h>

#include "io/tet_file.h"
#include "soft_tools.h"

static const char *write_file(fx_test *t, const char *name, const char *text) {
  const char *path = fx_test_scratch(t, name);
  FILE *file = fopen(path, "w");
  if (!file || fputs(text, file) < 0 || fclose(file)) fx_test_fail(t, __FILE__, __LINE__, "cannot write %s", path);
  return path;
}

static frix_status read_tets(lab *l, const char *path, fx_tets *out) {
  bool surface;
  frix_status status = fx_tets_read(&l->arena, path, 8, out, &surface);
  return status ? status : fx_tets_check(&l->arena, out);
}

/* Volumes of the shapes; every mesh passes the checks, and its boundary is closed. */
static void generates_shapes(fx_test *t) {
  static const struct {
    const char *name;
    frix_vec3 size;
    int32_t cells;
    double volume, tolerance;
  } row[] = {
      {"bar", {1, 0.1, 0.1}, 2, 0.01, 1e-12},
      {"plate", {1, 1, 0.1}, 1, 0.1, 1e-12},
      {"strand", {1, 0.05, 0.01}, 1, 0.0005, 1e-12},
      {"chair", {0.45, 0.45, 0.9}, 1, 0, -1},
      {"blob", {0.3, 0.2, 0.15}, 12, 3.14159265358979323846 / 6 * 0.3 * 0.2 * 0.15, 0.03},
      {"blob", {0.3, 0.2, 0.15}, 24, 3.14159265358979323846 / 6 * 0.3 * 0.2 * 0.15, 0.008},
  };
  for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
    lab l;
    fx_tets tets;
    fx_skin skin;
    REQUIRE(t, lab_open(&l));
    if (lab_shape(&l, t, row[k].name, row[k].size, row[k].cells, &tets)) {
      double volume = fx_tets_volume(&tets);
      if (row[k].tolerance > 0) CHECK_NEAR(t, volume / row[k].volume, 1, row[k].tolerance);
      CHECK(t, !fx_tets_skin(&l.arena, &tets, &skin));
      if (fx_skin_check(&l.arena, row[k].name, &skin))
        fx_test_fail(t, __FILE__, __LINE__, "%s", frix_error_text(l.context));
      if (row[k].tolerance > 1e-6) fx_test_note(t, "%s %.1e", row[k].name, volume / row[k].volume - 1);
    }
    lab_close(&l);
  }
}

/* Two tetrahedra in every format; in .msh tags are sparse and other elements stand between. */
static void reads_files(fx_test *t) {
  static const struct {
    const char *name, *text;
  } row[] = {
      {"a.vtk",
       "# vtk DataFile Version 3.0\ntitle\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 5 double\n0 0 0 1 0 0 0 1 0 0 0 "
       "1\n1 "
       "1 1\nCELLS 3 14\n4 0 1 2 3\n3 0 1 2\n4 1 2 3 4\nCELL_TYPES 3\n10\n5\n10\n"},
      {"b.msh",
       "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n5\n10 0 0 0\n20 1 0 0\n3 0 1 0\n4 0 0 1\n7 1 1 "
       "1\n$EndNodes\n$Elements\n3\n1 2 2 1 1 10 20 3\n2 4 2 1 1 10 20 3 4\n3 4 2 1 1 20 3 4 7\n$EndElements\n"},
      {"c.msh",
       "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n2 5 1 50\n2 1 0 2\n1\n2\n0 0 0\n1 0 0\n3 1 0 3\n9\n5\n50\n0 1 "
       "0\n0 "
       "0 1\n1 1 1\n$EndNodes\n$Elements\n2 3 1 3\n2 1 2 1\n1 1 2 9\n3 1 4 2\n2 1 2 9 5\n3 2 9 5 50\n$EndElements\n"},
      {"d.ele", "# of d.node\n2 4 0\n1 1 2 3 4\n2 2 3 4 5 # the second\n"},
  };
  write_file(t, "d.node", "5 3 0 0\n1 0 0 0\n2 1 0 0 # one\n3 0 1 0\n4 0 0 1\n5 1 1 1\n");
  for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
    lab l;
    fx_tets tets;
    REQUIRE(t, lab_open(&l));
    if (read_tets(&l, write_file(t, row[k].name, row[k].text), &tets))
      fx_test_fail(t, __FILE__, __LINE__, "%s", frix_error_text(l.context));
    else
      CHECK(t, tets.tet_count == 2 && tets.vertex_count == 5 && fabs(fx_tets_volume(&tets) - 0.5) < 1e-15);
    lab_close(&l);
  }
}

/* What is refused, with the line. */
static void refuses_broken_meshes(fx_test *t) {
#define HEAD "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\n"
#define GMSH "$MeshFormat\n2.2 0 8\n$Nodes\n"
#define FOUR "1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n"
#define FIVE HEAD "POINTS 5 float\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n1 1 1\n"
  static const struct {
    const char *name, *text, *message;
  } row[] = {
      {"x.vtk", FIVE "CELLS 2 10\n4 0 1 2 3\n4 1 2 4 3\nCELL_TYPES 2\n10 10\n", ":13: tetrahedron 1 is inverted"},
      {"x.vtk", FIVE "CELLS 1 5\n4 0 1 2 2\nCELL_TYPES 1\n10\n", ":12: tetrahedron 0 names vertex 2 twice"},
      {"x.vtk", FIVE "CELLS 1 5\n4 0 1 2 5\nCELL_TYPES 1\n10\n", "corner of a cell is 5, expected 0 to 4"},
      {"x.vtk", HEAD "POINTS 4 float\n0 0 0\n1 0 0\n0 1 0\n1 1 0\nCELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n10\n", "is flat"},
      {"x.vtk",
       HEAD "POINTS 8 float\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 0\n4 0 0\n3 1 0\n3 0 1\nCELLS 2 10\n4 0 1 2 3\n4 4 5 6 "
            "7\nCELL_TYPES 2\n10 10\n",
       "the mesh has 2 parts"},
      {"x.vtk", FIVE "CELLS 2 10\n4 0 1 2 3\n4 0 1 2 4\nCELL_TYPES 2\n10 10\n", "same side of a face"},
      {"x.vtk", FIVE "CELLS 1 4\n3 0 1 2\nCELL_TYPES 1\n5\n", "no tetrahedra"},
      {"x.vtk", "# vtk DataFile Version 3.0\nt\nBINARY\n", "only ASCII"},
      {"x.vtk", FIVE, "ends before CELL_TYPES"},
      {"x.msh", "$MeshFormat\n4.1 1 8\n", ":2: binary Gmsh files"},
      {"x.msh", "$MeshFormat\n3 0 8\n", ":2: Gmsh's format 3 is not read"},
      {"x.msh", "solid\n", "not an ASCII Gmsh file"},
      {"x.msh", "$MeshFormat\n2.2 0 8\n$Nodes\n4\n1 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n", "vertex 1 is given twice"},
      {"x.msh", "$MeshFormat\n2.2 0 8\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$Elements\n1\n1 4 0 1 2 3 9\n",
       ":11: there is no node 9"},
      {"x.msh", "$MeshFormat\n2.2 0 8\n$Nodes\n999999999\n", "is 999999999"},
      {"x.msh", GMSH "4\n" FOUR "$EndNodes\n$Elements\n1\n1 4 0 1 2 3 4\n2 4 0 1 2 4 3\n$EndElements\n",
       ":13: expected $EndElements after the 1 that the section says, found '2'"},
      {"x.msh", GMSH "4\n" FOUR "5 1 1 1\n$EndNodes\n", ":9: expected $EndNodes after the 4"},
      {"x.msh", GMSH "5\n" FOUR "$EndNodes\n", ":9: number of a node: expected a whole number"},
      {"x.msh", GMSH "4\n" FOUR "$EndNodes\n$Elements\n2\n1 4 0 1 2 3 4\n$EndElements\n",
       ":13: number of an element: expected a whole number"},
      {"x.msh", GMSH "4\n" FOUR "$EndNodes\n$Elements\n1\n1 4 0 1 2 3\n$EndElements\n", ":13: corner of an element"},
      {"x.msh",
       GMSH "6\n" FOUR "5 1 1 1\n6 0 0 -1\n$EndNodes\n$Elements\n3\n1 4 0 1 2 3 4\n2 4 0 2 3 4 5\n3 4 0 2 4 3 "
            "6\n$EndElements\n",
       ":14: tetrahedron 0 shares a face with two others"},
      {"x.msh", GMSH "4\n1 0 0 0\n2 1 0 nan\n3 0 1 0\n4 0 0 1\n", ":6: a node, value 2: 'nan' is not a finite number"},
      {"x.vtk", FIVE "1 1 2\nCELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n10\n",
       ":11: expected a keyword, found '1': a section holds more than it says"},
      {"x.vtk", FIVE "CELLS 1 6\n4 0 1 2 3\nCELL_TYPES 1\n10\n", "CELLS has a size of 6, its cells take 5"},
      {"x.ele", "1 4 0\n1 1 2 3 4\n2 1 2 4 3\n", "x.ele:3: expected the end after 1 tetrahedra, found '2'"},
      {"x.ele", "2 4 0\n1 1 2 3 4\n", "x.ele:1: tetrahedra needs 10 values"},
      {"x.ele", "1 4 0\n1 1 2 3 9\n", "x.ele:2: there is no node 9"},
      {"x.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 1 1 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 2 3 5\n",
       "the surface is open"},
      {"x.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\nf 2 3 4\nf 1 4 3\n",
       "turned against each other"},
      {"x.obj",
       "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 0.2 0.2 -0.5\nv 1.2 0.2 0.5\nv 0.2 1.2 0.5\nv 0.2 0.2 1.5\nf 1 3 2\nf 1 "
       "2 "
       "4\nf 2 3 4\nf 1 4 3\nf 5 7 6\nf 5 6 8\nf 6 7 8\nf 5 8 7\n",
       "intersects itself"},
      {"x.ply", "ply\n", "soft bodies are made from"},
  };
  write_file(t, "x.node", "4 3 0 0\n" FOUR);
  for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
    lab l;
    fx_tets tets;
    REQUIRE(t, lab_open(&l));
    frix_status status = read_tets(&l, write_file(t, row[k].name, row[k].text), &tets);
    if (!status || !strstr(frix_error_text(l.context), row[k].message) ||
        !strstr(frix_error_text(l.context), row[k].name))
      fx_test_fail(t, __FILE__, __LINE__, "row %d: status %d, %s", (int)k, status, frix_error_text(l.context));
    lab_close(&l);
  }
}

/* A mesh that bends back into itself: a bar wound so far that its ends overlap. */
static void refuses_self_intersection(fx_test *t) {
  lab l;
  fx_tets tets;
  REQUIRE(t, lab_open(&l));
  if (lab_shape(&l, t, "bar", (frix_vec3){1, 0.05, 0.05}, 1, &tets)) {
    for (int32_t v = 0; v < tets.vertex_count; v++) {
      double angle = (tets.vertex[v].x + 0.5) * 6.4, r = 0.2 + tets.vertex[v].y, s, c;
      frix_sincos(angle, &s, &c);
      tets.vertex[v] = (frix_vec3){r * c, r * s, -tets.vertex[v].z};
    }
    CHECK(t, fx_tets_check(&l.arena, &tets) && strstr(frix_error_text(l.context), "intersects itself"));
  }
  lab_close(&l);
}

/* An octahedron, subdivided onto a sphere, as OBJ text. */
static char *sphere_text(double radius, int n) {
  char *text = malloc(4 << 20), *at = text;
  int count = 0;
  for (int octant = 0; octant < 8; octant++) {
    double sx = octant & 1 ? -1 : 1, sy = octant & 2 ? -1 : 1, sz = octant & 4 ? -1 : 1;
    bool turned = sx * sy * sz < 0;
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n - i; j++)
        for (int up = 0; up < (i + j < n - 1 ? 2 : 1); up++) {
          const int corner[2][3][2] = {{{i, j}, {i + 1, j}, {i, j + 1}}, {{i + 1, j}, {i + 1, j + 1}, {i, j + 1}}};
          for (int c = 0; c < 3; c++) {
            double x = corner[up][c][0], y = corner[up][c][1], z = n - x - y, r = radius / sqrt(x * x + y * y + z * z);
            at += sprintf(at, "v %.12g %.12g %.12g\n", sx * x * r, sy * y * r, sz * z * r);
          }
          at += turned ? sprintf(at, "f %d %d %d\n", count + 1, count + 3, count + 2)
                       : sprintf(at, "f %d %d %d\n", count + 1, count + 2, count + 3);
          count += 3;
        }
  }
  return text;
}

/* Closed surfaces are filled: volume near the surface's own, boundary vertices on the surface, tetrahedra of some
 * quality, signs right at random points. */
static void fills_surfaces(fx_test *t) {
  lab l;
  fx_tets tets;
  REQUIRE(t, lab_open(&l));
  char *text = sphere_text(0.5, 8);
  const char *path = write_file(t, "ball.obj", text);
  bool surface = false;
  if (fx_tets_read(&l.arena, path, 10, &tets, &surface) || fx_tets_check(&l.arena, &tets)) {
    fx_test_fail(t, __FILE__, __LINE__, "%s", frix_error_text(l.context));
  } else {
    double volume = fx_tets_volume(&tets), worst = 1, far = 0;
    fx_skin skin;
    CHECK(t, surface && !fx_tets_skin(&l.arena, &tets, &skin));
    for (int32_t k = 0; k < 3 * skin.triangle_count; k++)
      far = fmax(far, fabs(fx_norm(skin.vertex[skin.triangle[k]]) - 0.5));
    for (int32_t k = 0; k < tets.tet_count; k++) {
      const int32_t *c = tets.tet + 4 * (size_t)k;
      double edge = 0, six = fx_volume6(tets.vertex[c[0]], tets.vertex[c[1]], tets.vertex[c[2]], tets.vertex[c[3]]);
      for (int a = 0; a < 4; a++)
        for (int b = 0; b < a; b++) edge = fmax(edge, fx_norm(fx_sub(tets.vertex[c[a]], tets.vertex[c[b]])));
      worst = fmin(worst, six * 1.41421356 / (edge * edge * edge)); /* 1 for the regular one */
    }
    CHECK_NEAR(t, volume, 4.0 / 3 * 3.14159265358979323846 / 8, 0.02);
    CHECK(t, far < 0.012); /* the facets themselves lie that far inside */
    CHECK(t, worst > 0.1);
    fx_test_note(t, "%d tetrahedra, volume %.4f, quality %.3f", (int)tets.tet_count, volume, worst);
  }
  /* signs */
  fx_distance *d = NULL;
  fx_skin skin;
  bool fine = lab_shape(&l, t, "chair", (frix_vec3){0.45, 0.45, 0.9}, 1, &tets) &&
              !fx_tets_skin(&l.arena, &tets, &skin) && !fx_skin_check(&l.arena, "chair", &skin) &&
              !fx_distance_create(&l.arena, &skin, &d);
  CHECK(t, fine);
  for (int k = 0; fine && k < 500; k++) {
    frix_vec3 p = {0.3 * fx_test_random(t), 0.3 * fx_test_random(t), 0.5 * fx_test_random(t)};
    bool inside = false;
    for (int32_t m = 0; m < tets.tet_count && !inside; m++) {
      const int32_t *c = tets.tet + 4 * (size_t)m;
      frix_vec3 v[4] = {tets.vertex[c[0]], tets.vertex[c[1]], tets.vertex[c[2]], tets.vertex[c[3]]};
      inside = fx_volume6(p, v[1], v[2], v[3]) >= 0 && fx_volume6(v[0], p, v[2], v[3]) >= 0 &&
               fx_volume6(v[0], v[1], p, v[3]) >= 0 && fx_volume6(v[0], v[1], v[2], p) >= 0;
    }
    CHECK(t, (fx_distance_at(d, p) < 0) == inside);
  }
  free(text);
  lab_close(&l);
}

const fx_test_row test_tets[] = {{"tets/generates_shapes", generates_shapes},
                                 {"tets/reads_files", reads_files},
                                 {"tets/refuses_broken_meshes", refuses_broken_meshes},
                                 {"tets/refuses_self_intersection", refuses_self_intersection},
                                 {"tets/fills_surfaces", fills_surfaces},
                                 {0}};
