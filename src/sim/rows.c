/* Rows: velocities that the contact problem speaks about, as blocks per body.
 *
 *   u_k = sum over movers (J_k v) + drive_k + w_k,   drive_k: the share of fixed and kinematic bodies */
#include "base/threads.h"
#include "sim/softs.h"

#include <string.h>

frix_status fx_assembly_begin(frix_sim *sim, fx_assembly *a, int32_t groups, int32_t rows, size_t values) {
  fx_arena *arena = &sim->arena;
  *a = (fx_assembly){.arena = arena, .group_capacity = groups, .row_capacity = rows, .value_capacity = values};
  a->group = FX_TAKE_RAW(arena, fx_group, groups); /* set where a group is added */
  a->law = FX_TAKE_RAW(arena, frix_contact, groups);
  a->J = FX_TAKE_RAW(arena, double, values);
  a->w = FX_TAKE_RAW(arena, double, rows);
  a->R = FX_TAKE_RAW(arena, double, rows);
  a->r_c = FX_TAKE_RAW(arena, double, rows);
  a->guess = FX_TAKE_RAW(arena, double, rows);
  a->limit = FX_TAKE_RAW(arena, double, rows);
  a->drive = FX_TAKE_RAW(arena, double, rows);
  a->r = FX_TAKE_RAW(arena, double, rows);
  a->u = FX_TAKE_RAW(arena, double, rows);
  bool beside_trees = sim->mechanism && sim->state.joint_count > 0;
  if (beside_trees && !(a->direction = FX_TAKE(arena, fx_row_direction, rows))) return FRIX_ERROR_MEMORY;
  bool good = a->group && a->law && a->J && a->w && a->R && a->r_c && a->guess && a->limit && a->drive && a->r && a->u;
  return good ? FRIX_OK : FRIX_ERROR_MEMORY;
}

fx_group *fx_group_add_raw(frix_sim *sim, fx_assembly *a, fx_group_kind kind, int32_t source, frix_contact law,
                           int32_t body_count, const int32_t *slot) {
  fx_group *g = &a->group[a->group_count];
  a->law[a->group_count++] = law;
  *g = (fx_group){
      .kind = kind, .source = source, .row = a->row_count, .dim = law.dim, .value = a->value_count, .kept = 1.0};
  for (int32_t k = 0; k < body_count; k++) {
    int32_t m = sim->mover_of[slot[k]], at = g->body_count;
    bool known = m < 0;
    for (int32_t j = 0; j < g->body_count; j++) known |= g->mover[j] == m;
    if (known) continue;
    for (; at > 0 && g->mover[at - 1] > m; at--) g->mover[at] = g->mover[at - 1];
    g->mover[at] = m;
    g->body_count++;
  }
  double *const cleared[] = {a->w, a->R, a->r_c, a->guess, a->drive, a->r, a->u};
  for (size_t k = 0; k < sizeof cleared / sizeof *cleared; k++)
    for (int32_t j = 0; j < law.dim; j++) cleared[k][a->row_count + j] = 0.0;
  a->row_count += law.dim;
  for (int32_t k = 0; k < g->body_count; k++) a->value_count += (size_t)(law.dim * sim->mover[g->mover[k]].dof);
  return g;
}

fx_group *fx_group_add(frix_sim *sim, fx_assembly *a, fx_group_kind kind, int32_t source, frix_contact law,
                       int32_t body_count, const int32_t *slot) {
  fx_group *g = fx_group_add_raw(sim, a, kind, source, law, body_count, slot);
  memset(a->J + g->value, 0, (a->value_count - g->value) * sizeof *a->J);
  if (a->direction) memset(a->direction + g->row, 0, (size_t)g->dim * sizeof *a->direction);
  return g;
}

/* Rows of the selected groups one after the other: a copy of each. */
static double *select_rows(const fx_assembly *a, const uint8_t *mark, int32_t count, fx_arena *arena,
                           const double *from) {
  double *to = FX_TAKE_RAW(arena, double, count), *at = to;
  for (int32_t k = 0; to && k < a->group_count; k++) {
    if (!mark[k]) continue;
    memcpy(at, from + a->group[k].row, (size_t)a->group[k].dim * sizeof *at);
    at += a->group[k].dim;
  }
  return to;
}

frix_status fx_assembly_select(const fx_assembly *a, const uint8_t *mark, fx_arena *arena, fx_assembly *out) {
  *out = *a;
  out->arena = arena;
  out->products = NULL;
  out->group = FX_TAKE_RAW(arena, fx_group, a->group_count);
  out->law = FX_TAKE_RAW(arena, frix_contact, a->group_count);
  if (!out->group || !out->law) return FRIX_ERROR_MEMORY;
  out->group_count = out->row_count = out->joint_first = 0;
  for (int32_t k = 0; k < a->group_count; k++) {
    if (!mark[k]) continue;
    out->law[out->group_count] = a->law[k];
    out->group[out->group_count] = a->group[k];
    out->group[out->group_count++].row = out->row_count;
    out->row_count += a->group[k].dim;
    if (k < a->joint_first) out->joint_first = out->group_count;
  }
  double **rows[] = {&out->w, &out->R, &out->r_c, &out->guess, &out->limit, &out->drive, &out->r, &out->u};
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
    if (!(*rows[k] = select_rows(a, mark, out->row_count, arena, *rows[k]))) return FRIX_ERROR_MEMORY;
  return FRIX_OK;
}

/* Row k of the block of the group's b-th body. */
static double *row_of(const frix_sim *sim, const fx_assembly *a, const fx_group *g, int32_t b, int32_t k) {
  size_t at = g->value;
  for (int32_t j = 0; j < b; j++) at += (size_t)(g->dim * sim->mover[g->mover[j]].dof);
  return a->J + at + (size_t)(k * sim->mover[g->mover[b]].dof);
}

double *fx_group_block(const frix_sim *sim, const fx_assembly *a, const fx_group *g, int32_t mover, int32_t k) {
  for (int32_t b = 0; b < g->body_count; b++)
    if (g->mover[b] == mover) return row_of(sim, a, g, b, k);
  return NULL;
}

/* Of a joint, as it acts on b. */
static void keep_direction(const frix_sim *sim, fx_assembly *a, const fx_group *g, int32_t k, int32_t slot,
                           frix_vec3 lin, frix_vec3 ang) {
  bool turns = fx_is_zero(lin);
  frix_vec3 along = turns ? ang : lin;
  bool on_b = slot == sim->model->joint[g->source].b;
  a->direction[g->row + k] = (fx_row_direction){on_b ? along : fx_neg(along), turns};
}

void fx_group_term(frix_sim *sim, fx_assembly *a, fx_group *g, int32_t k, int32_t slot, frix_vec3 lin, frix_vec3 ang) {
  int32_t m = sim->mover_of[slot];
  if (a->direction && fx_group_of_joint(g)) keep_direction(sim, a, g, k, slot, lin, ang);
  if (m < 0) {
    const fx_state *s = &sim->state;
    if (slot > 0 && !s->asleep[slot])
      a->drive[g->row + k] += fx_dot(lin, s->velocity[slot]) + fx_dot(ang, s->spin[slot]);
    return;
  }
  int32_t b = 0;
  while (g->mover[b] != m) b++;
  double *J = row_of(sim, a, g, b, k);
  if (sim->mover[m].tree) {
    fx_tree_row(sim, &sim->mover[m], slot, lin, ang, J);
  } else if (sim->mover[m].dof == 3) {
    J[0] += lin.x, J[1] += lin.y, J[2] += ang.z;
  } else {
    J[0] += lin.x, J[1] += lin.y, J[2] += lin.z, J[3] += ang.x, J[4] += ang.y, J[5] += ang.z;
  }
}

void fx_group_bend(frix_sim *sim, fx_assembly *a, fx_group *g, int32_t k, int32_t slot, int32_t point, frix_vec3 d) {
  int32_t m = sim->mover_of[slot], b = 0;
  if (m < 0 || point < 0) return;
  while (g->mover[b] != m) b++;
  fx_soft_held_row(sim, slot, point, d, row_of(sim, a, g, b, k));
}

static inline double product(int32_t dof, const double *J, frix_vec3 v, frix_vec3 w) {
  if (dof == 3) return J[0] * v.x + J[1] * v.y + J[2] * w.z;
  return J[0] * v.x + J[1] * v.y + J[2] * v.z + J[3] * w.x + J[4] * w.y + J[5] * w.z;
}

static void velocity_of(const fx_mover *m, fx_when when, frix_vec3 *v, frix_vec3 *w) {
  *v = when == FX_BEFORE ? m->v0 : when == FX_FREE ? m->v_free : m->v1;
  *w = when == FX_BEFORE ? m->w0 : when == FX_FREE ? m->w_free : m->w1;
}

double fx_group_velocity(const frix_sim *sim, const fx_assembly *a, const fx_group *g, int32_t k, fx_when when) {
  double sum = a->drive[g->row + k];
  for (int32_t b = 0; b < g->body_count; b++) {
    const fx_mover *m = &sim->mover[g->mover[b]];
    frix_vec3 v, w;
    if (m->tree) {
      fx_tree_add_products(m, 1, row_of(sim, a, g, b, k), when, &sum);
      continue;
    }
    velocity_of(m, when, &v, &w);
    sum += product(m->dof, row_of(sim, a, g, b, k), v, w);
  }
  return sum;
}

static bool is_zero(frix_vec3 v) { return v.x == 0.0 && v.y == 0.0 && v.z == 0.0; }

/* J v of one body; inlined with the sizes of the common contact. */
static inline __attribute__((always_inline)) void add_products(int32_t dim, int32_t dof, const double *J, frix_vec3 v,
                                                               frix_vec3 w, double *out) {
  for (int32_t k = 0; k < dim; k++, J += dof) out[k] += product(dof, J, v, w);
}

void fx_group_velocities(const frix_sim *sim, const fx_assembly *a, const fx_group *g, fx_when when, double *out) {
  const double *J = a->J + g->value;
  for (int32_t k = 0; k < g->dim; k++) out[k] = a->drive[g->row + k];
  for (int32_t b = 0; b < g->body_count; b++) {
    const fx_mover *m = &sim->mover[g->mover[b]];
    if (m->tree) {
      fx_tree_add_products(m, g->dim, J, when, out);
      J += g->dim * m->dof;
      continue;
    }
    const frix_vec3 *v = when == FX_BEFORE ? &m->v0 : when == FX_FREE ? &m->v_free : &m->v1;
    const frix_vec3 *w = when == FX_BEFORE ? &m->w0 : when == FX_FREE ? &m->w_free : &m->w1;
    if (is_zero(*v) && is_zero(*w)) { /* as everything is at rest */
      J += g->dim * m->dof;
      continue;
    }
    if (g->dim == 3 && m->dof == 6)
      add_products(3, 6, J, *v, *w, out);
    else
      add_products(g->dim, m->dof, J, *v, *w, out);
    J += g->dim * m->dof;
  }
}

typedef struct velocities {
  const frix_sim *sim;
  const fx_assembly *a;
  fx_when when;
  double *out;
} velocities;

static void find_velocities(int32_t part, int32_t first, int32_t end, void *user) {
  const velocities *t = user;
  (void)part;
  for (int32_t k = first; k < end; k++)
    fx_group_velocities(t->sim, t->a, &t->a->group[k], t->when, t->out + t->a->group[k].row);
}

void fx_rows_velocities(const frix_sim *sim, const fx_assembly *a, fx_when when, double *out) {
  velocities t = {sim, a, when, out};
  fx_threads threads = fx_sim_threads(sim);
  fx_parallel_range(threads, a->group_count, FX_LEAST_CONTACTS, find_velocities, &t);
}

double fx_group_weight(const frix_sim *sim, const fx_assembly *a, const fx_group *g, int32_t k) {
  double sum = 0.0;
  for (int32_t b = 0; b < g->body_count; b++) {
    const fx_mover *m = &sim->mover[g->mover[b]];
    const double *J = row_of(sim, a, g, b, k);
    if (m->tree) {
      sum += fx_tree_weight(m, J);
    } else if (m->dof == 3) {
      frix_vec3 lin = {J[0], J[1], 0.0};
      sum += fx_dot(lin, fx_sym3_mul(m->A_inverse, lin)) + J[2] * J[2] * m->B_inverse.zz;
    } else {
      frix_vec3 lin = {J[0], J[1], J[2]}, ang = {J[3], J[4], J[5]};
      sum += fx_dot(lin, fx_sym3_mul(m->A_inverse, lin)) + fx_dot(ang, fx_sym3_mul(m->B_inverse, ang));
    }
  }
  return sum;
}
