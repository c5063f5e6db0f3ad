#include "core/backends/cuda/toolkit/compiler.h"

#include "core/backends/cuda/toolkit/shared_library.h"

#include <nvrtc.h>

#include <array>

namespace halftone::backends::cuda {
namespace {

// clang-format off
#define HALFTONE_NVRTC_CALLS(X) \
    X(nvrtcCreateProgram) X(nvrtcCompileProgram) X(nvrtcDestroyProgram) X(nvrtcGetProgramLogSize) X(nvrtcGetProgramLog) \
    X(nvrtcGetCUBINSize) X(nvrtcGetCUBIN) X(nvrtcGetErrorString)
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

    Result<std::string> compile(const std::string &source, int arch) const override
    {
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
    Result<std::string> compiled(nvrtcProgram program, int arch) const
    {
        const std::string target = "-arch=sm_" + std::to_string(arch);
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
        m_calls.nvrtcGetCUBINSize(program, &size);
        std::string cubin(size, '\0');
        if (const auto code = m_calls.nvrtcGetCUBIN(program, cubin.data()); code != NVRTC_SUCCESS)
            return error(code, {});
        return cubin;
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
