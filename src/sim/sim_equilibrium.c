/* Does an equilibrium exist? The world's rows, seen at rest, go to the conic programmes of solver/equilibrium.c.
 *
 * It depends on bodies and joints, not on how a step represents them: joints that are coordinates are rows here. */
#include "base/abi.h"
#include "sim/mechanism.h"
#include "sim/sim_statics.h"
#include "solver/equilibrium_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TOLERANCE 1e-9 /* of the balance of forces, relative to what a body carries */
#define MOST_COST 1e10 /* multiplications of a factorisation */

struct frix_equilibrium {
  frix_context *context;
  frix_equilibrium_result result;
  frix_contact_report *contact;
  frix_body_motion *motion;
};

const char *frix_standing_name(frix_standing standing) {
  static const char *const name[] = {"undecided", "stands", "falls"};
  return standing >= FRIX_STANDING_UNDECIDED && standing <= FRIX_STANDING_FALLS ? name[standing] : "?";
}

static frix_load_config default_load(void) { return (frix_load_config){.size = sizeof(frix_load_config)}; }

void frix_load_init(frix_load_config *out, size_t size) {
  frix_load_config all = default_load();
  fx_give_struct(out, size, &all, sizeof all);
}

/* ---- the load ---- */

static void add_load(const frix_sim *sim, const fx_mover *mover, frix_vec3 force, frix_vec3 torque, double *load) {
  double all[6] = {force.x, force.y, force.z, torque.x, torque.y, torque.z};
  if (mover->dof == 3) all[2] = torque.z;
  for (int32_t c = 0; c < mover->dof; c++) load[c] += sim->h * all[c];
}

/* h times the load on mover k, which is zero so far. */
static void load_of(const frix_sim *sim, int32_t k, const frix_load_config *config, double *load) {
  const fx_mover *m = &sim->mover[k];
  frix_vec3 zero = {0.0, 0.0, 0.0};
  double mass = m->mass * fx_slot_body(sim, m->slot)->gravity_scale;
  add_load(sim, m, fx_scale(mass, config->gravity), zero, load);
  for (int32_t e = 0; e < config->load_count; e++)
    if ((int32_t)config->load[e].body.index == m->slot)
      add_load(sim, m, config->load[e].force, config->load[e].torque, load);
}

static frix_status check_load(const frix_sim *sim, const frix_load_config *config) {
  bool good = fx_finite(config->gravity) && (config->load_count == 0 || (config->load_count > 0 && config->load));
  for (int32_t k = 0; good && k < config->load_count; k++) {
    const frix_load *on = &config->load[k];
    if (fx_slot_of(sim, on->body, false, "frix_sim_equilibrium") < 0) return FRIX_ERROR_INPUT;
    good = fx_finite(on->force) && fx_finite(on->torque);
  }
  return good ? FRIX_OK : fx_fail(sim->context, FRIX_ERROR_INPUT, "frix_sim_equilibrium: the load is not finite");
}

/* ---- the answer ---- */

static int by_speed(const void *a, const void *b) {
  const frix_body_motion *p = a, *q = b;
  double x = fx_norm2(p->velocity) + fx_norm2(p->spin), y = fx_norm2(q->velocity) + fx_norm2(q->spin);
  return x < y ? 1 : x > y ? -1 : p->body.index < q->body.index ? -1 : p->body.index > q->body.index;
}

static void put_motion(const frix_sim *sim, const fx_mover *m, const double *x, double scale, frix_body_motion *out) {
  out->body = (frix_body_id){(uint32_t)m->slot, sim->state.generation[m->slot]};
  out->velocity = fx_scale(scale, m->dof == 3 ? fx_vec(x[0], x[1], 0.0) : fx_vec(x[0], x[1], x[2]));
  out->spin = fx_scale(scale, m->dof == 3 ? fx_vec(0.0, 0.0, x[2]) : fx_vec(x[3], x[4], x[5]));
}

static void list_motion(const frix_sim *sim, const double *v, frix_equilibrium *e) {
  frix_equilibrium_result *r = &e->result;
  for (int32_t k = 0; k < sim->mover_count; k++) {
    const fx_mover *m = &sim->mover[k];
    if (m->first < 0) continue;
    frix_body_motion *to = &e->motion[r->motion_count];
    put_motion(sim, m, v + m->first, 1.0, to);
    if (fx_norm2(to->velocity) + fx_norm2(to->spin) > 1e-18) r->motion_count++;
  }
  qsort(e->motion, (size_t)r->motion_count, sizeof *e->motion, by_speed);
}

static void list_forces(const frix_sim *sim, const fx_statics *statics, frix_equilibrium *e) {
  const fx_assembly *a = &sim->rows;
  for (int32_t k = 0; k < a->joint_first; k++) {
    if (a->group[k].kind != FX_GROUP_CONTACT || statics->kind[k] != FX_STATICS_CONE) continue;
    fx_touching touching;
    fx_contact_carry(sim, &a->group[k], &touching);
    touching.phase = FRIX_CONTACT_PERSIST;
    fx_contact_view(sim, &touching, sim->h, &e->contact[e->result.contact_count++]);
  }
}

/* A body that no row touches; it falls, or the factor is fixed by it, or nothing acts on it. */
static void note_loose(const frix_sim *sim, int32_t k, const frix_load_config *config, frix_equilibrium *e) {
  const fx_mover *m = &sim->mover[k];
  frix_equilibrium_result *r = &e->result;
  double f[6], l[6] = {0};
  fx_mover_force(sim, m, f);
  if (config) load_of(sim, k, config, l);
  double factor = fx_equilibrium_loose(m->dof, f, config ? l : NULL), power = 0.0;
  if (factor == INFINITY) return;
  if (factor == -INFINITY) r->standing = FRIX_STANDING_FALLS;
  if (config && factor < r->stands) r->stands = factor;
  if (config && factor < r->falls) r->falls = factor;
  if (r->motion_count) return;
  const double *x = factor == -INFINITY ? f : l;
  double most = 0.0;
  for (int32_t c = 0; c < m->dof; c++) most = fmax(most, fabs(x[c]));
  for (int32_t c = 0; c < m->dof; c++) power += x[c] / most * f[c] / sim->h;
  put_motion(sim, m, x, 1.0 / most, &e->motion[r->motion_count++]);
  r->power = power;
}

/* What is asked for beside the world: a load, or actuators. */
typedef struct demand {
  const frix_load_config *load;
  const frix_actuator *actuator;
  int32_t actuator_count;
  double *value;
} demand;

static void report(const frix_sim *sim, const demand *d, const fx_equilibrium *found, frix_equilibrium_result *r) {
  r->standing = found->standing;
  r->stands = d->load ? found->stands : 0.0;
  r->falls = d->load ? found->falls : 0.0;
  r->imbalance = found->imbalance;
  r->power = found->mechanism.power / sim->h;
  r->resistance = (found->mechanism.leak * found->force + found->mechanism.held) / sim->h;
  r->force_limit = found->force / sim->h;
  r->steps = found->steps;
}

/* The least effort first, then the least forces that need little more. */
static frix_status find_effort(frix_sim *sim, const demand *d, fx_statics *statics, fx_equilibrium *found,
                               frix_equilibrium *e) {
  frix_equilibrium_result *r = &e->result;
  int32_t first = statics->s->contact_count - d->actuator_count;
  frix_status status = fx_equilibrium_find(&sim->arena, statics, FX_EQUILIBRIUM_LARGEST, TOLERANCE, MOST_COST, found);
  if (status != FRIX_OK) return status;
  bool held = found->standing == FRIX_STANDING_STANDS;
  r->effort = !held ? INFINITY : isfinite(found->stands) ? fmax(0, -found->stands) : 0;
  r->effort_bound = found->falls == -INFINITY ? INFINITY : isfinite(found->falls) ? fmax(0, -found->falls) : 0;
  fx_equilibrium least;
  fx_statics bound = *statics;
  double *given = FX_TAKE(&sim->arena, double, statics->s->row_count);
  if (!given) return FRIX_ERROR_MEMORY;
  memcpy(given, statics->given, (size_t)statics->s->row_count * sizeof *given);
  for (int32_t i = first; i < statics->s->contact_count; i++) given[statics->s->row[i]] *= r->effort * (1 + 1e-6);
  bound.given = given, bound.paid = NULL;
  if (held) status = fx_equilibrium_find(&sim->arena, &bound, FX_EQUILIBRIUM_VERDICT, TOLERANCE, MOST_COST, &least);
  if (status == FRIX_OK && held && least.standing == FRIX_STANDING_STANDS) found->r = least.r;
  for (int32_t k = 0; status == FRIX_OK && d->value && k < d->actuator_count; k++)
    d->value[k] = held ? found->r[statics->s->row[first + k] + 1] / sim->h : 0;
  return status;
}

static frix_status find(frix_sim *sim, const demand *d, frix_equilibrium *e) {
  fx_assembly *a = &sim->rows;
  fx_system system;
  fx_statics statics;
  fx_equilibrium found = {.standing = FRIX_STANDING_STANDS, .stands = INFINITY, .falls = INFINITY};
  fx_rows_count(sim, a);
  if (a->row_count > 0) {
    int32_t first;
    frix_status status = fx_statics_from_rows(sim, a, &sim->arena, true, &system, &statics);
    if (status == FRIX_OK && d->actuator)
      status = fx_statics_add_actuators(sim, d->actuator, d->actuator_count, &sim->arena, &system, &statics, &first);
    if (status != FRIX_OK) return status;
    double *load = FX_TAKE(&sim->arena, double, system.dof_count);
    if (!load) return FRIX_ERROR_MEMORY;
    for (int32_t k = 0; d->load && k < sim->mover_count; k++)
      if (sim->mover[k].first >= 0) load_of(sim, k, d->load, load + sim->mover[k].first);
    statics.load = d->load || d->actuator ? load : NULL;
    if (d->actuator)
      status = find_effort(sim, d, &statics, &found, e);
    else
      status = fx_equilibrium_find(&sim->arena, &statics, d->load ? FX_EQUILIBRIUM_LARGEST : FX_EQUILIBRIUM_VERDICT,
                                   TOLERANCE, MOST_COST, &found);
    if (status != FRIX_OK) return status;
    memcpy(a->r, found.r, (size_t)a->row_count * sizeof *a->r);
    memset(a->u, 0, (size_t)a->row_count * sizeof *a->u);
    list_forces(sim, &statics, e);
    list_motion(sim, found.v, e);
  }
  report(sim, d, &found, &e->result);
  for (int32_t k = 0; k < sim->mover_count; k++)
    if (sim->mover[k].first < 0) note_loose(sim, k, d->load, e);
  if (d->actuator && e->result.standing == FRIX_STANDING_FALLS) e->result.effort = e->result.effort_bound = INFINITY;
  return FRIX_OK;
}

static frix_status answer(frix_sim *sim, double h, const demand *d, frix_equilibrium **out) {
  if (sim->in_force)
    return fx_fail(sim->context, FRIX_ERROR_INPUT, "frix_sim_equilibrium: called from the force callback");
  if (sim->model->robot.robot)
    return fx_fail(sim->context, FRIX_ERROR_UNSUPPORTED,
                   "frix_sim_equilibrium: not for a robot in reduced coordinates; read it in maximal ones "
                   "(--coordinates maximal)");
  if (!(h > 0.0) || !isfinite(h))
    return fx_fail(sim->context, FRIX_ERROR_INPUT, "frix_sim_equilibrium: h must be a positive number");
  frix_status status = d->load ? check_load(sim, d->load) : FRIX_OK;
  if (status == FRIX_OK) status = fx_mechanism_renew(sim);
  if (status != FRIX_OK) return status;
  fx_mechanism *trees = sim->mechanism;
  sim->mechanism = NULL;
  status = fx_sim_look(sim, h);
  frix_equilibrium *e = status == FRIX_OK ? FX_NEW(sim->context, frix_equilibrium, 1) : NULL;
  if (e) {
    e->context = sim->context;
    e->result.size = sizeof e->result;
    e->contact = FX_NEW(sim->context, frix_contact_report, sim->rows.joint_first + 1);
    e->motion = FX_NEW(sim->context, frix_body_motion, sim->mover_count + 1);
  }
  if (status == FRIX_OK && (!e || !e->contact || !e->motion)) status = FRIX_ERROR_MEMORY;
  if (status == FRIX_OK) status = find(sim, d, e);
  sim->mechanism = trees;
  if (trees) sim->rows = (fx_assembly){0}, sim->problem = (frix_problem){0}; /* of bodies: no rows of a step */
  if (status == FRIX_ERROR_MEMORY) fx_fail(sim->context, status, "out of memory");
  if (status != FRIX_OK) {
    frix_equilibrium_destroy(e);
    return status;
  }
  e->result.contact = e->contact;
  e->result.motion = e->motion;
  *out = e;
  return FRIX_OK;
}

frix_status frix_sim_equilibrium(frix_sim *sim, double h, const frix_load_config *load, frix_equilibrium **out) {
  if (!sim || !out) return FRIX_ERROR_INPUT;
  *out = NULL;
  FX_WHOLE(frix_load_config, load, frix_load_default());
  return answer(sim, h, &(demand){.load = load}, out);
}

frix_status frix_sim_hold(frix_sim *sim, double h, const frix_actuator *actuator, int32_t count, double *value,
                          frix_equilibrium **out) {
  if (!sim || !out) return FRIX_ERROR_INPUT;
  *out = NULL;
  if (!actuator || count < 1) return fx_fail(sim->context, FRIX_ERROR_INPUT, "frix_sim_hold: no actuators");
  for (int32_t k = 0; value && k < count; k++) value[k] = 0;
  return answer(sim, h, &(demand){.actuator = actuator, .actuator_count = count, .value = value}, out);
}

void frix_equilibrium_destroy(frix_equilibrium *e) {
  if (!e) return;
  fx_free(e->context, e->contact);
  fx_free(e->context, e->motion);
  fx_free(e->context, e);
}

void frix_equilibrium_view_sized(const frix_equilibrium *e, frix_equilibrium_result *out, size_t size) {
  if (e && out) fx_give_struct(out, size, &e->result, sizeof e->result);
}
