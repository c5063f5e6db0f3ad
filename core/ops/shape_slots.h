#pragma once

#include "core/base/result.h"
#include "core/ops/dim.h"
#include "core/tensor/shape.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::ops {

/// The shapes around one operator while they are being completed. Knowledge only grows: setting a shape fills
/// in what is unknown and is an error where it contradicts. Positions beyond the ends are allowed (optional
/// inputs, hidden outputs): they read as unknown and setting them does nothing. Errors: `where` is "input 1"
/// or "output 0".
class ShapeSlots
{
public:
    ShapeSlots(std::span<tensor::Shape> inputs, std::span<tensor::Shape> outputs)
        : m_inputs(inputs)
        , m_outputs(outputs)
    {
    }

    std::size_t inputCount() const { return m_inputs.size(); }
    std::size_t outputCount() const { return m_outputs.size(); }
    const tensor::Shape &input(std::size_t i) const { return i < m_inputs.size() ? m_inputs[i] : kNone; }
    const tensor::Shape &output(std::size_t i) const { return i < m_outputs.size() ? m_outputs[i] : kNone; }
    /// Whether anything was filled in so far.
    bool changed() const { return m_changed; }

    Result<void> setInput(std::size_t i, const tensor::Shape &shape);
    Result<void> setOutput(std::size_t i, const tensor::Shape &shape);
    /// fails: also when a dimension is negative or out of range.
    Result<void> setInput(std::size_t i, const std::vector<Dim> &dims);
    Result<void> setOutput(std::size_t i, const std::vector<Dim> &dims);

    /// Input `i` and output `o` have one shape: each learns from the other.
    Result<void> unify(std::size_t i, std::size_t o);

    /// An error that tells input `i`'s shape and what it should have been.
    Error wrongInput(std::size_t i, std::string expected) const;
    /// fails: input `i` has a known rank other than `rank`.
    Result<void> needRank(std::size_t i, std::size_t rank) const;

private:
    Result<void> merge(tensor::Shape &into, const tensor::Shape &from, std::string_view what,
                       std::size_t position);
    Result<tensor::Shape> checked(const std::vector<Dim> &dims, std::string_view what, std::size_t position);

    static const tensor::Shape kNone;

    std::span<tensor::Shape> m_inputs;
    std::span<tensor::Shape> m_outputs;
    bool m_changed = false;
};

/// The largest rank taken on: a chain of operators that each add an axis must not cost memory without bound.
inline constexpr std::size_t kMaxRank = 32;

/// An attribute's value that no operator of the kind can have.
Error badAttribute(std::string_view name, std::string found, std::string expected);

/// `axis` counted from the front. fails: outside [-rank, rank).
Result<std::size_t> resolveAxis(std::int64_t axis, std::size_t rank);
/// All of `axes`, each once, ascending. fails: outside the rank, or one axis twice.
Result<std::vector<std::size_t>> resolveAxes(std::span<const std::int64_t> axes, std::size_t rank);

/// fails: `value` is below `least`.
Result<void> needAtLeast(std::string_view name, std::int64_t value, std::int64_t least);

/// The dimensions of a shape whose rank is known.
std::vector<Dim> dimsOf(const tensor::Shape &shape);
/// The same, or as many unknown ones as `rank` says.
std::vector<Dim> dimsOr(const tensor::Shape &shape, std::size_t rank);
/// Product of the dimensions from `first` on, up to `end`.
Dim product(const tensor::Shape &shape, std::size_t first, std::size_t end);

} // namespace halftone::ops
