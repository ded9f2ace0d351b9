/* Shorthand for building scenes, and the scenes by file; scene_table.c lists them. */
#ifndef EX_WORLD_H
#define EX_WORLD_H

#include <frix/soft.h>

#include "degrees.h"
#include "scene.h"

/* Rows of parameters. */
#define EX_REAL(name, initial, minimum, maximum, summary) \
  { name, FRIX_OPTION_REAL, initial, minimum, maximum, NULL, summary }
#define EX_WHOLE(name, initial, minimum, maximum, summary) \
  { name, FRIX_OPTION_INTEGER, initial, minimum, maximum, NULL, summary }
#define EX_CHOICE(name, initial, count, choices, summary) \
  { name, FRIX_OPTION_CHOICE, initial, 0, (count)-1, choices, summary }
#define EX_PARAMETERS(rows) .parameter = rows, .parameter_count = (int32_t)(sizeof(rows) / sizeof(rows)[0])

/* A world under construction: the first failure stays, later calls do nothing. */
typedef struct ex_world {
  frix_builder *builder;
  frix_material_id material; /* of shapes that name none */
  frix_status status;
  uint64_t random;
  bool planar, perturbed;
} ex_world;

/* In space, z up; planar: y up, bodies planar. */
ex_world ex_world_new(frix_builder *builder, bool planar, double mu, double restitution, uint64_t seed);
/* The same with a contact stiffness in N/m; 0: rigid. */
frix_material_id ex_add_material(ex_world *world, const frix_material_config *config);
frix_material_id ex_material(ex_world *world, double mu, double restitution, double stiffness);

frix_vec3 ex_vec3(double x, double y, double z);
frix_pose ex_at(double x, double y, double z);
/* Turned by degrees about a unit axis. */
frix_quat ex_turned(double degrees, double x, double y, double z);
/* A number in [-1, 1), times scale. */
double ex_noise(ex_world *world, double scale);
/* At such numbers along x and y. Arguments of a call are evaluated in an order of the compiler's: do not call ex_noise
 * twice among them. */
frix_pose ex_scattered(ex_world *world, double scale, double z);

frix_shape_config ex_box(double x, double y, double z); /* half sides; planar worlds: a rectangle x, y */
frix_shape_config ex_ball(const ex_world *world, double radius);
frix_body_config ex_body(const char *name, frix_pose pose);

/* A body of one shape, dynamic unless the config says otherwise. */
frix_body_id ex_put(ex_world *world, const frix_body_config *body, const frix_shape_config *shape);
/* A shape of a body; a null body is the world. */
void ex_add_shape(ex_world *world, frix_body_id body, const frix_shape_config *shape);
/* The ground: z = 0, planar y = 0. */
void ex_add_ground(ex_world *world);
/* A wall of the world: the half space behind the plane through the point with this unit normal. */
void ex_add_wall(ex_world *world, frix_vec3 point, frix_vec3 normal);
/* The ground and four walls around the square of this half width. */
void ex_add_tub(ex_world *world, double half);
/* The convex polygon of these corners in a planar world, as a shape; counted as failed where there is none. */
frix_shape_config ex_polygon(ex_world *world, const frix_vec3 *corner, int32_t count);

/* A soft body by frix_soft_make, for the caller to destroy; NULL counts as failed. */
frix_soft *ex_soft(ex_world *world, const char *shape, const frix_soft_config *config);
frix_body_id ex_put_soft(ex_world *world, const frix_soft *soft, const frix_body_config *body);
/* A body of the name KIND_k. */
frix_body_config ex_named(const char *kind, int32_t k, frix_pose pose, char name[32]);

/* Whether a moment falls into the coming step. */
bool ex_due(const frix_sim *sim, double moment, double h);

/* scene_cards.c */
extern const frix_scene ex_scene_cardhouse, ex_scene_dominoes;
/* scene_arch.c */
extern const frix_scene ex_scene_arch;
/* scene_blocks.c */
extern const frix_scene ex_scene_stack, ex_scene_wall, ex_scene_loghouse, ex_scene_hexapyramid;
/* scene_discs.c: planar grains */
extern const frix_scene ex_scene_cannonball, ex_scene_funnel, ex_scene_segregation;
/* scene_spheres.c */
extern const frix_scene ex_scene_balls, ex_scene_drop5, ex_scene_pile;
/* scene_pebbles.c */
extern const frix_scene ex_scene_pebbles;
/* scene_silo.c */
extern const frix_scene ex_scene_silo, ex_scene_collapse;
/* scene_bunnies.c */
extern const frix_scene ex_scene_bunnies;
/* scene_soft.c: soft bodies */
extern const frix_scene ex_scene_soft_stack, ex_scene_cantilever, ex_scene_jam, ex_scene_chairs, ex_scene_dinosaurs,
    ex_scene_bunnies_arch, ex_scene_touch;
/* scene_weave.c: woven strands */
extern const frix_scene ex_scene_weave, ex_scene_weave_thrown;
/* scene_capstan.c */
extern const frix_scene ex_scene_capstan;
/* scene_single.c: few bodies, most with a known answer */
extern const frix_scene ex_scene_incline, ex_scene_puck, ex_scene_ellipse, ex_scene_painleve, ex_scene_top,
    ex_scene_grip, ex_scene_cradle;

#endif
