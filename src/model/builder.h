/* The builder's storage: the given configs, checked one by one. */
#ifndef FX_MODEL_BUILDER_H
#define FX_MODEL_BUILDER_H

#include "model/shape.h"

typedef struct fx_shape_draft {
  frix_shape_config config;
  int32_t body;
  bool removed; /* its id stays, for those behind it */
} fx_shape_draft;

/* The kind of a joint that was removed; its id stays, for those behind it. */
#define FX_JOINT_REMOVED FRIX_JOINT_COUNT

typedef struct fx_pair_draft {
  int32_t a, b; /* materials as given */
  frix_material_config config;
} fx_pair_draft;

struct frix_builder {
  frix_context *context;
  frix_vec3 gravity;
  /* counts and rooms; bodies and materials have their first entry from the start: the world, the default */
  int32_t body_count, body_room, shape_count, shape_room, material_count, material_room, geometry_count, geometry_room;
  int32_t joint_count, joint_room, pair_count, pair_room, excluded_count, excluded_room;
  frix_body_config *body;
  fx_shape_draft *shape;
  frix_material_config *material;
  fx_geometry **geometry;
  frix_joint_config *joint;
  fx_pair_draft *pair;
  fx_pair *excluded;
  /* of a change (frix/edit.h) */
  const frix_model *origin; /* what it holds was made from this; NULL: nothing */
  int32_t first_new;        /* bodies from here on are new */
};

/* A builder that holds a model, with the same ids (redraft.c). */
frix_status fx_builder_redraft(frix_context *context, const frix_model *model, frix_builder **out);

/* The number of that name (frix/edit.h), which becomes larger by `change`; false: there is none (quantity.c). */
bool fx_builder_quantity(frix_builder *builder, const char *name, double change, double *value);

/* With the faces of a hull that was built before, or NULL. */
frix_status fx_builder_add_geometry(frix_builder *builder, const frix_geometry_config *config, const fx_faces *faces,
                                    frix_geometry_id *out);

/* ---- checks (model/check.c): every message names the element ---- */
frix_status fx_check_material(frix_context *context, const frix_material_config *config);
/* Also brings the pose to its exact form: unit quaternion, planar ones in the plane. */
frix_status fx_check_body(frix_context *context, frix_body_config *config);
frix_status fx_check_shape(frix_context *context, frix_shape_config *config, const fx_geometry *geometry,
                           const frix_body_config *body);
frix_status fx_check_joint(const frix_builder *builder, frix_joint_config *config);
/* A mass distribution that a body can have: positive, and no principal moment above the sum of the others. */
frix_status fx_check_mass(frix_context *context, const char *name, bool planar, double mass, frix_sym3 inertia);
/* Rotation about z and z = 0, up to rounding; made exact. */
bool fx_flatten_pose(frix_pose *pose);

/* The mixing rule, with a's shape first. */
fx_surface fx_surface_mix(const frix_material_config *a, const frix_material_config *b);
fx_surface fx_surface_of(const frix_material_config *config);

#endif
