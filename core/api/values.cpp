#include "core/api/inside.h"
#include "core/policy/policy_options.h"
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

std::string textOf(const OrderedJson &json)
{
    return jsonText(json, 1); // broken UTF-8 in names
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

Type typeNamed(std::string_view name)
{
    return typeOf(tensor::dtypeNamed(name).value_or(tensor::DType::Unknown));
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

calibration::CodeType codesOf(Codes codes)
{
    return codes == Codes::Int8 ? calibration::CodeType::Int8
        : codes == Codes::UInt8 ? calibration::CodeType::Uint8
                                : calibration::CodeType::Auto;
}

halftone::Result<tensor::DType> accumulatorOf(const std::optional<Type> &type)
{
    return policy::accumulatorNamed(type ? nameOf(*type) : std::string_view());
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

halftone::Result<tensor::DType> precisionOf(const std::optional<Type> &type)
{
    if (!type)
        return tensor::DType::Unknown;
    if (*type != Type::Float32 && *type != Type::Float16 && *type != Type::BFloat16)
        return badCall("precision", std::string(nameOf(*type)), "float32, float16 or bfloat16");
    return dtypeOf(*type);
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
