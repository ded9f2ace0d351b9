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

btRigidBody *add(world *w, btCollisionShape *shape, double mass, const btTransform &pose, double mu) {
  w->shape.emplace_back(shape);
  btVector3 inertia(0, 0, 0);
  if (mass > 0) shape->calculateLocalInertia(btScalar(mass), inertia);
  btRigidBody::btRigidBodyConstructionInfo info(btScalar(mass), nullptr, shape, inertia);
  info.m_startWorldTransform = pose;
  info.m_friction = btScalar(mu);
  auto *body = new btRigidBody(info);
  body->setActivationState(DISABLE_DEACTIVATION);
  w->dynamics.addRigidBody(body);
  w->body.emplace_back(body);
  return body;
}

btVector3 vec(const double *x) { return btVector3(btScalar(x[0]), btScalar(x[1]), btScalar(x[2])); }

int can(const peer_scene *) { return 1; }

void *create(const peer_scene *s, int iterations) {
  auto *w = new world;
  w->h = s->h;
  w->dynamics.setGravity(vec(s->gravity));
  if (iterations) w->dynamics.getSolverInfo().m_numIterations = iterations;
  btScalar mu = btSqrt(btScalar(s->mu)); // friction of a pair is the product
  for (int k = 0; k < s->count; k++) {
    const peer_body &b = s->body[k];
    btCollisionShape *shape = nullptr;
    if (b.kind == PEER_BOX) {
      shape = new btBoxShape(vec(b.half));
      double least = std::min(b.half[0], std::min(b.half[1], b.half[2]));
      if (least < 0.04) shape->setMargin(btScalar(0.1 * least));
    } else if (b.kind == PEER_SPHERE) {
      shape = new btSphereShape(btScalar(b.radius));
    } else {
      auto *hull = new btConvexHullShape;
      for (const auto &point : b.point) hull->addPoint(vec(point));
      hull->setMargin(btScalar(0.001));
      shape = hull;
    }
    btTransform pose(btQuaternion(btScalar(b.q[1]), btScalar(b.q[2]), btScalar(b.q[3]), btScalar(b.q[0])), vec(b.p));
    add(w, shape, b.mass, pose, mu);
  }
  for (int k = 0; k < s->plane_count; k++)
    add(w, new btStaticPlaneShape(vec(s->plane[k]), btScalar(s->plane[k][3])), 0, btTransform::getIdentity(), mu);
  return w;
}

void step(void *data) {
  auto *w = static_cast<world *>(data);
  w->dynamics.stepSimulation(btScalar(w->h), 0);
}

void position(void *data, int k, double out[3]) {
  const btVector3 &p = static_cast<world *>(data)->body[size_t(k)]->getWorldTransform().getOrigin();
  for (int c = 0; c < 3; c++) out[c] = double(p[c]);
}

void destroy(void *data) {
  auto *w = static_cast<world *>(data);
  for (auto &body : w->body) w->dynamics.removeRigidBody(body.get());
  delete w;
}

} // namespace

extern "C" const peer peer_bullet = {"Bullet", can, create, step, position, destroy};
