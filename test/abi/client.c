/* A client that is compiled against another version of the headers than the library it runs with: a box falls on a
 * plane and slides. Prints what came of it. */
#include <frix/frix.h>
#include <stdio.h>
#include <string.h>

/* An output with a fence behind it, all of it written to. */
#define OUTPUT(type, name)   \
  struct {                   \
    type it;                 \
    unsigned char fence[64]; \
  } name;                    \
  memset(&name, 0x5a, sizeof name)
#define WHOLE(name) fenced((name).fence)

static bool fenced(const unsigned char fence[64]) {
  for (int k = 0; k < 64; k++)
    if (fence[k] != 0x5a) return false;
  return true;
}

int main(void) {
  frix_context_config settings = frix_context_default();
  frix_context *context;
  frix_builder *builder;
  frix_model *model;
  frix_sim *sim;
  struct {
    frix_sim_config config;
    unsigned char fence[64];
  } guarded;
  for (size_t k = 0; k < sizeof guarded.fence; k++) guarded.fence[k] = 0x5a;
  guarded.config = frix_sim_default();
  if (frix_context_create(&settings, &context) || frix_builder_create(context, &builder)) return 1;
  frix_material_config ice = frix_material_default();
  frix_shape_config ground = frix_shape_default(), cube = frix_shape_default();
  frix_body_config body = frix_body_default();
  frix_body_id box;
  ice.mu = 0.1;
  ground.kind = FRIX_SHAPE_PLANE;
  cube.kind = FRIX_SHAPE_BOX;
  cube.half.x = cube.half.y = cube.half.z = 0.1;
  body.mass = 1;
  body.pose.p.z = 0.1;
  body.velocity.x = 1;
#ifdef CLIENT_ASKS_FOR_MORE
  body.client_asks = CLIENT_ASKS_FOR_MORE;
#endif
  frix_status status = frix_builder_add_material(builder, &ice, &ground.material);
  cube.material = ground.material;
  if (!status) status = frix_builder_add_shape(builder, box = (frix_body_id){0, 0}, &ground, NULL);
  if (!status) status = frix_builder_add_body(builder, &body, &box);
  if (!status) status = frix_builder_add_shape(builder, box, &cube, NULL);
  if (!status) status = frix_builder_compile(builder, &model);
  if (!status) status = frix_sim_create(context, model, &guarded.config, &sim);
  if (status) {
    printf("refused: %s\n", frix_error_text(context));
    return 3;
  }
  OUTPUT(frix_step_report, report);
  OUTPUT(frix_body_state, state);
  OUTPUT(frix_contact_report, contact);
  OUTPUT(frix_energy, energy);
  for (int k = 0; k < 50; k++)
    if (frix_sim_step(sim, 0.01, &report.it) || !report.it.certified) return 1;
  if (frix_sim_body(sim, box, &state.it) || frix_sim_contact(sim, 0, &contact.it)) return 1;
  energy.it = frix_sim_energy(sim);
  if (!(contact.it.impulse.z > 0 || contact.it.impulse.z < 0) || !(energy.it.kinetic > 0)) return 5;
  printf("%.12f %.12f\n", state.it.velocity.x, state.it.center.z);
  if (!WHOLE(report) || !WHOLE(state) || !WHOLE(contact) || !WHOLE(energy)) return 4;
#ifdef CLIENT_KNOWS_MORE
  for (int k = 0; k < 8; k++)
    if (report.it.client_knows[k] != 0 || state.it.client_knows[k] != 0) return 6;
#endif
  for (size_t k = 0; k < sizeof guarded.fence; k++)
    if (guarded.fence[k] != 0x5a) return 4;
  frix_sim_destroy(sim);
  frix_model_destroy(model);
  frix_builder_destroy(builder);
  frix_context_destroy(context);
  return 0;
}
