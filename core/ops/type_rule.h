#pragma once

#include "core/tensor/dtype.h"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace halftone::ops {

/// What came of applying a type rule (the three ends of MXNet's FInferType: true, false, exception).
enum class TypeOutcome
{
    Complete, ///< the rule is content
    Incomplete, ///< the rule needs to know more; what it could fill in is filled in
    Refused, ///< a type is not allowed there, or one that must be given is open
};

/// How the element types of an operator's inputs and outputs hang together. A small value made once per
/// operator (a copy is a few words) and applied many times, so application does no parsing and no allocation.
///
/// Text form: `inputs -> outputs`, each a comma-separated list of items, one for each position. An item is
///
///     T         a variable (one capital letter other than D): all its positions have one type
///     <T        takes the variable's type and does not give it
///     float32   that type, filled in where open, refused where another type is
///     D         the type that an attribute names (see parse()); open when that is Unknown
///     _         any type of its own; the rule is incomplete while it is open
///     ?         any type of its own, and it may stay open
///     signed    int8 when any input is, else uint8 (quantized operators that join their inputs)
///     f(T)      follows the variable through a function f:
///       wide    float32 for a 16-bit float, else T
///       wide16  float32 for float16, else T
///       cast    D for float16, bfloat16 and float32, else T
///       scalar  int64 for bool, else T (arithmetic with an integer); a type given here gives the variable
///       real    T for floats, else float64 (arithmetic with a real number); likewise
///
/// and may be followed, in this order, by
///
///     =float32  on a variable: its type when nothing gives it (also =D, or an earlier variable);
///               on `_`: the position's type when it is open
///     {a|b}     no type but these is allowed there; `integer` and `float` stand for all of a kind
///     !         refused while this position is open
///     ~         incomplete while this position is open, and nothing is filled in
///     ...       stands for any number of further positions; `(T, U)...` repeats in turn. Only at the end
///
/// An operator may have fewer positions than the rule (optional trailing inputs); positions beyond a rule
/// without `...` are `?`. Some rules are no such list: `multicast` and `multicast narrow` (amp_multicast),
/// `promote` (NumPy's binary arithmetic), and `fallback`, which is `T... -> T...` for an operator that has
/// no rule of its own: see isFallback().
class TypeRule
{
public:
    /// Reads the text form; asserts on a malformed one (rules are ours, never a user's). `attributeType`
    /// stands for D.
    static TypeRule parse(std::string_view text, tensor::DType attributeType = tensor::DType::Unknown);

    /// The same rule with another type for D.
    TypeRule withAttributeType(tensor::DType type) const;

    /// The framework declares no rule for the operator, and its inference over a graph assumes one type for
    /// all. Who asks the operator itself (MXNet's AMP does) learns nothing: no failure, all else stays open.
    bool isFallback() const { return m_isFallback; }

    /// Completes `inputs` and `outputs` in place (DType::Unknown is open); a known type is never changed. On
    /// Refused some open positions may have been filled. Refused also when two known types contradict;
    /// `where` then gets the position (inputs first, then outputs), if not null.
    TypeOutcome apply(std::span<tensor::DType> inputs, std::span<tensor::DType> outputs,
                      std::size_t *where = nullptr) const;

private:
    friend class TypeRuleReader;
    class Application;

    static constexpr std::size_t kMaxItems = 16;
    static constexpr std::size_t kMaxVariables = 4;

    enum class Kind : std::uint8_t
    {
        Any,
        Own,
        Fixed,
        Attribute,
        Variable,
        Taker,
        Signed,
        Function
    };
    enum class Need : std::uint8_t
    {
        None,
        OrIncomplete,
        OrRefused
    };
    enum class Function : std::uint8_t
    {
        Wide,
        Wide16,
        Cast,
        Scalar,
        Real
    };
    enum class Form : std::uint8_t
    {
        List,
        Multicast,
        MulticastNarrow,
        Promote
    };

    struct Item
    {
        Kind kind = Kind::Any;
        Need need = Need::None;
        Function function = Function::Wide;
        std::uint8_t variable = 0;
        tensor::DType fixed = tensor::DType::Unknown;
        std::uint32_t allowed = 0xFFFFFFFF; ///< a bit per DType
    };
    struct Default
    {
        tensor::DType type = tensor::DType::Unknown;
        bool isAttribute = false;
        std::uint8_t variable = kMaxVariables; ///< kMaxVariables: none
    };
    /// The items of the inputs or of the outputs: a run in m_items, of which the last `repeated` ones come
    /// again and again.
    struct List
    {
        std::uint8_t first = 0;
        std::uint8_t count = 0;
        std::uint8_t repeated = 0;
    };

    const Item &item(const List &list, std::size_t position) const;

    std::array<Item, kMaxItems> m_items{};
    std::array<Default, kMaxVariables> m_defaults{};
    List m_inputs;
    List m_outputs;
    Form m_form = Form::List;
    bool m_isFallback = false;
    tensor::DType m_attributeType = tensor::DType::Unknown;
};

} // namespace halftone::ops
