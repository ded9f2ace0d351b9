/* Broad phase: a grid per size class, by sorting alone.
 *
 * Boxes are divided into classes by their largest side, a factor of two each; the cell size of a class's grid is its
 * largest side, and every box belongs to the cell of its low corner, so that overlapping boxes of a class lie in
 * neighbouring cells. Sorted by cell (z, y, x), the neighbours of a cell are five runs of the list, and the cursors to
 * those runs only move forward: one pass, no hash, no tree, nothing kept from the last step. Boxes of a finer class
 * search the coarser classes by bisection. Half spaces are compared with all boxes. The cost is linear in the number of
 * boxes for any distribution. A few boxes, as of a robot, are compared pairwise, which costs less than sorting. */
#include "collision/broad.h"

#include "base/threads.h"

#include <string.h>

enum { CLASSES = 64, FEW = 12, CELLS = 1 << 20, DIGIT = 11, BINS = 1 << DIGIT, SHORT_DIGIT = 6, SHORT_LIST = 1024 };
enum { HANDFUL = 96, SHORT_SORT = 32 }; /* boxes, pairs */
enum { FEWEST_BOXES = 256 };            /* of a class that two threads share */

/* Box in single precision, rounded outward: half the memory traffic, and never a missed pair. */
typedef struct tight {
  float low[3], high[3];
  int32_t proxy;
  bool mobile;
} tight;

typedef struct size_class {
  int32_t first, count; /* in the sorted list */
  double cell;
  int64_t from[3]; /* least cell */
  int bits[3];     /* of the key: x lowest */
} size_class;

struct fx_broad {
  frix_context *context;
  uint64_t *key, *key_scratch;
  int32_t *item, *item_scratch, *histogram, *wide;
  uint8_t *class_of;
  tight *box;
  fx_pair *pair, *pair_scratch, *pair_half;
  size_t key_room, key_scratch_room, item_room, item_scratch_room, histogram_room, wide_room, class_room, box_room,
      pair_room, pair_scratch_room, pair_half_room;
  int32_t pair_count;
  bool failed;
};

bool fx_make_room(frix_context *context, void **buffer, size_t *room, size_t wanted, size_t size) {
  if (wanted <= *room && *buffer) return true;
  size_t target = *room + *room / 2 > wanted ? *room + *room / 2 : wanted;
  if (target < 64) target = 64;
  fx_free(context, *buffer);
  *room = 0;
  *buffer = fx_alloc(context, target, size);
  if (!*buffer) return false;
  *room = target;
  return true;
}

#define GROW(b, name, room, wanted) \
  fx_make_room((b)->context, (void **)&(b)->name, &(b)->room, (size_t)(wanted), sizeof *(b)->name)

frix_status fx_broad_create(frix_context *context, fx_broad **out) {
  fx_broad *b = FX_NEW(context, fx_broad, 1);
  if (!b) return FRIX_ERROR_MEMORY;
  b->context = context;
  *out = b;
  return FRIX_OK;
}

void fx_broad_destroy(fx_broad *b) {
  if (!b) return;
  void *list[] = {b->key, b->key_scratch, b->item,         b->item_scratch, b->histogram, b->class_of,
                  b->box, b->pair,        b->pair_scratch, b->pair_half,    b->wide};
  for (size_t k = 0; k < sizeof list / sizeof *list; k++) fx_free(b->context, list[k]);
  fx_free(b->context, b);
}

/* ---- pairs ---- */

static void add_pair(fx_broad *b, int32_t i, int32_t j) {
  if ((size_t)b->pair_count == b->pair_room) {
    if (b->pair_count > INT32_MAX / 2) {
      fx_fail(b->context, FRIX_ERROR_MEMORY, "collision: more than %d pairs", b->pair_count);
      b->failed = true;
    }
    if (b->failed) return;
    size_t wanted = b->pair_room ? 2 * b->pair_room : 1024;
    fx_pair *grown = fx_realloc(b->context, b->pair, (size_t)b->pair_count, wanted, sizeof *grown);
    if (!grown) {
      b->failed = true;
      return;
    }
    b->pair = grown;
    b->pair_room = wanted;
  }
  b->pair[b->pair_count++] = i < j ? (fx_pair){i, j} : (fx_pair){j, i};
}

/* less: both together count as so much smaller. */
static bool overlap(const fx_proxy *p, const fx_proxy *q, double less) {
  return p->low.x + less <= q->high.x && q->low.x + less <= p->high.x && p->low.y + less <= q->high.y &&
         q->low.y + less <= p->high.y && p->low.z + less <= q->high.z && q->low.z + less <= p->high.z;
}

/* Whether the box's lowest corner is below the surface. */
static bool reaches(const fx_proxy *half_space, const fx_proxy *q) {
  frix_vec3 n = half_space->low;
  frix_vec3 corner = {n.x > 0.0 ? q->low.x : q->high.x, n.y > 0.0 ? q->low.y : q->high.y,
                      n.z > 0.0 ? q->low.z : q->high.z};
  return fx_dot(n, fx_sub(corner, half_space->high)) <= 0.0;
}

static bool may_meet(const fx_proxy *p, const fx_proxy *q) {
  return p->slot != q->slot && (p->mobile || q->mobile) && p->flat == q->flat && (p->group & q->mask) &&
         (q->group & p->mask);
}

static void consider(fx_broad *b, const fx_proxy *proxy, int32_t i, int32_t j) {
  const fx_proxy *p = &proxy[i], *q = &proxy[j];
  double less = p->tree >= 0 && p->tree == q->tree ? fx_max(0.0, p->less + q->less) : 0.0;
  double reach = p->ball + q->ball - less;
  if (fx_norm2(fx_sub(p->middle, q->middle)) <= reach * reach && overlap(p, q, less) && may_meet(p, q))
    add_pair(b, i, j);
}

typedef float corner __attribute__((vector_size(16), aligned(4), may_alias));
typedef int32_t corner_bits __attribute__((vector_size(16)));
typedef int64_t corner_halves __attribute__((vector_size(16)));

/* A run of the sorted list against one of its boxes. The three axes are compared at once; the fourth number read behind
 * a corner is compared with infinity, which nothing exceeds. */
static void scan_run(fx_broad *b, const fx_proxy *proxy, const tight *me, int32_t first, int32_t end) {
  const corner low = {me->low[0], me->low[1], me->low[2], -INFINITY};
  const corner high = {me->high[0], me->high[1], me->high[2], INFINITY};
  for (const tight *t = b->box + first, *stop = b->box + end; t < stop; t++) {
    corner_bits above = low > *(const corner *)t->high, below = *(const corner *)t->low > high;
    corner_halves apart = (corner_halves)(above | below);
    if ((apart[0] | apart[1]) == 0 && (me->mobile || t->mobile)) consider(b, proxy, me->proxy, t->proxy);
  }
}

/* ---- classes and cells ---- */

static double largest_side(const fx_proxy *p) {
  return fx_max(fx_max(p->high.x - p->low.x, p->high.y - p->low.y), p->high.z - p->low.z);
}

/* Class 0 is for half spaces; the rest go by powers of two, the outermost classes being wider. */
static uint8_t class_of_proxy(const fx_proxy *p) {
  if (p->half_space) return 0;
  int exponent = 0;
  frexp(largest_side(p), &exponent);
  return (uint8_t)(exponent < -40 ? 1 : exponent > 20 ? 62 : exponent + 41);
}

static float round_down(double x) {
  float f = (float)x;
  return (double)f > x ? nextafterf(f, -INFINITY) : f;
}

static float round_up(double x) {
  float f = (float)x;
  return (double)f < x ? nextafterf(f, INFINITY) : f;
}

/* Clamping keeps order and never widens a distance, so neighbours stay neighbours. */
static int64_t cell_of(double x, double cell) {
  double at = x / cell, far = 1e15; /* numbers beyond, and none at all, stand at the ends */
  if (!(at > -far)) return -(int64_t)far;
  if (!(at < far)) return (int64_t)far;
  int64_t c = (int64_t)at;
  return c - (at < (double)c);
}

static int bits_for(int64_t range) {
  int bits = 1;
  while (bits < 21 && (int64_t)1 << bits <= range) bits++;
  return bits;
}

/* The grid of a class: cell size, extent, bits of its keys. `at` lists its proxies. */
static void lay_grid(size_class *c, const fx_proxy *proxy, const int32_t *at) {
  int64_t most[3] = {0, 0, 0};
  c->cell = 1e-300;
  for (int32_t k = 0; k < c->count; k++) c->cell = fx_max(c->cell, largest_side(&proxy[at[k]]));
  /* rounding up keeps the largest box within two cells */
  c->cell *= 1.0 + 1e-12;
  double magnitude = 0.0;
  for (int32_t k = 0; k < c->count; k++) {
    frix_vec3 low = proxy[at[k]].low;
    magnitude = fx_max(magnitude, fx_max(fx_max(fabs(low.x), fabs(low.y)), fabs(low.z)));
  }
  c->cell = fx_max(c->cell, magnitude * 1e-12); /* cells must be distinct numbers */
  for (int32_t k = 0; k < c->count; k++) {
    frix_vec3 low = proxy[at[k]].low;
    for (int axis = 0; axis < 3; axis++) {
      int64_t cell = cell_of(fx_at(low, axis), c->cell);
      if (!k || cell < c->from[axis]) c->from[axis] = cell;
      if (!k || cell > most[axis]) most[axis] = cell;
    }
  }
  for (int axis = 0; axis < 3; axis++) {
    /* outliers are gathered in the last cell; the first cell is kept free as a guard */
    c->from[axis] -= 1;
    int64_t range = most[axis] - c->from[axis] + 1;
    c->bits[axis] = bits_for(range < CELLS ? range : CELLS);
  }
}

/* Cell coordinate within a class's grid, clamped into its bits. */
static int64_t place(const size_class *c, int axis, double x) {
  int64_t at = cell_of(x, c->cell) - c->from[axis], last = ((int64_t)1 << c->bits[axis]) - 2;
  return at < 0 ? 0 : at > last ? last : at;
}

static uint64_t pack(const size_class *c, int64_t x, int64_t y, int64_t z) {
  return ((uint64_t)z << c->bits[1] | (uint64_t)y) << c->bits[0] | (uint64_t)x;
}

/* Radix sort of keys with their items; digits that are all equal are skipped. Short lists have short digits, whose bins
 * cost less than they; the order is the same, since every pass keeps the order of equals. */
static void sort_keys(fx_broad *b, int32_t first, int32_t count, int bits) {
  int digit = count < SHORT_LIST ? SHORT_DIGIT : DIGIT, bins = 1 << digit;
  uint64_t mask = (uint64_t)bins - 1;
  uint64_t *key = b->key + first, *key_out = b->key_scratch + first;
  int32_t *item = b->item + first, *item_out = b->item_scratch + first;
  for (int shift = 0; shift < bits; shift += digit) {
    int32_t *h = b->histogram;
    memset(h, 0, ((size_t)bins + 1) * sizeof *h);
    for (int32_t k = 0; k < count; k++) h[(key[k] >> shift & mask) + 1]++;
    if (h[(key[0] >> shift & mask) + 1] == count) continue;
    for (int k = 0; k < bins; k++) h[k + 1] += h[k];
    for (int32_t k = 0; k < count; k++) {
      int32_t to = h[key[k] >> shift & mask]++;
      key_out[to] = key[k], item_out[to] = item[k];
    }
    memcpy(key, key_out, (size_t)count * sizeof *key);
    memcpy(item, item_out, (size_t)count * sizeof *item);
  }
}

/* The class's boxes in the order of their cells. */
static void sort_class(fx_broad *b, size_class *c, const fx_proxy *proxy) {
  lay_grid(c, proxy, b->item + c->first);
  for (int32_t k = c->first; k < c->first + c->count; k++) {
    frix_vec3 low = proxy[b->item[k]].low;
    b->key[k] = pack(c, place(c, 0, low.x), place(c, 1, low.y), place(c, 2, low.z));
  }
  sort_keys(b, c->first, c->count, c->bits[0] + c->bits[1] + c->bits[2]);
  for (int32_t k = c->first; k < c->first + c->count; k++) {
    const fx_proxy *p = &proxy[b->item[k]];
    b->box[k] = (tight){{round_down(p->low.x), round_down(p->low.y), round_down(p->low.z)},
                        {round_up(p->high.x), round_up(p->high.y), round_up(p->high.z)},
                        b->item[k],
                        p->mobile};
  }
}

/* First place in the class whose key is at least `key`. */
static int32_t lower_bound(const fx_broad *b, const size_class *c, uint64_t key) {
  int32_t low = c->first, high = c->first + c->count;
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    if (b->key[middle] < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/* Pairs of boxes begin .. end - 1 of a class with those after them. The rows ahead of a cell: its own, the next in y,
 * and three in the next z. */
static void scan_class(fx_broad *b, const size_class *c, int32_t begin, int32_t stop, const fx_proxy *proxy) {
  int32_t end = c->first + c->count;
  uint64_t row = (uint64_t)1 << c->bits[0], layer = row << c->bits[1];
  /* distance in keys from a cell to the middle of the neighbouring rows */
  const uint64_t ahead[4] = {row, layer - row, layer, layer + row};
  int32_t from[4] = {c->first, c->first, c->first, c->first}, to[4] = {c->first, c->first, c->first, c->first};
  int32_t own = begin;
  for (int32_t k = begin; k < stop; k++) {
    uint64_t key = b->key[k];
    const tight *me = &b->box[k];
    if (own <= k) own = k + 1;
    while (own < end && b->key[own] <= key + 1) own++;
    scan_run(b, proxy, me, k + 1, own);
    for (int r = 0; r < 4; r++) {
      uint64_t least = key + ahead[r] - 1, most = key + ahead[r] + 1;
      while (from[r] < end && b->key[from[r]] < least) from[r]++;
      if (to[r] < from[r]) to[r] = from[r];
      while (to[r] < end && b->key[to[r]] <= most) to[r]++;
      scan_run(b, proxy, me, from[r], to[r]);
    }
  }
}

/* A class in two halves, side by side: each with a list of its own. */
typedef struct halves {
  fx_broad *list[2];
  const size_class *c;
  const fx_proxy *proxy;
} halves;

static void scan_half(int32_t half, void *user) {
  const halves *h = user;
  int32_t first = h->c->first, middle = first + h->c->count / 2;
  scan_class(h->list[half], h->c, half ? middle : first, half ? first + h->c->count : middle, h->proxy);
}

static void scan_halves(fx_broad *b, const size_class *c, const fx_proxy *proxy, int32_t thread_count) {
  if (thread_count < 2 || c->count < FEWEST_BOXES) {
    scan_class(b, c, c->first, c->first + c->count, proxy);
    return;
  }
  fx_broad other = *b;
  other.pair = b->pair_half, other.pair_room = b->pair_half_room, other.pair_count = 0;
  halves h = {{b, &other}, c, proxy};
  fx_parallel(b->context, 2, 2, scan_half, &h);
  b->pair_half = other.pair, b->pair_half_room = other.pair_room;
  b->failed |= other.failed;
  for (int32_t k = 0; k < other.pair_count; k++) add_pair(b, other.pair[k].a, other.pair[k].b);
}

/* Pairs of a finer class with a coarser one. */
static void scan_across(fx_broad *b, const size_class *fine, const size_class *coarse, const fx_proxy *proxy) {
  for (int32_t k = fine->first; k < fine->first + fine->count; k++) {
    const tight *me = &b->box[k];
    if (coarse->count <= FEW) {
      scan_run(b, proxy, me, coarse->first, coarse->first + coarse->count);
      continue;
    }
    const fx_proxy *p = &proxy[me->proxy];
    int64_t x0 = place(coarse, 0, p->low.x - coarse->cell), x1 = place(coarse, 0, p->high.x);
    int64_t y0 = place(coarse, 1, p->low.y - coarse->cell), y1 = place(coarse, 1, p->high.y);
    int64_t z0 = place(coarse, 2, p->low.z - coarse->cell), z1 = place(coarse, 2, p->high.z);
    for (int64_t z = z0; z <= z1; z++)
      for (int64_t y = y0; y <= y1; y++) {
        int32_t first = lower_bound(b, coarse, pack(coarse, x0, y, z));
        int32_t stop = first;
        uint64_t last = pack(coarse, x1, y, z);
        while (stop < coarse->first + coarse->count && b->key[stop] <= last) stop++;
        scan_run(b, proxy, me, first, stop);
      }
  }
}

/* ---- a handful ---- */

/* Single precision, a little outward. */
static float below(double x) { return (float)x - 1e-6f * fabsf((float)x) - 1e-30f; }
static float above(double x) { return (float)x + 1e-6f * fabsf((float)x) + 1e-30f; }

/* Each with each: boxes as lists of their sides, so that one is compared with several at a time. Returns how many half
 * spaces there are. */
static int32_t scan_all(fx_broad *b, const fx_proxy *proxy, int32_t count) {
  float low[3][HANDFUL], high[3][HANDFUL];
  int32_t item[HANDFUL], apart[HANDFUL], n = 0, wide = 0;
  for (int32_t k = 0; k < count; k++) {
    if (proxy[k].half_space) b->wide[wide++] = k;
    if (proxy[k].half_space) continue;
    for (int axis = 0; axis < 3; axis++)
      low[axis][n] = below(fx_at(proxy[k].low, axis)), high[axis][n] = above(fx_at(proxy[k].high, axis));
    item[n++] = k;
  }
  for (int32_t i = 0; i + 1 < n; i++) {
    float x0 = low[0][i], x1 = high[0][i], y0 = low[1][i], y1 = high[1][i], z0 = low[2][i], z1 = high[2][i];
    for (int32_t j = i + 1; j < n; j++)
      apart[j] = (x0 > high[0][j]) | (low[0][j] > x1) | (y0 > high[1][j]) | (low[1][j] > y1) | (z0 > high[2][j]) |
                 (low[2][j] > z1);
    for (int32_t j = i + 1; j < n; j++)
      if (!apart[j]) consider(b, proxy, item[i], item[j]);
  }
  return wide;
}

/* ---- order ---- */

/* A pair before another: by bodies, then by shapes. */
static bool stands_before(const fx_proxy *proxy, fx_pair p, fx_pair q) {
  const int32_t a[4] = {proxy[p.a].slot, proxy[p.b].slot, p.a, p.b};
  const int32_t b[4] = {proxy[q.a].slot, proxy[q.b].slot, q.a, q.b};
  for (int k = 0; k < 4; k++)
    if (a[k] != b[k]) return a[k] < b[k];
  return false;
}

static void sort_few(fx_broad *b, const fx_proxy *proxy) {
  for (int32_t k = 1; k < b->pair_count; k++) {
    fx_pair p = b->pair[k];
    int32_t at = k;
    for (; at > 0 && stands_before(proxy, p, b->pair[at - 1]); at--) b->pair[at] = b->pair[at - 1];
    b->pair[at] = p;
  }
}

/* Stable counting sort of the pairs by one number each. */
static void sort_pairs(fx_broad *b, const fx_proxy *proxy, int32_t bins, int which) {
  int32_t *h = b->histogram;
  memset(h, 0, ((size_t)bins + 1) * sizeof *h);
#define NUMBER(p) (which == 0 ? (p).b : which == 1 ? (p).a : which == 2 ? proxy[(p).b].slot : proxy[(p).a].slot)
  for (int32_t k = 0; k < b->pair_count; k++) h[NUMBER(b->pair[k]) + 1]++;
  for (int32_t k = 0; k < bins; k++) h[k + 1] += h[k];
  for (int32_t k = 0; k < b->pair_count; k++) b->pair_scratch[h[NUMBER(b->pair[k])]++] = b->pair[k];
#undef NUMBER
  fx_pair *swap = b->pair;
  size_t room = b->pair_room;
  b->pair = b->pair_scratch, b->pair_room = b->pair_scratch_room;
  b->pair_scratch = swap, b->pair_scratch_room = room;
}

static bool room_for(fx_broad *b, int32_t count, int32_t slot_count) {
  int32_t bins = count > slot_count ? count : slot_count;
  return GROW(b, key, key_room, count) && GROW(b, key_scratch, key_scratch_room, count) &&
         GROW(b, item, item_room, count) && GROW(b, item_scratch, item_scratch_room, count) &&
         GROW(b, class_of, class_room, count) && GROW(b, box, box_room, count) && GROW(b, wide, wide_room, count) &&
         GROW(b, histogram, histogram_room, (bins > BINS ? bins : BINS) + 2);
}

/* A class that is small against the next one up joins it: fewer grids, and spheres of nearly one size share theirs.
 * Only one step up, so that no box stands in a grid more than four times too coarse. */
static void merge_classes(size_class *list, uint8_t *map) {
  bool grown = false;
  for (int c = 0; c < CLASSES; c++) map[c] = (uint8_t)c;
  for (int c = 1; c + 1 < CLASSES; c++) {
    bool merge = !grown && list[c].count > 0 && list[c].count < 4 * (int64_t)list[c + 1].count;
    if (merge) map[c] = (uint8_t)(c + 1), list[c + 1].count += list[c].count, list[c].count = 0;
    grown = merge;
  }
}

/* Boxes by class, each class in the order of proxies; returns how many half spaces there are. */
static int32_t classify(fx_broad *b, const fx_proxy *proxy, int32_t count, size_class *list) {
  int32_t wide = 0, at = 0;
  uint8_t map[CLASSES];
  memset(list, 0, CLASSES * sizeof *list);
  for (int32_t k = 0; k < count; k++) {
    b->class_of[k] = class_of_proxy(&proxy[k]);
    if (b->class_of[k] == 0) {
      b->wide[wide++] = k;
    } else {
      list[b->class_of[k]].count++;
    }
  }
  merge_classes(list, map);
  for (int c = 1; c < CLASSES; c++) list[c].first = at, at += list[c].count, list[c].count = 0;
  for (int32_t k = 0; k < count; k++) {
    b->class_of[k] = map[b->class_of[k]];
    size_class *c = &list[b->class_of[k]];
    if (b->class_of[k]) b->item[c->first + c->count++] = k;
  }
  return wide;
}

static int32_t scan_classes(fx_broad *b, const fx_proxy *proxy, int32_t count, int32_t thread_count) {
  size_class list[CLASSES];
  int32_t wide = classify(b, proxy, count, list);
  for (int c = 1; c < CLASSES; c++) {
    if (!list[c].count) continue;
    sort_class(b, &list[c], proxy);
    scan_halves(b, &list[c], proxy, thread_count);
  }
  for (int c = 1; c < CLASSES; c++)
    for (int d = c + 1; d < CLASSES && list[c].count; d++)
      if (list[d].count) scan_across(b, &list[c], &list[d], proxy);
  return wide;
}

static void scan_half_spaces(fx_broad *b, const fx_proxy *proxy, int32_t count, int32_t wide) {
  for (int32_t w = 0; w < wide; w++) {
    const fx_proxy *p = &proxy[b->wide[w]];
    for (int32_t k = 0; k < count; k++)
      if (!proxy[k].half_space && may_meet(p, &proxy[k]) && reaches(p, &proxy[k])) add_pair(b, b->wide[w], k);
  }
}

/* Whether some body has several shapes, so that the order of proxies is not enough. */
static bool has_compound(const fx_proxy *proxy, int32_t count) {
  for (int32_t k = 1; k < count; k++)
    if (proxy[k].slot == proxy[k - 1].slot) return true;
  return false;
}

frix_status fx_broad_run(fx_broad *b, const fx_proxy *proxy, int32_t count, int32_t slot_count, int32_t thread_count,
                         const fx_pair **pair, int32_t *pair_count) {
  b->pair_count = 0;
  b->failed = false;
  if (!room_for(b, count, slot_count)) return FRIX_ERROR_MEMORY;
  int32_t wide = count <= HANDFUL ? scan_all(b, proxy, count) : scan_classes(b, proxy, count, thread_count);
  scan_half_spaces(b, proxy, count, wide);
  if (b->failed) return FRIX_ERROR_MEMORY;
  if (!GROW(b, pair_scratch, pair_scratch_room, b->pair_room)) return FRIX_ERROR_MEMORY;

  if (b->pair_count <= SHORT_SORT) {
    sort_few(b, proxy);
  } else {
    sort_pairs(b, proxy, count, 0);
    sort_pairs(b, proxy, count, 1);
    if (has_compound(proxy, count)) {
      sort_pairs(b, proxy, slot_count, 2);
      sort_pairs(b, proxy, slot_count, 3);
    }
  }
  *pair = b->pair;
  *pair_count = b->pair_count;
  return FRIX_OK;
}
