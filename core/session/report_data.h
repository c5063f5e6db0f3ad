#pragma once

#include "core/backends/backends.h"
#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/session/session.h"
#include "core/walks/examples.h"

#include <optional>
#include <string>

namespace halftone::session {

/// What a report is to be made of.
struct ReportRequest
{
    std::string path; ///< a model or a session file
    std::optional<Session> opened{}; ///< a model in place of `path`
    std::optional<policy::Policy> policy{}; ///< in place of `policyPath`
    std::string params; ///< as io::LoadOptions::params; for a model
    std::string policyPath; ///< in place of the session's; empty: that, or the built-in lists
    std::string target; ///< "float16" or "bfloat16"; empty: as the policy says
    std::string hardware; ///< a built-in chip, "this" or a file; empty: as the policy says
    std::optional<walks::ExampleOptions> data; ///< in place of the session's
    unsigned threads = 0; ///< 0: as many as the machine has
    std::string front; ///< what `tune --out` wrote; empty: none
    std::string frontText{}; ///< the same as text, in place of the file
    bool latency = false; ///< measure too
    std::string made; ///< as madeLine(); empty: not told
    backends::Arithmetic arithmetic = backends::Arithmetic::Defined; ///< of the comparison
};

/// The files that makeReport() reads; of a session also those that it refers to.
/// fails: for a session that cannot be read
Result<std::vector<walks::FieldFile>> reportFiles(const ReportRequest &request);

/// Opens, converts, compares (where there are data), measures (if wanted) and gives reportPage().
/// fails: what those refuse; Cancelled
Result<std::string> makeReport(const ReportRequest &request, const Progress &progress = {});

} // namespace halftone::session
