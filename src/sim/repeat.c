/* A step that repeats the one before it.
 *
 * A step is a function of the state, the model, h and the settings; nothing in it depends on time or chance. Where the
 * step before left the state as it found it, bit by bit, and no call changed it since, this step has the same contacts,
 * rows, answer and certificate: they are still there, and only the clock goes on. What rests costs one comparison.
 *
 * All that a state holds is compared, so that whatever was written into it in between (views of its arrays, forces,
 * snapshots) makes an ordinary step. Callbacks, hooks, the user's options and robots of files have a say beyond the
 * state, and a deadline makes answers depend on the machine: such steps are made anew. */
#include "sim/softs.h"
#include "sim/step.h"

#include <string.h>

static bool same(const void *a, const void *b, int32_t count, size_t size) {
  return count == 0 || !memcmp(a, b, (size_t)count * size);
}

bool fx_is_loaded(const fx_state *s) {
  const char *byte = (const char *)s->load;
  return byte[0] != 0 || memcmp(byte, byte + 1, (size_t)s->count * sizeof *s->load - 1) != 0;
}

/* Forces that act in one step only: the same as in the last one, or none as then. */
static bool same_forces(const frix_sim *sim, const fx_undo *k) {
  const fx_state *s = &sim->state;
  if (sim->softs && !fx_softs_pull_alike(sim->softs)) return false;
  return k->load ? same(s->load, k->load, s->count, sizeof *s->load) : !fx_is_loaded(s);
}

/* Whether polishing is due is all that a step asks of its number. */
static bool polish_due(const fx_state *s) { return s->step_count >= s->polish_at; }

static bool same_numbers(const fx_state *a, const fx_state *b) {
  return !memcmp(&a->last_step, &b->last_step, sizeof a->last_step) && a->polish_at == b->polish_at &&
         a->polish_wait == b->polish_wait && a->polish_again == b->polish_again && polish_due(a) == polish_due(b) &&
         !memcmp(&a->gravity, &b->gravity, sizeof a->gravity) && a->energy.kinetic == b->energy.kinetic &&
         a->energy.potential == b->energy.potential && a->count == b->count && a->joint_count == b->joint_count &&
         a->touching_count == b->touching_count && a->ended_count == b->ended_count;
}

/* Whether the state is the one that the last step began with, whose contacts wait in touching_next; but for forces. */
static bool is_unchanged(const frix_sim *sim, const fx_undo *k) {
  const fx_state *s = &sim->state;
  int32_t n = s->count;
  return same_numbers(s, &k->state) && same(s->pose, sim->pose0, n, sizeof *s->pose) &&
         same(s->velocity, k->velocity, n, sizeof *s->velocity) && same(s->spin, k->spin, n, sizeof *s->spin) &&
         same(s->momentum, k->momentum, n, sizeof *s->momentum) && same(s->asleep, k->asleep, n, sizeof *s->asleep) &&
         same(s->quiet, k->quiet, n, sizeof *s->quiet) && same(s->prototype, k->prototype, n, sizeof *s->prototype) &&
         same(s->generation, k->generation, n, sizeof *s->generation) &&
         same(s->joint, k->joint, s->joint_count, sizeof *s->joint) && s->robot_count == k->state.robot_count &&
         same(s->robot, k->robot, s->robot_count, sizeof *s->robot) &&
         same(s->touching, sim->touching_next, s->touching_count + s->ended_count, sizeof *s->touching);
}

/* Whether the state is all that a step of this sim depends on. */
static bool is_closed(const frix_sim *sim) {
  return !sim->config.force && !sim->config.cancel && !sim->config.options && !sim->hooks && !sim->model->robot.robot &&
         !sim->state.stale && sim->deadline == 0.0;
}

void fx_repeat_note(frix_sim *sim, const fx_undo *undo) {
  if (!is_closed(sim) || !is_unchanged(sim, undo)) return;
  fx_undo *kept = FX_TAKE_RAW(&sim->arena, fx_undo, 1);
  if (!kept) return; /* the next step is an ordinary one */
  *kept = *undo;
  sim->repeats = kept;
  sim->repeats_stamp = sim->stamp;
}

bool fx_repeat_step(frix_sim *sim, double h) {
  const fx_undo *k = sim->repeats;
  if (!k || sim->h != h || sim->stamp != sim->repeats_stamp || !is_closed(sim)) return false;
  if (!is_unchanged(sim, k) || !same_forces(sim, k)) return false;
  if (k->load) memset(sim->state.load, 0, (size_t)sim->state.count * sizeof *sim->state.load);
  frix_energy *e = &sim->state.energy; /* what it adds to itself is the same every time, if only rounding */
  fx_ledger_add(e, &k->ledger, e->kinetic, e->potential);
  if (sim->softs) sim->softs->pull_count = 0;
  sim->state.time += h;
  sim->state.step_count++;
  sim->report.repeated = true;
  return true;
}
