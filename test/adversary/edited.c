/* Worlds that are changed between steps: velocities and places are set, gravity turns, steps have other lengths,
 * surfaces run. */
#include "random_world.h"

#include <frix/robot.h>

#include <math.h>

static frix_vec3 scaled(frix_vec3 v, double s) { return at(s * v.x, s * v.y, s * v.z); }

/* A body gets another velocity; now and then it stops. */
static void kick(world *w, frix_body_id body) {
  const units *u = &w->unit;
  double speed = chance(w, 0.3) ? 0 : magnitude(w, 1e-3, 10), spin = chance(w, 0.5) ? 0 : magnitude(w, 1e-2, 10);
  frix_vec3 v = scaled(direction(w), speed * u->length / u->time), s = scaled(direction(w), spin / u->time);
  frix_body_config c = frix_body_default();
  if (frix_model_body(w->model, body, &c) != FRIX_OK || c.kind != FRIX_BODY_DYNAMIC) return;
  if (c.planar) v.z = s.x = s.y = 0;
  frix_sim_set_velocity(w->sim, body, v, s);
}

/* A body is put elsewhere, a little or about its own size away. */
static void put(world *w, frix_body_id body, double size) {
  frix_body_state s;
  frix_body_config c = frix_body_default();
  frix_vec3 d = scaled(direction(w), w->unit.length * size * (chance(w, 0.7) ? magnitude(w, 1e-5, 1e-2) : 1));
  if (frix_model_body(w->model, body, &c) != FRIX_OK || c.kind != FRIX_BODY_DYNAMIC) return;
  if (frix_sim_body(w->sim, body, &s) != FRIX_OK) return;
  if (c.planar) d.z = 0;
  s.pose.p = at(s.pose.p.x + d.x, s.pose.p.y + d.y, s.pose.p.z + d.z);
  frix_sim_set_pose(w->sim, body, s.pose);
}

/* The surface of a shape runs. */
static void run_belt(world *w) {
  int shapes = frix_model_count(w->model).shape_count;
  if (shapes == 0 || w->belt_count == MOST_BELTS) return;
  double speed = chance(w, 0.2) ? 0 : magnitude(w, 1e-2, 5) * w->unit.length / w->unit.time;
  belt b = {frix_model_shape_at(w->model, dice(w, shapes)), scaled(direction(w), speed)};
  if (frix_sim_set_belt(w->sim, b.shape, b.velocity) == FRIX_OK) w->belt[w->belt_count++] = b;
}

static void edit(world *w) {
  int k = w->body_count > 0 ? dice(w, w->body_count) : 0;
  bool some = w->body_count > 0;
  if (some && chance(w, 0.3)) kick(w, w->body[k]);
  if (some && chance(w, 0.15)) put(w, w->body[k], w->size[k]);
  if (chance(w, 0.1)) {
    double turn = uniform(w, -0.5, 0.5), size = chance(w, 0.2) ? 0 : 9.81 * magnitude(w, 0.3, 3);
    set_gravity(w, at(size * sin(turn), 0, -size * cos(turn)));
    frix_sim_set_gravity(w->sim, w->gravity);
  }
  if (chance(w, 0.3)) w->h *= magnitude(w, 0.4, 2.5);
  if (chance(w, 0.1)) run_belt(w);
  if (w->config.coordinates == FRIX_COORDINATES_REDUCED) frix_sim_robot_place(w->sim); /* what links have of it */
}

/* An ordinary world of another class. */
static void fill_edited(world *w) {
  int classes = 0;
  while (ordinary_classes[classes].name) classes++;
  ordinary_classes[dice(w, classes)].fill(w);
  w->steps = 4 + dice(w, 8);
  w->edit = edit;
}

/* A world of trees; one of ordinary bodies would be another class. */
static void fill_edited_tree(world *w) {
  enum { KINDS = 3 }; /* the same with stiff contacts stand behind */
  tree_classes[dice(w, KINDS)].fill(w);
  w->steps = 4 + dice(w, 8);
  w->edit = edit;
}

const world_class edited_classes[] = {
    {"edited", "ordinary worlds, changed between steps", false, fill_edited, NULL, NULL, FRIX_CONTACT_KIND_RIGID},
    {"edited_stiff", "ordinary worlds, changed between steps, stiff", false, fill_edited, NULL, NULL,
     FRIX_CONTACT_KIND_STIFF},
    {"tree_edited", "trees in coordinates, changed between steps", false, fill_edited_tree, NULL, NULL,
     FRIX_CONTACT_KIND_RIGID},
    {"tree_edited_stiff", "trees in coordinates, changed between steps, stiff", false, fill_edited_tree, NULL, NULL,
     FRIX_CONTACT_KIND_STIFF},
    {0},
};
