// Conversion in both modes, graph in memory to graph in memory; of models given, with their parameters, too; loading and saving of models.
//
// The recorded ResNet-50 v2 and made-up graphs of 1,000 to 100,000 nodes always run. HALFTONE_BENCH_MODELS
// adds models: paths of P-symbol.json, parameters beside them, or of ONNX files, separated by colons.
#include "core/dialect/registry.h"
#include "core/infer/variables.h"
#include "core/io/model_io.h"
#include "core/io/mxnet/symbol_json.h"
#include "core/mixed/convert_model.h"
#include "core/mixed/convert_typed.h"
#include "core/mixed/node_for_node.h"
#include "core/policy/assignment.h"

#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>

using namespace halftone;

namespace {

graph::NodeDefPtr node(std::string op, std::string name, graph::Attributes attributes = {})
{
    return std::make_shared<graph::NodeDef>(
        graph::NodeDef{op, std::move(name), std::move(attributes), {}, op == "null"});
}

/// A connected graph of about `size` nodes: each operator reads the newest tensor and sometimes an older one;
/// operators of every list.
graph::Graph randomGraph(int size)
{
    std::mt19937 random(7);
    graph::Graph graph(*dialect::dialectNamed("mxnet"));
    std::vector<graph::Entry> tensors{{graph.add(node("null", "data"), {}), 0, 0}};
    for (int k = 0; static_cast<int>(graph.nodeCount()) < size; ++k) {
        const std::string name = "n" + std::to_string(k);
        const graph::Entry newest = tensors.back();
        const graph::Entry older
            = tensors[tensors.size() - 1 - random() % std::min<std::size_t>(tensors.size(), 20)];
        switch (random() % 6) {
        case 0: {
            const graph::Entry weight{graph.add(node("null", name + "_weight", {{"__dtype__", "0"}}), {}), 0,
                                      0};
            const std::array inputs{newest, weight};
            tensors.push_back(
                {graph.add(node("FullyConnected", name, {{"num_hidden", "16"}, {"no_bias", "True"}}), inputs),
                 0, 0});
            break;
        }
        case 1:
        case 2:
            tensors.push_back(
                {graph.add(node("Activation", name, {{"act_type", "relu"}}), std::span(&newest, 1)), 0, 0});
            break;
        case 3:
            tensors.push_back({graph.add(node("softmax", name), std::span(&newest, 1)), 0, 0});
            break;
        default: {
            const std::array inputs{newest, older};
            tensors.push_back({graph.add(node("elemwise_add", name), inputs), 0, 0});
        }
        }
    }
    graph.setHeads({tensors.back()});
    return graph;
}

std::string read(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return std::move(text).str();
}

template <class T>
T must(Result<T> result)
{
    if (!result.ok()) {
        std::fprintf(stderr, "error: %s\n", result.error().message().c_str());
        std::exit(1);
    }
    return std::move(result).value();
}

/// Everything from policy to converted graph, as one edit in the window costs it.
void convertGraph(benchmark::State &state, const graph::Graph &graph, policy::Mode mode)
{
    const graph::Model model{graph, {}, false};
    policy::Policy policy;
    policy.mode = mode;
    std::size_t nodes = 0;
    for (auto _ : state) {
        std::vector<policy::Warning> warnings;
        const policy::Rules rules = must(policy::resolve(policy, dialect::of(graph), warnings));
        const policy::NamedNodes named = must(policy::matchNames(policy, graph, warnings));
        const auto variables = must(infer::classifyVariables(model, policy, warnings));
        const policy::Assignment assignment = policy::assign(graph, rules, named);
        const rewrite::Conversion conversion
            = must(mode == policy::Mode::NodeForNode
                       ? mixed::convertNodeForNode(graph, assignment, variables, {rules.target, false})
                       : mixed::convertTyped(graph, assignment, variables,
                                             {.target = rules.target, .assignBody = {}}));
        nodes = conversion.graph.nodeCount();
    }
    state.counters["nodes"] = static_cast<double>(graph.nodeCount());
    state.counters["converted"] = static_cast<double>(nodes);
}

/// The whole of it, parameters cast.
void convertModel(benchmark::State &state, const graph::Model &model)
{
    policy::Policy policy;
    policy.mode = policy::Mode::Typed;
    for (auto _ : state)
        benchmark::DoNotOptimize(must(mixed::convertModel(model, policy, false)));
}

void loadModel(benchmark::State &state, const std::string &path)
{
    for (auto _ : state)
        benchmark::DoNotOptimize(must(io::loadModel(path, {})));
}

void writeSymbol(benchmark::State &state, const graph::Graph &graph)
{
    for (auto _ : state)
        benchmark::DoNotOptimize(io::writeSymbol(graph));
}

/// Both modes side by side: "convert/NAME" (mxnet) and "convert_typed/NAME".
void registerConversions(const std::string &name, const graph::Graph &graph)
{
    benchmark::RegisterBenchmark(("convert/" + name).c_str(), convertGraph, graph, policy::Mode::NodeForNode)
        ->Unit(benchmark::kMicrosecond);
    benchmark::RegisterBenchmark(("convert_typed/" + name).c_str(), convertGraph, graph, policy::Mode::Typed)
        ->Unit(benchmark::kMicrosecond);
}

} // namespace

int main(int argc, char **argv)
{
    std::vector<std::string> notes;
    const std::string resnet = read(HALFTONE_TEST_DATA "/amp/zoo_resnet50_v2/model-symbol.json");
    const graph::Graph recorded = must(io::readSymbol(resnet, notes));
    registerConversions("resnet50_v2", recorded);
    for (const int size : {1'000, 10'000, 100'000})
        registerConversions("random_" + std::to_string(size), randomGraph(size));
    benchmark::RegisterBenchmark("read_symbol/resnet50_v2", [&](benchmark::State &state) {
        for (auto _ : state)
            benchmark::DoNotOptimize(must(io::readSymbol(resnet, notes)));
    })->Unit(benchmark::kMicrosecond);
    benchmark::RegisterBenchmark("write_symbol/resnet50_v2", writeSymbol, recorded)
        ->Unit(benchmark::kMicrosecond);
    const char *models = std::getenv("HALFTONE_BENCH_MODELS");
    std::istringstream paths(models == nullptr ? "" : models);
    for (std::string path; std::getline(paths, path, ':');) {
        const io::LoadedModel loaded = must(io::loadModel(path, {}));
        const std::string name = path.substr(path.rfind('/') + 1);
        if (dialect::of(loaded.model.graph).hasNodeForNodeMode())
            registerConversions(name, loaded.model.graph);
        benchmark::RegisterBenchmark(("convert_model/" + name).c_str(), convertModel, loaded.model)
            ->Unit(benchmark::kMillisecond);
        benchmark::RegisterBenchmark(("load/" + name).c_str(), loadModel, path)
            ->Unit(benchmark::kMillisecond);
    }
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
