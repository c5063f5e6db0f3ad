#include "core/api/c_settings.h"

#include "core/backends/backends.h"
#include "core/base/text.h"
#include "core/policy/policy.h"

#include <array>
#include <charconv>
#include <cmath>
#include <vector>

namespace halftone::api::c {
namespace {

/// "2 KiB": a number and a unit behind it, if any.
std::optional<double> withUnit(std::string_view text,
                               std::initializer_list<std::pair<std::string_view, double>> units)
{
    double unit = 1;
    for (const auto &[name, factor] : units) {
        if (text.ends_with(name)) {
            text.remove_suffix(name.size());
            unit = factor;
            break;
        }
    }
    text = trimmed(text);
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !(value >= 0) || !(value * unit < 1e18))
        return std::nullopt;
    return value * unit;
}

} // namespace

Settings::Settings(const char *text)
{
    if (text == nullptr || *text == '\0')
        return;
    m_object = parseOrdered(text);
    if (!m_object.is_object()) {
        m_failure = badSetting("settings", m_object.is_discarded() ? "no valid JSON" : "no JSON object",
                               "a JSON object");
        m_object = OrderedJson::object();
    }
}

void Settings::fail(std::string_view key, std::string found, std::string expected)
{
    if (!m_failure)
        m_failure = badSetting(std::string(key), std::move(found), std::move(expected));
}

const OrderedJson *Settings::value(std::string_view key)
{
    m_known.emplace(key);
    const auto found = m_object.find(key);
    return found == m_object.end() || found->is_null() ? nullptr : &*found;
}

void Settings::read(std::string_view key, std::string &value)
{
    if (const OrderedJson *const found = this->value(key)) {
        if (found->is_string())
            value = found->get<std::string>();
        else
            fail(key, jsonText(*found), "a text");
    }
}

void Settings::read(std::string_view key, bool &value)
{
    if (const OrderedJson *const found = this->value(key)) {
        if (found->is_boolean())
            value = found->get<bool>();
        else
            fail(key, jsonText(*found), "true or false");
    }
}

void Settings::read(std::string_view key, std::optional<bool> &value)
{
    bool flag = false;
    read(key, flag);
    if (this->value(key) != nullptr)
        value = flag;
}

void Settings::read(std::string_view key, double &value)
{
    if (const OrderedJson *const found = this->value(key)) {
        if (found->is_number())
            value = found->get<double>();
        else
            fail(key, jsonText(*found), "a number");
    }
}

void Settings::read(std::string_view key, std::optional<double> &value)
{
    double number = 0;
    read(key, number);
    if (this->value(key) != nullptr)
        value = number;
}

void Settings::read(std::string_view key, std::vector<std::string> &value)
{
    const OrderedJson *const found = this->value(key);
    if (found == nullptr)
        return;
    if (!found->is_array())
        return fail(key, jsonText(*found), "an array of texts");
    for (const OrderedJson &one : *found) {
        if (!one.is_string())
            return fail(key, jsonText(one), "a text");
        value.push_back(one.get<std::string>());
    }
}

void Settings::read(std::string_view key, Type &value)
{
    std::string name;
    read(key, name);
    if (name.empty())
        return;
    // As --target and policy files name them.
    constexpr std::array<std::pair<std::string_view, Type>, 5> kShort{{{"fp16", Type::Float16},
                                                                       {"half", Type::Float16},
                                                                       {"bf16", Type::BFloat16},
                                                                       {"tf32", Type::TensorFloat32},
                                                                       {"fp32", Type::Float32}}};
    for (const auto &[shortName, type] : kShort)
        if (name == shortName)
            name = nameOf(type);
    value = typeNamed(name);
    if (value == Type::Unknown)
        fail(key, '"' + name + '"', "a type such as float16");
}

void Settings::read(std::string_view key, std::optional<Type> &value)
{
    Type type = Type::Unknown;
    read(key, type);
    if (type != Type::Unknown)
        value = type;
}

void Settings::read(std::string_view key, std::map<std::string, Type> &value)
{
    const OrderedJson *const found = this->value(key);
    if (found == nullptr)
        return;
    if (!found->is_object())
        return fail(key, jsonText(*found), "an object {name: type}");
    for (const auto &[name, type] : found->items()) {
        const Type named = type.is_string() ? typeNamed(type.get<std::string>()) : Type::Unknown;
        if (named == Type::Unknown)
            return fail(key, name + ": " + jsonText(type), "a type such as float32");
        value.insert_or_assign(name, named);
    }
}

void Settings::read(std::string_view key, std::map<std::string, Shape> &value)
{
    const OrderedJson *const found = this->value(key);
    if (found == nullptr)
        return;
    if (!found->is_object())
        return fail(key, jsonText(*found), "an object {input: [lengths]}");
    for (const auto &[name, lengths] : found->items()) {
        Shape &shape = value[name];
        for (const OrderedJson &length : lengths) {
            if (!lengths.is_array() || !length.is_number_integer() || length.get<std::int64_t>() < 0)
                return fail(key, name + ": " + jsonText(lengths), "an array of lengths");
            shape.push_back(length.get<std::int64_t>());
        }
    }
}

std::optional<std::uint64_t> Settings::count(std::string_view key)
{
    const OrderedJson *const found = value(key);
    if (found == nullptr)
        return std::nullopt;
    if (found->is_number_unsigned() && found->get<std::uint64_t>() <= (std::uint64_t{1} << 30))
        return found->get<std::uint64_t>();
    fail(key, jsonText(*found), "a whole number from 0 on");
    return std::nullopt;
}

void Settings::readSeed(std::string_view key, std::optional<std::uint64_t> &value)
{
    const OrderedJson *const found = this->value(key);
    if (found == nullptr)
        return;
    if (found->is_number_unsigned())
        value = found->get<std::uint64_t>();
    else
        fail(key, jsonText(*found), "a whole number from 0 on");
}

void Settings::readMemory(std::string_view key, std::size_t &value)
{
    const OrderedJson *const found = this->value(key);
    if (found == nullptr)
        return;
    constexpr double kMebi = 1024.0 * 1024;
    std::optional<double> bytes;
    if (found->is_string())
        bytes = withUnit(found->get<std::string>(), {{"KiB", 1024}, {"MiB", kMebi}, {"GiB", 1024 * kMebi}});
    else if (found->is_number() && found->get<double>() >= 0 && found->get<double>() < 1e9)
        bytes = found->get<double>() * kMebi;
    if (bytes)
        value = static_cast<std::size_t>(*bytes);
    else
        fail(key, jsonText(*found), "a number of MiB, or a size such as 512MiB or 2GiB");
}

void Settings::readTime(std::string_view key, double &value)
{
    const OrderedJson *const found = this->value(key);
    if (found == nullptr)
        return;
    std::optional<double> seconds;
    if (found->is_string())
        seconds = withUnit(found->get<std::string>(), {{"s", 1}, {"m", 60}, {"h", 3600}});
    else if (found->is_number())
        seconds = found->get<double>();
    if (seconds && *seconds > 0)
        value = *seconds;
    else
        fail(key, jsonText(*found), "a time such as 60s or 5m");
}

Done Settings::finish() const
{
    if (m_failure)
        return *m_failure;
    for (const auto &[key, value] : m_object.items()) {
        if (m_known.contains(key))
            continue;
        const std::vector<std::string_view> known(m_known.begin(), m_known.end());
        return badSetting(key, "unknown setting" + didYouMean(nearestNames(key, known)), {});
    }
    return std::monostate();
}

void readPrecision(Settings &settings, std::optional<Type> &precision)
{
    settings.readName<std::optional<Type>>(
        "precision", precision, {{"f32", Type::Float32}, {"f16", Type::Float16}, {"bf16", Type::BFloat16}});
}

void readCompute(Settings &settings, Compute &compute)
{
    settings.read("backend", compute.backend);
    readPrecision(settings, compute.precision);
    settings.readCount("threads", compute.threads);
    settings.readCount("batch", compute.batch);
}

void readPolicy(Settings &settings, Policy &policy)
{
    if (const OrderedJson *const file = settings.value("policy")) {
        if (file->is_string())
            policy.file = file->get<std::string>();
        else if (file->is_object())
            policy.text = jsonText(*file);
        else
            settings.fail("policy", jsonText(*file), "the path of a policy file, or a policy as an object");
    }
    settings.read("target", policy.target);
    Mode mode = Mode::Typed;
    if (settings.value("mode") != nullptr) {
        std::vector<std::pair<std::string_view, Mode>> names;
        for (const policy::Mode one : policy::offeredModes())
            names.emplace_back(policy::nameOf(one), static_cast<Mode>(one));
        settings.readNameOf<Mode>("mode", mode, names);
        policy.mode = mode;
    }
    settings.read("hardware", policy.hardware);
    settings.read("accumulate", policy.accumulate);
    Optimise optimise = Optimise::Casts;
    if (settings.value("optimise") != nullptr) {
        settings.readName("optimise", optimise, {{"casts", Optimise::Casts}, {"time", Optimise::Time}});
        policy.optimise = optimise;
    }
    settings.read("lists", policy.listVersion);
    settings.read("target_op", policy.toTarget);
    settings.read("fp32_op", policy.toFloat32);
    settings.read("widest_op", policy.toWidest);
    settings.read("neutral_op", policy.toNeutral);
    settings.read("int8_op", policy.toInt8);
    settings.read("conditional", policy.conditional);
    settings.read("exclude", policy.excluded);
    settings.read("override", policy.overrides);
    settings.read("input", policy.inputTypes);
    settings.read("cast_params", policy.castParameters);
    settings.read("keep_io_types", policy.keepIoTypes);
    settings.read("clamp", policy.clamp);
    settings.read("share", policy.shareNodes);
}

void readMethod(Settings &settings, std::string_view key, std::optional<ThresholdMethod> &method)
{
    settings.readName<std::optional<ThresholdMethod>>(key, method,
                                                      {{"minmax", ThresholdMethod::MinMax},
                                                       {"naive", ThresholdMethod::MinMax},
                                                       {"entropy", ThresholdMethod::Entropy},
                                                       {"percentile", ThresholdMethod::Percentile},
                                                       {"mse", ThresholdMethod::Mse},
                                                       {"output", std::nullopt}});
}

void readArithmetic(Settings &settings, Arithmetic &arithmetic)
{
    std::vector<std::pair<std::string_view, Arithmetic>> names;
    for (const backends::Arithmetic one : backends::allArithmetics())
        names.emplace_back(backends::nameOf(one), static_cast<Arithmetic>(one));
    settings.readNameOf<Arithmetic>("as", arithmetic, names);
}

bool hasPolicy(const char *text)
{
    Settings all(text);
    for (const char *const key :
         {"policy", "target", "mode", "hardware", "accumulate", "optimise", "lists", "target_op", "fp32_op",
          "widest_op", "neutral_op", "int8_op", "conditional", "exclude", "override"})
        if (all.value(key) != nullptr)
            return true;
    return false;
}

} // namespace halftone::api::c
