#include "core/backends/cuda/toolkit/compiler.h"

#include "core/backends/cuda/toolkit/shared_library.h"

#include <nvrtc.h>

#include <algorithm>
#include <array>
#include <vector>

namespace halftone::backends::cuda {
namespace {

// clang-format off
#define HALFTONE_NVRTC_CALLS(X) \
    X(nvrtcCreateProgram) X(nvrtcCompileProgram) X(nvrtcDestroyProgram) X(nvrtcGetProgramLogSize) X(nvrtcGetProgramLog) \
    X(nvrtcGetCUBINSize) X(nvrtcGetCUBIN) X(nvrtcGetPTXSize) X(nvrtcGetPTX) X(nvrtcGetNumSupportedArchs) \
    X(nvrtcGetSupportedArchs) X(nvrtcGetErrorString)
// clang-format on

struct NvrtcCalls
{
#define HALFTONE_CALL(name) decltype(&::name) name = nullptr;
    HALFTONE_NVRTC_CALLS(HALFTONE_CALL)
#undef HALFTONE_CALL
};

class Nvrtc final : public Compiler
{
public:
    explicit Nvrtc(const NvrtcCalls &calls)
        : m_calls(calls)
    {
    }

    Result<void> check(int arch) const override
    {
        const std::vector<int> known = archs();
        if (known.empty() || nearest(known, arch) != 0)
            return {};
        return unsupported("cuda",
                           "sm_" + std::to_string(arch) + ": NVRTC compiles for sm_"
                               + std::to_string(known.front()) + " and newer chips");
    }

    Result<std::string> compile(const std::string &source, int arch) const override
    {
        HALFTONE_CHECK(check(arch));
        nvrtcProgram program = nullptr;
        if (const auto code
            = m_calls.nvrtcCreateProgram(&program, source.c_str(), "halftone.cu", 0, nullptr, nullptr);
            code != NVRTC_SUCCESS)
            return error(code, {});
        auto cubin = compiled(program, arch);
        m_calls.nvrtcDestroyProgram(&program);
        return cubin;
    }

private:
    /// The chips that it knows, the oldest first.
    std::vector<int> archs() const
    {
        int count = 0;
        if (m_calls.nvrtcGetNumSupportedArchs(&count) != NVRTC_SUCCESS || count <= 0)
            return {};
        std::vector<int> known(static_cast<std::size_t>(count));
        if (m_calls.nvrtcGetSupportedArchs(known.data()) != NVRTC_SUCCESS)
            return {};
        std::ranges::sort(known);
        return known;
    }

    /// The newest that is not newer than the chip; 0: none.
    static int nearest(const std::vector<int> &known, int arch)
    {
        const auto above = std::ranges::upper_bound(known, arch);
        return above == known.begin() ? 0 : *(above - 1);
    }

    Result<std::string> compiled(nvrtcProgram program, int arch) const
    {
        const std::vector<int> known = archs();
        const int made = known.empty() ? arch : nearest(known, arch);
        const bool isPtx = made != arch; // the driver makes code for the newer chip of it
        const std::string target = (isPtx ? "-arch=compute_" : "-arch=sm_") + std::to_string(made);
        const std::array options{target.c_str(), "-std=c++17"};
        if (const auto code
            = m_calls.nvrtcCompileProgram(program, static_cast<int>(options.size()), options.data());
            code != NVRTC_SUCCESS) {
            std::size_t size = 0;
            m_calls.nvrtcGetProgramLogSize(program, &size);
            std::string log(size, '\0');
            m_calls.nvrtcGetProgramLog(program, log.data());
            return error(code, log.c_str());
        }
        std::size_t size = 0;
        isPtx ? m_calls.nvrtcGetPTXSize(program, &size) : m_calls.nvrtcGetCUBINSize(program, &size);
        std::string image(size, '\0');
        if (const auto code = isPtx ? m_calls.nvrtcGetPTX(program, image.data())
                                    : m_calls.nvrtcGetCUBIN(program, image.data());
            code != NVRTC_SUCCESS)
            return error(code, {});
        return image;
    }

    Error error(nvrtcResult code, const std::string &log) const
    {
        return unsupported("cuda",
                           "NVRTC: " + std::string(m_calls.nvrtcGetErrorString(code))
                               + (log.empty() ? "" : ": ") + log);
    }

    NvrtcCalls m_calls;
};

} // namespace

Result<std::shared_ptr<const Compiler>> loadNvrtc()
{
    const auto library
        = SharedLibrary::open({"libnvrtc.so.13", "libnvrtc.so.12", "/usr/local/cuda/lib64/libnvrtc.so"});
    if (!library.ok())
        return unsupported("cuda", "no NVRTC, which compiles kernels: " + library.error().found);
    NvrtcCalls calls;
    bool isWhole = true;
#define HALFTONE_CALL(name) isWhole = library.value().get(#name, calls.name) && isWhole;
    HALFTONE_NVRTC_CALLS(HALFTONE_CALL)
#undef HALFTONE_CALL
    if (!isWhole)
        return unsupported("cuda", "NVRTC lacks a function that is used");
    return std::shared_ptr<const Compiler>(std::make_shared<Nvrtc>(calls));
}

} // namespace halftone::backends::cuda
