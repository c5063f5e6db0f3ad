#pragma once

#include "core/backends/backends.h"
#include "core/base/json.h"
#include "core/hardware/description.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::results {

/// The described chips, and which of them are in this machine.
struct Chips
{
    std::vector<std::shared_ptr<const hardware::Description>>
        all; ///< first those of this machine that have no description
    std::string machine; ///< name of the processor
    std::string gpu; ///< empty: none
};
Chips listedChips();

/// What may stand behind the colon of a backend's name: the providers of a runtime. Empty where there are none, or it does not start.
std::vector<std::string> variantsOf(const backends::BackendInfo &info);

OrderedJson hardwareJson(const Chips &chips); ///< `hardware --json`
OrderedJson backendsJson(std::string_view version); ///< `backends --json`

} // namespace halftone::results
