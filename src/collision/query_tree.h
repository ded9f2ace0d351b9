/* A tree of boxes over placed shapes, for queries. */
#ifndef FX_COLLISION_QUERY_TREE_H
#define FX_COLLISION_QUERY_TREE_H

#include "collision/ray.h"

/* A placed shape. */
typedef struct fx_query_item {
  frix_vec3 low, high;
  frix_pose pose;
  int32_t slot, shape;
} fx_query_item;

typedef struct fx_query_node {
  double bound[2][3];   /* low, high */
  int32_t first, count; /* as in fx_tree_node: count 0: children first and first + 1 */
  int32_t level;        /* 0: the root */
} fx_query_node;

typedef struct fx_wide_node fx_wide_node; /* wide_tree.c */

typedef struct fx_query_tree {
  frix_context *context;
  fx_query_item *item;
  int32_t *order;
  fx_query_node *node;
  int32_t item_count, node_count, endless_count; /* endless: half spaces, the last of `order` */
  fx_wide_node *wide;                            /* the same tree, eight children to a node, for rays */
  int32_t *wide_root;                            /* which node of the binary tree each opens */
  int32_t wide_count;
  size_t item_room, order_room, node_room, wide_room, root_room;
} fx_query_tree;

/* Room for so many items, which are then written and built. */
frix_status fx_query_tree_reserve(fx_query_tree *tree, int32_t count);
/* Items without bounds have low.x = -INFINITY. */
void fx_query_tree_build(fx_query_tree *tree, int32_t count);
void fx_query_tree_free(fx_query_tree *tree);

/* Room for wide nodes over so many items; from the binary tree. */
bool fx_wide_tree_reserve(fx_query_tree *tree, size_t items);
void fx_wide_tree_build(fx_query_tree *tree);

/* Calls visit for every item that the ray may meet before *limit, nearest boxes first; visit may lower *limit. */
void fx_query_tree_ray(const fx_query_tree *tree, const fx_ray *ray, double *limit,
                       void (*visit)(int32_t item, void *user), void *user);
/* The same for items whose boxes are not farther than *limit from a box. */
void fx_query_tree_near(const fx_query_tree *tree, frix_vec3 low, frix_vec3 high, const double *limit,
                        void (*visit)(int32_t item, void *user), void *user);

#endif
