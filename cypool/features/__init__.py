"""Features that all APIs have: rollouts, frames, hooks, goals, statistics, conversions."""
