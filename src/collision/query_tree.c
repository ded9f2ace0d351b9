/* The tree is built top down: a node is split where the sum of surface times number of items over both parts is least,
 * among a few planes across its longest side (Wald 2007, binned). Splits depend on boxes and the order of items alone.
 * Below HALVED levels parts are halves, so that no arrangement of bodies makes the tree deeper than HALVED + 31. */
#include "collision/query_tree.h"

#include "collision/broad.h"

#include <string.h>

enum { LEAF = 1, BINS = 16, HALVED = 64, DEPTH = HALVED + 64 };

frix_status fx_query_tree_reserve(fx_query_tree *tree, int32_t count) {
  size_t n = (size_t)count;
  bool good = fx_make_room(tree->context, (void **)&tree->item, &tree->item_room, n + 1, sizeof *tree->item) &&
              fx_make_room(tree->context, (void **)&tree->order, &tree->order_room, n + 1, sizeof *tree->order) &&
              fx_make_room(tree->context, (void **)&tree->node, &tree->node_room, 2 * n + 2, sizeof *tree->node) &&
              fx_wide_tree_reserve(tree, n + 1);
  return good ? FRIX_OK : FRIX_ERROR_MEMORY;
}

void fx_query_tree_free(fx_query_tree *tree) {
  fx_free(tree->context, tree->item);
  fx_free(tree->context, tree->order);
  fx_free(tree->context, tree->node);
  fx_free(tree->context, tree->wide);
  fx_free(tree->context, tree->wide_root);
}

static frix_vec3 least(frix_vec3 a, frix_vec3 b) {
  return fx_vec(fx_min(a.x, b.x), fx_min(a.y, b.y), fx_min(a.z, b.z));
}

static frix_vec3 most(frix_vec3 a, frix_vec3 b) { return fx_vec(fx_max(a.x, b.x), fx_max(a.y, b.y), fx_max(a.z, b.z)); }

static double surface(frix_vec3 low, frix_vec3 high) {
  frix_vec3 d = fx_sub(high, low);
  return d.x * d.y + d.y * d.z + d.z * d.x;
}

/* Twice the middle, which sorts like the middle. */
static double middle(const fx_query_item *item, int axis) { return fx_at(item->low, axis) + fx_at(item->high, axis); }

typedef struct bins {
  int32_t count[BINS];
  frix_vec3 low[BINS], high[BINS];
  double first, scale;
  int axis;
} bins;

static int bin_of(const bins *b, const fx_query_item *item) {
  int k = (int)((middle(item, b->axis) - b->first) * b->scale);
  return k < 0 ? 0 : k >= BINS ? BINS - 1 : k;
}

/* False where all middles are at one place. */
static bool fill_bins(const fx_query_tree *tree, const int32_t *list, int32_t count, bins *b) {
  frix_vec3 low = fx_vec(INFINITY, INFINITY, INFINITY), high = fx_neg(low);
  for (int32_t k = 0; k < count; k++) {
    const fx_query_item *item = &tree->item[list[k]];
    frix_vec3 m = fx_add(item->low, item->high);
    low = least(low, m), high = most(high, m);
  }
  frix_vec3 d = fx_sub(high, low);
  b->axis = d.x >= d.y && d.x >= d.z ? 0 : d.y >= d.z ? 1 : 2;
  double length = fx_at(d, b->axis);
  if (!(length > 0.0)) return false;
  b->first = fx_at(low, b->axis), b->scale = BINS / length;
  memset(b->count, 0, sizeof b->count);
  for (int32_t k = 0; k < count; k++) {
    const fx_query_item *item = &tree->item[list[k]];
    int at = bin_of(b, item);
    b->low[at] = b->count[at] ? least(b->low[at], item->low) : item->low;
    b->high[at] = b->count[at] ? most(b->high[at], item->high) : item->high;
    b->count[at]++;
  }
  return true;
}

/* The first bin of the right part. */
static int best_split(const bins *b) {
  double cost[BINS];
  frix_vec3 low = fx_vec(INFINITY, INFINITY, INFINITY), high = fx_neg(low);
  int32_t count = 0;
  for (int k = BINS - 1; k > 0; k--) {
    if (b->count[k]) low = least(low, b->low[k]), high = most(high, b->high[k]);
    count += b->count[k];
    cost[k] = count ? count * surface(low, high) : INFINITY;
  }
  int best = 0;
  low = fx_vec(INFINITY, INFINITY, INFINITY), high = fx_neg(low), count = 0;
  for (int k = 1; k < BINS; k++) {
    if (b->count[k - 1]) low = least(low, b->low[k - 1]), high = most(high, b->high[k - 1]);
    count += b->count[k - 1];
    cost[k] = count ? cost[k] + count * surface(low, high) : INFINITY;
    if (!best || cost[k] < cost[best]) best = k;
  }
  return best;
}

/* Number of items of the left part; the list is parted. */
static int32_t part(fx_query_tree *tree, int32_t *list, int32_t count) {
  bins b;
  if (!fill_bins(tree, list, count, &b)) return count / 2;
  int split = best_split(&b);
  int32_t left = 0, right = count - 1;
  while (left <= right) {
    if (bin_of(&b, &tree->item[list[left]]) < split) {
      left++;
    } else {
      int32_t swap = list[left];
      list[left] = list[right];
      list[right--] = swap;
    }
  }
  return left > 0 && left < count ? left : count / 2;
}

void fx_query_tree_build(fx_query_tree *tree, int32_t count) {
  int32_t bounded = 0, last = count;
  for (int32_t k = 0; k < count; k++)
    if (isfinite(tree->item[k].low.x))
      tree->order[bounded++] = k;
    else
      tree->order[--last] = k;
  tree->item_count = count;
  tree->endless_count = count - bounded;
  tree->node_count = tree->wide_count = 0;
  if (!bounded) return;
  tree->node[0] = (fx_query_node){.first = 0, .count = bounded};
  tree->node_count = 1;
  for (int32_t n = 0; n < tree->node_count; n++) { /* children are appended: a queue */
    fx_query_node *node = &tree->node[n];
    int32_t *list = tree->order + node->first;
    frix_vec3 low = tree->item[list[0]].low, high = tree->item[list[0]].high;
    for (int32_t k = 1; k < node->count; k++)
      low = least(low, tree->item[list[k]].low), high = most(high, tree->item[list[k]].high);
    for (int axis = 0; axis < 3; axis++)
      node->bound[0][axis] = fx_at(low, axis), node->bound[1][axis] = fx_at(high, axis);
    if (node->count <= LEAF) continue;
    int32_t left = node->level < HALVED ? part(tree, list, node->count) : node->count / 2, at = tree->node_count;
    tree->node[at] = (fx_query_node){.first = node->first, .count = left, .level = node->level + 1};
    tree->node[at + 1] =
        (fx_query_node){.first = node->first + left, .count = node->count - left, .level = node->level + 1};
    tree->node_count += 2;
    node->first = at, node->count = 0;
  }
  fx_wide_tree_build(tree);
}

static void visit_all(const fx_query_tree *tree, int32_t first, int32_t count, void (*visit)(int32_t, void *),
                      void *user) {
  for (int32_t k = 0; k < count; k++) visit(tree->order[first + k], user);
}

static bool is_near(frix_vec3 low, frix_vec3 high, const fx_query_node *n, double limit) {
  double sum = 0.0;
  for (int k = 0; k < 3; k++) {
    double gap = fx_max(0.0, fx_max(n->bound[0][k] - fx_at(high, k), fx_at(low, k) - n->bound[1][k]));
    sum += gap * gap;
  }
  return !(sum > (limit > 0.0 ? limit * limit : 0.0));
}

void fx_query_tree_near(const fx_query_tree *tree, frix_vec3 low, frix_vec3 high, const double *limit,
                        void (*visit)(int32_t item, void *user), void *user) {
  int32_t stack[DEPTH], depth = 0;
  visit_all(tree, tree->item_count - tree->endless_count, tree->endless_count, visit, user);
  if (tree->node_count) stack[depth++] = 0;
  while (depth > 0) {
    const fx_query_node *node = &tree->node[stack[--depth]];
    if (!is_near(low, high, node, *limit)) continue;
    if (node->count) {
      visit_all(tree, node->first, node->count, visit, user);
    } else if (depth + 2 <= DEPTH) {
      stack[depth++] = node->first + 1;
      stack[depth++] = node->first;
    }
  }
}
