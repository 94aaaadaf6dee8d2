// The exact line search of Newton's method.

#include "cypool/envs/shared/lanes/target.h"

namespace cypool::lanes::CYPOOL_LANES {

// The exact line search of one lane: which step lengths are evaluated depends on what came out before.
class LineSearch {
public:
    struct Point {
        double alpha, cost, slope, curvature;
    };

    // Returns where to evaluate first; the search has no result until `next` returns nullptr.
    Point* begin(double tolerance) {
        tolerance_ = tolerance;
        start_.alpha = 0;
        return &start_;
    }
    double alpha() const { return alpha_; }
    double improvement() const { return improvement_; }
    // which branches it took, bit by bit: first the phase in which it ended
    uint64_t branches() const { return branches_ | uint64_t{1} << phase_; }
    static constexpr int NUM_BRANCHES = 45;

    // The last point has been evaluated. Returns the next one, or nullptr at the end.
    Point* next(int most) {
        ++evaluations_;
        for (;;) switch (phase_) {
                case START:
                    newton_from(start_, low_);
                    phase_ = FIRST;
                    return &low_;
                case FIRST:
                    if (std::fabs(low_.slope) < tolerance_ && (low_.alpha == 0 || low_.cost < 0)) return finish(low_);
                    direction_ = low_.slope < 0 ? 1 : -1;
                    high_ = start_;
                    phase_ = ONE_SIDED;
                    break;
                case ONE_SIDED:
                    if (low_.slope * direction_ <= -tolerance_ && evaluations_ < most) {
                        high_ = low_;
                        low_.alpha -= low_.slope / low_.curvature;
                        phase_ = MOVED;
                        take(8);
                        return &low_;
                    }
                    if (evaluations_ >= most) return finish(low_);
                    high_next_ = low_;
                    newton_from(low_, low_next_);
                    phase_ = BRACKET;
                    return &low_next_;
                case MOVED:
                    if (std::fabs(low_.slope) < tolerance_ && low_.cost < 0) return finish(low_);
                    phase_ = ONE_SIDED;
                    break;
                case BRACKET:
                    if (evaluations_ < most) {
                        middle_.alpha = 0.5 * (low_.alpha + high_.alpha);
                        phase_ = MIDDLE;
                        return &middle_;
                    }
                    if (low_.cost <= high_.cost && low_.cost < 0) return finish(low_);
                    if (high_.cost <= low_.cost && high_.cost < 0) return finish(high_);
                    return nullptr;
                case MIDDLE: {
                    const Point* best = nullptr;
                    candidates_[0] = low_next_, candidates_[1] = high_next_, candidates_[2] = middle_;
                    int flat = 0;
                    for (const Point& each : candidates_) {
                        if (!(std::fabs(each.slope) < tolerance_)) continue;
                        flat |= 1 << (&each - candidates_);
                        // which of them it is makes no difference
                        if (best && each.cost == best->cost) take(44);
                        if (!best || each.cost < best->cost) best = &each;
                    }
                    if (best) {
                        take(9 + 3 * (flat - 1) + static_cast<int>(best - candidates_));
                        return finish(*best);
                    }
                    low_moved_ = narrow(low_, 30);
                    phase_ = LOW_DONE;
                    if (!low_moved_) break;
                    newton_from(low_, low_next_);
                    return &low_next_;
                }
                case LOW_DONE:
                    high_moved_ = narrow(high_, 37);
                    phase_ = HIGH_DONE;
                    if (!high_moved_) break;
                    newton_from(high_, high_next_);
                    return &high_next_;
                case HIGH_DONE:
                    if (!low_moved_ && !high_moved_) return finish(middle_);
                    phase_ = BRACKET;
                    break;
            }
    }

private:
    enum Phase { START, FIRST, ONE_SIDED, MOVED, BRACKET, MIDDLE, LOW_DONE, HIGH_DONE };

    static void newton_from(const Point& from, Point& to) { to.alpha = from.alpha - from.slope / from.curvature; }
    Point* finish(const Point& point) {
        alpha_ = point.alpha;
        improvement_ = -point.cost;
        return nullptr;
    }
    // moves an end of the bracket to a candidate on its side that is flatter
    bool narrow(Point& end, int first_branch) {
        int moved = 0;
        for (const Point& each : candidates_) {
            const bool is_better = (end.slope < 0 && each.slope < 0 && end.slope < each.slope)
                                   || (end.slope > 0 && each.slope > 0 && end.slope > each.slope);
            if (!is_better) continue;
            end = each;
            moved |= 1 << (&each - candidates_);
        }
        if (moved) take(first_branch + moved - 1);
        return moved;
    }

    Phase phase_ = START;
    void take(int branch) { branches_ |= uint64_t{1} << branch; }

    uint64_t branches_ = 0;
    int evaluations_ = 0, direction_ = 0;
    bool low_moved_ = false, high_moved_ = false;
    double tolerance_ = 0, alpha_ = 0, improvement_ = 0;
    // written before they are read
    Point start_, low_, high_, middle_, low_next_, high_next_, candidates_[3];
};

}  // namespace cypool::lanes::CYPOOL_LANES

#pragma GCC pop_options
