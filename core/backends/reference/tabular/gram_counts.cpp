#include "core/backends/reference/kernels.h"
#include "core/backends/reference/typed.h"

#include <algorithm>
#include <map>
#include <vector>

namespace halftone::backends::reference {
namespace {

using Row = std::span<const std::int64_t>;

/// The places of grams of one length in TfIdfVectorizer::grams, by their numbers.
using Places = std::map<ops::Dims, std::vector<std::size_t>>;

/// Adds 1 for each gram that the row holds with that distance between its numbers.
void countGrams(Row row, std::size_t length, std::size_t distance, const Places &places,
                std::vector<double> &found)
{
    const std::size_t span = (length - 1) * distance + 1;
    ops::Dims numbers(length);
    for (std::size_t begin = 0; begin + span <= row.size(); ++begin) {
        for (std::size_t k = 0; k < length; ++k)
            numbers[k] = row[begin + k * distance];
        const auto at = places.find(numbers);
        for (std::size_t k = 0; at != places.end() && k < at->second.size(); ++k)
            ++found[at->second[k]];
    }
}

} // namespace

Result<void> move(const ops::TfIdfVectorizer &op, const RawArrays &arrays)
{
    const std::vector<std::int64_t> data = loadedInput<std::int64_t>(arrays, 0);
    const auto width = static_cast<std::size_t>(arrays.inDims(0).back());
    const auto columns = static_cast<std::size_t>(op.columns);
    std::map<std::size_t, Places> byLength;
    for (std::size_t g = 0; g < op.grams.size(); ++g)
        byLength[op.grams[g].numbers.size()][op.grams[g].numbers].push_back(g);
    const std::size_t rows = columns == 0 ? 0 : arrays.outCount(0) / columns;
    std::vector<float> out(arrays.outCount(0));
    for (std::size_t r = 0; r < rows && !arrays.workers.stopped(); ++r) {
        const Row row = std::span(data).subspan(r * width, width);
        std::vector<double> found(op.grams.size());
        for (const auto &[length, places] : byLength) {
            if (length < static_cast<std::size_t>(op.shortest)
                || length > static_cast<std::size_t>(op.longest))
                continue;
            // Wider ones do not fit into the row.
            const std::size_t widest = length == 1
                ? 1
                : std::min(static_cast<std::size_t>(op.widestGap) + 1,
                           (std::max<std::size_t>(width, 1) - 1) / (length - 1));
            for (std::size_t distance = 1; distance <= widest; ++distance)
                countGrams(row, length, distance, places, found);
        }
        for (std::size_t g = 0; g < found.size(); ++g) {
            const ops::TfIdfVectorizer::Gram &gram = op.grams[g];
            float &to = out[r * columns + static_cast<std::size_t>(gram.column)];
            if (found[g] == 0)
                continue;
            to += static_cast<float>(
                op.mode == ops::TfIdfVectorizer::Mode::Presence ? gram.weight : found[g] * gram.weight);
        }
    }
    store(out, arrays.operation.outputs[0].dtype, arrays.out[0]);
    return {};
}

} // namespace halftone::backends::reference
