#pragma once

#include "core/base/result.h"

#include <memory>
#include <string>

namespace halftone::backends::cuda {

/// Makes code of a device out of CUDA C++.
class Compiler
{
public:
    virtual ~Compiler() = default;
    /// arch  80 for sm_80
    /// returns  what cuModuleLoadData takes. fails: Unsupported, with the compiler's log
    virtual Result<std::string> compile(const std::string &source, int arch) const = 0;
};

/// NVRTC, which needs no GPU. fails: Unsupported where the library is not there
Result<std::shared_ptr<const Compiler>> loadNvrtc();

} // namespace halftone::backends::cuda
