/* Materials: the combination rule for two materials in contact, documented in frix/model.h. */
#include "base/abi.h"
#include "model/builder.h"

#include <math.h>

static frix_material_config default_material(void) {
  frix_material_config config = {0};
  config.size = sizeof config;
  config.mu = 0.5;
  return config;
}

void frix_material_init(frix_material_config *out, size_t size) {
  frix_material_config all = default_material();
  fx_give_struct(out, size, &all, sizeof all);
}

static bool anisotropic(const frix_material_config *m) { return fx_norm2(m->axis) > 0.0; }

static double across(const frix_material_config *m) { return anisotropic(m) ? m->mu2 : m->mu; }

/* Springs in series; 0 names none. */
static double in_series(double a, double b) {
  if (a == 0.0 || isinf(b)) return a == 0.0 ? b : a;
  return b == 0.0 || isinf(a) ? (b == 0.0 ? a : b) : a / (a + b) * b;
}

/* Exact where both are the same. */
static double mean(double a, double b) { return a == b ? a : sqrt(a) * sqrt(b); }

fx_surface fx_surface_mix(const frix_material_config *a, const frix_material_config *b) {
  fx_surface s = {0};
  s.mu = mean(a->mu, b->mu);
  s.mu2 = mean(across(a), across(b));
  s.anisotropic = s.mu != s.mu2;
  s.axis_side = anisotropic(a) ? 0 : 1;
  s.axis = anisotropic(a) ? a->axis : b->axis;
  s.rolling = fx_max(a->rolling, b->rolling);
  s.spinning = fx_max(a->spinning, b->spinning);
  s.restitution = fx_max(a->restitution, b->restitution);
  s.stiffness = in_series(a->stiffness, b->stiffness);
  return s;
}

fx_surface fx_surface_of(const frix_material_config *m) {
  fx_surface s = {.mu = m->mu,
                  .mu2 = across(m),
                  .anisotropic = anisotropic(m) && m->mu != m->mu2,
                  .axis = m->axis,
                  .rolling = m->rolling,
                  .spinning = m->spinning,
                  .restitution = m->restitution,
                  .stiffness = m->stiffness};
  return s;
}

fx_surface fx_model_surface(const frix_model *model, int32_t a, int32_t b) {
  fx_pair key = a <= b ? (fx_pair){a, b} : (fx_pair){b, a};
  for (int32_t low = 0, high = model->pair_count; low < high;) {
    int32_t middle = low + (high - low) / 2;
    fx_pair at = model->pair[middle].material;
    if (at.a == key.a && at.b == key.b) {
      fx_surface s = model->pair[middle].surface;
      if (a > b) s.axis_side = 1 - s.axis_side;
      return s;
    }
    if (at.a < key.a || (at.a == key.a && at.b < key.b)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return fx_surface_mix(&model->material[a].config, &model->material[b].config);
}
