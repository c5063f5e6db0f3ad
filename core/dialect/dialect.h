#pragma once

#include "core/base/result.h"
#include "core/dialect/needed_version.h"
#include "core/dialect/op_info.h"
#include "core/dialect/overridable.h"
#include "core/graph/graph.h"
#include "core/ops/operator.h"
#include "core/tensor/dtype.h"
#include "core/tensor/shape.h"
#include "core/tensor/tensor.h"

#include <array>
#include <cassert>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::dialect {

class Arithmetic;
class CodedPairs;
class QuantizedForms;

/// The role of a node for passes, independent of its name in the format.
enum class NodeRole : std::uint8_t
{
    Variable, ///< an input or a parameter
    Cast, ///< changes a floating-point type and nothing else; other types pass through
    MultiCast, ///< casts all inputs to one type; output k is input k
    Quantize, ///< floating point to codes
    Requantize, ///< integer sums to codes
    Dequantize, ///< codes to floating point
    Fused, ///< replaces its one body
    ControlFlow, ///< runs its bodies
    Other
};

constexpr bool isCast(NodeRole role)
{
    return role == NodeRole::Cast || role == NodeRole::MultiCast;
}

/// Is it Quantize, Requantize or Dequantize?
constexpr bool changesCodes(NodeRole role)
{
    return role == NodeRole::Quantize || role == NodeRole::Requantize || role == NodeRole::Dequantize;
}

/// An operator as written in a format.
struct OperatorText
{
    std::string op; ///< canonical name
    graph::Attributes attributes; ///< those that differ from the defaults, and required ones
};

/// Properties of a fused node besides its body.
struct FusedFacts
{
    bool isQuantized
        = false; ///< computes on codes: the ends of ranges follow the inputs and outputs of its body
    bool hasFloatOutput = false; ///< casts its output to float32
};

/// A mode of conversion that a format brings along.
struct OwnMode
{
    std::string_view name; ///< in policies and on the command line; empty: none
    std::string_view meaning; ///< for help
    /// The framework's calls, as policies name them: one that is given values, and one that is not (policy::DataRule, in its order).
    std::array<std::string_view, 2> calls{};
};

/// A graph in a newer version of its format, and why.
struct Raised
{
    graph::Graph graph;
    std::string why; ///< the reason, such as "bfloat16 in Conv"
};

/// The interface of a format. A graph carries its dialect (graph::Graph::dialect()), so that passes do not depend on formats:
/// operators are translated to the typed structs of core/ops and back, and everything specific to a format (roles of nodes, slots,
/// type rules, names of entries and arrays, built-in lists) is provided here. Objects live as long as the program and are
/// safe for all threads; a format with versions (opsets) has one per version.
///
/// To add a format, see README.md in this folder.
class Dialect
{
public:
    virtual ~Dialect() = default;

    virtual std::string_view name() const = 0; ///< name in files and options: "mxnet"
    virtual std::string_view title() const = 0; ///< display name: "MXNet"
    virtual std::string_view
    version() const = 0; ///< display name with the version of the operators: "MXNet 1.9.1"

    // --- operators
    /// The operator with that canonical name or alias; null: none. Fast.
    virtual const OpInfo *findOp(std::string_view name) const = 0;
    virtual std::span<const OpInfo *const> operators() const = 0; ///< all, by canonical name
    /// Do two texts mean the same value of this attribute: 2 and 2.0, (2,2) and [2, 2], True and 1?
    virtual bool sameValue(const AttributeSpec &spec, std::string_view a, std::string_view b) const = 0;
    /// Is the text a valid value of the attribute?
    virtual bool isValue(const AttributeSpec &spec, std::string_view text) const = 0;

    // --- nodes
    virtual NodeRole role(const graph::NodeDef &node) const = 0;
    /// The typed form of a node; ops::Opaque for a variable or an operator without a struct.
    /// fails: Errc::BadInput; `where` is "NODE: ATTRIBUTE".
    virtual Result<ops::Operator> read(const graph::NodeDef &node) const = 0;
    /// Like read(), but gives a fused int8 layer as ops::FusedProduct. fails: also if the body is not such a layer.
    virtual Result<ops::Operator> readFused(const graph::NodeDef &node) const { return read(node); }
    /// readFused() with known input values, for operators with inputs in place of attributes (such as the target shape of
    /// Reshape). `inputs`: by position; of unknown type if the value is unknown, but with its shape if known; may be shorter.
    /// Gives ops::Opaque with `waits` if a value is missing: read again when it is available.
    virtual Result<ops::Operator> readWith(const graph::NodeDef &node,
                                           std::span<const tensor::Tensor> inputs) const;
    /// Like read(), but fields that depend on input values are left unset.
    virtual Result<ops::Operator> readKind(const graph::NodeDef &node) const { return read(node); }
    /// The inverse of read(). fails: Errc::Unsupported if the format cannot express it.
    virtual Result<OperatorText> write(const ops::Operator &op) const = 0;
    /// A node of such an operator with the first so many inputs and one output.
    virtual graph::NodeDefPtr makeOperatorNode(OperatorText text, std::string name,
                                               std::uint32_t inputs) const;
    /// Needs: a node with one body that is not control flow.
    virtual FusedFacts fusedFacts(const graph::NodeDef &node) const;
    /// The name of a tensor as users of the format know it.
    virtual std::string entryName(const graph::Graph &graph, const graph::Entry &entry) const = 0;
    /// The attributes in a canonical form: equal exactly if they have the same meaning.
    virtual std::string attributeKey(const graph::NodeDef &node) const = 0;

    // --- variables and stored arrays
    virtual graph::NodeDefPtr makeVariable(std::string name, graph::Attributes attributes = {}) const = 0;
    /// The declared type of a variable; Unknown if it declares none. fails: BadInput, where = its name.
    virtual Result<tensor::DType> declaredType(const graph::NodeDef &variable) const = 0;
    virtual bool declaresType(const graph::NodeDef &variable) const = 0;
    /// The declared type as written in the format, if it is not supported; otherwise empty.
    virtual std::string foreignType(const graph::NodeDef &variable) const;
    /// Returns the same node if it already declares that type.
    virtual graph::NodeDefPtr withDeclaredType(const graph::NodeDefPtr &variable,
                                               tensor::DType type) const = 0;
    /// The declared shape of a variable of `graph`.
    virtual tensor::Shape declaredShape(const graph::Graph &graph, const graph::NodeDef &variable) const = 0;
    /// The axes to which values of a variable are bound; dialect::boundAxes().
    virtual std::optional<std::vector<std::string>> boundAxes(const graph::NodeDef &variable) const;
    /// Whether a variable of the main graph has a default value; dialect::defaultValueOf().
    virtual DefaultValue defaultValue(const graph::NodeDef &variable) const;
    /// For a node without inputs that creates a tensor of a given shape: that shape, if 0 is a valid extent in it; unknown
    /// otherwise.
    virtual tensor::Shape filledShape(const graph::Graph &graph, const graph::NodeDef &node) const;
    /// The value of a constant node.
    /// fails: BadInput for a constant node without a value.
    virtual Result<std::optional<tensor::Tensor>> constantOf(const graph::NodeDef &node) const;
    /// The constant node with other values. Needs: constantOf() gives a value.
    virtual graph::NodeDefPtr withConstant(const graph::NodeDefPtr &node, tensor::Tensor values) const;
    /// The variable that an array of a parameter file belongs to.
    virtual std::string_view variableOf(std::string_view arrayName) const = 0;
    /// The name of the array of a variable in a parameter file. `isMutable`: an operator writes to it.
    virtual std::string arrayName(std::string_view variable, bool isMutable) const = 0;

    // --- nodes that passes insert
    virtual graph::NodeDefPtr makeCast(std::string name, tensor::DType type) const = 0;
    virtual graph::NodeDefPtr makeMultiCast(std::string name, std::size_t tensors) const = 0;
    virtual graph::NodeDefPtr makeCopy(std::string name) const = 0; ///< passes its input on
    /// A constant node with these values, whose output has its name; null if the format has none.
    virtual graph::NodeDefPtr makeConstant(std::string name, tensor::Tensor values) const;
    /// The name of a cast after the tensor `base`; likewise of a multicast.
    virtual std::string castName(std::string base, tensor::DType type) const = 0;
    virtual std::string multiCastName(std::string base) const = 0;
    /// Could castName() or multiCastName() have made this name?
    virtual bool isCastName(std::string_view name) const = 0;

    /// The graph in a newer version of its format: at least `wanted` (0: no minimum), in which its operators support that 16-bit
    /// type. Nodes keep their positions and meaning. Absent if the current version suffices.
    /// fails: BadCall (Field::Opset) for an unknown version; Unsupported for a node that the newer version cannot express;
    /// where = the node
    virtual Result<std::optional<Raised>> raised(const graph::Graph &graph, tensor::DType target,
                                                 int wanted) const;
    /// The version number (opset); 0: the format has none.
    virtual int versionNumber() const { return 0; }
    /// The version from which on the nodes that `isLowered` names support that 16-bit type; dialect::neededVersion().
    virtual NeededVersion neededVersion(const graph::Graph &graph, tensor::DType target,
                                        const IsLowered &isLowered) const;
    /// By NodeId: the operator that a node of a raised graph belongs to; dialect::raisedParts().
    virtual std::vector<graph::NodeId> raisedParts(const graph::Graph &graph) const;
    /// The mode that converts node for node as the format's framework does. Default: none.
    virtual OwnMode nodeForNodeMode() const { return {}; }
    bool hasNodeForNodeMode() const { return !nodeForNodeMode().name.empty(); }
    /// Are types of parameters inferred from their readers unless the graph declares them? False: files store them with the values.
    virtual bool infersParameterTypes() const { return true; }
    /// Are parameters stored in the target type by default?
    virtual bool storesCastParameters() const { return false; }
    /// Are parameters beyond the range of float16 clamped by default?
    virtual bool clampsParameters() const { return false; }

    // --- policies
    /// The versions of the built-in lists, the default first; empty: no lists.
    virtual std::span<const std::string_view> listVersions() const;
    /// The resource with the lists. Needs: one of listVersions(), a 16-bit type.
    virtual std::string listResource(tensor::DType target, std::string_view version) const;
    /// Do the built-in lists name this operator although its body decides?
    virtual bool isJudgedByBody(std::string_view op) const;
    /// Do the lists of other converters (policy::importLists()) name its operators?
    virtual bool hasForeignLists() const { return false; }

    // --- optional parts of a format; null: not available
    virtual const QuantizedForms *quantizedForms() const { return nullptr; }
    virtual const CodedPairs *codedPairs() const { return nullptr; }
    virtual const Arithmetic *arithmetic() const { return nullptr; }
    /// The declared shape of an output of `graph`; of unknown rank if it declares none.
    virtual tensor::Shape declaredHead(const graph::Graph &graph, std::size_t head) const;
};

/// The number of outputs of a node, including hidden and named ones. `info`: of its operator, or null.
std::size_t outputCountOf(const OpInfo *info, const graph::NodeDef &node);

/// The dialect of a graph. Needs: it has one, as every graph with nodes does.
inline const Dialect &of(const graph::Graph &graph)
{
    assert(graph.dialect() != nullptr);
    return *graph.dialect();
}

/// The variable of `graph` that an array of its parameters belongs to.
inline std::string_view variableOf(const graph::Graph &graph, std::string_view arrayName)
{
    return of(graph).variableOf(arrayName);
}

inline NodeRole roleOf(const graph::Graph &graph, graph::NodeId id)
{
    return graph.isVariable(id) ? NodeRole::Variable : of(graph).role(graph.node(id));
}

} // namespace halftone::dialect
