/* Memory that runs out: every allocation of a story fails in turn, once or from there on. Each time the call that met
 * the failure says out of memory, and nothing else; the same call made again with memory leads to the same end, to the
 * bit; nothing is lost. The walk ends when no allocation is left to fail. */
#include "shell.h"
#include "sim_world.h"

#include <unistd.h>

typedef struct ledger {
  int64_t calls, fail_at; /* -1: none fails */
  bool persistent, failed;
  int64_t blocks, bytes; /* not given back */
} ledger;

static void *ledger_allocate(size_t bytes, void *user) {
  ledger *l = user;
  int64_t call = l->calls++;
  if (l->fail_at >= 0 && (call == l->fail_at || (l->persistent && call > l->fail_at))) {
    l->failed = true;
    return NULL;
  }
  void *block = malloc(bytes);
  if (block) l->blocks++, l->bytes += (int64_t)bytes;
  return block;
}

static void ledger_release(void *block, size_t bytes, void *user) {
  ledger *l = user;
  l->blocks--;
  l->bytes -= (int64_t)bytes;
  free(block);
}

/* What a story works on. */
typedef struct stage {
  ledger *ledger;
  frix_context *context;
  const frix_model *model;
  const unsigned char *bytes; /* of the model */
  size_t size;
  frix_sim_config config;
  const char *path, *table;
  frix_status wrong; /* a status that is neither OK nor out of memory */
} stage;

/* Whether a call should be made again: memory ran out in it, and is there again. */
static bool again(stage *s, frix_status status) {
  if (status == FRIX_OK) return false;
  bool mine = status == FRIX_ERROR_MEMORY && s->ledger->failed && s->ledger->fail_at >= 0;
  if (!mine && !s->wrong) s->wrong = status;
  s->ledger->fail_at = -1;
  return mine;
}

/* The call, and once more where memory ran out. */
#define TRY(s, call)                \
  do {                              \
    if (again((s), (call))) (call); \
  } while (0)

/* ---- a world with something of everything that takes memory */

static void add_stone(frix_builder *builder, frix_vec3 place) {
  frix_vec3 point[] = {{0.1, 0.1, -0.1}, {-0.1, 0.1, -0.1}, {0.1, -0.1, -0.1}, {-0.1, -0.1, -0.1}, {0, 0, 0.15}};
  frix_geometry_config g = frix_geometry_default();
  frix_shape_config s = frix_shape_default();
  frix_body_config b = body_at(at(place.x, place.y, place.z));
  frix_body_id id = {0, 0};
  b.name = "stone";
  g.kind = FRIX_GEOMETRY_HULL, g.point = point, g.point_count = 5, g.name = "hull";
  s.kind = FRIX_SHAPE_HULL;
  if (frix_builder_add_geometry(builder, &g, &s.geometry)) return; /* a build without hulls */
  frix_builder_add_body(builder, &b, &id);
  frix_builder_add_shape(builder, id, &s, NULL);
}

static void add_field(frix_builder *builder) {
  double height[4] = {0, 0.01, 0, 0};
  frix_geometry_config g = frix_geometry_default();
  frix_shape_config s = frix_shape_default();
  g.kind = FRIX_GEOMETRY_HEIGHT_FIELD, g.row_count = g.column_count = 2, g.width = g.depth = 4, g.height = height;
  frix_builder_add_geometry(builder, &g, &s.geometry);
  s.kind = FRIX_SHAPE_HEIGHT_FIELD;
  s.name = "field";
  frix_builder_add_shape(builder, (frix_body_id){0, 0}, &s, NULL);
}

static frix_model *make_model(frix_context *context) {
  frix_builder *builder = NULL;
  frix_model *model = NULL;
  frix_body_id box[3];
  if (frix_builder_create(context, &builder)) return NULL;
  add_field(builder);
  for (int k = 0; k < 3; k++) {
    frix_body_config b = body_at(at(0.02 * k, 0, 0.12 + 0.2 * k));
    frix_shape_config s = box_shape(0.1, 0.1, 0.1);
    b.name = k ? "box" : NULL;
    frix_builder_add_body(builder, &b, &box[k]);
    frix_builder_add_shape(builder, box[k], &s, NULL);
  }
  add_stone(builder, vec(0.6, 0, 0.11));
  frix_joint_config hinge = frix_joint_default(FRIX_JOINT_HINGE);
  hinge.a = box[1], hinge.b = box[2], hinge.name = "hinge";
  frix_joint_place(builder, &hinge, vec(0.1, 0, 0.42), vec(0, 1, 0), vec(0, 0, 0), vec(0, 0, 0));
  frix_builder_add_joint(builder, &hinge, NULL);
  frix_builder_exclude(builder, box[0], box[2]);
  frix_builder_compile(builder, &model);
  frix_builder_destroy(builder);
  return model;
}

/* ---- stories: each ends with a number that does not depend on what failed */

static frix_status spawn(frix_sim *sim, frix_body_id *out) {
  return frix_sim_spawn(sim, (frix_body_id){1, 1}, at(-0.6, 0, 0.3), vec(0, 0, 0), vec(0, 0, 1), out);
}

/* A step that fails is taken back whole. */
static void take_steps(stage *s, frix_sim *sim, int count) {
  for (int k = 0; sim && k < count; k++) {
    uint64_t before = 0, after = 0;
    frix_sim_hash(sim, &before);
    frix_status status = frix_sim_step(sim, 0.01, NULL);
    frix_sim_hash(sim, &after);
    if (status == FRIX_ERROR_MEMORY && before != after && !s->wrong) s->wrong = FRIX_ERROR_INPUT;
    if (again(s, status) && frix_sim_step(sim, 0.01, NULL) && !s->wrong) s->wrong = FRIX_ERROR_INPUT;
  }
}

static uint64_t simulate(stage *s) {
  frix_sim *sim = NULL;
  frix_snapshot *snapshot = NULL;
  frix_body_id born = {0, 0};
  uint64_t hash = 0;
  TRY(s, frix_sim_create(s->context, s->model, &s->config, &sim));
  take_steps(s, sim, 2);
  TRY(s, frix_sim_save(sim, &snapshot));
  TRY(s, spawn(sim, &born));
  take_steps(s, sim, 2);
  TRY(s, frix_sim_restore(sim, snapshot));
  TRY(s, spawn(sim, &born));
  take_steps(s, sim, 2);
  frix_sim_hash(sim, &hash);
  frix_snapshot_destroy(snapshot);
  frix_sim_destroy(sim);
  return hash;
}

static uint64_t file_number(const char *path) {
  FILE *file = fopen(path, "rb");
  unsigned char bytes[4096];
  uint32_t crc = 0;
  size_t total = 0;
  for (size_t got; file && (got = fread(bytes, 1, sizeof bytes, file)) > 0; total += got)
    crc = frix_crc32(crc, bytes, got);
  if (file) fclose(file);
  return (uint64_t)total << 32 | crc;
}

/* The sim is made with memory: what is tried is the recorder. */
static uint64_t write_run(stage *s) {
  frix_sim *sim = NULL;
  frix_recorder *recorder = NULL;
  frix_tally tally = frix_tally_default();
  frix_step_report report = {.certified = true, .finisher = "nsgs"};
  int64_t wanted = s->ledger->fail_at < 0 ? -1 : s->ledger->fail_at - s->ledger->calls;
  s->ledger->fail_at = -1;
  frix_sim_create(s->context, s->model, &s->config, &sim);
  frix_sim_step(sim, 0.01, NULL);
  s->ledger->fail_at = wanted < 0 ? -1 : s->ledger->calls + wanted;
  unlink(s->path);
  for (int part = 0; part < 2; part++) {
    if (part == 0)
      TRY(s, frix_recorder_create(s->context, s->path, s->model, "{\"a\":1}", &recorder));
    else
      TRY(s, frix_recorder_append(s->context, s->path, -1, &recorder));
    if (part == 0) TRY(s, frix_recorder_add(recorder, sim, NULL));
    TRY(s, frix_recorder_tally(recorder, &tally));
    TRY(s, frix_recorder_checkpoint(recorder, sim)); /* in the second part the first to ask for memory */
    TRY(s, frix_recorder_add(recorder, sim, &report));
    TRY(s, frix_recorder_tally(recorder, &tally));
    TRY(s, frix_recorder_checkpoint(recorder, sim));
    TRY(s, frix_recorder_close(recorder));
    recorder = NULL;
  }
  frix_sim_destroy(sim);
  return file_number(s->path);
}

static uint64_t read_run(stage *s) {
  frix_trajectory *file = NULL;
  frix_sim_config config;
  frix_tally tally;
  frix_snapshot *snapshot = NULL;
  unsigned char *bytes = NULL;
  size_t size = 0;
  uint32_t sum = 0;
  TRY(s, frix_trajectory_open(s->context, s->path, &file));
  TRY(s, frix_trajectory_config(file, &config));
  for (int32_t k = 0; k < frix_trajectory_frame_count(file); k++) {
    frix_frame frame;
    TRY(s, frix_trajectory_frame(file, k, &frame));
    sum = frix_crc32(sum, &frame.hash, sizeof frame.hash);
    for (int32_t i = 0; i < frame.body_count; i++)
      sum = frix_crc32(sum, &frame.body[i].state.pose, sizeof frame.body[i].state.pose);
  }
  TRY(s, frix_trajectory_tally(file, -1, &tally));
  TRY(s, frix_trajectory_checkpoint(file, -1, s->model, NULL, &snapshot));
  TRY(s, frix_snapshot_encode(s->context, snapshot, &bytes, &size));
  sum = frix_crc32(sum, bytes, size);
  frix_bytes_free(s->context, bytes);
  frix_snapshot_destroy(snapshot);
  frix_trajectory_close(file);
  return sum;
}

static uint64_t decode_model(stage *s) {
  frix_model *model = NULL;
  unsigned char *bytes = NULL;
  size_t size = 0;
  TRY(s, frix_model_decode(s->context, s->bytes, s->size, &model));
  TRY(s, frix_model_encode(s->context, model, &bytes, &size));
  uint32_t sum = frix_crc32(0, bytes, size);
  frix_bytes_free(s->context, bytes);
  frix_model_destroy(model);
  return sum;
}

static uint64_t export_run(stage *s) {
  frix_trajectory *file = NULL;
  frix_export_config config = frix_export_default();
  int32_t skipped = 0;
  config.skipped = &skipped; /* out of memory is no damage: no frame may be left out for it */
  config.last = 0;           /* one frame will do */
  char name[4200];
  TRY(s, frix_trajectory_open(s->context, s->path, &file));
  TRY(s, frix_trajectory_export(file, s->table, &config));
  frix_trajectory_close(file);
  snprintf(name, sizeof name, "%.*s_bodies.csv", (int)strlen(s->table) - 4, s->table);
  return (uint64_t)skipped << 60 ^ file_number(strstr(s->table, ".csv") ? name : s->table);
}

/* ---- the walk */

typedef uint64_t (*story)(stage *s);

/* One time: allocation `fail` of the story fails; false once it has less of them. */
static bool tell(fx_test *t, stage *s, story told, int64_t fail, bool persistent, uint64_t *end) {
  ledger l = {.fail_at = -1, .persistent = persistent};
  frix_context_config config = frix_context_default();
  config.allocate = ledger_allocate, config.release = ledger_release, config.user = &l;
  s->ledger = &l, s->wrong = FRIX_OK, s->context = NULL;
  if (frix_context_create(&config, &s->context)) return false;
  frix_model *model = make_model(s->context);
  unsigned char *bytes = NULL;
  if (!model || frix_model_encode(s->context, model, &bytes, &s->size)) return false;
  s->model = model, s->bytes = bytes;
  l.fail_at = fail < 0 ? -1 : l.calls + fail;
  uint64_t got = told(s);
  if (fail < 0) *end = got;
  bool failed = l.failed;
  l.fail_at = -1;
  if (s->wrong || got != *end)
    fx_test_fail(t, __FILE__, __LINE__, "allocation %lld%s: %s (%s), %s end", (long long)fail,
                 persistent ? " and all after it" : "", frix_status_name(s->wrong), frix_error_text(s->context),
                 got == *end ? "the same" : "another");
  frix_bytes_free(s->context, bytes);
  frix_model_destroy(model);
  frix_context_destroy(s->context);
  if (l.blocks || l.bytes)
    fx_test_fail(t, __FILE__, __LINE__, "allocation %lld%s: %lld blocks lost", (long long)fail,
                 persistent ? " and all after it" : "", (long long)l.blocks);
  return failed;
}

static int64_t walk(fx_test *t, stage *s, story told) {
  enum { MOST = 20000 };
  int64_t points = 0;
  uint64_t end = 0;
  tell(t, s, told, -1, false, &end);
  CHECK(t, end != 0);
  for (int persistent = 0; persistent < 2; persistent++) {
    int64_t k = 0;
    while (k < MOST && tell(t, s, told, k, persistent, &end)) k++;
    CHECK(t, k > 10 && k < MOST); /* the end was reached */
    points += k;
  }
  return points;
}

static void sims(fx_test *t) {
  static const char *const integrator[] = {"moreau", "two_step", "variational", "moreau", "moreau"};
  int64_t points = 0;
  for (int k = 0; k < 5; k++) {
    stage s = {.config = frix_sim_default()};
    s.config.integrator = integrator[k];
    s.config.max_iterations = 30; /* how well the steps are solved is no matter here */
    if (k == 3) s.config.restitution = FRIX_RESTITUTION_POISSON, s.config.sleep = true;
    if (k == 4) s.config.solver = "nsgs";
    points += walk(t, &s, simulate);
  }
  fx_test_note(t, "%lld failures survived", (long long)points);
}

static void files(fx_test *t) {
  static const story told[] = {write_run, read_run, decode_model};
  int64_t points = 0;
  stage s = {.config = frix_sim_default(), .path = fx_test_scratch(t, "run.frx")};
  for (size_t k = 0; k < sizeof told / sizeof *told; k++) points += walk(t, &s, told[k]);
  shell_result r = shell(t, "ls -A | grep -v -e '^.std'"); /* nothing half written is left */
  CHECK(t, !strcmp(r.out, "run.frx\n"));
  shell_free(&r);
  fx_test_note(t, "%lld failures survived", (long long)points);
}

static void exports(fx_test *t) {
  static const char *const name[] = {"run.csv", "run.npz", "run.h5"};
  int64_t points = 0;
  stage s = {.config = frix_sim_default(), .path = fx_test_scratch(t, "run.frx")};
  uint64_t end = 0;
  tell(t, &s, write_run, -1, false, &end);
  for (int32_t k = 0; frix_export_table(k); k++) {
    if (!frix_export_table(k)->available) continue;
    s.table = fx_test_scratch(t, name[k]);
    points += walk(t, &s, export_run);
  }
  shell_result r = shell(t, "ls -A | grep tmp");
  CHECK(t, !r.out[0]);
  shell_free(&r);
  fx_test_note(t, "%lld failures survived", (long long)points);
}

const fx_test_row test_memory[] = {
    {"memory/sims", sims},
    {"memory/files", files},
    {"memory/exports", exports},
    {0},
};
