#include "app/cli/mcp_call.h"

#include "core/base/text.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

namespace halftone::cli {
namespace {

constexpr std::size_t kMostOutput = std::size_t{256} << 20;
constexpr std::size_t kMostTold = std::size_t{64} << 10;

/// The ends to read from and to write to. fails: Unsupported
Result<std::pair<FileDescriptor, FileDescriptor>> makePipe()
{
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
        return unsupported({}, std::string("cannot make a pipe: ") + std::strerror(errno));
    return std::pair(FileDescriptor(ends[0]), FileDescriptor(ends[1]));
}

/// Appends what there is to read; closes the descriptor at the end.
void readInto(std::string &text, FileDescriptor &from)
{
    std::array<char, 65536> bytes;
    const ssize_t count = ::read(from.number(), bytes.data(), bytes.size());
    if (count > 0)
        text.append(bytes.data(), static_cast<std::size_t>(count));
    else if (count == 0 || errno != EINTR)
        from.close();
}

std::optional<RunningCommand::Report> reportIn(std::string_view line)
{
    if (!line.starts_with(kProgressPrefix))
        return {};
    line.remove_prefix(kProgressPrefix.size());
    const std::size_t blank = line.find(' ');
    const std::optional<double> share = parseReal(line.substr(0, blank));
    if (!share || blank == std::string_view::npos)
        return {};
    return RunningCommand::Report{*share, std::string(line.substr(blank + 1))};
}

} // namespace

Result<RunningCommand> RunningCommand::start(const std::vector<std::string> &arguments)
{
    HALFTONE_TRY(auto output, makePipe());
    HALFTONE_TRY(auto errors, makePipe());
    ::setenv("HALFTONE_END_WITH", std::to_string(::getpid()).c_str(), 1);
    ::setenv(kProgressVariable, kProgressLines, 1);
    std::vector<std::string> command{"/proc/self/exe"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    RunningCommand started;
    HALFTONE_TRY(started.m_process,
                 ChildProcess::start(command, {-1, output.second.number(), errors.second.number()}));
    started.m_output = std::move(output.first);
    started.m_errors = std::move(errors.first);
    return started;
}

void RunningCommand::readOutput()
{
    readInto(m_document, m_output);
    if (m_document.size() <= kMostOutput)
        return;
    m_process.kill();
    m_document.clear();
    m_told += "error: the result is larger than " + humanBytes(kMostOutput) + '\n';
}

std::optional<RunningCommand::Report> RunningCommand::readErrors()
{
    readInto(m_line, m_errors);
    std::optional<Report> latest;
    for (std::size_t end = m_line.find('\n'); end != std::string::npos; end = m_line.find('\n')) {
        if (auto report = reportIn(std::string_view(m_line).substr(0, end)))
            latest = std::move(report);
        else if (m_told.size() < kMostTold)
            m_told += m_line.substr(0, end + 1);
        m_line.erase(0, end + 1);
    }
    if (m_line.size() > kMostTold)
        m_line.clear();
    return latest;
}

Json RunningCommand::result()
{
    const int code = m_process.wait();
    Json document = parseOrdered(m_document);
    const bool isWhole = !document.is_discarded();
    std::vector<std::string> texts;
    if (isWhole)
        texts.push_back(jsonText(document));
    if (!m_told.empty())
        texts.push_back(std::string(m_told, 0, m_told.size() - 1));
    if (!isWhole && m_told.empty())
        texts.push_back("error: the command ended with code " + std::to_string(code)
                        + " and without a result");
    Json result = toolResult(texts, !isWhole);
    if (document.is_object())
        result["structuredContent"] = std::move(document);
    return result;
}

Json toolResult(const std::vector<std::string> &texts, bool isError)
{
    Json content = Json::array();
    for (const std::string &text : texts)
        content.push_back({{"type", "text"}, {"text", text}});
    return {{"content", std::move(content)}, {"isError", isError}};
}

} // namespace halftone::cli
