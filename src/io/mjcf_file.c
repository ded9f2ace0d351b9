/* The document with its includes, and the files it names.
 *
 * A name in the file is relative to the folder of the model, with the compiler's meshdir for meshes and height fields,
 * wherever the element stands: that is MuJoCo's rule. Files in the wild also keep meshes beside the file that is
 * included, so that is tried next. A name must lead to a place beneath the folder of the main file, links followed,
 * unless the caller allows the outside: a scene from a stranger cannot read what is not its own. */
#define _XOPEN_SOURCE 700 /* realpath */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/draft.h"
#include "io/file.h"
#include "io/mjcf_internal.h"

static char *join(fx_mjcf_reader *r, const char *a, const char *b) {
  size_t m = strlen(a), n = strlen(b);
  char *text = fx_arena_take(&r->arena, m + n + 2, 1);
  if (!text) return NULL;
  memcpy(text, a, m);
  if (m && a[m - 1] != '/') text[m++] = '/';
  memcpy(text + m, b, n + 1);
  return text;
}

static char *folder_of(fx_mjcf_reader *r, const char *path) {
  const char *slash = strrchr(path, '/');
  size_t length = slash ? (size_t)(slash - path) + 1 : 0;
  char *text = fx_arena_take(&r->arena, length + 1, 1);
  if (text && length) memcpy(text, path, length);
  return text;
}

/* Whether the words of a relative name ever climb above where they start. */
static bool climbs(const char *name) {
  int depth = 0;
  for (const char *at = name; *at;) {
    size_t length = strcspn(at, "/");
    if (length == 2 && at[0] == '.' && at[1] == '.') {
      if (--depth < 0) return true;
    } else if (length && !(length == 1 && at[0] == '.')) {
      depth++;
    }
    at += length;
    while (*at == '/') at++;
  }
  return false;
}

/* Links are followed; what does not exist is left to the one who opens it. */
static bool outside(const fx_mjcf_reader *r, const char *path) {
  char *real = realpath(path, NULL);
  if (!real) return false;
  size_t length = strlen(r->real);
  bool beneath = !strncmp(real, r->real, length) && (r->real[length - 1] == '/' || real[length] == '/');
  free(real);
  return !beneath;
}

/* base, with its '/' or "", folder and name as one path; an absolute one replaces the parts left of it. */
static frix_status locate(fx_mjcf_reader *r, const fx_xml_element *at, const char *base, const char *folder,
                          const char *name, const char **path) {
  for (const char *c = name; *c; c++)
    if (*c == '\\')
      return fx_mjcf_fail(r, at, "file '%s': write / between folders", fx_word_of(name, strlen(name)).text);
  char *local = *name == '/' ? (char *)name : join(r, folder, name);
  if (!local) return FRIX_ERROR_MEMORY;
  char *whole = *local == '/' ? local : join(r, base, local);
  if (!whole) return FRIX_ERROR_MEMORY;
  *path = whole;
  if (r->config.allow_outside) return FRIX_OK;
  size_t above = strlen(r->folder); /* every base is that folder, or begins with it */
  if (*local == '/' || strncmp(whole, r->folder, above) || climbs(whole + above) || outside(r, whole))
    return fx_mjcf_fail(r, at, "file '%s' lies outside the folder of the model; allow it with --allow-outside",
                        fx_word_of(name, strlen(name)).text);
  return FRIX_OK;
}

/* By MuJoCo's rule; else beside the file the element stands in, with the folder and without. */
static frix_status locate_any(fx_mjcf_reader *r, const fx_xml_element *at, const char *folder, const char *name,
                              const char **path) {
  const char *first;
  frix_status status = locate(r, at, fx_mjcf_source_of(at)->folder, folder, name, &first);
  *path = first;
  if (status || !access(first, F_OK)) return status;
  const char *beside = folder_of(r, at->file);
  if (!beside) return FRIX_ERROR_MEMORY;
  for (int bare = 0; bare < 2; bare++) {
    status = locate(r, at, beside, bare ? "" : folder, name, path);
    if (status == FRIX_ERROR_MEMORY || (!status && !access(*path, F_OK))) return status;
  }
  *path = first;
  return FRIX_OK;
}

frix_status fx_mjcf_open(fx_mjcf_reader *r, const fx_xml_element *at, const char *folder, const char *name,
                         const char **path, char **bytes, size_t *count) {
  frix_status status = locate_any(r, at, folder, name, path);
  if (status) return status;
  char *text = NULL;
  status = fx_file_read_named(r->context, *path, r->config.max_bytes, &text, count);
  if (status) return fx_mjcf_place(r, at, status);
  *bytes = fx_arena_take_raw(&r->arena, *count + 1, 1);
  if (*bytes) memcpy(*bytes, text, *count), (*bytes)[*count] = 0;
  fx_free(r->context, text);
  return *bytes ? FRIX_OK : FRIX_ERROR_MEMORY;
}

/* ---- includes ---- */

/* The path without links, or as it is where that cannot be had. */
static const char *real_path(fx_mjcf_reader *r, const char *path) {
  char *real = realpath(path, NULL), *copy = fx_arena_take(&r->arena, strlen(real ? real : path) + 1, 1);
  if (copy) strcpy(copy, real ? real : path);
  free(real);
  return copy;
}

static frix_status parse_file(fx_mjcf_reader *r, const char *path, const char *bytes, size_t count,
                              fx_xml_element **root) {
  const char *real = real_path(r, path);
  if (!real || !FX_MJCF_ROOM(r, file)) return FRIX_ERROR_MEMORY;
  r->file[r->file_count++] = real;
  return fx_xml_parse(&r->arena, path, bytes, count, root);
}

/* Each file once, which also ends circles. */
static frix_status check_new(fx_mjcf_reader *r, const fx_xml_element *at, const char *path) {
  const char *real = real_path(r, path);
  if (!real) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < r->file_count; k++)
    if (!strcmp(real, r->file[k]))
      return fx_mjcf_fail(r, at, "'%s' is included a second time, or includes itself", path);
  return FRIX_OK;
}

static frix_status read_include(fx_mjcf_reader *r, const fx_xml_element *include, fx_xml_element **root) {
  fx_mjcf_item item = {include, NULL};
  const char *name = NULL, *path = NULL;
  char *bytes = NULL;
  size_t count = 0;
  frix_status status = fx_mjcf_need(r, &item, "file", &name);
  if (status) return status;
  if (include->first) return fx_mjcf_fail(r, include, "<include> holds no elements of its own");
  if ((status = locate_any(r, include, "", name, &path)) || (status = check_new(r, include, path)) ||
      (status = fx_mjcf_open(r, include, "", name, &path, &bytes, &count)))
    return status;
  return parse_file(r, path, bytes, count, root);
}

/* The children of the included root stand where <include> stood; every element learns its source. */
static frix_status resolve(fx_mjcf_reader *r, const fx_mjcf_source *source, fx_xml_element *parent, int depth) {
  if (depth > FX_XML_DEPTH) return fx_mjcf_fail(r, parent, "includes are nested more than %d deep", FX_XML_DEPTH);
  fx_xml_element *next = parent->first;
  parent->first = parent->last = NULL;
  parent->owner = source;
  for (fx_xml_element *child = next; child; child = next) {
    next = child->next;
    child->owner = source;
    frix_status status = FRIX_OK;
    if (strcmp(child->name, "include")) {
      fx_xml_append(parent, child);
      status = resolve(r, source, child, depth + 1);
    } else {
      fx_xml_element *root = NULL;
      status = read_include(r, child, &root);
      if (!status) status = resolve(r, source, root, depth + 1);
      for (fx_xml_element *e = status ? NULL : root->first, *after; e; e = after) {
        after = e->next;
        fx_xml_append(parent, e);
      }
    }
    if (status) return status;
  }
  return FRIX_OK;
}

/* ---- sources ---- */

static frix_status load(fx_mjcf_reader *r, fx_mjcf_source *source, const char *path, const char *bytes, size_t count) {
  source->folder = folder_of(r, path);
  if (!source->folder) return FRIX_ERROR_MEMORY;
  r->file_count = 0;
  frix_status status = parse_file(r, path, bytes, count, &source->root);
  if (status) return status;
  fx_xml_element *root = source->root;
  if (!strcmp(root->name, "robot"))
    return fx_mjcf_fail(r, root, "<robot> starts a URDF file; frix reads MJCF, which starts with <mujoco>");
  if (strcmp(root->name, "mujoco"))
    return fx_mjcf_fail(r, root, "<%s> is not MJCF, which starts with <mujoco>",
                        fx_word_of(root->name, strlen(root->name)).text);
  if ((status = resolve(r, source, root, 0)) || (status = fx_mjcf_composites(r, root)) ||
      (status = fx_mjcf_classes(r, source)) || (status = fx_mjcf_check(r, source)) ||
      (status = fx_mjcf_check_count(r, source)) || (status = fx_mjcf_settings(r, source)))
    return status;
  return fx_mjcf_assets(r, source);
}

static fx_mjcf_source *source_new(fx_mjcf_reader *r) {
  fx_mjcf_source **end = &r->source;
  while (*end) end = &(*end)->next;
  return *end = FX_TAKE(&r->arena, fx_mjcf_source, 1);
}

frix_status fx_mjcf_load(fx_mjcf_reader *r, const char *path, const char *bytes, size_t count) {
  const char *name = join(r, "", path);
  if (!name || !(r->folder = folder_of(r, name))) return FRIX_ERROR_MEMORY;
  r->real = real_path(r, *r->folder ? r->folder : ".");
  fx_mjcf_source *source = source_new(r);
  if (!r->real || !source) return FRIX_ERROR_MEMORY;
  return load(r, source, name, bytes, count);
}

frix_status fx_mjcf_load_model(fx_mjcf_reader *r, const fx_xml_element *model, fx_mjcf_source **out) {
  for (*out = r->source; *out; *out = (*out)->next)
    if ((*out)->element == model) return FRIX_OK;
  fx_mjcf_item item = {model, NULL};
  const char *name = NULL, *path = NULL;
  char *bytes = NULL;
  size_t count = 0;
  frix_status status = fx_mjcf_need(r, &item, "file", &name);
  if (!status) status = fx_mjcf_open(r, model, "", name, &path, &bytes, &count);
  if (status) return status;
  fx_mjcf_source *source = *out = source_new(r);
  if (!source) return FRIX_ERROR_MEMORY;
  source->element = model;
  return load(r, source, path, bytes, count);
}
