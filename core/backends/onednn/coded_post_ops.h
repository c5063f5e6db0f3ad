#pragma once

#include "core/backends/onednn/lower.h"
#include "core/ops/op_coded.h"

#include <optional>
#include <utility>
#include <vector>

namespace halftone::backends::onednn {

/// The steps of an ops::CodedChain as oneDNN's post-operations, with as few of them as say the same: factors and offsets are
/// joined, cuts are made last, and left out where they cut no code.
class CodedPostOps
{
public:
    /// Appends the steps of `chain` with the addends of `node`, and makes codes of the result.
    /// result  layout of what the node writes
    /// fails   Unsupported for an addend that does not lie so
    Result<void> take(Emitter &emitter, const plan::PlanNode &node, const ops::CodedChain &chain,
                      const Desc &result, bool mayOverwrite);
    /// value · k + c. Before take(): behind the product.
    void linear(double k, double c);

    /// What is to be done to the product's results first is taken out: factor and offset.
    std::pair<double, double> takeLeading();
    /// An offset before all that is left.
    void leadWith(double offset);
    dnnl::primitive_attr attributes() const;
    Program::Arguments arguments() const;
    const std::optional<Place> &sum() const { return m_sum; } ///< the result overwrites it

private:
    struct Item
    {
        enum class Kind : std::uint8_t { Linear, Clip, Function, Sum, Binary } kind = Kind::Linear;
        double a = 1; ///< Linear: factor; Clip: the least
        double b = 0; ///< Linear: offset; Clip: the most
        Eltwise function{};
        Place place{}; ///< Sum, Binary
    };

    void clip(double least, double most);
    void function(const ops::ElementFunction &function);
    void recode(const ops::CodeScale &scale);
    Result<void> add(Emitter &emitter, plan::ValueId addend, const ops::CodeScale &scale, const Desc &result,
                     bool mayOverwrite);
    void dropClip(const ops::CodeScale &scale);

    std::vector<Item> m_items;
    std::optional<Place> m_sum;
};

} // namespace halftone::backends::onednn
