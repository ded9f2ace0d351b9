/* frix: changes of a running world: add and remove shapes and joints, change bodies and materials.
 *
 *   frix_builder *b;
 *   frix_sim_begin_change(sim, &b);              // the world as it is now: present poses, the same ids
 *   frix_builder_remove_joint(b, hinge);
 *   frix_builder_add_joint(b, &config, &weld);   // and all other functions of a builder
 *   frix_sim_change(sim, b);                     // applies all changes, or none
 *   frix_builder_destroy(b);
 *
 * A change costs about as much as compiling the model. Ids stay; those of removed elements are rejected from then on.
 * Bodies keep their frames and velocities, persisting contacts their memory, and the ledger books the change of energy
 * as work. Other sims of the same model are not affected. Snapshots hold the model they were taken with: restoring an
 * older one undoes later changes. Files hold one model: recorders reject a sim that was changed after they were
 * created, and models from which shapes or joints were removed, or with another default material, cannot be serialised.
 */
#ifndef FRIX_EDIT_H
#define FRIX_EDIT_H

#include <frix/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A builder with the present model, poses and motor settings of the sim. The sim does not change before
 * frix_sim_change; if the change adds bodies, spawn no body in between. */
FRIX_API frix_status frix_sim_begin_change(const frix_sim *sim, frix_builder **out);
/* The sim continues with the model of the builder; on failure it is unchanged. The builder may be destroyed afterwards.
 */
FRIX_API frix_status frix_sim_change(frix_sim *sim, frix_builder *builder);

/* A copy of the present model of the sim; the caller destroys it. */
FRIX_API frix_status frix_sim_keep_model(const frix_sim *sim, frix_model **out);

/* ---- changes of a builder ---- */

/* Kind, mass, center, inertia, gravity_scale, can_sleep, pose, velocities, name, user; not planar. A body that was
 * not dynamic has no mass: it is computed from the shapes unless it is given. */
FRIX_API frix_status frix_builder_set_body(frix_builder *builder, frix_body_id id, const frix_body_config *config);
/* Filter (group, mask), material, pose, size and all other fields. */
FRIX_API frix_status frix_builder_set_shape(frix_builder *builder, frix_shape_id id, const frix_shape_config *config);
/* Null: the default material, used by shapes without a material. */
FRIX_API frix_status frix_builder_set_material(frix_builder *builder, frix_material_id id,
                                               const frix_material_config *config);
/* Mass and inertia of its body do not change. */
FRIX_API frix_status frix_builder_remove_shape(frix_builder *builder, frix_shape_id id);
/* Fails for a joint that a coupling uses. */
FRIX_API frix_status frix_builder_remove_joint(frix_builder *builder, frix_joint_id id);

/* ---- numbers of a model by name ----
 *
 *   "cup.mu"   restitution, stiffness, rolling: of the materials of its shapes, for all who use them; without a body:
 * of all materials. "world" is the world. "cup.mass" its inertia grows with it; inertia.x to z in its own axes
 *   "cup.size.x"  half sizes of its first box, ellipsoid, rectangle or ellipse; radius, length (half): of its first
 * ball, capsule or cylinder. Its mass stays. "cup.x"    to z, turn.x to z (rad, about the axes of the world, from how
 * it stands), velocity.x, spin.x: at the start "gravity.z" */

/* Row k of the list of fields of a body, NULL past its end. */
FRIX_API const char *frix_quantity_field(int32_t k);
/* FRIX_ERROR_INPUT: the model has no such number. */
FRIX_API frix_status frix_model_quantity(frix_context *context, const frix_model *model, const char *name,
                                         double *value);
/* A copy of the model, with the same ids, in which these numbers have other values. */
FRIX_API frix_status frix_model_vary(frix_context *context, const frix_model *model, int32_t count,
                                     const char *const *name, const double *value, frix_model **out);

/* ---- the same in one call, for one change ---- */
FRIX_API frix_status frix_sim_set_body(frix_sim *sim, frix_body_id id, const frix_body_config *config);
/* Changes the kind of a body of the model; if it had no mass, the mass is computed from its shapes. */
FRIX_API frix_status frix_sim_set_kind(frix_sim *sim, frix_body_id id, frix_body_kind kind);
FRIX_API frix_status frix_sim_set_shape(frix_sim *sim, frix_shape_id id, const frix_shape_config *config);
FRIX_API frix_status frix_sim_set_material(frix_sim *sim, frix_material_id id, const frix_material_config *config);
FRIX_API frix_status frix_sim_add_shape(frix_sim *sim, frix_body_id body, const frix_shape_config *config,
                                        frix_shape_id *out);
FRIX_API frix_status frix_sim_remove_shape(frix_sim *sim, frix_shape_id id);
FRIX_API frix_status frix_sim_add_joint(frix_sim *sim, const frix_joint_config *config, frix_joint_id *out);
FRIX_API frix_status frix_sim_remove_joint(frix_sim *sim, frix_joint_id id);

/* A body becomes an instance of another pattern of the model at its present pose; for example one of several spawned
 * bodies becomes static. Not for bodies with joints. */
FRIX_API frix_status frix_sim_set_pattern(frix_sim *sim, frix_body_id id, frix_body_id pattern);
/* A spawned body becomes a body of the model with the same pose and velocity, so that joints can attach to it and
 * changes affect only this body. *out is its new id, the old one becomes invalid; its shapes are new and its contacts
 * start again. */
FRIX_API frix_status frix_sim_own(frix_sim *sim, frix_body_id id, frix_body_id *out);

#ifdef __cplusplus
}
#endif
#endif
