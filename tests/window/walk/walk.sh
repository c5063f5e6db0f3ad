#!/usr/bin/env bash
# A person's first quarter of an hour with the window, with a real mouse and keyboard on a real X server: open, first-use card, attach
# data, drop a policy and take what is suggested, look at both sides and at errors, drag an operator, undo and redo, attach pictures, drag
# a threshold, measure latency, tune and adopt a point, name a view, export, go on after a kill, open a second model, a quantized one
# and a decoder of 24 blocks, choose all nodes of a kind and switch the theme. Pictures are compared with those in expected/; record.sh takes them anew.
#   walk.sh PROGRAM light|dark|small|double SOURCE [FOLDER]
# PROGRAM: halftone-walk. SOURCE: the repository. FOLDER: pictures are written there, and not compared.
# Exit code 77: skipped, since a tool is missing. Waits for what is to come, never for a time.
set -euo pipefail

program=$1 variant=$2 source=$3 record=${4:-}
here=$source/tests/window/walk
readonly most_seconds=60         # that anything may take
readonly most_differing=3.0       # per cent of a picture's pixels
readonly fuzz=20%                 # that the colour of a pixel may be off
theme=light width=1500 height=950 scale=1
case $variant in
    light) ;;
    dark) theme=dark ;;
    small) width=1000 height=700 ;;
    double) width=960 height=540 scale=2 ;; # 1920 x 1080 at 200 %
    *) echo "error: $variant, expected light, dark, small or double" >&2; exit 2 ;;
esac

for tool in Xvfb xdotool import mogrify compare; do
    command -v "$tool" >/dev/null || { echo "skipped: no $tool here"; exit 77; }
done

folder=$(mktemp -d)
finish() {
    local code=$?
    trap - EXIT
    [[ -z ${WINDOW_PID:-} ]] || kill -9 "$WINDOW_PID" 2>/dev/null || true
    [[ -z ${server:-} ]] || kill "$server" 2>/dev/null || true
    wait 2>/dev/null || true
    if [[ $code -ne 0 && -n ${HALFTONE_WALK_KEEP:-} ]]; then
        mkdir -p "$HALFTONE_WALK_KEEP"
        cp "$folder"/*.png "$HALFTONE_WALK_KEEP"/ 2>/dev/null || true
    fi
    rm -rf "$folder"
    exit "$code"
}
trap finish EXIT

fail() {
    echo "error: $variant, after '${step:-start}': $*" >&2
    import -window root "$folder/failed.png" 2>/dev/null || true
    exit 1
}

# await WHAT COMMAND...: until it succeeds.
await() {
    local what=$1 end=$((SECONDS + most_seconds))
    shift
    until "$@"; do
        ((SECONDS < end)) || fail "waited $most_seconds s for $what"
        sleep 0.05
    done
}

# --- server, settings and model of its own ---
mkdir -m 700 "$folder/home"
mkdir "$folder/model" "$folder/pictures"
cp "$source"/resources/sample/{digits-{symbol.json,0000.params,test.npz},digits.onnx,all-float16.policy.json} "$folder/model/"
cp "$source"/tests/data/task/right/*.png "$folder/pictures/"
cp "$source"/tests/data/qdq/qdq.onnx "$folder/model/quantized.onnx"
"$program" decoder "$folder/model/decoder.onnx"
cat >"$folder/fonts.conf" <<EOF
<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>/usr/share/fonts/truetype/dejavu</dir><cachedir>$folder/home/fonts</cachedir>
<match target="pattern"><test name="family" compare="not_eq"><string>DejaVu Sans Mono</string></test>
<edit name="family" mode="assign" binding="strong"><string>DejaVu Sans</string></edit></match>
<match target="font"><edit name="hintstyle" mode="assign"><const>hintnone</const></edit><edit name="rgba" mode="assign"><const>none</const></edit></match>
</fontconfig>
EOF
Xvfb -displayfd 3 -screen 0 "$((width * scale))x$((height * scale))x24" -nolisten tcp 3>"$folder/display" 2>/dev/null &
server=$!
await "the X server" test -s "$folder/display"
DISPLAY=:$(<"$folder/display")
export DISPLAY

begin() {
    coproc WINDOW {
        unset QT_QPA_PLATFORMTHEME XDG_CURRENT_DESKTOP QT_STYLE_OVERRIDE
        export HOME=$folder/home XDG_CONFIG_HOME=$folder/home XDG_DATA_HOME=$folder/home XDG_CACHE_HOME=$folder/home
        export XDG_RUNTIME_DIR=$folder/home FONTCONFIG_FILE=$folder/fonts.conf LC_ALL=C.UTF-8
        export QT_QPA_PLATFORM=xcb QT_SCALE_FACTOR=$scale QT_FONT_DPI=96 QT_XCB_GL_INTEGRATION=none
        exec "$program" "$theme" "$width" "$height" "$folder/model/digits-symbol.json" 2>>"$folder/said"
    }
    settle
}

ask() {
    local reply
    printf '%s\n' "$*" >&"${WINDOW[1]}" || fail "the window is gone"
    read -r -t "$most_seconds" reply <&"${WINDOW[0]}" || fail "no answer to '$*'"
    printf '%s' "$reply"
}

settle() { [[ $(ask settled) == settled ]] || fail "no rest"; }
says() { [[ $(ask says "${@:2}") == "$1" ]]; }
expect() { await "${*:2} to be $1" says "$@"; }
is_there() { [[ $(ask where "$@") != nowhere ]]; }

has_searched() { says found tune || says refused tune || { says running tune && says points tune-points; }; }
is_asked_or_open() { is_there button Discard || says "$1" model; }
is_suggested() { ! says none suggestion; }
is_last_edit() { [[ $(ask says undo) == "$1"* ]]; }

# place KIND NAME: sets x and y.
place() {
    await "$*" is_there "$@"
    read -r x y <<<"$(ask where "$@")"
}

press() {
    place "$@"
    xdotool mousemove "$x" "$y" click 1
}

# Without a window manager nobody hands the focus back when a dialog goes.
keys() {
    xdotool windowfocus --sync "$(ask window)" 2>/dev/null || true
    xdotool key --clearmodifiers "$@"
}

# drag_to X Y: from where the mouse is.
drag_to() {
    local from_x=$x from_y=$y k
    xdotool mousedown 1
    for k in 1 2 3 4 5 6 7 8; do
        xdotool mousemove $((from_x + ($1 - from_x) * k / 8)) $((from_y + ($2 - from_y) * k / 8)) sleep 0.02
    done
    xdotool sleep 0.1 mouseup 1
}

# type_into FIELD TEXT: in place of what is there.
type_into() {
    press field "$1"
    keys ctrl+a
    xdotool type --delay 2 -- "$2"
}

# choose_view MENU ENTRY: in the menu View.
choose_view() {
    keys alt+v
    press menu "$1"
    press menu "$2"
}

# shot NAME: takes a picture, with what is never the same left out, and compares it.
shot() {
    local name=$variant-$1 drawn=() mask differing total
    xdotool mousemove $((width * scale - 2)) $((height * scale - 2))
    settle
    IFS=';' read -ra masks <<<"$(ask masks)"
    for mask in "${masks[@]}"; do
        drawn+=(-draw "rectangle $mask")
    done
    import -window root "$folder/$name.png"
    mogrify -fill gray50 "${drawn[@]}" -filter Box -resize 50% -strip "$folder/$name.png"
    if [[ -n $record ]]; then
        mogrify +dither -colors 48 -define png:compression-level=9 "$folder/$name.png"
        cp "$folder/$name.png" "$record/$name.png"
        return
    fi
    differing=$(compare -metric AE -fuzz "$fuzz" "$here/expected/$name.png" "$folder/$name.png" "$folder/$name-difference.png" 2>&1) \
        || [[ $differing =~ ^[0-9.e+]+$ ]] || fail "$name: $differing"
    total=$((width * height * scale * scale / 4))
    awk -v d="$differing" -v t="$total" -v most="$most_differing" -v name="$name" 'BEGIN {
        share = 100 * d / t; printf "%-28s %.2f %% of its pixels differ\n", name, share; exit !(share <= most) }' \
        || fail "$name differs from what was recorded in more than $most_differing % (tests/window/walk/record.sh takes it anew)"
}

# --- the walk ---
step="open"
begin
shot opened

step="attach data"
if is_there button "Attach Data"; then # the first-use card, where there is room for it
    press button "Attach Data"
else
    keys ctrl+d
fi
expect "Attach Data" dialog
type_into Inputs "$folder/model/digits-test.npz"
press button Attach
expect none dialog
expect data data
settle
if is_there button "Close the first steps permanently"; then
    press button "Close the first steps permanently"
fi
shot attached

step="drop a policy"
read -r x y <<<"$(ask offer "$folder/model/all-float16.policy.json")"
from_x=$x from_y=$y
place node stem_conv
to_x=$x to_y=$y
x=$from_x y=$from_y
xdotool mousemove "$x" "$y"
drag_to "$to_x" "$to_y"
expect float16 precision energy
await "a suggestion" is_suggested
settle
shot suggested

step="take what is suggested"
press button "$(ask says suggestion)"
expect float32 precision energy
settle
shot taken

step="look at both sides, and at errors"
choose_view Graphs "Side by Side"
expect 2 sides
settle
shot sides
choose_view Graphs Converted
expect 1 sides
choose_view "Colour By" Error
expect 1 colours
settle
shot errors
choose_view "Colour By" Precision
expect 0 colours
keys ctrl+z
keys ctrl+z
expect nothing undo
settle

step="drag an operator to fp32"
expect float16 precision stem_conv
place op Convolution
xdotool mousemove "$x" "$y"
from_x=$x from_y=$y
place list fp32
to_x=$x to_y=$y
x=$from_x y=$from_y
drag_to "$to_x" "$to_y"
expect float32 precision stem_conv
settle
shot dragged

step="undo and redo"
keys ctrl+z
expect float16 precision stem_conv
keys ctrl+shift+z
expect float32 precision stem_conv
settle

step="look at pictures as data"
keys ctrl+d
expect "Attach Data" dialog
type_into Inputs "$folder/pictures"
await "the fields for pictures" is_there field Layout
shot pictures
keys Escape
expect none dialog

step="drag a threshold"
keys ctrl+k
settle
if says 0 thresholds && ! is_there handle; then
    press node stem_conv
    settle
fi
place handle
xdotool mousemove "$x" "$y"
drag_to $((x - 30 * scale)) "$y"
expect 1 thresholds
settle
shot calibration

step="measure latency"
keys ctrl+t
press field "Live latency"
expect times times
settle
shot latency

step="tune"
press field "Live latency" # off: a search measures for itself
settle
press field "Target type"
xdotool key Down Return # in the list that has opened: bfloat16
expect bfloat16 precision fc
settle
keys ctrl+u
settle
shot tune
press button Tune
await "points of a front" has_searched
if says running tune; then
    press button Stop
    expect found tune
fi
if says found tune; then # else this machine only emulates bfloat16, which was said
    press button "Adopt Fastest"
    settle
    [[ $(ask says undo) != "Set Target"* ]] || fail "nothing was adopted"
    keys ctrl+z
fi
await "the target as the last edit" is_last_edit "Set Target"
keys ctrl+z
expect float16 precision fc
settle

step="name a view"
keys ctrl+b
expect "Add Bookmark" dialog
keys Return
expect none dialog
expect 1 bookmarks

step="export"
keys ctrl+e
expect Export dialog
type_into "Folder and start of the file names" "$folder/out"
press button Export
for file in out-symbol.json out-0000.params out.policy.json out.html; do
    await "$file" test -s "$folder/$file"
done
settle

step="go on after a kill"
kill -9 "$WINDOW_PID"
wait "$WINDOW_PID" 2>/dev/null || true
begin
expect offered recovery
shot offered
press button Recover
expect float32 precision stem_conv
expect 1 thresholds
expect 1 bookmarks
settle
expect data data
shot recovered

# open_model FILE: in place of the one that is open.
open_model() {
    keys ctrl+o
    expect Open dialog
    keys ctrl+a # which gives the dialog the focus, however busy the machine is
    xdotool type --delay 2 -- "$folder/model/$1"
    keys Return
    await "a question or the model" is_asked_or_open "$1"
    if ! says "$1" model; then
        press button Discard
    fi
    expect "$1" model
    settle
}

step="open a second model"
open_model digits.onnx
shot second

step="open a quantized model"
open_model quantized.onnx
shot quantized
keys alt+v
press menu "Show All Nodes"
settle
shot all-nodes

step="open a decoder of 24 blocks"
open_model decoder.onnx
shot decoder

step="choose all nodes of a kind"
keys ctrl+f
type_into "Find nodes" "op = Softmax"
press button "Select All"
expect 24 selected
settle
shot found
keys Escape

step="switch the theme"
other=Dark
[[ $theme == light ]] || other=Light
choose_view Theme "$other"
settle
shot theme
echo "$variant: walked in $SECONDS s"
