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
    if (s->body[k].kind == PEER_HULL || s->body[k].kind == PEER_CYLINDER) return 0;
  return 1;
}

static dGeomID geom_of(dSpaceID space, const peer_body *b, dMass *mass) {
  double m = b->mass > 0 ? b->mass : 1, x = 2 * b->half[0], y = 2 * b->half[1], z = 2 * b->half[2];
  if (b->kind == PEER_BOX) {
    dMassSetBoxTotal(mass, m, x, y, z);
    return dCreateBox(space, x, y, z);
  }
  if (b->kind == PEER_CAPSULE) {
    dMassSetCapsuleTotal(mass, m, 3, b->radius, 2 * b->half_length);
    return dCreateCapsule(space, b->radius, 2 * b->half_length);
  }
  dMassSetSphereTotal(mass, m, b->radius);
  return dCreateSphere(space, b->radius);
}

static void put(void *data, int k, const double p[3], const double q[4], const double v[3], const double spin[3]) {
  dBodyID body = ((world *)data)->body[k];
  const dReal turn[4] = {(dReal)q[0], (dReal)q[1], (dReal)q[2], (dReal)q[3]};
  dBodySetPosition(body, p[0], p[1], p[2]);
  dBodySetQuaternion(body, turn);
  dBodySetLinearVel(body, v[0], v[1], v[2]);
  dBodySetAngularVel(body, spin[0], spin[1], spin[2]);
}

static void add(world *w, int k, const peer_body *b) {
  dMass mass;
  dGeomID geom = geom_of(w->space, b, &mass);
  if (!(b->mass > 0)) {
    const dReal turn[4] = {(dReal)b->q[0], (dReal)b->q[1], (dReal)b->q[2], (dReal)b->q[3]};
    dGeomSetPosition(geom, b->p[0], b->p[1], b->p[2]);
    dGeomSetQuaternion(geom, turn);
    return;
  }
  if (b->inertia[0] > 0)
    dMassSetParameters(&mass, b->mass, 0, 0, 0, b->inertia[0], b->inertia[1], b->inertia[2], 0, 0, 0);
  w->body[k] = dBodyCreate(w->world);
  dBodySetMass(w->body[k], &mass);
  dGeomSetBody(geom, w->body[k]);
  put(w, k, b->p, b->q, b->v, b->w);
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
  for (int k = 0; k < s->count; k++) add(w, k, &s->body[k]);
  return w;
}

static void near_callback(void *data, dGeomID a, dGeomID b) {
  world *w = data;
  dContact contact[MOST];
  if (!dGeomGetBody(a) && !dGeomGetBody(b)) return;
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

static void look(void *data, int k, double p[3], double q[4], double v[3], double spin[3]) {
  dBodyID body = ((world *)data)->body[k];
  const dReal *from[] = {dBodyGetPosition(body), dBodyGetLinearVel(body), dBodyGetAngularVel(body)};
  const dReal *turn = dBodyGetQuaternion(body);
  for (int c = 0; c < 3; c++) p[c] = from[0][c], v[c] = from[1][c], spin[c] = from[2][c];
  for (int c = 0; c < 4; c++) q[c] = turn[c];
}

static void push(void *data, int k, const double force[3]) {
  dBodyAddForce(((world *)data)->body[k], force[0], force[1], force[2]);
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

const peer peer_ode = {"ODE", can, create, step, look, put, push, destroy};
