/* One rank packs: see rank_packing.h. */
#include "rank_packing.h"

#include <stdlib.h>

static bool is_alone(const ex_rank_packing *s) { return !s->link || s->link->rank_count == 1; }
static bool is_first(const ex_rank_packing *s) { return !s->link || s->link->rank == 0; }

static frix_status exchange_places(ex_rank_packing *s) {
  size_t n = (size_t)s->link->rank_count, bytes = (size_t)s->count * sizeof *s->place;
  const void **out = calloc(n, sizeof *out);
  void **in = calloc(n, sizeof *in);
  size_t *size = calloc(2 * n, sizeof *size);
  frix_status status = out && in && size ? FRIX_OK : FRIX_ERROR_MEMORY;
  for (size_t p = 0; p < n && !status; p++) {
    out[p] = in[p] = s->place;
    size[p] = is_first(s) && p > 0 ? bytes : 0;
    size[n + p] = !is_first(s) && p == 0 ? bytes : 0;
  }
  if (!status && !s->link->exchange(s->link->user, out, size, in, size + n)) status = FRIX_ERROR_CANCELLED;
  free(out);
  free(in);
  free(size);
  return status;
}

frix_status ex_rank_packing_begin(ex_rank_packing *s, double radius, double half, double height,
                                  void (*keep)(const void *vessel, double radius, frix_vec3 *center),
                                  const void *vessel) {
  if (!is_alone(s) && !(s->place = malloc((size_t)s->count * sizeof *s->place + 1))) return FRIX_ERROR_MEMORY;
  if (!is_first(s)) return exchange_places(s);
  s->packing = ex_packing_new(s->count, radius, half, 0.0, height, keep, vessel);
  return s->packing ? FRIX_OK : FRIX_ERROR_MEMORY;
}

frix_vec3 ex_rank_packing_next(ex_rank_packing *s, double x, double y) {
  int64_t k = s->next++;
  if (!is_first(s)) return s->place[k];
  frix_vec3 p = ex_packing_drop(s->packing, x, y);
  if (s->place) s->place[k] = p;
  return p;
}

frix_status ex_rank_packing_end(ex_rank_packing *s, frix_status status) {
  if (!status && !is_alone(s) && is_first(s)) status = exchange_places(s);
  ex_packing_free(s->packing);
  free(s->place);
  return status;
}
