/* From bodies, contact points and joints to a contact problem in global form; the formulas are in assemble.h. */
#include "assemble.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

ex_vec ex_add(ex_vec a, ex_vec b) { return (ex_vec){a.x + b.x, a.y + b.y, a.z + b.z}; }
ex_vec ex_sub(ex_vec a, ex_vec b) { return (ex_vec){a.x - b.x, a.y - b.y, a.z - b.z}; }
ex_vec ex_scale(double s, ex_vec a) { return (ex_vec){s * a.x, s * a.y, s * a.z}; }
double ex_dot(ex_vec a, ex_vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
double ex_length(ex_vec a) { return sqrt(ex_dot(a, a)); }
ex_vec ex_unit(ex_vec a) { return ex_scale(1.0 / ex_length(a), a); }

ex_vec ex_cross(ex_vec a, ex_vec b) {
  return (ex_vec){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

ex_scene ex_scene_new(double step) {
  ex_scene scene = {0};
  scene.step = step;
  scene.gravity = FRIX_EXAMPLE_GRAVITY;
  return scene;
}

void ex_scene_free(ex_scene *scene) {
  free(scene->body);
  free(scene->contact);
  free(scene->joint);
  scene->body = NULL;
  scene->contact = scene->joint = NULL;
}

/* Room for one more element; NULL, and the scene marked, where there is no memory. */
static void *grown(ex_scene *scene, void *array, int32_t count, int32_t *capacity, size_t size) {
  if (count < *capacity) return array;
  int32_t wanted = *capacity ? 2 * *capacity : 16;
  void *bigger = realloc(array, (size_t)wanted * size);
  if (!bigger) {
    scene->failed = true;
    return array;
  }
  *capacity = wanted;
  return bigger;
}

int32_t ex_add_body(ex_scene *scene, const ex_body *body) {
  scene->body = grown(scene, scene->body, scene->body_count, &scene->body_capacity, sizeof *body);
  if (scene->failed) return EX_GROUND;
  scene->body[scene->body_count] = *body;
  return scene->body_count++;
}

int32_t ex_add_box(ex_scene *scene, ex_vec centre, ex_vec size, double mass) {
  ex_body body = {.mass = mass, .position = centre};
  body.inertia[0][0] = mass * (size.y * size.y + size.z * size.z) / 12.0;
  body.inertia[1][1] = mass * (size.x * size.x + size.z * size.z) / 12.0;
  body.inertia[2][2] = mass * (size.x * size.x + size.y * size.y) / 12.0;
  return ex_add_body(scene, &body);
}

int32_t ex_add_sphere(ex_scene *scene, ex_vec centre, double radius, double mass) {
  ex_body body = {.mass = mass, .position = centre};
  for (int k = 0; k < 3; k++) body.inertia[k][k] = 0.4 * mass * radius * radius;
  return ex_add_body(scene, &body);
}

/* Area, centroid and second moments of a polygon are sums over the triangles (corner 0, k, k + 1). */
int32_t ex_add_prism(ex_scene *scene, const ex_vec *corner, int32_t count, double width, double density) {
  double area = 0.0, cx = 0.0, cz = 0.0, xx = 0.0, zz = 0.0, xz = 0.0;
  for (int32_t k = 1; k + 1 < count; k++) {
    double ax = corner[k].x - corner[0].x, az = corner[k].z - corner[0].z;
    double bx = corner[k + 1].x - corner[0].x, bz = corner[k + 1].z - corner[0].z;
    double twice = ax * bz - az * bx;
    area += twice / 2.0;
    cx += twice * (ax + bx) / 6.0;
    cz += twice * (az + bz) / 6.0;
    xx += twice * (ax * ax + ax * bx + bx * bx) / 12.0;
    zz += twice * (az * az + az * bz + bz * bz) / 12.0;
    xz += twice * (2.0 * ax * az + ax * bz + bx * az + 2.0 * bx * bz) / 24.0;
  }
  cx /= area, cz /= area;
  xx -= area * cx * cx, zz -= area * cz * cz, xz -= area * cx * cz;
  double line = density * width; /* mass per area */
  ex_body body = {.mass = line * area};
  double across = body.mass * width * width / 12.0;
  body.position = (ex_vec){corner[0].x + cx, 0.0, corner[0].z + cz};
  body.inertia[0][0] = line * zz + across;
  body.inertia[1][1] = line * (xx + zz);
  body.inertia[2][2] = line * xx + across;
  body.inertia[0][2] = body.inertia[2][0] = -line * xz;
  return ex_add_body(scene, &body);
}

void ex_set_motion(ex_scene *scene, int32_t index, ex_vec velocity, ex_vec spin) {
  if (scene->failed) return;
  scene->body[index].velocity = velocity;
  scene->body[index].spin = spin;
}

void ex_set_force(ex_scene *scene, int32_t index, ex_vec force) {
  if (!scene->failed) scene->body[index].force = force;
}

ex_link ex_link_new(int32_t below, int32_t above, ex_vec point, ex_vec normal, double mu) {
  ex_link link = {.below = below, .above = above, .point = point, .normal = normal};
  link.law = frix_contact_of_dim(3, mu, 0.0);
  return link;
}

void ex_add_contact(ex_scene *scene, const ex_link *link) {
  scene->contact = grown(scene, scene->contact, scene->contact_count, &scene->contact_capacity, sizeof *link);
  if (!scene->failed) scene->contact[scene->contact_count++] = *link;
}

void ex_touch(ex_scene *scene, int32_t below, int32_t above, ex_vec point, ex_vec normal, double mu) {
  ex_link link = ex_link_new(below, above, point, normal, mu);
  if (scene->planar) link.law = frix_contact_of_dim(2, mu, 0.0);
  ex_add_contact(scene, &link);
}

void ex_touch_edge(ex_scene *scene, int32_t below, int32_t above, ex_vec point, double width, ex_vec normal,
                   double mu) {
  ex_vec half = {0.0, width / 2.0, 0.0};
  ex_touch(scene, below, above, ex_sub(point, half), normal, mu);
  ex_touch(scene, below, above, ex_add(point, half), normal, mu);
}

void ex_add_joint_row(ex_scene *scene, int32_t below, int32_t above, ex_vec point, ex_vec direction, bool angular) {
  ex_link link = {.below = below, .above = above, .point = point, .normal = direction, .angular = angular};
  scene->joint = grown(scene, scene->joint, scene->joint_count, &scene->joint_capacity, sizeof link);
  if (!scene->failed) scene->joint[scene->joint_count++] = link;
}

void ex_add_ball_joint(ex_scene *scene, int32_t below, int32_t above, ex_vec point) {
  ex_add_joint_row(scene, below, above, point, (ex_vec){1.0, 0.0, 0.0}, false);
  ex_add_joint_row(scene, below, above, point, (ex_vec){0.0, 1.0, 0.0}, false);
  ex_add_joint_row(scene, below, above, point, (ex_vec){0.0, 0.0, 1.0}, false);
}

/* ---- assembly ---- */

static const int spatial_map[6] = {0, 1, 2, 3, 4, 5}, planar_map[3] = {0, 2, 4};

/* A growing sparse matrix; every body adds at most 36 entries, every row at most 12. */
typedef struct triplets {
  int32_t *row, *col;
  double *x;
  int64_t count;
} triplets;

static bool triplets_new(triplets *t, int64_t capacity) {
  size_t room = (size_t)(capacity ? capacity : 1);
  t->row = malloc(room * sizeof *t->row);
  t->col = malloc(room * sizeof *t->col);
  t->x = malloc(room * sizeof *t->x);
  return t->row && t->col && t->x;
}

static void triplets_free(triplets *t) {
  free(t->row);
  free(t->col);
  free(t->x);
}

static void triplets_add(triplets *t, int32_t row, int32_t col, double x) {
  if (x == 0.0) return;
  t->row[t->count] = row;
  t->col[t->count] = col;
  t->x[t->count++] = x;
}

static frix_matrix triplets_view(const triplets *t, int32_t row_count, int32_t col_count) {
  frix_matrix view = {FRIX_MATRIX_TRIPLET, row_count, col_count, t->count, t->col, t->row, t->x};
  return view;
}

/* Everything the problem is made from, in one place to free. */
typedef struct assembly {
  const ex_scene *scene;
  const int *map; /* degree of freedom of a body -> entry of its spatial velocity */
  int32_t body_dof, row_count, dof_count;
  triplets M, H, G;
  double *f, *w, *b, *R;
  frix_contact *contact;
} assembly;

static void assembly_free(assembly *a) {
  triplets_free(&a->M);
  triplets_free(&a->H);
  triplets_free(&a->G);
  free(a->f);
  free(a->w);
  free(a->b);
  free(a->R);
  free(a->contact);
}

static bool assembly_new(assembly *a, const ex_scene *scene) {
  *a = (assembly){.scene = scene};
  a->map = scene->planar ? planar_map : spatial_map;
  a->body_dof = scene->planar ? 3 : 6;
  a->dof_count = a->body_dof * scene->body_count;
  for (int32_t i = 0; i < scene->contact_count; i++) a->row_count += scene->contact[i].law.dim;
  bool ok = triplets_new(&a->M, (int64_t)scene->body_count * 36);
  ok = triplets_new(&a->H, (int64_t)a->row_count * 12) && ok;
  ok = triplets_new(&a->G, (int64_t)scene->joint_count * 12) && ok;
  a->f = calloc((size_t)a->dof_count + 1, sizeof *a->f);
  a->w = calloc((size_t)a->row_count + 1, sizeof *a->w);
  a->b = calloc((size_t)scene->joint_count + 1, sizeof *a->b);
  a->R = calloc((size_t)a->row_count + 1, sizeof *a->R);
  a->contact = calloc((size_t)scene->contact_count + 1, sizeof *a->contact);
  return ok && a->f && a->w && a->b && a->R && a->contact;
}

static ex_vec multiply(const double m[3][3], ex_vec v) {
  return (ex_vec){m[0][0] * v.x + m[0][1] * v.y + m[0][2] * v.z, m[1][0] * v.x + m[1][1] * v.y + m[1][2] * v.z,
                  m[2][0] * v.x + m[2][1] * v.y + m[2][2] * v.z};
}

/* Mass block of one body and its free momentum f = M v0 + h (forces - w x J w). */
static void add_inertia(assembly *a, int32_t k) {
  const ex_scene *scene = a->scene;
  const ex_body *body = &scene->body[k];
  double mass[6][6] = {{0.0}};
  for (int i = 0; i < 3; i++) {
    mass[i][i] = body->mass;
    for (int j = 0; j < 3; j++) mass[3 + i][3 + j] = body->inertia[i][j];
  }
  ex_vec momentum = multiply(body->inertia, body->spin), gyroscopic = ex_cross(body->spin, momentum);
  ex_vec force = ex_add(body->force, (ex_vec){0.0, 0.0, -body->mass * scene->gravity});
  ex_vec linear = ex_add(ex_scale(body->mass, body->velocity), ex_scale(scene->step, force));
  ex_vec angular = ex_sub(momentum, ex_scale(scene->step, gyroscopic));
  double free_momentum[6] = {linear.x, linear.y, linear.z, angular.x, angular.y, angular.z};
  for (int i = 0; i < a->body_dof; i++) {
    a->f[k * a->body_dof + i] = free_momentum[a->map[i]];
    for (int j = 0; j < a->body_dof; j++)
      triplets_add(&a->M, k * a->body_dof + i, k * a->body_dof + j, mass[a->map[i]][a->map[j]]);
  }
}

/* One column: the velocity along `direction` at the point (or the spin about it), above minus below. */
static void add_column(assembly *a, triplets *matrix, const ex_link *link, ex_vec direction, bool angular,
                       int32_t column) {
  const int32_t side[2] = {link->below, link->above};
  const double sign[2] = {-1.0, 1.0};
  for (int s = 0; s < 2; s++) {
    if (side[s] == EX_GROUND) continue;
    ex_vec arm = ex_sub(link->point, a->scene->body[side[s]].position);
    ex_vec turn = angular ? direction : ex_cross(arm, direction);
    ex_vec move = angular ? (ex_vec){0.0, 0.0, 0.0} : direction;
    double entry[6] = {move.x, move.y, move.z, turn.x, turn.y, turn.z};
    for (int i = 0; i < a->body_dof; i++)
      triplets_add(matrix, side[s] * a->body_dof + i, column, sign[s] * entry[a->map[i]]);
  }
}

/* First tangent: the hint, or the coordinate axis farthest from the normal, made orthogonal to it. */
static ex_vec first_tangent(const ex_link *link, bool planar) {
  ex_vec n = link->normal, hint = link->tangent;
  if (planar) return ex_cross((ex_vec){0.0, 1.0, 0.0}, n);
  if (hint.x == 0.0 && hint.y == 0.0 && hint.z == 0.0) {
    double x = fabs(n.x), y = fabs(n.y), z = fabs(n.z);
    hint = x <= y && x <= z ? (ex_vec){1.0, 0.0, 0.0} : y <= z ? (ex_vec){0.0, 1.0, 0.0} : (ex_vec){0.0, 0.0, 1.0};
  }
  return ex_unit(ex_sub(hint, ex_scale(ex_dot(hint, n), n)));
}

/* The rows of one contact: normal, tangents, rolling axes, as many as it owns. */
static void add_contact_rows(assembly *a, int32_t i, int32_t row) {
  const ex_link *link = &a->scene->contact[i];
  ex_vec frame[5] = {link->normal};
  frame[1] = first_tangent(link, a->scene->planar);
  frame[2] = ex_cross(frame[0], frame[1]);
  frame[3] = frame[1], frame[4] = frame[2];
  double step = a->scene->step, stiffness = a->scene->stiffness;
  for (int32_t k = 0; k < link->law.dim; k++) {
    add_column(a, &a->H, link, frame[k], link->angular || k >= 3, row + k);
    a->R[row + k] = stiffness > 0.0 ? 1.0 / (stiffness * step * step) : 0.0;
  }
  a->w[row] = link->gap > 0.0 ? link->gap / step : 0.0;
  a->contact[i] = link->law;
}

static void fill(assembly *a) {
  for (int32_t k = 0; k < a->scene->body_count; k++) add_inertia(a, k);
  int32_t row = 0;
  for (int32_t i = 0; i < a->scene->contact_count; i++) {
    add_contact_rows(a, i, row);
    row += a->scene->contact[i].law.dim;
  }
  for (int32_t j = 0; j < a->scene->joint_count; j++) {
    const ex_link *link = &a->scene->joint[j];
    add_column(a, &a->G, link, link->normal, link->angular, j);
  }
}

frix_status ex_scene_build(ex_scene *scene, frix_context *context, const char *title, frix_problem **out) {
  assembly a = {0};
  frix_status status = FRIX_ERROR_MEMORY;
  if (scene->failed || !assembly_new(&a, scene)) goto cleanup;
  fill(&a);

  frix_problem_data data = frix_problem_data_default();
  data.form = FRIX_FORM_GLOBAL;
  data.contact_count = scene->contact_count;
  data.contact = a.contact;
  data.row_count = a.row_count;
  data.dof_count = a.dof_count;
  data.joint_count = scene->joint_count;
  data.M = triplets_view(&a.M, a.dof_count, a.dof_count);
  data.H = triplets_view(&a.H, a.dof_count, a.row_count);
  data.f = a.f;
  data.w = a.w;
  if (scene->joint_count) {
    data.G = triplets_view(&a.G, a.dof_count, scene->joint_count);
    data.b = a.b;
  }
  if (scene->stiffness > 0.0) data.R = a.R;
  data.title = title;
  status = frix_problem_create(context, &data, out);

cleanup:
  assembly_free(&a);
  ex_scene_free(scene);
  return status;
}
