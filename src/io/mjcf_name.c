/* Names, and what a reference stands for.
 *
 * A thing is called by the name its element gives it, with the prefix of the model it was attached with before and the
 * suffix of its replica behind. A reference in a file names things without either: in an attached model it gets that
 * model's prefix and suffix, and one that names something replicated stands for every replica, as if the element that
 * holds it had been replicated too. */
#include <string.h>

#include "base/sort.h"
#include "io/draft.h"
#include "io/mjcf_internal.h"

static const char *const kind_word[] = {"body", "geom", "joint", "site", "camera", "tendon", "actuator"};

static char *joined(fx_mjcf_reader *r, const char *a, const char *b, const char *c) {
  size_t m = strlen(a), n = strlen(b), o = strlen(c);
  char *text = fx_arena_take(&r->arena, m + n + o + 1, 1);
  if (!text) return NULL;
  memcpy(text, a, m);
  memcpy(text + m, b, n);
  memcpy(text + m + n, c, o + 1);
  return text;
}

frix_status fx_mjcf_name_add(fx_mjcf_reader *r, fx_mjcf_named kind, int32_t thing, const fx_xml_element *e,
                             const fx_mjcf_at *at, const char **full) {
  const char *name = fx_xml_value(e, "name");
  fx_mjcf_names *list = &r->names[kind];
  *full = NULL;
  if (!name || !*name) return FRIX_OK;
  char *text = joined(r, r->instance[at->instance].prefix, name, at->suffix);
  if (!text || !FX_MJCF_ROOM_IN(r, list, name)) return FRIX_ERROR_MEMORY;
  list->name[list->name_count++] =
      (fx_mjcf_name){text, text + strlen(text) - strlen(at->suffix), thing, at->instance, at->copy, e};
  *full = text;
  return FRIX_OK;
}

/* ---- orders ---- */

static int compare_full(int32_t a, int32_t b, const void *user) {
  const fx_mjcf_name *name = user;
  return strcmp(name[a].full, name[b].full);
}

/* Names up to their suffixes. */
static int compare_base(const char *a, size_t m, const char *b, size_t n) {
  int order = memcmp(a, b, m < n ? m : n);
  return order ? order : (m > n) - (m < n);
}

static size_t base_of(const fx_mjcf_name *name) { return (size_t)(name->suffix - name->full); }

static int compare_parts(int32_t a, int32_t b, const void *user) {
  const fx_mjcf_name *x = (const fx_mjcf_name *)user + a, *y = (const fx_mjcf_name *)user + b;
  int order = compare_base(x->full, base_of(x), y->full, base_of(y));
  if (!order) order = (x->instance > y->instance) - (x->instance < y->instance);
  return order ? order : strcmp(x->suffix, y->suffix);
}

frix_status fx_mjcf_names_sort(fx_mjcf_reader *r, fx_mjcf_named kind) {
  fx_mjcf_names *list = &r->names[kind];
  int32_t count = list->name_count, *scratch = FX_TAKE_RAW(&r->arena, int32_t, count);
  list->by_full = FX_TAKE_RAW(&r->arena, int32_t, count);
  list->by_base = FX_TAKE_RAW(&r->arena, int32_t, count);
  if (!scratch || !list->by_full || !list->by_base) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < count; k++) list->by_full[k] = list->by_base[k] = k;
  fx_sort_by(list->by_full, scratch, (size_t)count, compare_full, list->name);
  fx_sort_by(list->by_base, scratch, (size_t)count, compare_parts, list->name);
  for (int32_t k = 1; k < count; k++) {
    const fx_mjcf_name *a = &list->name[list->by_full[k - 1]], *b = &list->name[list->by_full[k]];
    if (strcmp(a->full, b->full)) continue;
    return fx_mjcf_fail(r, b->element, "a second %s is called '%s'; the first is in line %d", kind_word[kind],
                        fx_word_of(b->full, strlen(b->full)).text, (int)a->element->line);
  }
  return FRIX_OK;
}

/* ---- references ---- */

/* The first place in an order whose name is not before the wanted one. */
static int32_t first_full(const fx_mjcf_names *list, const char *wanted) {
  int32_t low = 0, high = list->name_count;
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    if (strcmp(list->name[list->by_full[middle]].full, wanted) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static int32_t first_base(const fx_mjcf_names *list, const char *wanted, int32_t instance) {
  int32_t low = 0, high = list->name_count;
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    const fx_mjcf_name *name = &list->name[list->by_base[middle]];
    int order = compare_base(name->full, base_of(name), wanted, strlen(wanted));
    if (order < 0 || (order == 0 && name->instance < instance))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static frix_status not_there(const fx_mjcf_reader *r, const fx_xml_element *e, fx_mjcf_named kind, const char *name) {
  const fx_mjcf_names *list = &r->names[kind];
  const char *best = NULL;
  for (int32_t k = 0; k < list->name_count && !best; k++) {
    const char *other = list->name[list->by_full[k]].full;
    if (*fx_mjcf_nearest(other, name).text) best = other;
  }
  return fx_mjcf_fail(r, e, "there is no %s '%s'%s%s%s", kind_word[kind], fx_word_of(name, strlen(name)).text,
                      best ? "; did you mean '" : "", best ? fx_word_of(best, strlen(best)).text : "",
                      best ? "'?" : "");
}

frix_status fx_mjcf_find(fx_mjcf_reader *r, int32_t instance, const fx_xml_element *e, fx_mjcf_named kind,
                         const char *key, fx_mjcf_found *out) {
  fx_mjcf_item item = {e, NULL};
  const fx_mjcf_names *list = &r->names[kind];
  const fx_mjcf_instance *in = &r->instance[instance];
  const char *name;
  frix_status status = fx_mjcf_need(r, &item, key, &name);
  *out = (fx_mjcf_found){NULL, 0};
  if (status) return status;
  bool world = kind == FX_NAMED_BODY && !strcmp(name, "world");
  const char *base = world ? name : joined(r, in->prefix, name, ""),
             *full = joined(r, base ? base : "", "", in->suffix);
  if (!base || !full) return FRIX_ERROR_MEMORY;
  int32_t at = first_full(list, world ? name : full);
  if (at < list->name_count && !strcmp(list->name[list->by_full[at]].full, world ? name : full)) {
    *out = (fx_mjcf_found){list->by_full + at, 1};
    return FRIX_OK;
  }
  at = first_base(list, base, instance ? instance : -1);
  int32_t end = at;
  for (; end < list->name_count; end++) {
    const fx_mjcf_name *n = &list->name[list->by_base[end]];
    if (compare_base(n->full, base_of(n), base, strlen(base)) || (instance && n->instance != instance)) break;
  }
  *out = (fx_mjcf_found){list->by_base + at, end - at};
  return end > at || instance ? FRIX_OK : not_there(r, e, kind, name);
}

/* The entry with that suffix; of one without a suffix, that one. */
static int32_t partner(const fx_mjcf_names *list, const fx_mjcf_found *found, const char *suffix) {
  if (found->count == 1) return found->entry[0];
  int32_t low = 0, high = found->count;
  while (low < high) { /* of one instance they are sorted by suffix; of several, each by itself */
    int32_t middle = low + (high - low) / 2;
    if (strcmp(list->name[found->entry[middle]].suffix, suffix) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  if (low < found->count && !strcmp(list->name[found->entry[low]].suffix, suffix)) return found->entry[low];
  for (int32_t k = 0; k < found->count; k++)
    if (!strcmp(list->name[found->entry[k]].suffix, suffix)) return found->entry[k];
  return -1;
}

bool fx_mjcf_combined(const fx_mjcf_reader *r, fx_mjcf_named kind, const fx_mjcf_found *a, const fx_mjcf_found *b,
                      int32_t *n, int32_t *thing_a, int32_t *thing_b) {
  const fx_mjcf_names *list = &r->names[kind];
  bool by_a = a->count >= b->count;
  const fx_mjcf_found *most = by_a ? a : b, *least = by_a ? b : a;
  while (least->count && *n < most->count) {
    int32_t one = most->entry[(*n)++], other = partner(list, least, list->name[one].suffix);
    if (other < 0) continue;
    *thing_a = list->name[by_a ? one : other].thing;
    *thing_b = list->name[by_a ? other : one].thing;
    return true;
  }
  return false;
}
