#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace halftone::io {

/// The right classes of examples, in the file's order.
struct Labels
{
    std::vector<std::string> files; ///< of a CSV; empty when the file names none
    std::vector<std::int64_t> classes;
};

/// Reads a CSV with a header that has the columns `file` and `class_index` (RFC 4180 quotes, with a byte order mark or without), or an `.npz` with whole
/// numbers under `labels`. fails: BadInput naming the line or the array.
Result<Labels> readLabels(const std::string &path);

} // namespace halftone::io
