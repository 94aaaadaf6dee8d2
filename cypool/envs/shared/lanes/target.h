// What the headers of lanes are compiled for, until their `#pragma GCC pop_options`.
#pragma GCC push_options
#if CYPOOL_LANES_WIDTH == 8
#pragma GCC target("avx512f,avx512dq,avx512vl,avx512bw,prefer-vector-width=512,no-fma")
#else
#pragma GCC target("avx2,no-fma")
#endif
