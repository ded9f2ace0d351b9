/* Faces: what a contact may carry at the velocity of the answer.
 *
 *   u_N > 0                  nothing
 *   u_N = 0, u_T != 0        n (1, t),  t = -ds/du the point of the friction set that takes the most power from u
 *   u = 0                    K
 *
 * Speeds count as zero below `tolerance` of what the island carries, |S u| <= tolerance max(|r / S|, |S q|) with S^2
 * the effective mass: so much the certificate lets them be. Discs of rolling friction slide or stick each by itself. */
#include "analysis/force_set.h"

#include "problem/cone.h"
#include "problem/cone_slope.h"

#include <math.h>
#include <string.h>

/* ---- friction sets ---- */

#define CANCELLED 1e-5 /* of terms: times the least distance to a kink, 1e-7, some thousand roundings */

typedef struct disc {
  int32_t row, count;           /* of the contact's rows */
  double axis[2][FRIX_MAX_DIM]; /* half axes, times the friction */
} disc;

/* The discs of a friction set that has any; pyramids are listed by their corners instead. */
static int32_t list_discs(const frix_contact *c, disc out[2]) {
  int32_t count = 0;
  memset(out, 0, 2 * sizeof *out);
  if (c->cone == FRIX_CONE_ELLIPTIC) {
    double mu[2] = {c->mu, c->mu2}, axis[2][2] = {{c->axis[0], c->axis[1]}, {-c->axis[1], c->axis[0]}};
    if (!(mu[0] > 0 || mu[1] > 0)) return 0;
    out[0] = (disc){.row = 1};
    for (int32_t k = 0; k < 2; k++) {
      if (!(mu[k] > 0)) continue;
      double *a = out[0].axis[out[0].count++];
      a[1] = mu[k] * axis[k][0], a[2] = mu[k] * axis[k][1];
    }
    return 1;
  }
  bool round = c->cone == FRIX_CONE_CIRCULAR || c->cone == FRIX_CONE_PLANAR || c->cone == FRIX_CONE_ROLLING;
  if (round && c->mu > 0) {
    out[count] = (disc){.row = 1, .count = c->cone == FRIX_CONE_PLANAR ? 1 : 2};
    for (int32_t k = 0; k < out[count].count; k++) out[count].axis[k][1 + k] = c->mu;
    count++;
  }
  if (c->cone == FRIX_CONE_ROLLING && c->mu_r > 0) {
    out[count] = (disc){.row = 3, .count = 2};
    for (int32_t k = 0; k < 2; k++) out[count].axis[k][3 + k] = c->mu_r;
    count++;
  }
  return count;
}

/* Rows of the tangential velocity that a disc acts against. */
static int32_t disc_rows(const frix_contact *c, const disc *d) {
  return c->cone == FRIX_CONE_PLANAR ? 1 : c->cone == FRIX_CONE_ELLIPTIC ? 2 : d->count;
}

static double largest_of(const double *x, int32_t n) {
  double most = 0;
  for (int32_t k = 0; k < n; k++) most = fmax(most, fabs(x[k]));
  return most;
}

/* ---- units ---- */

static fx_face_unit new_unit(int32_t contact, int32_t dim) { return (fx_face_unit){.contact = contact, .dim = dim}; }

static void set_generator(const frix_forces *f, fx_face_unit *u, int32_t k, const double *g) {
  int32_t dim = f->s.contact[u->contact].dim;
  for (int32_t e = 0; e < dim; e++) u->generator[k][e] = f->scale[u->contact] * g[e];
}

static int32_t free_units(const frix_forces *f, int32_t i, fx_face_unit *out) {
  int32_t count = 0;
  for (int32_t e = 0; e < f->s.contact[i].dim; e++) {
    double g[FRIX_MAX_DIM] = {0};
    if (f->s.R && f->s.R[f->s.row[i] + e] > 0) continue; /* follows from the velocity */
    g[e] = 1;
    out[count] = new_unit(i, 1);
    out[count].free = true;
    set_generator(f, &out[count++], 0, g);
  }
  return count;
}

/* Corners of the polygon that take the most power from u; all of them where it sticks. */
static int32_t pyramid_units(const frix_forces *f, int32_t i, double nothing, fx_face_unit *out) {
  const frix_contact *c = &f->s.contact[i];
  const double *u = f->u + f->s.row[i];
  double shift = fx_cone_shift(c, u);
  int32_t count = 0;
  for (int32_t k = 0; k < c->facets; k++) {
    double corner[2], g[FRIX_MAX_DIM] = {1};
    fx_polygon_corner(k, c->facets, corner);
    g[1] = c->mu * corner[0], g[2] = c->mu * corner[1];
    if (f->face[i] == FRIX_FACE_SLIP && -(g[1] * u[1] + g[2] * u[2]) < shift - c->mu * nothing) continue;
    out[count] = new_unit(i, 1);
    set_generator(f, &out[count++], 0, g);
  }
  return count;
}

/* The slip that the disc acts against: that along an axis without friction is none. */
static double slip_of(const frix_contact *c, const disc *d, const double *u) {
  if (c->cone != FRIX_CONE_ELLIPTIC || d->count > 1) return largest_of(u + d->row, disc_rows(c, d));
  return fabs(d->axis[0][1] * u[1] + d->axis[0][2] * u[2]) / fmax(c->mu, c->mu2);
}

static bool knows_normal(const frix_forces *f, int32_t i) {
  const fx_system *s = &f->s;
  return s->contact[i].dim > 1 && s->R && s->R[s->row[i]] > 0;
}

int32_t fx_face_units(const frix_forces *f, int32_t i, fx_face_unit *out) {
  const frix_contact *c = &f->s.contact[i];
  const double *u = f->u + f->s.row[i];
  disc d[2];
  double head[FRIX_MAX_DIM] = {1}, slope[FRIX_MAX_DIM], none[FRIX_MAX_DIM] = {0};
  if (f->face[i] == FRIX_FACE_NONE || f->face[i] == FRIX_FACE_GIVEN) return 0;
  if (f->face[i] == FRIX_FACE_FREE) return free_units(f, i, out);
  bool known = knows_normal(f, i);
  if (c->cone == FRIX_CONE_PYRAMID && c->mu > 0 && !known) return pyramid_units(f, i, f->still[i], out);
  int32_t discs = list_discs(c, d), count = 0, sticking = 0;
  fx_cone_shift_slope(c, u, slope);
  bool slides[2] = {false, false};
  for (int32_t k = 0; k < discs; k++) {
    slides[k] = slip_of(c, &d[k], u) > f->still[i];
    sticking += !slides[k];
    for (int32_t e = d[k].row; slides[k] && e < d[k].row + disc_rows(c, &d[k]); e++) head[e] = -slope[e];
  }
  if (!sticking && !known) { /* a ray */
    out[0] = new_unit(i, 1);
    set_generator(f, &out[0], 0, head);
    return 1;
  }
  for (int32_t k = 0; k < discs; k++) {
    if (slides[k]) continue;
    fx_face_unit *unit = &out[count];
    *unit = new_unit(i, 1 + d[k].count);
    unit->tied = count > 0;
    unit->known = known && !unit->tied;
    unit->normal = f->r[f->s.row[i]];
    set_generator(f, unit, 0, count || known ? none : head);
    for (int32_t a = 0; a < d[k].count; a++) set_generator(f, unit, 1 + a, d[k].axis[a]);
    count++;
  }
  return count;
}

/* ---- faces ---- */

/* Compliance of a contact: 0 none, 1 the normal row alone, 2 all rows that count; -1 tangents alone. */
static int compliance_of(const fx_system *s, int32_t i) {
  if (!s->R) return 0;
  int32_t soft = 0, dim = s->contact[i].dim;
  const double *R = s->R + s->row[i];
  for (int32_t e = 0; e < dim; e++) soft += R[e] > 0;
  bool normal = R[0] > 0;
  return soft == 0 ? 0 : soft == dim ? 2 : normal && soft == 1 ? 1 : -1;
}

static frix_face face_of(const frix_forces *f, int32_t i) {
  const fx_system *s = &f->s;
  const frix_contact *c = &s->contact[i];
  const double *u = f->u + s->row[i];
  int soft = compliance_of(s, i);
  if (c->cone == FRIX_CONE_BILATERAL) return soft == 2 ? FRIX_FACE_GIVEN : FRIX_FACE_FREE;
  if (soft == 2) return FRIX_FACE_GIVEN;
  bool slides = c->dim > 1 && largest_of(u + 1, c->dim - 1) > f->still[i];
  if (soft == 1) /* friction under a known normal force */
    return slides || !(f->r[s->row[i]] > 0) ? FRIX_FACE_GIVEN : FRIX_FACE_STICK;
  if (u[0] > f->still[i]) return FRIX_FACE_NONE;
  return slides && (c->mu > 0 || c->mu2 > 0 || c->mu_r > 0) ? FRIX_FACE_SLIP : FRIX_FACE_STICK;
}

/* What a row's free velocity is the sum of: below CANCELLED of it a speed is rounding. */
static double terms_of(const fx_system *s, int32_t i, int32_t row) {
  if (!s->has_velocity) return 0;
  double sum = fabs(s->w[row]);
  for (int32_t b = s->Ht.start[i]; b < s->Ht.start[i + 1]; b++) {
    int32_t width = fx_block_cols(&s->Ht, b);
    const double *h = fx_block(&s->Ht, b) + (row - s->row[i]) * width, *v = s->v_free + s->dof[s->Ht.index[b]];
    for (int32_t c = 0; c < width; c++) sum += fabs(h[c] * v[c]);
  }
  return sum;
}

/* What the island carries, in roots of energies: largest impulse and largest free velocity of the contacts that share
 * bodies with i; where velocities cancel, no less than their rounding can be told from. */
static frix_status find_still(frix_forces *f) {
  const fx_system *s = &f->s;
  fx_islands all;
  frix_status status = fx_islands_find(&f->arena, s, NULL, &all);
  for (int32_t k = 0; status == FRIX_OK && k < all.count; k++) {
    double carried = 0;
    for (int32_t e = all.start[k]; e < all.start[k + 1]; e++) {
      int32_t i = all.contact[e], row = s->row[i], dim = s->contact[i].dim;
      carried = fmax(carried, largest_of(f->r + row, dim) / f->scale[i]);
      /* a gap that opens says nothing of what is carried */
      double q = fmax(s->q[row] > 0 && s->contact[i].cone != FRIX_CONE_BILATERAL ? 0 : fabs(s->q[row]),
                      largest_of(s->q + row + 1, dim - 1));
      carried = fmax(carried, q * f->scale[i]);
      for (int32_t a = row; a < row + dim; a++) carried = fmax(carried, CANCELLED * terms_of(s, i, a) * f->scale[i]);
    }
    for (int32_t e = all.start[k]; e < all.start[k + 1]; e++)
      f->still[all.contact[e]] = f->tolerance * carried / f->scale[all.contact[e]];
  }
  return status;
}

/* r into its face, to rounding. */
static void enter_face(frix_forces *f, int32_t i) {
  const frix_contact *c = &f->s.contact[i];
  double *r = f->r + f->s.row[i], slope[FRIX_MAX_DIM];
  disc d[2];
  if (f->face[i] == FRIX_FACE_NONE) memset(r, 0, (size_t)c->dim * sizeof *r);
  if (f->face[i] == FRIX_FACE_SLIP || f->face[i] == FRIX_FACE_STICK) fx_cone_project(c, r, r);
  if (f->face[i] != FRIX_FACE_SLIP || c->cone == FRIX_CONE_PYRAMID) return;
  const double *u = f->u + f->s.row[i];
  fx_cone_shift_slope(c, u, slope);
  int32_t discs = list_discs(c, d);
  for (int32_t k = 0; k < discs; k++) {
    int32_t rows = disc_rows(c, &d[k]);
    if (!(slip_of(c, &d[k], u) > f->still[i])) continue;
    for (int32_t e = d[k].row; e < d[k].row + rows; e++) r[e] = -slope[e] * r[0];
  }
}

frix_status fx_force_faces(frix_forces *f) {
  const fx_system *s = &f->s;
  for (int32_t i = 0; i < s->contact_count; i++) {
    double trace = 0;
    for (int32_t e = s->row[i]; e < s->row[i + 1]; e++) trace += s->W_diag[e];
    f->scale[i] = trace > 0 ? sqrt(s->contact[i].dim / trace) : 1;
  }
  frix_status status = find_still(f);
  for (int32_t i = 0; status == FRIX_OK && i < s->contact_count; i++) {
    int soft = compliance_of(s, i);
    if (s->contact[i].cone != FRIX_CONE_BILATERAL &&
        (soft < 0 || (soft == 1 && s->contact[i].cone == FRIX_CONE_PYRAMID)))
      return fx_fail(f->context, FRIX_ERROR_INPUT, "contact %d: compliance of some of its rows is not supported", i);
    f->face[i] = face_of(f, i);
    enter_face(f, i);
  }
  return status;
}
