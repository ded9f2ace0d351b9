/* What a soft body holds, as text and as JSON: frix info BODY.frixsoft, and what frix soften prints. */
#include "soft_report.h"

static const double turn = 6.28318530717958647693;

static void print_text(const char *path, const frix_soft_info *s) {
  printf("%s%s%s\n", fx_colour_on(FX_BOLD), path, fx_colour_off());
  printf("  material   %s, E %g Pa, nu %g, %g kg/m^3\n",
         s->material == FRIX_SOFT_STVK ? "St.Venant-Kirchhoff" : "linear", s->young, s->poisson, s->density);
  printf("  mesh       %d tetrahedra of order %d, %d nodes\n", (int)s->tets, (int)s->order, (int)s->nodes);
  printf("  surface    %d points, %d triangles\n", (int)s->point_count, (int)s->triangle_count);
  printf("  mass       %.6g kg in %.6g m^3, centre %.6g %.6g %.6g\n", s->mass, s->volume, s->center.x, s->center.y,
         s->center.z);
  printf("  coordinates %d: %d modes, %d derivatives (residual %.1e)\n", (int)s->coordinates, (int)s->modes,
         (int)(s->coordinates - s->modes), s->mode_residual);
  if (s->coordinates) printf("  frequency ");
  for (int32_t k = 0; k < s->coordinates; k++) {
    if (k && k % 8 == 0) printf("\n            ");
    printf(" %.4g", s->omega[k] / turn);
  }
  if (s->coordinates) printf(" Hz\n");
}

static void print_json(const char *path, const frix_soft_info *s) {
  fx_json json = {stdout, false};
  fx_put_open(&json, NULL, '{');
  fx_put_text(&json, "file", path);
  fx_put_text(&json, "kind", "soft body");
  fx_put_text(&json, "material", s->material == FRIX_SOFT_STVK ? "stvk" : "linear");
  fx_put_real(&json, "young", s->young);
  fx_put_real(&json, "poisson", s->poisson);
  fx_put_real(&json, "density", s->density);
  fx_put_integer(&json, "tets", s->tets);
  fx_put_integer(&json, "order", s->order);
  fx_put_integer(&json, "nodes", s->nodes);
  fx_put_integer(&json, "points", s->point_count);
  fx_put_integer(&json, "triangles", s->triangle_count);
  fx_put_real(&json, "mass", s->mass);
  fx_put_real(&json, "volume", s->volume);
  const double center[3] = {s->center.x, s->center.y, s->center.z};
  const double inertia[6] = {s->inertia.xx, s->inertia.yy, s->inertia.zz, s->inertia.xy, s->inertia.xz, s->inertia.yz};
  fx_put_open(&json, "center", '[');
  for (int k = 0; k < 3; k++) fx_put_real(&json, NULL, center[k]);
  fx_put_close(&json, ']');
  fx_put_open(&json, "inertia", '[');
  for (int k = 0; k < 6; k++) fx_put_real(&json, NULL, inertia[k]);
  fx_put_close(&json, ']');
  fx_put_integer(&json, "coordinates", s->coordinates);
  fx_put_integer(&json, "modes", s->modes);
  fx_put_real(&json, "residual", s->mode_residual);
  fx_put_open(&json, "hertz", '[');
  for (int32_t k = 0; k < s->coordinates; k++) fx_put_real(&json, NULL, s->omega[k] / turn);
  fx_put_close(&json, ']');
  fx_put_open(&json, "damping", '[');
  for (int32_t k = 0; k < s->coordinates; k++) fx_put_real(&json, NULL, s->damping[k]);
  fx_put_close(&json, ']');
  fx_put_close(&json, '}');
  fx_put_end_line(&json);
}

void fx_print_soft(const char *path, const frix_soft *soft, bool json) {
  frix_soft_info info = frix_soft_view(soft);
  if (json)
    print_json(path, &info);
  else
    print_text(path, &info);
}

bool fx_info_soft(frix_context *context, const char *path, bool json) {
  frix_soft *soft = NULL;
  if (frix_soft_read(context, path, &soft)) {
    fx_error("%s", frix_error_text(context));
    return false;
  }
  fx_print_soft(path, soft, json);
  frix_soft_destroy(soft);
  return true;
}
