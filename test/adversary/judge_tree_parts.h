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

/* Motion of a link against its leader: spin, and speed along the axis of a slider, in parts that its axes keep. */
typedef struct rates {
  real first, second; /* slider, hinge; universal: both */
  vec spin;           /* ball: in the leader's frame */
} rates;

/* What the state shows of a body. */
typedef struct moving {
  quat q;
  vec c, v, w;
} moving;

typedef struct momentum {
  vec linear, angular;
} momentum;

struct judged_trees {
  link *link; /* by body */
  int *order; /* bodies of trees, leaders first */
  int body_count;
  vec *acceleration, *turning; /* by body, at the rates of before */
  vec *torque;                 /* that such turning asks for, with the gyroscopic one */
  mat *tension;                /* by body: S of joints under tension (judge_tree_tension.c) */
  vec *pull;                   /* by joint: its force before the step */
  moving *last, *next;         /* by body: after the last step and after this one */
  real last_h;
  bool begins; /* no step was made yet */
  motion *motion;
  int motion_count;
  real *M;                  /* lower factor, over all motions */
  real *bare;               /* the same without tension */
  real *row, *go;           /* of one row */
  real *push;               /* impulses along the motions, then the rates they make */
  sight *start;             /* by body: its joint at the start */
  momentum *spent;          /* by body: velocity products in the step, which are part of the velocities of before */
  moving *shown;            /* by body: velocities of before without them */
  momentum *unsure;         /* by body: what rounding of theta changes these products by (judge_tree_brought.c) */
  momentum *before, *after; /* by body, about the place where the root of its tree began */
  bool *strays;             /* by body: it does not go to its new pose with the rate it has there */
  quat *q;                  /* by body: pose where rows are taken */
  vec *c;
};

/* Velocity of a body at the rate 1 of a coordinate; false: it does not move with it. */
bool go_with(const judge *j, const motion *m, int b, vec *v, vec *w);

rates read_rates(const judge *j, int b, moment when);
/* Velocities of the links at these rates; the poses are those of the rows. */
void put_rates(judge *j, int b, const rates *x, moment when);
/* The link's pose by its leader's, `time` after the start, at constant rates; of the first body of a tree that floats.
 */
void follow_leader(judge *j, int b, const rates *x, real time);
void go_on(judged_body *b, real time);

/* judge_tree_motion.c: the root of a diagonal entry of the mass matrix; the rate of a coordinate; an impulse on a body,
 * along the motions. */
real trees_root_mass(const judge *j, const motion *m);
real trees_rate(const judge *j, const motion *m, moment when);
void push_body(const judge *j, int body, vec linear, vec angular);

/* judge_tree_brought.c: velocity products that bring no energy; the states of this step, for the next. */
void trees_bound_energy(judge *j);
void trees_remember(judge *j);

/* judge_tree_tension.c; false: there is none. */
bool trees_find_tension(judge *j);

#endif
