#include "core/results/run_json.h"

#include "core/results/common_json.h"

namespace halftone::results {

OrderedJson runJson(const walks::RunOutcome &outcome, const std::string &backend)
{
    OrderedJson outputs = OrderedJson::array();
    for (const io::NamedTensor &output : outcome.outputs) {
        OrderedJson shape = OrderedJson::array();
        for (const std::int64_t dim : output.tensor.shape().dims())
            shape.push_back(dim);
        outputs.push_back({{"name", output.name},
                           {"shape", std::move(shape)},
                           {"dtype", tensor::nameOf(output.tensor.dtype())}});
    }
    OrderedJson kernels = OrderedJson::object();
    for (const auto &[name, count] : outcome.kernels)
        kernels[name] = count;
    OrderedJson accuracy;
    if (outcome.accuracy)
        accuracy = {{"top1", outcome.accuracy->top1},
                    {"top5", outcome.accuracy->top5},
                    {"examples", outcome.accuracy->examples}};
    return {{"backend", backend},
            {"seconds", outcome.seconds},
            {"batches", outcome.batches},
            {"kernels", std::move(kernels)},
            {"outputs", std::move(outputs)},
            {"accuracy", std::move(accuracy)},
            {"task", taskJson(outcome.task)},
            {"notes", outcome.notes}};
}

} // namespace halftone::results
