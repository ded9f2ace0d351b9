/* Sorting of index lists. */
#ifndef FX_BASE_SORT_H
#define FX_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

/* Ascending, in place, without memory of its own. */
void fx_sort(int32_t *list, size_t count);

/* Stable merge sort by a comparison (< 0, 0, > 0) of two entries; scratch holds count entries. */
void fx_sort_by(int32_t *list, int32_t *scratch, size_t count, int (*compare)(int32_t a, int32_t b, const void *user),
                const void *user);

#endif
