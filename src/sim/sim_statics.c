/* Rows to statics: which contacts touch, which joints hold, and with how much.
 *
 *   contact    closed: r in K; open: none          drilling   |r| <= spinning r_N of its contact
 *   limit      reached: r >= 0                     friction, motor at its target   |r| <= h F
 *   spring     r of its present length             motor off its target            r = h F towards it
 *   joint, motor without a bound: any r */
#include "sim/sim_statics.h"

#include <math.h>
#include <string.h>

#define REACHED 1e-12 /* of a coordinate at its limit, of a motor at its target */

typedef struct filling {
  const frix_sim *sim;
  const fx_assembly *a;
  uint8_t *kind;
  int32_t *tied;
  double *given;
} filling;

static void fill_axis(filling *f, int32_t k) {
  const fx_assembly *a = f->a;
  const fx_group *g = &a->group[k];
  const double *w = a->w + g->row, *drive = a->drive + g->row;
  if (a->law[k].cone == FRIX_CONE_LIMIT) {
    f->kind[k] = (w[0] - drive[0]) * f->sim->h <= REACHED ? FX_STATICS_CONE : FX_STATICS_OPEN;
  } else if (a->law[k].cone != FRIX_CONE_BILATERAL) {
    double off = w[1] - drive[1], bound = a->r_c[g->row]; /* no motor, or one axis */
    bool pulls = fabs(off) * f->sim->h > REACHED;
    f->kind[k] = pulls ? FX_STATICS_GIVEN : FX_STATICS_BOUND;
    f->given[g->row] = bound;
    if (pulls) f->given[g->row + 1] = off > 0.0 ? -bound : bound;
  } else if (a->compliant && a->R[g->row] > 0.0) {
    f->kind[k] = FX_STATICS_GIVEN;
    for (int32_t j = g->row; j < g->row + g->dim; j++) f->given[j] = a->r_c[j] - (a->w[j] - a->drive[j]) / a->R[j];
  } else {
    f->kind[k] = FX_STATICS_FREE;
  }
}

static void fill_kinds(filling *f) {
  const fx_assembly *a = f->a;
  for (int32_t k = 0; k < a->joint_first; k++) {
    const fx_group *g = &a->group[k];
    f->tied[k] = -1;
    if (g->kind == FX_GROUP_CONTACT) {
      bool closed = fx_contact_closed(f->sim, g->source) || fx_stiff_closed(f->sim, g);
      f->kind[k] = closed ? FX_STATICS_CONE : FX_STATICS_OPEN;
    } else if (g->kind == FX_GROUP_SPINNING) { /* its contact stands just before */
      f->kind[k] = f->kind[k - 1] == FX_STATICS_CONE ? FX_STATICS_BOUND : FX_STATICS_OPEN;
      f->tied[k] = k - 1;
    } else {
      fill_axis(f, k);
    }
  }
}

void fx_mover_force(const frix_sim *sim, const fx_mover *m, double *out) {
  double all[6] = {m->force.x, m->force.y, m->force.z, m->torque.x, m->torque.y, m->torque.z};
  if (m->dof == 3) all[2] = m->torque.z;
  for (int32_t c = 0; c < m->dof; c++) out[c] = sim->h * all[c];
}

/* Contacts alone, as blocks: the rows as they are. place: by mover of the sim, its number among those that take part.
 */
static void list_blocks(const frix_sim *sim, const fx_assembly *a, const int32_t *place, int32_t *row,
                        fx_block_matrix *Ht) {
  int32_t at = 0;
  row[0] = 0;
  for (int32_t k = 0; k < a->group_count; k++) {
    const fx_group *g = &a->group[k];
    size_t value = g->value;
    Ht->start[k] = at;
    for (int32_t b = 0; b < g->body_count; b++) {
      Ht->index[at] = place[g->mover[b]];
      Ht->offset[at++] = value;
      value += (size_t)(g->dim * sim->mover[g->mover[b]].dof);
    }
    row[k + 1] = g->row + g->dim;
  }
  Ht->start[a->group_count] = at;
  Ht->offset[at] = a->value_count;
}

/* What statics asks of a system, without matrices: H' is the rows, and their numbers are not copied. */
static frix_status system_of_contacts(const frix_sim *sim, const fx_assembly *a, fx_arena *arena, fx_system *s) {
  int32_t blocks = 0, movers = 0;
  for (int32_t k = 0; k < a->group_count; k++) blocks += a->group[k].body_count;
  int32_t *place = FX_TAKE_RAW(arena, int32_t, sim->mover_count),
          *row = FX_TAKE_RAW(arena, int32_t, a->group_count + 1);
  int32_t *dof = FX_TAKE_RAW(arena, int32_t, sim->mover_count + 1);
  fx_block_matrix Ht = {.row_blocks = a->group_count,
                        .start = FX_TAKE_RAW(arena, int32_t, a->group_count + 1),
                        .index = FX_TAKE_RAW(arena, int32_t, blocks),
                        .offset = FX_TAKE_RAW(arena, size_t, blocks + 1),
                        .x = a->J};
  if (!place || !row || !dof || !Ht.start || !Ht.index || !Ht.offset) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < sim->mover_count; k++) {
    place[k] = movers;
    if (sim->mover[k].first >= 0) dof[movers++] = sim->mover[k].first;
  }
  dof[movers] = sim->problem.dof_count;
  list_blocks(sim, a, place, row, &Ht);
  Ht.row = row, Ht.col = dof, Ht.col_blocks = movers;
  *s = (fx_system){.contact_count = a->group_count,
                   .row_count = a->row_count,
                   .joint_first = a->group_count,
                   .contact = a->law,
                   .row = row,
                   .has_velocity = true,
                   .mover_count = movers,
                   .dof_count = sim->problem.dof_count,
                   .dof = dof,
                   .Ht = Ht};
  return FRIX_OK;
}

/* Joints share contacts of the system where they hold the same bodies: there the problem is built. */
static frix_status system_of_rows(const frix_sim *sim, const fx_assembly *a, fx_arena *arena, fx_system *s) {
  if (a->joint_first == a->group_count && !sim->mechanism && !sim->softs) return system_of_contacts(sim, a, arena, s);
  frix_problem problem = sim->problem;
  frix_status status = problem.row ? FRIX_OK : fx_rows_build(sim, a, arena, &problem);
  return status == FRIX_OK ? fx_system_build(arena, &problem, FRIX_FORM_GLOBAL, s) : status;
}

frix_status fx_statics_from_rows(const frix_sim *sim, const fx_assembly *a, fx_arena *arena, bool at_rest,
                                 fx_system *system, fx_statics *out) {
  frix_status status = system_of_rows(sim, a, arena, system);
  if (status != FRIX_OK) return status;
  filling f = {.sim = sim, .a = a};
  f.kind = FX_TAKE(arena, uint8_t, system->contact_count);
  f.tied = FX_TAKE(arena, int32_t, system->contact_count);
  f.given = FX_TAKE(arena, double, system->row_count);
  double *force = FX_TAKE(arena, double, system->dof_count);
  *out = (fx_statics){.s = system, .kind = f.kind, .tied = f.tied, .given = f.given, .force = force};
  out->arm = FX_TAKE(arena, double, system->dof_count);
  if (!f.kind || !f.tied || !f.given || !force || !out->arm) return FRIX_ERROR_MEMORY;
  fill_kinds(&f);
  for (int32_t i = a->joint_first; i < system->contact_count; i++) {
    f.kind[i] = FX_STATICS_FREE;
    f.tied[i] = -1;
  }
  for (int32_t k = 0; k < sim->mover_count; k++) {
    const fx_mover *m = &sim->mover[k];
    if (m->first < 0) continue;
    if (at_rest)
      fx_mover_force(sim, m, force + m->first);
    else
      fx_mover_drive(m, force + m->first);
  }
  fx_statics_arms(out);
  return FRIX_OK;
}
