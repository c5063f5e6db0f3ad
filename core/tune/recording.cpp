#include "core/tune/recording.h"

#include "core/base/atomic_file.h"
#include "core/base/json.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace halftone::tune {
namespace {

using Json = SortedJson;

constexpr int kVersion = 1;
constexpr std::string_view kLetters = "ft8";

/// JSON has no infinity: a null stands for it.
Json finite(double value)
{
    return std::isfinite(value) ? Json(value) : Json();
}

Json recordedGroup(const Group &group)
{
    Json refused = Json::array();
    for (const RefusedNode &one : group.refused)
        refused.push_back({{"name", one.name}, {"why", one.why}});
    return {{"name", group.name},       {"nodes", group.nodes},           {"decided", group.decided},
            {"joining", group.joining}, {"refused", std::move(refused)},  {"tunable", group.isTunable},
            {"why", group.whyFixed},    {"us", group.costs.microseconds}, {"allowed", group.costs.isAllowed}};
}

Json measurementJson(const Measurement &measured)
{
    const auto maybe = [](const std::optional<double> &value) { return value ? Json(*value) : Json(); };
    return {{"sqnr_db", finite(measured.sqnrDb)},
            {"top1", maybe(measured.top1)},
            {"top1_fp32", maybe(measured.top1Reference)},
            {"top1_agree", maybe(measured.top1Agreement)},
            {"clean", measured.isClean},
            {"refusal", measured.refusal},
            {"median_ms", measured.milliseconds},
            {"ci95", measured.ci95},
            {"ratio", measured.ratio},
            {"by_device", measured.byDevice},
            {"plan_ratios", measured.planRatios},
            {"disturbed", measured.isDisturbed}};
}

Json measurementsJson(const std::map<Labels, Measurement> &measurements)
{
    Json rows = Json::array();
    for (const auto &[labels, measured] : measurements) {
        rows.push_back(measurementJson(measured));
        rows.back()["labels"] = textOf(labels);
    }
    return rows;
}

Json networkJson(const Network &network)
{
    Json groups = Json::array();
    for (const Group &group : network.groups)
        groups.push_back(recordedGroup(group));
    Json links = Json::array();
    for (const Link &link : network.links) {
        Json ends{link.producer};
        for (const std::size_t reader : link.readers)
            ends.push_back(reader);
        links.push_back(
            {{"ends", std::move(ends)}, {"us", link.prices.castMicroseconds}, {"elements", link.elements}});
    }
    return {{"wide_ms", network.wideMs},
            {"disturbed", network.isDisturbed},
            {"groups", std::move(groups)},
            {"links", std::move(links)}};
}

using Errors = std::map<std::pair<std::size_t, Label>, double>;

Json errorsJson(const Errors &errors)
{
    Json rows = Json::array();
    for (const auto &[key, error] : errors)
        rows.push_back({{"group", key.first},
                        {"label", std::string(1, kLetters[static_cast<std::size_t>(key.second)])},
                        {"error", finite(error)}});
    return rows;
}

Json estimatesJson(const std::map<Labels, double> &estimates)
{
    Json rows = Json::array();
    for (const auto &[labels, error] : estimates)
        rows.push_back({{"labels", textOf(labels)}, {"error", finite(error)}});
    return rows;
}

/// Looks things up in a record and remembers the first that is not as it should be.
class Reader
{
public:
    const std::optional<Error> &error() const { return m_error; }

    const Json &at(const Json &from, const char *key)
    {
        static const Json kNull;
        if (!from.is_object() || !from.contains(key)) {
            fail(key, "missing", "a value");
            return kNull;
        }
        return from.at(key);
    }
    double number(const Json &from, const char *key, double ofNull = std::numeric_limits<double>::quiet_NaN())
    {
        const Json &value = at(from, key);
        if (value.is_null() && !std::isnan(ofNull))
            return ofNull;
        if (!value.is_number())
            fail(key, value.type_name(), "a number");
        return value.is_number() ? value.get<double>() : 0;
    }
    std::optional<double> maybe(const Json &from, const char *key)
    {
        const Json &value = at(from, key);
        return value.is_null() ? std::nullopt : std::optional(number(from, key));
    }
    bool flag(const Json &from, const char *key)
    {
        const Json &value = at(from, key);
        if (!value.is_boolean())
            fail(key, value.type_name(), "true or false");
        return value.is_boolean() && value.get<bool>();
    }
    std::string text(const Json &from, const char *key)
    {
        const Json &value = at(from, key);
        if (!value.is_string())
            fail(key, value.type_name(), "a text");
        return value.is_string() ? value.get<std::string>() : std::string();
    }
    const Json &list(const Json &from, const char *key)
    {
        static const Json kNone = Json::array();
        const Json &value = at(from, key);
        if (!value.is_array())
            fail(key, value.type_name(), "a list");
        return value.is_array() ? value : kNone;
    }
    std::vector<double> numbers(const Json &from, const char *key)
    {
        std::vector<double> all;
        for (const Json &value : list(from, key)) {
            if (!value.is_number()) {
                fail(key, jsonText(value), "a number");
                return {};
            }
            all.push_back(value.get<double>());
        }
        return all;
    }
    template <class Index>
    std::vector<Index> indices(const Json &from, const char *key, std::size_t below)
    {
        std::vector<Index> all;
        for (const Json &value : list(from, key)) {
            if (!value.is_number_unsigned() || value.get<std::uint64_t>() >= below) {
                fail(key, jsonText(value), "numbers below " + std::to_string(below));
                return {};
            }
            all.push_back(value.get<Index>());
        }
        return all;
    }
    template <class T, std::size_t kSize>
    std::array<T, kSize> values(const Json &from, const char *key)
    {
        std::array<T, kSize> all{};
        const Json &given = list(from, key);
        for (std::size_t k = 0; k < kSize; ++k) {
            const bool fits = k < given.size() && given.size() == kSize
                && (std::is_same_v<T, bool> ? given[k].is_boolean() : given[k].is_number());
            if (!fits) {
                fail(key, std::to_string(given.size()) + " values", std::to_string(kSize) + " of their kind");
                return all;
            }
            all[k] = given[k].template get<T>();
        }
        return all;
    }
    void fail(std::string where, std::string found, std::string expected)
    {
        if (!m_error)
            m_error = badInput(std::move(where), std::move(found), std::move(expected));
    }

private:
    std::optional<Error> m_error;
};

std::optional<Label> labelOf(char letter)
{
    const std::size_t at = kLetters.find(letter);
    return at == std::string_view::npos ? std::nullopt : std::optional(kLabels[at]);
}

std::optional<Labels> labelsOf(std::string_view text, std::size_t groups)
{
    Labels labels;
    for (const char letter : text)
        if (const auto label = labelOf(letter))
            labels.push_back(*label);
    return labels.size() == groups && text.size() == groups ? std::optional(std::move(labels)) : std::nullopt;
}

Group readGroup(Reader &reader, const Json &json)
{
    constexpr std::size_t kMostNodes = std::numeric_limits<graph::NodeId>::max();
    Group group;
    group.name = reader.text(json, "name");
    group.nodes = reader.indices<graph::NodeId>(json, "nodes", kMostNodes);
    group.decided = reader.indices<graph::NodeId>(json, "decided", kMostNodes);
    if (json.is_object() && json.contains("joining")) // not in those of before
        group.joining = reader.indices<graph::NodeId>(json, "joining", kMostNodes);
    if (json.is_object() && json.contains("refused")) // likewise
        for (const Json &one : reader.list(json, "refused"))
            group.refused.push_back({reader.text(one, "name"), reader.text(one, "why")});
    group.isTunable = reader.flag(json, "tunable");
    group.isErrorKnown = !group.isTunable;
    group.costs.follows = !group.isTunable && group.decided.empty();
    group.whyFixed = reader.text(json, "why");
    group.costs.microseconds = reader.values<double, kLabelCount>(json, "us");
    group.costs.isAllowed = reader.values<bool, kLabelCount>(json, "allowed");
    return group;
}

Network readNetwork(Reader &reader, const Json &json)
{
    Network network;
    network.wideMs = reader.number(json, "wide_ms");
    network.isDisturbed = json.is_object() && json.contains("disturbed")
        && reader.flag(json, "disturbed"); // older records don't tell
    for (const Json &group : reader.list(json, "groups"))
        network.groups.push_back(readGroup(reader, group));
    const std::size_t count = network.groups.size();
    for (const Json &link : reader.list(json, "links")) {
        Link &added = network.links.emplace_back();
        const auto ends = reader.indices<std::size_t>(link, "ends", count);
        if (ends.empty())
            reader.fail("ends", "none", "a producer and its readers");
        added.producer = ends.empty() ? 0 : ends[0];
        if (!ends.empty())
            added.readers.assign(ends.begin() + 1, ends.end());
        added.prices.castMicroseconds = added.prices.widenMicroseconds
            = reader.number(link, "us"); // a guess, either way
        if (link.is_object() && link.contains("elements")) // not in those of before
            added.elements = reader.number(link, "elements");
    }
    return network;
}

std::vector<double> readTimes(Reader &reader, const Json &json, const char *key, std::size_t links)
{
    std::vector<double> times = reader.numbers(json, key);
    if (times.size() != links)
        reader.fail(key, std::to_string(times.size()) + " times", "one for each link");
    times.resize(links);
    return times;
}

std::vector<ConversionPrices> readConversions(Reader &reader, const Json &json, std::size_t links)
{
    const std::vector<double> casts = readTimes(reader, json, "conversions_us", links);
    std::vector<double> widened = casts; // those of before know neither
    std::vector<double> codes(links);
    if (json.contains("widened_us"))
        widened = readTimes(reader, json, "widened_us", links);
    if (json.contains("codes_us"))
        codes = readTimes(reader, json, "codes_us", links);
    std::vector<ConversionPrices> conversions;
    for (std::size_t k = 0; k < links; ++k)
        conversions.push_back({casts[k], widened[k], codes[k]});
    return conversions;
}

Measurement readMeasurement(Reader &reader, const Json &json)
{
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    Measurement measured;
    measured.sqnrDb = reader.number(json, "sqnr_db", kInfinity);
    measured.top1 = reader.maybe(json, "top1");
    measured.top1Reference = reader.maybe(json, "top1_fp32");
    measured.top1Agreement = reader.maybe(json, "top1_agree");
    measured.isClean = reader.flag(json, "clean");
    if (json.contains("refusal")) // older records don't tell
        measured.refusal = reader.text(json, "refusal");
    measured.milliseconds = reader.number(json, "median_ms");
    measured.ci95 = reader.values<double, 2>(json, "ci95");
    measured.ratio = reader.number(json, "ratio");
    measured.byDevice = json.contains("by_device") && reader.flag(json, "by_device"); // likewise
    measured.isDisturbed = json.contains("disturbed") && reader.flag(json, "disturbed"); // likewise
    if (json.contains("plan_ratios")) // likewise
        measured.planRatios = reader.numbers(json, "plan_ratios");
    if (std::ranges::any_of(measured.planRatios, [](double ratio) { return ratio <= 0; }))
        reader.fail("plan_ratios", "a ratio that is not above 0", "ratios of times");
    return measured;
}

Errors readErrors(Reader &reader, const Json &json, const char *key, std::size_t groups)
{
    Errors errors;
    for (const Json &row : reader.list(json, key)) {
        const std::string letter = reader.text(row, "label");
        const auto label = labelOf(letter.empty() ? ' ' : letter[0]);
        const double group = reader.number(row, "group");
        if (!label || !(group >= 0 && group < static_cast<double>(groups)))
            reader.fail(key, jsonText(row), "a group and a label");
        else
            errors[{static_cast<std::size_t>(group), *label}]
                = reader.number(row, "error", std::numeric_limits<double>::infinity());
    }
    return errors;
}

std::optional<Labels> readLabels(Reader &reader, const Json &row, const char *key, std::size_t groups)
{
    const std::string letters = reader.text(row, "labels");
    auto labels = labelsOf(letters, groups);
    if (!labels)
        reader.fail(std::string(key) + ".labels", letters, "a letter of \"ft8\" for each group");
    return labels;
}

std::map<Labels, Measurement> readMeasurements(Reader &reader, const Json &json, const char *key,
                                               std::size_t groups)
{
    std::map<Labels, Measurement> measurements;
    for (const Json &row : reader.list(json, key)) {
        if (auto labels = readLabels(reader, row, key, groups))
            measurements[std::move(*labels)] = readMeasurement(reader, row);
    }
    return measurements;
}

std::map<Labels, double> readEstimates(Reader &reader, const Json &json, std::size_t groups)
{
    std::map<Labels, double> estimates;
    for (const Json &row : reader.list(json, "glances"))
        if (auto labels = readLabels(reader, row, "glances", groups))
            estimates[std::move(*labels)]
                = reader.number(row, "error", std::numeric_limits<double>::infinity());
    return estimates;
}

} // namespace

std::string textOf(const Labels &labels)
{
    std::string text;
    for (const Label label : labels)
        text += kLetters[static_cast<std::size_t>(label)];
    return text;
}

std::string writeRecord(const Record &record)
{
    Json json{{"version", kVersion}, {"basis", record.basis}};
    if (record.network) {
        json["network"] = networkJson(*record.network);
        if (record.conversions) {
            Json &network = json["network"];
            for (const char *key : {"conversions_us", "widened_us", "codes_us"})
                network[key] = Json::array();
            for (const ConversionPrices &timed : *record.conversions) {
                network["conversions_us"].push_back(timed.castMicroseconds);
                network["widened_us"].push_back(timed.widenMicroseconds);
                network["codes_us"].push_back(timed.codesMicroseconds);
            }
        }
    }
    json["alone"] = errorsJson(record.alone);
    json["glances"] = estimatesJson(record.estimated);
    json["measured"] = measurementsJson(record.measured);
    json["confirmed"] = measurementsJson(record.confirmed);
    if (record.sketch) {
        json["sketch"] = networkJson(*record.sketch);
        json["sketch"]["measured"] = measurementsJson(record.sketched);
    }
    return jsonText(json, 1, '\t') + '\n';
}

Result<Record> readRecord(std::string_view text)
{
    const Json json = parseSorted(text);
    if (json.is_discarded())
        return badInput({}, "not JSON", "the state of a search");
    Reader reader;
    if (const double version = reader.number(json, "version"); !reader.error() && version != kVersion)
        return badInput("version", jsonText(json.at("version")), std::to_string(kVersion));
    Record record;
    record.basis = reader.text(json, "basis");
    if (!reader.error() && json.contains("network")) {
        record.network = readNetwork(reader, json.at("network"));
        if (json.at("network").contains("conversions_us"))
            record.conversions = readConversions(reader, json.at("network"), record.network->links.size());
    }
    const std::size_t groups = record.network ? record.network->groups.size() : 0;
    record.alone = readErrors(reader, json, "alone", groups);
    if (json.contains("glances")) // not in those of before
        record.estimated = readEstimates(reader, json, groups);
    record.measured = readMeasurements(reader, json, "measured", groups);
    if (json.contains("confirmed")) // not in those of before
        record.confirmed = readMeasurements(reader, json, "confirmed", groups);
    if (json.contains("sketch")) {
        const Json &sketch = json.at("sketch");
        record.sketch = readNetwork(reader, sketch);
        record.sketched = readMeasurements(reader, sketch, "measured", record.sketch->groups.size());
    }
    if (reader.error())
        return *reader.error();
    return record;
}

void forgetUnreliable(Record &record, const Front &found)
{
    if (found.areLayersDisturbed) {
        record = Record{std::move(record.basis), {}, {}, {}, {}, {}};
        return;
    }
    for (auto *const times : {&record.measured, &record.confirmed, &record.sketched})
        std::erase_if(*times, [](const auto &one) { return one.second.isDisturbed; });
    for (const Point &point : found.points) {
        if (!point.measured || (!point.measured->isDisturbed && isTimeKnown(*point.measured)))
            continue;
        record.measured.erase(point.labels);
        record.confirmed.erase(point.labels);
    }
}

RecordingOracle::RecordingOracle(Oracle &inner, Record record, std::string file)
    : m_inner(inner)
    , m_record(std::move(record))
    , m_file(std::move(file))
{
}

Result<void> RecordingOracle::keep() const
{
    return m_file.empty() ? Result<void>() : writeWhole(m_file, writeRecord(m_record));
}

/// Where groups are known that no sketch came before, others have found them: there is nothing to be seen sooner.
Result<std::optional<Network>> RecordingOracle::sketch(const Progress &progress)
{
    if (m_record.sketch) {
        m_inner.resume(*m_record.sketch);
    } else if (!m_record.network) {
        HALFTONE_TRY(m_record.sketch, m_inner.sketch(progress));
        if (m_record.sketch)
            HALFTONE_CHECK(keep());
    }
    m_isSketching = m_record.sketch.has_value();
    return m_record.sketch;
}

Result<Network> RecordingOracle::profile(const Progress &progress)
{
    m_isSketching = false;
    if (m_record.network) {
        m_inner.resume(*m_record.network);
        return *m_record.network;
    }
    HALFTONE_TRY(m_record.network, m_inner.profile(progress));
    HALFTONE_CHECK(keep());
    return *m_record.network;
}

Network RecordingOracle::timedNetwork() const
{
    Network network = *m_record.network;
    for (std::size_t k = 0; k < network.links.size(); ++k)
        network.links[k].prices = (*m_record.conversions)[k];
    return network;
}

/// Told at this place of a search, and not with the network, by a record too: what was decided before must be decided again.
Result<std::optional<std::vector<Link>>> RecordingOracle::timeConversions(const Progress &progress)
{
    if (m_record.conversions) {
        Network network = timedNetwork();
        m_inner.resume(network);
        return std::optional(std::move(network.links));
    }
    HALFTONE_TRY(auto timed, m_inner.timeConversions(progress));
    m_record.conversions.emplace();
    for (const Link &link : timed ? *timed : m_record.network->links)
        m_record.conversions->push_back(link.prices);
    HALFTONE_CHECK(keep());
    return std::optional(timedNetwork().links);
}

Result<double> RecordingOracle::estimate(const Labels &labels, const Progress &progress)
{
    if (const auto known = m_record.estimated.find(labels); known != m_record.estimated.end())
        return known->second;
    HALFTONE_TRY(const double error, m_inner.estimate(labels, progress));
    m_record.estimated[labels] = error;
    HALFTONE_CHECK(keep());
    return error;
}

Result<double> RecordingOracle::errorAlone(std::size_t group, Label label, const Progress &progress)
{
    if (const auto known = m_record.alone.find({group, label}); known != m_record.alone.end())
        return known->second;
    HALFTONE_TRY(const double error, m_inner.errorAlone(group, label, progress));
    m_record.alone[{group, label}] = error;
    HALFTONE_CHECK(keep());
    return error;
}

Result<Measurement> RecordingOracle::measure(const Labels &labels, const Progress &progress)
{
    auto &measurements = m_isSketching ? m_record.sketched : m_record.measured;
    if (const auto known = measurements.find(labels); known != measurements.end())
        return known->second;
    HALFTONE_TRY(const Measurement measured, m_inner.measure(labels, progress));
    measurements[labels] = measured;
    HALFTONE_CHECK(keep());
    return measured;
}

Result<Measurement> RecordingOracle::confirm(const Labels &labels, const Measurement &measured,
                                             const Progress &progress)
{
    if (const auto known = m_record.confirmed.find(labels); known != m_record.confirmed.end())
        return known->second;
    HALFTONE_TRY(const Measurement confirmed, m_inner.confirm(labels, measured, progress));
    m_record.confirmed[labels] = confirmed;
    HALFTONE_CHECK(keep());
    return confirmed;
}

} // namespace halftone::tune
