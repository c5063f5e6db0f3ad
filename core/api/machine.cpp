#include "halftone/machine.h"

#include "core/api/inside.h"
#include "core/hardware/description_json.h"
#include "core/machines/local_chips.h"
#include "core/machines/measure_machine.h"
#include "core/results/machine_json.h"

#include "halftone/version.h"

namespace halftone::api {

Result<std::string> backendsReport()
{
    return answer(
        []() -> halftone::Result<std::string> { return textOf(results::backendsJson(HALFTONE_VERSION)); });
}

Result<std::string> hardwareReport(const std::string &name, const Progress &progress)
{
    return answer([&]() -> halftone::Result<std::string> {
        HALFTONE_CHECK(machines::ensureMeasured(name, progressOf(progress)));
        if (name.empty())
            return textOf(results::hardwareJson(results::listedChips()));
        HALFTONE_TRY(const auto chip, machines::findChip(name));
        return hardware::writeDescription(*chip);
    });
}

} // namespace halftone::api
