/* From problem data to blocks: movers, H, W = H' Y, free velocity. */
#include "problem/system.h"

#include "problem/lanes.h"
#include "problem/mass.h"
#include "problem/movers.h"
#include "problem/round_rows.h"

#include <math.h>
#include <string.h>

/* ---- contacts and joints ---- */

/* Joint columns that touch the same movers and stand together become one bilateral contact, up to FRIX_MAX_DIM rows. */
static bool same_movers(const fx_sparse *g, const int32_t *mover_of, int32_t a, int32_t b) {
  int32_t low[2] = {INT32_MAX, INT32_MAX}, high[2] = {-1, -1}, col[2] = {a, b};
  for (int side = 0; side < 2; side++)
    for (int32_t k = g->p[col[side]]; k < g->p[col[side] + 1]; k++) {
      if (g->x[k] == 0) continue;
      int32_t m = mover_of[g->i[k]];
      if (m < low[side]) low[side] = m;
      if (m > high[side]) high[side] = m;
    }
  return low[0] == low[1] && high[0] == high[1];
}

static frix_status list_contacts(fx_arena *arena, const frix_problem *p, const int32_t *mover_of, fx_system *s) {
  int32_t capacity = p->contact_count + p->joint_count;
  s->joint_first = p->contact_count;
  if (!p->joint_count) { /* as they are */
    s->contact = p->contact;
    s->row = p->row;
    s->contact_count = p->contact_count;
    s->row_count = p->row_count;
    return FRIX_OK;
  }
  frix_contact *contact = FX_TAKE_RAW(arena, frix_contact, capacity);
  int32_t *row = FX_TAKE_RAW(arena, int32_t, (size_t)capacity + 1);
  if (!contact || !row) return FRIX_ERROR_MEMORY;
  memcpy(contact, p->contact, (size_t)p->contact_count * sizeof *contact);
  memcpy(row, p->row, ((size_t)p->contact_count + 1) * sizeof *row);
  int32_t count = p->contact_count;
  for (int32_t c = 0; c < p->joint_count;) {
    int32_t dim = 1;
    while (c + dim < p->joint_count && dim < FRIX_MAX_DIM && same_movers(&p->G, mover_of, c, c + dim)) dim++;
    contact[count] = (frix_contact){.cone = FRIX_CONE_BILATERAL, .dim = dim};
    row[count + 1] = row[count] + dim;
    count++;
    c += dim;
  }
  s->contact = contact;
  s->row = row;
  s->contact_count = count;
  s->row_count = row[count];
  return FRIX_OK;
}

/* R and r_c over all rows (joints are rigid); shift -= R r_c. */
static frix_status add_compliance(fx_arena *arena, const frix_problem *p, int32_t row_count, double *shift,
                                  const double **out) {
  *out = NULL;
  if (!p->R) return FRIX_OK;
  double *R = FX_TAKE(arena, double, row_count);
  if (!R) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < p->row_count; k++) {
    R[k] = p->R[k];
    if (p->r_c) shift[k] -= p->R[k] * p->r_c[k];
  }
  *out = R;
  return FRIX_OK;
}

/* ---- diagonal blocks and scales ---- */

void fx_system_scales(fx_system *s) {
  double sum[2] = {0, 0};
  int64_t count[2] = {0, 0};
  for (int32_t i = 0; i < s->contact_count; i++) {
    int kind = s->contact[i].cone == FRIX_CONE_BILATERAL;
    for (int32_t k = s->row[i]; k < s->row[i + 1]; k++) sum[kind] += s->W_diag[k];
    count[kind] += s->contact[i].dim;
  }
  s->rho = sum[0] > 0 ? (double)count[0] / sum[0] : 1;
  s->rho_joint = sum[1] > 0 ? (double)count[1] / sum[1] : 1;
}

/* D += H Y' for one block of d rows and n columns; inlined with constant sizes for contacts on rigid bodies. */
static inline void add_diagonal(int32_t d, int32_t n, const double *h, const double *y, double *D) {
  for (int32_t a = 0; a < d; a++)
    for (int32_t b = 0; b < d; b++) {
      double sum = D[a * d + b];
      for (int32_t c = 0; c < n; c++) sum += h[a * n + c] * y[b * n + c];
      D[a * d + b] = sum;
    }
}

/* Room for D, and its offsets. */
static double *take_diagonal(fx_arena *arena, fx_system *s) {
  size_t *offset = FX_TAKE_RAW(arena, size_t, (size_t)s->contact_count + 1), at = 0;
  if (!offset) return NULL;
  for (int32_t i = 0; i < s->contact_count; i++) {
    offset[i] = at;
    at += (size_t)(s->contact[i].dim * s->contact[i].dim);
  }
  offset[s->contact_count] = at;
  s->diagonal = offset;
  double *D = FX_TAKE_RAW(arena, double, at);
  s->D = D;
  return D;
}

/* D = H' Y of contact i. Where M is diagonal, bodies have at most six degrees of freedom. */
static void velocity_diagonal(const fx_system *s, int32_t i, double *D) {
  int32_t d = s->contact[i].dim;
  double own[FRIX_MAX_DIM * 6];
  memset(D, 0, (size_t)(d * d) * sizeof *D);
  for (int32_t k = s->Ht.start[i]; k < s->Ht.start[i + 1]; k++) {
    int32_t n = fx_block_cols(&s->Ht, k);
    const double *h = fx_block(&s->Ht, k), *y = s->diagonal_mass ? own : fx_block(&s->response->Yt, k);
    if (s->diagonal_mass) fx_mass_scale(s, s->Ht.index[k], d, h, own);
    if (d == 3 && n == 6)
      add_diagonal(3, 6, h, y, D);
    else if (d == 2 && n == 3)
      add_diagonal(2, 3, h, y, D);
    else
      add_diagonal(d, n, h, y, D);
  }
}

/* W_diag and the scales from D = blocks of W, which then become blocks of W + R. */
static frix_status finish_diagonal(fx_arena *arena, fx_system *s, double *D) {
  double *diag = FX_TAKE_RAW(arena, double, s->row_count);
  if (!diag) return FRIX_ERROR_MEMORY;
  for (int32_t i = 0; i < s->contact_count; i++) {
    int32_t d = s->contact[i].dim;
    double *block = D + s->diagonal[i];
    for (int32_t a = 0; a < d; a++) {
      diag[s->row[i] + a] = block[a * d + a];
      if (s->R) block[a * d + a] += s->R[s->row[i] + a];
    }
  }
  s->W_diag = diag;
  s->has_bounds = false;
  for (int32_t i = 0; s->R && i < s->contact_count && !s->has_bounds; i++) s->has_bounds = fx_is_bound(s, i);
  fx_system_scales(s);
  return FRIX_OK;
}

/* D_i = W_ii + R_i, from W where there is one, else from H' Y. */
frix_status fx_system_diagonal(fx_arena *arena, fx_system *s) {
  double *D = take_diagonal(arena, s);
  if (!D) return FRIX_ERROR_MEMORY;
  for (int32_t i = 0; i < s->contact_count; i++) {
    size_t size = s->diagonal[i + 1] - s->diagonal[i];
    const double *w = s->has_W ? fx_block_at(&s->W, i, i) : NULL;
    if (w)
      memcpy(D + s->diagonal[i], w, size * sizeof *D);
    else if (s->has_W)
      memset(D + s->diagonal[i], 0, size * sizeof *D);
    else
      velocity_diagonal(s, i, D + s->diagonal[i]);
  }
  return finish_diagonal(arena, s, D);
}

/* ---- the velocity form ---- */

/* Blocks that the problem has already, where they are those of these movers. */
static bool has_blocks(const frix_problem *p, const fx_system *s) {
  const fx_block_matrix *a = p->blocks;
  return a && !p->joint_count && a->col_blocks == s->mover_count &&
         !memcmp(a->col, s->dof, ((size_t)s->mover_count + 1) * sizeof *a->col);
}

/* H and G side by side as one scalar matrix; without joints H itself. */
static frix_status join_directions(fx_arena *arena, const frix_problem *p, fx_sparse *out) {
  if (p->blocks) return fx_problem_columns(arena, p, out);
  *out = p->H;
  if (!p->joint_count) return FRIX_OK;
  int32_t h = p->H.p[p->row_count], g = p->G.p[p->joint_count];
  *out = (fx_sparse){.row_count = p->dof_count, .col_count = p->row_count + p->joint_count};
  out->p = FX_TAKE(arena, int32_t, (size_t)out->col_count + 1);
  out->i = FX_TAKE(arena, int32_t, (size_t)h + (size_t)g);
  out->x = FX_TAKE(arena, double, (size_t)h + (size_t)g);
  if (!out->p || !out->i || !out->x) return FRIX_ERROR_MEMORY;
  memcpy(out->p, p->H.p, ((size_t)p->row_count + 1) * sizeof *out->p);
  memcpy(out->i, p->H.i, (size_t)h * sizeof *out->i);
  memcpy(out->x, p->H.x, (size_t)h * sizeof *out->x);
  for (int32_t c = 0; c < p->joint_count; c++) out->p[p->row_count + c + 1] = h + p->G.p[c + 1];
  for (int32_t k = 0; k < g; k++) {
    out->i[h + k] = p->G.i[k];
    out->x[h + k] = p->G.x[k];
  }
  return FRIX_OK;
}

/* q += H v for d rows and n columns. */
static inline void add_velocity(int32_t d, int32_t n, const double *h, const double *v, double *q) {
  for (int32_t a = 0; a < d; a++, h += n) {
    double sum = 0;
    for (int32_t c = 0; c < n; c++) sum += h[c] * v[c];
    q[a] += sum;
  }
}

/* w over contacts and joints, with -R r_c: that of the problem where nothing is to be added. */
static frix_status list_shifts(fx_arena *arena, const frix_problem *p, fx_system *s) {
  s->w = p->w;
  if (!p->joint_count && !p->R) return FRIX_OK;
  double *w = FX_TAKE_RAW(arena, double, s->row_count);
  if (!w) return FRIX_ERROR_MEMORY;
  memcpy(w, p->w, (size_t)p->row_count * sizeof *w);
  if (p->joint_count) memcpy(w + p->row_count, p->b, (size_t)p->joint_count * sizeof *w);
  s->w = w;
  return add_compliance(arena, p, s->row_count, w, &s->R);
}

typedef struct shifting {
  fx_system *s;
  const frix_problem *p;
} shifting;

/* Most contacts stay as they are. */
static void shift_some(int32_t part, int32_t first, int32_t end, void *user) {
  fx_system *s = ((const shifting *)user)->s;
  const frix_problem *p = ((const shifting *)user)->p;
  (void)part;
  for (int32_t i = first; i < end; i++) {
    bool changed = false;
    for (int32_t k = s->row[i]; k < s->row[i + 1]; k++) {
      double w = p->w[k] - p->R[k] * p->r_c[k];
      changed |= w != s->w[k];
      s->w[k] = w;
    }
    if (!changed) continue;
    for (int32_t k = s->row[i]; k < s->row[i + 1]; k++) s->q[k] = s->w[k];
    fx_block_multiply_add_rows(&s->Ht, i, i + 1, s->v_free, s->q);
  }
}

void fx_system_shift(fx_system *s, const frix_problem *p) {
  shifting all = {s, p};
  fx_parallel_range(s->threads, s->contact_count, FX_LEAST_CONTACTS, shift_some, &all);
}

static void find_carried(fx_system *s) {
  double sum = 0;
  for (int32_t m = 0; m < s->mover_count; m++) {
    double one = fx_mover_norm(s, m, s->v_free + s->dof[m]);
    sum += one * one;
  }
  s->carried = sqrt(sum);
}

typedef struct preparation {
  const fx_system *s;
  double *D, *q;
} preparation;

static void prepare_some(int32_t part, int32_t first, int32_t last, void *user) {
  const preparation *t = user;
  const fx_system *s = t->s;
  double *D = t->D, *q = t->q;
  (void)part;
  for (int32_t i = first; i < last;) {
    if (s->diagonal_mass) i = fx_lanes_prepare(s, i, last, D, q);
    for (int32_t end = last - i < 4 ? last : i + 4; i < end; i++) {
      int32_t row = s->row[i];
      for (int32_t a = row; a < s->row[i + 1]; a++) q[a] = s->w[a];
      for (int32_t k = s->Ht.start[i]; k < s->Ht.start[i + 1]; k++) {
        const double *h = fx_block(&s->Ht, k), *v = s->v_free + s->dof[s->Ht.index[k]];
        int32_t d = s->contact[i].dim, columns = fx_block_cols(&s->Ht, k);
        if (columns == 6)
          add_velocity(d, 6, h, v, q + row);
        else
          add_velocity(d, columns, h, v, q + row);
      }
      velocity_diagonal(s, i, D + s->diagonal[i]);
    }
  }
}

/* Few contacts are solved before that pays. */
static frix_status find_round(fx_arena *arena, fx_system *s) {
  enum { FEW = 60 };
  if (!s->diagonal_mass || s->contact_count < FEW || !fx_round_sample(s)) return FRIX_OK;
  double *number = FX_TAKE_RAW(arena, double, (size_t)s->contact_count *FX_ROUND_NUMBERS);
  if (!number) return FRIX_ERROR_MEMORY;
  if (fx_round_find(s, NULL, s->contact_count, number)) s->round = number;
  return FRIX_OK;
}

/* Contact by contact: D = H' Y and the velocity without impulses; four at once where M is diagonal. */
static frix_status finish_velocity(fx_arena *arena, fx_system *s) {
  double *D = take_diagonal(arena, s), *q = FX_TAKE_RAW(arena, double, s->row_count);
  if (!D || !q) return FRIX_ERROR_MEMORY;
  preparation t = {s, D, q};
  fx_parallel_range(s->threads, s->contact_count, FX_LEAST_CONTACTS, prepare_some, &t);
  s->q = q;
  s->has_velocity = true;
  find_carried(s);
  return find_round(arena, s);
}

static frix_status build_velocity(fx_arena *arena, const frix_problem *p, fx_system *s) {
  int32_t *mover_of;
  frix_status status = fx_movers_find(arena, p, &mover_of, &s->dof, &s->mover_count);
  if (status != FRIX_OK) return status;
  s->dof_count = p->dof_count;
  if ((status = list_contacts(arena, p, mover_of, s)) != FRIX_OK) return status;
  fx_mass mass;
  if ((status = fx_mass_build(arena, p, s, &mass)) != FRIX_OK) return status;

  if (has_blocks(p, s)) {
    s->Ht = *p->blocks;
  } else {
    fx_sparse directions;
    if ((status = join_directions(arena, p, &directions)) != FRIX_OK) return status;
    status = fx_block_from_sparse(arena, &directions, true, s->contact_count, s->row, s->mover_count, s->dof, &s->Ht);
    if (status != FRIX_OK) return status;
  }
  if ((status = fx_response_build(arena, &mass, s)) != FRIX_OK) return status;
  double *v_free = FX_TAKE_RAW(arena, double, s->dof_count);
  if (!v_free) return FRIX_ERROR_MEMORY;
  if (p->v_free) memcpy(v_free, p->v_free, (size_t)s->dof_count * sizeof *v_free);
  for (int32_t m = 0; !p->v_free && m < s->mover_count; m++)
    fx_mass_solve(&mass, m, 1, p->f + s->dof[m], v_free + s->dof[m]);
  s->v_free = v_free;
  s->limit = p->limit;
  s->motion = p->motion;
  status = list_shifts(arena, p, s);
  return status == FRIX_OK ? finish_velocity(arena, s) : status;
}

/* ---- the local form ---- */

static frix_status build_local(fx_arena *arena, const frix_problem *p, fx_system *s) {
  frix_status status = list_contacts(arena, p, NULL, s);
  if (status != FRIX_OK) return status;
  double *q = FX_TAKE(arena, double, s->row_count);
  if (!q) return FRIX_ERROR_MEMORY;
  memcpy(q, p->q, (size_t)p->row_count * sizeof *q);
  s->q = q;
  if ((status = add_compliance(arena, p, s->row_count, q, &s->R)) != FRIX_OK) return status;
  s->has_W = true;
  return fx_block_from_sparse(arena, &p->W, false, s->contact_count, s->row, s->contact_count, s->row, &s->W);
}

/* Contacts that share a mover with contact i, each once, ascending: marks them in seen (stamp i + 1). */
static int32_t neighbours(const fx_system *s, const int32_t *first, const int32_t *list, int32_t i, int32_t *seen,
                          int32_t *out) {
  int32_t count = 0;
  for (int32_t k = s->Ht.start[i]; k < s->Ht.start[i + 1]; k++) {
    int32_t m = s->Ht.index[k];
    for (int32_t e = first[m]; e < first[m + 1]; e++) {
      if (seen[list[e]] == i + 1) continue;
      seen[list[e]] = i + 1;
      if (out) {
        int32_t at = count; /* insertion: lists per mover are sorted, so this is nearly a merge */
        for (; at > 0 && out[at - 1] > list[e]; at--) out[at] = out[at - 1];
        out[at] = list[e];
      }
      count++;
    }
  }
  return count;
}

/* W_ij = sum over shared movers of H_i' Y_j */
frix_status fx_system_assemble(fx_arena *arena, fx_system *s) {
  int32_t n = s->contact_count, *first = NULL, *list = NULL;
  const fx_block_matrix *Y = fx_system_response(s);
  frix_status status = Y ? fx_block_columns(arena, &s->Ht, &first, &list) : FRIX_ERROR_MEMORY;
  if (status != FRIX_OK) return status;
  int32_t *seen = FX_TAKE(arena, int32_t, n), *start = FX_TAKE(arena, int32_t, (size_t)n + 1);
  if (!seen || !start) return FRIX_ERROR_MEMORY;
  int64_t total = 0;
  for (int32_t i = 0; i < n; i++) {
    total += neighbours(s, first, list, i, seen, NULL);
    if (total > INT32_MAX)
      return fx_fail(arena->context, FRIX_ERROR_UNSUPPORTED, "W has too many blocks; use the global form");
    start[i + 1] = (int32_t)total;
  }
  int32_t *index = FX_TAKE(arena, int32_t, total);
  if (!index) return FRIX_ERROR_MEMORY;
  memset(seen, 0, (size_t)n * sizeof *seen);
  for (int32_t i = 0; i < n; i++) neighbours(s, first, list, i, seen, index + start[i]);
  status = fx_block_from_pattern(arena, n, s->row, n, s->row, start, index, &s->W);
  if (status != FRIX_OK) return status;

  for (int32_t i = 0; i < n; i++)
    for (int32_t k = s->W.start[i]; k < s->W.start[i + 1]; k++) {
      int32_t j = s->W.index[k], di = s->contact[i].dim, dj = s->contact[j].dim;
      double *block = fx_block(&s->W, k);
      int32_t a = s->Ht.start[i], b = Y->start[j];
      while (a < s->Ht.start[i + 1] && b < Y->start[j + 1]) { /* merge the two mover lists */
        if (s->Ht.index[a] < Y->index[b]) {
          a++;
        } else if (s->Ht.index[a] > Y->index[b]) {
          b++;
        } else {
          const double *h = fx_block(&s->Ht, a), *y = fx_block(Y, b);
          int32_t m = fx_block_cols(&s->Ht, a);
          for (int32_t x = 0; x < di; x++)
            for (int32_t z = 0; z < dj; z++) {
              double sum = 0;
              for (int32_t c = 0; c < m; c++) sum += h[x * m + c] * y[z * m + c];
              block[x * dj + z] += sum;
            }
          a++;
          b++;
        }
      }
    }
  s->has_W = true;
  return FRIX_OK;
}

/* Multiplications of one sweep over W, and of one over velocities (read u_i, write v). */
static bool local_is_cheaper(const fx_system *s, int32_t *rows_on) {
  double by_velocity = 2.0 * (double)s->Ht.offset[s->Ht.start[s->contact_count]], by_W = 0;
  for (int32_t i = 0; i < s->contact_count; i++)
    for (int32_t k = s->Ht.start[i]; k < s->Ht.start[i + 1]; k++) rows_on[s->Ht.index[k]] += s->contact[i].dim;
  for (int32_t m = 0; m < s->mover_count; m++)
    by_W += (double)rows_on[m] * rows_on[m]; /* counts a pair once per shared mover: an upper bound */
  return by_W <= 1.5 * by_velocity;
}

frix_status fx_system_build(fx_arena *arena, const frix_problem *problem, frix_form form, fx_system *out) {
  *out = (fx_system){.threads = problem->threads};
  if (problem->form == FRIX_FORM_LOCAL) {
    if (form == FRIX_FORM_GLOBAL)
      return fx_fail(arena->context, FRIX_ERROR_INPUT,
                     "form global: this problem is given as W and q, without M and H");
    frix_status status = build_local(arena, problem, out);
    return status == FRIX_OK ? fx_system_diagonal(arena, out) : status;
  }
  frix_status status = build_velocity(arena, problem, out);
  if (status != FRIX_OK) return status;
  bool local = form == FRIX_FORM_LOCAL;
  if (form == FRIX_FORM_AUTO) {
    int32_t *rows_on = FX_TAKE(arena, int32_t, out->mover_count);
    if (!rows_on) return FRIX_ERROR_MEMORY;
    local = local_is_cheaper(out, rows_on);
  }
  if (local) {
    status = fx_system_assemble(arena, out);
    return status == FRIX_OK ? fx_system_diagonal(arena, out) : status;
  }
  return finish_diagonal(arena, out, (double *)out->D);
}

/* ---- products ---- */

void fx_system_velocity(const fx_system *s, const double *r, double *u, double *v) {
  if (s->has_velocity) {
    fx_system_motion(s, r, v);
    memcpy(u, s->w, (size_t)s->row_count * sizeof *u);
    fx_block_multiply_add(&s->Ht, v, u);
  } else {
    memcpy(u, s->q, (size_t)s->row_count * sizeof *u);
    fx_block_multiply_add(&s->W, r, u);
  }
  for (int32_t k = 0; s->R && k < s->row_count; k++) u[k] += s->R[k] * r[k];
}
