#pragma once

#include "app/cli/output.h"
#include "core/base/child_process.h"
#include "core/base/file_descriptor.h"
#include "core/base/result.h"

#include <optional>
#include <string>
#include <vector>

namespace halftone::cli {

/// One command of this program, run in a process of its own so that neither a crash nor a lack of memory ends the server.
class RunningCommand
{
public:
    struct Report
    {
        double share = 0; ///< done, in [0, 1]
        std::string what;
    };

    /// arguments  of halftone-cli
    /// fails: Unsupported if no process can be started
    static Result<RunningCommand> start(const std::vector<std::string> &arguments);

    int output() const { return m_output.number(); } ///< to poll for input; -1 once it has ended
    int errors() const { return m_errors.number(); }
    void readOutput(); ///< blocks unless there is something
    std::optional<Report> readErrors(); ///< likewise; the latest progress in what was read
    bool isOver() const { return !m_output.isOpen() && !m_errors.isOpen(); }
    void stop() const { m_process.terminate(); }

    /// The result of a tool: the command's JSON, then its warnings and errors. isError if it printed no JSON. Needs: isOver()
    Json result();

private:
    ChildProcess m_process;
    FileDescriptor m_output;
    FileDescriptor m_errors;
    std::string m_document; ///< standard output
    std::string m_line; ///< the last one of standard error, as far as it has been read
    std::string m_told; ///< lines of standard error that are not progress
};

Json toolResult(const std::vector<std::string> &texts, bool isError);

} // namespace halftone::cli
