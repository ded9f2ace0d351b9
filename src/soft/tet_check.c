/* Tetrahedral meshes: volumes, faces, connection, and the boundary.
 *
 * A face belongs to one tetrahedron (it is boundary) or to two on opposite sides. With positive volumes the two then
 * name its corners in opposite order, so that overlapping neighbours show in the order alone. */
#include "base/sort.h"
#include "soft/tets.h"

#include <stdio.h>
#include <string.h>

#define FAIL(...) return fx_fail(arena->context, FRIX_ERROR_FORMAT, __VA_ARGS__)

/* Corners of face f of a right-handed tetrahedron, outward seen counter-clockwise. */
static const int face_corner[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};

/* "mesh.msh:12: tetrahedron 3" */
typedef struct place {
  char text[320];
} place;

static place place_of(const fx_tets *t, int32_t k) {
  place p;
  if (t->line)
    snprintf(p.text, sizeof p.text, "%.255s:%d: tetrahedron %d", t->name, (int)t->line[k], (int)k);
  else
    snprintf(p.text, sizeof p.text, "%.255s: tetrahedron %d", t->name, (int)k);
  return p;
}

bool fx_soft_room(fx_arena *arena, void **list, int32_t count, int32_t *room, size_t size) {
  if (count < *room) return true;
  if (count > INT32_MAX / 2 - 16) {
    fx_fail(arena->context, FRIX_ERROR_INPUT, "the mesh is too large");
    return false;
  }
  int32_t wanted = count < 16 ? 16 : 2 * count;
  void *grown = fx_arena_take_raw(arena, (size_t)wanted, size);
  if (!grown) return false;
  if (count) memcpy(grown, *list, (size_t)count * size);
  *list = grown;
  *room = wanted;
  return true;
}

static double volume_of(const fx_tets *t, int32_t k) {
  const int32_t *c = t->tet + 4 * (size_t)k;
  return fx_volume6(t->vertex[c[0]], t->vertex[c[1]], t->vertex[c[2]], t->vertex[c[3]]) / 6.0;
}

double fx_tets_volume(const fx_tets *t) {
  double sum = 0.0;
  for (int32_t k = 0; k < t->tet_count; k++) sum += volume_of(t, k);
  return sum;
}

/* ---- volumes ---- */

static double longest_edge(const fx_tets *t, int32_t k) {
  const int32_t *c = t->tet + 4 * (size_t)k;
  double longest = 0.0;
  for (int a = 0; a < 4; a++)
    for (int b = 0; b < a; b++) longest = fx_max(longest, fx_norm2(fx_sub(t->vertex[c[a]], t->vertex[c[b]])));
  return sqrt(longest);
}

static frix_status check_volumes(fx_arena *arena, fx_tets *t) {
  int32_t negative = 0, first_negative = -1, first_positive = -1;
  for (int32_t k = 0; k < t->tet_count; k++) {
    double volume = volume_of(t, k), edge = longest_edge(t, k);
    if (!(fabs(volume) > 1e-10 * edge * edge * edge)) FAIL("%s is flat", place_of(t, k).text);
    if (volume < 0.0 && first_negative < 0) first_negative = k;
    if (volume > 0.0 && first_positive < 0) first_positive = k;
    negative += volume < 0.0;
  }
  if (negative && first_positive >= 0) {
    int32_t odd = 2 * negative > t->tet_count ? first_positive : first_negative;
    int32_t count = 2 * negative > t->tet_count ? t->tet_count - negative : negative;
    FAIL("%s is inverted (%d of %d are turned against the others)", place_of(t, odd).text, (int)count,
         (int)t->tet_count);
  }
  for (int32_t k = 0; negative && k < t->tet_count; k++) {
    int32_t *c = t->tet + 4 * (size_t)k, kept = c[2];
    c[2] = c[3], c[3] = kept;
  }
  return FRIX_OK;
}

/* ---- faces ---- */

typedef struct faces {
  const fx_tets *t;
  int32_t *order;  /* of the faces 4 tet + f, equal ones beside each other */
  int32_t *corner; /* three sorted corners each */
} faces;

static int compare_faces(int32_t a, int32_t b, const void *user) {
  const faces *f = user;
  for (int k = 0; k < 3; k++) {
    int32_t x = f->corner[3 * (size_t)a + k], y = f->corner[3 * (size_t)b + k];
    if (x != y) return x < y ? -1 : 1;
  }
  return a < b ? -1 : a > b;
}

static void corners_of(const fx_tets *t, int32_t face, int32_t out[3]) {
  const int32_t *c = t->tet + 4 * (size_t)(face / 4);
  for (int k = 0; k < 3; k++) out[k] = c[face_corner[face % 4][k]];
}

static frix_status sort_faces(fx_arena *arena, const fx_tets *t, faces *out) {
  if (t->tet_count > INT32_MAX / 16) FAIL("%s: more than %d tetrahedra", t->name, INT32_MAX / 16);
  int32_t count = 4 * t->tet_count;
  int32_t *scratch = FX_TAKE_RAW(arena, int32_t, count);
  *out = (faces){t, FX_TAKE_RAW(arena, int32_t, count), FX_TAKE_RAW(arena, int32_t, 3 * (size_t)count)};
  if (!scratch || !out->order || !out->corner) return FRIX_ERROR_MEMORY;
  for (int32_t f = 0; f < count; f++) {
    int32_t *c = out->corner + 3 * (size_t)f;
    corners_of(t, f, c);
    fx_sort(c, 3);
    out->order[f] = f;
  }
  fx_sort_by(out->order, scratch, (size_t)count, compare_faces, out);
  return FRIX_OK;
}

static bool same_face(const faces *f, int32_t a, int32_t b) {
  return !memcmp(f->corner + 3 * (size_t)a, f->corner + 3 * (size_t)b, 3 * sizeof *f->corner);
}

/* Whether the corners of b are an even permutation of those of a. */
static bool same_sense(const fx_tets *t, int32_t a, int32_t b) {
  int32_t x[3], y[3];
  corners_of(t, a, x);
  corners_of(t, b, y);
  for (int k = 0; k < 3; k++)
    if (x[0] == y[k]) return x[1] == y[(k + 1) % 3];
  return false;
}

static int32_t root_of(int32_t *parent, int32_t k) {
  while (parent[k] != k) k = parent[k] = parent[parent[k]];
  return k;
}

/* Neighbours lie on opposite sides of their faces, and faces join all tetrahedra. */
static frix_status check_faces(fx_arena *arena, const fx_tets *t) {
  faces f;
  frix_status status = sort_faces(arena, t, &f);
  if (status) return status;
  int32_t *parent = FX_TAKE_RAW(arena, int32_t, t->tet_count), parts = t->tet_count, other = -1;
  if (!parent) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < t->tet_count; k++) parent[k] = k;
  for (int32_t k = 0; k + 1 < 4 * t->tet_count; k++) {
    int32_t a = f.order[k], b = f.order[k + 1];
    if (!same_face(&f, a, b)) continue;
    if (k + 2 < 4 * t->tet_count && same_face(&f, a, f.order[k + 2]))
      FAIL("%s shares a face with two others (%d and %d)", place_of(t, a / 4).text, (int)(b / 4),
           (int)(f.order[k + 2] / 4));
    if (same_sense(t, a, b))
      FAIL("%s lies on the same side of a face as tetrahedron %d: the mesh overlaps itself", place_of(t, a / 4).text,
           (int)(b / 4));
    int32_t x = root_of(parent, a / 4), y = root_of(parent, b / 4);
    if (x != y) parent[y] = x, parts--;
  }
  for (int32_t k = 1; k < t->tet_count && other < 0; k++)
    if (root_of(parent, k) != root_of(parent, 0)) other = k;
  if (parts > 1)
    FAIL("%s is not connected to tetrahedron 0 by faces: the mesh has %d parts, a soft body is one",
         place_of(t, other).text, (int)parts);
  return FRIX_OK;
}

frix_status fx_tets_skin(fx_arena *arena, const fx_tets *t, fx_skin *out) {
  faces f;
  frix_status status = sort_faces(arena, t, &f);
  if (status) return status;
  int32_t count = 4 * t->tet_count, found = 0;
  bool *inner = FX_TAKE(arena, bool, count);
  if (!inner) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k + 1 < count; k++)
    if (same_face(&f, f.order[k], f.order[k + 1])) inner[f.order[k]] = inner[f.order[k + 1]] = true;
  for (int32_t k = 0; k < count; k++) found += !inner[k];
  *out = (fx_skin){t->vertex_count, found, t->vertex, FX_TAKE_RAW(arena, int32_t, 3 * (size_t)found),
                   FX_TAKE_RAW(arena, int32_t, found)};
  if (!out->triangle || !out->tet) return FRIX_ERROR_MEMORY;
  found = 0;
  for (int32_t k = 0; k < count; k++) {
    if (inner[k]) continue;
    corners_of(t, k, out->triangle + 3 * (size_t)found);
    out->tet[found++] = k / 4;
  }
  return FRIX_OK;
}

/* ---- all of it ---- */

static frix_status drop_unused(fx_arena *arena, fx_tets *t) {
  int32_t *number = FX_TAKE(arena, int32_t, t->vertex_count), kept = 0;
  if (!number) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < 4 * t->tet_count; k++) number[t->tet[k]] = 1;
  for (int32_t v = 0; v < t->vertex_count; v++) {
    if (!number[v]) continue;
    number[v] = kept;
    t->vertex[kept++] = t->vertex[v];
  }
  for (int32_t k = 0; k < 4 * t->tet_count; k++) t->tet[k] = number[t->tet[k]];
  t->vertex_count = kept;
  return FRIX_OK;
}

static frix_status check_corners(fx_arena *arena, const fx_tets *t) {
  if (t->tet_count < 1) FAIL("%s: no tetrahedra", t->name);
  for (int32_t k = 0; k < t->tet_count; k++) {
    const int32_t *c = t->tet + 4 * (size_t)k;
    for (int a = 0; a < 4; a++) {
      if (c[a] < 0 || c[a] >= t->vertex_count)
        FAIL("%s names vertex %d of %d", place_of(t, k).text, (int)c[a], (int)t->vertex_count);
      for (int b = 0; b < a; b++)
        if (c[a] == c[b]) FAIL("%s names vertex %d twice", place_of(t, k).text, (int)c[a]);
    }
  }
  for (int32_t v = 0; v < t->vertex_count; v++)
    if (!fx_finite(t->vertex[v])) FAIL("%s: vertex %d is not finite", t->name, (int)v);
  return FRIX_OK;
}

frix_status fx_tets_check(fx_arena *arena, fx_tets *t) {
  frix_status status = check_corners(arena, t);
  if (!status) status = drop_unused(arena, t);
  if (!status) status = check_volumes(arena, t);
  if (!status) status = check_faces(arena, t);
  fx_skin skin;
  int32_t pair[2] = {-1, -1};
  if (!status) status = fx_tets_skin(arena, t, &skin);
  if (!status) status = fx_skin_crossing(arena, &skin, pair);
  if (!status && pair[0] >= 0)
    FAIL("%s crosses tetrahedron %d at the surface: the mesh intersects itself", place_of(t, skin.tet[pair[0]]).text,
         (int)skin.tet[pair[1]]);
  return status;
}
