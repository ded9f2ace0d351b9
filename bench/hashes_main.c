/* State hashes, one line per world:
 *
 *   bench_hashes [--steps N] [--threads N] [--resume]     default 2000 steps, 1 thread
 *
 * --resume: save and restore into a fresh sim at ten random steps on the way. tools/check_sim_bits compares builds. */
#include "hashes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
  int32_t steps = 2000, threads = 1;
  bool resume = false, failed = false;
  for (int k = 1; k < argc; k++) {
    if (!strcmp(argv[k], "--steps") && k + 1 < argc)
      steps = atoi(argv[++k]);
    else if (!strcmp(argv[k], "--threads") && k + 1 < argc)
      threads = atoi(argv[++k]);
    else if (!strcmp(argv[k], "--resume"))
      resume = true;
    else
      return fprintf(stderr, "hashes: unknown option '%s'\n", argv[k]), 2;
  }
  for (int32_t k = 0; k < HASH_WORLDS; k++) {
    uint64_t hash = resume ? hash_world_resume(k, threads, steps, 10, 7) : hash_world_run(k, threads, steps);
    failed |= hash == 0;
    printf("%-10s %016" PRIx64 "\n", hash_world_name(k), hash);
    fflush(stdout);
  }
  return failed ? 1 : 0;
}
