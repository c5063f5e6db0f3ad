#pragma once

/// Loops compiled for the vector units there may be. Where a file tells the compiler that it may add the lanes of a sum side by side, it does
/// so where `#pragma omp simd` says it (CMakeLists.txt).
namespace halftone {

#ifdef __x86_64__
/// Needs: Loop::run(arguments…), always inlined.
template <class Loop, class... Arguments>
[[gnu::target("avx2,fma")]] auto runAvx2(Arguments... arguments)
{
    return Loop::run(arguments...);
}

template <class Loop, class... Arguments>
[[gnu::target("avx512f,avx512bw,avx512vl,avx512dq")]] auto runAvx512(Arguments... arguments)
{
    return Loop::run(arguments...);
}

inline bool hasAvx512()
{
    static const bool hasAvx512 = __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")
        && __builtin_cpu_supports("avx512dq");
    return hasAvx512;
}
#endif

/// A loop with the widest instructions that this machine has.
template <class Loop, class... Arguments>
auto runFastest(Arguments... arguments)
{
#ifdef __x86_64__
    static const bool hasAvx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (hasAvx512())
        return runAvx512<Loop, Arguments...>(arguments...);
    if (hasAvx2)
        return runAvx2<Loop, Arguments...>(arguments...);
#endif
    return Loop::run(arguments...);
}

} // namespace halftone
