#include "core/report/comparison_report.h"

#include "core/infer/shown_outputs.h"
#include "core/report/figures_object.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <numeric>

namespace halftone::report {
namespace {

using compare::LayerErrors;
using tensor::ErrorFigures;
using Json = OrderedJson;

const std::optional<ErrorFigures> &ranked(const LayerErrors &layer)
{
    return layer.isolatedAtOutputs ? layer.isolatedAtOutputs : layer.cumulative;
}

/// Smaller is worse.
double quality(const LayerErrors &layer)
{
    const ErrorFigures &figures = *ranked(layer);
    const bool isBroken = figures.nan > 0 || figures.overflow > 0 || std::isnan(figures.sqnrDb);
    return isBroken ? -std::numeric_limits<double>::infinity() : figures.sqnrDb;
}

std::string number(double value)
{
    std::array<char, 40> text{};
    std::snprintf(text.data(), text.size(), "%.9g", value);
    return std::isnan(value) ? "nan" : text.data();
}

std::string quoted(const std::string &text)
{
    if (text.find_first_of(",\"\r\n") == std::string::npos)
        return text;
    std::string result = "\"";
    for (const char c : text)
        result += c == '"' ? std::string("\"\"") : std::string(1, c);
    return result + '"';
}

} // namespace

std::vector<std::size_t> worstFirst(std::span<const LayerErrors> layers)
{
    std::vector<std::size_t> order(layers.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::erase_if(order, [&](std::size_t k) { return !ranked(layers[k]) || ranked(layers[k])->count == 0; });
    // A layer whose isolated error is known stands before those in which nothing was lowered.
    const bool anyIsolated = std::ranges::any_of(
        layers, [](const LayerErrors &layer) { return layer.isolatedAtOutputs.has_value(); });
    if (anyIsolated)
        std::erase_if(order, [&](std::size_t k) { return !layers[k].isolatedAtOutputs; });
    std::ranges::stable_sort(order, {}, [&](std::size_t k) { return quality(layers[k]); });
    return order;
}

std::string comparisonCsv(const graph::Graph &reference, std::span<const LayerErrors> layers)
{
    constexpr std::array<std::string_view, 3> kEffects{"", "isolated_", "isolated_at_output_"};
    std::string text = "name,op,dtype";
    for (const std::string_view effect : kEffects) {
        for (const char *column :
             {"max_abs", "mean_abs", "rmse", "rel_l2", "cosine", "sqnr_db", "max_rel", "overflow", "nan"})
            text += ',' + std::string(effect) + column;
    }
    text += "\r\n";
    for (const LayerErrors &layer : layers) {
        text += quoted(infer::valueName(reference, layer.node, layer.output)) + ','
            + quoted(reference.node(layer.node).op) + ','
            + (layer.dtype == tensor::DType::Unknown ? std::string()
                                                     : std::string(tensor::nameOf(layer.dtype)));
        for (const auto *figures : {&layer.cumulative, &layer.isolated, &layer.isolatedAtOutputs}) {
            if (!*figures) {
                text += ",,,,,,,,,";
                continue;
            }
            const ErrorFigures &f = **figures;
            for (const double value : {f.maxAbs, f.meanAbs, f.rmse})
                text += ',' + number(value);
            text += ',' + (f.relativeL2 ? number(*f.relativeL2) : std::string());
            for (const double value : {f.cosine, f.sqnrDb, f.maxRelative})
                text += ',' + number(value);
            text += ',' + std::to_string(f.overflow) + ',' + std::to_string(f.nan);
        }
        text += "\r\n";
    }
    return text;
}

std::string layersJson(const graph::Graph &reference, std::span<const LayerErrors> layers)
{
    Json rows = Json::array();
    for (const LayerErrors &layer : layers) {
        Json row{
            {"name", infer::valueName(reference, layer.node, layer.output)},
            {"op", reference.node(layer.node).op},
            {"dtype", layer.dtype == tensor::DType::Unknown ? Json() : Json(tensor::nameOf(layer.dtype))}};
        if (layer.cumulative) {
            row.update(figuresObject(*layer.cumulative));
        } else {
            for (const char *key : {"max_abs", "mean_abs", "rmse", "rel_l2", "cosine", "sqnr_db", "max_rel",
                                    "overflow", "nan", "count"})
                row[key] = nullptr;
        }
        row["isolated"] = figuresObject(layer.isolated);
        row["isolated_at_output"] = figuresObject(layer.isolatedAtOutputs);
        row["shapes_differ"] = layer.shapesDiffer;
        rows.push_back(std::move(row));
    }
    return jsonText(rows);
}

std::string figuresJson(const ErrorFigures &figures)
{
    return jsonText(figuresObject(figures));
}

} // namespace halftone::report
