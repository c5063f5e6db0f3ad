#pragma once

#include "app/cli/mcp_call.h"
#include "app/cli/mcp_tools.h"
#include "app/cli/output.h"
#include "core/base/result.h"

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::cli {

/// A server of the Model Context Protocol: reads JSON-RPC messages and answers on standard output, one message a line.
/// Calls of tools run one after another, so that timings are not disturbed; all else is answered at once.
class McpServer
{
public:
    explicit McpServer(Tools tools)
        : m_tools(std::move(tools))
    {
    }

    /// Takes bytes of the client's stream, with whole and partial lines. fails: BadInput if standard output cannot be written
    Result<void> take(std::string_view bytes);

    int output() const
    {
        return m_running ? m_running->command.output() : -1;
    } ///< of the running call, to poll for input
    int errors() const { return m_running ? m_running->command.errors() : -1; }
    /// After one of them has something to read. fails: as take()
    Result<void> readOutput();
    Result<void> readErrors();

private:
    struct Call
    {
        Json id;
        Json progressToken; ///< null: the client wants no progress
        std::vector<std::string> commandLine;
    };
    struct Running
    {
        Call call;
        RunningCommand command;
        double told = 0; ///< the share of the last progress notification
        bool isCancelled = false;
    };

    Result<void> handle(const std::string &line);
    Result<void> answer(const Json &id, const std::string &method, const Json &params);
    Result<void> callTool(const Json &id, const Json &params);
    void cancel(const Json &id);
    Result<void> startNext();
    Result<void> finishCall();

    Tools m_tools;
    std::string m_line; ///< the last line, as far as it has been read
    bool m_isTooLong = false; ///< what is left of the line is skipped
    std::deque<Call> m_waiting;
    std::optional<Running> m_running;
};

} // namespace halftone::cli
