/* Worlds in WebAssembly: opened by the words of `frix run`, stepped, pulled at, pushed, hashed, recorded. */
#include "core.h"

#include <errno.h>
#include <frix/edit.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>

/* A page starts no programs. */
int posix_spawnp(pid_t *restrict child, const char *restrict file, const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *restrict attributes, char *const argv[restrict], char *const env[restrict]) {
  (void)child, (void)file, (void)actions, (void)attributes, (void)argv, (void)env;
  return ENOSYS;
}

const frix_model *fx_world_model(const fx_world *w) { return w->model ? w->model : w->subject.model; }

const char *fx_world_answer(fx_world *w, char *text) {
  free(w->answer);
  return w->answer = text;
}

static bool complain(const fx_world *w) {
  fx_error("%s", frix_error_text(w->context));
  return false;
}

/* ---- opening */

static const fx_verb *verb_run(void) {
  const fx_verb *verb;
  for (int k = 0; (verb = fx_verb_table(k)); k++)
    if (!strcmp(verb->name, "run")) break;
  return verb;
}

/* One word a line. */
static void split(fx_world *w, const char *words) {
  w->text = fx_join(words, "");
  for (char *at = w->text; at;) {
    char *end = strchr(at, '\n');
    if (end) *end++ = 0;
    w->word = fx_grow(w->word, (size_t)w->word_count + 1, sizeof *w->word);
    w->word[w->word_count++] = at;
    at = end;
  }
}

static bool start(fx_world *w, const unsigned char *model, size_t size) {
  if (!fx_args_parse(verb_run(), w->word_count, w->word, &w->args) || w->args.word_count < 1) return false;
  if (!fx_subject_read(&w->args, w->args.word[0], &w->subject)) return false;
  if (!fx_sim_settings(w->context, &w->args, &w->config, &w->options)) return false;
  if (size && frix_model_decode(w->context, model, size, &w->model) != FRIX_OK) return complain(w);
  if (!size && !fx_subject_build(&w->subject, w->context)) return false;
  w->h = w->subject.step;
  if (!fx_arg_real(&w->args, "--dt", 1e-9, 1e3, &w->h)) return false;
  w->subject.model = fx_world_model(w);
  return frix_sim_create(w->context, fx_world_model(w), &w->config, &w->sim) == FRIX_OK || complain(w);
}

FX_EXPORT void core_close(fx_world *w) {
  if (!w) return;
  frix_recorder_close(w->recorder);
  fx_world_view_free(w);
  frix_sim_destroy(w->sim);
  frix_options_destroy(w->options);
  if (w->model) w->subject.model = NULL;
  fx_subject_free(&w->subject);
  frix_model_destroy(w->model);
  fx_args_free(&w->args);
  frix_context_destroy(w->context);
  free(w->word);
  free(w->text);
  free(w->answer);
  free(w);
}

/* words: those behind `frix run`, one a line. With size > 0 the model is that of the bytes, whatever the words say of
 * it. NULL after a message on stderr. */
FX_EXPORT fx_world *core_open(const char *words, const unsigned char *model, int size) {
  fx_world *w = fx_grow(NULL, 1, sizeof *w);
  *w = (fx_world){.context = fx_context(false), .tally = frix_tally_default()};
  split(w, words);
  if (start(w, model, (size_t)size)) return w;
  core_close(w);
  return NULL;
}

/* ---- stepping */

static frix_vec3 turned(frix_quat q, frix_vec3 v) {
  frix_vec3 t = {2 * (q.y * v.z - q.z * v.y), 2 * (q.z * v.x - q.x * v.z), 2 * (q.x * v.y - q.y * v.x)};
  return (frix_vec3){v.x + q.w * t.x + q.y * t.z - q.z * t.y, v.y + q.w * t.y + q.z * t.x - q.x * t.z,
                     v.z + q.w * t.z + q.x * t.y - q.y * t.x};
}

/* F = m (omega^2 (target - p) - 2 omega v), with omega h small enough for an explicit force. */
static frix_status pull(fx_world *w) {
  frix_body_state s;
  frix_body_id pattern;
  frix_body_config body;
  if (!w->hand.body.generation || !frix_sim_alive(w->sim, w->hand.body)) return FRIX_OK;
  if (frix_sim_body(w->sim, w->hand.body, &s) != FRIX_OK ||
      frix_sim_pattern(w->sim, w->hand.body, &pattern) != FRIX_OK ||
      frix_model_body(fx_world_model(w), pattern, &body) != FRIX_OK)
    return FRIX_OK;
  double omega = fmin(12, 0.2 / w->h), k = body.mass * omega * omega, c = 2 * body.mass * omega;
  frix_vec3 arm = turned(s.pose.q, w->hand.point), p = {s.pose.p.x + arm.x, s.pose.p.y + arm.y, s.pose.p.z + arm.z};
  frix_vec3 lever = {p.x - s.center.x, p.y - s.center.y, p.z - s.center.z};
  frix_vec3 v = {s.velocity.x + s.spin.y * lever.z - s.spin.z * lever.y,
                 s.velocity.y + s.spin.z * lever.x - s.spin.x * lever.z,
                 s.velocity.z + s.spin.x * lever.y - s.spin.y * lever.x};
  frix_vec3 force = {k * (w->hand.target.x - p.x) - c * v.x, k * (w->hand.target.y - p.y) - c * v.y,
                     body.planar ? 0 : k * (w->hand.target.z - p.z) - c * v.z};
  frix_status status = frix_sim_wake(w->sim, w->hand.body);
  return status == FRIX_OK ? frix_sim_add_force_at(w->sim, w->hand.body, force, p) : status;
}

/* One step; 0, or 1 after a message. */
FX_EXPORT int core_step(fx_world *w) {
  if (!fx_subject_drive(&w->subject, w->context, w->sim, w->h)) return 1;
  if (pull(w) != FRIX_OK) return !complain(w);
  w->report = (frix_step_report){.size = sizeof w->report};
  if (frix_sim_step(w->sim, w->h, &w->report) != FRIX_OK) return !complain(w);
  frix_tally_add(&w->tally, &w->report, frix_sim_step_count(w->sim), w->config.tolerance);
  if (w->recorder && frix_recorder_add(w->recorder, w->sim, &w->report) != FRIX_OK) return !complain(w);
  return 0;
}

/* The state's hash as 16 hexadecimal digits, "" where there is none. */
FX_EXPORT const char *core_hash(fx_world *w) {
  uint64_t hash = 0;
  char *text = fx_grow(NULL, 17, 1);
  text[0] = 0;
  if (frix_sim_hash(w->sim, &hash) == FRIX_OK)
    snprintf(text, 17, "%08lx%08lx", (unsigned long)(hash >> 32), (unsigned long)(hash & 0xffffffff));
  return fx_world_answer(w, text);
}

FX_EXPORT double core_time(const fx_world *w) { return frix_sim_time(w->sim); }
FX_EXPORT double core_step_length(const fx_world *w) { return w->h; }

/* ---- what a reader does to it: bodies are named by their slot in what is shown */

static frix_body_id body_of(const fx_world *w, int slot) {
  return slot >= 0 && (uint32_t)slot < w->slot_count ? w->slot[slot] : (frix_body_id){0, 0};
}

FX_EXPORT void core_gravity(fx_world *w, double x, double y, double z) {
  frix_sim_set_gravity(w->sim, (frix_vec3){x, y, z});
}

/* Holds a body at a point of its frame, and pulls it to a place; slot -1: lets go. */
FX_EXPORT void core_hold(fx_world *w, int slot, double px, double py, double pz, double x, double y, double z) {
  w->hand = (fx_hand){body_of(w, slot), {px, py, pz}, {x, y, z}};
}

/* Adds to the velocity of a body. */
FX_EXPORT int core_push(fx_world *w, int slot, double x, double y, double z) {
  frix_body_state s;
  frix_body_id id = body_of(w, slot);
  if (frix_sim_body(w->sim, id, &s) != FRIX_OK) return 1;
  frix_vec3 v = {s.velocity.x + x, s.velocity.y + y, s.velocity.z + z};
  return frix_sim_set_velocity(w->sim, id, v, s.spin) != FRIX_OK;
}

/* Another body like this one, there, at rest. */
FX_EXPORT int core_drop(fx_world *w, int slot, double x, double y, double z) {
  frix_body_state s;
  frix_body_id id = body_of(w, slot), pattern, made;
  if (frix_sim_body(w->sim, id, &s) != FRIX_OK || frix_sim_pattern(w->sim, id, &pattern) != FRIX_OK) return 1;
  frix_vec3 still = {0, 0, 0};
  return frix_sim_spawn(w->sim, pattern, (frix_pose){{x, y, z}, s.pose.q}, still, still, &made) != FRIX_OK;
}

/* ---- for programs: bodies are named by their number in the model, from 0; a state is position, quaternion (scalar
 * first), velocity of the centre of mass, spin */

static frix_body_id model_body(const fx_world *w, int k) { return frix_model_body_at(fx_world_model(w), k); }

FX_EXPORT int core_state(const fx_world *w, int k, double out[13]) {
  frix_body_state s;
  if (frix_sim_body(w->sim, model_body(w, k), &s) != FRIX_OK) return 1;
  const frix_pose *p = &s.pose;
  const double x[13] = {p->p.x,       p->p.y,       p->p.z,       p->q.w,   p->q.x,   p->q.y,  p->q.z,
                        s.velocity.x, s.velocity.y, s.velocity.z, s.spin.x, s.spin.y, s.spin.z};
  memcpy(out, x, sizeof x);
  return 0;
}

FX_EXPORT int core_put_state(fx_world *w, int k, const double x[13]) {
  frix_pose pose = {{x[0], x[1], x[2]}, {x[3], x[4], x[5], x[6]}};
  frix_body_id id = model_body(w, k);
  return frix_sim_set_pose(w->sim, id, pose) != FRIX_OK ||
         frix_sim_set_velocity(w->sim, id, (frix_vec3){x[7], x[8], x[9]}, (frix_vec3){x[10], x[11], x[12]}) != FRIX_OK;
}

/* On the centre of mass, in the coming step. */
FX_EXPORT int core_force(fx_world *w, int k, double x, double y, double z) {
  return frix_sim_add_force(w->sim, model_body(w, k), (frix_vec3){x, y, z}, (frix_vec3){0, 0, 0}) != FRIX_OK;
}

/* ---- changes under way */

static bool same_counts(frix_model_counts a, frix_model_counts b) {
  return a.body_count == b.body_count && a.shape_count == b.shape_count && a.material_count == b.material_count;
}

/* Materials of another world with the same bodies take the place of this one's: friction changes under a running world,
 * contacts keep their memory and the ledger goes on. */
FX_EXPORT int core_take_materials(fx_world *w, const fx_world *from) {
  const frix_model *other = fx_world_model(from);
  frix_builder *b = NULL;
  if (!same_counts(frix_model_count(frix_sim_model(w->sim)), frix_model_count(other))) return 1;
  frix_status status = frix_sim_begin_change(w->sim, &b);
  for (int32_t k = 0; status == FRIX_OK && frix_model_material_at(other, k).index; k++) {
    frix_material_id id = frix_model_material_at(other, k);
    frix_material_config material;
    status = frix_model_material(other, id, &material);
    if (status == FRIX_OK) status = frix_builder_set_material(b, id, &material);
  }
  if (status == FRIX_OK) status = frix_sim_change(w->sim, b);
  frix_builder_destroy(b);
  return status == FRIX_OK ? 0 : !complain(w);
}

/* ---- recording */

/* All steps from here on into a file of the module's memory; "" ends it. Under way the first frame is that of the last
 * step, with its report. */
FX_EXPORT int core_record(fx_world *w, const char *path, const char *meta) {
  frix_status status = frix_recorder_close(w->recorder);
  w->recorder = NULL;
  if (status == FRIX_OK && path[0])
    status = frix_recorder_create(w->context, path, frix_sim_model(w->sim), meta, &w->recorder);
  const frix_step_report *last = frix_sim_step_count(w->sim) ? &w->report : NULL;
  if (status == FRIX_OK && w->recorder) status = frix_recorder_add(w->recorder, w->sim, last);
  if (status == FRIX_OK && w->recorder) status = frix_recorder_checkpoint(w->recorder, w->sim);
  return status == FRIX_OK ? 0 : !complain(w);
}
