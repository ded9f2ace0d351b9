/* Runs of several ranks: an index names the file of each rank, and frames are put together as they are read.
 *
 *   frix parts 1
 *   run.frx.0
 *   run.frx.1
 *
 * Names are those of files beside the index. Every file holds the model and, frame by frame, the bodies and contacts of
 * its rank; reports and energies are those of the whole. */
#include "io/trajectory_internal.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_PARTS = 1 << 16 };
static const char head[] = "frix parts 1\n";

void fx_parts_free(frix_context *context, char **path, int32_t count) {
  for (int32_t k = 0; path && k < count; k++) fx_free(context, path[k]);
  fx_free(context, path);
}

/* The name beside the index. */
static char *beside(frix_context *context, const char *index, const char *name) {
  const char *slash = strrchr(index, '/');
  size_t folder = slash ? (size_t)(slash - index) + 1 : 0, length = strlen(name);
  char *out = fx_alloc_raw(context, folder + length + 1, 1);
  if (!out) return NULL;
  memcpy(out, index, folder);
  memcpy(out + folder, name, length + 1);
  return out;
}

static frix_status read_names(frix_context *context, const char *path, FILE *file, char ***out, int32_t *count) {
  char line[1024];
  int32_t room = 0;
  while (fgets(line, sizeof line, file)) {
    line[strcspn(line, "\r\n")] = 0;
    if (!line[0]) continue;
    if (strchr(line, '/') || *count == MOST_PARTS)
      return fx_fail(context, FRIX_ERROR_FORMAT, "%s: names of parts are those of files beside it", path);
    if (*count == room) {
      int32_t wanted = 2 * room + 8;
      char **grown = fx_realloc(context, *out, (size_t)room, (size_t)wanted, sizeof *grown);
      if (!grown) return FRIX_ERROR_MEMORY;
      *out = grown, room = wanted;
    }
    if (!((*out)[*count] = beside(context, path, line))) return FRIX_ERROR_MEMORY;
    (*count)++;
  }
  return *count ? FRIX_OK : fx_fail(context, FRIX_ERROR_FORMAT, "%s: names no parts", path);
}

frix_status fx_parts_read(frix_context *context, const char *path, char ***out, int32_t *count) {
  char begin[sizeof head - 1];
  *out = NULL, *count = 0;
  struct stat info;
  FILE *file = stat(path, &info) == 0 && S_ISREG(info.st_mode) ? fopen(path, "rb") : NULL;
  if (!file) return FRIX_OK; /* the next open reports why */
  frix_status status = FRIX_OK;
  if (fread(begin, 1, sizeof begin, file) == sizeof begin && !memcmp(begin, head, sizeof begin))
    status = read_names(context, path, file, out, count);
  fclose(file);
  if (!status) return FRIX_OK;
  fx_parts_free(context, *out, *count);
  *out = NULL, *count = 0;
  return status;
}

static bool extend(frix_context *context, void *list, int32_t used, int32_t *room, int32_t wanted, size_t size) {
  void **pointer = list;
  if (wanted <= *room) return true;
  void *grown = fx_realloc(context, *pointer, (size_t)used, (size_t)wanted, size);
  if (!grown) return false;
  *pointer = grown, *room = wanted;
  return true;
}

frix_status fx_frame_append(frix_context *context, fx_frame_store *s, const frix_frame *other) {
  frix_frame *f = &s->frame;
  int32_t bodies = f->body_count + other->body_count, contacts = f->contact_count + other->contact_count;
  if (f->step != other->step) return fx_fail(context, FRIX_ERROR_FORMAT, "parts hold frames of different steps");
  if (!extend(context, &s->body, f->body_count, &s->body_room, bodies, sizeof *s->body) ||
      !extend(context, &s->contact, f->contact_count, &s->contact_room, contacts, sizeof *s->contact))
    return FRIX_ERROR_MEMORY;
  memcpy(s->body + f->body_count, other->body, (size_t)other->body_count * sizeof *s->body);
  memcpy(s->contact + f->contact_count, other->contact, (size_t)other->contact_count * sizeof *s->contact);
  f->body = s->body, f->contact = s->contact;
  f->body_count = bodies, f->contact_count = contacts;
  return FRIX_OK;
}
