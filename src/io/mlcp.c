/* Mixed linear complementarity problems (.dat): reader.
 *
 *   0 = A u + C v + a      w = D u + B v + b,   0 <= w _|_ v >= 0        M = [A C; D B],  q = (a, b)
 *
 *   mlcp := whole parts n m [ENDS KINDS MATRIX(M) q] [A B C D a b]
 *
 * whole and parts are 0 or 1 and tell which of the two descriptions follow. ENDS are the ends of the blocks of rows,
 * from 0 to n + m; KINDS has one number per block, 0 for equations and 1 for complementarity. A, B, C, D stand row by
 * row. Where both descriptions are there they must agree. Equations become bilateral rows, the others limits; what
 * follows is a remark. */
#include <math.h>

#include "io/text.h"

/* The blocks of rows: cone[i] for every row. */
static frix_status read_kinds(fx_scan *scan, int64_t n, int64_t m, frix_contact *contact) {
  int64_t total = n + m, end = 0, kind = 0, equations = 0, count = 0;
  frix_status status = fx_scan_integer(scan, "first end of a block of rows", 0, 0, &end);
  if (status == FRIX_OK) status = fx_scan_room(scan, "the blocks of rows", 1);
  /* first pass over a copy: how many blocks there are */
  fx_scan ends = *scan;
  while (status == FRIX_OK && end < total) {
    status = fx_scan_integer(scan, "end of a block of rows", end + 1, total, &end);
    count++;
  }
  int64_t from = 0;
  for (int64_t k = 0; k < count && status == FRIX_OK; k++) {
    status = fx_scan_integer(scan, "kind of a block of rows (0 equations, 1 complementarity)", 0, 1, &kind);
    if (status == FRIX_OK) status = fx_scan_integer(&ends, "end of a block of rows", 0, total, &end);
    for (; from < end && status == FRIX_OK; from++) {
      contact[from] = (frix_contact){.cone = kind ? FRIX_CONE_LIMIT : FRIX_CONE_BILATERAL, .dim = 1};
      equations += kind == 0;
    }
  }
  if (status == FRIX_OK && equations != n)
    return fx_scan_fail(scan, "the blocks hold %lld equations, the header says %lld", (long long)equations,
                        (long long)n);
  return status;
}

/* The parts A B C D a b, and the place of their entries in M and q: equations are the rows `eq`, the others `co`. */
typedef struct parts {
  const double *A, *B, *C, *D, *a, *b;
} parts;

static frix_status read_parts(fx_scan *scan, int64_t n, int64_t m, parts *p) {
  frix_status status = fx_text_reals(scan, "A", FX_TEXT_ANY, n * n, &p->A);
  if (!status) status = fx_text_reals(scan, "B", FX_TEXT_ANY, m * m, &p->B);
  if (!status) status = fx_text_reals(scan, "C", FX_TEXT_ANY, n * m, &p->C);
  if (!status) status = fx_text_reals(scan, "D", FX_TEXT_ANY, m * n, &p->D);
  if (!status) status = fx_text_reals(scan, "a", FX_TEXT_ANY, n, &p->a);
  if (!status) status = fx_text_reals(scan, "b", FX_TEXT_ANY, m, &p->b);
  return status;
}

/* M by columns and q from the parts; place[i] is the row of the i-th equation, place[n + i] that of the i-th other. */
static void join_parts(const parts *p, int64_t n, int64_t m, const int32_t *place, double *M, double *q) {
  int64_t total = n + m;
  for (int64_t i = 0; i < total; i++) {
    q[place[i]] = i < n ? p->a[i] : p->b[i - n];
    for (int64_t j = 0; j < total; j++)
      M[place[j] * total + place[i]] = i < n ? (j < n ? p->A[i * n + j] : p->C[i * m + j - n])
                                             : (j < n ? p->D[(i - n) * n + j] : p->B[(i - n) * m + j - n]);
  }
}

static bool agree(double x, double y) { return fabs(x - y) <= 1e-9 * (1 + fabs(x) + fabs(y)); }

/* A matrix by columns, as it is or made of the entries of its blocks. */
static const double *by_columns(fx_scan *scan, const frix_matrix *W) {
  if (W->format == FRIX_MATRIX_DENSE) return W->x;
  double *x = FX_DRAFT_TAKE(scan->draft, double, (int64_t)W->row_count * W->col_count);
  for (int64_t k = 0; x && k < W->nonzero_count; k++) x[(int64_t)W->p[k] * W->row_count + W->i[k]] += W->x[k];
  return x;
}

static frix_status compare(fx_scan *scan, const frix_matrix *W, const double *q, const double *M, const double *Mq) {
  const double *x = by_columns(scan, W);
  if (!x) return FRIX_ERROR_MEMORY;
  for (int64_t i = 0; i < W->row_count; i++) {
    if (!agree(q[i], Mq[i]))
      return fx_scan_fail(scan, "row %lld of q differs between the two descriptions", (long long)i);
    for (int64_t j = 0; j < W->col_count; j++)
      if (!agree(x[j * W->row_count + i], M[j * W->row_count + i]))
        return fx_scan_fail(scan, "entry %lld, %lld of M differs between the two descriptions", (long long)i,
                            (long long)j);
  }
  return FRIX_OK;
}

/* Rows of equations first, then the others, each in order. */
static void list_places(const frix_contact *contact, int64_t n, int64_t total, int32_t *place) {
  int64_t equation = 0, other = n;
  for (int64_t i = 0; i < total; i++) place[contact[i].cone == FRIX_CONE_BILATERAL ? equation++ : other++] = (int32_t)i;
}

/* whole: M and q are known already; exact: with all their digits, to be compared. */
static frix_status add_parts(fx_scan *scan, bool whole, bool exact, int64_t n, int64_t m, const frix_contact *contact) {
  frix_problem_data *data = &scan->draft->data;
  int64_t total = n + m;
  parts p;
  frix_status status = read_parts(scan, n, m, &p);
  if (status) return status;
  int32_t *place = FX_DRAFT_TAKE(scan->draft, int32_t, total);
  double *M = FX_DRAFT_TAKE(scan->draft, double, total *total), *q = FX_DRAFT_TAKE(scan->draft, double, total);
  if (!place || !M || !q) return FRIX_ERROR_MEMORY;
  list_places(contact, n, total, place);
  join_parts(&p, n, m, place, M, q);
  if (whole) return exact ? compare(scan, &data->W, data->q, M, q) : FRIX_OK;
  data->W =
      (frix_matrix){.format = FRIX_MATRIX_DENSE, .row_count = (int32_t)total, .col_count = (int32_t)total, .x = M};
  data->q = q;
  return FRIX_OK;
}

frix_status fx_mlcp_read(fx_scan *scan) {
  frix_problem_data *data = &scan->draft->data;
  enum { SPARSE = 2 }; /* storage whose text is rounded */
  int64_t whole = 0, in_parts = 0, n = 0, m = 0, storage = 0;
  frix_status status = fx_scan_integer(scan, "whether M follows", 0, 1, &whole);
  if (!status) status = fx_scan_integer(scan, "whether A, B, C, D follow", 0, 1, &in_parts);
  if (!status) status = fx_scan_integer(scan, "number of equations", 0, INT32_MAX / 2, &n);
  if (!status) status = fx_scan_integer(scan, "number of complementarity rows", 0, INT32_MAX / 2, &m);
  if (status) return status;
  if (!whole && !in_parts) return fx_scan_fail(scan, "neither M nor its parts follow");
  int64_t total = n + m;
  status = fx_scan_room(scan, "q", total);
  frix_contact *contact = status ? NULL : FX_DRAFT_TAKE(scan->draft, frix_contact, total);
  if (!contact) return status ? status : FRIX_ERROR_MEMORY;
  for (int64_t i = 0; i < total; i++)
    contact[i] = (frix_contact){.cone = i < n ? FRIX_CONE_BILATERAL : FRIX_CONE_LIMIT, .dim = 1};
  data->form = FRIX_FORM_LOCAL;
  data->contact = contact;
  data->contact_count = data->row_count = (int32_t)total;
  if (whole) {
    status = read_kinds(scan, n, m, contact);
    fx_scan ahead = *scan;
    fx_scan_try_integer(&ahead, &storage);
    if (!status) status = fx_text_matrix(scan, "M", total, total, &data->W);
    if (!status) status = fx_text_reals(scan, "q", FX_TEXT_ANY, total, &data->q);
  }
  if (!status && in_parts) status = add_parts(scan, whole, storage != SPARSE, n, m, contact);
  return status;
}
