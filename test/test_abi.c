/* Clients of other versions: headers with fewer fields, headers with more; the list of exported symbols. */
#include <stdlib.h>
#include <string.h>

#include "shell.h"
#include "sim_world.h"

/* Compiles the client against headers changed by a sed script, runs it with the library of this build. */
static shell_result client(fx_test *t, const char *name, const char *script, const char *flags) {
  return shell(
      t,
      "command -v cc >/dev/null || exit 77; rm -rf %s && mkdir -p %s/frix && cp '%s'/include/frix/*.h %s/frix && "
      "sed -i %s %s/frix/*.h && cc -std=c17 -I%s %s '%s/test/abi/client.c' -o %s/client '%s' "
      "-Wl,-rpath,'%s' && %s/client",
      name, name, FRIX_SOURCE_DIR, name, script, name, name, flags, FRIX_SOURCE_DIR, name, FRIX_SHARED_LIBRARY,
      FRIX_BINARY_DIR, name);
}

static bool judge(fx_test *t, shell_result *r, int code, const char *text) {
  if (r->code == 77) {
    fx_test_skip(t, "no C compiler");
    shell_free(r);
    return false;
  }
  CHECK(t, r->code == code && strstr(r->out, text));
  if (r->code != code || !strstr(r->out, text))
    fx_test_fail(t, __FILE__, __LINE__, "%d: %s%s", r->code, r->out, r->err);
  shell_free(r);
  return true;
}

/* v = 1 - mu g t = 1 - 0.1 * 9.81 * 0.5, less what the stiff floor gives way */
#define ANSWER "0.5094999"

static void older(fx_test *t) {
  /* the last fields of body, shape, material and sim configs did not exist then */
  shell_result r =
      client(t, "older",
             "-e '/double gravity_scale;/d' -e '/uint32_t group, mask;/d' -e '/double stiffness;   \\/\\* N/d' "
             "-e '/void (\\*force)(frix_sim/d' -e '/bool keep_inputs;/d'",
             "");
  judge(t, &r, 0, ANSWER);
}

/* Fields that this library does not know yet, zero: as if they were not there; else refused. */
static void newer(fx_test *t) {
  const char *script =
      "-e 's/^} frix_body_config;/  double client_asks;\\n} frix_body_config;/' "
      "-e 's/^} frix_sim_config;/  double more[9];\\n} frix_sim_config;/' "
      "-e 's/^} frix_shape_config;/  void *more;\\n} frix_shape_config;/'";
  shell_result r = client(t, "newer", script, "");
  if (!judge(t, &r, 0, ANSWER)) return;
  r = client(t, "newest", script, "-DCLIENT_ASKS_FOR_MORE=1.5");
  judge(t, &r, 3, "refused");
}

/* Reports and states of an older client are shorter: nothing is written behind them. */
static void older_outputs(fx_test *t) {
  shell_result r = client(t, "older_outputs",
                          "-e '/double reserved\\[/d' -e '/double seconds, collide_seconds/d' "
                          "-e '/void \\*user_a, \\*user_b; /d' -e '/double error;  /d'",
                          "");
  judge(t, &r, 0, ANSWER);
}

/* Those of a newer client are longer: what this library does not know is zero. */
static void newer_outputs(fx_test *t) {
  shell_result r = client(t, "newer_outputs",
                          "-e 's/^} frix_step_report;/  double client_knows[8];\\n} frix_step_report;/' "
                          "-e 's/^} frix_body_state;/  double client_knows[8];\\n} frix_body_state;/'",
                          "-DCLIENT_KNOWS_MORE");
  judge(t, &r, 0, ANSWER);
}

static void same(fx_test *t) {
  shell_result r = client(t, "same", "-e p -e d", "");
  judge(t, &r, 0, ANSWER);
}

/* What the shared library exports is what test/abi/symbols.txt lists: tools/make_symbols writes it anew. */
static void symbols(fx_test *t) {
  shell_result r =
      shell(t,
            "command -v nm >/dev/null || exit 77; nm -D --defined-only '%s' | awk '{print $3}' | LC_ALL=C sort "
            ">now.txt; diff '%s/test/abi/symbols.txt' now.txt",
            FRIX_SHARED_LIBRARY, FRIX_SOURCE_DIR);
  if (r.code == 77) fx_test_skip(t, "nm is not installed");
  if (r.code && r.code != 77)
    fx_test_fail(t, __FILE__, __LINE__,
                 "tools/make_symbols where this is meant; a symbol that goes breaks clients:\n%s", r.out);
  shell_free(&r);
}

static bool is_zero(const double *x, size_t count) {
  for (size_t k = 0; k < count; k++)
    if (x[k] != 0 || signbit(x[k])) return false;
  return true;
}

#define DIRTY(type, name) \
  type name;              \
  memset(&name, 0xa5, sizeof name)
#define CLEAN(name) CHECK(t, is_zero((name).reserved, sizeof(name).reserved / sizeof *(name).reserved))

/* What a newer client would read from this library is 0, whatever stood there. */
static void reserved(fx_test *t) {
  world w = world_new(t, 0.5, 0);
  world_plane(&w, turned(0, 0, 0, 1));
  frix_body_id box = world_body(&w, body_at(at(0, 0, 0.1)), box_shape(0.1, 0.1, 0.1));
  frix_joint_config config = frix_joint_default(FRIX_JOINT_SLIDER);
  frix_joint_id joint;
  config.b = box, config.collide = true;
  MUST(&w, frix_joint_place(w.builder, &config, vec(0, 0, 0), vec(0, 0, 1), vec(0, 0, 0), vec(0, 0, 0)));
  MUST(&w, frix_builder_add_joint(w.builder, &config, &joint));
  REQUIRE(t, world_start(&w));
  DIRTY(frix_step_report, report);
  DIRTY(frix_body_state, body);
  DIRTY(frix_contact_report, contact);
  DIRTY(frix_row_report, row);
  DIRTY(frix_joint_state, state);
  for (int k = 0; k < 3; k++) MUST(&w, frix_sim_step(w.sim, 0.01, &report));
  MUST(&w, frix_sim_body(w.sim, box, &body));
  REQUIRE(t, frix_sim_contact_count(w.sim) > 0 && frix_sim_row_count(w.sim) > 0);
  MUST(&w, frix_sim_contact(w.sim, 0, &contact));
  MUST(&w, frix_sim_row(w.sim, 0, &row));
  MUST(&w, frix_sim_joint(w.sim, joint, &state));
  CLEAN(report);
  CLEAN(body);
  CLEAN(contact);
  CLEAN(row);
  CLEAN(state);
  world_end(&w);
}

/* Files are read with the settings of an older client, which end earlier; settings that were not initialised are
 * refused. */
static void older_settings(fx_test *t) {
  static const char text[] = "<mujoco><worldbody><body><joint/><geom size='.1'/></body></worldbody></mujoco>";
  if (!frix_mjcf_available()) {
    fx_test_skip(t, "built without expat");
    return;
  }
  frix_context *context = NULL;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  size_t size = offsetof(frix_mjcf_config, coordinates);
  frix_mjcf_config all = frix_mjcf_default(), *older = malloc(size); /* no byte more: sanitizers see what is read */
  REQUIRE(t, older);
  all.size = (uint32_t)size;
  memcpy(older, &all, size);
  frix_robot *robot = NULL;
  frix_mjcf *mjcf = NULL;
  CHECK(t, frix_robot_read_memory(context, "a.xml", text, sizeof text - 1, older, &robot) == FRIX_OK);
  CHECK(t, frix_mjcf_read_memory(context, "a.xml", text, sizeof text - 1, older, &mjcf) == FRIX_OK);
  frix_mjcf_destroy(mjcf);
  frix_robot_destroy(robot);
  CHECK(t, frix_robot_read(context, "no.xml", older, &robot) == FRIX_ERROR_FILE);
  CHECK(t, frix_urdf_convert(context, "no.urdf", older, "no.xml") == FRIX_ERROR_FILE);
  free(older);
  all.size = 2;
  CHECK(t, frix_robot_read_memory(context, "a.xml", text, sizeof text - 1, &all, &robot) == FRIX_ERROR_INPUT);
  CHECK(t, frix_urdf_convert(context, "no.urdf", &all, "no.xml") == FRIX_ERROR_INPUT);
  frix_context_destroy(context);
}

const fx_test_row test_abi[] = {{"abi/same", same},
                                {"abi/older", older},
                                {"abi/newer", newer},
                                {"abi/older_outputs", older_outputs},
                                {"abi/newer_outputs", newer_outputs},
                                {"abi/symbols", symbols},
                                {"abi/reserved", reserved},
                                {"abi/older_settings", older_settings},
                                {0}};
