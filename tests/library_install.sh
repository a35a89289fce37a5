#!/usr/bin/env bash
# Installs libtroupe into a folder of its own and uses it as others would: the header by itself in C and C++, the names
# it exports, the examples built with cmake and with pkg-config, shared and static, and their motion against the
# program's.
#   library_install.sh SOURCE BUILD CMAKE CC
set -euo pipefail
source=$1 build=$2 cmake=$3 cc=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    printf 'library_install: %s\n' "$*" >&2
    exit 1
}

quietly() {
    "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "failed: $*"; }
}

prefix=$work/prefix
quietly "$cmake" --install "$build" --prefix "$prefix" --component library
header=$prefix/include/troupe/troupe.h
shared=$(find "$prefix" -name libtroupe.so) static=$(find "$prefix" -name libtroupe.a)
[ -f "$header" ] && [ -f "$shared" ] && [ -f "$static" ] || fail "header or library is not installed"

# The header by itself.
warnings=(-Wall -Wextra -Wpedantic -Wstrict-prototypes -Werror)
for standard in c99 c11 c17; do
    quietly "$cc" -std=$standard "${warnings[@]}" -fsyntax-only -x c "$header"
done
if command -v c++ >/dev/null; then
    for standard in c++11 c++17; do
        quietly c++ -std=$standard -Wall -Wextra -Wpedantic -Werror -fsyntax-only -x c++ "$header"
    done
else
    echo "no C++ compiler: the header is not tried as C++"
fi
foreign=$(grep '#include' "$header" | grep -v -e '<stdbool.h>' -e '<stddef.h>' || true)
[ -z "$foreign" ] || fail "the header includes $foreign"
declared=$(grep -oE '\b[a-z_0-9]+\( ' "$header" | grep -oE '[a-z_0-9]+' | grep -E '^(tr|troupe)_' | sort -u)

# What README and docs/library.md show stands in the examples, line by line.
for page in README.md docs/library.md; do
    awk '/^```c$/ { code = 1; next } /^```$/ { code = 0 } code && NF && !/^ *…$/' "$source/$page" |
        while IFS= read -r line; do
            grep -qxF -e "$line" "$source"/examples/*.c || fail "$page shows a line that no example has: $line"
        done
done

# Names that others can see: what the header declares, no less and no more.
for names in "$(nm -D --defined-only "$shared")" "$(nm -g --defined-only "$static")"; do
    exported=$(awk 'NF == 3 { print $3 }' <<<"$names" | sort -u)
    [ "$exported" = "$declared" ] || fail "exported and declared names differ:
$(diff <(echo "$exported") <(echo "$declared"))"
done

# With cmake, shared and static.
for kind in OFF ON; do
    examples=$work/examples_$kind
    quietly "$cmake" -S "$source/examples" -B "$examples" -G Ninja -DCMAKE_C_COMPILER="$cc" \
        -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$prefix" -DTROUPE_STATIC=$kind
    quietly "$cmake" --build "$examples"
    quietly "$examples/retarget" high_five "$work/result_$kind"
    quietly "$examples/drag"
done
[[ $(ldd "$work/examples_OFF/retarget") = *libtroupe* ]] || fail "the shared example does not use the shared library"
[[ $(ldd "$work/examples_ON/retarget") != *libtroupe* ]] || fail "the static example uses the shared library"

# With pkg-config, shared and static.
export PKG_CONFIG_PATH=${shared%/*}/pkgconfig
[ "$(pkg-config --modversion troupe)" = "$("$build/troupe" --version | cut -d' ' -f2)" ] || fail "versions differ"
read -ra flags < <(pkg-config --cflags --libs troupe)
quietly "$cc" "$source/examples/retarget.c" -o "$work/retarget" "${flags[@]}" -Wl,-rpath,"${shared%/*}"
quietly "$work/retarget" high_five "$work/result_pc"
read -ra flags < <(pkg-config --static --cflags --libs troupe | sed 's/-ltroupe\b/-l:libtroupe.a/')
quietly "$cc" "$source/examples/retarget.c" -o "$work/retarget_static" "${flags[@]}"
quietly "$work/retarget_static" high_five "$work/result_pc_static"

# The program makes the same files of the same ops.
printf 'open scene=high_five\ncast_scale id=p01 scale=1.2\ncast_limb id=p01 limb=arms value=1.1\n' >"$work/script.txt"
quietly "$build/troupe" run "$work/script.txt" -o "$work/result"
for kind in OFF ON pc pc_static; do
    quietly diff -r "$work/result" "$work/result_$kind"
done

# The installed module finds the installed library.
for python in python3 /usr/bin/python3; do
    "$python" -c 'import numpy' 2>/dev/null || continue
    loaded=$(PYTHONPATH=$prefix/lib/python3/dist-packages "$python" -B -c \
        'import troupe, re; print(re.search(r"\S*libtroupe\S*", open("/proc/self/maps").read())[0])')
    [[ $loaded = "$prefix"/* ]] || fail "the module loads $loaded"
    break
done

# A file that is not there is a sentence.
"$work/retarget" missing.json 2>"$work/log" && fail "a missing file is no error"
grep -q 'missing.json: there is no such file' "$work/log" || fail "the error does not name the file: $(cat "$work/log")"
echo "installed, built with cmake and pkg-config, shared and static; the motion is the program's"
