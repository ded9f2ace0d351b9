/* Generated tetrahedral meshes: blocks of cubes (bar, plate, strand, chair, dinosaur, bunny) and an ellipsoid (blob).
 *
 * A cube is cut into six tetrahedra along its main diagonal (Kuhn); cubes are mirrored by the parity of their place, so
 * that neighbours agree and a block of even sides is as symmetric as its shape. */
#include "soft/tets.h"

#include <string.h>

#include "base/trig.h"

enum { BAR, PLATE, STRAND, CHAIR, BLOB, DINOSAUR, BUNNY, SHAPES };

static const struct {
  const char *name;
  frix_vec3 size;
} table[SHAPES] = {
    [BAR] = {"bar", {1.0, 0.1, 0.1}},         [PLATE] = {"plate", {1.0, 1.0, 0.05}},
    [STRAND] = {"strand", {1.0, 0.05, 0.01}}, [CHAIR] = {"chair", {0.45, 0.45, 0.9}},
    [BLOB] = {"blob", {0.3, 0.2, 0.15}},      [DINOSAUR] = {"dinosaur", {0.64, 0.16, 0.36}},
    [BUNNY] = {"bunny", {0.14, 0.1, 0.18}},
};

bool fx_shape_of_tets(int32_t k, const char **name, frix_vec3 *size) {
  if (k < 0 || k >= SHAPES) return false;
  *name = table[k].name;
  *size = table[k].size;
  return true;
}

/* ---- blocks of cubes ---- */

typedef struct block {
  int32_t n[3];
  bool *full; /* NULL: all cells */
} block;

static frix_status mesh_block(fx_arena *arena, const block *b, frix_vec3 size, fx_tets *out) {
  static const int path[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
  int32_t nx = b->n[0], ny = b->n[1], nz = b->n[2], cells = nx * ny * nz;
  out->vertex_count = (nx + 1) * (ny + 1) * (nz + 1);
  out->vertex = FX_TAKE_RAW(arena, frix_vec3, out->vertex_count);
  out->tet = FX_TAKE_RAW(arena, int32_t, 24 * (size_t)cells);
  if (!out->vertex || !out->tet) return FRIX_ERROR_MEMORY;
  for (int32_t v = 0; v < out->vertex_count; v++) {
    int32_t i = v % (nx + 1), j = v / (nx + 1) % (ny + 1), k = v / (nx + 1) / (ny + 1);
    out->vertex[v] =
        fx_vec(size.x * ((double)i / nx - 0.5), size.y * ((double)j / ny - 0.5), size.z * ((double)k / nz - 0.5));
  }
  for (int32_t at = 0; at < cells; at++) {
    int32_t cell[3] = {at % nx, at / nx % ny, at / nx / ny};
    if (b->full && !b->full[at]) continue;
    for (int m = 0; m < 6; m++) {
      int32_t step[3] = {0, 0, 0}, *t = out->tet + 4 * (size_t)out->tet_count++;
      for (int c = 0; c < 4; c++) {
        int32_t p[3];
        for (int a = 0; a < 3; a++) p[a] = cell[a] + (cell[a] % 2 ? 1 - step[a] : step[a]);
        t[c] = (p[2] * (ny + 1) + p[1]) * (nx + 1) + p[0];
        if (c < 3) step[path[m][c]] = 1;
      }
      /* even paths are right-handed in cells that are mirrored an even number of times */
      if ((m >= 3) != (cell[0] % 2 + cell[1] % 2 + cell[2] % 2) % 2) {
        int32_t kept = t[2];
        t[2] = t[3], t[3] = kept;
      }
    }
  }
  return FRIX_OK;
}

static int32_t count_of(double length, double cell) {
  double n = floor(length / cell + 0.5);
  return n < 1.0 ? 1 : n > 1e6 ? 1000000 : (int32_t)n;
}

static frix_status check_count(fx_arena *arena, const char *name, const int32_t n[3]) {
  if ((double)n[0] * n[1] * n[2] <= 2e6) return FRIX_OK;
  return fx_fail(arena->context, FRIX_ERROR_INPUT, "%s: %.0f cells are too many: fewer across", name,
                 (double)n[0] * n[1] * n[2]);
}

/* Cells near cubes, so many across the thinnest side. */
static frix_status make_bar(fx_arena *arena, frix_vec3 size, int32_t cells, fx_tets *out) {
  double cell = fx_min(size.x, fx_min(size.y, size.z)) / cells;
  block b = {{count_of(size.x, cell), count_of(size.y, cell), count_of(size.z, cell)}, NULL};
  frix_status status = check_count(arena, out->name, b.n);
  return status ? status : mesh_block(arena, &b, size, out);
}

/* Seat, back and four legs; a leg is a ninth of the width, so many cells across. */
static frix_status make_chair(fx_arena *arena, frix_vec3 size, int32_t cells, fx_tets *out) {
  double cell = size.x / 9.0 / cells;
  block b = {{9 * cells, count_of(size.y, cell), count_of(size.z, cell)}, NULL};
  frix_status status = check_count(arena, out->name, b.n);
  if (status) return status;
  int32_t seat = b.n[2] / 2;
  if (b.n[1] < 3 * cells || seat < cells + 1)
    return fx_fail(arena->context, FRIX_ERROR_INPUT, "chair: sides of %g %g %g leave no legs", size.x, size.y, size.z);
  b.full = FX_TAKE(arena, bool, (size_t)b.n[0] * b.n[1] * b.n[2]);
  if (!b.full) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < b.n[2]; k++) {
    for (int32_t j = 0; j < b.n[1]; j++) {
      for (int32_t i = 0; i < b.n[0]; i++) {
        bool edge_x = i < cells || i >= b.n[0] - cells, edge_y = j < cells || j >= b.n[1] - cells;
        bool leg = k < seat && edge_x && edge_y;
        bool flat = k >= seat && k < seat + cells;
        bool back = k >= seat && j >= b.n[1] - cells;
        b.full[((size_t)k * b.n[1] + j) * b.n[0] + i] = leg || flat || back;
      }
    }
  }
  return mesh_block(arena, &b, size, out);
}

/* ---- creatures: boxes of cells ---- */

typedef struct limb {
  int32_t low[3], high[3];
} limb;

/* Cells of a creature, and its parts in them. */
typedef struct creature {
  int32_t n[3], count;
  limb part[8];
} creature;

static const creature dinosaur = {{16, 4, 9},
                                  8,
                                  {{{4, 0, 3}, {12, 4, 6}}, /* torso */
                                   {{5, 0, 0}, {6, 1, 3}},  /* legs */
                                   {{5, 3, 0}, {6, 4, 3}},
                                   {{10, 0, 0}, {11, 1, 3}},
                                   {{10, 3, 0}, {11, 4, 3}},
                                   {{0, 1, 4}, {4, 3, 5}},     /* tail */
                                   {{11, 1, 6}, {13, 3, 9}},   /* neck */
                                   {{13, 1, 7}, {16, 3, 9}}}}; /* head */
static const creature bunny = {
    {7, 5, 9}, 4, {{{0, 0, 0}, {5, 5, 4}}, {{3, 1, 3}, {7, 4, 6}}, {{3, 1, 6}, {4, 2, 9}}, {{3, 3, 6}, {4, 4, 9}}}};

static frix_status make_creature(fx_arena *arena, const creature *c, frix_vec3 size, int32_t cells, fx_tets *out) {
  block b = {{c->n[0] * cells, c->n[1] * cells, c->n[2] * cells}, NULL};
  frix_status status = check_count(arena, out->name, b.n);
  if (status) return status;
  b.full = FX_TAKE(arena, bool, (size_t)b.n[0] * b.n[1] * b.n[2]);
  if (!b.full) return FRIX_ERROR_MEMORY;
  for (int32_t m = 0; m < c->count; m++) {
    const limb *l = &c->part[m];
    for (int32_t k = l->low[2] * cells; k < l->high[2] * cells; k++)
      for (int32_t j = l->low[1] * cells; j < l->high[1] * cells; j++)
        for (int32_t i = l->low[0] * cells; i < l->high[0] * cells; i++)
          b.full[((size_t)k * b.n[1] + j) * b.n[0] + i] = true;
  }
  return mesh_block(arena, &b, size, out);
}

/* ---- ellipsoid ---- */

/* Zero on the ellipsoid, and to first order the distance near it. */
static double ellipsoid_at(const void *user, frix_vec3 p) {
  const frix_vec3 *a = user;
  frix_vec3 s = fx_vec(p.x / a->x, p.y / a->y, p.z / a->z), g = fx_vec(s.x / a->x, s.y / a->y, s.z / a->z);
  double length = fx_norm(s), slope = fx_norm(g);
  return slope > 0.0 ? (length - 1.0) * length / slope : -fx_min(a->x, fx_min(a->y, a->z));
}

static frix_status make_blob(fx_arena *arena, frix_vec3 size, int32_t cells, fx_tets *out) {
  frix_vec3 half = fx_scale(0.5, size);
  fx_solid solid = {ellipsoid_at, &half, fx_neg(half), half};
  return fx_tets_of_solid(arena, out->name, &solid, fx_max(size.x, fx_max(size.y, size.z)) / cells, out);
}

void fx_tets_wave(fx_tets *t, double side, int32_t waves, double height) {
  for (int32_t v = 0; v < t->vertex_count; v++) {
    double sine, cosine;
    fx_sincos(FX_PI * waves * (t->vertex[v].x / side + 0.5), &sine, &cosine);
    t->vertex[v].z += height * sine;
  }
}

frix_status fx_tets_generate(fx_arena *arena, int32_t shape, frix_vec3 size, int32_t cells, fx_tets *out) {
  if (shape < 0 || shape >= SHAPES) return fx_fail(arena->context, FRIX_ERROR_INPUT, "no such shape");
  *out = (fx_tets){.name = table[shape].name};
  double least = fx_min(size.x, fx_min(size.y, size.z)), most = fx_max(size.x, fx_max(size.y, size.z));
  if (!(least > 0.0 && most < 1e6 && most <= 1e4 * least))
    return fx_fail(arena->context, FRIX_ERROR_INPUT, "%s: no body has sides of %g %g %g", out->name, size.x, size.y,
                   size.z);
  if (cells < 1 || cells > 1000)
    return fx_fail(arena->context, FRIX_ERROR_INPUT, "%s: %d cells across, expected 1 to 1000", out->name, (int)cells);
  if (shape == BLOB) return make_blob(arena, size, cells, out);
  if (shape == DINOSAUR || shape == BUNNY)
    return make_creature(arena, shape == BUNNY ? &bunny : &dinosaur, size, cells, out);
  return shape == CHAIR ? make_chair(arena, size, cells, out) : make_bar(arena, size, cells, out);
}
