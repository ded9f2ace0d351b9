/* The document with its includes, and the files it names.
 *
 * A name in the file is relative to the folder of the model. It must lead to a place beneath that folder, links
 * followed, unless the caller allows the outside: a scene from a stranger cannot read what is not its own. */
#define _XOPEN_SOURCE 700 /* realpath */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/draft.h"
#include "io/file.h"
#include "io/mjcf.h"

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

static frix_status locate(fx_mjcf_reader *r, const fx_xml_element *at, const char *folder, const char *name,
                          const char **path) {
  for (const char *c = name; *c; c++)
    if (*c == '\\')
      return fx_mjcf_fail(r, at, "file '%s': write / between folders", fx_word_of(name, strlen(name)).text);
  char *local = *name == '/' ? (char *)name : join(r, folder, name);
  if (!local) return FRIX_ERROR_MEMORY;
  char *whole = *local == '/' ? local : join(r, r->folder, local);
  if (!whole) return FRIX_ERROR_MEMORY;
  *path = whole;
  if (r->config.allow_outside) return FRIX_OK;
  if (*local == '/' || climbs(local) || outside(r, whole))
    return fx_mjcf_fail(r, at, "file '%s' lies outside the folder of the model; allow it with --allow-outside",
                        fx_word_of(name, strlen(name)).text);
  return FRIX_OK;
}

frix_status fx_mjcf_open(fx_mjcf_reader *r, const fx_xml_element *at, const char *folder, const char *name,
                         const char **path, char **bytes, size_t *count) {
  frix_status status = locate(r, at, folder, name, path);
  if (status) return status;
  char *text = NULL;
  status = fx_file_read(r->context, *path, r->config.max_bytes, &text, count);
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

/* Beside the model, or else beside the file that includes. */
static frix_status read_include(fx_mjcf_reader *r, const fx_xml_element *include, fx_xml_element **root) {
  fx_mjcf_item item = {include, NULL};
  const char *name = NULL, *path = NULL;
  char *bytes = NULL;
  size_t count = 0;
  frix_status status = fx_mjcf_need(r, &item, "file", &name);
  if (status) return status;
  if (include->first) return fx_mjcf_fail(r, include, "<include> holds no elements of its own");
  const char *folder = "";
  status = locate(r, include, folder, name, &path);
  if (status) return status;
  size_t above = strlen(r->folder);
  char *beside = folder_of(r, include->file);
  if (!beside) return FRIX_ERROR_MEMORY;
  if (access(path, F_OK) && strlen(beside) > above && !strncmp(beside, r->folder, above)) folder = beside + above;
  if ((status = locate(r, include, folder, name, &path)) || (status = check_new(r, include, path)) ||
      (status = fx_mjcf_open(r, include, folder, name, &path, &bytes, &count)))
    return status;
  return parse_file(r, path, bytes, count, root);
}

/* The children of the included root stand where <include> stood. */
static frix_status resolve(fx_mjcf_reader *r, fx_xml_element *parent, int depth) {
  if (depth > FX_XML_DEPTH) return fx_mjcf_fail(r, parent, "includes are nested more than %d deep", FX_XML_DEPTH);
  fx_xml_element *next = parent->first;
  parent->first = parent->last = NULL;
  for (fx_xml_element *child = next; child; child = next) {
    next = child->next;
    frix_status status = FRIX_OK;
    if (strcmp(child->name, "include")) {
      fx_xml_append(parent, child);
      status = resolve(r, child, depth + 1);
    } else {
      fx_xml_element *root = NULL;
      status = read_include(r, child, &root);
      if (!status) status = resolve(r, root, depth + 1);
      for (fx_xml_element *e = status ? NULL : root->first, *after; e; e = after) {
        after = e->next;
        fx_xml_append(parent, e);
      }
    }
    if (status) return status;
  }
  return FRIX_OK;
}

frix_status fx_mjcf_load(fx_mjcf_reader *r, const char *path, const char *bytes, size_t count) {
  size_t size = strlen(path) + 1;
  char *name = fx_arena_take(&r->arena, size, 1);
  if (!name) return FRIX_ERROR_MEMORY;
  memcpy(name, path, size);
  r->folder = folder_of(r, name);
  if (!r->folder) return FRIX_ERROR_MEMORY;
  r->real = real_path(r, *r->folder ? r->folder : ".");
  if (!r->real) return FRIX_ERROR_MEMORY;
  frix_status status = parse_file(r, name, bytes, count, &r->root);
  if (status) return status;
  if (!strcmp(r->root->name, "robot"))
    return fx_mjcf_fail(r, r->root, "<robot> starts a URDF file; frix reads MJCF, which starts with <mujoco>");
  if (strcmp(r->root->name, "mujoco"))
    return fx_mjcf_fail(r, r->root, "<%s> is not MJCF, which starts with <mujoco>",
                        fx_word_of(r->root->name, strlen(r->root->name)).text);
  return resolve(r, r->root, 0);
}
