#include "core/backends/machine.h"

#include "core/base/share_work.h"

#include <string_view>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace halftone::backends {

#if defined(__x86_64__)
namespace {

/// AVX512-FP16: bit 23 of EDX in leaf 7 of CPUID. Not all compilers have a name for it.
bool hasFloat16()
{
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d >> 23U & 1U) != 0;
}

} // namespace
#endif

std::string processor()
{
    std::string text = "this processor";
#if defined(__x86_64__)
    text = "x86-64";
    std::string extensions;
    const auto add = [&extensions](bool has, std::string_view name) {
        if (has)
            extensions += (extensions.empty() ? "" : ", ") + std::string(name);
    };
    add(__builtin_cpu_supports("avx2"), "AVX2");
    add(__builtin_cpu_supports("avx512f"), "AVX-512");
    add(__builtin_cpu_supports("avx512vnni"), "VNNI");
    add(__builtin_cpu_supports("avx512bf16"), "BF16");
    add(__builtin_cpu_supports("avx512f") && hasFloat16(), "FP16");
    if (!extensions.empty())
        text += " with " + extensions;
#endif
    return text + ", " + std::to_string(machineThreads()) + (machineThreads() == 1 ? " thread" : " threads");
}

} // namespace halftone::backends
