/* fclib problems in HDF5: reader and writer. With fclib_export.c the module frix-hdf5.so, the only part of frix that
 * knows the HDF5 library.
 *
 *   /fclib_local, /fclib_local_rolling    spacedim, W/{m,n,nz,nzmax,p,i,x}, vectors/{q,mu[,mu_r]}
 *   /fclib_global, /fclib_global_rolling  spacedim, M, H, [G] (as W), vectors/{f,w,mu[,mu_r][,b]}
 *   /guesses/1/r, /solution/{r,u,v,l}     optional
 *
 * Files are read whole and handed to the library as an image in memory: no file locks, and what is read from a file and
 * from memory goes one way. The library trusts its input more than we do, so only plain datasets are opened: hard
 * links, known number types, data inside this file, known filters, and no more of it than the file can hold. */
#include "io/fclib.h"

#include <float.h>
#include <hdf5.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "io/fclib_image.h"
#include "io/fclib_module.h"

/* The library keeps global state and is built without thread safety by most distributions; one lock in the process is
 * what it needs. This is the one mutable static of frix, for state that is not ours. */
static pthread_mutex_t library_lock = PTHREAD_MUTEX_INITIALIZER;

/* Largest ratio by which deflate can shrink data, with some room. */
enum { FILTER_RATIO = 1100, PATH_SIZE = 128, TITLE_SIZE = 1024 };

/* An open file and its place in our messages. */
typedef struct archive {
  fx_draft *draft;
  hid_t file;
  image_door image;
  int64_t file_size;
  const char *root; /* group of the problem */
  fx_hdf5_guard guard;
} archive;

void fx_hdf5_enter(fx_hdf5_guard *guard) {
  pthread_mutex_lock(&library_lock);
  H5Eget_auto2(H5E_DEFAULT, &guard->print, &guard->user);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

void fx_hdf5_leave(fx_hdf5_guard *guard) {
  H5Eset_auto2(H5E_DEFAULT, guard->print, guard->user);
  pthread_mutex_unlock(&library_lock);
}

static frix_status fail(archive *in, const char *path, const char *format, ...) __attribute__((format(printf, 3, 4)));
static frix_status fail(archive *in, const char *path, const char *format, ...) {
  char text[512];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  return fx_fail(in->draft->context, FRIX_ERROR_FORMAT, "%s:%s: %s", in->draft->name, path, text);
}

/* A path inside the file. */
typedef struct place {
  char text[PATH_SIZE];
} place;

static place join(const char *a, const char *b) {
  place p;
  const char *const parts[] = {a, "/", b};
  size_t used = 0;
  for (int k = 0; k < 3; k++)
    for (const char *c = parts[k]; *c && used + 1 < sizeof p.text; c++) p.text[used++] = *c;
  p.text[used] = 0;
  return p;
}

static frix_status open_image(archive *in, const char *bytes, size_t count) {
  in->file = image_open_file(bytes, count, &in->image);
  in->file_size = (int64_t)count;
  return in->file >= 0 ? FRIX_OK : fail(in, "/", "is not a whole HDF5 file (damaged or cut short)");
}

/* Whether every step of the path is a hard link: no way out of the file, no loops through soft links. */
static bool exists(archive *in, const char *path) {
  char part[PATH_SIZE];
  size_t length = strlen(path);
  for (size_t k = 1; k <= length; k++) {
    if (path[k] != '/' && path[k] != 0) continue;
    memcpy(part, path, k);
    part[k] = 0;
    H5L_info_t info;
    if (H5Lexists(in->file, part, H5P_DEFAULT) <= 0) return false;
    if (H5Lget_info(in->file, part, &info, H5P_DEFAULT) < 0 || info.type != H5L_TYPE_HARD) return false;
  }
  return true;
}

static bool is_one_of(hid_t type, const hid_t *list, size_t count) {
  for (size_t k = 0; k < count; k++)
    if (H5Tequal(type, list[k]) > 0) return true;
  return false;
}

/* Data that lies in this file, in a layout whose size can be judged, through filters every build has. */
static const char *check_storage(archive *in, hid_t set, int64_t bytes) {
  hid_t plan = H5Dget_create_plist(set);
  if (plan < 0) return "has no readable layout";
  const char *problem = NULL;
  H5D_layout_t layout = H5Pget_layout(plan);
  bool plain = layout == H5D_CONTIGUOUS || layout == H5D_COMPACT, squeezed = false;
  if (!plain && layout != H5D_CHUNKED) problem = "is not stored as plain or chunked data";
  if (H5Pget_external_count(plan) != 0) problem = "is stored in another file";
  int filters = layout == H5D_CHUNKED ? H5Pget_nfilters(plan) : 0;
  for (int k = 0; k < filters && !problem; k++) {
    unsigned flags, config;
    size_t values = 0;
    H5Z_filter_t filter = H5Pget_filter2(plan, (unsigned)k, &flags, &values, NULL, 0, NULL, &config);
    if (filter == H5Z_FILTER_DEFLATE)
      squeezed = true;
    else if (filter != H5Z_FILTER_SHUFFLE && filter != H5Z_FILTER_FLETCHER32)
      problem = "uses a filter frix does not know";
  }
  if (!problem) {
    int64_t stored = (int64_t)H5Dget_storage_size(set);
    if (stored < 0 || stored > in->file_size || bytes > stored * (squeezed ? FILTER_RATIO : 1))
      problem = "claims more data than the file holds";
  }
  H5Pclose(plan);
  return problem;
}

/* An open dataset of plain numbers and how many there are. */
typedef struct numbers {
  hid_t set;
  int64_t count;
} numbers;

static frix_status open_numbers(archive *in, const char *path, bool integer, numbers *out) {
  const hid_t integers[] = {H5T_STD_I32LE, H5T_STD_I32BE, H5T_STD_I64LE, H5T_STD_I64BE, H5T_STD_U32LE, H5T_STD_U32BE,
                            H5T_STD_I16LE, H5T_STD_I16BE, H5T_STD_U16LE, H5T_STD_U16BE, H5T_STD_I8LE,  H5T_STD_U8LE};
  const hid_t reals[] = {H5T_IEEE_F64LE, H5T_IEEE_F64BE, H5T_IEEE_F32LE, H5T_IEEE_F32BE};
  *out = (numbers){.set = -1};
  if (!exists(in, path)) return fail(in, path, "is missing");
  H5O_info_t info;
  if (H5Oget_info_by_name(in->file, path, &info, H5P_DEFAULT) < 0 || info.type != H5O_TYPE_DATASET)
    return fail(in, path, "is not a dataset");
  hid_t set = H5Dopen2(in->file, path, H5P_DEFAULT);
  if (set < 0) return fail(in, path, "cannot be opened");
  out->set = set;
  hid_t type = H5Dget_type(set), space = H5Dget_space(set);
  bool known = type >= 0 && (integer ? is_one_of(type, integers, sizeof integers / sizeof *integers)
                                     : is_one_of(type, reals, sizeof reals / sizeof *reals));
  size_t size = type >= 0 ? H5Tget_size(type) : 0;
  int rank = space >= 0 ? H5Sget_simple_extent_ndims(space) : -1;
  int64_t count = rank == 0 || rank == 1 ? (int64_t)H5Sget_simple_extent_npoints(space) : -1;
  if (type >= 0) H5Tclose(type);
  if (space >= 0) H5Sclose(space);
  const char *problem = NULL;
  if (!known)
    problem = integer ? "is not made of whole numbers" : "is not made of real numbers";
  else if (count < 0)
    problem = "is not a list of numbers";
  else if (count > INT32_MAX)
    problem = "claims more data than the file holds";
  else if (count > 0)
    problem = check_storage(in, set, count * (int64_t)size);
  out->count = count;
  return problem ? fail(in, path, "%s", problem) : FRIX_OK;
}

static void close_numbers(numbers *n) {
  if (n->set >= 0) H5Dclose(n->set);
}

/* Finite numbers, each at least minimum; wanted is how many there must be, -1 for any number. */
static frix_status read_reals(archive *in, const char *path, int64_t wanted, double minimum, const double **out,
                              int64_t *count) {
  numbers n;
  double *x = NULL;
  frix_status status = open_numbers(in, path, false, &n);
  if (!status && wanted >= 0 && n.count != wanted)
    status = fail(in, path, "has %lld values, expected %lld", (long long)n.count, (long long)wanted);
  if (!status && !(x = FX_DRAFT_TAKE(in->draft, double, n.count))) status = FRIX_ERROR_MEMORY;
  if (!status && n.count && H5Dread(n.set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, x) < 0)
    status = fail(in, path, "cannot be read (damaged or cut short)");
  for (int64_t k = 0; k < n.count && !status; k++) {
    if (!isfinite(x[k]))
      status = fail(in, path, "value %lld is not a finite number", (long long)k);
    else if (x[k] < minimum)
      status = fail(in, path, "value %lld is %g, less than %g", (long long)k, x[k], minimum);
  }
  close_numbers(&n);
  *out = x;
  if (count) *count = status ? 0 : n.count;
  return status;
}

/* Whole numbers within [minimum, maximum], at least `wanted` of them; what is beyond is not looked at. */
static frix_status read_integers(archive *in, const char *path, int64_t wanted, int64_t minimum, int64_t maximum,
                                 int32_t **out) {
  numbers n;
  int64_t *x = NULL;
  int32_t *narrow = NULL;
  frix_status status = open_numbers(in, path, true, &n);
  if (!status && n.count < wanted)
    status = fail(in, path, "has %lld values, expected %lld", (long long)n.count, (long long)wanted);
  if (!status) {
    x = FX_DRAFT_TAKE(in->draft, int64_t, n.count);
    narrow = FX_DRAFT_TAKE(in->draft, int32_t, wanted);
    if (!x || !narrow) status = FRIX_ERROR_MEMORY;
  }
  if (!status && n.count && H5Dread(n.set, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, x) < 0)
    status = fail(in, path, "cannot be read (damaged or cut short)");
  for (int64_t k = 0; k < wanted && !status; k++) {
    if (x[k] < minimum || x[k] > maximum)
      status = fail(in, path, "value %lld is %lld, expected %lld to %lld", (long long)k, (long long)x[k],
                    (long long)minimum, (long long)maximum);
    else
      narrow[k] = (int32_t)x[k];
  }
  close_numbers(&n);
  *out = narrow;
  return status;
}

static frix_status read_integer(archive *in, const char *path, int64_t minimum, int64_t maximum, int32_t *out) {
  int32_t *x = NULL;
  frix_status status = read_integers(in, path, 1, minimum, maximum, &x);
  if (!status) *out = x[0];
  return status;
}

/* Compressed pointers run from 0 upward. */
static frix_status check_pointers(archive *in, const char *path, const int32_t *p, int64_t count) {
  if (p[0] != 0) return fail(in, path, "begins with %d, not 0", p[0]);
  for (int64_t k = 0; k < count; k++)
    if (p[k] > p[k + 1]) return fail(in, path, "value %lld is less than the one before", (long long)(k + 1));
  return FRIX_OK;
}

/* nz = -1: columns, -2: rows, otherwise triplets (i row, p column). nzmax may be larger than what is used. */
static frix_status read_matrix(archive *in, const char *name, frix_matrix *out) {
  place base = join(in->root, name);
  int32_t nz = 0, *p = NULL, *i = NULL;
  const double *x = NULL;
  frix_status status = read_integer(in, join(base.text, "m").text, 0, INT32_MAX - 1, &out->row_count);
  if (!status) status = read_integer(in, join(base.text, "n").text, 0, INT32_MAX - 1, &out->col_count);
  if (!status) status = read_integer(in, join(base.text, "nz").text, -2, INT32_MAX, &nz);
  if (status) return status;
  int64_t count = nz, outer = nz == -1 ? out->col_count : out->row_count;
  int64_t width = nz == -2 ? out->col_count : out->row_count;
  place p_path = join(base.text, "p"), i_path = join(base.text, "i"), x_path = join(base.text, "x");
  if (nz >= 0) {
    status = read_integers(in, p_path.text, count, 0, (int64_t)out->col_count - 1, &p);
  } else {
    status = read_integers(in, p_path.text, outer + 1, 0, INT32_MAX, &p);
    if (!status) status = check_pointers(in, p_path.text, p, outer);
    count = status ? 0 : p[outer];
  }
  int64_t stored = 0;
  if (!status) status = read_integers(in, i_path.text, count, 0, width - 1, &i);
  if (!status) status = read_reals(in, x_path.text, -1, -DBL_MAX, &x, &stored);
  if (!status && stored < count)
    status = fail(in, x_path.text, "has %lld values, expected %lld", (long long)stored, (long long)count);
  if (status) return status;
  out->format = nz >= 0 ? FRIX_MATRIX_TRIPLET : nz == -1 ? FRIX_MATRIX_CSC : FRIX_MATRIX_CSR;
  out->nonzero_count = count;
  out->p = p;
  out->i = i;
  out->x = x;
  return FRIX_OK;
}

static frix_status check_size(archive *in, const char *name, const frix_matrix *m, int64_t rows, int64_t cols) {
  if (m->row_count == rows && m->col_count == cols) return FRIX_OK;
  return fail(in, join(in->root, name).text, "is %d x %d, expected %lld x %lld", m->row_count, m->col_count,
              (long long)rows, (long long)cols);
}

static frix_status read_vector(archive *in, const char *name, int64_t count, double minimum, const double **out) {
  return read_reals(in, join(join(in->root, "vectors").text, name).text, count, minimum, out, NULL);
}

static frix_status read_local(archive *in, int64_t *rows) {
  frix_problem_data *data = &in->draft->data;
  data->form = FRIX_FORM_LOCAL;
  const char *bilateral[] = {"V", "R"};
  for (int k = 0; k < 2; k++)
    if (exists(in, join(in->root, bilateral[k]).text))
      return fx_fail(in->draft->context, FRIX_ERROR_UNSUPPORTED,
                     "%s:%s/%s: bilateral rows of a local problem are not read", in->draft->name, in->root,
                     bilateral[k]);
  frix_status status = read_matrix(in, "W", &data->W);
  *rows = data->W.row_count;
  if (!status) status = check_size(in, "W", &data->W, *rows, *rows);
  if (!status) status = read_vector(in, "q", *rows, -DBL_MAX, &data->q);
  return status;
}

static frix_status read_global(archive *in, int64_t *rows) {
  frix_problem_data *data = &in->draft->data;
  data->form = FRIX_FORM_GLOBAL;
  frix_status status = read_matrix(in, "M", &data->M);
  int64_t dof = data->dof_count = data->M.row_count;
  if (!status) status = check_size(in, "M", &data->M, dof, dof);
  if (!status) status = read_vector(in, "f", dof, -DBL_MAX, &data->f);
  if (!status) status = fx_draft_mirror(in->draft, join(in->root, "M").text, &data->M);
  if (!status) status = read_matrix(in, "H", &data->H);
  *rows = data->H.col_count;
  if (!status) status = check_size(in, "H", &data->H, dof, *rows);
  if (!status) status = read_vector(in, "w", *rows, -DBL_MAX, &data->w);
  if (!status && exists(in, join(in->root, "G").text)) {
    status = read_matrix(in, "G", &data->G);
    if (!status) status = check_size(in, "G", &data->G, dof, data->G.col_count);
    if (!status) status = read_vector(in, "b", data->G.col_count, -DBL_MAX, &data->b);
    data->joint_count = data->G.col_count;
  }
  return status;
}

/* A title of fixed length; anything else is no reason to refuse the problem. */
static frix_status read_title(archive *in) {
  place path = join(join(in->root, "info").text, "title");
  if (!exists(in, path.text)) return FRIX_OK;
  H5O_info_t info;
  if (H5Oget_info_by_name(in->file, path.text, &info, H5P_DEFAULT) < 0 || info.type != H5O_TYPE_DATASET) return FRIX_OK;
  hid_t set = H5Dopen2(in->file, path.text, H5P_DEFAULT);
  if (set < 0) return FRIX_OK;
  frix_status status = FRIX_OK;
  hid_t type = H5Dget_type(set), space = H5Dget_space(set);
  size_t size = type >= 0 && H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0 ? H5Tget_size(type) : 0;
  if (size > 0 && size < TITLE_SIZE && space >= 0 && H5Sget_simple_extent_npoints(space) == 1 &&
      !check_storage(in, set, (int64_t)size)) {
    char *title = FX_DRAFT_TAKE(in->draft, char, size + 1);
    if (!title)
      status = FRIX_ERROR_MEMORY;
    else if (H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, title) >= 0 && title[0])
      in->draft->data.title = title;
  }
  if (space >= 0) H5Sclose(space);
  if (type >= 0) H5Tclose(type);
  H5Dclose(set);
  return status;
}

static const char *const roots[] = {"/fclib_local", "/fclib_global", "/fclib_local_rolling", "/fclib_global_rolling"};
enum { ROOT_COUNT = sizeof roots / sizeof *roots };

/* Exactly one problem must be in the file. */
static frix_status find_root(archive *in, bool *local, bool *rolling) {
  int found = -1;
  for (int k = 0; k < ROOT_COUNT; k++) {
    if (!exists(in, roots[k])) continue;
    if (found >= 0) return fail(in, roots[k], "is a second problem beside %s", roots[found]);
    found = k;
  }
  if (found < 0) return fail(in, "/", "no group fclib_local or fclib_global, plain or _rolling");
  in->root = roots[found];
  *local = found == 0 || found == 2;
  *rolling = found >= 2;
  return FRIX_OK;
}

static frix_status read_problem(archive *in) {
  bool local = false, rolling = false;
  int32_t dim = 0;
  int64_t rows = 0;
  const double *mu = NULL, *mu_r = NULL;
  frix_status status = find_root(in, &local, &rolling);
  if (!status) status = read_integer(in, join(in->root, "spacedim").text, rolling ? 5 : 2, rolling ? 5 : 3, &dim);
  if (!status) status = local ? read_local(in, &rows) : read_global(in, &rows);
  if (status) return status;
  if (rows % dim != 0)
    return fail(in, join(in->root, local ? "W" : "H").text, "%lld rows cannot be shared out in contacts of %d",
                (long long)rows, dim);
  int64_t count = rows / dim;
  status = read_vector(in, "mu", count, 0.0, &mu);
  if (!status && rolling) status = read_vector(in, "mu_r", count, 0.0, &mu_r);
  if (!status) status = fx_draft_contacts(in->draft, dim, (int32_t)count, mu, mu_r);
  if (!status && exists(in, "/guesses/1/r"))
    status = read_reals(in, "/guesses/1/r", rows, -DBL_MAX, &in->draft->data.guess, NULL);
  return status ? status : read_title(in);
}

/* r of the solution; files are seen whose solution is a placeholder of zeros, and then a guess is worth more. */
static frix_status read_answer(archive *in, int32_t row_count, double *r) {
  const char *const paths[] = {"/solution/r", "/guesses/1/r"};
  const double *x = NULL;
  for (int k = 0; k < 2; k++) {
    if (!exists(in, paths[k])) continue;
    frix_status status = read_reals(in, paths[k], row_count, -DBL_MAX, &x, NULL);
    if (status) return status;
    bool zero = true;
    for (int32_t i = 0; i < row_count; i++) zero = zero && x[i] == 0.0;
    if (!zero) break;
  }
  if (!x) return fail(in, "/solution/r", "is missing, and so is /guesses/1/r");
  if (row_count) memcpy(r, x, (size_t)row_count * sizeof *r);
  return FRIX_OK;
}

static frix_status read_fclib(fx_draft *draft, const char *bytes, size_t count, const frix_read_config *config) {
  (void)config;
  archive in = {.draft = draft, .file = -1, .root = "/"};
  if (!fx_is_hdf5(bytes, count)) return fail(&in, "/", "is not an HDF5 file (no signature at its beginning)");
  fx_hdf5_enter(&in.guard);
  frix_status status = open_image(&in, bytes, count);
  if (!status) status = read_problem(&in);
  image_close_file(in.file, &in.image);
  fx_hdf5_leave(&in.guard);
  return status;
}

static frix_status read_guess(fx_draft *draft, const char *bytes, size_t count, int32_t row_count, double *r) {
  archive in = {.draft = draft, .file = -1, .root = "/"};
  if (!fx_is_hdf5(bytes, count)) return fail(&in, "/", "is not an HDF5 file (no signature at its beginning)");
  fx_hdf5_enter(&in.guard);
  frix_status status = open_image(&in, bytes, count);
  if (!status) status = read_answer(&in, row_count, r);
  image_close_file(in.file, &in.image);
  fx_hdf5_leave(&in.guard);
  return status;
}

/* Writing: a step that fails makes the rest do nothing; asked once at the end. */
typedef struct pen {
  hid_t file, plan;
  bool failed;
} pen;

static void put_group(pen *out, const char *path) {
  if (out->failed) return;
  hid_t group = H5Gcreate2(out->file, path, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  out->failed = group < 0 || H5Gclose(group) < 0;
}

static void put_data(pen *out, const char *path, hid_t stored, hid_t given, int64_t count, const void *x) {
  if (out->failed) return;
  hsize_t size = (hsize_t)count;
  hid_t space = H5Screate_simple(1, &size, NULL);
  hid_t set = space < 0 ? -1 : H5Dcreate2(out->file, path, stored, space, H5P_DEFAULT, out->plan, H5P_DEFAULT);
  out->failed = set < 0 || (count > 0 && H5Dwrite(set, given, H5S_ALL, H5S_ALL, H5P_DEFAULT, x) < 0);
  if (set >= 0) H5Dclose(set);
  if (space >= 0) H5Sclose(space);
}

static void put_reals(pen *out, const char *group, const char *name, int64_t count, const double *x) {
  put_data(out, join(group, name).text, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, count, x);
}

static void put_integers(pen *out, const char *group, const char *name, int64_t count, const int32_t *x) {
  put_data(out, join(group, name).text, H5T_STD_I32LE, H5T_NATIVE_INT32, count, x);
}

static void put_text(pen *out, const char *group, const char *name, const char *text) {
  if (out->failed) return;
  hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
  hid_t set = type >= 0 && space >= 0 && H5Tset_size(type, strlen(text) + 1) >= 0
                  ? H5Dcreate2(out->file, join(group, name).text, type, space, H5P_DEFAULT, out->plan, H5P_DEFAULT)
                  : -1;
  out->failed = set < 0 || H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) < 0;
  if (set >= 0) H5Dclose(set);
  if (space >= 0) H5Sclose(space);
  if (type >= 0) H5Tclose(type);
}

static void put_matrix(pen *out, const char *root, const char *name, const frix_matrix *m) {
  place group = join(root, name);
  int32_t count = m->p[m->col_count], by_column = -1;
  put_group(out, group.text);
  put_integers(out, group.text, "m", 1, &m->row_count);
  put_integers(out, group.text, "n", 1, &m->col_count);
  put_integers(out, group.text, "nz", 1, &by_column);
  put_integers(out, group.text, "nzmax", 1, &count);
  put_integers(out, group.text, "p", (int64_t)m->col_count + 1, m->p);
  put_integers(out, group.text, "i", count, m->i);
  put_reals(out, group.text, "x", count, m->x);
}

static void put_problem(pen *out, const char *root, int32_t dim, const frix_problem_data *data, const double *mu) {
  place vectors = join(root, "vectors"), info = join(root, "info");
  put_group(out, root);
  put_integers(out, root, "spacedim", 1, &dim);
  put_group(out, vectors.text);
  if (data->form == FRIX_FORM_LOCAL) {
    put_matrix(out, root, "W", &data->W);
    put_reals(out, vectors.text, "q", data->row_count, data->q);
  } else {
    put_matrix(out, root, "M", &data->M);
    put_matrix(out, root, "H", &data->H);
    put_reals(out, vectors.text, "f", data->dof_count, data->f);
    put_reals(out, vectors.text, "w", data->row_count, data->w);
  }
  if (data->joint_count > 0) {
    put_matrix(out, root, "G", &data->G);
    put_reals(out, vectors.text, "b", data->joint_count, data->b);
  }
  put_reals(out, vectors.text, "mu", data->contact_count, mu);
  if (dim == 5) put_reals(out, vectors.text, "mu_r", data->contact_count, mu + data->contact_count);
  if (data->title) {
    put_group(out, info.text);
    put_text(out, info.text, "title", data->title);
  }
}

static void put_answers(pen *out, const frix_problem_data *data, const frix_result *result) {
  int32_t one = 1;
  if (data->guess) {
    put_group(out, "/guesses");
    put_integers(out, "/guesses", "number_of_guesses", 1, &one);
    put_group(out, "/guesses/1");
    put_reals(out, "/guesses/1", "r", data->row_count, data->guess);
  }
  if (!result) return;
  put_group(out, "/solution");
  put_reals(out, "/solution", "r", data->row_count, result->r);
  put_reals(out, "/solution", "u", data->row_count, result->u);
  if (result->v) put_reals(out, "/solution", "v", data->dof_count, result->v);
  if (result->lambda && data->joint_count > 0) put_reals(out, "/solution", "l", data->joint_count, result->lambda);
}

/* The group a problem goes to and its spacedim; what fclib has no place for is named. */
static frix_status choose_root(const char *path, const frix_problem_data *data, frix_context *context,
                               const char **root, int32_t *dim) {
  fx_obstacle obstacle = fx_obstacle_of(data, FX_FILE_CONES);
  if (obstacle.text[0])
    return fx_fail(context, FRIX_ERROR_UNSUPPORTED, "%s: fclib has no place for %s; use .json", path, obstacle.text);
  *dim = data->contact_count ? data->contact[0].dim : 3;
  *root = roots[(*dim == 5 ? 2 : 0) + (data->form == FRIX_FORM_LOCAL ? 0 : 1)];
  return FRIX_OK;
}

/* The finished file as bytes. */
static frix_status take_image(pen *out, const char *path, fx_buffer *buffer) {
  ssize_t size =
      !out->failed && H5Fflush(out->file, H5F_SCOPE_GLOBAL) >= 0 ? H5Fget_file_image(out->file, NULL, 0) : -1;
  if (size <= 0) return fx_fail(buffer->context, FRIX_ERROR_FILE, "%s: the HDF5 library could not write it", path);
  char *room = fx_buffer_reserve(buffer, (size_t)size);
  if (!room) return FRIX_ERROR_MEMORY;
  if (H5Fget_file_image(out->file, room, (size_t)size) != size)
    return fx_fail(buffer->context, FRIX_ERROR_FILE, "%s: the HDF5 library could not write it", path);
  buffer->count += (size_t)size;
  return FRIX_OK;
}

static frix_status write_fclib(const char *path, const frix_problem_data *data, const frix_result *result,
                               fx_buffer *buffer) {
  const char *root = NULL;
  int32_t dim = 0, count = data->contact_count;
  frix_status status = choose_root(path, data, buffer->context, &root, &dim);
  if (status) return status;
  double *mu = FX_NEW(buffer->context, double, 2 * (size_t)count);
  if (!mu) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < count; k++) {
    mu[k] = data->contact[k].mu;
    mu[count + k] = data->contact[k].mu_r;
  }
  archive silence;
  fx_hdf5_enter(&silence.guard);
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  pen out = {.file = -1, .plan = H5Pcreate(H5P_DATASET_CREATE)};
  /* Without time stamps the same problem gives the same bytes. */
  if (access >= 0 && out.plan >= 0 && H5Pset_obj_track_times(out.plan, 0) >= 0 &&
      H5Pset_fapl_core(access, 1 << 16, 0) >= 0)
    out.file = H5Fcreate("frix", H5F_ACC_TRUNC, H5P_DEFAULT, access);
  out.failed = out.file < 0;
  put_problem(&out, root, dim, data, mu);
  put_answers(&out, data, result);
  status = take_image(&out, path, buffer);
  if (out.file >= 0) H5Fclose(out.file);
  if (out.plan >= 0) H5Pclose(out.plan);
  if (access >= 0) H5Pclose(access);
  fx_hdf5_leave(&silence.guard);
  fx_free(buffer->context, mu);
  return status;
}

static const fx_format fclib = {.read = read_fclib, .write = write_fclib, .read_guess = read_guess};

extern const fx_hdf5_module frix_hdf5_module; /* FX_HDF5_SYMBOL */
FRIX_API const fx_hdf5_module frix_hdf5_module = {
    .size = sizeof(fx_hdf5_module),
    .version = FRIX_VERSION_TEXT,
    .draft_size = sizeof(fx_draft),
    .export_size = sizeof(fx_export),
    .fclib = &fclib,
    .export_hdf5 = fx_hdf5_export,
};
