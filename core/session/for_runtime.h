#pragma once

#include "core/base/result.h"
#include "core/graph/model.h"
#include "core/policy/policy.h"
#include "core/quantize/quantize.h"
#include "core/runtimes/kernel_table.h"

#include <string>
#include <string_view>
#include <vector>

/// Conversions for a runtime, which keep to what it has kernels for.
namespace halftone::session {

/// A node that stays in float32, and why.
struct LeftNode
{
    std::string name;
    std::string op;
    std::string why;
};

/// The table of a runtime by its name, for a model that is to be written.
/// fails: Unsupported for a model of a format that no runtime reads
Result<const runtimes::KernelTable *> runtimeFor(std::string_view name, const graph::Graph &graph);
/// That nobody ran the runtime here, for those of which only documents tell; else empty.
std::string documentedNote(const runtimes::KernelTable &table);

/// Excludes from the policy what the runtime would not compute in the target type. Overrides of single nodes stay.
/// fails: as infer::storedTypes(); Unsupported for a model in a newer version than the runtime reads
Result<std::vector<LeftNode>> fitPolicy(const runtimes::KernelTable &table, const graph::Model &model,
                                        policy::Policy &policy);

/// Changes the form and the codes of int8 operators to what the runtime takes.
/// returns  a note for each change
std::vector<std::string> fitQuantization(const runtimes::KernelTable &table,
                                         quantize::QuantizeOptions &options);

} // namespace halftone::session
