#include "core/base/json.h"
#include "core/runtimes/message.h"
#include "core/runtimes/record.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace halftone::runtimes {
namespace {

constexpr std::string_view kKernelEnding = "_kernel_time";
constexpr std::string_view kRunEvent = "model_run";

/// An event as the file has it, in microseconds since the session began.
struct Event
{
    TimedRow timed;
    std::int64_t begin = 0;
    std::int64_t end = 0;
};

/// Of "float, float16, int64" the first; for operators on codes, whose scales may stand first, the first type of codes.
tensor::DType typeIn(std::string_view types, std::string_view name)
{
    const bool isOnCodes = name.starts_with("QLinear");
    tensor::DType first = tensor::DType::Unknown;
    for (std::size_t from = 0; from < types.size();) {
        const std::size_t end = std::min(types.find(", ", from), types.size());
        const auto type = tensor::dtypeNamed(types.substr(from, end - from)).value_or(tensor::DType::Unknown);
        if (type == tensor::DType::I8 || type == tensor::DType::U8 || !isOnCodes)
            return type;
        if (from == 0)
            first = type;
        from = end + 2;
    }
    return first;
}

/// "float, float16": the types of the inputs.
std::string typesOf(const OrderedJson &inputs)
{
    std::string text;
    for (const OrderedJson &input : inputs)
        for (const auto &type : input.items())
            text += (text.empty() ? "" : ", ") + type.key();
    return text;
}

Event eventOf(const OrderedJson &json)
{
    Event event;
    event.begin = numberOf(json, "ts");
    const std::int64_t took = numberOf(json, "dur");
    event.end = event.begin + took;
    event.timed.microseconds = static_cast<double>(took);
    RecordedRow &row = event.timed.row;
    row.name = textOf(json, "name");
    if (row.name.ends_with(kKernelEnding))
        row.name.resize(row.name.size() - kKernelEnding.size());
    if (const auto facts = json.find("args"); facts != json.end() && facts->is_object()) {
        row.op = textOf(*facts, "op_name");
        row.kernel = row.op;
        if (const auto inputs = facts->find("input_type_shape"); inputs != facts->end() && inputs->is_array())
            row.told = typesOf(*inputs);
        row.type = typeIn(row.told, row.op);
    }
    return event;
}

/// Events of bodies lie within that of the node that runs them, and are written before it.
void addNode(const Event &event, std::vector<Event> &nodes)
{
    static constexpr std::array<std::string_view, 3> kHolders{"Loop", "If", "Scan"};
    if (std::ranges::find(kHolders, event.timed.row.op) != kHolders.end())
        while (!nodes.empty() && nodes.back().begin >= event.begin && nodes.back().end <= event.end)
            nodes.pop_back();
    nodes.push_back(event);
}

} // namespace

Result<Record> readEvents(const std::string &text)
{
    const auto json = parseOrdered(text);
    if (!json.is_array())
        return badInput("record", "no JSON array");
    std::vector<std::vector<TimedRow>> runs;
    std::vector<Event> nodes; // of the run that goes on
    bool isFirst = true;
    for (const OrderedJson &one : json) {
        const std::string name = textOf(one, "name");
        if (name.ends_with(kKernelEnding))
            addNode(eventOf(one), nodes);
        if (name != kRunEvent)
            continue;
        if (!isFirst) {
            std::vector<TimedRow> &run = runs.emplace_back();
            for (Event &node : nodes)
                run.push_back(std::move(node.timed));
        }
        isFirst = false;
        nodes.clear();
    }
    return recordOf(runs);
}

} // namespace halftone::runtimes
