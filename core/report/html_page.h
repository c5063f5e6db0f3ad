#pragma once

#include "core/infer/infer_shapes.h"
#include "core/mixed/convert_model.h"
#include "core/profile/latency.h"
#include "core/profile/layer_compare.h"
#include "core/report/front_figures.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace halftone::report {

/// What a report tells. Only `source` and `converted` must be there; of the rest, what is missing is said to be missing.
struct PageContent
{
    std::string title; ///< of the model
    const graph::Graph *source = nullptr;
    const mixed::ConvertedModel *converted = nullptr;
    const infer::ShapeMap *shapes = nullptr;
    const profile::Comparison *comparison = nullptr;
    /// How well the task is done by the source and by the converted model: "top-1", "98.1 → 97.9 %".
    std::optional<std::pair<std::string, std::string>> score;
    std::size_t examples = 0;
    std::string arithmetic; ///< of the comparison: "as the operators are defined"
    const profile::Latency *fp32 = nullptr;
    const profile::Latency *mixed = nullptr;
    const profile::Versus *versus = nullptr;
    const FrontFigures *front
        = nullptr; ///< of a search for the layers that must stay wide; null: none was made
    std::string graphSvg; ///< an <svg> element; empty: none
};

/// A page of HTML that needs nothing beside it: no script, no file, no network. Names from the model are escaped.
std::string htmlPage(const PageContent &content);

} // namespace halftone::report
