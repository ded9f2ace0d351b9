/* A reference to something replicated holds for each replica, in MuJoCo's order: first what stands for itself, then
 * replica by replica, an outer one before those within it (test/robots/replicas.xml; names as MuJoCo 3.14 lists them).
 */
#include <frix/frix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shell.h"

static void check_names(fx_test *t, const frix_robot *robot, frix_robot_part part, int32_t count, const char *wanted) {
  char found[400] = "";
  for (int32_t k = 0; k < count; k++) {
    const char *name = frix_robot_name(robot, part, k);
    size_t used = strlen(found);
    snprintf(found + used, sizeof found - used, "%s%s", used ? " " : "", name ? name : "-");
  }
  if (strcmp(found, wanted)) fx_test_fail(t, __FILE__, __LINE__, "'%s', not '%s'", found, wanted);
}

static void order(fx_test *t) {
  frix_context *context = NULL;
  frix_robot *robot = NULL;
  if (!frix_mjcf_available()) {
    fx_test_skip(t, "built without expat");
    return;
  }
  char *text = shell_read("test/robots/replicas.xml");
  REQUIRE(t, text && frix_context_create(NULL, &context) == FRIX_OK);
  if (frix_robot_read_memory(context, "replicas.xml", text, strlen(text), NULL, &robot))
    fx_test_fail(t, __FILE__, __LINE__, "%s", frix_error_text(context));
  if (robot) {
    frix_robot_info info = frix_robot_view(robot);
    check_names(t, robot, FRIX_ROBOT_TENDON, info.tendon_count, "tf t0 t1 td_0 td_1 td_2");
    check_names(t, robot, FRIX_ROBOT_ACTUATOR, info.actuator_count,
                "b a0 p0 tt0 c-00 c-10 a1 p1 tt1 c-01 c-11 i_0 i_1 i_2");
    check_names(t, robot, FRIX_ROBOT_SENSOR, info.sensor_count,
                "sf s0 sp0 sb0 sa0 sk-00 sk-10 s1 sp1 sb1 sa1 sk-01 sk-11 sv_0 sv_1 sv_2");
    CHECK(t, info.act_count == 3 && info.note_count == 0);
  }
  free(text);
  frix_robot_destroy(robot);
  frix_context_destroy(context);
}

const fx_test_row test_robot_replicas[] = {{"robot_replicas/order", order}, {0}};
