/* Settings of the whole file: compiler, option, size, default classes. Sections may come in parts; the last word
 * counts. */
#include <string.h>

#include "io/draft.h"
#include "io/mjcf_internal.h"

const fx_xml_element *fx_mjcf_next(const fx_mjcf_source *source, const char *section, const fx_xml_element *after) {
  const fx_xml_element *part = after ? after->parent : source->root->first;
  if (after && after->next) return after->next;
  for (part = after ? part->next : part; part; part = part->next)
    if (!strcmp(part->name, section) && part->first) return part->first;
  return NULL;
}

const fx_xml_element *fx_mjcf_next_of_all(const fx_mjcf_reader *r, const char *section, int32_t *instance,
                                          const fx_xml_element *after) {
  const fx_xml_element *e = NULL;
  if (*instance >= 0) e = fx_mjcf_next(r->instance[*instance].source, section, after);
  while (!e && *instance + 1 < r->instance_count) e = fx_mjcf_next(r->instance[++*instance].source, section, NULL);
  return e;
}

/* ---- compiler ---- */

static frix_status read_euler(const fx_mjcf_reader *r, const fx_mjcf_item *item, fx_mjcf_source *s) {
  const char *text = fx_mjcf_text(item, "eulerseq", NULL);
  if (!text) return FRIX_OK;
  if (strlen(text) != 3 || strspn(text, "xyzXYZ") != 3)
    return fx_mjcf_fail(r, item->element, "compiler eulerseq: '%s' is not three of the letters xyzXYZ",
                        fx_word_of(text, strlen(text)).text);
  memcpy(s->euler, text, 4);
  return FRIX_OK;
}

static frix_status read_compiler(const fx_mjcf_reader *r, const fx_xml_element *e, fx_mjcf_source *s) {
  fx_mjcf_item item = {e, NULL};
  int angle = s->radian, balance = s->balance_inertia, strip = s->strip_path, exact = s->mesh_inertia;
  int fit = s->fit_box, limits = s->auto_limits, align = s->align_free;
  double group[2] = {s->inertia_group[0], s->inertia_group[1]};
  frix_status status;
  if ((status = fx_mjcf_word(r, &item, "angle", "degree radian", &angle)) || (status = read_euler(r, &item, s)) ||
      (status = fx_mjcf_word(r, &item, "balanceinertia", "false true", &balance)) ||
      (status = fx_mjcf_word(r, &item, "strippath", "false true", &strip)) ||
      (status = fx_mjcf_word(r, &item, "fitaabb", "false true", &fit)) ||
      (status = fx_mjcf_word(r, &item, "alignfree", "false true", &align)) ||
      (status = fx_mjcf_word(r, &item, "autolimits", "false true", &limits)) ||
      (status = fx_mjcf_word(r, &item, "exactmeshinertia", "false true", &exact)) || /* of files before 3.3 */
      (status = fx_mjcf_word(r, &item, "inertiafromgeom", "false true auto", &s->inertia_from_geom)) ||
      (status = fx_mjcf_real(r, &item, "boundmass", &s->bound_mass)) ||
      (status = fx_mjcf_real(r, &item, "boundinertia", &s->bound_inertia)) ||
      (status = fx_mjcf_real(r, &item, "settotalmass", &s->total_mass)) ||
      (status = fx_mjcf_reals(r, &item, "inertiagrouprange", 2, 2, group, NULL)))
    return status;
  if (s->bound_mass < 0.0 || s->bound_inertia < 0.0)
    return fx_mjcf_fail(r, e, "compiler boundmass and boundinertia must not be negative");
  s->radian = angle, s->balance_inertia = balance, s->strip_path = strip;
  s->fit_box = fit, s->auto_limits = limits, s->align_free = align;
  s->mesh_inertia = exact ? FX_MESH_EXACT : FX_MESH_LEGACY;
  for (int k = 0; k < 2; k++) s->inertia_group[k] = (int32_t)fx_clamp(group[k], -1e6, 1e6);
  const char *folder = fx_xml_value(e, "assetdir");
  if (folder) s->mesh_folder = folder;
  folder = fx_xml_value(e, "meshdir");
  if (folder) s->mesh_folder = folder;
  return FRIX_OK;
}

/* ---- option ---- */

/* What a file can switch off. */
static frix_status read_flags(fx_mjcf_reader *r, const fx_xml_element *e) {
  fx_mjcf_item item = {e, NULL};
  bool none = false, passive = false;
  const struct {
    const char *name;
    bool *off;
  } row[] = {{"gravity", &r->no_gravity},   {"contact", &r->no_contact},     {"constraint", &none},
             {"equality", &r->no_equality}, {"limit", &r->no_limit},         {"frictionloss", &r->no_friction},
             {"spring", &r->no_spring},     {"damper", &r->no_damper},       {"passive", &passive},
             {"clampctrl", &r->no_clamp},   {"actuation", &r->no_actuation}, {"filterparent", &r->no_parent_filter}};
  for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
    int on = !*row[k].off;
    frix_status status = fx_mjcf_word(r, &item, row[k].name, "disable enable", &on);
    if (status) return status;
    *row[k].off = !on;
  }
  if (none) r->no_contact = r->no_equality = r->no_limit = r->no_friction = true;
  if (passive) r->no_spring = r->no_damper = true; /* of older files */
  return FRIX_OK;
}

/* Groups of actuators that are switched off, 0 to 30. */
static frix_status read_groups(fx_mjcf_reader *r, const fx_mjcf_item *item) {
  double *list = NULL;
  int64_t count = 0;
  frix_status status = fx_mjcf_list(r, item, "actuatorgroupdisable", &list, &count);
  for (int64_t k = 0; k < count && !status; k++) {
    if (!(list[k] >= 0.0 && list[k] <= 30.0))
      return fx_mjcf_fail(r, item->element, "option actuatorgroupdisable: %g is not between 0 and 30", list[k]);
    r->actuator_groups_off |= 1u << (int)list[k];
  }
  return status;
}

static frix_status read_option(fx_mjcf_reader *r, const fx_xml_element *e) {
  fx_mjcf_item item = {e, NULL};
  frix_mjcf_info *info = &r->out->info;
  int cone = info->elliptic;
  double g[3] = {info->gravity.x, info->gravity.y, info->gravity.z};
  double wind[3] = {r->wind.x, r->wind.y, r->wind.z}, magnetic[3] = {r->magnetic.x, r->magnetic.y, r->magnetic.z};
  frix_status status;
  if ((status = fx_mjcf_real(r, &item, "timestep", &info->timestep)) ||
      (status = fx_mjcf_reals(r, &item, "gravity", 3, 3, g, NULL)) ||
      (status = fx_mjcf_reals(r, &item, "wind", 3, 3, wind, NULL)) ||
      (status = fx_mjcf_reals(r, &item, "magnetic", 3, 3, magnetic, NULL)) ||
      (status = fx_mjcf_real(r, &item, "density", &r->density)) ||
      (status = fx_mjcf_real(r, &item, "viscosity", &r->viscosity)) || (status = read_groups(r, &item)) ||
      (status = fx_mjcf_word(r, &item, "cone", "pyramidal elliptic", &cone)))
    return status;
  if (!(info->timestep > 0.0)) return fx_mjcf_fail(r, e, "option timestep: %g is not positive", info->timestep);
  info->gravity = fx_vec(g[0], g[1], g[2]);
  r->wind = fx_vec(wind[0], wind[1], wind[2]), r->magnetic = fx_vec(magnetic[0], magnetic[1], magnetic[2]);
  info->elliptic = cone;
  for (const fx_xml_element *c = e->first; c && !status; c = c->next)
    if (!strcmp(c->name, "flag")) status = read_flags(r, c);
  return status;
}

frix_status fx_mjcf_settings(fx_mjcf_reader *r, fx_mjcf_source *s) {
  memcpy(s->euler, "xyz", 4);
  s->mesh_folder = "";
  s->total_mass = -1.0;
  s->inertia_from_geom = 2;
  s->inertia_group[1] = 5;
  s->auto_limits = true;
  bool main_file = s == r->source;
  if (main_file) {
    r->out->info.timestep = 0.002, r->out->info.gravity = fx_vec(0.0, 0.0, -9.81);
    r->magnetic = fx_vec(0.0, -0.5, 0.0);
  }
  frix_status status = FRIX_OK;
  for (const fx_xml_element *e = s->root->first; e && !status; e = e->next) {
    if (!strcmp(e->name, "compiler")) status = read_compiler(r, e, s);
    if (!strcmp(e->name, "option") && main_file) status = read_option(r, e);
  }
  if (fx_mjcf_no_passive(r)) r->density = r->viscosity = 0.0;
  if (r->no_gravity) r->out->info.gravity = fx_vec(0.0, 0.0, 0.0);
  return status;
}

/* ---- default classes ---- */

static frix_status add_class(fx_mjcf_reader *r, const fx_mjcf_source *s, const fx_xml_element *e, fx_mjcf_class *parent,
                             fx_mjcf_class ***end) {
  fx_mjcf_class *class = FX_TAKE(&r->arena, fx_mjcf_class, 1);
  if (!class) return FRIX_ERROR_MEMORY;
  const char *name = fx_xml_value(e, "class");
  if (!name && parent) return fx_mjcf_fail(r, e, "a <default> inside another needs a class");
  for (const fx_mjcf_class *c = s->classes; c && parent; c = c->next)
    if (!strcmp(c->name, name))
      return fx_mjcf_fail(r, e, "class '%s' was defined in line %d already", fx_word_of(name, strlen(name)).text,
                          (int)c->element->line);
  *class = (fx_mjcf_class){name ? name : "main", e, parent, NULL};
  **end = class;
  *end = &class->next;
  frix_status status = FRIX_OK;
  for (const fx_xml_element *c = e->first; c && !status; c = c->next)
    if (!strcmp(c->name, "default")) status = add_class(r, s, c, class, end);
  return status;
}

/* Sections <default> at the top are parts of one; the later extends the earlier. */
frix_status fx_mjcf_classes(fx_mjcf_reader *r, fx_mjcf_source *s) {
  fx_mjcf_class **end = &s->classes;
  fx_xml_element *main_part = NULL;
  for (fx_xml_element *e = s->root->first; e; e = e->next) {
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
  return main_part ? add_class(r, s, main_part, NULL, &end) : FRIX_OK;
}

frix_status fx_mjcf_class_of(const fx_mjcf_reader *r, const fx_xml_element *at, const char *name,
                             const fx_mjcf_class **out) {
  const fx_mjcf_class *first = fx_mjcf_source_of(at)->classes;
  for (const fx_mjcf_class *c = first; c; c = c->next) {
    if (strcmp(c->name, name)) continue;
    *out = c;
    return FRIX_OK;
  }
  const char *best = NULL;
  for (const fx_mjcf_class *c = first; c && !best; c = c->next)
    if (*fx_mjcf_nearest(c->name, name).text) best = c->name;
  return fx_mjcf_fail(r, at, "there is no class '%s'%s%s%s", fx_word_of(name, strlen(name)).text,
                      best ? "; did you mean '" : "", best ? fx_word_of(best, strlen(best)).text : "",
                      best ? "'?" : "");
}

frix_status fx_mjcf_item_of(const fx_mjcf_reader *r, const fx_xml_element *element, const fx_mjcf_class *in_force,
                            fx_mjcf_item *out) {
  const char *name = fx_xml_value(element, "class");
  *out = (fx_mjcf_item){element, in_force};
  if (name == fx_mjcf_no_class) out->class = NULL;
  return name && name != fx_mjcf_no_class ? fx_mjcf_class_of(r, element, name, &out->class) : FRIX_OK;
}
