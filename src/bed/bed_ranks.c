/* Beds on several ranks: grains that go home, copies of neighbours, velocities after each colour.
 *
 * Who holds a grain follows from its cell: the rank of its block, and those of the blocks of the 26 cells around. A
 * colour changes a grain through one block alone (bed_stages.c), so that the rank of that block tells the owner of the
 * grain, and every holder that has contacts or joints of it, its new velocity: copies that are used never differ. */
#include "bed/bed_internal.h"

#include <string.h>

frix_status fx_bed_lost(frix_bed *bed) {
  return fx_fail(bed->context, FRIX_ERROR_CANCELLED, "a rank was lost: continue from the last saved state");
}

frix_status fx_bed_add_sums(frix_bed *bed, double *x, size_t count) {
  const frix_bed_link *link = bed->config.link;
  return !link || link->rank_count == 1 || link->sum(link->user, x, count) ? FRIX_OK : fx_bed_lost(bed);
}

/* ---- messages ---- */

/* Room behind what is to go to rank p; NULL without memory. */
static void *append(frix_bed *bed, int32_t p, size_t bytes) {
  size_t used = bed->buffer_size[p];
  if (used + bytes >= bed->buffer_room[p]) {
    size_t wanted = used + bytes + used / 2 + 1024;
    unsigned char *grown = fx_realloc(bed->context, bed->buffer[p], used, wanted, 1);
    if (!grown) return NULL;
    bed->buffer[p] = grown, bed->buffer_room[p] = wanted;
  }
  bed->buffer_size[p] += bytes;
  return bed->buffer[p] + used;
}

static void clear_out(frix_bed *bed) {
  memset(bed->buffer_size, 0, (size_t)fx_bed_ranks(bed) * sizeof *bed->buffer_size);
}

static bool reserve_in(frix_bed *bed, int32_t p, size_t bytes) {
  int32_t k = fx_bed_ranks(bed) + p;
  bed->buffer_size[k] = bytes;
  if (bytes <= bed->buffer_room[k]) return true;
  fx_free(bed->context, bed->buffer[k]);
  bed->buffer[k] = fx_alloc_raw(bed->context, bytes, 1);
  bed->buffer_room[k] = bed->buffer[k] ? bytes : 0;
  return bed->buffer[k];
}

/* All that was appended goes out; sizes in are known. */
static frix_status send_out(frix_bed *bed) {
  const frix_bed_link *link = bed->config.link;
  int32_t n = link->rank_count;
  bool good = link->exchange(link->user, (const void *const *)bed->buffer, bed->buffer_size,
                             (void *const *)(bed->buffer + n), bed->buffer_size + n);
  return good ? FRIX_OK : fx_bed_lost(bed);
}

/* The same where they are not. */
static frix_status trade(frix_bed *bed) {
  const frix_bed_link *link = bed->config.link;
  int32_t n = link->rank_count;
  uint64_t *told = FX_NEW(bed->context, uint64_t, 2 * (size_t)n);
  const void **out = FX_NEW(bed->context, const void *, n);
  void **in = FX_NEW(bed->context, void *, n);
  size_t *size = FX_NEW(bed->context, size_t, n);
  frix_status status = told && out && in && size ? FRIX_OK : FRIX_ERROR_MEMORY;
  for (int32_t p = 0; p < n && !status; p++) {
    told[p] = bed->buffer_size[p], out[p] = &told[p], in[p] = &told[n + p];
    size[p] = p == link->rank ? 0 : sizeof *told;
  }
  if (!status && !link->exchange(link->user, out, size, in, size)) status = fx_bed_lost(bed);
  for (int32_t p = 0; p < n && !status; p++)
    if (!reserve_in(bed, p, (size_t)told[n + p])) status = FRIX_ERROR_MEMORY;
  fx_free(bed->context, told), fx_free(bed->context, out), fx_free(bed->context, in), fx_free(bed->context, size);
  return status ? status : send_out(bed);
}

/* ---- grains that go home ---- */

typedef struct traveller {
  fx_bed_place place;
  frix_vec3 v, s;
  int64_t memories, joints; /* of each so many follow */
} traveller;

static int32_t rank_of(const frix_bed *bed, frix_vec3 p) {
  int32_t cell[3];
  fx_bed_cell_of(bed, p, cell);
  return bed->owner[fx_bed_block_of(bed, cell)];
}

static frix_status pack_traveller(frix_bed *bed, int32_t k, int32_t p) {
  int32_t was = bed->before[k];
  traveller t = {.place = bed->place[k], .v = bed->speed[k].v, .s = bed->speed[k].s};
  if (was >= 0) t.memories = bed->memory_start[was + 1] - bed->memory_start[was];
  int64_t first;
  t.joints = fx_bed_joints_of(bed, t.place.id, &first);
  size_t bytes = (size_t)t.memories * sizeof *bed->memory;
  unsigned char *room = append(bed, p, sizeof t + bytes + (size_t)t.joints * sizeof *bed->joint);
  if (!room) return FRIX_ERROR_MEMORY;
  memcpy(room, &t, sizeof t);
  if (bytes) memcpy(room + sizeof t, bed->memory + bed->memory_start[was], bytes);
  for (int64_t j = 0; j < t.joints; j++) {
    memcpy(room + sizeof t + bytes + (size_t)j * sizeof *bed->joint, &bed->joint[first + j], sizeof *bed->joint);
    bed->joint[first + j].rows = 0;
  }
  return FRIX_OK;
}

static frix_status unpack_travellers(frix_bed *bed, const unsigned char *from, size_t size) {
  for (size_t at = 0; at < size;) {
    traveller t;
    memcpy(&t, from + at, sizeof t);
    at += sizeof t;
    int32_t wanted = bed->own > bed->memory_own ? bed->own : bed->memory_own;
    if (!fx_bed_reserve(bed, wanted + 1) || !fx_bed_grow(bed, &bed->memory, bed->memory_count, &bed->memory_room,
                                                         bed->memory_count + t.memories, sizeof *bed->memory))
      return FRIX_ERROR_MEMORY;
    fx_bed_put(bed, bed->own, t.place.id, t.place.size, t.place.p, t.place.q, t.v, t.s);
    if (t.memories) memcpy(bed->memory + bed->memory_count, from + at, (size_t)t.memories * sizeof *bed->memory);
    at += (size_t)t.memories * sizeof *bed->memory;
    for (int64_t j = 0; j < t.joints; j++, at += sizeof *bed->joint) {
      fx_bed_joint joint;
      memcpy(&joint, from + at, sizeof joint);
      frix_status status = fx_bed_put_joint(bed, &joint);
      if (status) return status;
    }
    if (bed->memory_own == 0) bed->memory_start[0] = 0;
    bed->memory_count += t.memories;
    bed->before[bed->own++] = bed->memory_own++;
    bed->memory_start[bed->memory_own] = (int32_t)bed->memory_count;
  }
  return FRIX_OK;
}

frix_status fx_bed_migrate(frix_bed *bed) {
  bed->count = bed->own;
  if (fx_bed_ranks(bed) == 1) return FRIX_OK;
  int32_t kept = 0, rank = fx_bed_rank(bed), n = fx_bed_ranks(bed);
  frix_status status = FRIX_OK;
  clear_out(bed);
  for (int32_t k = 0; k < bed->own && !status; k++) {
    int32_t p = rank_of(bed, bed->place[k].p);
    if (p != rank) {
      status = pack_traveller(bed, k, p);
      continue;
    }
    bed->place[kept] = bed->place[k], bed->speed[kept] = bed->speed[k], bed->before[kept] = bed->before[k];
    kept++;
  }
  bed->own = kept;
  if (!status) status = trade(bed);
  for (int32_t p = 0; p < n && !status; p++)
    status = unpack_travellers(bed, bed->buffer[n + p], bed->buffer_size[n + p]);
  fx_bed_order_joints(bed);
  bed->count = bed->own;
  return status;
}

/* ---- copies of neighbours ---- */

/* Ranks other than this one that hold a grain in this cell; their number. */
static int32_t holders(const frix_bed *bed, const int32_t cell[3], int32_t *out) {
  int32_t count = 0, rank = fx_bed_rank(bed), n = bed->cells;
  bool inside = bed->owner[fx_bed_block_of(bed, cell)] == rank;
  for (int k = 0; k < 3; k++) inside = inside && cell[k] % n > 0 && cell[k] % n < n - 1;
  for (int32_t k = 0; k < 27 && !inside; k++) {
    int32_t by[3] = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1}, near[3], at = 0;
    if (!fx_bed_step_cell(bed, cell, by, near)) continue;
    int32_t p = bed->owner[fx_bed_block_of(bed, near)];
    while (at < count && out[at] != p) at++;
    if (at == count && p != rank) out[count++] = p;
  }
  return count;
}

enum { MOST_HOLDERS = 27 };

typedef struct copy {
  fx_bed_place place;
  frix_vec3 v, s;
} copy;

frix_status fx_bed_fetch(frix_bed *bed) {
  int32_t n = fx_bed_ranks(bed), to[MOST_HOLDERS], cell[3];
  if (n == 1) return FRIX_OK;
  clear_out(bed);
  for (int32_t k = 0; k < bed->own; k++) {
    fx_bed_cell_of(bed, bed->place[k].p, cell);
    int32_t count = holders(bed, cell, to);
    copy c = {bed->place[k], bed->speed[k].v, bed->speed[k].s};
    for (int32_t h = 0; h < count; h++) {
      void *room = append(bed, to[h], sizeof c);
      if (!room) return FRIX_ERROR_MEMORY;
      memcpy(room, &c, sizeof c);
    }
  }
  frix_status status = trade(bed);
  for (int32_t p = 0; p < n && !status; p++)
    for (size_t at = 0; at < bed->buffer_size[n + p]; at += sizeof(copy)) {
      copy c;
      memcpy(&c, bed->buffer[n + p] + at, sizeof c);
      if (!fx_bed_reserve(bed, bed->count + 1)) return FRIX_ERROR_MEMORY;
      fx_bed_put(bed, bed->count, c.place.id, c.place.size, c.place.p, c.place.q, c.v, c.s);
      bed->before[bed->count++] = FX_NO_GRAIN;
    }
  return status;
}

/* ---- routes ---- */

/* By grain: bits of the colours whose blocks of this rank touch it. */
static uint8_t *find_touched(const frix_bed *bed) {
  uint8_t *touched = FX_NEW(bed->context, uint8_t, bed->count + 1);
  for (int32_t c = 0; touched && c < FX_COLOURS; c++)
    for (int32_t b = bed->stage_start[c]; b < bed->stage_start[c + 1]; b++) {
      int32_t first, end;
      fx_bed_grains_of(bed, bed->stage_block[b], &first, &end);
      for (int32_t i = first; i < end; i++)
        for (int64_t k = bed->contact_start[i]; k < bed->contact_start[i + 1]; k++) {
          touched[i] |= (uint8_t)(1 << c);
          if (bed->contact[k].other >= 0) touched[bed->contact[k].other] |= (uint8_t)(1 << c);
        }
      int64_t range[2] = {0, 0};
      if (bed->bind_count) fx_bed_binds_of(bed, first, end, range);
      for (int64_t k = range[0]; k < range[1]; k++) {
        touched[bed->bind[k].grain] |= (uint8_t)(1 << c);
        if (bed->bind[k].other >= 0) touched[bed->bind[k].other] |= (uint8_t)(1 << c);
      }
    }
  return touched;
}

static frix_status list_halo(frix_bed *bed, const uint8_t *touched) {
  bed->halo_count = 0;
  for (int32_t k = bed->own; k < bed->count; k++) bed->halo_count += touched[k] != 0;
  fx_free(bed->context, bed->halo);
  bed->halo = fx_alloc_raw(bed->context, (size_t)bed->halo_count + 1, sizeof *bed->halo);
  if (!bed->halo) return FRIX_ERROR_MEMORY;
  int32_t at = 0;
  for (int32_t k = bed->own; k < bed->count; k++)
    if (touched[k]) bed->halo[at++] = k;
  return FRIX_OK;
}

/* A grain that a rank touches, and in which colours: told to all that hold it. */
typedef struct mention {
  int64_t id;
  int32_t cell[3], colours;
  int32_t grain; /* number here: of the sender, then of who has heard it */
} mention;

static frix_status tell_touched(frix_bed *bed, const uint8_t *touched) {
  int32_t to[MOST_HOLDERS];
  clear_out(bed);
  for (int32_t k = 0; k < bed->count; k++) {
    if (!touched[k]) continue;
    mention m = {.id = bed->place[k].id, .colours = touched[k], .grain = k};
    fx_bed_cell_of(bed, bed->place[k].p, m.cell);
    int32_t count = holders(bed, m.cell, to);
    for (int32_t h = 0; h < count; h++) {
      void *room = append(bed, to[h], sizeof m);
      if (!room) return FRIX_ERROR_MEMORY;
      memcpy(room, &m, sizeof m);
    }
  }
  return trade(bed);
}

static int32_t find_grain(const frix_bed *bed, const mention *m) {
  int32_t first, end;
  fx_bed_grains_in(bed, m->cell, &first, &end);
  for (int32_t k = first; k < end; k++)
    if (bed->place[k].id == m->id) return k;
  return FX_NO_GRAIN;
}

static frix_status hear_touched(frix_bed *bed) {
  int32_t n = fx_bed_ranks(bed);
  for (int32_t p = n; p < 2 * n; p++)
    for (size_t at = 0; at < bed->buffer_size[p]; at += sizeof(mention)) {
      mention m;
      memcpy(&m, bed->buffer[p] + at, sizeof m);
      if ((m.grain = find_grain(bed, &m)) < 0)
        return fx_fail(bed->context, FRIX_ERROR_INPUT, "bed: ranks disagree on grain %lld", (long long)m.id);
      memcpy(bed->buffer[p] + at, &m, sizeof m);
    }
  return FRIX_OK;
}

static void mark(const frix_bed *bed, int32_t buffer, uint8_t *wanted, uint8_t value) {
  for (size_t at = 0; at < bed->buffer_size[buffer]; at += sizeof(mention)) {
    mention m;
    memcpy(&m, bed->buffer[buffer] + at, sizeof m);
    wanted[m.grain] = value;
  }
}

/* Of the grains in a buffer of mentions those that the rank `hearer` owns or wants, by colour, from place[colour] on.
 * Sender and hearer go through the same mentions, so that they make the same list. NULL: counts only. */
static void list_route(const frix_bed *bed, int32_t buffer, const uint8_t *wanted, int32_t hearer, int32_t *place,
                       int32_t *list) {
  for (size_t at = 0; at < bed->buffer_size[buffer]; at += sizeof(mention)) {
    mention m;
    memcpy(&m, bed->buffer[buffer] + at, sizeof m);
    if (!wanted[m.grain] && bed->owner[fx_bed_block_of(bed, m.cell)] != hearer) continue;
    for (int32_t c = 0; c < FX_COLOURS; c++) {
      if (!(m.colours >> c & 1)) continue;
      int32_t to = place[c]++;
      if (list) list[to] = m.grain;
    }
  }
}

/* Both directions between this rank and all others. theirs: zero, and left so. */
static void list_routes(const frix_bed *bed, const uint8_t *touched, uint8_t *theirs, int32_t *out, int32_t *in,
                        bool list) {
  int32_t n = fx_bed_ranks(bed), rank = fx_bed_rank(bed);
  for (int32_t p = 0; p < n; p++) {
    mark(bed, n + p, theirs, 1);
    list_route(bed, p, theirs, p, out + p * FX_COLOURS, list ? bed->send.grain : NULL);
    mark(bed, n + p, theirs, 0);
    list_route(bed, n + p, touched, rank, in + p * FX_COLOURS, list ? bed->receive.grain : NULL);
  }
}

static frix_status take_route(frix_bed *bed, fx_bed_route *route, int32_t *count) {
  int32_t n = fx_bed_ranks(bed) * FX_COLOURS;
  route->start[0] = 0;
  for (int32_t k = 0; k < n; k++) route->start[k + 1] = route->start[k] + count[k];
  memcpy(count, route->start, (size_t)n * sizeof *count);
  fx_free(bed->context, route->grain);
  route->grain = fx_alloc_raw(bed->context, (size_t)route->start[n] + 1, sizeof *route->grain);
  return route->grain ? FRIX_OK : FRIX_ERROR_MEMORY;
}

frix_status fx_bed_routes(frix_bed *bed) {
  int32_t n = fx_bed_ranks(bed);
  if (n == 1) return FRIX_OK;
  uint8_t *touched = find_touched(bed), *theirs = FX_NEW(bed->context, uint8_t, bed->count + 1);
  int32_t *out = FX_NEW(bed->context, int32_t, 2 * (size_t)n * FX_COLOURS), *in = out ? out + n * FX_COLOURS : NULL;
  frix_status status = touched && theirs && out ? list_halo(bed, touched) : FRIX_ERROR_MEMORY;
  if (!status) status = tell_touched(bed, touched);
  if (!status) status = hear_touched(bed);
  if (!status) list_routes(bed, touched, theirs, out, in, false);
  if (!status) status = take_route(bed, &bed->send, out);
  if (!status) status = take_route(bed, &bed->receive, in);
  if (!status) list_routes(bed, touched, theirs, out, in, true);
  fx_free(bed->context, touched), fx_free(bed->context, theirs), fx_free(bed->context, out);
  return status;
}

/* ---- velocities ---- */

frix_status fx_bed_share(frix_bed *bed, int32_t colour, bool energy) {
  int32_t n = fx_bed_ranks(bed), width = energy ? 8 : 6;
  if (n == 1) return FRIX_OK;
  clear_out(bed);
  for (int32_t p = 0; p < n; p++) {
    const int32_t *from = bed->send.start + p * FX_COLOURS + colour, *to = bed->receive.start + p * FX_COLOURS + colour;
    double *x = append(bed, p, (size_t)(from[1] - from[0]) * (size_t)width * sizeof *x);
    if (!x || !reserve_in(bed, p, (size_t)(to[1] - to[0]) * (size_t)width * sizeof *x)) return FRIX_ERROR_MEMORY;
    for (int32_t at = from[0]; at < from[1]; at++, x += width) {
      int32_t k = bed->send.grain[at];
      memcpy(x, &bed->speed[k].v, 3 * sizeof *x);
      memcpy(x + 3, &bed->speed[k].s, 3 * sizeof *x);
      if (energy) memcpy(x + 6, bed->energy + 2 * (size_t)k, 2 * sizeof *x);
    }
  }
  frix_status status = send_out(bed);
  for (int32_t p = 0; p < n && !status; p++) {
    const int32_t *to = bed->receive.start + p * FX_COLOURS + colour;
    const unsigned char *bytes = bed->buffer[n + p];
    for (int32_t at = to[0]; at < to[1]; at++, bytes += (size_t)width * sizeof(double)) {
      double x[8];
      int32_t k = bed->receive.grain[at];
      memcpy(x, bytes, (size_t)width * sizeof *x);
      bed->speed[k].v = fx_vec(x[0], x[1], x[2]);
      bed->speed[k].s = fx_vec(x[3], x[4], x[5]);
      if (energy) memcpy(bed->energy + 2 * (size_t)k, x + 6, 2 * sizeof *x);
    }
  }
  return status;
}
