#!/usr/bin/env bash
# Puts nuklear.h, the library behind the editor's panels, where cmake looks for it: ~/.cache/troupe/nuklear.h, shared
# by all checkouts. It comes out of the distribution's own source package of GLFW (deps/nuklear.h), through apt and
# its signatures, and must have the checksum below. Needs no root and changes nothing of the system's.
#
#   scripts/nuklear.sh           take it from the source package, unless it is there already
#   scripts/nuklear.sh FILE      take this file
set -euo pipefail

package=glfw3 version=3.3.8-1
header_sum=5ca9fd74ca145d96271a8f09679f33ce7d4ac3a460c0bc41d73f5387c9b9f94d
cache=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/troupe

stop() {
    printf 'nuklear.sh: %s\n' "$*" >&2
    exit 1
}

sum_of() {
    sha256sum "$1" | cut -d' ' -f1
}

# keep FILE: its checksum is right, so it moves to the cache in one step.
keep() {
    [ "$(sum_of "$1")" = "$header_sum" ] || stop "$1 is not the version of nuklear.h this project is written for."
    mkdir -p "$cache"
    cp -- "$1" "$cache/nuklear.h.$$"
    mv -f -- "$cache/nuklear.h.$$" "$cache/nuklear.h"
}

# The machine's package sources, asked for sources instead of binaries: a copy of their list in $work/parts.
copy_sources() {
    local etc=${APT_CONFIG_DIR:-/etc/apt} file n=0
    for file in "$etc"/sources.list.d/*.sources "$etc"/sources.list "$etc"/sources.list.d/*.list; do
        [ -f "$file" ] || continue
        n=$((n + 1))
        case $file in
        *.sources) sed -E 's/^[Tt]ypes:.*/Types: deb-src/' "$file" >"$work/parts/$n.sources" ;;
        *) sed -nE 's/^[[:space:]]*deb(-src)?[[:space:]]+/deb-src /p' "$file" | sort -u >"$work/parts/$n.list" ;;
        esac
    done
    [ "$n" -gt 0 ] || stop "apt knows no package sources here."
}

private_apt() {
    apt-get -q -o Dir::Etc::sourcelist="$work/none" -o Dir::Etc::sourceparts="$work/parts" \
        -o Dir::State::lists="$work/lists" -o Dir::Cache="$work/cache" -o Acquire::Languages=none \
        -o Debug::NoLocking=1 -o APT::Sandbox::User="$(id -un)" "$@" >&2
}

fetch() {
    command -v apt-get >/dev/null || stop "there is no apt here; give the path of nuklear.h (see scripts/nuklear.sh)."
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    mkdir -p "$work/parts" "$work/lists/partial" "$work/cache/archives/partial" "$work/files"
    : >"$work/none"
    copy_sources
    private_apt update || printf 'nuklear.sh: some package sources could not be read.\n' >&2
    cd "$work/files"
    private_apt source --download-only "$package=$version" || private_apt source --download-only "$package" ||
        stop "the source package $package could not be fetched; is there a network?"
    local archive member
    archive=$(echo "$package"_*.orig.tar.*)
    member=$(tar -tf "$archive" | grep '/deps/nuklear\.h$') || stop "$archive holds no deps/nuklear.h."
    tar -xf "$archive" -O "$member" >"$work/nuklear.h"
    keep "$work/nuklear.h"
}

if [ $# -gt 0 ]; then
    [ -f "$1" ] || stop "there is no file $1."
    keep "$1"
elif [ ! -f "$cache/nuklear.h" ] || [ "$(sum_of "$cache/nuklear.h")" != "$header_sum" ]; then
    fetch
fi
