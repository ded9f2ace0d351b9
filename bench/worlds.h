/* Worlds that stand: stacks, card houses, arches, piles of spheres; and some that move; for benchmarks and tests.
 *
 * Uses the public interface only. A shake moves every body a little at the start, at random, so that nothing stands
 * only because its coordinates are round. */
#ifndef BENCH_WORLDS_H
#define BENCH_WORLDS_H

#include <frix/frix.h>

typedef struct standing {
  frix_context *context;
  frix_model *model;
  frix_sim *sim;
  int32_t count;                    /* of its bodies, in the order they were built */
  frix_body_id *body;               /* count */
  frix_vec3 *start;                 /* count: where they were at the last mark */
  int64_t steps, uncertified, warm; /* warm: the impulses of the last step were the answer */
  double worst;                     /* residual of a step */
  double seconds;                   /* processor time of the steps */
} standing;

/* Each fills a world with its sim; false with a line on stderr where something failed. config may be NULL. */
bool standing_stack(standing *w, const frix_sim_config *config, int32_t cubes, double shake, uint64_t seed);
/* Levels of leaning pairs of 90 x 60 x 2 mm with lying cards between, mu 0.8. */
bool standing_cards(standing *w, const frix_sim_config *config, int32_t levels, double shake, uint64_t seed);
/* Half a ring of flat voussoirs of mean radius 1 m on the ground. */
bool standing_arch(standing *w, const frix_sim_config *config, int32_t voussoirs, double thickness, double mu,
                   double shake, uint64_t seed);
/* Spheres of 1 cm on a loose lattice in a box, about to fall; stiffness 0: rigid. */
bool standing_pile(standing *w, const frix_sim_config *config, int32_t spheres, double stiffness, uint64_t seed);
/* Spheres, boxes, capsules, cylinders, ellipsoids and hulls (where qhull is there) that fall in a heap and bounce. */
bool standing_mixed(standing *w, const frix_sim_config *config, int32_t bodies, uint64_t seed);
/* Links on ball joints that hang from a motor and sweep the ground. */
bool standing_chain(standing *w, const frix_sim_config *config, int32_t links);
void standing_end(standing *w);

bool standing_step(standing *w, double h, frix_step_report *report);
void standing_mark(standing *w);
/* The farthest a body has come since the mark; not a number where one was lost. */
double standing_moved(const standing *w);
/* Fastest body now, m/s at its centre. */
double standing_speed(const standing *w);

double standing_random(uint64_t *seed); /* uniform in -1 .. 1 */

#endif
