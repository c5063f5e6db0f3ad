#include "core/walks/next_tokens.h"

#include "core/base/text.h"
#include "core/tensor/elements.h"
#include "core/walks/implied_inputs.h"

#include <algorithm>

namespace halftone::walks {
namespace {

using tensor::Tensor;

bool areTokens(const Tensor &array)
{
    return !tensor::isFloat(array.dtype()) && array.dtype() != tensor::DType::Bool
        && array.shape().rank() == 2;
}

const io::NamedTensor *arrayNamed(const std::vector<io::NamedTensor> &arrays, std::string_view name)
{
    const auto found = std::ranges::find(arrays, name, &io::NamedTensor::name);
    return found == arrays.end() ? nullptr : &*found;
}

Result<const io::NamedTensor *> tokensOf(const std::vector<io::NamedTensor> &arrays, const std::string &name)
{
    std::vector<std::string> candidates;
    for (const io::NamedTensor &array : arrays)
        if (areTokens(array.tensor) && !isImplied(array.name))
            candidates.push_back(array.name);
    if (name.empty() && candidates.size() != 1)
        return badCall("next_token",
                       candidates.empty() ? std::string("no integer input of shape [examples, steps]")
                                          : "several inputs may be the tokens: " + joined(candidates),
                       candidates.empty() ? "labels" : "the name of one of them, or labels");
    const std::string &wanted = name.empty() ? candidates.front() : name;
    const io::NamedTensor *const tokens = arrayNamed(arrays, wanted);
    if (tokens == nullptr)
        return badCall("next_token", '"' + wanted + "\": no input array has this name",
                       candidates.empty() ? "an integer array" : joined(candidates));
    if (!areTokens(tokens->tensor) || tokens->tensor.shape()[1] < 2)
        return badInput(wanted,
                        std::string(tensor::nameOf(tokens->tensor.dtype())) + " of shape "
                            + tokens->tensor.shape().toString(),
                        "integers of shape [examples, steps] with at least two steps");
    return tokens;
}

} // namespace

Result<NextTokens> nextTokens(const std::vector<io::NamedTensor> &arrays, const std::string &name)
{
    HALFTONE_TRY(const io::NamedTensor *const tokens, tokensOf(arrays, name));
    const Tensor &ids = tokens->tensor;
    NextTokens next;
    next.input = tokens->name;
    next.labels.perExample = static_cast<std::size_t>(ids.shape()[1]);
    next.labels.classes = tensor::integers(ids.dtype(), ids.bytes().data(), ids.elementCount());
    std::vector<std::int64_t> &classes = next.labels.classes;
    std::rotate(classes.begin(), classes.begin() + 1, classes.end());
    for (std::size_t at = next.labels.perExample; at <= classes.size(); at += next.labels.perExample)
        classes[at - 1] = io::Labels::kNotJudged;
    const io::NamedTensor *const mask = arrayNamed(arrays, kMask);
    if (mask == nullptr || mask->tensor.shape() != ids.shape())
        return next;
    std::vector<float> isThere(classes.size());
    tensor::widen(mask->tensor.dtype(), mask->tensor.bytes().data(), isThere.size(), isThere.data());
    for (std::size_t at = 0; at + 1 < classes.size(); ++at)
        if (isThere[at] == 0 || isThere[at + 1] == 0)
            classes[at] = io::Labels::kNotJudged;
    return next;
}

} // namespace halftone::walks
