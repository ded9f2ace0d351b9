/* State hashes of eight worlds. */
#include "hashes.h"

#include <stdio.h>

static bool stack(standing *w, const frix_sim_config *c) { return standing_stack(w, c, 10, 1e-3, 1); }
static bool cards(standing *w, const frix_sim_config *c) { return standing_cards(w, c, 4, 1e-6, 1); }
static bool arch(standing *w, const frix_sim_config *c) { return standing_arch(w, c, 25, 0.2, 0.29, 1e-6, 1); }
static bool rigid(standing *w, const frix_sim_config *c) { return standing_pile(w, c, 300, 0, 1); }
static bool soft(standing *w, const frix_sim_config *c) { return standing_pile(w, c, 100, 1e5, 1); }
static bool mixed(standing *w, const frix_sim_config *c) { return standing_mixed(w, c, 18, 1); }
static bool chain(standing *w, const frix_sim_config *c) { return standing_chain(w, c, 8); }

static const struct {
  const char *name;
  bool (*build)(standing *w, const frix_sim_config *config);
  double h;
  const char *integrator;
  frix_restitution restitution;
  bool sleep;
  double tolerance;
} worlds[HASH_WORLDS] = {
    {"stack", stack, 0.01, "moreau", FRIX_RESTITUTION_NEWTON, false, 1e-8},
    {"cards", cards, 0.005, "moreau", FRIX_RESTITUTION_NEWTON, false, 1e-8},
    {"arch", arch, 0.01, "moreau", FRIX_RESTITUTION_NEWTON, false, 1e-8},
    {"pile", rigid, 0.005, "moreau", FRIX_RESTITUTION_NEWTON, true, 1e-4},
    {"soft_pile", soft, 0.005, "moreau", FRIX_RESTITUTION_NEWTON, false, 1e-8},
    {"mixed", mixed, 0.005, "two_step", FRIX_RESTITUTION_NEWTON, true, 1e-8},
    {"poisson", mixed, 0.005, "moreau", FRIX_RESTITUTION_POISSON, false, 1e-8},
    {"chain", chain, 0.005, "variational", FRIX_RESTITUTION_NEWTON, false, 1e-8},
};

const char *hash_world_name(int32_t k) { return worlds[k].name; }
double hash_world_step(int32_t k) { return worlds[k].h; }

static frix_sim_config config_of(int32_t k, int32_t threads) {
  frix_sim_config config = frix_sim_default();
  config.thread_count = threads;
  config.integrator = worlds[k].integrator;
  config.restitution = worlds[k].restitution;
  config.sleep = worlds[k].sleep;
  config.tolerance = worlds[k].tolerance;
  return config;
}

bool hash_world_build(standing *w, int32_t k, int32_t threads) {
  frix_sim_config config = config_of(k, threads);
  return worlds[k].build(w, &config);
}

static uint64_t hash_of(const standing *w) {
  uint64_t hash = 0;
  return frix_sim_hash(w->sim, &hash) == FRIX_OK ? hash : 0;
}

uint64_t hash_world_run(int32_t k, int32_t threads, int32_t steps) {
  standing w;
  if (!hash_world_build(&w, k, threads)) return 0;
  bool good = true;
  for (int32_t j = 0; good && j < steps; j++) good = standing_step(&w, worlds[k].h, NULL);
  uint64_t hash = good ? hash_of(&w) : 0;
  standing_end(&w);
  return hash;
}

/* The sim is replaced by a fresh one that goes on from its snapshot. */
static bool replace(standing *w, int32_t k, int32_t threads) {
  frix_snapshot *snapshot = NULL;
  frix_sim_config config = config_of(k, threads);
  frix_sim *fresh = NULL;
  bool good = frix_sim_save(w->sim, &snapshot) == FRIX_OK &&
              frix_sim_create(w->context, w->model, &config, &fresh) == FRIX_OK &&
              frix_sim_restore(fresh, snapshot) == FRIX_OK;
  frix_snapshot_destroy(snapshot);
  if (!good) return false;
  frix_sim_destroy(w->sim);
  w->sim = fresh;
  return true;
}

uint64_t hash_world_resume(int32_t k, int32_t threads, int32_t steps, int32_t times, uint64_t seed) {
  standing w;
  if (!hash_world_build(&w, k, threads)) return 0;
  bool good = true;
  for (int32_t j = 0; good && j < steps; j++) {
    if (0.5 * (standing_random(&seed) + 1) * (steps - j) < times) good = replace(&w, k, threads), times--;
    if (good) good = standing_step(&w, worlds[k].h, NULL);
  }
  uint64_t hash = good ? hash_of(&w) : 0;
  standing_end(&w);
  return hash;
}
