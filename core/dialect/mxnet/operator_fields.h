#pragma once

#include "core/ops/op_types.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::dialect::mxnet {

/// One side of an operator's attributes: reads them from text into a struct, or writes the struct as text. A
/// describe() function (see operator_describe.h) names each attribute once and so serves both ways. An
/// attribute that the operator lacks, or that says None where the struct has no place for it, leaves the
/// struct's own default. The first failure is kept; what follows it does nothing.
class OperatorFields
{
public:
    virtual ~OperatorFields() = default;

    virtual void integer(std::string_view key, std::int64_t &value) = 0;
    virtual void optionalInteger(std::string_view key, std::optional<std::int64_t> &value) = 0;
    virtual void real(std::string_view key, double &value) = 0;
    virtual void optionalReal(std::string_view key, std::optional<double> &value) = 0;
    virtual void boolean(std::string_view key, bool &value) = 0;
    virtual void tuple(std::string_view key, ops::Dims &value) = 0;
    virtual void optionalTuple(std::string_view key, std::optional<ops::Dims> &value) = 0;
    /// A tuple whose elements may be None.
    virtual void sparseTuple(std::string_view key, ops::OptionalDims &value) = 0;
    virtual void realTuple(std::string_view key, std::vector<double> &value) = 0;
    virtual void dtype(std::string_view key, ops::DType &value) = 0;
    /// One of `texts`, by position.
    virtual void choiceIndex(std::string_view key, std::size_t &index,
                             std::span<const std::string_view> texts)
        = 0;

    /// True when the struct is being filled in.
    virtual bool isReading() const = 0;
    /// The struct or the attribute says what the other side cannot.
    virtual void fail(std::string_view key, std::string found, std::string expected) = 0;

    /// An enum whose values are named by `texts` in their order.
    template <class E>
    void choice(std::string_view key, E &value, std::span<const std::string_view> texts)
    {
        auto index = static_cast<std::size_t>(value);
        choiceIndex(key, index, texts);
        value = static_cast<E>(index);
    }
};

} // namespace halftone::dialect::mxnet
