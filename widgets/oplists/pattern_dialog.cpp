#include "widgets/oplists/pattern_dialog.h"

#include "core/policy/pattern.h"
#include "widgets/common/formatters.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QVBoxLayout>

namespace halftone::widgets {
namespace {

constexpr std::size_t kMostShown = 200;

} // namespace

PatternDialog::PatternDialog(const DocumentController *controller, QWidget *parent)
    : QDialog(parent)
    , m_snapshot(controller->snapshot())
    , m_effects(controller)
    , m_pattern(new QLineEdit(this))
    , m_action(new QComboBox(this))
    , m_count(new QLabel(this))
    , m_names(new QListWidget(this))
    , m_effect(new QLabel(this))
{
    setWindowTitle(tr("Edit by Pattern"));
    const QString target = titleOf(ListId::Target, m_snapshot->target());
    m_pattern->setPlaceholderText(tr("stage4, ^conv[0-9]+$, (bn|relu)$"));
    m_pattern->setAccessibleName(tr("Pattern for node names"));
    m_action->addItem(tr("Exclude (stay in fp32)"), Exclude);
    m_action->addItem(tr("Set each to %1").arg(target), ToTarget);
    m_action->addItem(tr("Set each to int8"), ToInt8);
    m_action->addItem(tr("Set each to fp32"), ToFp32);
    m_action->addItem(tr("Follow the lists again"), AsListsSay);
    m_action->setAccessibleName(tr("Action"));
    m_names->setAccessibleName(tr("Nodes that match"));
    m_names->setSelectionMode(QAbstractItemView::NoSelection);
    m_names->setUniformItemSizes(true);
    m_effect->setWordWrap(true);
    m_effect->setMinimumHeight(2 * fontMetrics().lineSpacing());
    m_effect->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    auto *const buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel, this);
    m_ok = buttons->button(QDialogButtonBox::Ok);

    auto *const form = new QFormLayout;
    form->addRow(tr("&Names matching"), m_pattern);
    form->addRow(tr("&Do"), m_action);
    auto *const layout = new QVBoxLayout(this);
    layout->addLayout(form);
    layout->addWidget(m_count);
    layout->addWidget(m_names, 1);
    layout->addWidget(m_effect);
    layout->addWidget(buttons);
    resize(64 * fontMetrics().averageCharWidth(), 24 * fontMetrics().lineSpacing());

    m_later.setSingleShot(true);
    m_later.setInterval(150);
    connect(&m_later, &QTimer::timeout, this, &PatternDialog::showEffect);
    connect(m_pattern, &QLineEdit::textChanged, this, &PatternDialog::match);
    connect(m_action, &QComboBox::currentIndexChanged, this, &PatternDialog::match);
    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    match();
}

void PatternDialog::setPattern(const QString &pattern)
{
    m_pattern->setText(pattern);
}

void PatternDialog::match()
{
    m_matches.clear();
    m_names->clear();
    m_effects.forget();
    m_effect->clear();
    const std::string text = pattern();
    const graph::Graph &graph = m_snapshot->graph();
    QString message = tr("Type part of a name, or a pattern. Nothing changes until you press the button.");
    if (!text.empty()) {
        const auto compiled = policy::Pattern::compile(text);
        if (compiled.ok()) {
            for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
                if (!graph.isVariable(id) && compiled.value().matches(graph.node(id).name))
                    m_matches.push_back(graph.node(id).name);
            }
            message = m_matches.empty() ? tr("No operator name matches.")
                : m_matches.size() == 1 ? tr("1 node matches:")
                                        : tr("%1 nodes match:").arg(m_matches.size());
        } else {
            message = tr("Not a pattern: %1").arg(plain(compiled.error().message()));
        }
    }
    m_count->setText(message);
    QStringList shown;
    for (std::size_t k = 0; k < m_matches.size() && k < kMostShown; ++k)
        shown << plain(m_matches[k]);
    if (m_matches.size() > kMostShown)
        shown << tr("and %1 more").arg(m_matches.size() - kMostShown);
    m_names->addItems(shown);
    const bool isChange = edit().has_value();
    m_ok->setEnabled(isChange);
    if (!m_matches.empty() && !isChange)
        m_effect->setText(whyNot());
    m_ok->setText(m_matches.empty() ? tr("Change nothing") : tr("Change %1 nodes").arg(m_matches.size()));
    if (m_matches.size() == 1)
        m_ok->setText(tr("Change 1 node"));
    m_later.start();
}

void PatternDialog::showEffect()
{
    const std::optional<policy::Edit> wanted = edit();
    if (!wanted)
        return;
    m_effects.ask(
        {*wanted},
        [this, what = plain(policy::describe(*wanted))](const std::vector<session::EditEffect> &effects) {
            m_effect->setText(consequence(what, effects.front()));
        });
}

/// Without the slashes that patterns have in policies and in the boxes for finding and filtering.
std::string PatternDialog::pattern() const
{
    const QString text = m_pattern->text().trimmed();
    const bool isBetweenSlashes = text.size() > 2 && text.startsWith(u'/') && text.endsWith(u'/');
    return (isBetweenSlashes ? text.mid(1, text.size() - 2) : text).toStdString();
}

ListMove PatternDialog::moveOfNodes() const
{
    const auto action = static_cast<Action>(m_action->currentData().toInt());
    const ListId list = action == ToTarget ? ListId::Target
        : action == ToInt8                 ? ListId::Int8
        : action == ToFp32                 ? ListId::Fp32
                                           : ListId::Neutral;
    return moveTo(*m_snapshot, {{}, m_matches}, list);
}

QString PatternDialog::whyNot() const
{
    const ListMove move = moveOfNodes();
    return move.choices.empty() || move.choices.front().why.isEmpty()
        ? tr("Nothing to change: they are already set this way.")
        : tr("Not possible: %1.").arg(move.choices.front().why);
}

std::optional<policy::Edit> PatternDialog::edit() const
{
    if (m_matches.empty())
        return std::nullopt;
    const auto action = static_cast<Action>(m_action->currentData().toInt());
    if (action == Exclude)
        return policy::ExcludeNames{{'/' + pattern() + '/'}};
    const ListMove move = moveOfNodes();
    return move.choices.empty() ? std::nullopt : move.choices.front().edit; // of the nodes alone
}

} // namespace halftone::widgets
