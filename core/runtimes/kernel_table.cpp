#include "core/runtimes/kernel_table.h"

#include "core/base/json.h"
#include "core/base/resource.h"
#include "core/dialect/dialect.h"
#include "core/runtimes/added_casts.h"
#include "core/runtimes/kinds.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <tuple>
#include <utility>

namespace halftone::runtimes {
namespace {

using Json = OrderedJson;
using tensor::DType;
using Kind = KernelAnswer::Kind;

KernelAnswer answerNamed(const std::string &word, DType asked)
{
    if (word == "native")
        return {Kind::Native, asked};
    if (word == "none")
        return {Kind::Refused, DType::Unknown};
    return {Kind::Otherwise, tensor::dtypeNamed(word).value_or(DType::Unknown)};
}

/// One word for all versions, or words by the version that begins them.
KernelTable::Answers answersOf(const Json &json, DType asked)
{
    if (json.is_string())
        return {{0, answerNamed(json.get<std::string>(), asked)}};
    KernelTable::Answers answers;
    for (const auto &[since, word] : json.items()) {
        int version = 0;
        std::from_chars(since.data(), since.data() + since.size(), version);
        answers.emplace(version, answerNamed(word.get<std::string>(), asked));
    }
    return answers;
}

KernelTable tableOf(const Json &json)
{
    KernelTable table{json.at("name").get<std::string>(),
                      json.at("title").get<std::string>(),
                      json.at("version").get<std::string>(),
                      json.value("documented", false),
                      json.at("opset").get<int>(),
                      json.at("int8").at("qoperator tensor").get<bool>(),
                      json.at("int8").at("qoperator channel").get<bool>(),
                      !json.at("int8").value("asymmetric", true),
                      json.value("widens_lone", false),
                      {},
                      {}};
    for (const auto &[op, types] : json.at("kernels").items())
        for (const auto &[name, answers] : types.items())
            if (const auto type = tensor::dtypeNamed(name))
                table.kernels[op].emplace(*type, answersOf(answers, *type));
            else if (name == "mixed")
                table.mixed.emplace(op, answersOf(answers, DType::Unknown));
    return table;
}

std::vector<KernelTable> readTables()
{
    const Json json = parseOrdered(resource(std::string(kHandedFormat) + "/runtimes.json"));
    assert(json.is_object() && "runtimes.json does not parse");
    std::vector<KernelTable> tables;
    for (const Json &one : json.at("runtimes"))
        tables.push_back(tableOf(one));
    return tables;
}

/// The type that a node computes in: of its first real input or output; Unknown for others.
DType realTypeOf(const graph::Graph &graph, const infer::TypeMap &types, graph::NodeId id)
{
    for (const graph::Entry &input : graph.inputs(id))
        if (tensor::isFloat(types.of(input)))
            return types.of(input);
    for (const DType type : types.outputs(id))
        if (tensor::isFloat(type))
            return type;
    return DType::Unknown;
}

/// Does it read floating-point values of several types?
bool mixesTypes(const graph::Graph &graph, const infer::TypeMap &types, graph::NodeId id)
{
    DType first = DType::Unknown;
    for (const graph::Entry &input : graph.inputs(id)) {
        const DType type = types.of(input);
        if (!tensor::isFloat(type))
            continue;
        if (first != DType::Unknown && type != first)
            return true;
        first = type;
    }
    return false;
}

KernelAnswer answerAt(const KernelTable::Answers &answers, int version)
{
    if (answers.empty())
        return {};
    const auto next = answers.upper_bound(version);
    return (next == answers.begin() ? next : std::prev(next))->second;
}

/// "Conv", "Conv and Relu", "Conv, Relu and 3 more"
std::string operatorsText(const std::vector<std::string> &ops)
{
    constexpr std::size_t kNamed = 3;
    std::string text;
    for (std::size_t k = 0; k < std::min(ops.size(), kNamed); ++k)
        text += (k == 0 ? "" : k + 1 == ops.size() ? " and " : ", ") + ops[k];
    return ops.size() > kNamed ? text + " and " + std::to_string(ops.size() - kNamed) + " more" : text;
}

/// ", with 2 casts in each run and 52 when the model is loaded"; empty: there are none
std::string castsText(const AddedCasts &casts)
{
    const auto counted
        = [](std::size_t count) { return std::to_string(count) + (count == 1 ? " cast" : " casts"); };
    std::string text;
    if (casts.perRun > 0)
        text += ", with " + counted(casts.perRun) + " in each run";
    if (casts.onLoad > 0)
        text += (text.empty() ? ", with " : " and ") + counted(casts.onLoad) + " when the model is loaded";
    return text;
}

} // namespace

KernelAnswer KernelTable::answer(std::string_view op, int version, DType type, bool mixesTypes) const
{
    if (const auto other = mixed.find(op); mixesTypes && other != mixed.end())
        return answerAt(other->second, version);
    const auto found = kernels.find(op);
    if (found == kernels.end())
        return {};
    const auto answers = found->second.find(type);
    return answers == found->second.end() ? KernelAnswer() : answerAt(answers->second, version);
}

std::span<const KernelTable> kernelTables()
{
    static const std::vector<KernelTable> kTables = readTables();
    return kTables;
}

const KernelTable *kernelTableOf(std::string_view name)
{
    const std::size_t colon = name.find(':');
    if (colon != std::string_view::npos && !name.substr(colon + 1).starts_with("CPU"))
        return nullptr; // other devices were not measured
    const auto all = kernelTables();
    const auto found = std::ranges::find(all, name.substr(0, name.find(':')), &KernelTable::name);
    return found == all.end() ? nullptr : &*found;
}

bool areOfRuntimes(const graph::Graph &graph)
{
    return graph.dialect() != nullptr && graph.dialect()->name() == kHandedFormat;
}

std::string handedFormatHint()
{
    return "; write it as ." + std::string(kHandedFormat);
}

std::vector<MissingKernel> missingKernels(const KernelTable &table, const graph::Graph &graph,
                                          const infer::TypeMap &types)
{
    std::vector<MissingKernel> missing;
    if (!areOfRuntimes(graph))
        return missing;
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        const DType type = graph.isVariable(id) ? DType::Unknown : realTypeOf(graph, types, id);
        if (type == DType::Unknown)
            continue;
        const KernelAnswer answer = table.answer(graph.node(id).op, dialect::of(graph).versionNumber(), type,
                                                 mixesTypes(graph, types, id));
        if (answer.isMissing())
            missing.push_back({id, graph.node(id).op, type, answer});
    }
    return missing;
}

std::vector<std::string> missingTexts(const KernelTable &table, const infer::TypedModel &model,
                                      std::string_view installed)
{
    const std::vector<MissingKernel> missing = missingKernels(table, model.model.graph, model.types);
    std::map<std::tuple<DType, Kind, DType>, std::vector<std::string>> groups; // operators, in order
    for (const MissingKernel &one : missing) {
        std::vector<std::string> &ops = groups[{one.asked, one.answer.kind, one.answer.type}];
        if (std::ranges::find(ops, one.op) == ops.end())
            ops.push_back(one.op);
    }
    std::vector<std::string> texts;
    for (const auto &[key, ops] : groups) {
        const auto &[asked, kind, ranIn] = key;
        std::string text = table.titleAndVersion() + " has no " + std::string(tensor::nameOf(asked))
            + " kernel for " + operatorsText(ops);
        const std::string they = ops.size() == 1 ? "it" : "they";
        if (kind == Kind::Refused)
            text += ": it will refuse the model";
        else
            text += ": " + they + " will run in " + std::string(tensor::nameOf(ranIn));
        texts.push_back(std::move(text));
    }
    if (!texts.empty())
        texts.back() += castsText(addedCasts(table, missing, model));
    if (!texts.empty() && !installed.empty() && installed != table.version)
        texts.back() += "; " + std::string(installed) + " is installed, which may differ";
    return texts;
}

} // namespace halftone::runtimes
