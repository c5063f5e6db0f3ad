#include "core/hardware/processor.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace halftone::hardware {
namespace {

using tensor::DType;

const Ability kNone{};

Ability native(double rate, std::vector<DType> sums)
{
    return {Support::Native, rate, std::move(sums)};
}

Ability emulated(double rate, DType sums = DType::F32)
{
    return {Support::Emulated, rate, {sums}};
}

Ability stored(double rate)
{
    return {Support::Storage, rate, {DType::F32}};
}

/// What one instruction set adds to a processor.
struct Extension
{
    std::string_view part; ///< of the name
    std::string_view label; ///< in the title
    std::vector<std::string_view> flags; ///< all must be present
    Number number = Number::Fp32;
    Ability products; ///< convolutions and matrix products
    Ability elementwise; ///< Support::No: adds nothing there
    Ability rest; ///< reductions, normalization and softmax; likewise
    Source source;
};

constexpr std::string_view kIntelManual = "Intel 64 and IA-32 Architectures Software Developer's Manual";
constexpr std::string_view kIntelExtensions
    = "Intel Architecture Instruction Set Extensions Programming Reference";
constexpr std::string_view kIntelOptimization
    = "Intel 64 and IA-32 Architectures Optimization Reference Manual";
constexpr std::string_view kArmManual = "Arm Architecture Reference Manual for A-profile architecture";

Source fact(std::string text, std::string_view document)
{
    return {std::move(text), std::string(document)};
}

/// Rates are ratios of products per instruction, which are the same for 128, 256 and 512 bits. Of several for one type, the last counts.
const std::vector<Extension> &x86Extensions()
{
    static const std::vector<Extension> kAll{
        {"",
         "",
         {"avx2", "fma"},
         Number::Int8,
         emulated(1.3, DType::I32),
         kNone,
         kNone,
         fact("Products of 8 bits take VPMADDUBSW, VPMADDWD and VPADDD: 32 products in three instructions, "
              "where one FMA has 8; the first saturates at 16 bits",
              kIntelManual)},
        {"fp16",
         "FP16",
         {"avx512_fp16"},
         Number::Fp16,
         native(2, {DType::F16}),
         native(2, {DType::F16}),
         emulated(1),
         fact("AVX512-FP16 computes in float16 in 32 lanes, sums included",
              "Intel AVX512-FP16 Architecture Specification")},
        {"amx-fp16",
         "AMX-FP16",
         {"amx_tile", "amx_fp16"},
         Number::Fp16,
         native(16, {DType::F32}),
         kNone,
         kNone,
         fact("TDPFP16PS multiplies tiles of float16 as TDPBF16PS does those of bfloat16, sums in float32",
              kIntelExtensions)},
        {"bf16",
         "BF16",
         {"avx512_bf16"},
         Number::Bf16,
         native(2, {DType::F32}),
         kNone,
         kNone,
         fact("VDPBF16PS: 32 products of bfloat16 into 16 lanes of float32 in a 512-bit instruction, where "
              "one FMA has 16",
              kIntelExtensions)},
        {"amx-bf16",
         "AMX-BF16",
         {"amx_tile", "amx_bf16"},
         Number::Bf16,
         native(16, {DType::F32}),
         kNone,
         kNone,
         fact("TDPBF16PS: 16 × 16 × 32 products in 16 cycles, 1,024 operations a cycle; two units of AVX-512 "
              "FMA have 64 in float32",
              kIntelOptimization)},
        {"vnni",
         "VNNI",
         {"avx_vnni"},
         Number::Int8,
         native(4, {DType::I32}),
         kNone,
         kNone,
         fact("VPDPBUSD: 32 products of 8 bits into 8 lanes of 32 bits in a 256-bit instruction, where one "
              "FMA has 8",
              kIntelManual)},
        {"vnni",
         "VNNI",
         {"avx512_vnni"},
         Number::Int8,
         native(4, {DType::I32}),
         kNone,
         kNone,
         fact("VPDPBUSD: 64 products of 8 bits into 16 lanes of 32 bits in a 512-bit instruction, where one "
              "FMA has 16",
              kIntelManual)},
        {"amx-int8",
         "AMX-INT8",
         {"amx_tile", "amx_int8"},
         Number::Int8,
         native(32, {DType::I32}),
         kNone,
         kNone,
         fact("TDPBSSD: 16 × 16 × 64 products of 8 bits in 16 cycles, 2,048 operations a cycle",
              kIntelOptimization)},
    };
    return kAll;
}

/// Parts are the names that compilers give the extensions.
const std::vector<Extension> &armExtensions()
{
    static const std::vector<Extension> kAll{
        {"fp16",
         "FP16",
         {"asimdhp"},
         Number::Fp16,
         native(2, {DType::F16}),
         native(2, {DType::F16}),
         emulated(1),
         fact("FEAT_FP16: FMLA takes 8 lanes of float16, where it takes 4 of float32; sums are float16",
              kArmManual)},
        {"fp16fml",
         "FP16, FHM",
         {"asimdhp", "asimdfhm"},
         Number::Fp16,
         native(2, {DType::F16, DType::F32}),
         native(2, {DType::F16}),
         emulated(1),
         fact("FEAT_FHM: FMLAL sums products of float16 in float32, half as fast as FMLA in float16",
              kArmManual)},
        {"bf16",
         "BF16",
         {"bf16"},
         Number::Bf16,
         native(4, {DType::F32}),
         stored(1),
         stored(1),
         fact("FEAT_BF16: BFMMLA, 16 products of bfloat16 into 4 lanes of float32, where FMLA has 4",
              kArmManual)},
        {"dotprod",
         "dot product",
         {"asimddp"},
         Number::Int8,
         native(4, {DType::I32}),
         kNone,
         kNone,
         fact("FEAT_DotProd: SDOT and UDOT, 16 products of 8 bits into 4 lanes of 32 bits, where FMLA has 4",
              kArmManual)},
        {"i8mm",
         "I8MM",
         {"i8mm"},
         Number::Int8,
         native(8, {DType::I32}),
         kNone,
         kNone,
         fact("FEAT_I8MM: SMMLA and UMMLA, 32 products of 8 bits into 4 lanes of 32 bits, where FMLA has 4",
              kArmManual)},
    };
    return kAll;
}

enum class Family : std::uint8_t
{
    X86,
    Arm,
    Other,
};

Family familyOf(const Flags &flags)
{
    return flags.contains("sse2") ? Family::X86 : flags.contains("asimd") ? Family::Arm : Family::Other;
}

/// A processor of the family without any extension.
struct Base
{
    std::string name;
    std::string title;
    Ability fp16Storage; ///< outside of products
    Ability bf16Storage;
    Ability int8Rest; ///< reductions, normalization and softmax
    Source source;
};

Base x86Base(const Flags &flags)
{
    const auto has = [&flags](std::string_view flag) { return flags.contains(flag); };
    Base base;
    base.name = has("avx512f")      ? "avx512"
        : has("avx2") && has("fma") ? "avx2"
        : has("avx")                ? "avx"
                                    : "x86-64";
    base.title = has("avx512f")     ? "x86-64 with AVX-512"
        : has("avx2") && has("fma") ? "x86-64 with AVX2"
        : has("avx")                ? "x86-64 with AVX"
                                    : "x86-64 without AVX";
    base.fp16Storage = has("f16c") ? stored(1) : emulated(1);
    base.bf16Storage = stored(1);
    base.int8Rest = emulated(1);
    base.source = has("f16c")
        ? fact("Without further extensions no arithmetic on 16-bit floats; F16C converts eight values an "
               "instruction",
               kIntelManual)
        : fact("No arithmetic on 16-bit floats, and no instruction that converts float16", kIntelManual);
    return base;
}

Base armBase()
{
    return {
        "armv8",
        "Arm 64-bit",
        stored(1),
        kNone,
        kNone,
        fact("Armv8.0 converts float16 (FCVTL, FCVTN) and has no other arithmetic in 16 bits", kArmManual)};
}

/// Of which nothing narrow is known.
Base otherBase()
{
    return {"float32-cpu",
            "Processor without known 16-bit or 8-bit units",
            emulated(1),
            stored(1),
            emulated(1),
            fact("None of the flags of known instruction sets is present", "Linux, /proc/cpuinfo")};
}

class Composer
{
public:
    explicit Composer(const Processor &processor)
        : m_processor(processor)
    {
    }

    Description compose()
    {
        const Family family = familyOf(m_processor.flags);
        start(family == Family::X86       ? x86Base(m_processor.flags)
                  : family == Family::Arm ? armBase()
                                          : otherBase());
        if (family == Family::X86)
            addAll(x86Extensions());
        if (family == Family::Arm)
            addAll(armExtensions());
        finish();
        return std::move(m_description);
    }

private:
    Ability &at(Unit unit, Number number)
    {
        return m_description.abilities[static_cast<std::size_t>(unit)][static_cast<std::size_t>(number)];
    }

    void start(const Base &base)
    {
        m_description.name = base.name;
        m_description.title = base.title;
        m_description.kind = "cpu";
        m_description.standaloneCast = "one pass over memory";
        m_description.sources.push_back(base.source);
        for (const Unit unit : kAllUnits) {
            const bool isMovement = unit == Unit::Movement;
            at(unit, Number::Fp32) = native(1, {DType::F32});
            at(unit, Number::Fp16) = isMovement ? stored(2) : isProduct(unit) ? kNone : base.fp16Storage;
            at(unit, Number::Bf16) = isMovement ? stored(2) : isProduct(unit) ? kNone : base.bf16Storage;
            at(unit, Number::Int8) = isMovement ? stored(4)
                : isProduct(unit)               ? emulated(1, DType::I32)
                : unit == Unit::Elementwise     ? emulated(1)
                                                : base.int8Rest;
        }
    }

    void addAll(const std::vector<Extension> &extensions)
    {
        const auto has = [this](std::string_view flag) { return m_processor.flags.contains(flag); };
        for (const Extension &one : extensions) {
            if (std::ranges::all_of(one.flags, has))
                add(one);
        }
    }

    void add(const Extension &one)
    {
        for (const Unit unit : kAllUnits) {
            const Ability &given = isProduct(unit) ? one.products
                : unit == Unit::Elementwise        ? one.elementwise
                : unit == Unit::Movement           ? kNone
                                                   : one.rest;
            if (given.support != Support::No)
                at(unit, one.number) = given;
        }
        m_best[static_cast<std::size_t>(one.number)] = &one;
        m_used.push_back(&one);
    }

    /// What the best extension of each type gives to the name and title; flags and sources of all.
    void finish()
    {
        std::vector<std::string_view> labels;
        for (const Number number : {Number::Fp16, Number::Bf16, Number::Int8}) {
            const Extension *const best = m_best[static_cast<std::size_t>(number)];
            if (!best || best->part.empty())
                continue;
            m_description.name += '-' + std::string(best->part);
            labels.push_back(best->label);
        }
        for (std::size_t k = 0; k < labels.size(); ++k) {
            const bool isFirst = k == 0, isLast = k + 1 == labels.size();
            const bool goesOn = m_description.title.find(" with ") != std::string::npos && isFirst;
            m_description.title += isFirst ? (goesOn ? (isLast ? " and " : ", ") : " with ")
                : isLast                   ? " and "
                                           : ", ";
            m_description.title += labels[k];
        }
        if (!m_processor.model.empty())
            m_description.title += " (" + m_processor.model + ')';
        m_description.fusesCasts = at(Unit::Conv, Number::Bf16).support == Support::Native;
        Flags used;
        for (const Extension *const one : m_used) {
            used.insert(one->flags.begin(), one->flags.end());
            m_description.sources.push_back(one->source);
        }
        m_description.detect.cpuFlags.assign(used.begin(), used.end());
        m_description.note = "Put together from the flags that Linux reports for this processor";
    }

    const Processor &m_processor;
    Description m_description;
    std::array<const Extension *, kNumbers> m_best{}; ///< the last of each type
    std::vector<const Extension *> m_used;
};

bool matches(const Detection &detect, const Flags &flags)
{
    const auto has = [&flags](const std::string &flag) { return flags.contains(flag); };
    return !detect.cpuFlags.empty() && std::ranges::all_of(detect.cpuFlags, has)
        && std::ranges::none_of(detect.without, has);
}

std::string ratioText(double value)
{
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.2f", value);
    return text.data();
}

/// The value of a line "key : value", if it has that key.
std::optional<std::string> valueOf(std::string_view line, std::string_view key)
{
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos)
        return std::nullopt;
    std::string_view found = line.substr(0, colon);
    while (found.ends_with(' ') || found.ends_with('\t'))
        found.remove_suffix(1);
    if (found != key)
        return std::nullopt;
    std::string_view value = line.substr(colon + 1);
    while (value.starts_with(' ') || value.starts_with('\t'))
        value.remove_prefix(1);
    while (value.ends_with(' ') || value.ends_with('\r'))
        value.remove_suffix(1);
    return std::string(value);
}

Flags wordsOf(const std::string &text)
{
    std::istringstream words(text);
    Flags flags;
    for (std::string word; words >> word;)
        flags.insert(std::move(word));
    return flags;
}

bool hasAmxFp16()
{
#if defined(__x86_64__)
    unsigned int eax = 0, ebx = 0, ecx = 0, edx = 0;
    constexpr unsigned int kFeatures = 7, kSecondLeaf = 1, kAmxFp16 = 1U << 21;
    return __get_cpuid_count(kFeatures, kSecondLeaf, &eax, &ebx, &ecx, &edx) != 0 && (eax & kAmxFp16) != 0;
#else
    return false;
#endif
}

} // namespace

Processor readProcessor(std::string_view cpuinfo)
{
    Processor processor;
    bool isFirst = true;
    std::istringstream lines{std::string(cpuinfo)};
    for (std::string line; std::getline(lines, line);) {
        auto flags = valueOf(line, "flags");
        if (!flags)
            flags = valueOf(line, "Features");
        if (flags) {
            Flags found = wordsOf(*flags);
            if (!isFirst)
                std::erase_if(found,
                              [&](const std::string &flag) { return !processor.flags.contains(flag); });
            processor.flags = std::move(found);
            isFirst = false;
        } else if (auto model = valueOf(line, "model name"); model && processor.model.empty()) {
            processor.model = *std::move(model);
        }
    }
    return processor;
}

Processor processorAtHand()
{
    std::ifstream file("/proc/cpuinfo");
    std::ostringstream text;
    text << file.rdbuf();
    Processor processor = readProcessor(text.str());
    if (processor.flags.contains("amx_tile") && hasAmxFp16())
        processor.flags.insert("amx_fp16");
    return processor;
}

Description describe(const Processor &processor, std::span<const std::shared_ptr<const Description>> known)
{
    Description composed = Composer(processor).compose();
    const auto isTheSame = [&](const std::shared_ptr<const Description> &one) {
        return matches(one->detect, processor.flags) && one->abilities == composed.abilities
            && one->fusesCasts == composed.fusesCasts;
    };
    const auto same = std::ranges::find_if(known, isTheSame);
    if (same != known.end())
        return **same;
    return composed;
}

Description decidedBy(Description description, const Measurement &found)
{
    std::string changes;
    for (const Unit unit : kAllUnits) {
        for (const Number number : kAllNumbers) {
            const std::optional<double> &speed = found.of(unit, number);
            if (!speed || number == Number::Fp32)
                continue;
            Ability &ability
                = description.abilities[static_cast<std::size_t>(unit)][static_cast<std::size_t>(number)];
            const bool isFaster
                = *speed > kClearFactor && isProduct(unit) && ability.support != Support::Native;
            const bool isSlower = *speed < 1 / kClearFactor && ability.support == Support::Native;
            if (!isFaster && !isSlower)
                continue;
            ability.support = isFaster ? Support::Native : Support::Emulated;
            ability.rate = *speed;
            if (ability.accumulate.empty())
                ability.accumulate = {number == Number::Int8 ? DType::I32 : DType::F32};
            changes += (changes.empty() ? "" : ", ") + std::string(nameOf(unit)) + ' '
                + std::string(nameOf(number)) + " counts as " + std::string(nameOf(ability.support)) + " (x"
                + ratioText(*speed) + ')';
        }
    }
    if (!changes.empty())
        description.note += (description.note.empty() ? "By measurement: " : "; by measurement: ") + changes;
    description.measurement = found;
    return description;
}

} // namespace halftone::hardware
