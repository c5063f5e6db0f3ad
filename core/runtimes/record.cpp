#include "core/runtimes/record.h"

#include "core/base/json.h"
#include "core/base/text.h"
#include "core/runtimes/kinds.h"
#include "core/runtimes/message.h"

#include <algorithm>
#include <map>
#include <utility>

namespace halftone::runtimes {

Record recordOf(const std::vector<std::vector<TimedRow>> &runs)
{
    using Place = std::pair<std::string, std::size_t>; ///< a name, and which row of that name it is
    Record record;
    std::map<Place, std::size_t> rows;
    for (const std::vector<TimedRow> &run : runs) {
        std::map<std::string, std::size_t> seen;
        std::vector<double> &times = record.microseconds.emplace_back(record.rows.size());
        for (const TimedRow &timed : run) {
            const Place place{timed.row.name, seen[timed.row.name]++};
            if (&run == &runs.front()) {
                rows.emplace(place, record.rows.size());
                record.rows.push_back(timed.row);
                times.push_back(timed.microseconds);
            } else if (const auto found = rows.find(place); found != rows.end()) {
                times[found->second] = timed.microseconds;
            }
        }
    }
    return record;
}

Result<Record> readRecord(std::string_view kind, const std::string &text)
{
    HALFTONE_TRY(Record record, kind == kinds().front().name ? readEvents(text) : readExecuted(text));
    if (record.microseconds.empty() || record.rows.empty())
        return badInput("record", "nothing that was executed");
    return record;
}

namespace {

/// The type at the end of "jit_avx512_bf16", "brgconv_avx512_I8".
tensor::DType typeAtEnd(const std::string &execution)
{
    const std::string name = lowerCase(execution.substr(execution.rfind('_') + 1));
    using tensor::DType;
    static const std::map<std::string_view, DType> kTypes{
        {"f32", DType::F32}, {"fp32", DType::F32}, {"f16", DType::F16},      {"fp16", DType::F16},
        {"i8", DType::I8},   {"u8", DType::U8},    {"bf16", DType::BF16},    {"i32", DType::I32},
        {"u32", DType::U32}, {"i64", DType::I64},  {"boolean", DType::Bool}, {"f64", DType::F64},
    };
    const auto found = kTypes.find(name);
    return found == kTypes.end() ? DType::Unknown : found->second;
}

} // namespace

Result<Record> readExecuted(const std::string &text)
{
    const auto json = parseOrdered(text);
    if (!json.is_array())
        return badInput("record", "no JSON array");
    std::vector<std::vector<TimedRow>> runs;
    for (const OrderedJson &rows : json) {
        if (!rows.is_array())
            return badInput("record", "no array of rows");
        std::vector<TimedRow> &run = runs.emplace_back();
        for (const OrderedJson &row : rows) {
            const std::string execution = textOf(row, "execution");
            run.push_back(
                {{textOf(row, "name"), textOf(row, "type"), typeAtEnd(execution), execution, execution},
                 static_cast<double>(numberOf(row, "us"))});
        }
    }
    return recordOf(runs);
}

} // namespace halftone::runtimes
