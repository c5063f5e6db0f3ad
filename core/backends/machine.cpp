#include "core/backends/machine.h"

#include <algorithm>
#include <string_view>
#include <thread>

namespace halftone::backends {

unsigned machineThreads()
{
    return std::max(1U, std::thread::hardware_concurrency());
}

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
    if (!extensions.empty())
        text += " with " + extensions;
#endif
    return text + ", " + std::to_string(machineThreads()) + (machineThreads() == 1 ? " thread" : " threads");
}

} // namespace halftone::backends
