/* Where a packing is measured: a box or an upright cylinder, divided into cells.
 *
 * The part of a grain in a cell is that of LATTICE^3 points of its sphere (planar: LATTICE^2 of its disc); a grain that
 * lies in one cell has part 1 there. A cut sphere is divided to about 1 %, without a preference, so that a packing
 * fraction of hundreds of grains is exact to 1e-4. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "grains.h"

enum { LATTICE = 16 };

static const double pi = 3.14159265358979323846;

/* ---- regions */

/* The box around all grains. */
static void bounds(const fx_grains *g, double low[3], double high[3]) {
  for (int a = 0; a < 3; a++) low[a] = INFINITY, high[a] = -INFINITY;
  for (int32_t k = 0; k < g->count; k++) {
    const double c[3] = {g->grain[k].center.x, g->grain[k].center.y, g->grain[k].center.z}, r = g->grain[k].radius;
    for (int a = 0; a < 3; a++) low[a] = fmin(low[a], c[a] - r), high[a] = fmax(high[a], c[a] + r);
  }
  for (int a = 0; a < 3; a++)
    if (!(low[a] < high[a])) low[a] = 0, high[a] = 1;
}

/* "A:B" at *text, both optional; moves behind it. */
static bool parse_range(const char **text, double *low, double *high) {
  char *end;
  double value = strtod(*text, &end);
  if (end != *text) *low = value;
  if (*end++ != ':') return false;
  *text = end;
  value = strtod(*text, &end);
  if (end != *text) *high = value;
  *text = end;
  return isfinite(*low) && isfinite(*high) && *low < *high;
}

bool fx_region_box(fx_region *region, const char *text, const fx_grains *grains) {
  *region = (fx_region){.round = false};
  bounds(grains, region->low, region->high);
  for (int a = 0; text && a < 3; a++) {
    if (!parse_range(&text, &region->low[a], &region->high[a])) break;
    if (!*text) return true;
    if (*text++ != ',') break;
  }
  if (!text) return true;
  fx_error("--box should read X0:X1,Y0:Y1,Z0:Z1 with growing numbers, each of them optional");
  return false;
}

bool fx_region_cylinder(fx_region *region, const char *text, const fx_grains *grains) {
  double low[3], high[3], *value[3] = {&region->axis[0], &region->axis[1], &region->high[0]};
  bounds(grains, low, high);
  *region = (fx_region){.round = true, .low = {0, 0, low[2]}, .high = {0, 2 * pi, high[2]}};
  bool good = grains->dim == 3;
  for (int k = 0; k < 3 && good; k++) {
    char *end;
    *value[k] = strtod(text, &end);
    good = end != text && isfinite(*value[k]) && (k == 2 ? *end == ',' || !*end : *end == ',');
    text = *end ? end + 1 : end;
  }
  good = good && region->high[0] > 0 && (!*text || (parse_range(&text, &region->low[2], &region->high[2]) && !*text));
  if (!good) fx_error("--cylinder should read X,Y,RADIUS,Z0:Z1, in a world that is not planar");
  return good;
}

void fx_region_place(const fx_region *region, frix_vec3 p, double out[3]) {
  out[0] = region->round ? hypot(p.x - region->axis[0], p.y - region->axis[1]) : p.x;
  out[1] = region->round ? 0 : p.y;
  out[2] = p.z;
}

double fx_region_depth(const fx_region *region, int dim, frix_vec3 point) {
  double at[3], depth = INFINITY;
  fx_region_place(region, point, at);
  for (int a = 0; a < dim; a++) {
    if (region->round && a == 1) continue;
    if (!region->round || a != 0) depth = fmin(depth, at[a] - region->low[a]);
    depth = fmin(depth, region->high[a] - at[a]);
  }
  return depth;
}

frix_vec3 fx_region_turn(const fx_region *region, frix_vec3 at, frix_vec3 v) {
  if (!region->round) return v;
  double x = at.x - region->axis[0], y = at.y - region->axis[1], r = hypot(x, y), c = r > 0 ? x / r : 1,
         s = r > 0 ? y / r : 0;
  return (frix_vec3){c * v.x + s * v.y, c * v.y - s * v.x, v.z};
}

/* ---- grids */

bool fx_grid_parse(fx_grid *grid, const char *text) {
  bool round = grid->region.round;
  for (int a = 0; a < 3; a++) grid->cells[a] = 1;
  if (!text) return true;
  int parts = round ? 2 : grid->dim;
  bool good = true;
  for (int k = 0; k < parts && good; k++) {
    char *end;
    long value = strtol(text, &end, 10);
    good = end != text && value >= 1 && value <= 1000 && *end == (k < parts - 1 ? ',' : 0);
    if (good) grid->cells[round && k == 1 ? 2 : k] = (int32_t)value, text = end + 1;
  }
  if (good && (double)grid->cells[0] * grid->cells[1] * grid->cells[2] <= 1e7) return true;
  fx_error("--grid should read %s, from 1 to 1000 each and 1e7 cells at most", round           ? "RINGS,LAYERS"
                                                                               : grid->dim < 3 ? "NX,NY"
                                                                                               : "NX,NY,NZ");
  return false;
}

void fx_grid_free(fx_grid *grid) { free(grid->share); }

int32_t fx_grid_count(const fx_grid *grid) { return grid->cells[0] * grid->cells[1] * grid->cells[2]; }

void fx_grid_ends(const fx_grid *grid, int32_t cell, double low[3], double high[3]) {
  const int32_t at[3] = {cell % grid->cells[0], cell / grid->cells[0] % grid->cells[1],
                         cell / grid->cells[0] / grid->cells[1]};
  for (int a = 0; a < 3; a++) {
    double from = grid->region.low[a], length = grid->region.high[a] - from;
    low[a] = from + length * at[a] / grid->cells[a];
    high[a] = from + length * (at[a] + 1) / grid->cells[a];
  }
}

double fx_grid_volume(const fx_grid *grid, int32_t cell) {
  double low[3], high[3];
  fx_grid_ends(grid, cell, low, high);
  if (grid->region.round) return pi * (high[0] * high[0] - low[0] * low[0]) * (high[2] - low[2]);
  return (high[0] - low[0]) * (high[1] - low[1]) * (grid->dim == 3 ? high[2] - low[2] : 1);
}

/* Cell along one axis, -1 outside. */
static int32_t along(const fx_grid *grid, int axis, double x) {
  double low = grid->region.low[axis], high = grid->region.high[axis];
  if (!(x >= low && x < high)) return -1;
  int32_t k = (int32_t)((x - low) / (high - low) * grid->cells[axis]);
  return k < grid->cells[axis] ? k : grid->cells[axis] - 1;
}

static int32_t cell_at(const fx_grid *grid, const double at[3]) {
  int32_t cell = 0;
  for (int a = 2; a >= 0; a--) {
    bool divided = (a < grid->dim) && !(grid->region.round && a == 1);
    int32_t k = divided ? along(grid, a, at[a]) : 0;
    if (k < 0) return -1;
    cell = cell * grid->cells[a] + k;
  }
  return cell;
}

int32_t fx_grid_cell(const fx_grid *grid, frix_vec3 point) {
  double at[3];
  fx_region_place(&grid->region, point, at);
  return cell_at(grid, at);
}

/* ---- shares */

static void add_share(fx_grid *grid, int32_t grain, int32_t cell, double part) {
  if (grid->share_count == grid->share_room) {
    grid->share_room = 2 * grid->share_room + 1024;
    grid->share = fx_grow(grid->share, (size_t)grid->share_room, sizeof *grid->share);
  }
  grid->share[grid->share_count++] = (fx_share){grain, cell, part};
}

/* Whether all of the sphere lies in one cell (*cell), or none of it in the region (*cell = -1). */
static bool in_one(const fx_grid *grid, const fx_grain *g, int32_t *cell) {
  double at[3], low[3], high[3];
  fx_region_place(&grid->region, g->center, at);
  bool outside = false, whole = true;
  for (int a = 0; a < grid->dim; a++) {
    if (grid->region.round && a == 1) continue;
    low[a] = at[a] - g->radius, high[a] = at[a] + g->radius;
    outside = outside || high[a] <= grid->region.low[a] || low[a] >= grid->region.high[a];
    if (grid->region.round && a == 0 && low[a] < 0) low[a] = 0;
    int32_t first = along(grid, a, low[a]);
    whole = whole && first >= 0 && first == along(grid, a, high[a]);
  }
  *cell = outside ? -1 : whole ? cell_at(grid, at) : -1;
  return outside || whole;
}

/* The points of a cut grain, counted by cell: entries of this grain are those from `begin` on. */
static void divide(fx_grid *grid, int32_t index, const fx_grain *g) {
  int32_t begin = grid->share_count, points = 0, last = -1;
  int layers = grid->dim == 3 ? LATTICE : 1;
  for (int k = 0; k < LATTICE * LATTICE * layers; k++) {
    double x = (k % LATTICE + 0.5) * 2 / LATTICE - 1, y = (k / LATTICE % LATTICE + 0.5) * 2 / LATTICE - 1,
           z = layers > 1 ? (k / LATTICE / LATTICE + 0.5) * 2 / LATTICE - 1 : 0;
    if (x * x + y * y + z * z > 1) continue;
    points++;
    int32_t cell = fx_grid_cell(
        grid, (frix_vec3){g->center.x + g->radius * x, g->center.y + g->radius * y, g->center.z + g->radius * z});
    if (cell < 0) continue;
    if (last < 0 || grid->share[last].cell != cell) {
      for (last = begin; last < grid->share_count && grid->share[last].cell != cell;) last++;
      if (last == grid->share_count) add_share(grid, index, cell, 0);
    }
    grid->share[last].part += 1;
  }
  for (int32_t k = begin; k < grid->share_count; k++) grid->share[k].part /= points;
}

void fx_grid_share(fx_grid *grid, const fx_grains *grains) {
  grid->share_count = 0;
  for (int32_t k = 0; k < grains->count; k++) {
    int32_t cell;
    if (!in_one(grid, &grains->grain[k], &cell))
      divide(grid, k, &grains->grain[k]);
    else if (cell >= 0)
      add_share(grid, k, cell, 1);
  }
}
