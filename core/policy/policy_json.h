#pragma once

#include "core/base/result.h"
#include "core/policy/policy.h"

#include <string>
#include <string_view>

namespace halftone::policy {

/// Reads a policy file (app/README.md, "Policy"). Keys, each at most once; a null counts as absent:
/// - MXNet's: target_dtype, target_dtype_ops, fp32_ops, widest_dtype_ops, conditional_fp32_ops
///   ([[operator, attribute, [values]], …]), excluded_sym_names, cast_optional_params, data_names
/// - ours: mode ("typed", "mxnet", "tvm", "all"), hardware, accumulate ("float32", "float16", "bfloat16"), optimise ("casts", "time"), api (dialect::OwnMode::calls), lists
/// (Dialect::listVersions()),
///   input_dtypes and node_overrides ({name: type}), reasons ({name: text}), keep_io_types, share, int8_ops, threshold_method ("minmax", "entropy",
///   "percentile", "mse"), thresholds ({tensor: number above 0 or method}), and for edits that are not yet part of a list
///   moves ([[operator, list], …]) and added_conditional_fp32_ops (as conditional_fp32_ops)
///
/// Types are those of tensor::dtypeNamed(), the target one of float16 and bfloat16. Whether operators and
/// names exist is for resolve() and matchNames() to say. Nothing is built for what does not fit, so deep
/// nesting costs nothing. fails: Errc::BadInput with the JSON path, or "byte N" where the text is no JSON;
/// text over kLongestPolicy bytes.
Result<Policy> readPolicy(std::string_view json);

inline constexpr std::size_t kLongestPolicy = std::size_t{8} << 20;

/// The policy file that reads as `policy`; what has its default value is left out. Names that are no UTF-8
/// are written with replacement characters.
std::string writePolicy(const Policy &policy);

} // namespace halftone::policy
