#include "core/walks/input_products.h"

#include "core/dialect/dialect.h"
#include "core/walks/walk_examples.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace halftone::walks {
namespace {

using tensor::Tensor;

struct Products
{
    std::size_t features = 0;
    std::vector<double> sums;
    bool fits = false; ///< some value had rows of that many features, and none had others
    bool isWrong = false;
};

void addRows(const Tensor &value, Products &products)
{
    const std::size_t features = products.features;
    const auto &shape = value.shape();
    if (value.dtype() != tensor::DType::F32 || shape.rank() == 0
        || static_cast<std::size_t>(shape[shape.rank() - 1]) != features) {
        products.isWrong = true;
        return;
    }
    products.fits = true;
    const std::vector<float> values = value.values<float>();
    std::vector<double> row(features);
    for (std::size_t at = 0; at < values.size(); at += features) {
        std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(at), features, row.begin());
        if (!std::ranges::all_of(row, [](double x) { return std::isfinite(x); }))
            continue;
        for (std::size_t i = 0; i < features; ++i) {
            double *const sums = products.sums.data() + i * features;
            const double factor = row[i];
            for (std::size_t j = 0; factor != 0 && j <= i; ++j)
                sums[j] += factor * row[j];
        }
    }
}

} // namespace

Result<std::vector<std::vector<double>>>
inputProducts(const graph::Model &model, const std::string &modelPath, std::span<const ProductsOf> wanted,
              const CalibrateOptions &options, const Progress &progress)
{
    std::map<std::pair<graph::NodeId, std::uint32_t>, Products> products;
    for (const ProductsOf &one : wanted)
        products[{one.entry.node, one.entry.output}]
            = {one.features, std::vector<double>(one.features * one.features), false, false};
    const ExampleViewer viewer = [&products](const graph::Entry &entry, const Tensor &value, bool) {
        const auto found = products.find({entry.node, entry.output});
        if (found != products.end())
            addRows(value, found->second);
    };
    CalibrateOptions oneByOne = options;
    oneByOne.batch = 1;
    const Progress telling{progress.stop, [&progress](double done, std::string_view) {
                               progress.tell(done, "collecting what products read");
                           }};
    const auto walked = walkExamples(model, modelPath, oneByOne, viewer, telling);
    if (!walked.ok())
        return walked.error();
    std::vector<std::vector<double>> sums;
    for (const ProductsOf &one : wanted) {
        Products &made = products.at({one.entry.node, one.entry.output});
        if (!made.fits || made.isWrong)
            return badInput(dialect::of(model.graph).entryName(model.graph, one.entry),
                            "a value without rows of " + std::to_string(one.features) + " float32 numbers");
        sums.push_back(std::move(made.sums));
    }
    return sums;
}

} // namespace halftone::walks
