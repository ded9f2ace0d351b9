/* Islands of soft bodies: which movers and contacts they have, and the matrix A + J' D J of their velocities.
 *
 * Contacts stand in the order of the pairs of movers they join. Those of one pair whose slopes changed enter the matrix
 * together, rows of J below each other, times D J, so that a tile of the matrix is read and written once for many
 * contacts; where slopes are symmetric, as of contacts that stick, only what is below the diagonal. Movers that do not
 * touch share no entry; they stand in the order of least degree (mosaic.h). */
#include "sim/soft_island.h"

#include <math.h>
#include <string.h>

#include "base/sort.h"
#include "linalg/dense.h"
#include "linalg/product.h"

enum { BATCH = 16 };                 /* contacts that enter the matrix together */
static const double nothing = 1e-14; /* of the square of the larger slope: a smaller determinant is rounding */

/* ---- which there are ---- */

static bool group_fits(const fx_assembly *a, int32_t k) {
  const fx_group *g = &a->group[k];
  const frix_contact *law = &a->law[k];
  bool cone = (law->cone == FRIX_CONE_CIRCULAR && g->dim == 3) || (law->cone == FRIX_CONE_FRICTIONLESS && g->dim == 1);
  if (g->kind != FX_GROUP_CONTACT || !cone) return false;
  for (int32_t j = 0; j < g->dim; j++)
    if (!(a->R[g->row + j] > 0.0) || a->R[g->row + j] != a->R[g->row + (j ? 1 : 0)]) return false;
  return true;
}

static int32_t root_of(int32_t *parent, int32_t k) {
  while (parent[k] != k) k = parent[k] = parent[parent[k]];
  return k;
}

static void join_movers(const fx_assembly *a, int32_t *parent) {
  for (int32_t k = 0; k < a->group_count; k++)
    for (int32_t b = 1; b < a->group[k].body_count; b++) {
      int32_t i = root_of(parent, a->group[k].mover[0]), j = root_of(parent, a->group[k].mover[b]);
      parent[i > j ? i : j] = i > j ? j : i;
    }
}

frix_status fx_soft_islands_find(const frix_sim *sim, const fx_assembly *a, fx_arena *arena, fx_soft_islands *out) {
  int32_t n = sim->mover_count;
  *out =
      (fx_soft_islands){FX_TAKE_RAW(arena, int32_t, n), FX_TAKE_RAW(arena, int32_t, n), FX_TAKE_RAW(arena, int32_t, n),
                        FX_TAKE_RAW(arena, int32_t, n), FX_TAKE_RAW(arena, int32_t, a->group_count)};
  if (!out->root || !out->first_mover || !out->next_mover || !out->first_group || !out->next_group)
    return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < n; k++) out->root[k] = k, out->first_mover[k] = out->first_group[k] = -1;
  join_movers(a, out->root);
  for (int32_t k = 0; k < n; k++) out->root[k] = root_of(out->root, k);
  for (int32_t k = n; k-- > 0;) {
    int32_t *first = &out->first_mover[out->root[k]];
    out->next_mover[k] = *first, *first = k;
  }
  for (int32_t k = a->group_count; k-- > 0;) {
    if (!a->group[k].body_count) continue;
    int32_t *first = &out->first_group[out->root[a->group[k].mover[0]]];
    out->next_group[k] = *first, *first = k;
  }
  return FRIX_OK;
}

bool fx_island_gather(fx_island *t, const fx_soft_islands *all, int32_t root) {
  const frix_sim *sim = t->sim;
  bool soft = false;
  t->n = t->count = t->mover_count = 0;
  for (int32_t k = all->first_mover[root]; k >= 0; k = all->next_mover[k]) {
    const fx_mover *m = &sim->mover[k];
    if (m->first < 0) continue;
    if (m->dof < 6 || (m->tree && !m->tree->soft) || t->n + m->dof > FX_ISLAND_MOST) return false;
    soft |= m->tree != NULL;
    t->n += m->dof;
    t->mover[t->mover_count++] = k;
  }
  for (int32_t k = all->first_group[root]; k >= 0 && soft; k = all->next_group[k]) {
    if (!group_fits(t->a, k)) return false;
    t->group[t->count++] = k;
  }
  t->all = t->count;
  return soft && t->all > 0;
}

/* ---- order ---- */

static void join(fx_island *t) {
  int32_t count = t->mover_count;
  for (int32_t k = 0; k < count; k++) t->place[t->mover[k]] = k;
  for (int32_t k = 0; k < count; k++) t->mosaic.filled[k * count + k] = true;
  for (int32_t k = 0; k < t->count; k++) {
    const fx_group *g = &t->a->group[t->group[k]];
    if (g->body_count < 2) continue;
    int32_t i = t->place[g->mover[0]], j = t->place[g->mover[1]];
    t->mosaic.filled[i * count + j] = t->mosaic.filled[j * count + i] = true;
  }
}

/* The mover that touches the fewest others comes next; those become each other's neighbours. */
static void order_movers(fx_island *t, int32_t *order, bool *gone) {
  int32_t count = t->mover_count;
  bool *filled = t->mosaic.filled;
  for (int32_t next = 0; next < count; next++) {
    int32_t best = -1, least = count + 1;
    for (int32_t k = 0; k < count; k++) {
      int32_t degree = 0;
      for (int32_t j = 0; j < count && !gone[k]; j++) degree += filled[k * count + j] && !gone[j];
      if (!gone[k] && degree < least) best = k, least = degree;
    }
    gone[best] = true, order[next] = t->mover[best];
    for (int32_t i = 0; i < count; i++)
      for (int32_t j = 0; j < count && filled[best * count + i] && !gone[i]; j++)
        if (filled[best * count + j] && !gone[j]) filled[i * count + j] = true;
  }
}

static int compare_pairs(int32_t a, int32_t b, const void *user) {
  const fx_island *t = user;
  const fx_group *g = &t->a->group[a], *h = &t->a->group[b];
  for (int32_t k = 0; k < 2; k++) {
    int32_t x = k < g->body_count ? t->place[g->mover[k]] : -1, y = k < h->body_count ? t->place[h->mover[k]] : -1;
    if (x != y) return x < y ? -1 : 1;
  }
  return a < b ? -1 : a > b;
}

static bool arrange(fx_island *t, fx_arena *arena) {
  size_t count = (size_t)t->mover_count;
  int32_t *start = FX_TAKE(arena, int32_t, count + 1), *order = FX_TAKE(arena, int32_t, count);
  int32_t *scratch = FX_TAKE_RAW(arena, int32_t, t->count);
  bool *gone = FX_TAKE(arena, bool, count);
  t->mosaic = (fx_mosaic){t->n, t->mover_count, start, FX_TAKE(arena, bool, count *count)};
  if (!start || !order || !scratch || !gone || !t->mosaic.filled) return false;
  join(t);
  order_movers(t, order, gone);
  memcpy(t->mover, order, count * sizeof *order);
  memset(t->mosaic.filled, 0, count * count * sizeof *t->mosaic.filled);
  join(t);
  fx_mosaic_fill(&t->mosaic);
  for (size_t k = 0; k < count; k++) {
    t->first[t->mover[k]] = start[k];
    start[k + 1] = start[k] + t->sim->mover[t->mover[k]].dof;
  }
  fx_sort_by(t->group, scratch, (size_t)t->count, compare_pairs, t);
  return true;
}

/* Zero in the blocks of the mosaic: the rest is never looked at. */
static void clear(const fx_island *t, double *matrix) {
  const fx_mosaic *m = &t->mosaic;
  for (int32_t i = 0; i < m->block_count; i++)
    for (int32_t j = 0; j < m->block_count; j++)
      for (int32_t row = m->start[i]; m->filled[i * m->block_count + j] && row < m->start[i + 1]; row++)
        memset(matrix + (size_t)row * t->n + m->start[j], 0, (size_t)(m->start[j + 1] - m->start[j]) * sizeof *matrix);
}

bool fx_island_take(fx_island *t, fx_arena *arena) {
  size_t n = (size_t)t->n;
  double **list[] = {&t->v, &t->dv, &t->off, &t->Aoff, &t->Adv, &t->F, &t->scale};
  for (size_t k = 0; k < sizeof list / sizeof *list; k++)
    if (!(*list[k] = FX_TAKE_RAW(arena, double, n))) return false;
  t->K = FX_TAKE_RAW(arena, double, n *n), t->S = FX_TAKE_RAW(arena, double, n *n);
  t->LU = FX_TAKE_RAW(arena, double, n *n);
  t->contact = FX_TAKE(arena, fx_joined, t->count);
  t->rows = FX_TAKE_RAW(arena, double, 6 * BATCH * n), t->slopes = FX_TAKE_RAW(arena, double, 6 * BATCH * n);
  t->pivot = FX_TAKE_RAW(arena, int32_t, n);
  t->skewed = false;
  if (!t->K || !t->S || !t->LU || !t->contact || !t->rows || !t->slopes || !t->pivot || !arrange(t, arena))
    return false;
  clear(t, t->S);
  for (int32_t k = 0; k < t->count; k++) {
    const fx_group *g = &t->a->group[t->group[k]];
    t->contact[k] = (fx_joined){.group = t->group[k],
                                .dim = g->dim,
                                .J = t->a->J + g->value,
                                .R = t->a->R + g->row,
                                .mu = t->a->law[t->group[k]].mu,
                                .bound = -1.0};
  }
  return true;
}

/* ---- products ---- */

/* A of a mover times x. */
static void multiply(const fx_mover *m, const double *x, double *out) {
  if (m->tree) {
    memset(out, 0, (size_t)m->dof * sizeof *out);
    fx_add_products(m->dof, m->dof, m->tree->part->dense, x, out);
    return;
  }
  frix_vec3 lin = fx_sym3_mul(m->A, fx_vec(x[0], x[1], x[2])), ang = fx_sym3_mul(m->B, fx_vec(x[3], x[4], x[5]));
  const double all[6] = {lin.x, lin.y, lin.z, ang.x, ang.y, ang.z};
  memcpy(out, all, sizeof all);
}

void fx_island_multiply(const fx_island *t, const double *x, double *out) {
  for (int32_t k = 0; k < t->mover_count; k++) {
    int32_t at = t->first[t->mover[k]];
    multiply(&t->sim->mover[t->mover[k]], x + at, out + at);
  }
}

void fx_island_before(const fx_mover *m, double *out) {
  const double all[6] = {m->v0.x, m->v0.y, m->v0.z, m->w0.x, m->w0.y, m->w0.z};
  memcpy(out, m->tree ? m->tree->v0 : all, (size_t)m->dof * sizeof *out);
}

void fx_island_free_of(const fx_mover *m, double *out) {
  if (m->tree) {
    memcpy(out, m->tree->v_free, (size_t)m->dof * sizeof *out);
    return;
  }
  const double all[6] = {m->v_free.x, m->v_free.y, m->v_free.z, m->w_free.x, m->w_free.y, m->w_free.z};
  memcpy(out, all, sizeof all);
}

void fx_island_read(const fx_island *t, const fx_joined *c, const double *x, double *out) {
  const fx_group *g = &t->a->group[c->group];
  const double *J = c->J;
  for (int32_t b = 0; b < g->body_count; b++) {
    int32_t dof = t->sim->mover[g->mover[b]].dof;
    fx_add_products(c->dim, dof, J, x + t->first[g->mover[b]], out);
    J += c->dim * dof;
  }
}

void fx_island_push(const fx_island *t, const fx_joined *c, const double *x, double *F) {
  const fx_group *g = &t->a->group[c->group];
  const double *J = c->J;
  double less[3] = {-x[0], -x[1], -x[2]};
  for (int32_t b = 0; b < g->body_count; b++) {
    int32_t dof = t->sim->mover[g->mover[b]].dof;
    fx_add_rows(c->dim, dof, J, less, F + t->first[g->mover[b]]);
    J += c->dim * dof;
  }
}

/* ---- the matrix ---- */

static void put_mass(const fx_island *t, const fx_mover *m, int32_t at) {
  double column[6], unit[6] = {0.0};
  for (int32_t j = 0; j < m->dof; j++) {
    double *row = t->S + (size_t)(at + j) * t->n + at;
    if (m->tree) {
      memcpy(row, m->tree->part->dense + (size_t)j * m->dof, (size_t)m->dof * sizeof *row);
      continue;
    }
    unit[j] = 1.0;
    multiply(m, unit, column);
    unit[j] = 0.0;
    memcpy(row, column, sizeof column);
  }
}

void fx_island_start(fx_island *t) {
  t->carried = 0.0;
  for (int32_t k = 0; k < t->mover_count; k++) {
    const fx_mover *m = &t->sim->mover[t->mover[k]];
    int32_t at = t->first[t->mover[k]];
    const double mass[6] = {m->A.xx, m->A.yy, m->A.zz, m->B.xx, m->B.yy, m->B.zz};
    put_mass(t, m, at);
    fx_island_free_of(m, t->v + at);
    multiply(m, t->v + at, t->off + at);
    for (int32_t i = 0; i < m->dof; i++) {
      t->scale[at + i] = 1.0 / (m->tree ? m->tree->part->dense[(size_t)i * m->dof + i] : mass[i]);
      t->carried += t->off[at + i] * t->off[at + i] * t->scale[at + i];
    }
    fx_island_before(m, t->v + at);
  }
}

/* out := A^-1 x of a mover, in place. */
static void respond(const fx_mover *m, double *x) {
  if (m->tree) {
    fx_dense_solve(m->tree->part, x);
    return;
  }
  frix_vec3 lin = fx_sym3_mul(m->A_inverse, fx_vec(x[0], x[1], x[2]));
  frix_vec3 ang = fx_sym3_mul(m->B_inverse, fx_vec(x[3], x[4], x[5]));
  const double all[6] = {lin.x, lin.y, lin.z, ang.x, ang.y, ang.z};
  memcpy(x, all, sizeof all);
}

void fx_island_follow(fx_island *t) {
  memset(t->F, 0, (size_t)t->n * sizeof *t->F);
  for (int32_t k = 0; k < t->count; k++) {
    fx_joined *c = &t->contact[k];
    memcpy(c->r, t->a->r + t->a->group[c->group].row, (size_t)c->dim * sizeof *c->r);
    fx_island_push(t, c, c->r, t->F);
  }
  for (int32_t k = 0; k < t->mover_count; k++) {
    const fx_mover *m = &t->sim->mover[t->mover[k]];
    int32_t at = t->first[t->mover[k]];
    respond(m, t->F + at);
    fx_island_free_of(m, t->v + at);
    for (int32_t i = at; i < at + m->dof; i++) t->v[i] -= t->F[i];
  }
}

/* Contacts of one pair of movers that change together: J and -change J below each other, by mover. */
typedef struct batch {
  const fx_group *of; /* the first of them */
  int32_t count, row_count;
  double *rows, *slopes, *to; /* to: where they go */
  bool symmetric;             /* below the diagonal only */
} batch;

/* change = sum of u v' of as few terms as it takes, two where a contact slides. The normal impulse does not depend on
 * the slip, so that the first row is (c0, 0, 0); the rest, without what its column takes, is symmetric. */
static int32_t split(const double *change, double (*u)[3], double (*v)[3]) {
  double c0 = change[0], p = change[4], q = change[8], x = change[5];
  int32_t count = 0;
  if (c0 == 0.0) { /* by rows */
    for (int i = 1; i < 3; i++) {
      const double *row = change + 3 * i;
      if (row[0] == 0.0 && row[1] == 0.0 && row[2] == 0.0) continue;
      u[count][0] = 0.0, u[count][1] = i == 1, u[count][2] = i == 2;
      memcpy(v[count++], row, sizeof *v);
    }
    return count;
  }
  u[0][0] = 1.0, u[0][1] = change[3] / c0, u[0][2] = change[6] / c0;
  v[0][0] = c0, v[0][1] = v[0][2] = 0.0;
  double most = fabs(p) > fabs(q) ? p : q, left = p * q - x * x;
  if (most == 0.0 && x == 0.0) return 1;
  if (fabs(left) <= nothing * most * most) { /* one direction */
    bool first = fabs(p) > fabs(q);
    u[1][0] = v[1][0] = 0.0;
    v[1][1] = first ? p : x, v[1][2] = first ? x : q;
    u[1][1] = v[1][1] / most, u[1][2] = v[1][2] / most;
    return 2;
  }
  for (int i = 1; i < 3; i++) {
    u[i][0] = 0.0, u[i][1] = i == 1, u[i][2] = i == 2;
    v[i][0] = 0.0, v[i][1] = i == 1 ? p : x, v[i][2] = i == 1 ? x : q;
  }
  return 3;
}

/* J and -change J of a contact whose rows change alike, as where it begins to stick or opens. */
static void pack_rows(const fx_island *t, batch *b, const fx_joined *c, const double *change) {
  const fx_group *g = &t->a->group[c->group];
  const double *J = c->J;
  for (int32_t body = 0, room = 0; body < g->body_count; body++) {
    int32_t dof = t->sim->mover[g->mover[body]].dof;
    size_t at = (size_t)room + (size_t)b->row_count * (size_t)dof;
    memcpy(b->rows + at, J, (size_t)(c->dim * dof) * sizeof *J);
    fx_scale_all(c->dim * dof, -change[0], J, b->slopes + at);
    J += c->dim * dof, room += 3 * BATCH * dof;
  }
  b->count++, b->row_count += c->dim;
}

static bool is_alike(const double *change, int32_t dim) {
  for (int32_t k = 0; k < 3; k++)
    if (k < dim && (change[4 * k] == 0.0 || change[4 * k] != change[0])) return false;
  return change[3] == 0.0 && change[5] == 0.0 && change[6] == 0.0;
}

/* u' J and -v' J of one contact below those of the contacts before it; both by mover. */
static void pack(const fx_island *t, batch *b, const fx_joined *c, const double *change) {
  const fx_group *g = &t->a->group[c->group];
  const double *J = c->J;
  double u[3][3], v[3][3], push[9], less[9];
  if (!b->count) b->of = g;
  if (is_alike(change, c->dim)) {
    pack_rows(t, b, c, change);
    return;
  }
  int32_t terms = split(change, u, v), dim = c->dim;
  for (int32_t k = 0; k < terms; k++)
    for (int32_t e = 0; e < dim; e++) push[k * dim + e] = u[k][e], less[k * dim + e] = -v[k][e];
  for (int32_t body = 0, room = 0; body < g->body_count; body++) {
    int32_t dof = t->sim->mover[g->mover[body]].dof;
    size_t at = (size_t)room + (size_t)b->row_count * (size_t)dof;
    fx_scale_rows(terms, dim, dof, 1.0, push, J, b->rows + at);
    fx_scale_rows(terms, dim, dof, 1.0, less, J, b->slopes + at);
    J += dim * dof, room += 3 * BATCH * dof;
  }
  b->count++, b->row_count += terms;
}

/* Adds J' change J of a batch to its matrix. */
static void enter(const fx_island *t, batch *b) {
  size_t to[FX_ISLAND_MOST];
  double strip[3 * BATCH * FX_STRIP];
  const fx_group *g = b->of;
  const double *slopes = b->slopes;
  for (int32_t i = 0; b->count && i < g->body_count; i++) {
    int32_t w = t->sim->mover[g->mover[i]].dof, column = t->first[g->mover[i]];
    for (int32_t c = 0, wide; c < w; c += wide) {
      const double *rows = b->rows;
      wide = fx_strip_width(w - c);
      for (int32_t e = 0; e < b->row_count; e++)
        for (int32_t x = 0; x < wide; x++) strip[e * wide + x] = slopes[(size_t)e * w + c + x];
      for (int32_t j = 0; j < g->body_count; j++) {
        int32_t m = t->sim->mover[g->mover[j]].dof, row = t->first[g->mover[j]];
        int32_t from = b->symmetric && j == i ? c : 0;
        for (int32_t x = from; x < m; x++) to[x] = (size_t)(row + x) * t->n;
        if (!b->symmetric || row >= column)
          fx_subtract_turned(m - from, wide, b->row_count, rows + from, (size_t)m, strip, b->to + column + c,
                             to + from);
        rows += 3 * BATCH * (size_t)m;
      }
    }
    slopes += 3 * BATCH * (size_t)w;
  }
  b->count = b->row_count = 0;
}

static bool same_pair(const fx_group *g, const fx_group *h) {
  if (g->body_count != h->body_count) return false;
  for (int32_t k = 0; k < g->body_count; k++)
    if (g->mover[k] != h->mover[k]) return false;
  return true;
}

/* The first row of D has but its first entry. */
static bool is_symmetric(const double *change) {
  return change[3] == 0.0 && change[6] == 0.0 && change[5] == change[7];
}

/* The matrix takes slopes that changed. */
static void refresh(fx_island *t, double still) {
  size_t room = 3 * BATCH * (size_t)t->n;
  batch both[2] = {{.rows = t->rows, .slopes = t->slopes, .to = t->K},
                   {.rows = t->rows + room, .slopes = t->slopes + room, .to = t->S, .symmetric = true}};
  for (int32_t k = 0; k < t->count; k++) {
    fx_joined *c = &t->contact[k];
    double change[9], most = 0.0, stiffness = 1.0 / c->R[0];
    for (int e = 0; e < 9; e++) {
      change[e] = c->D[e] - c->in[e];
      most = fx_max(most, fabs(change[e]));
    }
    if (!(most > still * stiffness)) continue;
    memcpy(c->in, c->D, sizeof c->in);
    batch *b = &both[is_symmetric(change)];
    if (!b->symmetric && !t->skewed) clear(t, t->K), t->skewed = true;
    if (b->count == BATCH || (b->count && !same_pair(b->of, &t->a->group[c->group]))) enter(t, b);
    pack(t, b, c, change);
  }
  enter(t, &both[0]), enter(t, &both[1]);
}

/* LU := the matrix in its blocks; whole: and zero elsewhere. */
static void copy_matrix(fx_island *t, bool whole) {
  const fx_mosaic *m = &t->mosaic;
  size_t n = (size_t)t->n;
  if (whole) memset(t->LU, 0, n * n * sizeof *t->LU);
  for (int32_t b = 0; b < m->block_count; b++)
    for (int32_t c = 0; c <= b; c++)
      for (int32_t i = m->start[b]; m->filled[b * m->block_count + c] && i < m->start[b + 1]; i++) {
        const double *S = t->S + (size_t)i * n;
        double *row = t->LU + (size_t)i * n, *column = t->LU + (size_t)m->start[c] * n + i;
        int32_t end = c < b ? m->start[c + 1] : i + 1;
        for (int32_t j = m->start[c]; j < end; j++, column += n) row[j] = *column = S[j];
      }
  for (int32_t b = 0; b < m->block_count && t->skewed; b++)
    for (int32_t c = 0; c < m->block_count; c++)
      for (int32_t i = m->start[b]; m->filled[b * m->block_count + c] && i < m->start[b + 1]; i++)
        for (int32_t j = m->start[c]; j < m->start[c + 1]; j++) t->LU[(size_t)i * n + j] += t->K[(size_t)i * n + j];
}

bool fx_island_factor(fx_island *t, double still) {
  refresh(t, still);
  copy_matrix(t, false);
  t->exchanged = !fx_mosaic_factor(&t->mosaic, t->LU);
  if (!t->exchanged) return true;
  copy_matrix(t, true); /* friction that makes it far from symmetric */
  return fx_lu_factor(t->n, t->LU, t->pivot);
}

void fx_island_solve(const fx_island *t, double *b) {
  if (t->exchanged)
    fx_lu_solve(t->n, t->LU, t->pivot, b);
  else
    fx_mosaic_solve(&t->mosaic, t->LU, b);
}
