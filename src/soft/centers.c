/* Triangles in the order of their centers along an axis. */
#include "soft/centers.h"

#include "base/sort.h"

typedef struct along {
  const frix_vec3 *center;
  int axis;
} along;

static int compare(int32_t a, int32_t b, const void *user) {
  const along *m = user;
  double x = fx_at(m->center[a], m->axis), y = fx_at(m->center[b], m->axis);
  if (x != y) return x < y ? -1 : 1;
  return a < b ? -1 : a > b;
}

int fx_longest_axis(frix_vec3 side) { return side.x >= side.y && side.x >= side.z ? 0 : side.y >= side.z ? 1 : 2; }

void fx_sort_centers(const frix_vec3 *center, int axis, int32_t *order, int32_t *scratch, size_t count) {
  along m = {center, axis};
  fx_sort_by(order, scratch, count, compare, &m);
}
