#include "halftone/run.h"

#include "core/api/inside.h"
#include "core/backends/backends.h"
#include "core/base/share_work.h"
#include "core/interpret/fed_types.h"
#include "core/interpret/interpreter.h"
#include "core/tensor/elements.h"
#include "core/walks/run.h"

#include <cstring>

namespace halftone::api {
namespace {

Array arrayOf(const std::string &name, const tensor::Tensor &tensor)
{
    return {name, typeOf(tensor.dtype()), shapeOf(tensor.shape()).value_or(Shape()),
            std::vector<std::byte>(tensor.bytes().begin(), tensor.bytes().end())};
}

halftone::Result<tensor::Tensor> tensorOf(const Array &array)
{
    const tensor::Shape shape(array.shape);
    const auto count = shape.elementCount();
    if (!count || array.type == Type::Unknown
        || array.bytes.size() / sizeOf(array.type) != static_cast<std::size_t>(*count)
        || array.bytes.size() % sizeOf(array.type) != 0)
        return badInput(array.name, std::to_string(array.bytes.size()) + " bytes",
                        "those of " + std::string(nameOf(array.type)) + ' ' + shape.toString());
    return tensor::Tensor::owning(dtypeOf(array.type), shape, array.bytes);
}

} // namespace

std::optional<Accuracy> accuracyOf(const std::optional<tasks::Accuracy> &accuracy)
{
    if (!accuracy)
        return std::nullopt;
    return Accuracy{accuracy->top1, accuracy->top5, accuracy->examples};
}

Array Array::of(std::string name, Shape shape, const std::vector<float> &values)
{
    Array array{std::move(name), Type::Float32, std::move(shape),
                std::vector<std::byte>(values.size() * sizeof(float))};
    if (!values.empty())
        std::memcpy(array.bytes.data(), values.data(), array.bytes.size());
    return array;
}

std::vector<float> Array::floats() const
{
    std::vector<float> values(type == Type::Unknown ? 0 : bytes.size() / sizeOf(type));
    tensor::widen(dtypeOf(type), bytes.data(), values.size(), values.data());
    return values;
}

Result<Run> run(const Model &model, const Data &data, const RunOptions &options, const Progress &progress)
{
    return answer([&]() -> halftone::Result<Run> {
        walks::RunSettings settings;
        setWork(settings, data, options.compute);
        settings.allNodes = options.allNodes;
        settings.randomParameters = options.randomParameters;
        HALFTONE_TRY(const walks::RunOutcome outcome,
                     Inside::sessionOf(model).run(settings, progressOf(progress)));
        Run run;
        for (const io::NamedTensor &output : outcome.outputs)
            run.outputs.push_back(arrayOf(output.name, output.tensor));
        run.seconds = outcome.seconds;
        run.batches = outcome.batches;
        run.kernels = outcome.kernels;
        run.accuracy = accuracyOf(outcome.accuracy);
        return run;
    });
}

Result<std::vector<Array>> run(const Model &model, const std::vector<Array> &inputs, const Compute &compute,
                               const Progress &progress)
{
    return answer([&]() -> halftone::Result<std::vector<Array>> {
        const graph::Model &source = Inside::graphModelOf(model);
        const unsigned threads = threadsFor(compute.threads);
        HALFTONE_TRY(const kernels::BackendChain backends, backends::backendChain(compute.backend, threads));
        HALFTONE_TRY(interpret::Interpreter interpreter, interpret::Interpreter::create(source, backends));
        interpret::Feed feed;
        for (const Array &array : inputs) {
            HALFTONE_TRY(feed[array.name], tensorOf(array));
            HALFTONE_CHECK(interpret::checkFedType(source.graph, array.name, feed[array.name].dtype()));
        }
        interpret::RunOptions how;
        how.progress = progressOf(progress);
        HALFTONE_TRY(const std::vector<tensor::Tensor> heads, interpreter.run(feed, how));
        std::vector<Array> outputs;
        const std::vector<std::string> names = walks::sourceOutputNames(source.graph);
        for (std::size_t k = 0; k < heads.size(); ++k)
            outputs.push_back(arrayOf(names[k], heads[k]));
        return outputs;
    });
}

} // namespace halftone::api
