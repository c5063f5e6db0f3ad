#include "core/walks/gptq_weights.h"

#include "core/walks/input_products.h"
#include "core/weights/gptq.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace halftone::walks {
namespace {

using weights::ChosenCodes;
using weights::CodedMatrix;
using weights::EncodeSettings;
using weights::Gptq;
using weights::PlannedMatrix;
using ReaderKind = dialect::WeightReader::Kind;

constexpr std::size_t kMostProductBytes = std::size_t{512} << 20; ///< of products at a time

/// Matrices that read the same value.
struct Group
{
    ProductsOf input;
    std::vector<const PlannedMatrix *> matrices;

    std::size_t bytes() const { return input.features * input.features * sizeof(double); }
};

bool isTaken(const PlannedMatrix &planned)
{
    return planned.format.isInteger()
        && (planned.reader.kind == ReaderKind::Product || planned.reader.kind == ReaderKind::Layer);
}

Result<std::vector<Group>> groupsOf(const graph::Graph &graph, const weights::WeightsPlan &plan)
{
    std::vector<Group> groups;
    for (const PlannedMatrix &planned : plan.matrices) {
        if (!isTaken(planned))
            continue;
        const auto inputs = static_cast<std::size_t>(planned.matrix.inputs);
        if (inputs > Gptq::kMostInputs)
            return unsupported(graph.node(planned.node).name,
                               "K is " + std::to_string(inputs) + "; gptq takes at most "
                                   + std::to_string(Gptq::kMostInputs),
                               "; use method mse");
        const graph::Entry entry = graph.inputs(planned.node)[planned.reader.other];
        const auto found
            = std::ranges::find(groups, entry, [](const Group &group) { return group.input.entry; });
        Group &group = found != groups.end() ? *found : groups.emplace_back(Group{{entry, inputs}, {}});
        group.matrices.push_back(&planned);
    }
    return groups;
}

/// As many of the groups from `first` on as have room at a time, at least one.
std::size_t endOfPass(const std::vector<Group> &groups, std::size_t first)
{
    std::size_t bytes = groups[first].bytes();
    std::size_t end = first + 1;
    while (end < groups.size() && bytes + groups[end].bytes() <= kMostProductBytes)
        bytes += groups[end++].bytes();
    return end;
}

Result<void> chooseCodes(const Group &group, std::vector<double> products, unsigned threads,
                         ChosenCodes &chosen)
{
    HALFTONE_TRY(const Gptq gptq, Gptq::create(std::move(products), group.input.features, threads));
    for (const PlannedMatrix *const planned : group.matrices) {
        EncodeSettings settings = weights::encodeSettings(*planned, policy::WeightMethod::LeastSquares);
        settings.threads = threads;
        settings.encode = [&gptq](const weights::BlockCoder &coder, const weights::OutputPanel &panel) {
            gptq.encode(coder, panel);
        };
        chosen.emplace(planned->node,
                       std::make_shared<const CodedMatrix>(planned->matrix, std::move(settings)));
    }
    return {};
}

} // namespace

Result<weights::LoweredModel> lowerByGptq(const graph::Model &model, const std::string &modelPath,
                                          const weights::WeightsRequest &request,
                                          const CalibrateOptions &options, const Progress &progress)
{
    HALFTONE_TRY(const weights::WeightsPlan plan, weights::planWeights(model, request));
    HALFTONE_TRY(const std::vector<Group> groups, groupsOf(model.graph, plan));
    ChosenCodes chosen;
    for (std::size_t first = 0; first < groups.size();) {
        const std::size_t end = endOfPass(groups, first);
        std::vector<ProductsOf> wanted;
        for (std::size_t k = first; k < end; ++k)
            wanted.push_back(groups[k].input);
        HALFTONE_TRY(auto products, inputProducts(model, modelPath, wanted, options, progress));
        for (std::size_t k = first; k < end; ++k) {
            HALFTONE_CHECK(progress.checkStop());
            HALFTONE_CHECK(chooseCodes(groups[k], std::move(products[k - first]), options.threads, chosen));
        }
        first = end;
    }
    return weights::lowerPlanned(model, plan, policy::WeightMethod::LeastSquares, chosen);
}

} // namespace halftone::walks
