/* Soft bodies among fixed obstacles and each other: making, and the step, which is one contact problem.
 *
 *   A v1 = b + H r,   A = M + h C + h^2 (K + handles),   u = H'v1 + w,   w_N = gap/h        (soft_motion.c has A and b)
 */
#include "sim/soft_world.h"

/* ---- making ---- */

frix_status frix_soft_world_create(frix_context *context, frix_soft_world **out) {
  if (out) *out = NULL;
  if (!context) return FRIX_ERROR_INPUT;
  if (!out) return fx_fail(context, FRIX_ERROR_INPUT, "frix_soft_world_create: no place for the world");
  frix_soft_world *w = FX_NEW(context, frix_soft_world, 1);
  if (!w) return FRIX_ERROR_MEMORY;
  w->context = context;
  w->mu = -1.0;
  fx_arena_init(&w->arena, context);
  w->body = FX_TAKE(&w->arena, frix_soft_state *, FX_SOFT_BODIES);
  w->size = FX_TAKE(&w->arena, double, FX_SOFT_BODIES);
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
  if (!soft || w->body_count == FX_SOFT_BODIES)
    return fx_fail(w->context, FRIX_ERROR_INPUT, "frix_soft_world_add: no body, or more than %d", FX_SOFT_BODIES);
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
  if (!o || w->obstacle_count == FX_SOFT_OBSTACLES)
    return fx_fail(w->context, FRIX_ERROR_INPUT, "frix_soft_world_obstacle: none, or more than %d", FX_SOFT_OBSTACLES);
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

frix_status frix_soft_world_friction(frix_soft_world *w, double mu) {
  if (!w) return FRIX_ERROR_INPUT;
  if (!isfinite(mu)) return fx_fail(w->context, FRIX_ERROR_INPUT, "friction between soft bodies is not finite");
  w->mu = mu;
  return FRIX_OK;
}

/* ---- the step ---- */

frix_status frix_soft_world_step(frix_soft_world *w, double h, frix_vec3 gravity, frix_soft_report *out) {
  frix_soft_report own = {0}, *report = out ? out : &own;
  *report = own;
  if (!w) return FRIX_ERROR_INPUT;
  if (!(h > 0.0) || !isfinite(h) || !fx_finite(gravity))
    return fx_fail(w->context, FRIX_ERROR_INPUT, "the step must be a positive number of seconds, not %g", h);
  fx_arena arena;
  fx_arena_init(&arena, w->context);
  fx_touches l = {0};
  frix_status status = fx_soft_meet(w, &arena, h, gravity, &l);
  report->contacts = l.count, report->deepest = l.deepest;
  if (!status) status = fx_soft_answer(w, &arena, h, gravity, &l, report);
  for (int32_t o = 0; !status && o < w->obstacle_count; o++)
    w->obstacle[o].point = fx_mad(w->obstacle[o].point, h, w->obstacle[o].velocity);
  fx_arena_free(&arena);
  return status;
}
