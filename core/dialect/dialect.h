#pragma once

#include "core/base/result.h"
#include "core/dialect/op_info.h"
#include "core/graph/graph.h"
#include "core/ops/operator.h"
#include "core/tensor/dtype.h"
#include "core/tensor/shape.h"
#include "core/tensor/tensor.h"

#include <cassert>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace halftone::dialect {

class Arithmetic;
class QuantizedForms;

/// What a node is to a pass, whatever its format calls it.
enum class NodeRole : std::uint8_t
{
    Variable, ///< fed, or a parameter
    Cast, ///< changes the type of a float and nothing else; every other type passes through it
    MultiCast, ///< casts all its inputs to one type: output k is input k
    Quantize, ///< reals to codes
    Requantize, ///< sums of codes to codes
    Dequantize, ///< codes to reals
    Fused, ///< stands for its one body
    ControlFlow, ///< runs its bodies
    Other
};

constexpr bool isCast(NodeRole role)
{
    return role == NodeRole::Cast || role == NodeRole::MultiCast;
}

/// Between reals and codes, or between codes.
constexpr bool changesCodes(NodeRole role)
{
    return role == NodeRole::Quantize || role == NodeRole::Requantize || role == NodeRole::Dequantize;
}

/// An operator as a format spells it.
struct OperatorText
{
    std::string op; ///< canonical name
    graph::Attributes attributes; ///< those that differ from the defaults, and the required ones
};

/// What a fused node says of itself beside its body.
struct FusedFacts
{
    bool isQuantized = false; ///< on codes: ends of ranges stand behind the inputs of its body and its heads
    bool hasFloatOutput = false; ///< casts its output to float32
};

/// A graph in a newer version of its format, and why.
struct Raised
{
    graph::Graph graph;
    std::string why; ///< a phrase: "bfloat16 in Conv"
};

/// What one format calls things. A graph carries its dialect (graph::Graph::dialect()), so that no pass knows a format by
/// name: operators go to the typed structs of core/ops and back, and all that is format's own (roles of nodes, slots, type
/// rules, names of entries and arrays, built-in lists) is asked for here. Objects live as long as the program and are
/// read by all threads; a format with versions (opsets) has one for each.
///
/// A new format: a folder beside mxnet/ and a row in registry.cpp.
class Dialect
{
public:
    virtual ~Dialect() = default;

    virtual std::string_view name() const = 0; ///< as files and options call it: "mxnet"
    virtual std::string_view title() const = 0; ///< as sentences call it: "MXNet"
    virtual std::string_view
    version() const = 0; ///< with the version that operators are those of: "MXNet 1.9.1"

    // --- operators
    /// The operator of that canonical name or alias; null when there is none. Fast.
    virtual const OpInfo *findOp(std::string_view name) const = 0;
    virtual std::span<const OpInfo *const> operators() const = 0; ///< all, by canonical name
    /// True when two texts mean the same value of this attribute: 2 and 2.0, (2,2) and [2, 2], True and 1.
    virtual bool sameValue(const AttributeSpec &spec, std::string_view a, std::string_view b) const = 0;
    /// Can the attribute ever have a value written so?
    virtual bool isValue(const AttributeSpec &spec, std::string_view text) const = 0;

    // --- nodes
    virtual NodeRole role(const graph::NodeDef &node) const = 0;
    /// The typed form of a node. A variable and an operator without a struct give ops::Opaque.
    /// fails: Errc::BadInput; `where` is "NODE: ATTRIBUTE".
    virtual Result<ops::Operator> read(const graph::NodeDef &node) const = 0;
    /// read(), but a fused layer on codes as ops::FusedProduct: what is computed. fails: also for a body that is no such layer.
    virtual Result<ops::Operator> readFused(const graph::NodeDef &node) const { return read(node); }
    /// readFused() of a node of which some inputs' values are known, for operators whose inputs are what others' attributes are
    /// (the shape that a reshape gives). `inputs`: by position, of unknown type where the value is not known, but of its shape
    /// where that is; may be shorter.
    /// Gives ops::Opaque with `waits` where it lacks a value: read again when that is there.
    virtual Result<ops::Operator> readWith(const graph::NodeDef &node,
                                           std::span<const tensor::Tensor> inputs) const;
    /// read() of what kind of operator it is: fields that inputs' values give, where the format has attributes as inputs, mean nothing.
    virtual Result<ops::Operator> readKind(const graph::NodeDef &node) const { return read(node); }
    /// The way back: read() of the result gives `op` again. fails: Errc::Unsupported when the format cannot say it.
    virtual Result<OperatorText> write(const ops::Operator &op) const = 0;
    /// Needs: a node with one body that is no control flow.
    virtual FusedFacts fusedFacts(const graph::NodeDef &node) const;
    /// The name of a tensor, as the format's users know it.
    virtual std::string entryName(const graph::Graph &graph, const graph::Entry &entry) const = 0;
    /// A node's attributes in a form that is equal exactly when they mean the same.
    virtual std::string attributeKey(const graph::NodeDef &node) const = 0;

    // --- variables and stored arrays
    virtual graph::NodeDefPtr makeVariable(std::string name, graph::Attributes attributes = {}) const = 0;
    /// The type that a variable says it has; Unknown when it says none. fails: BadInput, where = its name.
    virtual Result<tensor::DType> declaredType(const graph::NodeDef &variable) const = 0;
    virtual bool declaresType(const graph::NodeDef &variable) const = 0;
    /// The declared type as the format spells it, if it is one that we cannot compute with; else empty.
    virtual std::string foreignType(const graph::NodeDef &variable) const;
    /// The same one when it says that already.
    virtual graph::NodeDefPtr withDeclaredType(const graph::NodeDefPtr &variable,
                                               tensor::DType type) const = 0;
    /// What a variable of `graph` says of its shape, as far as it reads.
    virtual tensor::Shape declaredShape(const graph::Graph &graph, const graph::NodeDef &variable) const = 0;
    /// Of a node that reads nothing and makes a tensor of a written shape: that shape, where 0 is an extent in it; open where it is
    /// not known, or where 0 leaves an extent open.
    virtual tensor::Shape filledShape(const graph::Graph &graph, const graph::NodeDef &node) const;
    /// What a node that reads nothing gives, where it holds that itself.
    /// fails: BadInput for a node that should and does not.
    virtual Result<std::optional<tensor::Tensor>> constantOf(const graph::NodeDef &node) const;
    /// The node with other values. Needs: one for which constantOf() gives some.
    virtual graph::NodeDefPtr withConstant(const graph::NodeDefPtr &node, tensor::Tensor values) const;
    /// The variable that an array of a parameter file belongs to.
    virtual std::string_view variableOf(std::string_view arrayName) const = 0;
    /// What the array of a variable is called in a parameter file. `isMutable`: some operator writes to it.
    virtual std::string arrayName(std::string_view variable, bool isMutable) const = 0;

    // --- nodes that passes insert
    virtual graph::NodeDefPtr makeCast(std::string name, tensor::DType type) const = 0;
    virtual graph::NodeDefPtr makeMultiCast(std::string name, std::size_t tensors) const = 0;
    virtual graph::NodeDefPtr makeCopy(std::string name) const = 0; ///< passes its input on
    /// A node that holds these values and whose output bears its name; null where the format has none.
    virtual graph::NodeDefPtr makeConstant(std::string name, tensor::Tensor values) const;
    /// Of a cast behind `base`, which names a tensor; of a multicast likewise.
    virtual std::string castName(std::string base, tensor::DType type) const = 0;
    virtual std::string multiCastName(std::string base) const = 0;
    /// Could castName() or multiCastName() have made this name?
    virtual bool isCastName(std::string_view name) const = 0;

    /// The graph in a newer version of its format: at least `wanted` (0: none is), and one in which its operators take that
    /// 16-bit type. Nodes keep their places and mean what they did. Nothing where this version will do.
    /// fails: BadCall (Field::Opset) for a version that there is not; Unsupported for a node that says what the newer version
    /// cannot; where = the node
    virtual Result<std::optional<Raised>> raised(const graph::Graph &graph, tensor::DType target,
                                                 int wanted) const;
    /// The number of the version, where a format counts them; 0: it does not.
    virtual int versionNumber() const { return 0; }
    /// Is there a framework whose own conversion mode "mxnet" gives node for node?
    virtual bool hasNodeForNodeMode() const { return true; }
    /// Is a parameter's type inferred from what reads it, where the graph does not say it? False: files tell it with the values.
    virtual bool infersParameterTypes() const { return true; }
    /// Are parameters stored in the target type where policies say nothing of it?
    virtual bool storesCastParameters() const { return false; }
    /// Do parameters beyond float16's range become its largest value where policies say nothing of it?
    virtual bool clampsParameters() const { return false; }

    // --- policies
    /// Whose built-in lists there are, the default first; empty: no lists.
    virtual std::span<const std::string_view> listVersions() const;
    /// The resource that holds them. Needs: one of listVersions(), a 16-bit type.
    virtual std::string listResource(tensor::DType target, std::string_view version) const;
    /// Do the built-in lists speak of this operator, though what decides of it is its body?
    virtual bool isJudgedByBody(std::string_view op) const;

    // --- what a format may have beyond; null: it has not
    virtual const QuantizedForms *quantizedForms() const { return nullptr; }
    virtual const Arithmetic *arithmetic() const { return nullptr; }
    /// What `graph` says of the shape that a head of it has; without rank where it says nothing.
    virtual tensor::Shape declaredHead(const graph::Graph &graph, std::size_t head) const;
};

/// How many outputs a node has, hidden ones and those that its format names included. `info`: of its operator, or null.
std::size_t outputCountOf(const OpInfo *info, const graph::NodeDef &node);

/// The dialect of a graph. Needs: it has one, as every graph with nodes has.
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
