/* Tendons: a fixed one is a sum of joints, which an actuator can pull; what they do by themselves (springs, limits,
 * friction) is not done and noted where they ask for it. One without any of it has no part in the motion. */
#include <stdio.h>
#include <string.h>

#include "io/mjcf_internal.h"

/* A demand at its neutral value is none. */
static bool is_zero(const char *text) { return strspn(text, "0. \t\n-+") == strlen(text); }

static frix_status note_demands(fx_mjcf_reader *r, const fx_mjcf_item *item) {
  const fx_xml_element *e = item->element, *where;
  const char *limited = fx_mjcf_text(item, "limited", &where);
  bool held = limited && !strcmp(limited, "true");
  bool automatic = (!limited || !strcmp(limited, "auto")) && fx_mjcf_source_of(e)->auto_limits;
  static const char *const demand[] = {"range", "stiffness", "damping", "frictionloss", "armature"};
  const bool off[] = {r->no_limit, r->no_spring, r->no_damper, r->no_friction, false};
  frix_status status = FRIX_OK;
  for (size_t k = 0; k < sizeof demand / sizeof *demand && !status; k++) {
    const char *text = fx_mjcf_text(item, demand[k], &where);
    if (!text || is_zero(text) || off[k] || (k == 0 && !held && !automatic)) continue;
    char name[64];
    snprintf(name, sizeof name, "tendon %s %s", e->name, demand[k]);
    status = fx_mjcf_missing(r, where, name, NULL);
  }
  return status;
}

static frix_status read_terms(fx_mjcf_reader *r, int32_t instance, fx_mjcf_tendon *t) {
  int32_t count = 0;
  for (const fx_xml_element *e = t->element->first; e; e = e->next) count++;
  t->term = FX_TAKE(&r->arena, struct fx_mjcf_term, count);
  if (!t->term) return FRIX_ERROR_MEMORY;
  frix_status status = FRIX_OK;
  for (const fx_xml_element *e = t->element->first; e && !status; e = e->next) {
    fx_mjcf_item item = {e, NULL};
    fx_mjcf_found joint;
    double coef = 1.0;
    status = fx_mjcf_find(r, instance, e, FX_NAMED_JOINT, "joint", &joint);
    if (!status) status = fx_mjcf_real(r, &item, "coef", &coef);
    if (!status && joint.count == 1)
      t->term[t->term_count++] = (struct fx_mjcf_term){fx_mjcf_thing(r, FX_NAMED_JOINT, &joint, 0), coef};
    else
      t->fixed = false; /* of replicas: which goes with which is not told apart here */
  }
  return status;
}

frix_status fx_mjcf_tendons(fx_mjcf_reader *r) {
  int32_t instance = -1;
  frix_status status = FRIX_OK;
  for (const fx_xml_element *e = NULL; !status && (e = fx_mjcf_next_of_all(r, "tendon", &instance, e));) {
    fx_mjcf_item item;
    fx_mjcf_tendon t = {.element = e, .fixed = !strcmp(e->name, "fixed")};
    const fx_mjcf_at at = {.instance = instance, .suffix = r->instance[instance].suffix};
    const char *name;
    status = fx_mjcf_item_of(r, e, fx_mjcf_source_of(e)->classes, &item);
    if (!status) status = note_demands(r, &item);
    if (!status && t.fixed) status = read_terms(r, instance, &t);
    if (!status) status = fx_mjcf_name_add(r, FX_NAMED_TENDON, r->tendon_count, e, &at, &name);
    if (status) break;
    if (!FX_MJCF_ROOM(r, tendon)) return FRIX_ERROR_MEMORY;
    r->tendon[r->tendon_count++] = t;
  }
  return status ? status : fx_mjcf_names_sort(r, FX_NAMED_TENDON);
}
