/* Other engines behind one interface: a scene of convex bodies on half spaces, stepped and looked at. */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#ifdef __cplusplus
extern "C" {
#endif

enum { PEER_POINTS = 8, PEER_PLANES = 6 };
typedef enum peer_kind { PEER_BOX, PEER_SPHERE, PEER_HULL, PEER_CAPSULE, PEER_CYLINDER } peer_kind;

typedef struct peer_body {
  peer_kind kind;
  double half[3], radius, half_length; /* capsule, cylinder: along z */
  double point[PEER_POINTS][3];        /* hull: corners about the centre of mass */
  double p[3], q[4];                   /* centre of mass; q = w, x, y, z */
  double v[3], w[3];                   /* of the centre of mass, world frame */
  double mass;                         /* 0: fixed */
  double inertia[3];                   /* about the body axes; zero: of an even density */
} peer_body;

typedef struct peer_scene {
  const peer_body *body;
  int count;
  double plane[PEER_PLANES][4]; /* n . x >= d is free */
  int plane_count;
  double gravity[3], mu, h;
} peer_scene;

typedef struct peer {
  const char *name;
  int (*can)(const peer_scene *scene); /* whether the engine has all its shapes */
  void *(*create)(const peer_scene *scene, int iterations);
  void (*step)(void *world);
  /* Centre of mass, turn (w, x, y, z), velocity and spin of a body. */
  void (*look)(void *world, int k, double p[3], double q[4], double v[3], double w[3]);
  void (*put)(void *world, int k, const double p[3], const double q[4], const double v[3], const double w[3]);
  void (*push)(void *world, int k, const double force[3]); /* during the next step */
  void (*destroy)(void *world);
} peer;

extern const peer peer_bullet, peer_ode;

#ifdef __cplusplus
}
#endif
#endif
