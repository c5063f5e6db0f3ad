#include "core/io/pictures/preprocess.h"

#include "core/base/atomic_file.h"
#include "core/base/json.h"
#include "core/base/mapped_file.h"
#include "core/base/text.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>

namespace halftone::io {
namespace {

using Json = SortedJson;

constexpr std::int64_t kLargestSide = 16384;

Error wrong(std::string field, const Json &found, std::string expected)
{
    return badInput(std::move(field),
                    printable(found.dump(-1, ' ', true, Json::error_handler_t::replace), 80),
                    std::move(expected));
}

const Json *find(const Json &object, const char *key)
{
    const auto at = object.find(key);
    return at == object.end() || at->is_null() ? nullptr : &*at;
}

/// The one input that pictures can feed.
Result<const Json *> pictureInput(const Json &document)
{
    const Json *const inputs = document.is_object() ? find(document, "inputs") : nullptr;
    if (!inputs || !inputs->is_array())
        return badInput("inputs", "not a list", "a list of inputs, one of them with a color");
    const Json *found = nullptr;
    for (const Json &input : *inputs) {
        if (!input.is_object() || !find(input, "color"))
            continue;
        if (found)
            return badInput("inputs", "more than one picture input", "one with a color");
        found = &input;
    }
    if (!found)
        return badInput("inputs", "no picture input", "one with a color");
    return found;
}

Result<Preprocess::Color> readColor(const Json &input)
{
    const Json &color = input["color"];
    const std::string text = color.is_string() ? color.get<std::string>() : std::string();
    if (text == "RGB")
        return Preprocess::Color::Rgb;
    if (text == "BGR")
        return Preprocess::Color::Bgr;
    if (text.starts_with("GRAY") || text.starts_with("GREY") || text.starts_with("Y"))
        return Preprocess::Color::Gray;
    return wrong("inputs.color", color, "RGB, BGR or GRAY");
}

Result<std::vector<double>> readNumbers(const Json &input, const char *key, std::size_t channels,
                                        double fallback)
{
    const Json *const values = find(input, key);
    if (!values)
        return std::vector<double>(channels, fallback);
    const std::string field = std::string("inputs.") + key;
    if (!values->is_array() || (values->size() != channels && values->size() != 1))
        return wrong(field, *values, std::to_string(channels) + " numbers");
    std::vector<double> numbers;
    for (const Json &value : *values) {
        if (!value.is_number())
            return wrong(field, value, "a number");
        numbers.push_back(value.get<double>());
    }
    numbers.resize(channels, numbers.front());
    return numbers;
}

/// A dimension that is fixed; texts ("N", "H>=12") leave it open.
Result<std::optional<std::int64_t>> readDim(const Json &dim)
{
    if (dim.is_string())
        return std::optional<std::int64_t>();
    if (!dim.is_number_integer() || dim.get<double>() < 1
        || dim.get<double>() > static_cast<double>(kLargestSide))
        return wrong("inputs.shape", dim,
                     "an extent from 1 to " + std::to_string(kLargestSide) + ", or a text");
    return std::optional(dim.get<std::int64_t>());
}

Result<void> readShape(const Json &input, Preprocess &rules)
{
    const Json *const layout = find(input, "layout");
    if (layout && *layout != "NCHW" && *layout != "NHWC")
        return wrong("inputs.layout", *layout, "NCHW or NHWC");
    rules.channelsLast = layout && *layout == "NHWC";
    const Json *const shape = find(input, "shape");
    if (!shape)
        return {};
    if (!shape->is_array() || shape->size() != 4)
        return wrong("inputs.shape", *shape, "4 dimensions");
    const std::size_t channel = rules.channelsLast ? 3 : 1;
    HALFTONE_TRY(rules.batch, readDim((*shape)[0]));
    HALFTONE_TRY(const auto channels, readDim((*shape)[channel]));
    HALFTONE_TRY(rules.height, readDim((*shape)[rules.channelsLast ? 1 : 2]));
    HALFTONE_TRY(rules.width, readDim((*shape)[rules.channelsLast ? 2 : 3]));
    if (channels && *channels != static_cast<std::int64_t>(rules.channels()))
        return wrong("inputs.shape", *shape,
                     std::to_string(rules.channels()) + " channels, to match the color");
    return {};
}

/// "short side 256, centre crop 224".
std::optional<std::int64_t> shortSideIn(std::string_view note)
{
    constexpr std::string_view kWords = "short side ";
    const std::size_t at = note.find(kWords);
    if (at == std::string_view::npos)
        return std::nullopt;
    note.remove_prefix(at + kWords.size());
    return parseInteger(note.substr(0, std::min(note.find_first_not_of("0123456789"), note.size())));
}

Result<void> readShortSide(const Json &input, Preprocess &rules)
{
    const Json *const given = find(input, "short_side");
    const Json *const note = find(input, "note");
    if (given && given->is_number_integer() && given->get<double>() <= static_cast<double>(kLargestSide))
        rules.shortSide = given->get<std::int64_t>();
    else if (given)
        return wrong("inputs.short_side", *given, "pixels");
    else if (note && note->is_string())
        rules.shortSide = shortSideIn(note->get_ref<const std::string &>());
    if (rules.shortSide && (*rules.shortSide < 1 || *rules.shortSide > kLargestSide))
        return badInput("inputs.short_side", std::to_string(*rules.shortSide),
                        "1 to " + std::to_string(kLargestSide));
    return {};
}

Result<Preprocess> readRules(const Json &document)
{
    HALFTONE_TRY(const Json *const input, pictureInput(document));
    Preprocess rules;
    const Json *const name = find(*input, "name");
    if (!name || !name->is_string())
        return badInput("inputs.name", "missing", "the name of a model input");
    rules.input = name->get<std::string>();
    HALFTONE_TRY(rules.color, readColor(*input));
    HALFTONE_CHECK(readShape(*input, rules));
    HALFTONE_CHECK(readShortSide(*input, rules));
    HALFTONE_TRY(rules.mean, readNumbers(*input, "mean", rules.channels(), 0));
    HALFTONE_TRY(rules.scale, readNumbers(*input, "scale", rules.channels(), 1));
    return rules;
}

} // namespace

std::string preprocessBeside(const std::string &modelPath)
{
    return (std::filesystem::path(modelPath).parent_path() / "preprocess.json").string();
}

Result<Preprocess> readPreprocess(const std::string &path)
{
    HALFTONE_TRY(const auto file, MappedFile::open(path));
    const std::string_view text = file->text();
    // Files of this kind are a page long; a megabyte of brackets is none.
    constexpr std::size_t kMost = 1 << 20;
    if (text.size() > kMost)
        return inFile(badInput({}, std::to_string(text.size()) + " bytes", "a preprocess.json"), path);
    const Json document = parseSorted(text);
    if (document.is_discarded())
        return inFile(badInput({}, "not JSON", "a preprocess.json"), path);
    auto rules = readRules(document);
    return rules.ok() ? std::move(rules) : Result<Preprocess>(inFile(std::move(rules).error(), path));
}

Result<void> writePreprocess(const Preprocess &rules, const std::string &path)
{
    const auto extent = [](const std::optional<std::int64_t> &dim, const char *open) {
        return dim ? Json(*dim) : Json(open);
    };
    const Json channels = rules.channels();
    const Json batch = extent(rules.batch, "N");
    const Json height = extent(rules.height, "H");
    const Json width = extent(rules.width, "W");
    const Json shape = rules.channelsLast ? Json::array({batch, height, width, channels})
                                          : Json::array({batch, channels, height, width});
    Json input{{"name", rules.input},
               {"dtype", "float32"},
               {"layout", rules.channelsLast ? "NHWC" : "NCHW"},
               {"color",
                rules.color == Preprocess::Color::Rgb       ? "RGB"
                    : rules.color == Preprocess::Color::Bgr ? "BGR"
                                                            : "GRAY"},
               {"shape", shape},
               {"mean", rules.mean},
               {"scale", rules.scale}};
    if (rules.shortSide)
        input["short_side"] = *rules.shortSide;
    return writeWhole(path, jsonText(Json{{"inputs", Json::array({input})}}, 1) + '\n');
}

namespace {

/// Bilinear with the centres of pixels matched; where it shrinks, a pixel is the mean of what it covers (a triangle as
/// wide as the step), so that nothing aliases.
struct Weights
{
    std::int64_t first = 0;
    std::vector<float> shares;
};

std::vector<Weights> weightsFor(std::int64_t from, std::int64_t to)
{
    const double step = static_cast<double>(from) / static_cast<double>(to);
    const double reach = std::max(step, 1.0);
    std::vector<Weights> all(static_cast<std::size_t>(to));
    for (std::int64_t i = 0; i < to; ++i) {
        const double center = (static_cast<double>(i) + 0.5) * step;
        const auto first
            = std::max<std::int64_t>(0, static_cast<std::int64_t>(std::floor(center - reach + 0.5)));
        const auto last = std::min(from, static_cast<std::int64_t>(std::floor(center + reach + 0.5)));
        Weights &weights = all[static_cast<std::size_t>(i)];
        weights.first = first;
        double sum = 0;
        for (std::int64_t k = first; k < last; ++k) {
            const double share = std::max(0.0, 1 - std::abs((static_cast<double>(k) + 0.5 - center) / reach));
            weights.shares.push_back(static_cast<float>(share));
            sum += share;
        }
        for (float &share : weights.shares)
            share /= static_cast<float>(sum);
    }
    return all;
}

Picture resized(const Picture &picture, int width, int height)
{
    if (width == picture.width && height == picture.height)
        return picture;
    const auto columns = weightsFor(picture.width, width);
    const auto rows = weightsFor(picture.height, height);
    const auto oldWidth = static_cast<std::size_t>(picture.width);
    const auto newWidth = static_cast<std::size_t>(width);
    std::vector<float> narrow(newWidth * static_cast<std::size_t>(picture.height) * 3);
    for (std::size_t y = 0; y < static_cast<std::size_t>(picture.height); ++y) {
        for (std::size_t x = 0; x < newWidth; ++x) {
            for (std::size_t c = 0; c < 3; ++c) {
                float sum = 0;
                for (std::size_t k = 0; k < columns[x].shares.size(); ++k)
                    sum += columns[x].shares[k]
                        * static_cast<float>(
                               picture.rgb[(y * oldWidth + static_cast<std::size_t>(columns[x].first) + k) * 3
                                           + c]);
                narrow[(y * newWidth + x) * 3 + c] = sum;
            }
        }
    }
    Picture result{width, height, std::vector<std::uint8_t>(newWidth * static_cast<std::size_t>(height) * 3)};
    for (std::size_t y = 0; y < static_cast<std::size_t>(height); ++y) {
        for (std::size_t i = 0; i < newWidth * 3; ++i) {
            float sum = 0;
            for (std::size_t k = 0; k < rows[y].shares.size(); ++k)
                sum += rows[y].shares[k]
                    * narrow[(static_cast<std::size_t>(rows[y].first) + k) * newWidth * 3 + i];
            result.rgb[y * newWidth * 3 + i]
                = static_cast<std::uint8_t>(std::clamp(sum + 0.5F, 0.0F, 255.0F));
        }
    }
    return result;
}

/// The side that the resize brings the picture's short side to.
std::int64_t targetSide(const Picture &picture, const Preprocess &rules)
{
    const std::int64_t side = std::min(picture.width, picture.height);
    if (rules.shortSide)
        return *rules.shortSide;
    // Without a rule: as small as still covers the crop.
    const double grow = std::max(static_cast<double>(rules.width.value_or(picture.width)) / picture.width,
                                 static_cast<double>(rules.height.value_or(picture.height)) / picture.height);
    return static_cast<std::int64_t>(std::ceil(grow * static_cast<double>(side) - 1e-9));
}

} // namespace

Result<tensor::Tensor> preprocessed(const Picture &picture, const Preprocess &rules)
{
    const std::int64_t side = targetSide(picture, rules);
    const std::int64_t old = std::min(picture.width, picture.height);
    const auto scaled = [&](int extent) {
        return extent == old
            ? side
            : static_cast<std::int64_t>(std::llround(static_cast<double>(extent) * static_cast<double>(side)
                                                     / static_cast<double>(old)));
    };
    const std::int64_t fullWidth = scaled(picture.width);
    const std::int64_t fullHeight = scaled(picture.height);
    if (fullWidth > kLargestSide || fullHeight > kLargestSide)
        return badInput({},
                        std::to_string(picture.width) + " by " + std::to_string(picture.height) + " pixels",
                        "a picture whose long side fits after resizing");
    const Picture full = resized(picture, static_cast<int>(fullWidth), static_cast<int>(fullHeight));
    const std::int64_t width = rules.width.value_or(full.width);
    const std::int64_t height = rules.height.value_or(full.height);
    if (width > full.width || height > full.height)
        return badInput(
            {}, std::to_string(full.width) + " by " + std::to_string(full.height) + " pixels after resizing",
            "at least the crop, " + std::to_string(width) + " by " + std::to_string(height));
    const auto left = static_cast<std::size_t>((full.width - width) / 2);
    const auto top = static_cast<std::size_t>((full.height - height) / 2);
    const std::size_t channels = rules.channels();
    const auto rows = static_cast<std::size_t>(height);
    const auto columns = static_cast<std::size_t>(width);
    std::vector<float> values(channels * rows * columns);
    for (std::size_t y = 0; y < rows; ++y) {
        for (std::size_t x = 0; x < columns; ++x) {
            const std::uint8_t *pixel
                = full.rgb.data() + ((top + y) * static_cast<std::size_t>(full.width) + left + x) * 3;
            for (std::size_t c = 0; c < channels; ++c) {
                const double value = rules.color == Preprocess::Color::Gray
                    ? std::round(0.299 * pixel[0] + 0.587 * pixel[1] + 0.114 * pixel[2])
                    : pixel[rules.color == Preprocess::Color::Bgr ? 2 - c : c];
                values[rules.channelsLast ? (y * columns + x) * channels + c : (c * rows + y) * columns + x]
                    = static_cast<float>((value - rules.mean[c]) * rules.scale[c]);
            }
        }
    }
    std::vector<std::byte> bytes(values.size() * sizeof(float));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    const auto depth = static_cast<std::int64_t>(channels);
    tensor::Shape shape = rules.channelsLast ? tensor::Shape{1, height, width, depth}
                                             : tensor::Shape{1, depth, height, width};
    return tensor::Tensor::owning(tensor::DType::F32, std::move(shape), std::move(bytes));
}

} // namespace halftone::io
