#include "core/runtime/backends.h"

#include "core/runtime/reference/reference_backend.h"
#ifdef HALFTONE_HAS_ONEDNN
#include "core/runtime/onednn/backend.h"
#endif

#include <algorithm>
#include <thread>

namespace halftone::runtime {
namespace {

using tensor::DType;

std::string machine()
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

BackendInfo describe(const Backend &backend, std::string_view name, std::string why)
{
    BackendInfo info{std::string(name), machine(), true, {}, std::move(why)};
    for (const DType type : {DType::F32, DType::BF16, DType::F16, DType::I8, DType::U8, DType::F64})
        info.dtypes.emplace_back(type, backend.support(type));
    return info;
}

} // namespace

unsigned machineThreads()
{
    return std::max(1U, std::thread::hardware_concurrency());
}

std::vector<BackendInfo> allBackends()
{
    const auto reference = referenceBackend();
    return {
#ifdef HALFTONE_HAS_ONEDNN
        describe(*onednn::onednnBackend(), "cpu",
                 "oneDNN; what it lacks is computed by the reference backend"),
#else
        describe(*reference, "cpu", "computed by the reference backend: this build has no oneDNN"),
#endif
        describe(*reference, "reference",
                 "every operator by its definition, in float32 or double; for comparison, not for speed"),
        {"cuda", "", false, {}, "not in this build"}};
}

Result<BackendChain> backendChain(std::string_view name, unsigned threads)
{
    const std::vector<BackendInfo> all = allBackends();
    const auto found = std::ranges::find(all, name, &BackendInfo::name);
    if (found == all.end())
        return badCall("--backend", '"' + std::string(name) + '"', "cpu, reference or cuda");
    if (!found->available)
        return unsupported("--backend", std::string(name) + ": " + found->why);
    BackendChain chain;
    const auto reference = referenceBackend({threads, false});
#ifdef HALFTONE_HAS_ONEDNN
    if (name == "cpu")
        chain.push_back(onednn::onednnBackend(static_cast<int>(threads), onednn::Waits::Quiet, reference));
#endif
    chain.push_back(reference);
    return chain;
}

} // namespace halftone::runtime
