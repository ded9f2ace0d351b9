/* The two certificates of statics: forces in balance, and mechanisms. */
#include "problem/statics.h"

#include "problem/cone.h"

#include <math.h>
#include <string.h>

/* Degrees of freedom that share a unit: the first three and the last of a body, in the plane two and one. */
static int32_t group_end(int32_t first, int32_t end) {
  int32_t count = end - first;
  return count == 6 ? first + 3 : count == 3 ? first + 2 : end;
}

static void even_out(double *arm, int32_t first, int32_t end) {
  double most = 0;
  for (int32_t k = first; k < end; k++) most = fmax(most, arm[k]);
  for (int32_t k = first; k < end; k++) arm[k] = most > 0 ? most : 1;
}

void fx_statics_arms(fx_statics *t) {
  const fx_system *s = t->s;
  memset(t->arm, 0, (size_t)s->dof_count * sizeof *t->arm);
  for (int32_t i = 0; i < s->contact_count; i++)
    for (int32_t k = s->Ht.start[i]; t->kind[i] != FX_STATICS_OPEN && k < s->Ht.start[i + 1]; k++) {
      int32_t first = s->dof[s->Ht.index[k]], width = fx_block_cols(&s->Ht, k);
      const double *h = fx_block(&s->Ht, k);
      for (int32_t e = 0; e < s->contact[i].dim * width; e++)
        t->arm[first + e % width] = fmax(t->arm[first + e % width], fabs(h[e]));
    }
  for (int32_t m = 0; m < s->mover_count; m++) {
    int32_t first = s->dof[m], end = s->dof[m + 1], middle = group_end(first, end);
    even_out(t->arm, first, middle);
    even_out(t->arm, middle, end);
  }
}

/* ---- balance ---- */

/* Of the largest sum that acts on any body: what a body that carries next to nothing is measured by. With a tolerance
 * of 1e-9 that is the rounding of the forces around it. */
#define FLOOR 1e-6

static double scaled_length(const double *x, const double *arm, int32_t first, int32_t end) {
  double sum = 0;
  for (int32_t k = first; k < end; k++) sum += x[k] / arm[k] * (x[k] / arm[k]);
  return sqrt(sum);
}

/* What acts on a mover beside r; loads that cancel count both. */
static double load_on(const fx_statics *t, int32_t m, double factor) {
  int32_t first = t->s->dof[m], end = t->s->dof[m + 1];
  double sum = scaled_length(t->force, t->arm, first, end);
  return t->load ? sum + fabs(factor) * scaled_length(t->load, t->arm, first, end) : sum;
}

static bool is_paid(const fx_statics *t, int32_t i) { return t->paid && t->paid[i]; }

/* Where r must be. */
static void hold_law(const fx_statics *t, int32_t i, double factor, double *r) {
  const fx_system *s = t->s;
  const frix_contact *contact = &s->contact[i];
  double *own = r + s->row[i];
  if (t->kind[i] == FX_STATICS_OPEN) memset(own, 0, (size_t)contact->dim * sizeof *own);
  if (t->kind[i] == FX_STATICS_GIVEN) memcpy(own, t->given + s->row[i], (size_t)contact->dim * sizeof *own);
  if (t->kind[i] == FX_STATICS_CONE) fx_cone_project(contact, own, own);
  if (t->kind[i] != FX_STATICS_BOUND) return;
  bool tied = t->tied && t->tied[i] >= 0;
  double normal = tied ? r[s->row[t->tied[i]]] : t->given[s->row[i]], length = 0;
  if (is_paid(t, i)) normal *= fmax(0, -factor);
  for (int32_t k = 1; k < contact->dim; k++) length += own[k] * own[k];
  double most = contact->mu * normal, scale = length > most * most ? most / sqrt(length) : 1;
  own[0] = normal;
  for (int32_t k = 1; k < contact->dim; k++) own[k] *= scale;
}

/* cppcheck-suppress funcArgOrderDifferent */
double fx_statics_imbalance(const fx_statics *t, const fx_statics_part *part, double factor, double *r,
                            double *missing) {
  const fx_system *s = t->s;
  double worst = 0, largest = 0;
  for (int32_t c = 0; c < part->contact_count; c++)
    if (t->kind[part->contact[c]] != FX_STATICS_BOUND) hold_law(t, part->contact[c], factor, r);
  for (int32_t c = 0; c < part->contact_count; c++)
    if (t->kind[part->contact[c]] == FX_STATICS_BOUND) hold_law(t, part->contact[c], factor, r);
  for (int32_t e = 0; e < part->mover_count; e++)
    for (int32_t k = s->dof[part->mover[e]]; k < s->dof[part->mover[e] + 1]; k++)
      missing[k] = t->force[k] + (t->load ? factor * t->load[k] : 0);
  double *acting = missing + s->dof_count; /* by mover */
  for (int32_t e = 0; e < part->mover_count; e++) acting[part->mover[e]] = load_on(t, part->mover[e], factor);
  for (int32_t c = 0; c < part->contact_count; c++) {
    int32_t i = part->contact[c];
    for (int32_t k = s->Ht.start[i]; t->kind[i] != FX_STATICS_OPEN && k < s->Ht.start[i + 1]; k++) {
      int32_t m = s->Ht.index[k], width = fx_block_cols(&s->Ht, k);
      const double *h = fx_block(&s->Ht, k);
      double square = 0;
      for (int32_t b = 0; b < width; b++) {
        double push = 0;
        for (int32_t a = 0; a < s->contact[i].dim; a++) push += h[a * width + b] * r[s->row[i] + a];
        missing[s->dof[m] + b] += push;
        square += push / t->arm[s->dof[m] + b] * (push / t->arm[s->dof[m] + b]);
      }
      acting[m] += sqrt(square);
    }
  }
  for (int32_t e = 0; e < part->mover_count; e++) largest = fmax(largest, acting[part->mover[e]]);
  for (int32_t e = 0; e < part->mover_count; e++) {
    int32_t m = part->mover[e];
    double miss = scaled_length(missing, t->arm, s->dof[m], s->dof[m + 1]), scale = acting[m] + FLOOR * largest;
    double relative = miss == 0 ? 0 : scale > 0 ? miss / scale : INFINITY;
    if (!(relative <= worst)) worst = relative;
  }
  return worst;
}

/* ---- mechanisms ---- */

static double length_of(const double *x, int32_t count) {
  double sum = 0;
  for (int32_t k = 0; k < count; k++) sum += x[k] * x[k];
  return sqrt(sum);
}

/* Largest friction power of a contact of normal force 1 under a known normal force. */
static double grip(const frix_contact *contact, const double *u) {
  return contact->mu * length_of(u + 1, contact->dim - 1);
}

fx_collapse fx_statics_mechanism(const fx_statics *t, const fx_statics_part *part, const double *v, double *u) {
  const fx_system *s = t->s;
  fx_collapse out = {0};
  for (int32_t e = 0; e < part->mover_count; e++)
    for (int32_t k = s->dof[part->mover[e]]; k < s->dof[part->mover[e] + 1]; k++) {
      out.power += t->force[k] * v[k];
      if (t->load) out.gain += t->load[k] * v[k];
    }
  /* velocities; friction tied to a contact asks for more of its normal velocity */
  for (int32_t c = 0; c < part->contact_count; c++) {
    int32_t i = part->contact[c], row = s->row[i];
    memset(u + row, 0, (size_t)s->contact[i].dim * sizeof *u);
    fx_block_multiply_add_rows(&s->Ht, i, i + 1, v, u);
  }
  for (int32_t c = 0; c < part->contact_count; c++) {
    int32_t i = part->contact[c], row = s->row[i];
    bool tied = t->tied && t->tied[i] >= 0;
    if (t->kind[i] == FX_STATICS_BOUND && tied) u[s->row[t->tied[i]]] -= grip(&s->contact[i], u + row);
    if (t->kind[i] == FX_STATICS_BOUND && !tied)
      *(is_paid(t, i) ? &out.gain : &out.held) += t->given[row] * grip(&s->contact[i], u + row);
    for (int32_t k = row; t->kind[i] == FX_STATICS_GIVEN && k < s->row[i + 1]; k++) out.power += t->given[k] * u[k];
  }
  for (int32_t c = 0; c < part->contact_count; c++) {
    int32_t i = part->contact[c], row = s->row[i];
    if (t->kind[i] == FX_STATICS_FREE) out.leak += length_of(u + row, s->contact[i].dim);
    if (t->kind[i] != FX_STATICS_CONE) continue;
    double margin = u[row] - fx_cone_shift(&s->contact[i], u + row);
    if (margin < 0) out.leak -= margin;
  }
  return out;
}

/* cppcheck-suppress funcArgOrderDifferent */
double fx_statics_size(const fx_statics *t, const fx_statics_part *part, double factor) {
  double sum = 0;
  for (int32_t e = 0; e < part->mover_count; e++) sum += load_on(t, part->mover[e], factor);
  return sum;
}
