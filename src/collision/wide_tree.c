/* Rays walk a tree of eight boxes to a node, tested four at once in single precision.
 *
 * Boxes are those of the binary tree, rounded outward. A ray o + t d meets a slab between
 *   t = (low - o - e) / d   and   (high - o + e) / d,
 * where e covers what is lost in o and in the differences: 2^-22 of the largest numbers, four times their rounding;
 * what is lost in the products is covered by letting rays leave boxes 2^-20 later. So no box is missed that double
 * precision would find. Shapes are tested in double precision: single precision affects only the cost, not the result.
 */
#include "collision/query_tree.h"

#include "collision/broad.h"

#include <float.h>

#ifdef __SSE__
#include <xmmintrin.h>
#endif

typedef float f4 __attribute__((vector_size(16), aligned(4))); /* allocators promise no more */
typedef int32_t i4 __attribute__((vector_size(16), aligned(4)));

enum { WIDE = 8, DEPTH = 1024 };

struct fx_wide_node {
  f4 bound[2][3][2];   /* low, high; of four boxes, then of four more */
  int32_t child[WIDE]; /* an item, or ~ a node */
};

/* ---- building */

/* Every wide node but the root opens an inner node of the binary tree, of which there are fewer than items. */
bool fx_wide_tree_reserve(fx_query_tree *tree, size_t items) {
  return fx_make_room(tree->context, (void **)&tree->wide, &tree->wide_room, items + 1, sizeof *tree->wide) &&
         fx_make_room(tree->context, (void **)&tree->wide_root, &tree->root_room, items + 1, sizeof *tree->wide_root);
}

static float below(double x) {
  float f = (float)x;
  return (double)f > x ? nextafterf(f, -INFINITY) : f;
}

static float above(double x) {
  float f = (float)x;
  return (double)f < x ? nextafterf(f, INFINITY) : f;
}

static double surface_of(const fx_query_node *n) {
  double x = n->bound[1][0] - n->bound[0][0], y = n->bound[1][1] - n->bound[0][1], z = n->bound[1][2] - n->bound[0][2];
  return x * y + y * z + z * x;
}

/* Up to eight parts of a node: the largest that can be is opened until there are so many. */
static int open_node(const fx_query_tree *tree, int32_t root, int32_t *part) {
  int count = 1;
  part[0] = root;
  while (count < WIDE) {
    int best = -1;
    for (int k = 0; k < count; k++) {
      const fx_query_node *n = &tree->node[part[k]];
      if (!n->count && (best < 0 || surface_of(n) > surface_of(&tree->node[part[best]]))) best = k;
    }
    if (best < 0) break;
    int32_t first = tree->node[part[best]].first;
    part[best] = first;
    part[count++] = first + 1;
  }
  return count;
}

void fx_wide_tree_build(fx_query_tree *tree) {
  tree->wide_count = 0;
  if (!tree->node_count) return;
  int32_t *root = tree->wide_root; /* binary node that a wide one opens */
  root[tree->wide_count++] = 0;
  for (int32_t n = 0; n < tree->wide_count; n++) {
    fx_wide_node *node = &tree->wide[n];
    int32_t part[WIDE];
    int count = open_node(tree, root[n], part);
    for (int k = 0; k < WIDE; k++) {
      const fx_query_node *from = k < count ? &tree->node[part[k]] : NULL;
      for (int axis = 0; axis < 3; axis++) {
        node->bound[0][axis][k / 4][k % 4] = from ? below(from->bound[0][axis]) : FLT_MAX;
        node->bound[1][axis][k / 4][k % 4] = from ? above(from->bound[1][axis]) : -FLT_MAX;
      }
      node->child[k] = !from ? 0 : from->count ? tree->order[from->first] : ~tree->wide_count;
      if (from && !from->count) root[tree->wide_count++] = part[k];
    }
  }
}

/* ---- walking */

typedef struct arrow4 {
  f4 inverse[3], near[3], far[3]; /* origin, moved so that boxes are wider */
  int first[3];                   /* which side of a box comes first */
} arrow4;

static f4 all(float x) { return (f4){x, x, x, x}; }

static arrow4 arrow_of(const fx_query_tree *tree, const fx_ray *ray) {
  arrow4 a;
  const fx_query_node *root = &tree->node[0];
  for (int k = 0; k < 3; k++) {
    double o = fx_at(ray->origin, k), inverse = 1.0 / fx_at(ray->direction, k);
    double slack = 0x1p-22 * (fabs(o) + fmax(fabs(root->bound[0][k]), fabs(root->bound[1][k])));
    a.first[k] = inverse < 0.0;
    float in = (float)inverse;
    if (isinf(in) && !isinf(inverse)) in = inverse < 0.0 ? -FLT_MAX : FLT_MAX; /* nearly parallel, not parallel */
    a.inverse[k] = all(in);
    a.near[k] = all((float)(inverse < 0.0 ? o - slack : o + slack));
    a.far[k] = all((float)(inverse < 0.0 ? o + slack : o - slack));
  }
  return a;
}

/* a > b ? a : b, a < b ? a : b and the signs of a mask, lane by lane; what is not a number gives b. */
#ifdef __SSE__
static f4 larger(f4 a, f4 b) { return (f4)_mm_max_ps((__m128)a, (__m128)b); }
static f4 smaller(f4 a, f4 b) { return (f4)_mm_min_ps((__m128)a, (__m128)b); }
static int signs(i4 mask) { return _mm_movemask_ps((__m128)mask); }
#else
static f4 choose(i4 mask, f4 yes, f4 no) { return (f4)((mask & (i4)yes) | (~mask & (i4)no)); }
static f4 larger(f4 a, f4 b) { return choose(a > b, a, b); }
static f4 smaller(f4 a, f4 b) { return choose(a < b, a, b); }
static int signs(i4 mask) { return (mask[0] & 1) | (mask[1] & 2) | (mask[2] & 4) | (mask[3] & 8); }
#endif

/* Where the ray enters each box; bits of those that it meets. A side that it runs in gives 0 * infinity, which bounds
 * nothing. */
static unsigned meets(const arrow4 *a, const fx_wide_node *n, float limit, f4 enter[2]) {
  unsigned met = 0;
  for (int part = 0; part < 2; part++) {
    f4 first = all(0.0f), last = all(limit);
    for (int k = 0; k < 3; k++) {
      f4 in = (n->bound[a->first[k]][k][part] - a->near[k]) * a->inverse[k];
      f4 out = (n->bound[1 - a->first[k]][k][part] - a->far[k]) * a->inverse[k];
      first = larger(in, first);
      last = smaller(out, last);
    }
    met |= (unsigned)signs(first <= last * all(1.0f + 0x1p-20f)) << (4 * part);
    enter[part] = first * all(1.0f - 0x1p-20f);
  }
  return met;
}

typedef struct place {
  int32_t child; /* as in a node */
  float enter;
} place;

void fx_query_tree_ray(const fx_query_tree *tree, const fx_ray *ray, double *limit,
                       void (*visit)(int32_t item, void *user), void *user) {
  place stack[DEPTH];
  int depth = 0;
  for (int32_t k = tree->item_count - tree->endless_count; k < tree->item_count; k++) visit(tree->order[k], user);
  if (!tree->wide_count) return;
  arrow4 a = arrow_of(tree, ray);
  float reach = above(*limit);
  stack[depth++] = (place){~0, 0.0f};
  while (depth > 0) {
    place at = stack[--depth];
    if (at.enter > reach) continue;
    if (at.child >= 0) {
      visit(at.child, user);
      reach = above(*limit);
      continue;
    }
    const fx_wide_node *node = &tree->wide[~at.child];
    f4 enter[2];
    unsigned met = meets(&a, node, reach, enter);
    int bottom = depth;
    for (; met; met &= met - 1) {
      int k = __builtin_ctz(met), to = depth++; /* the nearest ends up on top */
      float begins = ((const float *)enter)[k];
      for (; to > bottom && stack[to - 1].enter < begins; to--) stack[to] = stack[to - 1];
      stack[to] = (place){node->child[k], begins};
    }
  }
}
