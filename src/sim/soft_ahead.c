/* Overlaps of soft surfaces at the end of a step, which gaps along its velocities do not tell.
 *
 * Rows of contacts hold gaps g0 + h J v open. That misses two things: pairs of edges, or a point and a face, that did
 * not pass each other where the step began and do so where it ends; and the way of what turns, which leaves the line by
 * (w h)^2 r / 2. So surfaces are looked at where the answer v takes them. With g1 the gap there of two places, n its
 * normal, a contact that is overlapped too deeply asks in the next solve of this step for
 *
 *   g1 + h n . (J v' - J v) >= 0,   a gap of g1 - h n . J v at the beginning:
 *
 * Newton's method on the gap at the end, J of the beginning. Whether a place was a contact before or is new, it goes on
 * under its name; a new one that was as deep before the step is no contact (take_edges, soft_contacts.c). What counts
 * is far less than bodies may overlap, and far more than rounding: steps whose surfaces end where their rows say are
 * not solved again. Overlaps that the last answer still has are
 * reported (overlaps_left); the step is not certified where they are deeper than a hundredth of the body (phase
 * "soft overlap"). */
#include "base/threads.h"
#include "sim/hooks_internal.h"
#include "sim/softs.h"
#include "sim/step.h"

#include <string.h>

static const double deeper = 2e-4; /* of the smaller body */
static const double missed = 0.5;  /* of that: what gaps along velocities may fail to tell of an overlap */
static const double passed = 1e-2; /* of the smaller body: a limb that passes through another, not an overlap left */

/* Poses, soft states and skins change places with those of the end. */
static void swap_ends(frix_sim *sim, frix_pose *pose) {
  fx_state *s = &sim->state;
  for (int32_t k = 0; k < s->count; k++) {
    frix_pose p = s->pose[k];
    s->pose[k] = pose[k], pose[k] = p;
  }
  for (int32_t k = 0; k < sim->softs->count; k++) {
    fx_soft_body *b = &sim->softs->body[k];
    frix_soft_state *x = b->x;
    fx_soft_skin skin = b->skin;
    b->x = b->end, b->end = x;
    b->skin = b->end_skin, b->end_skin = skin;
  }
}

static void copy_state(const frix_soft_state *from, frix_soft_state *to) {
  size_t bytes = (size_t)from->soft->info.coordinates * sizeof *from->rate;
  to->pose = from->pose, to->velocity = from->velocity, to->spin_momentum = from->spin_momentum;
  if (!bytes) return;
  memcpy(to->amplitude, from->amplitude, bytes);
  memcpy(to->rate, from->rate, bytes);
  memcpy(to->momentum, from->momentum, bytes);
}

/* Poses and soft bodies where the answer takes them; links of robots along their velocities. */
static void find_ends(frix_sim *sim, frix_pose *pose) {
  const fx_state *s = &sim->state;
  double h = sim->h;
  for (int32_t k = 0; k < s->count; k++) {
    int32_t mover = sim->mover_of[k];
    pose[k] = s->pose[k];
    if (s->prototype[k] <= 0 || (mover < 0 && fx_slot_body(sim, k)->kind != FRIX_BODY_KINEMATIC)) continue;
    fx_soft_body *b = fx_soft_at(sim, k);
    if (b) {
      copy_state(b->x, b->end);
      if (!sim->mover[mover].tree->stands) fx_soft_go_on(sim, b, b->end, h);
      fx_soft_skin_find(b->end, &b->end_skin);
      pose[k] = b->end->pose;
    } else if (mover >= 0 && !sim->mover[mover].tree) {
      const fx_mover *m = &sim->mover[mover];
      pose[k] = fx_advance(fx_slot_body(sim, k), pose[k], m->v1, fx_momentum_after(m), m->w1, h);
    } else {
      frix_vec3 v, w;
      fx_slot_motion(sim, k, FX_AFTER, &v, &w);
      pose[k] = (frix_pose){fx_mad(pose[k].p, h, v), fx_turn(pose[k].q, w, h)};
    }
  }
}

/* Where the place of a side at the end was at the beginning. */
static frix_vec3 was_at(const frix_sim *sim, const frix_pose *end, int32_t slot, int32_t place, frix_vec3 p) {
  fx_soft_body *b = fx_soft_at(sim, slot);
  if (!b || b->mover < 0) return fx_pose_point(sim->state.pose[slot], fx_pose_unpoint(end[slot], p));
  int32_t point[3];
  double weight[3];
  int32_t count = fx_soft_corners(b, &b->end_skin, place, p, point, weight);
  frix_vec3 sum = {0.0, 0.0, 0.0};
  for (int32_t k = 0; k < count; k++) sum = fx_mad(sum, weight[k], fx_soft_skin_place(&b->skin, point[k]));
  return sum;
}

/* Velocity of a side's place along the normal of c in the answer, as its row has it. */
static double speed_of(const frix_sim *sim, const fx_contact *c, int32_t slot, int32_t place, frix_vec3 p) {
  int32_t mover = sim->mover_of[slot];
  const fx_soft_body *b = fx_soft_at(sim, slot);
  if (b && mover >= 0) {
    const fx_mover *m = &sim->mover[mover];
    double sum = 0.0;
    fx_soft_fill(sim, m, place, 1, 1.0, c, p, sim->softs->row);
    for (int32_t k = 0; k < m->dof; k++) sum += sim->softs->row[k] * m->tree->v1[k];
    return sum;
  }
  frix_vec3 v, w;
  fx_slot_motion(sim, slot, FX_AFTER, &v, &w);
  return fx_dot(c->normal, fx_add(v, fx_cross(w, fx_sub(p, sim->state.pose[slot].p))));
}

/* How much the row of a contact opens it in the step. */
static double opening_of(const frix_sim *sim, const fx_contact *c) {
  frix_vec3 p = fx_scale(0.5, fx_add(c->point_a, c->point_b));
  return sim->h * (speed_of(sim, c, c->body_a, c->soft_a, p) - speed_of(sim, c, c->body_b, c->soft_b, p));
}

/* A contact of the end, which overlaps, as one of the beginning; known: the one it was, NULL: it is new. false: that
 * tells the overlap well enough; springs are pressed by it. */
static bool see_from_start(const frix_sim *sim, const frix_pose *end, const fx_contact *at_end, const fx_contact *known,
                           fx_contact *out) {
  double gap = at_end->gap, tolerance = -at_end->ahead;
  if (known && known->gap + known->ahead + opening_of(sim, known) - gap < missed * tolerance) return false;
  fx_contact c = *at_end;
  frix_vec3 a = was_at(sim, end, c.body_a, c.soft_a, c.point_a), b = was_at(sim, end, c.body_b, c.soft_b, c.point_b);
  if (!known && fx_dot(c.normal, fx_sub(a, b)) < -tolerance * (fx_soft_deepest_new / deeper)) return false;
  c.point_a = c.point_b = fx_scale(0.5, fx_add(a, b));
  double needed = gap - opening_of(sim, &c);
  c.gap = known ? known->gap : fx_dot(c.normal, fx_sub(a, b));
  c.ahead = needed - c.gap;
  c.point_a = fx_mad(c.point_a, 0.5 * c.gap, c.normal), c.point_b = fx_mad(c.point_b, -0.5 * c.gap, c.normal);
  *out = c;
  return true;
}

/* Both lists, in order; what is in both is as the second has it, seen from the start. *deepest: of what changed, in
 * sizes of the smaller body; 0: nothing did. */
static frix_status merge(frix_sim *sim, const frix_pose *end, const fx_contact *old, int32_t old_count,
                         const fx_contact *more, int32_t more_count, double *deepest) {
  fx_contact *list = FX_TAKE_RAW(&sim->arena, fx_contact, old_count + more_count);
  if (!list) return FRIX_ERROR_MEMORY;
  int32_t i = 0, count = 0;
  for (int32_t j = 0; j < more_count; j++) {
    while (i < old_count && fx_contact_order(&old[i], &more[j]) < 0) list[count++] = old[i++];
    bool known = i < old_count && fx_contact_order(&old[i], &more[j]) == 0;
    bool changed = see_from_start(sim, end, &more[j], known ? &old[i] : NULL, &list[count]);
    if (!changed && known) list[count] = old[i];
    if (changed) *deepest = fx_max(*deepest, deeper * more[j].gap / more[j].ahead);
    count += changed || known, i += known;
  }
  while (i < old_count) list[count++] = old[i++];
  sim->contact = list, sim->contact_count = count;
  return FRIX_OK;
}

/* Whether two surfaces may come so far towards each other that an overlap counts. */
static bool moves_far(const frix_sim *sim) {
  const fx_state *s = &sim->state;
  double first = 0.0, second = 0.0, least = INFINITY;
  for (int32_t k = 1; k < s->count; k++) {
    const fx_soft_body *b = fx_soft_at(sim, k);
    frix_vec3 v, w;
    if (s->prototype[k] <= 0) continue;
    fx_slot_motion(sim, k, FX_AFTER, &v, &w);
    double way = fx_body_way(sim, k, v, w);
    if (b && b->mover >= 0) {
      const double *v1 = sim->mover[b->mover].tree->v1;
      way = sim->h * fx_soft_fastest(b->x, v, fx_unrotate(b->x->pose.q, w), v1 + 6);
      least = fx_min(least, b->size);
    }
    for (int32_t shape = 0; !b && shape < fx_slot_body(sim, k)->shape_count; shape++)
      least = fx_min(least, 2.0 * sim->model->shape[fx_slot_body(sim, k)->shape_start + shape].bound);
    second = fx_max(second, fx_min(first, way)), first = fx_max(first, way);
  }
  return first + second > deeper * least;
}

/* last: contacts stay as they are. */
static frix_status look(frix_sim *sim, bool last, fx_redo *redo) {
  const fx_contact *old = sim->contact;
  int32_t old_count = sim->contact_count;
  frix_pose *end = FX_TAKE_RAW(&sim->arena, frix_pose, sim->state.count);
  if (!end) return FRIX_ERROR_MEMORY;
  find_ends(sim, end);
  swap_ends(sim, end);
  frix_status status = fx_softs_overlap(sim, deeper);
  swap_ends(sim, end);
  const fx_contact *found = sim->contact;
  int32_t count = sim->contact_count;
  sim->contact = old, sim->contact_count = old_count;
  if (status != FRIX_OK || count == 0) return status;
  double deepest = 0.0;
  status = merge(sim, end, old, old_count, found, count, &deepest);
  if (deepest == 0.0 || last) {
    sim->contact = old, sim->contact_count = old_count;
    sim->report.overlaps_left |= deepest > 0.0;
    if (deepest > passed) *redo = FX_REDO_CONTACTS;
    return status;
  }
  if (status == FRIX_OK) status = fx_contacts_sift(sim, false);
  *redo = FX_REDO_CONTACTS;
  return status == FRIX_OK ? fx_sim_describe_contacts(sim) : status;
}

/* Under a deadline there is no time for it. */
frix_status fx_retry_ahead(frix_sim *sim, fx_round round, fx_redo *redo) {
  bool whole = sim->integrator->position_time == 1.0; /* contacts are seen at the beginning of the step */
  if (!sim->softs || !whole || sim->deadline > 0.0 || !sim->report.certified) return FRIX_OK;
  double begun = fx_seconds();
  frix_status status = moves_far(sim) ? look(sim, round.last, redo) : FRIX_OK;
  sim->look_seconds += fx_seconds() - begun;
  return status;
}
