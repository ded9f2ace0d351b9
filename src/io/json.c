/* JSON problems: reader. docs/formats.md describes the format; people write it by hand, so a key that means nothing is
 * an error with the nearest known one suggested, and every message has a line. */
#include "io/json.h"

#include <float.h>
#include <string.h>

#include "base/option.h"
#include "io/json_pull.h"

const uint32_t fx_json_fields[FRIX_CONE_COUNT] = {
    [FRIX_CONE_FRICTIONLESS] = FX_FIELD_DIM,
    [FRIX_CONE_CIRCULAR] = FX_FIELD_MU,
    [FRIX_CONE_ELLIPTIC] = FX_FIELD_MU | FX_FIELD_MU2 | FX_FIELD_AXIS,
    [FRIX_CONE_PYRAMID] = FX_FIELD_MU | FX_FIELD_FACETS,
    [FRIX_CONE_PLANAR] = FX_FIELD_MU,
    [FRIX_CONE_ROLLING] = FX_FIELD_MU | FX_FIELD_MU_R,
    [FRIX_CONE_LIMIT] = 0,
    [FRIX_CONE_BILATERAL] = FX_FIELD_DIM,
};

enum { KEY_SIZE = 32, TITLE_SIZE = 1024 };

/* Where a thing of the file stands, for messages about it after it has been passed. */
typedef struct vector {
  const double *x;
  int64_t count, line;
} vector;

typedef struct matrix {
  frix_matrix m;
  int64_t line;
} matrix;

/* Equal contacts in a row: memory for them is taken only when a vector has shown that there are as many. */
typedef struct run {
  frix_contact contact;
  int64_t count;
} run;

typedef struct reader {
  fx_pull json;
  fx_draft *draft;
  run *run;
  int64_t run_count, run_room, contact_line;
  matrix W, M, H, G;
  vector q, f, w, b, R, r_c, guess;
} reader;

/* Index of key in names, -1 with the error text set where it is unknown or comes a second time. */
static int32_t find_key(fx_pull *json, const char *key, const char *const *names, int32_t count, uint32_t *seen) {
  int32_t nearest = 0;
  for (int32_t k = 0; k < count; k++) {
    if (strcmp(key, names[k]) == 0) {
      bool again = *seen & 1u << k && strcmp(key, "comment") != 0;
      if (again) fx_pull_fail(json, "'%s' a second time", key);
      *seen |= 1u << k;
      return again ? -1 : k;
    }
    if (fx_text_distance(key, names[k]) < fx_text_distance(key, names[nearest])) nearest = k;
  }
  fx_pull_fail(json, "unknown key '%s', did you mean '%s'?", fx_word_of(key, strlen(key)).text, names[nearest]);
  return -1;
}

/* An array of numbers, each at least minimum. */
static frix_status read_vector(reader *in, const char *what, double minimum, vector *out) {
  fx_pull *json = &in->json;
  fx_pull_peek(json);
  out->line = json->line;
  double *x = FX_DRAFT_TAKE(in->draft, double, fx_pull_bound(json));
  if (!x) return FRIX_ERROR_MEMORY;
  out->x = x;
  bool more = false;
  frix_status status = fx_pull_enter(json, '[');
  while (!status && !(status = fx_pull_element(json, &more)) && more) {
    status = fx_pull_real(json, what, &x[out->count]);
    if (!status && x[out->count] < minimum)
      status = fx_pull_fail(json, "%s is %g, it must not be less than %g", what, x[out->count], minimum);
    out->count++;
  }
  return status;
}

/* An array of indices; *last tells the largest. */
static frix_status read_indices(reader *in, const char *what, int32_t **out, int64_t *count, int64_t *largest) {
  fx_pull *json = &in->json;
  fx_pull_peek(json);
  int32_t *x = FX_DRAFT_TAKE(in->draft, int32_t, fx_pull_bound(json));
  if (!x) return FRIX_ERROR_MEMORY;
  *out = x;
  *count = 0;
  *largest = -1;
  bool more = false;
  frix_status status = fx_pull_enter(json, '[');
  while (!status && !(status = fx_pull_element(json, &more)) && more) {
    int64_t value = 0;
    status = fx_pull_integer(json, what, 0, INT32_MAX - 1, &value);
    x[(*count)++] = (int32_t)value;
    if (value > *largest) *largest = value;
  }
  return status;
}

/* [[a, b], [c, d]]: rows as people write them; turned to columns. */
static frix_status read_rows(reader *in, const char *what, frix_matrix *out) {
  fx_pull *json = &in->json;
  double *x = FX_DRAFT_TAKE(in->draft, double, fx_pull_bound(json));
  if (!x) return FRIX_ERROR_MEMORY;
  int64_t rows = 0, cols = -1, count = 0;
  bool more = false;
  frix_status status = fx_pull_enter(json, '[');
  while (!status && !(status = fx_pull_element(json, &more)) && more) {
    int64_t before = count;
    bool another = false;
    status = fx_pull_enter(json, '[');
    while (!status && !(status = fx_pull_element(json, &another)) && another)
      status = fx_pull_real(json, what, &x[count++]);
    if (cols < 0) cols = count - before;
    if (!status && count - before != cols)
      status = fx_pull_fail(json, "row %lld of %s has %lld values, the first row %lld", (long long)rows, what,
                            (long long)(count - before), (long long)cols);
    rows++;
  }
  if (status) return status;
  if (rows > INT32_MAX - 1 || cols > INT32_MAX - 1) return fx_pull_fail(json, "%s is too large", what);
  if (cols < 0) cols = 0;
  double *turned = FX_DRAFT_TAKE(in->draft, double, count);
  if (!turned) return FRIX_ERROR_MEMORY;
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < cols; j++) turned[j * rows + i] = x[i * cols + j];
  *out = (frix_matrix){FRIX_MATRIX_DENSE, (int32_t)rows, (int32_t)cols, count, NULL, NULL, turned};
  return FRIX_OK;
}

/* [[row, column, value], ...] */
static frix_status read_entries(reader *in, const char *what, frix_matrix *out, int64_t *last_row, int64_t *last_col) {
  fx_pull *json = &in->json;
  fx_pull_peek(json);
  int64_t bound = fx_pull_bound(json) / 3 + 1, count = 0;
  int32_t *row = FX_DRAFT_TAKE(in->draft, int32_t, bound), *col = FX_DRAFT_TAKE(in->draft, int32_t, bound);
  double *x = FX_DRAFT_TAKE(in->draft, double, bound);
  if (!row || !col || !x) return FRIX_ERROR_MEMORY;
  bool more = false;
  frix_status status = fx_pull_enter(json, '[');
  while (!status && !(status = fx_pull_element(json, &more)) && more) {
    int64_t i = 0, j = 0;
    double value = 0.0;
    bool part = false;
    status = fx_pull_enter(json, '[');
    if (!status) status = fx_pull_element(json, &part);
    if (!status) status = fx_pull_integer(json, "row index", 0, INT32_MAX - 1, &i);
    if (!status) status = fx_pull_element(json, &part);
    if (!status && part) status = fx_pull_integer(json, "column index", 0, INT32_MAX - 1, &j);
    if (!status && part) status = fx_pull_element(json, &part);
    if (!status && part) status = fx_pull_real(json, what, &value);
    if (!status && part)
      status = fx_pull_element(json, &part);
    else if (!status)
      status = fx_pull_fail(json, "an entry of %s is not [row, column, value]", what);
    if (!status && part) status = fx_pull_fail(json, "an entry of %s is not [row, column, value]", what);
    if (status) break;
    row[count] = (int32_t)i;
    col[count] = (int32_t)j;
    x[count++] = value;
    if (i > *last_row) *last_row = i;
    if (j > *last_col) *last_col = j;
  }
  *out = (frix_matrix){FRIX_MATRIX_TRIPLET, 0, 0, count, col, row, x};
  return status;
}

static frix_status diagonal_matrix(reader *in, const vector *diagonal, frix_matrix *out) {
  int32_t *place = FX_DRAFT_TAKE(in->draft, int32_t, diagonal->count);
  if (!place) return FRIX_ERROR_MEMORY;
  for (int64_t k = 0; k < diagonal->count; k++) place[k] = (int32_t)k;
  int32_t n = (int32_t)diagonal->count;
  *out = (frix_matrix){FRIX_MATRIX_TRIPLET, n, n, n, place, place, diagonal->x};
  return FRIX_OK;
}

/* p, i, x of compressed columns agree with each other and with the sizes. */
static bool columns_agree(const frix_matrix *m, int64_t p_count, int64_t i_count, int64_t x_count) {
  if (p_count != (int64_t)m->col_count + 1 || m->p[0] != 0 || i_count != x_count || m->p[m->col_count] != i_count)
    return false;
  for (int32_t j = 0; j < m->col_count; j++)
    if (m->p[j] > m->p[j + 1]) return false;
  return true;
}

/* {"rows": m, "cols": n, "entries": [...]}, the same with "p", "i", "x", or {"diagonal": [...]} */
static frix_status read_sparse(reader *in, const char *what, frix_matrix *out) {
  static const char *const names[] = {"rows", "cols", "entries", "p", "i", "x", "diagonal", "comment"};
  enum { ROWS = 1, COLS = 2, ENTRIES = 4, P = 8, I = 16, X = 32, DIAGONAL = 64, COMMENT = 128 };
  fx_pull *json = &in->json;
  uint32_t seen = 0;
  int64_t rows = 0, cols = 0, p_count = 0, i_count = 0, last_row = -1, last_col = -1, last_p = -1;
  int32_t *p = NULL, *i = NULL;
  vector x = {0};
  char key[KEY_SIZE];
  bool more = false;
  frix_status status = fx_pull_enter(json, '{');
  while (!status && !(status = fx_pull_member(json, key, sizeof key, &more)) && more) {
    switch (find_key(json, key, names, 8, &seen)) {
      case 0: status = fx_pull_integer(json, "rows", 0, INT32_MAX - 1, &rows); break;
      case 1: status = fx_pull_integer(json, "cols", 0, INT32_MAX - 1, &cols); break;
      case 2: status = read_entries(in, what, out, &last_row, &last_col); break;
      case 3: status = read_indices(in, "p", &p, &p_count, &last_p); break;
      case 4: status = read_indices(in, "row index", &i, &i_count, &last_row); break;
      case 5: status = read_vector(in, what, -DBL_MAX, &x); break;
      case 6: status = read_vector(in, what, -DBL_MAX, &x); break;
      case 7: status = fx_pull_skip(json); break;
      default: status = FRIX_ERROR_FORMAT;
    }
  }
  if (status) return status;
  seen &= ~(uint32_t)COMMENT;
  if (seen == DIAGONAL) return diagonal_matrix(in, &x, out);
  if (seen == (ROWS | COLS | P | I | X))
    *out = (frix_matrix){FRIX_MATRIX_CSC, 0, 0, x.count, p, i, x.x};
  else if (seen != (ROWS | COLS | ENTRIES))
    return fx_pull_fail(json, "%s needs rows, cols and entries, or rows, cols, p, i and x, or diagonal alone", what);
  out->row_count = (int32_t)rows;
  out->col_count = (int32_t)cols;
  if (last_row >= rows || last_col >= cols)
    return fx_pull_fail(json, "%s is %lld x %lld, but an index is %lld", what, (long long)rows, (long long)cols,
                        (long long)(last_row >= rows ? last_row : last_col));
  if (p && !columns_agree(out, p_count, i_count, x.count))
    return fx_pull_fail(json, "%s: p, i and x do not agree with each other or with %lld columns", what,
                        (long long)cols);
  return FRIX_OK;
}

static frix_status read_matrix(reader *in, const char *what, matrix *out) {
  char c = fx_pull_peek(&in->json);
  out->line = in->json.line;
  return c == '[' ? read_rows(in, what, &out->m) : read_sparse(in, what, &out->m);
}

static frix_status read_cone(fx_pull *json, frix_cone *out) {
  char name[KEY_SIZE];
  frix_status status = fx_pull_string(json, name, sizeof name);
  if (status) return status;
  int32_t nearest = 0;
  for (int32_t k = 0; k < FRIX_CONE_COUNT; k++) {
    const char *known = frix_cone_table(k)->name;
    *out = (frix_cone)k;
    if (strcmp(name, known) == 0) return FRIX_OK;
    if (fx_text_distance(name, known) < fx_text_distance(name, frix_cone_table(nearest)->name)) nearest = k;
  }
  return fx_pull_fail(json, "unknown cone '%s', did you mean '%s'?", fx_word_of(name, strlen(name)).text,
                      frix_cone_table(nearest)->name);
}

static frix_status read_coefficient(fx_pull *json, const char *what, double *out) {
  frix_status status = fx_pull_real(json, what, out);
  if (!status && *out < 0.0) status = fx_pull_fail(json, "%s is %g, it must not be negative", what, *out);
  return status;
}

static frix_status read_axis(fx_pull *json, double axis[2]) {
  bool more = false;
  frix_status status = fx_pull_enter(json, '[');
  for (int k = 0; k < 2 && !status; k++) {
    status = fx_pull_element(json, &more);
    if (!status && more)
      status = fx_pull_real(json, "axis", &axis[k]);
    else if (!status)
      return fx_pull_fail(json, "axis needs two numbers");
  }
  if (!status) status = fx_pull_element(json, &more);
  if (!status && more) status = fx_pull_fail(json, "axis needs two numbers");
  return status;
}

/* Every field the cone has, none that it has not. */
static frix_status check_contact(fx_pull *json, uint32_t seen, bool cone_given, run *out) {
  static const char *const names[] = {"dim", "mu", "mu2", "mu_r", "axis", "facets"};
  frix_contact *contact = &out->contact;
  if (!cone_given) return fx_pull_fail(json, "a contact needs a cone");
  const frix_cone_info *cone = frix_cone_table((int32_t)contact->cone);
  uint32_t fields = fx_json_fields[contact->cone];
  for (int k = 0; k < 6; k++) {
    uint32_t bit = 1u << k;
    if (bit == FX_FIELD_DIM && seen & bit) continue; /* always allowed, checked below */
    if (seen & bit && !(fields & bit)) return fx_pull_fail(json, "a %s cone has no %s", cone->name, names[k]);
    if (fields & bit && !(seen & bit) && bit != FX_FIELD_AXIS)
      return fx_pull_fail(json, "a %s cone needs %s", cone->name, names[k]);
  }
  if (!(seen & FX_FIELD_DIM)) contact->dim = cone->max_dim;
  if (contact->dim < cone->min_dim || contact->dim > cone->max_dim)
    return fx_pull_fail(json, "a %s cone with dim %d, expected %d to %d", cone->name, contact->dim, cone->min_dim,
                        cone->max_dim);
  if (contact->cone == FRIX_CONE_ELLIPTIC && contact->axis[0] == 0.0 && contact->axis[1] == 0.0)
    return fx_pull_fail(json, "axis is zero");
  return FRIX_OK;
}

static frix_status read_contact(reader *in, run *out) {
  static const char *const names[] = {"dim", "mu", "mu2", "mu_r", "axis", "facets", "cone", "count", "comment"};
  enum { FIELDS = 63, CONE = 64 };
  fx_pull *json = &in->json;
  uint32_t seen = 0;
  int64_t value = 0;
  char key[KEY_SIZE];
  bool more = false;
  *out = (run){.count = 1};
  frix_status status = fx_pull_enter(json, '{');
  while (!status && !(status = fx_pull_member(json, key, sizeof key, &more)) && more) {
    switch (find_key(json, key, names, 9, &seen)) {
      case 0:
        status = fx_pull_integer(json, "dim", 1, FRIX_MAX_DIM, &value);
        out->contact.dim = (int32_t)value;
        break;
      case 1: status = read_coefficient(json, "mu", &out->contact.mu); break;
      case 2: status = read_coefficient(json, "mu2", &out->contact.mu2); break;
      case 3: status = read_coefficient(json, "mu_r", &out->contact.mu_r); break;
      case 4: status = read_axis(json, out->contact.axis); break;
      case 5:
        status = fx_pull_integer(json, "facets", 3, FRIX_MAX_FACETS, &value);
        out->contact.facets = (int32_t)value;
        break;
      case 6: status = read_cone(json, &out->contact.cone); break;
      case 7: status = fx_pull_integer(json, "count", 0, INT32_MAX, &out->count); break;
      case 8: status = fx_pull_skip(json); break;
      default: status = FRIX_ERROR_FORMAT;
    }
  }
  if (status) return status;
  if (out->contact.cone == FRIX_CONE_ELLIPTIC && !(seen & FX_FIELD_AXIS)) out->contact.axis[0] = 1.0;
  return check_contact(json, seen & FIELDS, seen & CONE, out);
}

static frix_status read_contacts(reader *in) {
  fx_pull *json = &in->json;
  fx_pull_peek(json);
  in->contact_line = json->line;
  bool more = false;
  frix_status status = fx_pull_enter(json, '[');
  while (!status && !(status = fx_pull_element(json, &more)) && more) {
    if (in->run_count == in->run_room) {
      int64_t room = in->run_room ? 2 * in->run_room : 64;
      run *grown = FX_DRAFT_TAKE(in->draft, run, room);
      if (!grown) return FRIX_ERROR_MEMORY;
      if (in->run_count) memcpy(grown, in->run, (size_t)in->run_count * sizeof *grown);
      in->run = grown;
      in->run_room = room;
    }
    status = read_contact(in, &in->run[in->run_count]);
    in->run_count++;
  }
  return status;
}

static frix_status read_format(fx_pull *json) {
  char text[KEY_SIZE];
  frix_status status = fx_pull_string(json, text, sizeof text);
  if (!status && strcmp(text, FX_JSON_FORMAT) != 0)
    status = fx_pull_fail(json, "format is '%s', expected '%s'", fx_word_of(text, strlen(text)).text, FX_JSON_FORMAT);
  return status;
}

static frix_status read_title(reader *in) {
  char *title = FX_DRAFT_TAKE(in->draft, char, TITLE_SIZE);
  if (!title) return FRIX_ERROR_MEMORY;
  in->draft->data.title = title;
  return fx_pull_string(&in->json, title, TITLE_SIZE);
}

static frix_status read_members(reader *in) {
  static const char *const names[] = {"format", "title", "comment", "contacts", "W", "M",   "H",    "G",
                                      "q",      "f",     "w",       "b",        "R", "r_c", "guess"};
  matrix *const matrices[] = {&in->W, &in->M, &in->H, &in->G};
  vector *const vectors[] = {&in->q, &in->f, &in->w, &in->b, &in->R, &in->r_c, &in->guess};
  enum { FORMAT, TITLE, COMMENT, CONTACTS, MATRIX, VECTOR = 8, COMPLIANCE = 12, COUNT = 15 };
  uint32_t seen = 0;
  char key[KEY_SIZE];
  bool more = false;
  frix_status status = fx_pull_enter(&in->json, '{');
  while (!status && !(status = fx_pull_member(&in->json, key, sizeof key, &more)) && more) {
    int32_t k = find_key(&in->json, key, names, COUNT, &seen);
    if (k < 0) return FRIX_ERROR_FORMAT;
    if (k == FORMAT)
      status = read_format(&in->json);
    else if (k == TITLE)
      status = read_title(in);
    else if (k == COMMENT)
      status = fx_pull_skip(&in->json);
    else if (k == CONTACTS)
      status = read_contacts(in);
    else if (k < VECTOR)
      status = read_matrix(in, key, matrices[k - MATRIX]);
    else
      status = read_vector(in, key, k == COMPLIANCE ? 0.0 : -DBL_MAX, vectors[k - VECTOR]);
  }
  if (!status) status = fx_pull_end(&in->json);
  if (!status && !(seen & 1u << CONTACTS)) status = fx_pull_fail(&in->json, "'contacts' is missing");
  return status;
}

static frix_status fail_at(reader *in, int64_t line, const char *what, const char *problem, int64_t found,
                           int64_t wanted) {
  in->json.line = line;
  return fx_pull_fail(&in->json, "%s has %lld %s, expected %lld", what, (long long)found, problem, (long long)wanted);
}

/* A vector that must be there, or may be absent, with as many values as the rest asks for. */
static frix_status use_vector(reader *in, const char *what, const vector *v, int64_t wanted, bool optional,
                              const double **out) {
  if (v->line == 0) return optional ? FRIX_OK : fx_pull_fail(&in->json, "'%s' is missing", what);
  if (v->count != wanted) return fail_at(in, v->line, what, "values", v->count, wanted);
  *out = v->x;
  return FRIX_OK;
}

static frix_status use_matrix(reader *in, const char *what, const matrix *m, int64_t rows, int64_t cols,
                              frix_matrix *out) {
  if (m->line == 0) return fx_pull_fail(&in->json, "'%s' is missing", what);
  if (m->m.row_count != rows) return fail_at(in, m->line, what, "rows", m->m.row_count, rows);
  *out = m->m;
  /* People write no rows at all where there are none; columns then do not show. */
  if (rows == 0 && m->m.format == FRIX_MATRIX_DENSE) out->col_count = (int32_t)cols;
  if (out->col_count != cols) return fail_at(in, m->line, what, "columns", m->m.col_count, cols);
  return FRIX_OK;
}

/* The contacts one by one; row_count vectors have been seen, so the file pays for the memory. */
static frix_status spread_contacts(reader *in, int64_t count) {
  frix_contact *contact = FX_DRAFT_TAKE(in->draft, frix_contact, count);
  if (!contact) return FRIX_ERROR_MEMORY;
  int64_t at = 0;
  for (int64_t k = 0; k < in->run_count; k++)
    for (int64_t c = 0; c < in->run[k].count; c++) contact[at++] = in->run[k].contact;
  in->draft->data.contact = contact;
  in->draft->data.contact_count = (int32_t)count;
  return FRIX_OK;
}

/* Sizes against each other, each complaint at the line of what is wrong. */
static frix_status assemble(reader *in) {
  frix_problem_data *data = &in->draft->data;
  bool local = in->W.line || in->q.line,
       global = in->M.line || in->H.line || in->G.line || in->f.line || in->w.line || in->b.line;
  if (local && global) return fx_pull_fail(&in->json, "W, q (local) and M, H, G, f, w, b (global) exclude each other");
  int64_t rows = 0, count = 0;
  for (int64_t k = 0; k < in->run_count; k++) {
    rows += in->run[k].count * in->run[k].contact.dim;
    count += in->run[k].count;
  }
  if (rows > INT32_MAX / 2) {
    in->json.line = in->contact_line;
    return fx_pull_fail(&in->json, "%lld contacts with %lld rows are too many", (long long)count, (long long)rows);
  }
  frix_status status;
  if (!global) {
    data->form = FRIX_FORM_LOCAL;
    status = use_vector(in, "q", &in->q, rows, false, &data->q);
    if (!status) status = use_matrix(in, "W", &in->W, rows, rows, &data->W);
  } else {
    data->form = FRIX_FORM_GLOBAL;
    int64_t dof = in->M.m.row_count;
    data->dof_count = (int32_t)dof;
    status = use_vector(in, "w", &in->w, rows, false, &data->w);
    if (!status) status = use_matrix(in, "M", &in->M, dof, dof, &data->M);
    if (!status) status = use_vector(in, "f", &in->f, dof, false, &data->f);
    if (!status) status = use_matrix(in, "H", &in->H, dof, rows, &data->H);
    if (!status && (in->G.line || in->b.line)) {
      status = use_vector(in, "b", &in->b, in->b.count, false, &data->b);
      if (!status) status = use_matrix(in, "G", &in->G, dof, in->b.count, &data->G);
      data->joint_count = (int32_t)in->b.count;
    }
  }
  if (!status) status = use_vector(in, "R", &in->R, rows, true, &data->R);
  if (!status) status = use_vector(in, "r_c", &in->r_c, rows, true, &data->r_c);
  if (!status) status = use_vector(in, "guess", &in->guess, rows, true, &data->guess);
  return status ? status : spread_contacts(in, count);
}

static frix_status read_json(fx_draft *draft, const char *bytes, size_t count, const frix_read_config *config) {
  (void)config;
  reader in = {.draft = draft};
  fx_pull_init(&in.json, draft, bytes, count);
  frix_status status = read_members(&in);
  return status ? status : assemble(&in);
}

/* A solution file {"r": [...], ...}, or a problem file with "guess". */
static frix_status read_guess(fx_draft *draft, const char *bytes, size_t count, int32_t row_count, double *r) {
  reader in = {.draft = draft};
  vector found = {0}, guess = {0};
  char key[KEY_SIZE];
  bool more = false;
  fx_pull_init(&in.json, draft, bytes, count);
  frix_status status = fx_pull_enter(&in.json, '{');
  while (!status && !(status = fx_pull_member(&in.json, key, sizeof key, &more)) && more) {
    vector *place = strcmp(key, "r") == 0 ? &found : strcmp(key, "guess") == 0 ? &guess : NULL;
    if (place && place->line) return fx_pull_fail(&in.json, "'%s' a second time", key);
    status = place ? read_vector(&in, key, -DBL_MAX, place) : fx_pull_skip(&in.json);
  }
  if (!status) status = fx_pull_end(&in.json);
  if (status) return status;
  const double *x = NULL;
  status = use_vector(&in, "r", found.line ? &found : &guess, row_count, false, &x);
  if (!status && row_count) memcpy(r, x, (size_t)row_count * sizeof *r);
  return status;
}

static bool matches(const char *bytes, size_t count) {
  size_t k = count >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
  while (k < count && (bytes[k] == ' ' || bytes[k] == '\t' || bytes[k] == '\r' || bytes[k] == '\n')) k++;
  return k < count && bytes[k] == '{';
}

const fx_format fx_format_json = {
    .info = {.name = "json",
             .summary = "everything frix knows of a problem, to be read and written by people too",
             .extension = ".json",
             .available = true},
    .matches = matches,
    .read = read_json,
    .write = fx_json_write,
    .read_guess = read_guess,
};
