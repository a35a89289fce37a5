#!/usr/bin/env bash
# Puts sources of others that this project is built with, but does not contain, where cmake looks for them:
# ~/.cache/troupe, shared by all checkouts. They come out of the distribution's own source packages, through apt and
# its signatures, and must have the checksums below. Needs no root and changes nothing of the system's.
#
#   nuklear   draws the panels of the editor     from glfw3 (deps/nuklear.h)
#   cgltf     reads glTF and GLB                 from meshoptimizer (extern/cgltf.h)
#   ufbx      reads FBX                          from godot (thirdparty/ufbx), of a later release
#
#   scripts/headers.sh NAME…           take them from the source packages, unless they are there already
#   scripts/headers.sh NAME FOLDER     take the files of this folder; a single file may be named itself
set -euo pipefail

cache=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/troupe

# The files of NAME with their checksums.
files_of() {
    case $1 in
    nuklear) echo "nuklear.h 5ca9fd74ca145d96271a8f09679f33ce7d4ac3a460c0bc41d73f5387c9b9f94d" ;;
    cgltf) echo "cgltf.h 21e122de99e30ae05ab9321b44a67905133639f6a5427c0bdd86775f2dd8da79" ;;
    ufbx)
        echo "ufbx.c 2f7dbfa8f2c7f45fe2d468b13fb8954ef8f502feb43c264c70f29007cc68fa2a"
        echo "ufbx.h 05362d987b3bf646932d89758c43d94458620c409b51b06948a32d33b37472f3"
        ;;
    *) stop "nothing is known of '$1'; there are nuklear, cgltf and ufbx." ;;
    esac
}

# Where they are, the first that works: package, version, suite (- is the machine's own), folder in the package.
places_of() {
    case $1 in
    nuklear) echo "glfw3 3.3.8-1 - deps" ;;
    cgltf)
        echo "meshoptimizer 0.18+dfsg-2 - extern"
        echo "meshoptimizer 0.18+dfsg-2 bookworm extern"
        ;;
    ufbx) # a package of testing leaves the pool when it is updated
        echo "godot 4.6.3+ds-2 forky thirdparty/ufbx"
        echo "godot 4.6.3+ds-2 sid thirdparty/ufbx"
        echo "blender - sid extern/ufbx"
        ;;
    esac
}

stop() {
    printf 'headers.sh: %s\n' "$*" >&2
    exit 1
}

note() {
    printf 'headers.sh: %s\n' "$*" >&2
}

# right NAME FOLDER: all files are there and have their checksums.
right() {
    local file sum
    while read -r file sum; do
        [ -f "$2/$file" ] && [ "$(sha256sum "$2/$file" | cut -d' ' -f1)" = "$sum" ] || return 1
    done < <(files_of "$1")
}

# keep NAME FOLDER: each file moves to the cache in one step.
keep() {
    local file sum
    right "$1" "$2" || return 1
    mkdir -p "$cache"
    while read -r file sum; do
        cp -- "$2/$file" "$cache/$file.$$"
        mv -f -- "$cache/$file.$$" "$cache/$file"
    done < <(files_of "$1")
}

# The machine's package sources, asked for sources instead of binaries, of SUITE unless it is -: a list in
# $work/$suite/parts.
copy_sources() {
    local suite=$1 etc=${APT_CONFIG_DIR:-/etc/apt} file n=0 lines=()
    for file in "$etc"/sources.list.d/*.sources "$etc"/sources.list "$etc"/sources.list.d/*.list; do
        [ -f "$file" ] || continue
        n=$((n + 1))
        case $file in
        *.sources)
            awk -v suite="$suite" 'BEGIN { RS = ""; ORS = "\n\n" }
                suite != "-" && /security/ { next }
                { gsub( /(^|\n)[Tt]ypes:[^\n]*/, "\nTypes: deb-src" )
                  if ( suite != "-" ) gsub( /\n[Ss]uites:[^\n]*/, "\nSuites: " suite )
                  print }' "$file" >"$work/$suite/parts/$n.sources"
            ;;
        *)
            mapfile -t lines < <(sed -nE 's/^[[:space:]]*deb(-src)?[[:space:]]+/deb-src /p' "$file" | sort -u)
            [ "$suite" = - ] || mapfile -t lines < <(printf '%s\n' "${lines[@]}" | grep -v security |
                sed -E "s/^deb-src (\[[^]]*\] +)?([^ ]+) +[^ ]+/deb-src \1\2 $suite/" | sort -u)
            printf '%s\n' "${lines[@]}" >"$work/$suite/parts/$n.list"
            ;;
        esac
    done
    [ "$n" -gt 0 ] || stop "apt knows no package sources here."
}

private_apt() {
    local folder=$1
    shift
    apt-get -q -o Dir::Etc::sourcelist="$folder/none" -o Dir::Etc::sourceparts="$folder/parts" \
        -o Dir::State::lists="$folder/lists" -o Dir::Cache="$folder/cache" -o Acquire::Languages=none \
        -o Acquire::Check-Valid-Until=false -o Debug::NoLocking=1 -o APT::Sandbox::User="$(id -un)" "$@" >&2
}

# prepare SUITE: lists of its packages, once.
prepare() {
    local folder=$work/$1
    [ ! -d "$folder" ] || return 0
    mkdir -p "$folder/parts" "$folder/lists/partial" "$folder/cache/archives/partial"
    : >"$folder/none"
    copy_sources "$1"
    private_apt "$folder" update || note "some package sources could not be read."
}

# from_package NAME PACKAGE VERSION SUITE FOLDER
from_package() {
    local name=$1 package=$2 version=$3 suite=$4 inside=$5 file sum archive member
    local files=$work/files/$name.$package.$suite
    prepare "$suite"
    mkdir -p "$files/out"
    (cd "$files" && { { [ "$version" != - ] && private_apt "$work/$suite" source --download-only "$package=$version"; } ||
        private_apt "$work/$suite" source --download-only "$package"; }) || return 1
    archive=$(find "$files" -name "${package}_*.orig.tar.*" ! -name '*.asc' | head -n 1)
    [ -n "$archive" ] || return 1
    while read -r file sum; do
        member=$(tar -tf "$archive" | grep -F "/$inside/$file" | head -n 1) || return 1
        tar -xf "$archive" -O "$member" >"$files/out/$file"
    done < <(files_of "$name")
    keep "$name" "$files/out" || { note "$package does not hold the version of $name this project is written for." && false; }
}

fetch() {
    command -v apt-get >/dev/null || stop "there is no apt here; give the folder of $1's files (see scripts/headers.sh)."
    local package version suite inside
    while read -r package version suite inside; do
        if from_package "$1" "$package" "$version" "$suite" "$inside"; then return 0; fi
    done < <(places_of "$1")
    stop "the files of $1 could not be had from a source package; is there a network?"
}

[ $# -gt 0 ] || stop "which? There are nuklear, cgltf and ufbx."
if [ $# = 2 ] && [ -e "$2" ]; then
    folder=$2
    [ -d "$2" ] || folder=$(dirname -- "$2")
    keep "$1" "$folder" || stop "$2 is not the version of $1 this project is written for."
    exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for name in "$@"; do
    files_of "$name" >"$work/names"
    right "$name" "$cache" || fetch "$name"
done
