#pragma once

#include "core/base/result.h"
#include "core/policy/policy.h"

#include <string_view>

/// The policy's options of the command line (spec: cli, "Policy"), each adding to a policy that a file may
/// have begun. They fail with Errc::BadCall and leave the policy as it was.
namespace halftone::policy {

/// --target float16|bfloat16, also fp16, half, bf16.
Result<void> setTarget(Policy &policy, std::string_view text);
/// --mode typed|mxnet.
Result<void> setMode(Policy &policy, std::string_view text);

/// --conditional OP:ATTR=V1,V2: one more rule. Commas within brackets belong to the value:
/// `Pooling:kernel=(3, 3),(2, 2)`.
Result<void> addConditional(Policy &policy, std::string_view text);
/// --override NODE=DTYPE; split at the last "=", since node names may hold one. A later override of a node
/// wins.
Result<void> addOverride(Policy &policy, std::string_view text);
/// --input NAME=DTYPE, likewise.
Result<void> addInputDtype(Policy &policy, std::string_view text);
/// --target-op, --fp32-op, --widest-op, --neutral-op OP.
Result<void> addMove(Policy &policy, std::string_view op, Policy::Move::To to);
/// --exclude NAME or /PATTERN/.
Result<void> addExcluded(Policy &policy, std::string_view name);

} // namespace halftone::policy
