/* Attached models: <attach model="m" body="b" prefix="p"/> puts a body of another file, or all its world holds, where
 * it stands; frame="f" what a frame of it holds, with the frame's own pose. The other file has its own compiler and
 * classes; what refers to things in it (contacts, equalities, tendons, actuators, keyframes) comes along, see
 * fx_mjcf_next_of_all. */
#include <string.h>

#include "io/draft.h"
#include "io/mjcf_internal.h"

enum { MOST_NESTED = 8 };

/* By the name of the <model>, or that the file gives itself. */
static frix_status find_model(fx_mjcf_reader *r, const fx_xml_element *attach, fx_mjcf_source **out) {
  fx_mjcf_item item = {attach, NULL};
  const char *wanted;
  frix_status status = fx_mjcf_need(r, &item, "model", &wanted);
  for (const fx_xml_element *e = NULL; !status && (e = fx_mjcf_next(fx_mjcf_source_of(attach), "asset", e));) {
    const char *name = fx_xml_value(e, "name");
    if (strcmp(e->name, "model") || (name && strcmp(name, wanted))) continue;
    if ((status = fx_mjcf_load_model(r, e, out)) || name) return status;
    const char *own = fx_xml_value((*out)->root, "model");
    if (own && !strcmp(own, wanted)) return FRIX_OK;
  }
  return status ? status
                : fx_mjcf_fail(r, attach, "there is no model '%s' in <asset>", fx_word_of(wanted, strlen(wanted)).text);
}

/* A body or frame by its name. */
static const fx_xml_element *find_part(const fx_xml_element *in, const char *kind, const char *name) {
  const fx_xml_element *found = NULL;
  for (const fx_xml_element *e = in->first; e && !found; e = e->next) {
    const char *own = fx_xml_value(e, "name");
    found = !strcmp(e->name, kind) && own && !strcmp(own, name) ? e : find_part(e, kind, name);
  }
  return found;
}

/* The class in force where an element of the other file stands. */
static frix_status class_at(const fx_mjcf_reader *r, const fx_xml_element *e, const fx_mjcf_class **out) {
  for (const fx_xml_element *up = e->parent; up; up = up->parent) {
    const char *name = fx_xml_value(up, "childclass");
    if (name) return fx_mjcf_class_of(r, up, name, out);
  }
  return FRIX_OK;
}

static char *joined(fx_mjcf_reader *r, const char *a, const char *b) {
  size_t m = strlen(a), n = strlen(b);
  char *text = fx_arena_take(&r->arena, m + n + 1, 1);
  if (text) memcpy(text, a, m), memcpy(text + m, b, n);
  return text;
}

frix_status fx_mjcf_attach(fx_mjcf_reader *r, const fx_xml_element *e, fx_mjcf_at at) {
  fx_mjcf_source *source = NULL;
  if (++at.depth > MOST_NESTED)
    return fx_mjcf_fail(r, e, "models are attached to attached ones more than %d deep, or to themselves", MOST_NESTED);
  frix_status status = find_model(r, e, &source);
  if (status) return status;
  const char *frame = fx_xml_value(e, "frame"), *name = fx_xml_value(e, "body"), *prefix = fx_xml_value(e, "prefix");
  const char *kind = frame ? "frame" : "body";
  if (frame && name) return fx_mjcf_fail(r, e, "a body and a frame: only one of them can be attached");
  if (frame) name = frame;
  prefix = joined(r, r->instance[at.instance].prefix, prefix ? prefix : "");
  if (!prefix || !FX_MJCF_ROOM(r, instance)) return FRIX_ERROR_MEMORY;
  at.instance = r->instance_count;
  r->instance[r->instance_count++] = (fx_mjcf_instance){source, prefix, at.suffix};
  at.class = source->classes;
  bool found = false;
  for (const fx_xml_element *world = source->root->first; world && !status && !found; world = world->next) {
    if (strcmp(world->name, "worldbody")) continue;
    const fx_xml_element *part = name ? find_part(world, kind, name) : NULL;
    if (name && !part) continue;
    found = name != NULL;
    status = class_at(r, part ? part : world, &at.class);
    if (!status)
      status = frame  ? fx_mjcf_add_frame(r, part, at)
               : part ? fx_mjcf_add_body(r, part, at)
                      : fx_mjcf_visit(r, world, at);
  }
  if (status || found || !name) return status;
  return fx_mjcf_fail(r, e, "there is no %s '%s' in %s", kind, fx_word_of(name, strlen(name)).text, source->root->file);
}
