#include "app/cli/output.h"

#include "app/cli/fields.h"
#include "core/base/file_error.h"
#include "core/base/mapped_file.h"
#include "core/base/text.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace halftone::cli {
namespace {

/// What a command has to say, until it is known to be true.
struct Output
{
    std::string text;
    Result<void> failure; ///< of the output, or since a file that it is made of has changed
};

Output s_output;

/// Where the caller's end does not block.
void waitForReader()
{
    pollfd polled{STDOUT_FILENO, POLLOUT, 0};
    static_cast<void>(::poll(&polled, 1, -1));
}

/// Columns that a UTF-8 text takes: its code points.
std::size_t widthOf(std::string_view text)
{
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

bool isNumber(std::string_view cell)
{
    return !cell.empty() && cell.find_first_not_of("0123456789.,-+%") == std::string_view::npos;
}

/// At most 25 in a second.
class Turns
{
public:
    bool isDue()
    {
        using namespace std::chrono_literals;
        const auto now = std::chrono::steady_clock::now();
        if (now - m_last < 40ms)
            return false;
        m_last = now;
        return true;
    }

private:
    std::chrono::steady_clock::time_point m_last{};
};

/// Repeats the line in place: what, percent and the time left by the pace so far.
class TerminalProgress
{
public:
    void tell(double share, std::string_view what)
    {
        if (!m_turns.isDue())
            return;
        const auto now = std::chrono::steady_clock::now();
        const double elapsed = std::chrono::duration<double>(now - m_start).count();
        std::string line = "\r" + std::to_string(static_cast<int>(share * 100)) + " % " + printable(what);
        if (share > 0.05 && elapsed > 1)
            line += ", " + std::to_string(static_cast<int>(elapsed / share * (1 - share)) + 1) + " s left";
        std::fputs((line + "\x1b[K").c_str(), stderr);
        m_shown = true;
    }

    TerminalProgress() = default;
    TerminalProgress(const TerminalProgress &) = delete;
    TerminalProgress &operator=(const TerminalProgress &) = delete;
    ~TerminalProgress()
    {
        if (m_shown)
            std::fputs("\r\x1b[K", stderr);
    }

private:
    std::chrono::steady_clock::time_point m_start = std::chrono::steady_clock::now();
    Turns m_turns;
    bool m_shown = false;
};

/// A line for each report, for the program that started this one.
class LineProgress
{
public:
    void tell(double share, std::string_view what)
    {
        if (!m_turns.isDue())
            return;
        std::fputs(
            (std::string(kProgressPrefix) + formatted("%.4f ", share) + printable(what) + '\n').c_str(),
            stderr);
    }

private:
    Turns m_turns;
};

} // namespace

std::string Table::toString() const
{
    std::vector<std::size_t> widths;
    for (const auto &row : m_rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t c = 0; c < row.size(); ++c)
            widths[c] = std::max(widths[c], widthOf(row[c]));
    }
    std::vector<bool> right(widths.size(), m_rows.size() > 1);
    for (std::size_t r = 1; r < m_rows.size(); ++r) {
        for (std::size_t c = 0; c < right.size(); ++c)
            right[c] = right[c] && c < m_rows[r].size() && isNumber(m_rows[r][c]);
    }
    std::string text;
    for (const auto &row : m_rows) {
        std::string line;
        for (std::size_t c = 0; c < row.size(); ++c) {
            const std::string gap(widths[c] - widthOf(row[c]), ' ');
            line += (c == 0 ? "" : "  ") + (right[c] ? gap + row[c] : row[c] + gap);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        if (!row.empty())
            text += line + '\n';
    }
    return text;
}

std::string withThousands(std::uint64_t value)
{
    std::string text = std::to_string(value);
    for (std::size_t at = text.size(); at > 3; at -= 3)
        text.insert(at - 3, 1, ',');
    return text;
}

std::string formatted(const char *format, double value)
{
    std::array<char, 40> text{};
    std::snprintf(text.data(), text.size(), format, value);
    return text.data();
}

std::string counted(std::size_t count, std::string_view one, std::string_view many)
{
    return withThousands(count) + ' ' + std::string(count == 1 ? one : many);
}

void printJson(const Json &document)
{
    print(jsonText(document, 1) + '\n');
}

void print(std::string_view text)
{
    constexpr std::size_t kMostHeld = std::size_t{64} << 20;
    if (s_output.failure.ok())
        s_output.failure = MappedFile::checkAll();
    s_output.text += text;
    if (s_output.text.size() > kMostHeld && s_output.failure.ok())
        s_output.failure = writeOutput();
}

Result<void> writeOutput()
{
    HALFTONE_CHECK(s_output.failure);
    std::string_view left = s_output.text;
    while (!left.empty()) {
        const ssize_t written = ::write(STDOUT_FILENO, left.data(), left.size());
        if (written >= 0)
            left.remove_prefix(static_cast<std::size_t>(written));
        else if (errno == EAGAIN)
            waitForReader();
        else if (errno != EINTR)
            return fileError("standard output", "write", errno);
    }
    s_output.text.clear();
    return {};
}

void tellError(const Error &error)
{
    std::fprintf(stderr, "error: %s\n", error.message(optionOf).c_str());
}

void tellWarnings(std::span<const policy::Warning> warnings)
{
    for (const policy::Warning &warning : warnings)
        std::fprintf(stderr, "warning: %s: %s\n", printable(warning.entry).c_str(),
                     printable(warning.text).c_str());
}

void tellNotes(const std::string &file, std::span<const std::string> notes)
{
    for (const std::string &note : notes)
        std::fprintf(stderr, "note: %s: %s\n", printable(file).c_str(), printable(note).c_str());
}

Progress progress(std::stop_token stop)
{
    Progress result{std::move(stop), {}};
    const char *const form = std::getenv(kProgressVariable);
    if (form != nullptr && std::string_view(form) == kProgressLines) {
        result.report = [lines = std::make_shared<LineProgress>()](double share, std::string_view what) {
            lines->tell(share, what);
        };
    } else if (isatty(STDERR_FILENO) == 1) {
        result.report = [terminal = std::make_shared<TerminalProgress>()](
                            double share, std::string_view what) { terminal->tell(share, what); };
    }
    return result;
}

} // namespace halftone::cli
