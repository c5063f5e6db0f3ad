#include "app/cli/options.h"

#include "app/cli/fields.h"
#include "app/cli/format_texts.h"
#include "core/base/mapped_file.h"
#include "core/base/text.h"
#include "core/infer/input_patterns.h"
#include "core/policy/policy_json.h"
#include "core/policy/policy_options.h"
#include "core/runtimes/kernel_table.h"

#include <algorithm>
#include <array>
#include <utility>

namespace halftone::cli {
namespace {

/// "1,3,224,224" as a shape.
Result<tensor::Shape> parseShape(const std::string &option, std::string_view text)
{
    std::vector<std::int64_t> dims;
    while (!text.empty()) {
        const std::size_t comma = std::min(text.find(','), text.size());
        const auto dim = parseInteger(trimmed(text.substr(0, comma)));
        if (!dim || *dim < 0)
            return badCall("--shape", '"' + option + '"', "NAME=1,3,224,224");
        dims.push_back(*dim);
        text.remove_prefix(std::min(comma + 1, text.size()));
    }
    return tensor::Shape(std::move(dims));
}

/// What mixed::decide() may find wrong with a policy, wherever the policy says it.
bool isOfPolicy(Field field)
{
    using enum Field;
    return field == Policy || field == Conditional || field == TargetOp || field == Fp32Op
        || field == WidestOp || field == NeutralOp;
}

} // namespace

void ModelOptions::addTo(Command &command)
{
    command.option("MODEL", &model, modelHelp()).required().type("");
    const Option file = command.option("--params", &params, io::parameterFileHelp()).type("FILE");
    command.flag("--no-params", noParams, "Do not load parameters").excludes(file);
    command.option("--shape", &shapes, "Shape of an input (repeatable)").type("NAME=1,3,224,224");
}

std::vector<NamedFile> ModelOptions::files() const
{
    std::vector<NamedFile> files{{"MODEL", model}};
    const std::string beside = params.empty() ? io::paramsBeside(model).value_or(std::string()) : params;
    if (!noParams && !beside.empty() && params != "none")
        files.push_back({params.empty() ? "MODEL" : "--params", beside});
    return files;
}

Result<session::Session> ModelOptions::open(const std::stop_token &stop, bool takesParametersAlone) const
{
    io::LoadOptions options;
    options.params = params;
    options.noParams = noParams;
    options.takesParametersAlone = takesParametersAlone;
    options.stop = stop;
    HALFTONE_TRY(session::Session session, session::Session::open(model, options));
    for (const std::string &option : shapes) {
        const std::size_t equals = option.rfind('=');
        if (equals == std::string::npos)
            return badCall("--shape", '"' + option + '"', "NAME=1,3,224,224");
        HALFTONE_TRY(tensor::Shape shape, parseShape(option, std::string_view(option).substr(equals + 1)));
        HALFTONE_CHECK(session.setInputShape(option.substr(0, equals), std::move(shape)));
    }
    return session;
}

void PrecisionOption::addTo(Command &command)
{
    command
        .option("--precision", &name,
                "Type to compute in, for a runtime that chooses it itself: f32, f16 or bf16 (default: the "
                "runtime's choice)")
        .oneOf({"f32", "f16", "bf16"})
        .type("TYPE");
}

tensor::DType PrecisionOption::type() const
{
    return name == "f32" ? tensor::DType::F32
        : name == "f16"  ? tensor::DType::F16
        : name == "bf16" ? tensor::DType::BF16
                         : tensor::DType::Unknown;
}

void addRuntime(Command &command, std::string &name)
{
    std::vector<std::string> names;
    for (const runtimes::KernelTable &table : runtimes::kernelTables())
        names.push_back(table.name);
    command
        .option("--for", &name,
                "Keep to the types, opsets and forms of int8 that this runtime has kernels for, and list "
                "what stays in float32")
        .oneOf(names)
        .type("RUNTIME");
}

void addArithmetic(Command &command, std::string &name)
{
    std::string help = "Compute values";
    std::vector<std::string> names;
    for (const backends::Arithmetic one : backends::allArithmetics()) {
        help.append(names.empty() ? " " : ", or ").append(backends::meaningOf(one));
        if (one == backends::Arithmetic::Runtime)
            help += " does, truncating bfloat16 results and some int8 sums";
        names.emplace_back(backends::nameOf(one));
        help.append(" (").append(names.back()).append(")");
    }
    command
        .option("--as", &name,
                help + " (default: " + std::string(backends::nameOf(backends::Arithmetic::Defined)) + ')')
        .oneOf(names)
        .type("NAME");
}

backends::Arithmetic arithmeticNamed(std::string_view name)
{
    const auto all = backends::allArithmetics();
    const auto named = std::ranges::find_if(
        all, [name](backends::Arithmetic one) { return backends::nameOf(one) == name; });
    return named == all.end() ? backends::Arithmetic::Defined : *named;
}

void RangeOptions::addTo(Command &command)
{
    command
        .option("--table", &table,
                "Ranges of int8 operators, as written by 'calibrate --out' (default: measured on --inputs)")
        .type("T.json");
    command
        .option(
            "--calib", &method,
            "Method for ranges measured on --inputs: minmax, entropy, percentile, mse, or output: mse, but "
            "minmax for tensors where it gives clearly smaller errors in the next layers (default: output)")
        .oneOf({"minmax", "entropy", "percentile", "mse", "output"})
        .type("METHOD");
}

void RangeOptions::apply(policy::Policy &policy) const
{
    if (!method.empty())
        policy.thresholdMethod = policy::thresholdMethodNamed(method);
}

Option addHardware(Command &command, std::string &name)
{
    return command
        .option("--hardware", &name,
                "Lower only what this chip has units for: a name listed by 'hardware', this, or a file")
        .type("NAME");
}

void PolicyOptions::addTo(Command &command)
{
    constexpr const char *kGroup = "Policy";
    const auto option = [&command](const char *name, auto &value, const std::string &help, const char *type) {
        command.option(name, &value, help).type(type).group(kGroup);
    };
    option("--policy", file, "Policy file; the options below override it", "FILE");
    option("--target", target,
           "Target type: float16 (fp16, half) or bfloat16 (bf16); compare also takes float8_e4m3fn, "
           "float8_e5m2, tf32 and posit16 (default: float16)",
           "DTYPE");
    option("--mode", mode, policy::modesHelp() + " (default: typed)", "MODE");
    addHardware(command, hardware).group(kGroup);
    option("--accumulate", accumulate,
           "Accumulator type of products: float32, float16 or bfloat16 (default: the chip's widest, else "
           "float32)",
           "DTYPE");
    option("--optimise", optimise,
           "Mode typed only: minimise the bytes moved by casts (casts) or the time estimated for --hardware "
           "(time) (default: casts)",
           "WHAT");
    option("--lists", lists,
           onlyWith(hasListVersions) + "version of the built-in lists: " + listVersionsHelp()
               + " (default: 1.9.1)",
           "VERSION");
    option("--target-op", targetOps, "Move an operator to the target list (repeatable, like the next five)",
           "OP");
    option("--fp32-op", fp32Ops, "Move an operator to the fp32 list", "OP");
    option("--widest-op", widestOps, "Move an operator to the widest list", "OP");
    option("--neutral-op", neutralOps, "Remove an operator from all lists", "OP");
    option("--int8-op", int8Ops,
           "Run an operator in int8 where supported; elsewhere its list applies (repeatable)", "OP");
    option("--conditional", conditionals,
           "Keep an operator in fp32 if an attribute has one of these values (repeatable)", "OP:ATTR=V1,V2");
    option("--exclude", excluded, "Keep a node in fp32, by name or /pattern/ (repeatable)", "NAME");
    option("--override", overrides, "Set the type of one node: float32, the target type or int8 (repeatable)",
           "NODE=DTYPE");
    option("--input", inputs, "Type of an input, by name or /pattern/ (repeatable)", "NAME=DTYPE");
    option("--inputs", example,
           "Take the types and shapes of the inputs from a data example; profile also takes its values",
           "F.npz");
    const Option cast = command
                            .flag("--cast-params", castParams,
                                  "Store parameters in the target type if all their readers use it"
                                      + defaultWith(&dialect::Dialect::storesCastParameters))
                            .group(kGroup);
    command
        .flag("--no-cast-params", noCastParams,
              "Keep parameters in their own type"
                  + defaultWith(std::not_fn(&dialect::Dialect::storesCastParameters)))
        .excludes(cast)
        .group(kGroup);
    const Option keep
        = command.flag("--keep-io-types", keepIoTypes, "Keep the types of inputs and outputs (default)")
              .group(kGroup);
    command
        .flag("--no-keep-io-types", noKeepIoTypes,
              "Give inputs and outputs the types of the operators that read and write them")
        .excludes(keep)
        .group(kGroup);
    const Option clamps = command
                              .flag("--clamp", clamp,
                                    "Clamp parameters beyond float16's range to its largest value"
                                        + defaultWith(&dialect::Dialect::clampsParameters))
                              .group(kGroup);
    command.flag("--no-clamp", noClamp, "Let parameters beyond the range become infinite")
        .excludes(clamps)
        .group(kGroup);
    const Option on
        = command.flag("--share", share, "Merge nodes that compute the same value (default in mode typed)")
              .group(kGroup);
    command.flag("--no-share", noShare, "Keep every node").excludes(on).group(kGroup);
    command.flag("--strict", strict, "Treat warnings as errors").group(kGroup);
}

namespace {

/// A place in a policy that no file gave, by the option that gave it: `excluded_sym_names[0]` becomes `--exclude[0]`. False: none did.
bool takeOptionsName(std::string &where)
{
    constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kNames{
        {{"excluded_sym_names", "--exclude"},
         {"node_overrides", "--override"},
         {"conditional_fp32_ops", "--conditional"},
         {"input_dtypes", "--input"}}};
    for (const auto &[key, option] : kNames) {
        if (where.starts_with(key))
            where.replace(0, key.size(), option);
    }
    return where.starts_with("--");
}

} // namespace

bool PolicyOptions::isGiven() const
{
    return !file.empty() || !target.empty() || !mode.empty() || !hardware.empty() || !targetOps.empty()
        || !int8Ops.empty() || !overrides.empty();
}

Result<policy::Policy> PolicyOptions::read(session::Session &session) const
{
    policy::Policy policy;
    if (!file.empty()) {
        HALFTONE_TRY(const auto mapped, MappedFile::open(file));
        auto parsed = policy::readPolicy(mapped->text());
        if (!parsed.ok())
            return inFile(std::move(parsed).error(), file);
        policy = std::move(parsed).value();
    }
    HALFTONE_CHECK(apply(policy));
    HALFTONE_CHECK(infer::expandInputTypes(session.source().model, policy));
    if (!example.empty())
        HALFTONE_CHECK(session.useExample(example, policy));
    return policy;
}

bool PolicyOptions::isEmpty() const
{
    const auto isNone = [](const auto &...texts) { return (texts.empty() && ...); };
    return isNone(file, target, mode, hardware, accumulate, optimise, lists, targetOps, fp32Ops, widestOps,
                  neutralOps, int8Ops, conditionals, excluded, overrides);
}

Error PolicyOptions::located(Error error) const
{
    if (!isOfPolicy(error.field))
        return error;
    if (file.empty() && takeOptionsName(error.where)) {
        error.field = Field::None;
        return error;
    }
    error.file = file.empty() ? std::string(optionOf(Field::Policy)) : file;
    if (error.field == Field::Policy)
        error.field = Field::None;
    return error;
}

Result<void> PolicyOptions::apply(policy::Policy &policy) const
{
    using To = policy::Policy::Move::To;
    if (!target.empty())
        HALFTONE_CHECK(policy::setTarget(policy, target));
    if (!mode.empty())
        HALFTONE_CHECK(policy::setMode(policy, mode));
    if (!hardware.empty())
        HALFTONE_CHECK(policy::setHardware(policy, hardware));
    if (!accumulate.empty())
        HALFTONE_CHECK(policy::setAccumulate(policy, accumulate));
    if (!optimise.empty())
        HALFTONE_CHECK(policy::setOptimise(policy, optimise));
    if (!lists.empty())
        policy::setListVersion(policy, lists);
    for (const auto &[ops, to] : {std::pair(&targetOps, To::Target), std::pair(&fp32Ops, To::Fp32),
                                  std::pair(&widestOps, To::Widest), std::pair(&neutralOps, To::Neutral)}) {
        for (const std::string &op : *ops)
            HALFTONE_CHECK(policy::addMove(policy, op, to));
    }
    for (const std::string &op : int8Ops)
        policy::addInt8(policy, op);
    using Add = Result<void> (*)(policy::Policy &, std::string_view);
    const std::pair<const std::vector<std::string> *, Add> additions[]
        = {{&conditionals, policy::addConditional},
           {&excluded, policy::addExcluded},
           {&overrides, policy::addOverride},
           {&inputs, policy::addInputDtype}};
    for (const auto &[texts, add] : additions) {
        for (const std::string &text : *texts)
            HALFTONE_CHECK(add(policy, text));
    }
    if (castParams || noCastParams)
        policy.castParams = castParams;
    if (keepIoTypes || noKeepIoTypes)
        policy.keepIoTypes = keepIoTypes;
    if (clamp || noClamp)
        policy.clamp = clamp;
    if (share || noShare)
        policy.share = share;
    return {};
}

} // namespace halftone::cli
