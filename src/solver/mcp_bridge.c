/* Contact problems as mixed complementarity problems. With u = W r + q and per friction disc r_T = B c, a = B'u_T:
 *
 *   normal     r_N >= 0  _|_  u_N >= 0                                 (law associated: u_N - s >= 0, polygons only)
 *   disc       s >= 0  _|_  r_N^2 - |c|^2 >= 0      r_N a + s c = 0      a - B'u_T = 0      c, a free
 *   polygon    b_k >= 0  _|_  mu d_k.u_T + s >= 0      s >= 0  _|_  r_N - sum b >= 0,   r_T = mu sum b_k d_k
 *   joint      r free,  u = 0
 *
 * s is the slip power per unit normal impulse; on a disc it is defined only where r_N > 0, which the associated law
 * does not allow. B = mu I for the circular cone, the scaled axes for the elliptic one; a rolling contact has two
 * discs. Polygons (pyramid, planar) keep the problem linear. Impulses and velocities are scaled so that W has mean
 * diagonal 1 and the largest |q| is 1. Reference: R. Andreani, A. Friedlander, M. Mello, S. Santos, 2003; J.-S. Pang,
 * J. Trinkle, 1996. */
#include "solver/mcp_bridge.h"

#include "linalg/sparse.h"
#include "problem/cone.h"

#include <math.h>
#include <string.h>

enum { MAX_DISCS = 2, MAX_SIZE = FRIX_MAX_FACETS + 2 };

/* One contact: where its rows and its unknowns begin, and how impulses come from unknowns. */
typedef struct link {
  int32_t row, dim;       /* in r and u */
  int32_t first, size;    /* in x */
  int32_t discs, corners; /* unknowns after r_N: per disc c(2) a(2) s; per polygon the weights, then s */
  bool joint;
  int32_t disc_row[MAX_DISCS]; /* first tangent row of a disc, relative */
  double B[MAX_DISCS][4];      /* row-major */
  double mu;
  int32_t facets; /* of the polygon; 2 for a planar contact */
  int32_t own;    /* index into own_at of the first of size * size places */
} link;

typedef struct bridge {
  frix_context *context;
  fx_arena arena;
  frix_law law;
  int32_t link_count, row_count, joint_first_row, count;
  link *link;
  double impulse, velocity; /* scales */
  fx_sparse K;              /* the linear part, with full diagonal blocks */
  double *constant;
  int32_t *own_at; /* place in K of entry (i, j) of a diagonal block, row-major */
} bridge;

/* ---- shape of a contact */

static void corner(const link *l, int32_t k, double d[2]) {
  if (l->facets == 2) {
    d[0] = k ? -1 : 1;
    d[1] = 0;
  } else {
    fx_polygon_corner(k, l->facets, d);
  }
}

static void shape(const frix_contact *contact, link *l) {
  l->size = 1;
  l->dim = contact->dim;
  l->mu = contact->mu;
  switch (contact->cone) {
    case FRIX_CONE_BILATERAL:
      l->joint = true;
      l->size = contact->dim;
      break;
    case FRIX_CONE_CIRCULAR:
    case FRIX_CONE_ROLLING:
      for (int32_t d = 0; d < (contact->cone == FRIX_CONE_ROLLING ? 2 : 1); d++) {
        double mu = d ? contact->mu_r : contact->mu;
        if (!(mu > 0)) continue;
        l->disc_row[l->discs] = 1 + 2 * d;
        l->B[l->discs][0] = l->B[l->discs][3] = mu;
        l->discs++;
      }
      break;
    case FRIX_CONE_ELLIPTIC:
      if (!(contact->mu > 0) && !(contact->mu2 > 0)) break;
      l->disc_row[0] = 1;
      l->B[0][0] = contact->mu * contact->axis[0];
      l->B[0][1] = -contact->mu2 * contact->axis[1];
      l->B[0][2] = contact->mu * contact->axis[1];
      l->B[0][3] = contact->mu2 * contact->axis[0];
      l->discs = 1;
      break;
    case FRIX_CONE_PYRAMID:
    case FRIX_CONE_PLANAR:
      l->facets = contact->cone == FRIX_CONE_PLANAR ? 2 : contact->facets;
      l->corners = contact->mu > 0 ? l->facets : 0;
      break;
    default: break;
  }
  l->size += 5 * l->discs + (l->corners ? l->corners + 1 : 0);
}

int64_t fx_bridge_count(const fx_system *system) {
  int64_t count = 0;
  for (int32_t i = 0; i < system->contact_count; i++) {
    link l = {.row = 0};
    shape(&system->contact[i], &l);
    count += l.size;
  }
  return count;
}

/* P (dim x size): r = P x. */
static void impulse_map(const link *l, double *P) {
  memset(P, 0, (size_t)(l->dim * l->size) * sizeof *P);
  for (int32_t k = 0; k < (l->joint ? l->dim : 1); k++) P[k * l->size + k] = 1;
  for (int32_t d = 0; d < l->discs; d++)
    for (int32_t e = 0; e < 4; e++) P[(l->disc_row[d] + e / 2) * l->size + 1 + 5 * d + e % 2] = l->B[d][e];
  for (int32_t k = 0; k < l->corners; k++) {
    double direction[2];
    corner(l, k, direction);
    for (int32_t e = 1; e < l->dim; e++) P[e * l->size + 1 + k] = l->mu * direction[e - 1];
  }
}

/* C (size x dim): how u enters the rows. */
static void velocity_map(const link *l, double *C) {
  memset(C, 0, (size_t)(l->dim * l->size) * sizeof *C);
  for (int32_t k = 0; k < (l->joint ? l->dim : 1); k++) C[k * l->dim + k] = 1;
  for (int32_t d = 0; d < l->discs; d++)
    for (int32_t e = 0; e < 4; e++) C[(3 + 5 * d + e % 2) * l->dim + l->disc_row[d] + e / 2] = -l->B[d][e];
  for (int32_t k = 0; k < l->corners; k++) {
    double direction[2];
    corner(l, k, direction);
    for (int32_t e = 1; e < l->dim; e++) C[(1 + k) * l->dim + e] = l->mu * direction[e - 1];
  }
}

/* Constant entries of the own block (size x size): everything linear that does not pass through u. */
static void own_linear(const link *l, frix_law law, double *own) {
  int32_t n = l->size, slip = 1 + l->corners;
  memset(own, 0, (size_t)(n * n) * sizeof *own);
  for (int32_t d = 0; d < l->discs; d++) {
    int32_t a = 3 + 5 * d;
    own[a * n + a] = own[(a + 1) * n + a + 1] = 1;
  }
  for (int32_t k = 0; k < l->corners; k++) {
    own[(1 + k) * n + slip] = 1;
    own[slip * n + 1 + k] = -1;
  }
  if (l->corners) own[slip * n] = 1;
  if (l->corners && law == FRIX_LAW_ASSOCIATED) own[slip] = -1;
}

/* ---- evaluation */

static bool function(const double *x, double *F, void *user) {
  const bridge *b = user;
  memcpy(F, b->constant, (size_t)b->count * sizeof *F);
  for (int32_t j = 0; j < b->count; j++)
    for (int32_t k = b->K.p[j]; k < b->K.p[j + 1]; k++) F[b->K.i[k]] += b->K.x[k] * x[j];
  for (int32_t i = 0; i < b->link_count; i++) {
    const link *l = &b->link[i];
    double normal = x[l->first];
    for (int32_t d = 0; d < l->discs; d++) {
      int32_t at = l->first + 1 + 5 * d;
      const double *c = x + at, *a = c + 2, s = c[4];
      F[at] += normal * a[0] + s * c[0];
      F[at + 1] += normal * a[1] + s * c[1];
      F[at + 4] += normal * normal - c[0] * c[0] - c[1] * c[1];
    }
  }
  return true;
}

static bool jacobian(const double *x, double *value, void *user) {
  const bridge *b = user;
  memcpy(value, b->K.x, (size_t)b->K.p[b->count] * sizeof *value);
  for (int32_t i = 0; i < b->link_count; i++) {
    const link *l = &b->link[i];
    double normal = x[l->first];
    for (int32_t d = 0; d < l->discs; d++) {
      int32_t at = 1 + 5 * d, n = l->size;
      const int32_t *place = b->own_at + l->own;
      const double *c = x + l->first + at, *a = c + 2, s = c[4];
      for (int32_t e = 0; e < 2; e++) {
        int32_t row = (at + e) * n, slip = (at + 4) * n;
        value[place[row]] += a[e];
        value[place[row + at + 2 + e]] += normal;
        value[place[row + at + 4]] += c[e];
        value[place[row + at + e]] += s;
        value[place[slip + at + e]] -= 2 * c[e];
      }
      value[place[(at + 4) * n]] += 2 * normal;
    }
  }
  return true;
}

/* ---- construction */

static void release(void *user) {
  bridge *b = user;
  frix_context *context = b->context;
  fx_sparse_free(context, &b->K);
  fx_arena_free(&b->arena);
  fx_free(context, b);
}

/* Entries of C_i W_ij P_j and of the own blocks; with x NULL only counts them. */
static int64_t list_entries(const bridge *b, const fx_system *s, int32_t *row, int32_t *col, double *x) {
  int64_t used = 0;
  double C[MAX_SIZE * FRIX_MAX_DIM], P[MAX_SIZE * FRIX_MAX_DIM], own[MAX_SIZE * MAX_SIZE];
  double unit = b->impulse / b->velocity;
  for (int32_t i = 0; i < b->link_count; i++) {
    const link *l = &b->link[i];
    velocity_map(l, C);
    own_linear(l, b->law, own);
    for (int32_t e = 0; e < l->size * l->size; e++, used++) {
      if (!x) continue;
      row[used] = l->first + e / l->size;
      col[used] = l->first + e % l->size;
      x[used] = own[e];
    }
    for (int32_t k = s->W.start[i]; k < s->W.start[i + 1]; k++) {
      const link *m = &b->link[s->W.index[k]];
      const double *W = fx_block(&s->W, k);
      impulse_map(m, P);
      for (int32_t r = 0; r < l->size; r++)
        for (int32_t c = 0; c < m->size; c++) {
          double sum = 0;
          bool touched = false;
          for (int32_t e = 0; e < l->dim; e++)
            for (int32_t f = 0; f < m->dim; f++) {
              if (C[r * l->dim + e] == 0 || P[f * m->size + c] == 0) continue;
              touched = true;
              double w = W[e * m->dim + f] + (m == l && e == f && s->R ? s->R[l->row + e] : 0);
              sum += C[r * l->dim + e] * w * P[f * m->size + c];
            }
          if (!touched) continue;
          if (x) {
            row[used] = l->first + r;
            col[used] = m->first + c;
            x[used] = unit * sum;
          }
          used++;
        }
    }
  }
  return used;
}

static frix_status build_linear(bridge *b, const fx_system *s) {
  fx_arena scratch;
  fx_arena_init(&scratch, b->context);
  int64_t count = list_entries(b, s, NULL, NULL, NULL);
  int32_t *row = FX_TAKE(&scratch, int32_t, count), *col = FX_TAKE(&scratch, int32_t, count);
  double *x = FX_TAKE(&scratch, double, count);
  frix_status status = FRIX_ERROR_MEMORY;
  if (row && col && x) {
    list_entries(b, s, row, col, x);
    status = fx_sparse_from_triplets(b->context, b->count, b->count, (fx_triplets){count, row, col, x}, &b->K);
  }
  fx_arena_free(&scratch);
  if (status != FRIX_OK) return status;
  /* constants, and the places of the own blocks */
  double C[MAX_SIZE * FRIX_MAX_DIM];
  for (int32_t i = 0; i < b->link_count; i++) {
    const link *l = &b->link[i];
    velocity_map(l, C);
    for (int32_t r = 0; r < l->size; r++)
      for (int32_t e = 0; e < l->dim; e++)
        b->constant[l->first + r] += C[r * l->dim + e] * s->q[l->row + e] / b->velocity;
    for (int32_t c = 0; c < l->size; c++) {
      int32_t k = b->K.p[l->first + c];
      while (b->K.i[k] < l->first) k++;
      for (int32_t r = 0; r < l->size; r++) b->own_at[l->own + r * l->size + c] = k + r; /* full, so consecutive */
    }
  }
  return FRIX_OK;
}

static frix_status build(bridge *b, const fx_system *s) {
  b->link_count = s->contact_count;
  b->row_count = s->row_count;
  b->joint_first_row = s->row[s->joint_first];
  b->link = FX_TAKE(&b->arena, link, b->link_count);
  if (!b->link) return FRIX_ERROR_MEMORY;
  int64_t count = 0, own = 0;
  for (int32_t i = 0; i < b->link_count; i++) {
    link *l = &b->link[i];
    l->row = s->row[i];
    l->first = (int32_t)count;
    l->own = (int32_t)own;
    shape(&s->contact[i], l);
    count += l->size;
    own += (int64_t)l->size * l->size;
  }
  if (own > INT32_MAX)
    return fx_fail(b->context, FRIX_ERROR_UNSUPPORTED, "too many unknowns for a complementarity problem");
  b->count = (int32_t)count;
  b->velocity = 0;
  for (int32_t k = 0; k < s->row_count; k++)
    if (fabs(s->q[k]) > b->velocity) b->velocity = fabs(s->q[k]);
  if (!(b->velocity > 0)) b->velocity = 1;
  b->impulse = b->velocity * s->rho;
  b->constant = FX_TAKE(&b->arena, double, count);
  b->own_at = FX_TAKE(&b->arena, int32_t, own);
  return b->constant && b->own_at ? build_linear(b, s) : FRIX_ERROR_MEMORY;
}

static void fill_bounds(const bridge *b, double *lower) {
  for (int32_t i = 0; i < b->link_count; i++) {
    const link *l = &b->link[i];
    for (int32_t k = 0; k < l->size; k++) {
      bool slip = k > 0 && l->discs && k % 5 == 0;
      lower[l->first + k] = l->joint || (l->discs && k > 0 && !slip) ? -INFINITY : 0;
    }
  }
}

/* All contacts press with unit impulse and slip with the free velocity: at rest (x = 0) the discs are degenerate. */
static void fill_start(const bridge *b, double *start) {
  for (int32_t i = 0; i < b->link_count; i++) {
    const link *l = &b->link[i];
    double *x = start + l->first;
    if (!l->joint) x[0] = 1;
    for (int32_t d = 0; d < l->discs; d++) {
      double *c = x + 1 + 5 * d;
      const double *constant = b->constant + l->first + 3 + 5 * d; /* -B'q */
      c[2] = -constant[0];
      c[3] = -constant[1];
      c[4] = sqrt(c[2] * c[2] + c[3] * c[3]);
    }
  }
}

frix_status fx_bridge_create(frix_context *context, const fx_system *system, frix_law law, frix_mcp **out) {
  *out = NULL;
  bridge *b = FX_NEW(context, bridge, 1);
  if (!b) return FRIX_ERROR_MEMORY;
  b->context = context;
  b->law = law;
  fx_arena_init(&b->arena, context);
  frix_status status = build(b, system);
  double *lower = status ? NULL : FX_TAKE(&b->arena, double, b->count);
  double *start = status ? NULL : FX_TAKE(&b->arena, double, b->count);
  if (!lower || !start) {
    release(b);
    return status ? status : FRIX_ERROR_MEMORY;
  }
  fill_bounds(b, lower);
  fill_start(b, start);
  bool linear = true;
  for (int32_t i = 0; i < b->link_count; i++) linear &= b->link[i].discs == 0;
  if (!linear && law == FRIX_LAW_ASSOCIATED) {
    release(b);
    return fx_fail(context, FRIX_ERROR_UNSUPPORTED,
                   "the associated law has no complementarity form here but on polygons");
  }
  frix_mcp_data data = frix_mcp_data_default();
  data.name = "contact";
  data.count = b->count;
  data.lower = lower;
  data.start = start;
  data.start_count = 1;
  data.linear = linear;
  data.function = function;
  data.jacobian = jacobian;
  data.column = b->K.p;
  data.row = b->K.i;
  data.user = b;
  data.release = release;
  return frix_mcp_create(context, &data, out);
}

/* The bridge of a problem made here, NULL for any other. */
static const bridge *bridge_of(const frix_mcp *mcp) {
  frix_mcp_data data;
  frix_mcp_view(mcp, &data);
  return data.function == function ? data.user : NULL;
}

/* Weights of the corners that give r_T: only two neighbours carry it, found by largest projection. */
static void start_polygon(const link *l, const double *r, const double *u, double *x) {
  double best = 0, slip = 0;
  int32_t at = 0;
  for (int32_t k = 0; k < l->corners; k++) {
    double d[2], along = 0, speed = 0;
    corner(l, k, d);
    for (int32_t e = 1; e < l->dim; e++) {
      along += d[e - 1] * r[e];
      speed -= l->mu * d[e - 1] * u[e];
    }
    x[1 + k] = 0;
    if (along > best) {
      best = along;
      at = k;
    }
    if (speed > slip) slip = speed;
  }
  x[1 + at] = best / l->mu < x[0] ? best / l->mu : x[0];
  x[1 + l->corners] = slip;
}

void fx_bridge_start(const frix_mcp *mcp, const double *r, const double *u, double *x) {
  const bridge *b = bridge_of(mcp);
  for (int32_t i = 0; b && i < b->link_count; i++) {
    const link *l = &b->link[i];
    double ri[FRIX_MAX_DIM] = {0}, ui[FRIX_MAX_DIM] = {0}, *xi = x + l->first;
    for (int32_t e = 0; e < l->dim; e++) {
      ri[e] = r[l->row + e] / b->impulse;
      ui[e] = u[l->row + e] / b->velocity;
    }
    for (int32_t k = 0; k < (l->joint ? l->dim : 1); k++) xi[k] = ri[k];
    for (int32_t d = 0; d < l->discs; d++) {
      const double *B = l->B[d], *rt = ri + l->disc_row[d], *ut = ui + l->disc_row[d];
      double *c = xi + 1 + 5 * d, det = B[0] * B[3] - B[1] * B[2];
      c[0] = det != 0 ? (B[3] * rt[0] - B[1] * rt[1]) / det : 0;
      c[1] = det != 0 ? (B[0] * rt[1] - B[2] * rt[0]) / det : 0;
      c[2] = B[0] * ut[0] + B[2] * ut[1];
      c[3] = B[1] * ut[0] + B[3] * ut[1];
      c[4] = sqrt(c[2] * c[2] + c[3] * c[3]);
    }
    if (l->corners) start_polygon(l, ri, ui, xi);
  }
}

/* ---- the public door */

frix_status frix_mcp_create_contact(const frix_problem *problem, frix_law law, frix_mcp **out) {
  if (!problem || !out) return FRIX_ERROR_INPUT;
  *out = NULL;
  fx_arena arena;
  fx_arena_init(&arena, problem->context);
  fx_system system;
  frix_status status = fx_system_build(&arena, problem, FRIX_FORM_LOCAL, &system);
  if (status == FRIX_OK) status = fx_bridge_create(problem->context, &system, law, out);
  fx_arena_free(&arena);
  return status;
}

void frix_mcp_contact_impulse(const frix_mcp *mcp, const double *x, double *r, double *lambda) {
  const bridge *b = bridge_of(mcp);
  if (!b || !x || !r) return;
  double P[MAX_SIZE * FRIX_MAX_DIM];
  for (int32_t i = 0; i < b->link_count; i++) {
    const link *l = &b->link[i];
    double *to = l->row < b->joint_first_row ? r + l->row : lambda ? lambda + l->row - b->joint_first_row : NULL;
    impulse_map(l, P);
    for (int32_t e = 0; to && e < l->dim; e++) {
      to[e] = 0;
      for (int32_t k = 0; k < l->size; k++) to[e] += b->impulse * P[e * l->size + k] * x[l->first + k];
    }
  }
}
