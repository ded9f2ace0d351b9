/* Tetrahedral meshes: checks, boundary, generated shapes, and meshes made from a closed surface. */
#ifndef FX_SOFT_TETS_H
#define FX_SOFT_TETS_H

#include "base/arena.h"
#include "linalg/vector.h"

typedef struct fx_tets {
  int32_t vertex_count, tet_count;
  frix_vec3 *vertex; /* all arrays are in the arena */
  int32_t *tet;      /* four corners each, of positive volume once checked */
  int32_t *line;     /* of each tetrahedron in its file; NULL: it has none */
  const char *name;  /* opens every message: the file or the shape */
} fx_tets;

/* Triangles, outward seen counter-clockwise. */
typedef struct fx_skin {
  int32_t vertex_count, triangle_count;
  frix_vec3 *vertex;
  int32_t *triangle;
  int32_t *tet; /* of each triangle; NULL where it comes from no tetrahedra */
} fx_skin;

/* Six times the volume of the tetrahedron, positive where d lies on the side that a, b, c are seen clockwise from. */
static inline double fx_volume6(frix_vec3 a, frix_vec3 b, frix_vec3 c, frix_vec3 d) {
  return fx_dot(fx_cross(fx_sub(b, a), fx_sub(c, a)), fx_sub(d, a));
}
double fx_tets_volume(const fx_tets *t);

/* ---- checks (tet_check.c) ---- */

/* Turns a mesh whose tetrahedra are all given left-handed, drops vertices that none uses, and refuses flat, inverted,
 * overlapping, disconnected and self-intersecting meshes; messages name the line of the file. */
frix_status fx_tets_check(fx_arena *arena, fx_tets *t);
/* The boundary; vertices are shared with the mesh. */
frix_status fx_tets_skin(fx_arena *arena, const fx_tets *t, fx_skin *out);

/* ---- closed surfaces (skin.c) ---- */

/* Welds equal vertices, turns an inside-out surface, and refuses open, inconsistent and self-intersecting ones. */
frix_status fx_skin_check(fx_arena *arena, const char *name, fx_skin *s);
/* Two triangles that cross, without common corners on the crossing; -1 in pair[0]: none do. */
frix_status fx_skin_crossing(fx_arena *arena, const fx_skin *s, int32_t pair[2]);

/* ---- distances (skin_distance.c) ---- */

typedef struct fx_distance fx_distance;
/* Of a closed surface that was checked; by reference. */
frix_status fx_distance_create(fx_arena *arena, const fx_skin *s, fx_distance **out);
/* Negative inside. */
double fx_distance_at(const fx_distance *d, frix_vec3 p);

/* ---- meshes from a signed distance (tet_lattice.c) ---- */

typedef struct fx_solid {
  double (*at)(const void *user, frix_vec3 p); /* negative inside; about a distance near its zero */
  const void *user;
  frix_vec3 low, high; /* a box that holds it */
} fx_solid;

/* Tetrahedra of a body-centred cubic lattice of that spacing, cut at the surface. */
frix_status fx_tets_of_solid(fx_arena *arena, const char *name, const fx_solid *solid, double spacing, fx_tets *out);
/* The same of a closed surface that was checked; cells along its longest side. */
frix_status fx_tets_of_skin(fx_arena *arena, const char *name, const fx_skin *s, int32_t cells, fx_tets *out);

/* ---- generated shapes (tet_shapes.c) ---- */

/* Row k: name and default size; false past the end. */
bool fx_shape_of_tets(int32_t k, const char **name, frix_vec3 *size);
/* Cells across the thinnest side (bar, plate, strand, a chair's leg) or the longest (blob). */
frix_status fx_tets_generate(fx_arena *arena, int32_t shape, frix_vec3 size, int32_t cells, fx_tets *out);

/* Bends it along z by height sin(pi waves (x / side + 1/2)). */
void fx_tets_wave(fx_tets *t, double side, int32_t waves, double height);

/* Lists that grow in an arena: room for one more element of *list. */
bool fx_soft_room(fx_arena *arena, void **list, int32_t count, int32_t *room, size_t size);

#endif
