/* Shell sort, since lists here are short and often nearly sorted. */
#include "base/sort.h"

#include <string.h>

void fx_sort(int32_t *list, size_t count) {
  for (size_t gap = count / 2; gap > 0; gap /= 2)
    for (size_t k = gap; k < count; k++) {
      int32_t value = list[k];
      size_t at = k;
      for (; at >= gap && list[at - gap] > value; at -= gap) list[at] = list[at - gap];
      list[at] = value;
    }
}

void fx_sort_by(int32_t *list, int32_t *scratch, size_t count, int (*compare)(int32_t a, int32_t b, const void *user),
                const void *user) {
  if (count < 2) return;
  size_t half = count / 2;
  fx_sort_by(list, scratch, half, compare, user);
  fx_sort_by(list + half, scratch, count - half, compare, user);
  memcpy(scratch, list, half * sizeof *list);
  size_t left = 0, right = half, out = 0;
  while (left < half && right < count)
    list[out++] = compare(list[right], scratch[left], user) < 0 ? list[right++] : scratch[left++];
  while (left < half) list[out++] = scratch[left++];
}
