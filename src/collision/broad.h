/* Broad phase: boxes in, overlapping pairs out, sorted. */
#ifndef FX_COLLISION_BROAD_H
#define FX_COLLISION_BROAD_H

#include "model/shape.h"

/* A placed shape. Proxies are numbered by slot, then shape. */
typedef struct fx_proxy {
  frix_vec3 low, high; /* with its share of the margin */
  frix_vec3 middle;    /* of a ball that holds the shape */
  double ball;         /* its radius, with the margin */
  int32_t slot, shape;
  int32_t tree; /* proxies with the same one, not below 0, move together: */
  double less;  /* both boxes of a pair together count as so much smaller, where the sum is positive */
  uint32_t group, mask;
  bool flat;       /* in the plane z = 0 */
  bool mobile;     /* of a dynamic body that is awake */
  bool half_space; /* low is then its outward normal and high a point on its surface, margin included */
} fx_proxy;

typedef struct fx_broad fx_broad;

frix_status fx_broad_create(frix_context *context, fx_broad **out);
void fx_broad_destroy(fx_broad *broad);

/* Pairs (a < b) of proxies of different slots whose boxes and balls overlap, of which one is mobile, both or none are
 * flat, and whose groups and masks agree, sorted by slot_a, slot_b, a, b: the same for any number of threads. Buffers
 * only grow. */
frix_status fx_broad_run(fx_broad *broad, const fx_proxy *proxy, int32_t proxy_count, int32_t slot_count,
                         int32_t thread_count, const fx_pair **pair, int32_t *pair_count);

/* Grows a buffer to at least `wanted` elements, by half at least; what it held is lost. */
bool fx_make_room(frix_context *context, void **buffer, size_t *room, size_t wanted, size_t size);

#endif
