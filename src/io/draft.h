/* What readers share: the problem being read, its memory, and messages that name the file and the place. */
#ifndef FX_IO_DRAFT_H
#define FX_IO_DRAFT_H

#include <frix/io.h>

#include "base/arena.h"

/* A problem on its way from a file. Everything lives in the arena until frix_problem_create has copied it. */
typedef struct fx_draft {
  frix_context *context;
  const char *name; /* of the file */
  fx_arena arena;
  int64_t left; /* bytes that may still be taken */
  frix_problem_data data;
} fx_draft;

void fx_draft_init(fx_draft *draft, frix_context *context, const char *name, int64_t max_bytes);
void fx_draft_free(fx_draft *draft);

/* Zeroed memory within the limit; NULL with the error text set otherwise. */
void *fx_draft_take(fx_draft *draft, int64_t count, size_t size);
#define FX_DRAFT_TAKE(draft, type, count) ((type *)fx_draft_take((draft), (count), sizeof(type)))

/* Contacts of one kind from mu and mu_r (NULL: none); dim 1 means limits. Fills contact, contact_count, row_count. */
frix_status fx_draft_contacts(fx_draft *draft, int32_t dim, int32_t count, const double *mu, const double *mu_r);

/* Some writers store one triangle of the symmetric M. A mass matrix with entries on one side of the diagonal only can
 * be nothing else, so the other side is filled in, with a warning that names the place. Any sparse format. */
frix_status fx_draft_mirror(fx_draft *draft, const char *where, frix_matrix *m);

/* The problem. What frix_problem_create finds wrong is a fault of the file, and the text says which file. */
frix_status fx_draft_finish(fx_draft *draft, frix_problem **out);

/* Whether a compressed-column matrix has every entry and no zero among them, so that a dense form keeps its pattern. */
bool fx_matrix_full(const frix_matrix *m);

/* Cones of fclib and of text files, one for all contacts of a file. */
enum { FX_FILE_CONES = 1 << FRIX_CONE_CIRCULAR | 1 << FRIX_CONE_PLANAR | 1 << FRIX_CONE_ROLLING };

/* What keeps a problem out of a file with one of these cones for all contacts and without compliance; "" for nothing.
 */
typedef struct fx_obstacle {
  char text[64];
} fx_obstacle;
fx_obstacle fx_obstacle_of(const frix_problem_data *data, uint32_t cones);

/* Bytes of a file as a short printable word for a message. */
typedef struct fx_word {
  char text[48];
} fx_word;
fx_word fx_word_of(const char *bytes, size_t count);

#endif
