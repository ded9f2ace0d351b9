/* Every problem file of a shared folder, in order of name. */
#ifndef FX_TEST_INSTANCES_H
#define FX_TEST_INSTANCES_H

#include "test.h"

#include <dirent.h>
#include <frix/frix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void instance_visitor(fx_test *t, frix_context *context, const char *name, const frix_problem *problem,
                              void *user);

static inline int instances_by_name(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Returns how many files were visited; a file this build cannot read (no HDF5) is passed over. */
static inline int instances_visit(fx_test *t, const char *folder, instance_visitor *visit, void *user) {
  enum { MOST = 256 };
  const char *found = fx_test_shared(t, folder);
  char path[1024], *name[MOST];
  int count = 0, visited = 0;
  DIR *listing = found ? opendir(found) : NULL;
  if (!listing) return 0;
  snprintf(path, sizeof path, "%s", found);
  size_t base = strlen(path);
  for (struct dirent *entry; (entry = readdir(listing)) && count < MOST;)
    if (entry->d_name[0] != '.') name[count++] = strdup(entry->d_name);
  closedir(listing);
  qsort(name, (size_t)count, sizeof *name, instances_by_name);
  for (int k = 0; k < count; k++) {
    frix_context *context = NULL;
    frix_problem *problem = NULL;
    snprintf(path + base, sizeof path - base, "/%s", name[k]);
    frix_status status = frix_context_create(NULL, &context);
    if (status == FRIX_OK) status = frix_problem_read(context, path, NULL, &problem);
    if (status == FRIX_OK) {
      visit(t, context, name[k], problem, user);
      visited++;
    } else if (status != FRIX_ERROR_UNSUPPORTED) {
      fx_test_fail(t, __FILE__, __LINE__, "%s", frix_error_text(context));
    }
    frix_problem_destroy(problem);
    frix_context_destroy(context);
    free(name[k]);
  }
  return visited;
}

#endif
