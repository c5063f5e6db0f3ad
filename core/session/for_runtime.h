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
/// Is the model, as it is or as it is to be written, in a version that the runtime reads?
/// fails: Unsupported
Result<void> checkOpset(const runtimes::KernelTable &table, const graph::Graph &graph);
/// The same of what is about to be written, by the name of the runtime; no name: nothing is asked. A conversion may have raised the version.
Result<void> checkWritten(std::string_view name, const graph::Graph &graph);
/// That nobody ran the runtime here, for those of which only documents tell; else empty.
std::string documentedNote(const runtimes::KernelTable &table);

/// Excludes from the policy what the runtime would not compute in the target type. Overrides of single nodes stay.
/// fails: as infer::storedTypes() and checkOpset()
Result<std::vector<LeftNode>> fitPolicy(const runtimes::KernelTable &table, const graph::Model &model,
                                        policy::Policy &policy);

/// What the runtime behind a backend is known to refuse in the target type; nothing where no table tells of it. Overrides of single nodes stay.
/// fails: as infer::storedTypes()
Result<std::vector<LeftNode>> refusedNodes(std::string_view backend, const graph::Model &model,
                                           const policy::Policy &policy);

/// Changes the form and the codes of int8 operators to what the runtime takes.
/// returns  a note for each change
std::vector<std::string> fitQuantization(const runtimes::KernelTable &table,
                                         quantize::QuantizeOptions &options);

} // namespace halftone::session
