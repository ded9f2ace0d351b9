/* Soft bodies among fixed obstacles: one contact problem a step.
 *
 *   A v1 = b + H r,   A = M + h C + h^2 (K + handles),   u = H'v1 + w,   w_N = gap/h        (soft_motion.c has A and b)
 *
 * Surface points that can reach an obstacle within the step are contacts, named by body, point and obstacle; the
 * impulses of the step before are where the next one starts. An overlap is pushed out over five steps. */
#include "soft/soft.h"

#include <frix/problem.h>
#include <frix/solve.h>
#include <string.h>

#include "linalg/dense.h"

enum { MOST_BODIES = 1000, MOST_OBSTACLES = 64 };
static const double push_out = 0.2; /* share of an overlap per step */

typedef struct touch {
  int32_t body, point, obstacle;
  double gap;
  frix_vec3 normal, along, across, drive; /* drive: velocity of the obstacle */
} touch;

/* What a contact carried in the last step, world axes. */
typedef struct memory {
  int32_t body, point, obstacle;
  frix_vec3 impulse;
} memory;

struct frix_soft_world {
  frix_context *context;
  fx_arena arena; /* bodies, obstacles, handles */
  int32_t body_count, body_room, obstacle_count, handle_count, handle_room;
  frix_soft_state **body;
  memory *kept; /* in the order contacts are found: by body, point, obstacle */
  int32_t kept_count, kept_room;
  double *size; /* of each body, m */
  frix_soft_obstacle obstacle[MOST_OBSTACLES];
  frix_soft_handle *handle;
};

/* ---- making ---- */

frix_status frix_soft_world_create(frix_context *context, frix_soft_world **out) {
  if (out) *out = NULL;
  if (!context) return FRIX_ERROR_INPUT;
  if (!out) return fx_fail(context, FRIX_ERROR_INPUT, "frix_soft_world_create: no place for the world");
  frix_soft_world *w = FX_NEW(context, frix_soft_world, 1);
  if (!w) return FRIX_ERROR_MEMORY;
  w->context = context;
  fx_arena_init(&w->arena, context);
  w->body = FX_TAKE(&w->arena, frix_soft_state *, MOST_BODIES);
  w->size = FX_TAKE(&w->arena, double, MOST_BODIES);
  if (!w->body || !w->size) {
    frix_soft_world_destroy(w);
    return FRIX_ERROR_MEMORY;
  }
  *out = w;
  return FRIX_OK;
}

void frix_soft_world_destroy(frix_soft_world *w) {
  if (!w) return;
  frix_context *context = w->context;
  for (int32_t k = 0; k < w->body_count; k++) frix_soft_state_destroy(w->body[k]);
  fx_arena_free(&w->arena);
  fx_free(context, w);
}

frix_status frix_soft_world_add(frix_soft_world *w, const frix_soft *soft, int32_t *number) {
  if (number) *number = -1;
  if (!w) return FRIX_ERROR_INPUT;
  if (!soft || w->body_count == MOST_BODIES)
    return fx_fail(w->context, FRIX_ERROR_INPUT, "frix_soft_world_add: no body, or more than %d", MOST_BODIES);
  frix_soft_info info = frix_soft_view(soft);
  frix_soft_state *state = NULL;
  if (frix_soft_state_create(soft, &state)) return FRIX_ERROR_MEMORY;
  double size = 0.0;
  for (int32_t k = 0; k < info.point_count; k++) size = fx_max(size, 2.0 * fx_norm(info.point[k]));
  w->size[w->body_count] = size;
  w->body[w->body_count] = state;
  if (number) *number = w->body_count;
  w->body_count++;
  return FRIX_OK;
}

frix_status frix_soft_world_obstacle(frix_soft_world *w, const frix_soft_obstacle *o) {
  if (!w) return FRIX_ERROR_INPUT;
  if (!o || w->obstacle_count == MOST_OBSTACLES)
    return fx_fail(w->context, FRIX_ERROR_INPUT, "frix_soft_world_obstacle: none, or more than %d", MOST_OBSTACLES);
  bool round = o->kind != FRIX_SOFT_PLANE, line = o->kind != FRIX_SOFT_BALL;
  if ((int)o->kind < 0 || (int)o->kind > FRIX_SOFT_DRUM || !fx_finite(o->point) || !fx_finite(o->velocity) ||
      !(o->mu >= 0.0 && isfinite(o->mu)) || (round && !(o->radius > 0.0 && isfinite(o->radius))) ||
      (line && (!fx_finite(o->direction) || !(fx_norm(o->direction) > 0.0))))
    return fx_fail(w->context, FRIX_ERROR_INPUT, "an obstacle needs a finite place, a direction, a radius and mu >= 0");
  w->obstacle[w->obstacle_count] = *o;
  if (line) w->obstacle[w->obstacle_count].direction = fx_unit(o->direction);
  w->obstacle_count++;
  return FRIX_OK;
}

frix_status frix_soft_world_handle(frix_soft_world *w, const frix_soft_handle *h) {
  if (!w) return FRIX_ERROR_INPUT;
  if (!h || h->body < 0 || h->body >= w->body_count || h->point < 0 ||
      h->point >= frix_soft_view(w->body[h->body]->soft).point_count || !fx_finite(h->place) ||
      !(h->stiffness >= 0.0 && h->damping >= 0.0) || !isfinite(h->stiffness + h->damping))
    return fx_fail(w->context, FRIX_ERROR_INPUT,
                   "a handle needs a point of a body, a finite place, and no negative number");
  if (!fx_soft_room(&w->arena, (void **)&w->handle, w->handle_count, &w->handle_room, sizeof *h))
    return FRIX_ERROR_MEMORY;
  w->handle[w->handle_count++] = *h;
  return FRIX_OK;
}

frix_soft_state *frix_soft_world_state(frix_soft_world *w, int32_t body) {
  return w && body >= 0 && body < w->body_count ? w->body[body] : NULL;
}

/* ---- contacts ---- */

/* How far a point is from an obstacle, and the direction away from it. */
static double gap_of(const frix_soft_obstacle *o, frix_vec3 p, frix_vec3 *normal) {
  frix_vec3 away = fx_sub(p, o->point);
  if (o->kind == FRIX_SOFT_PLANE) {
    *normal = o->direction;
    return fx_dot(away, o->direction);
  }
  if (o->kind == FRIX_SOFT_DRUM) away = fx_mad(away, -fx_dot(away, o->direction), o->direction);
  *normal = fx_unit(away);
  return fx_norm(away) - o->radius;
}

typedef struct list {
  touch *touch;
  int32_t count, room;
} list;

/* Points that can reach an obstacle within the step, with the velocity they have and what gravity adds. */
static frix_status find(frix_soft_world *w, fx_arena *arena, double h, frix_vec3 gravity, list *out, double *deepest) {
  for (int32_t b = 0; b < w->body_count; b++) {
    const frix_soft_state *x = w->body[b];
    int32_t points = x->soft->info.point_count;
    double margin = 1e-3 * w->size[b] + h * h * fx_norm(gravity);
    for (int32_t p = 0; p < points; p++) {
      frix_vec3 v, place = frix_soft_point(x, p, &v);
      for (int32_t o = 0; o < w->obstacle_count; o++) {
        const frix_soft_obstacle *obstacle = &w->obstacle[o];
        touch t = {.body = b, .point = p, .obstacle = o, .drive = obstacle->velocity};
        t.gap = gap_of(obstacle, place, &t.normal);
        double speed = fx_norm(fx_sub(v, obstacle->velocity));
        if (!(t.gap < margin + 1.5 * h * speed)) continue;
        *deepest = fx_max(*deepest, -t.gap);
        t.along = fx_across(t.normal), t.across = fx_cross(t.normal, t.along);
        if (!fx_soft_room(arena, (void **)&out->touch, out->count, &out->room, sizeof t)) return FRIX_ERROR_MEMORY;
        out->touch[out->count++] = t;
      }
    }
  }
  return FRIX_OK;
}

/* ---- the problem ---- */

typedef struct system_of {
  int32_t dof, *first; /* of each body, body_count + 1 */
  double **A, *b;      /* blocks; right side */
  double *rows;        /* 3 by (6 + k) of each contact, contact frame */
  size_t *row_at;
} system_of;

/* A handle is a force -k (x + h u1 - place) - c u1 along three rows. */
static void add_handles(const frix_soft_world *w, system_of *s, double h, double *J) {
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

static void contact_rows(const frix_soft_world *w, const touch *t, double *J, double *out) {
  int32_t n = 6 + w->body[t->body]->soft->info.coordinates;
  fx_soft_rows(w->body[t->body], t->point, J);
  const frix_vec3 axis[3] = {t->normal, t->along, t->across};
  for (int c = 0; c < 3; c++)
    for (int32_t j = 0; j < n; j++)
      out[(size_t)c * n + j] = axis[c].x * J[j] + axis[c].y * J[n + j] + axis[c].z * J[2 * (size_t)n + j];
}

static frix_status load(frix_soft_world *w, fx_arena *arena, double h, frix_vec3 gravity, const list *l, system_of *s) {
  size_t values = 0;
  s->first = FX_TAKE(arena, int32_t, (size_t)w->body_count + 1);
  s->A = FX_TAKE(arena, double *, w->body_count);
  s->row_at = FX_TAKE(arena, size_t, (size_t)l->count + 1);
  if (!s->first || !s->A || !s->row_at) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < w->body_count; k++) s->first[k + 1] = s->first[k] + 6 + w->body[k]->soft->info.coordinates;
  s->dof = s->first[w->body_count];
  for (int32_t k = 0; k < l->count; k++) {
    s->row_at[k] = values;
    values += 3 * (size_t)(s->first[l->touch[k].body + 1] - s->first[l->touch[k].body]);
  }
  s->row_at[l->count] = values;
  s->b = FX_TAKE(arena, double, s->dof);
  s->rows = FX_TAKE(arena, double, values);
  double *J = FX_TAKE(arena, double, 3 * (6 + FX_MOST_COORDINATES));
  if (!s->b || !s->rows || !J) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < w->body_count; k++) {
    int32_t n = s->first[k + 1] - s->first[k];
    s->A[k] = FX_TAKE(arena, double, (size_t)n *n);
    if (!s->A[k]) return FRIX_ERROR_MEMORY;
    fx_soft_load(w->body[k], h, gravity, s->A[k], s->b + s->first[k]);
  }
  add_handles(w, s, h, J);
  for (int32_t k = 0; k < l->count; k++) contact_rows(w, &l->touch[k], J, s->rows + s->row_at[k]);
  return FRIX_OK;
}

typedef struct sparse_data {
  int32_t *p, *i;
  double *x;
} sparse_data;

static bool take_sparse(fx_arena *arena, int32_t columns, size_t entries, sparse_data *out) {
  *out = (sparse_data){FX_TAKE(arena, int32_t, (size_t)columns + 1), FX_TAKE(arena, int32_t, entries),
                       FX_TAKE(arena, double, entries)};
  return out->p && out->i && out->x;
}

static int compare(const memory *m, const touch *t) {
  if (m->body != t->body) return m->body < t->body ? -1 : 1;
  if (m->point != t->point) return m->point < t->point ? -1 : 1;
  return m->obstacle < t->obstacle ? -1 : m->obstacle > t->obstacle;
}

static frix_status make_problem(const frix_soft_world *w, fx_arena *arena, double h, const list *l, const system_of *s,
                                frix_problem **out) {
  int32_t rows = 3 * l->count, at = 0;
  size_t mass = 0;
  for (int32_t k = 0; k < w->body_count; k++)
    mass += (size_t)(s->first[k + 1] - s->first[k]) * (size_t)(s->first[k + 1] - s->first[k]);
  sparse_data M, H;
  frix_contact *contact = FX_TAKE(arena, frix_contact, l->count);
  double *shift = FX_TAKE(arena, double, rows), *guess = FX_TAKE(arena, double, rows);
  if (!take_sparse(arena, s->dof, mass, &M) || !take_sparse(arena, rows, s->row_at[l->count] + 1, &H) || !contact ||
      !shift || !guess)
    return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < w->body_count; k++) {
    int32_t n = s->first[k + 1] - s->first[k];
    for (int32_t c = 0; c < n; c++) {
      for (int32_t i = 0; i < n; i++) M.i[at] = s->first[k] + i, M.x[at++] = s->A[k][(size_t)i * n + c];
      M.p[s->first[k] + c + 1] = at;
    }
  }
  at = 0;
  for (int32_t k = 0, last = 0; k < l->count; k++) {
    const touch *t = &l->touch[k];
    int32_t n = s->first[t->body + 1] - s->first[t->body];
    while (last < w->kept_count && compare(&w->kept[last], t) < 0) last++;
    bool known = last < w->kept_count && !compare(&w->kept[last], t);
    frix_vec3 before = known ? w->kept[last].impulse : fx_vec(0.0, 0.0, 0.0);
    const frix_vec3 axis[3] = {t->normal, t->along, t->across};
    contact[k] = frix_contact_of_dim(3, w->obstacle[t->obstacle].mu, 0.0);
    for (int c = 0; c < 3; c++) {
      for (int32_t i = 0; i < n; i++)
        H.i[at] = s->first[t->body] + i, H.x[at++] = s->rows[s->row_at[k] + (size_t)c * n + i];
      H.p[3 * k + c + 1] = at;
      shift[3 * k + c] = -fx_dot(axis[c], t->drive);
      guess[3 * k + c] = fx_dot(axis[c], before);
    }
    shift[3 * k] += (t->gap > 0.0 ? 1.0 : push_out) * t->gap / h;
  }
  frix_problem_data data = frix_problem_data_default();
  data.form = FRIX_FORM_GLOBAL;
  data.contact_count = l->count, data.contact = contact, data.dof_count = s->dof;
  data.M = (frix_matrix){FRIX_MATRIX_CSC, s->dof, s->dof, (int64_t)mass, M.p, M.i, M.x};
  data.H = (frix_matrix){FRIX_MATRIX_CSC, s->dof, rows, at, H.p, H.i, H.x};
  data.f = s->b, data.w = shift, data.guess = guess;
  return frix_problem_create(w->context, &data, out);
}

/* ---- the answer ---- */

/* Work of a generalised impulse at the velocities of the answer. */
static double work_of(int32_t n, const double *row, double impulse, const double *v) {
  double u = 0.0;
  for (int32_t j = 0; j < n; j++) u += row[j] * v[j];
  return impulse * u;
}

static void book(frix_soft_world *w, const list *l, const system_of *s, const frix_result *a, double *frame,
                 frix_soft_report *out) {
  w->kept_count = l->count;
  for (int32_t k = 0; k < l->count; k++) {
    const touch *t = &l->touch[k];
    const double *r = a->r + 3 * (size_t)k, *row = s->rows + s->row_at[k];
    int32_t n = s->first[t->body + 1] - s->first[t->body];
    frix_vec3 impulse = fx_mad(fx_mad(fx_scale(r[0], t->normal), r[1], t->along), r[2], t->across);
    w->kept[k] = (memory){t->body, t->point, t->obstacle, impulse};
    out->impulse = fx_add(out->impulse, impulse);
    out->active += r[0] > 0.0;
    for (int c = 0; c < 3; c++) {
      for (int i = 0; i < 6; i++) frame[6 * (size_t)t->body + i] += r[c] * row[(size_t)c * n + i];
      out->contact_work += work_of(n, row + (size_t)c * n, r[c], a->v + s->first[t->body]);
    }
  }
}

/* Impulses of the handles, with the velocities of the answer. */
static void book_handles(frix_soft_world *w, const system_of *s, double h, const double *v1, double *frame,
                         frix_soft_report *out) {
  double J[3 * (6 + FX_MOST_COORDINATES)];
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
  memory *grown = FX_TAKE(&w->arena, memory, 2 * (size_t)count);
  if (!grown) return false;
  if (w->kept_count) memcpy(grown, w->kept, (size_t)w->kept_count * sizeof *grown);
  w->kept = grown, w->kept_room = 2 * count;
  return true;
}

/* Without contacts every body moves by itself. */
static frix_status free_answer(frix_soft_world *w, system_of *s, frix_result *a) {
  for (int32_t b = 0; b < w->body_count; b++) {
    int32_t n = s->first[b + 1] - s->first[b];
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

static frix_status answer(frix_soft_world *w, fx_arena *arena, double h, frix_vec3 gravity, const list *l, system_of *s,
                          frix_soft_report *out) {
  frix_problem *problem = NULL;
  frix_solution *solution = NULL;
  frix_result a = {.size = sizeof a};
  double *frame = FX_TAKE(arena, double, 6 * (size_t)w->body_count);
  if (!frame || !keep_room(w, l->count)) return FRIX_ERROR_MEMORY;
  frix_status status = l->count ? make_problem(w, arena, h, l, s, &problem) : free_answer(w, s, &a);
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

frix_status frix_soft_world_step(frix_soft_world *w, double h, frix_vec3 gravity, frix_soft_report *out) {
  frix_soft_report own = {0}, *report = out ? out : &own;
  *report = own;
  if (!w) return FRIX_ERROR_INPUT;
  if (!(h > 0.0) || !isfinite(h) || !fx_finite(gravity))
    return fx_fail(w->context, FRIX_ERROR_INPUT, "a step of %g s is no step", h);
  fx_arena arena;
  fx_arena_init(&arena, w->context);
  list l = {NULL, 0, 0};
  system_of s = {0};
  frix_status status = find(w, &arena, h, gravity, &l, &report->deepest);
  if (!status) status = load(w, &arena, h, gravity, &l, &s);
  if (!status) status = answer(w, &arena, h, gravity, &l, &s, report);
  report->contacts = l.count, report->coordinates = s.dof;
  for (int32_t o = 0; !status && o < w->obstacle_count; o++)
    w->obstacle[o].point = fx_mad(w->obstacle[o].point, h, w->obstacle[o].velocity);
  fx_arena_free(&arena);
  return status;
}
