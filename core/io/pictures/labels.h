#pragma once

#include "core/base/result.h"
#include "core/io/arrays/npz.h"

#include <cstdint>
#include <span>
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

/// The array `labels` among these. fails: BadInput if there is none, or for other than whole numbers
Result<Labels> labelsAmong(std::span<const NamedTensor> arrays);

} // namespace halftone::io
