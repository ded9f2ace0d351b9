// Bullet's closest ray tests over its tree of boxes.
#include "../bench_rays.h"

#include <btBulletCollisionCommon.h>
#include <ctime>
#include <memory>
#include <vector>

double bullet_rays(const ray_body *body, int body_count, const double *from, const double *to, int count,
                   double *distance) {
  btDefaultCollisionConfiguration config;
  btCollisionDispatcher dispatcher(&config);
  btDbvtBroadphase broad;
  btCollisionWorld world(&dispatcher, &broad, &config);
  std::vector<std::unique_ptr<btCollisionShape>> shapes;
  std::vector<std::unique_ptr<btCollisionObject>> objects;
  for (int k = 0; k < body_count; k++) {
    const ray_body &b = body[k];
    if (b.box)
      shapes.emplace_back(new btBoxShape(btVector3(btScalar(b.half[0]), btScalar(b.half[1]), btScalar(b.half[2]))));
    else
      shapes.emplace_back(new btSphereShape(btScalar(b.radius)));
    if (b.box) shapes.back()->setMargin(0); // else rays meet boxes that are wider by it
    objects.emplace_back(new btCollisionObject);
    objects.back()->setCollisionShape(shapes.back().get());
    objects.back()->setWorldTransform(
        btTransform(btQuaternion(btScalar(b.q[1]), btScalar(b.q[2]), btScalar(b.q[3]), btScalar(b.q[0])),
                    btVector3(btScalar(b.p[0]), btScalar(b.p[1]), btScalar(b.p[2]))));
    world.addCollisionObject(objects.back().get());
  }
  broad.optimize();
  std::clock_t begun = std::clock();
  for (int k = 0; k < count; k++) {
    const double *a = from + 3 * k, *b = to + 3 * k;
    btVector3 start = {btScalar(a[0]), btScalar(a[1]), btScalar(a[2])};
    btVector3 end = {btScalar(b[0]), btScalar(b[1]), btScalar(b[2])};
    btCollisionWorld::ClosestRayResultCallback hit(start, end);
    world.rayTest(start, end, hit);
    distance[k] = hit.hasHit() ? double(hit.m_closestHitFraction * (end - start).length()) : -1.0;
  }
  double seconds = double(std::clock() - begun) / CLOCKS_PER_SEC;
  for (auto &object : objects) world.removeCollisionObject(object.get());
  return seconds;
}
