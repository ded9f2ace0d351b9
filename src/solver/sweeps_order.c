/* Order and batches of a pile.
 *
 * What is near in the pile has to be near in memory. Where the given order does not see to that, bodies are numbered by
 * walking the contact graph breadth first, and contacts follow their first body. Contacts of one pair of bodies that
 * stand side by side make a run, which takes one lane of as many batches in a row: a sweep reads and writes the bodies
 * of these batches once. Each run goes to the oldest of 64 open stacks of such batches that holds runs of its length
 * and none of its bodies and, where possible, whose open neighbours hold none either. Two stacks of one length that
 * share no body make a couple: their batches take turns, and a sweep works on two at once. */
#include "solver/sweeps.h"

#include "problem/round_rows.h"

#include <string.h>

enum { WINDOW = 64, NEAR = 4096 }; /* open stacks; bodies whose records stay in the cache */
enum { LONGEST = 4 };              /* run: the corners of a face */
enum { REACH = 16 };               /* stacks among which the other one of a couple is looked for */
enum { LARGE = 2000 };             /* contacts from which a compliant pile is cut into segments */
enum { MORE = 8, MORE_PART = 8 };  /* room for later contacts: batches, and a part of those there are */

/* ---- bodies ---- */

/* Visits the movers that contacts join, breadth first; those without a contact are left out. */
static void walk(const fx_system *s, const int32_t *first, const int32_t *list, fx_pile *p, int32_t *body_of) {
  int32_t count = 1, head = 1;
  for (int32_t seed = 0; seed < s->mover_count; seed++) {
    if (body_of[seed] || first[seed] == first[seed + 1]) continue;
    body_of[seed] = count;
    p->body_mover[count++] = seed;
    for (; head < count; head++) {
      int32_t mover = p->body_mover[head];
      for (int32_t e = first[mover]; e < first[mover + 1]; e++)
        for (int32_t k = s->Ht.start[list[e]]; k < s->Ht.start[list[e] + 1]; k++) {
          int32_t other = s->Ht.index[k];
          if (body_of[other]) continue;
          body_of[other] = count;
          p->body_mover[count++] = other;
        }
    }
  }
  p->body_count = count;
}

enum { LISTED = -1, WAITING = -2 };

/* Contacts in the order of their first body; place: workspace, below zero at the end. */
static void list_contacts(const fx_system *s, const uint8_t *swept, const int32_t *first, const int32_t *list,
                          const fx_pile *p, int32_t *order, int32_t *place) {
  int32_t count = 0;
  for (int32_t i = 0; i < s->contact_count; i++) place[i] = !swept || swept[i] ? WAITING : LISTED;
  for (int32_t body = 1; body < p->body_count; body++) {
    int32_t mover = p->body_mover[body];
    for (int32_t e = first[mover]; e < first[mover + 1]; e++)
      if (place[list[e]] == WAITING) {
        place[list[e]] = LISTED;
        order[count++] = list[e];
      }
  }
  for (int32_t i = 0; i < s->contact_count; i++)
    if (place[i] == WAITING) order[count++] = i; /* on the fixed world alone */
}

/* Mean distance, in bodies, from one contact to the next and across a contact. */
static double spread(const fx_system *s) {
  int64_t sum = 0;
  int32_t before = 0;
  for (int32_t i = 0; i < s->contact_count; i++) {
    int32_t k = s->Ht.start[i], end = s->Ht.start[i + 1];
    if (k == end) continue;
    int32_t low = s->Ht.index[k], high = s->Ht.index[end - 1];
    sum += high - low + (high > before ? high - before : before - high);
    before = high;
  }
  return s->contact_count ? (double)sum / s->contact_count : 0;
}

static frix_status number(fx_arena *arena, const fx_system *s, const uint8_t *swept, fx_pile *p) {
  if (p->segment_count == 1 && (s->mover_count <= NEAR || spread(s) <= NEAR)) {
    for (int32_t m = 0; m < s->mover_count; m++) {
      p->body_of[m] = m + 1;
      p->body_mover[m + 1] = m;
    }
    memset(p->slot, -1, (size_t)s->contact_count * sizeof *p->slot);
    for (int32_t i = 0, k = 0; i < s->contact_count; i++)
      if (!swept || swept[i]) p->order[k++] = i;
    p->body_count = s->mover_count + 1;
    return FRIX_OK;
  }
  int32_t *first, *list;
  frix_status status = fx_block_columns(arena, &s->Ht, &first, &list);
  if (status != FRIX_OK) return status;
  walk(s, first, list, p, p->body_of);
  list_contacts(s, swept, first, list, p, p->order, p->slot);
  return FRIX_OK;
}

/* ---- batches ---- */

/* The open stacks: first .. first + 63, each at the bit of its number modulo 64. */
typedef struct window {
  uint64_t *used;                    /* per body: the open stacks that hold it */
  uint64_t full, holds[LONGEST + 1]; /* by length of runs: stacks that hold some */
  uint32_t first;
  int32_t last;
  int32_t fill[WINDOW], body[WINDOW][FX_BATCH][2];
} window;

static uint64_t rotate(uint64_t x, uint32_t by) { return x << by | x >> (-by & 63); }

/* The first stack takes no more: its bit serves stack first + 64. */
static void retire(window *w) {
  uint32_t at = w->first % WINDOW;
  uint64_t bit = (uint64_t)1 << at;
  for (int lane = 0; lane < w->fill[at]; lane++) {
    w->used[w->body[at][lane][0]] &= ~bit;
    w->used[w->body[at][lane][1]] &= ~bit;
  }
  w->fill[at] = 0;
  w->full &= ~bit;
  for (int k = 1; k <= LONGEST; k++) w->holds[k] &= ~bit;
  w->first++;
}

/* Stack and lane, as 8 stack + lane, of a run of so many contacts of bodies a and b. */
static int32_t place_run(window *w, int32_t length, int32_t a, int32_t b) {
  uint64_t others = 0;
  for (int k = 1; k <= LONGEST; k++) others |= k != length ? w->holds[k] : 0;
  uint64_t taken = (w->used[a] | w->used[b]), near = rotate(taken, 1) | rotate(taken, 63);
  uint64_t open = ~(taken | near | w->full | others);
  if (!open) open = ~(taken | w->full | others);
  if (!open) {
    retire(w);
    open = (uint64_t)1 << (w->first + WINDOW - 1) % WINDOW;
  }
  uint32_t after = (uint32_t)__builtin_ctzll(rotate(open, -w->first % WINDOW)), at = (w->first + after) % WINDOW;
  int32_t stack = (int32_t)(w->first + after), lane = w->fill[at]++;
  w->body[at][lane][0] = a;
  w->body[at][lane][1] = b;
  uint64_t bit = (uint64_t)1 << at;
  w->holds[length] |= bit;
  if (a) w->used[a] |= bit;
  if (b) w->used[b] |= bit;
  if (lane + 1 == FX_BATCH) w->full |= bit;
  if (stack > w->last) w->last = stack;
  while (w->full >> (w->first % WINDOW) & 1) retire(w);
  return stack * FX_BATCH + lane;
}

/* Contacts from the k-th on, in their order, that have the same bodies, as many as `longest`. */
static int32_t run_length(const int32_t *pairs, int32_t k, int32_t end, int32_t longest) {
  int32_t length = 1;
  while (length < longest && k + length < end && pairs[2 * k] == pairs[2 * (k + length)] &&
         pairs[2 * k + 1] == pairs[2 * (k + length) + 1])
    length++;
  return length;
}

static void bodies_of(const fx_system *s, int32_t i, const int32_t *body_of, int32_t out[2]) {
  int32_t k = s->Ht.start[i], count = s->Ht.start[i + 1] - k;
  out[0] = count == 2 ? body_of[s->Ht.index[k]] : 0;
  out[1] = count >= 1 ? body_of[s->Ht.index[k + count - 1]] : 0;
}

/* Whether two batches meet the same bodies, lane by lane. */
static bool has_same_bodies(const fx_pile *p, int32_t a, int32_t b) {
  const int32_t *list = p->slot_body;
  return memcmp(list + (size_t)a * 2 * FX_BATCH, list + (size_t)b * 2 * FX_BATCH, 2 * FX_BATCH * sizeof *list) == 0;
}

/* Where bodies stay from batch to batch, or from couple to couple, in a segment. */
static void find_again(fx_pile *p, int32_t first, int32_t end) {
  for (int32_t batch = first, before = 0, count; batch < end; batch += count, before = count) {
    count = p->couple[batch] ? 2 : 1;
    bool again = before == count;
    for (int32_t k = 0; k < count && again; k++) again = has_same_bodies(p, batch + k - count, batch + k);
    p->again[batch] = again;
  }
}

/* Segments 1 and 3, which run beside 0 and 2, have a record of their own for the world: the kernels write to it, if
 * only zeros, and two threads may not write to one. */
static void use_second_world(fx_pile *p, int32_t first, int32_t end) {
  for (size_t k = (size_t)first * 2 * FX_BATCH; k < (size_t)end * 2 * FX_BATCH; k++)
    if (p->slot_body[k] == 0) p->slot_body[k] = FX_RECORD * p->body_count;
}

/* Bodies of every slot, and the slots without a contact: lanes are filled from the first on. */
static frix_status list_slots(fx_arena *arena, const int32_t *pairs, fx_pile *p) {
  int32_t slots = p->batch_room * FX_BATCH, n = p->count;
  p->slot_body = FX_TAKE(arena, int32_t, (size_t)slots * 2);
  p->empty = FX_TAKE_RAW(arena, int32_t, slots - n);
  p->again = FX_TAKE(arena, uint8_t, p->batch_room + 1);
  int32_t *fill = FX_TAKE(arena, int32_t, p->batch_count);
  if (!p->slot_body || !p->empty || !p->again || !fill) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < n; k++) {
    int32_t slot = p->slot[p->order[k]], *to = p->slot_body + slot / FX_BATCH * 2 * FX_BATCH + slot % FX_BATCH;
    fill[slot / FX_BATCH]++;
    to[0] = FX_RECORD * pairs[2 * k];
    to[FX_BATCH] = FX_RECORD * pairs[2 * k + 1];
  }
  for (int32_t batch = 0; batch < p->batch_count; batch++)
    for (int32_t lane = fill[batch]; lane < FX_BATCH; lane++) p->empty[p->empty_count++] = batch * FX_BATCH + lane;
  for (int32_t k = 1; k < p->segment_count; k += 2) use_second_world(p, p->segment_end[k - 1], p->segment_end[k]);
  for (int32_t k = 0; k < p->segment_count; k++) find_again(p, k ? p->segment_end[k - 1] : 0, p->segment_end[k]);
  return FRIX_OK;
}

/* Contacts segment by segment, each in the order given. */
static frix_status sort_segments(fx_arena *arena, fx_pile *p, int32_t *pairs, int32_t end[FX_SEGMENTS]) {
  int32_t n = p->count, next[FX_SEGMENTS] = {0};
  uint8_t *segment = FX_TAKE_RAW(arena, uint8_t, n);
  int32_t *order = FX_TAKE_RAW(arena, int32_t, n), *sorted = FX_TAKE_RAW(arena, int32_t, 2 * (size_t)n);
  if (!segment || !order || !sorted) return FRIX_ERROR_MEMORY;
  frix_status status = fx_pile_cut(arena, n, pairs, p->body_count, segment, &p->body_cut);
  if (status != FRIX_OK) return status;
  memset(end, 0, FX_SEGMENTS * sizeof *end);
  for (int32_t k = 0; k < n; k++) end[segment[k]]++;
  for (int j = 1; j < FX_SEGMENTS; j++) end[j] += end[j - 1];
  for (int j = 1; j < FX_SEGMENTS; j++) next[j] = end[j - 1];
  for (int32_t k = 0; k < n; k++) {
    int32_t to = next[segment[k]]++;
    order[to] = p->order[k];
    sorted[2 * to] = pairs[2 * k];
    sorted[2 * to + 1] = pairs[2 * k + 1];
  }
  memcpy(p->order, order, (size_t)n * sizeof *order);
  memcpy(pairs, sorted, 2 * (size_t)n * sizeof *sorted);
  return FRIX_OK;
}

/* How far a sweep has come among the bodies, part by part; the last part sees to those that no contact meets. */
static void find_ends(fx_pile *p) {
  int32_t parts = (p->batch_count + FX_FLUSH - 1) / FX_FLUSH, most = 0;
  for (int32_t part = 0; part < parts; part++) {
    int32_t first = part * FX_FLUSH, end = part + 1 < parts ? first + FX_FLUSH : p->batch_count;
    for (int32_t k = first * 2 * FX_BATCH; k < end * 2 * FX_BATCH; k++)
      most = p->slot_body[k] > most ? p->slot_body[k] : most;
    p->body_end[part] = part + 1 < parts ? most / FX_RECORD + 1 : p->body_count;
  }
}

static int32_t count_swept(const fx_system *s, const uint8_t *swept) {
  int32_t count = swept ? 0 : s->contact_count;
  for (int32_t i = 0; swept && i < s->contact_count; i++) count += swept[i] != 0;
  return count;
}

/* Where the runs of a stack go: batches first, first + stride, ... */
typedef struct stack_place {
  int32_t length, first, stride;
  int32_t body[2 * FX_BATCH];
} stack_place;

/* Whether a stack meets one of the bodies that were stamped last. */
static bool is_stamped(const stack_place *s, const int32_t *stamp, int32_t value) {
  for (int k = 0; k < 2 * FX_BATCH; k++)
    if (s->body[k] && stamp[s->body[k]] == value) return true;
  return false;
}

/* The next stack within reach that is of the same length and shares no body; 0: there is none. */
static int32_t find_partner(const stack_place *stack, int32_t s, int32_t end, int32_t reach, int32_t *stamp) {
  for (int k = 0; k < 2 * FX_BATCH; k++) stamp[stack[s].body[k]] = s + 1;
  for (int32_t t = s + 1; t < end && t <= s + reach; t++)
    if (!stack[t].stride && stack[t].length == stack[s].length && !is_stamped(&stack[t], stamp, s + 1)) return t;
  return 0;
}

/* The stacks of a segment from batch `first` on: in their order, but two by two where possible. Batches of two such
 * stacks take turns, so that a sweep does not wait for the one before. */
static void place_stacks(stack_place *stack, int32_t count, int32_t reach, int32_t first, int32_t *stamp,
                         uint8_t *couple) {
  int32_t at = first;
  for (int32_t s = 0; s < count; s++) {
    if (stack[s].stride) continue; /* is placed with one before it */
    int32_t other = find_partner(stack, s, count, reach, stamp), length = stack[s].length;
    stack[s].first = at;
    stack[s].stride = other ? 2 : 1;
    at += stack[s].stride * length;
    if (!other) continue;
    stack[other].first = stack[s].first + 1;
    stack[other].stride = 2;
    for (int32_t batch = stack[s].first; batch < at; batch += 2) /* sums end after FX_FLUSH batches */
      couple[batch] = (batch - first) % FX_FLUSH != FX_FLUSH - 1;
  }
}

/* The segments of a pile, each of which one thread orders by itself: contacts first[k] .. first[k + 1] - 1 in their
 * order, and what becomes of them. */
typedef struct segments {
  fx_pile *pile;
  const int32_t *pairs;
  int32_t first[FX_SEGMENTS + 1], longest;
  uint64_t *used;                  /* by segment and body */
  int32_t *stamp;                  /* the same */
  int32_t stacks[FX_SEGMENTS + 1]; /* before those of each segment */
  stack_place *stack;
  int32_t batches[FX_SEGMENTS + 1]; /* before those of each segment */
} segments;

/* Stacks and lanes of the runs, as 8 stack + lane, in the place of the slots. */
static void stack_runs(int32_t segment, void *user) {
  segments *t = user;
  fx_pile *p = t->pile;
  window w = {.used = t->used + (size_t)segment * (size_t)p->body_count, .last = -1};
  for (int32_t k = t->first[segment], length; k < t->first[segment + 1]; k += length) {
    length = run_length(t->pairs, k, t->first[segment + 1], t->longest);
    int32_t place = place_run(&w, length, t->pairs[2 * k], t->pairs[2 * k + 1]);
    for (int32_t j = 0; j < length; j++) p->slot[p->order[k + j]] = place;
  }
  t->stacks[segment + 1] = w.last + 1;
}

/* Lengths and bodies of the stacks, and how many batches they are. */
static void describe_stacks(int32_t segment, void *user) {
  segments *t = user;
  const fx_pile *p = t->pile;
  stack_place *stack = t->stack + t->stacks[segment];
  for (int32_t k = t->first[segment], length; k < t->first[segment + 1]; k += length) {
    int32_t place = p->slot[p->order[k]];
    stack_place *own = &stack[place / FX_BATCH];
    own->length = length = run_length(t->pairs, k, t->first[segment + 1], t->longest);
    own->body[place % FX_BATCH] = t->pairs[2 * k];
    own->body[place % FX_BATCH + FX_BATCH] = t->pairs[2 * k + 1];
  }
  int32_t batches = 0;
  for (int32_t s = 0; s < t->stacks[segment + 1] - t->stacks[segment]; s++) batches += stack[s].length;
  t->batches[segment + 1] = batches;
}

/* Batches of the stacks, and with them the slots. */
static void place_runs(int32_t segment, void *user) {
  segments *t = user;
  fx_pile *p = t->pile;
  stack_place *stack = t->stack + t->stacks[segment];
  place_stacks(stack, t->stacks[segment + 1] - t->stacks[segment], t->longest > 1 ? REACH : 1, t->batches[segment],
               t->stamp + (size_t)segment * (size_t)p->body_count, p->couple);
  for (int32_t k = t->first[segment], length; k < t->first[segment + 1]; k += length) {
    int32_t place = p->slot[p->order[k]];
    const stack_place *own = &stack[place / FX_BATCH];
    length = own->length;
    for (int32_t j = 0; j < length; j++)
      p->slot[p->order[k + j]] = (own->first + j * own->stride) * FX_BATCH + place % FX_BATCH;
  }
}

static void add_up(int32_t count, int32_t *sums) {
  for (int32_t k = 0; k < count; k++) sums[k + 1] += sums[k];
}

/* Slots of all contacts; `end`: of the contacts of each segment. */
static frix_status find_slots(fx_arena *arena, const int32_t *pairs, const int32_t end[FX_SEGMENTS], fx_pile *p) {
  fx_threads threads = p->system->threads;
  int32_t count = p->segment_count;
  size_t bodies = (size_t)count * (size_t)p->body_count;
  /* spheres meet in one point, and the wide form keeps no bodies from batch to batch */
  segments t = {.pile = p, .pairs = pairs, .longest = p->wide || fx_round_sample(p->system) ? 1 : LONGEST};
  t.used = FX_TAKE(arena, uint64_t, bodies);
  t.stamp = FX_TAKE(arena, int32_t, bodies);
  if (!t.used || !t.stamp) return FRIX_ERROR_MEMORY;
  memcpy(t.first + 1, end, (size_t)count * sizeof *end);
  fx_parallel(threads.context, threads.count, count, stack_runs, &t);
  add_up(count, t.stacks);
  if (!(t.stack = FX_TAKE(arena, stack_place, t.stacks[count]))) return FRIX_ERROR_MEMORY;
  fx_parallel(threads.context, threads.count, count, describe_stacks, &t);
  add_up(count, t.batches);
  p->batch_count = t.batches[count];
  memcpy(p->segment_end, t.batches + 1, (size_t)count * sizeof *p->segment_end);
  if (!(p->couple = FX_TAKE(arena, uint8_t, p->batch_count + p->batch_count / MORE_PART + MORE)))
    return FRIX_ERROR_MEMORY;
  fx_parallel(threads.context, threads.count, count, place_runs, &t);
  return FRIX_OK;
}

frix_status fx_pile_order(fx_arena *arena, const fx_system *s, const uint8_t *swept, fx_pile *p) {
  int32_t n = p->count = count_swept(s, swept), end[FX_SEGMENTS] = {n};
  int32_t *pairs = FX_TAKE_RAW(arena, int32_t, 2 * (size_t)n);
  p->body_of = FX_TAKE(arena, int32_t, s->mover_count);
  p->order = FX_TAKE_RAW(arena, int32_t, s->contact_count);
  p->slot = FX_TAKE_RAW(arena, int32_t, s->contact_count);
  p->body_mover = FX_TAKE(arena, int32_t, (size_t)s->mover_count + 1);
  if (!p->body_of || !pairs || !p->order || !p->slot || !p->body_mover) return FRIX_ERROR_MEMORY;
  p->body_mover[0] = -1;
  p->segment_count = p->compliant && !p->wide && n >= LARGE ? FX_SEGMENTS : 1;
  frix_status status = number(arena, s, swept, p);
  if (status != FRIX_OK) return status;
  for (int32_t k = 0; k < n; k++) bodies_of(s, p->order[k], p->body_of, pairs + 2 * k);
  if (p->segment_count > 1 && (status = sort_segments(arena, p, pairs, end)) != FRIX_OK) return status;

  if ((status = find_slots(arena, pairs, end, p)) != FRIX_OK) return status;
  p->batch_room = p->batch_count + (swept ? MORE + p->batch_count / MORE_PART : 0);
  p->body_end = FX_TAKE_RAW(arena, int32_t, (p->batch_room + FX_FLUSH - 1) / FX_FLUSH);
  if (!p->body_end) return FRIX_ERROR_MEMORY;
  status = list_slots(arena, pairs, p);
  if (status == FRIX_OK) find_ends(p);
  return status;
}

/* Whether one of the batches from the first new one on has room for a contact of these bodies. */
static int32_t find_batch(const fx_pile *p, int32_t first, const int32_t *fill, const int32_t body[2]) {
  int32_t batch = first;
  for (; batch < p->batch_count; batch++) {
    const int32_t *list = p->slot_body + (size_t)batch * 2 * FX_BATCH;
    bool free = fill[batch - first] < FX_BATCH;
    for (int k = 0; k < 2 * FX_BATCH && free; k++)
      free = list[k] == 0 || (list[k] != body[0] * FX_RECORD && list[k] != body[1] * FX_RECORD);
    if (free) break;
  }
  return batch;
}

bool fx_pile_order_more(fx_pile *p, const uint8_t *swept) {
  enum { MOST = 256 };
  const fx_system *s = p->system;
  int32_t first = p->batch_count, fill[MOST] = {0};
  int32_t room = p->batch_room < first + MOST ? p->batch_room : first + MOST;
  for (int32_t i = 0; i < s->contact_count; i++) {
    int32_t body[2];
    if (!swept[i] || p->slot[i] >= 0) continue;
    bodies_of(s, i, p->body_of, body);
    int32_t batch = find_batch(p, first, fill, body);
    if (batch == room) return false;
    if (batch == p->batch_count) p->batch_count++;
    int32_t lane = fill[batch - first]++, *to = p->slot_body + (size_t)batch * 2 * FX_BATCH + lane;
    to[0] = FX_RECORD * body[0];
    to[FX_BATCH] = FX_RECORD * body[1];
    p->slot[i] = batch * FX_BATCH + lane;
    p->order[p->count++] = i;
  }
  for (int32_t batch = first; batch < p->batch_count; batch++)
    for (int32_t lane = fill[batch - first]; lane < FX_BATCH; lane++)
      p->empty[p->empty_count++] = batch * FX_BATCH + lane;
  p->segment_end[p->segment_count - 1] = p->batch_count;
  find_ends(p);
  return true;
}
