/* Settings of the whole file: compiler, option, size, default classes. Sections may come in parts; the last word
 * counts. */
#include <string.h>

#include "io/draft.h"
#include "io/mjcf.h"

const fx_xml_element *fx_mjcf_next(const fx_mjcf_reader *r, const char *section, const fx_xml_element *after) {
  const fx_xml_element *part = after ? after->parent : r->root->first;
  if (after && after->next) return after->next;
  for (part = after ? part->next : part; part; part = part->next)
    if (!strcmp(part->name, section) && part->first) return part->first;
  return NULL;
}

/* ---- compiler ---- */

static frix_status read_euler(fx_mjcf_reader *r, const fx_mjcf_item *item) {
  const char *text = fx_mjcf_text(item, "eulerseq", NULL);
  if (!text) return FRIX_OK;
  if (strlen(text) != 3 || strspn(text, "xyzXYZ") != 3)
    return fx_mjcf_fail(r, item->element, "compiler eulerseq: '%s' is not three of the letters xyzXYZ",
                        fx_word_of(text, strlen(text)).text);
  memcpy(r->euler, text, 4);
  return FRIX_OK;
}

static frix_status read_compiler(fx_mjcf_reader *r, const fx_xml_element *e) {
  fx_mjcf_item item = {e, NULL};
  int angle = r->radian, balance = r->balance_inertia, strip = r->strip_path, exact = r->mesh_inertia;
  double group[2] = {r->inertia_group[0], r->inertia_group[1]};
  frix_status status;
  if ((status = fx_mjcf_word(r, &item, "angle", "degree radian", &angle)) || (status = read_euler(r, &item)) ||
      (status = fx_mjcf_word(r, &item, "balanceinertia", "false true", &balance)) ||
      (status = fx_mjcf_word(r, &item, "strippath", "false true", &strip)) ||
      (status = fx_mjcf_word(r, &item, "exactmeshinertia", "false true", &exact)) || /* of files before 3.3 */
      (status = fx_mjcf_word(r, &item, "inertiafromgeom", "false true auto", &r->inertia_from_geom)) ||
      (status = fx_mjcf_real(r, &item, "boundmass", &r->bound_mass)) ||
      (status = fx_mjcf_real(r, &item, "boundinertia", &r->bound_inertia)) ||
      (status = fx_mjcf_real(r, &item, "settotalmass", &r->total_mass)) ||
      (status = fx_mjcf_reals(r, &item, "inertiagrouprange", 2, 2, group, NULL)))
    return status;
  if (r->bound_mass < 0.0 || r->bound_inertia < 0.0)
    return fx_mjcf_fail(r, e, "compiler boundmass and boundinertia must not be negative");
  r->radian = angle, r->balance_inertia = balance, r->strip_path = strip;
  r->mesh_inertia = exact ? FX_MESH_EXACT : FX_MESH_LEGACY;
  for (int k = 0; k < 2; k++) r->inertia_group[k] = (int32_t)fx_clamp(group[k], -1e6, 1e6);
  const char *folder = fx_xml_value(e, "assetdir");
  if (folder) r->mesh_folder = folder;
  folder = fx_xml_value(e, "meshdir");
  if (folder) r->mesh_folder = folder;
  return FRIX_OK;
}

/* ---- option ---- */

static frix_status read_flags(fx_mjcf_reader *r, const fx_xml_element *e) {
  fx_mjcf_item item = {e, NULL};
  int gravity = 1, contact = 1, constraint = 1;
  frix_status status;
  if ((status = fx_mjcf_word(r, &item, "gravity", "disable enable", &gravity)) ||
      (status = fx_mjcf_word(r, &item, "contact", "disable enable", &contact)) ||
      (status = fx_mjcf_word(r, &item, "constraint", "disable enable", &constraint)))
    return status;
  if (!gravity) r->no_gravity = true;
  if (!contact || !constraint) r->no_contact = true;
  return FRIX_OK;
}

static frix_status read_option(fx_mjcf_reader *r, const fx_xml_element *e) {
  fx_mjcf_item item = {e, NULL};
  frix_mjcf_info *info = &r->out->info;
  int cone = info->elliptic;
  double g[3] = {info->gravity.x, info->gravity.y, info->gravity.z};
  frix_status status;
  if ((status = fx_mjcf_real(r, &item, "timestep", &info->timestep)) ||
      (status = fx_mjcf_reals(r, &item, "gravity", 3, 3, g, NULL)) ||
      (status = fx_mjcf_word(r, &item, "cone", "pyramidal elliptic", &cone)))
    return status;
  if (!(info->timestep > 0.0)) return fx_mjcf_fail(r, e, "option timestep: %g is not positive", info->timestep);
  info->gravity = fx_vec(g[0], g[1], g[2]);
  info->elliptic = cone;
  for (const fx_xml_element *c = e->first; c && !status; c = c->next)
    if (!strcmp(c->name, "flag")) status = read_flags(r, c);
  return status;
}

frix_status fx_mjcf_settings(fx_mjcf_reader *r) {
  memcpy(r->euler, "xyz", 4);
  r->mesh_folder = "";
  r->total_mass = -1.0;
  r->inertia_from_geom = 2;
  r->inertia_group[1] = 5;
  r->out->info.timestep = 0.002;
  r->out->info.gravity = fx_vec(0.0, 0.0, -9.81);
  frix_status status = FRIX_OK;
  for (const fx_xml_element *e = r->root->first; e && !status; e = e->next) {
    if (!strcmp(e->name, "compiler")) status = read_compiler(r, e);
    if (!strcmp(e->name, "option")) status = read_option(r, e);
  }
  if (r->no_gravity) r->out->info.gravity = fx_vec(0.0, 0.0, 0.0);
  return status;
}

/* ---- default classes ---- */

static frix_status add_class(fx_mjcf_reader *r, const fx_xml_element *e, fx_mjcf_class *parent, fx_mjcf_class ***end) {
  fx_mjcf_class *class = FX_TAKE(&r->arena, fx_mjcf_class, 1);
  if (!class) return FRIX_ERROR_MEMORY;
  const char *name = fx_xml_value(e, "class");
  if (!name && parent) return fx_mjcf_fail(r, e, "a <default> inside another needs a class");
  for (const fx_mjcf_class *c = r->classes; c && parent; c = c->next)
    if (!strcmp(c->name, name))
      return fx_mjcf_fail(r, e, "class '%s' was defined in line %d already", fx_word_of(name, strlen(name)).text,
                          (int)c->element->line);
  *class = (fx_mjcf_class){name ? name : "main", e, parent, NULL};
  **end = class;
  *end = &class->next;
  frix_status status = FRIX_OK;
  for (const fx_xml_element *c = e->first; c && !status; c = c->next)
    if (!strcmp(c->name, "default")) status = add_class(r, c, class, end);
  return status;
}

/* Sections <default> at the top are parts of one; the later extends the earlier. */
frix_status fx_mjcf_classes(fx_mjcf_reader *r) {
  fx_mjcf_class **end = &r->classes;
  fx_xml_element *main_part = NULL;
  for (fx_xml_element *e = r->root->first; e; e = e->next) {
    if (strcmp(e->name, "default")) continue;
    if (!main_part) {
      main_part = e;
      continue;
    }
    for (fx_xml_element *c = e->first, *next; c; c = next) {
      next = c->next;
      fx_xml_append(main_part, c);
    }
    e->first = e->last = NULL;
  }
  return main_part ? add_class(r, main_part, NULL, &end) : FRIX_OK;
}

frix_status fx_mjcf_class_of(const fx_mjcf_reader *r, const fx_xml_element *at, const char *name,
                             const fx_mjcf_class **out) {
  for (const fx_mjcf_class *c = r->classes; c; c = c->next) {
    if (strcmp(c->name, name)) continue;
    *out = c;
    return FRIX_OK;
  }
  const char *best = NULL;
  for (const fx_mjcf_class *c = r->classes; c && !best; c = c->next)
    if (*fx_mjcf_nearest(c->name, name).text) best = c->name;
  return fx_mjcf_fail(r, at, "there is no class '%s'%s%s%s", fx_word_of(name, strlen(name)).text,
                      best ? "; did you mean '" : "", best ? fx_word_of(best, strlen(best)).text : "",
                      best ? "'?" : "");
}

frix_status fx_mjcf_item_of(const fx_mjcf_reader *r, const fx_xml_element *element, const fx_mjcf_class *in_force,
                            fx_mjcf_item *out) {
  const char *name = fx_xml_value(element, "class");
  *out = (fx_mjcf_item){element, in_force};
  return name ? fx_mjcf_class_of(r, element, name, &out->class) : FRIX_OK;
}
