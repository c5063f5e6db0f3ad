// How long a person waits for figures after an edit: bench_live MODEL DATA EXAMPLES [f16|bf16]. DATA: an .npz or a folder of pictures.
// Seconds until the first errors, until errors of all examples, until the first layer alone, until all statistics.
#include "core/session/document.h"
#include "core/session/live_comparison.h"
#include "core/walks/calibrate.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>

using namespace halftone;
using session::Document;
using session::Snapshot;

namespace {

template <class T>
T take(Result<T> result)
{
    if (!result.ok()) {
        std::fprintf(stderr, "error: %s\n", result.error().message().c_str());
        std::exit(1);
    }
    return std::move(result).value();
}

void apply(Document &document, const policy::Edit &edit)
{
    if (const auto applied = document.apply(edit); !applied.ok()) {
        std::fprintf(stderr, "error: %s\n", applied.error().message().c_str());
        std::exit(1);
    }
}

class Clock
{
public:
    double seconds() const
    {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - m_start).count();
    }

private:
    std::chrono::steady_clock::time_point m_start = std::chrono::steady_clock::now();
};

void compare(const char *what, session::LiveComparison &live, const Snapshot &snapshot,
             const walks::CompareOptions &options)
{
    const Clock clock;
    double first = 0;
    const auto outcome = take(live.compare(snapshot, options, {}, [&](const walks::CompareOutcome &) {
        first = first > 0 ? first : clock.seconds();
    }));
    std::printf("%-32s first %6.2f  all %6.2f  (%zu nodes)\n", what, first > 0 ? first : clock.seconds(),
                clock.seconds(), live.computedNodes());
}

/// Stops once a row is there.
void compareAlone(session::LiveComparison &live, const Snapshot &snapshot, walks::CompareOptions options)
{
    options.settings.isolated = true;
    const Clock clock;
    std::stop_source stop;
    const auto stopped
        = live.compare(snapshot, options, {stop.get_token(), {}}, [&](const walks::CompareOutcome &outcome) {
              if (std::ranges::any_of(outcome.comparison.layers,
                                      [](const auto &l) { return l.isolated.has_value(); }))
                  stop.request_stop();
          });
    std::printf("%-32s first %6.2f\n", "layers alone", clock.seconds());
}

} // namespace

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    const auto document = take(Document::open(argv[1]));
    policy::Policy policy;
    policy.target
        = argc > 4 && std::string_view(argv[4]) == "bf16" ? tensor::DType::BF16 : tensor::DType::F16;
    walks::CompareOptions options;
    options.examples.inputs = argv[2];
    options.examples.examples = static_cast<std::size_t>(std::atoi(argv[3]));
    apply(*document, policy::ReplacePolicy{policy, "target"});
    auto snapshot = take(Document::derive(document->request(), nullptr));
    session::LiveComparison live;
    compare("attached", live, *snapshot, options);
    const auto edit = [&](const char *what, const policy::Edit &change) {
        apply(*document, change);
        snapshot = take(Document::derive(document->request(), snapshot.get()));
        compare(what, live, *snapshot, options);
    };
    edit("all else: the other target",
         policy::SetTarget{policy.target == tensor::DType::F16 ? tensor::DType::BF16 : tensor::DType::F16});
    edit("convolutions in float32", policy::MoveOperators{{"Convolution"}, policy::List::Fp32});
    document->undo();
    snapshot = take(Document::derive(document->request(), snapshot.get()));
    compare("undone", live, *snapshot, options);
    compareAlone(live, *snapshot, options);
    walks::CalibrateOptions calibrate;
    calibrate.examples = options.examples;
    calibrate.threshold.codes = calibration::CodeType::Auto;
    calibrate.threshold.method = policy::kDefaultThresholdMethod;
    const Clock clock;
    const auto outcome = take(walks::calibrateModel(snapshot->source->model, argv[1], calibrate, {}));
    std::printf("%-32s all %9.2f  (%zu tensors)\n", "statistics", clock.seconds(), outcome.tensors.size());
}
