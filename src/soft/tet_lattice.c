/* Tetrahedra that fill a solid given by a signed distance: a body-centred cubic lattice, whose vertices near the
 * surface are moved onto it and whose remaining tetrahedra are cut there (isosurface stuffing, Labelle and Shewchuk,
 * 2007). All tetrahedra of the lattice are alike: two centres of neighbouring cells and an edge of the face between
 * them. The fractions of an edge within which a vertex moves are theirs, which keep all angles away from zero. */
#include "soft/tets.h"

#include <string.h>

static const double move_long = 0.24999, move_short = 0.41189; /* share of an edge between like, unlike vertices */
static const double most_vertices = 4e6;

typedef struct cut {
  int32_t other, vertex, next; /* the higher end, the number of the cut point, the next cut of the same lower end */
} cut;

typedef struct lattice {
  fx_arena *arena;
  const fx_solid *solid;
  int32_t n[3];   /* cells */
  int32_t corner; /* vertices that are corners; centres follow */
  int32_t count;
  frix_vec3 *place, *moved;
  double *value;      /* of the distance; 0 once moved */
  double *reach;      /* how far the vertex moves at present, INFINITY: not */
  int32_t *first_cut; /* of each vertex, -1: none */
  cut *cut;           /* all of them */
  int32_t cut_count, cut_room;
  int32_t *number; /* of each vertex in the mesh, -1: not there yet */
  fx_tets *out;
  int32_t vertex_room, tet_room;
} lattice;

static int32_t corner_at(const lattice *l, int32_t i, int32_t j, int32_t k) {
  return (k * (l->n[1] + 1) + j) * (l->n[0] + 1) + i;
}
static int32_t center_at(const lattice *l, int32_t i, int32_t j, int32_t k) {
  return l->corner + (k * l->n[1] + j) * l->n[0] + i;
}

static frix_status fill_lattice(lattice *l, double spacing, const char *name) {
  frix_vec3 side = fx_sub(l->solid->high, l->solid->low), origin = l->solid->low;
  double vertices = 0.0;
  for (int k = 0; k < 3; k++) {
    double cells = floor(fx_at(side, k) / spacing) + 3.0;
    if (!(cells < 1e5)) return fx_fail(l->arena->context, FRIX_ERROR_INPUT, "%s: the lattice is too fine", name);
    l->n[k] = (int32_t)cells;
  }
  vertices = 2.0 * (l->n[0] + 1.0) * (l->n[1] + 1.0) * (l->n[2] + 1.0);
  if (!(vertices < most_vertices))
    return fx_fail(l->arena->context, FRIX_ERROR_INPUT, "%s: a lattice of %.0f vertices is too fine: fewer cells", name,
                   vertices);
  l->corner = (l->n[0] + 1) * (l->n[1] + 1) * (l->n[2] + 1);
  l->count = l->corner + l->n[0] * l->n[1] * l->n[2];
  l->place = FX_TAKE_RAW(l->arena, frix_vec3, l->count);
  l->moved = FX_TAKE_RAW(l->arena, frix_vec3, l->count);
  l->value = FX_TAKE_RAW(l->arena, double, l->count);
  l->reach = FX_TAKE_RAW(l->arena, double, l->count);
  l->first_cut = FX_TAKE_RAW(l->arena, int32_t, l->count);
  l->number = FX_TAKE_RAW(l->arena, int32_t, l->count);
  if (!l->place || !l->moved || !l->value || !l->reach || !l->first_cut || !l->number) return FRIX_ERROR_MEMORY;
  /* the box stands in the middle of the lattice */
  for (int k = 0; k < 3; k++) {
    double shift = 0.5 * (l->n[k] * spacing - fx_at(side, k));
    if (k == 0) origin.x -= shift;
    if (k == 1) origin.y -= shift;
    if (k == 2) origin.z -= shift;
  }
  for (int32_t at = 0; at < l->count; at++) {
    bool centre = at >= l->corner;
    int32_t m = centre ? at - l->corner : at, nx = l->n[0] + !centre, ny = l->n[1] + !centre;
    double half = centre ? 0.5 : 0.0;
    l->place[at] = fx_add(origin, fx_scale(spacing, fx_vec(m % nx + half, m / nx % ny + half, m / nx / ny + half)));
    l->moved[at] = l->place[at];
    l->value[at] = l->solid->at(l->solid->user, l->place[at]);
    l->reach[at] = INFINITY;
    l->first_cut[at] = l->number[at] = -1;
  }
  return FRIX_OK;
}

/* Calls visit for every tetrahedron, right-handed. */
static frix_status each_tet(lattice *l, frix_status (*visit)(lattice *l, const int32_t v[4])) {
  for (int axis = 0; axis < 3; axis++) {
    int32_t far[3] = {l->n[0], l->n[1], l->n[2]};
    far[axis]--;
    for (int32_t k = 0; k < far[2]; k++) {
      for (int32_t j = 0; j < far[1]; j++) {
        for (int32_t i = 0; i < far[0]; i++) {
          int32_t c[3] = {i, j, k};
          int32_t a = center_at(l, i, j, k);
          c[axis]++;
          int32_t b = center_at(l, c[0], c[1], c[2]);
          /* corners of the face between them, counter-clockwise about the axis */
          static const int round[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
          int32_t around[4];
          for (int m = 0; m < 4; m++) {
            int32_t p[3] = {c[0], c[1], c[2]};
            p[(axis + 1) % 3] += round[m][0], p[(axis + 2) % 3] += round[m][1];
            around[m] = corner_at(l, p[0], p[1], p[2]);
          }
          for (int m = 0; m < 4; m++) {
            int32_t v[4] = {a, b, around[m], around[(m + 1) % 4]};
            frix_status status = visit(l, v);
            if (status) return status;
          }
        }
      }
    }
  }
  return FRIX_OK;
}

/* Where the surface crosses an edge, from the inner end: regula falsi with halved weights. */
static double crossing(const lattice *l, int32_t inner, int32_t outer) {
  double t0 = 0.0, t1 = 1.0, f0 = l->value[inner], f1 = l->value[outer], t = 0.5;
  frix_vec3 p = l->place[inner], way = fx_sub(l->place[outer], p);
  int side = 0;
  for (int k = 0; k < 12; k++) {
    t = (t0 * f1 - t1 * f0) / (f1 - f0);
    double f = l->solid->at(l->solid->user, fx_mad(p, t, way));
    if (fabs(f) < 1e-12 * fx_norm(way)) break;
    if (f < 0.0) {
      t0 = t, f0 = f;
      if (side < 0) f1 *= 0.5;
      side = -1;
    } else {
      t1 = t, f1 = f;
      if (side > 0) f0 *= 0.5;
      side = 1;
    }
  }
  return t;
}

/* Vertices close to a crossing move to it, to the nearest one. */
static void consider_edge(lattice *l, int32_t a, int32_t b) {
  int32_t inner = l->value[a] < 0.0 ? a : b, outer = l->value[a] < 0.0 ? b : a;
  if (!(l->value[inner] < 0.0 && l->value[outer] > 0.0)) return;
  frix_vec3 way = fx_sub(l->place[outer], l->place[inner]);
  double share = (a < l->corner) == (b < l->corner) ? move_long : move_short;
  double t = crossing(l, inner, outer), length = fx_norm(way);
  if (t < share && t * length < l->reach[inner]) {
    l->reach[inner] = t * length;
    l->moved[inner] = fx_mad(l->place[inner], t, way);
  }
  if (1.0 - t < share && (1.0 - t) * length < l->reach[outer]) {
    l->reach[outer] = (1.0 - t) * length;
    l->moved[outer] = fx_mad(l->place[inner], t, way);
  }
}

static frix_status consider(lattice *l, const int32_t v[4]) {
  for (int a = 0; a < 4; a++)
    for (int b = 0; b < a; b++) consider_edge(l, v[a], v[b]);
  return FRIX_OK;
}

static void move_vertices(lattice *l) {
  for (int32_t k = 0; k < l->count; k++) {
    if (l->reach[k] < INFINITY) l->value[k] = 0.0;
    if (fabs(l->value[k]) == 0.0) l->value[k] = 0.0;
  }
}

/* ---- the mesh ---- */

static int32_t add_vertex(lattice *l, frix_vec3 p) {
  fx_tets *out = l->out;
  if (!fx_soft_room(l->arena, (void **)&out->vertex, out->vertex_count, &l->vertex_room, sizeof p)) return -1;
  out->vertex[out->vertex_count] = p;
  return out->vertex_count++;
}

static int32_t vertex_of(lattice *l, int32_t v) {
  if (l->number[v] < 0) l->number[v] = add_vertex(l, l->moved[v]);
  return l->number[v];
}

/* The point where the surface crosses the edge between moved vertices, one per edge. */
static int32_t cut_of(lattice *l, int32_t inner, int32_t outer) {
  int32_t low = inner < outer ? inner : outer, high = inner < outer ? outer : inner;
  for (int32_t c = l->first_cut[low]; c >= 0; c = l->cut[c].next)
    if (l->cut[c].other == high) return l->cut[c].vertex;
  if (!fx_soft_room(l->arena, (void **)&l->cut, l->cut_count, &l->cut_room, sizeof *l->cut)) return -1;
  double t = crossing(l, inner, outer);
  int32_t v = add_vertex(l, fx_mad(l->place[inner], t, fx_sub(l->place[outer], l->place[inner])));
  l->cut[l->cut_count] = (cut){high, v, l->first_cut[low]};
  l->first_cut[low] = l->cut_count++;
  return v;
}

static frix_status add_tet(lattice *l, int32_t a, int32_t b, int32_t c, int32_t d) {
  fx_tets *out = l->out;
  if (a < 0 || b < 0 || c < 0 || d < 0) return FRIX_ERROR_MEMORY;
  int32_t room = 4 * l->tet_room; /* in tetrahedra, the list in numbers */
  if (out->tet_count >= l->tet_room) {
    if (!fx_soft_room(l->arena, (void **)&out->tet, 4 * out->tet_count, &room, sizeof *out->tet))
      return FRIX_ERROR_MEMORY;
    l->tet_room = room / 4;
  }
  const frix_vec3 *v = out->vertex;
  bool right = fx_volume6(v[a], v[b], v[c], v[d]) > 0.0;
  int32_t *t = out->tet + 4 * (size_t)out->tet_count++;
  t[0] = a, t[1] = b, t[2] = right ? c : d, t[3] = right ? d : c;
  return FRIX_OK;
}

/* The part of a tetrahedron that lies inside. Sides with four corners are halved from the inner vertex of the lower
 * number, so that neighbours agree. */
static frix_status carve(lattice *l, const int32_t v[4]) {
  int32_t in[4], out[4], on[4];
  int ins = 0, outs = 0, ons = 0;
  for (int k = 0; k < 4; k++) {
    double x = l->value[v[k]];
    if (x < 0.0)
      in[ins++] = v[k];
    else if (x > 0.0)
      out[outs++] = v[k];
    else
      on[ons++] = v[k];
  }
  if (!ins) return FRIX_OK;
  /* inner vertices by number */
  for (int a = 1; a < ins; a++)
    for (int b = a; b && in[b - 1] > in[b]; b--) {
      int32_t kept = in[b];
      in[b] = in[b - 1], in[b - 1] = kept;
    }
  int32_t p[4], z[4], c[4][4];
  for (int k = 0; k < ins; k++) p[k] = vertex_of(l, in[k]);
  for (int k = 0; k < ons; k++) z[k] = vertex_of(l, on[k]);
  for (int a = 0; a < ins; a++)
    for (int b = 0; b < outs; b++) c[a][b] = cut_of(l, in[a], out[b]);
  int32_t corner[4];
  int corners = 0;
  for (int k = 0; k < ins; k++) corner[corners++] = p[k];
  for (int k = 0; k < ons; k++) corner[corners++] = z[k];
  if (!outs) return add_tet(l, corner[0], corner[1], corner[2], corner[3]);
  if (ins == 1) { /* a smaller tetrahedron */
    for (int b = 0; b < outs; b++) corner[corners++] = c[0][b];
    return add_tet(l, corner[0], corner[1], corner[2], corner[3]);
  }
  frix_status status;
  if (ins == 2 && outs == 1) { /* a pyramid over the side of p0, p1 and their cuts */
    status = add_tet(l, z[0], p[0], p[1], c[1][0]);
    return status ? status : add_tet(l, z[0], p[0], c[1][0], c[0][0]);
  }
  if (ins == 2) { /* a wedge along p0 p1 */
    status = add_tet(l, p[0], p[1], c[1][0], c[1][1]);
    if (!status) status = add_tet(l, p[0], c[0][0], c[0][1], c[1][1]);
    return status ? status : add_tet(l, p[0], c[0][0], c[1][1], c[1][0]);
  }
  status = add_tet(l, p[0], p[1], p[2], c[2][0]);
  if (!status) status = add_tet(l, p[0], p[1], c[1][0], c[2][0]);
  return status ? status : add_tet(l, p[0], c[0][0], c[1][0], c[2][0]);
}

frix_status fx_tets_of_solid(fx_arena *arena, const char *name, const fx_solid *solid, double spacing, fx_tets *out) {
  *out = (fx_tets){.name = name};
  lattice l = {.arena = arena, .solid = solid, .out = out};
  frix_status status = fill_lattice(&l, spacing, name);
  if (!status) status = each_tet(&l, consider);
  if (status) return status;
  move_vertices(&l);
  memcpy(l.place, l.moved, (size_t)l.count * sizeof *l.place);
  status = each_tet(&l, carve);
  if (!status && !out->tet_count)
    return fx_fail(arena->context, FRIX_ERROR_INPUT, "%s: no tetrahedron fits inside: more cells", name);
  return status;
}

static double distance_of_skin(const void *user, frix_vec3 p) { return fx_distance_at(user, p); }

frix_status fx_tets_of_skin(fx_arena *arena, const char *name, const fx_skin *s, int32_t cells, fx_tets *out) {
  fx_distance *distance = NULL;
  frix_status status = fx_distance_create(arena, s, &distance);
  if (status) return status;
  fx_solid solid = {distance_of_skin, distance, s->vertex[0], s->vertex[0]};
  for (int32_t k = 1; k < s->vertex_count; k++) {
    frix_vec3 p = s->vertex[k];
    solid.low = fx_vec(fx_min(solid.low.x, p.x), fx_min(solid.low.y, p.y), fx_min(solid.low.z, p.z));
    solid.high = fx_vec(fx_max(solid.high.x, p.x), fx_max(solid.high.y, p.y), fx_max(solid.high.z, p.z));
  }
  frix_vec3 side = fx_sub(solid.high, solid.low);
  double spacing = fx_max(side.x, fx_max(side.y, side.z)) / cells;
  return fx_tets_of_solid(arena, name, &solid, spacing, out);
}
