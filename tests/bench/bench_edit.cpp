// How long an edit takes from the policy to its conversion, and how long the preview of a drop: bench_edit MODEL [DATA.npz [TIMES]]. With
// data operators in int8 have calibrated ranges. Medians in ms.
#include "core/session/document.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>

using namespace halftone;
using session::Document;
using session::Snapshot;

namespace {

double medianMs(int times, const std::function<void(int)> &work)
{
    std::vector<double> all;
    for (int k = 0; k < times; ++k) {
        const auto start = std::chrono::steady_clock::now();
        work(k);
        all.push_back(
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    }
    std::ranges::sort(all);
    return all[all.size() / 2];
}

[[noreturn]] void fail(const Error &error)
{
    std::fprintf(stderr, "error: %s\n", error.message().c_str());
    std::exit(1);
}

/// The most frequent operator beside products.
std::string movedOperator(const graph::Graph &graph)
{
    std::map<std::string, int> counts;
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        const std::string &op = graph.node(id).op;
        if (!graph.isVariable(id) && op != "Convolution" && op != "FullyConnected")
            ++counts[op];
    }
    return std::ranges::max_element(counts, {}, [](const auto &entry) { return entry.second; })->first;
}

/// That operator moves to and fro; each time the conversion is derived from the one before.
void measure(const char *what, Document &document, const policy::Policy &policy, int times)
{
    if (const auto applied = document.apply(policy::ReplacePolicy{policy, what}); !applied.ok())
        fail(applied.error());
    std::shared_ptr<const Snapshot> snapshot = Document::derive(document.request(), nullptr).value();
    if (snapshot->error)
        fail(*snapshot->error);
    const auto moveTo = [op = movedOperator(snapshot->graph())](int k) {
        return policy::MoveOperators{{op}, k % 2 == 0 ? policy::List::Fp32 : policy::List::Target};
    };
    const double preview
        = medianMs(times, [&](int k) { static_cast<void>(Document::effectOf(*snapshot, moveTo(k))); });
    const double edit = medianMs(times, [&](int k) {
        static_cast<void>(document.apply(moveTo(k)));
        snapshot = Document::derive(document.request(), snapshot.get()).value();
    });
    std::printf("%-28s preview %8.2f  edit %8.2f\n", what, preview, edit);
}

} // namespace

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    const int times = argc > 3 ? std::atoi(argv[3]) : 21;
    auto opened = Document::open(argv[1]);
    if (!opened.ok())
        fail(opened.error());
    Document &document = *opened.value();
    policy::Policy policy;
    policy.target = tensor::DType::BF16;
    measure("casts alone", document, policy, times);
    policy.castParams = true;
    measure("parameters stored", document, policy, times);
    policy.int8Ops = {"Convolution", "FullyConnected"};
    measure("int8, ranges at run time", document, policy, times);
    if (argc < 3)
        return 0;
    walks::CalibrateOptions options;
    options.examples.inputs = argv[2];
    options.threshold.codes = calibration::CodeType::Auto;
    options.threshold.method = policy::kDefaultThresholdMethod;
    auto calibration = document.session().calibrate(options);
    if (!calibration.ok())
        fail(calibration.error());
    document.setCalibration(std::make_shared<const walks::CalibrateOutcome>(std::move(calibration).value()));
    measure("int8, calibrated", document, policy, times);
}
