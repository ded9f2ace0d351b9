/* The problem of a bed's last step, as any other contact problem: six degrees of freedom per grain, three rows per
 * contact, and those of joints; M is diagonal for spheres and has blocks of three for the spins of clumps. For other
 * methods, for files, and to see that both certificates are one. */
#include "bed/bed_internal.h"

#include "problem/problem_internal.h"

#include <string.h>

/* Entries of one row on one grain: t, and arm x t with the arm from its centre to the contact. */
static void put_row(int32_t k, frix_vec3 t, frix_vec3 arm, double sign, int64_t *at, int32_t *row, double *x) {
  frix_vec3 turn = fx_cross(arm, t);
  const double all[6] = {t.x, t.y, t.z, turn.x, turn.y, turn.z};
  for (int a = 0; a < 6; a++) {
    row[*at] = 6 * k + a;
    x[(*at)++] = sign * all[a];
  }
}

typedef struct draft {
  frix_contact *contact;
  double *w, *R, *memory, *guess, *f, *mass, *limit;
  int32_t *p, *i, *mass_p, *mass_i;
  double *x;
  int32_t joint_rows, *joint_p, *joint_i, *bind_of; /* lambda is in the order of the list of joints */
  double *joint_x, *b;                              /* G and b */
} draft;

static bool take(frix_bed *bed, fx_arena *arena, draft *d) {
  size_t n = (size_t)bed->contact_count, rows = 3 * n, dof = 6 * (size_t)bed->own, joint_rows = 0;
  for (int64_t k = 0; k < bed->bind_count; k++) joint_rows += (size_t)bed->bind[k].rows;
  *d = (draft){.contact = FX_TAKE(arena, frix_contact, n),
               .w = FX_TAKE(arena, double, rows),
               .R = FX_TAKE(arena, double, rows),
               .memory = FX_TAKE(arena, double, rows),
               .guess = FX_TAKE(arena, double, rows),
               .f = FX_TAKE(arena, double, dof),
               .mass = FX_TAKE(arena, double, 2 * dof),
               .limit = FX_TAKE(arena, double, rows + joint_rows),
               .p = FX_TAKE(arena, int32_t, rows + 1),
               .i = FX_TAKE(arena, int32_t, 12 * rows),
               .mass_p = FX_TAKE(arena, int32_t, dof + 1),
               .mass_i = FX_TAKE(arena, int32_t, 2 * dof),
               .x = FX_TAKE(arena, double, 12 * rows),
               .joint_p = FX_TAKE(arena, int32_t, joint_rows + 1),
               .joint_i = FX_TAKE(arena, int32_t, 12 * joint_rows),
               .joint_x = FX_TAKE(arena, double, 12 * joint_rows),
               .b = FX_TAKE(arena, double, joint_rows),
               .bind_of = FX_TAKE(arena, int32_t, bed->bind_count)};
  return d->contact && d->w && d->R && d->memory && d->guess && d->f && d->mass && d->limit && d->p && d->i &&
         d->mass_p && d->mass_i && d->x && d->joint_p && d->joint_i && d->joint_x && d->b && d->bind_of;
}

static void put_contact(const frix_bed *bed, int32_t i, int64_t k, int64_t *at, draft *d) {
  const fx_bed_contact *c = &bed->contact[k];
  const fx_bed_law *law = &bed->law[c->law];
  frix_vec3 frame[3] = {c->n, fx_across(c->n)}, still = {0.0, 0.0, 0.0};
  frame[2] = fx_cross(frame[0], frame[1]);
  double length = 2.0 * bed->speed[i].radius + (c->other >= 0 ? 2.0 * bed->speed[c->other].radius : 0.0);
  frix_vec3 drag = c->other < 0 ? bed->wall[-1 - c->other].velocity : still;
  d->contact[k] = frix_contact_of_dim(3, law->mu, 0.0);
  for (int a = 0; a < 3; a++) {
    size_t row = 3 * (size_t)k + (size_t)a;
    bool first = c->other < 0 || i < c->other;
    for (int side = 0; side < 2; side++) {
      bool own = first == (side == 0);
      if (!own && c->other < 0) continue;
      int32_t g = own ? i : c->other;
      frix_vec3 arm = fx_scale(own ? -bed->speed[g].radius : bed->speed[g].radius, c->n);
      if (bed->has_arms) arm = own ? bed->arm[k].a : bed->arm[k].b;
      put_row(g, frame[a], arm, own ? 1.0 : -1.0, at, d->i, d->x);
    }
    d->p[row + 1] = (int32_t)*at;
    d->w[row] = (a == 0 ? c->w : 0.0) - fx_dot(drag, frame[a]);
    d->R[row] = law->R;
    d->memory[row] = a == 0 ? 0.0 : fx_dot(c->c, frame[a]);
    d->guess[row] = fx_dot(bed->load[k].r, frame[a]);
    d->limit[row] = length / bed->h;
  }
}

/* Rows of a joint. */
static void put_joint(const frix_bed *bed, const fx_bed_bind *bind, draft *d) {
  double length = 2.0 * bed->speed[bind->grain].radius;
  if (bind->other >= 0) length += 2.0 * bed->speed[bind->other].radius;
  for (int32_t row = 0; row < bind->rows; row++) {
    int32_t column = d->joint_rows++, at = d->joint_p[column];
    bool first = bind->other < 0 || bind->grain < bind->other;
    for (int side = 0; side < (bind->other >= 0 ? 2 : 1); side++) {
      bool own = first == (side == 0);
      frix_vec3 t = bind->t[row], turn = bind->turn[own ? 0 : 1][row];
      const double all[6] = {t.x, t.y, t.z, turn.x, turn.y, turn.z};
      for (int a = 0; a < 6; a++, at++) {
        d->joint_i[at] = 6 * (own ? bind->grain : bind->other) + a;
        d->joint_x[at] = own ? all[a] : -all[a];
      }
    }
    d->joint_p[column + 1] = at;
    d->b[column] = bind->w[row];
    d->limit[3 * (size_t)bed->contact_count + (size_t)column] = length / bed->h;
  }
}

static frix_sym3 inertia_of(const frix_bed *bed, int32_t k) {
  double r = bed->speed[k].radius, inertia = 0.4 / bed->speed[k].inverse_mass * r * r;
  if (!bed->has_arms) return (frix_sym3){.xx = inertia, .yy = inertia, .zz = inertia};
  return fx_bed_inverse(bed->turn[k]); /* as the grain lay in the step */
}

/* M by columns, with `at` entries before those of grain k, and M v_free. */
static void put_grain(const frix_bed *bed, int32_t k, int32_t *at, draft *d) {
  double mass = 1.0 / bed->speed[k].inverse_mass;
  frix_vec3 v = bed->free[k].v, w = fx_scale(1.0 / bed->speed[k].radius, bed->free[k].s);
  frix_sym3 I = inertia_of(bed, k);
  const fx_mat3 spin = {{I.xx, I.xy, I.xz}, {I.xy, I.yy, I.yz}, {I.xz, I.yz, I.zz}};
  frix_vec3 turning = fx_mat3_mul(spin, w);
  for (int a = 0; a < 6; a++) {
    size_t column = 6 * (size_t)k + (size_t)a;
    d->f[column] = a < 3 ? mass * fx_at(v, a) : fx_at(turning, a - 3);
    for (int b = a < 3 ? 0 : 3; b < (a < 3 ? 3 : 6); b++) {
      if (a != b && (a < 3 || !bed->has_arms)) continue;
      d->mass_i[*at] = 6 * k + b;
      d->mass[(*at)++] = a < 3 ? mass : fx_at(fx_mat3_col(spin, a - 3), b - 3);
    }
    d->mass_p[column + 1] = *at;
  }
}

frix_status frix_bed_problem(const frix_bed *given, frix_problem **out) {
  if (!given || !out) return FRIX_ERROR_INPUT;
  frix_bed *bed = (frix_bed *)given;
  *out = NULL;
  if (fx_bed_ranks(bed) > 1) return fx_fail(bed->context, FRIX_ERROR_UNSUPPORTED, "bed: a problem of several ranks");
  if (bed->own > INT32_MAX / 12 || bed->contact_count > INT32_MAX / 40)
    return fx_fail(bed->context, FRIX_ERROR_UNSUPPORTED, "bed: too large for one problem");
  fx_arena arena;
  fx_arena_init(&arena, bed->context);
  draft d;
  int64_t at = 0;
  int32_t entries = 0;
  frix_status status = FRIX_ERROR_MEMORY;
  if (take(bed, &arena, &d)) {
    for (int32_t i = 0; i < bed->own; i++) {
      put_grain(bed, i, &entries, &d);
      for (int64_t k = bed->contact_start[i]; k < bed->contact_start[i + 1]; k++) put_contact(bed, i, k, &at, &d);
    }
    for (int64_t k = 0; k < bed->bind_count; k++) d.bind_of[bed->bind[k].joint] = (int32_t)k;
    for (int64_t k = 0; k < bed->bind_count; k++) put_joint(bed, &bed->bind[d.bind_of[k]], &d);
    int32_t dof = 6 * bed->own, rows = (int32_t)(3 * bed->contact_count);
    frix_problem_data data = frix_problem_data_default();
    data.form = FRIX_FORM_GLOBAL;
    data.contact_count = (int32_t)bed->contact_count, data.contact = d.contact;
    data.dof_count = dof;
    data.M = (frix_matrix){FRIX_MATRIX_CSC, dof, dof, entries, d.mass_p, d.mass_i, d.mass};
    data.H = (frix_matrix){FRIX_MATRIX_CSC, dof, rows, at, d.p, d.i, d.x};
    data.f = d.f, data.w = d.w, data.guess = d.guess;
    if (d.joint_rows) {
      data.joint_count = d.joint_rows, data.b = d.b;
      data.G =
          (frix_matrix){FRIX_MATRIX_CSC, dof, d.joint_rows, d.joint_p[d.joint_rows], d.joint_p, d.joint_i, d.joint_x};
    }
    if (bed->config.stiffness > 0.0) data.R = d.R, data.r_c = d.memory;
    status = frix_problem_create(bed->context, &data, out);
    frix_problem limits = {.limit = d.limit, .row_count = rows, .joint_count = d.joint_rows};
    if (!status) status = fx_problem_take_limit(*out, &limits);
  }
  fx_arena_free(&arena);
  return status;
}
