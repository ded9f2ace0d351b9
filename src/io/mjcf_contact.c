/* Who meets whom, and with what friction.
 *
 * MuJoCo: two geoms meet when the contype of one has a bit in the conaffinity of the other, either way. Geoms of equal
 * bits are one kind; a kind is one bit of frix's groups, and its mask lists the kinds it meets. A pair or an exclusion
 * that needs more makes its geoms kinds of their own.
 *
 * Friction: of the geom with the higher priority, else the larger of both, number by number; condim likewise. Geoms of
 * equal friction are one material; what two materials give is written into the model's table of pairs, since frix's
 * own rule is another. Explicit pairs that say the same of all geoms of two materials are an entry of that table;
 * others make their geoms materials of their own. */
#include <string.h>

#include "io/draft.h"
#include "io/mjcf.h"
#include "model/builder.h"

enum { MOST_KINDS = 32, MOST_MATERIALS = 256 };

/* An explicit pair. */
typedef struct pair_entry {
  int32_t a, b; /* geoms */
  frix_material_config law;
} pair_entry;

static frix_material_config law_of(const fx_mjcf_reader *r, const double friction[3], int32_t condim) {
  frix_material_config law = frix_material_default();
  law.mu = condim >= 3 ? r->config.friction * friction[0] : 0.0;
  law.spinning = condim >= 4 ? r->config.friction * friction[1] : 0.0;
  law.rolling = condim >= 6 ? r->config.friction * friction[2] : 0.0;
  return law;
}

/* ---- pairs and exclusions by name ---- */

static const char *name_at(const fx_mjcf_reader *r, bool body, int32_t k) {
  return body ? r->body[r->body_by_name[k]].name : r->geom[r->geom_by_name[k]].name;
}

/* A body or a geom by the name in attribute `key`. */
static frix_status find(const fx_mjcf_reader *r, const fx_xml_element *e, bool body, const char *key, int32_t *out) {
  fx_mjcf_item item = {e, NULL};
  const char *name, *best = NULL;
  int32_t count = body ? r->named_bodies : r->named_geoms, low = 0, high = count;
  frix_status status = fx_mjcf_need(r, &item, key, &name);
  if (status) return status;
  *out = 0;
  if (body && !strcmp(name, "world")) return FRIX_OK;
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    if (strcmp(name_at(r, body, middle), name) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low < count && !strcmp(name_at(r, body, low), name)) {
    *out = body ? r->body_by_name[low] : r->geom_by_name[low];
    return FRIX_OK;
  }
  for (int32_t k = 0; k < count && !best; k++)
    if (*fx_mjcf_nearest(name_at(r, body, k), name).text) best = name_at(r, body, k);
  return fx_mjcf_fail(r, e, "there is no %s '%s'%s%s%s", body ? "body" : "geom", fx_word_of(name, strlen(name)).text,
                      best ? "; did you mean '" : "", best ? fx_word_of(best, strlen(best)).text : "",
                      best ? "'?" : "");
}

static void single_out(fx_mjcf_reader *r, int32_t *special) {
  if (!*special) *special = ++r->special_count;
}

static frix_status find_bodies(const fx_mjcf_reader *r, const fx_xml_element *e, int32_t *a, int32_t *b) {
  frix_status status = find(r, e, true, "body1", a);
  return status ? status : find(r, e, true, "body2", b);
}

/* Both whole bodies of the model, so that the model's own exclusion does. */
static bool whole(const fx_mjcf_reader *r, int32_t a, int32_t b) {
  return r->body[r->body[a].root].part_count == 1 && r->body[r->body[b].root].part_count == 1;
}

static frix_status exclude_bodies(fx_mjcf_reader *r, const fx_xml_element *e) {
  int32_t a = 0, b = 0;
  frix_status status = find_bodies(r, e, &a, &b);
  if (status || r->body[a].root == r->body[b].root) return status;
  if (whole(r, a, b)) return frix_builder_exclude(r->builder, r->body[a].id, r->body[b].id);
  for (int32_t k = 0; k < r->geom_count; k++)
    if (r->geom[k].body == a || r->geom[k].body == b) single_out(r, &r->geom[k].own_kind);
  return FRIX_OK;
}

/* Of parts of bodies: their geoms are kinds of their own by now. */
static frix_status exclude_parts(fx_mjcf_reader *r, const fx_xml_element *e) {
  int32_t a = 0, b = 0;
  frix_status status = find_bodies(r, e, &a, &b);
  if (status || r->body[a].root == r->body[b].root || whole(r, a, b)) return status;
  for (int32_t i = 0; i < r->geom_count; i++)
    for (int32_t j = 0; r->geom[i].body == a && j < r->geom_count; j++) {
      if (r->geom[j].body != b) continue;
      r->meets[r->geom[i].kind] &= ~(1u << r->geom[j].kind);
      r->meets[r->geom[j].kind] &= ~(1u << r->geom[i].kind);
    }
  return FRIX_OK;
}

/* ---- explicit pairs ---- */

static void mix(const fx_mjcf_material *a, const fx_mjcf_material *b, double friction[3], int32_t *condim) {
  const fx_mjcf_material *ruler = a->priority > b->priority ? a : b->priority > a->priority ? b : NULL;
  for (int k = 0; k < 3; k++) friction[k] = ruler ? ruler->friction[k] : fx_max(a->friction[k], b->friction[k]);
  *condim = ruler ? ruler->condim : a->condim > b->condim ? a->condim : b->condim;
}

static fx_mjcf_material material_of(const fx_mjcf_geom *g) {
  fx_mjcf_material m = {.condim = g->condim, .priority = g->priority, .special = g->own_material};
  memcpy(m.friction, g->friction, sizeof m.friction);
  return m;
}

/* What the pair leaves open comes from its geoms. */
static frix_status pair_law(fx_mjcf_reader *r, const fx_xml_element *e, pair_entry *p) {
  int32_t condim, count = 0;
  double friction[3], given[5];
  fx_mjcf_item item;
  frix_status status = fx_mjcf_item_of(r, e, r->classes, &item);
  if (status) return status;
  fx_mjcf_material a = material_of(&r->geom[p->a]), b = material_of(&r->geom[p->b]);
  mix(&a, &b, friction, &condim);
  for (int k = 0; k < 5; k++) given[k] = friction[k < 2 ? 0 : k == 2 ? 1 : 2];
  if ((status = fx_mjcf_reals(r, &item, "friction", 1, 5, given, &count)) ||
      (status = fx_mjcf_integer(r, &item, "condim", 1, 6, &condim)))
    return status;
  if (condim == 2 || condim == 5) return fx_mjcf_fail(r, e, "pair condim: %d is none of 1, 3, 4, 6", (int)condim);
  for (int k = 0; k < 5; k++)
    if (!(given[k] >= 0.0)) return fx_mjcf_fail(r, e, "pair friction: %g is negative", given[k]);
  if (count == 1) given[1] = given[0];
  if ((given[0] != given[1] && condim >= 3) || (given[3] != given[4] && condim >= 6))
    status = fx_mjcf_note_add(r, FRIX_MJCF_UNSUPPORTED, e, "pair friction by direction",
                              "not supported: the larger of the two directions counts");
  friction[0] = fx_max(given[0], given[1]), friction[1] = given[2], friction[2] = fx_max(given[3], given[4]);
  p->law = law_of(r, friction, condim);
  return status;
}

static frix_status read_pairs(fx_mjcf_reader *r, pair_entry **list, int32_t *count) {
  int32_t most = 0;
  for (const fx_xml_element *e = NULL; (e = fx_mjcf_next(r, "contact", e));) most += !strcmp(e->name, "pair");
  *list = FX_TAKE(&r->arena, pair_entry, most);
  if (!*list) return FRIX_ERROR_MEMORY;
  for (const fx_xml_element *e = NULL; (e = fx_mjcf_next(r, "contact", e));) {
    if (strcmp(e->name, "pair")) continue;
    pair_entry *p = &(*list)[*count];
    frix_status status;
    if ((status = find(r, e, false, "geom1", &p->a)) || (status = find(r, e, false, "geom2", &p->b)) ||
        (status = pair_law(r, e, p)))
      return status;
    if (r->body[r->geom[p->a].body].root == r->body[r->geom[p->b].body].root) continue;
    ++*count;
    if (fx_mjcf_bits_meet(&r->geom[p->a], &r->geom[p->b])) continue;
    single_out(r, &r->geom[p->a].own_kind);
    single_out(r, &r->geom[p->b].own_kind);
  }
  return FRIX_OK;
}

/* How many pairs of geoms of two materials can touch, excluded bodies aside; counts no further than past `most`. */
static int64_t possible_pairs(const fx_mjcf_reader *r, int32_t a, int32_t b, int64_t most) {
  int64_t count = 0;
  for (int32_t i = 0; i < r->geom_count && count <= most; i++)
    for (int32_t j = 0; r->geom[i].material == a && j < r->geom_count && count <= most; j++) {
      if (r->geom[j].material != b || (a == b && j <= i)) continue;
      const fx_mjcf_body *x = &r->body[r->body[r->geom[i].body].root], *y = &r->body[r->body[r->geom[j].body].root];
      if (x == y || (!x->free && !y->free) || !fx_mjcf_bits_meet(&r->geom[i], &r->geom[j])) continue;
      bool excluded = false;
      for (int32_t k = 0; k < r->builder->excluded_count && !excluded; k++) {
        fx_pair e = r->builder->excluded[k];
        int32_t p = (int32_t)x->id.index, q = (int32_t)y->id.index;
        excluded = (e.a == p && e.b == q) || (e.a == q && e.b == p);
      }
      count += !excluded;
    }
  return count;
}

/* Pairs that do not say the same of all geoms of their materials need materials of their own. */
static frix_status split_materials(fx_mjcf_reader *r, const pair_entry *list, int32_t count, bool *split) {
  struct group {
    int64_t count;
    frix_material_config law;
    bool mixed;
  } *table = FX_TAKE(&r->arena, struct group, (size_t)r->material_count * (size_t)r->material_count);
  if (!table) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < count; k++) {
    int32_t a = r->geom[list[k].a].material, b = r->geom[list[k].b].material;
    struct group *g = &table[(a < b ? a : b) * r->material_count + (a < b ? b : a)];
    const frix_material_config *x = &list[k].law, *y = &g->law;
    if (g->count++ == 0) g->law = *x;
    g->mixed |= x->mu != y->mu || x->spinning != y->spinning || x->rolling != y->rolling;
  }
  for (int32_t k = 0; k < r->material_count * r->material_count; k++) {
    struct group *g = &table[k];
    int32_t a = k / r->material_count, b = k % r->material_count;
    if (g->count && !g->mixed) g->mixed = possible_pairs(r, a, b, g->count) != g->count;
  }
  for (int32_t k = 0; k < count; k++) {
    int32_t a = r->geom[list[k].a].material, b = r->geom[list[k].b].material;
    if (!table[(a < b ? a : b) * r->material_count + (a < b ? b : a)].mixed) continue;
    single_out(r, &r->geom[list[k].a].own_material);
    single_out(r, &r->geom[list[k].b].own_material);
    *split = true;
  }
  return FRIX_OK;
}

static frix_status set_pairs(fx_mjcf_reader *r, const pair_entry *list, int32_t count) {
  bool *done = FX_TAKE(&r->arena, bool, (size_t)r->material_count *(size_t)r->material_count);
  if (!done) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < count; k++) {
    const fx_mjcf_geom *x = &r->geom[list[k].a], *y = &r->geom[list[k].b];
    r->meets[x->kind] |= 1u << y->kind;
    r->meets[y->kind] |= 1u << x->kind;
    bool *seen = &done[x->material * r->material_count + y->material];
    if (*seen) continue;
    *seen = true;
    frix_status status =
        frix_builder_set_pair(r->builder, r->material[x->material].id, r->material[y->material].id, &list[k].law);
    if (status) return status;
  }
  return FRIX_OK;
}

/* ---- kinds and materials ---- */

static frix_status assign_kinds(fx_mjcf_reader *r) {
  const fx_mjcf_geom *first[MOST_KINDS];
  int32_t count = 0;
  for (int32_t k = 0; k < r->geom_count; k++) {
    fx_mjcf_geom *g = &r->geom[k];
    int32_t at = 0;
    while (at < count && (first[at]->contype != g->contype || first[at]->own_kind != g->own_kind ||
                          first[at]->conaffinity != g->conaffinity))
      at++;
    if (at == MOST_KINDS)
      return fx_mjcf_fail(r, g->item.element,
                          "more than %d kinds of geoms by contype, conaffinity, pairs and exclusions of parts",
                          MOST_KINDS);
    if (at == count) first[count++] = g;
    g->kind = at;
  }
  for (int32_t i = 0; i < count; i++)
    for (int32_t j = 0; j < count; j++)
      if (fx_mjcf_bits_meet(first[i], first[j])) r->meets[i] |= 1u << j;
  return FRIX_OK;
}

static frix_status find_materials(fx_mjcf_reader *r) {
  r->material_count = 0;
  for (int32_t k = 0; k < r->geom_count; k++) {
    fx_mjcf_geom *g = &r->geom[k];
    fx_mjcf_material m = material_of(g);
    int32_t at = 0;
    while (at < r->material_count &&
           (memcmp(r->material[at].friction, m.friction, sizeof m.friction) || r->material[at].condim != m.condim ||
            r->material[at].priority != m.priority || r->material[at].special != m.special))
      at++;
    g->material = at;
    if (at < r->material_count) continue;
    if (at == MOST_MATERIALS)
      return fx_mjcf_fail(r, g->item.element, "more than %d different frictions", MOST_MATERIALS);
    if (!FX_MJCF_ROOM(r, material)) return FRIX_ERROR_MEMORY;
    r->material[r->material_count++] = m;
  }
  return FRIX_OK;
}

/* The table of pairs: all that follow from the rule. */
static frix_status add_materials(fx_mjcf_reader *r) {
  frix_status status = FRIX_OK;
  for (int32_t k = 0; k < r->material_count && !status; k++) {
    frix_material_config law = law_of(r, r->material[k].friction, r->material[k].condim);
    status = frix_builder_add_material(r->builder, &law, &r->material[k].id);
  }
  for (int32_t i = 0; i < r->material_count; i++)
    for (int32_t j = i + 1; j < r->material_count && !status; j++) {
      double friction[3];
      int32_t condim;
      mix(&r->material[i], &r->material[j], friction, &condim);
      frix_material_config law = law_of(r, friction, condim);
      status = frix_builder_set_pair(r->builder, r->material[i].id, r->material[j].id, &law);
    }
  return status ? fx_mjcf_place(r, r->root, status) : FRIX_OK;
}

static frix_status exclude_all(fx_mjcf_reader *r, frix_status (*exclude)(fx_mjcf_reader *, const fx_xml_element *)) {
  frix_status status = FRIX_OK;
  for (const fx_xml_element *e = NULL; !status && (e = fx_mjcf_next(r, "contact", e));)
    if (!strcmp(e->name, "exclude")) status = exclude(r, e);
  return status;
}

/* After the bodies of the model have their ids, before its shapes are made. */
frix_status fx_mjcf_contacts(fx_mjcf_reader *r) {
  pair_entry *list = NULL;
  int32_t count = 0;
  bool split = false;
  frix_status status;
  if ((status = exclude_all(r, exclude_bodies)) || (status = read_pairs(r, &list, &count)) ||
      (status = assign_kinds(r)) || (status = find_materials(r)) || (status = split_materials(r, list, count, &split)))
    return status;
  if (split) status = find_materials(r);
  /* explicit pairs stand above exclusions */
  if (status || (status = add_materials(r)) || (status = exclude_all(r, exclude_parts)) ||
      (status = set_pairs(r, list, count)))
    return status;
  if (r->no_contact) memset(r->meets, 0, sizeof r->meets);
  return FRIX_OK;
}
