/* Fuzzes robots: what can be read, in MJCF or URDF, has a state that is finite or is said not to be. */
#include "fuzz.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  frix_context *context = NULL;
  if (frix_context_create(NULL, &context)) abort();
  frix_mjcf_config config = frix_mjcf_default();
  config.max_bytes = 1 << 20, config.max_count = 300;
  const char *name = count && bytes[0] & 1 ? "input.urdf" : "input";
  frix_robot *robot = NULL;
  frix_robot_state *state = NULL;
  frix_status status = frix_robot_read_memory(context, name, bytes + (count > 0), count - (count > 0), &config, &robot);
  fuzz_demand((status == FRIX_OK) == (robot != NULL), "status and robot disagree", context);
  if (robot && frix_robot_state_create(robot, &state) == FRIX_OK && frix_robot_forward(state) == FRIX_OK) {
    int32_t n;
    const double *a = frix_robot_data(state, FRIX_ROBOT_ACCELERATION, &n);
    for (int32_t i = 0; i < n; i++) fuzz_demand(isfinite(a[i]), "an acceleration that is not finite", context);
  }
  frix_robot_state_destroy(state);
  frix_robot_destroy(robot);
  frix_context_destroy(context);
  return 0;
}
