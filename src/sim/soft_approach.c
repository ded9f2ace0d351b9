/* Newton on velocities and impulses of an island together (P. Alart, A. Curnier, 1991).
 *
 * With a = J v + w - R r_c and z = r - rho (a + R r) the law of a contact is a fixed point, for every rho > 0:
 *
 *   r = P(z):   r_N = max(0, z_N),   r_T = projection of z_T on the disc of radius mu r_N
 *   A (v - v_free) = J' r
 *
 * Linearised, with V = P'(z): (I - V (I - rho R)) dr = -V rho J dv - (r - P(z)), or dr = -D J dv - B (r - P(z)), so
 * that
 *
 *   (A + J' D J) dv = -A (v - v_free) + J' (r - B (r - P(z)))
 *
 * The matrix is that of soft_newton.c, whose method is rho = 1/R: there the velocities alone tell which contacts are
 * open, stick or slide, and stiff springs make that a matter of tiny changes of v. Here rho is about the inverse of
 * what an impulse changes the velocity of its contact by, impulses count too, and steps are long.
 *
 * Along a step the first equation's error F falls by the part that is gone, because it is linear; so a trial costs the
 * contacts alone. Its length: the whole step, or the one of a few shorter ones that leaves least of |F| in the mass and
 * of |r - P(z)| in R. */
#include "sim/soft_island.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 24, TRIALS = 6 };
static const double softness = 0.2; /* of what an impulse changes the velocity of its contact by: 1/rho - R */
static const double shorter = 0.6;  /* a trial, of the one before */
static const double falls = 0.8;    /* what is left: steps after which more is left look at shorter ones */
static const double chord = 1e-2;   /* after a step: the factor serves another one */
static const double far_off = 1e-3; /* of the sizes at the start: where slopes may be rough */
static const double rough = 1e-2, still = 1e-4; /* of 1/R: smaller changes of D stay out of the matrix */

/* ---- one contact ---- */

/* rho of the rows; what an impulse does, with the diagonal of A in place of A. */
static void choose_rho(const fx_island *t, fx_joined *c) {
  const fx_group *g = &t->a->group[c->group];
  const double *J = c->J;
  double gain = 0.0;
  for (int32_t b = 0; b < g->body_count; b++) {
    int32_t dof = t->sim->mover[g->mover[b]].dof;
    const double *scale = t->scale + t->first[g->mover[b]];
    for (int32_t i = 0; i < dof; i++) gain += J[i] * J[i] * scale[i];
    J += c->dim * dof;
  }
  for (int32_t j = 0; j < c->dim; j++) c->rho[j] = 1.0 / (c->R[j] + softness * gain);
}

/* What a contact is at z. */
typedef struct mode {
  bool closed, slides;
  double ex, ey, part; /* direction of z_T, and the part of it that friction keeps, where it slides */
} mode;

/* r - P(z) at a and r. */
static mode miss(const fx_joined *c, const double *a, const double *r, double *out) {
  mode m = {.part = 1.0};
  double z = r[0] - c->rho[0] * (a[0] + c->R[0] * r[0]);
  memcpy(out, r, 3 * sizeof *out);
  if (!(z > 0.0)) return m;
  m.closed = true;
  out[0] = r[0] - z;
  double bound = c->mu * z;
  if (c->dim == 1 || !(bound > 0.0)) return m;
  double keep = 1.0 - c->rho[1] * c->R[1], x = keep * r[1] - c->rho[1] * a[1], y = keep * r[2] - c->rho[1] * a[2];
  double size = sqrt(x * x + y * y);
  if (size > bound) m = (mode){true, true, x / size, y / size, bound / size};
  out[1] = r[1] - m.part * x, out[2] = r[2] - m.part * y;
  return m;
}

/* D, and off := B off. */
static void slopes(fx_joined *c, const mode *m, double *off) {
  double *D = c->D;
  memset(D, 0, 9 * sizeof *D);
  if (!m->closed) return;
  double soft = c->rho[0] * c->R[0], ex = m->ex, ey = m->ey;
  D[0] = 1.0 / c->R[0];
  off[0] /= soft;
  if (c->dim == 1 || !(c->mu > 0.0)) return;
  double stiff = c->rho[1] * c->R[1];
  if (!m->slides) {
    D[4] = D[8] = 1.0 / c->R[1];
    off[1] /= stiff, off[2] /= stiff;
    return;
  }
  double turns = 1.0 - (1.0 - stiff) * m->part, k = m->part * c->rho[1] / turns;
  D[3] = c->mu * ex * D[0], D[6] = c->mu * ey * D[0];
  D[4] = k * (1.0 - ex * ex), D[8] = k * (1.0 - ey * ey);
  D[5] = D[7] = -k * ex * ey;
  double along = ex * off[1] + ey * off[2], across = (ex * off[2] - ey * off[1]) / turns;
  along += c->mu * (1.0 - soft) * off[0];
  off[1] = along * ex - across * ey, off[2] = along * ey + across * ex;
}

/* ---- the whole ---- */

/* R |r - P(z)|^2 of all contacts, `way` along the line. */
static double missed(const fx_island *t, double way) {
  double sum = 0.0;
  for (int32_t k = 0; k < t->count; k++) {
    const fx_joined *c = &t->contact[k];
    double a[3], r[3], off[3];
    for (int j = 0; j < 3; j++) a[j] = c->at[j] + way * c->along[j], r[j] = c->r[j] + way * c->dr[j];
    miss(c, a, r, off);
    sum += c->R[0] * (off[0] * off[0] + off[1] * off[1] + off[2] * off[2]);
  }
  return sum;
}

/* Impulses of the assembly; F at v and these, squared in the mass. */
static double begin(fx_island *t) {
  double sum = 0.0;
  memcpy(t->F, t->Aoff, (size_t)t->n * sizeof *t->F);
  for (int32_t k = 0; k < t->count; k++) {
    fx_joined *c = &t->contact[k];
    memset(c->r, 0, sizeof c->r), memset(c->along, 0, sizeof c->along), memset(c->dr, 0, sizeof c->dr);
    memcpy(c->r, t->a->r + t->a->group[c->group].row, (size_t)c->dim * sizeof *c->r);
    choose_rho(t, c);
    fx_island_push(t, c, c->r, t->F);
  }
  for (int32_t i = 0; i < t->n; i++) sum += t->F[i] * t->F[i] * t->scale[i];
  return sum;
}

/* Slopes, and F := what dv has to take away; dr := -B (r - P(z)). */
static void linearise(fx_island *t) {
  memcpy(t->F, t->Aoff, (size_t)t->n * sizeof *t->F);
  for (int32_t k = 0; k < t->count; k++) {
    fx_joined *c = &t->contact[k];
    double off[3], goal[3];
    mode m = miss(c, c->at, c->r, off);
    slopes(c, &m, off);
    for (int j = 0; j < 3; j++) c->dr[j] = -off[j], goal[j] = c->r[j] - off[j];
    if (goal[0] != 0.0 || goal[1] != 0.0 || goal[2] != 0.0) fx_island_push(t, c, goal, t->F);
  }
}

/* dv, and what contacts do along it; slopes as they are in the matrix. */
static void aim(fx_island *t) {
  for (int32_t i = 0; i < t->n; i++) t->dv[i] = -t->F[i];
  fx_island_solve(t, t->dv);
  fx_island_multiply(t, t->dv, t->Adv);
  for (int32_t k = 0; k < t->count; k++) {
    fx_joined *c = &t->contact[k];
    double *x = c->along;
    memset(x, 0, sizeof c->along);
    fx_island_read(t, c, t->dv, x);
    for (int j = 0; j < 3; j++) c->dr[j] -= c->in[3 * j] * x[0] + c->in[3 * j + 1] * x[1] + c->in[3 * j + 2] * x[2];
  }
}

static void go(fx_island *t, double way) {
  for (int32_t i = 0; i < t->n; i++) t->v[i] += way * t->dv[i], t->Aoff[i] += way * t->Adv[i];
  for (int32_t k = 0; k < t->count; k++) {
    fx_joined *c = &t->contact[k];
    for (int j = 0; j < 3; j++) c->at[j] += way * c->along[j], c->r[j] += way * c->dr[j];
  }
}

/* How far along the line, and what is left there; error: F squared, before and after. */
static double find_way(const fx_island *t, double before, double *error, double *left) {
  double way = 1.0, best = 1.0, least = sqrt(missed(t, 1.0));
  for (int k = 0; k < TRIALS && least > falls * before; k++) {
    way *= shorter;
    double value = sqrt((1.0 - way) * (1.0 - way) * *error + missed(t, way));
    if (value < least) least = value, best = way;
  }
  *error *= (1.0 - best) * (1.0 - best);
  *left = least;
  return best;
}

void fx_island_approach(fx_island *t, double goal, int64_t *iterations) {
  double error = begin(t), left = sqrt(error + missed(t, 0.0)), first = left;
  bool again = false; /* the factor serves another step */
  for (int k = 0; k < ROUNDS && left > goal; k++) {
    ++*iterations;
    linearise(t);
    if (!again && !fx_island_factor(t, left > far_off * first ? rough : still)) return;
    aim(t);
    double before = left;
    go(t, find_way(t, before, &error, &left));
    again = left <= chord * before;
  }
}
