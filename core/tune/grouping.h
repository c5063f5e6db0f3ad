#pragma once

#include "core/infer/infer_shapes.h"
#include "core/latency/latency.h"
#include "core/mixed/convert_model.h"
#include "core/tune/oracle.h"

namespace halftone::tune {

/// One network as it runs with one label wherever that may be.
struct LabelledRun
{
    const mixed::ConvertedModel *converted = nullptr;
    const latency::Latency *latency = nullptr;
};

/// Groups and links of a model: what one step of some plan computes belongs together, and so do the nodes of a recognised
/// unit that one operator can stand for. A group is tunable where a list lowers one of its nodes and nobody has decided about that node
/// by name; times are those of its steps.
/// shapes  of the model
/// wide    everything in float32, as it runs
/// narrow  everything as the policy lowers it
/// int8    everything in int8 that may be; null: no int8
Network networkOf(const graph::Model &model, const infer::ShapeMap &shapes, const latency::Latency &wide,
                  const LabelledRun &narrow, const LabelledRun *int8);

} // namespace halftone::tune
