/* Impulses that nearly hold everything at rest, changed by as little as holds it exactly.
 *
 *   min sum |dr_i|^2 / d_i,   f + J'(r + dr) = 0   =>   dr = -D J l,   (J' D J) l = f + J' r = M v
 *
 * by conjugate gradients over the bodies, with the blocks of single bodies as preconditioner and as many rounds as
 * rounding needs. d_i is the normal impulse of a contact, so that what carries little changes little and contacts that
 * carry nothing stay so. The law of friction is not asked: the caller has the certificate judge the outcome. */
#include "linalg/dense.h"
#include "sim/solving.h"

#include <math.h>
#include <string.h>

#define SMALLER 1e-5   /* of its first gradient: where a round of conjugate gradients ends */
#define SOFTEST 1e-12  /* of a diagonal: what is added to it where nothing holds a direction */
#define PROGRESS 0.1   /* a round that leaves more of the speed is the last */
#define ROUNDING 3e-14 /* of the terms of a velocity: rest, with room to where velocities count as rounding */

#define INLINE static inline __attribute__((always_inline))

enum { ROUNDS = 6, ITERATIONS = 250, MOST_DOF = 6 };

typedef struct balance {
  const frix_sim *sim;
  const fx_assembly *a;
  int32_t count;              /* degrees of freedom */
  double *d;                  /* by group */
  double *l, *b, *z, *p, *Ap; /* by degree of freedom */
  double *lu;                 /* factors of the blocks of single bodies, 36 numbers each */
  int32_t *pivot;
  double (*size)[2]; /* by mover: of the terms of its velocity */
} balance;

static bool take(balance *x, fx_arena *arena) {
  size_t n = (size_t)x->count, movers = (size_t)x->sim->mover_count;
  x->d = FX_TAKE_RAW(arena, double, x->a->group_count);
  x->l = FX_TAKE_RAW(arena, double, n);
  x->b = FX_TAKE_RAW(arena, double, n);
  x->z = FX_TAKE_RAW(arena, double, n);
  x->p = FX_TAKE_RAW(arena, double, n);
  x->Ap = FX_TAKE_RAW(arena, double, n);
  x->lu = FX_TAKE(arena, double, MOST_DOF *MOST_DOF *movers);
  x->pivot = FX_TAKE_RAW(arena, int32_t, MOST_DOF * movers);
  x->size = (double(*)[2])FX_TAKE_RAW(arena, double, 2 * movers);
  return x->d && x->l && x->b && x->z && x->p && x->Ap && x->lu && x->pivot && x->size;
}

/* Contacts that carry something; joints as the strongest of them. */
static void weigh(balance *x, const double *r) {
  double most = 0.0;
  for (int32_t k = 0; k < x->a->joint_first; k++) {
    const fx_group *g = &x->a->group[k];
    x->d[k] = g->kind == FX_GROUP_CONTACT && r[g->row] > 0.0 ? r[g->row] : 0.0;
    most = fmax(most, x->d[k]);
  }
  for (int32_t k = x->a->joint_first; k < x->a->group_count; k++) x->d[k] = most > 0.0 ? most : 1.0;
}

/* ---- products ---- */

/* One body's block; inlined with the sizes of the common contact. */
INLINE void push_body(int32_t dim, int32_t dof, const double *J, const double *r, double *out) {
  double sum[MOST_DOF];
  for (int32_t c = 0; c < dof; c++) sum[c] = out[c];
  for (int32_t j = 0; j < dim; j++, J += dof)
    for (int32_t c = 0; c < dof; c++) sum[c] += J[c] * r[j];
  for (int32_t c = 0; c < dof; c++) out[c] = sum[c];
}

INLINE void look_at_body(int32_t dim, int32_t dof, const double *J, const double *v, double *u) {
  for (int32_t j = 0; j < dim; j++, J += dof) {
    double sum = 0.0;
    for (int32_t c = 0; c < dof; c++) sum += J[c] * v[c];
    u[j] += sum;
  }
}

static void push(const balance *x, const fx_group *g, const double *r, double *out) {
  const double *J = x->a->J + g->value;
  for (int32_t e = 0; e < g->body_count; e++) {
    const fx_mover *m = &x->sim->mover[g->mover[e]];
    if (g->dim == 3 && m->dof == 6)
      push_body(3, 6, J, r, out + m->first);
    else
      push_body(g->dim, m->dof, J, r, out + m->first);
    J += g->dim * m->dof;
  }
}

static void velocity_of(const balance *x, const fx_group *g, const double *v, double *u) {
  const double *J = x->a->J + g->value;
  for (int32_t j = 0; j < g->dim; j++) u[j] = 0.0;
  for (int32_t e = 0; e < g->body_count; e++) {
    const fx_mover *m = &x->sim->mover[g->mover[e]];
    if (g->dim == 3 && m->dof == 6)
      look_at_body(3, 6, J, v + m->first, u);
    else
      look_at_body(g->dim, m->dof, J, v + m->first, u);
    J += g->dim * m->dof;
  }
}

/* out = J' D J v */
static void multiply(const balance *x, const double *v, double *out) {
  double u[FRIX_MAX_DIM];
  memset(out, 0, (size_t)x->count * sizeof *out);
  for (int32_t k = 0; k < x->a->group_count; k++) {
    const fx_group *g = &x->a->group[k];
    if (!(x->d[k] > 0.0)) continue;
    velocity_of(x, g, v, u);
    for (int32_t j = 0; j < g->dim; j++) u[j] *= x->d[k];
    push(x, g, u, out);
  }
}

static double dot(const balance *x, const double *a, const double *b) {
  double sum = 0.0;
  for (int32_t k = 0; k < x->count; k++) sum += a[k] * b[k];
  return sum;
}

/* ---- the blocks of single bodies ---- */

static void add_block(balance *x, const fx_group *g, double d) {
  const double *J = x->a->J + g->value;
  for (int32_t e = 0; e < g->body_count; e++) {
    int32_t dof = x->sim->mover[g->mover[e]].dof;
    double *A = x->lu + (size_t)(MOST_DOF * MOST_DOF) * (size_t)g->mover[e];
    for (int32_t j = 0; j < g->dim; j++, J += dof)
      for (int32_t c = 0; c < dof; c++)
        for (int32_t k = 0; k < dof; k++) A[c * dof + k] += d * J[c] * J[k];
  }
}

static void factor(balance *x) {
  for (int32_t k = 0; k < x->a->group_count; k++)
    if (x->d[k] > 0.0) add_block(x, &x->a->group[k], x->d[k]);
  for (int32_t k = 0; k < x->sim->mover_count; k++) {
    int32_t dof = x->sim->mover[k].dof;
    double *A = x->lu + (size_t)(MOST_DOF * MOST_DOF) * (size_t)k, trace = 0.0;
    for (int32_t c = 0; c < dof; c++) trace += A[c * dof + c];
    for (int32_t c = 0; c < dof; c++) A[c * dof + c] += trace > 0.0 ? SOFTEST * trace : 1.0;
    if (fx_lu_factor(dof, A, x->pivot + MOST_DOF * k)) continue;
    memset(A, 0, MOST_DOF * MOST_DOF * sizeof *A); /* left as it is */
    for (int32_t c = 0; c < dof; c++) A[c * dof + c] = 1.0, x->pivot[MOST_DOF * k + c] = c;
  }
}

static void precondition(const balance *x, const double *from, double *to) {
  memcpy(to, from, (size_t)x->count * sizeof *to);
  for (int32_t k = 0; k < x->sim->mover_count; k++) {
    const fx_mover *m = &x->sim->mover[k];
    if (m->first < 0) continue;
    fx_lu_solve(m->dof, x->lu + (size_t)(MOST_DOF * MOST_DOF) * (size_t)k, x->pivot + MOST_DOF * k, to + m->first);
  }
}

/* ---- rounds ---- */

/* b = f + J' r; the movers' velocities; the fastest over the terms it is the sum of. */
static double look(frix_sim *sim, balance *x, const double *r) {
  double worst = 0.0;
  memset(x->b, 0, (size_t)x->count * sizeof *x->b);
  memset(x->size, 0, (size_t)sim->mover_count * sizeof *x->size);
  for (int32_t k = 0; k < x->a->group_count; k++) push(x, &x->a->group[k], r + x->a->group[k].row, x->b);
  fx_sum_sizes(sim, x->a, r, x->size);
  for (int32_t k = 0; k < sim->mover_count; k++) {
    fx_mover *m = &sim->mover[k];
    if (m->first < 0) continue;
    double *b = x->b + m->first, f[MOST_DOF];
    bool flat = m->dof == 3;
    m->v1 = fx_add(m->v_free, fx_sym3_mul(m->A_inverse, fx_vec(b[0], b[1], flat ? 0.0 : b[2])));
    m->w1 = fx_add(m->w_free, fx_spin_change(m, flat ? fx_vec(0.0, 0.0, b[2]) : fx_vec(b[3], b[4], b[5])));
    worst = fmax(worst, fmax(fx_norm(m->v1) / (x->size[k][0] > 0.0 ? x->size[k][0] : 1.0),
                             fx_norm(m->w1) / (x->size[k][1] > 0.0 ? x->size[k][1] : 1.0)));
    fx_mover_drive(m, f);
    for (int32_t c = 0; c < m->dof; c++) b[c] += f[c];
  }
  return worst;
}

/* Conjugate gradients for l from nothing; b is used up. */
static void solve(balance *x) {
  memset(x->l, 0, (size_t)x->count * sizeof *x->l);
  precondition(x, x->b, x->z);
  memcpy(x->p, x->z, (size_t)x->count * sizeof *x->p);
  double size = dot(x, x->b, x->z), first = size;
  for (int k = 0; k < ITERATIONS && size > SMALLER * SMALLER * first; k++) {
    multiply(x, x->p, x->Ap);
    double curve = dot(x, x->p, x->Ap), step = size / curve;
    if (!(curve > 0.0) || !isfinite(step)) return;
    for (int32_t c = 0; c < x->count; c++) x->l[c] += step * x->p[c], x->b[c] -= step * x->Ap[c];
    precondition(x, x->b, x->z);
    double next = dot(x, x->b, x->z), part = next / size;
    for (int32_t c = 0; c < x->count; c++) x->p[c] = x->z[c] + part * x->p[c];
    size = next;
  }
}

static void change(const balance *x, double *r) {
  double u[FRIX_MAX_DIM];
  for (int32_t k = 0; k < x->a->group_count; k++) {
    const fx_group *g = &x->a->group[k];
    if (!(x->d[k] > 0.0)) continue;
    velocity_of(x, g, x->l, u);
    for (int32_t j = 0; j < g->dim; j++) r[g->row + j] -= x->d[k] * u[j];
  }
}

static bool is_fit(const frix_sim *sim) {
  for (int32_t k = 0; k < sim->mover_count; k++)
    if (sim->mover[k].tree) return false;
  return true;
}

frix_status fx_balance(frix_sim *sim, const fx_assembly *a, double *r, bool *rests) {
  fx_arena arena;
  balance x = {.sim = sim, .a = a, .count = sim->problem.dof_count};
  *rests = false;
  if (!is_fit(sim)) return FRIX_OK;
  fx_arena_init(&arena, sim->inner);
  bool good = take(&x, &arena);
  if (good) {
    weigh(&x, r);
    factor(&x);
    double speed = look(sim, &x, r);
    for (int k = 0; k < ROUNDS && speed > ROUNDING; k++) {
      double before = speed;
      solve(&x);
      change(&x, r);
      speed = look(sim, &x, r);
      if (!(speed <= PROGRESS * before)) break;
    }
    *rests = speed <= ROUNDING;
  }
  fx_arena_free(&arena);
  return good ? FRIX_OK : FRIX_ERROR_MEMORY;
}
