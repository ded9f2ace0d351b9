/* Moving scenes in frix: the model of a scene, the engine, and the judge of how deep bodies overlap. */
#include "motion_engine.h"

#include <frix/frix.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

double motion_processor_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double motion_wall_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

typedef struct world {
  frix_context *context;
  frix_model *model;
  frix_sim *sim;
  frix_body_id *body; /* dynamic ones */
  const motion_scene *scene;
  frix_energy start;
} world;

static frix_vec3 vec(const double x[3]) { return (frix_vec3){x[0], x[1], x[2]}; }
static frix_pose pose(const motion_state *s) { return (frix_pose){vec(s->p), {s->q[0], s->q[1], s->q[2], s->q[3]}}; }

/* ---- the model ---- */

static frix_shape_config shape_of(const motion_body *b, frix_material_id material) {
  static const frix_shape_kind kinds[] = {[MOTION_PLANE] = FRIX_SHAPE_PLANE,
                                          [MOTION_BOX] = FRIX_SHAPE_BOX,
                                          [MOTION_SPHERE] = FRIX_SHAPE_SPHERE,
                                          [MOTION_CAPSULE] = FRIX_SHAPE_CAPSULE,
                                          [MOTION_CYLINDER] = FRIX_SHAPE_CYLINDER};
  frix_shape_config shape = frix_shape_default();
  shape.kind = kinds[b->shape];
  shape.material = material;
  if (b->shape == MOTION_BOX)
    shape.half = vec(b->size);
  else
    shape.radius = b->size[0], shape.half_length = b->size[1];
  return shape;
}

static frix_status add_body(frix_builder *builder, const motion_body *b, frix_material_id material, frix_body_id *id) {
  frix_shape_config shape = shape_of(b, material);
  if (!b->dynamic) {
    shape.pose = pose(&b->start);
    return frix_builder_add_shape(builder, (frix_body_id){0, 0}, &shape, NULL);
  }
  frix_body_config body = frix_body_default();
  body.pose = pose(&b->start), body.velocity = vec(b->start.v), body.spin = vec(b->start.w);
  body.mass = b->mass;
  body.inertia = (frix_sym3){.xx = b->inertia[0], .yy = b->inertia[1], .zz = b->inertia[2]};
  frix_status status = frix_builder_add_body(builder, &body, id);
  return status == FRIX_OK ? frix_builder_add_shape(builder, *id, &shape, NULL) : status;
}

static frix_status build(world *w, const motion_options *options) {
  const motion_scene *scene = w->scene;
  frix_builder *builder = NULL;
  frix_material_id id = {0, 0};
  frix_material_config material = frix_material_default();
  material.mu = scene->mu;
  material.stiffness = options->stiffness;
  frix_status status = frix_builder_create(w->context, &builder);
  if (status == FRIX_OK) status = frix_builder_set_gravity(builder, vec(scene->gravity));
  if (status == FRIX_OK) status = frix_builder_add_material(builder, &material, &id);
  if (status == FRIX_OK && options->stiffness > 0) /* of the contact, not of two springs in series */
    status = frix_builder_set_pair(builder, id, id, &material);
  for (int32_t k = 0, j = 0; k < scene->body_count && status == FRIX_OK; k++) {
    status = add_body(builder, &scene->body[k], id, w->body + j);
    j += scene->body[k].dynamic;
  }
  if (status == FRIX_OK) status = frix_builder_compile(builder, &w->model);
  frix_builder_destroy(builder);
  return status;
}

/* ---- the engine ---- */

static void destroy(void *data) {
  world *w = data;
  if (!w) return;
  frix_sim_destroy(w->sim);
  frix_model_destroy(w->model);
  frix_context_destroy(w->context);
  free(w->body);
  free(w);
}

static world *open_world(const motion_scene *scene, const motion_options *options, const frix_sim_config *config) {
  world *w = calloc(1, sizeof *w);
  frix_status status = w ? FRIX_OK : FRIX_ERROR_MEMORY;
  if (w) w->scene = scene, w->body = calloc((size_t)scene->dynamic_count + 1, sizeof *w->body);
  if (w && !w->body) status = FRIX_ERROR_MEMORY;
  if (status == FRIX_OK) status = frix_context_create(NULL, &w->context);
  if (status == FRIX_OK) status = build(w, options);
  if (status == FRIX_OK) status = frix_sim_create(w->context, w->model, config, &w->sim);
  if (status == FRIX_OK) return w;
  fprintf(stderr, "%s: frix: %s: %s\n", scene->name, frix_status_name(status),
          w && w->context ? frix_error_text(w->context) : "");
  destroy(w);
  return NULL;
}

static void *create(const motion_scene *scene, const motion_options *options) {
  frix_sim_config config = frix_sim_default();
  config.thread_count = options->threads > 0 ? options->threads : 1;
  if (options->tolerance > 0) config.tolerance = options->tolerance;
  if (options->contact != MOTION_CONTACT_DEFAULT)
    config.contact = options->contact == MOTION_CONTACT_RIGID ? FRIX_CONTACT_KIND_RIGID : FRIX_CONTACT_KIND_STIFF;
  world *w = open_world(scene, options, &config);
  if (w) w->start = frix_sim_energy(w->sim);
  return w;
}

static bool step(void *data, motion_step *out) {
  world *w = data;
  frix_step_report r = {.size = sizeof r};
  double processor = motion_processor_seconds(), wall = motion_wall_seconds();
  frix_status status = frix_sim_step(w->sim, w->scene->h, &r);
  *out = (motion_step){.seconds = motion_processor_seconds() - processor,
                       .wall = motion_wall_seconds() - wall,
                       .judged = true,
                       .certified = r.certified,
                       .residual = r.certificate.residual,
                       .penetration = r.penetration > 0 ? r.penetration : 0,
                       .iterations = r.iterations,
                       .contacts = r.contact_count,
                       .touching = r.touching_count,
                       .finisher = r.finisher ? r.finisher : "",
                       .collide = r.collide_seconds,
                       .assemble = r.assemble_seconds,
                       .solve = r.solve_seconds,
                       .integrate = r.integrate_seconds};
  if (status != FRIX_OK)
    fprintf(stderr, "%s: frix: %s: %s\n", w->scene->name, frix_status_name(status), frix_error_text(w->context));
  return status == FRIX_OK;
}

static void put(void *data, int32_t k, const motion_state *state) {
  world *w = data;
  frix_sim_set_pose(w->sim, w->body[k], pose(state));
  frix_sim_set_velocity(w->sim, w->body[k], vec(state->v), vec(state->w));
}

static void push(void *data, int32_t k, const double force[3]) {
  world *w = data;
  frix_sim_add_force(w->sim, w->body[k], vec(force), (frix_vec3){0, 0, 0});
}

static void look(void *data, int32_t k, motion_state *out) {
  world *w = data;
  frix_body_state s = {0};
  frix_sim_body(w->sim, w->body[k], &s);
  *out = (motion_state){.p = {s.center.x, s.center.y, s.center.z},
                        .q = {s.pose.q.w, s.pose.q.x, s.pose.q.y, s.pose.q.z},
                        .v = {s.velocity.x, s.velocity.y, s.velocity.z},
                        .w = {s.spin.x, s.spin.y, s.spin.z}};
}

/* The law of the contacts, as the rows of the last step show it. */
static void name_law(const world *w, char *out, size_t room) {
  double least = INFINITY, most = 0, h = w->scene->h;
  int64_t rigid = 0, stiff = 0;
  for (int32_t k = 0; k < frix_sim_row_count(w->sim); k++) {
    frix_row_report row;
    if (frix_sim_row(w->sim, k, &row) != FRIX_OK || row.kind != FRIX_ROW_CONTACT) continue;
    double compliance = row.compliance[0];
    rigid += !(compliance > 0), stiff += compliance > 0;
    if (compliance > 0) least = fmin(least, 1 / (compliance * h * h)), most = fmax(most, 1 / (compliance * h * h));
  }
  if (stiff == 0)
    snprintf(out, room, rigid ? "rigid" : "no contact");
  else if (rigid == 0)
    snprintf(out, room, most < 1.001 * least ? "stiff %.2g" : "stiff %.2g..%.2g", least, most);
  else
    snprintf(out, room, "rigid, %.0f %% stiff", 100.0 * (double)stiff / (double)(stiff + rigid));
}

static void summary(void *data, motion_result *out) {
  world *w = data;
  frix_energy e = frix_sim_energy(w->sim);
  out->created = e.scheme + e.contact + e.error;
  out->preload = e.joint; /* there are no joints */
  name_law(w, out->law, sizeof out->law);
  frix_sim_hash(w->sim, &out->hash);
}

const motion_engine motion_frix = {"frix", create, step, put, push, look, summary, destroy};

/* ---- the judge: a world without gravity in which bodies are put where another engine has them ---- */

struct motion_judge {
  world *w;
};

motion_judge *motion_judge_new(const motion_scene *scene) {
  motion_judge *judge = calloc(1, sizeof *judge);
  frix_sim_config config = frix_sim_default();
  motion_options options = {0};
  config.solver = "nsgs", config.max_iterations = 1, config.polish = 0, config.seek_rest = false;
  if (judge) judge->w = open_world(scene, &options, &config);
  if (judge && judge->w && frix_sim_set_gravity(judge->w->sim, (frix_vec3){0, 0, 0}) == FRIX_OK) return judge;
  motion_judge_end(judge);
  return NULL;
}

double motion_judge_depth(motion_judge *judge, const motion_state *state) {
  world *w = judge->w;
  frix_step_report r = {.size = sizeof r};
  for (int32_t k = 0; k < w->scene->dynamic_count; k++) {
    motion_state still = state[k];
    memset(still.v, 0, sizeof still.v), memset(still.w, 0, sizeof still.w);
    put(w, k, &still);
  }
  return frix_sim_step(w->sim, 1e-6, &r) == FRIX_OK ? fmax(r.penetration, 0) : NAN;
}

void motion_judge_end(motion_judge *judge) {
  if (judge) destroy(judge->w);
  free(judge);
}
