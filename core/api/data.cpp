#include "halftone/data.h"

#include "core/api/inside.h"
#include "core/base/guarded.h"

#include <algorithm>

namespace halftone::api {
namespace {

/// Batches of one input, joined along the first axis.
struct JoinedArray
{
    std::string name;
    Type type = Type::Unknown;
    Shape shape;
    std::vector<std::byte> bytes;

    halftone::Result<void> add(const Array &array)
    {
        const bool isAlike = array.type == type && !shape.empty() && array.shape.size() == shape.size()
            && std::equal(shape.begin() + 1, shape.end(), array.shape.begin() + 1);
        if (!isAlike)
            return badInput(name,
                            std::string(nameOf(array.type)) + ' ' + tensor::Shape(array.shape).toString()
                                + " after batches of " + std::string(nameOf(type)) + ' '
                                + tensor::Shape(shape).toString(),
                            "batches that differ in their first axis only");
        HALFTONE_CHECK(tensorOf(array)); // whose bytes match
        shape.front() += array.shape.front();
        bytes.insert(bytes.end(), array.bytes.begin(), array.bytes.end());
        return {};
    }
};

class JoinedBatches
{
public:
    halftone::Result<void> add(const std::vector<Array> &batch)
    {
        const bool isFirst = m_arrays.empty();
        if (!isFirst && batch.size() != m_arrays.size())
            return badInput({}, std::to_string(batch.size()) + " arrays in a batch",
                            std::to_string(m_arrays.size()) + ", as in the first");
        for (const Array &array : batch) {
            const auto found = std::ranges::find(m_arrays, array.name, &JoinedArray::name);
            if (found != m_arrays.end() && !isFirst) {
                HALFTONE_CHECK(found->add(array));
            } else if (found != m_arrays.end() || !isFirst) {
                return badInput(array.name, isFirst ? "two arrays of this name" : "not in the first batch",
                                "the same arrays in every batch");
            } else {
                HALFTONE_CHECK(tensorOf(array));
                m_arrays.push_back(
                    {array.name, array.type, array.shape, {array.bytes.begin(), array.bytes.end()}});
            }
        }
        return {};
    }

    std::vector<io::NamedTensor> take()
    {
        std::vector<io::NamedTensor> arrays;
        for (JoinedArray &array : m_arrays)
            arrays.push_back({array.name,
                              tensor::Tensor::owning(dtypeOf(array.type), tensor::Shape(array.shape),
                                                     std::move(array.bytes))});
        return arrays;
    }

private:
    std::vector<JoinedArray> m_arrays;
};

} // namespace

Examples Inside::examples(std::vector<io::NamedTensor> arrays)
{
    return Examples(std::make_shared<const Examples::Content>(
        Examples::Content{std::make_shared<const std::vector<io::NamedTensor>>(std::move(arrays))}));
}

Examples::Examples(std::shared_ptr<const Content> content)
    : m_content(std::move(content))
{
}

std::size_t Examples::arrayCount() const
{
    return m_content->arrays->size();
}

Result<Examples> examplesOf(const std::function<std::vector<Array>()> &next)
{
    return answer([&]() -> halftone::Result<Examples> {
        JoinedBatches joined;
        for (std::vector<Array> batch = next(); !batch.empty(); batch = next())
            HALFTONE_CHECK(joined.add(batch));
        return Inside::examples(joined.take());
    });
}

Result<Examples> examplesOf(std::vector<Array> arrays)
{
    return answer([&]() -> halftone::Result<Examples> {
        std::vector<io::NamedTensor> tensors;
        for (const Array &array : arrays) {
            HALFTONE_TRY(tensor::Tensor tensor, tensorOf(array));
            tensors.push_back({array.name, std::move(tensor)});
        }
        return Inside::examples(std::move(tensors));
    });
}

halftone::Result<walks::ExampleOptions> examplesOf(const Data &data)
{
    walks::ExampleOptions options{data.inputs, data.preprocessing, data.labels, data.examples, data.targets};
    options.metric = tasks::metricNamed(data.metric);
    if (!options.metric && !data.metric.empty())
        return badCall("metric", '"' + data.metric + '"', "top1, top5, miou, psnr, cosine or perplexity");
    options.nextToken = data.nextToken;
    if (data.inMemory) {
        options.arrays = Inside::of(*data.inMemory).arrays;
        options.inputs = "data in memory";
    }
    return options;
}

std::optional<Accuracy> accuracyOf(const std::optional<tasks::Accuracy> &accuracy)
{
    if (!accuracy)
        return std::nullopt;
    return Accuracy{accuracy->top1, accuracy->top5, accuracy->examples};
}

std::optional<TaskScore> scoreOf(const std::optional<tasks::TaskScore> &score)
{
    if (!score)
        return std::nullopt;
    return TaskScore{std::string(tasks::nameOf(score->metric)),
                     score->isGuessed,
                     score->reference,
                     score->other,
                     score->agreement,
                     score->examples};
}

} // namespace halftone::api
