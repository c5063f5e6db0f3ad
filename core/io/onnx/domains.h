#pragma once

#include <onnx-ml.pb.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace halftone::io::onnx {

inline constexpr std::string_view kMainDomain = "ai.onnx"; ///< files call it so, or leave its name out

/// The domain that a file means.
std::string domainOf(const std::string &written);

/// The opset of the main domain among what a model or a function imports; 0: none.
std::int64_t importedOpset(const google::protobuf::RepeatedPtrField<::onnx::OperatorSetIdProto> &imports);

} // namespace halftone::io::onnx
