// Running statistics of one environment, as Gymnasium's NormalizeReward and NormalizeObservation and the package's
// NormalizeRewardsExponential have them.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "cypool/envs/metaworld/numbers.h"

namespace cypool::metaworld {

enum RewardNormalization { NO_NORMALIZATION, BY_RETURN, EXPONENTIAL };

class Normalization {
public:
    RewardNormalization method = NO_NORMALIZATION;
    double alpha = 0;  // of EXPONENTIAL
    // mean, variance, count and discounted sum of rewards, and types of the first two; of observations the count, means
    // and variances
    std::vector<double> statistics;

    void begin(RewardNormalization of_rewards, double weight, size_t observed) {
        method = of_rewards, alpha = weight, size = observed;
        statistics.assign(FIRST + 2 * size, 0);
        statistics[VARIANCE] = 1;
        statistics[COUNT] = statistics[OBS_COUNT] = FEW;
        for (size_t k = 0; k < size; ++k) statistics[FIRST + size + k] = 1;
    }

    double reward(double given, int kind, bool terminated) {
        double &mean = statistics[MEAN], &var = statistics[VARIANCE];
        if (method == BY_RETURN) {
            double& sum = statistics[SUM];
            sum = sum * 0.99 * (1 - terminated) + given;
            take(sum, mean, var, statistics[COUNT], var * statistics[COUNT]);
            statistics[COUNT] += 1;
            return given / std::sqrt(var + 1e-8);
        }
        if (method != EXPONENTIAL) return given;
        const Number own(given, static_cast<Number::Kind>(kind));
        Number known(mean, kind_of(MEAN_KIND)), spread(var, kind_of(VARIANCE_KIND));
        // the package does so twice in each step
        for (int k = 0; k < 2; ++k) {
            known = Number(1 - alpha) * known + Number(alpha) * own;
            Number apart = own - known;
            // np.square makes a float64 of Python's numbers
            if (apart.kind == Number::WEAK) apart.kind = Number::FLOAT64;
            spread = Number(1 - alpha) * spread + Number(alpha) * (apart * apart);
        }
        mean = known.v, var = spread.v;
        statistics[MEAN_KIND] = known.kind, statistics[VARIANCE_KIND] = spread.kind;
        const bool is_single = spread.kind == Number::FLOAT32;
        const Number deviation(is_single ? std::sqrt(static_cast<float>(var)) : std::sqrt(var), spread.kind);
        return (own / (deviation + 1e-8)).v;
    }

    // whether statistics of a state are some
    bool can_be(const std::vector<double>& values) const {
        bool good = values.size() == statistics.size() && values[VARIANCE] >= 0 && values[COUNT] > 0;
        good = good && values[OBS_COUNT] > 0;
        for (const int k : {MEAN_KIND, VARIANCE_KIND}) {
            const double kind = values[static_cast<size_t>(k)];
            good =
                good
                && (kind == double{Number::WEAK} || kind == double{Number::FLOAT32} || kind == double{Number::FLOAT64});
        }
        for (size_t k = FIRST + size; good && k < values.size(); ++k) good = values[k] >= 0;
        return good;
    }

    bool of_observations() const { return size > 0; }
    // Takes an observation, and normalizes it.
    void observe(double* numbers) {
        double* means = &statistics[FIRST];
        double* vars = means + size;
        double& count = statistics[OBS_COUNT];
        for (size_t k = 0; k < size; ++k) {
            // at first the variances are float32
            const double sum = count == FEW ? static_cast<double>(static_cast<float>(FEW)) : vars[k] * count;
            take(numbers[k], means[k], vars[k], count, sum);
            numbers[k] = static_cast<float>((numbers[k] - means[k]) / std::sqrt(vars[k] + 1e-8));
        }
        count += 1;
    }

private:
    static constexpr double FEW = 1e-4;
    enum { MEAN, VARIANCE, COUNT, SUM, MEAN_KIND, VARIANCE_KIND, OBS_COUNT, FIRST };
    Number::Kind kind_of(int k) const { return static_cast<Number::Kind>(statistics[k]); }
    // update_mean_var_count_from_moments of one number, whose own variance is 0; `sum` is var * count
    static void take(double x, double& mean, double& var, double count, double sum) {
        const double total = count + 1, delta = x - mean, own = x - x;
        mean = mean + delta / total;
        var = (sum + own * own + delta * delta * count / total) / total;
    }
    size_t size = 0;
};

}  // namespace cypool::metaworld
