/* ODE: quickstep with so many iterations, 0: its defaults. */
#include "peer.h"

#include <ode/ode.h>
#include <stdlib.h>

enum { MOST = 8 };

typedef struct world {
  dWorldID world;
  dSpaceID space;
  dJointGroupID group;
  dBodyID *body;
  double mu, h;
} world;

static int can(const peer_scene *s) {
  for (int k = 0; k < s->count; k++)
    if (s->body[k].kind == PEER_HULL) return 0;
  return 1;
}

static void *create(const peer_scene *s, int iterations) {
  dInitODE2(0);
  world *w = calloc(1, sizeof *w);
  w->world = dWorldCreate();
  w->space = dHashSpaceCreate(0);
  w->group = dJointGroupCreate(0);
  w->body = calloc((size_t)s->count, sizeof *w->body);
  w->mu = s->mu, w->h = s->h;
  dWorldSetGravity(w->world, s->gravity[0], s->gravity[1], s->gravity[2]);
  if (iterations) dWorldSetQuickStepNumIterations(w->world, iterations);
  for (int k = 0; k < s->plane_count; k++)
    dCreatePlane(w->space, s->plane[k][0], s->plane[k][1], s->plane[k][2], s->plane[k][3]);
  for (int k = 0; k < s->count; k++) {
    const peer_body *b = &s->body[k];
    dMass mass;
    dGeomID geom;
    w->body[k] = dBodyCreate(w->world);
    if (b->kind == PEER_BOX) {
      geom = dCreateBox(w->space, 2 * b->half[0], 2 * b->half[1], 2 * b->half[2]);
      dMassSetBoxTotal(&mass, b->mass, 2 * b->half[0], 2 * b->half[1], 2 * b->half[2]);
    } else {
      geom = dCreateSphere(w->space, b->radius);
      dMassSetSphereTotal(&mass, b->mass, b->radius);
    }
    dBodySetMass(w->body[k], &mass);
    dGeomSetBody(geom, w->body[k]);
    dBodySetPosition(w->body[k], b->p[0], b->p[1], b->p[2]);
    dBodySetQuaternion(w->body[k], b->q);
  }
  return w;
}

static void near_callback(void *data, dGeomID a, dGeomID b) {
  world *w = data;
  dContact contact[MOST];
  int count = dCollide(a, b, MOST, &contact[0].geom, sizeof *contact);
  for (int k = 0; k < count; k++) {
    contact[k].surface.mode = dContactApprox1;
    contact[k].surface.mu = w->mu;
    dJointAttach(dJointCreateContact(w->world, w->group, &contact[k]), dGeomGetBody(a), dGeomGetBody(b));
  }
}

static void step(void *data) {
  world *w = data;
  dSpaceCollide(w->space, w, near_callback);
  dWorldQuickStep(w->world, w->h);
  dJointGroupEmpty(w->group);
}

static void position(void *data, int k, double out[3]) {
  const dReal *p = dBodyGetPosition(((world *)data)->body[k]);
  for (int c = 0; c < 3; c++) out[c] = p[c];
}

static void destroy(void *data) {
  world *w = data;
  dJointGroupDestroy(w->group);
  dSpaceDestroy(w->space);
  dWorldDestroy(w->world);
  dCloseODE();
  free(w->body);
  free(w);
}

const peer peer_ode = {"ODE", can, create, step, position, destroy};
