/* Which names an MJCF file may use, and what becomes of them: one table.
 *
 * An unknown name is an error with the nearest known one. A known name that frix does not read is noted: as
 * unsupported where it changes the motion, as not needed where it tunes softness or a solver, as looks otherwise. An
 * attribute "name=value" in the list of unsupported ones does nothing at that value. */
#include <stdio.h>
#include <string.h>

#include "base/option.h"
#include "io/draft.h"
#include "io/mjcf_internal.h"

typedef enum treat {
  READ,    /* by attribute */
  PASS,    /* no part in anything, or judged by who reads it */
  LOOKS,   /* noted as such, with all inside */
  MISSING, /* noted as unsupported, with all inside */
} treat;

typedef struct row {
  const char *place; /* what it stands in: "top", "option", "default", "asset", "body", "contact", "keyframe" ... */
  const char *name;
  treat treat;
  const char *read, *tuning, *looks, *missing;
  const char *said; /* of what is missing, instead of the usual words */
} row;

#define POSE "pos quat axisangle xyaxes zaxis euler "
#define GEOM                                                                                                       \
  "name class type contype conaffinity condim group priority size friction mass density margin gap fromto hfield " \
  "mesh fitscale shellinertia " POSE
#define JOINT                                                                                                         \
  "name class type pos axis ref springref range limited margin stiffness damping frictionloss armature springdamper " \
  "actuatorfrcrange actuatorfrclimited"
#define JOINT_TUNING "solreflimit solimplimit solreffriction solimpfriction"
#define LIKE_BODY(element) \
  { "body", element, READ, "name childclass mocap gravcomp count offset sep " POSE, "sleep simple fuse", "user", "", 0 }
#define ACTUATOR(element, own)                                                                                   \
  {                                                                                                              \
    "actuator", element, READ,                                                                                   \
        "name class ctrllimited forcelimited actlimited ctrlrange forcerange actrange gear joint jointinparent " \
        "tendon "                                                                                                \
        "cranksite slidersite cranklength site refsite lengthrange nsample interp " own,                         \
        "", "user group input velrange ffrange", "damping=0 armature=0 delay=0", 0                               \
  }
#define TENDON                                                                                               \
  "name class limited range margin stiffness damping frictionloss armature springlength actuatorfrclimited " \
  "actuatorfrcrange"
#define TENDON_LOOKS "group user width material rgba"
#define SOFT "solref solimp"

static const row table[] = {
    {"top", "compiler", READ,
     "angle eulerseq meshdir assetdir balanceinertia strippath inertiafromgeom inertiagrouprange boundmass "
     "boundinertia settotalmass autolimits exactmeshinertia fitaabb alignfree",
     "usethread convexhull saveinertial savecompiled conflict fusestatic", "texturedir discardvisual",
     "coordinate=local", 0},
    {"top", "option", READ, "timestep gravity cone",
     "impratio tolerance ls_tolerance noslip_tolerance ccd_tolerance sleep_tolerance solver iterations ls_iterations "
     "noslip_iterations ccd_iterations mpr_tolerance mpr_iterations sdf_iterations sdf_initpoints jacobian integrator "
     "collision apirate o_solref o_solimp",
     "", "wind=0 density=0 viscosity=0 magnetic=0 o_margin=0 o_friction actuatorgroupdisable", 0},
    {"option", "flag", READ,
     "gravity contact constraint equality limit frictionloss spring damper passive clampctrl actuation filterparent",
     "warmstart refsafe midphase eulerdamp autoreset energy fwdinv multiccd island nativeccd diagexact ipc sleep "
     "sensor",
     "", "override=disable invdiscrete=disable", 0},
    {"top", "size", PASS, 0, 0, 0, 0, 0},
    {"top", "custom", PASS, 0, 0, 0, 0, 0},
    {"top", "extension", PASS, 0, 0, 0, 0, 0},
    {"top", "visual", LOOKS, 0, 0, 0, 0, 0},
    {"top", "statistic", LOOKS, 0, 0, 0, 0, 0},
    {"top", "sensor", LOOKS, 0, 0, 0, 0, 0},
    {"top", "default", READ, "class", 0, 0, 0, 0},
    {"top", "asset", READ, 0, 0, 0, 0, 0},
    {"top", "worldbody", READ, "name childclass", 0, 0, 0, 0},
    {"top", "contact", READ, 0, 0, 0, 0, 0},
    {"top", "keyframe", READ, 0, 0, 0, 0, 0},
    {"top", "equality", READ, 0, 0, 0, 0, 0},
    {"top", "tendon", READ, 0, 0, 0, 0, 0},
    {"top", "actuator", READ, 0, 0, 0, 0, 0},
    {"top", "deformable", READ, 0, 0, 0, 0, 0},

    {"asset", "mesh", READ, "name class file vertex face refpos refquat scale inertia content_type builtin params",
     "maxhullvert octree_maxdepth", "normal texcoord smoothnormal material", "", 0},
    {"asset", "hfield", READ, "name file nrow ncol size elevation content_type", "", "", "", 0},
    {"asset", "texture", LOOKS, 0, 0, 0, 0, 0},
    {"asset", "material", LOOKS, 0, 0, 0, 0, 0},
    {"asset", "skin", LOOKS, 0, 0, 0, 0, 0},
    {"asset", "model", READ, "name file content_type", "", "", "", 0},

    LIKE_BODY("body"),
    LIKE_BODY("frame"),
    LIKE_BODY("replicate"),
    {"body", "inertial", READ, "mass diaginertia fullinertia " POSE, "", "", "", 0},
    {"body", "freejoint", READ, "name align", "", "group", "", 0},
    {"body", "joint", READ, JOINT, JOINT_TUNING, "group user", "actuatorgravcomp=false", 0},
    {"body", "geom", READ, GEOM, "solmix solref solimp", "material rgba user",
     "fluidshape=none fluidcoef surfacevel=0 adhesion=0", 0},
    {"body", "attach", READ, "model body frame prefix", "", "", "", 0},
    {"body", "site", LOOKS, 0, 0, 0, 0, 0},
    {"body", "camera", LOOKS, 0, 0, 0, 0, 0},
    {"body", "light", LOOKS, 0, 0, 0, 0, 0},
    {"body", "plugin", MISSING, 0, 0, 0, 0, 0},
    {"body", "composite", MISSING, 0, 0, 0, 0, "not supported; the bodies it would make are left out"},
    {"body", "flexcomp", MISSING, 0, 0, 0, 0,
     "left out; frix run --soft-modes K reads those of dim 3 as reduced bodies"},
    {"deformable", "flex", MISSING, 0, 0, 0, 0, "not supported; the soft body is left out"},
    {"deformable", "skin", LOOKS, 0, 0, 0, 0, 0},

    {"contact", "pair", READ, "name class geom1 geom2 condim friction margin gap", "solref solreffriction solimp", "",
     "adhesion=0", 0},
    {"contact", "exclude", READ, "name body1 body2", "", "", "", 0},
    {"keyframe", "key", READ, "name time qpos qvel mpos mquat ctrl act", "", "", "", 0},

    {"equality", "connect", READ, "name class active body1 body2 anchor site1 site2", SOFT, "", "", 0},
    {"equality", "weld", READ, "name class active body1 body2 anchor relpose site1 site2", SOFT " torquescale", "", "",
     0},
    {"equality", "joint", READ, "name class active joint1 joint2 polycoef", SOFT, "", "", 0},
    {"equality", "tendon", PASS, 0, 0, 0, 0, 0},
    {"equality", "flex", PASS, 0, 0, 0, 0, 0},
    {"equality", "flexvert", PASS, 0, 0, 0, 0, 0},
    {"equality", "flexstrain", PASS, 0, 0, 0, 0, 0},
    {"equality", "distance", PASS, 0, 0, 0, 0, 0},

    {"tendon", "fixed", READ, TENDON, JOINT_TUNING, TENDON_LOOKS, "", 0},
    {"tendon", "spatial", READ, TENDON, JOINT_TUNING, TENDON_LOOKS, "", 0},
    {"fixed", "joint", READ, "joint coef", "", "", "", 0},
    {"spatial", "site", PASS, 0, 0, 0, 0, 0},
    {"spatial", "geom", PASS, 0, 0, 0, 0, 0},
    {"spatial", "pulley", PASS, 0, 0, 0, 0, 0},

    ACTUATOR("general", "body actdim dyntype gaintype biastype dynprm gainprm biasprm actearly inheritrange"),
    ACTUATOR("motor", "body"),
    ACTUATOR("position", "kp kv dampratio timeconst inheritrange"),
    ACTUATOR("velocity", "kv"),
    ACTUATOR("intvelocity", "kp kv dampratio inheritrange"),
    ACTUATOR("damper", "kv"),
    {"actuator", "cylinder", PASS, 0, 0, 0, 0, 0},
    {"actuator", "muscle", PASS, 0, 0, 0, 0, 0},
    {"actuator", "adhesion", PASS, 0, 0, 0, 0, 0},
    {"actuator", "pid", PASS, 0, 0, 0, 0, 0},
    {"actuator", "dcmotor", PASS, 0, 0, 0, 0, 0},
    {"actuator", "orientation", PASS, 0, 0, 0, 0, 0},
    {"actuator", "plugin", PASS, 0, 0, 0, 0, 0},
};

/* What defaults hold besides actuators; the second list: names without a row that is read. */
static const char in_defaults[] = "default joint geom mesh pair",
                  only_defaults[] = "site camera light material equality tendon";

static const char *const meaning[] = {
    [FRIX_MJCF_UNSUPPORTED] = NULL,
    [FRIX_MJCF_NOT_NEEDED] = "not needed: frix solves contacts and limits exactly",
    [FRIX_MJCF_LOOKS] = "no part in the motion",
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
    if (!strncmp(name, "xmlns:", 6) || !strncmp(name, "xsi:", 4)) continue; /* for editors */
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
  return fx_mjcf_missing(r, where, text, NULL);
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

static frix_status note_element(fx_mjcf_reader *r, const fx_xml_element *e, const row *t, const fx_mjcf_class *class) {
  fx_mjcf_item item;
  frix_status status = fx_mjcf_item_of(r, e, class, &item);
  return status ? status : note_item(r, &item, t);
}

bool fx_mjcf_is_actuator(const char *name) { return row_of("actuator", name) != NULL; }

/* ---- the walk ---- */

static frix_status check_default(fx_mjcf_reader *r, const fx_xml_element *parent) {
  frix_status status = FRIX_OK;
  for (const fx_xml_element *e = parent->first; e && !status; e = e->next) {
    const row *t = row_of("body", e->name);
    if (!t) t = row_of("asset", e->name);
    if (!t) t = row_of("contact", e->name);
    if (!strcmp(e->name, "default"))
      status = check_default(r, e);
    else if (t && t->treat == READ && listed(in_defaults, e->name, NULL))
      status = check_attributes(r, e, t);
    else if (t && t->treat == READ)
      status = fx_mjcf_fail(r, e, "<%s> has no defaults", e->name);
    else if (!listed(only_defaults, e->name, NULL) && !fx_mjcf_is_actuator(e->name))
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
  if (!strcmp(e->name, "flexcomp") && fx_mjcf_reads_flex(r)) return FRIX_OK;
  if (t->treat == MISSING) return fx_mjcf_missing(r, e, e->name, t->said);
  if (!strcmp(e->name, "default")) return check_default(r, e);
  frix_status status = check_attributes(r, e, t);
  if (!status) status = note_element(r, e, t, class);
  const char *name = fx_xml_value(e, "childclass");
  if (!status && name) status = fx_mjcf_class_of(r, e, name, &class);
  return status ? status : check_inside(r, e, class);
}

static bool has_rows(const char *place) {
  for (size_t k = 0; k < sizeof table / sizeof *table; k++)
    if (!strcmp(table[k].place, place)) return true;
  return false;
}

static frix_status check_inside(fx_mjcf_reader *r, const fx_xml_element *parent, const fx_mjcf_class *class) {
  frix_status status = FRIX_OK;
  const char *place = inside_of(parent->name);
  bool leaf = !has_rows(place); /* what geoms, meshes and the compiler hold is of no use here */
  for (const fx_xml_element *e = parent->first; e && !status; e = e->next) {
    if (!leaf) status = check_element(r, e, place, class);
    if (leaf && !strcmp(e->name, "plugin"))
      status = fx_mjcf_missing(r, e, "plugin", NULL);
    else if (leaf && strcmp(e->name, "lengthrange"))
      status = unknown_element(r, e, place);
  }
  return status;
}

frix_status fx_mjcf_check(fx_mjcf_reader *r, const fx_mjcf_source *source) {
  const row mujoco = {"", "mujoco", READ, "model", 0, 0, 0, 0};
  frix_status status = check_attributes(r, source->root, &mujoco);
  return status ? status : check_inside(r, source->root, source->classes);
}
