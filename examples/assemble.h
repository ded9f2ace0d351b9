/* From bodies, contact points and joints to a contact problem in global form.
 *
 *   M v = H r + G lambda + f     f = M v0 + h (forces + gravity - w x J w)
 *   u   = H' v + w               w_N = gap / h where the gap is open, 0 where the bodies touch
 *
 * A contact joins `below` to `above` (EX_GROUND: the fixed world); its normal points from below to above, and
 * u = velocity of above - velocity of below at the point: normal row, tangent rows, then (rolling) the relative spin
 * about the two tangents. With gap / h the step may close a gap but not cross it: gap + h u_N >= 0. */
#ifndef EX_ASSEMBLE_H
#define EX_ASSEMBLE_H

#include "examples.h"

#define EX_GROUND (-1)

typedef struct ex_vec {
  double x, y, z;
} ex_vec;

ex_vec ex_add(ex_vec a, ex_vec b);
ex_vec ex_sub(ex_vec a, ex_vec b);
ex_vec ex_scale(double s, ex_vec a);
double ex_dot(ex_vec a, ex_vec b);
ex_vec ex_cross(ex_vec a, ex_vec b);
double ex_length(ex_vec a);
ex_vec ex_unit(ex_vec a);

typedef struct ex_body {
  double mass;
  double inertia[3][3]; /* about the centre of mass, world axes */
  ex_vec position;
  ex_vec velocity, spin;
  ex_vec force; /* besides gravity, at the centre of mass */
} ex_body;

/* One row block of H (contact, limit) or one column of G (joint). */
typedef struct ex_link {
  int32_t below, above;
  ex_vec point;
  ex_vec normal;  /* unit; the constrained direction of a joint row */
  ex_vec tangent; /* hint for the first tangent; zero: chosen */
  double gap;
  bool angular; /* the row constrains the relative spin about normal, not the velocity at point */
  frix_contact law;
} ex_link;

typedef struct ex_scene {
  double step;      /* h */
  double gravity;   /* along -z */
  double stiffness; /* N/m of every contact row: R = 1 / (k h^2); 0: rigid */
  bool planar;      /* bodies move in the plane y = 0 */
  ex_body *body;
  ex_link *contact, *joint;
  int32_t body_count, contact_count, joint_count;
  int32_t body_capacity, contact_capacity, joint_capacity;
  bool failed; /* out of memory; the build reports it */
} ex_scene;

ex_scene ex_scene_new(double step);
void ex_scene_free(ex_scene *scene);

/* Bodies; each returns its index. */
int32_t ex_add_body(ex_scene *scene, const ex_body *body);
int32_t ex_add_box(ex_scene *scene, ex_vec centre, ex_vec size, double mass);
int32_t ex_add_sphere(ex_scene *scene, ex_vec centre, double radius, double mass);
/* A convex polygon in the x-z plane (counter-clockwise seen from -y), extruded along y about y = 0. */
int32_t ex_add_prism(ex_scene *scene, const ex_vec *corner, int32_t count, double width, double density);
void ex_set_motion(ex_scene *scene, int32_t index, ex_vec velocity, ex_vec spin);
void ex_set_force(ex_scene *scene, int32_t index, ex_vec force);

ex_link ex_link_new(int32_t below, int32_t above, ex_vec point, ex_vec normal, double mu);
void ex_add_contact(ex_scene *scene, const ex_link *link);
/* The shorthand of most scenes: touching, rigid, circular (planar in a planar scene). */
void ex_touch(ex_scene *scene, int32_t below, int32_t above, ex_vec point, ex_vec normal, double mu);
/* The same at y = -width/2 and y = +width/2. */
void ex_touch_edge(ex_scene *scene, int32_t below, int32_t above, ex_vec point, double width, ex_vec normal, double mu);

void ex_add_joint_row(ex_scene *scene, int32_t below, int32_t above, ex_vec point, ex_vec direction, bool angular);
/* Three rows: the point belongs to both bodies. */
void ex_add_ball_joint(ex_scene *scene, int32_t below, int32_t above, ex_vec point);

/* Makes the problem and frees the scene, whatever happens. */
frix_status ex_scene_build(ex_scene *scene, frix_context *context, const char *title, frix_problem **out);

#endif
