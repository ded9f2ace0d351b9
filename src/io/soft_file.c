/* Soft bodies in files (.frixsoft), and from mesh files.
 *
 *   "frix-soft-body\n\0"  version  length  crc32 of what follows  then the numbers of the body, little-endian */
#include <math.h>
#include <string.h>

#include <frix/trajectory.h>

#include "base/abi.h"
#include "io/soft_file.h"
#include "io/tet_file.h"
#include "soft/soft_internal.h"

enum { VERSION = 1, HEAD = 32 };
static const char magic[16] = "frix-soft-body\n";
static const int64_t most_bytes = (int64_t)4 << 30;

/* ---- one description for both ways ---- */

static void pack_info(fx_pack *p, frix_soft_info *info) {
  int material = (int)info->material;
  fx_pack_choice(p, &material, 2);
  info->material = (frix_soft_material)material;
  int32_t *count[] = {&info->coordinates, &info->modes,       &info->tets,          &info->nodes,
                      &info->order,       &info->point_count, &info->triangle_count};
  for (size_t k = 0; k < sizeof count / sizeof *count; k++) fx_pack_i32(p, count[k]);
  double *real[] = {&info->young, &info->poisson, &info->density, &info->mass, &info->volume, &info->mode_residual};
  for (size_t k = 0; k < sizeof real / sizeof *real; k++) fx_pack_f64(p, real[k]);
  fx_pack_vec(p, &info->center);
  fx_pack_sym(p, &info->inertia);
}

static void pack_arrays(fx_pack *p, frix_soft *s) {
  frix_soft_info *info = &s->info;
  size_t k = (size_t)info->coordinates, points = (size_t)info->point_count;
  fx_pack_reals(p, s->second, 9);
  fx_pack_reals(p, s->first, 9 * k);
  fx_pack_reals(p, s->cross, 9 * k * k);
  fx_pack_reals(p, s->stiffness, k);
  fx_pack_reals(p, (double *)info->omega, k);
  fx_pack_reals(p, (double *)info->damping, k);
  fx_pack_reals(p, (double *)info->point, 3 * points);
  for (size_t t = 0; t < 3 * (size_t)info->triangle_count; t++) fx_pack_i32(p, (int32_t *)info->triangle + t);
  fx_pack_reals(p, (double *)info->shape, 3 * points * k);
  if (!s->cubic) return;
  fx_pack_reals(p, s->cubic, (size_t)fx_cubic_count(info->coordinates));
  fx_pack_reals(p, s->quartic, (size_t)fx_quartic_count(info->coordinates));
}

/* ---- writing ---- */

static void put_word(char *at, uint64_t word, int size) {
  for (int k = 0; k < size; k++) at[k] = (char)(word >> 8 * k & 255);
}

static uint64_t get_word(const char *at, int size) {
  uint64_t word = 0;
  for (int k = 0; k < size; k++) word |= (uint64_t)(unsigned char)at[k] << 8 * k;
  return word;
}

frix_status fx_soft_encode(const frix_soft *soft, fx_buffer *out) {
  size_t start = out->count;
  char *head = fx_buffer_reserve(out, HEAD);
  if (head) out->count += HEAD;
  fx_pack pack = fx_pack_writer(out);
  frix_soft copy = {.info = soft->info, .first = soft->first, .cross = soft->cross, .stiffness = soft->stiffness};
  copy.cubic = soft->cubic, copy.quartic = soft->quartic; /* packing writes nothing back */
  memcpy(copy.second, soft->second, sizeof copy.second);
  pack_info(&pack, &copy.info);
  pack_arrays(&pack, &copy);
  frix_status status = fx_buffer_status(out);
  if (status) return status;
  head = out->bytes + start;
  size_t length = out->count - start - HEAD;
  memcpy(head, magic, sizeof magic);
  put_word(head + 16, VERSION, 4);
  put_word(head + 20, length, 8);
  put_word(head + 28, frix_crc32(0, head + HEAD, length), 4);
  return FRIX_OK;
}

frix_status frix_soft_write(const frix_soft *soft, const char *path) {
  if (!soft) return FRIX_ERROR_INPUT;
  if (!path) return fx_fail(soft->context, FRIX_ERROR_INPUT, "frix_soft_write: no path");
  fx_buffer buffer;
  fx_buffer_init(&buffer, soft->context);
  frix_status status = fx_soft_encode(soft, &buffer);
  if (!status) status = fx_file_write(soft->context, path, buffer.bytes, buffer.count);
  fx_buffer_free(&buffer);
  return status;
}

/* ---- reading ---- */

static bool sound(const frix_soft *s) {
  const frix_soft_info *info = &s->info;
  if (info->coordinates < 0 || info->coordinates > FX_MOST_COORDINATES || info->point_count < 4) return false;
  if (info->point_count > INT32_MAX / 16 || info->triangle_count < 4 || info->triangle_count > INT32_MAX / 16)
    return false;
  return info->mass > 0.0 && info->density > 0.0 && info->young > 0.0 && info->modes >= 0;
}

static bool all_finite(const double *x, size_t count) {
  for (size_t k = 0; k < count; k++)
    if (!isfinite(x[k])) return false;
  return true;
}

static bool arrays_sound(const frix_soft *s) {
  const frix_soft_info *info = &s->info;
  size_t k = (size_t)info->coordinates, points = (size_t)info->point_count;
  for (size_t t = 0; t < 3 * (size_t)info->triangle_count; t++)
    if (info->triangle[t] < 0 || info->triangle[t] >= info->point_count) return false;
  for (size_t j = 0; j < k; j++)
    if (!(s->stiffness[j] >= 0.0 && info->damping[j] >= 0.0)) return false;
  if (s->cubic && !all_finite(s->cubic, (size_t)fx_cubic_count(info->coordinates))) return false;
  if (s->quartic && !all_finite(s->quartic, (size_t)fx_quartic_count(info->coordinates))) return false;
  return all_finite(s->second, 9) && all_finite(s->first, 9 * k) && all_finite(s->cross, 9 * k * k) &&
         all_finite(s->stiffness, k) && all_finite(info->damping, k) && all_finite(&info->point->x, 3 * points) &&
         all_finite(info->shape, 3 * points * k);
}

static frix_status read_bytes(frix_context *context, const char *path, const char *bytes, size_t count,
                              frix_soft *soft) {
  if (count < HEAD || memcmp(bytes, magic, sizeof magic))
    return fx_fail(context, FRIX_ERROR_FORMAT, "%s: not a soft body (.frixsoft)", path);
  if (get_word(bytes + 16, 4) != VERSION)
    return fx_fail(context, FRIX_ERROR_FORMAT, "%s: a soft body of version %u, this frix reads %d", path,
                   (unsigned)get_word(bytes + 16, 4), VERSION);
  if (get_word(bytes + 20, 8) != count - HEAD)
    return fx_fail(context, FRIX_ERROR_FORMAT, "%s: %zu bytes, its head says %llu: the file is cut off or has grown",
                   path, count, (unsigned long long)get_word(bytes + 20, 8) + HEAD);
  if (get_word(bytes + 28, 4) != frix_crc32(0, bytes + HEAD, count - HEAD))
    return fx_fail(context, FRIX_ERROR_FORMAT, "%s: the checksum is wrong: the file is damaged", path);
  fx_pack pack = fx_pack_reader(context, bytes + HEAD, count - HEAD);
  pack_info(&pack, &soft->info);
  size_t k = (size_t)soft->info.coordinates;
  bool good = !pack.failed && sound(soft) && fx_pack_room(&pack, 3 * (uint64_t)soft->info.point_count * k, 8);
  frix_status status = good ? fx_soft_take(soft) : fx_pack_status(&pack, false, "");
  if (status == FRIX_ERROR_MEMORY) return status;
  if (good) pack_arrays(&pack, soft);
  good = good && !pack.failed && pack.at == pack.end && arrays_sound(soft);
  return good ? fx_soft_measure(soft)
              : fx_fail(context, FRIX_ERROR_FORMAT, "%s: the numbers of the soft body make no sense", path);
}

frix_status fx_soft_decode(frix_context *context, const char *name, const char *bytes, size_t count, frix_soft **out) {
  frix_soft *soft = fx_soft_new(context);
  *out = NULL;
  frix_status status = soft ? read_bytes(context, name, bytes, count, soft) : FRIX_ERROR_MEMORY;
  if (status)
    frix_soft_destroy(soft);
  else
    *out = soft;
  return status;
}

frix_status frix_soft_read(frix_context *context, const char *path, frix_soft **out) {
  if (out) *out = NULL;
  if (!context) return FRIX_ERROR_INPUT;
  if (!path || !out) return fx_fail(context, FRIX_ERROR_INPUT, "frix_soft_read: no path, or no place for the body");
  char *bytes = NULL;
  size_t count = 0;
  frix_status status = fx_file_read(context, path, most_bytes, &bytes, &count);
  if (status) return status;
  status = fx_soft_decode(context, path, bytes, count, out);
  fx_free(context, bytes);
  return status;
}

/* ---- from meshes ---- */

static frix_status get_mesh(fx_arena *arena, const char *mesh, const frix_soft_config *config, fx_tets *t) {
  const char *name;
  frix_vec3 size;
  for (int32_t k = 0; fx_shape_of_tets(k, &name, &size); k++) {
    if (strcmp(mesh, name)) continue;
    bool given = config->sides.x > 0.0 || config->sides.y > 0.0 || config->sides.z > 0.0;
    int32_t chosen = !strcmp(name, "blob") ? 8 : 1;
    if (given) size = config->sides;
    frix_status status = fx_tets_generate(arena, k, size, config->cells ? config->cells : chosen, t);
    if (!status && config->waves) fx_tets_wave(t, size.x, config->waves, config->wave);
    return status;
  }
  bool surface;
  return fx_tets_read(arena, mesh, config->cells ? config->cells : 12, t, &surface);
}

frix_status frix_soft_make(frix_context *context, const char *mesh, const frix_soft_config *config, frix_soft **out) {
  if (out) *out = NULL;
  if (!context) return FRIX_ERROR_INPUT;
  if (!mesh || !out) return fx_fail(context, FRIX_ERROR_INPUT, "frix_soft_make: no mesh, or no place for the body");
  frix_soft_config chosen = frix_soft_default();
  if (config && !fx_take_struct(&chosen, sizeof chosen, config))
    return fx_fail(context, FRIX_ERROR_INPUT, "frix_soft_config: use frix_soft_default");
  frix_status status = fx_soft_check_config(context, &chosen);
  if (status) return status;
  fx_arena arena;
  fx_tets tets;
  fx_arena_init(&arena, context);
  status = get_mesh(&arena, mesh, &chosen, &tets);
  if (!status) status = fx_tets_check(&arena, &tets);
  if (!status) status = fx_soft_build(context, &tets, &chosen, out);
  fx_arena_free(&arena);
  return status;
}
