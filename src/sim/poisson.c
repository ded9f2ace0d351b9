/* Poisson's restitution: compression, then decompression.
 *
 *   compression     M v_c = M v_free + H r_c                     contact law without restitution
 *   decompression   M v = M v_c + H (e r_cN n) + H r,            contact law for r; friction of the known normal
 * impulse e r_cN as well: rows whose normal impulse is fixed, |r_T| <= mu e r_cN
 *
 * The sum of the two is what reports, ledger and the next step see. Reference: M. Anitescu, F. Potra, Formulating
 * dynamic multi-rigid-body contact problems with friction as solvable linear complementarity problems, 1997. */
#include "sim/solving.h"

#include <math.h>
#include <string.h>

static bool comes_fast(const frix_sim *sim, const fx_assembly *a, const fx_group *g) {
  return g->kind == FX_GROUP_CONTACT && sim->surface[g->source].restitution > 0.0 &&
         -fx_group_velocity(sim, a, g, 0, FX_BEFORE) > fx_restitution_speed(sim);
}

static bool bounces(const frix_sim *sim, const fx_group *g) {
  const fx_assembly *a = &sim->rows;
  return g->kind == FX_GROUP_CONTACT && a->r[g->row] > 0.0 && comes_fast(sim, a, g);
}

bool fx_bounces_later(const frix_sim *sim, const fx_assembly *a) {
  if (sim->config.restitution != FRIX_RESTITUTION_POISSON) return false;
  for (int32_t k = 0; k < a->joint_first; k++)
    if (comes_fast(sim, a, &a->group[k])) return true;
  return false;
}

/* The group again in another assembly, with its directions and shift. */
static fx_group *copy(frix_sim *sim, const fx_assembly *from, const fx_group *g, fx_assembly *to, fx_group_kind kind) {
  int32_t slot[4];
  for (int32_t b = 0; b < g->body_count; b++) slot[b] = sim->mover[g->mover[b]].slot;
  fx_group *n = fx_group_add(sim, to, kind, g->source, from->law[g - from->group], g->body_count, slot);
  n->axis = g->axis, n->part = g->part, n->damper = g->damper, n->robot = g->robot, n->memory = g->memory;
  memcpy(to->J + n->value, from->J + g->value, (to->value_count - n->value) * sizeof *to->J);
  for (int32_t k = 0; k < g->dim; k++) {
    to->w[n->row + k] = from->w[g->row + k];
    to->drive[n->row + k] = from->drive[g->row + k];
    to->R[n->row + k] = from->R[g->row + k];
    to->r_c[n->row + k] = from->r_c[g->row + k] - from->r[g->row + k]; /* springs hold what they hold already */
  }
  return n;
}

/* v_free += M^-1 J' impulse for one row */
static void kick(frix_sim *sim, const fx_assembly *a, const fx_group *g, double impulse) {
  const double *J = a->J + g->value;
  for (int32_t b = 0; b < g->body_count; b++) {
    fx_mover_kick(&sim->mover[g->mover[b]], J, impulse);
    J += g->dim * sim->mover[g->mover[b]].dof;
  }
}

/* The normal impulse also carries the forces of the step; what belongs to the impact is the part of the speed before.
 */
static double impact_part(double before, double free) { return free < before && before < 0.0 ? before / free : 1.0; }

static frix_status decompress(frix_sim *sim, fx_assembly *first, int32_t count) {
  fx_assembly second;
  frix_status status = fx_assembly_begin(sim, &second, first->group_count + count, first->row_count + 6 * count,
                                         first->value_count + 6 * (size_t)count * fx_row_values(sim, 2));
  double *known = first->rebound = FX_TAKE(&sim->arena, double, first->group_count);
  double *approach = FX_TAKE(&sim->arena, double, first->group_count); /* normal speed without contacts */
  int32_t *place = FX_TAKE(&sim->arena, int32_t, 2 * (size_t)first->group_count);
  fx_mover *kept = fx_movers_save(sim);
  first->compression = FX_TAKE(&sim->arena, double, first->row_count);
  first->late = FX_TAKE(&sim->arena, double, first->group_count);
  if (status != FRIX_OK || !known || !approach || !place || !kept || !first->compression || !first->late)
    return FRIX_ERROR_MEMORY;
  memcpy(first->compression, first->r, (size_t)first->row_count * sizeof *first->r);
  for (int32_t k = 0; k < first->group_count; k++)
    approach[k] = fx_group_velocity(sim, first, &first->group[k], 0, FX_FREE);
  for (int32_t k = 0; k < sim->mover_count; k++) fx_mover_rebase(&sim->mover[k]);
  second.compliant = first->compliant || count > 0;
  second.rolls = first->rolls;
  second.pushes_out = !first->leaves_overlaps;
  for (int32_t k = 0; k < first->group_count; k++) {
    const fx_group *g = &first->group[k];
    if (k == first->joint_first) second.joint_first = second.group_count;
    place[2 * k + 1] = -1;
    if (bounces(sim, g)) {
      double before = fx_group_velocity(sim, first, g, 0, FX_BEFORE), free = approach[k];
      known[k] = g->kept * sim->surface[g->source].restitution * first->r[g->row] * impact_part(before, free);
      kick(sim, first, g, known[k]);
      if (g->dim > 1) { /* friction under the known impulse */
        place[2 * k + 1] = second.group_count;
        fx_group *n = copy(sim, first, g, &second, FX_GROUP_REBOUND);
        double *J = second.J + n->value;
        for (int32_t b = 0; b < n->body_count; b++) { /* the normal row moves no body */
          int32_t dof = sim->mover[n->mover[b]].dof;
          memset(J, 0, (size_t)dof * sizeof *J);
          J += n->dim * dof;
        }
        second.w[n->row] = second.drive[n->row] = 0.0;
        for (int32_t j = 0; j < n->dim; j++) second.R[n->row + j] = second.r_c[n->row + j] = 0.0;
        second.R[n->row] = fx_group_weight(sim, &second, n, 1);
        second.r_c[n->row] = second.guess[n->row] = known[k];
      }
    }
    place[2 * k] = second.group_count;
    fx_group *n = copy(sim, first, g, &second, g->kind);
    if (bounces(sim, g) && second.pushes_out) { /* which is no part of compression */
      first->late[k] = -fx_push_out(sim, g);
      second.w[n->row] -= first->late[k];
    }
  }
  if (first->joint_first == first->group_count) second.joint_first = second.group_count;
  frix_step_report compression = sim->report;
  if (!strcmp(compression.phase, "contacts")) compression.phase = "compression";
  status = fx_sim_solve(sim, &second);
  if (second.leaves_overlaps) memset(first->late, 0, (size_t)first->group_count * sizeof *first->late);
  if (status == FRIX_OK) fx_join_verdict(sim, &compression, "decompression");
  if (status == FRIX_OK && !sim->problem.row) /* its rows end here: a later request for the problem gets all rows */
    status = fx_rows_build(sim, &second, &sim->arena, &sim->problem);

  /* the two phases together */
  for (int32_t k = 0; k < first->group_count; k++) {
    const fx_group *g = &first->group[k];
    first->r[g->row] += known[k];
    for (int32_t j = 0; j < g->dim; j++) {
      first->r[g->row + j] += second.r[second.group[place[2 * k]].row + j];
      if (place[2 * k + 1] >= 0 && j > 0) first->r[g->row + j] += second.r[second.group[place[2 * k + 1]].row + j];
      first->u[g->row + j] = fx_group_velocity(sim, first, g, j, FX_AFTER);
    }
  }
  for (int32_t k = 0; k < sim->mover_count; k++) fx_mover_free_again(&sim->mover[k], &kept[k]);
  return status;
}

/* The answer of compression, to start from again. */
typedef struct compressed {
  int32_t count; /* contacts that bounce */
  fx_attempt answer;
} compressed;

static frix_status decompress_again(frix_sim *sim, fx_assembly *a, const double *start, void *user) {
  const compressed *c = user;
  (void)start;
  fx_attempt_restore_answer(sim, a, &c->answer);
  return decompress(sim, a, c->count);
}

frix_status fx_poisson(frix_sim *sim) {
  fx_assembly *a = &sim->rows;
  compressed c;
  frix_status status = FRIX_OK;
  for (bool again = true; status == FRIX_OK && again;) {
    c = (compressed){0};
    for (int32_t k = 0; k < a->group_count; k++) c.count += bounces(sim, &a->group[k]);
    if (c.count == 0) return FRIX_OK;
    status = fx_attempt_begin(sim, a, &c.answer);
    if (status == FRIX_OK) status = decompress(sim, a, c.count);
    again = status == FRIX_OK && sim->report.certified && fx_make_pressed_rigid(sim, a);
    if (!again) break;
    a->compression = a->late = a->rebound =
        NULL; /* springs that both phases together press too far are rigid in both */
    status = fx_sim_solve(sim, a);
  }
  return status == FRIX_OK ? fx_restitution_bound(sim, decompress_again, &c) : status;
}
