/* Two threads in step: one leads, the other helps where it has come.
 *
 * The leader calls fx_team_do for every piece of work that has two parts; the helper takes the second where it is free,
 * else the leader does both. Parts write to different places, so the result is the same in any case. Pieces of work
 * take some ten microseconds, so the helper waits for the next one by looking, and lets others run now and then. */
#ifndef FX_SOLVER_SWEEPS_TEAM_H
#define FX_SOLVER_SWEEPS_TEAM_H

#include "base/context.h"

typedef struct fx_team fx_team;

/* Runs lead(team, user) in the calling thread, with a helper where thread_count allows and a thread is free. */
void fx_team_run(frix_context *context, int32_t thread_count, void (*lead)(fx_team *team, void *user), void *user);

/* work(0, user) and work(1, user), and waits; team may be NULL. For the leader. */
void fx_team_do(fx_team *team, void (*work)(int32_t part, void *user), void *user);

#endif
