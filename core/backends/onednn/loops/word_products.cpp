#include "core/backends/onednn/loops/word_products.h"

namespace halftone::backends::onednn {

bool hasWideVectors()
{
#ifdef __x86_64__
    static const bool has = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")
        && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq")
        && __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bf16");
    return has;
#else
    return false;
#endif
}

} // namespace halftone::backends::onednn
