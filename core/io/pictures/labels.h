#pragma once

#include "core/base/result.h"
#include "core/io/arrays/npz.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace halftone::io {

/// The right classes of examples, in the file's order.
struct Labels
{
    static constexpr std::int64_t kNotJudged
        = -100; ///< a step that has no right class, as PyTorch's losses have it

    std::vector<std::string> files; ///< of a CSV; empty when the file names none
    std::vector<std::int64_t> classes; ///< of all steps of the first example, of the next, …
    std::size_t perExample = 1; ///< steps of an example, such as the tokens of a text

    bool areEmpty() const { return classes.empty(); }
    std::size_t examples() const { return classes.size() / perExample; }
    bool areOfSteps() const { return perExample > 1; }
    std::span<const std::int64_t> of(std::size_t example) const
    {
        return std::span(classes).subspan(example * perExample, perExample);
    }
};

/// Reads a CSV with a header that has the columns `file` and `class_index` (RFC 4180 quotes, with a byte order mark or without), or an `.npz` with whole
/// numbers under `labels`: one an example, or a row of steps, where kNotJudged stands for none. fails: BadInput naming the line or the array.
Result<Labels> readLabels(const std::string &path);

/// The array `labels` among these. fails: BadInput if there is none, or for other than whole numbers
Result<Labels> labelsAmong(std::span<const NamedTensor> arrays);

} // namespace halftone::io
