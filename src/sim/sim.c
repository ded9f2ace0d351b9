/* Sims: creation, destruction, growth, what concerns the whole. */
#include "base/abi.h"
#include "sim/sim_internal.h"

#include "sim/hooks_internal.h"
#include "sim/mechanism.h"
#include "sim/query_internal.h"
#include "sim/softs.h"

#include "base/trig.h"
#include "solver/solver.h"

#include <math.h>
#include <string.h>

static frix_sim_config default_sim(void) {
  frix_sim_config config = {0};
  config.size = sizeof config;
  config.integrator = "moreau";
  config.coordinates = FRIX_COORDINATES_REDUCED;
  config.solver = "auto";
  config.contact = FRIX_CONTACT_KIND_STIFF;
  config.tolerance = 1e-8;
  config.polish = 1e-13;
  config.seek_rest = true;
  config.thread_count = 1;
  config.restitution = FRIX_RESTITUTION_BOUNDED;
  config.restitution_speed = -1.0;
  config.stabilisation = 0.2;
  config.joint_stabilisation = 1.0;
  config.margin = -1.0;
  config.sleep_speed = 1e-4;
  config.sleep_time = 0.5;
  return config;
}

void frix_sim_init(frix_sim_config *out, size_t size) {
  frix_sim_config all = default_sim();
  fx_give_struct(out, size, &all, sizeof all);
}

/* ---- growth ---- */

static bool grow(frix_context *context, void *array, int32_t used, int32_t wanted, size_t size) {
  void **pointer = array;
  void *grown = fx_realloc(context, *pointer, (size_t)used, (size_t)wanted, size);
  if (grown) *pointer = grown;
  return grown;
}

/* The same for an array of the state, which views may point to: it is then kept, and a copy grows. */
static bool grow_state(frix_sim *sim, void *array, int32_t used, int32_t wanted, size_t size) {
  void **pointer = array;
  if (!sim->keep_arrays) return grow(sim->context, array, used, wanted, size);
  void **list =
      fx_realloc(sim->context, sim->retired, (size_t)sim->retired_count, (size_t)sim->retired_count + 1, sizeof *list);
  if (!list) return false;
  sim->retired = list;
  void *grown = fx_alloc(sim->context, (size_t)wanted, size);
  if (!grown) return false;
  memcpy(grown, *pointer, (size_t)used * size);
  list[sim->retired_count++] = *pointer;
  *pointer = grown;
  return true;
}

frix_status fx_sim_reserve(frix_sim *sim, int32_t slots) {
  if (slots <= sim->slot_capacity) return FRIX_OK;
  int32_t wanted = slots > INT32_MAX / 2 ? slots : 2 * slots, used = sim->state.count;
  fx_state *s = &sim->state;
  sim->arrays_moved++;
  if (!grow_state(sim, &s->prototype, used, wanted, sizeof *s->prototype) ||
      !grow_state(sim, &s->generation, used, wanted, sizeof *s->generation) ||
      !grow_state(sim, &s->pose, used, wanted, sizeof *s->pose) ||
      !grow_state(sim, &s->velocity, used, wanted, sizeof *s->velocity) ||
      !grow_state(sim, &s->spin, used, wanted, sizeof *s->spin) ||
      !grow_state(sim, &s->momentum, used, wanted, sizeof *s->momentum) ||
      !grow_state(sim, &s->load, used, wanted, sizeof *s->load) ||
      !grow_state(sim, &s->asleep, used, wanted, sizeof *s->asleep) ||
      !grow_state(sim, &s->quiet, used, wanted, sizeof *s->quiet))
    return FRIX_ERROR_MEMORY;
  sim->slot_capacity = wanted;
  return FRIX_OK;
}

frix_status fx_sim_reserve_touching(frix_sim *sim, int32_t count) {
  if (count <= sim->touching_capacity) return FRIX_OK;
  int32_t wanted = count > INT32_MAX / 2 ? count : 2 * count;
  fx_state *s = &sim->state;
  /* zeroed: repeat.c compares the bytes of contacts, those between their members too */
  if (!grow(sim->context, &s->touching, s->touching_count + s->ended_count, wanted, sizeof *s->touching) ||
      !grow(sim->context, &sim->touching_next, 0, wanted, sizeof *s->touching) ||
      !grow(sim->context, &sim->shown, sim->shown_count, wanted, sizeof *sim->shown))
    return FRIX_ERROR_MEMORY;
  sim->touching_capacity = wanted;
  return FRIX_OK;
}

/* ---- create ---- */

static frix_status check_config(frix_context *context, const frix_sim_config *c) {
  if (!(c->tolerance > 0.0) || !isfinite(c->tolerance) || c->max_iterations < 0 || !(c->polish >= 0.0) ||
      c->thread_count < 1)
    return fx_fail(context, FRIX_ERROR_INPUT, "sim config: tolerance, max_iterations or thread_count out of range");
  if (!(c->stabilisation >= 0.0 && c->stabilisation <= 1.0) ||
      !(c->joint_stabilisation >= 0.0 && c->joint_stabilisation <= 1.0))
    return fx_fail(context, FRIX_ERROR_INPUT, "sim config: stabilisation must lie in 0 .. 1");
  if ((int)c->contact < 0 || !frix_contact_kind_table((int32_t)c->contact))
    return fx_fail(context, FRIX_ERROR_INPUT, "sim config: no such law of contact");
  if ((int)c->restitution < 0 || !frix_restitution_table((int32_t)c->restitution))
    return fx_fail(context, FRIX_ERROR_INPUT, "sim config: no such law of restitution");
  if ((unsigned)c->coordinates > FRIX_COORDINATES_REDUCED)
    return fx_fail(context, FRIX_ERROR_INPUT, "sim config: no such coordinates");
  if (isnan(c->restitution_speed) || !isfinite(c->margin) || c->projections < 0 || !(c->sleep_speed >= 0.0) ||
      !(c->sleep_time >= 0.0))
    return fx_fail(context, FRIX_ERROR_INPUT, "sim config: a number is out of range");
  return FRIX_OK;
}

static bool is_spring(double stiffness) { return stiffness > 0.0 && isfinite(stiffness); }

void fx_sim_measure_model(frix_sim *sim) {
  const frix_model *m = sim->model;
  sim->smallest = INFINITY;
  for (int32_t k = 0; k < m->body_count; k++) {
    const fx_body *body = &m->body[k];
    if (body->dof && body->radius > 0.0 && body->radius < sim->smallest) sim->smallest = body->radius;
  }
  if (!isfinite(sim->smallest)) sim->smallest = 0.0;
  sim->thinnest = fx_model_thinnest(m);
  sim->springs = false;
  for (int32_t k = 0; k < m->material_count; k++) sim->springs |= is_spring(m->material[k].config.stiffness);
  for (int32_t k = 0; k < m->pair_count; k++) sim->springs |= is_spring(m->pair[k].surface.stiffness);
}

void fx_sim_swap_joints(frix_sim *sim, fx_joint_memory *memory, int32_t count) {
  fx_state *s = &sim->state;
  void **list = NULL;
  if (sim->keep_arrays && s->joint)
    list = fx_realloc(sim->context, sim->retired, (size_t)sim->retired_count, (size_t)sim->retired_count + 1,
                      sizeof *list);
  if (list) sim->retired = list, list[sim->retired_count++] = s->joint;
  if (!list && !sim->keep_arrays) fx_free(sim->context, s->joint);
  s->joint = memory;
  s->joint_count = count;
  sim->arrays_moved++;
}

static void place_bodies(frix_sim *sim) {
  fx_state *s = &sim->state;
  const frix_model *m = sim->model;
  s->count = m->body_count;
  for (int32_t k = 0; k < m->body_count; k++) {
    const fx_body *body = &m->body[k];
    s->prototype[k] = body->spawn_only ? -1 : k;
    s->generation[k] = 1;
    s->pose[k] = body->start;
    s->velocity[k] = body->velocity;
    s->spin[k] = body->spin;
    if (body->kind == FRIX_BODY_STATIC) s->velocity[k] = s->spin[k] = fx_vec(0.0, 0.0, 0.0);
    if (!body->spawn_only) fx_set_momentum(sim, k);
  }
  fx_sim_measure_model(sim);
}

frix_status frix_sim_create(frix_context *context, const frix_model *model, const frix_sim_config *config,
                            frix_sim **out) {
  if (!context || !out) return FRIX_ERROR_INPUT;
  *out = NULL;
  if (!model) return fx_fail(context, FRIX_ERROR_INPUT, "frix_sim_create: model is NULL");
  frix_sim_config chosen = frix_sim_default();
  FX_WHOLE(frix_sim_config, config, frix_sim_default());
  if (config && config->size != sizeof chosen)
    return fx_fail(context, FRIX_ERROR_INPUT, "sim config does not come from frix_sim_default()");
  if (config) chosen = *config;
  frix_status status = check_config(context, &chosen);
  if (status != FRIX_OK) return status;
  int32_t row = fx_integrator_find(context, chosen.integrator ? chosen.integrator : "moreau");
  int32_t solver = fx_solver_find(context, chosen.solver ? chosen.solver : "auto");
  if (row < 0 || solver < 0) return FRIX_ERROR_INPUT;
  chosen.solver = fx_solver_at(solver)->info.name;

  frix_sim *sim = FX_NEW(context, frix_sim, 1);
  if (!sim) return FRIX_ERROR_MEMORY;
  sim->context = context;
  sim->model = sim->root = model;
  sim->config = chosen;
  sim->integrator = fx_integrator_at(row);
  sim->config.integrator = sim->integrator->info.name;
  sim->state.gravity = model->gravity;
  if ((status = fx_pool_create(context, &sim->pool, &sim->inner)) != FRIX_OK) goto cleanup;
  if ((status = fx_collision_create(sim->inner, model, &sim->collision)) != FRIX_OK) {
    fx_fail(context, status, "%s", frix_error_text(sim->inner));
    goto cleanup;
  }
  if ((status = fx_sim_reserve(sim, model->body_count)) != FRIX_OK) goto cleanup;
  sim->state.joint_count = model->joint_count;
  sim->state.joint = FX_NEW(context, fx_joint_memory, model->joint_count);
  if (!sim->state.joint) {
    status = FRIX_ERROR_MEMORY;
    goto cleanup;
  }
  for (int32_t k = 0; k < model->joint_count; k++)
    memcpy(sim->state.joint[k].axis, model->joint[k].config.axis, sizeof sim->state.joint[k].axis);
  place_bodies(sim);
  fx_joints_measure(sim, true);
  if ((status = fx_mechanism_create(sim)) != FRIX_OK) goto cleanup;
  if ((status = fx_softs_create(sim)) != FRIX_OK) goto cleanup;
  if ((status = fx_hooks_begin(sim)) != FRIX_OK) goto cleanup;
  frix_sim_reset_ledger(sim);
  *out = sim;
  return FRIX_OK;

cleanup:
  frix_sim_destroy(sim);
  return status;
}

void frix_sim_destroy(frix_sim *sim) {
  if (!sim) return;
  frix_context *c = sim->context;
  if (sim->arena_live) fx_arena_free(&sim->arena);
  if (sim->collision) fx_collision_destroy(sim->collision);
  fx_pool_destroy(sim->pool, sim->inner);
  fx_state *s = &sim->state;
  fx_query_free(sim);
  fx_hooks_free(sim);
  fx_mechanism_destroy(sim);
  fx_layout_release(s->trees), fx_layout_release(sim->first_trees);
  fx_softs_destroy(sim);
  for (int32_t k = 0; k < sim->retired_count; k++) fx_free(c, sim->retired[k]);
  void *owned[] = {sim->retired, sim->tag, s->momentum, s->prototype, s->generation, s->pose,     s->velocity,
                   s->spin,      s->load,  s->asleep,   s->quiet,     s->joint,      s->touching, sim->touching_next,
                   sim->shown,   s->robot};
  for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) fx_free(c, owned[k]);
  if (sim->model != sim->root) frix_model_destroy((frix_model *)sim->model);
  fx_free(c, sim);
}

/* ---- the whole ---- */

double frix_sim_time(const frix_sim *sim) { return sim ? sim->state.time : 0.0; }
int64_t frix_sim_step_count(const frix_sim *sim) { return sim ? sim->state.step_count : 0; }
void frix_sim_energy_sized(const frix_sim *sim, frix_energy *out, size_t size) {
  frix_energy none = {0};
  if (out) fx_give_output(out, size, sim ? &sim->state.energy : &none, sizeof none);
}

void frix_sim_reset_ledger(frix_sim *sim) {
  if (!sim) return;
  frix_energy *e = &sim->state.energy;
  *e = (frix_energy){.kinetic = fx_kinetic(sim), .potential = fx_potential(sim)};
  e->start = e->kinetic + e->potential;
}

frix_status frix_sim_set_gravity(frix_sim *sim, frix_vec3 gravity) {
  if (!sim) return FRIX_ERROR_INPUT;
  if (!fx_finite(gravity)) return fx_fail(sim->context, FRIX_ERROR_INPUT, "frix_sim_set_gravity: not finite");
  fx_state *s = &sim->state;
  s->gravity = gravity;
  double potential = fx_potential(sim);
  s->energy.work += potential - s->energy.potential;
  s->energy.potential = potential;
  for (int32_t k = 1; k < s->count; k++) fx_wake(sim, k);
  return FRIX_OK;
}

frix_status frix_sim_problem(const frix_sim *sim, frix_problem **out) {
  if (!sim || !out) return FRIX_ERROR_INPUT;
  *out = NULL;
  if (!sim->problem.context) return fx_fail(sim->context, FRIX_ERROR_INPUT, "frix_sim_problem: no step yet");
  fx_arena arena;
  fx_arena_init(&arena, sim->inner);
  frix_problem problem = sim->problem;
  frix_status status = problem.row ? FRIX_OK : fx_rows_build(sim, &sim->rows, &arena, &problem);
  if (status == FRIX_OK && problem.blocks) status = fx_problem_columns(&arena, &problem, &problem.H);
  if (status == FRIX_OK) {
    frix_problem_data data;
    frix_problem_view(&problem, &data);
    data.title = NULL;
    if (problem.joint_count == 0) data.G = (frix_matrix){.format = FRIX_MATRIX_NONE};
    status = frix_problem_create(sim->context, &data, out);
    if (status == FRIX_OK) status = fx_problem_take_limit(*out, &problem); /* so that it is judged as the step is */
  }
  fx_arena_free(&arena);
  return status;
}
