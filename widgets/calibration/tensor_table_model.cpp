#include "widgets/calibration/tensor_table_model.h"

#include "core/base/text.h"
#include "core/policy/policy_options.h"
#include "widgets/common/formatters.h"
#include "widgets/models/threshold_words.h"

namespace halftone::widgets {

void TensorTableModel::setCalibration(std::shared_ptr<const walks::CalibrateOutcome> calibration)
{
    beginResetModel();
    m_calibration = std::move(calibration);
    m_byChannel.clear();
    for (std::size_t k = 0; m_calibration && k < m_calibration->tensors.size(); ++k)
        m_byChannel.push_back(calibration::channelSqnrDb(m_calibration->tensors[k]));
    m_chosen.reset();
    m_risks.clear();
    m_isStale = false;
    endResetModel();
}

void TensorTableModel::setChosen(Chosen chosen, const policy::Policy &policy,
                                 std::vector<session::TensorUse> uses, bool stale)
{
    if (!m_calibration)
        return;
    const bool isNew = chosen != m_chosen || policy.target != m_policy.target || uses != m_uses;
    const bool isOtherTarget = policy::askedTarget(policy) != policy::askedTarget(m_policy);
    m_uses = std::move(uses);
    m_chosen = std::move(chosen);
    m_policy = policy;
    m_isStale = stale;
    if (isNew) {
        m_risks.clear();
        for (std::size_t k = 0; m_chosen && k < m_chosen->size(); ++k)
            m_risks.push_back(
                session::riskOf(m_calibration->tensors[k], (*m_chosen)[k], policy.target, m_uses[k]));
    }
    if (rowCount() > 0)
        Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
    if (isOtherTarget)
        Q_EMIT headerDataChanged(Qt::Horizontal, Overflow, Overflow);
}

int TensorTableModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() || !m_calibration ? 0 : static_cast<int>(m_calibration->tensors.size());
}

int TensorTableModel::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

const calibration::CalibratedTensor &TensorTableModel::tensorAt(int row) const
{
    return m_calibration->tensors[static_cast<std::size_t>(row)];
}

const calibration::Threshold *TensorTableModel::thresholdAt(int row) const
{
    return m_chosen ? &(*m_chosen)[static_cast<std::size_t>(row)].threshold : nullptr;
}

QVariant TensorTableModel::number(int row, int column) const
{
    const auto &statistics = tensorAt(row).statistics;
    if (column == Overflow) {
        const tensor::DType target = policy::askedTarget(m_policy);
        return tensor::isForAnalysis(target) // not counted
            ? QVariant()
            : QVariant::fromValue<quint64>(statistics.loss(target).overflow);
    }
    const calibration::Threshold *const threshold = thresholdAt(row);
    if (!threshold || statistics.absMax == 0)
        return {};
    const auto optional
        = [](const std::optional<double> &value) { return value ? QVariant(*value) : QVariant(); };
    // The window writes weights with a scale for each channel.
    const std::optional<double> &byChannel = m_byChannel[static_cast<std::size_t>(row)];
    switch (column) {
    case Threshold:
        return threshold->value;
    case Sqnr:
        return optional(byChannel ? byChannel : threshold->sqnrDb);
    case MinMaxSqnr:
        return optional(byChannel ? byChannel : threshold->sqnrDbMinMax);
    case Clipped:
        return 100 * (*m_chosen)[static_cast<std::size_t>(row)].clipped;
    default:
        return {};
    }
}

QString TensorTableModel::methodAt(int row) const
{
    if (tensorAt(row).isParameter)
        return tr("largest");
    if (!m_chosen)
        return {};
    const calibration::ChosenThreshold &chosen = (*m_chosen)[static_cast<std::size_t>(row)];
    if (chosen.choice.value)
        return tr("by hand");
    const QString method = methodText(chosen.choice.method);
    return chosen.threshold.method == chosen.choice.method
        ? method
        : tr("%1 (%2)").arg(methodText(chosen.threshold.method), method);
}

QString TensorTableModel::text(int row, int column) const
{
    switch (column) {
    case Name:
        return plain(tensorAt(row).name);
    case Risk: {
        if (m_risks.empty())
            return {};
        const session::TensorRisk &risk = m_risks[static_cast<std::size_t>(row)];
        return risk.words.empty() ? tr("low") : plain(risk.words);
    }
    case Method:
        return methodAt(row);
    default:
        break;
    }
    const QVariant value = number(row, column);
    if (!value.isValid())
        return QStringLiteral("\u2013");
    switch (column) {
    case Threshold:
        return significant(value.toDouble(), 4);
    case Clipped:
        return significant(value.toDouble());
    case Overflow:
        return QString::number(value.toULongLong());
    default:
        return decibels(value.toDouble());
    }
}

QString TensorTableModel::toolTip(int row, int column) const
{
    const calibration::CalibratedTensor &tensor = tensorAt(row);
    const calibration::TensorStatistics &values = tensor.statistics;
    switch (column) {
    case Name:
        return tr("%1\n%2 of %3: %4 values, %5 \u2026 %6")
            .arg(plain(tensor.name), tensor.isParameter ? tr("parameter") : tr("output"),
                 tensor.name == tensor.node ? plain(tensor.node)
                                            : tr("%1 (%2)").arg(plain(tensor.node), plain(tensor.op)))
            .arg(plain(grouped(values.count)), significant(values.min, 4), significant(values.max, 4));
    case Method:
        if (tensor.isParameter)
            return tr("Parameters are scaled by their largest magnitude");
        return thresholdAt(row) ? plain(thresholdAt(row)->note) : QString();
    case Risk:
        return text(row, Risk);
    case Sqnr:
    case MinMaxSqnr:
        return m_byChannel[static_cast<std::size_t>(row)]
            ? tr("Weights have a scale for each output channel; estimated from the ranges of the channels")
            : QString();
    default:
        return {};
    }
}

QVariant TensorTableModel::data(const QModelIndex &index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const int row = index.row();
    const int column = index.column();
    switch (role) {
    case Qt::DisplayRole:
        return text(row, column);
    case Qt::ToolTipRole:
        return toolTip(row, column);
    case Qt::TextAlignmentRole:
        return QVariant((isNumber(column) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case SortRole:
        if (column == Risk)
            return m_risks.empty() ? QVariant() : m_risks[static_cast<std::size_t>(row)].severity;
        return isNumber(column) ? number(row, column) : QVariant(text(row, column));
    case StaleRole:
        return m_isStale && column != Name && column != Overflow;
    case WarningRole:
        return column == Risk && !m_risks.empty() && m_risks[static_cast<std::size_t>(row)].isWarning();
    case OwnRole:
        return column == Method && m_policy.thresholds.contains(tensorAt(row).name);
    default:
        return {};
    }
}

QVariant TensorTableModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount)
        return {};
    if (role == Qt::TextAlignmentRole)
        return QVariant((isNumber(section) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    const auto &[title, help] = titleOf(section);
    if (role == Qt::DisplayRole)
        return title;
    return role == Qt::ToolTipRole ? QVariant(help) : QVariant();
}

std::pair<QString, QString> TensorTableModel::titleOf(int column) const
{
    if (column == Overflow) {
        const tensor::DType target = policy::askedTarget(m_policy);
        return {tr("%1 overflow").arg(shortType(target)),
                tr("Values that become infinite in %1, whose largest value is %2")
                    .arg(plain(std::string(tensor::nameOf(target))), largestText(target))};
    }
    static const std::array<std::pair<const char *, const char *>, Overflow> kTitles{
        {{QT_TR_NOOP("tensor"), QT_TR_NOOP("Name of the tensor")},
         {QT_TR_NOOP("risk"),
          QT_TR_NOOP(
              "What needs attention, most urgent first: NaN or infinity in float32; overflow in the target "
              "type; other warnings of the target type; what a better int8 threshold would gain, in dB. "
              "What no threshold can improve is low")},
         {QT_TR_NOOP("method"), QT_TR_NOOP("Threshold method")},
         {QT_TR_NOOP("threshold"), QT_TR_NOOP("Largest value that int8 can represent")},
         {QT_TR_NOOP("SQNR dB"), QT_TR_NOOP("Signal-to-noise ratio of int8 with this threshold")},
         {QT_TR_NOOP("minmax dB"), QT_TR_NOOP("Signal-to-noise ratio of int8 if nothing is clipped")},
         {QT_TR_NOOP("clipped %"), QT_TR_NOOP("Values beyond the threshold")}}};
    const auto &[title, help] = kTitles[static_cast<std::size_t>(column)];
    return {tr(title), tr(help)};
}

} // namespace halftone::widgets
