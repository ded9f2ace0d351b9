/* The same bits: eight worlds against golden hashes, with several threads, and resumed from snapshots. The long version
 * is tools/check_sim_bits.
 *
 * A change that alters answers on purpose makes the golden file anew:
 *   cmake --build build --target bench_hashes && build/bench_hashes --steps 60 > test/golden_hashes.txt */
#include "bench/hashes.h"
#include "test.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { STEPS = 60 };

static uint64_t golden(const char *name) {
  FILE *file = fopen(FRIX_SOURCE_DIR "/test/golden_hashes.txt", "r");
  if (!file) return 0;
  char word[32];
  uint64_t hash = 0, found = 0;
  while (fscanf(file, "%31s %" SCNx64, word, &hash) == 2)
    if (!strcmp(word, name)) found = hash;
  fclose(file);
  return found;
}

static bool has_hulls(void) {
#ifdef FRIX_HAVE_QHULL
  return true;
#else
  return false;
#endif
}

static void same_bits(fx_test *t) {
  for (int32_t k = 0; k < HASH_WORLDS; k++) {
    const char *name = hash_world_name(k);
    uint64_t hash = hash_world_run(k, 1, STEPS);
    CHECK(t, hash != 0);
    if ((has_hulls() || (strcmp(name, "mixed") && strcmp(name, "poisson"))) && hash != golden(name))
      fx_test_fail(t, __FILE__, __LINE__, "%s: %016" PRIx64 " is not the golden hash; changed on purpose? see above",
                   name, hash);
    if (hash_world_run(k, 4, STEPS) != hash) fx_test_fail(t, __FILE__, __LINE__, "%s: differs with 4 threads", name);
    if (hash_world_resume(k, 1, STEPS, 10, 7) != hash) fx_test_fail(t, __FILE__, __LINE__, "%s: differs resumed", name);
  }
}

const fx_test_row test_hashes[] = {
    {"hashes/same_bits", same_bits},
    {0},
};
