#pragma once

#include "core/ops/operator.h"
#include "core/translate/node_writer.h"

#include <span>

namespace halftone::translate {

/// How nodes of one struct are written. Adding an operator: a function in one of the write_ files and its row there.
struct WriterRow
{
    std::size_t op; ///< ops::kOperatorIndex
    Result<void> (*write)(NodeWriter &to, const ops::Operator &op);
};

template <class T, Result<void> (*kWrite)(NodeWriter &, const T &)>
constexpr WriterRow writes()
{
    return {ops::kOperatorIndex<T>,
            [](NodeWriter &to, const ops::Operator &op) { return kWrite(to, op.as<T>()); }};
}

// The parts of the table, a file each.
std::span<const WriterRow> elementwiseWriters();
std::span<const WriterRow> layerWriters();
std::span<const WriterRow> windowWriters();
std::span<const WriterRow> movementWriters();
std::span<const WriterRow> reshapeWriters();
std::span<const WriterRow> reductionWriters();
std::span<const WriterRow> placeWriters();
std::span<const WriterRow> recurrenceWriters();
std::span<const WriterRow> codeWriters();
std::span<const WriterRow> codedProductWriters();
std::span<const WriterRow> linearCodeWriters();

} // namespace halftone::translate
