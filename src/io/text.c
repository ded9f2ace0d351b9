/* Text problems (.dat): reader. docs/formats.md has the grammar.
 *
 *   local   := dim nc MATRIX(W) q mu             global := dim nc MATRIX(M) MATRIX(H) f w mu
 *   rolling := the same with dim 5 and mu_r      lcp    := n MATRIX(M) q      mlcp: see mlcp.c
 *
 * A file does not say which it is. An LCP shows in its first four numbers; a global problem in a second matrix header
 * that fits the first, or in a first matrix that is not as large as the contacts. */
#include "io/text.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

#include "io/scan.h"

#define ANY FX_TEXT_ANY

static frix_status expect_word(fx_scan *scan, const char *word) {
  const char *token = "";
  size_t length = 0;
  fx_scan_token(scan, &token, &length);
  if (length == strlen(word) && memcmp(token, word, length) == 0) return FRIX_OK;
  return fx_scan_fail(scan, "expected '%s', found '%s'", word, fx_word_of(token, length).text);
}

frix_status fx_text_reals(fx_scan *scan, const char *what, double minimum, int64_t count, const double **out) {
  frix_status status = fx_scan_room(scan, what, count);
  if (status) return status;
  double *x = FX_DRAFT_TAKE(scan->draft, double, count);
  if (!x) return FRIX_ERROR_MEMORY;
  *out = x;
  return fx_scan_reals(scan, what, minimum, count, x);
}

/* count whole numbers in [minimum, maximum], ascending when asked. */
static frix_status take_integers(fx_scan *scan, const char *what, int64_t minimum, int64_t maximum, bool ascending,
                                 int64_t count, int32_t **out) {
  frix_status status = fx_scan_room(scan, what, count);
  if (status) return status;
  int32_t *x = FX_DRAFT_TAKE(scan->draft, int32_t, count);
  if (!x) return FRIX_ERROR_MEMORY;
  for (int64_t k = 0; k < count && status == FRIX_OK; k++) {
    int64_t value = 0;
    status = fx_scan_integer(scan, what, minimum, maximum, &value);
    x[k] = (int32_t)value;
    if (ascending) minimum = value;
  }
  *out = x;
  return status;
}

/* Room for count entries of a triplet matrix. */
static frix_status take_triplets(fx_scan *scan, int64_t count, int32_t **row, int32_t **col, double **x,
                                 frix_matrix *out) {
  *row = FX_DRAFT_TAKE(scan->draft, int32_t, count);
  *col = FX_DRAFT_TAKE(scan->draft, int32_t, count);
  *x = FX_DRAFT_TAKE(scan->draft, double, count);
  if (!*row || !*col || !*x) return FRIX_ERROR_MEMORY;
  out->format = FRIX_MATRIX_TRIPLET;
  out->nonzero_count = count;
  out->i = *row;
  out->p = *col;
  out->x = *x;
  return FRIX_OK;
}

static frix_status read_dense(fx_scan *scan, const char *what, frix_matrix *out) {
  int64_t rows, cols;
  frix_status status = fx_scan_integer(scan, "repeated row count", out->row_count, out->row_count, &rows);
  if (!status) status = fx_scan_integer(scan, "repeated column count", out->col_count, out->col_count, &cols);
  if (status) return status;
  out->format = FRIX_MATRIX_DENSE;
  return fx_text_reals(scan, what, ANY, rows * cols, &out->x);
}

/* Block rows in compressed form, as they stand in the file. */
typedef struct block_pattern {
  int64_t count, row_blocks, col_blocks;
  int32_t *row_end, *col_end, *start, *index;
} block_pattern;

static frix_status read_block_pattern(fx_scan *scan, const char *what, const frix_matrix *m, block_pattern *b) {
  int64_t starts = 0, indices = 0;
  frix_status status = fx_scan_integer(scan, "number of blocks", 0, INT32_MAX, &b->count);
  if (!status) status = fx_scan_integer(scan, "number of block rows", 0, m->row_count, &b->row_blocks);
  if (!status) status = fx_scan_integer(scan, "number of block columns", 0, m->col_count, &b->col_blocks);
  if (!status) status = take_integers(scan, "end of a block row", 1, m->row_count, true, b->row_blocks, &b->row_end);
  if (!status) status = take_integers(scan, "end of a block column", 1, m->col_count, true, b->col_blocks, &b->col_end);
  if (status) return status;
  if ((b->row_blocks ? b->row_end[b->row_blocks - 1] : 0) != m->row_count ||
      (b->col_blocks ? b->col_end[b->col_blocks - 1] : 0) != m->col_count)
    return fx_scan_fail(scan, "the blocks of %s do not add up to %d x %d", what, m->row_count, m->col_count);
  /* Trailing empty block rows may lack their start. */
  status = fx_scan_integer(scan, "number of row starts", 1, b->row_blocks + 1, &starts);
  if (!status) status = fx_scan_integer(scan, "number of block indices", b->count, b->count, &indices);
  if (!status) status = take_integers(scan, "start of a block row", 0, b->count, true, starts, &b->start);
  if (!status) status = take_integers(scan, "block column", 0, b->col_blocks - 1, false, indices, &b->index);
  if (status) return status;
  if (b->start[0] != 0 || b->start[starts - 1] != b->count)
    return fx_scan_fail(scan, "the row starts of %s do not run from 0 to %lld", what, (long long)b->count);
  int32_t *start = FX_DRAFT_TAKE(scan->draft, int32_t, b->row_blocks + 1);
  if (!start) return FRIX_ERROR_MEMORY;
  for (int64_t k = 0; k <= b->row_blocks; k++) start[k] = b->start[k < starts ? k : starts - 1];
  b->start = start;
  return FRIX_OK;
}

/* First row (or column) and size of block k of a list of ends. */
static int32_t block_first(const int32_t *end, int64_t k) { return k ? end[k - 1] : 0; }
static int64_t block_size(const int32_t *end, int64_t k) { return (int64_t)end[k] - block_first(end, k); }

static frix_status read_blocks(fx_scan *scan, const char *what, frix_matrix *out) {
  block_pattern b = {0};
  frix_status status = read_block_pattern(scan, what, out, &b);
  if (status) return status;
  /* Every block announces itself with its number. */
  int64_t total = 0;
  for (int64_t i = 0; i < b.row_blocks; i++)
    for (int32_t k = b.start[i]; k < b.start[i + 1]; k++) {
      total += block_size(b.row_end, i) * block_size(b.col_end, b.index[k]);
      status = fx_scan_room(scan, what, total + b.count);
      if (status) return status;
    }
  int32_t *row, *col;
  double *x;
  status = take_triplets(scan, total, &row, &col, &x, out);
  int64_t at = 0;
  for (int64_t i = 0; i < b.row_blocks && !status; i++)
    for (int32_t k = b.start[i]; k < b.start[i + 1] && !status; k++) {
      int64_t number, height = block_size(b.row_end, i), size = height * block_size(b.col_end, b.index[k]);
      status = fx_scan_integer(scan, "block number", k, k, &number);
      if (!status) status = fx_scan_reals(scan, what, ANY, size, x + at);
      for (int64_t e = 0; e < size && !status; e++, at++) {
        row[at] = block_first(b.row_end, i) + (int32_t)(e % height);
        col[at] = block_first(b.col_end, b.index[k]) + (int32_t)(e / height);
      }
    }
  return status;
}

/* The header line of a sparse matrix; sizes are checked against those already read. */
static frix_status read_sparse_header(fx_scan *scan, const char *what, bool triplet, const frix_matrix *m,
                                      int64_t *count) {
  const char *line;
  size_t length;
  fx_scan_line(scan, &line, &length); /* the rest of the line that holds the origin */
  frix_status status = expect_word(scan, "CSparse");
  if (status) return status;
  fx_scan_line(scan, &line, &length);
  int64_t here = scan->line;
  fx_scan_line(scan, &line, &length);
  char text[160];
  snprintf(text, sizeof text, "%.*s", (int)(length < 150 ? length : 150), line);
  long long rows, cols, room, stored;
  const char *pattern = triplet ? " triplet: %18lld-by-%18lld, nzmax: %18lld nnz: %18lld"
                                : " %18lld-by-%18lld, nzmax: %18lld nnz: %18lld,";
  bool good = sscanf(text, pattern, &rows, &cols, &room, &stored) == 4;
  int64_t next = scan->line;
  scan->line = here;
  if (!good)
    return fx_scan_fail(scan, "expected '%sM-by-N, nzmax: Z nnz: K', found '%s'", triplet ? "triplet: " : "",
                        fx_word_of(line, length).text);
  if (rows != m->row_count || cols != m->col_count)
    return fx_scan_fail(scan, "%s is %lld-by-%lld here and %d-by-%d above", what, rows, cols, m->row_count,
                        m->col_count);
  if (stored < 0 || stored > INT32_MAX) return fx_scan_fail(scan, "%s: nnz is %lld", what, stored);
  *count = stored;
  scan->line = next;
  return FRIX_OK;
}

static frix_status read_triplets(fx_scan *scan, const char *what, int64_t count, frix_matrix *out) {
  int32_t *row, *col;
  double *x;
  frix_status status = fx_scan_room(scan, what, 4 * count);
  if (!status) status = take_triplets(scan, count, &row, &col, &x, out);
  for (int64_t k = 0; k < count && !status; k++) {
    int64_t i = 0, j = 0;
    status = fx_scan_integer(scan, "row index", 0, out->row_count - 1, &i);
    if (!status) status = fx_scan_integer(scan, "column index", 0, out->col_count - 1, &j);
    if (!status) status = expect_word(scan, ":");
    if (!status) status = fx_scan_reals(scan, what, ANY, 1, &x[k]);
    row[k] = (int32_t)i;
    col[k] = (int32_t)j;
  }
  return status;
}

/* "col j : locations a to b" (or row) opens slice j; its entries are locations a..b, which must follow on at. */
static frix_status read_slice_header(fx_scan *scan, int64_t j, int64_t at, int64_t count, int64_t *end) {
  const char *token = "";
  size_t length = 0;
  int64_t value = 0;
  fx_scan_token(scan, &token, &length);
  if (length != 3 || (memcmp(token, "col", 3) != 0 && memcmp(token, "row", 3) != 0))
    return fx_scan_fail(scan, "expected 'col %lld : locations ...', found '%s'", (long long)j,
                        fx_word_of(token, length).text);
  frix_status status = fx_scan_integer(scan, "slice number", j, j, &value);
  if (!status) status = expect_word(scan, ":");
  if (!status) status = expect_word(scan, "locations");
  if (!status) status = fx_scan_integer(scan, "first location", at, at, &value);
  if (!status) status = expect_word(scan, "to");
  if (!status) status = fx_scan_integer(scan, "last location", at - 1, count - 1, &value);
  *end = value + 1;
  return status;
}

static frix_status read_compressed(fx_scan *scan, const char *what, bool by_row, int64_t count, frix_matrix *out) {
  int32_t *row, *col;
  double *x;
  int64_t slices = by_row ? out->row_count : out->col_count, width = by_row ? out->col_count : out->row_count;
  frix_status status = fx_scan_room(scan, what, 3 * count + 7 * slices);
  if (!status) status = take_triplets(scan, count, &row, &col, &x, out);
  int64_t at = 0;
  for (int64_t j = 0; j < slices && !status; j++) {
    int64_t end = at, i = 0;
    status = read_slice_header(scan, j, at, count, &end);
    for (; at < end && !status; at++) {
      status = fx_scan_integer(scan, by_row ? "column index" : "row index", 0, width - 1, &i);
      if (!status) status = expect_word(scan, ":");
      if (!status) status = fx_scan_reals(scan, what, ANY, 1, &x[at]);
      row[at] = (int32_t)(by_row ? j : i);
      col[at] = (int32_t)(by_row ? i : j);
    }
  }
  if (!status && at != count)
    return fx_scan_fail(scan, "%s has %lld entries, its header says %lld", what, (long long)at, (long long)count);
  return status;
}

static frix_status read_sparse(fx_scan *scan, const char *what, frix_matrix *out) {
  enum { TRIPLET = 1, CSC, CSR };
  int64_t origin = 0, count = 0;
  frix_status status = fx_scan_integer(scan, "origin of a sparse matrix (1 triplet, 2 CSC, 3 CSR)", 1, 3, &origin);
  if (!status) status = read_sparse_header(scan, what, origin == TRIPLET, out, &count);
  if (status) return status;
  return origin == TRIPLET ? read_triplets(scan, what, count, out)
                           : read_compressed(scan, what, origin == CSR, count, out);
}

frix_status fx_text_matrix(fx_scan *scan, const char *what, int64_t rows, int64_t cols, frix_matrix *out) {
  int64_t storage = 0, found_rows = 0, found_cols = 0;
  frix_status status = fx_scan_integer(scan, "matrix storage (0 dense, 1 blocks, 2 sparse)", 0, 2, &storage);
  if (!status) status = fx_scan_integer(scan, "number of rows", 0, INT32_MAX - 1, &found_rows);
  if (!status) status = fx_scan_integer(scan, "number of columns", 0, INT32_MAX - 1, &found_cols);
  if (status) return status;
  if (rows < 0) rows = found_rows;
  if (cols < 0) cols = rows;
  if (found_rows != rows || found_cols != cols)
    return fx_scan_fail(scan, "%s is %lld x %lld, expected %lld x %lld", what, (long long)found_rows,
                        (long long)found_cols, (long long)rows, (long long)cols);
  out->row_count = (int32_t)rows;
  out->col_count = (int32_t)cols;
  if (storage == 0) return read_dense(scan, what, out);
  if (storage == 1) return read_blocks(scan, what, out);
  return read_sparse(scan, what, out);
}

/* Whether count ends of blocks follow, ascending to `last`. */
static bool ends_fit(fx_scan *ahead, int64_t count, int64_t last) {
  int64_t end = 0, next = 0;
  for (int64_t k = 0; k < count; k++, end = next)
    if (!fx_scan_try_integer(ahead, &next) || next < 1 || next < end || next > last) return false;
  return end == last;
}

/* Whether the pattern of a matrix in blocks follows, up to its numbers of starts and indices. */
static bool blocks_fit(fx_scan ahead, int64_t rows, int64_t cols) {
  int64_t count = 0, row_blocks = 0, col_blocks = 0, starts = 0, indices = 0;
  return fx_scan_try_integer(&ahead, &count) && fx_scan_try_integer(&ahead, &row_blocks) &&
         fx_scan_try_integer(&ahead, &col_blocks) && count >= 0 && row_blocks >= 0 && row_blocks <= rows &&
         col_blocks >= 0 && col_blocks <= cols && ends_fit(&ahead, row_blocks, rows) &&
         ends_fit(&ahead, col_blocks, cols) && fx_scan_try_integer(&ahead, &starts) &&
         fx_scan_try_integer(&ahead, &indices) && starts >= 1 && starts <= row_blocks + 1 && indices == count;
}

/* Whether a matrix of this storage can go on at scan: what follows its sizes differs by storage. */
static bool body_fits(fx_scan ahead, int64_t storage, int64_t rows, int64_t cols) {
  int64_t a = 0, b = 0;
  const char *token;
  size_t length;
  if (storage == 1) return blocks_fit(ahead, rows, cols);
  if (!fx_scan_try_integer(&ahead, &a)) return false;
  if (storage == 2) return fx_scan_token(&ahead, &token, &length) && length == 7 && !memcmp(token, "CSparse", 7);
  return fx_scan_try_integer(&ahead, &b) && a == rows && b == cols;
}

/* An LCP begins with n, a storage, and n twice more. A contact problem (2 1 2 2 ...) or an MLCP (1 1 1 1 ...) with
 * these numbers has another body. */
static bool looks_lcp(fx_scan ahead) {
  int64_t n = 0, storage = 0, rows = 0, cols = 0;
  return fx_scan_try_integer(&ahead, &n) && fx_scan_try_integer(&ahead, &storage) && storage >= 0 && storage <= 2 &&
         fx_scan_try_integer(&ahead, &rows) && fx_scan_try_integer(&ahead, &cols) && rows == n && cols == n &&
         body_fits(ahead, storage, rows, cols);
}

/* An MLCP begins with 1 1 n m (no contact problem has dimension 1). */
static bool looks_mlcp(fx_scan ahead) {
  int64_t a = 0, b = 0, n = 0, m = 0;
  return fx_scan_try_integer(&ahead, &a) && fx_scan_try_integer(&ahead, &b) && fx_scan_try_integer(&ahead, &n) &&
         fx_scan_try_integer(&ahead, &m) && (a == 0 || a == 1) && (b == 0 || b == 1) && n >= 0 && m >= 0;
}

/* After the first matrix: a second one that fits it, with more behind than a local problem would have. */
static bool looks_global(fx_scan ahead, int64_t dof, int64_t rows, int64_t local_count) {
  fx_scan rest = ahead;
  const char *token;
  size_t length;
  int64_t storage = 0, found_rows = 0, found_cols = 0, count = 0;
  while (count <= local_count && fx_scan_token(&rest, &token, &length)) count++;
  return count > local_count && fx_scan_try_integer(&ahead, &storage) && storage >= 0 && storage <= 2 &&
         fx_scan_try_integer(&ahead, &found_rows) && fx_scan_try_integer(&ahead, &found_cols) && found_rows == dof &&
         found_cols == rows && body_fits(ahead, storage, found_rows, found_cols);
}

static frix_status read_lcp(fx_scan *scan) {
  frix_problem_data *data = &scan->draft->data;
  int64_t n = 0;
  frix_status status = fx_scan_integer(scan, "size of the LCP", 0, INT32_MAX - 1, &n);
  if (!status) status = fx_text_matrix(scan, "M", n, n, &data->W);
  if (!status) status = fx_text_reals(scan, "q", ANY, n, &data->q);
  if (status) return status;
  data->form = FRIX_FORM_LOCAL;
  /* Files carry remarks after q. */
  return fx_draft_contacts(scan->draft, 1, (int32_t)n, NULL, NULL);
}

/* mu, for rolling contacts mu_r, and the flag some writers leave at the end. */
static frix_status read_friction(fx_scan *scan, int64_t dim, int64_t count) {
  const double *mu = NULL, *mu_r = NULL;
  frix_status status = fx_text_reals(scan, "mu", 0.0, count, &mu);
  if (!status && dim == 5) status = fx_text_reals(scan, "mu_r", 0.0, count, &mu_r);
  if (!status) status = fx_draft_contacts(scan->draft, (int32_t)dim, (int32_t)count, mu, mu_r);
  if (status) return status;
  int64_t flag = 0;
  fx_scan ahead = *scan;
  if (fx_scan_try_integer(&ahead, &flag) && (flag == 0 || flag == 1)) *scan = ahead;
  const char *token;
  size_t length;
  if (fx_scan_token(scan, &token, &length))
    return fx_scan_fail(scan, "'%s' after the last value", fx_word_of(token, length).text);
  return FRIX_OK;
}

static frix_status read_contact(fx_scan *scan, frix_text_kind kind) {
  frix_problem_data *data = &scan->draft->data;
  int64_t dim = 0, count = 0;
  frix_status status = fx_scan_integer(scan, "contact dimension", 2, 5, &dim);
  if (!status && dim == 4) status = fx_scan_fail(scan, "contact dimension is 4, expected 2, 3 or 5");
  if (!status) status = fx_scan_integer(scan, "number of contacts", 0, (INT32_MAX - 1) / dim, &count);
  if (status) return status;
  int64_t rows = dim * count;
  frix_matrix first = {0};
  status = fx_text_matrix(scan, "the first matrix", kind == FRIX_TEXT_LOCAL ? rows : -1, -1, &first);
  if (status) return status;
  int64_t dof = first.row_count, local_count = rows + count + (dim == 5 ? count : 0);
  if (kind == FRIX_TEXT_DETECT)
    kind = dof != rows || looks_global(*scan, dof, rows, local_count + 1) ? FRIX_TEXT_GLOBAL : FRIX_TEXT_LOCAL;
  if (kind == FRIX_TEXT_LOCAL) {
    data->form = FRIX_FORM_LOCAL;
    data->W = first;
    status = fx_text_reals(scan, "q", ANY, rows, &data->q);
  } else {
    data->form = FRIX_FORM_GLOBAL;
    data->dof_count = (int32_t)dof;
    data->M = first;
    status = fx_text_matrix(scan, "H", dof, rows, &data->H);
    if (!status) status = fx_text_reals(scan, "f", ANY, dof, &data->f);
    if (!status) status = fx_text_reals(scan, "w", ANY, rows, &data->w);
  }
  return status ? status : read_friction(scan, dim, count);
}

static frix_status read_text(fx_draft *draft, const char *bytes, size_t count, const frix_read_config *config) {
  fx_scan scan = {.draft = draft, .at = bytes, .end = bytes + count, .line = 1};
  frix_text_kind kind = config->kind;
  const char *token;
  size_t length;
  fx_scan ahead = scan;
  if (!fx_scan_token(&ahead, &token, &length)) return fx_scan_fail(&scan, "nothing but white space");
  if (kind == FRIX_TEXT_DETECT && looks_lcp(scan)) kind = FRIX_TEXT_LCP;
  if (kind == FRIX_TEXT_DETECT && looks_mlcp(scan)) kind = FRIX_TEXT_MLCP;
  if (kind == FRIX_TEXT_MLCP) return fx_mlcp_read(&scan);
  return kind == FRIX_TEXT_LCP ? read_lcp(&scan) : read_contact(&scan, kind);
}

const fx_format fx_format_text = {
    .info = {.name = "text",
             .summary = "numbers separated by white space: local, global, rolling, LCP and MLCP problems",
             .extension = ".dat .txt",
             .available = true},
    .read = read_text,
    .write = fx_text_write,
};
