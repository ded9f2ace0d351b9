/* Broken files: every one gives the right status and one line that names the file and the place, quickly and without
 * leak; so does running out of memory at any point. */
#include <math.h>
#include <sys/stat.h>

#include "io_tools.h"

/* An allocator that counts what is alive and fails at allocation number `fail` (from 1; 0 never). */
typedef struct meter {
  long live, taken, fail;
  size_t peak, bytes;
} meter;

static void *meter_allocate(size_t bytes, void *user) {
  meter *m = user;
  if (++m->taken == m->fail) return NULL;
  void *pointer = malloc(bytes);
  if (!pointer) return NULL;
  m->live++;
  m->bytes += bytes;
  if (m->bytes > m->peak) m->peak = m->bytes;
  return pointer;
}

static void meter_release(void *pointer, size_t bytes, void *user) {
  meter *m = user;
  m->live--;
  m->bytes -= bytes;
  free(pointer);
}

static frix_context *meter_context(meter *m) {
  frix_context_config config = frix_context_default();
  config.allocate = meter_allocate;
  config.release = meter_release;
  config.user = m;
  frix_context *context = NULL;
  frix_context_create(&config, &context);
  return context;
}

/* Reads bytes that must fail: status, one line, the name in front, the fragment inside, soon, without leak. */
static void must_fail(fx_test *t, const char *name, const void *bytes, size_t count, const char *format,
                      frix_status expected, const char *fragment) {
  meter m = {0};
  frix_context *context = meter_context(&m);
  frix_read_config config = frix_read_default();
  config.format = format;
  frix_problem *problem = NULL;
  double start = seconds();
  frix_status status = frix_problem_read_memory(context, name, bytes, count, &config, &problem);
  double took = seconds() - start;
  const char *text = frix_error_text(context);
  if (status != expected || problem)
    fx_test_fail(t, __FILE__, __LINE__, "%s: %s (%s), expected %s", name, frix_status_name(status), text,
                 frix_status_name(expected));
  if (strncmp(text, name, strlen(name)) != 0 || text[strlen(name)] != ':' || strchr(text, '\n'))
    fx_test_fail(t, __FILE__, __LINE__, "'%s' is not one line that begins with %s:", text, name);
  if (!strstr(text, fragment)) fx_test_fail(t, __FILE__, __LINE__, "'%s' lacks '%s'", text, fragment);
  if (took > 0.5) fx_test_fail(t, __FILE__, __LINE__, "%s took %g s", name, took);
  if (m.peak > count * 64 + (1 << 20)) fx_test_fail(t, __FILE__, __LINE__, "%s took %zu bytes", name, m.peak);
  frix_problem_destroy(problem);
  frix_context_destroy(context);
  CHECK(t, m.live == 0);
}

/* A file in text, and what the message must contain. */
typedef struct broken_text {
  const char *text, *fragment;
} broken_text;

#define W3 "1 0 0\n0 1 0\n0 0 1\n"

static void broken_dat(fx_test *t) {
  static const broken_text row[] = {
      {"hello world\n", ":1: contact dimension: expected a whole number, found 'hello'"},
      {"\n \t \n", "nothing but white space"},
      {"3\n", ":2: the file ends where number of contacts should be"},
      {"3\n1\n0\n3\n3\n3 3\n" W3 "-1 0 0\n", "the file ends after 0 of 1 values of mu"},
      {"3\n1\n0\n3\n3\n3 3\n1 0 0 0 1\n", "needs 9 values"},
      {"3\n1\n0\n3\n3\n3 3\n" W3 "-1 nan 0\n0.5\n", ":10: q, value 1: 'nan' is not a finite number"},
      {"3\n1\n0\n3\n3\n3 3\n1 0 0\n0 inf 0\n0 0 1\n-1 0 0\n0.5\n",
       ":8: the first matrix, value 4: 'inf' is not a finite"},
      {"3\n1\n0\n3\n3\n3 3\n" W3 "-1 0 x7\n0.5\n", ":10: q, value 2: expected a number, found 'x7'"},
      {"3\n1\n0\n3\n3\n3 3\n" W3 "-1 0 0\n-0.5\n", ":11: mu, value 0: -0.5 is less than 0"},
      {"3\n1\n0\n3\n3\n3 3\n" W3 "-1 0 0\n0.5\n1 2 3\n", ":12: '2' after the last value"},
      {"3\n1\n0\n3\n4\n3 4\n" W3 "-1 0 0\n0.5\n", "is 3 x 4, expected 3 x 3"},
      {"3\n1\n0\n3\n3\n3 2\n" W3 "-1 0 0\n0.5\n", ":6: repeated column count is 2"},
      {"3\n1\n7\n3\n3\n3 3\n" W3 "-1 0 0\n0.5\n", ":3: matrix storage (0 dense, 1 blocks, 2 sparse) is 7"},
      {"4\n1\n0\n4\n4\n4 4\n", ":1: contact dimension is 4, expected 2, 3 or 5"},
      {"3\n-2\n0\n3\n3\n3 3\n", ":2: number of contacts is -2"},
      {"3\n99999999999999999999999\n0\n", ":2: number of contacts: expected a whole number"},
      {"3\n12000\n0\n36000\n36000\n36000 36000\n1 2 3\n",
       "needs 1296000000 values, the rest of the file holds at most"},
      {"3\n1\n0\n2000000000\n2000000000\n2000000000 2000000000\n1\n", "needs 4000000000000000000 values"},
      {"3\n1\n2\n3\n3\n1\nCSparse\ntriplet: 3-by-3, nzmax: 2000000000 nnz: 2000000000\n0 0 : 1\n", "needs 8000000000"},
      {"3\n1\n2\n3\n3\n1\nCSparse\ntriplet: 3-by-3, nzmax: 1 nnz: 1\n3 0 : 1\n1 2 3\n0.5\n", ":9: row index is 3"},
      {"3\n1\n2\n3\n3\n1\nCSparse\ntriplet: 3-by-3, nzmax: 1 nnz: 1\n0 -1 : 1\n1 2 3\n.5\n", ":9: column index is -1"},
      {"3\n1\n2\n3\n3\n1\nCSparse\ntriplet: 3-by-3, nzmax: 1 nnz: 1\n0 0 ; 1\n1 2 3\n.5\n",
       ":9: expected ':', found ';'"},
      {"3\n1\n2\n3\n3\n1\nSparse\n", ":7: expected 'CSparse'"},
      {"3\n1\n2\n3\n3\n1\nCSparse\nsomething else\n1 2 3\n", ":8: expected 'triplet: M-by-N"},
      {"3\n1\n2\n3\n3\n1\nCSparse\ntriplet: 3-by-4, nzmax: 1 nnz: 1\n", "is 3-by-4 here and 3-by-3 above"},
      {"3\n1\n2\n3\n3\n2\nCSparse\n3-by-3, nzmax: 1 nnz: 1, 1-norm: 1\ncol 0 : locations 0 to 0\n0 : 1\n"
       "col 2 : locations 1 to 0\ncol 1 : locations 1 to 0\n-1 0 0\n0.5\n",
       ":11: slice number is 2"},
      {"3\n1\n2\n3\n3\n2\nCSparse\n3-by-3, nzmax: 2 nnz: 2, 1-norm: 1\ncol 0 : locations 0 to 0\n0 : 1\n"
       "col 1 : locations 1 to 0\ncol 2 : locations 1 to 0\n-1 0 0 0 0 0 0 0 0\n0.5\n",
       "has 1 entries, its header says 2"},
      {"3\n1\n1\n3\n3\n1\n1\n1\n3\n2\n2\n1\n0 1\n0\n0\n" W3 "-1 0 0\n.5\n",
       ":10: the blocks of the first matrix do not add up to 3 x 3"},
      {"3\n1\n1\n3\n3\n1\n1\n1\n3\n3\n2\n1\n0 1\n5\n0\n" W3 "-1 0 0\n.5\n", ":14: block column is 5"},
      {"3\n1\n1\n3\n3\n1\n1\n1\n3\n3\n2\n1\n0 1\n0\n9\n" W3 "-1 0 0\n.5\n", ":15: block number is 9"},
      {"3\n1\n1\n3\n3\n1\n1\n1\n3\n3\n2\n1\n0 0\n0\n0\n" W3 "-1 0 0\n.5\n", "do not run from 0 to 1"},
      {"5\n1\n2\n5\n5\n1\nCSparse\ntriplet: 5-by-5, nzmax: 0 nnz: 0\n-1 0 0 0 0\n.5\n", "mu_r"},
  };
  int count = (int)(sizeof row / sizeof *row);
  char name[32];
  for (int k = 0; k < count; k++) {
    snprintf(name, sizeof name, "broken%d.dat", k);
    must_fail(t, name, row[k].text, strlen(row[k].text), NULL, FRIX_ERROR_FORMAT, row[k].fragment);
  }
  fx_test_note(t, "%d files", count + 1);
}

#define ONE "\"contacts\":[{\"cone\":\"circular\",\"mu\":0.5}]"
#define WQ "\"W\":{\"diagonal\":[1,1,1]},\"q\":[-1,0,0]"

static void broken_json(fx_test *t) {
  static const broken_text row[] = {
      {"{", ":1: expected a string, found 'end of file'"},
      {"{}", ":1: 'contacts' is missing"},
      {"{\n" ONE ",\n" WQ "}\nx", ":4: expected nothing more, found 'x'"},
      {"{" ONE "," WQ ",}", "a ',' before '}'"},
      {"{" ONE " " WQ "}", "expected ',' or '}'"},
      {"{" ONE "," WQ, "expected ',' or '}', found 'end of file'"},
      {"{" ONE ",\"W\":[[1,0,0],[0,1],[0,0,1]],\"q\":[1,2,3]}", "row 1 of W has 2 values"},
      {"{" ONE ",\"W\":[[1,0],[0,1]],\"q\":[1,2,3]}", "W has 2 rows, expected 3"},
      {"{" ONE ",\n\"q\":[1,2],\n\"W\":{\"diagonal\":[1,1,1]}}", ":2: q has 2 values, expected 3"},
      {"{" ONE ",\"q\":[1,2,NaN],"
       "\"W\":{\"diagonal\":[1,1,1]}}",
       "q: expected a number, found 'NaN'"},
      {"{" ONE ",\"q\":[1,2,1e999],"
       "\"W\":{\"diagonal\":[1,1,1]}}",
       "'1e999' is not a finite number"},
      {"{" ONE ",\"q\":[1,2,01],"
       "\"W\":{\"diagonal\":[1,1,1]}}",
       "expected a number, found '01'"},
      {"{" ONE ",\"q\":[1,2,.5],"
       "\"W\":{\"diagonal\":[1,1,1]}}",
       "expected a number, found '.5'"},
      {"{\"contacts\":[{\"cone\":\"circular\",\"mu\":-0.5}]," WQ "}", "mu is -0.5, it must not be negative"},
      {"{\"contacts\":[{\"cone\":\"circular\"}]," WQ "}", "a circular cone needs mu"},
      {"{\"contacts\":[{\"cone\":\"limit\",\"mu\":1}]," WQ "}", "a limit cone has no mu"},
      {"{\"contacts\":[{\"cone\":\"circlar\",\"mu\":1}]," WQ "}", "unknown cone 'circlar', did you mean 'circular'?"},
      {"{\"contacts\":[{\"cone\":\"circular\",\"mu\":1,\"dim\":2}]," WQ "}", "a circular cone with dim 2"},
      {"{\"contacts\":[{\"mu\":1}]," WQ "}", "a contact needs a cone"},
      {"{\"contacts\":[{\"cone\":\"pyramid\",\"mu\":1,\"facets\":2}]," WQ "}", "facets is 2, expected 3 to 64"},
      {"{\"contacts\":[{\"cone\":\"elliptic\",\"mu\":1,\"mu2\":1,\"axis\":[0,0]}]," WQ "}", "axis is zero"},
      {"{\"contacts\":[{\"cone\":\"elliptic\",\"mu\":1,\"mu2\":1,\"axis\":[1]}]," WQ "}", "axis needs two numbers"},
      {"{\"contacts\":[{\"cone\":\"circular\",\"mu\":1,\"count\":2000000000}]," WQ "}", "rows are too many"},
      {"{\"contacts\":[{\"cone\":\"circular\",\"mu\":1,\"count\":300000000}]," WQ "}",
       "q has 3 values, expected 900000000"},
      {"{" ONE "," ONE "," WQ "}", "'contacts' a second time"},
      {"{" ONE "," WQ ",\"Q\":1}", "unknown key 'Q', did you mean"},
      {"{" ONE "," WQ ",\"M\":{\"diagonal\":[1]}}", "exclude each other"},
      {"{" ONE "," WQ ",\"R\":[0,-1,0]}", "R is -1, it must not be less than 0"},
      {"{" ONE "," WQ ",\"r_c\":[0,0,0]}", "r_c is given without R"},
      {"{" ONE "," WQ ",\"guess\":[0,0]}", "guess has 2 values, expected 3"},
      {"{" ONE ",\"M\":{\"diagonal\":[1,1]},\"f\":[0,0],\"w\":[0,0,0]}", "'H' is missing"},
      {"{" ONE ",\"q\":[1,2,3],\"W\":{\"rows\":3,\"cols\":3,\"entries\":[[0,3,1]]}}", "but an index is 3"},
      {"{" ONE ",\"q\":[1,2,3],\"W\":{\"rows\":3,\"cols\":3,\"entries\":[[0,-1,1]]}}", "column index is -1"},
      {"{" ONE ",\"q\":[1,2,3],\"W\":{\"rows\":3,\"cols\":3,\"entries\":[[0,1]]}}", "is not [row, column, value]"},
      {"{" ONE ",\"q\":[1,2,3],\"W\":{\"rows\":2000000000,\"cols\":2000000000,\"entries\":[]}}", "has 2000000000 rows"},
      {"{" ONE ",\"q\":[1,2,3],\"W\":{\"rows\":3,\"cols\":3,\"p\":[0,2,1,3],\"i\":[0,1,2],\"x\":[1,1,1]}}",
       "do not agree"},
      {"{" ONE ",\"q\":[1,2,3],\"W\":{\"rows\":3,\"cols\":3,\"p\":[0,1,2,3],\"i\":[0,1,2]}}", "needs rows, cols and"},
      {"{" ONE "," WQ ",\"title\":\"\\q\"}", "bad escape"},
      {"{" ONE "," WQ ",\"title\":\"\xff\"}", "not UTF-8"},
      {"{" ONE "," WQ ",\"title\":\"a\nb\"}", "control character"},
      {"{" ONE "," WQ ",\"title\":\"abc", "a string does not end"},
      {"{" ONE "," WQ ",\"format\":\"other\"}", "format is 'other'"},
      {"[1,2]", "an object '{', found '[1'"},
  };
  int count = (int)(sizeof row / sizeof *row);
  char name[32];
  for (int k = 0; k < count; k++) {
    snprintf(name, sizeof name, "broken%d.json", k);
    must_fail(t, name, row[k].text, strlen(row[k].text), "json", FRIX_ERROR_FORMAT, row[k].fragment);
  }
  fx_test_note(t, "%d files", count);
}

static void deep_json(fx_test *t) {
  enum { DEPTH = 1000000 };
  char *text = malloc(2 * DEPTH + 64);
  REQUIRE(t, text != NULL);
  strcpy(text, "{\"comment\":");
  size_t used = strlen(text);
  memset(text + used, '[', DEPTH);
  must_fail(t, "deep.json", text, used + DEPTH, NULL, FRIX_ERROR_FORMAT, "nested deeper than 64 levels");
  strcpy(text, "{\"W\":");
  used = strlen(text);
  memset(text + used, '[', DEPTH);
  must_fail(t, "deep.json", text, used + DEPTH, NULL, FRIX_ERROR_FORMAT, "expected a number");
  /* Within the limit a nested comment is fine. */
  used = (size_t)sprintf(text, "{" ONE "," WQ ",\"comment\":");
  memset(text + used, '[', 60);
  memset(text + used + 60, ']', 60);
  text[used + 120] = '}';
  frix_context *context = NULL;
  frix_context_create(NULL, &context);
  frix_problem *problem = NULL;
  CHECK(t, frix_problem_read_memory(context, "deep.json", text, used + 121, NULL, &problem) == FRIX_OK);
  frix_problem_destroy(problem);
  frix_context_destroy(context);
  free(text);
}

/* A path that must fail, by file status and by word. */
static void path_fails(fx_test *t, const char *path, frix_status expected, const char *fragment) {
  frix_context *context = NULL;
  frix_context_create(NULL, &context);
  frix_problem *problem = NULL;
  frix_status status = frix_problem_read(context, path, NULL, &problem);
  const char *text = frix_error_text(context);
  if (status != expected || problem || strncmp(text, path, strlen(path)) != 0 || !strstr(text, fragment))
    fx_test_fail(t, __FILE__, __LINE__, "%s: %s (%s)", path, frix_status_name(status), text);
  frix_context_destroy(context);
}

static void broken_paths(fx_test *t) {
  const char *missing = fx_test_scratch(t, "missing.dat");
  path_fails(t, missing, FRIX_ERROR_FILE, "cannot open: No such file");
  const char *folder = fx_test_scratch(t, "folder.dat");
  mkdir(folder, 0777);
  path_fails(t, folder, FRIX_ERROR_FILE, "is a directory");
  const char *const empty[] = {"empty.dat", "empty.json", "empty.hdf5"};
  for (int k = 0; k < 3; k++) {
    const char *path = fx_test_scratch(t, empty[k]);
    FILE *file = fopen(path, "w");
    REQUIRE(t, file != NULL);
    fclose(file);
    path_fails(t, path, FRIX_ERROR_FORMAT, "is empty");
    if (k == 0 && geteuid() != 0) {
      chmod(path, 0);
      path_fails(t, path, FRIX_ERROR_FILE, "cannot open: Permission denied");
      chmod(path, 0600);
    }
  }
  rmdir(folder);
}

static void bad_configs(fx_test *t) {
  frix_context *context = NULL;
  frix_context_create(NULL, &context);
  frix_problem *problem = NULL;
  frix_read_config config = frix_read_default();
  config.format = "fclip";
  CHECK(t, frix_problem_read_memory(context, "a", "3", 1, &config, &problem) == FRIX_ERROR_INPUT);
  CHECK(t, strstr(frix_error_text(context), "fclib, json, text") != NULL);
  config = (frix_read_config){0};
  CHECK(t, frix_problem_read_memory(context, "a", "3", 1, &config, &problem) == FRIX_ERROR_INPUT);
  CHECK(t, frix_problem_read_memory(context, NULL, NULL, 0, NULL, &problem) == FRIX_ERROR_FORMAT);
  CHECK(t, frix_problem_read(context, NULL, NULL, &problem) == FRIX_ERROR_INPUT);
  /* A limit on memory is kept. */
  const char *text = "3\n1\n0\n3\n3\n3 3\n" W3 "-1 0 0\n0.5\n";
  config = frix_read_default();
  config.max_bytes = 64;
  CHECK(t, frix_problem_read_memory(context, "small.dat", text, strlen(text), &config, &problem) == FRIX_ERROR_MEMORY);
  CHECK(t, strstr(frix_error_text(context), "more memory than the limit") != NULL);
  CHECK(t, problem == NULL);
  frix_context_destroy(context);
}

/* Every allocation fails once: an error each time, nothing left behind, and the same answer when none fails. */
static void walk_allocations(fx_test *t, const char *name, const void *bytes, size_t count) {
  meter m = {0};
  bool done = false;
  for (m.fail = 2; m.fail < 10000 && !done; m.fail++) {
    m.taken = 0;
    frix_context *context = meter_context(&m);
    frix_problem *problem = NULL;
    frix_status status = frix_problem_read_memory(context, name, bytes, count, NULL, &problem);
    done = m.taken < m.fail;
    if (status != (done ? FRIX_OK : FRIX_ERROR_MEMORY) || !problem != !done)
      fx_test_fail(t, __FILE__, __LINE__, "%s, allocation %ld: %s", name, m.fail, frix_error_text(context));
    frix_problem_destroy(problem);
    frix_context_destroy(context);
    if (m.live) fx_test_fail(t, __FILE__, __LINE__, "%s, allocation %ld: %ld blocks leak", name, m.fail, m.live);
    m.live = 0;
  }
  CHECK(t, done);
  CHECK(t, m.fail > 10);
}

/* The same for writing, and nothing is written unless all of it is. */
static void walk_writing(fx_test *t, const char *path, const char *json) {
  meter m = {0};
  bool done = false;
  remove(path);
  for (long fail = 1; fail < 10000 && !done; fail++) {
    m = (meter){0};
    frix_context *context = meter_context(&m);
    frix_problem *problem = NULL;
    REQUIRE(t, frix_problem_read_memory(context, "p.json", json, strlen(json), NULL, &problem) == FRIX_OK);
    m.taken = 0;
    m.fail = fail;
    frix_status status = frix_problem_write(problem, path, NULL);
    done = m.taken < fail;
    bool written = access(path, F_OK) == 0;
    if (status != (done ? FRIX_OK : FRIX_ERROR_MEMORY) || written != done)
      fx_test_fail(t, __FILE__, __LINE__, "%s, allocation %ld: %s", path, fail, frix_error_text(context));
    frix_problem_destroy(problem);
    frix_context_destroy(context);
    CHECK(t, m.live == 0);
  }
  CHECK(t, done);
}

static const char small_json[] =
    "{\"title\":\"two\",\"contacts\":[{\"cone\":\"circular\",\"mu\":0.5,\"count\":2}],"
    "\"W\":{\"rows\":6,\"cols\":6,\"entries\":[[0,0,1],[1,1,2],[2,2,3],[3,3,4],[4,4,5],[5,5,6],[0,5,0.1],[5,0,0.1]]},"
    "\"q\":[-1,0,1,-2,0,2],\"guess\":[1,0,0,2,0,0]}";

static void out_of_memory(fx_test *t) {
  static const char dense[] = "3\n1\n0\n3\n3\n3 3\n" W3 "-1 0 0\n0.5\n";
  static const char blocks[] = "3\n1\n1\n3\n3\n1\n1\n1\n3\n3\n2\n1\n0 1\n0\n0\n" W3 "-1 0 0\n.5\n";
  static const char global[] =
      "2\n1\n2\n3\n3\n1\nCSparse\ntriplet: 3-by-3, nzmax: 3 nnz: 3\n0 0 : 1\n1 1 : 1\n2 2 : 1\n"
      "0\n3\n2\n3 2\n1 0 0\n0 1 1\n-1 0 0\n0 0\n.3\n";
  static const char rows[] = "{" ONE ",\"W\":[[1,0,0],[0,1,0],[0,0,1]],\"q\":[-1,0,0],\"R\":[1,1,1],\"r_c\":[0,0,0]}";
  walk_allocations(t, "dense.dat", dense, strlen(dense));
  walk_allocations(t, "blocks.dat", blocks, strlen(blocks));
  walk_allocations(t, "global.dat", global, strlen(global));
  walk_allocations(t, "small.json", small_json, strlen(small_json));
  walk_allocations(t, "rows.json", rows, strlen(rows));
  walk_writing(t, fx_test_scratch(t, "walk.dat"), small_json);
  walk_writing(t, fx_test_scratch(t, "walk.json"), small_json);
}

#ifdef FRIX_HAVE_HDF5

/* A good local problem of two contacts; tests break one thing of it. */
static fclib_file good_local(void) {
  static const int32_t p[] = {0, 1, 2, 3, 4, 5, 6}, i[] = {0, 1, 2, 3, 4, 5};
  static const double x[] = {1, 1, 1, 1, 1, 1}, q[] = {-1, 0, 0, -2, 0, 1}, mu[] = {0.5, 0.25};
  fclib_file f = fclib_file_begin();
  fclib_file_integer(&f, "/fclib_local/spacedim", 3);
  fclib_file_integer(&f, "/fclib_local/W/m", 6);
  fclib_file_integer(&f, "/fclib_local/W/n", 6);
  fclib_file_integer(&f, "/fclib_local/W/nz", -1);
  fclib_file_integer(&f, "/fclib_local/W/nzmax", 6);
  fclib_file_integers(&f, "/fclib_local/W/p", 7, p);
  fclib_file_integers(&f, "/fclib_local/W/i", 6, i);
  fclib_file_reals(&f, "/fclib_local/W/x", 6, x);
  fclib_file_reals(&f, "/fclib_local/vectors/q", 6, q);
  fclib_file_reals(&f, "/fclib_local/vectors/mu", 2, mu);
  return f;
}

static void end_fails(fx_test *t, fclib_file *f, const char *name, frix_status status, const char *fragment) {
  size_t count = 0;
  char *bytes = fclib_file_end(f, &count);
  REQUIRE(t, bytes != NULL);
  must_fail(t, name, bytes, count, NULL, status, fragment);
  free(bytes);
}

/* One dataset at a time is replaced by something wrong. */
static void broken_datasets(fx_test *t) {
  static const int32_t far[] = {0, 1, 2, 3, 4, 6}, below[] = {0, 1, 2, 3, 4, -1}, p_back[] = {0, 1, 2, 1, 4, 5, 6},
                       p_late[] = {1, 1, 2, 3, 4, 5, 6}, p_more[] = {0, 1, 2, 3, 4, 5, 2000000000};
  static const double negative[] = {0.5, -0.25}, one[] = {0.5}, text[] = {1, 2, 3, 4, 5, NAN},
                      infinite[] = {1, 2, INFINITY, 4, 5, 6};
  const struct {
    const char *path;
    const int32_t *integer;
    const double *real;
    int count;
    const char *fragment;
  } row[] = {
      {"/fclib_local/W/i", far, NULL, 6, ":/fclib_local/W/i: value 5 is 6, expected 0 to 5"},
      {"/fclib_local/W/i", below, NULL, 6, ":/fclib_local/W/i: value 5 is -1, expected 0 to 5"},
      {"/fclib_local/W/i", far, NULL, 4, ":/fclib_local/W/i: has 4 values, expected 6"},
      {"/fclib_local/W/p", p_back, NULL, 7, ":/fclib_local/W/p: value 3 is less than the one before"},
      {"/fclib_local/W/p", p_late, NULL, 7, ":/fclib_local/W/p: begins with 1, not 0"},
      {"/fclib_local/W/p", p_more, NULL, 7, ":/fclib_local/W/i: has 6 values, expected 2000000000"},
      {"/fclib_local/W/p", p_back, NULL, 3, ":/fclib_local/W/p: has 3 values, expected 7"},
      {"/fclib_local/W/nz", (const int32_t[]){-3}, NULL, 1, ":/fclib_local/W/nz: value 0 is -3"},
      {"/fclib_local/W/nz", (const int32_t[]){7}, NULL, 1, ":/fclib_local/W/p: value 6 is 6, expected 0 to 5"},
      {"/fclib_local/W/m", (const int32_t[]){5}, NULL, 1, ":/fclib_local/W/i: value 5 is 5, expected 0 to 4"},
      {"/fclib_local/W/n", (const int32_t[]){-5}, NULL, 1, ":/fclib_local/W/n: value 0 is -5"},
      {"/fclib_local/W/n", NULL, one, 1, ":/fclib_local/W/n: is not made of whole numbers"},
      {"/fclib_local/W/x", far, NULL, 6, ":/fclib_local/W/x: is not made of real numbers"},
      {"/fclib_local/W/x", NULL, infinite, 6, ":/fclib_local/W/x: value 2 is not a finite number"},
      {"/fclib_local/W/x", NULL, text, 5, ":/fclib_local/W/x: has 5 values, expected 6"},
      {"/fclib_local/vectors/q", NULL, text, 6, ":/fclib_local/vectors/q: value 5 is not a finite number"},
      {"/fclib_local/vectors/q", NULL, text, 5, ":/fclib_local/vectors/q: has 5 values, expected 6"},
      {"/fclib_local/vectors/mu", NULL, negative, 2, ":/fclib_local/vectors/mu: value 1 is -0.25, less than 0"},
      {"/fclib_local/vectors/mu", NULL, one, 1, ":/fclib_local/vectors/mu: has 1 values, expected 2"},
      {"/fclib_local/spacedim", (const int32_t[]){4}, NULL, 1, ":/fclib_local/spacedim: value 0 is 4"},
      {"/fclib_local/spacedim", (const int32_t[]){2}, NULL, 1, ":/fclib_local/vectors/mu: has 2 values, expected 3"},
      {"/fclib_global/spacedim", (const int32_t[]){3}, NULL, 1, ":/fclib_global: is a second problem"},
      {"/fclib_local/V/m", (const int32_t[]){3}, NULL, 1, ":/fclib_local/V: bilateral rows"},
      {"/guesses/1/r", NULL, one, 1, ":/guesses/1/r: has 1 values, expected 6"},
  };
  for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
    fclib_file f = good_local();
    if (row[k].real)
      fclib_file_reals(&f, row[k].path, row[k].count, row[k].real);
    else
      fclib_file_integers(&f, row[k].path, row[k].count, row[k].integer);
    frix_status status = strstr(row[k].path, "/V/") ? FRIX_ERROR_UNSUPPORTED : FRIX_ERROR_FORMAT;
    end_fails(t, &f, "broken.hdf5", status, row[k].fragment);
  }
  fx_test_note(t, "%d files", (int)(sizeof row / sizeof *row));
}

static void broken_structure(fx_test *t) {
  fclib_file f = fclib_file_begin();
  end_fails(t, &f, "none.hdf5", FRIX_ERROR_FORMAT, ":/: no group fclib_local");
  static const char *const needed[] = {"/fclib_local/spacedim", "/fclib_local/W/m", "/fclib_local/W/p",
                                       "/fclib_local/vectors/q", "/fclib_local/vectors/mu"};
  for (int k = 0; k < 5; k++) {
    f = good_local();
    H5Ldelete(f.file, needed[k], H5P_DEFAULT);
    end_fails(t, &f, "less.hdf5", FRIX_ERROR_FORMAT, needed[k]);
  }
  /* Links that lead elsewhere are not followed. */
  f = good_local();
  H5Ldelete(f.file, "/fclib_local/vectors/q", H5P_DEFAULT);
  H5Lcreate_external("/etc/passwd", "/q", f.file, "/fclib_local/vectors/q", H5P_DEFAULT, H5P_DEFAULT);
  end_fails(t, &f, "external.hdf5", FRIX_ERROR_FORMAT, ":/fclib_local/vectors/q: is missing");
  f = good_local();
  H5Ldelete(f.file, "/fclib_local/vectors/q", H5P_DEFAULT);
  H5Lcreate_soft("/fclib_local/vectors", f.file, "/fclib_local/vectors/q", H5P_DEFAULT, H5P_DEFAULT);
  end_fails(t, &f, "soft.hdf5", FRIX_ERROR_FORMAT, ":/fclib_local/vectors/q: is missing");
  /* A group where data should be. */
  f = good_local();
  H5Ldelete(f.file, "/fclib_local/vectors/q", H5P_DEFAULT);
  H5Gclose(H5Gcreate2(f.file, "/fclib_local/vectors/q", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  end_fails(t, &f, "group.hdf5", FRIX_ERROR_FORMAT, ":/fclib_local/vectors/q: is not a dataset");
  /* 10 GB that were never written. */
  f = good_local();
  hsize_t size = 1250000000, chunk = 1000;
  hid_t space = H5Screate_simple(1, &size, NULL), plan = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(plan, 1, &chunk);
  H5Ldelete(f.file, "/fclib_local/W/x", H5P_DEFAULT);
  H5Dclose(H5Dcreate2(f.file, "/fclib_local/W/x", H5T_IEEE_F64LE, space, H5P_DEFAULT, plan, H5P_DEFAULT));
  H5Sclose(space);
  H5Pclose(plan);
  end_fails(t, &f, "huge.hdf5", FRIX_ERROR_FORMAT, ":/fclib_local/W/x: claims more data than the file holds");
}

/* Cut anywhere, a file is refused or, where only padding is lost, read; never anything else. */
static void truncated_hdf5(fx_test *t) {
  fclib_file f = good_local();
  size_t count = 0;
  char *bytes = fclib_file_end(&f, &count);
  REQUIRE(t, bytes != NULL);
  must_fail(t, "cut.hdf5", bytes, 4, NULL, FRIX_ERROR_FORMAT, ":/: is not an HDF5 file");
  static const int part[] = {1, 10, 25, 50, 75, 90, 99};
  for (size_t k = 0; k < sizeof part / sizeof *part; k++)
    must_fail(t, "cut.hdf5", bytes, count * (size_t)part[k] / 100, NULL, FRIX_ERROR_FORMAT, ":/: is not");
  int refused = 0, cuts = 0;
  for (size_t cut = 8; cut < count; cut += 1 + count / 200, cuts++) {
    frix_context *context = NULL;
    frix_context_create(NULL, &context);
    frix_problem *problem = NULL;
    frix_status status = frix_problem_read_memory(context, "cut.hdf5", bytes, cut, NULL, &problem);
    CHECK(t, status == FRIX_ERROR_FORMAT && !problem);
    refused += status == FRIX_ERROR_FORMAT;
    frix_problem_destroy(problem);
    frix_context_destroy(context);
  }
  fx_test_note(t, "%d of %d cuts refused", refused, cuts);
  must_fail(t, "text.hdf5", "3 1 0 3 3", 9, NULL, FRIX_ERROR_FORMAT, ":/: is not an HDF5 file");
  free(bytes);
}

static void out_of_memory_hdf5(fx_test *t) {
  fclib_file f = good_local();
  static const double guess[] = {1, 0, 0, 1, 0, 0};
  fclib_file_reals(&f, "/guesses/1/r", 6, guess);
  size_t count = 0;
  char *bytes = fclib_file_end(&f, &count);
  REQUIRE(t, bytes != NULL);
  walk_allocations(t, "walk.hdf5", bytes, count);
  free(bytes);
  walk_writing(t, fx_test_scratch(t, "walk.hdf5"), small_json);
}

/* A file that makes libhdf5's own image driver read from nowhere. */
static void damaged_hdf5(fx_test *t) {
  frix_context *context = NULL;
  frix_context_create(NULL, &context);
  frix_problem *problem = NULL;
  const char *path = FRIX_SOURCE_DIR "/fuzz/corpus/raw_fclib/accumulator.hdf5";
  CHECK(t, frix_problem_read(context, path, NULL, &problem) == FRIX_ERROR_FORMAT && !problem);
  frix_problem_destroy(problem);
  frix_context_destroy(context);
}

#endif

const fx_test_row test_io_broken[] = {
    {"io/broken/text", broken_dat},
    {"io/broken/json", broken_json},
    {"io/broken/json_depth", deep_json},
    {"io/broken/paths", broken_paths},
    {"io/broken/configs", bad_configs},
    {"io/broken/out_of_memory", out_of_memory},
#ifdef FRIX_HAVE_HDF5
    {"io/broken/fclib_data", broken_datasets},
    {"io/broken/fclib_structure", broken_structure},
    {"io/broken/fclib_cut", truncated_hdf5},
    {"io/broken/fclib_damaged", damaged_hdf5},
    {"io/broken/fclib_out_of_memory", out_of_memory_hdf5},
#endif
    {0},
};
