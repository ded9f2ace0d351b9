/* Robots of the collection hold things and stand: the scenes of tools/check_grip for eight simulated seconds. */
#include <string.h>

#include "shell.h"
#include "test.h"

static void holds(fx_test *t, const char *name, const char *folder) {
  if (!fx_test_shared(t, folder)) return;
  shell_result r = shell(t,
                         "MUJOCO=no FRIX=\"$frix\" FRIX_SHARED=\"${FRIX_SHARED:-%s/../shared}\" "
                         "FRIX_FOLDER=\"$PWD/%s\" '%s/tools/check_grip' 8 %s",
                         FRIX_SOURCE_DIR, name, FRIX_SOURCE_DIR, name);
  if (r.code) fx_test_fail(t, __FILE__, __LINE__, "%s: exit %d: %s%s", name, r.code, r.out, r.err);
  CHECK(t, strstr(r.out, "every step certified"));
  shell_free(&r);
}

static void wrist(fx_test *t) { holds(t, "wrist", "models/menagerie/robotiq_2f85"); }
static void arm(fx_test *t) { holds(t, "arm", "models/menagerie/kuka_iiwa_14"); }
static void hand(fx_test *t) { holds(t, "hand", "models/menagerie/shadow_hand"); }
static void quadruped(fx_test *t) { holds(t, "quadruped", "models/menagerie/google_barkour_vb"); }
static void humanoid(fx_test *t) { holds(t, "humanoid", "models/menagerie/pal_talos"); }
static void biped(fx_test *t) { holds(t, "biped", "models/menagerie/agility_cassie"); }

const fx_test_row test_grip[] = {{"grip/wrist", wrist},
                                 {"grip/arm", arm},
                                 {"grip/hand", hand},
                                 {"grip/quadruped", quadruped},
                                 {"grip/humanoid", humanoid},
                                 {"grip/biped", biped},
                                 {0}};
