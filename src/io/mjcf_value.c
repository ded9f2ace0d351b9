/* Values of attributes: an element's own, else its class's, else the class that one extends. */
#include <string.h>

#include "base/number.h"
#include "base/trig.h"
#include "io/draft.h"
#include "io/mjcf_internal.h"

static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static fx_word word_of(const char *text) { return fx_word_of(text, strlen(text)); }

/* Repeated elements of a class: the last word counts. */
static const fx_xml_element *in_class(const fx_mjcf_class *class, const char *tag, const char *name) {
  const fx_xml_element *found = NULL;
  for (const fx_xml_element *e = class->element ? class->element->first : NULL; e; e = e->next)
    if (!strcmp(e->name, tag) && fx_xml_value(e, name)) found = e;
  return found;
}

/* What the defaults call an element: all tendons and all equalities go by one name. */
static const char *tag_of(const fx_xml_element *e) {
  if (e->parent && (!strcmp(e->parent->name, "tendon") || !strcmp(e->parent->name, "equality"))) return e->parent->name;
  return e->name;
}

const char *fx_mjcf_text(const fx_mjcf_item *item, const char *name, const fx_xml_element **where) {
  const fx_xml_element *found = item->element;
  const char *value = fx_xml_value(found, name);
  for (const fx_mjcf_class *c = item->class; !value && c; c = c->parent) {
    found = in_class(c, tag_of(item->element), name);
    value = found ? fx_xml_value(found, name) : NULL;
  }
  if (where) *where = value ? found : item->element;
  return value;
}

/* ---- numbers ---- */

/* The next number of a list; 0 at its end, -1 where it is none. */
static int next_real(const char **at, double *out, const char **word, size_t *length) {
  const char *c = *at;
  while (is_space(*c)) c++;
  *word = c;
  while (*c && !is_space(*c)) c++;
  *at = c;
  *length = (size_t)(c - *word);
  if (!*length) return 0;
  const char *digits = *word;
  size_t size = *length;
  if (*digits == '+' && size > 1) digits++, size--;
  return fx_parse_real(digits, size, out) && isfinite(*out) ? 1 : -1;
}

static frix_status not_a_number(const fx_mjcf_reader *r, const fx_xml_element *at, const char *tag, const char *name,
                                const char *word, size_t length) {
  return fx_mjcf_fail(r, at, "%s %s: '%s' is not a finite number", tag, name, fx_word_of(word, length).text);
}

/* The numbers of one text over those of `out`. */
static frix_status read_over(const fx_mjcf_reader *r, const fx_xml_element *where, const char *name, int32_t least,
                             int32_t most, double *out, int32_t *count) {
  const char *text = fx_xml_value(where, name), *tag = where->name, *word;
  int32_t found = 0;
  double value;
  size_t length;
  for (int good; (good = next_real(&text, &value, &word, &length)); found++) {
    if (good < 0) return not_a_number(r, where, tag, name, word, length);
    if (found < most) out[found] = value;
  }
  if (count) *count = found;
  if (found >= least && found <= most) return FRIX_OK;
  if (least == most) return fx_mjcf_fail(r, where, "%s %s: %d numbers, wants %d", tag, name, (int)found, (int)most);
  return fx_mjcf_fail(r, where, "%s %s: %d numbers, wants %d to %d", tag, name, (int)found, (int)least, (int)most);
}

/* Those of a class, over those of the classes it is in. */
static frix_status read_class(const fx_mjcf_reader *r, const fx_mjcf_class *c, const char *tag, const char *name,
                              int32_t least, int32_t most, double *out) {
  frix_status status = c->parent ? read_class(r, c->parent, tag, name, least, most, out) : FRIX_OK;
  const fx_xml_element *where = in_class(c, tag, name);
  return status || !where ? status : read_over(r, where, name, least, most, out, NULL);
}

frix_status fx_mjcf_reals(const fx_mjcf_reader *r, const fx_mjcf_item *item, const char *name, int32_t least,
                          int32_t most, double *out, int32_t *count) {
  const fx_xml_element *where;
  if (!fx_mjcf_text(item, name, &where)) return FRIX_OK;
  /* of a list that may be short, what it leaves out stays as the classes have it */
  frix_status status = FRIX_OK;
  if (least < most && item->class) status = read_class(r, item->class, tag_of(item->element), name, least, most, out);
  return status ? status : read_over(r, where, name, least, most, out, count);
}

frix_status fx_mjcf_real(const fx_mjcf_reader *r, const fx_mjcf_item *item, const char *name, double *out) {
  return fx_mjcf_reals(r, item, name, 1, 1, out, NULL);
}

frix_status fx_mjcf_integer(const fx_mjcf_reader *r, const fx_mjcf_item *item, const char *name, int32_t minimum,
                            int32_t maximum, int32_t *out) {
  const fx_xml_element *where;
  double value = *out;
  if (!fx_mjcf_text(item, name, &where)) return FRIX_OK;
  frix_status status = fx_mjcf_real(r, item, name, &value);
  if (status) return status;
  if (value != floor(value) || value < minimum || value > maximum)
    return fx_mjcf_fail(r, where, "%s %s: %g is not a whole number between %d and %d", item->element->name, name, value,
                        (int)minimum, (int)maximum);
  *out = (int32_t)value;
  return FRIX_OK;
}

frix_status fx_mjcf_list(fx_mjcf_reader *r, const fx_mjcf_item *item, const char *name, double **out, int64_t *count) {
  const fx_xml_element *where;
  const char *text = fx_mjcf_text(item, name, &where), *word;
  *out = NULL;
  *count = 0;
  if (!text) return FRIX_OK;
  *out = FX_TAKE_RAW(&r->arena, double, strlen(text) / 2 + 1);
  if (!*out) return FRIX_ERROR_MEMORY;
  size_t length;
  for (int good; (good = next_real(&text, *out + *count, &word, &length)); ++*count)
    if (good < 0) return not_a_number(r, where, item->element->name, name, word, length);
  return FRIX_OK;
}

/* ---- words ---- */

frix_status fx_mjcf_word(const fx_mjcf_reader *r, const fx_mjcf_item *item, const char *name, const char *words,
                         int *out) {
  const fx_xml_element *where;
  const char *text = fx_mjcf_text(item, name, &where);
  if (!text) return FRIX_OK;
  size_t size = strlen(text);
  int index = 0;
  for (const char *at = words; *at; index++) {
    size_t length = strcspn(at, " ");
    if (length == size && !strncmp(at, text, size)) {
      *out = index;
      return FRIX_OK;
    }
    at += length;
    while (*at == ' ') at++;
  }
  fx_mjcf_hint hint = fx_mjcf_nearest(words, text);
  return fx_mjcf_fail(r, where, "%s %s: '%s' is none of: %s%s%s%s", item->element->name, name, word_of(text).text,
                      words, *hint.text ? "; did you mean '" : "", hint.text, *hint.text ? "'?" : "");
}

frix_status fx_mjcf_need(const fx_mjcf_reader *r, const fx_mjcf_item *item, const char *name, const char **out) {
  *out = fx_mjcf_text(item, name, NULL);
  if (*out && **out) return FRIX_OK;
  return fx_mjcf_fail(r, item->element, "<%s> needs the attribute '%s'", item->element->name, name);
}

frix_status fx_mjcf_limited(const fx_mjcf_reader *r, const fx_mjcf_item *item, const char *limited, const char *range,
                            bool *out) {
  int word = 2;
  frix_status status = fx_mjcf_word(r, item, limited, "false true auto", &word);
  bool given = fx_mjcf_text(item, range, NULL) != NULL;
  *out = word == 1 || (word == 2 && given && fx_mjcf_source_of(item->element)->auto_limits);
  return status;
}

/* ---- orientations ---- */

double fx_mjcf_radian(const fx_mjcf_source *source, double angle) {
  return source->radian ? angle : angle * (FX_PI / 180.0);
}

frix_quat fx_mjcf_turn(frix_vec3 axis, double radian) {
  double s, c;
  fx_sincos(0.5 * radian, &s, &c);
  return (frix_quat){c, s * axis.x, s * axis.y, s * axis.z};
}

/* Lower case: about the axes that turn along; upper case: about those that stay. */
frix_quat fx_mjcf_euler(const fx_mjcf_source *source, const double angle[3]) {
  frix_quat q = fx_quat_one();
  for (int k = 0; k < 3; k++) {
    char c = source->euler[k];
    bool fixed = c >= 'X' && c <= 'Z';
    int axis = fixed ? c - 'X' : c - 'x';
    frix_quat turn = fx_mjcf_turn(fx_vec(axis == 0, axis == 1, axis == 2), fx_mjcf_radian(source, angle[k]));
    q = fixed ? fx_quat_mul(turn, q) : fx_quat_mul(q, turn);
  }
  return q;
}

frix_quat fx_mjcf_to_z(frix_vec3 z) {
  double across = z.x * z.x + z.y * z.y;
  if (z.z < 0.0 && across < 1e-20) return (frix_quat){0.0, 1.0, 0.0, 0.0};
  double w = z.z < 0.0 ? across / (1.0 - z.z) : 1.0 + z.z; /* 1 + z without cancelling */
  return fx_quat_unit((frix_quat){w, -z.y, z.x, 0.0});
}

static frix_status from_axes(const fx_mjcf_reader *r, const fx_xml_element *at, const double v[6], frix_quat *out) {
  frix_vec3 x = {v[0], v[1], v[2]}, y = {v[3], v[4], v[5]};
  double length = fx_norm(x);
  x = fx_unit(x);
  y = fx_mad(y, -fx_dot(x, y), x);
  if (!(length > 1e-14) || !(fx_norm(y) > 1e-14))
    return fx_mjcf_fail(r, at, "%s xyaxes: the two axes must have lengths and different directions", at->name);
  y = fx_unit(y);
  *out = fx_quat_of_axes(x, y, fx_cross(x, y));
  return FRIX_OK;
}

static frix_status convert(const fx_mjcf_reader *r, const fx_xml_element *at, const char *form, const double v[6],
                           frix_quat *out) {
  bool quat = !strcmp(form, "quat");
  if (!strcmp(form, "xyaxes")) return from_axes(r, at, v, out);
  if (!strcmp(form, "euler")) {
    *out = fx_mjcf_euler(fx_mjcf_source_of(at), v);
    return FRIX_OK;
  }
  double norm = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2] + (quat ? v[3] * v[3] : 0.0));
  if (!(norm > 1e-14) || !isfinite(norm)) return fx_mjcf_fail(r, at, "%s %s: has no length", at->name, form);
  frix_vec3 axis = fx_unit(fx_vec(v[0], v[1], v[2]));
  if (quat)
    *out = fx_quat_unit((frix_quat){v[0] / norm, v[1] / norm, v[2] / norm, v[3] / norm});
  else
    *out =
        !strcmp(form, "zaxis") ? fx_mjcf_to_z(axis) : fx_mjcf_turn(axis, fx_mjcf_radian(fx_mjcf_source_of(at), v[3]));
  return FRIX_OK;
}

/* One form per element; the nearest one other than quat wins over quat, wherever that stands, as in MuJoCo. */
static const char *form_of(const fx_mjcf_item *item, const fx_xml_element **where, int *given) {
  static const char *const form[] = {"axisangle", "xyaxes", "zaxis", "euler"};
  const char *best = NULL;
  *given = fx_xml_value(item->element, "quat") != NULL;
  for (size_t k = 0; k < 4; k++) *given += fx_xml_value(item->element, form[k]) != NULL;
  for (const fx_mjcf_class *c = NULL;; c = c ? c->parent : item->class) {
    for (size_t k = 0; k < 4 && !best; k++) {
      const fx_xml_element *e = c ? in_class(c, item->element->name, form[k]) : item->element;
      if (e && fx_xml_value(e, form[k])) best = form[k], *where = e;
    }
    if (best || (c ? !c->parent : !item->class)) break;
  }
  return best ? best : fx_mjcf_text(item, "quat", where) ? "quat" : NULL;
}

static frix_status read_orientation(const fx_mjcf_reader *r, const fx_mjcf_item *item, frix_quat *out) {
  double v[6] = {0};
  int given = 0;
  const fx_xml_element *where = NULL;
  const char *form = form_of(item, &where, &given);
  if (given > 1)
    return fx_mjcf_fail(r, item->element, "<%s> has more than one of quat, axisangle, euler, xyaxes, zaxis",
                        item->element->name);
  if (!form) return FRIX_OK;
  int32_t wanted = *form == 'q' || *form == 'a' ? 4 : *form == 'x' ? 6 : 3;
  frix_status status = fx_mjcf_reals(r, item, form, wanted, wanted, v, NULL);
  return status ? status : convert(r, where, form, v, out);
}

frix_status fx_mjcf_pose(const fx_mjcf_reader *r, const fx_mjcf_item *item, frix_pose *out) {
  double p[3] = {0};
  *out = fx_pose_one();
  frix_status status = fx_mjcf_reals(r, item, "pos", 3, 3, p, NULL);
  if (!status) status = read_orientation(r, item, &out->q);
  out->p = fx_vec(p[0], p[1], p[2]);
  return status;
}
