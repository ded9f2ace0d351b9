/* frix: changes of a world that runs: shapes and joints come and go, bodies become static, materials other ones.
 *
 *   frix_builder *b;
 *   frix_sim_begin_change(sim, &b);              // the world as it is now: present poses, the same ids
 *   frix_builder_remove_joint(b, hinge);
 *   frix_builder_add_joint(b, &config, &weld);   // and all else that a builder does
 *   frix_sim_change(sim, b);                     // all of it at once, or nothing
 *   frix_builder_destroy(b);
 *
 * A change costs about as much as compiling the model. Ids stay; those of what was removed are refused from then on.
 * Bodies keep their frames and velocities, contacts that go on their memory, the ledger books the change of energy as
 * work. Other sims of the same model do not notice. Snapshots hold the model they were taken with: restoring one from
 * before a change takes the change back. Files hold one model: recorders refuse a sim that was changed since they were
 * created, and models from which shapes or joints were removed, or whose default material is another one, are not
 * written to bytes. */
#ifndef FRIX_EDIT_H
#define FRIX_EDIT_H

#include <frix/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A builder with the sim's present model: bodies where they are, motors as they are set. Nothing changes before
 * frix_sim_change; spawn no body in between where the change adds bodies. */
FRIX_API frix_status frix_sim_begin_change(const frix_sim *sim, frix_builder **out);
/* The sim goes on with what the builder holds; on failure it goes on as before. The builder may be destroyed then. */
FRIX_API frix_status frix_sim_change(frix_sim *sim, frix_builder *builder);

/* The present model of the sim, to keep: it lives until it is destroyed, whatever becomes of the sim. */
FRIX_API frix_status frix_sim_keep_model(const frix_sim *sim, frix_model **out);

/* ---- what a builder may change of what it holds ---- */

/* Kind, mass, center, inertia, gravity_scale, can_sleep, pose, velocities, name, user; not planar. A body that was not
 * dynamic has no mass: it is found from the shapes unless it is given. */
FRIX_API frix_status frix_builder_set_body(frix_builder *builder, frix_body_id id, const frix_body_config *config);
/* Of the body it is on: filter (group, mask), material, pose, size, all of it. */
FRIX_API frix_status frix_builder_set_shape(frix_builder *builder, frix_shape_id id, const frix_shape_config *config);
/* Null: the default material, of shapes that were given none. */
FRIX_API frix_status frix_builder_set_material(frix_builder *builder, frix_material_id id,
                                               const frix_material_config *config);
/* Mass and inertia of its body stay as they are. */
FRIX_API frix_status frix_builder_remove_shape(frix_builder *builder, frix_shape_id id);
/* Not one that a coupling needs. */
FRIX_API frix_status frix_builder_remove_joint(frix_builder *builder, frix_joint_id id);

/* ---- the same in one call, for one change ---- */
FRIX_API frix_status frix_sim_set_body(frix_sim *sim, frix_body_id id, const frix_body_config *config);
/* As which kind a body of the model goes on; its mass, where it had none, is that of its shapes. */
FRIX_API frix_status frix_sim_set_kind(frix_sim *sim, frix_body_id id, frix_body_kind kind);
FRIX_API frix_status frix_sim_set_shape(frix_sim *sim, frix_shape_id id, const frix_shape_config *config);
FRIX_API frix_status frix_sim_set_material(frix_sim *sim, frix_material_id id, const frix_material_config *config);
FRIX_API frix_status frix_sim_add_shape(frix_sim *sim, frix_body_id body, const frix_shape_config *config,
                                        frix_shape_id *out);
FRIX_API frix_status frix_sim_remove_shape(frix_sim *sim, frix_shape_id id);
FRIX_API frix_status frix_sim_add_joint(frix_sim *sim, const frix_joint_config *config, frix_joint_id *out);
FRIX_API frix_status frix_sim_remove_joint(frix_sim *sim, frix_joint_id id);

/* A body goes on as an instance of another pattern of the model, where it is: one of several spawned bodies becomes
 * static, say. Bodies that joints hold keep theirs. */
FRIX_API frix_status frix_sim_set_pattern(frix_sim *sim, frix_body_id id, frix_body_id pattern);
/* A spawned body goes on as a body of the model, where it is and as fast, so that joints can hold it and changes
 * concern it alone. *out is its new id, the old one is gone; its shapes are new ones, its contacts begin anew. */
FRIX_API frix_status frix_sim_own(frix_sim *sim, frix_body_id id, frix_body_id *out);

#ifdef __cplusplus
}
#endif
#endif
