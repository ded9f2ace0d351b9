/* The way back of a step that fails: all it changes before it is sure of its answer. Contacts of the last step wait in
 * touching_next. */
#include "sim/mechanism.h"
#include "sim/step.h"

#include <string.h>

static void *copied(frix_sim *sim, const void *from, int32_t count, size_t size) {
  void *copy = fx_arena_take_raw(&sim->arena, (size_t)count, size);
  return copy && count ? memcpy(copy, from, (size_t)count * size) : copy;
}

frix_status fx_undo_keep(frix_sim *sim, fx_undo *k) {
  const fx_state *s = &sim->state;
  k->state = *s;
  k->velocity = copied(sim, s->velocity, s->count, sizeof *s->velocity);
  k->spin = copied(sim, s->spin, s->count, sizeof *s->spin);
  k->momentum = copied(sim, s->momentum, s->count, sizeof *s->momentum);
  k->asleep = copied(sim, s->asleep, s->count, sizeof *s->asleep);
  k->quiet = copied(sim, s->quiet, s->count, sizeof *s->quiet);
  k->joint = copied(sim, s->joint, s->joint_count, sizeof *s->joint);
  k->robot = copied(sim, s->robot, s->robot_count, sizeof *s->robot);
  k->prototype = copied(sim, s->prototype, s->count, sizeof *s->prototype);
  k->generation = copied(sim, s->generation, s->count, sizeof *s->generation);
  bool loaded = fx_is_loaded(s);
  k->load = loaded ? copied(sim, s->load, s->count, sizeof *s->load) : NULL;
  bool good = k->velocity && k->spin && k->momentum && k->asleep && k->quiet && k->joint && k->robot && k->prototype &&
              k->generation && (k->load || !loaded);
  return good ? FRIX_OK : FRIX_ERROR_MEMORY;
}

void fx_undo_take_back(frix_sim *sim, const fx_undo *k, bool reported) {
  fx_state *s = &sim->state;
  size_t n = (size_t)s->count;
  memcpy(s->pose, sim->pose0, n * sizeof *s->pose);
  memcpy(s->velocity, k->velocity, n * sizeof *s->velocity);
  memcpy(s->spin, k->spin, n * sizeof *s->spin);
  memcpy(s->momentum, k->momentum, n * sizeof *s->momentum);
  memcpy(s->asleep, k->asleep, n * sizeof *s->asleep);
  memcpy(s->quiet, k->quiet, n * sizeof *s->quiet);
  if (s->joint_count) memcpy(s->joint, k->joint, (size_t)s->joint_count * sizeof *s->joint);
  if (s->robot_count) memcpy(s->robot, k->robot, (size_t)s->robot_count * sizeof *s->robot);
  if (sim->mechanism) fx_mechanism_evaluate(sim);
  if (reported) {
    fx_touching *list = s->touching;
    s->touching = sim->touching_next;
    sim->touching_next = list;
  }
  s->touching_count = k->state.touching_count;
  s->ended_count = k->state.ended_count;
  fx_contacts_index(sim);
  s->polish_at = k->state.polish_at;
  s->polish_wait = k->state.polish_wait;
  s->polish_again = k->state.polish_again;
}
