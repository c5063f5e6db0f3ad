#include "core/report/calibration_json.h"

#include "core/report/json_values.h"

#include <array>
#include <charconv>

namespace halftone::report {
namespace {

using Json = OrderedJson;
using calibration::ExponentCounts;
using calibration::FormatLoss;
using calibration::Histogram;
using calibration::TensorStatistics;
using calibration::Threshold;

Json formatJson(const FormatLoss &loss, double deviation)
{
    return {{"overflow", loss.overflow},
            {"above_max", loss.aboveMax},
            {"subnormal", loss.subnormal},
            {"zero", loss.underflow},
            {"max_abs", loss.maxAbs},
            {"max_rel", loss.maxRelative},
            {"mean_rel", loss.meanRelative},
            {"rms", loss.rms},
            {"sqnr_db", jsonNumber(loss.sqnrDb)},
            {"ulp_at_absmax", loss.ulpAtAbsMax},
            {"ulp_over_std", deviation > 0 ? jsonNumber(loss.ulpAtAbsMax / deviation) : Json()}};
}

Json exponentsJson(const ExponentCounts &exponents)
{
    Json counts = Json::object();
    for (int k = ExponentCounts::kLowest; k <= ExponentCounts::kHighest; ++k) {
        if (exponents.at(k) > 0)
            counts[std::to_string(k)] = exponents.at(k);
    }
    return counts;
}

/// Without its counts.
Json histogramJson(const Histogram &histogram)
{
    if (histogram.limit() == 0)
        return nullptr;
    return {{"limit", histogram.limit()}, {"bins", histogram.bins()}, {"coarsened", histogram.isCoarsened()}};
}

double share(std::uint64_t part, std::uint64_t whole)
{
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

/// Adds what is known of any tensor.
void addStatistics(Json &row, const TensorStatistics &statistics)
{
    row["count"] = statistics.count;
    row["nan"] = statistics.nan;
    row["inf"] = statistics.positiveInfinite + statistics.negativeInfinite;
    row["pos_inf"] = statistics.positiveInfinite;
    row["neg_inf"] = statistics.negativeInfinite;
    row["zeros"] = statistics.zeros;
    row["negatives"] = statistics.negatives;
    row["mean"] = statistics.mean;
    row["std"] = statistics.deviation;
    row["absmin_nonzero"] = statistics.smallestNonZero;
    row["fp16"] = formatJson(statistics.fp16, statistics.deviation);
    row["bf16"] = formatJson(statistics.bf16, statistics.deviation);
    row["exponents"] = exponentsJson(statistics.exponents);
}

void addThreshold(Json &row, const TensorStatistics &statistics, const Threshold &threshold)
{
    row["method"] = calibration::nameOf(threshold.method);
    row["divergence"] = numberOrNull(threshold.divergence);
    row["sqnr_db"] = numberOrNull(threshold.sqnrDb);
    row["sqnr_db_minmax"] = numberOrNull(threshold.sqnrDbMinMax);
    row["threshold_error"] = threshold.errorBound;
    const auto range = calibration::calibratedRange(statistics, threshold);
    row["calib_range"] = {range.min, range.max};
    row["note"] = threshold.note.empty() ? Json() : Json(threshold.note);
}

/// The histogram comes last, without its counts.
Json tensorJson(const calibration::CalibratedTensor &tensor)
{
    const TensorStatistics &statistics = tensor.statistics;
    Json row{{"name", tensor.name},
             {"node", tensor.node},
             {"op", tensor.op},
             {"parameter", tensor.isParameter},
             {"min", statistics.min},
             {"max", statistics.max},
             {"threshold", tensor.threshold.value},
             {"divergence", nullptr}};
    addThreshold(row, statistics, tensor.threshold);
    addStatistics(row, statistics);
    for (const auto &[name, loss] :
         {std::pair("fp16", &statistics.fp16), std::pair("bf16", &statistics.bf16)}) {
        row[std::string("overflow_") + name] = share(loss->overflow, statistics.count);
        row[std::string("subnormal_") + name] = share(loss->subnormal, statistics.count);
        row[std::string("underflow_") + name] = share(loss->underflow, statistics.count);
    }
    Json channels = Json::array();
    for (const calibration::ChannelRange &range : tensor.channels)
        channels.push_back({range.min, range.max});
    row["channels"] = tensor.channels.empty() ? Json() : std::move(channels);
    row["histogram"] = histogramJson(statistics.histogram);
    return row;
}

Json arrayJson(const calibration::CalibratedArray &array)
{
    Json row{{"name", array.name},
             {"min", array.statistics.min},
             {"max", array.statistics.max},
             {"threshold", array.threshold.value}};
    addThreshold(row, array.statistics, array.threshold);
    addStatistics(row, array.statistics);
    return row;
}

std::string text(const Json &document)
{
    return jsonText(document);
}

/// The counts are written as text: of all bins of all tensors JSON values would be millions.
std::string tensorText(const calibration::CalibratedTensor &tensor)
{
    constexpr std::string_view kEnds = "}}"; // the histogram's and the row's
    std::string row = text(tensorJson(tensor));
    const Histogram &histogram = tensor.statistics.histogram;
    if (histogram.limit() == 0)
        return row;
    row.resize(row.size() - kEnds.size());
    row += ",\"counts\":[";
    std::array<char, 24> digits;
    for (const std::uint64_t count : histogram.counts()) {
        const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), count).ptr;
        row.append(digits.data(), end).push_back(',');
    }
    row.back() = ']'; // there are always counts
    return row.append(kEnds);
}

} // namespace

Result<void> writeCalibration(std::span<const calibration::CalibratedTensor> tensors,
                              calibration::ThresholdMethod method, std::size_t examples, double seconds,
                              const std::function<Result<void>(std::string_view)> &write)
{
    std::string head = text({{"method", calibration::nameOf(method)},
                             {"examples", examples},
                             {"seconds", seconds},
                             {"tensors", Json::array()}});
    head.resize(head.size() - std::string_view("]}").size());
    HALFTONE_CHECK(write(head));
    for (std::size_t k = 0; k < tensors.size(); ++k)
        HALFTONE_CHECK(write((k > 0 ? "," : "") + tensorText(tensors[k])));
    return write("]}");
}

std::string arraysJson(std::span<const calibration::CalibratedArray> arrays,
                       calibration::ThresholdMethod method)
{
    Json rows = Json::array();
    for (const calibration::CalibratedArray &array : arrays)
        rows.push_back(arrayJson(array));
    return text({{"method", calibration::nameOf(method)}, {"arrays", std::move(rows)}});
}

namespace {

std::optional<double> numberIn(const Json &row, const char *key)
{
    const auto found = row.find(key);
    return found != row.end() && found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
}

} // namespace

Result<std::vector<NamedRange>> readCalibrationTable(std::string_view table)
{
    const Json document = parseOrdered(table);
    if (document.is_discarded())
        return badInput({}, "not JSON", "a calibration table");
    const auto tensors = document.is_object() ? document.find("tensors") : document.end();
    if (!document.is_object() || tensors == document.end() || !tensors->is_array())
        return badInput("tensors", "not a list", "a calibration table");
    std::vector<NamedRange> ranges;
    for (std::size_t k = 0; k < tensors->size(); ++k) {
        const Json &row = (*tensors)[k];
        const std::string where = "tensors[" + std::to_string(k) + "]";
        const auto name = row.is_object() ? row.find("name") : row.end();
        if (!row.is_object() || name == row.end() || !name->is_string())
            return badInput(where, "missing name", "the name of a tensor");
        const auto range = row.find("calib_range");
        if (range == row.end() || !range->is_array() || range->size() != 2 || !(*range)[0].is_number()
            || !(*range)[1].is_number())
            return badInput(where + ".calib_range", "missing range", "two numbers");
        const NamedRange read{name->get<std::string>(), (*range)[0].get<float>(), (*range)[1].get<float>(),
                              numberIn(row, "min"), numberIn(row, "max")};
        if (!(read.low <= read.high))
            return badInput(where + ".calib_range", "the lower end is above the upper end", "low, high");
        ranges.push_back(read);
    }
    return ranges;
}

} // namespace halftone::report
