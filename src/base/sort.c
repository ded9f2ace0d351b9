/* Shell sort: lists here are short and often nearly sorted. */
#include "base/sort.h"

void fx_sort(int32_t *list, size_t count) {
  for (size_t gap = count / 2; gap > 0; gap /= 2)
    for (size_t k = gap; k < count; k++) {
      int32_t value = list[k];
      size_t at = k;
      for (; at >= gap && list[at - gap] > value; at -= gap) list[at] = list[at - gap];
      list[at] = value;
    }
}
