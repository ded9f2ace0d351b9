// Bullet's soft bodies: cubes of 27 nodes, links along the edges of their tetrahedra, nodes against the floor and faces
// against nodes of each other.
#include "../bench_softs.h"

#include <BulletSoftBody/btSoftBody.h>
#include <BulletSoftBody/btSoftBodyHelpers.h>
#include <BulletSoftBody/btSoftBodyRigidBodyCollisionConfiguration.h>
#include <BulletSoftBody/btSoftRigidDynamicsWorld.h>
#include <btBulletDynamicsCommon.h>
#include <cmath>
#include <ctime>
#include <memory>
#include <vector>

enum { N = 3 };                  // nodes along a side
static const double margin = 0.01; // m; with less nodes fall through

static int node_of(int x, int y, int z) { return (z * N + y) * N + x; }

// Five tetrahedra of a cell, mirrored in every other one so that faces agree.
static void add_cell(btSoftBody *body, int x, int y, int z) {
  static const int whole[5][4] = {{0, 1, 2, 4}, {3, 1, 2, 7}, {5, 1, 4, 7}, {6, 2, 4, 7}, {1, 2, 4, 7}};
  for (const auto &tetra : whole) {
    int corner[4];
    for (int k = 0; k < 4; k++) {
      int c = (x + y + z) % 2 ? tetra[k] ^ 1 : tetra[k];
      corner[k] = node_of(x + (c & 1), y + (c >> 1 & 1), z + (c >> 2 & 1));
    }
    for (int i = 0; i < 4; i++)
      for (int j = i + 1; j < 4; j++) body->appendLink(corner[i], corner[j], nullptr, true);
  }
}

// Both triangles of the squares of the surface.
static void add_faces(btSoftBody *body) {
  for (int axis = 0; axis < 3; axis++)
    for (int end = 0; end < 2; end++)
      for (int i = 0; i + 1 < N; i++)
        for (int j = 0; j + 1 < N; j++) {
          int node[4];
          for (int c = 0; c < 4; c++) {
            int at[3];
            at[axis] = end ? N - 1 : 0;
            at[(axis + 1) % 3] = i + (c & 1), at[(axis + 2) % 3] = j + (c >> 1);
            node[c] = node_of(at[0], at[1], at[2]);
          }
          body->appendFace(node[0], node[1], node[2]);
          body->appendFace(node[3], node[2], node[1]);
        }
}

static btSoftBody *make_cube(btSoftBodyWorldInfo &info, const soft_scene *s, double x, double y, double z) {
  std::vector<btVector3> place(N * N * N);
  std::vector<btScalar> mass(N * N * N, btScalar(1));
  for (int k = 0; k < N * N * N; k++) {
    double part = s->side / (N - 1);
    place[size_t(k)] = btVector3(btScalar(x + part * (k % N) - 0.5 * s->side), btScalar(y + part * (k / N % N) - 0.5 * s->side),
                                 btScalar(z + part * (k / (N * N)) - 0.5 * s->side));
  }
  auto *body = new btSoftBody(&info, int(place.size()), place.data(), mass.data());
  for (int c = 0; c < (N - 1) * (N - 1) * (N - 1); c++) add_cell(body, c % (N - 1), c / (N - 1) % (N - 1), c / ((N - 1) * (N - 1)));
  add_faces(body);
  body->m_cfg.kDF = btScalar(s->mu);
  body->m_cfg.piterations = 10;
  body->m_cfg.collisions = btSoftBody::fCollision::SDF_RS | btSoftBody::fCollision::VF_SS;
  body->m_materials[0]->m_kLST = 1;
  body->getCollisionShape()->setMargin(btScalar(margin));
  body->setTotalMass(btScalar(s->density * s->side * s->side * s->side));
  return body;
}

static double middle_of(const btSoftBody *body) {
  double sum = 0;
  for (int k = 0; k < body->m_nodes.size(); k++) sum += double(body->m_nodes[k].m_x.x());
  return sum / body->m_nodes.size();
}

soft_result bullet_softs(const soft_scene *s) {
  btSoftBodyRigidBodyCollisionConfiguration config;
  btCollisionDispatcher dispatcher(&config);
  btDbvtBroadphase broad;
  btSequentialImpulseConstraintSolver solver;
  btSoftRigidDynamicsWorld world(&dispatcher, &broad, &solver, &config);
  double norm = std::sqrt(1 + s->slope * s->slope);
  btVector3 gravity(btScalar(9.81 * s->slope / norm), 0, btScalar(-9.81 / norm));
  world.setGravity(gravity);
  btSoftBodyWorldInfo &info = world.getWorldInfo();
  info.m_gravity = gravity;
  info.air_density = 0;
  info.m_sparsesdf.Initialize();
  btBoxShape box(btVector3(100, 100, 1));
  btDefaultMotionState place(btTransform(btQuaternion::getIdentity(), btVector3(0, 0, -1)));
  btRigidBody floor(btRigidBody::btRigidBodyConstructionInfo(0, &place, &box));
  floor.setFriction(1);
  world.addRigidBody(&floor);
  std::vector<btSoftBody *> body;
  for (int k = 0; k < 2 * s->columns; k++) {
    double x, y;
    soft_place(k / 2, s->side, &x, &y);
    body.push_back(make_cube(info, s, x, y, s->side * (k % 2 + 0.5) + margin * (1 + 2 * (k % 2))));
    world.addSoftBody(body.back());
  }
  auto step = [&] { world.stepSimulation(btScalar(s->h), 0, btScalar(s->h)); };
  for (int k = 0; k < s->settle; k++) step();
  std::vector<double> before;
  for (int k = 0; k < s->columns; k++) before.push_back(middle_of(body[size_t(2 * k + 1)]));
  std::clock_t begun = std::clock();
  for (int k = 0; k < s->steps; k++) step();
  soft_result r = {};
  r.seconds = double(std::clock() - begun) / CLOCKS_PER_SEC / s->steps;
  r.contacts = -1;
  r.coordinates = 3 * N * N * N * 2 * s->columns;
  for (int k = 0; k < s->columns; k++)
    r.drift = std::fmax(r.drift, std::fabs(middle_of(body[size_t(2 * k + 1)]) - before[size_t(k)] - soft_way(s)));
  for (auto *b : body)
    for (int k = 0; k < b->m_nodes.size(); k++) r.penetration = std::fmax(r.penetration, -double(b->m_nodes[k].m_x.z()));
  for (auto *b : body) {
    world.removeSoftBody(b);
    delete b;
  }
  world.removeRigidBody(&floor);
  return r;
}
