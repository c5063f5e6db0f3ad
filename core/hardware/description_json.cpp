#include "core/hardware/description_json.h"

#include "core/base/json.h"
#include "core/base/text.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <unordered_set>
#include <utility>

namespace halftone::hardware {
namespace {

using Json = OrderedJson;

std::string inQuotes(std::string_view text)
{
    constexpr std::size_t kShown = 60;
    return '"' + printable(text, kShown) + '"';
}

/// A value as errors show it.
std::string shown(const Json &json)
{
    if (json.is_object())
        return "an object";
    if (json.is_array())
        return "a list";
    if (json.is_string())
        return inQuotes(json.get_ref<const std::string &>());
    return jsonText(json);
}

std::string within(const std::string &path, std::string_view key)
{
    return path.empty() ? std::string(key) : path + '.' + std::string(key);
}

std::string at(const std::string &path, std::size_t index)
{
    return path + '[' + std::to_string(index) + ']';
}

/// One value of the file and its place.
struct Place
{
    const Json &json;
    std::string path;

    Error wrong(std::string expected) const { return badInput(path, shown(json), std::move(expected)); }
};

/// An object that has all of `needed` and nothing but these and `optional`.
Result<void> checkKeys(const Place &place, std::initializer_list<std::string_view> needed,
                       std::initializer_list<std::string_view> optional = {})
{
    if (!place.json.is_object())
        return place.wrong("an object");
    std::vector<std::string_view> known(needed);
    known.insert(known.end(), optional);
    for (const auto &[key, value] : place.json.items()) {
        if (std::ranges::find(known, key) == known.end())
            return badInput(within(place.path, printable(key, 60)),
                            "an unknown key" + didYouMean(nearestNames(key, known)));
    }
    for (const std::string_view key : needed) {
        if (!place.json.contains(key))
            return badInput(within(place.path, key), "missing", "a value");
    }
    return {};
}

/// Needs: the key is there.
Place member(const Place &place, std::string_view key)
{
    return {*place.json.find(key), within(place.path, key)};
}

Result<std::string> textOf(const Place &place)
{
    if (!place.json.is_string() || place.json.get_ref<const std::string &>().empty())
        return place.wrong("a text");
    return place.json.get<std::string>();
}

Result<std::vector<std::string>> textsOf(const Place &place)
{
    if (!place.json.is_array())
        return place.wrong("a list of texts");
    std::vector<std::string> texts;
    for (std::size_t k = 0; k < place.json.size(); ++k) {
        HALFTONE_TRY(std::string text, textOf({place.json[k], at(place.path, k)}));
        texts.push_back(std::move(text));
    }
    return texts;
}

Result<double> positiveOf(const Place &place)
{
    const double value = place.json.is_number() ? place.json.get<double>() : 0;
    if (!(value > 0) || !std::isfinite(value))
        return place.wrong("a number above 0");
    return value;
}

Result<std::optional<double>> positiveOrNull(const Place &place)
{
    if (place.json.is_null())
        return std::optional<double>();
    HALFTONE_TRY(const double value, positiveOf(place));
    return std::optional(value);
}

bool mayAccumulate(tensor::DType type)
{
    return type == tensor::DType::F32 || type == tensor::DType::I32 || tensor::isHalf(type);
}

Result<std::vector<tensor::DType>> accumulatorsOf(const Place &place)
{
    HALFTONE_TRY(const std::vector<std::string> names, textsOf(place));
    if (names.empty())
        return badInput(place.path, "an empty list", "accumulator types, best first");
    std::vector<tensor::DType> types;
    for (std::size_t k = 0; k < names.size(); ++k) {
        const auto type = tensor::dtypeNamed(names[k]);
        if (!type || !mayAccumulate(*type) || std::ranges::find(types, *type) != types.end())
            return badInput(at(place.path, k), inQuotes(names[k]),
                            "float32, float16, bfloat16 or int32, each once");
        types.push_back(*type);
    }
    return types;
}

Result<Ability> abilityOf(const Place &place)
{
    HALFTONE_CHECK(checkKeys(place, {"support"}, {"rate", "accumulate"}));
    HALFTONE_TRY(const std::string name, textOf(member(place, "support")));
    const auto support = supportNamed(name);
    if (!support)
        return badInput(within(place.path, "support"), inQuotes(name), "native, storage, emulated or no");
    Ability ability;
    ability.support = *support;
    if (*support == Support::No)
        return ability;
    HALFTONE_CHECK(checkKeys(place, {"support", "rate", "accumulate"}));
    HALFTONE_TRY(ability.rate, positiveOf(member(place, "rate")));
    HALFTONE_TRY(ability.accumulate, accumulatorsOf(member(place, "accumulate")));
    return ability;
}

Result<void> readClasses(const Place &place, Description &description)
{
    HALFTONE_CHECK(checkKeys(
        place, {"conv", "gemm", "elementwise", "reduction", "normalization", "softmax", "movement"}));
    for (const Unit unit : kAllUnits) {
        const Place row = member(place, nameOf(unit));
        HALFTONE_CHECK(checkKeys(row, {"fp32", "fp16", "bf16", "int8", "fp8"}));
        for (const Number number : kAllNumbers) {
            HALFTONE_TRY(Ability ability, abilityOf(member(row, nameOf(number))));
            description.abilities[static_cast<std::size_t>(unit)][static_cast<std::size_t>(number)]
                = std::move(ability);
        }
        if (description.support(unit, tensor::DType::F32) != Support::Native)
            return member(member(row, "fp32"), "support")
                .wrong("native: operators that are not lowered compute in float32");
    }
    return {};
}

Result<Detection> detectionOf(const Place &place)
{
    Detection detection;
    if (place.json.is_null())
        return detection;
    HALFTONE_CHECK(checkKeys(place, {}, {"cpu_flags", "without", "cuda"}));
    if (place.json.contains("cuda")) {
        HALFTONE_TRY(detection.cuda, textOf(member(place, "cuda")));
    }
    if (place.json.contains("cpu_flags")) {
        HALFTONE_TRY(detection.cpuFlags, textsOf(member(place, "cpu_flags")));
    }
    if (place.json.contains("without")) {
        HALFTONE_TRY(detection.without, textsOf(member(place, "without")));
    }
    if (detection.isNever())
        return badInput(place.path, "neither cpu_flags nor cuda", "one of them, or null");
    return detection;
}

Result<std::vector<Source>> sourcesOf(const Place &place)
{
    if (!place.json.is_array())
        return place.wrong("a list");
    std::vector<Source> sources;
    for (std::size_t k = 0; k < place.json.size(); ++k) {
        const Place one{place.json[k], at(place.path, k)};
        HALFTONE_CHECK(checkKeys(one, {"fact", "document"}));
        Source source;
        HALFTONE_TRY(source.fact, textOf(member(one, "fact")));
        HALFTONE_TRY(source.document, textOf(member(one, "document")));
        sources.push_back(std::move(source));
    }
    return sources;
}

Result<void> readCasts(const Place &place, Description &description)
{
    HALFTONE_CHECK(checkKeys(place, {"fused_in_products", "standalone"}));
    const Place fused = member(place, "fused_in_products");
    if (!fused.json.is_boolean())
        return fused.wrong("true or false");
    description.fusesCasts = fused.json.get<bool>();
    HALFTONE_TRY(description.standaloneCast, textOf(member(place, "standalone")));
    return {};
}

/// Of the units and types that were measured.
Result<Measurement> measurementOf(const Place &place)
{
    HALFTONE_CHECK(checkKeys(place, {"machine", "when", "speed"}));
    Measurement found;
    HALFTONE_TRY(found.machine, textOf(member(place, "machine")));
    HALFTONE_TRY(found.when, textOf(member(place, "when")));
    const Place speed = member(place, "speed");
    HALFTONE_CHECK(checkKeys(
        speed, {}, {"conv", "gemm", "elementwise", "reduction", "normalization", "softmax", "movement"}));
    for (const auto &[unit, row] : speed.json.items()) {
        const Place types{row, within(speed.path, unit)};
        HALFTONE_CHECK(checkKeys(types, {}, {"fp16", "bf16", "int8", "fp8"}));
        for (const auto &[number, value] : row.items()) {
            HALFTONE_TRY(found.of(*unitNamed(unit), *numberNamed(number)),
                         positiveOf({value, within(types.path, number)}));
        }
    }
    return found;
}

Result<void> readHead(const Place &root, Description &description)
{
    HALFTONE_TRY(description.name, textOf(member(root, "name")));
    HALFTONE_TRY(description.title, textOf(member(root, "title")));
    HALFTONE_TRY(description.kind, textOf(member(root, "kind")));
    if (description.kind != "cpu" && description.kind != "gpu" && description.kind != "npu")
        return member(root, "kind").wrong("cpu, gpu or npu");
    HALFTONE_TRY(description.detect, detectionOf(member(root, "detect")));
    HALFTONE_TRY(description.bandwidth, positiveOrNull(member(root, "memory_gb_s")));
    if (root.json.contains("fp32_gflop_s")) {
        HALFTONE_TRY(description.gigaflops, positiveOrNull(member(root, "fp32_gflop_s")));
    }
    if (root.json.contains("note")) {
        HALFTONE_TRY(description.note, textOf(member(root, "note")));
    }
    return {};
}

/// The text as JSON, no key twice in one object.
Result<Json> parsed(std::string_view text)
{
    std::vector<std::unordered_set<std::string>> keys;
    std::string twice;
    const auto look = [&](int, Json::parse_event_t event, Json &value) {
        if (event == Json::parse_event_t::object_start)
            keys.emplace_back();
        else if (event == Json::parse_event_t::object_end)
            keys.pop_back();
        else if (event == Json::parse_event_t::key && twice.empty()
                 && !keys.back().insert(value.get_ref<const std::string &>()).second)
            twice = value.get<std::string>();
        return true;
    };
    try {
        Json json = Json::parse(text, look);
        if (!twice.empty())
            return badInput(printable(twice, 60), "duplicate key");
        return json;
    } catch (const Json::parse_error &error) {
        return badInput("byte " + std::to_string(error.byte > 0 ? error.byte - 1 : 0), "invalid JSON");
    }
}

Json abilityJson(const Ability &ability)
{
    Json json{{"support", nameOf(ability.support)}};
    if (ability.support == Support::No)
        return json;
    json["rate"] = ability.rate;
    json["accumulate"] = Json::array();
    for (const tensor::DType type : ability.accumulate)
        json["accumulate"].push_back(tensor::nameOf(type));
    return json;
}

Json detectionJson(const Detection &detection)
{
    if (detection.isNever())
        return {};
    Json json = Json::object();
    if (!detection.cuda.empty())
        json["cuda"] = detection.cuda;
    if (!detection.cpuFlags.empty())
        json["cpu_flags"] = detection.cpuFlags;
    if (!detection.without.empty())
        json["without"] = detection.without;
    return json;
}

Json classesJson(const Description &description)
{
    Json classes = Json::object();
    for (const Unit unit : kAllUnits) {
        Json row = Json::object();
        for (const Number number : kAllNumbers)
            row[std::string(nameOf(number))] = abilityJson(description.ability(unit, number));
        classes[std::string(nameOf(unit))] = std::move(row);
    }
    return classes;
}

Json measurementJson(const Measurement &found)
{
    Json speed = Json::object();
    for (const Unit unit : kAllUnits) {
        for (const Number number : kAllNumbers) {
            if (const auto &value = found.of(unit, number))
                speed[std::string(nameOf(unit))][std::string(nameOf(number))] = *value;
        }
    }
    return {{"machine", found.machine}, {"when", found.when}, {"speed", std::move(speed)}};
}

Json numberOrNull(const std::optional<double> &value)
{
    return value ? Json(*value) : Json();
}

} // namespace

Result<Description> readDescription(std::string_view json)
{
    if (json.size() > kLongestDescription)
        return badInput("the description", std::to_string(json.size()) + " bytes",
                        "at most " + std::to_string(kLongestDescription));
    HALFTONE_TRY(const Json document, parsed(json));
    const Place root{document, {}};
    if (!document.is_object())
        return badInput("the description", shown(document), "an object");
    HALFTONE_CHECK(
        checkKeys(root, {"name", "title", "kind", "detect", "memory_gb_s", "casts", "classes", "sources"},
                  {"note", "fp32_gflop_s", "measured"}));
    Description description;
    HALFTONE_CHECK(readHead(root, description));
    HALFTONE_CHECK(readCasts(member(root, "casts"), description));
    HALFTONE_CHECK(readClasses(member(root, "classes"), description));
    HALFTONE_TRY(description.sources, sourcesOf(member(root, "sources")));
    if (root.json.contains("measured")) {
        HALFTONE_TRY(description.measurement, measurementOf(member(root, "measured")));
    }
    return description;
}

std::string writeDescription(const Description &description)
{
    Json sources = Json::array();
    for (const Source &source : description.sources)
        sources.push_back({{"fact", source.fact}, {"document", source.document}});
    Json json{{"name", description.name},
              {"title", description.title},
              {"kind", description.kind},
              {"detect", detectionJson(description.detect)},
              {"fp32_gflop_s", numberOrNull(description.gigaflops)},
              {"memory_gb_s", numberOrNull(description.bandwidth)},
              {"casts",
               {{"fused_in_products", description.fusesCasts}, {"standalone", description.standaloneCast}}}};
    if (!description.note.empty())
        json["note"] = description.note;
    json["classes"] = classesJson(description);
    json["sources"] = std::move(sources);
    if (description.measurement)
        json["measured"] = measurementJson(*description.measurement);
    return jsonText(json, 1) + '\n';
}

} // namespace halftone::hardware
