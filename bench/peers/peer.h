/* Other engines behind one interface: a scene of boxes, spheres and hulls on half spaces, stepped and looked at. */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#ifdef __cplusplus
extern "C" {
#endif

enum { PEER_POINTS = 8, PEER_PLANES = 6 };
typedef enum peer_kind { PEER_BOX, PEER_SPHERE, PEER_HULL } peer_kind;

typedef struct peer_body {
  peer_kind kind;
  double half[3], radius;
  double point[PEER_POINTS][3]; /* hull: corners about the centre of mass */
  double p[3], q[4];            /* centre of mass; q = w, x, y, z */
  double mass;
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
  void (*position)(void *world, int k, double out[3]);
  void (*destroy)(void *world);
} peer;

extern const peer peer_bullet, peer_ode;

#ifdef __cplusplus
}
#endif
#endif
