/* Which names an MJCF file may use, and what becomes of them: one table.
 *
 * An unknown name is an error with the nearest known one. A known name that frix does not read is noted: as
 * unsupported where it changes the motion, as not needed where it tunes softness or a solver, as looks otherwise. An
 * attribute "name=value" in the list of unsupported ones does nothing at that value. */
#include <stdio.h>
#include <string.h>

#include "base/option.h"
#include "io/draft.h"
#include "io/mjcf.h"

typedef enum treat {
  READ,    /* by attribute */
  PASS,    /* no part in anything */
  LOOKS,   /* noted as such, with all inside */
  MISSING, /* noted as unsupported, with all inside */
  WITHIN,  /* each of its children is noted as unsupported, by name */
} treat;

typedef struct row {
  const char *place; /* what it stands in: "top", "option", "default", "asset", "body", "contact", "keyframe" */
  const char *name;
  treat treat;
  const char *read, *tuning, *looks, *missing;
} row;

#define POSE "pos quat axisangle xyaxes zaxis euler "
#define GEOM                                                                                                       \
  "name class type contype conaffinity condim group priority size friction mass density margin gap fromto hfield " \
  "mesh " POSE
#define JOINT_TUNING "solreflimit solimplimit solreffriction solimpfriction"
#define JOINT_MISSING                                                                                            \
  "springdamper=0 limited=false limited=auto actuatorfrclimited=false actuatorfrclimited=auto actuatorfrcrange " \
  "range stiffness=0 actuatorgravcomp=false margin=0 armature=0 damping=0 frictionloss=0"
#define LIKE_BODY(element) \
  { "body", element, READ, "name childclass mocap gravcomp count offset sep " POSE, "sleep simple fuse", "user", "" }

static const row table[] = {
    {"top", "compiler", READ,
     "angle eulerseq meshdir assetdir balanceinertia strippath inertiafromgeom inertiagrouprange boundmass "
     "boundinertia settotalmass autolimits exactmeshinertia",
     "usethread convexhull saveinertial conflict fusestatic", "texturedir discardvisual",
     "fitaabb=false alignfree=false coordinate=local"},
    {"top", "option", READ, "timestep gravity cone",
     "impratio tolerance ls_tolerance noslip_tolerance ccd_tolerance sleep_tolerance solver iterations ls_iterations "
     "noslip_iterations ccd_iterations mpr_tolerance mpr_iterations sdf_iterations sdf_initpoints jacobian integrator "
     "collision apirate o_solref o_solimp",
     "", "wind=0 density=0 viscosity=0 magnetic=0 o_margin=0 o_friction actuatorgroupdisable"},
    {"option", "flag", READ, "gravity contact constraint",
     "warmstart refsafe midphase eulerdamp autoreset energy fwdinv multiccd island nativeccd diagexact ipc sleep "
     "filterparent clampctrl equality frictionloss limit passive spring damper actuation sensor",
     "", "override=disable invdiscrete=disable"},
    {"top", "size", PASS, 0, 0, 0, 0},
    {"top", "custom", PASS, 0, 0, 0, 0},
    {"top", "visual", LOOKS, 0, 0, 0, 0},
    {"top", "statistic", LOOKS, 0, 0, 0, 0},
    {"top", "default", READ, "class", 0, 0, 0},
    {"top", "asset", READ, 0, 0, 0, 0},
    {"top", "worldbody", READ, "name childclass", 0, 0, 0},
    {"top", "contact", READ, 0, 0, 0, 0},
    {"top", "keyframe", READ, 0, 0, 0, 0},
    {"top", "equality", WITHIN, 0, 0, 0, 0},
    {"top", "tendon", WITHIN, 0, 0, 0, 0},
    {"top", "actuator", WITHIN, 0, 0, 0, 0},
    {"top", "sensor", WITHIN, 0, 0, 0, 0},
    {"top", "deformable", WITHIN, 0, 0, 0, 0},
    {"top", "extension", WITHIN, 0, 0, 0, 0},

    {"asset", "mesh", READ, "name class file vertex face refpos refquat scale inertia content_type", "maxhullvert",
     "normal texcoord smoothnormal material", "builtin=none params plugin"},
    {"asset", "hfield", READ, "name file nrow ncol size elevation content_type", "", "", ""},
    {"asset", "texture", LOOKS, 0, 0, 0, 0},
    {"asset", "material", LOOKS, 0, 0, 0, 0},
    {"asset", "skin", LOOKS, 0, 0, 0, 0},
    {"asset", "model", MISSING, 0, 0, 0, 0},

    LIKE_BODY("body"),
    LIKE_BODY("frame"),
    LIKE_BODY("replicate"),
    {"body", "inertial", READ, "mass diaginertia fullinertia " POSE, "", "", ""},
    {"body", "freejoint", READ, "name", "", "group", "align=false align=auto"},
    {"body", "joint", READ, "name class type", JOINT_TUNING, "group user pos axis ref springref", JOINT_MISSING},
    {"body", "geom", READ, GEOM, "solmix solref solimp", "material rgba user fitscale",
     "shellinertia=false fluidshape=none fluidcoef surfacevel=0 adhesion=0"},
    {"body", "site", LOOKS, 0, 0, 0, 0},
    {"body", "camera", LOOKS, 0, 0, 0, 0},
    {"body", "light", LOOKS, 0, 0, 0, 0},
    {"body", "attach", MISSING, 0, 0, 0, 0},
    {"body", "plugin", MISSING, 0, 0, 0, 0},
    {"body", "composite", MISSING, 0, 0, 0, 0},
    {"body", "flexcomp", MISSING, 0, 0, 0, 0},

    {"contact", "pair", READ, "name class geom1 geom2 condim friction margin gap", "solref solreffriction solimp", "",
     "adhesion=0"},
    {"contact", "exclude", READ, "name body1 body2", "", "", ""},
    {"keyframe", "key", READ, "name time qpos qvel mpos mquat", "", "", "act ctrl"},
};

/* Names only defaults have; they say nothing about free bodies. */
static const char only_defaults[] =
    "site camera light material equality tendon general motor position velocity intvelocity damper cylinder muscle "
    "adhesion orientation pid dcmotor";

static const char *const meaning[] = {
    [FRIX_MJCF_UNSUPPORTED] = "not supported; the motion is computed without it",
    [FRIX_MJCF_NOT_NEEDED] = "not needed: contact is rigid and exact",
    [FRIX_MJCF_LOOKS] = "looks only, no part in the motion",
};

/* ---- names near each other ---- */

fx_mjcf_hint fx_mjcf_nearest(const char *list, const char *word) {
  fx_mjcf_hint hint = {""};
  int least = (int)strlen(word) / 3 + 1;
  for (const char *at = list; *at;) {
    size_t length = strcspn(at, " ");
    char name[sizeof hint.text];
    if (length && length < sizeof name) {
      snprintf(name, sizeof name, "%.*s", (int)strcspn(at, " ="), at);
      int distance = fx_text_distance(name, word);
      if (distance < least || (distance == least && !*hint.text)) least = distance, hint = *(fx_mjcf_hint *)name;
    }
    at += length;
    while (*at == ' ') at++;
  }
  return hint;
}

/* Whether a list has the name; with a value "name=value" counts at that value only. */
static bool listed(const char *list, const char *name, const char *value) {
  size_t size = strlen(name);
  for (const char *at = list ? list : ""; *at;) {
    size_t length = strcspn(at, " ");
    if (length >= size && !strncmp(at, name, size)) {
      if (!value && (length == size || at[size] == '=')) return true;
      if (value && at[size] == '=' && length - size - 1 == strlen(value) &&
          !strncmp(at + size + 1, value, strlen(value)))
        return true;
    }
    at += length;
    while (*at == ' ') at++;
  }
  return false;
}

/* "0", "0.0", "0 0 0" all mean nothing where 0 does. */
static bool all_zero(const char *value) { return *value && strspn(value, "0. ") == strlen(value); }

static bool harmless(const row *t, const char *name, const char *value) {
  return listed(t->missing, name, value) || (all_zero(value) && listed(t->missing, name, "0"));
}

/* ---- checking ---- */

static const char *inside_of(const char *name) {
  if (!strcmp(name, "mujoco")) return "top";
  if (!strcmp(name, "worldbody") || !strcmp(name, "frame") || !strcmp(name, "replicate")) return "body";
  return name;
}

static const row *row_of(const char *place, const char *name) {
  for (size_t k = 0; k < sizeof table / sizeof *table; k++)
    if (!strcmp(table[k].place, place) && !strcmp(table[k].name, name)) return &table[k];
  return NULL;
}

static frix_status unknown_element(const fx_mjcf_reader *r, const fx_xml_element *e, const char *place) {
  char names[1024] = "";
  for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
    size_t at = strlen(names);
    if (!strcmp(table[k].place, place)) snprintf(names + at, sizeof names - at, "%s ", table[k].name);
  }
  fx_mjcf_hint hint = fx_mjcf_nearest(names, e->name);
  const char *elsewhere = NULL;
  for (size_t k = 0; k < sizeof table / sizeof *table && !elsewhere; k++)
    if (!strcmp(table[k].name, e->name)) elsewhere = table[k].place;
  fx_word name = fx_word_of(e->name, strlen(e->name));
  if (*hint.text)
    return fx_mjcf_fail(r, e, "there is no <%s> in <%s>; did you mean <%s>?", name.text, e->parent->name, hint.text);
  if (elsewhere)
    return fx_mjcf_fail(r, e, "<%s> does not stand in <%s> but %s%s%s", name.text, e->parent->name,
                        strcmp(elsewhere, "top") ? "in <" : "directly in <mujoco",
                        strcmp(elsewhere, "top") ? elsewhere : "", ">");
  return fx_mjcf_fail(r, e, "there is no <%s> in <%s>", name.text, e->parent->name);
}

static frix_status check_attributes(const fx_mjcf_reader *r, const fx_xml_element *e, const row *t) {
  for (int32_t k = 0; k < e->attribute_count; k++) {
    const char *name = e->attribute[k].name;
    if (listed(t->read, name, NULL) || listed(t->tuning, name, NULL) || listed(t->looks, name, NULL) ||
        listed(t->missing, name, NULL))
      continue;
    char names[1024];
    snprintf(names, sizeof names, "%s %s %s %s", t->read ? t->read : "", t->tuning ? t->tuning : "",
             t->looks ? t->looks : "", t->missing ? t->missing : "");
    fx_mjcf_hint hint = fx_mjcf_nearest(names, name);
    return fx_mjcf_fail(r, e, "<%s> has no attribute '%s'%s%s%s", e->name, fx_word_of(name, strlen(name)).text,
                        *hint.text ? "; did you mean '" : "", hint.text, *hint.text ? "'?" : "");
  }
  return FRIX_OK;
}

/* ---- noting ---- */

static frix_status note_attribute(fx_mjcf_reader *r, const fx_xml_element *where, const row *t, const char *name,
                                  const char *value) {
  char text[128];
  snprintf(text, sizeof text, "%s %s", t->name, name);
  if (listed(t->tuning, name, NULL))
    return fx_mjcf_note_add(r, FRIX_MJCF_NOT_NEEDED, where, text, meaning[FRIX_MJCF_NOT_NEEDED]);
  if (listed(t->looks, name, NULL)) return fx_mjcf_note_add(r, FRIX_MJCF_LOOKS, where, text, meaning[FRIX_MJCF_LOOKS]);
  if (!listed(t->missing, name, NULL) || harmless(t, name, value)) return FRIX_OK;
  return fx_mjcf_note_add(r, FRIX_MJCF_UNSUPPORTED, where, text, meaning[FRIX_MJCF_UNSUPPORTED]);
}

/* Own attributes, and those of the classes that are not overridden nearer. */
static frix_status note_item(fx_mjcf_reader *r, const fx_mjcf_item *item, const row *t) {
  frix_status status = FRIX_OK;
  const fx_xml_element *e = item->element;
  for (int32_t k = 0; k < e->attribute_count && !status; k++)
    status = note_attribute(r, e, t, e->attribute[k].name, e->attribute[k].value);
  for (const fx_mjcf_class *c = item->class; c; c = c->parent)
    for (const fx_xml_element *d = c->element->first; d; d = d->next)
      for (int32_t k = 0; !strcmp(d->name, e->name) && k < d->attribute_count && !status; k++) {
        const fx_xml_element *where;
        const char *value = fx_mjcf_text(item, d->attribute[k].name, &where);
        if (where == d) status = note_attribute(r, d, t, d->attribute[k].name, value);
      }
  return status;
}

/* A joint other than free is one note; what it asks for besides goes with it. */
static frix_status note_joint(fx_mjcf_reader *r, const fx_mjcf_item *item, const row *t) {
  static const char types[] = "free ball slide hinge";
  int type = 3;
  frix_status status = fx_mjcf_word(r, item, "type", types, &type);
  if (status) return status;
  if (type == 0) return note_item(r, item, t);
  static const char *const name[] = {"", "joint type=ball", "joint type=slide", "joint type=hinge"};
  return fx_mjcf_note_add(r, FRIX_MJCF_UNSUPPORTED, item->element, name[type],
                          "not supported; the body is fixed to its parent");
}

static frix_status note_within(fx_mjcf_reader *r, const fx_xml_element *section) {
  frix_status status = FRIX_OK;
  for (const fx_xml_element *e = section->first; e && !status; e = e->next) {
    char text[128];
    snprintf(text, sizeof text, "%s %s", section->name, fx_word_of(e->name, strlen(e->name)).text);
    status = fx_mjcf_note_add(r, FRIX_MJCF_UNSUPPORTED, e, text, meaning[FRIX_MJCF_UNSUPPORTED]);
  }
  return status;
}

static frix_status note_element(fx_mjcf_reader *r, const fx_xml_element *e, const row *t, const fx_mjcf_class *class) {
  fx_mjcf_item item;
  frix_status status = fx_mjcf_item_of(r, e, class, &item);
  if (status) return status;
  return strcmp(e->name, "joint") ? note_item(r, &item, t) : note_joint(r, &item, t);
}

/* ---- the walk ---- */

static frix_status check_default(fx_mjcf_reader *r, const fx_xml_element *parent) {
  frix_status status = FRIX_OK;
  for (const fx_xml_element *e = parent->first; e && !status; e = e->next) {
    const row *t = row_of("body", e->name);
    if (!t) t = row_of("asset", e->name);
    if (!t) t = row_of("contact", e->name);
    if (!strcmp(e->name, "default"))
      status = check_default(r, e);
    else if (t && t->treat == READ)
      status = check_attributes(r, e, t);
    else if (!listed(only_defaults, e->name, NULL))
      status = unknown_element(r, e, "body");
  }
  return status;
}

static frix_status check_inside(fx_mjcf_reader *r, const fx_xml_element *parent, const fx_mjcf_class *class);

static frix_status check_element(fx_mjcf_reader *r, const fx_xml_element *e, const char *place,
                                 const fx_mjcf_class *class) {
  const row *t = row_of(place, e->name);
  if (!t) return unknown_element(r, e, place);
  if (t->treat == PASS) return FRIX_OK;
  if (t->treat == LOOKS) return fx_mjcf_note_add(r, FRIX_MJCF_LOOKS, e, e->name, meaning[FRIX_MJCF_LOOKS]);
  if (t->treat == MISSING)
    return fx_mjcf_note_add(r, FRIX_MJCF_UNSUPPORTED, e, e->name, meaning[FRIX_MJCF_UNSUPPORTED]);
  if (t->treat == WITHIN) return note_within(r, e);
  if (!strcmp(e->name, "default")) return check_default(r, e);
  frix_status status = check_attributes(r, e, t);
  if (!status) status = note_element(r, e, t, class);
  const char *name = fx_xml_value(e, "childclass");
  if (!status && name) status = fx_mjcf_class_of(r, e, name, &class);
  return status ? status : check_inside(r, e, class);
}

static frix_status check_inside(fx_mjcf_reader *r, const fx_xml_element *parent, const fx_mjcf_class *class) {
  frix_status status = FRIX_OK;
  const char *place = inside_of(parent->name);
  for (const fx_xml_element *e = parent->first; e && !status; e = e->next) {
    /* what geoms, meshes and the compiler hold is of no use here */
    bool leaf = strcmp(place, "top") && strcmp(place, "body") && strcmp(place, "option") && strcmp(place, "asset") &&
                strcmp(place, "contact") && strcmp(place, "keyframe");
    if (!leaf) status = check_element(r, e, place, class);
    if (leaf && !strcmp(e->name, "plugin"))
      status = fx_mjcf_note_add(r, FRIX_MJCF_UNSUPPORTED, e, "plugin", meaning[FRIX_MJCF_UNSUPPORTED]);
    else if (leaf && strcmp(e->name, "lengthrange"))
      status = unknown_element(r, e, place);
  }
  return status;
}

frix_status fx_mjcf_check(fx_mjcf_reader *r) {
  const row mujoco = {"", "mujoco", READ, "model", 0, 0, 0};
  frix_status status = check_attributes(r, r->root, &mujoco);
  return status ? status : check_inside(r, r->root, r->classes);
}
