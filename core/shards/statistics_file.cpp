#include "core/shards/statistics_file.h"

#include "core/base/xxh64.h"
#include "core/shards/statistics_bytes.h"

#include <algorithm>
#include <cstring>

namespace halftone::shards {
namespace {

constexpr std::string_view kMagic = "HTSTATS\n";
constexpr std::uint32_t kVersion = 2;
constexpr std::size_t kChecksumBytes = 8;
constexpr std::uint32_t kMostParts = 1U << 20;

std::uint64_t hashOfBytes(std::span<const std::byte> bytes)
{
    Xxh64 hash;
    hash.add(bytes);
    return hash.value();
}

void write(const walks::CollectedTensor &collected, StatisticsWriter &to)
{
    const calibration::CalibratedTensor &tensor = collected.tensor;
    to.text(tensor.name);
    to.text(tensor.node);
    to.text(tensor.op);
    to.number(static_cast<std::uint8_t>(tensor.isParameter ? 1 : 0));
    to.number(static_cast<std::uint32_t>(tensor.channels.size()));
    for (const calibration::ChannelRange &channel : tensor.channels) {
        to.number(channel.min);
        to.number(channel.max);
    }
    to.collected(collected.collector.parts());
}

walks::CollectedTensor readTensor(StatisticsReader &from)
{
    walks::CollectedTensor collected;
    collected.tensor.name = from.text("the name of a tensor");
    collected.tensor.node = from.text("the name of a node");
    collected.tensor.op = from.text("an operator");
    collected.tensor.isParameter = from.flag("whether a tensor is a parameter");
    collected.tensor.channels.resize(from.count(2 * sizeof(float), "a number of channels"));
    for (calibration::ChannelRange &channel : collected.tensor.channels) {
        channel.min = from.number<float>("a channel's range");
        channel.max = from.number<float>("a channel's range");
    }
    collected.collector = from.collected();
    return collected;
}

void write(const CalibrationShard &shard, StatisticsWriter &to)
{
    to.number(static_cast<std::uint8_t>(shard.threshold.method));
    to.number(static_cast<std::uint8_t>(shard.threshold.codes));
    to.number(shard.threshold.percentile);
    to.number(shard.statistics.seconds);
    to.number(static_cast<std::uint32_t>(shard.statistics.tensors.size()));
    for (const walks::CollectedTensor &tensor : shard.statistics.tensors)
        write(tensor, to);
}

/// An enumerator from 0 to `last`.
template <class Enum>
Enum readEnum(StatisticsReader &from, Enum last, std::string_view what)
{
    const auto value = from.number<std::uint8_t>(what);
    if (value > static_cast<std::uint8_t>(last))
        from.fail(std::string(what) + ' ' + std::to_string(value),
                  "at most " + std::to_string(static_cast<int>(last)));
    return static_cast<Enum>(std::min(value, static_cast<std::uint8_t>(last)));
}

CalibrationShard readCalibration(StatisticsReader &from)
{
    constexpr std::size_t kLeastTensor = 400; // counts and exponents alone
    CalibrationShard shard;
    shard.threshold.method = readEnum(from, calibration::ThresholdMethod::Mse, "a method");
    shard.threshold.codes = readEnum(from, calibration::CodeType::Auto, "a type of codes");
    shard.threshold.percentile = from.number<double>("a percentile");
    if (!(shard.threshold.percentile > 0 && shard.threshold.percentile <= 100))
        from.fail("an invalid percentile", "a number above 0, at most 100");
    shard.statistics.seconds = from.number<double>("seconds");
    const std::size_t tensors = from.count(kLeastTensor, "a number of tensors");
    for (std::size_t k = 0; k < tensors && !from.failed(); ++k)
        shard.statistics.tensors.push_back(readTensor(from));
    return shard;
}

void write(const std::optional<compare::StoredErrors> &errors, StatisticsWriter &to)
{
    to.number(static_cast<std::uint8_t>(errors ? 1 : 0));
    if (errors)
        to.errors(errors->parts());
}

std::optional<compare::StoredErrors> readErrors(StatisticsReader &from)
{
    return from.flag("whether there are errors") ? std::optional(compare::StoredErrors(from.errors()))
                                                 : std::nullopt;
}

void write(const tasks::AccuracyHits &hits, StatisticsWriter &to)
{
    for (const std::uint64_t count : {hits.examples, hits.top1, hits.top5})
        to.number(count);
}

tasks::AccuracyHits readHits(StatisticsReader &from)
{
    tasks::AccuracyHits hits;
    for (std::uint64_t *const count : {&hits.examples, &hits.top1, &hits.top5})
        *count = from.number<std::uint64_t>("a count of hits");
    return hits;
}

void write(const compare::AgreementParts &agreement, StatisticsWriter &to)
{
    for (const std::uint64_t count : {agreement.examples, agreement.top1, agreement.top1InTop5})
        to.number(count);
    to.sum(agreement.top5);
    to.sum(agreement.divergence);
}

compare::AgreementParts readAgreement(StatisticsReader &from)
{
    compare::AgreementParts agreement;
    for (std::uint64_t *const count : {&agreement.examples, &agreement.top1, &agreement.top1InTop5})
        *count = from.number<std::uint64_t>("a count of decisions");
    agreement.top5 = from.sum("a sum of decisions");
    agreement.divergence = from.sum("a sum of divergences");
    return agreement;
}

void write(const tasks::TaskParts &task, StatisticsWriter &to)
{
    to.number(static_cast<std::uint8_t>(task.metric ? 1 : 0));
    to.number(static_cast<std::uint8_t>(task.metric.value_or(tasks::Metric::Top1)));
    for (const bool flag : {task.isGuessed, task.areMixed, task.shapesDiffer})
        to.number(static_cast<std::uint8_t>(flag ? 1 : 0));
    for (const std::uint64_t count : {task.examples, task.peaks, task.widePeaks})
        to.number(count);
    for (const tasks::AccuracyHits &hits : task.hits)
        write(hits, to);
    for (const tasks::TaskParts::Likeness &sums : task.likeness) {
        to.sum(sums.value);
        to.sum(sums.wide);
        to.number(sums.examples);
    }
    for (const tensor::ClassOverlap &overlap : task.overlaps) {
        to.number(static_cast<std::uint32_t>(overlap.classes().size()));
        for (const auto &[right, found, both] : overlap.classes())
            for (const std::uint64_t count : {right, found, both})
                to.packed(count);
    }
    write(task.agreement, to);
}

void write(const ComparisonShard &shard, StatisticsWriter &to)
{
    const compare::ComparedParts &parts = shard.parts.parts;
    to.number(static_cast<std::uint8_t>(shard.threshold ? 1 : 0));
    to.number(shard.threshold.value_or(0));
    to.number(shard.seconds);
    to.number(static_cast<std::uint64_t>(parts.peakBytes));
    write(shard.parts.reference, to);
    write(shard.parts.other, to);
    write(shard.parts.task, to);
    to.number(static_cast<std::uint32_t>(parts.layers.size()));
    for (std::size_t k = 0; k < parts.layers.size(); ++k) {
        const compare::LayerParts &layer = parts.layers[k];
        to.number(layer.node);
        to.text(shard.names[k].name);
        to.text(shard.names[k].op);
        to.number(layer.output);
        to.number(static_cast<std::uint8_t>(layer.dtype));
        to.number(static_cast<std::uint8_t>(layer.shapesDiffer ? 1 : 0));
        to.number(layer.notFinite);
        write(layer.cumulative, to);
        write(layer.isolated, to);
        write(layer.isolatedAtOutputs, to);
    }
    to.number(static_cast<std::uint32_t>(parts.outputs.size()));
    for (std::size_t k = 0; k < parts.outputs.size(); ++k) {
        const compare::OutputParts &output = parts.outputs[k];
        to.text(shard.outputs[k]);
        to.errors(output.errors);
        write(output.agreement, to);
        to.number(static_cast<std::uint8_t>(output.shapesDiffer ? 1 : 0));
    }
}

tensor::ClassOverlap readOverlap(StatisticsReader &from)
{
    constexpr std::size_t kLeastClass = 3;
    std::vector<tensor::ClassOverlap::Class> classes(from.count(kLeastClass, "a number of classes"));
    for (auto &[right, found, both] : classes)
        for (std::uint64_t *const count : {&right, &found, &both})
            *count = from.packed("a count of pixels");
    tensor::ClassOverlap overlap;
    overlap.add(std::span<const tensor::ClassOverlap::Class>(classes));
    return overlap;
}

tasks::TaskParts readTask(StatisticsReader &from)
{
    tasks::TaskParts task;
    const bool hasMetric = from.flag("whether there is a metric");
    const auto metric = readEnum(from, tasks::Metric::Perplexity, "a metric");
    if (hasMetric)
        task.metric = metric;
    for (bool *const flag : {&task.isGuessed, &task.areMixed, &task.shapesDiffer})
        *flag = from.flag("a flag of the task");
    for (std::uint64_t *const count : {&task.examples, &task.peaks, &task.widePeaks})
        *count = from.number<std::uint64_t>("a count of examples");
    for (tasks::AccuracyHits &hits : task.hits)
        hits = readHits(from);
    for (tasks::TaskParts::Likeness &sums : task.likeness) {
        sums.value = from.sum("a sum of scores");
        sums.wide = from.sum("a sum of scores");
        sums.examples = from.number<std::uint64_t>("a count of scores");
    }
    for (tensor::ClassOverlap &overlap : task.overlaps)
        overlap = readOverlap(from);
    task.agreement = readAgreement(from);
    return task;
}

void readLayer(StatisticsReader &from, ComparisonShard &shard)
{
    compare::LayerParts layer;
    layer.node = from.number<std::uint32_t>("a node");
    LayerName name{layer.node, from.text("the name of a node"), {}};
    name.op = from.text("an operator");
    layer.output = from.number<std::uint32_t>("an output");
    layer.dtype = readEnum(from, tensor::DType::Posit16, "a type");
    layer.shapesDiffer = from.flag("whether shapes differ");
    layer.notFinite = from.number<std::uint64_t>("a count of values that are not finite");
    layer.cumulative = readErrors(from);
    layer.isolated = readErrors(from);
    layer.isolatedAtOutputs = readErrors(from);
    shard.names.push_back(std::move(name));
    shard.parts.parts.layers.push_back(std::move(layer));
}

void readOutput(StatisticsReader &from, ComparisonShard &shard)
{
    shard.outputs.push_back(from.text("the name of an output"));
    compare::OutputParts output;
    output.errors = from.errors();
    output.agreement = readAgreement(from);
    output.shapesDiffer = from.flag("whether shapes differ");
    shard.parts.parts.outputs.push_back(std::move(output));
}

ComparisonShard readComparison(StatisticsReader &from)
{
    constexpr std::size_t kLeastLayer = 20;
    ComparisonShard shard;
    const bool hasThreshold = from.flag("whether there is a threshold");
    const auto threshold = from.number<double>("a threshold");
    if (hasThreshold)
        shard.threshold = threshold;
    shard.seconds = from.number<double>("seconds");
    shard.parts.parts.peakBytes = static_cast<std::size_t>(from.number<std::uint64_t>("bytes"));
    shard.parts.reference = readHits(from);
    shard.parts.other = readHits(from);
    shard.parts.task = readTask(from);
    const std::size_t layers = from.count(kLeastLayer, "a number of layers");
    for (std::size_t k = 0; k < layers && !from.failed(); ++k)
        readLayer(from, shard);
    const std::size_t outputs = from.count(kLeastLayer, "a number of outputs");
    for (std::size_t k = 0; k < outputs && !from.failed(); ++k)
        readOutput(from, shard);
    return shard;
}

void write(const SearchShard &shard, StatisticsWriter &to)
{
    to.text(shard.records.begin()->second);
}

enum class Kind : std::uint8_t
{
    Calibration,
    Comparison,
    Search
};

void write(const StatisticsOrigin &origin, StatisticsWriter &to)
{
    to.text(origin.model);
    for (const std::uint64_t hash : {origin.modelHash, origin.dataHash})
        to.number(hash);
    to.text(origin.settings);
    to.text(origin.cpu);
    to.number(static_cast<std::uint64_t>(origin.all));
}

StatisticsOrigin readOrigin(StatisticsReader &from)
{
    StatisticsOrigin origin;
    origin.model = from.text("the model's name");
    for (std::uint64_t *const hash : {&origin.modelHash, &origin.dataHash})
        *hash = from.number<std::uint64_t>("a hash");
    origin.settings = from.text("the settings");
    origin.cpu = from.text("a kind of CPU");
    origin.all = static_cast<std::size_t>(from.number<std::uint64_t>("a number of examples"));
    return origin;
}

walks::Shard readShard(StatisticsReader &from)
{
    const auto index = from.number<std::uint32_t>("a shard");
    const auto of = from.number<std::uint32_t>("a number of shards");
    if (of == 0 || of > kMostParts || index >= of)
        from.fail("shard " + std::to_string(index) + " of " + std::to_string(of), "at most 2^20 shards");
    return from.failed() ? walks::Shard{} : walks::Shard{index, of};
}

/// Magic, version and checksum; gives what lies between.
Result<std::span<const std::byte>> checkedBody(std::span<const std::byte> bytes)
{
    const auto magic = std::as_bytes(std::span(kMagic));
    const std::size_t least = magic.size() + sizeof kVersion + kChecksumBytes;
    if (bytes.size() < least || !std::ranges::equal(bytes.first(magic.size()), magic))
        return badInput("byte 0", "not a statistics file", "a file that was written for one shard");
    std::uint32_t version = 0;
    std::memcpy(&version, bytes.data() + magic.size(), sizeof version);
    if (version != kVersion)
        return badInput("byte " + std::to_string(magic.size()), "version " + std::to_string(version),
                        "version " + std::to_string(kVersion) + ", which this program writes");
    const auto body = bytes.first(bytes.size() - kChecksumBytes);
    std::uint64_t checksum = 0;
    std::memcpy(&checksum, bytes.data() + body.size(), sizeof checksum);
    if (checksum != hashOfBytes(body))
        return badInput("byte " + std::to_string(body.size()),
                        "checksum mismatch: the file is damaged or truncated");
    return body.subspan(magic.size() + sizeof version);
}

} // namespace

std::string statisticsBytes(const StatisticsShard &shard)
{
    StatisticsWriter writer;
    for (const char c : kMagic)
        writer.number(c);
    writer.number(kVersion);
    write(shard.origin, writer);
    writer.number(static_cast<std::uint32_t>(shard.which.index));
    writer.number(static_cast<std::uint32_t>(shard.which.of));
    writer.number(static_cast<std::uint64_t>(shard.examples));
    writer.number(static_cast<std::uint8_t>(shard.content.index())); // as Kind counts
    std::visit([&writer](const auto &content) { write(content, writer); }, shard.content);
    const std::uint64_t checksum = hashOfBytes(std::as_bytes(std::span(writer.bytes())));
    writer.number(checksum);
    return writer.bytes();
}

Result<StatisticsShard> readStatistics(std::span<const std::byte> bytes)
{
    HALFTONE_TRY(const auto body, checkedBody(bytes));
    StatisticsReader reader(body);
    StatisticsShard shard;
    shard.origin = readOrigin(reader);
    shard.which = readShard(reader);
    shard.examples = static_cast<std::size_t>(reader.number<std::uint64_t>("a number of examples"));
    switch (readEnum(reader, Kind::Search, "a kind")) {
    case Kind::Calibration:
        shard.content = readCalibration(reader);
        break;
    case Kind::Comparison:
        shard.content = readComparison(reader);
        break;
    case Kind::Search:
        shard.content = SearchShard{{{shard.which.index, reader.text("a record")}}};
        break;
    }
    HALFTONE_CHECK(reader.end());
    return shard;
}

} // namespace halftone::shards
