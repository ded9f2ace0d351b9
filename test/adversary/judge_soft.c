/* Soft bodies: velocities of their surfaces, and their momenta.
 *
 *   place of point i       x_i = c + R (p_i + U_i s),   p, U of frix_soft_view, s the amplitudes
 *   velocity in a row      v + w x (x - c) + R sum of the corners' weights U_i s'
 *   momenta                L = M_w (w, s'),   p = M_s (w, s'),   M the mass matrix of the place
 *
 * A step keeps L and p, in the axes of the world and of the amplitudes, on its way to the new place, where the state
 * shows other spins and rates. Those that rows see, at the place of before, are solved from both mass matrices:
 *
 *   M(s0) (w1, s1') = M(s1) (w, s')                    (rows and columns of the spin and the amplitudes)
 *
 * The mass matrix is one of the model (frix_soft_mass_matrix), as masses and inertias of rigid bodies are. Judged are
 * linear and angular momentum, and the laws of contacts with the velocities of surfaces; not judged are elastic and
 * damping forces, what rows ask for, and energy. */
#include "judge_soft.h"

#include <stdlib.h>
#include <string.h>

typedef struct judged_soft {
  int body, k, n; /* n = 6 + k */
  frix_soft_info info;
  frix_soft_state *state;
  real *s0, *rate[MOMENTS];
  double *M0, *M1;
  vec turned;
} judged_soft;

struct judged_softs {
  int count;
  judged_soft *at;
};

static judged_soft *soft_of(const judge *j, int body) {
  for (int i = 0; j->softs && i < j->softs->count; i++)
    if (j->softs->at[i].body == body) return &j->softs->at[i];
  return NULL;
}

bool soft_is(const judge *j, int body) { return soft_of(j, body) != NULL; }

judged_softs *softs_new(const judge *j) {
  judged_softs *all = calloc(1, sizeof *all);
  all->at = calloc((size_t)j->body_count, sizeof *all->at);
  for (int b = 1; b < j->body_count; b++) {
    const frix_soft *soft = frix_model_soft(j->model, j->body[b].id);
    if (!soft) continue;
    judged_soft *x = &all->at[all->count];
    x->body = b, x->info = frix_soft_view(soft), x->k = x->info.coordinates, x->n = 6 + x->k;
    if (frix_soft_state_create(soft, &x->state) != FRIX_OK) continue;
    size_t numbers = (size_t)x->k, square = (size_t)x->n * (size_t)x->n;
    x->s0 = calloc(numbers + 1, sizeof *x->s0);
    for (int m = 0; m < MOMENTS; m++) x->rate[m] = calloc(numbers + 1, sizeof *x->rate[m]);
    x->M0 = calloc(square, sizeof *x->M0), x->M1 = calloc(square, sizeof *x->M1);
    all->count++;
  }
  if (all->count) return all;
  softs_free(all);
  return NULL;
}

void softs_free(judged_softs *s) {
  for (int i = 0; s && i < s->count; i++) {
    judged_soft *x = &s->at[i];
    frix_soft_state_destroy(x->state);
    free(x->s0), free(x->M0), free(x->M1);
    for (int m = 0; m < MOMENTS; m++) free(x->rate[m]);
  }
  if (s) free(s->at);
  free(s);
}

/* The mass matrix with the state of a sim. */
static void read_mass(const judge *j, const judged_soft *x, const frix_sim *sim, double *M) {
  frix_body_state b;
  frix_sim_body(sim, j->body[x->body].id, &b);
  frix_soft_frame frame = {{b.center, b.pose.q}, b.velocity, b.spin};
  frix_soft_set(x->state, frix_sim_amplitude(sim, j->body[x->body].id), frix_sim_rate(sim, j->body[x->body].id));
  frix_soft_set_frame(x->state, &frame);
  frix_soft_mass_matrix(x->state, 0, M);
}

static void read_rates(const judge *j, const judged_soft *x, const frix_sim *sim, moment when) {
  const double *rate = frix_sim_rate(sim, j->body[x->body].id);
  for (int i = 0; i < x->k; i++) x->rate[when][i] = rate[i];
}

void softs_before(judge *j, const frix_sim *sim) {
  for (int i = 0; j->softs && i < j->softs->count; i++) {
    judged_soft *x = &j->softs->at[i];
    const double *amplitude = frix_sim_amplitude(sim, j->body[x->body].id);
    for (int a = 0; a < x->k; a++) x->s0[a] = amplitude[a];
    for (int m = 0; m < MOMENTS; m++) read_rates(j, x, sim, (moment)m);
    read_mass(j, x, sim, x->M0);
  }
}

/* A x = b of m unknowns by elimination; A and b are used up. */
static void solve(int m, real *A, real *b) {
  for (int c = 0; c < m; c++) {
    int p = c;
    for (int r = c + 1; r < m; r++)
      if (fabsl(A[r * m + c]) > fabsl(A[p * m + c])) p = r;
    for (int k = 0; k < m && p != c; k++) {
      real t = A[c * m + k];
      A[c * m + k] = A[p * m + k], A[p * m + k] = t;
    }
    real t = b[c];
    b[c] = b[p], b[p] = t;
    for (int r = c + 1; r < m; r++) {
      real f = A[c * m + c] != 0 ? A[r * m + c] / A[c * m + c] : 0;
      for (int k = c; k < m; k++) A[r * m + k] -= f * A[c * m + k];
      b[r] -= f * b[c];
    }
  }
  for (int r = m - 1; r >= 0; r--) {
    for (int k = r + 1; k < m; k++) b[r] -= A[r * m + k] * b[k];
    b[r] = A[r * m + r] != 0 ? b[r] / A[r * m + r] : 0;
  }
}

/* Row i of the spin and amplitudes of M times (w, s'). */
static real momentum_at(const judged_soft *x, const double *M, int i, vec w, const real *rate) {
  const double *m = M + (size_t)(3 + i) * (size_t)x->n + 3;
  real sum = m[0] * w.x + m[1] * w.y + m[2] * w.z;
  for (int a = 0; a < x->k; a++) sum += m[3 + a] * rate[a];
  return sum;
}

void softs_after(judge *j, const frix_sim *sim) {
  for (int i = 0; j->softs && i < j->softs->count; i++) {
    judged_soft *x = &j->softs->at[i];
    judged_body *b = &j->body[x->body];
    int m = 3 + x->k;
    real *A = calloc((size_t)m * (size_t)m, sizeof *A), *p = calloc((size_t)m, sizeof *p), before[3];
    frix_body_state s;
    frix_sim_body(sim, b->id, &s);
    read_rates(j, x, sim, AFTER);
    read_mass(j, x, sim, x->M1);
    for (int r = 0; r < 3; r++) before[r] = momentum_at(x, x->M0, r, b->w[BEFORE], x->rate[BEFORE]);
    for (int r = 0; r < m; r++) {
      p[r] = momentum_at(x, x->M1, r, v_of(s.spin), x->rate[AFTER]);
      for (int c = 0; c < m; c++) A[r * m + c] = x->M0[(size_t)(3 + r) * (size_t)x->n + (size_t)(3 + c)];
    }
    x->turned = (vec){p[0] - before[0], p[1] - before[1], p[2] - before[2]};
    solve(m, A, p);
    b->w[AFTER] = (vec){p[0], p[1], p[2]};
    for (int a = 0; a < x->k; a++) x->rate[AFTER][a] = p[3 + a];
    memcpy(x->rate[COMPRESSED], x->rate[AFTER], (size_t)x->k * sizeof *p);
    free(A), free(p);
  }
}

vec soft_turned(const judge *j, int body) { return soft_of(j, body)->turned; }

/* ---- places of the surface ---- */

static vec shape_times(const judged_soft *x, int point, const real *numbers) {
  vec sum = {0, 0, 0};
  const double *U = x->info.shape + 3 * (size_t)point * (size_t)x->k;
  for (int a = 0; a < x->k; a++) {
    sum.x += U[a] * numbers[a];
    sum.y += U[x->k + a] * numbers[a];
    sum.z += U[2 * x->k + a] * numbers[a];
  }
  return sum;
}

/* Weights of the place of a triangle nearest to p, by its edges where p is beyond them; returns the distance. */
static real nearest_of(vec a, vec b, vec c, vec p, real weight[3]) {
  vec corner[3] = {a, b, c}, e = v_sub(b, a), f = v_sub(c, a), d = v_sub(p, a);
  real ee = v_dot(e, e), ef = v_dot(e, f), ff = v_dot(f, f), de = v_dot(d, e), df = v_dot(d, f);
  real all = ee * ff - ef * ef, best = INFINITY;
  if (all > 0) {
    real s = (de * ff - df * ef) / all, t = (df * ee - de * ef) / all;
    if (s >= 0 && t >= 0 && s + t <= 1) {
      weight[0] = 1 - s - t, weight[1] = s, weight[2] = t;
      return v_norm(v_sub(d, v_add(v_mul(s, e), v_mul(t, f))));
    }
  }
  for (int k = 0; k < 3; k++) {
    vec from = corner[k], way = v_sub(corner[(k + 1) % 3], from), off = v_sub(p, from);
    real length = v_dot(way, way), part = length > 0 ? fminl(1, fmaxl(0, v_dot(off, way) / length)) : 0;
    real distance = v_norm(v_mad(off, -part, way));
    if (distance >= best) continue;
    best = distance;
    weight[k] = 1 - part, weight[(k + 1) % 3] = part, weight[(k + 2) % 3] = 0;
  }
  return best;
}

static vec place_of(const judged_soft *x, int point) {
  return v_add(v_of(x->info.point[point]), shape_times(x, point, x->s0));
}

static void add_place(term *x, const int *corner, const real *weight) {
  if (x->places == MOST_PLACES) return;
  soft_place *out = &x->place[x->places++];
  memcpy(out->corner, corner, sizeof out->corner);
  memcpy(out->weight, weight, sizeof out->weight);
}

void soft_find_place(const judge *j, term *x, vec surface, vec middle) {
  const judged_soft *soft = soft_of(j, x->body);
  const judged_body *b = &j->body[x->body];
  vec at = q_turn(q_inverse(b->q), v_sub(surface, b->c)), half = q_turn(q_inverse(b->q), v_sub(middle, b->c)), place[3];
  real best = INFINITY, weight[3], near = 1e-9L * b->size;
  for (int pass = 0; pass < 2; pass++)
    for (int t = 0; t < soft->info.triangle_count; t++) {
      const int *corner = soft->info.triangle + 3 * (size_t)t;
      for (int k = 0; k < 3; k++) place[k] = place_of(soft, corner[k]);
      real distance = nearest_of(place[0], place[1], place[2], at, weight);
      if (pass == 0) best = fminl(best, distance);
      if (pass == 0 || distance > best + near) continue;
      bool point = fmaxl(weight[0], fmaxl(weight[1], weight[2])) > 1 - 1e-9L;
      if (point && x->places == 0) add_place(x, corner, weight);
      nearest_of(place[0], place[1], place[2], half, weight);
      add_place(x, corner, weight);
    }
}

void soft_add_place(const judge *j, term *x, int place, vec middle) {
  const judged_soft *soft = soft_of(j, x->body);
  const judged_body *b = &j->body[x->body];
  vec at = q_turn(q_inverse(b->q), v_sub(middle, b->c)), corner[3];
  real weight[3] = {1, 0, 0}, distance;
  int point = place - 1, triangle = -place - 1;
  if (place > 0 ? point >= soft->info.point_count : place == 0 || triangle >= soft->info.triangle_count) return;
  const int alone[3] = {point, point, point}, *of = place > 0 ? alone : soft->info.triangle + 3 * (size_t)triangle;
  for (int k = 0; k < 3; k++) corner[k] = place_of(soft, of[k]);
  distance = place > 0 ? v_norm(v_sub(at, corner[0])) : nearest_of(corner[0], corner[1], corner[2], at, weight);
  if (distance > b->size) return; /* that is somewhere else */
  if (x->places == MOST_PLACES) x->places--;
  add_place(x, of, weight);
}

real soft_velocity(const judge *j, const term *x, moment when) {
  const judged_soft *soft = soft_of(j, x->body);
  const soft_place *place = &x->place[x->at];
  vec sum = {0, 0, 0};
  for (int k = 0; k < 3; k++)
    sum = v_mad(sum, place->weight[k], shape_times(soft, place->corner[k], soft->rate[when == FREE ? BEFORE : when]));
  return v_dot(x->lin, q_turn(j->body[x->body].q, sum));
}

real soft_weight(const judge *j, const term *x) {
  const judged_soft *soft = soft_of(j, x->body);
  const soft_place *place = &x->place[x->at];
  vec own = q_turn(q_inverse(j->body[x->body].q), x->lin);
  real sum = 0;
  for (int a = 0; a < soft->k; a++) {
    real one = 0;
    for (int k = 0; k < 3; k++) {
      const double *U = soft->info.shape + 3 * (size_t)place->corner[k] * (size_t)soft->k + a;
      one += place->weight[k] * (own.x * U[0] + own.y * U[soft->k] + own.z * U[2 * soft->k]);
    }
    sum += one * one;
  }
  return sum;
}

real soft_rates(const judge *j, int body, moment when) {
  const judged_soft *soft = soft_of(j, body);
  real sum = 0;
  for (int a = 0; a < soft->k; a++) sum += soft->rate[when][a] * soft->rate[when][a];
  return sum;
}
