#include "core/dialect/onnx/operator_rows.h"

#include <unordered_map>

namespace halftone::dialect::onnx {

const OperatorRow *findRow(std::string_view name)
{
    static const auto kByName = [] {
        std::unordered_map<std::string_view, const OperatorRow *> index;
        for (auto *part : {elementwiseRows, layerRows, movementRows, placeRows, samplingRows, speechRows,
                           codeRows, tabularRows, randomRows})
            for (const OperatorRow &row : part())
                index.emplace(row.name, &row);
        return index;
    }();
    const auto at = kByName.find(name);
    return at == kByName.end() ? nullptr : at->second;
}

} // namespace halftone::dialect::onnx
