/* A soft body from a checked mesh, and what is known of it. */
#include <string.h>

#include "base/abi.h"
#include "soft/soft_internal.h"

enum { MOST_DERIVED = FX_MOST_COORDINATES - 12 }; /* modes and derivatives, beside strains and a held region */

/* ---- settings ---- */

void frix_soft_init(frix_soft_config *out, size_t size) {
  const frix_soft_config all = {.size = sizeof all,
                                .material = FRIX_SOFT_LINEAR,
                                .modes = 12,
                                .derivatives = -1,
                                .young = 1e6,
                                .poisson = 0.3,
                                .density = 1000.0,
                                .order = 2};
  fx_give_struct(out, size, &all, sizeof all);
}

frix_status fx_soft_check_config(frix_context *context, const frix_soft_config *c) {
#define BAD(...) return fx_fail(context, FRIX_ERROR_INPUT, __VA_ARGS__)
  if (c->size != sizeof *c) BAD("frix_soft_config: use frix_soft_default");
  if (c->material != FRIX_SOFT_LINEAR && c->material != FRIX_SOFT_STVK) BAD("no such material of soft bodies");
  if (c->modes < 0 || c->modes > FX_MOST_MODES) BAD("%d modes, expected 0 to %d", (int)c->modes, FX_MOST_MODES);
  if (c->derivatives < -1 || c->derivatives > MOST_DERIVED - c->modes)
    BAD("%d modal derivatives, expected at most %d beside %d modes", (int)c->derivatives, MOST_DERIVED - (int)c->modes,
        (int)c->modes);
  if (!(c->young > 0.0 && c->young <= 1e15)) BAD("Young's modulus %g Pa is not positive", c->young);
  if (!(c->poisson > -1.0 && c->poisson < 0.5)) BAD("Poisson's ratio %g does not lie between -1 and 0.5", c->poisson);
  if (!(c->density > 0.0 && c->density <= 1e9)) BAD("density %g kg/m^3 is not positive", c->density);
  if (!(c->damping_mass >= 0.0 && c->damping_stiffness >= 0.0 && c->damping_ratio >= 0.0) ||
      !isfinite(c->damping_mass + c->damping_stiffness + c->damping_ratio))
    BAD("damping is negative or not finite");
  if (c->order != 1 && c->order != 2) BAD("tetrahedra of order %d: 1 and 2 are known", (int)c->order);
  if (c->cells < 0 || c->cells > 1000) BAD("%d cells, expected 1 to 1000", (int)c->cells);
  if (!fx_finite(c->hold_low) || !fx_finite(c->hold_high)) BAD("the box in which the body is held is not finite");
  if (c->waves < 0 || c->waves > 1000 || !isfinite(c->wave)) BAD("%d waves of %g m", (int)c->waves, c->wave);
  const double s[3] = {c->sides.x, c->sides.y, c->sides.z};
  for (int k = 0; k < 3; k++)
    if (!(s[k] >= 0.0 && isfinite(s[k]))) BAD("side %g of a shape is negative or not finite", s[k]);
#undef BAD
  return FRIX_OK;
}

/* ---- memory ---- */

frix_soft *fx_soft_new(frix_context *context) {
  frix_soft *soft = FX_NEW(context, frix_soft, 1);
  if (!soft) return NULL;
  soft->context = context;
  atomic_init(&soft->holders, 1);
  fx_arena_init(&soft->arena, context);
  return soft;
}

void frix_soft_destroy(frix_soft *soft) {
  if (!soft || atomic_fetch_sub(&soft->holders, 1) > 1) return;
  frix_context *context = soft->context;
  fx_arena_free(&soft->arena);
  fx_free(context, soft);
}

frix_status fx_soft_take(frix_soft *s) {
  frix_soft_info *info = &s->info;
  size_t k = (size_t)info->coordinates, points = (size_t)info->point_count;
  info->omega = FX_TAKE(&s->arena, double, k);
  info->damping = FX_TAKE(&s->arena, double, k);
  info->point = FX_TAKE(&s->arena, frix_vec3, points);
  info->triangle = FX_TAKE(&s->arena, int32_t, 3 * (size_t)info->triangle_count);
  info->shape = FX_TAKE(&s->arena, double, 3 * points * k);
  s->stiffness = FX_TAKE(&s->arena, double, k);
  s->first = FX_TAKE(&s->arena, double, 9 * k);
  s->cross = FX_TAKE(&s->arena, double, 9 * k * k);
  s->plane = FX_TAKE(&s->arena, double, 9 * k * k);
  if (!info->omega || !info->damping || !info->point || !info->triangle || !info->shape || !s->stiffness || !s->first ||
      !s->cross || !s->plane)
    return FRIX_ERROR_MEMORY;
  if (info->material == FRIX_SOFT_LINEAR) return FRIX_OK;
  s->cubic = FX_TAKE(&s->arena, double, fx_cubic_count(info->coordinates));
  s->quartic = FX_TAKE(&s->arena, double, fx_quartic_count(info->coordinates));
  return s->cubic && s->quartic ? FRIX_OK : FRIX_ERROR_MEMORY;
}

/* ---- the work ---- */

/* C = alpha M + beta K + 2 zeta w, diagonal like M and K. */
static void set_damping(frix_soft *s, const frix_soft_config *c) {
  double *omega = (double *)s->info.omega, *damping = (double *)s->info.damping;
  for (int32_t j = 0; j < s->info.coordinates; j++) {
    omega[j] = sqrt(fx_max(s->stiffness[j], 0.0));
    damping[j] = c->damping_mass + c->damping_stiffness * s->stiffness[j] + 2.0 * c->damping_ratio * omega[j];
  }
}

static frix_status build(frix_soft *soft, fx_arena *arena, const fx_tets *t, const frix_soft_config *c) {
  fx_soft_watch watch = {c->progress, c->user};
  fx_elements elements;
  fx_fem fem;
  fx_basis basis;
  fx_skin skin;
  bool stvk = c->material == FRIX_SOFT_STVK;
  int32_t derivatives = !c->modes ? 0 : c->derivatives >= 0 ? c->derivatives : stvk ? c->modes : 0;
  if (derivatives > MOST_DERIVED - c->modes) derivatives = MOST_DERIVED - c->modes;
  if (fx_watch(&watch, "finite elements", 0.0)) return fx_fail(arena->context, FRIX_ERROR_INPUT, "ended by the user");
  frix_status status = fx_elements_make(arena, t, c->order, &elements);
  if (!status) status = fx_fem_make(arena, &elements, c->young, c->poisson, c->density, &fem);
  if (!status) status = fx_modes_find(arena, &fem, c->modes, &watch, &basis);
  if (!status && c->strains) status = fx_basis_strain(arena, &fem, &basis);
  if (!status) status = fx_basis_hold(arena, &fem, c->hold_low, c->hold_high, &basis);
  if (!status) status = fx_basis_derive(arena, &fem, derivatives, &watch, &basis);
  if (!status) status = fx_elements_skin(arena, t, &fem.e, &skin);
  if (status) return status;
  soft->info = (frix_soft_info){.material = c->material,
                                .modes = c->modes,
                                .tets = t->tet_count,
                                .nodes = fem.e.node_count,
                                .order = c->order,
                                .young = c->young,
                                .poisson = c->poisson,
                                .density = c->density,
                                .mass = fem.total,
                                .volume = fem.total / c->density,
                                .center = fem.center,
                                .mode_residual = basis.residual};
  status = fx_soft_reduce(soft, arena, &fem, &basis, &skin, &watch);
  if (!status) set_damping(soft, c);
  return status ? status : fx_soft_measure(soft);
}

frix_status fx_soft_build(frix_context *context, const fx_tets *t, const frix_soft_config *config, frix_soft **out) {
  *out = NULL;
  frix_status status = fx_soft_check_config(context, config);
  if (status) return status;
  frix_soft *soft = fx_soft_new(context);
  if (!soft) return FRIX_ERROR_MEMORY;
  fx_arena arena;
  fx_arena_init(&arena, context);
  status = build(soft, &arena, t, config);
  fx_arena_free(&arena);
  if (status)
    frix_soft_destroy(soft);
  else
    *out = soft;
  return status;
}

frix_status fx_soft_measure(frix_soft *s) {
  fx_soft_split_inertia(s);
  return fx_soft_tree_make(s);
}

/* ---- what a body is ---- */

frix_soft_info frix_soft_view(const frix_soft *soft) { return soft ? soft->info : (frix_soft_info){0}; }

double frix_soft_elastic(const frix_soft *soft, const double *amplitude, double *force, double *tangent) {
  if (!soft || !amplitude || (tangent && !force)) return 0.0;
  return fx_soft_elastic(soft, amplitude, force, tangent);
}

const char *frix_soft_shape(int32_t k) {
  const char *name;
  frix_vec3 size;
  return fx_shape_of_tets(k, &name, &size) ? name : NULL;
}
