#pragma once

#include "core/base/result.h"
#include "core/dialect/onnx/op_info.h"
#include "core/graph/graph.h"
#include "core/ops/operator.h"
#include "core/tensor/tensor.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::dialect::onnx {

/// What a row of the operator table reads a node with: its attributes (those not written with the schema's default), which of
/// its inputs are there, and the values of inputs that are what older opsets and other formats have as attributes. The first
/// failure is kept, and what is read after it is of no account; the same goes for a value that is not known yet.
class NodeReader
{
public:
    /// `values`: of the inputs by position, of unknown type where a value is not known; may be shorter.
    NodeReader(const graph::NodeDef &node, const OpInfo &info, int opset,
               std::span<const tensor::Tensor> values);

    int opset() const { return m_opset; }
    const graph::NodeDef &node() const { return m_node; }

    // --- attributes
    bool has(std::string_view key) const; ///< written
    std::int64_t integer(std::string_view key, std::int64_t otherwise = 0);
    std::optional<std::int64_t> optionalInteger(std::string_view key);
    double real(std::string_view key, double otherwise = 0);
    std::optional<double> optionalReal(std::string_view key);
    bool boolean(std::string_view key, bool otherwise = false); ///< fails: neither 0 nor 1
    ops::Dims integers(std::string_view key); ///< empty where there are none
    std::optional<ops::Dims> optionalIntegers(std::string_view key);
    std::vector<double> reals(std::string_view key);
    std::string text(std::string_view key);
    std::vector<std::string> texts(std::string_view key);
    tensor::DType type(std::string_view key); ///< Unknown where none is written
    const tensor::Tensor *tensor(std::string_view key) const { return m_node.tensorOf(key); }
    /// The position among `texts` of what the attribute says. fails: another text.
    std::size_t choice(std::string_view key, std::span<const std::string_view> texts);

    // --- inputs, by slot of the operator
    bool hasInput(std::size_t slot) const { return position(slot).has_value(); }
    /// The slot's position among the inputs that are there, as kernels count them.
    std::optional<std::size_t> position(std::size_t slot) const;
    std::size_t inputCount() const { return m_inputs; } ///< that are there
    std::size_t outputCount() const { return m_node.outputs.size(); }

    // --- values and shapes of inputs; the node waits where one that is there is not known
    /// Null for an input that is absent or not known.
    const tensor::Tensor *value(std::size_t slot);
    /// Of an input whose value may be unknown. Null for one that is absent or of which an extent is not known.
    const tensor::Shape *shape(std::size_t slot);
    std::optional<ops::Dims> optionalIntegersAt(std::size_t slot); ///< nothing for an absent input
    ops::Dims integersAt(std::size_t slot) { return optionalIntegersAt(slot).value_or(ops::Dims()); }
    std::optional<std::int64_t> optionalIntegerAt(std::size_t slot);
    std::vector<double> realsAt(std::size_t slot); ///< empty for an absent input
    std::optional<double> optionalRealAt(std::size_t slot);
    /// The value of that slot where it is known, without waiting for it.
    const tensor::Tensor *knownValue(std::size_t slot) const;

    /// `key`: an attribute or input. The first call counts.
    void fail(std::string_view key, std::string found, std::string expected);
    void wait() { m_waits = true; }

    bool waits() const { return m_waits; }
    const std::optional<Error> &error() const { return m_error; }

private:
    std::optional<std::string_view> find(std::string_view key) const;

    const graph::NodeDef &m_node;
    const OpInfo &m_info;
    int m_opset;
    std::span<const tensor::Tensor> m_values;
    std::size_t m_inputs;
    bool m_waits = false;
    std::optional<Error> m_error;
};

} // namespace halftone::dialect::onnx
