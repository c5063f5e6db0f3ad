#include "core/api/inside.h"
#include "core/infer/infer_shapes.h"
#include "core/tensor/dtype.h"

#include "halftone/version.h"

namespace halftone::api {
namespace {

ErrorKind kindOf(Errc code)
{
    switch (code) {
    case Errc::BadInput:
        return ErrorKind::BadInput;
    case Errc::BadCall:
        return ErrorKind::BadCall;
    case Errc::Unsupported:
        return ErrorKind::Unsupported;
    case Errc::NoMemory:
        return ErrorKind::NoMemory;
    case Errc::Cancelled:
        break;
    }
    return ErrorKind::Cancelled;
}

} // namespace

std::string_view version()
{
    return HALFTONE_VERSION;
}

Error errorOf(const halftone::Error &error)
{
    std::string expected = error.expected;
    if (expected.starts_with("; ")) // advice
        expected.erase(0, 2);
    return {kindOf(error.code), error.file,  std::string(halftone::nameOf(error.field)),
            error.where,        error.found, std::move(expected),
            error.message()};
}

// The two lists of types have the same order.
static_assert(static_cast<int>(Type::Bool) == static_cast<int>(tensor::DType::Bool));
static_assert(static_cast<int>(Type::BFloat16) == static_cast<int>(tensor::DType::BF16));
static_assert(static_cast<int>(Type::Int64) == static_cast<int>(tensor::DType::I64));
static_assert(static_cast<int>(Type::Float8E8M0) == static_cast<int>(tensor::DType::F8E8M0));

Type typeOf(tensor::DType type)
{
    return static_cast<Type>(type);
}

tensor::DType dtypeOf(Type type)
{
    return static_cast<tensor::DType>(type);
}

std::string_view nameOf(Type type)
{
    return tensor::nameOf(dtypeOf(type));
}

std::size_t sizeOf(Type type)
{
    return tensor::sizeOf(dtypeOf(type));
}

std::optional<Shape> shapeOf(const tensor::Shape &shape)
{
    if (!shape.hasRank())
        return std::nullopt;
    return Shape(shape.dims().begin(), shape.dims().end());
}

halftone::Progress progressOf(const Progress &progress)
{
    return {progress.stop, progress.report};
}

walks::ExampleOptions examplesOf(const Data &data)
{
    return {data.inputs, data.preprocessing, data.labels, data.examples};
}

calibration::ThresholdMethod methodOf(ThresholdMethod method)
{
    switch (method) {
    case ThresholdMethod::MinMax:
        return calibration::ThresholdMethod::MinMax;
    case ThresholdMethod::Entropy:
        return calibration::ThresholdMethod::Entropy;
    case ThresholdMethod::Percentile:
        return calibration::ThresholdMethod::Percentile;
    case ThresholdMethod::Mse:
        break;
    }
    return calibration::ThresholdMethod::Mse;
}

std::vector<Warning> warningsOf(const std::vector<policy::Warning> &warnings)
{
    std::vector<Warning> all;
    all.reserve(warnings.size());
    for (const policy::Warning &warning : warnings)
        all.push_back({warning.entry, warning.text});
    return all;
}

} // namespace halftone::api
