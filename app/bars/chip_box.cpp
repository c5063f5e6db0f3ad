#include "app/bars/chip_box.h"

#include "core/hardware/catalogue.h"
#include "core/machines/local_chips.h"
#include "widgets/common/formatters.h"

#include <QAbstractItemView>
#include <QFileDialog>
#include <QFileInfo>

#include <algorithm>

namespace halftone::app {

using widgets::plain;

namespace {

const QString kFile = QStringLiteral("file:"); // no chip is called so
const QString kThis = QString::fromUtf8(hardware::kThis.data());
const QString kThisGpu = QString::fromUtf8(hardware::kThisGpu.data());
constexpr int kCharacters = 10;

/// "NVIDIA H100 SXM": what stands before the brackets of a title.
QString productOf(const hardware::Description &chip)
{
    return plain(chip.title).section(QStringLiteral(" ("), 0, 0);
}

/// The whole title, and below it the note.
QString tipOf(const hardware::Description &chip)
{
    return chip.note.empty() ? plain(chip.title) : plain(chip.title) + QLatin1Char('\n') + plain(chip.note);
}

} // namespace

ChipBox::ChipBox(QWidget *parent)
    : ChoiceBox(parent)
{
    setObjectName(QStringLiteral("chip"));
    setToolTip(tr("Chip to convert for: operators that it cannot compute in the target type "
                  "stay in float32"));
    addItem(tr("any"), QString());
    const hardware::Description &machine = *hardware::thisMachine();
    addItem(tr("this machine (%1)").arg(productOf(machine)), kThis);
    setItemData(count() - 1, tipOf(machine), Qt::ToolTipRole);
    insertSeparator(count());
    for (const auto &chip : hardware::builtIn()) {
        addItem(tr("%1 (%2)").arg(productOf(*chip), plain(chip->name)), plain(chip->name));
        setItemData(count() - 1, tipOf(*chip), Qt::ToolTipRole);
    }
    insertSeparator(count());
    addItem(tr("File\u2026"), kFile);
    setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    setMinimumContentsLength(kCharacters);
    fitView();
    connect(this, &QComboBox::activated, this, &ChipBox::take);
    m_looking.start([](const std::stop_token &) { return machines::lookForGpu(); },
                    [this](const std::shared_ptr<const hardware::Description> &gpu) { takeGpu(gpu); });
}

/// Behind the processor, once.
void ChipBox::addGpu()
{
    if (findData(kThisGpu) < 0)
        insertItem(findData(kThis) + 1, tr("this GPU"), kThisGpu);
}

void ChipBox::takeGpu(const std::shared_ptr<const hardware::Description> &gpu)
{
    if (!gpu)
        return;
    addGpu();
    setItemText(findData(kThisGpu), tr("this GPU (%1)").arg(productOf(*gpu)));
    setItemData(findData(kThisGpu), tipOf(*gpu), Qt::ToolTipRole);
    fitView();
}

/// The list shows whole names, however narrow the box is.
void ChipBox::fitView()
{
    constexpr int kLeastCharacters = 30;
    constexpr int kAroundText = 4;
    int widest = kLeastCharacters * fontMetrics().averageCharWidth();
    for (int row = 0; row < count(); ++row)
        widest = std::max(widest,
                          fontMetrics().horizontalAdvance(itemText(row))
                              + kAroundText * fontMetrics().averageCharWidth());
    view()->setMinimumWidth(widest);
}

void ChipBox::show(const QString &chip)
{
    m_shown = chip;
    if (chip == kThisGpu) { // asked for where there may be none
        addGpu();
    } else if (findData(chip) < 0) { // a file
        insertItem(count() - 1, QFileInfo(chip).fileName(), chip);
        setItemData(count() - 2, chip, Qt::ToolTipRole);
    }
    setCurrentIndex(findData(chip));
}

void ChipBox::choose(const QString &chip)
{
    const auto found = chip.isEmpty() ? Result<std::shared_ptr<const hardware::Description>>(nullptr)
                                      : hardware::findDescription(chip.toStdString());
    if (found.ok()) {
        Q_EMIT chosen(chip);
    } else {
        setCurrentIndex(findData(m_shown));
        Q_EMIT refused(tr("This chip description cannot be used: %1").arg(plain(found.error().message())));
    }
}

void ChipBox::take(int index)
{
    const QString chip = itemData(index).toString();
    if (chip == kFile)
        askForFile();
    else
        choose(chip);
}

void ChipBox::askForFile()
{
    const QString path = QFileDialog::getOpenFileName(window(), tr("Chip Description"), QString(),
                                                      tr("Chips (*.json);;All files (*)"));
    if (path.isEmpty())
        setCurrentIndex(findData(m_shown));
    else
        choose(path);
}

} // namespace halftone::app
