#include "widgets/oplists/python_call.h"

#include "core/dialect/dialect.h"
#include "widgets/oplists/mxnet_call.h"
#include "widgets/oplists/onnx_call.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace halftone::widgets {
namespace {

struct CallOfFormat
{
    std::string_view format; ///< dialect::Dialect::name()
    QString (*call)(const session::Snapshot &);
};

constexpr std::array kCalls{CallOfFormat{"onnx", onnxCall}, CallOfFormat{"mxnet", mxnetCall}};

} // namespace

QString pythonCall(const session::Snapshot &snapshot)
{
    const std::string_view format = dialect::of(snapshot.graph()).name();
    const auto found = std::ranges::find(kCalls, format, &CallOfFormat::format);
    return found == kCalls.end() ? QString() : found->call(snapshot);
}

} // namespace halftone::widgets
