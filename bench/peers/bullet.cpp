// Bullet: sequential impulses with so many iterations, 0: its default 10. Bodies never sleep.
#include "peer.h"

#include <btBulletDynamicsCommon.h>
#include <memory>
#include <vector>

namespace {

struct world {
  btDefaultCollisionConfiguration config;
  btCollisionDispatcher dispatcher{&config};
  btDbvtBroadphase broad;
  btSequentialImpulseConstraintSolver solver;
  btDiscreteDynamicsWorld dynamics{&dispatcher, &broad, &solver, &config};
  std::vector<std::unique_ptr<btCollisionShape>> shape;
  std::vector<std::unique_ptr<btRigidBody>> body;
  double h = 0;
};

btVector3 vec(const double *x) { return btVector3(btScalar(x[0]), btScalar(x[1]), btScalar(x[2])); }

btTransform frame(const double *p, const double *q) {
  return btTransform(btQuaternion(btScalar(q[1]), btScalar(q[2]), btScalar(q[3]), btScalar(q[0])), vec(p));
}

btRigidBody *add(world *w, btCollisionShape *shape, double mass, const double *inertia, const btTransform &pose,
                 double mu) {
  w->shape.emplace_back(shape);
  btVector3 local(0, 0, 0);
  if (inertia && inertia[0] > 0)
    local = vec(inertia);
  else if (mass > 0)
    shape->calculateLocalInertia(btScalar(mass), local);
  btRigidBody::btRigidBodyConstructionInfo info(btScalar(mass), nullptr, shape, local);
  info.m_startWorldTransform = pose;
  info.m_friction = btScalar(mu);
  auto *body = new btRigidBody(info);
  body->setActivationState(DISABLE_DEACTIVATION);
  w->dynamics.addRigidBody(body);
  w->body.emplace_back(body);
  return body;
}

btCollisionShape *shape_of(const peer_body &b) {
  if (b.kind == PEER_SPHERE) return new btSphereShape(btScalar(b.radius));
  if (b.kind == PEER_CAPSULE) return new btCapsuleShapeZ(btScalar(b.radius), btScalar(2 * b.half_length));
  if (b.kind == PEER_CYLINDER)
    return new btCylinderShapeZ(btVector3(btScalar(b.radius), btScalar(b.radius), btScalar(b.half_length)));
  if (b.kind == PEER_BOX) {
    auto *shape = new btBoxShape(vec(b.half));
    double least = std::min(b.half[0], std::min(b.half[1], b.half[2]));
    if (least < 0.04) shape->setMargin(btScalar(0.1 * least));
    return shape;
  }
  auto *hull = new btConvexHullShape;
  for (const auto &point : b.point) hull->addPoint(vec(point));
  hull->setMargin(btScalar(0.001));
  return hull;
}

int can(const peer_scene *) { return 1; }

void *create(const peer_scene *s, int iterations) {
  auto *w = new world;
  w->h = s->h;
  w->dynamics.setGravity(vec(s->gravity));
  if (iterations) w->dynamics.getSolverInfo().m_numIterations = iterations;
  btScalar mu = btSqrt(btScalar(s->mu)); // friction of a pair is the product
  for (int k = 0; k < s->count; k++) {
    const peer_body &b = s->body[k];
    btRigidBody *body = add(w, shape_of(b), b.mass, b.inertia, frame(b.p, b.q), mu);
    body->setLinearVelocity(vec(b.v));
    body->setAngularVelocity(vec(b.w));
  }
  for (int k = 0; k < s->plane_count; k++)
    add(w, new btStaticPlaneShape(vec(s->plane[k]), btScalar(s->plane[k][3])), 0, nullptr, btTransform::getIdentity(),
        mu);
  return w;
}

void step(void *data) {
  auto *w = static_cast<world *>(data);
  w->dynamics.stepSimulation(btScalar(w->h), 0);
}

void look(void *data, int k, double p[3], double q[4], double v[3], double spin[3]) {
  const btRigidBody &body = *static_cast<world *>(data)->body[size_t(k)];
  const btQuaternion turn = body.getWorldTransform().getRotation();
  for (int c = 0; c < 3; c++) {
    p[c] = double(body.getWorldTransform().getOrigin()[c]);
    v[c] = double(body.getLinearVelocity()[c]);
    spin[c] = double(body.getAngularVelocity()[c]);
  }
  q[0] = double(turn.w()), q[1] = double(turn.x()), q[2] = double(turn.y()), q[3] = double(turn.z());
}

void put(void *data, int k, const double p[3], const double q[4], const double v[3], const double spin[3]) {
  btRigidBody &body = *static_cast<world *>(data)->body[size_t(k)];
  body.setWorldTransform(frame(p, q));
  body.setInterpolationWorldTransform(frame(p, q));
  body.setLinearVelocity(vec(v));
  body.setAngularVelocity(vec(spin));
}

void push(void *data, int k, const double force[3]) {
  static_cast<world *>(data)->body[size_t(k)]->applyCentralForce(vec(force));
}

void destroy(void *data) {
  auto *w = static_cast<world *>(data);
  for (auto &body : w->body) w->dynamics.removeRigidBody(body.get());
  delete w;
}

} // namespace

extern "C" const peer peer_bullet = {"Bullet", can, create, step, look, put, push, destroy};
