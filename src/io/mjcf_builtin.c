/* Meshes that a file names by a word and some numbers: vertices within one unit, faces where they are not those of the
 * convex hull.
 *
 *   sphere K              icosahedron, every face cut into four K times
 *   hemisphere K          octahedron's upper half with K + 1 edges on a side, drawn to the sphere, and its base
 *   cone N R              N edges, radius 1 below and R above
 *   supersphere N E F     N parallels and meridians; exponents from east to west and from north to south
 *   supertorus N R S T    N circles of radius R; exponents of a section and of the ring
 *   wedge N M A B G       directions of a touch sensor of N x M cells, within A and B degrees, denser in the middle by
 * G; tangents along both angles
 *   plate N M             the grid of a flat one, below its frame; tangents y and z, as in MuJoCo */
#include <string.h>

#include "base/trig.h"
#include "io/draft.h"
#include "io/mesh_file.h"
#include "io/mjcf_internal.h"

enum { MOST_PARAMETERS = 5, MOST_SIDE = 1000 };

typedef struct maker {
  fx_mjcf_reader *r;
  fx_mjcf_asset *asset;
  const fx_xml_element *e;
  fx_mesh *mesh;
} maker;

static frix_status take(maker *m, int64_t vertices, int64_t triangles) {
  m->mesh->vertex = FX_TAKE_RAW(&m->r->arena, frix_vec3, vertices);
  m->mesh->triangle = FX_TAKE_RAW(&m->r->arena, int32_t, 3 * triangles + 1);
  return m->mesh->vertex && m->mesh->triangle ? FRIX_OK : FRIX_ERROR_MEMORY;
}

static void vertex(maker *m, double x, double y, double z) {
  m->mesh->vertex[m->mesh->vertex_count++] = fx_vec(x, y, z);
}

static void face(maker *m, int32_t a, int32_t b, int32_t c) {
  int32_t *t = m->mesh->triangle + 3 * (size_t)m->mesh->triangle_count++;
  t[0] = a, t[1] = b, t[2] = c;
}

/* ---- spheres ---- */

/* The middle of an edge, drawn to the sphere: the same one for both of its faces. MuJoCo finds it in single precision,
 * and the next ones from it. */
static int32_t middle(maker *m, int32_t a, int32_t b) {
  frix_vec3 u = m->mesh->vertex[a], v = m->mesh->vertex[b];
  float x = (float)u.x + (float)v.x, y = (float)u.y + (float)v.y, z = (float)u.z + (float)v.z;
  float norm = sqrtf(x * x + y * y + z * z);
  frix_vec3 p = {(double)(x / norm), (double)(y / norm), (double)(z / norm)};
  for (int32_t k = 0; k < m->mesh->vertex_count; k++)
    if (fx_norm(fx_sub(m->mesh->vertex[k], p)) < 1e-6) return k;
  m->mesh->vertex[m->mesh->vertex_count] = p;
  return m->mesh->vertex_count++;
}

static frix_status make_sphere(maker *m, const double *given) {
  static const int32_t corner[20][3] = {{0, 11, 5}, {0, 5, 1},  {0, 1, 7},   {0, 7, 10}, {0, 10, 11},
                                        {1, 5, 9},  {5, 11, 4}, {11, 10, 2}, {10, 7, 6}, {7, 1, 8},
                                        {3, 9, 4},  {3, 4, 2},  {3, 2, 6},   {3, 6, 8},  {3, 8, 9},
                                        {4, 9, 5},  {2, 4, 11}, {6, 2, 10},  {8, 6, 7},  {9, 8, 1}};
  const double golden = 0.5 * (1.0 + sqrt(5.0)), scale = 1.0 / sqrt(1.0 + golden * golden);
  const double s = scale, g = golden * scale;
  int levels = (int)given[0];
  if (!(given[0] >= 0.0 && given[0] < 5.0)) return fx_mjcf_fail(m->r, m->e, "mesh sphere: wants 0 to 4 subdivisions");
  int64_t faces = 20;
  for (int k = 0; k < levels; k++) faces *= 4;
  frix_status status = take(m, faces / 2 + 2, faces);
  if (status) return status;
  for (int turn = 0; turn < 3; turn++)
    for (int k = 0; k < 4; k++) {
      double a = k % 2 ? s : -s, b = k < 2 ? g : -g;
      if (turn == 0) vertex(m, a, b, 0.0);
      if (turn == 1) vertex(m, 0.0, a, b);
      if (turn == 2) vertex(m, b, 0.0, a);
    }
  for (int k = 0; k < 20; k++) face(m, corner[k][0], corner[k][1], corner[k][2]);
  for (int level = 0; level < levels; level++)
    for (int32_t k = 0, count = m->mesh->triangle_count; k < count; k++) {
      int32_t *t = m->mesh->triangle + 3 * (size_t)k, a = t[0], b = t[1], c = t[2];
      int32_t ab = middle(m, a, b), bc = middle(m, b, c), ca = middle(m, c, a);
      t[0] = ab, t[1] = bc, t[2] = ca;
      face(m, a, ab, ca), face(m, b, bc, ab), face(m, c, ca, bc);
    }
  return FRIX_OK;
}

/* Vertex k of the ring that is n edges from the top; 4 n of them, none but the top on ring 0. */
static int32_t on_ring(int32_t n, int32_t k) { return n == 0 ? 0 : 1 + 2 * n * (n - 1) + k % (4 * n); }

static frix_status make_hemisphere(maker *m, const double *given) {
  if (!(given[0] >= 0.0 && given[0] < 11.0)) return fx_mjcf_fail(m->r, m->e, "mesh hemisphere: wants 0 to 10 cuts");
  int32_t rings = (int32_t)given[0] + 1;
  frix_status status = take(m, 2 * rings * (rings + 1) + 2, 4 * rings * rings + 4 * rings);
  if (status) return status;
  vertex(m, 0.0, 0.0, 1.0);
  for (int32_t n = 1; n <= rings; n++)
    for (int32_t k = 0; k < 4 * n; k++) {
      double along = k % n, left = n - k % n;
      const double x[4] = {left, -along, -left, along}, y[4] = {along, left, -along, -left};
      frix_vec3 p = fx_unit(fx_vec(x[k / n], y[k / n], rings - n));
      vertex(m, p.x, p.y, p.z);
    }
  vertex(m, 0.0, 0.0, 0.0);
  for (int32_t n = 1; n <= rings; n++) /* one face more than edges in each quarter of a ring */
    for (int32_t quarter = 0; quarter < 4; quarter++)
      for (int32_t k = 0; k < n; k++) {
        int32_t outer = quarter * n + k, inner = quarter * (n - 1) + k;
        face(m, on_ring(n - 1, inner), on_ring(n, outer), on_ring(n, outer + 1));
        if (k + 1 < n) face(m, on_ring(n - 1, inner), on_ring(n, outer + 1), on_ring(n - 1, inner + 1));
      }
  for (int32_t k = 0; k < 4 * rings; k++) face(m, on_ring(rings, k), m->mesh->vertex_count - 1, on_ring(rings, k + 1));
  return FRIX_OK;
}

static frix_status make_cone(maker *m, const double *given) {
  if (!(given[0] >= 3.0 && given[0] <= MOST_SIDE && given[1] >= 0.0))
    return fx_mjcf_fail(m->r, m->e, "mesh cone: wants 3 to %d edges, and no negative radius", MOST_SIDE);
  int32_t edges = (int32_t)given[0];
  frix_status status = take(m, 2 * edges, 0);
  for (int end = 0; end < 2 && !status; end++)
    for (int32_t k = 0; k < (end && given[1] == 0.0 ? 1 : edges); k++) {
      double sine, cosine, radius = end ? given[1] : 1.0;
      fx_sincos(2.0 * FX_PI * k / edges, &sine, &cosine);
      vertex(m, radius * cosine, radius * sine, end ? 1.0 : -1.0);
    }
  return status;
}

/* ---- superquadrics ---- */

/* Powers of cosine and sine that keep the sign. */
static void powers(double angle, double exponent, double *cosine, double *sine) {
  double s, c;
  fx_sincos(angle, &s, &c);
  *cosine = copysign(fx_pow(fabs(c), exponent), c), *sine = copysign(fx_pow(fabs(s), exponent), s);
}

static frix_status check_side(const maker *m, double side) {
  if (side >= 3.0 && side <= MOST_SIDE) return FRIX_OK;
  return fx_mjcf_fail(m->r, m->e, "mesh %s: wants 3 to %d vertices around", fx_xml_value(m->e, "builtin"), MOST_SIDE);
}

static frix_status make_supersphere(maker *m, const double *given) {
  int32_t n = (int32_t)given[0], last = (n - 1) * n + 1;
  frix_status status = check_side(m, given[0]);
  if (!status && !(given[1] >= 0.0 && given[2] >= 0.0))
    status = fx_mjcf_fail(m->r, m->e, "mesh supersphere: exponents must not be negative");
  if (!status) status = take(m, (int64_t)last + 1, 2 * (int64_t)n * (n - 1));
  if (status) return status;
  vertex(m, 0.0, 0.0, -1.0);
  for (int32_t i = 1; i < n; i++)
    for (int32_t k = 0; k < n; k++) {
      double out, up, x, y;
      powers(-0.5 * FX_PI + FX_PI * i / n, given[2], &out, &up);
      powers(-FX_PI + 2.0 * FX_PI * k / n, given[1], &x, &y);
      vertex(m, out * x, out * y, up);
    }
  vertex(m, 0.0, 0.0, 1.0);
  for (int32_t k = 0; k < n; k++) {
    int32_t next = (k + 1) % n;
    face(m, 0, 1 + next, 1 + k);
    for (int32_t i = 0; i + 2 < n; i++) {
      int32_t a = 1 + i * n, b = a + n;
      face(m, a + k, a + next, b + k), face(m, a + next, b + next, b + k);
    }
    face(m, last - n + k, last - n + next, last);
  }
  return FRIX_OK;
}

static frix_status make_supertorus(maker *m, const double *given) {
  int32_t n = (int32_t)given[0];
  frix_status status = check_side(m, given[0]);
  if (!status && !(given[1] > 0.0 && given[1] <= 1.0 && given[2] > 0.0 && given[3] > 0.0))
    status = fx_mjcf_fail(m->r, m->e, "mesh supertorus: wants a radius up to 1 and exponents above 0");
  if (!status) status = take(m, (int64_t)n * n, 2 * (int64_t)n * n);
  for (int32_t i = 0; i < n && !status; i++)
    for (int32_t k = 0; k < n; k++) {
      double out, up, x, y;
      powers(2.0 * FX_PI * k / n, given[2], &out, &up);
      powers(2.0 * FX_PI * i / n, given[3], &x, &y);
      vertex(m, (1.0 + given[1] * out) * x, (1.0 + given[1] * out) * y, given[1] * up);
      int32_t a = i * n, b = (i + 1) % n * n, next = (k + 1) % n;
      face(m, a + k, b + k, a + next), face(m, b + k, b + next, a + next);
    }
  return status;
}

/* ---- sensors' surfaces ---- */

/* The middle of cell k of n, from -1 to 1, edges drawn together at 0. */
static double cell(int32_t k, int32_t n, double dense) {
  double sum = 0.0;
  for (int end = 0; end < 2; end++) {
    double x = 2.0 * (k + end) / n - 1.0;
    sum += dense * x * x * x * x * x + (1.0 - dense) * x;
  }
  return 0.5 * sum;
}

static frix_status make_grid(maker *m, const double *given, bool flat) {
  if (!(given[0] >= 1.0 && given[0] <= MOST_SIDE && given[1] >= 1.0 && given[1] <= MOST_SIDE))
    return fx_mjcf_fail(m->r, m->e, "mesh: wants 1 to %d cells each way", MOST_SIDE);
  int32_t n = (int32_t)given[0], rows = (int32_t)given[1];
  frix_status status = take(m, (int64_t)n * rows, flat ? 2 * (int64_t)(n - 1) * (rows - 1) : 0);
  m->asset->tangent = fx_arena_take(&m->r->arena, (size_t)n * (size_t)rows, sizeof *m->asset->tangent);
  if (!m->asset->tangent) return FRIX_ERROR_MEMORY;
  for (int32_t i = 0; i < n && !status; i++)
    for (int32_t k = 0; k < rows; k++) {
      double sine[2], cosine[2], dense = flat ? 0.0 : given[4];
      double a = cell(i, n, dense), b = cell(k, rows, dense);
      if (!flat) fx_sincos(given[2] * FX_PI / 180.0 * a, &sine[0], &cosine[0]);
      if (!flat) fx_sincos(given[3] * FX_PI / 180.0 * b, &sine[1], &cosine[1]);
      frix_vec3 *tangent = m->asset->tangent[m->mesh->vertex_count];
      if (flat) {
        tangent[0] = fx_vec(0.0, 1.0, 0.0), tangent[1] = fx_vec(0.0, 0.0, 1.0);
        vertex(m, a, b, -1.0);
        continue;
      }
      tangent[0] = fx_vec(cosine[0], 0.0, sine[0]);
      tangent[1] = fx_vec(-sine[1] * sine[0], cosine[1], sine[1] * cosine[0]);
      vertex(m, cosine[1] * sine[0], sine[1], -cosine[1] * cosine[0]);
    }
  for (int32_t i = 0; i + 1 < n && flat && !status; i++)
    for (int32_t k = 0; k + 1 < rows; k++) {
      int32_t at = i * rows + k;
      face(m, at, at + rows, at + 1), face(m, at + 1, at + rows, at + rows + 1);
    }
  return status;
}

static frix_status make_wedge(maker *m, const double *given) {
  bool fits = given[2] > 0.0 && given[2] <= 180.0 && given[3] > 0.0 && given[3] <= 90.0;
  if (!fits || !(given[4] >= 0.0 && given[4] <= 1.0))
    return fx_mjcf_fail(m->r, m->e, "mesh wedge: wants angles up to 180 and 90 degrees, and a density from 0 to 1");
  return make_grid(m, given, false);
}

static frix_status make_plate(maker *m, const double *given) {
  if (!(given[0] >= 2.0 && given[1] >= 2.0)) return fx_mjcf_fail(m->r, m->e, "mesh plate: wants 2 cells each way");
  m->asset->flat = true;
  return make_grid(m, given, true);
}

/* ---- all ---- */

frix_status fx_mjcf_builtin_mesh(fx_mjcf_reader *r, fx_mjcf_asset *asset, const char *name) {
  const fx_mjcf_item *item = &asset->item;
  static const struct {
    const char *name;
    int parameters;
    frix_status (*make)(maker *m, const double *given);
  } rows[] = {{"sphere", 1, make_sphere},
              {"hemisphere", 1, make_hemisphere},
              {"cone", 2, make_cone},
              {"supersphere", 3, make_supersphere},
              {"supertorus", 4, make_supertorus},
              {"wedge", 5, make_wedge},
              {"plate", 2, make_plate}};
  maker m = {r, asset, item->element, &asset->mesh};
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    double given[MOST_PARAMETERS];
    if (strcmp(rows[k].name, name)) continue;
    frix_status status = fx_mjcf_need(r, item, "params", &(const char *){NULL});
    if (!status) status = fx_mjcf_reals(r, item, "params", rows[k].parameters, rows[k].parameters, given, NULL);
    return status ? status : rows[k].make(&m, given);
  }
  return fx_mjcf_fail(r, item->element, "mesh builtin: there is no '%s'", fx_word_of(name, strlen(name)).text);
}
