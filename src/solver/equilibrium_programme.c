/* From contacts to cones.
 *
 *   circular  (r_N, r_T / mu)            planar  the same in the plane      without friction  r_N
 *   elliptic  (r_N, t_1 / mu, t_2 / mu2)     pyramid  its edges, one variable each
 *   rolling   (r_N, r_T / mu) and (n, r_R / mu_r), n = r_N               joints  free
 *   friction under a known normal force  (n, r_T / mu), n = known, or n = r_N of the contact it is tied to
 *   actuators  the same, n = -t limit
 *
 * times a = max(1, mu), so that no column is much longer than those of the matrix. Rows are divided by the longest
 * lever of their body, loads by the largest of them. */
#include "solver/equilibrium_programme.h"

#include "problem/cone.h"

#include <math.h>
#include <string.h>

/* ---- units ---- */

static fx_unit *add_unit(fx_programme *p, int32_t contact, int32_t dim) {
  fx_unit *u = &p->unit[p->unit_count++];
  *u = (fx_unit){.contact = contact, .dim = dim};
  return u;
}

static int32_t add_link(fx_programme *p, double b) {
  p->link_b[p->link_count] = b;
  return p->link_count++;
}

static void tie(fx_unit *u, int32_t link, double weight) {
  u->link[u->link_count] = link;
  u->weight[u->link_count++] = weight;
}

/* (n a, t_k a / mu_k) for `count` directions of the tangential rows from `row` on; normal: n is the contact's own. */
static fx_unit *add_friction(fx_programme *p, int32_t i, int32_t row, int32_t count, double mu, bool normal) {
  const frix_contact *contact = &p->statics->s->contact[i];
  fx_unit *u = add_unit(p, i, 1 + count);
  double a = mu > 1 ? mu : 1;
  if (normal) u->T[0] = 1 / a;
  for (int32_t k = 0; k < count; k++) u->T[(k + 1) * contact->dim + row + k] = mu / a;
  return u;
}

static double normal_weight(const fx_unit *u) { return u->T[0]; }

static void add_elliptic(fx_programme *p, int32_t i) {
  const frix_contact *c = &p->statics->s->contact[i];
  double axis[2][2] = {{c->axis[0], c->axis[1]}, {-c->axis[1], c->axis[0]}}, mu[2] = {c->mu, c->mu2};
  double a = fmax(1, fmax(mu[0], mu[1]));
  fx_unit *u = add_unit(p, i, 1 + (mu[0] > 0) + (mu[1] > 0));
  u->T[0] = 1 / a;
  for (int32_t k = 0, at = 1; k < 2; k++) {
    if (!(mu[k] > 0)) continue;
    u->T[at * 3 + 1] = axis[k][0] * mu[k] / a;
    u->T[at * 3 + 2] = axis[k][1] * mu[k] / a;
    at++;
  }
}

static void add_pyramid(fx_programme *p, int32_t i) {
  const frix_contact *c = &p->statics->s->contact[i];
  for (int32_t k = 0; k < c->facets; k++) {
    double corner[2], a = fmax(1, c->mu);
    fx_polygon_corner(k, c->facets, corner);
    fx_unit *u = add_unit(p, i, 1);
    u->T[0] = 1 / a, u->T[1] = c->mu * corner[0] / a, u->T[2] = c->mu * corner[1] / a;
  }
}

static void add_rolling(fx_programme *p, int32_t i) {
  const frix_contact *c = &p->statics->s->contact[i];
  if (!(c->mu > 0) || !(c->mu_r > 0)) {
    if (c->mu > 0)
      add_friction(p, i, 1, 2, c->mu, true);
    else if (c->mu_r > 0)
      add_friction(p, i, 3, 2, c->mu_r, true);
    else
      add_friction(p, i, 1, 0, 0, true);
    return;
  }
  int32_t link = add_link(p, 0);
  fx_unit *slide = add_friction(p, i, 1, 2, c->mu, true), *roll = add_friction(p, i, 3, 2, c->mu_r, false);
  tie(slide, link, normal_weight(slide));
  tie(roll, link, -1 / fmax(1, c->mu_r));
}

static void add_cone(fx_programme *p, int32_t i) {
  const frix_contact *c = &p->statics->s->contact[i];
  p->normal_unit[i] = p->unit_count;
  switch (c->cone) {
    case FRIX_CONE_CIRCULAR: add_friction(p, i, 1, c->mu > 0 ? 2 : 0, c->mu, true); break;
    case FRIX_CONE_PLANAR: add_friction(p, i, 1, c->mu > 0 ? 1 : 0, c->mu, true); break;
    case FRIX_CONE_ELLIPTIC: add_elliptic(p, i); break;
    case FRIX_CONE_PYRAMID: add_pyramid(p, i); break;
    case FRIX_CONE_ROLLING: add_rolling(p, i); break;
    default: add_friction(p, i, 1, 0, 0, true); break;
  }
  p->normal_count[i] = c->cone == FRIX_CONE_PYRAMID ? c->facets : 1;
}

/* Contacts come before what is tied to them. */
static void add_bound(fx_programme *p, int32_t i) {
  const fx_statics *t = p->statics;
  const frix_contact *c = &t->s->contact[i];
  bool tied = t->tied && t->tied[i] >= 0;
  double a = fmax(1, c->mu), normal = tied ? 0 : t->given[t->s->row[i]];
  if (!(c->mu > 0) || (!tied && !(normal > 0))) return;
  bool paid = t->paid && t->paid[i];
  int32_t link = add_link(p, tied || paid ? 0 : -normal);
  if (paid) p->link_a[link] = -normal;
  tie(add_friction(p, i, 1, c->dim - 1, c->mu, false), link, -1 / a);
  for (int32_t k = 0; tied && k < p->normal_count[t->tied[i]]; k++) {
    fx_unit *u = &p->unit[p->normal_unit[t->tied[i]] + k];
    tie(u, link, normal_weight(u));
  }
}

static void add_free(fx_programme *p, int32_t i) {
  int32_t d = p->statics->s->contact[i].dim;
  fx_unit *u = add_unit(p, i, d);
  u->free = true;
  for (int32_t k = 0; k < d; k++) u->T[k * (d + 1)] = 1;
}

static frix_status list_units(fx_arena *arena, fx_programme *p) {
  const fx_statics *t = p->statics;
  const fx_system *s = t->s;
  for (int32_t c = 0; c < p->part->contact_count; c++) {
    const frix_contact *contact = &s->contact[p->part->contact[c]];
    p->unit_capacity += contact->cone == FRIX_CONE_PYRAMID ? contact->facets : 2;
  }
  p->unit = FX_TAKE(arena, fx_unit, p->unit_capacity);
  p->link_b = FX_TAKE(arena, double, 2 * (size_t)p->part->contact_count);
  p->link_a = FX_TAKE(arena, double, 2 * (size_t)p->part->contact_count);
  p->normal_unit = FX_TAKE(arena, int32_t, s->contact_count);
  p->normal_count = FX_TAKE(arena, int32_t, s->contact_count);
  if (!p->unit || !p->link_b || !p->link_a || !p->normal_unit || !p->normal_count) return FRIX_ERROR_MEMORY;
  for (int32_t c = 0; c < p->part->contact_count; c++) {
    int32_t i = p->part->contact[c];
    if (t->kind[i] == FX_STATICS_CONE) add_cone(p, i);
    if (t->kind[i] == FX_STATICS_FREE) add_free(p, i);
  }
  for (int32_t c = 0; c < p->part->contact_count; c++)
    if (t->kind[p->part->contact[c]] == FX_STATICS_BOUND) add_bound(p, p->part->contact[c]);
  return FRIX_OK;
}

/* ---- matrix ---- */

/* The block of a unit on a body: T times the contact's own, rows over their arms. */
static void fill_body(const fx_programme *p, const fx_unit *u, int32_t k, double *to) {
  const fx_statics *t = p->statics;
  const fx_block_matrix *Ht = &t->s->Ht;
  int32_t width = fx_block_cols(Ht, k), rows = t->s->contact[u->contact].dim, first = t->s->dof[Ht->index[k]];
  const double *h = fx_block(Ht, k);
  for (int32_t a = 0; a < u->dim; a++)
    for (int32_t b = 0; b < width; b++) {
      double sum = 0;
      for (int32_t e = 0; e < rows; e++) sum += u->T[a * rows + e] * h[e * width + b];
      to[a * width + b] = sum / t->arm[first + b];
    }
}

static frix_status build_matrix(fx_arena *arena, fx_programme *p, const int32_t *place, int32_t *first, int32_t *row) {
  const fx_block_matrix *Ht = &p->statics->s->Ht;
  int32_t *start = FX_TAKE(arena, int32_t, (size_t)p->unit_count + 1), count = 0;
  if (!start) return FRIX_ERROR_MEMORY;
  for (int32_t n = 0; n < p->unit_count; n++) {
    int32_t i = p->unit[n].contact;
    start[n + 1] = count += Ht->start[i + 1] - Ht->start[i] + p->unit[n].link_count;
  }
  int32_t *index = FX_TAKE(arena, int32_t, count), bodies = p->part->mover_count;
  if (!index) return FRIX_ERROR_MEMORY;
  for (int32_t n = 0; n < p->unit_count; n++) {
    const fx_unit *u = &p->unit[n];
    int32_t at = start[n];
    for (int32_t k = Ht->start[u->contact]; k < Ht->start[u->contact + 1]; k++) index[at++] = place[Ht->index[k]];
    for (int32_t k = 0; k < u->link_count; k++) index[at++] = bodies + u->link[k];
  }
  frix_status status =
      fx_block_from_pattern(arena, p->unit_count, first, bodies + p->link_count, row, start, index, &p->lp.At);
  for (int32_t n = 0; status == FRIX_OK && n < p->unit_count; n++) {
    const fx_unit *u = &p->unit[n];
    int32_t at = p->lp.At.start[n];
    for (int32_t k = Ht->start[u->contact]; k < Ht->start[u->contact + 1]; k++)
      fill_body(p, u, k, fx_block(&p->lp.At, at++));
    for (int32_t k = 0; k < u->link_count; k++) fx_block(&p->lp.At, at++)[0] = u->weight[k];
  }
  return status;
}

static frix_status build_rows(fx_arena *arena, fx_programme *p, const int32_t *place) {
  const fx_system *s = p->statics->s;
  int32_t bodies = p->part->mover_count;
  int32_t *first = FX_TAKE(arena, int32_t, (size_t)p->unit_count + 1);
  int32_t *row = FX_TAKE(arena, int32_t, (size_t)bodies + (size_t)p->link_count + 1);
  bool *free = FX_TAKE(arena, bool, p->unit_count);
  if (!first || !row || !free) return FRIX_ERROR_MEMORY;
  for (int32_t n = 0; n < p->unit_count; n++) {
    first[n + 1] = first[n] + p->unit[n].dim;
    free[n] = p->unit[n].free;
  }
  for (int32_t e = 0; e < bodies; e++) row[e + 1] = row[e] + s->dof[p->part->mover[e] + 1] - s->dof[p->part->mover[e]];
  for (int32_t k = 0; k < p->link_count; k++) row[bodies + k + 1] = row[bodies + k] + 1;
  p->lp.unit_count = p->unit_count;
  p->lp.variable_count = first[p->unit_count];
  p->lp.node_count = bodies + p->link_count;
  p->lp.row_count = row[bodies + p->link_count];
  p->lp.first = first;
  p->lp.free = free;
  p->lp.row = row;
  return build_matrix(arena, p, place, first, row);
}

/* |r|^2 of the rows a variable stands for, torques over their arms, which T has no part in: rolling counts as it is. */
static frix_status fill_weights(fx_arena *arena, fx_programme *p) {
  p->weight = FX_TAKE(arena, double, p->lp.variable_count);
  if (!p->weight) return FRIX_ERROR_MEMORY;
  for (int32_t n = 0; n < p->unit_count; n++) {
    const fx_unit *u = &p->unit[n];
    int32_t rows = p->statics->s->contact[u->contact].dim;
    for (int32_t a = 0; a < u->dim; a++)
      for (int32_t e = 0; e < rows; e++) p->weight[p->lp.first[n] + a] += u->T[a * rows + e] * u->T[a * rows + e];
  }
  return FRIX_OK;
}

/* ---- loads ---- */

static double largest(const double *x, int32_t count) {
  double most = 0;
  for (int32_t k = 0; k < count; k++) most = fmax(most, fabs(x[k]));
  return most > 0 ? most : 1;
}

static void add_given(fx_programme *p, int32_t i, const int32_t *place) {
  const fx_statics *t = p->statics;
  const fx_block_matrix *Ht = &t->s->Ht;
  for (int32_t k = Ht->start[i]; k < Ht->start[i + 1]; k++) {
    int32_t width = fx_block_cols(Ht, k), m = Ht->index[k];
    const double *h = fx_block(Ht, k);
    for (int32_t e = 0; e < t->s->contact[i].dim * width; e++)
      p->b[p->lp.row[place[m]] + e % width] -=
          h[e] * t->given[t->s->row[i] + e / width] / t->arm[t->s->dof[m] + e % width];
  }
}

/* b = -f with what given forces bring, a = l. */
static void fill_loads(fx_programme *p, const int32_t *place, bool with_load) {
  const fx_statics *t = p->statics;
  const fx_system *s = t->s;
  int32_t at = 0, rows = p->lp.row_count;
  for (int32_t e = 0; e < p->part->mover_count; e++)
    for (int32_t k = s->dof[p->part->mover[e]]; k < s->dof[p->part->mover[e] + 1]; k++, at++) {
      p->b[at] = -t->force[k] / t->arm[k];
      p->a[at] = with_load ? t->load[k] / t->arm[k] : 0;
    }
  for (int32_t k = 0; k < p->link_count; k++) p->b[at + k] = p->link_b[k], p->a[at + k] = with_load ? p->link_a[k] : 0;
  for (int32_t c = 0; c < p->part->contact_count; c++)
    if (t->kind[p->part->contact[c]] == FX_STATICS_GIVEN) add_given(p, p->part->contact[c], place);
  p->force_scale = largest(p->b, rows);
  p->load_scale = largest(p->a, rows);
  for (int32_t k = 0; k < rows; k++) p->b[k] /= p->force_scale, p->a[k] /= p->load_scale;
  p->lp.b = p->b;
  p->lp.a = with_load ? p->a : NULL;
  p->lp.slope = with_load ? -1 : 0;
}

frix_status fx_programme_take(fx_arena *arena, const fx_statics *statics, const fx_statics_part *part,
                              const int32_t *place, bool with_load, double most_cost, fx_programme *out,
                              bool *affordable) {
  *out = (fx_programme){.statics = statics, .part = part};
  frix_status status = list_units(arena, out);
  if (status == FRIX_OK) status = build_rows(arena, out, place);
  if (status == FRIX_OK) status = fill_weights(arena, out);
  if (status != FRIX_OK) return status;
  out->b = FX_TAKE(arena, double, out->lp.row_count);
  out->a = FX_TAKE(arena, double, out->lp.row_count);
  if (!out->b || !out->a) return FRIX_ERROR_MEMORY;
  fill_loads(out, place, with_load);
  return fx_cone_lp_take(arena, most_cost, &out->lp, affordable);
}

/* ---- back ---- */

void fx_programme_forces(const fx_programme *p, double scale, double *r) {
  const fx_system *s = p->statics->s;
  for (int32_t c = 0; c < p->part->contact_count; c++) {
    int32_t i = p->part->contact[c];
    memset(r + s->row[i], 0, (size_t)s->contact[i].dim * sizeof *r);
  }
  for (int32_t n = 0; n < p->unit_count; n++) {
    const fx_unit *u = &p->unit[n];
    int32_t rows = s->contact[u->contact].dim;
    for (int32_t a = 0; a < u->dim; a++)
      for (int32_t e = 0; e < rows; e++)
        r[s->row[u->contact] + e] += u->T[a * rows + e] * p->lp.x[p->lp.first[n] + a] * (p->force_scale / scale);
  }
}

double fx_programme_factor(const fx_programme *p, double scale) {
  return p->lp.t / scale * (p->force_scale / p->load_scale);
}

void fx_programme_velocity(const fx_programme *p, double *v) {
  const fx_statics *t = p->statics;
  int32_t at = 0;
  double most = 0;
  for (int32_t k = 0; k < p->lp.row_count; k++) most = fmax(most, fabs(p->lp.y[k]));
  for (int32_t e = 0; e < p->part->mover_count; e++)
    for (int32_t k = t->s->dof[p->part->mover[e]]; k < t->s->dof[p->part->mover[e] + 1]; k++, at++)
      v[k] = most > 0 ? p->lp.y[at] / most / t->arm[k] : 0;
}
