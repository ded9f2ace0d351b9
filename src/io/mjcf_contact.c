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
#include "io/mjcf_internal.h"
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

/* Geoms that may touch something. */
static bool touches(const fx_mjcf_geom *g) { return g->type != FX_GEOM_LEFT_OUT && (g->contype || g->conaffinity); }

/* ---- exclusions ---- */

static bool same_bits(const fx_mjcf_geom *a, const fx_mjcf_geom *b) {
  return a->contype == b->contype && a->conaffinity == b->conaffinity;
}

/* How many kinds there are without any that stand alone. */
static int32_t count_kinds(const fx_mjcf_reader *r) {
  int32_t count = 0;
  for (int32_t k = 0; k < r->geom_count && count < MOST_KINDS; k++) {
    int32_t j = 0;
    while (j < k && (r->geom[j].type == FX_GEOM_LEFT_OUT || !same_bits(&r->geom[j], &r->geom[k]))) j++;
    count += j == k && r->geom[k].type != FX_GEOM_LEFT_OUT;
  }
  return count;
}

/* All of the body of the model that may touch something is this body of the file, so that the model's own exclusion
 * does. */
static bool whole(const fx_mjcf_reader *r, int32_t body) {
  for (int32_t k = 0; k < r->geom_count; k++)
    if (touches(&r->geom[k]) && r->geom[k].body != body && r->body[r->geom[k].body].root == r->body[body].root)
      return false;
  return true;
}

/* The geoms of a body become kinds of their own, those of equal bits together; false where there is no room. */
static bool single_out_body(fx_mjcf_reader *r, int32_t body, int32_t room) {
  for (int32_t k = 0; k < r->geom_count; k++) {
    fx_mjcf_geom *g = &r->geom[k];
    if (g->body != body || g->own_kind || !touches(g)) continue;
    for (int32_t j = 0; j < k && !g->own_kind; j++)
      if (r->geom[j].body == body && same_bits(&r->geom[j], g)) g->own_kind = r->geom[j].own_kind;
    if (g->own_kind) continue;
    if (r->special_count == room) return false;
    g->own_kind = ++r->special_count;
  }
  return true;
}

typedef frix_status exclude_two(fx_mjcf_reader *r, const fx_xml_element *e, int32_t a, int32_t b, int32_t room);

static frix_status exclude_bodies(fx_mjcf_reader *r, const fx_xml_element *e, int32_t a, int32_t b, int32_t room) {
  if (r->body[a].root == r->body[b].root) return FRIX_OK;
  if (whole(r, a) && whole(r, b))
    return frix_builder_exclude(r->builder, r->body[r->body[a].root].id, r->body[r->body[b].root].id);
  if (single_out_body(r, a, room) && single_out_body(r, b, room)) return FRIX_OK;
  return fx_mjcf_missing(r, e, "contact exclude of parts", "not supported: too many kinds of geoms; these still meet");
}

/* Of parts of bodies: their geoms are kinds of their own by now. */
static frix_status exclude_parts(fx_mjcf_reader *r, const fx_xml_element *e, int32_t a, int32_t b, int32_t room) {
  (void)e, (void)room;
  if (r->body[a].root == r->body[b].root || (whole(r, a) && whole(r, b))) return FRIX_OK;
  for (int32_t i = 0; i < r->geom_count; i++)
    for (int32_t j = 0; r->geom[i].body == a && j < r->geom_count; j++) {
      if (r->geom[j].body != b || !r->geom[i].own_kind || !r->geom[j].own_kind) continue;
      r->meets[r->geom[i].kind] &= ~(1u << r->geom[j].kind);
      r->meets[r->geom[j].kind] &= ~(1u << r->geom[i].kind);
    }
  return FRIX_OK;
}

static frix_status exclude_all(fx_mjcf_reader *r, exclude_two *exclude) {
  frix_status status = FRIX_OK;
  int32_t instance = -1, room = MOST_KINDS - count_kinds(r);
  for (const fx_xml_element *e = NULL; !status && (e = fx_mjcf_next_of_all(r, "contact", &instance, e));) {
    fx_mjcf_found found[2];
    int32_t n = 0, a, b;
    if (strcmp(e->name, "exclude")) continue;
    status = fx_mjcf_find(r, instance, e, FX_NAMED_BODY, "body1", &found[0]);
    if (!status) status = fx_mjcf_find(r, instance, e, FX_NAMED_BODY, "body2", &found[1]);
    while (!status && fx_mjcf_combined(r, FX_NAMED_BODY, &found[0], &found[1], &n, &a, &b))
      status = exclude(r, e, a, b, room);
  }
  return status;
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
  frix_status status = fx_mjcf_item_of(r, e, fx_mjcf_source_of(e)->classes, &item);
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
  return status ? status : fx_mjcf_coat_pair(r, &item, p->a, p->b);
}

/* Whether the model keeps two bodies apart: an exclusion, or a joint between them. */
static bool kept_apart(const fx_mjcf_reader *r, int32_t a, int32_t b) {
  const fx_mjcf_body *x = &r->body[a], *y = &r->body[b];
  int32_t p = (int32_t)x->id.index, q = (int32_t)y->id.index;
  for (int32_t k = 0; k < r->builder->excluded_count; k++) {
    fx_pair e = r->builder->excluded[k];
    if ((e.a == p && e.b == q) || (e.a == q && e.b == p)) return true;
  }
  const fx_mjcf_body *above = x->parent >= 0 && r->body[x->parent].root == b   ? y
                              : y->parent >= 0 && r->body[y->parent].root == a ? x
                                                                               : NULL;
  return above && !r->no_parent_filter && (fx_mjcf_moves(above) || above->mocap);
}

static frix_status take_pair(fx_mjcf_reader *r, const fx_xml_element *e, pair_entry *p, int32_t *count) {
  fx_mjcf_geom *g[2] = {&r->geom[p->a], &r->geom[p->b]};
  int32_t a = r->body[g[0]->body].root, b = r->body[g[1]->body].root;
  if (a == b || g[0]->type == FX_GEOM_LEFT_OUT || g[1]->type == FX_GEOM_LEFT_OUT) return FRIX_OK;
  if (kept_apart(r, a, b))
    return fx_mjcf_missing(r, e, "pair of bodies that are kept apart",
                           "not supported: a joint or an exclusion keeps the two bodies from meeting");
  ++*count;
  for (int k = 0; k < 2 && !fx_mjcf_bits_meet(g[0], g[1]); k++)
    if (!g[k]->alone) g[k]->alone = true, g[k]->own_kind = ++r->special_count;
  return pair_law(r, e, p);
}

static frix_status read_pairs(fx_mjcf_reader *r, pair_entry **list, int32_t *count) {
  frix_status status = FRIX_OK;
  int32_t room = 0;
  for (int pass = 0; pass < 2; pass++) { /* first how many there are, replicas counted */
    int32_t instance = -1;
    for (const fx_xml_element *e = NULL; !status && (e = fx_mjcf_next_of_all(r, "contact", &instance, e));) {
      fx_mjcf_found found[2];
      pair_entry p;
      int32_t n = 0;
      if (strcmp(e->name, "pair")) continue;
      status = fx_mjcf_find(r, instance, e, FX_NAMED_GEOM, "geom1", &found[0]);
      if (!status) status = fx_mjcf_find(r, instance, e, FX_NAMED_GEOM, "geom2", &found[1]);
      while (!status && fx_mjcf_combined(r, FX_NAMED_GEOM, &found[0], &found[1], &n, &p.a, &p.b)) {
        if (pass == 0) {
          room++;
          continue;
        }
        /* cppcheck-suppress uninitStructMember */
        (*list)[*count] = p;
        status = take_pair(r, e, &(*list)[*count], count);
      }
    }
    if (pass == 0 && !status && !(*list = FX_TAKE(&r->arena, pair_entry, room))) return FRIX_ERROR_MEMORY;
  }
  return status;
}

/* How many pairs of geoms of two materials can touch, excluded bodies aside; counts no further than past `most`. */
static int64_t possible_pairs(const fx_mjcf_reader *r, int32_t a, int32_t b, int64_t most) {
  int64_t count = 0;
  for (int32_t i = 0; i < r->geom_count && count <= most; i++)
    for (int32_t j = 0; r->geom[i].material == a && touches(&r->geom[i]) && j < r->geom_count && count <= most; j++) {
      if (r->geom[j].material != b || (a == b && j <= i) || !touches(&r->geom[j])) continue;
      int32_t x = r->body[r->geom[i].body].root, y = r->body[r->geom[j].body].root;
      if (x == y || (!fx_mjcf_moves(&r->body[x]) && !fx_mjcf_moves(&r->body[y]))) continue;
      count += fx_mjcf_bits_meet(&r->geom[i], &r->geom[j]) && !kept_apart(r, x, y);
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
    int32_t *own[2] = {&r->geom[list[k].a].own_material, &r->geom[list[k].b].own_material};
    for (int side = 0; side < 2; side++)
      if (!*own[side]) *own[side] = ++r->special_count;
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
    if (g->type == FX_GEOM_LEFT_OUT) continue;
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
    if (g->type == FX_GEOM_LEFT_OUT) continue;
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
  return status ? fx_mjcf_place(r, r->source->root, status) : FRIX_OK;
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
