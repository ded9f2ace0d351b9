/* Triangles in the order of their centers along an axis: for trees over surfaces. */
#ifndef FX_SOFT_CENTERS_H
#define FX_SOFT_CENTERS_H

#include "linalg/vector.h"

/* The axis along which a box is longest. */
int fx_longest_axis(frix_vec3 side);
/* Sorts numbers of triangles by their centers, equal ones by number. scratch: as many numbers. */
void fx_sort_centers(const frix_vec3 *center, int axis, int32_t *order, int32_t *scratch, size_t count);

#endif
