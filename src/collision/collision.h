/* Collision: poses in, sorted contacts out.
 *
 * The result depends only on the poses and on `lean`, the load on round faces. Contacts of two slots whose poses did
 * not change by a bit are copied from the last run, which a fresh run would reproduce. So snapshots need nothing from
 * here, and any number of threads gives the same bits. */
#ifndef FX_COLLISION_COLLISION_H
#define FX_COLLISION_COLLISION_H

#include "collision/narrow.h"
#include "model/model_internal.h"

/* One point of contact. body_a < body_b always. The normal points from b to a: n . (v_a - v_b) > 0 separates, and the
 * impulse on a is + r, on b is - r. The gap is signed: below zero is penetration. */
typedef struct fx_contact {
  uint64_t id; /* hash of all that follows up to feature, with the slots' generations: names the contact over time */
  uint64_t feature;           /* which parts of the two shapes touch */
  int32_t body_a, body_b;     /* slots of the placement; 0 is the world */
  int32_t shape_a, shape_b;   /* indices into frix_model.shape */
  frix_vec3 point_a, point_b; /* on the surfaces, world frame; point_a - point_b = gap * normal */
  frix_vec3 normal;
  frix_vec3 tangent[2]; /* normal x tangent[0] = tangent[1]; planar: tangent[0] in the plane, tangent[1] = +z or -z */
  double gap;
  frix_vec3 rim; /* of a rim point of a flat round face: where the first one was put, seen from the centre; else zero */
  int32_t soft_a, soft_b; /* place on a soft surface: point p as p + 1, triangle t as -(t + 1); 0: rigid */
  double
      ahead; /* what the gap at the end of the step lacks of the one that velocities tell (sim/soft_ahead.c); else 0 */
  bool planar;
} fx_contact;

/* Its tangents; those of a neighbour in the manifold with the same normal (or NULL) are the same. */
void fx_contact_frame(fx_contact *contact, const fx_contact *neighbour);

/* Its id, from all else. */
uint64_t fx_contact_name(const fx_contact *contact, uint32_t generation_a, uint32_t generation_b);

/* Where the bodies are. Slot 0 is the world (prototype 0, pose identity). Every slot is an instance of a model body:
 * slot k of a fresh sim is body k, spawned ones stand for a pattern. */
typedef struct fx_placement {
  int32_t count;
  const int32_t *prototype;   /* count: model body, -1 where the slot is empty */
  const uint32_t *generation; /* count, or NULL: all 1 */
  const frix_pose *pose;      /* count: central frames, unit quaternions */
  const double *reach;        /* count, or NULL: how far the slot's surface may come within the step (h |v|); added to
                               * the margin of its pairs */
  const int32_t *tree;        /* count, or NULL: slots with the same number, not below 0, move together */
  const double *inner;        /* with tree: their reach against its root; the smaller sum of a pair counts */
  const uint8_t *asleep;      /* count, or NULL: pairs of two sleeping or non-dynamic bodies are left out */
  fx_lean lean;               /* without its pair; ask NULL: not known */
} fx_placement;

typedef struct fx_collision_stats {
  int64_t shape_count, pair_count, contact_count; /* pairs: whose boxes overlap */
  double broad_seconds, narrow_seconds;
} fx_collision_stats;

typedef struct fx_collision fx_collision;

frix_status fx_collision_create(frix_context *context, const frix_model *model, fx_collision **out);
void fx_collision_destroy(fx_collision *collision);

/* All contacts with gap <= margin (+ reach), sorted by (body_a, body_b, shape_a, shape_b, feature). The list lives
 * until the next run. Poses that are not finite are an error. */
frix_status fx_collision_run(fx_collision *collision, const fx_placement *placement, double margin,
                             int32_t thread_count, const fx_contact **contact, int32_t *count);
fx_collision_stats fx_collision_statistics(const fx_collision *collision);

/* < 0, 0, > 0 in the order of the list; contacts of two runs match where it is 0 and the slots' generations agree. */
int fx_contact_order(const fx_contact *a, const fx_contact *b);

#endif
