#include "widgets/graphview/graph_keys.h"

#include <algorithm>
#include <array>

namespace halftone::widgets {
namespace {

struct KeyRow
{
    int key;
    Qt::KeyboardModifiers needs;
    GraphCommand command;
};

/// The first row counts whose key it is and whose modifiers are held, perhaps with others.
constexpr std::array kRows{
    KeyRow{Qt::Key_Plus, Qt::ControlModifier, GraphCommand::ZoomIn},
    KeyRow{Qt::Key_Equal, Qt::ControlModifier, GraphCommand::ZoomIn},
    KeyRow{Qt::Key_Minus, Qt::ControlModifier, GraphCommand::ZoomOut},
    KeyRow{Qt::Key_0, Qt::ControlModifier, GraphCommand::ZoomToFull},
    KeyRow{Qt::Key_F, Qt::ControlModifier, GraphCommand::Find},
    KeyRow{Qt::Key_A, Qt::ControlModifier, GraphCommand::SelectAll},
    KeyRow{Qt::Key_Left, Qt::AltModifier, GraphCommand::Back},
    KeyRow{Qt::Key_Right, Qt::AltModifier, GraphCommand::Forward},
    KeyRow{Qt::Key_Up, Qt::NoModifier, GraphCommand::Walk},
    KeyRow{Qt::Key_Down, Qt::NoModifier, GraphCommand::Walk},
    KeyRow{Qt::Key_Left, Qt::NoModifier, GraphCommand::Walk},
    KeyRow{Qt::Key_Right, Qt::NoModifier, GraphCommand::Walk},
    KeyRow{Qt::Key_Home, Qt::NoModifier, GraphCommand::Walk},
    KeyRow{Qt::Key_End, Qt::NoModifier, GraphCommand::Walk},
    KeyRow{Qt::Key_PageUp, Qt::NoModifier, GraphCommand::PageUp},
    KeyRow{Qt::Key_PageDown, Qt::NoModifier, GraphCommand::PageDown},
    KeyRow{Qt::Key_Space, Qt::NoModifier, GraphCommand::Fit},
    KeyRow{Qt::Key_Return, Qt::AltModifier, GraphCommand::ShowCounterpart},
    KeyRow{Qt::Key_Enter, Qt::AltModifier, GraphCommand::ShowCounterpart},
    KeyRow{Qt::Key_Return, Qt::NoModifier, GraphCommand::OpenOrClose},
    KeyRow{Qt::Key_Enter, Qt::NoModifier, GraphCommand::OpenOrClose},
    KeyRow{Qt::Key_Backspace, Qt::NoModifier, GraphCommand::GoUp},
    KeyRow{Qt::Key_F3, Qt::ShiftModifier, GraphCommand::FindPrevious},
    KeyRow{Qt::Key_F3, Qt::NoModifier, GraphCommand::FindNext},
    KeyRow{Qt::Key_Escape, Qt::NoModifier, GraphCommand::Leave},
};

} // namespace

GraphCommand commandOf(int key, Qt::KeyboardModifiers modifiers)
{
    const auto *const row = std::ranges::find_if(kRows, [key, modifiers](const KeyRow &candidate) {
        return candidate.key == key && (modifiers & candidate.needs) == candidate.needs;
    });
    return row == kRows.end() ? GraphCommand::None : row->command;
}

} // namespace halftone::widgets
