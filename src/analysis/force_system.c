/* The linear system of an island of admissible impulses,
 *
 *   A x = b:   M^-1/2 H r = M^-1/2 H r0        global: rows by degree of freedom, M its diagonal
 *              S W r = S W r0                  reduced: rows by contact row
 *              x_0 of one unit = that of another, or a known normal impulse
 *
 * over the variables of its units. Where W is symmetric, L' of S W S = L L' takes its place, whose condition is the
 * root of that of W; where it is not, a basis of its rows. */
#include "analysis/force_set.h"

#include "analysis/row_basis.h"

#include <math.h>
#include <string.h>

#define DEPENDENT 1e-9  /* pivots below, of columns of about unit length, are rounding */
#define SYMMETRIC 1e-10 /* entries of S W S that differ by less from their mirror images are the same */
#define MOST_WORK 4e10  /* multiplications of an elimination */

typedef struct filling {
  const frix_forces *f;
  const fx_force_island *is;
  const fx_islands *islands;
  int32_t k, rows, width;
  int32_t *row_of; /* by mover or contact: its first row */
  double *a;
} filling;

static const fx_face_unit *unit_at(const filling *g, int32_t n) { return &g->f->unit[g->is->first_unit + n]; }

/* Adds value times what generator `from` of contact i does to column. */
static void add_global(const filling *g, int32_t i, const double *from, int32_t column) {
  const fx_system *s = &g->f->s;
  for (int32_t k = s->Ht.start[i]; k < s->Ht.start[i + 1]; k++) {
    int32_t m = s->Ht.index[k], width = fx_block_cols(&s->Ht, k);
    const double *h = fx_block(&s->Ht, k);
    for (int32_t c = 0; c < width; c++) {
      double sum = 0, mass = g->f->mass[s->dof[m] + c];
      for (int32_t e = 0; e < s->contact[i].dim; e++) sum += from[e] * h[e * width + c];
      g->a[(size_t)(g->row_of[m] + c) * (size_t)g->width + (size_t)column] += sum / sqrt(mass);
    }
  }
}

static void add_local(const filling *g, int32_t i, const double *from, int32_t column) {
  const fx_system *s = &g->f->s;
  for (int32_t e = g->islands->start[g->k]; e < g->islands->start[g->k + 1]; e++) {
    int32_t j = g->islands->contact[e], dim = s->contact[j].dim, width = s->contact[i].dim;
    const double *w = fx_block_at(&s->W, j, i);
    for (int32_t r = 0; w && r < dim; r++) {
      double sum = 0;
      for (int32_t c = 0; c < width; c++) sum += w[r * width + c] * from[c];
      g->a[(size_t)(g->row_of[j] + r) * (size_t)g->width + (size_t)column] += sum * g->f->scale[j];
    }
  }
}

static void add_column(const filling *g, int32_t i, const double *from, int32_t column) {
  if (g->f->s.has_velocity)
    add_global(g, i, from, column);
  else
    add_local(g, i, from, column);
}

/* r0 of the rows that the units of contact i stand for. */
static void standing_for(const frix_forces *f, int32_t i, double *out) {
  const fx_face_unit *u = &f->unit[f->unit_start[i]];
  const double *r = f->r + f->s.row[i];
  int32_t dim = f->s.contact[i].dim;
  for (int32_t e = 0; e < dim; e++)
    out[e] = f->face[i] == FRIX_FACE_FREE && f->s.R && f->s.R[f->s.row[i] + e] > 0 ? 0 : r[e];
  if (u->known) out[0] = 0;
}

/* Units whose x_0 is that of another, or known: the rows from `link` on. */
static void fill_links(const filling *g, int32_t link) {
  for (int32_t n = 0; n < g->is->unit_count; n++) {
    const fx_face_unit *u = unit_at(g, n);
    double *row = g->a + (size_t)link * (size_t)g->width;
    if (!u->tied && !u->known) continue;
    row[g->is->first[n]] = 1;
    if (u->tied) row[g->is->first[n - 1]] = -1;
    if (u->known) row[g->width - 1] = u->normal / (g->f->scale[u->contact] * g->is->impulse);
    link++;
  }
}

static int32_t count_links(const filling *g) {
  int32_t count = 0;
  for (int32_t n = 0; n < g->is->unit_count; n++) count += unit_at(g, n)->tied || unit_at(g, n)->known;
  return count;
}

static void fill(const filling *g) {
  const frix_forces *f = g->f;
  int32_t column = 0;
  for (int32_t n = 0; n < g->is->unit_count; n++)
    for (int32_t k = 0; k < unit_at(g, n)->dim; k++, column++)
      add_column(g, unit_at(g, n)->contact, unit_at(g, n)->generator[k], column);
  fill_links(g, g->rows - count_links(g));
  for (int32_t e = g->islands->start[g->k]; e < g->islands->start[g->k + 1]; e++) {
    double r[FRIX_MAX_DIM];
    int32_t i = g->islands->contact[e];
    standing_for(f, i, r);
    for (int32_t k = 0; k < f->s.contact[i].dim; k++) r[k] /= g->is->impulse;
    add_column(g, i, r, column);
  }
}

/* Rows by owner: one node each. */
static frix_status sort_rows(frix_forces *f, fx_force_island *is, const double *a, const int32_t *owner,
                             int32_t owners) {
  size_t width = (size_t)is->variable_count + 1;
  int32_t *count = FX_TAKE(&f->arena, int32_t, (size_t)owners + 1);
  is->node = FX_TAKE(&f->arena, int32_t, (size_t)is->row_count + 1);
  is->basis = FX_TAKE(&f->arena, double, (size_t)is->row_count *width);
  if (!count || !is->node || !is->basis) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < is->row_count; k++) count[owner[k] + 1]++;
  for (int32_t o = 0; o < owners; o++) {
    if (count[o + 1]) is->node[is->node_count + 1] = is->node[is->node_count] + count[o + 1], is->node_count++;
    count[o + 1] += count[o];
  }
  for (int32_t k = 0; k < is->row_count; k++)
    memcpy(is->basis + (size_t)count[owner[k]]++ * width, a + (size_t)k * width, width * sizeof *a);
  return FRIX_OK;
}

static bool has_entry(const fx_force_island *is, int32_t n, int32_t node) {
  size_t width = (size_t)is->variable_count + 1;
  for (int32_t r = is->node[node]; r < is->node[node + 1]; r++)
    for (int32_t k = is->first[n]; k < is->first[n + 1]; k++)
      if (is->basis[(size_t)r * width + (size_t)k] != 0) return true;
  return false;
}

/* Nodes by unit. */
static frix_status find_pattern(frix_forces *f, fx_force_island *is) {
  is->start = FX_TAKE(&f->arena, int32_t, (size_t)is->unit_count + 1);
  if (!is->start) return FRIX_ERROR_MEMORY;
  for (int pass = 0; pass < 2; pass++) {
    int32_t count = 0;
    for (int32_t n = 0; n < is->unit_count; n++) {
      for (int32_t m = 0; m < is->node_count; m++)
        if (has_entry(is, n, m)) {
          if (pass) is->at[count] = m;
          count++;
        }
      is->start[n + 1] = count;
    }
    if (!pass && !(is->at = FX_TAKE(&f->arena, int32_t, count))) return FRIX_ERROR_MEMORY;
  }
  return FRIX_OK;
}

/* Rows by owner; the number of owners. */
static int32_t list_rows(filling *g, int32_t *owner) {
  const fx_system *s = &g->f->s;
  const fx_islands *is = g->islands;
  int32_t owners = 0, row = 0;
  bool global = s->has_velocity;
  const int32_t *first = global ? is->mover_start : is->start, *list = global ? is->mover : is->contact;
  const int32_t *size = global ? s->dof : s->row;
  for (int32_t e = first[g->k]; e < first[g->k + 1]; e++, owners++) {
    g->row_of[list[e]] = row;
    for (int32_t d = 0; d < size[list[e] + 1] - size[list[e]]; d++, row++)
      if (owner) owner[row] = owners;
  }
  for (int32_t n = 0; n < g->is->unit_count; n++) {
    if (!unit_at(g, n)->tied && !unit_at(g, n)->known) continue;
    if (owner) owner[row] = owners;
    row++, owners++;
  }
  g->rows = row;
  return owners;
}

static double largest_impulse(const frix_forces *f, int32_t k) {
  double most = 0;
  for (int32_t e = f->islands.start[k]; e < f->islands.start[k + 1]; e++) {
    int32_t i = f->islands.contact[e];
    for (int32_t r = f->s.row[i]; r < f->s.row[i + 1]; r++) most = fmax(most, fabs(f->r[r]) / f->scale[i]);
  }
  return most > 0 ? most : 1;
}

/* ---- W as a product ---- */

/* S W S of the island, with what r0 brings in the last column; whether it is symmetric. */
static bool fill_square(const filling *g, int32_t n, double *a) {
  const frix_forces *f = g->f;
  const fx_system *s = &f->s;
  size_t width = (size_t)n + 1;
  double off = 0, most = 0;
  for (int32_t e = g->islands->start[g->k]; e < g->islands->start[g->k + 1]; e++) {
    int32_t j = g->islands->contact[e];
    for (int32_t b = s->W.start[j]; b < s->W.start[j + 1]; b++) {
      int32_t i = s->W.index[b], columns = fx_block_cols(&s->W, b);
      const double *w = fx_block(&s->W, b);
      double r0[FRIX_MAX_DIM];
      if (!f->among[i]) continue;
      standing_for(f, i, r0);
      for (int32_t r = 0; r < s->contact[j].dim; r++)
        for (int32_t c = 0; c < columns; c++) {
          double *row = a + (size_t)(g->row_of[j] + r) * width, value = f->scale[j] * w[r * columns + c] * f->scale[i];
          row[g->row_of[i] + c] = value;
          row[n] += value * r0[c] / (f->scale[i] * g->is->impulse);
        }
    }
  }
  for (int32_t r = 0; r < n; r++)
    for (int32_t c = 0; c <= r; c++) {
      double x = a[(size_t)r * width + (size_t)c], y = a[(size_t)c * width + (size_t)r];
      off = fmax(off, fabs(x - y)), most = fmax(most, fabs(x));
    }
  return off <= SYMMETRIC * most;
}

/* Rows L' over the variables in place of those of W; false where W is not symmetric, or not semidefinite. */
static frix_status take_root(fx_arena *arena, filling *g, int32_t *owner, bool *done) {
  int32_t links = count_links(g), n = g->rows - links, rank = 0;
  double *square = FX_TAKE(arena, double, (size_t)n *((size_t)n + 1));
  *done = false;
  if (!square) return FRIX_ERROR_MEMORY;
  if (!fill_square(g, n, square)) return FRIX_OK;
  int32_t *own = FX_TAKE(arena, int32_t, g->rows);
  if (!own) return FRIX_ERROR_MEMORY;
  memcpy(own, owner, (size_t)g->rows * sizeof *own);
  frix_status status = fx_symmetric_basis(arena, n, DEPENDENT, square, own, &rank, done);
  if (status != FRIX_OK || !*done) return status;
  for (int32_t k = 0; k < links; k++) owner[rank + k] = owner[n + k];
  memcpy(owner, own, (size_t)rank * sizeof *own);
  memset(g->a, 0, (size_t)g->rows * (size_t)g->width * sizeof *g->a);
  for (int32_t r = 0; r < rank; r++) {
    const double *from = square + (size_t)r * ((size_t)n + 1);
    double *to = g->a + (size_t)r * (size_t)g->width;
    for (int32_t u = 0; u < g->is->unit_count; u++) {
      const fx_face_unit *unit = unit_at(g, u);
      for (int32_t k = 0; k < unit->dim; k++)
        for (int32_t e = 0; e < g->f->s.contact[unit->contact].dim; e++)
          to[g->is->first[u] + k] +=
              from[g->row_of[unit->contact] + e] * unit->generator[k][e] / g->f->scale[unit->contact];
    }
    to[g->width - 1] = from[n];
  }
  fill_links(g, rank);
  g->rows = rank + links;
  return FRIX_OK;
}

/* ---- all of it ---- */

static frix_status build(fx_arena *own, frix_forces *f, filling *g, fx_force_island *is) {
  bool root = false, global = f->s.has_velocity;
  int32_t owners = list_rows(g, NULL), *owner = FX_TAKE(own, int32_t, g->rows);
  size_t entries = (size_t)g->rows * (size_t)g->width;
  is->affordable = (double)entries * fmin(g->rows, g->width) <= MOST_WORK;
  if (!is->affordable) return FRIX_OK;
  g->a = FX_TAKE(own, double, entries);
  double *copy = FX_TAKE(own, double, entries);
  int32_t *copy_owner = FX_TAKE(own, int32_t, g->rows);
  if (!owner || !g->a || !copy || !copy_owner) return FRIX_ERROR_MEMORY;
  list_rows(g, owner);
  frix_status status = global ? FRIX_OK : take_root(own, g, owner, &root);
  if (status != FRIX_OK) return status;
  if (!root) fill(g);
  memcpy(copy, g->a, entries * sizeof *copy);
  memcpy(copy_owner, owner, (size_t)g->rows * sizeof *owner);
  status = fx_row_basis(own, g->rows, is->variable_count, DEPENDENT, copy, copy_owner, &is->rank);
  bool as_it_is = global || root;
  is->row_count = as_it_is ? g->rows : is->rank;
  if (status == FRIX_OK) status = sort_rows(f, is, as_it_is ? g->a : copy, as_it_is ? owner : copy_owner, owners);
  return status == FRIX_OK ? find_pattern(f, is) : status;
}

frix_status fx_force_system(frix_forces *f, int32_t k) {
  fx_force_island *is = &f->island[k];
  if (is->built) return FRIX_OK;
  is->first = FX_TAKE(&f->arena, int32_t, (size_t)is->unit_count + 1);
  if (!is->first) return FRIX_ERROR_MEMORY;
  for (int32_t n = 0; n < is->unit_count; n++) is->first[n + 1] = is->first[n] + f->unit[is->first_unit + n].dim;
  is->variable_count = is->first[is->unit_count];
  is->impulse = largest_impulse(f, k);
  fx_arena own;
  fx_arena_init(&own, f->context);
  filling g = {.f = f, .is = is, .islands = &f->islands, .k = k, .width = is->variable_count + 1};
  g.row_of = FX_TAKE(&own, int32_t, f->s.has_velocity ? f->s.mover_count : f->s.contact_count);
  frix_status status = g.row_of ? build(&own, f, &g, is) : FRIX_ERROR_MEMORY;
  fx_arena_free(&own);
  is->built = status == FRIX_OK;
  return status;
}

void fx_force_impulses(const frix_forces *f, int32_t k, const double *x, double *r) {
  const fx_force_island *is = &f->island[k];
  for (int32_t n = 0; n < is->unit_count; n++) {
    const fx_face_unit *u = &f->unit[is->first_unit + n];
    if (n == 0 || u[-1].contact != u->contact) { /* what units do not stand for stays as it is in r0 */
      double part[FRIX_MAX_DIM];
      standing_for(f, u->contact, part);
      for (int32_t e = 0; e < f->s.contact[u->contact].dim; e++)
        r[f->s.row[u->contact] + e] = f->r[f->s.row[u->contact] + e] - part[e];
    }
    for (int32_t a = 0; a < u->dim; a++)
      for (int32_t e = 0; e < f->s.contact[u->contact].dim; e++)
        r[f->s.row[u->contact] + e] += u->generator[a][e] * x[is->first[n] + a] * is->impulse;
  }
}

void fx_force_measure(const frix_forces *f, int32_t k, const double *row, double *c) {
  const fx_force_island *is = &f->island[k];
  for (int32_t n = 0; n < is->unit_count; n++) {
    const fx_face_unit *u = &f->unit[is->first_unit + n];
    for (int32_t a = 0; a < u->dim; a++) {
      double sum = 0;
      for (int32_t e = 0; e < f->s.contact[u->contact].dim; e++)
        sum += u->generator[a][e] * row[f->s.row[u->contact] + e];
      c[is->first[n] + a] = sum * is->impulse;
    }
  }
}
