#pragma once

#include "core/base/json.h"
#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/policy/rules.h"
#include "core/results/common_json.h"

#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::cli {

using Json = OrderedJson;
using results::warningsJson;

/// A table for people: columns padded to their widest cell; columns of numbers (every cell a number) stand
/// right.
class Table
{
public:
    explicit Table(std::vector<std::string> header = {}) { m_rows.push_back(std::move(header)); }
    void add(std::vector<std::string> row) { m_rows.push_back(std::move(row)); }
    std::string toString() const;

private:
    std::vector<std::vector<std::string>> m_rows; ///< the first one is the header, which may be empty
};

std::string withThousands(std::uint64_t value); ///< 25,610,205
std::string formatted(const char *format, double value); ///< as printf has it, at most 39 characters
std::string counted(std::size_t count, std::string_view one, std::string_view many); ///< "1 cast", "5 casts"

/// For standard output, once the command is done: one JSON document, broken UTF-8 in names replaced, or text.
void printJson(const Json &document);
void print(std::string_view text);
/// fails: BadInput when it cannot be written, or when a file that was being read while it was said has changed
Result<void> writeOutput();

/// "error: …" and "warning: …" lines on standard error.
void tellError(const Error &error);
void tellWarnings(std::span<const policy::Warning> warnings);
void tellNotes(const std::string &file, std::span<const std::string> notes);

/// Says in the environment of a program that is started that its progress goes to standard error as lines
/// "progress: SHARE WHAT", SHARE in [0, 1].
inline constexpr const char *kProgressVariable = "HALFTONE_PROGRESS";
inline constexpr const char *kProgressLines = "lines"; ///< its value
inline constexpr std::string_view kProgressPrefix = "progress: ";

/// Progress of a long call on standard error when that is a terminal or kProgressVariable is set, at most 25 lines a second; stops on
/// Ctrl-C.
Progress progress(std::stop_token stop);

} // namespace halftone::cli
