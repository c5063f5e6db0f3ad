#include "core/io/pictures/labels.h"

#include "core/base/mapped_file.h"
#include "core/base/text.h"
#include "core/io/arrays/npz.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace halftone::io {
namespace {

/// Takes one record off the front of `text`. Nothing when a quote is not closed.
std::optional<std::vector<std::string>> takeRecord(std::string_view &text)
{
    std::vector<std::string> fields(1);
    bool quoted = false;
    std::size_t i = 0;
    for (; i < text.size(); ++i) {
        const char c = text[i];
        if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
            fields.back() += '"';
            ++i;
        } else if (c == '"') {
            quoted = !quoted;
        } else if (!quoted && c == ',') {
            fields.emplace_back();
        } else if (!quoted && c == '\n') {
            ++i;
            break;
        } else if (quoted || c != '\r') {
            fields.back() += c;
        }
    }
    text.remove_prefix(i);
    return quoted ? std::nullopt : std::optional(std::move(fields));
}

Result<Labels> readCsv(std::string_view text)
{
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF"; // that spreadsheets begin UTF-8 with
    if (text.starts_with(kByteOrderMark))
        text.remove_prefix(kByteOrderMark.size());
    const auto header = takeRecord(text);
    const auto columnOf = [&](std::string_view name) -> std::size_t {
        return header ? static_cast<std::size_t>(std::ranges::find(*header, name) - header->begin()) : 0;
    };
    const std::size_t file = columnOf("file");
    const std::size_t label = columnOf("class_index");
    if (!header || file == header->size() || label == header->size())
        return badInput("line 1", "missing columns", "a header with file and class_index");
    Labels labels;
    for (std::size_t line = 2; !text.empty(); ++line) {
        const auto record = takeRecord(text);
        const std::string where = "record " + std::to_string(line);
        if (!record)
            return badInput(where, "unterminated quote");
        if (record->size() == 1 && record->front().empty())
            continue;
        if (record->size() <= std::max(file, label))
            return badInput(where, std::to_string(record->size()) + " fields",
                            std::to_string(header->size()));
        const auto value = parseInteger((*record)[label]);
        if (!value || *value < 0)
            return badInput(where + ": class_index", '"' + (*record)[label] + '"', "a class number");
        labels.files.push_back((*record)[file]);
        labels.classes.push_back(*value);
    }
    if (labels.classes.empty())
        return badInput({}, "no records", "one per picture");
    return labels;
}

} // namespace

Result<Labels> labelsAmong(std::span<const NamedTensor> arrays)
{
    const auto found = std::ranges::find(arrays, "labels", &NamedTensor::name);
    if (found == arrays.end())
        return badInput({}, "no array named labels", "one class per example");
    const tensor::Shape &shape = found->tensor.shape();
    if (shape.rank() > 2)
        return badInput("labels", "an array of shape " + shape.toString(),
                        "one class per example, or one per step of each example");
    HALFTONE_TRY(const tensor::Tensor wide, tensor::castTo(found->tensor, tensor::DType::F64));
    Labels labels;
    if (shape.rank() == 2 && shape[1] > 1)
        labels.perExample = static_cast<std::size_t>(shape[1]);
    for (const double value : wide.values<double>()) {
        const bool isJudged = !labels.areOfSteps() || value != Labels::kNotJudged;
        if (isJudged && !(value >= 0 && value < 1e15 && value == std::floor(value)))
            return badInput("labels", std::to_string(value), "class numbers");
        labels.classes.push_back(static_cast<std::int64_t>(value));
    }
    return labels;
}

Result<Labels> readLabels(const std::string &path)
{
    auto labels = [&]() -> Result<Labels> {
        if (path.ends_with(".npz")) {
            HALFTONE_TRY(const std::vector<NamedTensor> arrays, readNpz(path));
            return labelsAmong(arrays);
        }
        HALFTONE_TRY(const auto file, MappedFile::open(path));
        return readCsv(file->text());
    }();
    return labels.ok() ? std::move(labels) : Result<Labels>(inFile(std::move(labels).error(), path));
}

} // namespace halftone::io
