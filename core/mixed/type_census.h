#pragma once

#include "core/base/result.h"
#include "core/graph/model.h"
#include "core/infer/typed_model.h"
#include "core/policy/policy.h"
#include "core/policy/rules.h"

#include <cstdint>
#include <string>
#include <vector>

namespace halftone::mixed {

/// What a model's operators compute in one type.
struct TypeShare
{
    tensor::DType type = tensor::DType::Unknown; ///< Unknown: integers, bools, texts, and what nothing tells
    std::size_t operators = 0;
    std::size_t uncosted
        = 0; ///< of them, without a known cost: their shapes are open, or nothing counts them
    std::int64_t flops = 0; ///< ops::Cost
    std::int64_t bytes = 0; ///< read and written

    bool operator==(const TypeShare &) const = default;
};

/// A node that does not compute as a policy asks.
struct TypeDifference
{
    graph::NodeId node = 0; ///< in its graph
    std::string name; ///< of the node
    std::string op;
    tensor::DType asked = tensor::DType::Unknown;
    tensor::DType got = tensor::DType::Unknown;
    std::string
        entry; ///< what asks, as policy::Assignment::entry() has it; empty: the kind of the rule alone
    std::string why; ///< what in the graph makes it so
};

/// A model as it lies in its file, whoever converted it: which operator computes in which type. Casts, and what turns reals into
/// codes and back, count for themselves. Bodies of control flow count with the graph, those of functions and of fused operators do not.
struct TypeCensus
{
    std::vector<TypeShare> shares; ///< those that there are, in the order of DType
    TypeShare casts;
    std::size_t inBodies = 0; ///< operators in bodies, which the shares have too
    std::vector<tensor::DType>
        computes; ///< of the graph itself, by NodeId: int8 on codes, else the float type that a node gives or reads
    std::vector<TypeDifference>
        differences; ///< in the order of nodes, those in bodies last; empty without a policy
    std::size_t asked = 0; ///< operators of which the policy asks for a type, the differing ones included
    std::vector<policy::Warning> warnings;
};

/// A model with the types that follow from what is stored and fed, and with those shapes: what latency::typedModel() gives where shapes tell
/// it everything. Data that nothing tells the type of are float32 where that goes.
/// fails: BadInput for types that contradict each other
Result<infer::TypedModel> typedAsStored(const graph::Model &model, infer::ShapeMap shapes,
                                        const policy::Policy &policy);

/// model   open shapes leave costs open
/// policy  what was wanted: its lists, names and overrides are held against this graph; null: nothing. An operator that is to follow its
///         inputs, or take the widest of their types, is right as it is; so is one whose operands are no float32, float16 or bfloat16
/// fails   BadInput for what is wrong with the policy
Result<TypeCensus> typeCensus(const infer::TypedModel &model, const policy::Policy *policy);

} // namespace halftone::mixed
