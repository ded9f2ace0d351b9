/* What the files about trees share (judge_trees.c, judge_tree_motion.c). */
#ifndef ADVERSARY_JUDGE_TREE_PARTS_H
#define ADVERSARY_JUDGE_TREE_PARTS_H

#include "judge_trees.h"

enum { AXES = 3, ROOT_AXES = 6 };

/* How a body moves against the one that leads it. */
typedef struct link {
  int leader; /* body, -1: it has none */
  int joint;  /* number, -1: the root of a tree that floats */
  int tree;   /* its number, from 1 on; 0: no tree */
} link;

/* One coordinate. */
typedef struct motion {
  int body; /* the first that it moves */
  bool way; /* along the axis, else about it */
  vec axis, point;
} motion;

typedef struct momentum {
  vec linear, angular;
} momentum;

struct judged_trees {
  link *link; /* by body */
  int *order; /* bodies of trees, leaders first */
  int body_count;
  vec *acceleration, *turning; /* by body, at the rates of before */
  motion *motion;
  int motion_count;
  real *M;                  /* lower factor, over all motions */
  real *row, *go;           /* of one row */
  real *push;               /* impulses along the motions, then the rates they make */
  sight *start;             /* by body: its joint at the start */
  momentum *before, *after; /* by body, about the place where the root of its tree began */
  quat *q;                  /* by body: pose where rows are taken */
  vec *c;
};

/* Velocity of a body at the rate 1 of a coordinate; false: it does not move with it. */
bool go_with(const judge *j, const motion *m, int b, vec *v, vec *w);

#endif
