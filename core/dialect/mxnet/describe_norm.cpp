#include "core/dialect/mxnet/operator_describe.h"

namespace halftone::dialect::mxnet {

void describe(OperatorFields &f, ops::BatchNormalization &op)
{
    f.integer("axis", op.axis);
    f.real("eps", op.epsilon);
    f.real("momentum", op.momentum);
    f.boolean("fix_gamma", op.fixGamma);
    f.boolean("use_global_stats", op.useGlobalStats);
    f.boolean("output_mean_var", op.outputStatistics);
}

void describe(OperatorFields &f, ops::LayerNormalization &op)
{
    f.integer("axis", op.axis);
    f.real("eps", op.epsilon);
    f.boolean("output_mean_var", op.outputStatistics);
}

void describe(OperatorFields &f, ops::GroupNormalization &op)
{
    f.integer("num_groups", op.groups);
    f.real("eps", op.epsilon);
    f.boolean("output_mean_var", op.outputStatistics);
}

void describe(OperatorFields &f, ops::InstanceNormalization &op)
{
    f.real("eps", op.epsilon);
}

void describe(OperatorFields &f, ops::LpNormalization &op)
{
    static constexpr std::string_view kModes[] = {"instance", "channel", "spatial"};
    std::size_t mode = !op.toEnd ? 1 : op.axis == 2 ? 2 : 0;
    double epsilon = op.epsilon.value_or(0);
    f.choiceIndex("mode", mode, kModes);
    f.real("eps", epsilon);
    op = {.axis = mode == 2 ? 2 : 1, .toEnd = mode != 1, .epsilon = epsilon, .leastRank = mode == 0 ? 1 : 3};
}

void describe(OperatorFields &f, ops::LRN &op)
{
    f.integer("nsize", op.size);
    f.real("alpha", op.alpha);
    f.real("beta", op.beta);
    f.real("knorm", op.k);
}

} // namespace halftone::dialect::mxnet
