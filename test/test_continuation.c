/* continuation: what newton and the interior point leave open. */
#include "method.h"

/* One card of a house that has come down, between two others: eight contacts, some nearly in the same place. newton
 * stalls at 7e-7 and the interior point at 8e-7: on the way to the answer there are turning points. */
enum { CARD_DOF = 6, CARD_CONTACTS = 8, CARD_ROWS = 3 * CARD_CONTACTS };

/* clang-format off */
static const double card_M[CARD_DOF * CARD_DOF] = {
    0.0075599999999999999, 0, 0, 0, 0, 0,
    0, 0.0075599999999999999, 0, 0, 0, 0,
    0, 0, 0.0075599999999999999, 0, 0, 0,
    0, 0, 0, 2.4539168776442698e-06, 6.918285586103148e-07, -1.1748165483390402e-07,
    0, 0, 0, 6.918285586103148e-07, 4.9250153273774833e-06, 3.0681082343786759e-08,
    0, 0, 0, -1.1748165483390402e-07, 3.0681082343786759e-08, 7.3681077949782459e-06,
};
static const double card_f[CARD_DOF] = {0.00041248913495347265, -0.0011739438894320571, -0.0049821276929607012, 1.5590417480289513e-05, 6.5072915337695969e-05, -1.6122185950924776e-05};
static const double card_gap[CARD_CONTACTS] = {
    -0.11785273243247425, -0.11779032738197247, -0.12210158285327513, -0.12203917780277332, 0.0018392826803526573, 0.40172585745075823, 0.0016908131123905511, 0.40157738788279612};
static const double card_H[CARD_ROWS * CARD_DOF] = { /* one row of the problem after the other */
    0, 0, 1, -0.040391658364898698, -0.035979281785221834, 0,
    -1, 0, 0, 0, 0.0010039434697069903, -0.040391658364898698,
    0, 1, 0, 0.0010039434697069903, 0, 0.035979281785221834,
    0, 0, 1, -0.040379610975552933, -0.035933205290457432, 0,
    -1, 0, 0, 0, 4.2270327809761608e-06, -0.040379610975552933,
    0, 1, 0, 4.2270327809761608e-06, 0, 0.035933205290457432,
    0, 0, 1, 0.017664803009185541, -0.051126799475206042, 0,
    -1, 0, 0, 0, 0.0010043146436268956, 0.017664803009185541,
    0, 1, 0, 0.0010043146436268956, 0, 0.051126799475206042,
    0, 0, 1, 0.017676850398531306, -0.05108072298044164, 0,
    -1, 0, 0, 0, 4.5982067008814263e-06, 0.017676850398531306,
    0, 1, 0, 4.5982067008814263e-06, 0, 0.05108072298044164,
    0, 0, 1, -0.017676850398531306, 0.05108072298044164, 0,
    -1, 0, 0, 0, 0.0020755158253728968, -0.017676850398531306,
    0, 1, 0, 0.0020755158253728968, 0, -0.05108072298044164,
    0, 0, 1, -0.017664803009185541, 0.051126799475206042, 0,
    -1, 0, 0, 0, 0.0010757993884468826, -0.017664803009185541,
    0, 1, 0, 0.0010757993884468826, 0, -0.051126799475206042,
    0, 0, 1, 0.040379610975552933, 0.035933205290457404, 0,
    -1, 0, 0, 0, 0.002075886999292802, 0.040379610975552933,
    0, 1, 0, 0.002075886999292802, 0, -0.035933205290457404,
    0, 0, 1, 0.040391658364898698, 0.035979281785221806, 0,
    -1, 0, 0, 0, 0.0010761705623667879, 0.040391658364898698,
    0, 1, 0, 0.0010761705623667879, 0, -0.035979281785221806,
};
/* clang-format on */

static bool build_card(fx_test *t, answer *a) {
  *a = (answer){0};
  frix_contact contact[CARD_CONTACTS];
  double w[CARD_ROWS] = {0};
  for (int k = 0; k < CARD_CONTACTS; k++) {
    contact[k] = frix_contact_of_dim(3, 0.8, 0);
    w[3 * k] = card_gap[k];
  }
  frix_problem_data data = frix_problem_data_default();
  data.form = FRIX_FORM_GLOBAL;
  data.contact_count = CARD_CONTACTS;
  data.contact = contact;
  data.dof_count = CARD_DOF;
  data.M = (frix_matrix){FRIX_MATRIX_DENSE, CARD_DOF, CARD_DOF, 0, NULL, NULL, card_M};
  data.H = (frix_matrix){FRIX_MATRIX_DENSE, CARD_DOF, CARD_ROWS, 0, NULL, NULL, card_H};
  data.f = card_f;
  data.w = w;
  data.title = "card";
  bool good = frix_context_create(NULL, &a->context) == FRIX_OK &&
              frix_problem_create(a->context, &data, &a->problem) == FRIX_OK;
  if (!good) fx_test_fail(t, __FILE__, __LINE__, "cannot build the card");
  return good;
}

static void turning_points(fx_test *t) {
  static const char *const name[] = {"newton", "continuation", "auto"};
  answer a;
  REQUIRE(t, build_card(t, &a));
  for (int k = 0; k < 3; k++)
    for (frix_form form = FRIX_FORM_LOCAL; form <= FRIX_FORM_GLOBAL; form++) {
      method m = {.solver = name[k], .law = FRIX_LAW_COULOMB, .form = form};
      if (!method_run(t, &a, &m)) break;
      bool solved = a.result.outcome == FRIX_OUTCOME_SOLVED;
      if (solved != (k > 0)) /* where newton gets through, a harder instance is needed */
        fx_test_fail(t, __FILE__, __LINE__, "%s: residual %.1e", name[k], a.result.certificate.residual);
      if (solved && k == 1) fx_test_note(t, "%lld factorisations", (long long)a.result.iterations);
    }
  answer_free(&a);
}

/* From nothing: every cone, joints, walls and card houses that slide. */
static void from_nothing(fx_test *t) {
  static const double wall[] = {10, 10, 0.6, 50}, pushed[] = {4, 0.6, 10};
  static const struct {
    const char *name;
    const double *value;
  } rows[] = {{"slope", NULL}, {"slide", NULL},     {"anisotropic", NULL}, {"rolling", NULL},     {"chain", NULL},
              {"arch", NULL},  {"cardhouse", NULL}, {"wall", wall},        {"cardhouse", pushed}, {"pile", NULL}};
  for (frix_law law = FRIX_LAW_COULOMB; law <= FRIX_LAW_ASSOCIATED; law++)
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
      method m = {.solver = "continuation", .law = law};
      answer a;
      if (method_example(t, &a, rows[k].name, rows[k].value, &m) && a.result.outcome != FRIX_OUTCOME_SOLVED)
        fx_test_fail(t, __FILE__, __LINE__, "%s: %lld iterations, residual %.2e", rows[k].name,
                     (long long)a.result.iterations, a.result.certificate.residual);
      answer_free(&a);
    }
}

/* Where newton would iterate, it makes factors all the same: only they tell the sign of a determinant. */
static void large(fx_test *t) {
  static const double pile[] = {4000, 0.5, 0.5, 1, 0, 0};
  method m = {.solver = "continuation", .law = FRIX_LAW_COULOMB, .max_iterations = 1};
  answer a;
  if (method_example(t, &a, "pile", pile, &m)) CHECK(t, a.result.outcome == FRIX_OUTCOME_MAX_ITERATIONS);
  answer_free(&a);
}

const fx_test_row test_continuation[] = {
    {"continuation/large", large},
    {"continuation/turning_points", turning_points},
    {"continuation/from_nothing", from_nothing},
    {0},
};
