#include "app/cli_options.h"

#include "core/base/mapped_file.h"
#include "core/base/text.h"
#include "core/policy/policy_json.h"
#include "core/policy/policy_options.h"

#include <algorithm>
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

} // namespace

void ModelOptions::addTo(CLI::App &command)
{
    command.add_option("MODEL", model, "P-symbol.json, with P-NNNN.params beside it")
        ->required()
        ->type_name("");
    auto *file
        = command.add_option("--params", params, "The parameter file; 'none' for none")->type_name("FILE");
    command.add_flag("--no-params", noParams, "Load no parameters")->excludes(file);
    command.add_option("--shape", shapes, "Shape of an input; may be repeated")
        ->type_name("NAME=1,3,224,224");
}

Result<session::Session> ModelOptions::open() const
{
    io::LoadOptions options;
    options.params = params;
    options.noParams = noParams;
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

void RangeOptions::addTo(CLI::App &command)
{
    command
        .add_option(
            "--table", table,
            "Ranges of int8 operators, as 'calibrate --out' wrote them; without it they come from --inputs")
        ->type_name("T.json");
    command
        .add_option("--calib", method,
                    "How ranges come from --inputs: minmax, entropy, percentile or mse (default)")
        ->check(CLI::IsMember({"minmax", "entropy", "percentile", "mse"}))
        ->type_name("METHOD");
}

void RangeOptions::apply(policy::Policy &policy) const
{
    if (!method.empty())
        policy.thresholdMethod = policy::thresholdMethodNamed(method);
}

void PolicyOptions::addTo(CLI::App &command)
{
    constexpr const char *kGroup = "Policy";
    const auto option = [&command](const char *name, auto &value, const char *help, const char *type) {
        command.add_option(name, value, help)->type_name(type)->group(kGroup);
    };
    option("--policy", file, "A policy file; the options below win over it", "FILE");
    option("--target", target, "float16 (fp16, half) or bfloat16 (bf16); default float16", "DTYPE");
    option("--mode", mode,
           "typed (default): casts only where types differ; mxnet: node for node what MXNet 1.9.1 emits",
           "MODE");
    option("--lists", lists, "Whose built-in lists: 1.9.1 (default), 2.0.0b1 or master", "VERSION");
    option("--target-op", targetOps, "Move an operator to the target list; may be repeated, as the next five",
           "OP");
    option("--fp32-op", fp32Ops, "Move an operator to the fp32 list", "OP");
    option("--widest-op", widestOps, "Move an operator to the widest list", "OP");
    option("--neutral-op", neutralOps, "Take an operator out of all lists", "OP");
    option("--int8-op", int8Ops,
           "Compute an operator in int8 where it can be; may be repeated. Its list holds where it cannot",
           "OP");
    option("--conditional", conditionals, "Keep an operator in fp32 when an attribute has a value",
           "OP:ATTR=V1,V2");
    option("--exclude", excluded, "Keep a node in fp32, by name or /pattern/", "NAME");
    option("--override", overrides, "Set the precision of one node: float32, the target type or int8",
           "NODE=DTYPE");
    option("--input", inputs, "The type of an input", "NAME=DTYPE");
    option("--inputs", example, "Take the types and shapes of the inputs from a data example", "F.npz");
    command
        .add_flag("--cast-params", castParams,
                  "Store parameters in the target type where all their readers want it")
        ->group(kGroup);
    auto *on
        = command.add_flag("--share", share, "Merge nodes that compute the same (the default in mode typed)")
              ->group(kGroup);
    command.add_flag("--no-share", noShare, "Don't")->excludes(on)->group(kGroup);
    command.add_flag("--strict", strict, "Warnings are errors")->group(kGroup);
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
    if (!example.empty())
        HALFTONE_CHECK(session.useExample(example, policy));
    return policy;
}

Error PolicyOptions::located(Error error) const
{
    if (error.file == passes::kPolicyName && !file.empty())
        error.file = file;
    return error;
}

Result<void> PolicyOptions::apply(policy::Policy &policy) const
{
    using To = policy::Policy::Move::To;
    if (!target.empty())
        HALFTONE_CHECK(policy::setTarget(policy, target));
    if (!mode.empty())
        HALFTONE_CHECK(policy::setMode(policy, mode));
    if (!lists.empty())
        policy.listVersion = lists;
    for (const auto &[ops, to] : {std::pair(&targetOps, To::Target), std::pair(&fp32Ops, To::Fp32),
                                  std::pair(&widestOps, To::Widest), std::pair(&neutralOps, To::Neutral)}) {
        for (const std::string &op : *ops)
            HALFTONE_CHECK(policy::addMove(policy, op, to));
    }
    for (const std::string &op : int8Ops) {
        if (!policy.int8Ops)
            policy.int8Ops.emplace();
        if (std::ranges::find(*policy.int8Ops, op) == policy.int8Ops->end())
            policy.int8Ops->push_back(op);
    }
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
    if (castParams)
        policy.castParams = true;
    if (share || noShare)
        policy.share = share;
    return {};
}

} // namespace halftone::cli
