/* Text files do not say what they hold: small problems, where the numbers of one kind look like those of another, come
 * back as what they were; mixed complementarity problems are read in every storage of their matrix. */
#include "io/text.h"
#include "io_tools.h"

/* ---- small contact problems through .dat */

enum { MOST = 16 };

/* A matrix of rows x cols: 0 full, 1 diagonal blocks of `dim`, 2 a diagonal, 3 nothing but one entry. */
typedef struct entries {
  int32_t row[MOST * MOST], col[MOST * MOST];
  double x[MOST * MOST];
  int32_t count;
} entries;

static frix_matrix fill(fx_test *t, entries *e, int32_t rows, int32_t cols, int32_t dim, int pattern) {
  e->count = 0;
  for (int32_t j = 0; j < cols; j++)
    for (int32_t i = 0; i < rows; i++) {
      bool kept = pattern == 0 ? true : pattern == 1 ? i / dim == j / dim : pattern == 2 ? i == j : i == 0 && j == 0;
      if (!kept) continue;
      e->row[e->count] = i, e->col[e->count] = j;
      e->x[e->count++] = fx_test_random(t) < 0.5 ? 1 + (i + j) % 3 : 3 + fx_test_random(t); /* often small integers */
    }
  return (frix_matrix){FRIX_MATRIX_TRIPLET, rows, cols, e->count, e->col, e->row, e->x};
}

/* Writes, reads, compares. */
static void round_trip(fx_test *t, frix_context *context, const frix_problem_data *data, const char *what) {
  frix_problem *problem = NULL, *again = NULL;
  frix_problem_data kept;
  fx_buffer text;
  fx_buffer_init(&text, context);
  frix_status status = frix_problem_create(context, data, &problem);
  frix_problem_view(problem, &kept);
  if (status || fx_text_write("kind.dat", &kept, NULL, &text) ||
      frix_problem_read_memory(context, "kind.dat", text.bytes, text.count, NULL, &again))
    fx_test_fail(t, __FILE__, __LINE__, "%s, %d contacts of %d rows, %d unknowns: %s", what, data->contact_count,
                 data->contact_count ? data->contact[0].dim : 0, data->dof_count, frix_error_text(context));
  const char *differs = problem && again ? difference(problem, again, false) : NULL;
  if (differs)
    fx_test_fail(t, __FILE__, __LINE__, "%s, %d contacts, %d unknowns: %s differs", what, data->contact_count,
                 data->dof_count, differs);
  fx_buffer_free(&text);
  frix_problem_destroy(problem);
  frix_problem_destroy(again);
}

static void small_integers(fx_test *t, double *x, int count) {
  for (int k = 0; k < count; k++) x[k] = (double)(k % 4) - (fx_test_random(t) < 0 ? 1 : 0);
}

static void local_problem(fx_test *t, frix_context *context, int32_t dim, int32_t count, int pattern) {
  entries W;
  double q[MOST];
  frix_contact contact[MOST];
  small_integers(t, q, MOST);
  for (int32_t k = 0; k < count; k++)
    contact[k] = dim == 1 ? (frix_contact){.cone = FRIX_CONE_LIMIT, .dim = 1} : frix_contact_of_dim(dim, 1, 2);
  frix_problem_data data = frix_problem_data_default();
  data.form = FRIX_FORM_LOCAL, data.contact_count = count, data.contact = contact;
  data.W = fill(t, &W, dim * count, dim * count, dim, pattern), data.q = q;
  round_trip(t, context, &data, dim == 1 ? "an LCP" : "a local problem");
}

static void global_problem(fx_test *t, frix_context *context, int32_t dim, int32_t count, int32_t dof, int pattern) {
  entries M, H;
  double f[MOST], w[MOST];
  frix_contact contact[MOST];
  small_integers(t, f, MOST), small_integers(t, w, MOST);
  for (int32_t k = 0; k < count; k++) contact[k] = frix_contact_of_dim(dim, 2, 1);
  frix_problem_data data = frix_problem_data_default();
  data.form = FRIX_FORM_GLOBAL, data.contact_count = count, data.contact = contact, data.dof_count = dof;
  data.M = fill(t, &M, dof, dof, 1, pattern == 3 ? 2 : pattern), data.f = f;
  data.H = fill(t, &H, dof, dim * count, dim, pattern == 1 ? 0 : pattern), data.w = w;
  round_trip(t, context, &data, "a global problem");
}

static void small_problems(fx_test *t) {
  static const int32_t dims[] = {1, 2, 3, 5};
  char log[512];
  frix_context *context = make_context(log);
  int count = 0;
  for (int d = 0; d < 4; d++)
    for (int32_t contacts = 1; contacts <= 3; contacts++)
      for (int pattern = 0; pattern < 4; pattern++) {
        local_problem(t, context, dims[d], contacts, pattern);
        count++;
        for (int32_t dof = 1; d > 0 && dof <= 5; dof++, count++)
          global_problem(t, context, dims[d], contacts, dof, pattern);
      }
  fx_test_note(t, "%d problems", count);
  frix_context_destroy(context);
}

/* The file in which the defect was seen, and what it was converted to. */
static void seen_before(fx_test *t) {
  static const char blocks[] =
      "2 1 1 2 2 1 1 1 2 2 2 1 0 1 0 0 2 1 0 1 1 2 2 1 1 1 2 2 2 1 0 1 0 0 2 1 1 2 -1 2 -1 2 2\n";
  static const char sparse[] =
      "2\n1\n2\n2\n2\n2\nCSparse Version 3 layout\n2-by-2, nzmax: 4 nnz: 4, 1-norm: 3\n    col 0 : locations 0 to 1\n"
      "0 : 2\n1 : 1\n    col 1 : locations 2 to 3\n0 : 0\n1 : 1\n0\n2\n2\n2 2\n2 1\n1 2\n-1 2\n-1 2\n2\n";
  char log[512];
  frix_context *context = make_context(log);
  frix_problem *first = read_text(t, context, "blocks.dat", blocks, FRIX_TEXT_DETECT);
  frix_problem *second = read_text(t, context, "sparse.dat", sparse, FRIX_TEXT_DETECT);
  REQUIRE(t, first && second);
  CHECK(t, difference(first, second, false) == NULL);
  frix_problem_data data;
  frix_problem_view(second, &data);
  CHECK(t, data.form == FRIX_FORM_GLOBAL && data.contact_count == 1 && data.contact[0].cone == FRIX_CONE_PLANAR);
  frix_problem_destroy(first);
  frix_problem_destroy(second);
  frix_context_destroy(context);
}

/* ---- mixed complementarity problems */

#define PARTS2 "2 3 -1 1 -1 -2\n" /* A B C D a b of the two by two problem */

/* M = [2 -1; 1 3], q = (-1, -2): one equation, one complementarity. */
static void mlcp_storages(fx_test *t) {
  static const char *const text[] = {
      "1 1 1 1\n0 1 2\n0 1\n0 2 2 2 2\n2 1 -1 3\n-1 -2\n" PARTS2,
      "1 1 1 1\n0 1 2\n0 1\n1 2 2\n4 2 2\n1 2\n1 2\n3 4\n0 2 4\n0 1 0 1\n0 2\n1 -1\n2 1\n3 3\n-1 -2\n" PARTS2,
      "1 0 1 1\n0 1 2\n0 1\n1 2 2\n4 2 2\n1 2\n1 2\n3 4\n0 2 4\n0 1 0 1\n0 2\n1 -1\n2 1\n3 3\n-1 -2\n",
      "1 1 1 1\n0 1 2\n0 1\n1 2 2\n1 1 1\n2\n2\n2 1\n0 1\n0\n0 2 1 -1 3\n-1 -2\n" PARTS2,
      "1 0 1 1\n0 1 2\n0 1\n1 2 2\n2 2 1\n1 2\n2\n3 2\n0 1 2\n0 0\n0 2 -1\n1 1 3\n-1 -2\n",
      "0 1 1 1\n" PARTS2,
  };
  char log[512];
  frix_context *context = make_context(log);
  frix_problem *first = NULL;
  for (size_t k = 0; k < sizeof text / sizeof *text; k++) {
    frix_problem *problem = read_text(t, context, "mlcp.dat", text[k], FRIX_TEXT_DETECT);
    if (!problem) continue;
    frix_problem_data data;
    frix_problem_view(problem, &data);
    CHECK(t, data.contact_count == 2 && data.contact[0].cone == FRIX_CONE_BILATERAL &&
                 data.contact[1].cone == FRIX_CONE_LIMIT);
    const char *differs = first ? difference(first, problem, false) : NULL;
    if (differs) fx_test_fail(t, __FILE__, __LINE__, "file %zu: %s differs", k, differs);
    if (first)
      frix_problem_destroy(problem);
    else
      first = problem;
  }
  frix_problem_destroy(first);
  frix_context_destroy(context);
}

/* Equations and complementarities in turn, 1 + 2 + 1 rows, in blocks of these sizes; one block is absent. */
static void mlcp_many_blocks(fx_test *t) {
  static const char blocks[] =
      "1 0 2 2\n0 1 3 4\n0 1 0\n1 4 4\n5 3 3\n1 3 4\n1 3 4\n4 5\n0 2 4 5\n0 1 0 1 2\n"
      "0 1\n1 2 3\n2 4 5\n3 6 0.5 0.5 7\n4 8\n-1 -2 -3 -4\n";
  static const char dense[] =
      "1 0 2 2\n0 1 3 4\n0 1 0\n0 4 4 4 4\n1 4 5 0\n2 6 0.5 0\n3 0.5 7 0\n0 0 0 8\n-1 -2 -3 -4\n";
  static const char differs[] =
      "1 1 1 1\n0 1 2\n0 1\n1 2 2\n1 1 1\n2\n2\n2 1\n0 1\n0\n0 2 1 -1 3\n-1 -2\n2 9 -1 1 -1 -2\n";
  char log[512];
  frix_context *context = make_context(log);
  frix_problem *first = read_text(t, context, "blocks.dat", blocks, FRIX_TEXT_DETECT), *none = NULL;
  frix_problem *second = read_text(t, context, "dense.dat", dense, FRIX_TEXT_DETECT);
  REQUIRE(t, first && second);
  frix_problem_data a, b;
  frix_problem_view(first, &a);
  frix_problem_view(second, &b);
  CHECK(t, same_contacts(&a, &b) && same_reals(a.q, b.q, 4));
  double whole[2][16] = {{0}};
  for (int side = 0; side < 2; side++) {
    const frix_matrix *W = side ? &b.W : &a.W;
    for (int32_t j = 0; j < 4; j++)
      for (int32_t k = W->p[j]; k < W->p[j + 1]; k++) whole[side][4 * j + W->i[k]] = W->x[k];
  }
  CHECK(t, same_reals(whole[0], whole[1], 16));
  CHECK(t,
        frix_problem_read_memory(context, "differs.dat", differs, strlen(differs), NULL, &none) == FRIX_ERROR_FORMAT);
  CHECK(t, strstr(frix_error_text(context), "entry 1, 1 of M differs"));
  frix_problem_destroy(first);
  frix_problem_destroy(second);
  frix_context_destroy(context);
}

const fx_test_row test_text_kinds[] = {
    {"text_kinds/small_problems", small_problems},
    {"text_kinds/seen_before", seen_before},
    {"text_kinds/mlcp_storages", mlcp_storages},
    {"text_kinds/mlcp_many_blocks", mlcp_many_blocks},
    {0},
};
