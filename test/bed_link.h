/* Ranks in one process: a thread each, with messages through a table. */
#ifndef FX_BED_LINK_H
#define FX_BED_LINK_H

#include <frix/bed.h>

enum { FX_TEST_RANKS = 8 };

/* run(link, user) on so many ranks; false where threads are not to be had. */
bool fx_test_ranks(int32_t count, void (*run)(const frix_bed_link *link, void *user), void *user);

#endif
