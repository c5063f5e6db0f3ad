// Latency of a model's plan: bench_run P-symbol.json [bfloat16|float16] [THREADS] [REPEATS] [layers]
#include "core/backends/backends.h"
#include "core/dialect/registry.h"
#include "core/infer/infer_types.h"
#include "core/infer/typed_model.h"
#include "core/infer/variables.h"
#include "core/io/model_io.h"
#include "core/kernels/latency_plan.h"
#include "core/mixed/convert_model.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

using namespace halftone;

namespace {

double now()
{
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

using Plan = std::unique_ptr<kernels::LatencyPlan>;

struct Means
{
    std::shared_ptr<const kernels::Backend> backend;
    kernels::PlanOptions options;
};

/// A plan of `model`, and the milliseconds that types, shapes and plan took.
Result<std::pair<Plan, double>> timedPlan(const graph::Model &model, const policy::Policy &policy, int size,
                                          const Means &means)
{
    const double before = now();
    std::unordered_map<std::string, tensor::Shape> known;
    for (const tensor::Array &array : model.parameters)
        known.emplace(dialect::dialectNamed("mxnet")->variableOf(array.name), array.shape);
    known["data"] = tensor::Shape({1, 3, size, size});
    HALFTONE_TRY(const infer::ShapeMap shapes, infer::inferShapes(model.graph, known));
    std::vector<policy::Warning> warnings;
    HALFTONE_TRY(const auto variables, infer::classifyVariables(model, policy, warnings));
    std::vector<tensor::DType> variableTypes;
    for (const auto &variable : variables)
        variableTypes.push_back(variable.type);
    HALFTONE_TRY(const infer::TypeMap types, infer::inferTypes(model.graph, variableTypes));
    HALFTONE_TRY(Plan plan, means.backend->plan({model, types, shapes}, means.options));
    return std::pair(std::move(plan), now() - before);
}

/// The plan after an edit: the convolution in the middle of the network takes another type.
Result<void> benchEdit(const graph::Model &source, policy::Policy policy, int size, const Means &means)
{
    std::vector<std::string> convolutions;
    for (graph::NodeId id = 0; id < source.graph.nodeCount(); ++id)
        if (source.graph.node(id).op == "Convolution")
            convolutions.push_back(source.graph.node(id).name);
    if (convolutions.empty())
        return {};
    const bool isWide = policy.target == tensor::DType::F32;
    if (isWide) {
        policy.target = tensor::DType::BF16;
        policy.targetOps.emplace();
    }
    const std::size_t middle = convolutions.size() / 2;
    for (const std::size_t at : {middle, middle + 1, middle - 1}) {
        policy::Policy edited = policy;
        edited.nodeOverrides[convolutions[at % convolutions.size()]]
            = isWide ? tensor::DType::BF16 : tensor::DType::F32;
        const double before = now();
        HALFTONE_TRY(const mixed::ConvertedModel converted, mixed::convertModel(source, edited, false));
        const double seconds = now() - before;
        HALFTONE_TRY(const auto made, timedPlan(converted.model, edited, size, means));
        std::printf("edit of %s: plan %.1f ms (conversion %.1f ms)\n",
                    convolutions[at % convolutions.size()].c_str(), made.second, seconds);
    }
    return {};
}

Result<void> bench(int argc, char **argv)
{
    const std::string target = argc > 2 ? argv[2] : "float32";
    const unsigned threads = argc > 3 ? static_cast<unsigned>(std::atoi(argv[3])) : 2;
    const int repeats = argc > 4 ? std::atoi(argv[4]) : 30;
    HALFTONE_TRY(const io::LoadedModel loaded, io::loadModel(argv[1], {}));
    graph::Model model = loaded.model;
    policy::Policy policy;
    policy.target = *tensor::dtypeNamed(target);
    if (target != "float32") {
        HALFTONE_TRY(mixed::ConvertedModel converted, mixed::convertModel(model, policy, false));
        model = converted.model;
    }
    const int size = argc > 5 ? std::atoi(argv[5]) : 224;
    HALFTONE_TRY(const auto backend, backends::planningBackend(backends::kDefaultBackend, threads));
    const Means means{backend, {std::make_shared<kernels::PlanCache>()}};
    HALFTONE_TRY(auto first, timedPlan(model, policy, size, means));
    std::printf("plan %.1f ms", first.second);
    HALFTONE_TRY(auto second, timedPlan(model, policy, size, means));
    const Plan plan = std::move(second.first);
    std::printf(", again %.1f ms, arena %.1f MB, constants %.1f MB, %zu steps\n", second.second,
                static_cast<double>(plan->arenaBytes().value_or(0)) / 1e6,
                static_cast<double>(plan->constantBytes().value_or(0)) / 1e6, plan->steps().size());
    HALFTONE_CHECK(benchEdit(loaded.model, policy, size, means));
    auto input = plan->input(0);
    for (std::size_t k = 0; k < input.size() / 4; ++k)
        reinterpret_cast<float *>(input.data())[k] = static_cast<float>(k % 255) / 128 - 1;
    std::vector<double> times;
    for (int k = 0; k < repeats; ++k) {
        const double before = now();
        HALFTONE_CHECK(plan->run());
        times.push_back(now() - before);
    }
    std::ranges::sort(times);
    std::printf("median %.3f ms, min %.3f ms\n", times[times.size() / 2], times[0]);
    const auto *out = reinterpret_cast<const float *>(plan->output(0).data());
    std::printf("output %g %g %g %g\n", static_cast<double>(out[0]), static_cast<double>(out[1]),
                static_cast<double>(out[2]), static_cast<double>(out[3]));
    if (argc > 6) {
        std::vector<double> best(plan->steps().size(), 1e30);
        HALFTONE_TRY(const auto timed, plan->timeSteps(static_cast<std::size_t>(repeats)));
        for (const std::vector<double> &us : timed)
            for (std::size_t i = 0; i < us.size(); ++i)
                best[i] = std::min(best[i], us[i]);
        double total = 0;
        for (std::size_t i = 0; i < best.size(); ++i) {
            const auto &step = plan->steps()[i];
            total += best[i];
            std::printf("%8.1f us %-10s %-8s %-28s %s .. %s (%zu)\n", best[i],
                        std::string(nameOf(step.kind)).c_str(),
                        std::string(tensor::nameOf(step.dtype)).c_str(), step.kernel.c_str(),
                        step.nodes.empty() ? "" : step.nodes.front().c_str(),
                        step.nodes.empty() ? "" : step.nodes.back().c_str(), step.nodes.size());
        }
        std::printf("sum of minima %.3f ms\n", total / 1e3);
    }
    return {};
}

} // namespace

int main(int argc, char **argv)
{
    const auto done = bench(argc, argv);
    if (!done.ok())
        std::fprintf(stderr, "error: %s\n", done.error().message().c_str());
    return done.ok() ? 0 : 1;
}
