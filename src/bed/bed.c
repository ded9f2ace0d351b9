/* Beds: making them, walls and grains, asking. */
#include "bed/bed_internal.h"

#include "base/abi.h"

#include <string.h>

/* ---- memory ---- */

void *fx_bed_take(frix_bed *bed, size_t count, size_t size) {
  void *pointer = fx_alloc(bed->context, count, size);
  if (pointer) bed->bytes += count * size;
  return pointer;
}

void fx_bed_give(frix_bed *bed, void *pointer, size_t count, size_t size) {
  if (pointer) bed->bytes -= count * size;
  fx_free(bed->context, pointer);
}

bool fx_bed_grow(frix_bed *bed, void *list, int64_t used, int64_t *room, int64_t wanted, size_t size) {
  void **pointer = list;
  if (wanted <= *room) return true;
  int64_t next = wanted + wanted / 16 + 64;
  void *grown = used > 0 ? fx_realloc(bed->context, *pointer, (size_t)used, (size_t)next, size) : NULL;
  if (used == 0) {
    fx_free(bed->context, *pointer);
    *pointer = NULL;
    grown = fx_alloc_raw(bed->context, (size_t)next, size);
    if (!grown) *room = 0;
  }
  if (!grown) return false;
  bed->bytes += (size_t)(next - *room) * size;
  *pointer = grown;
  *room = next;
  return true;
}

static bool grow_list(frix_bed *bed, void *list, int64_t next, size_t size) {
  void **pointer = list;
  void *grown = fx_realloc(bed->context, *pointer, (size_t)bed->room + (bed->room > 0), (size_t)next + 1, size);
  if (!grown) return false;
  *pointer = grown;
  return true;
}

/* Lists are one longer than there is room for grains, for those that hold where the last one ends. */
static bool take_room(frix_bed *bed, int64_t next) {
  if (next > INT32_MAX - 1) return false;
  struct {
    void *list;
    size_t size;
  } all[] = {{&bed->place, sizeof *bed->place},
             {&bed->speed, sizeof *bed->speed},
             {&bed->free, sizeof *bed->free},
             {&bed->last, sizeof *bed->last},
             {&bed->energy, 2 * sizeof *bed->energy},
             {&bed->before, sizeof *bed->before},
             {&bed->memory_start, sizeof *bed->memory_start},
             {&bed->contact_start, sizeof *bed->contact_start}};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++)
    if (!grow_list(bed, all[k].list, next, all[k].size)) return false;
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) bed->bytes += (size_t)(next - bed->room) * all[k].size;
  bed->room = (int32_t)next;
  return true;
}

bool fx_bed_reserve(frix_bed *bed, int32_t wanted) {
  return wanted <= bed->room || take_room(bed, (int64_t)wanted + wanted / 8 + 64);
}

frix_status frix_bed_reserve(frix_bed *bed, int64_t count) {
  if (!bed) return FRIX_ERROR_INPUT;
  if (count < 0 || count > INT32_MAX / 2)
    return fx_fail(bed->context, FRIX_ERROR_INPUT, "bed: room for %lld grains", (long long)count);
  return count <= bed->room || take_room(bed, count) ? FRIX_OK : FRIX_ERROR_MEMORY;
}

size_t frix_bed_bytes(const frix_bed *bed) { return bed ? bed->bytes : 0; }

/* ---- making ---- */

static frix_bed_config default_bed(void) {
  return (frix_bed_config){.size = sizeof(frix_bed_config),
                           .gravity = {0.0, 0.0, -9.81},
                           .radius_count = 1,
                           .density = 2500.0,
                           .mu = 0.5,
                           .stiffness = 1e5,
                           .tolerance = 1e-4,
                           .max_sweeps = 2000,
                           .thread_count = 1,
                           .block_cells = 6};
}

void frix_bed_init(frix_bed_config *out, size_t size) {
  frix_bed_config all = default_bed();
  fx_give_struct(out, size, &all, sizeof all);
}

static const char *trouble_of(const frix_bed_config *c) {
  if (c->radius_count < 1 || c->radius_count > FRIX_BED_SIZES) return "the number of radii must be 1 to 16";
  for (int32_t k = 0; k < c->radius_count; k++)
    if ((!c->clump || c->clump[k].count == 0) && (!c->form || c->form[k].kind == FRIX_SHAPE_SPHERE) &&
        (!(c->radius[k] > 0.0) || !isfinite(c->radius[k])))
      return "radii must be positive numbers";
  if (!fx_finite(c->lower) || !fx_finite(c->upper) || !(c->lower.x < c->upper.x) || !(c->lower.y < c->upper.y) ||
      !(c->lower.z < c->upper.z))
    return "upper must be above lower in every direction";
  if (!fx_finite(c->gravity)) return "gravity must be finite";
  if (!(c->density > 0.0) || !isfinite(c->density)) return "the density must be a positive number";
  if (!(c->mu >= 0.0) || !isfinite(c->mu)) return "mu must not be negative";
  if (!(c->stiffness >= 0.0) || !isfinite(c->stiffness)) return "the stiffness must not be negative";
  if (!(c->restitution >= 0.0 && c->restitution <= 1.0)) return "the restitution must be 0 to 1";
  if (!(c->tolerance > 0.0) || !isfinite(c->tolerance)) return "the tolerance must be a positive number";
  if (c->max_sweeps < 1 || c->thread_count < 1) return "max_sweeps and thread_count must be at least 1";
  if (c->block_cells < 2 || c->block_cells > 16) return "block_cells must be 2 to 16";
  if (c->link && (c->link->rank_count < 1 || c->link->rank < 0 || c->link->rank >= c->link->rank_count))
    return "the link's ranks make no sense";
  return NULL;
}

static frix_status take_links(frix_bed *bed) {
  size_t ranks = (size_t)fx_bed_ranks(bed);
  bed->buffer = FX_NEW(bed->context, unsigned char *, 2 * ranks);
  bed->buffer_size = FX_NEW(bed->context, size_t, 2 * ranks);
  bed->buffer_room = FX_NEW(bed->context, size_t, 2 * ranks);
  bed->send.start = FX_NEW(bed->context, int32_t, ranks * FX_COLOURS + 1);
  bed->receive.start = FX_NEW(bed->context, int32_t, ranks * FX_COLOURS + 1);
  bool good = bed->buffer && bed->buffer_size && bed->buffer_room && bed->send.start && bed->receive.start;
  return good ? FRIX_OK : FRIX_ERROR_MEMORY;
}

frix_status frix_bed_create(frix_context *context, const frix_bed_config *config, frix_bed **out) {
  if (!context || !out) return FRIX_ERROR_INPUT;
  *out = NULL;
  FX_WHOLE(frix_bed_config, config, default_bed());
  if (!config || config->size != sizeof *config)
    return fx_fail(context, FRIX_ERROR_INPUT, "bed: the config does not come from frix_bed_default()");
  const char *trouble = trouble_of(config);
  if (trouble) return fx_fail(context, FRIX_ERROR_INPUT, "bed: %s", trouble);
  frix_bed *bed = FX_NEW(context, frix_bed, 1);
  if (!bed) return FRIX_ERROR_MEMORY;
  bed->context = context;
  bed->config = *config;
  frix_bed_flow_init(&bed->flow, sizeof bed->flow);
  frix_status status = fx_bed_kinds(bed);
  double least = INFINITY;
  for (int32_t k = 0; k < config->radius_count && !status; k++) least = fx_min(least, fx_bed_thickness(&bed->kind[k]));
  bed->reach = 0.05 * least;
  if (!status) status = take_links(bed);
  if (!status) status = fx_bed_cut(bed);
  if (!status && !fx_bed_reserve(bed, 1)) status = FRIX_ERROR_MEMORY;
  if (status) {
    frix_bed_destroy(bed);
    return status;
  }
  *out = bed;
  return FRIX_OK;
}

void frix_bed_destroy(frix_bed *bed) {
  if (!bed) return;
  void *owned[] = {bed->owner,         bed->stage_start, bed->stage_block,  bed->slot,       bed->slot_block,
                   bed->cell_start,    bed->place,       bed->speed,        bed->free,       bed->last,
                   bed->energy,        bed->before,      bed->memory_start, bed->memory,     bed->contact_start,
                   bed->contact,       bed->sums,        bed->send.grain,   bed->send.start, bed->receive.grain,
                   bed->receive.start, bed->buffer_size, bed->buffer_room,  bed->arm,        bed->turn,
                   bed->joint,         bed->bind,        bed->stage_ready,  bed->halo,       bed->load};
  for (int32_t k = 0; bed->buffer && k < 2 * fx_bed_ranks(bed); k++) fx_free(bed->context, bed->buffer[k]);
  fx_free(bed->context, bed->buffer);
  for (int32_t k = 0; k < FRIX_BED_SIZES; k++)
    if (bed->kind[k].shape.geometry) fx_geometry_release(bed->context, (fx_geometry *)bed->kind[k].shape.geometry);
  for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) fx_free(bed->context, owned[k]);
  fx_free(bed->context, bed);
}

/* ---- walls ---- */

static frix_status check_wall(frix_bed *bed, const frix_bed_wall *w) {
  bool plane = w->kind == FRIX_BED_PLANE, turned = w->kind == FRIX_BED_TURNED;
  bool good = (plane || turned) && w->mu >= 0.0 && isfinite(w->mu) && fx_finite(w->velocity);
  if (plane) good = good && fx_finite(w->point) && fx_finite(w->normal) && fx_norm2(w->normal) > 0.0;
  if (turned)
    good = good && w->a[0] >= 0.0 && w->b[0] >= 0.0 && isfinite(w->a[0] + w->b[0] + w->a[1] + w->b[1]) && !w->servo;
  if (turned && bed->has_shapes)
    return fx_fail(bed->context, FRIX_ERROR_UNSUPPORTED,
                   "bed: surfaces of revolution hold spheres and clumps; convex grains need planes");
  if (w->servo) good = good && w->load > 0.0 && isfinite(w->load) && w->servo_speed > 0.0 && isfinite(w->servo_speed);
  return good ? FRIX_OK
              : fx_fail(bed->context, FRIX_ERROR_INPUT, "bed: kind, place, friction or load of the wall make no sense");
}

frix_status frix_bed_set_wall(frix_bed *bed, int32_t k, const frix_bed_wall *wall) {
  if (!bed || !wall) return FRIX_ERROR_INPUT;
  if (k < 0 || k >= bed->wall_count) return fx_fail(bed->context, FRIX_ERROR_INPUT, "bed: has no wall %d", k);
  frix_status status = check_wall(bed, wall);
  if (status) return status;
  if (wall->kind != bed->wall[k].kind) return fx_fail(bed->context, FRIX_ERROR_INPUT, "bed: the kind of a wall stays");
  bed->wall[k] = *wall;
  bed->wall[k].normal = fx_unit(wall->normal);
  return FRIX_OK;
}

frix_status frix_bed_add_wall(frix_bed *bed, const frix_bed_wall *wall, int32_t *index) {
  if (!bed || !wall) return FRIX_ERROR_INPUT;
  if (bed->wall_count == FRIX_BED_WALLS)
    return fx_fail(bed->context, FRIX_ERROR_UNSUPPORTED, "bed: more than %d walls", FRIX_BED_WALLS);
  frix_status status = check_wall(bed, wall);
  if (status) return status;
  if (index) *index = bed->wall_count;
  bed->wall[bed->wall_count++].kind = wall->kind;
  return frix_bed_set_wall(bed, bed->wall_count - 1, wall);
}

int32_t frix_bed_wall_count(const frix_bed *bed) { return bed ? bed->wall_count : 0; }

frix_status frix_bed_wall_at(const frix_bed *bed, int32_t k, frix_bed_wall *out) {
  if (!bed || !out) return FRIX_ERROR_INPUT;
  if (k < 0 || k >= bed->wall_count) return fx_fail(bed->context, FRIX_ERROR_INPUT, "bed: has no wall %d", k);
  *out = bed->wall[k];
  return FRIX_OK;
}

/* ---- grains ---- */

void fx_bed_put(frix_bed *bed, int32_t at, int64_t id, int32_t size, frix_vec3 p, frix_quat q, frix_vec3 v,
                frix_vec3 s) {
  const fx_bed_kind *kind = &bed->kind[size];
  bed->place[at] = (fx_bed_place){.p = p, .q = q, .id = id, .size = size};
  bed->speed[at] = (fx_bed_speed){.v = v, .s = s, .inverse_mass = 1.0 / kind->mass, .radius = kind->radius};
}

frix_vec3 fx_bed_wrap(const frix_bed *bed, frix_vec3 p) {
  double x[3] = {p.x, p.y, p.z};
  for (int k = 0; k < 3; k++) {
    if (!(bed->period[k] > 0.0)) continue;
    double low = fx_at(bed->config.lower, k);
    if (x[k] < low || x[k] >= low + bed->period[k]) x[k] -= floor((x[k] - low) / bed->period[k]) * bed->period[k];
    if (x[k] >= low + bed->period[k]) x[k] = low; /* by rounding */
  }
  return fx_vec(x[0], x[1], x[2]);
}

frix_status frix_bed_add(frix_bed *bed, int32_t size, frix_vec3 position, frix_vec3 velocity, int64_t *id) {
  return frix_bed_add_turned(bed, size, (frix_pose){position, fx_quat_one()}, velocity, fx_vec(0.0, 0.0, 0.0), id);
}

frix_status frix_bed_add_turned(frix_bed *bed, int32_t size, frix_pose pose, frix_vec3 velocity, frix_vec3 spin,
                                int64_t *id) {
  if (!bed) return FRIX_ERROR_INPUT;
  frix_vec3 position = pose.p;
  double length = fx_quat_norm2(pose.q);
  if (size < 0 || size >= bed->config.radius_count || !fx_finite(position) || !fx_finite(velocity) ||
      !fx_finite(spin) || !(length > 0.0) || !isfinite(length))
    return fx_fail(bed->context, FRIX_ERROR_INPUT, "bed: radius number, pose or velocity of the grain make no sense");
  if (id) *id = bed->next_id;
  int32_t cell[3];
  position = fx_bed_wrap(bed, position);
  fx_bed_cell_of(bed, position, cell);
  bed->contact_count = 0;
  bed->count = bed->own;
  if (bed->owner[fx_bed_block_of(bed, cell)] == fx_bed_rank(bed)) {
    if (!fx_bed_reserve(bed, bed->own + 1)) return FRIX_ERROR_MEMORY;
    fx_bed_put(bed, bed->own, bed->next_id, size, position, fx_quat_unit(pose.q), velocity,
               fx_scale(bed->kind[size].radius, spin));
    bed->before[bed->own++] = FX_NO_GRAIN;
    bed->count = bed->own;
  }
  bed->next_id++;
  return FRIX_OK;
}

/* ---- asking ---- */

int32_t frix_bed_count(const frix_bed *bed) { return bed ? bed->own : 0; }
double frix_bed_time(const frix_bed *bed) { return bed ? bed->time : 0.0; }
int64_t frix_bed_step_count(const frix_bed *bed) { return bed ? bed->step_count : 0; }

frix_status frix_bed_at(const frix_bed *bed, int32_t k, frix_bed_grain *out) {
  if (!bed || !out) return FRIX_ERROR_INPUT;
  if (k < 0 || k >= bed->own) return fx_fail(bed->context, FRIX_ERROR_INPUT, "bed: has no grain %d", k);
  const fx_bed_place *p = &bed->place[k];
  const fx_bed_speed *a = &bed->speed[k];
  *out = (frix_bed_grain){.id = p->id, .radius = p->size, .position = p->p, .velocity = a->v, .turn = p->q};
  out->spin = fx_scale(1.0 / a->radius, a->s);
  return FRIX_OK;
}

/* Contacts that carry something are those that memory holds. */
int32_t frix_bed_contact_count(const frix_bed *bed) {
  return bed && bed->contact_count > 0 ? (int32_t)bed->memory_count : 0;
}

/* The grain whose contacts hold number k of the memory. */
static int32_t grain_of_memory(const frix_bed *bed, int32_t k) {
  int32_t low = 0, high = bed->memory_own;
  while (high - low > 1) {
    int32_t middle = low + (high - low) / 2;
    if (bed->memory_start[middle] <= k)
      low = middle;
    else
      high = middle;
  }
  return low;
}

frix_status frix_bed_contact_at(const frix_bed *bed, int32_t k, frix_bed_contact *out) {
  if (!bed || !out) return FRIX_ERROR_INPUT;
  if (k < 0 || k >= frix_bed_contact_count(bed))
    return fx_fail(bed->context, FRIX_ERROR_INPUT, "bed: has no contact %d", k);
  int32_t i = grain_of_memory(bed, k), nth = k - bed->memory_start[i];
  const fx_bed_contact *c = bed->contact + bed->contact_start[i];
  while (fx_norm2(fx_bed_load_of(bed, c)->r) == 0.0 || nth-- > 0) c++;
  double radius = bed->speed[i].radius, gap;
  frix_vec3 n = c->n, p = bed->place[i].p;
  if (bed->has_arms)
    gap = fx_bed_arm_gap(bed, c - bed->contact);
  else if (c->other >= 0)
    gap = fx_norm(fx_bed_apart(bed, p, bed->place[c->other].p)) - radius - bed->speed[c->other].radius;
  else
    gap = fx_bed_wall_gap(&bed->wall[-1 - c->other], p, radius, &n);
  *out = (frix_bed_contact){.a = bed->place[i].id,
                            .b = c->other >= 0 ? bed->place[c->other].id : c->other,
                            .point = bed->has_arms ? fx_add(p, bed->arm[c - bed->contact].a) : fx_mad(p, -radius, c->n),
                            .normal = c->n,
                            .impulse = fx_bed_load_of(bed, c)->r,
                            .gap = gap};
  return FRIX_OK;
}

/* ---- hash ---- */

static uint64_t mix(uint64_t hash, const void *bytes, size_t count) {
  uint64_t word;
  for (size_t k = 0; k + sizeof word <= count; k += sizeof word) {
    memcpy(&word, (const unsigned char *)bytes + k, sizeof word);
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  }
  return hash;
}

/* Hashes of single grains add up, so that their order does not matter. */
frix_status frix_bed_hash(frix_bed *bed, uint64_t *out) {
  if (!bed || !out) return FRIX_ERROR_INPUT;
  int32_t ranks = fx_bed_ranks(bed), rank = fx_bed_rank(bed);
  double *part = FX_NEW(bed->context, double, 2 * (size_t)ranks);
  if (!part) return FRIX_ERROR_MEMORY;
  uint64_t sum = 0;
  for (int32_t k = 0; k < bed->own; k++) {
    const fx_bed_place *p = &bed->place[k];
    uint64_t one = mix((uint64_t)p->id + 1, &p->p, sizeof p->p);
    one = mix(one, &p->q, sizeof p->q);
    one = mix(mix(one, &bed->speed[k].v, sizeof(frix_vec3)), &bed->speed[k].s, sizeof(frix_vec3));
    int32_t was = bed->before[k];
    for (int32_t m = was < 0 ? 0 : bed->memory_start[was]; was >= 0 && m < bed->memory_start[was + 1]; m++)
      one += mix((uint64_t)bed->memory[m].other, &bed->memory[m].r, sizeof(frix_vec3));
    int64_t first, joints = fx_bed_joints_of(bed, p->id, &first);
    for (int64_t j = first; j < first + joints; j++)
      one += mix((uint64_t)bed->joint[j].number, bed->joint[j].r, sizeof bed->joint[j].r);
    sum += one;
  }
  part[2 * rank] = (double)(sum >> 32), part[2 * rank + 1] = (double)(sum & 0xffffffffu);
  frix_status status = fx_bed_add_sums(bed, part, 2 * (size_t)ranks);
  *out = mix(1, &bed->time, sizeof bed->time);
  for (int32_t k = 0; k < bed->wall_count; k++) *out = mix(*out, &bed->wall[k].point, sizeof(frix_vec3));
  for (int32_t p = 0; p < ranks; p++) *out += ((uint64_t)part[2 * p] << 32) + (uint64_t)part[2 * p + 1];
  fx_free(bed->context, part);
  return status;
}
