/* The rows of the last step as the user sees them: kind, bodies, law, directions and impulses. */
#include "base/abi.h"
#include "sim/sim_internal.h"

#include <math.h>
#include <string.h>

frix_row_kind fx_row_kind_of(const fx_group *g) {
  static const frix_row_kind axis[FX_AXIS_PARTS] = {[FX_AXIS_LOWER] = FRIX_ROW_LIMIT,
                                                    [FX_AXIS_UPPER] = FRIX_ROW_LIMIT,
                                                    [FX_AXIS_FRICTION] = FRIX_ROW_FRICTION,
                                                    [FX_AXIS_MOTOR] = FRIX_ROW_MOTOR,
                                                    [FX_AXIS_SPRING] = FRIX_ROW_SPRING};
  switch (g->kind) {
    case FX_GROUP_SPINNING: return FRIX_ROW_DRILLING;
    case FX_GROUP_AXIS: return axis[g->part];
    case FX_GROUP_JOINT: return FRIX_ROW_JOINT;
    case FX_GROUP_TENSION: return FRIX_ROW_SPRING;
    default: return FRIX_ROW_CONTACT;
  }
}

frix_body_id fx_slot_id(const frix_sim *sim, int32_t slot) {
  return slot > 0 ? (frix_body_id){(uint32_t)slot, sim->state.generation[slot]} : (frix_body_id){0, 0};
}

/* Directions from the block of the first moving body; sign: of its side. */
static void find_directions(const frix_sim *sim, const fx_group *g, int32_t positive, frix_row_report *out) {
  if (g->body_count == 0) return;
  const fx_row_direction *joint = sim->rows.direction;
  if (joint && fx_group_of_joint(g)) {
    for (int32_t k = 0; k < g->dim; k++)
      out->direction[k] = joint[g->row + k].along, out->angular[k] = joint[g->row + k].angular;
    return;
  }
  if (sim->mover[g->mover[0]].tree) { /* rows over coordinates have no direction but that of a contact */
    const fx_contact *c = g->robot || fx_group_of_joint(g) ? NULL : &sim->contact[g->source];
    frix_vec3 none = {0.0, 0.0, 0.0};
    for (int32_t k = 0; k < g->dim; k++) {
      const frix_vec3 axis[5] = {c ? c->normal : none, c ? c->tangent[0] : none, c ? c->tangent[1] : none,
                                 c ? c->tangent[0] : none, c ? c->tangent[1] : none};
      bool drilling = g->kind == FX_GROUP_SPINNING;
      out->direction[k] = drilling ? (k ? axis[0] : none) : axis[k < 5 ? k : 0];
      out->angular[k] = drilling || k > 2;
    }
    return;
  }
  const fx_mover *m = &sim->mover[g->mover[0]];
  const double *J = sim->rows.J + g->value;
  double sign = m->slot == positive ? 1.0 : -1.0;
  for (int32_t k = 0; k < g->dim; k++, J += m->dof) {
    bool flat = m->dof == 3;
    frix_vec3 lin = {J[0], J[1], flat ? 0.0 : J[2]};
    frix_vec3 ang = flat ? fx_vec(0.0, 0.0, J[2]) : fx_vec(J[3], J[4], J[5]);
    out->angular[k] = fx_norm2(lin) == 0.0 && fx_norm2(ang) > 0.0;
    out->direction[k] = fx_scale(sign, out->angular[k] ? ang : lin);
  }
}

static void describe_contact(const frix_sim *sim, const fx_group *g, frix_row_report *out) {
  const fx_contact *c = &sim->contact[g->source];
  out->a = fx_slot_id(sim, c->body_a);
  out->b = fx_slot_id(sim, c->body_b);
  out->contact = c->id;
  out->shape_a = (frix_shape_id){(uint32_t)sim->model->shape[c->shape_a].id + 1, 1};
  out->shape_b = (frix_shape_id){(uint32_t)sim->model->shape[c->shape_b].id + 1, 1};
  out->point = fx_scale(0.5, fx_add(c->point_a, c->point_b));
  out->gap = c->gap;
  out->soft_place[0] = c->soft_a, out->soft_place[1] = c->soft_b;
  find_directions(sim, g, c->body_a, out);
}

static void describe_joint(const frix_sim *sim, const fx_group *g, frix_row_report *out) {
  const fx_joint *joint = &sim->model->joint[g->source];
  out->joint = (frix_joint_id){(uint32_t)g->source + 1, 1};
  out->axis = g->axis;
  out->upper = g->kind == FX_GROUP_AXIS && g->part == FX_AXIS_UPPER;
  if (joint->config.kind == FRIX_JOINT_COUPLING) return;
  out->a = fx_slot_id(sim, joint->a);
  out->b = fx_slot_id(sim, joint->b);
  find_directions(sim, g, joint->b, out);
}

int32_t frix_sim_row_count(const frix_sim *sim) { return sim && sim->arena_live ? sim->rows.group_count : 0; }

static frix_status row_report(const frix_sim *sim, int32_t k, frix_row_report *out) {
  if (!sim || !out) return FRIX_ERROR_INPUT;
  if (k < 0 || k >= frix_sim_row_count(sim))
    return fx_fail(sim->context, FRIX_ERROR_INPUT, "frix_sim_row: there is no row %d", k);
  const fx_assembly *a = &sim->rows;
  const fx_group *g = &a->group[k];
  const double *compression = a->compression ? a->compression : a->r;
  *out = (frix_row_report){.kind = fx_row_kind_of(g), .law = a->law[k]};
  if (g->robot)
    out->b = fx_slot_id(sim, sim->mover[g->mover[0]].slot);
  else if (fx_group_of_joint(g))
    describe_joint(sim, g, out);
  else
    describe_contact(sim, g, out);
  memcpy(out->impulse, a->r + g->row, (size_t)g->dim * sizeof *out->impulse);
  memcpy(out->compression, compression + g->row, (size_t)g->dim * sizeof *out->compression);
  memcpy(out->memory, a->r_c + g->row, (size_t)g->dim * sizeof *out->memory);
  memcpy(out->compliance, a->R + g->row, (size_t)g->dim * sizeof *out->compliance);
  for (int32_t i = 0; a->expected && i < g->dim; i++) out->expected[i] = a->expected[g->row + i];
  for (int32_t i = 0; i < g->dim; i++) out->shift[i] = a->w[g->row + i] - a->drive[g->row + i];
  return FRIX_OK;
}

frix_status frix_sim_row_sized(const frix_sim *sim, int32_t k, frix_row_report *out, size_t size) {
  FX_OUTPUT(frix_row_report, out, size);
  frix_status status = row_report(sim, k, out_all);
  FX_GIVE(out, size);
  return status;
}
