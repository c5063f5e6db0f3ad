#include "app/cli/mcp_server.h"

#include "app/cli/fields.h"
#include "core/api/halftone/version.h"

#include <algorithm>
#include <array>
#include <utility>

namespace halftone::cli {
namespace {

using namespace std::string_view_literals;

constexpr std::array kVersions{"2025-11-25"sv, "2025-06-18"sv, "2025-03-26"sv,
                               "2024-11-05"sv}; ///< of the protocol, newest first
constexpr std::size_t kMostLine = std::size_t{1} << 20;
constexpr std::size_t kMostWaiting = 64;

/// Codes of JSON-RPC 2.0, section 5.1.
constexpr int kParseError = -32700;
constexpr int kInvalidRequest = -32600;
constexpr int kMethodNotFound = -32601;
constexpr int kInvalidParams = -32602;
constexpr int kServerBusy = -32000;

Result<void> send(Json message)
{
    message["jsonrpc"] = "2.0";
    print(jsonText(message) + '\n');
    return writeOutput();
}

Result<void> sendResult(const Json &id, Json result)
{
    return send({{"id", id}, {"result", std::move(result)}});
}

Result<void> sendError(const Json &id, int code, std::string_view message)
{
    return send({{"id", id}, {"error", {{"code", code}, {"message", message}}}});
}

/// What an object has under `key`; null if it is no object or lacks it.
const Json &memberOf(const Json &object, const char *key)
{
    static const Json kNull;
    const auto found = object.is_object() ? object.find(key) : object.end();
    return found == object.end() ? kNull : *found;
}

bool isId(const Json &value)
{
    return value.is_string() || value.is_number_integer();
}

std::string stringOf(const Json &value)
{
    return value.is_string() ? value.get<std::string>() : std::string();
}

Json welcome(const Json &params, const std::string &instructions)
{
    const std::string wanted = stringOf(memberOf(params, "protocolVersion"));
    const bool isKnown = std::ranges::find(kVersions, wanted) != kVersions.end();
    return {{"protocolVersion", isKnown ? wanted : std::string(kVersions.front())},
            {"capabilities", {{"tools", Json::object()}}},
            {"serverInfo", {{"name", "halftone"}, {"version", HALFTONE_VERSION}}},
            {"instructions", instructions}};
}

} // namespace

Result<void> McpServer::take(std::string_view bytes)
{
    while (!bytes.empty()) {
        const std::size_t end = bytes.find('\n');
        if (!m_isTooLong)
            m_line += bytes.substr(0, end);
        if (m_line.size() > kMostLine) {
            m_line.clear();
            m_isTooLong = true;
            HALFTONE_CHECK(sendError(nullptr, kInvalidRequest, "the message is longer than 1 MiB"));
        }
        if (end == std::string_view::npos)
            return {};
        bytes.remove_prefix(end + 1);
        const std::string line = std::exchange(m_line, {});
        if (!std::exchange(m_isTooLong, false) && line.find_first_not_of(" \t\r") != std::string::npos)
            HALFTONE_CHECK(handle(line));
    }
    return {};
}

Result<void> McpServer::handle(const std::string &line)
{
    const Json message = parseOrdered(line);
    if (message.is_discarded())
        return sendError(nullptr, kParseError, "the message is not JSON");
    const Json &id = memberOf(message, "id");
    const std::string method = stringOf(memberOf(message, "method"));
    if (message.is_object() && (message.contains("result") || message.contains("error")))
        return {}; // an answer, which nobody waits for
    if (method.empty() || memberOf(message, "jsonrpc") != "2.0" || (message.contains("id") && !isId(id)))
        return sendError(isId(id) ? id : Json(), kInvalidRequest,
                         "the message is not a request of JSON-RPC 2.0");
    const Json &params = memberOf(message, "params");
    if (!id.is_null())
        return answer(id, method, params);
    if (method == "notifications/cancelled")
        cancel(memberOf(params, "requestId"));
    return {};
}

Result<void> McpServer::answer(const Json &id, const std::string &method, const Json &params)
{
    if (method == "initialize")
        return sendResult(id, welcome(params, m_tools.instructions()));
    if (method == "ping")
        return sendResult(id, Json::object());
    if (method == "tools/list")
        return sendResult(id, {{"tools", m_tools.list()}});
    if (method == "tools/call")
        return callTool(id, params);
    return sendError(id, kMethodNotFound, "unknown method");
}

Result<void> McpServer::callTool(const Json &id, const Json &params)
{
    const std::string name = stringOf(memberOf(params, "name"));
    const Json &given = memberOf(params, "arguments");
    if (!m_tools.has(name))
        return sendError(id, kInvalidParams, "unknown tool");
    if (!given.is_null() && !given.is_object())
        return sendError(id, kInvalidParams, "arguments: expected an object");
    if (m_waiting.size() >= kMostWaiting)
        return sendError(id, kServerBusy, "too many calls are waiting");
    const auto line = m_tools.commandLine(name, given.is_null() ? Json::object() : given);
    if (!line.ok())
        return sendResult(id, toolResult({"error: " + line.error().message(optionOf)}, true));
    const Json &token = memberOf(memberOf(params, "_meta"), "progressToken");
    m_waiting.push_back({id, isId(token) ? token : Json(), line.value()});
    return startNext();
}

void McpServer::cancel(const Json &id)
{
    std::erase_if(m_waiting, [&](const Call &call) { return call.id == id; });
    if (m_running && m_running->call.id == id) {
        m_running->isCancelled = true;
        m_running->command.stop();
    }
}

Result<void> McpServer::startNext()
{
    while (!m_running && !m_waiting.empty()) {
        Call call = std::move(m_waiting.front());
        m_waiting.pop_front();
        auto started = RunningCommand::start(call.commandLine);
        if (!started.ok())
            HALFTONE_CHECK(
                sendResult(call.id, toolResult({"error: " + started.error().message(optionOf)}, true)));
        else
            m_running.emplace(Running{std::move(call), std::move(started).value()});
    }
    return {};
}

Result<void> McpServer::readOutput()
{
    m_running->command.readOutput();
    return finishCall();
}

Result<void> McpServer::readErrors()
{
    const auto report = m_running->command.readErrors();
    if (report && report->share > m_running->told && !m_running->isCancelled
        && !m_running->call.progressToken.is_null()) {
        m_running->told = report->share; // progress must increase
        HALFTONE_CHECK(send({{"method", "notifications/progress"},
                             {"params",
                              {{"progressToken", m_running->call.progressToken},
                               {"progress", report->share},
                               {"total", 1},
                               {"message", report->what}}}}));
    }
    return finishCall();
}

Result<void> McpServer::finishCall()
{
    if (!m_running->command.isOver())
        return {};
    Json result = m_running->command.result();
    if (!m_running->isCancelled)
        HALFTONE_CHECK(sendResult(m_running->call.id, std::move(result)));
    m_running.reset();
    return startNext();
}

} // namespace halftone::cli
