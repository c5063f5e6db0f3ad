#pragma once

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/ops/operator.h"
#include "core/tensor/tensor.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::dialect::tflite {

/// What a row of the table of operators reads a node with: its options, which are 0 where they are not written, and the values and
/// shapes of its inputs. The first failure is kept, and what is read after it does not count; likewise a value that is not known yet.
class NodeFields
{
public:
    /// `values`: of the inputs by position, of unknown type where a value is not known; may be shorter.
    NodeFields(const graph::NodeDef &node, std::span<const tensor::Tensor> values)
        : m_node(node)
        , m_values(values)
    {
    }

    std::int64_t integer(std::string_view key, std::int64_t otherwise = 0);
    double real(std::string_view key, double otherwise = 0);
    bool isSet(std::string_view key) { return integer(key) != 0; }
    bool has(std::string_view key) const { return m_node.attributes.find(key) != nullptr; }
    std::string_view text(std::string_view key) const;
    ops::Dims integers(std::string_view key);

    std::size_t outputs() const { return m_node.outputs.size(); }
    bool hasInput(std::size_t slot) const { return position(slot).has_value(); }
    /// The shape of the weight, input 1; empty where it is not known; the node waits then.
    ops::Dims weightShape();
    std::size_t inputs() const { return m_node.slots.size(); }
    /// What a file gives as an input, from the attribute of that name if its value was known when the file was read. The node waits
    /// where it is not known.
    ops::Dims integersAt(std::string_view key, std::size_t slot);
    double realAt(std::size_t slot);

    void fail(std::string_view key, std::string found, std::string expected);
    bool waits() const { return m_waits; }
    const std::optional<Error> &error() const { return m_error; }

private:
    std::optional<std::size_t> position(std::size_t slot) const;
    const tensor::Tensor *value(std::size_t slot);

    const graph::NodeDef &m_node;
    std::span<const tensor::Tensor> m_values;
    bool m_waits = false;
    std::optional<Error> m_error;
};

struct OperatorRow
{
    std::string_view name;
    std::size_t inputs; ///< that must be there
    ops::Operator (*read)(NodeFields &);
};

std::span<const OperatorRow> elementwiseRows();
std::span<const OperatorRow> layerRows();
std::span<const OperatorRow> movementRows();
const OperatorRow *findRow(std::string_view name); ///< null: not computed

/// "[1,2]", as attributes hold lists.
std::string listText(std::span<const std::int64_t> values);
std::optional<ops::Dims> integersIn(std::string_view text);

} // namespace halftone::dialect::tflite
