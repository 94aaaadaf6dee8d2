// The state of a world: all that its next steps go by, contacts, impulses and the tree of the broad phase included.
// The environment creates its bodies, shapes and joints again before it loads.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cypool/envs/box2d/engine.h"
#include "cypool/envs/shared/rules/rules.h"

namespace cypool::box2d {

constexpr double LARGE = 1e9;  // the largest number that Box2D can compute with

template <class Archive, class XY> void exchange_xy(Archive& archive, XY& point, double limit) {
    archive("x", point.x, -limit, limit);
    archive("y", point.y, -limit, limit);
}
template <class Archive, class XY> void exchange_xy(Archive& archive, const char* name, XY& point, double limit) {
    archive.in(name, [&] { exchange_xy(archive, point, limit); });
}

// All fixtures of a world, in an order that depends only on that in which they were made.
inline std::vector<b2Fixture*> fixtures_of(b2World& world) {
    std::vector<b2Fixture*> found;
    for (b2Body* body = world.GetBodyList(); body; body = body->GetNext()) {
        for (b2Fixture* fixture = body->GetFixtureList(); fixture; fixture = fixture->GetNext()) {
            found.push_back(fixture);
        }
    }
    return found;
}

namespace saved {

constexpr uint16 BODY_FLAGS = b2Body::e_islandFlag | b2Body::e_awakeFlag | b2Body::e_toiFlag;
constexpr int32 MAX_NODES = 1 << 16;

inline int32 index_of(const std::vector<b2Fixture*>& fixtures, const b2Fixture* fixture) {
    return static_cast<int32>(std::find(fixtures.begin(), fixtures.end(), fixture) - fixtures.begin());
}

[[noreturn]] inline void refuse_tree(const char* got) { refuse_state("world.tree", "a tree with all shapes", got); }

// Each node is used once: in the tree, whose heights are true, or in the list of free ones.
inline void check_tree(const std::vector<b2TreeNode>& nodes, int32 count, int32 root, int32 free) {
    const int32 capacity = static_cast<int32>(nodes.size());
    std::vector<char> seen(nodes.size());
    int32 num_free = 0;
    for (int32 k = free; k != b2_nullNode; k = nodes[k].next, ++num_free) {
        if (seen[k] || nodes[k].height != -1) refuse_tree("free nodes that do not form a list");
        seen[k] = 1;
    }
    if (num_free != capacity - count) refuse_tree("a wrong number of free nodes");
    std::vector<int32> order{root};
    if (root == b2_nullNode || nodes[root].parent != b2_nullNode) refuse_tree("nodes that do not form a tree");
    for (size_t i = 0; i < order.size(); ++i) {
        const b2TreeNode& node = nodes[order[i]];
        if (seen[order[i]] || node.height < 0) refuse_tree("nodes that do not form a tree");
        seen[order[i]] = 1;
        if (node.IsLeaf() != (node.child2 == b2_nullNode)) refuse_tree("nodes that do not form a tree");
        if (node.IsLeaf()) continue;
        for (int32 child : {node.child1, node.child2}) {
            if (nodes[child].parent != order[i]) refuse_tree("nodes that do not form a tree");
            order.push_back(child);
        }
    }
    if (static_cast<int32>(order.size()) != count) refuse_tree("a wrong number of nodes");
    for (const int32 k : order) {
        const b2TreeNode& node = nodes[k];
        const int32 height = node.IsLeaf() ? 0 : 1 + std::max(nodes[node.child1].height, nodes[node.child2].height);
        if (node.height != height) refuse_tree("nodes that do not form a tree");
    }
}

template <class Archive>
void exchange_tree(Archive& archive, b2DynamicTree& tree, const std::vector<b2Fixture*>& fixtures) {
    int32 capacity = tree.m_nodeCapacity, count = tree.m_nodeCount, root = tree.m_root, free = tree.m_freeList;
    archive("capacity", capacity, 1, MAX_NODES);
    const int32 last = capacity - 1;
    archive("count", count, 1, capacity);
    archive("root", root, b2_nullNode, last);
    archive("free", free, b2_nullNode, last);
    std::vector<b2TreeNode> nodes(capacity);
    if constexpr (!Archive::LOADS) std::copy_n(tree.m_nodes, capacity, nodes.begin());
    archive.each("nodes", nodes, [&](b2TreeNode& node) {
        if constexpr (Archive::LOADS) {
            node.userData = nullptr;
            node.child1 = node.child2 = b2_nullNode;
        }
        archive("height", node.height, -1, capacity);
        archive("parent", node.parent, b2_nullNode, last);  // of a free node: the next one
        if (node.height < 0) return;
        archive("child1", node.child1, b2_nullNode, last);
        archive("child2", node.child2, b2_nullNode, last);
        exchange_xy(archive, "low", node.aabb.lowerBound, LARGE);
        exchange_xy(archive, "high", node.aabb.upperBound, LARGE);
    });
    if constexpr (Archive::LOADS) check_tree(nodes, count, root, free);
    for (size_t k = 0; k < fixtures.size(); ++k) {
        b2FixtureProxy& proxy = fixtures[k]->m_proxies[0];
        archive.item("leaves", k, proxy.proxyId, 0, last);
        if constexpr (Archive::LOADS) {
            b2TreeNode& leaf = nodes[proxy.proxyId];
            if (leaf.height != 0 || leaf.userData) refuse_tree("a shape without its own leaf");
            leaf.userData = &proxy;
        }
    }
    if constexpr (Archive::LOADS) {
        if (count != 2 * static_cast<int32>(fixtures.size()) - 1) refuse_tree("a leaf without a shape");
        b2Free(tree.m_nodes);
        const size_t size = nodes.size() * sizeof(b2TreeNode);
        tree.m_nodes = static_cast<b2TreeNode*>(b2Alloc(static_cast<int32>(size)));
        std::memcpy(static_cast<void*>(tree.m_nodes), nodes.data(), size);
        tree.m_nodeCapacity = capacity;
        tree.m_nodeCount = count;
        tree.m_root = root;
        tree.m_freeList = free;
    }
}

template <class Archive> void exchange_contact(Archive& archive, b2Contact& contact) {
    b2Manifold& manifold = contact.m_manifold;
    archive("flags", contact.m_flags, 0, 2 * b2Contact::e_toiFlag - 1);
    archive("toi_count", contact.m_toiCount, 0, 1 << 20);
    // only this flag sets the impact time
    if (contact.m_flags & b2Contact::e_toiFlag) archive("toi", contact.m_toi, 0, 1);
    archive("num_points", manifold.pointCount, 0, b2_maxManifoldPoints);
    if (manifold.pointCount == 0) return;
    archive("type", manifold.type, b2Manifold::e_circles, b2Manifold::e_faceB);
    exchange_xy(archive, "point", manifold.localPoint, LARGE);
    // between circles there is none
    if constexpr (Archive::LOADS) manifold.localNormal = b2Vec2_zero;
    if (manifold.type != b2Manifold::e_circles) exchange_xy(archive, "normal", manifold.localNormal, LARGE);
    for (int32 k = 0; k < manifold.pointCount; ++k) {
        b2ManifoldPoint& point = manifold.points[k];
        archive.in("points", k, [&] {
            exchange_xy(archive, "point", point.localPoint, LARGE);
            archive("normal_impulse", point.normalImpulse, 0.f, LARGE);
            archive("tangent_impulse", point.tangentImpulse, -LARGE, LARGE);
            archive("id", point.id.key, 0, ~uint32_t{0});
        });
    }
}

template <class Archive>
void exchange_contacts(Archive& archive, b2ContactManager& contacts, const std::vector<b2Fixture*>& fixtures) {
    std::vector<b2Contact*> made;
    if constexpr (!Archive::LOADS) {
        for (b2Contact* c = contacts.m_contactList; c; c = c->GetNext()) made.push_back(c);
        // lists grow in front
        std::reverse(made.begin(), made.end());
    }
    archive.size("contacts", made, 0, MAX_NODES);
    const int32 last = static_cast<int32>(fixtures.size()) - 1;
    for (size_t k = 0; k < made.size(); ++k) {
        archive.in("contacts", k, [&] {
            int32 a = 0, b = 0;
            if constexpr (!Archive::LOADS) {
                a = index_of(fixtures, made[k]->GetFixtureA());
                b = index_of(fixtures, made[k]->GetFixtureB());
            }
            archive("a", a, 0, last);
            archive("b", b, 0, last);
            if constexpr (Archive::LOADS) {
                contacts.AddPair(&fixtures[a]->m_proxies[0], &fixtures[b]->m_proxies[0]);
                made[k] = contacts.m_contactList;
                if (contacts.m_contactCount != static_cast<int32>(k) + 1 || made[k]->GetFixtureA() != fixtures[a]
                    || made[k]->GetFixtureB() != fixtures[b]) {
                    refuse_state("world." + name_of_item("contacts", k), "two shapes that can touch, not listed before",
                                 std::to_string(a) + " and " + std::to_string(b));
                }
            }
            exchange_contact(archive, *made[k]);
        });
    }
}

// Exchanges the state that changes in a step. No body is farther than `reach` from the world's middle.
template <class Archive> void exchange_body(Archive& archive, b2Body& body, double reach) {
    constexpr double MAX_ANGLE = 1e6, MAX_SPEED = 1e4;
    uint16 flags = body.m_flags & BODY_FLAGS;
    archive("flags", flags, 0, BODY_FLAGS);
    if constexpr (Archive::LOADS) body.m_flags = (body.m_flags & ~BODY_FLAGS) | (flags & BODY_FLAGS);
    if (body.GetType() != b2_dynamicBody) return;
    exchange_xy(archive, "position", body.m_xf.p, reach);
    archive("sine", body.m_xf.q.s, -1, 1);
    archive("cosine", body.m_xf.q.c, -1, 1);
    exchange_xy(archive, "center0", body.m_sweep.c0, reach);
    exchange_xy(archive, "center", body.m_sweep.c, reach);
    archive("angle0", body.m_sweep.a0, -MAX_ANGLE, MAX_ANGLE);
    archive("angle", body.m_sweep.a, -MAX_ANGLE, MAX_ANGLE);
    // Box2D asserts that it is less than 1
    archive("alpha0", body.m_sweep.alpha0, 0, 0.9999999);
    exchange_xy(archive, "velocity", body.m_linearVelocity, MAX_SPEED);
    archive("spin", body.m_angularVelocity, -MAX_SPEED, MAX_SPEED);
    exchange_xy(archive, "force", body.m_force, LARGE);
    archive("torque", body.m_torque, -LARGE, LARGE);
    archive("sleep_time", body.m_sleepTime, 0, LARGE);
}

template <class Archive> void exchange_joint(Archive& archive, b2RevoluteJoint& joint) {
    archive("limit_state", joint.m_limitState, e_inactiveLimit, e_equalLimits);
    archive("impulse_x", joint.m_impulse.x, -LARGE, LARGE);
    archive("impulse_y", joint.m_impulse.y, -LARGE, LARGE);
    archive("impulse_z", joint.m_impulse.z, -LARGE, LARGE);
    archive("motor_impulse", joint.m_motorImpulse, -LARGE, LARGE);
    archive("max_motor_torque", joint.m_maxMotorTorque, 0, LARGE);
    archive("motor_speed", joint.m_motorSpeed, -LARGE, LARGE);
}

}  // namespace saved

// Exchanges a world between two steps; loading needs a new one with the same bodies, shapes and joints.
template <class Archive> void exchange_world(Archive& archive, b2World& world, double reach) {
    const std::vector<b2Fixture*> fixtures = fixtures_of(world);
    b2ContactManager& contacts = world.m_contactManager;
    archive.in("world", [&] {
        archive("inv_dt0", world.m_inv_dt0, 0, 100);
        archive.in("tree", [&] { saved::exchange_tree(archive, contacts.m_broadPhase.m_tree, fixtures); });
        if constexpr (Archive::LOADS) {
            contacts.m_broadPhase.m_moveCount = 0;
            world.m_flags &= ~b2World::e_newFixture;
        }
        saved::exchange_contacts(archive, contacts, fixtures);
        size_t k = 0;
        for (b2Body* body = world.GetBodyList(); body; body = body->GetNext()) {
            archive.in("bodies", k++, [&] { saved::exchange_body(archive, *body, reach); });
        }
        k = 0;
        for (b2Joint* joint = world.GetJointList(); joint; joint = joint->GetNext()) {
            archive.in("joints", k++, [&] { saved::exchange_joint(archive, static_cast<b2RevoluteJoint&>(*joint)); });
        }
    });
}

}  // namespace cypool::box2d
