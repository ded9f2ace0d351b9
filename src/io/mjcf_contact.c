/* Who meets whom, and with what friction.
 *
 * MuJoCo: two geoms meet when the contype of one has a bit in the conaffinity of the other, either way. Geoms of equal
 * bits are one kind; a kind is one bit of frix's groups, and its mask lists the kinds it meets. A pair or an exclusion
 * that needs more makes its geoms kinds of their own.
 *
 * Friction: of the geom with the higher priority, else the larger of both, number by number; condim likewise. Geoms of
 * equal friction are one material; what two materials give is written into the model's table of pairs, since frix's
 * own rule is another. */
#include <string.h>

#include "io/draft.h"
#include "io/mjcf.h"

enum { MOST_KINDS = 32, MOST_MATERIALS = 256 };

typedef struct kinds {
  int32_t count;
  const fx_mjcf_geom *geom[MOST_KINDS]; /* one of each */
  uint32_t meets[MOST_KINDS];
} kinds;

static frix_material_config law_of(const double friction[3], int32_t condim) {
  frix_material_config law = frix_material_default();
  law.mu = condim >= 3 ? friction[0] : 0.0;
  law.spinning = condim >= 4 ? friction[1] : 0.0;
  law.rolling = condim >= 6 ? friction[2] : 0.0;
  return law;
}

/* ---- pairs and exclusions by name ---- */

static frix_status find_geom(const fx_mjcf_reader *r, const fx_xml_element *e, const char *key, int32_t *out) {
  fx_mjcf_item item = {e, NULL};
  const char *name, *best = NULL;
  frix_status status = fx_mjcf_need(r, &item, key, &name);
  if (status) return status;
  for (int32_t k = 0; k < r->geom_count; k++) {
    const char *other = r->geom[k].name;
    *out = k;
    if (other && !strcmp(other, name)) return FRIX_OK;
    if (other && !best && *fx_mjcf_nearest(other, name).text) best = other;
  }
  return fx_mjcf_fail(r, e, "there is no geom '%s'%s%s%s", fx_word_of(name, strlen(name)).text,
                      best ? "; did you mean '" : "", best ? fx_word_of(best, strlen(best)).text : "",
                      best ? "'?" : "");
}

static frix_status find_body(const fx_mjcf_reader *r, const fx_xml_element *e, const char *key, int32_t *out) {
  fx_mjcf_item item = {e, NULL};
  const char *name, *best = NULL;
  frix_status status = fx_mjcf_need(r, &item, key, &name);
  if (status) return status;
  for (int32_t k = 0; k < r->body_count; k++) {
    const char *other = k ? r->body[k].name : "world";
    *out = k;
    if (other && !strcmp(other, name)) return FRIX_OK;
    if (other && !best && *fx_mjcf_nearest(other, name).text) best = other;
  }
  return fx_mjcf_fail(r, e, "there is no body '%s'%s%s%s", fx_word_of(name, strlen(name)).text,
                      best ? "; did you mean '" : "", best ? fx_word_of(best, strlen(best)).text : "",
                      best ? "'?" : "");
}

static void single_out(fx_mjcf_reader *r, fx_mjcf_geom *g) {
  if (!g->special) g->special = ++r->special_count;
}

/* An exclusion of whole bodies of the model is one; of parts of them, it singles out their geoms. */
static frix_status note_exclusion(fx_mjcf_reader *r, const fx_xml_element *e) {
  int32_t a, b;
  frix_status status = find_body(r, e, "body1", &a);
  if (!status) status = find_body(r, e, "body2", &b);
  if (status) return status;
  const fx_mjcf_body *x = &r->body[r->body[a].root], *y = &r->body[r->body[b].root];
  if (x == y || (x->part_count == 1 && y->part_count == 1)) return FRIX_OK;
  for (int32_t k = 0; k < r->geom_count; k++)
    if (r->geom[k].body == a || r->geom[k].body == b) single_out(r, &r->geom[k]);
  return FRIX_OK;
}

static frix_status exclude(fx_mjcf_reader *r, const fx_xml_element *e, kinds *list) {
  int32_t a = 0, b = 0;
  frix_status status = find_body(r, e, "body1", &a);
  if (!status) status = find_body(r, e, "body2", &b);
  if (status) return status;
  const fx_mjcf_body *x = &r->body[r->body[a].root], *y = &r->body[r->body[b].root];
  if (x == y) return FRIX_OK;
  if (x->part_count == 1 && y->part_count == 1) return frix_builder_exclude(r->builder, x->id, y->id);
  for (int32_t i = 0; i < r->geom_count; i++)
    for (int32_t j = 0; r->geom[i].body == a && j < r->geom_count; j++) {
      if (r->geom[j].body != b) continue;
      list->meets[r->geom[i].kind] &= ~(1u << r->geom[j].kind);
      list->meets[r->geom[j].kind] &= ~(1u << r->geom[i].kind);
    }
  return FRIX_OK;
}

static frix_status note_pair(fx_mjcf_reader *r, const fx_xml_element *e) {
  int32_t a = 0, b = 0;
  frix_status status = find_geom(r, e, "geom1", &a);
  if (!status) status = find_geom(r, e, "geom2", &b);
  if (status) return status;
  single_out(r, &r->geom[a]);
  single_out(r, &r->geom[b]);
  return FRIX_OK;
}

/* What the pair leaves open comes from its geoms. */
static void mix(const fx_mjcf_material *a, const fx_mjcf_material *b, double friction[3], int32_t *condim) {
  const fx_mjcf_material *ruler = a->priority > b->priority ? a : b->priority > a->priority ? b : NULL;
  for (int k = 0; k < 3; k++) friction[k] = ruler ? ruler->friction[k] : fx_max(a->friction[k], b->friction[k]);
  *condim = ruler ? ruler->condim : a->condim > b->condim ? a->condim : b->condim;
}

static frix_status set_pair(fx_mjcf_reader *r, const fx_xml_element *e, kinds *list) {
  int32_t a = 0, b = 0, condim, count = 0;
  double friction[3], given[5];
  fx_mjcf_item item;
  frix_status status;
  if ((status = find_geom(r, e, "geom1", &a)) || (status = find_geom(r, e, "geom2", &b)) ||
      (status = fx_mjcf_item_of(r, e, r->classes, &item)))
    return status;
  fx_mjcf_geom *x = &r->geom[a], *y = &r->geom[b];
  if (r->body[x->body].root == r->body[y->body].root) return FRIX_OK;
  const fx_mjcf_material *mx = &r->material[x->material], *my = &r->material[y->material];
  mix(mx, my, friction, &condim);
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
  if (status) return status;
  friction[0] = fx_max(given[0], given[1]), friction[1] = given[2], friction[2] = fx_max(given[3], given[4]);
  frix_material_config law = law_of(friction, condim);
  list->meets[x->kind] |= 1u << y->kind;
  list->meets[y->kind] |= 1u << x->kind;
  return frix_builder_set_pair(r->builder, mx->id, my->id, &law);
}

/* ---- kinds and materials ---- */

static frix_status assign_kinds(fx_mjcf_reader *r, kinds *list) {
  for (int32_t k = 0; k < r->geom_count; k++) {
    fx_mjcf_geom *g = &r->geom[k];
    int32_t at = 0;
    while (at < list->count && (list->geom[at]->contype != g->contype || list->geom[at]->special != g->special ||
                                list->geom[at]->conaffinity != g->conaffinity))
      at++;
    if (at == MOST_KINDS)
      return fx_mjcf_fail(r, g->item.element,
                          "more than %d kinds of geoms by contype, conaffinity, pairs and exclusions of parts",
                          MOST_KINDS);
    if (at == list->count) list->geom[list->count++] = g;
    g->kind = at;
  }
  for (int32_t i = 0; i < list->count; i++)
    for (int32_t j = 0; j < list->count; j++)
      if (fx_mjcf_bits_meet(list->geom[i], list->geom[j])) list->meets[i] |= 1u << j;
  return FRIX_OK;
}

static frix_status assign_materials(fx_mjcf_reader *r) {
  for (int32_t k = 0; k < r->geom_count; k++) {
    fx_mjcf_geom *g = &r->geom[k];
    fx_mjcf_material m = {.condim = g->condim, .priority = g->priority, .special = g->special};
    memcpy(m.friction, g->friction, sizeof m.friction);
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
    frix_material_config law = law_of(m.friction, m.condim);
    frix_status status = frix_builder_add_material(r->builder, &law, &m.id);
    if (status) return fx_mjcf_place(r, g->item.element, status);
    r->material[r->material_count++] = m;
  }
  return FRIX_OK;
}

static frix_status assign_pairs(fx_mjcf_reader *r) {
  for (int32_t i = 0; i < r->material_count; i++)
    for (int32_t j = i + 1; j < r->material_count; j++) {
      double friction[3];
      int32_t condim;
      mix(&r->material[i], &r->material[j], friction, &condim);
      frix_material_config law = law_of(friction, condim);
      frix_status status = frix_builder_set_pair(r->builder, r->material[i].id, r->material[j].id, &law);
      if (status) return status;
    }
  return FRIX_OK;
}

/* After the bodies of the model have their ids, before its shapes are made. */
frix_status fx_mjcf_contacts(fx_mjcf_reader *r) {
  kinds list = {0};
  frix_status status = FRIX_OK;
  for (const fx_xml_element *e = NULL; !status && (e = fx_mjcf_next(r, "contact", e));)
    status = !strcmp(e->name, "pair") ? note_pair(r, e) : note_exclusion(r, e);
  if (!status) status = assign_kinds(r, &list);
  if (!status) status = assign_materials(r);
  if (!status) status = assign_pairs(r);
  /* explicit pairs stand above exclusions */
  for (int pass = 0; pass < 2; pass++)
    for (const fx_xml_element *e = NULL; !status && (e = fx_mjcf_next(r, "contact", e));)
      if (pass == !strcmp(e->name, "pair")) status = pass ? set_pair(r, e, &list) : exclude(r, e, &list);
  if (r->no_contact) memset(list.meets, 0, sizeof list.meets);
  memcpy(r->meets, list.meets, sizeof r->meets);
  return status;
}
