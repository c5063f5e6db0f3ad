#include "core/backends/backends.h"

#include "app/cli/commands.h"
#include "app/cli/output.h"
#include "core/api/halftone/version.h"
#include "core/base/text.h"
#include "core/results/machine_json.h"

#include <memory>

namespace halftone::cli {
namespace {

using backends::BackendInfo;

/// "1.22.0, PATH; providers: A, B", below the table: the columns are for what all backends have.
void printRuntime(const BackendInfo &info)
{
    std::string variants;
    for (const std::string &variant : results::variantsOf(info))
        variants += (variants.empty() ? "; --backend " : ", ") + info.name + ':' + variant;
    print('\n' + info.name + ": " + printable(info.version + ", " + info.file + variants) + '\n');
}

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
    for (const BackendInfo &info : all)
        if (info.wholeModels && info.available)
            printRuntime(info);
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
