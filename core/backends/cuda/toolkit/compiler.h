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
    /// Does it make code for the chip, or what the driver makes such of? arch  80 for sm_80
    /// fails: Unsupported, saying which chips it knows
    virtual Result<void> check(int) const { return {}; }
    /// arch  80 for sm_80; one that is newer than the compiler gets PTX of the newest that it knows
    /// returns  what cuModuleLoadData takes. fails: Unsupported, with the compiler's log
    virtual Result<std::string> compile(const std::string &source, int arch) const = 0;
};

/// NVRTC, which needs no GPU. fails: Unsupported where the library is not there
Result<std::shared_ptr<const Compiler>> loadNvrtc();

} // namespace halftone::backends::cuda
