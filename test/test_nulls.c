/* Every public function without what it needs: none crashes; what returns a status refuses. Each call runs in a process
 * of its own, so that a crash tells its name. The headers are read to see that no function is missing. */
#include "shell.h"
#define WORLD_COORDINATES FRIX_COORDINATES_MAXIMAL /* a world without a robot */
#include "sim_world.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* Things that are there, and room for what would come out. */
typedef struct fixture {
  frix_context *context;
  frix_problem *problem, *problem_out;
  frix_problem_data data;
  frix_solution *solution, *solution_out;
  frix_result result;
  frix_certificate certificate;
  frix_forces *forces_out;
  frix_gradient *gradient_out;
  frix_options *options, *options_out;
  frix_qp_data qp;
  frix_qp_solution *qp_out;
  frix_qp_result qp_result;
  frix_mcp *mcp, *contact_mcp, *scara, *mcp_out;
  frix_mcp_data mcp_data;
  frix_mcp_certificate mcp_certificate;
  frix_mcp_result mcp_result;
  frix_output *output;
  frix_builder *builder, *builder_out;
  frix_model *model, *model_out;
  frix_mjcf *mjcf_out;
  frix_robot *robot_out;
  frix_soft *soft_out;
  frix_sim *sim, *sim_out;
  frix_sim_config sim_config;
  frix_snapshot *snapshot, *snapshot_out;
  frix_recorder *recorder, *recorder_out;
  frix_trajectory *trajectory, *trajectory_out;
  frix_frame frame;
  frix_tally tally;
  frix_step_report report;
  frix_body_id body;
  frix_shape_id shape;
  frix_material_id material;
  frix_joint_id hinge;
  frix_body_config body_out;
  frix_shape_config shape_out;
  frix_material_config material_out;
  frix_geometry_config no_points;
  frix_joint_config joint;
  frix_joint_state joint_state;
  frix_axis_config axis;
  frix_body_state state;
  frix_contact_report contact;
  frix_pose pose;
  frix_vec3 v;
  frix_sym3 sym;
  unsigned char *bytes, some[4];
  size_t size;
  uint64_t hash;
  int32_t count;
  double real, r[64], x[64];
  char letters[3];
} fixture;

/* ---- the calls */

#define REFUSES(call) ((call) == FRIX_ERROR_INPUT)
#define ABSENT(call) (!(call))
#define RETURNS(call) ((void)(call), true)

/* 0, or the number of the first outcome that was another. */
static int first_wrong(const bool *good, size_t count) {
  for (size_t k = 0; k < count; k++)
    if (!good[k]) return (int)k + 1;
  return 0;
}

#define CALL(name, ...)                                   \
  static int name##_without(fixture *f) {                 \
    (void)f;                                              \
    const bool good[] = {__VA_ARGS__};                    \
    return first_wrong(good, sizeof good / sizeof *good); \
  }
#include "null_calls.inc"
#undef CALL

static const struct {
  const char *name;
  int (*run)(fixture *f);
} calls[] = {
#define CALL(name, ...) {#name, name##_without},
#include "null_calls.inc"
#undef CALL
};
enum { CALLS = sizeof calls / sizeof *calls };

/* ---- things that are there */

static void make_world(fx_test *t, fixture *f, const char *path) {
  world w = world_new(t, 0.5, 0);
  world_plane(&w, turned(0, 0, 0, 1));
  frix_body_config ball = body_at(at(0, 0, 0.1));
  ball.name = "ball";
  f->body = world_body(&w, ball, sphere_shape(0.1));
  frix_joint_config hinge = frix_joint_default(FRIX_JOINT_HINGE);
  hinge.b = f->body, hinge.name = "hinge";
  MUST(&w, frix_builder_add_joint(w.builder, &hinge, &f->hinge));
  frix_context_destroy(f->context);
  if (!world_start(&w)) return;
  f->context = w.context, f->builder = w.builder, f->model = w.model, f->sim = w.sim;
  f->material = w.material, f->shape = frix_model_shape_at(w.model, 0);
  world_step(&w, 0.01);
  MUST(&w, frix_sim_save(f->sim, &f->snapshot));
  MUST(&w, frix_recorder_create(f->context, path, f->model, NULL, &f->recorder));
  MUST(&w, frix_recorder_add(f->recorder, f->sim, NULL));
  MUST(&w, frix_recorder_checkpoint(f->recorder, f->sim));
  MUST(&w, frix_trajectory_open(f->context, path, &f->trajectory));
}

static bool make_problems(fixture *f) {
  static const double W[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, q[3] = {-1, 2, 0};
  static const frix_contact contact = {.cone = FRIX_CONE_CIRCULAR, .dim = 3, .mu = 0.5};
  f->data = frix_problem_data_default();
  f->data.form = FRIX_FORM_LOCAL, f->data.contact_count = 1, f->data.contact = &contact, f->data.q = q;
  f->data.W = (frix_matrix){.format = FRIX_MATRIX_DENSE, .row_count = 3, .col_count = 3, .x = W};
  f->qp = frix_qp_data_default();
  f->mcp_data = frix_mcp_data_default();
  f->tally = frix_tally_default();
  f->no_points = frix_geometry_default();
  f->no_points.point_count = 4;
  return !frix_problem_create(f->context, &f->data, &f->problem) &&
         !frix_solve(f->context, f->problem, NULL, &f->solution) && !frix_options_create(f->context, &f->options) &&
         !frix_mcp_create_named(f->context, "kojshin", &f->mcp) &&
         !frix_mcp_create_contact(f->problem, FRIX_LAW_COULOMB, &f->contact_mcp) &&
         !frix_mcp_create_scara(f->context, FRIX_SCARA_CONE, 0, &f->scara);
}

static void release(fixture *f) {
  frix_trajectory_close(f->trajectory);
  frix_recorder_close(f->recorder);
  frix_snapshot_destroy(f->snapshot);
  frix_sim_destroy(f->sim);
  frix_model_destroy(f->model);
  frix_builder_destroy(f->builder);
  frix_mcp_destroy(f->scara);
  frix_mcp_destroy(f->contact_mcp);
  frix_mcp_destroy(f->mcp);
  frix_options_destroy(f->options);
  frix_solution_destroy(f->solution);
  frix_problem_destroy(f->problem);
  frix_context_destroy(f->context);
}

/* ---- tests */

static void every_call(fx_test *t) {
  fixture f = {0};
  make_world(t, &f, fx_test_scratch(t, "there.frx"));
  REQUIRE(t, f.trajectory && make_problems(&f));
  for (int k = 0; k < CALLS; k++) {
    pid_t child = fork();
    if (child == 0) {
      signal(SIGSEGV, SIG_DFL); /* told below, with the name */
      _exit(calls[k].run(&f));
    }
    int code = -1;
    waitpid(child, &code, 0);
    if (WIFSIGNALED(code))
      fx_test_fail(t, __FILE__, __LINE__, "%s without what it needs: signal %d", calls[k].name, WTERMSIG(code));
    else if (WEXITSTATUS(code))
      fx_test_fail(t, __FILE__, __LINE__, "%s: call %d has another outcome", calls[k].name, WEXITSTATUS(code));
  }
  fx_test_note(t, "%d functions", (int)CALLS);
  release(&f);
}

static bool listed(const char *name) {
  for (int k = 0; k < CALLS; k++)
    if (!strcmp(calls[k].name, name)) return true;
  return false;
}

/* The name of a declaration stands before its first bracket. */
static void no_call_missing(fx_test *t) {
  shell_result r = shell(t,
                         "cat '%s'/include/frix/*.h | tr '\\n' ' ' | sed 's/FRIX_API/\\n&/g' |"
                         " sed -n 's/^FRIX_API [^(]*\\(frix_[a-z0-9_]*\\)(.*/\\1/p' | sort -u",
                         FRIX_SOURCE_DIR);
  int found = 0;
  for (char *name = strtok(r.out, "\n"); name; name = strtok(NULL, "\n"), found++)
    if (!listed(name)) fx_test_fail(t, __FILE__, __LINE__, "%s is not in null_calls.inc", name);
  CHECK(t, found >= 170);
  shell_free(&r);
}

const fx_test_row test_nulls[] = {
    {"nulls/every_call", every_call},
    {"nulls/no_call_missing", no_call_missing},
    {0},
};
