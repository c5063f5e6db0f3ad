#include "core/tensor/dtype.h"
#include "widgets/common/formatters.h"
#include "widgets/inspector/details.h"

namespace halftone::widgets {

using policy::Rule;

QString reasonText(Rule rule)
{
    switch (rule) {
    case Rule::Variable:
        return QStringLiteral("a variable");
    case Rule::OverrideFp32:
        return QStringLiteral("this node is set to fp32");
    case Rule::OverrideTarget:
        return QStringLiteral("this node is set to the target type");
    case Rule::OverrideInt8:
        return QStringLiteral("this node is set to int8");
    case Rule::Int8List:
        return QStringLiteral("its operator is in the int8 list");
    case Rule::ExcludedName:
        return QStringLiteral("this node is excluded");
    case Rule::Fp32List:
        return QStringLiteral("its operator is in the fp32 list");
    case Rule::TargetList:
        return QStringLiteral("its operator is in the target list");
    case Rule::WidestList:
        return QStringLiteral("its operator is in the widest list");
    case Rule::Conditional:
        return QStringLiteral("a condition of its operator holds");
    case Rule::ConditionUnmet:
        return QStringLiteral("no condition of its operator holds");
    case Rule::NeutralList:
        return QStringLiteral("its operator is neutral");
    case Rule::Hardware:
        return QStringLiteral("the chip has no unit for this operator in the target type");
    case Rule::HardwareStorage:
        return QStringLiteral("the chip stores this operator in the target type but computes in float32");
    case Rule::StatisticsBeyond:
        return QStringLiteral("a mean or variance that it reads exceeds the target type's range");
    case Rule::PositionPath:
        return QStringLiteral(
            "positions or scales computed from it must be exact, and 16 bit would round them");
    case Rule::TvmAlways:
        return QStringLiteral("TVM always lowers its operator");
    case Rule::TvmFollow:
        return QStringLiteral("TVM lowers its operator where its inputs are lowered");
    case Rule::TvmNever:
        return QStringLiteral("TVM never lowers its operator");
    case Rule::Everything:
        return QStringLiteral("mode all lowers every operator");
    case Rule::Coded:
        return QStringLiteral("the model computes it in int8");
    case Rule::Unlisted:
        break;
    }
    return QStringLiteral("its operator is in no list");
}

QString requestText(Rule rule, tensor::DType target)
{
    switch (policy::requestOf(rule)) {
    case policy::Request::Fp32:
        return QStringLiteral("float32");
    case policy::Request::Target:
        return plain(std::string(tensor::nameOf(target)));
    case policy::Request::Widest:
        return QStringLiteral("the widest type of its inputs");
    case policy::Request::Follow:
        return QStringLiteral("nothing (follows its inputs)");
    case policy::Request::Int8:
        return QStringLiteral("int8");
    case policy::Request::Nothing:
        break;
    }
    return QStringLiteral("nothing");
}

} // namespace halftone::widgets
