#pragma once

#include "core/base/result.h"
#include "core/graph/model.h"
#include "core/passes/infer_shapes.h"
#include "core/passes/type_map.h"
#include "core/policy/policy.h"
#include "core/runtime/backends.h"
#include "core/runtime/latency_plan.h"

#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace halftone::profile {

/// A model in which every type and shape is known, so that a plan can be made of it and told about beforehand.
struct TypedModel
{
    graph::Model model; ///< operators that a framework's backend has fused are taken apart
    passes::TypeMap types;
    passes::ShapeMap shapes;
};

/// known   shapes of variables, by name; enough of them to tell all the others
/// policy  by which the model was converted: it knows which variables are data and in which types they come
/// fails   BadInput for types or shapes that contradict each other (where = the node)
Result<TypedModel> typedModel(graph::Model model, const std::unordered_map<std::string, tensor::Shape> &known,
                              const policy::Policy &policy);

/// A latency plan of the model with plausible values in its inputs. fails: as runtime::makeLatencyPlan().
Result<std::unique_ptr<runtime::LatencyPlan>> measurablePlan(const TypedModel &typed,
                                                             const runtime::PlanOptions &options);

/// Layers whose times say nothing, since the backend emulates their type.
struct EmulatedLayers
{
    tensor::DType type = tensor::DType::Unknown;
    std::size_t count = 0;
};

/// One entry for each emulated type that some operator of the model gives.
std::vector<EmulatedLayers> emulatedLayers(const TypedModel &typed, const runtime::BackendInfo &backend);

} // namespace halftone::profile
