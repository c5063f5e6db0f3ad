#pragma once

#include "core/mixed/cast_context.h"
#include "core/mixed/type_cut.h"
#include "core/mixed/typed_level.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace halftone::mixed {

/// What one cast weighs beside the bytes that it reads and writes: about what memory moves while an operator is started
/// (core/mixed/RULES.md, M-typed-cut).
inline constexpr std::int64_t kCastBytes = 65'536;

/// Which operators may compute in either type, and what every choice costs (core/mixed/RULES.md, M-typed-cut), in a graph and in the bodies of
/// its control flow. Terms are those of TypeCut: 0 is 16 bit, 1 is float32, 2 and on are the choices, then the variables that may be stored
/// in either type.
struct CastProblem
{
    using Term = TypeCut::Term;
    static constexpr Term kFirst = 2;

    /// A neutral or widest operator that no rule binds to its type; by time also one of the target list. Or what bodies of control flow are
    /// handed in or give.
    struct Choice
    {
        std::uint32_t level = 0; ///< which graph, as forLevels() meets them
        graph::NodeId node = 0;
        std::uint32_t port = TypedFlow::kNoPort; ///< of the control flow; else it is an operator
        tensor::DType type = tensor::DType::Unknown; ///< by M-typed-widest and M-typed-neutral
        bool prefersHalf
            = false; ///< where both cost the same: fewer bytes are kept; false: it stays as it is
        std::uint32_t firstTied = 0; ///< in `tied`
        std::uint32_t tiedCount = 0;
        std::int64_t half = 0; ///< what it costs by itself; 0 unless times are weighed
        std::int64_t float32 = 0;
    };

    /// A tensor that some choice reads or gives.
    struct Tensor
    {
        std::uint32_t level = 0; ///< which graph
        std::uint32_t output = 0; ///< TypedPlan's number
        Term producer = 0;
        std::uint32_t firstReader = 0; ///< in `readers`; heads are among them
        std::uint32_t readerCount = 0;
        std::int64_t bytes = 0; ///< read and written by a cast of it; 0: not known
        std::int64_t cost = 0; ///< of a cast of it
        std::uint32_t loops = 0; ///< that it lies in
        bool isFused = false; ///< by time: what gives it casts it on the way
    };

    std::vector<Choice> choices; ///< choice k is term kFirst + k
    std::vector<std::uint32_t> tied; ///< inputs that have the type of the operator's outputs, ascending
    std::uint32_t variables = 0; ///< how many terms there are behind the choices
    std::vector<Tensor> tensors;
    std::vector<Term> readers;
    std::vector<std::pair<Term, Term>> required; ///< where the first is 16 bit, so must the second be

    std::span<const std::uint32_t> tiedOf(const Choice &choice) const
    {
        return std::span(tied).subspan(choice.firstTied, choice.tiedCount);
    }
    std::span<const Term> readersOf(const Tensor &tensor) const
    {
        return std::span(readers).subspan(tensor.firstReader, tensor.readerCount);
    }
    bool isVariable(Term term) const { return term >= kFirst + choices.size(); }
};

/// The problem that the plans of a nest of graphs pose whose operators have the types that the rules give them one after the other.
CastProblem castProblem(const TypedLevel &root, const CastContext &context);

/// By choice: does it compute in 16 bit where everything costs least?
std::vector<bool> solved(const CastProblem &problem);

} // namespace halftone::mixed
