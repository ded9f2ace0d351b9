/* Readers and writers: all shared files, every storage, round trips bit for bit, solutions and guesses. */
#include "io_tools.h"

static void table(fx_test *t) {
  static const char *const names[] = {"fclib", "json", "text"};
  for (int k = 0; k < 3; k++) {
    const frix_format_info *row = frix_format_table(k);
    REQUIRE(t, row != NULL);
    CHECK(t, strcmp(row->name, names[k]) == 0 && row->summary && row->extension[0] == '.');
  }
  CHECK(t, !frix_format_table(3) && !frix_format_table(-1));
}

/* Every shared file with its sizes: contacts, rows, degrees of freedom. */
static const struct {
  const char *path;
  frix_form form;
  int32_t contacts, rows, dof;
} shared[] = {
    {"contact/Box_Stacks-i0122-82-5.hdf5", FRIX_FORM_GLOBAL, 82, 246, 450},
    {"contact/Capsules-i100-1090.dat", FRIX_FORM_LOCAL, 276, 828, 828},
    {"contact/Capsules-i100-889.dat", FRIX_FORM_LOCAL, 276, 828, 828},
    {"contact/Capsules-i101-404.dat", FRIX_FORM_LOCAL, 225, 675, 675},
    {"contact/Confeti-ex13-4contact-Fc3D-SBM.dat", FRIX_FORM_LOCAL, 4, 12, 12},
    {"contact/Confeti-ex13-Fc3D-SBM.dat", FRIX_FORM_LOCAL, 107, 321, 321},
    {"contact/FC2D_SliderCrankLagrangian00000.dat", FRIX_FORM_LOCAL, 2, 4, 4},
    {"contact/FC3D_Example1.dat", FRIX_FORM_LOCAL, 3, 9, 9},
    {"contact/FC3D_Example1_SBM.dat", FRIX_FORM_LOCAL, 3, 9, 9},
    {"contact/FrictionContact3D_1c.dat", FRIX_FORM_LOCAL, 1, 3, 3},
    {"contact/FrictionContactProblem00031.dat", FRIX_FORM_LOCAL, 11, 22, 22},
    {"contact/FrictionContactProblem00071.dat", FRIX_FORM_LOCAL, 89, 178, 178},
    {"contact/FrictionContactProblem00237.dat", FRIX_FORM_LOCAL, 376, 752, 752},
    {"contact/GFC3D_Example0.dat", FRIX_FORM_GLOBAL, 1, 3, 9},
    {"contact/GFC3D_Example00.dat", FRIX_FORM_GLOBAL, 1, 3, 3},
    {"contact/GFC3D_Example00_badly_scaled.dat", FRIX_FORM_GLOBAL, 1, 3, 3},
    {"contact/GFC3D_Example0_SBM.dat", FRIX_FORM_GLOBAL, 1, 3, 9},
    {"contact/GFC3D_OneContact.dat", FRIX_FORM_GLOBAL, 1, 3, 39},
    {"contact/GFC3D_TwoRods1.dat", FRIX_FORM_GLOBAL, 3, 9, 54},
    {"contact/KaplasTower-i1061-4.hdf5.dat", FRIX_FORM_LOCAL, 570, 1710, 1710},
    {"contact/LMGC_GlobalFrictionContactProblem00046.hdf5", FRIX_FORM_GLOBAL, 9, 27, 162},
    {"contact/NESpheres_10_1.dat", FRIX_FORM_LOCAL, 9, 27, 27},
    {"contact/OneObject-i100000-316.hdf5.dat", FRIX_FORM_LOCAL, 25, 75, 75},
    {"contact/RockPile_tob1.dat", FRIX_FORM_LOCAL, 463, 1389, 1389},
    {"contact/Rover1039.dat", FRIX_FORM_LOCAL, 4, 12, 12},
    {"contact/Rover1040.dat", FRIX_FORM_LOCAL, 5, 15, 15},
    {"contact/Rover11035.dat", FRIX_FORM_LOCAL, 1, 3, 3},
    {"contact/Rover4144.dat", FRIX_FORM_LOCAL, 4, 12, 12},
    {"contact/Rover4396.dat", FRIX_FORM_LOCAL, 2, 6, 6},
    {"contact/Rover4609.dat", FRIX_FORM_LOCAL, 5, 15, 15},
    {"contact/Spheres-i099-356-679.hdf5", FRIX_FORM_GLOBAL, 356, 1068, 12000},
    {"contact/fc2d_granularflowonwall_00667_00000.dat", FRIX_FORM_LOCAL, 667, 1334, 1334},
    {"contact/fc2d_granularflowonwall_02020_00213.dat", FRIX_FORM_LOCAL, 2020, 4040, 4040},
    {"contact/gfc2d_granularflowonwall_00069_00350.dat", FRIX_FORM_GLOBAL, 69, 138, 900},
    {"rolling/Chute-ndof-768-nc-4-3.hdf5", FRIX_FORM_GLOBAL, 4, 20, 768},
    {"rolling/RFC3D_cube_1.dat", FRIX_FORM_LOCAL, 2, 10, 10},
    {"rolling/RFC3D_sphere_1.dat", FRIX_FORM_LOCAL, 1, 5, 5},
    {"rolling/rfc3d_sphere_from_grfc3d.dat", FRIX_FORM_LOCAL, 2, 10, 10},
    {"rolling/rockfall_14_25792.dat", FRIX_FORM_LOCAL, 14, 70, 70},
    {"lcp/lcp_CPS_1.dat", FRIX_FORM_LOCAL, 2, 2, 2},
    {"lcp/lcp_CPS_2.dat", FRIX_FORM_LOCAL, 3, 3, 3},
    {"lcp/lcp_CPS_3.dat", FRIX_FORM_LOCAL, 4, 4, 4},
    {"lcp/lcp_CPS_4.dat", FRIX_FORM_LOCAL, 4, 4, 4},
    {"lcp/lcp_CPS_5.dat", FRIX_FORM_LOCAL, 2, 2, 2},
    {"lcp/lcp_Pang_isolated_sol.dat", FRIX_FORM_LOCAL, 3, 3, 3},
    {"lcp/lcp_deudeu.dat", FRIX_FORM_LOCAL, 2, 2, 2},
    {"lcp/lcp_deudeu_block.dat", FRIX_FORM_LOCAL, 2, 2, 2},
    {"lcp/lcp_exp_murty.dat", FRIX_FORM_LOCAL, 6, 6, 6},
    {"lcp/lcp_inf_sol_perturbed.dat", FRIX_FORM_LOCAL, 3, 3, 3},
    {"lcp/lcp_ortiz_block.dat", FRIX_FORM_LOCAL, 4, 4, 4},
    {"lcp/lcp_trivial.dat", FRIX_FORM_LOCAL, 9, 9, 9},
    {"lcp/lcp_trivial_block.dat", FRIX_FORM_LOCAL, 9, 9, 9},
};
enum { SHARED_COUNT = sizeof shared / sizeof *shared };

static const char *shared_path(fx_test *t, int k) {
  char path[256];
  snprintf(path, sizeof path, "problems/%s", shared[k].path);
  return fx_test_shared(t, path);
}

static bool readable(int k) {
#ifdef FRIX_HAVE_HDF5
  (void)k;
  return true;
#else
  const char *end = strrchr(shared[k].path, '.');
  return strcmp(end, ".hdf5") != 0;
#endif
}

static void shared_files(fx_test *t) {
  char log[512];
  frix_context *context = make_context(log);
  double total = 0.0, slowest = 0.0;
  for (int k = 0; k < SHARED_COUNT; k++) {
    const char *path = readable(k) ? shared_path(t, k) : NULL;
    if (!path) continue;
    frix_problem *problem = NULL;
    double start = seconds();
    frix_status status = frix_problem_read(context, path, NULL, &problem);
    double took = seconds() - start;
    total += took;
    if (took > slowest) slowest = took;
    if (status) {
      fx_test_fail(t, __FILE__, __LINE__, "%s", frix_error_text(context));
      continue;
    }
    frix_problem_data data;
    frix_problem_view(problem, &data);
    if (data.form != shared[k].form || data.contact_count != shared[k].contacts || data.row_count != shared[k].rows ||
        data.dof_count != shared[k].dof)
      fx_test_fail(t, __FILE__, __LINE__, "%s: form %d, %d contacts, %d rows, %d dof", path, (int)data.form,
                   data.contact_count, data.row_count, data.dof_count);
    if (strstr(path, "LMGC")) CHECK(t, strstr(log, "/fclib_global/M: only the upper triangle") != NULL);
    frix_problem_destroy(problem);
  }
  fx_test_note(t, "%d files in %.0f ms, slowest %.0f ms", SHARED_COUNT, 1e3 * total, 1e3 * slowest);
  frix_context_destroy(context);
}

#ifdef FRIX_HAVE_HDF5
static void round_trip(fx_test *t) {
  const char *dat = fx_test_scratch(t, "trip.dat"), *hdf5 = fx_test_scratch(t, "trip.hdf5"),
             *json = fx_test_scratch(t, "trip.json");
  char log[512];
  frix_context *context = make_context(log);
  int count = 0;
  for (int k = 0; k < SHARED_COUNT; k++) {
    const char *path = strncmp(shared[k].path, "lcp/", 4) ? shared_path(t, k) : NULL;
    if (!path) continue;
    frix_problem *first = NULL, *problem = NULL;
    if (frix_problem_read(context, path, NULL, &first) || frix_problem_read(context, path, NULL, &problem))
      fx_test_fail(t, __FILE__, __LINE__, "%s", frix_error_text(context));
    if (!first || !problem) continue;
    pass_through(t, context, &problem, hdf5);
    pass_through(t, context, &problem, json);
    const char *wrong = difference(first, problem, true);
    if (wrong) fx_test_fail(t, __FILE__, __LINE__, "%s: %s changed on the way to JSON", path, wrong);
    pass_through(t, context, &problem, dat);
    wrong = difference(first, problem, false);
    if (wrong) fx_test_fail(t, __FILE__, __LINE__, "%s: %s changed on the way to .dat", path, wrong);
    frix_problem_destroy(first);
    frix_problem_destroy(problem);
    count++;
  }
  fx_test_note(t, "%d files, every bit kept", count);
  frix_context_destroy(context);
}
#endif

/* LCP files go through text and JSON. */
static void round_trip_lcp(fx_test *t) {
  const char *dat = fx_test_scratch(t, "lcp.dat"), *json = fx_test_scratch(t, "lcp.json");
  char log[512];
  frix_context *context = make_context(log);
  for (int k = 0; k < SHARED_COUNT; k++) {
    const char *path = strncmp(shared[k].path, "lcp/", 4) == 0 ? shared_path(t, k) : NULL;
    if (!path) continue;
    frix_problem *first = NULL, *problem = NULL;
    CHECK(t, !frix_problem_read(context, path, NULL, &first) && !frix_problem_read(context, path, NULL, &problem));
    if (!first || !problem) continue;
    pass_through(t, context, &problem, json);
    pass_through(t, context, &problem, dat);
    const char *wrong = difference(first, problem, true);
    if (wrong) fx_test_fail(t, __FILE__, __LINE__, "%s: %s changed", path, wrong);
    frix_problem_destroy(first);
    frix_problem_destroy(problem);
  }
  frix_context_destroy(context);
}

static const char all_cones[] =
    "{\"format\": \"frix-problem-1\", \"title\": \"all \\\"cones\\\" \\u00e9\\ud83d\\ude00\\\\\",\n"
    " \"comment\": {\"free\": [1, true, null, \"text\"]},\n"
    " \"contacts\": [{\"cone\": \"frictionless\", \"dim\": 2}, {\"cone\": \"circular\", \"mu\": 0.1, \"count\": 2},\n"
    "  {\"cone\": \"elliptic\", \"mu\": 0.3, \"mu2\": 0.2, \"axis\": [0.3, 0.5]}, {\"cone\": \"planar\", \"mu\": "
    "0.7},\n"
    "  {\"cone\": \"pyramid\", \"mu\": 0.5, \"facets\": 6}, {\"cone\": \"rolling\", \"mu\": 0.4, \"mu_r\": 0.01},\n"
    "  {\"cone\": \"limit\"}, {\"cone\": \"bilateral\", \"dim\": 4}],\n";

/* Adds W, q, R, r_c and guess to what text holds; rows values each. */
static void add_numbers(fx_test *t, char *text, size_t size, int rows) {
  static const char *const names[] = {"q", "R", "r_c", "guess"};
  size_t used = strlen(text);
  used += (size_t)snprintf(text + used, size - used, " \"W\": {\"rows\": %d, \"cols\": %d, \"entries\": [[0,0,1]", rows,
                           rows);
  for (int k = 1; k < rows; k++)
    used += (size_t)snprintf(text + used, size - used, ",\n[%d,%d,%.17g],[%d,%d,%.17g]", k, k, 2 + fx_test_random(t), k,
                             k - 1, fx_test_random(t));
  used += (size_t)snprintf(text + used, size - used, "]}");
  for (int n = 0; n < 4; n++) {
    used += (size_t)snprintf(text + used, size - used, ",\n \"%s\": [", names[n]);
    for (int k = 0; k < rows; k++) {
      double x = fx_test_random(t);
      used += (size_t)snprintf(text + used, size - used, "%s%.17g", k ? "," : "", n == 1 && x < 0 ? -x : x);
    }
    used += (size_t)snprintf(text + used, size - used, "]");
  }
  snprintf(text + used, size - used, "}");
}

static void json_everything(fx_test *t) {
  enum { ROWS = 2 + 6 + 3 + 2 + 3 + 5 + 1 + 4, SIZE = 16384 };
  char log[512], *text = malloc(SIZE);
  REQUIRE(t, text != NULL);
  snprintf(text, SIZE, "%s", all_cones);
  add_numbers(t, text, SIZE, ROWS);
  frix_context *context = make_context(log);
  frix_problem *problem = read_text(t, context, "all.json", text, FRIX_TEXT_DETECT);
  frix_problem *first = read_text(t, context, "all.json", text, FRIX_TEXT_DETECT);
  free(text);
  REQUIRE(t, problem != NULL && first != NULL);
  frix_problem_data data;
  frix_problem_view(problem, &data);
  CHECK(t, data.row_count == ROWS && data.contact_count == 9 && data.R && data.r_c && data.guess);
  CHECK(t, data.title && strcmp(data.title, "all \"cones\" \xc3\xa9\xf0\x9f\x98\x80\\") == 0);
  CHECK(t, data.contact[3].cone == FRIX_CONE_ELLIPTIC && data.contact[5].facets == 6 && data.contact[8].dim == 4);
  pass_through(t, context, &problem, fx_test_scratch(t, "all.json"));
  const char *wrong = difference(first, problem, true);
  if (wrong) fx_test_fail(t, __FILE__, __LINE__, "%s changed", wrong);
  frix_problem_view(problem, &data);
  CHECK(t, data.title && strcmp(data.title, "all \"cones\" \xc3\xa9\xf0\x9f\x98\x80\\") == 0);
  /* Neither of the other formats can carry it, each says what is in the way, and nothing is written. */
  const char *dat = fx_test_scratch(t, "all.dat"), *hdf5 = fx_test_scratch(t, "all.h5");
  CHECK(t, frix_problem_write(problem, dat, NULL) == FRIX_ERROR_UNSUPPORTED);
  CHECK(t, strstr(frix_error_text(context), "frictionless cones; use .json") != NULL);
  CHECK(t, frix_problem_write(problem, hdf5, NULL) == FRIX_ERROR_UNSUPPORTED);
  CHECK(t, access(dat, F_OK) != 0 && access(hdf5, F_OK) != 0);
  frix_problem_destroy(problem);
  frix_problem_destroy(first);
  frix_context_destroy(context);
}

static void json_joints(fx_test *t) {
  char log[512];
  frix_context *context = make_context(log);
  frix_problem *first = read_text(t, context, "joined.json", joined, FRIX_TEXT_DETECT);
  frix_problem *problem = read_text(t, context, "joined.json", joined, FRIX_TEXT_DETECT);
  REQUIRE(t, first != NULL && problem != NULL);
  frix_problem_data data;
  frix_problem_view(first, &data);
  CHECK(t, data.dof_count == 4 && data.joint_count == 1 && data.row_count == 3 && data.G.nonzero_count == 2);
  pass_through(t, context, &problem, fx_test_scratch(t, "joined.json"));
  CHECK(t, difference(first, problem, true) == NULL);
  CHECK(t, frix_problem_write(problem, fx_test_scratch(t, "joined.dat"), NULL) == FRIX_ERROR_UNSUPPORTED);
  CHECK(t, strstr(frix_error_text(context), "joints (G, b); use .json") != NULL);
#ifdef FRIX_HAVE_HDF5
  pass_through(t, context, &problem, fx_test_scratch(t, "joined.hdf5"));
  CHECK(t, difference(first, problem, true) == NULL);
#endif
  frix_problem_destroy(first);
  frix_problem_destroy(problem);
  frix_context_destroy(context);
}

/* One W in all five storages. */
static void text_storages(fx_test *t) {
#define TAIL "-1 2e-3 0.25\n0.5\n"
  static const char *const text[] = {
      "3\n1\n0\n3\n3\n3 3\n4 1 0\n1 5 -2\n0 -2 6\n" TAIL,
      "3 1 1 3 3 1 1 1 3 3 2 1 0 1 0 0 4 1 0 1 5 -2 0 -2 6 " TAIL "1\n",
      "3\n1\n2\n3\n3\n1\nCSparse Version\ntriplet: 3-by-3, nzmax: 9 nnz: 8\n0 0 : 3\n1 0 : 1\n0 1 : 1\n1 1 : 5\n"
      "2 1 : -2\n1 2 : -2\n2 2 : 6\n0 0 : 1\n" TAIL "0\n",
      "3\n1\n2\n3\n3\n2\nCSparse Version\n3-by-3, nzmax: 7 nnz: 7, 1-norm: 8\n    col 0 : locations 0 to 1\n      1 : "
      "1\n"
      "      0 : 4\n    col 1 : locations 2 to 4\n 0 : 1\n 1 : 5\n 2 : -2\n col 2 : locations 5 to 6\n 1 : -2\n 2 : "
      "6\n" TAIL,
      "3\r\n1\r\n2\r\n3\r\n3\r\n3\r\nCSparse Version\r\n3-by-3, nzmax: 7 nnz: 7, 1-norm: 8\r\nrow 0 : locations 0 to "
      "1\r\n"
      "0 : 4\r\n1 : 1\r\nrow 1 : locations 2 to 4\r\n0 : 1\n1 : 5\n2 : -2\nrow 2 : locations 5 to 6\n1 : -2\n2 : "
      "6\n" TAIL,
  };
  char log[512];
  frix_context *context = make_context(log);
  frix_problem *first = NULL;
  for (int k = 0; k < 5; k++) {
    frix_problem *problem = read_text(t, context, "storage.dat", text[k], FRIX_TEXT_DETECT);
    if (!problem) continue;
    frix_problem_data data;
    frix_problem_view(problem, &data);
    CHECK(t, data.contact_count == 1 && data.contact[0].cone == FRIX_CONE_CIRCULAR && data.contact[0].mu == 0.5);
    CHECK(t, data.q[1] == 2e-3 && data.W.nonzero_count >= 7 && data.W.x[0] == 4.0);
    if (!first)
      first = problem;
    else {
      /* The block keeps its zeros; the others are the same to the bit. */
      CHECK(t, k == 1 ? data.W.nonzero_count == 9 : difference(first, problem, true) == NULL);
      frix_problem_destroy(problem);
    }
  }
  frix_problem_destroy(first);
  frix_context_destroy(context);
}

/* Local, global, LCP: told apart by structure, and by order. */
static void text_kinds(fx_test *t) {
  static const char global[] =
      "3\n1\n0\n3\n3\n3 3\n1 0 0\n0 1 0\n0 0 1\n0\n3\n3\n3 3\n1 0 0\n0 1 0\n0 0 1\n-1 0 0\n0 0 0\n.5\n";
  static const char lcp[] = "3\n0\n3\n3\n3 3\n2 0 0\n1 2 0\n0 0 2\n-1 -2 -3\nExample 7\n";
  static const char tiny_lcp[] =
      "2\n2\n2\n2\n2\nCSparse\n2-by-2, nzmax: 1 nnz: 1, 1-norm: 1\ncol 0 : locations 0 to 0\n"
      "0 : 1\ncol 1 : locations 1 to 0\n-1 1\n";
  /* q and mu that look like the header of a second matrix: 0 3 3. */
  static const char trap[] = "3\n1\n0\n3\n3\n3 3\n1 0 0\n0 1 0\n0 0 1\n0 3 3\n3\n1\n";
  char log[512];
  frix_context *context = make_context(log);
  const struct {
    const char *text;
    frix_text_kind kind;
    frix_form form;
    frix_cone cone;
    int32_t contacts;
  } row[] = {
      {global, FRIX_TEXT_DETECT, FRIX_FORM_GLOBAL, FRIX_CONE_CIRCULAR, 1},
      {global, FRIX_TEXT_GLOBAL, FRIX_FORM_GLOBAL, FRIX_CONE_CIRCULAR, 1},
      {lcp, FRIX_TEXT_DETECT, FRIX_FORM_LOCAL, FRIX_CONE_LIMIT, 3},
      {lcp, FRIX_TEXT_LCP, FRIX_FORM_LOCAL, FRIX_CONE_LIMIT, 3},
      {tiny_lcp, FRIX_TEXT_DETECT, FRIX_FORM_LOCAL, FRIX_CONE_LIMIT, 2},
      {trap, FRIX_TEXT_DETECT, FRIX_FORM_LOCAL, FRIX_CONE_CIRCULAR, 1},
      {trap, FRIX_TEXT_LOCAL, FRIX_FORM_LOCAL, FRIX_CONE_CIRCULAR, 1},
  };
  for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
    frix_problem *problem = read_text(t, context, "kind.dat", row[k].text, row[k].kind);
    if (!problem) continue;
    frix_problem_data data;
    frix_problem_view(problem, &data);
    CHECK(t, data.form == row[k].form && data.contact_count == row[k].contacts && data.contact[0].cone == row[k].cone);
    frix_problem_destroy(problem);
  }
  frix_problem *problem = NULL;
  frix_read_config config = frix_read_default();
  config.kind = FRIX_TEXT_GLOBAL;
  CHECK(t, frix_problem_read_memory(context, "k.dat", trap, strlen(trap), &config, &problem) == FRIX_ERROR_FORMAT);
  config.kind = FRIX_TEXT_LOCAL;
  CHECK(t, frix_problem_read_memory(context, "k.dat", global, strlen(global), &config, &problem) == FRIX_ERROR_FORMAT);
  frix_context_destroy(context);
}

static void no_contacts(fx_test *t) {
  static const char empty[] = "{\"contacts\": [], \"W\": [], \"q\": []}";
  char log[512];
  frix_context *context = make_context(log);
  static const char *const names[] = {
      "none.json",
      "none.dat",
#ifdef FRIX_HAVE_HDF5
      "none.hdf5",
#endif
  };
  frix_problem *first = read_text(t, context, "none.json", empty, FRIX_TEXT_DETECT);
  frix_problem *problem = read_text(t, context, "none.json", empty, FRIX_TEXT_DETECT);
  REQUIRE(t, first != NULL && problem != NULL);
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    pass_through(t, context, &problem, fx_test_scratch(t, names[k]));
    CHECK(t, difference(first, problem, false) == NULL);
  }
  frix_problem_destroy(first);
  frix_problem_destroy(problem);
  frix_context_destroy(context);
}

/* What is there stays until the new file is whole; nothing is left beside it. */
static void whole_or_nothing(fx_test *t) {
  char log[512], kept[64] = "";
  frix_context *context = make_context(log);
  frix_problem *problem = read_text(t, context, "joined.json", joined, FRIX_TEXT_DETECT);
  REQUIRE(t, problem != NULL);
  const char *dat = fx_test_scratch(t, "old.dat");
  FILE *file = fopen(dat, "w");
  REQUIRE(t, file != NULL);
  fputs("old", file);
  fclose(file);
  CHECK(t, frix_problem_write(problem, dat, NULL) == FRIX_ERROR_UNSUPPORTED);
  file = fopen(dat, "r");
  REQUIRE(t, file != NULL);
  CHECK(t, fgets(kept, sizeof kept, file) && strcmp(kept, "old") == 0);
  fclose(file);
  CHECK(t, frix_problem_write(problem, dat, "json") == FRIX_OK);
  frix_problem *again = NULL;
  CHECK(t, frix_problem_read(context, dat, NULL, &again) == FRIX_OK); /* by content, whatever the name says */
  frix_problem_destroy(again);
  char path[4200];
  snprintf(path, sizeof path, "%s.no-such-folder/x.json", dat);
  CHECK(t, frix_problem_write(problem, path, NULL) == FRIX_ERROR_FILE);
  CHECK(t, strncmp(frix_error_text(context), path, strlen(path)) == 0);
  CHECK(t, frix_problem_write(problem, fx_test_scratch(t, "x.unknown"), NULL) == FRIX_ERROR_INPUT);
  CHECK(t, strstr(frix_error_text(context), ".json") != NULL);
  CHECK(t, frix_problem_write(problem, fx_test_scratch(t, "x.json"), "yaml") == FRIX_ERROR_INPUT);
  CHECK(t, frix_problem_write(problem, "/dev/null", "json") == FRIX_OK); /* a device is not replaced */
  CHECK(t, access("/dev/null", W_OK) == 0);
  frix_problem_destroy(problem);
  frix_context_destroy(context);
}

const fx_test_row test_io[] = {
    {"io/table", table},
    {"io/shared_files", shared_files},
#ifdef FRIX_HAVE_HDF5
    {"io/round_trip", round_trip},
#endif
    {"io/round_trip_lcp", round_trip_lcp},
    {"io/json_everything", json_everything},
    {"io/json_joints", json_joints},
    {"io/text_storages", text_storages},
    {"io/text_kinds", text_kinds},
    {"io/no_contacts", no_contacts},
    {"io/whole_or_nothing", whole_or_nothing},
    {0},
};
