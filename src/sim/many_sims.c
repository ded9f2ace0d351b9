/* Many sims on one crew of threads: one task per sim, so that no bit depends on who takes it. */
#include "base/abi.h"
#include "base/threads.h"
#include "sim/sim_internal.h"

#include <frix/batch.h>
#include <frix/robot.h>
#include <frix/view.h>
#include <math.h>

struct frix_batch {
  frix_context *context;
  frix_batch_config config;
  int32_t count;
  frix_sim **sim;
  frix_status *status; /* of the last call, by sim */
};

static frix_batch_config default_batch(void) {
  return (frix_batch_config){.size = sizeof(frix_batch_config), .count = 1, .thread_count = 1};
}

void frix_batch_init(frix_batch_config *out, size_t size) {
  frix_batch_config all = default_batch();
  fx_give_struct(out, size, &all, sizeof all);
}

static frix_rollout default_rollout(void) { return (frix_rollout){.size = sizeof(frix_rollout), .h = 0.01}; }

void frix_rollout_init(frix_rollout *out, size_t size) {
  frix_rollout all = default_rollout();
  fx_give_struct(out, size, &all, sizeof all);
}

int32_t frix_batch_count(const frix_batch *batch) { return batch ? batch->count : 0; }

frix_sim *frix_batch_sim(frix_batch *batch, int32_t k) {
  return batch && k >= 0 && k < batch->count ? batch->sim[k] : NULL;
}

void frix_batch_destroy(frix_batch *batch) {
  if (!batch) return;
  for (int32_t k = 0; batch->sim && k < batch->count; k++) frix_sim_destroy(batch->sim[k]);
  fx_free(batch->context, batch->sim);
  fx_free(batch->context, batch->status);
  fx_free(batch->context, batch);
}

frix_status frix_batch_create(frix_context *context, const frix_model *model, const frix_batch_config *config,
                              frix_batch **out) {
  if (!context || !out) return FRIX_ERROR_INPUT;
  *out = NULL;
  FX_WHOLE(frix_batch_config, config, frix_batch_default());
  frix_batch_config chosen = config ? *config : frix_batch_default();
  if (chosen.size != sizeof chosen || chosen.count < 0 || chosen.thread_count < 1 || (!model && !chosen.each))
    return fx_fail(context, FRIX_ERROR_INPUT,
                   "frix_batch_create: needs a model, a count, a thread or more and a config of frix_batch_default()");
  frix_batch *batch = FX_NEW(context, frix_batch, 1);
  if (!batch) return FRIX_ERROR_MEMORY;
  batch->context = context;
  batch->config = chosen;
  batch->count = chosen.count;
  batch->sim = FX_NEW(context, frix_sim *, chosen.count);
  batch->status = FX_NEW(context, frix_status, chosen.count);
  frix_status status = batch->sim && batch->status ? FRIX_OK : FRIX_ERROR_MEMORY;
  frix_sim_config own = chosen.sim ? *chosen.sim : frix_sim_default();
  own.thread_count = 1;
  for (int32_t k = 0; status == FRIX_OK && k < batch->count; k++)
    status = frix_sim_create(context, chosen.each ? chosen.each[k] : model, &own, &batch->sim[k]);
  batch->config.sim = NULL, batch->config.each = NULL; /* the caller's */
  if (status == FRIX_OK)
    *out = batch;
  else
    frix_batch_destroy(batch);
  return status;
}

/* The first failure, by number of the sim. */
static frix_status outcome(frix_batch *batch, const char *call) {
  int32_t failed = 0, first = -1;
  for (int32_t k = 0; k < batch->count; k++)
    if (batch->status[k] != FRIX_OK) {
      if (first < 0) first = k;
      failed++;
    }
  if (first < 0) return FRIX_OK;
  return fx_fail(batch->context, batch->status[first], "%s: sim %d: %s (%d of %d sims failed)", call, (int)first,
                 frix_status_name(batch->status[first]), (int)failed, (int)batch->count);
}

/* ---- steps ---- */

typedef struct march {
  frix_batch *batch;
  double h;
  int32_t step_count;
  frix_step_report *report; /* of sim k: size bytes each */
  size_t size;
  const frix_rollout *rollout;
} march;

static frix_status step(const march *m, int32_t k, frix_step_report *report) {
  const frix_batch_config *c = &m->batch->config;
  frix_sim *sim = m->batch->sim[k];
  frix_status status = c->before ? c->before(sim, k, m->h, c->user) : FRIX_OK;
  return status == FRIX_OK ? frix_sim_step(sim, m->h, report) : status;
}

static bool is_worse(const frix_step_report *a, const frix_step_report *b) {
  if (a->certified != b->certified) return !a->certified;
  return a->certificate.residual > b->certificate.residual;
}

static void step_one(int32_t k, void *user) {
  const march *m = user;
  frix_status status = FRIX_OK;
  frix_step_report worst = {.size = sizeof worst};
  for (int32_t n = 0; n < m->step_count && status == FRIX_OK; n++) {
    frix_step_report report;
    status = step(m, k, &report);
    if (status == FRIX_OK && (n == 0 || is_worse(&report, &worst))) worst = report;
  }
  if (m->report) fx_give_struct((char *)m->report + (size_t)k * m->size, m->size, &worst, sizeof worst);
  m->batch->status[k] = status;
}

frix_status frix_batch_step_sized(frix_batch *batch, double h, int32_t step_count, frix_step_report *report,
                                  size_t size) {
  if (!batch) return FRIX_ERROR_INPUT;
  if (!(h > 0.0) || !isfinite(h) || step_count < 0)
    return fx_fail(batch->context, FRIX_ERROR_INPUT, "frix_batch_step: h or step_count is out of range");
  march m = {.batch = batch, .h = h, .step_count = step_count, .report = report, .size = size};
  fx_parallel(batch->context, batch->config.thread_count, batch->count, step_one, &m);
  return outcome(batch, "frix_batch_step");
}

/* ---- rollouts ---- */

typedef enum owner { JOINT, BODY, ROBOT } owner;

typedef struct channel_row {
  bool set;
  owner of;
  int32_t axes;           /* of a robot: any number of its array */
  frix_robot_array array; /* of a robot */
} channel_row;

static const channel_row channels[FRIX_CHANNEL_COUNT] = {
    [FRIX_CHANNEL_TARGET] = {true, JOINT, FRIX_JOINT_AXES, 0},
    [FRIX_CHANNEL_TARGET_RATE] = {true, JOINT, FRIX_JOINT_AXES, 0},
    [FRIX_CHANNEL_FORCE] = {true, BODY, 3, 0},
    [FRIX_CHANNEL_TORQUE] = {true, BODY, 3, 0},
    [FRIX_CHANNEL_COORDINATE] = {false, JOINT, FRIX_JOINT_AXES, 0},
    [FRIX_CHANNEL_RATE] = {false, JOINT, FRIX_JOINT_AXES, 0},
    [FRIX_CHANNEL_CENTER] = {false, BODY, 3, 0},
    [FRIX_CHANNEL_ORIENTATION] = {false, BODY, 4, 0},
    [FRIX_CHANNEL_VELOCITY] = {false, BODY, 3, 0},
    [FRIX_CHANNEL_SPIN] = {false, BODY, 3, 0},
    [FRIX_CHANNEL_CTRL] = {true, ROBOT, INT32_MAX, FRIX_ROBOT_CTRL},
    [FRIX_CHANNEL_QPOS] = {false, ROBOT, INT32_MAX, FRIX_ROBOT_QPOS},
    [FRIX_CHANNEL_QVEL] = {false, ROBOT, INT32_MAX, FRIX_ROBOT_QVEL},
    [FRIX_CHANNEL_SENSOR] = {false, ROBOT, INT32_MAX, FRIX_ROBOT_SENSOR_DATA},
};

static bool good_channel(frix_sim *sim, const frix_channel *c, bool set) {
  if ((int)c->kind < 0 || c->kind >= FRIX_CHANNEL_COUNT || channels[c->kind].set != set || c->axis < 0 ||
      c->axis >= channels[c->kind].axes)
    return false;
  if (channels[c->kind].of == BODY) return frix_sim_alive(sim, c->body);
  if (channels[c->kind].of == ROBOT) {
    int32_t count = 0;
    return frix_robot_data(frix_sim_robot(sim), channels[c->kind].array, &count) && c->axis < count;
  }
  return c->joint.generation == 1 && c->joint.index > 0 && c->joint.index <= (uint32_t)sim->state.joint_count;
}

/* Where its number is. */
static double *place_of(frix_sim *sim, const frix_sim_arrays *a, const frix_channel *c) {
  const channel_row *row = &channels[c->kind];
  if (row->of == ROBOT) return frix_robot_data(frix_sim_robot(sim), row->array, NULL) + c->axis;
  const frix_array *array = NULL;
  switch (c->kind) {
    case FRIX_CHANNEL_TARGET: array = &a->target; break;
    case FRIX_CHANNEL_TARGET_RATE: array = &a->target_rate; break;
    case FRIX_CHANNEL_FORCE: array = &a->force; break;
    case FRIX_CHANNEL_TORQUE: array = &a->torque; break;
    case FRIX_CHANNEL_COORDINATE: array = &a->coordinate; break;
    case FRIX_CHANNEL_RATE: array = &a->rate; break;
    case FRIX_CHANNEL_CENTER: array = &a->center; break;
    case FRIX_CHANNEL_ORIENTATION: array = &a->orientation; break;
    case FRIX_CHANNEL_VELOCITY: array = &a->velocity; break;
    default: array = &a->spin; break;
  }
  int32_t at = row->of == BODY ? (int32_t)c->body.index : (int32_t)c->joint.index - 1;
  char *element = (char *)frix_array_at(array, at);
  return (double *)(void *)(element + (ptrdiff_t)c->axis * array->step);
}

/* Puts the control of step n on a sim; what it acts on wakes. */
static frix_status put_control(frix_sim *sim, const frix_rollout *r, const double *value) {
  frix_sim_arrays a = {.size = sizeof a};
  frix_status status = frix_sim_view(sim, &a);
  for (int32_t c = 0; c < r->control_count && status == FRIX_OK; c++) {
    const frix_channel *channel = &r->control[c];
    if (!isfinite(value[c]))
      return fx_fail(sim->context, FRIX_ERROR_INPUT, "frix_batch_rollout: a control is not finite");
    *place_of(sim, &a, channel) = value[c];
    if (channels[channel->kind].of == BODY) {
      fx_wake(sim, (int32_t)channel->body.index);
    } else if (channels[channel->kind].of == JOINT) {
      const fx_joint *joint = &sim->model->joint[channel->joint.index - 1];
      fx_wake(sim, joint->a), fx_wake(sim, joint->b);
    }
  }
  return status;
}

static void note_watch(frix_sim *sim, const frix_rollout *r, bool good, double *out) {
  frix_sim_arrays a = {.size = sizeof a};
  bool senses = false;
  for (int32_t c = 0; c < r->watch_count; c++) senses |= r->watch[c].kind == FRIX_CHANNEL_SENSOR;
  if (good) good = frix_sim_view(sim, &a) == FRIX_OK && (!senses || frix_sim_robot_sense(sim) == FRIX_OK);
  for (int32_t c = 0; c < r->watch_count; c++) {
    bool there = good && (channels[r->watch[c].kind].of != BODY || frix_sim_alive(sim, r->watch[c].body));
    out[c] = there ? *place_of(sim, &a, &r->watch[c]) : NAN;
  }
}

static void roll_one(int32_t k, void *user) {
  const march *m = user;
  const frix_rollout *r = m->rollout;
  frix_sim *sim = m->batch->sim[k];
  frix_status status = r->start ? frix_sim_restore(sim, r->start[k]) : FRIX_OK;
  for (int32_t n = 0; n < r->step_count; n++) {
    size_t at = (size_t)k * (size_t)r->step_count + (size_t)n;
    frix_step_report report = {.certificate.residual = NAN};
    if (status == FRIX_OK && r->control_count) status = put_control(sim, r, r->value + at * (size_t)r->control_count);
    if (status == FRIX_OK) status = step(m, k, &report);
    if (r->watch_count) note_watch(sim, r, status == FRIX_OK, r->out + at * (size_t)r->watch_count);
    if (r->residual) r->residual[at] = status == FRIX_OK ? report.certificate.residual : NAN;
    if (r->certified) r->certified[at] = status == FRIX_OK && report.certified;
  }
  m->batch->status[k] = status;
}

static frix_status check_rollout(const frix_batch *batch, const frix_rollout *r) {
  frix_context *c = batch->context;
  if (r->size != sizeof *r || !(r->h > 0.0) || !isfinite(r->h) || r->step_count < 0 || r->control_count < 0 ||
      r->watch_count < 0)
    return fx_fail(c, FRIX_ERROR_INPUT, "frix_batch_rollout: h or a count is out of range");
  if ((r->control_count && (!r->control || !r->value)) || (r->watch_count && (!r->watch || !r->out)))
    return fx_fail(c, FRIX_ERROR_INPUT, "frix_batch_rollout: channels without an array");
  for (int32_t k = 0; k < batch->count; k++) {
    frix_sim *sim = batch->sim[k];
    if (r->start && !r->start[k]) return fx_fail(c, FRIX_ERROR_INPUT, "frix_batch_rollout: a start is NULL");
    for (int32_t j = 0; j < r->control_count; j++)
      if (!good_channel(sim, &r->control[j], true))
        return fx_fail(c, FRIX_ERROR_INPUT, "frix_batch_rollout: control %d is none of sim %d", (int)j, (int)k);
    for (int32_t j = 0; j < r->watch_count; j++)
      if (!good_channel(sim, &r->watch[j], false))
        return fx_fail(c, FRIX_ERROR_INPUT, "frix_batch_rollout: watch %d is none of sim %d", (int)j, (int)k);
  }
  return FRIX_OK;
}

frix_status frix_batch_rollout(frix_batch *batch, const frix_rollout *rollout) {
  if (!batch || !rollout) return FRIX_ERROR_INPUT;
  FX_WHOLE(frix_rollout, rollout, frix_rollout_default());
  frix_status status = check_rollout(batch, rollout);
  if (status != FRIX_OK) return status;
  march m = {.batch = batch, .h = rollout->h, .rollout = rollout};
  fx_parallel(batch->context, batch->config.thread_count, batch->count, roll_one, &m);
  return outcome(batch, "frix_batch_rollout");
}
