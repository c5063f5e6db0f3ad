#include "core/backends/backends.h"

#include "app/cli/commands.h"
#include "app/cli/output.h"
#include "core/api/halftone/version.h"
#include "core/results/machine_json.h"

#include <memory>

namespace halftone::cli {
namespace {

using backends::BackendInfo;

Result<void> listBackends(bool asJson)
{
    const std::vector<BackendInfo> all = backends::allBackends();
    if (asJson) {
        printJson(results::backendsJson(HALFTONE_VERSION));
        return {};
    }
    Table table({"backend", "device", "native", "emulated", "note"});
    for (const BackendInfo &info : all) {
        std::string lists[2];
        for (const auto &[type, support] : info.dtypes) {
            if (support == kernels::Support::No)
                continue;
            std::string &list = lists[support == kernels::Support::Native ? 0 : 1];
            list += (list.empty() ? "" : " ") + std::string(tensor::nameOf(type));
        }
        table.add({info.name, info.available ? info.device : "-", lists[0].empty() ? "-" : lists[0],
                   lists[1].empty() ? "-" : lists[1], info.why});
    }
    print(table.toString());
    return {};
}

} // namespace

void addBackends(Parser &app, Action &chosen)
{
    const auto asJson = std::make_shared<bool>(false);
    Command command
        = app.command("backends", "List the backends of this build and what this machine supports");
    command.flag("--json", *asJson, "Print as JSON");
    command.onChosen(
        [asJson, &chosen] { chosen = [asJson](const std::stop_token &) { return listBackends(*asJson); }; });
}

} // namespace halftone::cli
