/* Random contact problems, as files hold them. */
#include "problems.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CONTACTS = 12, MOST_ROWS = MOST_CONTACTS * 6, MOST_DOFS = 60 };

static frix_contact any_contact(world *w, double most_mu) {
  static const int dim[] = {3, 3, 3, 2, 1, 5};
  double mu = chance(w, 0.1) ? 0 : magnitude(w, 0.01, most_mu);
  frix_contact c = frix_contact_of_dim(dim[dice(w, 6)], mu, magnitude(w, 1e-4, 1));
  if (c.cone == FRIX_CONE_CIRCULAR && chance(w, 0.2))
    c.cone = FRIX_CONE_ELLIPTIC, c.mu2 = magnitude(w, 0.01, most_mu), c.axis[0] = 1, c.axis[1] = uniform(w, -2, 2);
  if (c.cone == FRIX_CONE_CIRCULAR && chance(w, 0.1)) c.cone = FRIX_CONE_PYRAMID, c.facets = 3 + dice(w, 10);
  if (c.dim == 1 && chance(w, 0.3)) c.cone = FRIX_CONE_BILATERAL;
  return c;
}

/* u = W r + q with W = A A' of some rank, rows scaled by powers of ten up to `spread`. */
static frix_problem *reduced(world *w, double spread, double most_mu) {
  int count = 1 + dice(w, 8), rows = 0;
  frix_contact contact[MOST_CONTACTS];
  for (int k = 0; k < count; k++) contact[k] = any_contact(w, most_mu), rows += contact[k].dim;
  int rank = 1 + dice(w, rows + 4), row = 0;
  static double A[MOST_ROWS][MOST_ROWS], W[MOST_ROWS * MOST_ROWS], q[MOST_ROWS], R[MOST_ROWS];
  bool apart = chance(w, 0.3); /* every contact an island */
  for (int k = 0; k < count; row += contact[k++].dim) {
    double scale = magnitude(w, 1 / spread, spread), speed = magnitude(w, 1 / spread, spread);
    for (int a = 0; a < contact[k].dim; a++) {
      for (int c = 0; c < rank; c++) A[row + a][c] = scale * uniform(w, -1, 1);
      q[row + a] = speed * uniform(w, -1, 0.5);
      R[row + a] = chance(w, 0.1) ? scale * scale * uniform(w, 0, 1) : 0;
    }
  }
  int part[MOST_ROWS];
  row = 0;
  for (int k = 0; k < count; row += contact[k++].dim)
    for (int a = 0; a < contact[k].dim; a++) part[row + a] = k;
  for (int a = 0; a < rows; a++)
    for (int b = 0; b < rows; b++) {
      double sum = 0;
      for (int c = 0; c < rank; c++) sum += A[a][c] * A[b][c];
      W[b * rows + a] = apart && part[a] != part[b] ? 0 : sum;
    }
  frix_problem_data d = frix_problem_data_default();
  d.form = FRIX_FORM_LOCAL;
  d.contact_count = count;
  d.contact = contact;
  d.W = (frix_matrix){.format = FRIX_MATRIX_DENSE, .row_count = rows, .col_count = rows, .x = W};
  d.q = q;
  if (chance(w, 0.3)) d.R = R;
  frix_problem *out = NULL;
  if (frix_problem_create(w->context, &d, &out) != FRIX_OK) w->failed = true;
  return out;
}

/* M v = H r + G lambda + f with diagonal masses; joints may contradict each other. */
static frix_problem *global(world *w, double spread, double most_mu) {
  int count = 1 + dice(w, 6), dofs = 2 + dice(w, 20), joints = dice(w, 5), rows = 0;
  frix_contact contact[MOST_CONTACTS];
  for (int k = 0; k < count; k++) contact[k] = any_contact(w, most_mu), rows += contact[k].dim;
  static double M[MOST_DOFS * MOST_DOFS], H[MOST_DOFS * MOST_ROWS], G[MOST_DOFS * 8], f[MOST_DOFS], q[MOST_ROWS], b[8];
  memset(M, 0, sizeof M);
  for (int k = 0; k < dofs; k++) {
    M[k * dofs + k] = magnitude(w, 1 / spread, spread);
    f[k] = M[k * dofs + k] * uniform(w, -1, 1);
  }
  for (int c = 0; c < rows; c++) {
    q[c] = uniform(w, -1, 1);
    for (int k = 0; k < dofs; k++) H[c * dofs + k] = chance(w, 0.4) ? uniform(w, -1, 1) : 0;
  }
  for (int c = 0; c < joints; c++) {
    b[c] = chance(w, 0.5) ? 0 : uniform(w, -1, 1);
    bool copy = c > 0 && chance(w, 0.2); /* the same row again, with another wish */
    for (int k = 0; k < dofs; k++)
      G[c * dofs + k] = copy ? G[(c - 1) * dofs + k] : chance(w, 0.4) ? uniform(w, -1, 1) : 0;
  }
  frix_problem_data d = frix_problem_data_default();
  d.form = FRIX_FORM_GLOBAL;
  d.contact_count = count;
  d.contact = contact;
  d.dof_count = dofs;
  d.joint_count = joints;
  d.M = (frix_matrix){.format = FRIX_MATRIX_DENSE, .row_count = dofs, .col_count = dofs, .x = M};
  d.H = (frix_matrix){.format = FRIX_MATRIX_DENSE, .row_count = dofs, .col_count = rows, .x = H};
  if (joints) d.G = (frix_matrix){.format = FRIX_MATRIX_DENSE, .row_count = dofs, .col_count = joints, .x = G};
  d.f = f;
  d.w = q;
  d.b = joints ? b : NULL;
  frix_problem *out = NULL;
  if (frix_problem_create(w->context, &d, &out) != FRIX_OK) w->failed = true;
  return out;
}

static frix_problem *make_problem(world *w) { return chance(w, 0.5) ? reduced(w, 1, 2) : global(w, 1, 2); }

static frix_problem *make_extreme(world *w) {
  double spread = magnitude(w, 10, 1e12);
  if (chance(w, 0.1)) spread = magnitude(w, 1e20, 1e70);
  return chance(w, 0.5) ? reduced(w, spread, chance(w, 0.3) ? 1e10 : 10)
                        : global(w, spread, chance(w, 0.3) ? 1e10 : 10);
}

const world_class problem_classes[] = {
    {"problem", "contact problems of ordinary size", false, NULL, make_problem, NULL, FRIX_CONTACT_KIND_RIGID},
    {"problem_extreme", "contact problems over up to 140 orders of magnitude", true, NULL, make_extreme, NULL,
     FRIX_CONTACT_KIND_RIGID},
    {0},
};
