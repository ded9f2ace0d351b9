/* Fuzzes everything a trajectory file is made of. The first byte chooses: a whole file, or what stands in a block of
 * it, so that checksums keep nothing away. What can be read must survive use: models come back as the same bytes, sims
 * of them and of snapshots take a step. */
#include "fuzz.h"

#include "io/trajectory_internal.h"

#include <unistd.h>

static void add_ball(frix_builder *builder, frix_geometry_id geometry, double z) {
  frix_body_config body = frix_body_default();
  frix_shape_config shape = frix_shape_default();
  frix_body_id id;
  body.pose.p.z = z;
  shape.kind = geometry.index ? FRIX_SHAPE_HULL : FRIX_SHAPE_SPHERE;
  shape.radius = 0.1;
  shape.geometry = geometry;
  frix_builder_add_body(builder, &body, &id);
  frix_builder_add_shape(builder, id, &shape, NULL);
}

/* Two balls, a stone and a hinge above a plane. */
static frix_model *make_model(frix_context *context) {
  frix_builder *builder = NULL;
  frix_model *model = NULL;
  frix_shape_config plane = frix_shape_default();
  frix_geometry_config stone = frix_geometry_default();
  frix_vec3 point[] = {{0, 0, 0}, {0.2, 0, 0}, {0, 0.2, 0}, {0, 0, 0.2}, {0.1, 0.1, 0.1}};
  frix_geometry_id hull = {0, 0};
  frix_joint_config hinge = frix_joint_default(FRIX_JOINT_HINGE);
  stone.point = point, stone.point_count = 5;
  plane.kind = FRIX_SHAPE_PLANE;
  hinge.a = (frix_body_id){1, 1};
  hinge.b = (frix_body_id){2, 1};
  hinge.frame_b.p.z = -0.2;
  if (frix_builder_create(context, &builder)) abort();
  frix_builder_add_shape(builder, (frix_body_id){0, 0}, &plane, NULL);
  frix_builder_add_geometry(builder, &stone, &hull);
  add_ball(builder, (frix_geometry_id){0, 0}, 0.1);
  add_ball(builder, (frix_geometry_id){0, 0}, 0.3);
  add_ball(builder, hull, 0.5);
  fuzz_demand(frix_builder_add_joint(builder, &hinge, NULL) == FRIX_OK, "joint", context);
  fuzz_demand(frix_builder_compile(builder, &model) == FRIX_OK, "model", context);
  frix_builder_destroy(builder);
  return model;
}

/* A step may fail, but not crash; large ones would only take time. */
static void take_step(frix_context *context, const frix_model *model, const frix_snapshot *snapshot) {
  frix_sim *sim = NULL;
  frix_sim_config config = frix_sim_default();
  config.solver = "nsgs";
  config.max_iterations = 10;
  if (frix_model_count(model).shape_count > 20 || frix_sim_create(context, model, &config, &sim)) return;
  if (!snapshot || frix_sim_restore(sim, snapshot) == FRIX_OK) {
    uint64_t hash;
    if (frix_sim_body_count(sim) < 20 && frix_sim_contact_count(sim) < 100) frix_sim_step(sim, 0.01, NULL);
    frix_sim_hash(sim, &hash);
  }
  frix_sim_destroy(sim);
}

/* What a model has no use for (the mass of a static body, say) is not kept; what is kept comes back for good. */
static void read_model(frix_context *context, const uint8_t *bytes, size_t count) {
  frix_model *model = NULL, *second = NULL;
  unsigned char *once = NULL, *twice = NULL;
  size_t size = 0, again = 0;
  frix_status status = frix_model_decode(context, bytes, count, &model);
  fuzz_demand((status == FRIX_OK) == (model != NULL), "status and model disagree", context);
  if (!model) return;
  fuzz_demand(frix_model_encode(context, model, &once, &size) == FRIX_OK, "cannot be written", context);
  fuzz_demand(frix_model_decode(context, once, size, &second) == FRIX_OK, "cannot be read again", context);
  fuzz_demand(frix_model_encode(context, second, &twice, &again) == FRIX_OK, "cannot be written again", context);
  fuzz_demand(size == again && memcmp(once, twice, size) == 0, "written as something else", context);
  frix_bytes_free(context, once);
  frix_bytes_free(context, twice);
  take_step(context, model, NULL);
  frix_model_destroy(model);
  frix_model_destroy(second);
}

static void read_snapshot(frix_context *context, const uint8_t *bytes, size_t count) {
  frix_model *model = make_model(context);
  frix_snapshot *snapshot = NULL;
  frix_tally tally;
  size_t state = 0;
  if (fx_checkpoint_read(context, bytes, count, &tally, &state) == FRIX_OK &&
      fx_state_decode(context, model, bytes + state, count - state, &snapshot) == FRIX_OK)
    take_step(context, model, snapshot);
  frix_snapshot_destroy(snapshot);
  frix_model_destroy(model);
}

static void read_frame(frix_context *context, const uint8_t *bytes, size_t count) {
  frix_model *model = make_model(context);
  fx_frame_store store = {0};
  frix_status status = fx_frame_read(context, model, bytes, count, &store);
  for (int32_t k = 0; !status && k < store.frame.contact_count; k++) {
    frix_shape_config shape;
    fuzz_demand(frix_model_shape(model, store.contact[k].shape_a, &shape, NULL) == FRIX_OK, "shape", context);
  }
  fx_frame_free(context, &store);
  frix_model_destroy(model);
}

static void read_config(frix_context *context, const uint8_t *bytes, size_t count) {
  frix_sim_config config;
  if (fx_config_read(context, bytes, count, &config) == FRIX_OK) fx_config_free(context, &config);
}

static void read_file(frix_context *context, const uint8_t *bytes, size_t count) {
  char path[64];
  snprintf(path, sizeof path, "/tmp/fuzz_trajectory.%ld", (long)getpid());
  FILE *file = fopen(path, "wb");
  if (!file) abort();
  fwrite(bytes, 1, count, file);
  fclose(file);
  frix_trajectory *trajectory = NULL;
  if (frix_trajectory_open(context, path, &trajectory) == FRIX_OK) {
    for (int32_t k = 0; k < frix_trajectory_frame_count(trajectory); k++) {
      frix_frame frame;
      frix_trajectory_frame(trajectory, k, &frame);
    }
    for (int32_t k = 0; k < frix_trajectory_checkpoint_count(trajectory); k++) {
      frix_snapshot *snapshot = NULL;
      frix_trajectory_checkpoint(trajectory, k, NULL, NULL, &snapshot);
      frix_snapshot_destroy(snapshot);
    }
    frix_tally tally;
    frix_trajectory_tally(trajectory, -1, &tally);
  }
  frix_trajectory_close(trajectory);
  unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  static void (*const reader[])(frix_context *, const uint8_t *, size_t) = {read_file, read_model, read_snapshot,
                                                                            read_frame, read_config};
  frix_context *context = NULL;
  if (count == 0 || frix_context_create(NULL, &context)) return 0;
  reader[bytes[0] % 5](context, bytes + 1, count - 1);
  frix_context_destroy(context);
  return 0;
}
