/* Spheres in a box; the equations are in spheres.h. */
#include "spheres.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WALLS = 5 };

static const double gravity = 9.81, density = 2500, overlap_rate = 0.05, margin = 0.01, looseness = 1.1;

/* below -1 - k: wall k; the normal points from below to above. */
typedef struct touch {
  int32_t below, above;
  double normal[3], gap;
} touch;

struct spheres {
  spheres_config config;
  int32_t count;
  double *x, *v, *radius, *mass; /* x: 3 each, v: 6 each (linear, angular) */
  double width[2], height, time, compliance;
  /* Contacts of this step and of the last, those of each `above` together. */
  touch *now, *last;
  int32_t *now_start, *last_start, now_count, last_count, capacity;
  double *last_impulse; /* 3 each, in space */
  /* Cells of the grid. */
  int32_t *cell_start, *cell_list, *cell_of;
  int32_t cells[3], cell_total;
  double cell_size;
  /* The problem. */
  frix_contact *contact;
  int32_t *H_p, *H_i, *M_p, *M_i;
  double *H_x, *M_x, *f, *w, *R, *r_c, *guess;
};

spheres_config spheres_default(int32_t count) {
  return (spheres_config){.count = count, .radius = 0.05, .spread = 0.1, .mu = 0.5, .step = 0.005, .seed = 1};
}

/* Uniform in (0, 1), the same on every machine. */
static double uniform(uint64_t *state) {
  uint64_t x = *state += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return ((double)((x ^ (x >> 31)) >> 11) + 0.5) * 0x1p-53;
}

/* ---- creation ---- */

static void place(spheres *s, const int32_t *order) {
  const spheres_config *c = &s->config;
  double largest = c->radius * (1 + c->spread), pitch = 2 * looseness * largest;
  int32_t side = 1;
  while (3 * (int64_t)side * side * side < 2 * (int64_t)s->count) side++;
  s->width[0] = s->width[1] = side * pitch;
  s->height = (s->count / (side * side) + 2) * pitch;
  uint64_t random = c->seed;
  for (int32_t n = 0; n < s->count; n++) {
    int32_t k = order[n], layer = n / (side * side), i = n / side % side, j = n % side;
    double *x = s->x + 3 * k, free = (looseness - 1) * largest;
    s->radius[k] = c->radius * (1 + c->spread * (2 * uniform(&random) - 1));
    s->mass[k] = density * 4 / 3 * 3.14159265358979323846 * s->radius[k] * s->radius[k] * s->radius[k];
    x[0] = (j + 0.5) * pitch + free * (2 * uniform(&random) - 1);
    x[1] = (i + 0.5) * pitch + free * (2 * uniform(&random) - 1);
    x[2] = (layer + 0.5) * pitch + free * (2 * uniform(&random) - 1);
  }
  double mean = density * 4 / 3 * 3.14159265358979323846 * c->radius * c->radius * c->radius;
  s->compliance = c->compliance * 16 / (3 * mean);
}

static bool take_cells(spheres *s) {
  s->cell_size = 2.5 * s->config.radius * (1 + s->config.spread);
  for (int axis = 0; axis < 3; axis++)
    s->cells[axis] = (int32_t)((axis < 2 ? s->width[axis] : s->height) / s->cell_size) + 1;
  s->cell_total = s->cells[0] * s->cells[1] * s->cells[2];
  s->cell_start = calloc((size_t)s->cell_total + 1, sizeof(int32_t));
  return s->cell_start != NULL;
}

static void number(const spheres_config *c, int32_t *order) {
  uint64_t random = c->seed + 17;
  for (int32_t n = 0; n < c->count; n++) order[n] = n;
  for (int32_t n = c->count - 1; c->shuffle && n > 0; n--) {
    int32_t k = (int32_t)(uniform(&random) * (n + 1)), swap = order[n];
    order[n] = order[k];
    order[k] = swap;
  }
}

/* Room for more contacts; every array of contacts grows together. */
static bool reserve(spheres *s, int32_t wanted) {
  if (wanted <= s->capacity) return true;
  size_t n = (size_t)wanted + (size_t)wanted / 2 + 64;
  struct {
    void **array;
    size_t bytes;
  } row[] = {{(void **)&s->now, sizeof *s->now},
             {(void **)&s->last, sizeof *s->last},
             {(void **)&s->last_impulse, 3 * sizeof(double)},
             {(void **)&s->contact, sizeof *s->contact},
             {(void **)&s->H_p, 3 * sizeof(int32_t)},
             {(void **)&s->H_i, 36 * sizeof(int32_t)},
             {(void **)&s->H_x, 36 * sizeof(double)},
             {(void **)&s->w, 3 * sizeof(double)},
             {(void **)&s->R, 3 * sizeof(double)},
             {(void **)&s->r_c, 3 * sizeof(double)},
             {(void **)&s->guess, 3 * sizeof(double)}};
  for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
    void *grown = realloc(*row[k].array, (n + 1) * row[k].bytes);
    if (!grown) return false;
    *row[k].array = grown;
  }
  s->capacity = (int32_t)n;
  return true;
}

/* Room for the bodies, and a first guess of the contacts; what it holds is up to the caller. */
static spheres *take_bodies(const spheres_config *config) {
  spheres *s = calloc(1, sizeof *s);
  if (!s) return NULL;
  s->config = *config;
  s->count = config->count;
  size_t n = (size_t)config->count;
  s->x = calloc(3 * n, sizeof *s->x);
  s->v = calloc(6 * n, sizeof *s->v);
  s->f = calloc(6 * n, sizeof *s->f);
  s->radius = calloc(n, sizeof *s->radius);
  s->mass = calloc(n, sizeof *s->mass);
  s->now_start = calloc(n + 1, sizeof(int32_t));
  s->last_start = calloc(n + 1, sizeof(int32_t));
  s->cell_of = calloc(n, sizeof(int32_t));
  s->cell_list = calloc(n, sizeof(int32_t));
  s->M_p = calloc(6 * n + 1, sizeof(int32_t));
  s->M_i = calloc(6 * n, sizeof(int32_t));
  s->M_x = calloc(6 * n, sizeof *s->M_x);
  if (s->x && s->v && s->f && s->radius && s->mass && s->now_start && s->last_start && s->cell_of && s->cell_list &&
      s->M_p && s->M_i && s->M_x && reserve(s, 3 * config->count))
    return s;
  spheres_destroy(s);
  return NULL;
}

spheres *spheres_create(const spheres_config *config) {
  spheres *s = take_bodies(config);
  int32_t *order = malloc(((size_t)config->count + 1) * sizeof *order);
  if (s && order) {
    number(config, order);
    place(s, order);
  }
  bool good = s && order && take_cells(s);
  free(order);
  if (good) return s;
  spheres_destroy(s);
  return NULL;
}

/* One copy: bodies from `first` on, moved by `shift`, with what they remember of the last step. */
static void copy_tile(const spheres *from, int32_t first, const double shift[2], spheres *to) {
  size_t n = (size_t)from->count;
  memcpy(to->x + 3 * (size_t)first, from->x, 3 * n * sizeof *to->x);
  memcpy(to->v + 6 * (size_t)first, from->v, 6 * n * sizeof *to->v);
  memcpy(to->radius + first, from->radius, n * sizeof *to->radius);
  memcpy(to->mass + first, from->mass, n * sizeof *to->mass);
  for (int32_t k = 0; k < from->count; k++) {
    to->x[3 * (first + k)] += shift[0];
    to->x[3 * (first + k) + 1] += shift[1];
    to->last_start[first + k] = to->last_count + from->last_start[k];
  }
  memcpy(to->last_impulse + 3 * (size_t)to->last_count, from->last_impulse,
         3 * (size_t)from->last_count * sizeof *to->last_impulse);
  for (int32_t c = 0; c < from->last_count; c++) {
    touch *t = &to->last[to->last_count++];
    *t = from->last[c];
    t->above += first;
    if (t->below >= 0) t->below += first;
  }
}

spheres *spheres_tile(const spheres *s, int32_t along, int32_t across) {
  spheres_config config = s->config;
  config.count = s->count * along * across;
  spheres *all = take_bodies(&config);
  if (!all) return NULL;
  all->width[0] = along * s->width[0];
  all->width[1] = across * s->width[1];
  all->height = s->height;
  all->time = s->time;
  all->compliance = s->compliance;
  if (!take_cells(all) || !reserve(all, s->last_count * along * across)) {
    spheres_destroy(all);
    return NULL;
  }
  for (int32_t i = 0, first = 0; i < along; i++)
    for (int32_t j = 0; j < across; j++, first += s->count)
      copy_tile(s, first, (double[2]){i * s->width[0], j * s->width[1]}, all);
  all->last_start[all->count] = all->last_count;
  return all;
}

void spheres_destroy(spheres *s) {
  if (!s) return;
  void *owned[] = {s->x,         s->v,          s->radius,     s->mass,      s->now,     s->last,
                   s->now_start, s->last_start, s->cell_start, s->cell_list, s->cell_of, s->last_impulse,
                   s->contact,   s->H_p,        s->H_i,        s->M_p,       s->M_i,     s->H_x,
                   s->M_x,       s->f,          s->w,          s->R,         s->r_c,     s->guess};
  for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) free(owned[k]);
  free(s);
}

/* ---- contacts ---- */

static void sort_into_cells(spheres *s) {
  memset(s->cell_start, 0, ((size_t)s->cell_total + 1) * sizeof *s->cell_start);
  for (int32_t k = 0; k < s->count; k++) {
    int32_t cell = 0;
    for (int axis = 2; axis >= 0; axis--) {
      int32_t at = (int32_t)(s->x[3 * k + axis] / s->cell_size);
      at = at < 0 ? 0 : at >= s->cells[axis] ? s->cells[axis] - 1 : at;
      cell = cell * s->cells[axis] + at;
    }
    s->cell_of[k] = cell;
    s->cell_start[cell]++;
  }
  for (int32_t c = 0, sum = 0; c <= s->cell_total; c++) {
    int32_t here = c < s->cell_total ? s->cell_start[c] : 0;
    s->cell_start[c] = sum;
    sum += here;
  }
  for (int32_t k = 0; k < s->count; k++) s->cell_list[s->cell_start[s->cell_of[k]]++] = k;
  for (int32_t c = s->cell_total; c > 0; c--) s->cell_start[c] = s->cell_start[c - 1];
  s->cell_start[0] = 0;
}

/* Gaps that this step might close are part of the problem. */
static bool add_touch(spheres *s, int32_t below, int32_t above, const double *normal, double gap) {
  const double *va = s->v + 6 * above, *vb = below >= 0 ? s->v + 6 * below : NULL;
  double closing = 0, reach = margin * s->config.radius;
  for (int axis = 0; axis < 3; axis++) closing -= normal[axis] * (va[axis] - (vb ? vb[axis] : 0));
  if (closing > 0) reach += 1.2 * s->config.step * closing;
  if (gap > reach) return true;
  if (!reserve(s, s->now_count + 1)) return false;
  s->now[s->now_count++] = (touch){below, above, {normal[0], normal[1], normal[2]}, gap};
  return true;
}

static bool touch_cell(spheres *s, int32_t k, int32_t cell) {
  for (int32_t e = s->cell_start[cell]; e < s->cell_start[cell + 1]; e++) {
    int32_t other = s->cell_list[e];
    if (other >= k) continue;
    double normal[3], square = 0, sum = s->radius[k] + s->radius[other], far = 1.3 * sum;
    for (int axis = 0; axis < 3; axis++) {
      normal[axis] = s->x[3 * k + axis] - s->x[3 * other + axis];
      square += normal[axis] * normal[axis];
    }
    if (square > far * far) continue;
    double distance = sqrt(square);
    for (int axis = 0; axis < 3; axis++) normal[axis] /= distance;
    if (!add_touch(s, other, k, normal, distance - sum)) return false;
  }
  return true;
}

static bool find_touches(spheres *s) {
  sort_into_cells(s);
  s->now_count = 0;
  for (int32_t k = 0; k < s->count; k++) {
    s->now_start[k] = s->now_count;
    int32_t low[3], high[3], cell = s->cell_of[k];
    for (int axis = 0; axis < 3; axis++) {
      int32_t at = cell % s->cells[axis];
      cell /= s->cells[axis];
      low[axis] = at > 0 ? at - 1 : 0;
      high[axis] = at + 1 < s->cells[axis] ? at + 1 : at;
    }
    for (int32_t z = low[2]; z <= high[2]; z++)
      for (int32_t y = low[1]; y <= high[1]; y++)
        for (int32_t x = low[0]; x <= high[0]; x++)
          if (!touch_cell(s, k, (z * s->cells[1] + y) * s->cells[0] + x)) return false;
    for (int wall = 0; wall < WALLS; wall++) { /* floor, then two walls in x and two in y */
      double normal[3] = {0, 0, 0};
      int axis = wall == 0 ? 2 : (wall - 1) / 2;
      bool upper = wall == 2 || wall == 4;
      normal[axis] = upper ? -1 : 1;
      double gap = (upper ? s->width[axis] - s->x[3 * k + axis] : s->x[3 * k + axis]) - s->radius[k];
      if (!add_touch(s, -1 - wall, k, normal, gap)) return false;
    }
  }
  s->now_start[s->count] = s->now_count;
  return true;
}

/* The impulse in space of the same pair in the last step; zero for a new one. */
static void remembered(const spheres *s, const touch *t, double out[3]) {
  out[0] = out[1] = out[2] = 0;
  if (s->last_count == 0) return;
  for (int32_t e = s->last_start[t->above]; e < s->last_start[t->above + 1]; e++)
    if (s->last[e].below == t->below) {
      memcpy(out, s->last_impulse + 3 * e, 3 * sizeof *out);
      return;
    }
}

/* ---- the problem ---- */

/* Rows normal, t, n x t. */
static void frame(const double n[3], double q[3][3]) {
  int axis = fabs(n[0]) < 0.6 ? 0 : fabs(n[1]) < 0.6 ? 1 : 2;
  double e[3] = {axis == 0, axis == 1, axis == 2}, dot = n[axis], length = sqrt(1 - dot * dot);
  for (int k = 0; k < 3; k++) {
    q[0][k] = n[k];
    q[1][k] = (e[k] - dot * n[k]) / length;
  }
  for (int k = 0; k < 3; k++) {
    int a = (k + 1) % 3, b = (k + 2) % 3;
    q[2][k] = n[a] * q[1][b] - n[b] * q[1][a];
  }
}

/* Column `row` of H for one body: +-direction, and arm x direction with arm = +-radius normal. */
static int32_t put_column(spheres *s, int32_t at, int32_t body, double sign, const double n[3], const double *d,
                          bool tangent) {
  double arm = -sign * s->radius[body];
  for (int k = 0; k < 3; k++) {
    s->H_i[at] = 6 * body + k;
    s->H_x[at++] = sign * d[k];
  }
  for (int k = 0; tangent && k < 3; k++) {
    int a = (k + 1) % 3, b = (k + 2) % 3;
    s->H_i[at] = 6 * body + 3 + k;
    s->H_x[at++] = sign * arm * (n[a] * d[b] - n[b] * d[a]);
  }
  return at;
}

static void put_contact(spheres *s, int32_t c, int32_t *at) {
  const touch *t = &s->now[c];
  double q[3][3], last[3], h = s->config.step;
  frame(t->normal, q);
  remembered(s, t, last);
  s->contact[c] = frix_contact_of_dim(3, s->config.mu, 0);
  for (int row = 0; row < 3; row++) {
    int32_t k = 3 * c + row;
    s->H_p[k] = *at;
    if (t->below >= 0) *at = put_column(s, *at, t->below, -1, t->normal, q[row], row > 0);
    *at = put_column(s, *at, t->above, 1, t->normal, q[row], row > 0);
    s->guess[k] = q[row][0] * last[0] + q[row][1] * last[1] + q[row][2] * last[2];
    s->R[k] = s->compliance;
    s->r_c[k] = row ? s->guess[k] : 0;
    s->w[k] = row ? 0 : t->gap / h * (t->gap < 0 && s->compliance == 0 ? overlap_rate : 1);
  }
}

bool spheres_problem(spheres *s, frix_problem_data *out) {
  if (!find_touches(s)) return false;
  int32_t at = 0, dofs = 6 * s->count, rows = 3 * s->now_count;
  for (int32_t c = 0; c < s->now_count; c++) put_contact(s, c, &at);
  s->H_p[rows] = at;
  for (int32_t k = 0; k < dofs; k++) {
    double mass = s->mass[k / 6], radius = s->radius[k / 6];
    s->M_p[k + 1] = k + 1;
    s->M_i[k] = k;
    s->M_x[k] = k % 6 < 3 ? mass : 0.4 * mass * radius * radius;
    s->f[k] = s->M_x[k] * s->v[k] - (k % 6 == 2 ? mass * gravity * s->config.step : 0);
  }
  *out = frix_problem_data_default();
  out->form = FRIX_FORM_GLOBAL;
  out->contact_count = s->now_count;
  out->contact = s->contact;
  out->dof_count = dofs;
  out->M = (frix_matrix){FRIX_MATRIX_CSC, dofs, dofs, dofs, s->M_p, s->M_i, s->M_x};
  out->H = (frix_matrix){FRIX_MATRIX_CSC, dofs, rows, at, s->H_p, s->H_i, s->H_x};
  out->f = s->f;
  out->w = s->w;
  out->guess = s->guess;
  if (s->compliance > 0) {
    out->R = s->R;
    out->r_c = s->r_c;
  }
  return true;
}

void spheres_advance(spheres *s, const double *r, const double *v) {
  for (int32_t c = 0; c < s->now_count; c++) {
    double q[3][3];
    frame(s->now[c].normal, q);
    for (int k = 0; k < 3; k++)
      s->last_impulse[3 * c + k] = q[0][k] * r[3 * c] + q[1][k] * r[3 * c + 1] + q[2][k] * r[3 * c + 2];
  }
  touch *swap = s->last;
  s->last = s->now;
  s->now = swap;
  int32_t *start = s->last_start;
  s->last_start = s->now_start;
  s->now_start = start;
  s->last_count = s->now_count;
  memcpy(s->v, v, 6 * (size_t)s->count * sizeof *v);
  for (int32_t k = 0; k < s->count; k++)
    for (int axis = 0; axis < 3; axis++) s->x[3 * k + axis] += s->config.step * v[6 * k + axis];
  s->time += s->config.step;
}

double spheres_time(const spheres *s) { return s->time; }

double spheres_speed(const spheres *s) {
  double sum = 0;
  for (int32_t k = 0; k < s->count; k++)
    for (int axis = 0; axis < 3; axis++) sum += s->v[6 * k + axis] * s->v[6 * k + axis];
  return sqrt(sum / (s->count ? s->count : 1));
}

double spheres_overlap(const spheres *s) {
  double worst = 0;
  for (int32_t c = 0; c < s->last_count; c++)
    if (-s->last[c].gap > worst) worst = -s->last[c].gap;
  return worst / s->config.radius;
}

/* ---- a pile in a box, poured and settling ---- */

/* One step with sweeps to 1e-3. */
static bool advance(frix_context *context, spheres *s, const frix_problem *problem) {
  frix_solve_config config = frix_solve_default();
  frix_solution *solution = NULL;
  frix_result result;
  config.solver = "sweeps";
  config.tolerance = 1e-3;
  config.max_iterations = 500;
  if (frix_solve(context, problem, &config, &solution) != FRIX_OK) return false;
  frix_solution_view(solution, &result);
  spheres_advance(s, result.r, result.v);
  frix_solution_destroy(solution);
  return true;
}

frix_problem *spheres_settled(frix_context *context, int32_t count) {
  enum { STEPS = 110 }; /* poured and settling */
  spheres_config config = spheres_default(count);
  spheres *s = spheres_create(&config);
  frix_problem *problem = NULL;
  bool good = s != NULL;
  for (int32_t step = 0; good && step <= STEPS; step++) {
    frix_problem_data data;
    frix_problem_destroy(problem);
    problem = NULL;
    good = spheres_problem(s, &data) && frix_problem_create(context, &data, &problem) == FRIX_OK;
    if (step < STEPS) good = good && advance(context, s, problem);
  }
  spheres_destroy(s);
  if (good) return problem;
  frix_problem_destroy(problem);
  return NULL;
}
