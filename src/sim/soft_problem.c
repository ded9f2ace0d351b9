/* The contact problem of a step of soft bodies, and what follows from its answer.
 *
 * Contacts have names, and the impulses of the step before are where the next one starts. The law is the stiff one of
 * stiff.c: springs of KAPPA m / h^2 along the normal, and along the tangents with memory, so that forces are unique and
 * nothing creeps:   u_N = v_N + (gap - natural)/h + R r_N,   u_T = v_T + R (r_T - r_T of the last step),   R = 1/(KAPPA
 * m). An overlap that is found starts without force and is pushed out slowly. */
#include "sim/soft_world.h"

#include <string.h>

#include "linalg/dense.h"

static const double kappa = 25.0;
static const double push_out = 0.05; /* share of an overlap per step */

typedef struct fx_soft_system {
  int32_t dof, *first; /* of each body, body_count + 1 */
  double **A, *b;      /* blocks; right side */
  double *rows;        /* of each contact, side by side: 3 by (6 + k), contact frame */
  size_t *row_at;
  double *J; /* rows of a point */
} fx_soft_system;

static int32_t size_of(const fx_soft_system *s, int32_t body) { return s->first[body + 1] - s->first[body]; }

/* ---- rows ---- */

/* A handle is a force -k (x + h u1 - place) - c u1 along three rows. */
static void add_handles(const frix_soft_world *w, fx_soft_system *s, double h, double *J) {
  for (int32_t m = 0; m < w->handle_count; m++) {
    const frix_soft_handle *a = &w->handle[m];
    const frix_soft_state *x = w->body[a->body];
    int32_t n = 6 + x->soft->info.coordinates;
    double *A = s->A[a->body], *b = s->b + s->first[a->body], slope = h * h * a->stiffness + h * a->damping;
    frix_vec3 off = fx_sub(frix_soft_point(x, a->point, NULL), a->place);
    fx_soft_rows(x, a->point, J);
    for (int c = 0; c < 3; c++) {
      const double *row = J + (size_t)c * n;
      double pull = -h * a->stiffness * fx_at(off, c);
      for (int32_t i = 0; i < n; i++) {
        b[i] += pull * row[i];
        for (int32_t j = 0; j < n; j++) A[(size_t)i * n + j] += slope * row[i] * row[j];
      }
    }
  }
}

static void side_rows(const frix_soft_world *w, const fx_touch *t, const fx_soft_side *side, double *J, double *out) {
  int32_t n = 6 + w->body[side->body]->soft->info.coordinates;
  const frix_vec3 axis[3] = {t->normal, t->along, t->across};
  for (int32_t k = 0; k < side->count; k++) {
    fx_soft_rows(w->body[side->body], side->point[k], J);
    for (int c = 0; c < 3; c++) {
      frix_vec3 a = fx_scale(side->weight[k], axis[c]);
      for (int32_t j = 0; j < n; j++)
        out[(size_t)c * n + j] += a.x * J[j] + a.y * J[n + j] + a.z * J[2 * (size_t)n + j];
    }
  }
}

static frix_status load(frix_soft_world *w, fx_arena *arena, double h, frix_vec3 gravity, const fx_touches *l,
                        fx_soft_system *s) {
  size_t values = 0;
  s->first = FX_TAKE(arena, int32_t, (size_t)w->body_count + 1);
  s->A = FX_TAKE(arena, double *, w->body_count);
  s->row_at = FX_TAKE(arena, size_t, (size_t)l->count + 1);
  s->J = FX_TAKE(arena, double, 3 * (6 + FX_MOST_COORDINATES));
  if (!s->first || !s->A || !s->row_at || !s->J) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < w->body_count; k++) s->first[k + 1] = s->first[k] + 6 + w->body[k]->soft->info.coordinates;
  s->dof = s->first[w->body_count];
  for (int32_t k = 0; k < l->count; k++) {
    s->row_at[k] = values;
    for (int32_t p = 0; p < l->touch[k].side_count; p++) values += 3 * (size_t)size_of(s, l->touch[k].side[p].body);
  }
  s->row_at[l->count] = values;
  s->b = FX_TAKE(arena, double, s->dof), s->rows = FX_TAKE(arena, double, values);
  if (!s->b || !s->rows) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < w->body_count; k++) {
    size_t n = (size_t)size_of(s, k);
    s->A[k] = FX_TAKE(arena, double, n *n);
    if (!s->A[k]) return FRIX_ERROR_MEMORY;
    fx_soft_load(w->body[k], h, (fx_soft_when){h, 0.0}, gravity, s->A[k], s->b + s->first[k]);
  }
  add_handles(w, s, h, s->J);
  for (int32_t k = 0; k < l->count; k++) {
    double *to = s->rows + s->row_at[k];
    for (int32_t p = 0; p < l->touch[k].side_count; p++) {
      side_rows(w, &l->touch[k], &l->touch[k].side[p], s->J, to);
      to += 3 * (size_t)size_of(s, l->touch[k].side[p].body);
    }
  }
  return FRIX_OK;
}

/* ---- the problem ---- */

typedef struct sparse_data {
  int32_t *p, *i;
  double *x;
} sparse_data;

static bool take_sparse(fx_arena *arena, int32_t columns, size_t entries, sparse_data *out) {
  *out = (sparse_data){FX_TAKE(arena, int32_t, (size_t)columns + 1), FX_TAKE(arena, int32_t, entries),
                       FX_TAKE(arena, double, entries)};
  return out->p && out->i && out->x;
}

static int compare(const fx_soft_memory *m, const fx_touch *t) {
  if (m->body != t->body) return m->body < t->body ? -1 : 1;
  if (m->point != t->point) return m->point < t->point ? -1 : 1;
  return m->other < t->other ? -1 : m->other > t->other;
}

static int32_t put_mass(const frix_soft_world *w, const fx_soft_system *s, sparse_data *M) {
  int32_t at = 0;
  for (int32_t k = 0; k < w->body_count; k++) {
    int32_t n = size_of(s, k);
    for (int32_t c = 0; c < n; c++) {
      for (int32_t i = 0; i < n; i++) M->i[at] = s->first[k] + i, M->x[at++] = s->A[k][(size_t)i * n + c];
      M->p[s->first[k] + c + 1] = at;
    }
  }
  return at;
}

/* Column c of contact k. */
static int32_t put_column(const fx_soft_system *s, const fx_touch *t, size_t from, int c, sparse_data *H, int32_t at) {
  const double *rows = s->rows + from;
  for (int32_t p = 0; p < t->side_count; p++) {
    int32_t body = t->side[p].body, n = size_of(s, body);
    for (int32_t i = 0; i < n; i++) H->i[at] = s->first[body] + i, H->x[at++] = rows[(size_t)c * n + i];
    rows += 3 * (size_t)n;
  }
  return at;
}

/* Mean of the masses that meet. */
static double mass_of(const frix_soft_world *w, const fx_touch *t) {
  double a = w->body[t->side[0].body]->soft->info.mass;
  return t->side_count == 1 ? a : sqrt(a * w->body[t->side[1].body]->soft->info.mass);
}

static frix_status make_problem(const frix_soft_world *w, fx_arena *arena, double h, const fx_touches *l,
                                const fx_soft_system *s, frix_problem **out) {
  int32_t rows = 3 * l->count, at = 0;
  size_t mass = 0;
  for (int32_t k = 0; k < w->body_count; k++) mass += (size_t)size_of(s, k) * (size_t)size_of(s, k);
  sparse_data M, H;
  frix_contact *contact = FX_TAKE(arena, frix_contact, l->count);
  double *shift = FX_TAKE(arena, double, rows), *guess = FX_TAKE(arena, double, rows);
  double *R = FX_TAKE(arena, double, rows), *r_c = FX_TAKE(arena, double, rows);
  if (!take_sparse(arena, s->dof, mass, &M) || !take_sparse(arena, rows, s->row_at[l->count] + 1, &H) || !contact ||
      !shift || !guess || !R || !r_c)
    return FRIX_ERROR_MEMORY;
  int32_t entries = put_mass(w, s, &M);
  for (int32_t k = 0, last = 0; k < l->count; k++) {
    fx_touch *t = &l->touch[k];
    while (last < w->kept_count && compare(&w->kept[last], t) < 0) last++;
    bool known = last < w->kept_count && !compare(&w->kept[last], t);
    frix_vec3 before = known ? w->kept[last].impulse : fx_vec(0.0, 0.0, 0.0);
    double softness = 1.0 / (kappa * mass_of(w, t));
    t->natural = known ? (1.0 - push_out) * w->kept[last].natural : fx_min(t->gap, 0.0);
    const frix_vec3 axis[3] = {t->normal, t->along, t->across};
    contact[k] = frix_contact_of_dim(3, t->mu, 0.0);
    for (int c = 0; c < 3; c++) {
      H.p[3 * k + c + 1] = at = put_column(s, t, s->row_at[k], c, &H, at);
      shift[3 * k + c] = -fx_dot(axis[c], t->drive);
      guess[3 * k + c] = fx_dot(axis[c], before);
      R[3 * k + c] = softness;
      r_c[3 * k + c] = c ? guess[3 * k + c] : 0.0;
    }
    shift[3 * k] += (t->gap - t->natural) / h;
  }
  frix_problem_data data = frix_problem_data_default();
  data.form = FRIX_FORM_GLOBAL;
  data.contact_count = l->count, data.contact = contact, data.dof_count = s->dof;
  data.M = (frix_matrix){FRIX_MATRIX_CSC, s->dof, s->dof, entries, M.p, M.i, M.x};
  data.H = (frix_matrix){FRIX_MATRIX_CSC, s->dof, rows, at, H.p, H.i, H.x};
  data.f = s->b, data.w = shift, data.guess = guess, data.R = R, data.r_c = r_c;
  return frix_problem_create(w->context, &data, out);
}

/* ---- the answer ---- */

/* Work of a generalised impulse at the velocities of the answer. */
static double work_of(int32_t n, const double *row, double impulse, const double *v) {
  double u = 0.0;
  for (int32_t j = 0; j < n; j++) u += row[j] * v[j];
  return impulse * u;
}

static void book(frix_soft_world *w, const fx_touches *l, const fx_soft_system *s, const frix_result *a, double *frame,
                 frix_soft_report *out) {
  w->kept_count = l->count;
  for (int32_t k = 0; k < l->count; k++) {
    const fx_touch *t = &l->touch[k];
    const double *r = a->r + 3 * (size_t)k, *rows = s->rows + s->row_at[k];
    frix_vec3 impulse = fx_mad(fx_mad(fx_scale(r[0], t->normal), r[1], t->along), r[2], t->across);
    w->kept[k] = (fx_soft_memory){t->body, t->point, t->other, impulse, t->natural};
    if (t->side_count == 1) out->impulse = fx_add(out->impulse, impulse);
    out->active += r[0] > 0.0;
    for (int32_t p = 0; p < t->side_count; p++) {
      int32_t body = t->side[p].body, n = size_of(s, body);
      for (int c = 0; c < 3; c++, rows += n) {
        for (int i = 0; i < 6; i++) frame[6 * (size_t)body + i] += r[c] * rows[i];
        out->contact_work += work_of(n, rows, r[c], a->v + s->first[body]);
      }
    }
  }
}

/* Impulses of the handles, with the velocities of the answer. */
static void book_handles(frix_soft_world *w, const fx_soft_system *s, double h, const double *v1, double *frame,
                         frix_soft_report *out) {
  double *J = s->J;
  for (int32_t m = 0; m < w->handle_count; m++) {
    const frix_soft_handle *a = &w->handle[m];
    const frix_soft_state *x = w->body[a->body];
    int32_t n = 6 + x->soft->info.coordinates, first = s->first[a->body];
    frix_vec3 off = fx_sub(frix_soft_point(x, a->point, NULL), a->place);
    fx_soft_rows(x, a->point, J);
    for (int c = 0; c < 3; c++) {
      const double *row = J + (size_t)c * n;
      double u = 0.0;
      for (int32_t j = 0; j < n; j++) u += row[j] * v1[first + j];
      double impulse = -h * (a->stiffness * (fx_at(off, c) + h * u) + a->damping * u);
      for (int i = 0; i < 6; i++) frame[6 * (size_t)a->body + i] += impulse * row[i];
      out->handle_work += work_of(n, row, impulse, v1 + first);
    }
  }
}

static bool keep_room(frix_soft_world *w, int32_t count) {
  if (count <= w->kept_room) return true;
  fx_soft_memory *grown = FX_TAKE(&w->arena, fx_soft_memory, 2 * (size_t)count);
  if (!grown) return false;
  if (w->kept_count) memcpy(grown, w->kept, (size_t)w->kept_count * sizeof *grown);
  w->kept = grown, w->kept_room = 2 * count;
  return true;
}

/* Without contacts every body moves by itself. */
static frix_status free_answer(frix_soft_world *w, fx_soft_system *s, frix_result *a) {
  for (int32_t b = 0; b < w->body_count; b++) {
    int32_t n = size_of(s, b);
    if (!fx_lu_factor(n, s->A[b], w->body[b]->pivot))
      return fx_fail(w->context, FRIX_ERROR_INPUT, "the mass of soft body %d is singular", (int)b);
    fx_lu_solve(n, s->A[b], w->body[b]->pivot, s->b + s->first[b]);
  }
  a->v = s->b;
  a->outcome = FRIX_OUTCOME_SOLVED;
  return FRIX_OK;
}

/* Momenta of the frames without contacts and handles. */
static void start_frames(const frix_soft_world *w, double h, frix_vec3 gravity, double *frame) {
  for (int32_t b = 0; b < w->body_count; b++) {
    const frix_soft_state *x = w->body[b];
    frix_vec3 p = fx_scale(x->soft->info.mass, fx_mad(x->velocity, h, gravity)), L = x->spin_momentum;
    const double start[6] = {p.x, p.y, p.z, L.x, L.y, L.z};
    memcpy(frame + 6 * (size_t)b, start, sizeof start);
  }
}

frix_status fx_soft_answer(frix_soft_world *w, fx_arena *arena, double h, frix_vec3 gravity, const fx_touches *l,
                           frix_soft_report *out) {
  fx_soft_system system = {0}, *s = &system;
  frix_problem *problem = NULL;
  frix_solution *solution = NULL;
  frix_result a = {.size = sizeof a};
  double *frame = FX_TAKE(arena, double, 6 * (size_t)w->body_count);
  if (!frame || !keep_room(w, l->count)) return FRIX_ERROR_MEMORY;
  frix_status status = load(w, arena, h, gravity, l, s);
  if (status) return status;
  out->coordinates = s->dof;
  status = l->count ? make_problem(w, arena, h, l, s, &problem) : free_answer(w, s, &a);
  if (!status && problem) status = frix_solve(w->context, problem, NULL, &solution);
  if (!status) {
    if (solution) frix_solution_view(solution, &a);
    out->certified = a.outcome == FRIX_OUTCOME_SOLVED;
    out->residual = a.certificate.residual, out->iterations = a.iterations, out->seconds = a.seconds;
    start_frames(w, h, gravity, frame);
    book(w, l, s, &a, frame, out);
    book_handles(w, s, h, a.v, frame, out);
    for (int32_t b = 0; b < w->body_count; b++) fx_soft_finish(w->body[b], h, a.v + s->first[b], frame + 6 * (size_t)b);
  }
  frix_solution_destroy(solution);
  frix_problem_destroy(problem);
  return status;
}
