/* Fuzzes what the fclib reader makes of a file's structure: the input is a list of changes to a good file, which is
 * then built with the HDF5 library and read. The bytes of the file are always well-formed HDF5, so that a finding is
 * ours.
 *
 * input  := byte: which good file to begin with, then changes
 * change := byte path, byte kind, byte count, count values of one byte (small numbers, with a few special ones) */
#include <math.h>

#include "../test/fclib_file.h"
#include "fuzz.h"

static const char *const roots[] = {"/fclib_local", "/fclib_global", "/fclib_local_rolling", "/fclib_global_rolling"};
static const char *const places[] = {
    "/spacedim",     "/W/m",       "/W/n",       "/W/nz",      "/W/nzmax",    "/W/p",       "/W/i",
    "/W/x",          "/M/m",       "/M/n",       "/M/nz",      "/M/p",        "/M/i",       "/M/x",
    "/H/m",          "/H/n",       "/H/nz",      "/H/p",       "/H/i",        "/H/x",       "/G/m",
    "/G/n",          "/G/nz",      "/G/p",       "/G/i",       "/G/x",        "/vectors/q", "/vectors/mu",
    "/vectors/mu_r", "/vectors/f", "/vectors/w", "/vectors/b", "/info/title", "/W",         "/M",
    "/vectors",      "",
};
enum { PLACE_COUNT = sizeof places / sizeof *places };

/* The rest of the input, read byte by byte; zeros when it has ended. */
typedef struct tape {
  const uint8_t *at, *end;
} tape;

static int next(tape *t) { return t->at < t->end ? *t->at++ : 0; }

static double number(tape *t) {
  static const double special[] = {0.0, -0.0, -1.0, 1e300, 1e-300, 2147483647.0, -2147483648.0, NAN, INFINITY, 4e9};
  int b = next(t);
  return b < 240 ? b % 16 : special[b % 10];
}

static void put_identity(fclib_file *f, const char *root, const char *name, int n) {
  static const int32_t step[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  static const double one[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  char path[96];
  const struct {
    const char *name;
    int32_t value;
  } sizes[] = {{"m", n}, {"n", n}, {"nz", -1}, {"nzmax", n}};
  for (int k = 0; k < 4; k++) {
    snprintf(path, sizeof path, "%s/%s/%s", root, name, sizes[k].name);
    fclib_file_integer(f, path, sizes[k].value);
  }
  snprintf(path, sizeof path, "%s/%s/p", root, name);
  fclib_file_integers(f, path, n + 1, step);
  snprintf(path, sizeof path, "%s/%s/i", root, name);
  fclib_file_integers(f, path, n, step);
  snprintf(path, sizeof path, "%s/%s/x", root, name);
  fclib_file_reals(f, path, n, one);
}

/* Two contacts (one if rolling) with identity matrices. */
static void put_good(fclib_file *f, const char *root, bool local, bool rolling) {
  static const double x[] = {0.5, 0.25, 0, -1, 0.5, 0.125};
  char path[96];
  int dim = rolling ? 5 : 3, count = rolling ? 1 : 2, n = dim * count;
  snprintf(path, sizeof path, "%s/spacedim", root);
  fclib_file_integer(f, path, dim);
  const char *const vectors[] = {local ? "q" : "f", "w", "mu", "mu_r"};
  const int sizes[] = {n, n, count, count};
  for (int k = 0; k < 4; k++) {
    snprintf(path, sizeof path, "%s/vectors/%s", root, vectors[k]);
    fclib_file_reals(f, path, sizes[k], x);
  }
  put_identity(f, root, local ? "W" : "M", n);
  if (!local) put_identity(f, root, "H", n);
}

static void put_chunked(fclib_file *f, const char *path, hid_t type, int64_t count, const double *x, bool squeeze) {
  hsize_t size = (hsize_t)count, chunk = 4;
  hid_t space = H5Screate_simple(1, &size, NULL), plan = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(plan, 1, &chunk);
  if (squeeze) H5Pset_deflate(plan, 6);
  hid_t set = H5Dcreate2(f->file, path, type, space, H5P_DEFAULT, plan, H5P_DEFAULT);
  if (set >= 0 && x) H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, x);
  if (set >= 0) H5Dclose(set);
  H5Sclose(space);
  H5Pclose(plan);
}

static void put_table(fclib_file *f, const char *path, const double *x) {
  hsize_t size[2] = {2, 3};
  hid_t space = H5Screate_simple(2, size, NULL);
  hid_t set = H5Dcreate2(f->file, path, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  if (set >= 0) H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, x);
  if (set >= 0) H5Dclose(set);
  H5Sclose(space);
}

static void put_text(fclib_file *f, const char *path, size_t length) {
  static const char text[] = "a title \xff with \n and \"";
  hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, length % sizeof text + 1);
  fclib_file_put(f, path, type, type, 1, text);
  H5Tclose(type);
}

static void change(fclib_file *f, const char *root, tape *t) {
  int where = next(t), kind = next(t), count = next(t) % 17;
  char path[96];
  if (where % 50 == 49)
    snprintf(path, sizeof path, "/guesses/1/r");
  else
    snprintf(path, sizeof path, "%s%s", where >= 200 ? roots[where % 4] : root, places[where % PLACE_COUNT]);
  double x[17];
  for (int k = 0; k < 17; k++) x[k] = k < count ? number(t) : 0.0;
  H5Ldelete(f->file, path, H5P_DEFAULT);
  switch (kind % 14) {
    case 0: break; /* gone */
    case 1: fclib_file_put(f, path, H5T_STD_I32LE, H5T_NATIVE_DOUBLE, count, x); break;
    case 2: fclib_file_put(f, path, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, count, x); break;
    case 3: fclib_file_put(f, path, H5T_STD_I64BE, H5T_NATIVE_DOUBLE, count, x); break;
    case 4: fclib_file_put(f, path, H5T_IEEE_F32BE, H5T_NATIVE_DOUBLE, count, x); break;
    case 5: fclib_file_put(f, path, H5T_STD_U8LE, H5T_NATIVE_DOUBLE, count, x); break;
    case 6: put_chunked(f, path, H5T_IEEE_F64LE, count, x, kind & 16); break;
    case 7: put_chunked(f, path, H5T_STD_I32LE, count, x, kind & 16); break;
    case 8: put_chunked(f, path, H5T_IEEE_F64LE, (int64_t)count << 26, NULL, false); break; /* claimed, not written */
    case 9: H5Gclose(H5Gcreate2(f->file, path, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)); break;
    case 10: H5Lcreate_soft("/", f->file, path, H5P_DEFAULT, H5P_DEFAULT); break;
    case 11: H5Lcreate_external("other.h5", "/x", f->file, path, H5P_DEFAULT, H5P_DEFAULT); break;
    case 12: put_table(f, path, x); break;
    case 13: put_text(f, path, (size_t)count); break;
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  tape t = {bytes, bytes + count};
  int first = next(&t) % 4;
  fclib_file f = fclib_file_begin();
  put_good(&f, roots[first], first % 2 == 0, first >= 2);
  for (int k = 0; k < 12 && t.at < t.end; k++) change(&f, roots[first], &t);
  size_t size = 0;
  char *image = fclib_file_end(&f, &size);
  if (image && size) fuzz_read((const uint8_t *)image, size, "fclib", FRIX_TEXT_DETECT);
  free(image);
  return 0;
}
