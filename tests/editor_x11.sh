#!/usr/bin/env bash
# The editor with real X events: editor_x11.sh TROUPE SCREENS (tests/screens.c). A screen in memory, a pointer moved by xdotool, and what came
# of it read from the report the editor writes and from the files it saves. Leaves with 77 where that is not possible.
set -euo pipefail
troupe=$1
screens=$2
for tool in Xvfb xdotool; do
    command -v $tool >/dev/null || { echo "skipped: $tool is not installed"; exit 77; }
done

work=$(mktemp -d)
editor= screen=
finish() {
    [ -z "$editor" ] || kill "$editor" 2>/dev/null || true
    [ -z "$screen" ] || kill "$screen" 2>/dev/null || true
    wait 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT

fail() {
    echo "FAILED: $*" >&2
    [ ! -f "$work/state.json" ] || head -n 24 "$work/state.json" >&2
    [ ! -f "$work/editor.log" ] || cat "$work/editor.log" >&2
    exit 1
}

mkdir "$work/screen"
Xvfb -displayfd 5 -fbdir "$work/screen" -screen 0 1280x800x24 5>"$work/display" >/dev/null 2>&1 &
screen=$!
for _ in $(seq 1200); do [ -s "$work/display" ] && break; sleep 0.05; done
[ -s "$work/display" ] || { echo "skipped: Xvfb does not start"; exit 77; }
export DISPLAY=:$(cat "$work/display") XDG_STATE_HOME=$work/home

# ------------------------------------------------------------------------------------------------ the report

value() { # NAME: what the report says
    sed -n "s/^  \"$1\": \(.*[^,]\),\{0,1\}$/\1/p" "$work/state.json" | head -n 1
}

spot() { # NAME: "x y" of something on the window
    local at
    at=$(sed -n "s/^    \"$1\": \[\([0-9-]*\), \([0-9-]*\)\].*/\1 \2/p" "$work/state.json" | head -n 1)
    [ -n "$at" ] || fail "there is no $1 on the window"
    echo "$at"
}

expect() { # NAME VALUE: becomes true within a while
    local i
    for i in $(seq 1200); do
        [ "$(value "$1" 2>/dev/null)" = "$2" ] && return
        sleep 0.05
    done
    fail "$1 should be $2 and is $(value "$1")"
}

expect_other() { # NAME VALUE: becomes something else
    local i
    for i in $(seq 1200); do
        [ "$(value "$1")" != "$2" ] && return
        sleep 0.05
    done
    fail "$1 stays $2"
}

expect_like() { # NAME PATTERN
    local i
    for i in $(seq 1200); do
        case $(value "$1") in $2) return ;; esac
        sleep 0.05
    done
    fail "$1 should be like $2 and is $(value "$1")"
}

# All that was done has been seen and solved: the report says so and has not changed for a while.
settled() {
    local before= now i
    for i in $(seq 1200); do
        now=$(cksum <"$work/state.json")
        [ "$now" = "$before" ] && [ "$(value settled)" = true ] && return
        before=$now
        sleep 0.3
    done
    fail "the editor does not come to rest"
}

# Pictures of the viewport's middle, taken when the editor rests and the pointer is out of the way, and compared by eye,
# so to speak: tr_picture_difference, which forgives single pixels.
snap() { # NAME
    xdotool mousemove 5 795
    settled
    sleep 0.6 # smooth edges and shadows come back
    cp "$work/screen/Xvfb_screen0" "$work/$1.xwd"
}

differs() { # FIRST SECOND: by how much
    "$screens" "$work/$1.xwd" "$work/$2.xwd" 280 60 680 440
}

expect_alike() { # FIRST SECOND
    local by
    by=$(differs "$1" "$2")
    awk "BEGIN { exit !($by < 0.002) }" || fail "pictures $1 and $2 should look alike and differ by $by"
}

expect_unlike() { # FIRST SECOND
    local by
    by=$(differs "$1" "$2")
    awk "BEGIN { exit !($by > 0.0003) }" || fail "pictures $1 and $2 should differ and do so by $by only"
}

start() { # FILE OPTIONS…
    rm -f "$work/state.json"
    "$troupe" edit "$@" --size 1280x800 --report "$work/state.json" >"$work/editor.log" 2>&1 &
    editor=$!
    for _ in $(seq 1200); do [ -f "$work/state.json" ] && break; sleep 0.05; done
    [ -f "$work/state.json" ] || fail "the editor does not start"
    expect solved true
    settled
}

stop() {
    xdotool key ctrl+q
    for _ in $(seq 1200); do kill -0 "$editor" 2>/dev/null || break; sleep 0.05; done
    kill -0 "$editor" 2>/dev/null && fail "Ctrl+Q does not end the editor"
    wait "$editor" || fail "the editor ended with an error"
    editor=
}

# -------------------------------------------------------------------------------------------------- the test

"$troupe" make box_relay --cast 3 -o "$work/relay" -q
start "$work/relay/scene.json"
[ "$(value ops)" = 0 ] || fail "a fresh scene has a history"

# Turn the view as in Maya, then as in Blender.
snap opened
yaw=$(value yaw)
xdotool mousemove 600 300 keydown alt mousedown 1 mousemove 680 300 mouseup 1 keyup alt
expect_other yaw "$yaw"
snap turned
expect_unlike opened turned
yaw=$(value yaw)
xdotool mousemove 680 300 mousedown 2 mousemove 600 300 mouseup 2
expect_other yaw "$yaw"
snap returned
expect_alike opened returned

# A click shorter than a frame chooses what is under it.
xdotool mousemove $(spot p02.Head) click 1
expect_like selection '*p02.*'

# Scrub.
frame=$(value frame)
read -r x y < <(spot ruler)
xdotool mousemove $((x - 200)) $((y + 6)) mousedown 1 mousemove $((x - 120)) $((y + 6)) mouseup 1
expect_other frame "$frame"
settled

# Click a hand.
xdotool mousemove $(spot p02.LeftHand) click 1
expect_like selection '*p02.Left*'

# Grab a hand and pull it up; one drag is one step.
xdotool key w
expect tool '"Move"'
xdotool key Escape
snap before
read -r x y < <(spot p02.LeftHand)
xdotool mousemove "$x" "$y" mousedown 1
for step in 8 16 24 32; do xdotool mousemove $((x + step / 4)) $((y - step)); sleep 0.03; done
xdotool mouseup 1
expect ops 1
xdotool key Escape
snap pulled
expect_unlike before pulled
xdotool key ctrl+z
expect ops 0
snap undone
expect_alike before undone
xdotool key ctrl+shift+z
expect ops 1
snap redone
expect_alike pulled redone

# Pull a body by a cage, let its handle go and pin it again, and pull a corner of the cage.
xdotool key x
expect tool '"Cage"'
read -r x y < <(spot p01.Hips)
xdotool mousemove "$x" "$y" mousedown 1
for step in 8 16 24; do xdotool mousemove $((x + step)) "$y"; sleep 0.03; done
xdotool mouseup 1
expect ops 3
settled
xdotool mousemove $(spot handle.grip1)
expect part '"handle"'
xdotool key p
expect ops 4
xdotool key p
expect ops 5
settled
read -r x y < <(spot corner.2)
xdotool mousemove "$x" "$y" mousedown 1 mousemove $((x + 6)) "$y"
sleep 0.03
xdotool mousemove $((x + 12)) "$y" mouseup 1
expect ops 6
settled
xdotool key Escape

# Pull the layer on the timeline: its end reaches farther.
read -r x y < <(spot window.cage1)
xdotool mousemove "$x" "$y" mousedown 1 mousemove $((x + 15)) "$y"
sleep 0.03
xdotool mousemove $((x + 30)) "$y" mouseup 1
expect_other ops 6
settled
xdotool key ctrl+z
expect ops 6
settled

# Save, and what is saved can be read.
show_from_front() { # NAME: the first frame, nothing chosen
    xdotool key q Escape Escape Home KP_1 a
    snap "$1"
}
show_from_front saved
expect unsaved true
xdotool key ctrl+s
expect unsaved false
grep -q '"pin1"\|cage\|layer' "$work/relay/scene.json" || fail "the saved scene does not hold the edit"
"$troupe" measure "$work/relay/scene.json" >/dev/null || fail "the saved scene cannot be measured"

# Export.
xdotool key ctrl+e
expect dialog 3
xdotool key ctrl+a
xdotool type --delay 2 "$work/result"
xdotool key Return
for _ in $(seq 1200); do [ -f "$work/result/report.json" ] && break; sleep 0.05; done
[ -f "$work/result/p02.bvh" ] || fail "nothing was exported"
"$troupe" measure "$work/relay/scene.json" "$work/result" >/dev/null || fail "what was exported cannot be measured"
xdotool mousemove $(spot File) click 1
for _ in $(seq 1200); do grep -q 'menu.Export picture' "$work/state.json" && break; sleep 0.05; done
xdotool mousemove $(spot 'menu.Export picture…') click 1
expect dialog 4
xdotool type --delay 2 "$work/view" # takes the place of what is proposed
xdotool key Return
for _ in $(seq 1200); do [ -s "$work/view.png" ] && break; sleep 0.05; done
[ -s "$work/view.png" ] || fail "no picture was exported"
settled
stop

# Open what was saved.
start "$work/relay/scene.json"
[ "$(value ops)" = 0 ] || fail "a scene that was opened again has a history"
show_from_front reopened
expect_alike saved reopened
stop

# Killed in the middle of an edit: what was saved is whole, what was not is offered again.
before=$(cksum <"$work/relay/scene.json")
start "$work/relay/scene.json" --autosave 0.5
xdotool mousemove $(spot p01.Hips) click 1
expect_like selection '*p01.*'
xdotool key Delete
expect ops 1
for _ in $(seq 1200); do ls "$work"/home/troupe/recovery-*.json >/dev/null 2>&1 && break; sleep 0.05; done
xdotool key x
read -r x y < <(spot p03.LeftHand)
xdotool mousemove "$x" "$y" mousedown 1 mousemove $((x + 10)) "$y" mousemove $((x + 20)) "$y"
kill -9 "$editor"
wait "$editor" 2>/dev/null || true
xdotool mouseup 1
[ "$(cksum <"$work/relay/scene.json")" = "$before" ] || fail "a kill harmed the saved scene"
start "$work/relay/scene.json"
expect dialog 7
xdotool mousemove $(spot dialog.Restore) click 1
expect dialog 0
expect unsaved true
settled
grep -q '"p01.Hips"' "$work/state.json" && fail "what was removed before the kill is back"
xdotool key ctrl+s
expect unsaved false
[ "$(cksum <"$work/relay/scene.json")" != "$before" ] || fail "what was restored cannot be saved"
stop
[ -z "$(ls "$work"/home/troupe/recovery-*.json 2>/dev/null)" ] || fail "a recovery file stays behind"

# Asked to end: it ends at once, and unsaved changes are offered again.
start "$work/relay/scene.json" --autosave 0.5
xdotool mousemove $(spot p03.Head) click 1
expect_like selection '*p03.*'
xdotool key Delete
expect ops 1
for _ in $(seq 1200); do ls "$work"/home/troupe/recovery-*.json >/dev/null 2>&1 && break; sleep 0.05; done
kill "$editor"
for _ in $(seq 1200); do kill -0 "$editor" 2>/dev/null || break; sleep 0.05; done
kill -0 "$editor" 2>/dev/null && fail "SIGTERM does not end the editor"
wait "$editor" 2>/dev/null && fail "the editor does not end by SIGTERM"
editor=
ls "$work"/home/troupe/recovery-*.json >/dev/null 2>&1 || fail "SIGTERM removed the recovery file"
echo "the editor works with real events"
