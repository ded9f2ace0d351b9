/* Rows to a contact problem.
 *
 *   M v = H r + G lambda + f,  f = M v_free;   only bodies that a row touches take part. */
#include "sim/mechanism.h"

#include <math.h>
#include <string.h>

/* Numbers the movers that some group touches. */
static int32_t number_dofs(frix_sim *sim, const fx_assembly *a) {
  int32_t dof = 0;
  for (int32_t k = 0; k < sim->mover_count; k++) sim->mover[k].first = -1;
  for (int32_t k = 0; k < a->group_count; k++)
    for (int32_t b = 0; b < a->group[k].body_count; b++) sim->mover[a->group[k].mover[b]].first = 0;
  for (int32_t k = 0; k < sim->mover_count; k++)
    if (sim->mover[k].first == 0) {
      sim->mover[k].first = dof;
      dof += sim->mover[k].dof;
    }
  return dof;
}

static bool take_sparse(fx_arena *arena, int32_t rows, int32_t cols, size_t entries, fx_sparse *out) {
  *out = (fx_sparse){.row_count = rows, .col_count = cols};
  out->p = FX_TAKE_RAW(arena, int32_t, (size_t)cols + 1);
  out->i = FX_TAKE_RAW(arena, int32_t, entries);
  out->x = FX_TAKE_RAW(arena, double, entries);
  if (!out->p || !out->i || !out->x) return false;
  out->p[0] = 0;
  return true;
}

/* Columns of one mover: a full block for each of the linear and the angular part. */
static int32_t put_mass(const fx_mover *m, fx_sparse *M, int32_t at) {
  if (m->tree) return fx_tree_put_mass(m, M, at);
  frix_sym3 A = m->A, B = m->B;
  double full[6][6] = {{A.xx, A.xy, A.xz, 0, 0, 0}, {A.xy, A.yy, A.yz, 0, 0, 0}, {A.xz, A.yz, A.zz, 0, 0, 0},
                       {0, 0, 0, B.xx, B.xy, B.xz}, {0, 0, 0, B.xy, B.yy, B.yz}, {0, 0, 0, B.xz, B.yz, B.zz}};
  static const int flat[3] = {0, 1, 5};
  for (int32_t c = 0; c < m->dof; c++) {
    for (int32_t r = 0; r < m->dof; r++) {
      double x = m->dof == 3 ? full[flat[r]][flat[c]] : full[r][c];
      if (x == 0.0) continue;
      M->i[at] = m->first + r;
      M->x[at++] = x;
    }
    M->p[m->first + c + 1] = at;
  }
  return at;
}

void fx_mover_drive(const fx_mover *m, double *f) {
  if (m->tree) {
    fx_tree_multiply(m, m->tree->v_free, f);
    return;
  }
  frix_vec3 lin = fx_sym3_mul(m->A, m->v_free), ang = fx_sym3_mul(m->B, m->w_free);
  double all[6] = {lin.x, lin.y, lin.z, ang.x, ang.y, ang.z};
  if (m->dof == 3) all[2] = m->B.zz * m->w_free.z;
  memcpy(f, all, (size_t)m->dof * sizeof *f);
}

static void put_free(const fx_mover *m, double *v) {
  const double all[6] = {m->v_free.x, m->v_free.y, m->dof == 3 ? m->w_free.z : m->v_free.z,
                         m->w_free.x, m->w_free.y, m->w_free.z};
  memcpy(v, m->tree ? m->tree->v_free : all, (size_t)m->dof * sizeof *v);
}

/* The group's rows become columns. */
static int32_t put_directions(const frix_sim *sim, const fx_assembly *a, const fx_group *g, int32_t first_row,
                              fx_sparse *H, int32_t at) {
  for (int32_t k = 0; k < g->dim; k++) {
    const double *J = a->J + g->value;
    for (int32_t b = 0; b < g->body_count; b++) {
      const fx_mover *m = &sim->mover[g->mover[b]];
      for (int32_t c = 0; c < m->dof; c++)
        if (J[k * m->dof + c] != 0.0) {
          H->i[at] = m->first + c;
          H->x[at++] = J[k * m->dof + c];
        }
      J += g->dim * m->dof;
    }
    H->p[g->row + k - first_row + 1] = at;
  }
  return at;
}

/* Whether the rows of contacts stand one after the other in blocks of rigid bodies, and nothing else is in the problem.
 */
static bool are_blocks(const frix_sim *sim, const fx_assembly *a) {
  if (sim->mechanism || sim->softs || a->joint_first < a->group_count) return false;
  size_t at = a->group_count ? a->group[0].value : 0;
  for (int32_t k = 0; k < a->group_count; k++) {
    const fx_group *g = &a->group[k];
    if (g->value != at) return false;
    for (int32_t b = 0; b < g->body_count; b++) at += (size_t)(g->dim * sim->mover[g->mover[b]].dof);
  }
  return true;
}

/* H' as the rows have it: their blocks are used where they are. */
static frix_status take_blocks(const frix_sim *sim, const fx_assembly *a, fx_arena *arena, frix_problem *p) {
  fx_block_matrix *H = FX_TAKE(arena, fx_block_matrix, 1);
  int32_t movers = 0, count = 0, *number = FX_TAKE_RAW(arena, int32_t, sim->mover_count);
  int32_t *col = FX_TAKE_RAW(arena, int32_t, (size_t)sim->mover_count + 1);
  for (int32_t k = 0; k < a->group_count; k++) count += a->group[k].body_count;
  if (!H || !number || !col) return FRIX_ERROR_MEMORY;
  int32_t *start = FX_TAKE_RAW(arena, int32_t, (size_t)a->group_count + 1), *index = FX_TAKE_RAW(arena, int32_t, count);
  size_t *offset = FX_TAKE_RAW(arena, size_t, (size_t)count + 1), first = a->group_count ? a->group[0].value : 0,
         at = 0;
  if (!start || !index || !offset) return FRIX_ERROR_MEMORY;
  col[0] = 0;
  for (int32_t k = 0; k < sim->mover_count; k++)
    if (sim->mover[k].first >= 0) {
      number[k] = movers;
      col[++movers] = sim->mover[k].first + sim->mover[k].dof;
    }
  count = 0;
  for (int32_t k = 0; k < a->group_count; k++) {
    const fx_group *g = &a->group[k];
    start[k] = count;
    for (int32_t b = 0; b < g->body_count; b++) {
      index[count] = number[g->mover[b]];
      offset[count++] = at;
      at += (size_t)(g->dim * sim->mover[g->mover[b]].dof);
    }
  }
  start[a->group_count] = count;
  offset[count] = at;
  *H = (fx_block_matrix){.row_blocks = a->group_count,
                         .col_blocks = movers,
                         .row = p->row,
                         .col = col,
                         .start = start,
                         .index = index,
                         .offset = offset,
                         .x = a->J + first};
  p->blocks = H;
  return FRIX_OK;
}

/* Radius of a body, or of gyration where its shapes do not say. */
static double size_of(const frix_sim *sim, const fx_mover *m) {
  if (m->tree) return fx_tree_size(sim, m);
  double radius = fx_slot_body(sim, m->slot)->radius;
  double gyration = sqrt((m->dof == 3 ? m->J.zz : m->J.xx + m->J.yy + m->J.zz) / m->mass);
  return isfinite(radius) && radius > gyration ? radius : gyration;
}

/* Errors of velocity are measured by at most one body size, and one radian, per step: impulses that cancel in a light
 * body must not hide what it does. A row of J takes lin L + ang from each body. */
static double span(const frix_sim *sim, const fx_mover *m, double size, const double *J) {
  if (m->tree) return fx_tree_span_of(sim, m, J);
  bool flat = m->dof == 3;
  return fx_norm(fx_vec(J[0], J[1], flat ? 0.0 : J[2])) * size +
         (flat ? fabs(J[2]) : fx_norm(fx_vec(J[3], J[4], J[5])));
}

/* Limits of groups that threads find, from the sizes of the movers. */
typedef struct limits {
  const frix_sim *sim;
  const fx_assembly *a;
  double *size;
} limits;

static void limit_some(int32_t part, int32_t first, int32_t end, void *user) {
  const limits *t = user;
  const frix_sim *sim = t->sim;
  const fx_assembly *a = t->a;
  (void)part;
  for (int32_t k = first; k < end; k++) {
    const fx_group *g = &a->group[k];
    const double *J = a->J + g->value;
    double *limit = a->limit + g->row, length = 0.0;
    if (g->kind == FX_GROUP_CONTACT) {
      for (int32_t b = 0; b < g->body_count; b++) length += 2.0 * t->size[g->mover[b]];
      for (int32_t j = 0; j < g->dim; j++) limit[j] = (j < 3 ? length : 2.0 * g->body_count) / sim->h;
      continue;
    }
    for (int32_t j = 0; j < g->dim; j++) limit[j] = 0.0;
    for (int32_t b = 0; b < g->body_count; b++) {
      const fx_mover *m = &sim->mover[g->mover[b]];
      for (int32_t j = 0; j < g->dim; j++, J += m->dof) limit[j] += span(sim, m, t->size[g->mover[b]], J) / sim->h;
    }
  }
}

static frix_status limit_rows(const frix_sim *sim, const fx_assembly *a) {
  limits t = {sim, a, FX_TAKE_RAW(a->arena, double, sim->mover_count)};
  if (!t.size) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < sim->mover_count; k++)
    if (sim->mover[k].first >= 0) t.size[k] = size_of(sim, &sim->mover[k]);
  fx_parallel_range(fx_sim_threads(sim), a->group_count, FX_LEAST_CONTACTS, limit_some, &t);
  return FRIX_OK;
}

/* Trees have a motion for each joint: what one carries is no scale for the rows of others (problem/row_links.c). */
static frix_status number_motions(frix_sim *sim, const fx_assembly *a) {
  if (!sim->mechanism) return FRIX_OK;
  int32_t *motion = sim->problem.motion = FX_TAKE_RAW(a->arena, int32_t, sim->problem.dof_count);
  if (!motion) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < sim->mover_count; k++) {
    const fx_mover *m = &sim->mover[k];
    bool tree = m->tree && !m->tree->soft;
    for (int32_t i = 0; m->first >= 0 && i < m->dof; i++) motion[m->first + i] = tree ? fx_tree_motion_of(m, i) : -1;
  }
  return FRIX_OK;
}

frix_status fx_rows_count(frix_sim *sim, fx_assembly *a) {
  int32_t first_joint_row = a->joint_first < a->group_count ? a->group[a->joint_first].row : a->row_count;
  a->contact_rows = first_joint_row;
  sim->problem = (frix_problem){.context = sim->inner,
                                .form = FRIX_FORM_GLOBAL,
                                .contact_count = a->joint_first,
                                .row_count = first_joint_row,
                                .dof_count = number_dofs(sim, a),
                                .joint_count = a->row_count - first_joint_row,
                                .contact = a->law,
                                .w = a->w,
                                .b = a->w + first_joint_row,
                                .guess = a->guess,
                                .limit = a->limit,
                                .threads = {sim->inner, sim->config.thread_count}};
  if (a->compliant) sim->problem.R = a->R, sim->problem.r_c = a->r_c;
  frix_status status = number_motions(sim, a);
  return status == FRIX_OK ? limit_rows(sim, a) : status;
}

/* Rows are finite and sorted by construction, so nothing is checked again. */
frix_status fx_rows_build(const frix_sim *sim, const fx_assembly *a, fx_arena *arena, frix_problem *p) {
  int32_t dof = p->dof_count, first_joint_row = p->row_count;
  size_t entries = (size_t)dof * 3;
  for (int32_t k = 0; (sim->mechanism || sim->softs) && k < sim->mover_count; k++)
    if (sim->mover[k].tree) entries += fx_tree_entries(&sim->mover[k]);
  size_t first_joint = a->joint_first < a->group_count ? (size_t)a->group[a->joint_first].value : a->value_count;
  bool blocks = are_blocks(sim, a);
  p->row = FX_TAKE(arena, int32_t, (size_t)a->joint_first + 1);
  p->f = FX_TAKE(arena, double, dof);
  double *v_free = sim->mechanism ? FX_TAKE(arena, double, dof) : NULL;
  if (!p->row || !p->f || (sim->mechanism && !v_free) || !take_sparse(arena, dof, dof, entries, &p->M) ||
      !take_sparse(arena, dof, p->row_count, blocks ? 0 : first_joint, &p->H) ||
      !take_sparse(arena, dof, p->joint_count, a->value_count - first_joint, &p->G))
    return FRIX_ERROR_MEMORY;
  int32_t at = 0;
  for (int32_t k = 0; k < sim->mover_count; k++)
    if (sim->mover[k].first >= 0) {
      at = put_mass(&sim->mover[k], &p->M, at);
      fx_mover_drive(&sim->mover[k], p->f + sim->mover[k].first);
      if (v_free) put_free(&sim->mover[k], v_free + sim->mover[k].first);
    }
  p->v_free = v_free;
  at = 0;
  for (int32_t k = 0; k < a->joint_first; k++) {
    if (!blocks) at = put_directions(sim, a, &a->group[k], 0, &p->H, at);
    p->row[k + 1] = a->group[k].row + a->group[k].dim;
  }
  if (blocks) return take_blocks(sim, a, arena, p);
  at = 0;
  for (int32_t k = a->joint_first; k < a->group_count; k++)
    at = put_directions(sim, a, &a->group[k], first_joint_row, &p->G, at);
  return FRIX_OK;
}
