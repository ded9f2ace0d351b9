/* Loops within a tree: equalities, and drives and tendons across branches, as part of M~.
 *
 *   r = r_c - (J v + w) / R:   (M~ + sum J' J / R) v = f + sum J' (r_c - w / R)
 *
 * An equality has no bounds, so that it needs no row of the contact problem: contacts see a tree whose loops are
 * closed. M~ = L' D L of such a tree fills where loops tie branches together, and the pattern of M is that of its
 * factor without loops. R is so small that what is left of a row is rounding, and so large that rows which repeat each
 * other are told apart; r_c is the impulse of the last step, so that what rests feels nothing of it. */
#include "sim/mechanism.h"

#include <math.h>
#include <string.h>

#define STRETCHED 4.0 /* of the mean motion of the rows of a loop */

/* ---- which ---- */

/* The part of a coordinate joins *part: false where they are two, or it has none. */
static bool join(const fx_mechanism *x, int32_t dof, int32_t *part) {
  int32_t own = x->part_of_dof[dof];
  if (own < 0 || (*part >= 0 && *part != own)) return false;
  *part = own;
  return true;
}

static bool join_span(const fx_mechanism *x, fx_tree_span span, int32_t *part) {
  for (int32_t n = span.first; n < span.first + span.count; n++)
    if (!join(x, x->tree.list[n], part)) return false;
  return true;
}

static bool join_body(const fx_mechanism *x, int32_t body, int32_t *part) {
  return x->tree.body[body].dof_last < 0 || join(x, x->tree.body[body].dof_last, part);
}

/* The one tree an equality moves, -1: none or several. */
static int32_t part_of(const fx_mechanism *x, const fx_tree_equality *e) {
  const fx_tree *t = &x->tree;
  int32_t part = -1;
  bool one = true;
  if (!e->active || t->no_equality) return -1;
  switch (e->kind) {
    case FX_EQUAL_CONNECT:
    case FX_EQUAL_WELD: one = join_body(x, e->first, &part) && join_body(x, e->second, &part); break;
    case FX_EQUAL_JOINT:
      one = join(x, t->joint[e->first].v, &part) && (e->second < 0 || join(x, t->joint[e->second].v, &part));
      break;
    case FX_EQUAL_TENDON:
      one = join_span(x, t->tendon[e->first].dofs, &part) &&
            (e->second < 0 || join_span(x, t->tendon[e->second].dofs, &part));
      break;
  }
  return one ? part : -1;
}

static bool make_dense(fx_mechanism *x, int32_t part) {
  fx_part *p = &x->part[part];
  size_t n = (size_t)p->count;
  if (p->dense) return true;
  if (p->count > FX_DENSE_MOST) return false;
  p->dense = FX_TAKE(&x->arena, double, n *n);
  p->factor = FX_TAKE(&x->arena, double, n *n);
  p->column = FX_TAKE(&x->arena, int32_t, n * n);
  p->column_count = FX_TAKE(&x->arena, int32_t, n);
  return p->dense && p->factor && p->column && p->column_count;
}

/* Whether something along a span may be part of M~, which becomes dense for it. */
static bool fit(fx_mechanism *x, fx_tree_span span, bool chain) {
  int32_t part = -1;
  return chain || (join_span(x, span, &part) && part >= 0 && make_dense(x, part));
}

frix_status fx_loops_create(frix_sim *sim) {
  fx_mechanism *x = sim->mechanism;
  const fx_tree *t = &x->tree;
  x->loop = FX_TAKE(&x->arena, fx_loop, t->equality_count);
  x->loop_of_equality = FX_TAKE(&x->arena, int32_t, t->equality_count);
  x->tendon_fits = FX_TAKE(&x->arena, bool, t->tendon_count);
  x->actuator_fits = FX_TAKE(&x->arena, bool, t->actuator_count);
  x->equality_row = FX_TAKE(&x->arena, int32_t, FRIX_MAX_DIM * (size_t)t->equality_count);
  if (!x->loop || !x->loop_of_equality || !x->equality_row || !x->tendon_fits || !x->actuator_fits)
    return FRIX_ERROR_MEMORY;
  for (int32_t e = 0; e < t->equality_count; e++) {
    int32_t part = part_of(x, &t->equality[e]);
    x->loop_of_equality[e] = -1;
    if (part < 0 || !make_dense(x, part)) continue;
    fx_loop *loop = &x->loop[x->loop_count];
    *loop = (fx_loop){.equality = e, .part = part};
    loop->J = FX_TAKE(&x->arena, double, FRIX_MAX_DIM *(size_t)x->part[part].count);
    if (!loop->J) return FRIX_ERROR_MEMORY;
    x->loop_of_equality[e] = x->loop_count++;
  }
  for (int32_t k = 0; k < t->tendon_count; k++) {
    const fx_tree_tendon *tendon = &t->tendon[k];
    bool soft = tendon->stiffness[0] != 0.0 || tendon->damping[0] != 0.0;
    x->tendon_fits[k] = soft && fit(x, tendon->dofs, x->tendon_chain[k]);
  }
  for (int32_t k = 0; k < t->actuator_count; k++)
    x->actuator_fits[k] = fit(x, t->actuator[k].dofs, x->actuator_chain[k]);
  return FRIX_OK;
}

/* ---- rows ---- */

void fx_loops_load(frix_sim *sim) {
  fx_mechanism *x = sim->mechanism;
  size_t all = (size_t)x->tree.dof_count;
  double y[FX_TREE_MOST];
  for (int32_t l = 0; l < x->loop_count; l++) {
    fx_loop *loop = &x->loop[l];
    const fx_part *p = &x->part[loop->part];
    double error[FRIX_MAX_DIM], own[FRIX_MAX_DIM] = {0}, weight = 0.0;
    loop->rows = fx_equality_rows(sim, loop->equality, error);
    for (int32_t k = 0; k < loop->rows; k++) {
      double *J = loop->J + k * p->count, sum = 0.0;
      memcpy(J, x->jacobian + (size_t)k * all + (size_t)p->first, (size_t)p->count * sizeof *J);
      memcpy(y, J, (size_t)p->count * sizeof *y);
      fx_tree_half_solve(x->state, p->first, p->count, y);
      for (int32_t i = 0; i < p->count; i++) sum += y[i] * y[i] * x->state->factor_diagonal[p->first + i];
      own[k] = sum;
      weight = fx_max(weight, sum);
      loop->w[k] = fx_closing(sim, p->slot, error[k]);
      loop->r_c[k] = fx_loop_remembers(error[k]) ? *fx_equality_memory(sim, loop->equality, k) : 0.0;
    }
    loop->R = weight > 0.0 ? fx_loop_softness * weight : 1.0;
    /* a row that hardly moves anything, as across a linkage that is nearly stretched, is closed as slowly */
    for (int32_t k = 0; k < loop->rows; k++)
      loop->w[k] *= fx_min(1.0, STRETCHED * sqrt(own[k] / fx_max(weight, 1e-300)));
  }
}

void fx_loops_push(const fx_mechanism *x, double *smooth) {
  for (int32_t l = 0; l < x->loop_count; l++) {
    const fx_loop *loop = &x->loop[l];
    const fx_part *p = &x->part[loop->part];
    for (int32_t k = 0; k < loop->rows; k++) { /* as a change from v0 */
      double r = fx_loop_impulse(x, loop, k, x->state->qvel + p->first);
      const double *J = loop->J + k * p->count;
      for (int32_t i = 0; i < p->count; i++) smooth[p->first + i] += J[i] * r;
    }
  }
}

double fx_loop_impulse(const fx_mechanism *x, const fx_loop *loop, int32_t k, const double *v) {
  const double *J = loop->J + k * x->part[loop->part].count;
  double rate = loop->w[k];
  for (int32_t i = 0; i < x->part[loop->part].count; i++) rate += J[i] * v[i];
  return loop->r_c[k] - rate / loop->R;
}

/* ---- dense ---- */

static void add_outer(double *A, int32_t n, const double *row, double weight) {
  int32_t list[FX_DENSE_MOST], count = 0;
  for (int32_t i = 0; i < n; i++) {
    if (row[i] == 0.0) continue;
    list[count++] = i;
    double *to = A + i * n, pull = weight * row[i];
    for (int32_t k = 0; k < count; k++) to[list[k]] += pull * row[list[k]];
  }
}

static void add_slopes(const fx_mechanism *x, const fx_part *p) {
  double row[FX_DENSE_MOST];
  for (int32_t k = 0; k < x->slope_count; k++) {
    const fx_slope *s = &x->slope[k];
    if (!s->across || x->part_of_dof[x->tree.list[s->span.first]] != p - x->part) continue;
    memset(row, 0, (size_t)p->count * sizeof *row);
    for (int32_t n = 0; n < s->span.count; n++) row[x->tree.list[s->span.first + n] - p->first] = s->moment[n];
    add_outer(p->dense, p->count, row, s->stiffness + s->damping);
  }
}

/* D of `factor` is its diagonal, L below it has ones there. Rows are eliminated from the leaves to the root, so that
 * only what loops tie together fills; which columns a row has is seen from the numbers. */
static void eliminate(const fx_part *p) {
  int32_t n = p->count;
  double *L = p->factor;
  for (int32_t k = n - 1; k >= 0; k--) {
    int32_t *list = p->column + k * n, count = 0;
    double *row = L + k * n;
    for (int32_t j = 0; j < k; j++)
      if (row[j] != 0.0) list[count++] = j;
    p->column_count[k] = count;
    row[k] = fx_max(row[k], 1e-300);
    for (int32_t a = count - 1; a >= 0; a--) {
      double part = row[list[a]] / row[k], *below = L + list[a] * n;
      for (int32_t b = 0; b <= a; b++) below[list[b]] -= part * row[list[b]];
      row[list[a]] = part;
    }
  }
}

void fx_dense_factor(const fx_part *p) {
  int32_t n = p->count;
  double *A = p->dense;
  memcpy(p->factor, A, (size_t)n * (size_t)n * sizeof *A);
  for (int32_t i = 0; i < n; i++)
    for (int32_t j = 0; j < i; j++) A[j * n + i] = A[i * n + j];
  eliminate(p);
}

/* M~ whole, for products, and its factor. */
void fx_dense_build(const fx_mechanism *x, const fx_part *p) {
  int32_t n = p->count;
  double *A = p->dense;
  memset(A, 0, (size_t)n * (size_t)n * sizeof *A);
  for (int32_t i = 0; i < n; i++) {
    const double *row = x->implicit + x->tree.dof[p->first + i].row;
    for (int32_t j = p->first + i; j >= 0; j = x->tree.dof[j].parent) A[i * n + j - p->first] = *row++;
  }
  add_slopes(x, p);
  for (int32_t l = 0; l < x->loop_count; l++)
    for (int32_t k = 0; k < x->loop[l].rows && &x->part[x->loop[l].part] == p; k++)
      add_outer(A, n, x->loop[l].J + k * n, 1.0 / x->loop[l].R);
  fx_dense_factor(p);
}

void fx_dense_half_solve(const fx_part *p, double *b) {
  int32_t n = p->count;
  for (int32_t k = n - 1; k >= 0; k--) {
    const int32_t *list = p->column + k * n;
    const double *row = p->factor + k * n;
    for (int32_t a = 0; a < p->column_count[k] && b[k] != 0.0; a++) b[list[a]] -= row[list[a]] * b[k];
  }
}

void fx_dense_solve(const fx_part *p, double *b) {
  int32_t n = p->count;
  fx_dense_half_solve(p, b);
  for (int32_t k = 0; k < n; k++) {
    const int32_t *list = p->column + k * n;
    const double *row = p->factor + k * n;
    double sum = b[k] / row[k];
    for (int32_t a = 0; a < p->column_count[k]; a++) sum -= row[list[a]] * b[list[a]];
    b[k] = sum;
  }
}
