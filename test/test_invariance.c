/* What must not change the verdict on a row: units of mass, length and time, the frame, the order of bodies and
 * contacts, bodies far away, open contacts. The problems are those of steps of random worlds, the impulses their
 * answers with noise. */
#include "adversary/random_world.h"
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A global problem with dense matrices by columns, so that it can be changed. */
typedef struct open_problem {
  int contacts, dofs, joints, rows, body_dofs;
  frix_contact *contact;
  double *M, *H, *G, *f, *w, *b, *R, *memory, *r, *lambda;
  bool *turns; /* by row, then by joint row: in radians and not in metres */
  bool mixed;  /* a coupling has rows of both */
} open_problem;

static double *some(int n) { return calloc((size_t)n + 1, sizeof(double)); }

static open_problem problem_new(int contacts, int rows, int dofs, int joints) {
  return (open_problem){.contacts = contacts,
                        .dofs = dofs,
                        .joints = joints,
                        .rows = rows,
                        .contact = calloc((size_t)contacts + 1, sizeof(frix_contact)),
                        .M = some(dofs * dofs),
                        .H = some(dofs * rows),
                        .G = some(dofs * joints),
                        .f = some(dofs),
                        .w = some(rows),
                        .b = some(joints),
                        .R = some(rows),
                        .memory = some(rows),
                        .r = some(rows),
                        .lambda = some(joints),
                        .turns = calloc((size_t)(rows + joints) + 1, sizeof(bool))};
}

static void problem_free(open_problem *p) {
  free(p->contact);
  free(p->turns);
  double *all[] = {p->M, p->H, p->G, p->f, p->w, p->b, p->R, p->memory, p->r, p->lambda};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) free(all[k]);
}

static void spread(const frix_matrix *m, int rows, double *out) {
  for (int c = 0; m->format == FRIX_MATRIX_CSC && c < m->col_count; c++)
    for (int k = m->p[c]; k < m->p[c + 1]; k++) out[c * rows + m->i[k]] = m->x[k];
}

static void copy(double *to, const double *from, int n) {
  if (from && n) memcpy(to, from, (size_t)n * sizeof *to);
}

static bool has_soft(const frix_model *model) {
  for (int k = 0; k < frix_model_count(model).body_count; k++)
    if (frix_model_soft(model, frix_model_body_at(model, k))) return true;
  return false;
}

/* The last step of a world, its impulses with noise. False: it has no rows, or movers that are no
 * bodies. */
static bool problem_of_step(const world *w, open_problem *out, fx_test *t) {
  frix_problem *problem;
  frix_problem_data d;
  /* degrees of freedom of trees and soft bodies are not six by body */
  if (w->config.coordinates == FRIX_COORDINATES_REDUCED || has_soft(w->model)) return false;
  if (frix_sim_row_count(w->sim) == 0 || frix_sim_problem(w->sim, &problem) != FRIX_OK) return false;
  frix_problem_view(problem, &d);
  open_problem p = problem_new(d.contact_count, d.row_count, d.dof_count, d.joint_count);
  memcpy(p.contact, d.contact, (size_t)d.contact_count * sizeof *p.contact);
  spread(&d.M, p.dofs, p.M), spread(&d.H, p.dofs, p.H), spread(&d.G, p.dofs, p.G);
  copy(p.f, d.f, p.dofs), copy(p.w, d.w, p.rows), copy(p.b, d.b, p.joints);
  copy(p.R, d.R, p.rows), copy(p.memory, d.r_c, p.rows);
  for (int k = 0, row = 0; k < frix_sim_row_count(w->sim); k++) {
    frix_row_report report;
    frix_sim_row(w->sim, k, &report);
    p.mixed |= report.kind == FRIX_ROW_JOINT && report.a.index == 0 && report.b.index == 0;
    for (int i = 0; i < report.law.dim; i++, row++) {
      p.turns[row] = report.angular[report.kind == FRIX_ROW_CONTACT || i > 0 || report.law.dim == 1 ? i : 1];
      double r = report.impulse[i] * (1 + 1e-4 * fx_test_random(t));
      *(row < p.rows ? &p.r[row] : &p.lambda[row - p.rows]) = r;
    }
  }
  p.body_dofs = w->gravity.y != 0 ? 3 : 6;
  frix_problem_destroy(problem);
  *out = p;
  return true;
}

static frix_certificate certify(fx_test *t, const world *w, const open_problem *p) {
  frix_problem_data d = frix_problem_data_default();
  frix_certificate out = {0};
  frix_problem *problem = NULL;
  d.form = FRIX_FORM_GLOBAL;
  d.contact_count = p->contacts, d.contact = p->contact;
  d.dof_count = p->dofs, d.joint_count = p->joints;
  d.M = (frix_matrix){.format = FRIX_MATRIX_DENSE, .row_count = p->dofs, .col_count = p->dofs, .x = p->M};
  d.H = (frix_matrix){.format = FRIX_MATRIX_DENSE, .row_count = p->dofs, .col_count = p->rows, .x = p->H};
  if (p->joints)
    d.G = (frix_matrix){.format = FRIX_MATRIX_DENSE, .row_count = p->dofs, .col_count = p->joints, .x = p->G};
  d.f = p->f, d.w = p->w, d.b = p->joints ? p->b : NULL;
  d.R = p->R, d.r_c = p->memory;
  frix_status status = frix_problem_create(w->context, &d, &problem);
  if (status == FRIX_OK)
    status = frix_certify(w->context, problem, FRIX_LAW_COULOMB, p->r, p->lambda, &out, NULL, NULL);
  if (status != FRIX_OK) fx_test_fail(t, __FILE__, __LINE__, "%s", frix_error_text(w->context));
  frix_problem_destroy(problem);
  return out;
}

static int row_of(const open_problem *p, int contact) {
  int row = 0;
  for (int k = 0; k < contact; k++) row += p->contact[k].dim;
  return row;
}

/* ---- changes: each makes a problem from another, and says where its rows went ---- */

/* Room for more, the old content first. */
static open_problem enlarged(const open_problem *p, int contacts, int rows, int dofs) {
  open_problem q = problem_new(p->contacts + contacts, p->rows + rows, p->dofs + dofs, p->joints);
  memcpy(q.contact, p->contact, (size_t)p->contacts * sizeof *q.contact);
  for (int c = 0; c < p->dofs; c++) copy(q.M + c * q.dofs, p->M + c * p->dofs, p->dofs);
  for (int c = 0; c < p->rows; c++) copy(q.H + c * q.dofs, p->H + c * p->dofs, p->dofs);
  for (int c = 0; c < p->joints; c++) copy(q.G + c * q.dofs, p->G + c * p->dofs, p->dofs);
  copy(q.f, p->f, p->dofs), copy(q.w, p->w, p->rows), copy(q.b, p->b, p->joints), copy(q.R, p->R, p->rows);
  copy(q.memory, p->memory, p->rows), copy(q.r, p->r, p->rows), copy(q.lambda, p->lambda, p->joints);
  q.body_dofs = p->body_dofs;
  q.mixed = p->mixed;
  memcpy(q.turns, p->turns, (size_t)p->rows * sizeof *q.turns);
  memcpy(q.turns + q.rows, p->turns + p->rows, (size_t)p->joints * sizeof *q.turns);
  return q;
}

/* Angles stay, lengths grow: rows and degrees of freedom in metres by l, inertias by l^2. */
static open_problem in_lengths(const open_problem *p, double l) {
  open_problem q = enlarged(p, 0, 0, 0);
  int half = p->body_dofs == 6 ? 3 : 2;
#define TURNS(k) ((k) % p->body_dofs >= half)
  for (int c = 0; c < q.dofs; c++)
    for (int k = 0; k < q.dofs; k++) q.M[c * q.dofs + k] *= (TURNS(c) ? l : 1) * (TURNS(k) ? l : 1);
  for (int c = 0; c < q.rows + q.joints; c++) {
    double *column = c < q.rows ? q.H + c * q.dofs : q.G + (c - q.rows) * q.dofs, speed = q.turns[c] ? 1 : l;
    for (int k = 0; k < q.dofs; k++) column[k] *= speed / (TURNS(k) ? 1 : l);
    *(c < q.rows ? &q.w[c] : &q.b[c - q.rows]) *= speed;
    *(c < q.rows ? &q.r[c] : &q.lambda[c - q.rows]) *= q.turns[c] ? l * l : l;
    if (c < q.rows) q.R[c] *= q.turns[c] ? 1 / (l * l) : 1, q.memory[c] *= q.turns[c] ? l * l : l;
  }
  for (int k = 0; k < q.dofs; k++) q.f[k] *= TURNS(k) ? l * l : l;
  for (int i = 0; i < q.contacts; i++) q.contact[i].mu_r *= l; /* metres */
  for (int i = 0, row = 0; i < q.contacts;
       row += q.contact[i++].dim) /* drilling: a bound in N s, an impulse in N m s */
    if (q.contact[i].dim == 2 && q.body_dofs == 6 && q.turns[row + 1] && q.contact[i].mu != 1) {
      q.contact[i].mu *= l;
      q.R[row] *= l, q.memory[row] /= l, q.r[row] /= l;
    }
#undef TURNS
  return q;
}

static open_problem in_units(const open_problem *p, double mass, double time) {
  open_problem q = enlarged(p, 0, 0, 0);
  double momentum = mass / time;
  for (int k = 0; k < q.dofs * q.dofs; k++) q.M[k] *= mass;
  for (int k = 0; k < q.dofs; k++) q.f[k] *= momentum;
  for (int k = 0; k < q.rows; k++) q.w[k] /= time, q.R[k] /= mass, q.memory[k] *= momentum, q.r[k] *= momentum;
  for (int k = 0; k < q.joints; k++) q.b[k] /= time, q.lambda[k] *= momentum;
  return q;
}

/* A turn about z by 3-4-5 and about x by 5-12-13, so that nothing but rounding differs. */
static void turn_block(double *x, int stride, bool flat) {
  double a = x[0], b = x[stride];
  x[0] = 0.6 * a - 0.8 * b, x[stride] = 0.8 * a + 0.6 * b;
  if (flat) return;
  a = x[stride], b = x[2 * stride];
  x[stride] = (5 * a - 12 * b) / 13, x[2 * stride] = (12 * a + 5 * b) / 13;
}

static void turn_column(const open_problem *p, double *x, int stride) {
  for (int k = 0; k < p->dofs; k += p->body_dofs) {
    turn_block(x + k * stride, stride, p->body_dofs == 3);
    if (p->body_dofs == 6) turn_block(x + (k + 3) * stride, stride, false);
  }
}

static open_problem in_frame(const open_problem *p) {
  open_problem q = enlarged(p, 0, 0, 0);
  for (int c = 0; c < q.dofs; c++) turn_column(&q, q.M + c * q.dofs, 1);
  for (int k = 0; k < q.dofs; k++) turn_column(&q, q.M + k, q.dofs);
  for (int c = 0; c < q.dofs; c++)
    for (int k = 0; k < c; k++) q.M[c * q.dofs + k] = q.M[k * q.dofs + c]; /* as symmetric as it was */
  for (int c = 0; c < q.rows; c++) turn_column(&q, q.H + c * q.dofs, 1);
  for (int c = 0; c < q.joints; c++) turn_column(&q, q.G + c * q.dofs, 1);
  turn_column(&q, q.f, 1);
  return q;
}

/* Bodies and contacts in reverse. */
static open_problem in_reverse(const open_problem *p) {
  open_problem q = enlarged(p, 0, 0, 0);
  int n = p->dofs, size = p->body_dofs;
#define PLACE(k) ((n / size - 1 - (k) / size) * size + (k) % size)
  for (int c = 0; c < n; c++)
    for (int k = 0; k < n; k++) q.M[PLACE(c) * n + PLACE(k)] = p->M[c * n + k];
  for (int k = 0; k < n; k++) q.f[PLACE(k)] = p->f[k];
  for (int i = 0, row = 0; i < p->contacts; i++) {
    int from = p->contacts - 1 - i, start = row_of(p, from);
    q.contact[i] = p->contact[from];
    for (int a = 0; a < p->contact[from].dim; a++, row++) {
      for (int k = 0; k < n; k++) q.H[row * n + PLACE(k)] = p->H[(start + a) * n + k];
      q.w[row] = p->w[start + a], q.R[row] = p->R[start + a];
      q.memory[row] = p->memory[start + a], q.r[row] = p->r[start + a];
    }
  }
  for (int c = 0; c < p->joints; c++)
    for (int k = 0; k < n; k++) q.G[c * n + PLACE(k)] = p->G[c * n + k];
#undef PLACE
  return q;
}

/* Far away a body of 2^40 kg stands on the ground, and another flies. Their rows are exact. */
static open_problem beside_giant(const open_problem *p) {
  int size = p->body_dofs, at = p->dofs, row = p->rows;
  open_problem q = enlarged(p, 2, size == 3 ? 4 : 6, 2 * size);
  for (int k = 0; k < 2; k++, at += size) {
    double mass = k ? 0x1p20 : 0x1p40;
    frix_contact c = frix_contact_of_dim(size == 3 ? 2 : 3, 0.5, 0);
    for (int i = 0; i < size; i++) q.M[(at + i) * q.dofs + at + i] = mass;
    q.f[at] = k ? 16 * mass : -16 * mass; /* normal along the first coordinate */
    q.contact[p->contacts + k] = c;
    for (int a = 0; a < c.dim; a++) q.H[(row + a) * q.dofs + at + a] = 1;
    q.r[row] = k ? 0 : 16 * mass;
    row += c.dim;
  }
  return q;
}

/* An open contact between the bodies of every contact there is. */
static open_problem with_open(const open_problem *p) {
  int count = 0, rows = 0;
  for (int i = 0; i < p->contacts; i++)
    if (p->contact[i].cone == FRIX_CONE_CIRCULAR || p->contact[i].cone == FRIX_CONE_PLANAR)
      count++, rows += p->contact[i].dim;
  open_problem q = enlarged(p, count, rows, 0);
  int to = p->rows, at = p->contacts;
  for (int i = 0; i < p->contacts; i++) {
    if (p->contact[i].cone != FRIX_CONE_CIRCULAR && p->contact[i].cone != FRIX_CONE_PLANAR) continue;
    q.contact[at++] = p->contact[i];
    for (int a = 0, from = row_of(p, i); a < p->contact[i].dim; a++, to++) {
      copy(q.H + to * q.dofs, p->H + (from + a) * p->dofs, p->dofs);
      q.w[to] = a ? 0 : 1e6;
    }
  }
  return q;
}

/* ---- the tests ---- */

typedef enum change { MASS, TIME, LENGTH, FRAME, ORDER, GIANT, OPEN, CHANGES } change;

static open_problem changed(const open_problem *p, change which) {
  switch (which) {
    case MASS: return in_units(p, 0x1p33, 1);
    case TIME: return in_units(p, 1, 0x1p-13);
    case LENGTH: return in_lengths(p, 0x1p-11);
    case FRAME: return in_frame(p);
    case ORDER: return in_reverse(p);
    case GIANT: return beside_giant(p);
    default: return with_open(p);
  }
}

static void compare(fx_test *t, const world *w, const char *name, int index, const open_problem *p, change which) {
  static const char *const text[CHANGES] = {"mass", "time", "length", "frame", "order", "giant", "open contacts"};
  if (which == LENGTH && p->mixed) return;
  open_problem q = changed(p, which);
  frix_certificate a = certify(t, w, p), b = certify(t, w, &q);
  double x = a.row_residual, y = b.row_residual;
  if (!(fabs(x - y) <= 1e-9 * x + 1e-13))
    fx_test_fail(t, __FILE__, __LINE__, "%s 1 %d, %s: row residual %.12g at row %d, then %.12g at row %d", name, index,
                 text[which], x, a.worst_row, y, b.worst_row);
  problem_free(&q);
}

static void changes(fx_test *t, const change *list, int count) {
  int compared = 0;
  for (int c = 0; world_class_at(c); c++) {
    const world_class *class = world_class_at(c);
    for (int k = 0; class->fill && !class->extreme && k < 12; k++) {
      world w;
      open_problem p;
      if (world_open(&w, class, 1, (uint64_t)k, (units){1, 1, 1}) && w.config.restitution != FRIX_RESTITUTION_POISSON &&
          frix_sim_step(w.sim, w.h, NULL) == FRIX_OK && problem_of_step(&w, &p, t)) {
        for (int i = 0; i < count; i++, compared++) compare(t, &w, class->name, k, &p, list[i]);
        problem_free(&p);
      }
      world_close(&w);
    }
  }
  CHECK(t, compared > 50);
  fx_test_note(t, "%d problems", compared);
}

static void in_other_units(fx_test *t) { changes(t, (change[]){MASS, TIME, LENGTH}, 3); }
static void in_other_frames(fx_test *t) { changes(t, (change[]){FRAME}, 1); }
static void in_other_order(fx_test *t) { changes(t, (change[]){ORDER}, 1); }
static void beside_others(fx_test *t) { changes(t, (change[]){GIANT, OPEN}, 2); }

const fx_test_row test_invariance[] = {
    {"invariance/units", in_other_units},
    {"invariance/frame", in_other_frames},
    {"invariance/order", in_other_order},
    {"invariance/others", beside_others},
    {0},
};
