/* Under a deadline: sweeps straight over the rows, from the impulses of the last step.
 *
 *   v = v_free + M^-1 J' r
 *   q_i = J_i v + w_i + R_i (r_i - r_c,i) - D_i r_i,   r_i := exact solution of u = D_i r_i + q_i,   D_i = J_i M^-1
 * J_i' + R_i
 *
 * No matrix of the whole is built, nothing is packed or analysed: the first sweep is done when a problem of the same
 * rows would not yet be read. Forward and backward in turn, which carries the weight of a stack both ways. So many
 * sweeps are made whatever the time, since no answer at all lets bodies fall through the floor. */
#include "base/threads.h"
#include "sim/mechanism.h"
#include "sim/solving.h"
#include "solver/one_contact.h"

#include <math.h>
#include <string.h>

/* What the driver takes before its first iteration and after its last: so many judgements of the rows, and so long at
 * least. */
#define DRIVER_JUDGEMENTS 12.0
#define DRIVER_SECONDS 5e-5

enum { LEAST_SWEEPS = 4, MOST_SWEEPS = 1000, BODY = 6 };

#define INLINE static inline __attribute__((always_inline))

typedef struct sweeper {
  const frix_sim *sim;
  const fx_assembly *a;
  double *Y;  /* M^-1 J', in the places of J */
  double *D;  /* blocks, one after the other */
  size_t *at; /* where the block of a group begins */
  double **v; /* by mover */
  fx_one_contact *one;
} sweeper;

/* M^-1 times the rows of one body's block. */
static void respond(const fx_mover *m, int32_t dim, const double *J, double *Y) {
  for (int32_t j = 0; j < dim; j++, J += m->dof, Y += m->dof) {
    if (m->tree) {
      fx_tree_respond(m, J, Y);
    } else if (m->dof == 3) {
      frix_vec3 lin = fx_sym3_mul(m->A_inverse, fx_vec(J[0], J[1], 0.0));
      Y[0] = lin.x, Y[1] = lin.y, Y[2] = m->B_inverse.zz * J[2];
    } else {
      frix_vec3 lin = fx_sym3_mul(m->A_inverse, fx_vec(J[0], J[1], J[2]));
      frix_vec3 ang = fx_sym3_mul(m->B_inverse, fx_vec(J[3], J[4], J[5]));
      Y[0] = lin.x, Y[1] = lin.y, Y[2] = lin.z, Y[3] = ang.x, Y[4] = ang.y, Y[5] = ang.z;
    }
  }
}

INLINE void add_product(int32_t dim, int32_t dof, const double *J, const double *Y, double *D) {
  for (int32_t r = 0; r < dim; r++)
    for (int32_t c = 0; c < dim; c++)
      for (int32_t k = 0; k < dof; k++) D[r * dim + c] += J[r * dof + k] * Y[c * dof + k];
}

/* u += J v and v += Y' change of one body. */
INLINE void read_body(int32_t dim, int32_t dof, const double *J, const double *v, double *u) {
  for (int32_t j = 0; j < dim; j++, J += dof)
    for (int32_t k = 0; k < dof; k++) u[j] += J[k] * v[k];
}

INLINE void push_body(int32_t dim, int32_t dof, const double *Y, const double *change, double *v) {
  for (int32_t j = 0; j < dim; j++, Y += dof)
    for (int32_t k = 0; k < dof; k++) v[k] += Y[k] * change[j];
}

static void read_bodies(const sweeper *t, const fx_group *g, double *u) {
  const double *J = t->a->J + g->value;
  for (int32_t b = 0; b < g->body_count; b++) {
    int32_t dof = t->sim->mover[g->mover[b]].dof;
    if (g->dim == 3 && dof == BODY)
      read_body(3, BODY, J, t->v[g->mover[b]], u);
    else
      read_body(g->dim, dof, J, t->v[g->mover[b]], u);
    J += g->dim * dof;
  }
}

static void push_bodies(const sweeper *t, const fx_group *g, const double *change) {
  const double *Y = t->Y + g->value;
  for (int32_t b = 0; b < g->body_count; b++) {
    int32_t dof = t->sim->mover[g->mover[b]].dof;
    if (g->dim == 3 && dof == BODY)
      push_body(3, BODY, Y, change, t->v[g->mover[b]]);
    else
      push_body(g->dim, dof, Y, change, t->v[g->mover[b]]);
    Y += g->dim * dof;
  }
}

static void visit(const sweeper *t, int32_t i) {
  const fx_assembly *a = t->a;
  const fx_group *g = &a->group[i];
  double q[FRIX_MAX_DIM], fresh[FRIX_MAX_DIM], change[FRIX_MAX_DIM], *r = a->r + g->row;
  const double *D = t->D + t->at[i];
  for (int32_t k = 0; k < g->dim; k++) {
    q[k] = a->w[g->row + k] + (a->compliant ? a->R[g->row + k] * (r[k] - a->r_c[g->row + k]) : 0.0);
    for (int32_t c = 0; c < g->dim; c++) q[k] -= D[k * g->dim + c] * r[c];
  }
  read_bodies(t, g, q);
  memcpy(fresh, r, (size_t)g->dim * sizeof *fresh);
  fx_one_contact_solve(&t->one[i], q, fresh);
  for (int32_t k = 0; k < g->dim; k++) change[k] = fresh[k] - r[k];
  memcpy(r, fresh, (size_t)g->dim * sizeof *r);
  push_bodies(t, g, change);
}

/* Responses and blocks of all groups, and the velocities that the impulses give. */
static frix_status prepare(sweeper *t) {
  const fx_assembly *a = t->a;
  for (int32_t i = 0; i < a->group_count; i++) {
    const fx_group *g = &a->group[i];
    const double *J = a->J + g->value;
    double *Y = t->Y + g->value, *D = t->D + t->at[i];
    for (int32_t b = 0; b < g->body_count; b++) {
      const fx_mover *m = &t->sim->mover[g->mover[b]];
      respond(m, g->dim, J, Y);
      if (g->dim == 3 && m->dof == BODY)
        add_product(3, BODY, J, Y, D);
      else
        add_product(g->dim, m->dof, J, Y, D);
      J += g->dim * m->dof;
      Y += g->dim * m->dof;
    }
    for (int32_t k = 0; a->compliant && k < g->dim; k++) D[k * (g->dim + 1)] += a->R[g->row + k];
    frix_status status = fx_one_contact_prepare(a->arena, &a->law[i], D, &t->one[i]);
    if (status != FRIX_OK) return status;
    push_bodies(t, g, a->r + g->row);
  }
  return FRIX_OK;
}

static frix_status take(sweeper *t, const frix_sim *sim, const fx_assembly *a) {
  *t = (sweeper){.sim = sim, .a = a};
  t->at = FX_TAKE_RAW(a->arena, size_t, (size_t)a->group_count + 1);
  if (!t->at) return FRIX_ERROR_MEMORY;
  t->at[0] = 0;
  for (int32_t i = 0; i < a->group_count; i++) t->at[i + 1] = t->at[i] + (size_t)(a->group[i].dim * a->group[i].dim);
  t->Y = FX_TAKE_RAW(a->arena, double, a->value_count);
  t->D = FX_TAKE(a->arena, double, t->at[a->group_count]);
  size_t numbers = 0;
  for (int32_t k = 0; k < sim->mover_count; k++) numbers += sim->mover[k].tree ? (size_t)sim->mover[k].dof : BODY;
  t->v = FX_TAKE(a->arena, double *, sim->mover_count);
  double *v = FX_TAKE(a->arena, double, numbers);
  t->one = FX_TAKE_RAW(a->arena, fx_one_contact, a->group_count);
  if (!t->Y || !t->D || !t->v || !v || !t->one) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < sim->mover_count; k++) {
    const fx_mover *m = &sim->mover[k];
    double free[BODY] = {m->v_free.x, m->v_free.y, m->v_free.z, m->w_free.x, m->w_free.y, m->w_free.z};
    if (m->dof == 3) free[2] = m->w_free.z;
    t->v[k] = v;
    if (m->tree)
      memcpy(v, m->tree->v_free, (size_t)m->dof * sizeof *v);
    else
      memcpy(v, free, sizeof free);
    v += m->tree ? m->dof : BODY;
  }
  return FRIX_OK;
}

/* Sweeps from the impulses in a->r until `end`, some of them in any case; a->r is the answer. */
static frix_status sweep_rows(const frix_sim *sim, fx_assembly *a, double end, int64_t *sweeps) {
  sweeper t;
  frix_status status = take(&t, sim, a);
  if (status == FRIX_OK) status = prepare(&t);
  if (status != FRIX_OK) return status;
  double begun = fx_seconds(), pace = 0.0;
  for (*sweeps = 0; *sweeps < MOST_SWEEPS; ++*sweeps) {
    if (*sweeps >= LEAST_SWEEPS && begun + ((double)*sweeps + 1.0) * pace > end) break;
    for (int32_t i = 0; i < a->group_count; i++) visit(&t, *sweeps % 2 == 0 ? i : a->group_count - 1 - i);
    pace = (fx_seconds() - begun) / ((double)*sweeps + 1.0);
  }
  return FRIX_OK;
}

/* Under a deadline the last impulses are swept first, so that there is an answer however little the time. What
 * follows counts where it is better. */
frix_status fx_solve_in_time(frix_sim *sim, fx_assembly *a, double begun) {
  double judged = fx_seconds() - begun;
  frix_step_report *report = &sim->report;
  double *v = FX_TAKE_RAW(&sim->arena, double, sim->problem.dof_count);
  if (!v) return FRIX_ERROR_MEMORY;
  double driver = DRIVER_JUDGEMENTS * judged + DRIVER_SECONDS;
  bool time_for_more = fx_seconds() + 2.0 * driver < sim->solve_end;
  memcpy(a->r, a->guess, (size_t)a->row_count * sizeof *a->r);
  frix_status status = sweep_rows(sim, a, time_for_more ? 0.0 : sim->solve_end - judged, &report->iterations);
  if (status == FRIX_OK) status = fx_rows_judge(sim, a, a->r, a->u, v, &report->certificate);
  if (status != FRIX_OK) return status;
  fx_put_answer(sim, v);
  report->finisher = "nsgs";
  report->outcome = FRIX_OUTCOME_TIME_LIMIT;
  if (report->certificate.residual <= sim->config.tolerance || !(fx_seconds() + driver < sim->solve_end))
    return FRIX_OK;
  return fx_solve_once(sim, a, true, report->certificate.residual, NULL);
}
