// Contacts with elliptic friction cones, in the solver: rows of the normal, and of what friction acts along.
//
// In the dual cone, N is how far the normal reaches, T how far all others together: at the top a contact pushes
// nothing, at the bottom all rows push as they would alone, between them the force is on the cone.

#include "cypool/envs/shared/lanes/target.h"

namespace cypool::lanes::CYPOOL_LANES {

inline constexpr int MAX_CONE = 6;

struct Cone {
    int row, dim;
    Real mu, friction[MAX_CONE - 1];
    Mask is_inside;  // lanes in which the force is on the cone
    // of the line search: a polynomial for the bottom; N and squared T along the direction
    Real quad0, quad1, quad2, U0, V0, UU, UV, VV, Dm;
};

struct Zones {
    Mask is_top, is_bottom, is_between;
};
CYPOOL_LANES_INLINE Zones zones_of(const Real& mu, const Real& N, const Real& T) {
    const Mask has_none = T <= 0.0;
    const Mask is_top = (N >= mu * T) | (has_none & (N >= 0.0));
    const Mask is_bottom = ~is_top & ((mu * N + T <= 0.0) | (has_none & (N < 0.0)));
    return {is_top, is_bottom, ~(is_top | is_bottom)};
}
CYPOOL_LANES_INLINE Real stiffness_between(const Real& mu, const Real& D) { return D / (mu * mu * (1 + mu * mu)); }

// where the rows of a contact are in the dual cone
struct InCone {
    Real U[MAX_CONE] = {}, T;
    Zones zones;
    InCone(const Cone& c, const Real* residual) {
        U[0] = residual[0] * c.mu;
        for (int j = 1; j < c.dim; ++j) U[j] = residual[j] * c.friction[j - 1];
        T = sqrt(dot(U + 1, U + 1, c.dim - 1));
        zones = zones_of(c.mu, U[0], T);
    }
};

// of mj_constraintUpdate: adds the cost of a contact
CYPOOL_LANES_INLINE void add_cone_cost(Real& sum, const Cone& c, const Real* residual, const Real* D) {
    const InCone at(c, residual);
    for (int j = 0; j < c.dim; ++j) sum = choose(at.zones.is_bottom, sum + 0.5 * D[j] * residual[j] * residual[j], sum);
    const Real away = at.U[0] - c.mu * at.T;
    sum = choose(at.zones.is_between, sum + 0.5 * stiffness_between(c.mu, D[0]) * away * away, sum);
}

// Writes forces, and where rows are as they would be alone.
CYPOOL_LANES_INLINE void update_cone(Cone& c, const Real* residual, const Real* D, Real* force, Mask* active) {
    const InCone at(c, residual);
    c.is_inside = at.zones.is_between;
    const Real normal = -stiffness_between(c.mu, D[0]) * (at.U[0] - c.mu * at.T) * c.mu;
    for (int j = 0; j < c.dim; ++j) {
        Real between = normal;
        if (j && is_mujoco_4)
            between = -normal * (at.U[j] / at.T) * c.friction[j - 1];
        else if (j)
            between = -normal / at.T * at.U[j] * c.friction[j - 1];
        force[j] = choose(c.is_inside, between, where(at.zones.is_bottom, -D[j] * residual[j]));
        active[j] = at.zones.is_bottom;
    }
}

// Writes L'J, where LL' is the Hessian of the cost of a contact whose force is on the cone; else zeros.
inline __attribute__((noinline)) void cone_changes(const Cone& c, const Real* residual, const Real* D, const Real* J,
                                                   int n, Real* changes) {
    const int dim = c.dim;
    if (dim > MAX_CONE) __builtin_unreachable();
    const InCone at(c, residual);
    const Real T = at.T, N = at.U[0], mu = c.mu, Dm = stiffness_between(mu, D[0]);
    const Real steepness = is_mujoco_4 ? mu * (N / T) : mu * N / T;
    Real H[MAX_CONE][MAX_CONE], U[MAX_CONE];
    // what MuJoCo 4 divides by T here, MuJoCo 3 has in scales
    for (int j = 1; j < dim; ++j) U[j] = is_mujoco_4 ? at.U[j] / T : at.U[j];
    H[0][0] = all(1);
    Real scale = is_mujoco_4 ? -mu : -mu / T;
    for (int j = 1; j < dim; ++j) H[j][0] = scale * U[j];
    scale = is_mujoco_4 ? steepness : mu * N / (T * T * T);
    for (int k = 1; k < dim; ++k) {
        H[k][k] = scale * U[k] * U[k] + (mu * mu - steepness);
        for (int j = k + 1; j < dim; ++j) H[j][k] = scale * U[j] * U[k];
    }
    for (int k = 0; k < dim; ++k) {
        scale = Dm * (k ? c.friction[k - 1] : mu);
        for (int j = k; j < dim; ++j) H[j][k] = H[j][k] * (scale * (j ? c.friction[j - 1] : mu));
    }
    // mju_cholFactor
    for (int j = 0; j < dim; ++j) {
        Real diagonal = H[j][j];
        if (j) diagonal = diagonal - dot(H[j], H[j], j);
        const Mask is_deficient = diagonal < TINY;
        H[j][j] = sqrt(choose(is_deficient, all(TINY), diagonal));
        const Real inverse = 1 / H[j][j];
        for (int i = j + 1; i < dim; ++i) H[i][j] = where(~is_deficient, (H[i][j] - dot(H[i], H[j], j)) * inverse);
    }
    for (int k = 0; k < dim * n; ++k) changes[k] = all(0);
    for (int r = 0; r < dim; ++r)
        for (int k = 0; k <= r; ++k) {
            const Real factor = where(c.is_inside, H[r][k]);
            for (int i = 0; i < n; ++i) changes[k * n + i] = changes[k * n + i] + J[r * n + i] * factor;
        }
}

// of PrimalPrepare
CYPOOL_LANES_INLINE void prepare_cone(Cone& c, const Real* residual, const Real* Jv, const Real* D) {
    c.quad0 = c.quad1 = c.quad2 = c.UU = c.UV = c.VV = all(0);
    for (int j = 0; j < c.dim; ++j) {
        const Real force = D[j] * residual[j];
        c.quad0 = c.quad0 + residual[j] * force;
        c.quad1 = c.quad1 + Jv[j] * force;
        c.quad2 = c.quad2 + Jv[j] * D[j] * Jv[j];
    }
    c.quad0 = c.quad0 * 0.5, c.quad2 = c.quad2 * 0.5;
    c.U0 = residual[0] * c.mu, c.V0 = Jv[0] * c.mu;
    for (int j = 1; j < c.dim; ++j) {
        const Real U = residual[j] * c.friction[j - 1], V = Jv[j] * c.friction[j - 1];
        c.UU = c.UU + U * U, c.UV = c.UV + U * V, c.VV = c.VV + V * V;
    }
    c.Dm = stiffness_between(c.mu, D[0]);
}

// the zones that PrimalEval has, from N and squared T; writes T
CYPOOL_LANES_INLINE Zones searched_zones(const Real& mu, const Real& N, const Real& squared, Real& T) {
    const Mask has_none = squared <= 0.0;
    T = where(~has_none, sqrt(squared));
    const Mask is_top = (has_none & ~(N < 0.0)) | (~has_none & (N >= mu * T));
    const Mask is_bottom = ~is_top & (has_none | (mu * N + T <= 0.0));
    return {is_top, is_bottom, ~(is_top | is_bottom)};
}

// sums of the line search; a bit for the zones of a cone
struct Searched {
    Real total, slope, curvature;
    Mask zones;
};
// ellipticCostDif and PrimalEval: adds the change of the cost, its slope and curvature.
template <bool IS_MUJOCO_4>
inline __attribute__((noinline)) Searched search_cone(const Cone& c, const Real* residual, const Real* Jv,
                                                      const Real& alpha, const Searched& before) {
    const int dim = c.dim;
    if (dim > MAX_CONE) __builtin_unreachable();
    const Real mu = c.mu, Dm = c.Dm, N = c.U0 + alpha * c.V0;
    // by how much the squared T grows; half its slope
    Real more, squared, along, U[MAX_CONE - 1], V[MAX_CONE - 1];
    if constexpr (IS_MUJOCO_4) {
        // sums at the point itself, where a polynomial would cancel
        more = squared = along = all(0);
        for (int j = 0; j < dim - 1; ++j) {
            const Real start = residual[j + 1] * c.friction[j];
            V[j] = Jv[j + 1] * c.friction[j];
            const Real step = alpha * V[j];
            U[j] = start + step;
            squared = squared + U[j] * U[j], along = along + U[j] * V[j], more = more + step * (start + U[j]);
        }
    } else {
        more = alpha * (2 * c.UV + alpha * c.VV), squared = c.UU + more, along = c.UV + alpha * c.VV;
    }
    Real T0, T;
    const Zones was = searched_zones(mu, c.U0, c.UU, T0), is = searched_zones(mu, N, squared, T);
    const Real curve = alpha * alpha * c.quad2 + alpha * c.quad1, nested = alpha * (alpha * c.quad2 + c.quad1);
    const Real r0 = c.U0 - mu * T0, r = N - mu * T, boundary0 = mu * c.U0 + T0, boundary = mu * N + T;
    const Real moved = alpha * c.V0 - mu * (more / (T + T0));
    Real change = all(0);
    change = choose(was.is_bottom & is.is_bottom, curve, change);
    change = choose(was.is_between & is.is_between, 0.5 * Dm * moved * (2 * r0 + moved), change);
    change = choose(was.is_between & is.is_bottom, nested + 0.5 * Dm * boundary0 * boundary0, change);
    change = choose(was.is_bottom & is.is_between, nested - 0.5 * Dm * boundary * boundary, change);
    change = choose(was.is_top & is.is_bottom, curve + c.quad0, change);
    change = choose(was.is_top & is.is_between, 0.5 * Dm * r * r, change);
    change = choose(was.is_between & is.is_top, -0.5 * Dm * r0 * r0, change);
    change = choose(was.is_bottom & is.is_top, -c.quad0, change);
    const Real T1 = along / T, fall = c.V0 - mu * T1;
    Real bend;  // what the curve of T adds to the curvature
    if constexpr (IS_MUJOCO_4) {
        Real across = all(0);
        for (int j = 0; j < dim - 1; ++j) U[j] = U[j] / T;
        for (int i = 0; i < dim - 1; ++i)
            for (int j = i + 1; j < dim - 1; ++j) {
                const Real area = U[i] * V[j] - U[j] * V[i];
                across = across + area * area;
            }
        bend = -((N / T - mu) * (mu * across));
    } else {
        bend = r * (-mu * (c.VV / T - along * T1 / (T * T)));
    }
    const Real slope = choose(is.is_bottom, before.slope + (2 * alpha * c.quad2 + c.quad1),
                              choose(is.is_between, before.slope + Dm * r * fall, before.slope));
    const Real curvature =
        choose(is.is_bottom, before.curvature + 2 * c.quad2,
               choose(is.is_between, before.curvature + Dm * (fall * fall + bend), before.curvature));
    const Mask from = (was.is_bottom & 1) | (was.is_between & 2), to = (is.is_bottom & 1) | (is.is_between & 2);
    return {before.total + change, slope, curvature, (Mask{} + 1) << (from * 3 + to)};
}

}  // namespace cypool::lanes::CYPOOL_LANES

#pragma GCC pop_options
