/* What the files of the judge share: bodies and rows of one step. */
#ifndef ADVERSARY_JUDGE_PARTS_H
#define ADVERSARY_JUDGE_PARTS_H

#include "judge.h"
#include "real.h"

/* Velocities of a step. COMPRESSED: between the two phases of Poisson's restitution, else the same as AFTER. */
typedef enum moment { BEFORE, FREE, COMPRESSED, AFTER, MOMENTS } moment;

typedef struct judged_body {
  frix_body_id id;
  bool moves, planar;
  real mass, size, gravity_scale;
  real reach;  /* of its shapes, from the centre */
  mat inertia; /* own axes */
  mat J, J_inverse;
  vec center; /* of mass, own frame */
  quat q0;
  vec c0;
  quat q; /* where the rows were taken: at the start, or at the half step */
  vec c;
  bool sharp;   /* q is known as exactly as the numbers */
  bool blurred; /* rows of a joint act on it whose directions are not */
  bool jointed; /* it hangs on a joint */
  bool in_tree; /* its joints are coordinates */
  bool soft;
  vec damped;             /* angular impulse of joints under tension that no row shows */
  vec driven_v, driven_w; /* what forces, motors and springs of joints change its velocity by */
  vec force, torque;
  vec spin; /* of the state before the step */
  vec v[MOMENTS], w[MOMENTS];
  vec linear, angular;             /* sum of the impulses */
  vec linear_first, angular_first; /* those of the compression */
  real linear_size, angular_size;  /* sum of their magnitudes */
  real angular_noise;              /* rounding of arms */
  real own, all;                   /* roots of energies, see judge.h */
  int island;
} judged_body;

enum { MOST_PLACES = 12 };

/* A place of a soft surface: corners of a triangle and their weights. */
typedef struct soft_place {
  int corner[3];
  real weight[3];
} soft_place;

typedef struct term {
  int body;
  vec lin, ang;
  int places, at; /* of a soft body: those it may be, and which is taken; 0: it is rigid */
  soft_place place[MOST_PLACES];
} term;

typedef struct row {
  int count;
  term term[4];
  real belt; /* velocity of the surfaces beside that of the bodies */
} row;

enum { SPRING_CHOICES = 8 }; /* between which rounding may decide */

typedef struct group {
  frix_row_report report;
  frix_material_config pair; /* contacts */
  frix_joint_kind joint;
  int dim;
  row row[FRIX_MAX_DIM];
  real r[FRIX_MAX_DIM], first[FRIX_MAX_DIM];    /* impulses, and those of the compression */
  real w[FRIX_MAX_DIM];                         /* the law speaks of u = J v + w + R (r - memory); as reported */
  real least[FRIX_MAX_DIM], most[FRIX_MAX_DIM]; /* between these w must lie */
  real push; /* part of the normal row's demand that pushes an overlap out, as a speed */
  real slack[FRIX_MAX_DIM];
  real R[FRIX_MAX_DIM];
  real stiffness;            /* contacts: of the law in force, 0 rigid */
  bool stiff;                /* by the rule of the stiff law */
  bool held;                 /* springs were set to what holds a body at rest */
  bool vague_motion;         /* tension damps the free motion */
  real memory[FRIX_MAX_DIM]; /* impulses that springs must remember */
  int ask_count;             /* what its normal spring, had it one, may ask for by its memory */
  real ask[SPRING_CHOICES];
  bool blow; /* it expects a blow, by these impulses */
  real expected[FRIX_MAX_DIM];
  real stretch[FRIX_MAX_DIM]; /* by how much, as a velocity, they may differ */
  real bound;                 /* known bound of friction or motor, drilling: the factor of the normal impulse */
  int carrier;                /* drilling: group of its contact */
  real rebound;               /* Poisson: known impulse of the second phase, which alone pushes overlaps out: late */
  real late;
  real rebound_noise; /* by rounding of the free motion of trees */
  bool unsure;        /* rounding decides whether it bounces */
  bool vague;         /* its rebound depends on the free motion of a jointed body, which tension damps */
  bool struck, may_bounce;
  real weight[FRIX_MAX_DIM], scale[FRIX_MAX_DIM]; /* W, S */
  real near[FRIX_MAX_DIM], light[FRIX_MAX_DIM];   /* tolerances of velocity and impulse */
} group;

/* Normal velocity of a contact. */
typedef struct approach {
  real before, free, gap;
} approach;

typedef struct spring_memory spring_memory;
typedef struct judged_trees judged_trees;
typedef struct judged_softs judged_softs;

struct judge {
  const frix_model *model;
  frix_sim_config config;
  int body_count; /* [0] is the world */
  judged_body *body;
  vec *belt; /* by shape, own frame */
  int joint_count;
  double (*coordinate)[FRIX_JOINT_AXES]; /* before the step */
  int group_count, group_capacity;
  group *group;
  real h, time; /* the step, and the part of it after the rows were taken */
  real last_h;  /* the step before, 0: there was none */
  bool half;    /* rows are taken at the half step */
  real kept;    /* least part of restitution that the step kept */
  real gravity;
  bool two_phases;
  bool certified; /* the step that is judged */
  bool left;      /* overlaps were left */
  real smallest;
  real least_radius, thinnest; /* of the shapes of bodies that move; of all shapes, half */
  int spring_count;            /* contacts of the last step */
  spring_memory *spring;
  judged_trees *trees; /* NULL: no joint is a coordinate */
  judged_softs *softs; /* NULL: no body is soft */
};

/* ---- judge_rows.c ---- */
void judge_read_rows(judge *j, const frix_sim *sim);
real row_velocity(const judge *j, const row *r, moment when);

/* The row may ask for w. */
void allow(group *g, int k, real w);
/* The largest coordinate that an arm on the body is the difference of, or its centre a sum: it is rounded like this. */
real farthest(const group *g, const judged_body *b);
/* Rounding of gaps, and gaps that count as none. */
real gap_noise(const judge *j, const group *g);

/* ---- judge_springs.c ---- */
void springs_begin(judge *j);
void springs_end(judge *j);
/* N/m of a contact in this step, 0 rigid. */
real spring_stiffness(const judge *j, const group *g);
/* What the rows of a contact with springs may ask for and must remember. */
void spring_demand(const judge *j, group *g, approach x, bool sure, bool perhaps);
void spring_drilling(const judge *j, group *g);
/* By how much the demand of a row is none that state and model allow. */
real demand_miss(const group *g, int k);
/* Impulse that the spring of a row remembers, without what is expected of a blow. */
real spring_remembers(const group *g, int k);
/* Blows are expected where there are some. */
void judge_blow(const judge *j, const group *g, verdict *out);
/* No spring of the stiff law is pressed far into a shape. */
void judge_pressed(const judge *j, const group *g, verdict *out);
/* After the step: what the next one remembers of it. */
void springs_keep(judge *j);

/* ---- judge_joints.c ---- */
/* A joint between two bodies, at the poses where rows are taken. */
typedef struct sight {
  frix_joint_config config;
  int body[2];
  vec point[2], axis[2][3]; /* of the two frames */
  quat q[2];
  bool planar;
  real noise; /* rounding of positions */
} sight;
sight judge_look(const judge *j, frix_joint_id id);
/* Rows, demand and bounds of a limit, friction, motor, spring or bilateral group. */
void judge_read_joint(judge *j, const frix_sim *sim, group *g);
/* What projections may ask its rows for beside; all rows must be known. */
void judge_allow_projection(judge *j, group *g);
/* Motors that are given a force push the bodies. */
void judge_push_motors(judge *j, const frix_sim *sim);

/* ---- judge_laws.c ---- */
/* Excess of a contact with impulses r and velocities u (normal first), tolerances in near and light. known: an impulse
 * among r[0] that acts whatever u_N is; slips: friction is judged by u, not only by its bound. what: a text about it.
 */
real contact_excess(const judge *j, const group *g, const real *r, const real *u, real known, bool slips, char *what,
                    size_t room);
/* Whether the directions of a joint's rows are known. */
bool group_is_sharp(const judge *j, const group *g);
void judge_laws(judge *j, verdict *out);

/* ---- judge_energy.c ---- */
void judge_energy(judge *j, verdict *out);
void judge_overlaps(judge *j, const frix_sim *sim, verdict *out);

/* Keeps the worst error of a law with its text. */
void note(verdict *out, law which, real excess, const char *format, ...) __attribute__((format(printf, 4, 5)));
int body_index(const judge *j, frix_body_id id);

#endif
