#include "core/io/onnx/domains.h"

#include <algorithm>

namespace halftone::io::onnx {

std::string domainOf(const std::string &written)
{
    return written.empty() ? std::string(kMainDomain) : written;
}

std::int64_t importedOpset(const google::protobuf::RepeatedPtrField<::onnx::OperatorSetIdProto> &imports)
{
    std::int64_t opset = 0;
    for (const auto &import : imports)
        if (domainOf(import.domain()) == kMainDomain)
            opset = std::max(opset, import.version());
    return opset;
}

} // namespace halftone::io::onnx
