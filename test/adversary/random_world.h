/* Random worlds: a seed, a class and an index name one for ever.
 *
 * Classes speak of kilograms, metres and seconds; the units multiply every number on its way to the builder, so the
 * same world can be had in other units (powers of two keep every bit). */
#ifndef ADVERSARY_RANDOM_WORLD_H
#define ADVERSARY_RANDOM_WORLD_H

#include <frix/frix.h>
#include <stdio.h>

typedef struct units {
  double mass, length, time;
} units;

enum { MOST_BODIES = 128, MOST_PUSHES = 16, MOST_BELTS = 16 };

typedef struct push {
  frix_body_id body;
  frix_vec3 force, torque; /* every step, already in units */
} push;

typedef struct belt {
  frix_shape_id shape;
  frix_vec3 velocity; /* own frame, already in units */
} belt;

typedef struct world {
  frix_context *context;
  frix_builder *builder;
  frix_model *model;
  frix_sim *sim;
  frix_sim_config config;
  uint64_t random;
  units unit;
  double h;
  int steps;
  double mass_range; /* masses of ordinary bodies are spread by this, up and down; 1 */
  bool welds;        /* some joints of robots are fixed */
  double promise;    /* tolerance that the steps are judged by */
  frix_vec3 gravity;
  int body_count;
  frix_body_id body[MOST_BODIES];
  double size[MOST_BODIES];
  int push_count;
  push push[MOST_PUSHES];
  int belt_count;
  belt belt[MOST_BELTS];         /* the last of a shape holds */
  bool failed;                   /* the builder refused something */
  void (*edit)(struct world *w); /* NULL, or what is changed before a step */
} world;

/* ---- chance ---- */
double uniform(world *w, double low, double high);
double magnitude(world *w, double low, double high); /* log-uniform */
int dice(world *w, int sides);                       /* 0 .. sides - 1 */
bool chance(world *w, double share);
frix_vec3 direction(world *w);
frix_quat rotation(world *w);

/* ---- parts, in world units ---- */
frix_vec3 at(double x, double y, double z);
extern const frix_quat UPRIGHT;
frix_material_id material(world *w, frix_material_config config);
frix_material_id plain(world *w, double mu, double restitution);
frix_body_id add_body(world *w, double mass, frix_vec3 p, frix_quat q, frix_vec3 v, frix_vec3 spin);
frix_body_id add_body_as(world *w, frix_body_config config);
void add_shape(world *w, frix_body_id body, frix_shape_config config, frix_material_id m);
frix_shape_config sphere(double radius);
frix_shape_config box(double x, double y, double z);
frix_shape_config round_shape(frix_shape_kind kind, double radius, double half_length);
/* Of any kind for free bodies, about this large. */
frix_shape_config any_shape(world *w, double size);
void add_floor(world *w, frix_material_id m);
/* Placed in world coordinates; axis configs in the joint's own units of the world. */
frix_joint_id add_joint(world *w, frix_joint_kind kind, frix_body_id a, frix_body_id b, frix_vec3 anchor,
                        frix_vec3 axis, frix_vec3 anchor_b, const frix_axis_config *axes);
/* q(first) = ratio q(second). */
void add_coupling(world *w, frix_joint_id first, frix_joint_id second, double ratio);
void add_push(world *w, frix_body_id body, frix_vec3 force, frix_vec3 torque);
void set_gravity(world *w, frix_vec3 g);
void limit_iterations(world *w);

/* ---- classes: one table ---- */
struct tally;
struct finding;

typedef struct world_class {
  const char *name;
  const char *summary;
  bool extreme;
  void (*fill)(world *w);                                               /* a world */
  frix_problem *(*make)(world *w);                                      /* or a contact problem */
  void (*run)(world *w, struct tally *t, struct finding *f, FILE *log); /* NULL: stepped and judged */
  frix_contact_kind contact;
} world_class;

const world_class *world_class_at(int k); /* NULL past the end */
const world_class *world_class_find(const char *name);

/* Filled by its class, compiled, with a sim (a class of problems: ready to make one); false: the builder refused, see
 * failed. */
bool world_open(world *w, const world_class *class, uint64_t seed, uint64_t index, units unit);
/* The same for a function that needs no chance, with contacts of world_contact. */
extern frix_contact_kind world_contact;
bool world_open_with(world *w, void (*fill)(world *w), units unit);
void world_close(world *w);
/* 0, or a tolerance that all sims get, while they are judged by their own: worlds solved further than promised show
 * what is the judge's error. */
extern double world_tolerance;
/* All sims may iterate as long as their methods like. */
extern bool world_patient;

/* Classes in other files. */
extern const world_class ordinary_classes[], extreme_classes[];             /* rigid */
extern const world_class stiff_ordinary_classes[], stiff_extreme_classes[]; /* the same with stiff contacts */
extern const world_class spring_classes[];                                  /* materials name a stiffness */
extern const world_class tree_classes[];                                    /* joints as coordinates */
extern const world_class edited_classes[];                                  /* changed between steps */
extern const world_class soft_classes[];                                    /* soft bodies */
extern const world_class robot_classes[];                                   /* robots of files */

#endif
