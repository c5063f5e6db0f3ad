#include "app/cli/weight_options.h"

#include "core/base/text.h"
#include "core/policy/weight_choice.h"
#include "core/report/json_values.h"

#include <map>

namespace halftone::cli {

void WeightOptions::addTo(Command &command, Extras extras)
{
    std::vector<std::string> methods{"rtn", "mse"};
    if (extras.takesData)
        methods.emplace_back("gptq");
    command
        .option(
            "--weights", &weights,
            "Store weights as codes in blocks while products compute in their type: "
                + std::string(tensor::kWeightFormats)
                + ", or none; before it a node, an operator or a /pattern/ and \"=\" (default: every MatMul "
                  "and Gemm with constant weights). Repeatable, the last that matches wins")
        .type("[TARGET=]FORMAT");
    command
        .option(
            "--method", &method,
            "How codes of weights are chosen: rtn (nearest) or mse (of 26 ranges of a block the one with "
            "the least squared error)"
                + std::string(extras.takesData
                                  ? ", or gptq: one after the other, each making good the errors of those "
                                    "before it by what --inputs make products read (default: gptq with "
                                    "--inputs, else mse)"
                                  : " (default: mse)"))
        .oneOf(std::move(methods))
        .type("NAME");
    if (extras.takesForm)
        command
            .option("--form", &form,
                    "Form of weights in blocks: nbits (MatMulNBits, for MatMul) or qdq (DequantizeLinear) "
                    "(default: nbits where there is one)")
            .oneOf({"qdq", "nbits"})
            .type("NAME");
}

Result<void> WeightOptions::apply(policy::Policy &policy) const
{
    for (const std::string &text : weights) {
        auto rule = policy::weightRuleIn(text);
        if (!rule.ok())
            return badCall(Field::Weights, text, rule.error().expected);
        policy.weights.push_back(std::move(rule).value());
    }
    const bool isAsked = !policy.weights.empty();
    if (!isAsked && !method.empty())
        return badCall(Field::WeightMethod, "chooses codes of weights", "; pass --weights too");
    if (!method.empty())
        policy.weightMethod = policy::weightMethodNamed(method);
    if (isAsked && !form.empty())
        policy.weightForm = policy::weightFormNamed(form);
    return {};
}

weights::WeightsRequest weightsOf(const policy::Policy &policy)
{
    return {policy.weights, policy.weightMethod, policy.weightForm};
}

Error aboutModel(Error error, const session::Session &session)
{
    const bool isOfModel
        = (error.code == Errc::BadInput || error.code == Errc::Unsupported) && error.field == Field::None;
    return isOfModel ? inFile(std::move(error), session.source().modelPath) : error;
}

void addWeightsJson(const weights::LoweredModel &lowered, Json &json)
{
    Json rows = Json::array();
    for (const weights::LoweredWeights &one : lowered.weights)
        rows.push_back({{"node", one.node},
                        {"format", tensor::nameOf(one.format)},
                        {"form", policy::nameOf(one.form)},
                        {"method", policy::nameOf(one.method)},
                        {"elements", one.matrix->matrix().values.elementCount()},
                        {"bytes", one.matrix->storedBytes()},
                        {"sqnr_db", report::numberOrNull(one.matrix->sqnrDb())}});
    json["weights"] = std::move(rows);
    json["bits_per_weight"] = weights::bitsPerWeight(lowered.weights);
}

std::string weightsText(const weights::LoweredModel &lowered)
{
    struct Sum
    {
        std::size_t nodes = 0;
        std::uint64_t elements = 0;
        std::uint64_t bytes = 0;
        double least = 0;
    };
    std::map<std::pair<std::string, std::string>, Sum> sums;
    for (const weights::LoweredWeights &one : lowered.weights) {
        Sum &sum = sums[{tensor::nameOf(one.format), std::string(policy::nameOf(one.form))}];
        const double sqnr = one.matrix->sqnrDb();
        sum.least = sum.nodes == 0 ? sqnr : std::min(sum.least, sqnr);
        ++sum.nodes;
        sum.elements += one.matrix->matrix().values.elementCount();
        sum.bytes += one.matrix->storedBytes();
    }
    Table table({"weights", "form", "nodes", "elements", "bytes", "least SQNR"});
    for (const auto &[key, sum] : sums)
        table.add({key.first, key.second, std::to_string(sum.nodes), withThousands(sum.elements),
                   withThousands(sum.bytes), formatted("%.2f dB", sum.least)});
    return table.toString() + formatted("%.3f", weights::bitsPerWeight(lowered.weights))
        + " bits per weight\n";
}

} // namespace halftone::cli
