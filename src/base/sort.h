/* Sorting of short index lists. */
#ifndef FX_BASE_SORT_H
#define FX_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

/* Ascending, in place, without memory of its own. */
void fx_sort(int32_t *list, size_t count);

#endif
