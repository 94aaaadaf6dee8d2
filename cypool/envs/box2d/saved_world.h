// The state of a world as bytes: all that its next steps go by, contacts, impulses and the tree of the broad phase
// included. What the environment itself made, bodies, shapes and joints, it creates again before it loads.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "cypool/envs/box2d/engine.h"

namespace cypool::box2d {

class Writer {
public:
    template <class T> void put(const T& value) {
        static_assert(std::is_arithmetic_v<T>);
        bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    void put(const b2Vec2& v) {
        put(v.x);
        put(v.y);
    }
    template <class T> void put_all(const T& values) {
        for (const auto& value : values) put(value);
    }

    std::string bytes;
};

// Reads what a Writer wrote, or what somebody made to look like it: throws std::invalid_argument.
class Reader {
public:
    Reader(const char* bytes, size_t size) : at(bytes), end(bytes + size) {}

    template <class T> void get(T& value) {
        static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>);
        if (static_cast<size_t>(end - at) < sizeof value) fail("its end is missing");
        std::memcpy(&value, at, sizeof value);
        at += sizeof value;
        if constexpr (std::is_floating_point_v<T>) {
            // what Box2D can compute with; it also ends whatever is not a number
            if (!(std::fabs(value) <= T{1e9})) fail("a number is out of range");
        }
    }
    void get(b2Vec2& v) {
        get(v.x);
        get(v.y);
    }
    void get(bool& value) { value = number<uint8_t>(0, 1); }
    template <class T> void get_all(T& values) {
        for (auto& value : values) get(value);
    }
    // an integer from low to high
    template <class T> T number(int64_t low, int64_t high) {
        T value;
        get(value);
        if (static_cast<int64_t>(value) < low || static_cast<int64_t>(value) > high) fail("a number is out of range");
        return value;
    }
    void finish() const {
        if (at != end) fail("there is something behind its end");
    }
    [[noreturn]] static void fail(const char* why) {
        throw std::invalid_argument(std::string("state: expected one that save returned: ") + why);
    }

private:
    const char *at, *end;
};

// What an environment saves; nothing before its first reset.
template <class T> std::string save_bytes(const T& env) {
    Writer out;
    if (env.ready()) env.save(out);
    return out.bytes;
}

// Puts `fresh`, an environment that was just made and that it owns, in the place of env, with what save_bytes returned;
// throws std::invalid_argument, and then env is as it was.
template <class T> void load_bytes(std::unique_ptr<T>& env, T* fresh, const std::string& bytes) {
    std::unique_ptr<T> loaded(fresh);
    try {
        Reader in(bytes.data(), bytes.size());
        if (!bytes.empty()) loaded->load(in);
        in.finish();
    } catch (const std::invalid_argument&) {
        throw;
    } catch (const std::logic_error&) {
        Reader::fail("Box2D does not take it");
    }
    env = std::move(loaded);
}

// Makes env what load_bytes makes of it with what save_bytes returns of another one with the same options.
template <class T> void copy_world(std::unique_ptr<T>& env, const T* other) {
    load_bytes(env, other->fresh(), save_bytes(*other));
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
constexpr int32 MOST_NODES = 1 << 16;

inline int32 index_of(const std::vector<b2Fixture*>& fixtures, const b2Fixture* fixture) {
    return static_cast<int32>(std::find(fixtures.begin(), fixtures.end(), fixture) - fixtures.begin());
}

inline void put_tree(Writer& out, const b2DynamicTree& tree) {
    out.put(tree.m_nodeCapacity);
    out.put(tree.m_nodeCount);
    out.put(tree.m_root);
    out.put(tree.m_freeList);
    for (int32 k = 0; k < tree.m_nodeCapacity; ++k) {
        const b2TreeNode& node = tree.m_nodes[k];
        out.put(static_cast<int32>(node.height));
        out.put(static_cast<int32>(node.parent));  // of a free node: the next one
        if (node.height < 0) continue;
        out.put(node.child1);
        out.put(node.child2);
        out.put(node.aabb.lowerBound);
        out.put(node.aabb.upperBound);
    }
}

// Each node is used once: in the tree, whose heights are true, or in the list of free ones.
inline void check_tree(const std::vector<b2TreeNode>& nodes, int32 count, int32 root, int32 free) {
    const int32 capacity = static_cast<int32>(nodes.size());
    std::vector<char> seen(nodes.size());
    int32 num_free = 0;
    for (int32 k = free; k != b2_nullNode; k = nodes[k].next, ++num_free) {
        if (seen[k] || nodes[k].height != -1) Reader::fail("its free nodes are no list");
        seen[k] = 1;
    }
    if (num_free != capacity - count) Reader::fail("its nodes do not add up");
    std::vector<int32> order{root};
    if (root == b2_nullNode || nodes[root].parent != b2_nullNode) Reader::fail("its nodes are no tree");
    for (size_t i = 0; i < order.size(); ++i) {
        const b2TreeNode& node = nodes[order[i]];
        if (seen[order[i]] || node.height < 0) Reader::fail("its nodes are no tree");
        seen[order[i]] = 1;
        if (node.IsLeaf() != (node.child2 == b2_nullNode)) Reader::fail("its nodes are no tree");
        if (node.IsLeaf()) continue;
        for (int32 child : {node.child1, node.child2}) {
            if (nodes[child].parent != order[i]) Reader::fail("its nodes are no tree");
            order.push_back(child);
        }
    }
    if (static_cast<int32>(order.size()) != count) Reader::fail("its nodes do not add up");
    for (const int32 k : order) {
        const b2TreeNode& node = nodes[k];
        const int32 height = node.IsLeaf() ? 0 : 1 + std::max(nodes[node.child1].height, nodes[node.child2].height);
        if (node.height != height) Reader::fail("its nodes are no tree");
    }
}

inline void get_tree(Reader& in, b2DynamicTree& tree, const std::vector<b2Fixture*>& fixtures) {
    const int32 capacity = in.number<int32>(1, MOST_NODES);
    const int32 count = in.number<int32>(1, capacity), last = capacity - 1;
    const int32 root = in.number<int32>(b2_nullNode, last), free = in.number<int32>(b2_nullNode, last);
    std::vector<b2TreeNode> nodes(capacity);
    for (b2TreeNode& node : nodes) {
        node.userData = nullptr;
        node.height = in.number<int32>(-1, capacity);
        node.parent = in.number<int32>(b2_nullNode, last);
        node.child1 = node.child2 = b2_nullNode;
        if (node.height < 0) continue;
        node.child1 = in.number<int32>(b2_nullNode, last);
        node.child2 = in.number<int32>(b2_nullNode, last);
        in.get(node.aabb.lowerBound);
        in.get(node.aabb.upperBound);
    }
    check_tree(nodes, count, root, free);
    for (b2Fixture* fixture : fixtures) {
        const int32 id = in.number<int32>(0, last);
        if (nodes[id].height != 0 || nodes[id].userData) Reader::fail("a shape has no leaf of its own");
        nodes[id].userData = &fixture->m_proxies[0];
        fixture->m_proxies[0].proxyId = id;
    }
    if (count != 2 * static_cast<int32>(fixtures.size()) - 1) Reader::fail("a leaf has no shape");
    b2Free(tree.m_nodes);
    const size_t size = nodes.size() * sizeof(b2TreeNode);
    tree.m_nodes = static_cast<b2TreeNode*>(b2Alloc(static_cast<int32>(size)));
    std::memcpy(static_cast<void*>(tree.m_nodes), nodes.data(), size);
    tree.m_nodeCapacity = capacity;
    tree.m_nodeCount = count;
    tree.m_root = root;
    tree.m_freeList = free;
}

inline void put_contact(Writer& out, const b2Contact& contact) {
    const b2Manifold& manifold = contact.m_manifold;
    out.put(contact.m_flags);
    out.put(contact.m_toiCount);
    // what follows is not set otherwise
    if (contact.m_flags & b2Contact::e_toiFlag) out.put(contact.m_toi);
    out.put(manifold.pointCount);
    if (manifold.pointCount == 0) return;
    out.put(static_cast<int32>(manifold.type));
    out.put(manifold.localPoint);
    // between circles there is none
    out.put(manifold.type == b2Manifold::e_circles ? b2Vec2_zero : manifold.localNormal);
    for (int32 k = 0; k < manifold.pointCount; ++k) {
        const b2ManifoldPoint& point = manifold.points[k];
        out.put(point.localPoint);
        out.put(point.normalImpulse);
        out.put(point.tangentImpulse);
        out.put(point.id.key);
    }
}

inline void get_contact(Reader& in, b2Contact& contact) {
    b2Manifold& manifold = contact.m_manifold;
    contact.m_flags = in.number<uint32>(0, 2 * b2Contact::e_toiFlag - 1);
    contact.m_toiCount = in.number<int32>(0, 1 << 20);
    if (contact.m_flags & b2Contact::e_toiFlag) in.get(contact.m_toi);
    manifold.pointCount = in.number<int32>(0, b2_maxManifoldPoints);
    if (manifold.pointCount == 0) return;
    manifold.type = static_cast<b2Manifold::Type>(in.number<int32>(0, b2Manifold::e_faceB));
    in.get(manifold.localPoint);
    in.get(manifold.localNormal);
    for (int32 k = 0; k < manifold.pointCount; ++k) {
        b2ManifoldPoint& point = manifold.points[k];
        in.get(point.localPoint);
        in.get(point.normalImpulse);
        in.get(point.tangentImpulse);
        in.get(point.id.key);
    }
}

// Calls f for each number of a body or of a joint that changes in a step; they are saved and loaded in this order.
template <class Body, class F> void for_each_number(Body& body, F&& f) {
    f(body.m_xf.p);
    f(body.m_xf.q.s);
    f(body.m_xf.q.c);
    f(body.m_sweep.c0);
    f(body.m_sweep.c);
    f(body.m_sweep.a0);
    f(body.m_sweep.a);
    f(body.m_sweep.alpha0);
    f(body.m_linearVelocity);
    f(body.m_angularVelocity);
    f(body.m_force);
    f(body.m_torque);
    f(body.m_sleepTime);
}
template <class Joint, class F> void for_each_number_of_joint(Joint& joint, F&& f) {
    f(joint.m_impulse.x);
    f(joint.m_impulse.y);
    f(joint.m_impulse.z);
    f(joint.m_motorImpulse);
    f(joint.m_maxMotorTorque);
    f(joint.m_motorSpeed);
}

}  // namespace saved

// Of a world between two steps.
inline void save_world(Writer& out, b2World& world) {
    const std::vector<b2Fixture*> fixtures = fixtures_of(world);
    b2ContactManager& contacts = world.m_contactManager;
    out.put(world.m_inv_dt0);
    saved::put_tree(out, contacts.m_broadPhase.m_tree);
    for (const b2Fixture* fixture : fixtures) out.put(fixture->m_proxies[0].proxyId);
    out.put(contacts.m_contactCount);
    std::vector<b2Contact*> made;
    for (b2Contact* c = contacts.m_contactList; c; c = c->GetNext()) made.push_back(c);
    // lists grow in front
    for (auto c = made.rbegin(); c != made.rend(); ++c) {
        out.put(saved::index_of(fixtures, (*c)->GetFixtureA()));
        out.put(saved::index_of(fixtures, (*c)->GetFixtureB()));
        saved::put_contact(out, **c);
    }
    const auto put = [&](const auto& value) { out.put(value); };
    for (b2Body* body = world.GetBodyList(); body; body = body->GetNext()) {
        out.put(static_cast<uint16>(body->m_flags & saved::BODY_FLAGS));
        if (body->GetType() == b2_dynamicBody) saved::for_each_number(*body, put);
    }
    for (b2Joint* joint = world.GetJointList(); joint; joint = joint->GetNext()) {
        const auto& hinge = static_cast<b2RevoluteJoint&>(*joint);
        out.put(static_cast<int32>(hinge.m_limitState));
        saved::for_each_number_of_joint(hinge, put);
    }
}

// Into a world that was just made, with the same bodies, shapes and joints.
inline void load_world(Reader& in, b2World& world) {
    const std::vector<b2Fixture*> fixtures = fixtures_of(world);
    b2ContactManager& contacts = world.m_contactManager;
    in.get(world.m_inv_dt0);
    saved::get_tree(in, contacts.m_broadPhase.m_tree, fixtures);
    contacts.m_broadPhase.m_moveCount = 0;
    world.m_flags &= ~b2World::e_newFixture;
    const int32 count = in.number<int32>(0, saved::MOST_NODES), last = static_cast<int32>(fixtures.size()) - 1;
    for (int32 k = 0; k < count; ++k) {
        b2Fixture *a = fixtures[in.number<int32>(0, last)], *b = fixtures[in.number<int32>(0, last)];
        contacts.AddPair(&a->m_proxies[0], &b->m_proxies[0]);
        b2Contact* contact = contacts.m_contactList;
        if (contacts.m_contactCount != k + 1 || contact->GetFixtureA() != a || contact->GetFixtureB() != b) {
            Reader::fail("two shapes cannot touch");
        }
        saved::get_contact(in, *contact);
    }
    const auto get = [&](auto& value) { in.get(value); };
    for (b2Body* body = world.GetBodyList(); body; body = body->GetNext()) {
        const uint16 flags = in.number<uint16>(0, saved::BODY_FLAGS) & saved::BODY_FLAGS;
        body->m_flags = (body->m_flags & ~saved::BODY_FLAGS) | flags;
        if (body->GetType() == b2_dynamicBody) saved::for_each_number(*body, get);
    }
    for (b2Joint* joint = world.GetJointList(); joint; joint = joint->GetNext()) {
        auto& hinge = static_cast<b2RevoluteJoint&>(*joint);
        hinge.m_limitState = static_cast<b2LimitState>(in.number<int32>(0, e_equalLimits));
        saved::for_each_number_of_joint(hinge, get);
    }
}

}  // namespace cypool::box2d
