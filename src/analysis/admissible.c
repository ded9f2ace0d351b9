/* Admissible impulses: from a problem and an answer to faces, units and islands. */
#include "analysis/force_set.h"

#include "base/abi.h"

#include <math.h>
#include <string.h>

#define SHARP 1e-12 /* an answer is asked for to this, so that speeds that vanish can be told from slow ones */

const char *frix_force_verdict_name(frix_force_verdict verdict) {
  static const char *const name[] = {"undecided", "unique", "several"};
  return (unsigned)verdict < sizeof name / sizeof *name ? name[verdict] : "unknown";
}

const char *frix_motion_verdict_name(frix_motion_verdict verdict) {
  static const char *const name[] = {"one found", "unique", "several"};
  return (unsigned)verdict < sizeof name / sizeof *name ? name[verdict] : "unknown";
}

const char *frix_face_name(frix_face face) {
  static const char *const name[] = {"open", "given", "slip", "stick", "free"};
  return (unsigned)face < sizeof name / sizeof *name ? name[face] : "unknown";
}

void frix_forces_init(frix_forces_config *out, size_t size) {
  frix_forces_config all = {.size = sizeof all, .tolerance = 1e-8};
  fx_give_struct(out, size, &all, sizeof all);
}

/* ---- the answer ---- */

static frix_status judge(frix_forces *f) {
  const frix_problem *p = f->problem;
  return frix_certify(f->context, p, FRIX_LAW_COULOMB, f->r, p->joint_count ? f->r + p->row_count : NULL,
                      &f->certificate, NULL, NULL);
}

static frix_status solve_to(frix_forces *f, double tolerance, bool *good) {
  frix_solve_config config = frix_solve_default();
  frix_solution *solution = NULL;
  config.tolerance = tolerance;
  frix_status status = frix_solve(f->context, f->problem, &config, &solution);
  *good = false;
  if (status != FRIX_OK) return status;
  frix_result result = {.size = sizeof result};
  frix_solution_view(solution, &result);
  if (result.certificate.residual <= f->tolerance) {
    memcpy(f->r, result.r, (size_t)result.row_count * sizeof *f->r);
    if (result.joint_count) memcpy(f->r + result.row_count, result.lambda, (size_t)result.joint_count * sizeof *f->r);
    f->certificate = result.certificate;
    *good = true;
  }
  frix_solution_destroy(solution);
  return FRIX_OK;
}

static frix_status find_answer(frix_forces *f, const frix_forces_config *config, bool judged) {
  const frix_problem *p = f->problem;
  bool good = false;
  if (config->r) {
    memcpy(f->r, config->r, (size_t)p->row_count * sizeof *f->r);
    if (config->lambda) memcpy(f->r + p->row_count, config->lambda, (size_t)p->joint_count * sizeof *f->r);
    frix_status status = judged ? judge(f) : FRIX_OK;
    if (status != FRIX_OK) return status;
    good = !judged || f->certificate.residual <= f->tolerance;
  } else {
    frix_status status = solve_to(f, SHARP, &good);
    if (status == FRIX_OK && !good) status = solve_to(f, f->tolerance, &good);
    if (status != FRIX_OK) return status;
  }
  if (good) return FRIX_OK;
  return fx_fail(f->context, FRIX_ERROR_CERTIFICATE, "no certified answer: its residual is %.2e, above %.2e",
                 f->certificate.residual, f->tolerance);
}

/* ---- structure ---- */

static frix_status take_arrays(frix_forces *f) {
  const fx_system *s = &f->s;
  f->r = FX_TAKE(&f->arena, double, s->row_count);
  f->u = FX_TAKE(&f->arena, double, s->row_count);
  f->v = FX_TAKE(&f->arena, double, s->dof_count);
  f->face = FX_TAKE(&f->arena, frix_face, s->contact_count);
  f->scale = FX_TAKE(&f->arena, double, s->contact_count);
  f->still = FX_TAKE(&f->arena, double, s->contact_count);
  f->among = FX_TAKE(&f->arena, uint8_t, s->contact_count);
  f->unit_start = FX_TAKE(&f->arena, int32_t, s->contact_count);
  f->mass = FX_TAKE(&f->arena, double, s->dof_count);
  bool good = f->r && f->u && f->v && f->face && f->scale && f->still && f->among && f->unit_start && f->mass;
  if (!good) return FRIX_ERROR_MEMORY;
  if (!s->has_velocity) return FRIX_OK;
  const double *M = fx_system_mass(s);
  if (!M) return FRIX_ERROR_MEMORY;
  for (int32_t m = 0; m < s->mover_count; m++) {
    int32_t n = s->dof[m + 1] - s->dof[m];
    for (int32_t k = 0; k < n; k++) f->mass[s->dof[m] + k] = M[s->M_offset[m] + (size_t)(k * (n + 1))];
  }
  return FRIX_OK;
}

/* Units, contacts in the order of the islands. */
static frix_status list_units(frix_forces *f) {
  fx_face_unit *room = FX_TAKE(&f->arena, fx_face_unit, FRIX_MAX_FACETS);
  if (!room) return FRIX_ERROR_MEMORY;
  int32_t all = 0;
  for (int32_t i = 0; i < f->s.contact_count; i++) {
    int32_t count = fx_face_units(f, i, room);
    f->among[i] = count > 0;
    all += count;
  }
  frix_status status = fx_islands_find(&f->arena, &f->s, f->among, &f->islands);
  f->unit = FX_TAKE(&f->arena, fx_face_unit, all);
  f->island = FX_TAKE(&f->arena, fx_force_island, f->islands.count);
  if (status != FRIX_OK || !f->unit || !f->island) return status == FRIX_OK ? FRIX_ERROR_MEMORY : status;
  for (int32_t k = 0; k < f->islands.count; k++) {
    f->island[k].first_unit = f->unit_count;
    for (int32_t e = f->islands.start[k]; e < f->islands.start[k + 1]; e++) {
      int32_t i = f->islands.contact[e], count = fx_face_units(f, i, room);
      f->unit_start[i] = f->unit_count;
      memcpy(f->unit + f->unit_count, room, (size_t)count * sizeof *room);
      f->unit_count += count;
    }
    f->island[k].unit_count = f->unit_count - f->island[k].first_unit;
  }
  return FRIX_OK;
}

static frix_status build(frix_forces *f, const frix_forces_config *config, bool systems, bool judged) {
  frix_status status = fx_system_build(&f->arena, f->problem, f->problem->form, &f->s);
  if (status == FRIX_OK) status = take_arrays(f);
  if (status == FRIX_OK) status = find_answer(f, config, judged);
  if (status != FRIX_OK) return status;
  fx_system_velocity(&f->s, f->r, f->u, f->v);
  status = fx_force_faces(f);
  if (status == FRIX_OK && judged) status = judge(f); /* of r in its faces */
  if (status == FRIX_OK) status = list_units(f);
  if (status != FRIX_OK) return status;
  fx_system_velocity(&f->s, f->r, f->u, f->v);
  for (int32_t k = 0; systems && status == FRIX_OK && k < f->islands.count; k++) {
    status = fx_force_system(f, k);
    f->freedom += f->island[k].affordable ? f->island[k].variable_count - f->island[k].rank : 0;
  }
  return status;
}

frix_status fx_forces_open(frix_context *context, const frix_problem *problem, const frix_forces_config *config,
                           bool systems, bool judged, frix_forces **out) {
  frix_forces_config defaults;
  frix_forces_init(&defaults, sizeof defaults);
  FX_WHOLE(frix_forces_config, config, defaults);
  if (!config) config = &config_whole;
  if (config != &config_whole) return fx_fail(context, FRIX_ERROR_INPUT, "frix_forces_config: its size is not known");
  if (!(config->tolerance > 0 && config->tolerance < 1))
    return fx_fail(context, FRIX_ERROR_INPUT, "frix_forces_config: the tolerance must lie between 0 and 1");
  frix_forces *f = FX_NEW(context, frix_forces, 1);
  if (!f) return FRIX_ERROR_MEMORY;
  f->context = context;
  f->problem = problem;
  f->tolerance = config->tolerance;
  fx_arena_init(&f->arena, context);
  frix_status status = build(f, config, systems, judged);
  if (status == FRIX_OK)
    *out = f;
  else
    frix_forces_destroy(f);
  return status;
}

frix_status frix_forces_create(frix_context *context, const frix_problem *problem, const frix_forces_config *config,
                               frix_forces **out) {
  if (out) *out = NULL;
  if (!context || !problem || !out) return FRIX_ERROR_INPUT;
  return fx_forces_open(context, problem, config, true, true, out);
}

void frix_forces_destroy(frix_forces *f) {
  if (!f) return;
  fx_arena_free(&f->arena);
  fx_free(f->context, f);
}

void frix_forces_view_sized(const frix_forces *f, frix_forces_result *out, size_t size) {
  if (!f || !out) return;
  frix_forces_result all = {.size = sizeof all,
                            .certificate = f->certificate,
                            .contact_count = f->problem->contact_count,
                            .row_count = f->problem->row_count,
                            .joint_count = f->problem->joint_count,
                            .r = f->r,
                            .lambda = f->r + f->problem->row_count,
                            .u = f->u,
                            .face = f->face,
                            .freedom = f->freedom};
  fx_give_struct(out, size, &all, sizeof all);
}
