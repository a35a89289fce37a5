# What ./run, ./test and .ci/run share: messages, set-up of packages, configuring, building.
# To be sourced with `root` set to the project's folder.

. "$root/scripts/packages.sh"

die() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

say() {
    printf '%s\n' "$*" >&2
}

# quietly LOG MESSAGE COMMAND…: runs the command with its output in LOG, which is shown only on failure.
quietly() {
    local log=$1 message=$2
    shift 2
    mkdir -p "$(dirname "$log")" || die "cannot write in $(dirname "$log")."
    "$@" >"$log" 2>&1 && return
    tail -n 60 "$log" >&2
    die "$message The whole output is in $log."
}

# Puts the file TABLE between the lines <!-- NAME --> and <!-- end --> that follow each other in PAGE.
fill_in() { # PAGE NAME TABLE
    grep -qx "<!-- $2 -->" "$1" || die "$1 has no line <!-- $2 -->."
    awk -v name="<!-- $2 -->" -v table="$3" '
        $0 == name { print; while ( ( getline line < table ) > 0 ) print line; skip = 1 }
        $0 == "<!-- end -->" { skip = 0 }
        !skip { if ( $0 != name ) print }' "$1" >"$1.new"
    mv "$1.new" "$1"
}

# The lines of the package list that belong to the given stages.
packages_of() {
    local stage package reason
    while read -r stage package reason; do
        case " $* " in *" $stage "*) printf '%s %s\n' "$package" "$reason" ;; esac
    done < <(package_list)
}

# Those of them that dpkg does not know as installed.
packages_missing() {
    local package reason installed
    installed=$(packages_of "$@" | cut -d' ' -f1 | xargs dpkg-query -W -f='${db:Status-Status} ${Package} \n' 2>/dev/null || true)
    while read -r package reason; do
        grep -qxF "installed $package " <<<"$installed" || printf '%-24s %s\n' "$package" "$reason"
    done < <(packages_of "$@")
}

# set_up STAGE…: installs what is missing; silent when there is nothing to do.
set_up() {
    local missing names as_root=()
    if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
        have_tools && return
        say "Troupe needs these packages (their names on Debian; yours may differ):"
        packages_of "$@" | while read -r package reason; do printf '  %-24s %s\n' "$package" "$reason"; done >&2
        return
    fi
    missing=$(packages_missing "$@")
    [ -n "$missing" ] || return 0
    say "Missing packages:"
    sed 's/^/  /' <<<"$missing" >&2
    names=$(cut -d' ' -f1 <<<"$missing")
    if [ "$(id -u)" != 0 ]; then
        if ! command -v sudo >/dev/null; then
            say "Neither root nor sudo is at hand, so trying without them; otherwise ask for: apt-get install" $names
            return 0
        fi
        as_root=(sudo)
    fi
    say "Installing them with ${as_root[*]:+${as_root[*]} }apt-get …"
    as_root+=(env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=900)
    quietly "$root/build/log/apt-update.txt" "the package lists could not be fetched; is there a network?" \
        "${as_root[@]}" update
    # shellcheck disable=SC2086
    quietly "$root/build/log/apt-install.txt" "the packages above could not be installed." \
        "${as_root[@]}" install -y --no-install-recommends $names
}

# fetched NAME: its sources are where cmake looks for them.
fetched() {
    mkdir -p "$root/build/log"
    "$root/scripts/headers.sh" "$1" >"$root/build/log/$1.txt" 2>&1
}

# The editor's panels are drawn with a header the distribution has in a source package. Without it, and without
# a network, everything but the editor is built.
set_up_editor() {
    fetched nuklear && return
    say "nuklear.h, which the editor needs, could not be fetched, so the editor is left out for now;"
    say "scripts/headers.sh nuklear tries again or takes a copy you have. The reason is in build/log/nuklear.txt."
    return 1
}

# The same for what reads glTF and FBX.
set_up_readers() {
    local name format missing=0
    while read -r name format; do
        fetched "$name" && continue
        say "$name, which reads $format, could not be fetched, so $format files cannot be read for now;"
        say "scripts/headers.sh $name tries again or takes a copy you have. The reason is in build/log/$name.txt."
        missing=1
    done <<<$'cgltf glTF\nufbx FBX'
    return $missing
}

# Readers of others, programs of node, that tests try on files of ours. Without them these tests skip and say so.
set_up_node_readers() {
    local folder=$root/build/node
    [ -z "${TROUPE_NODE_MODULES:-}" ] || return 0
    mkdir -p "$folder" "$root/build/log"
    if [ ! -d "$folder/node_modules/three" ]; then
        command -v npm >/dev/null || { say "There is no npm, so readers of others are not tried; their tests skip."; return 0; }
        timeout 180 npm install --prefix "$folder" --no-audit --no-fund --ignore-scripts \
            gltf-validator@2.0.0-dev.3.10 tinyusdz@0.9.0-rc10 three@0.187 >"$root/build/log/npm.txt" 2>&1 || {
            say "npm could not install readers of others, so their tests skip; see build/log/npm.txt."
            rm -rf "$folder/node_modules"
            return 0
        }
    fi
    export TROUPE_NODE_MODULES=$folder/node_modules
}

# On systems without apt: the tools a configure run cannot go without. Libraries are cmake's to find.
have_tools() {
    local tool
    [ -f "$root/build/build.ninja" ] || return 1
    for tool in cmake ninja pkg-config ffmpeg; do
        command -v $tool >/dev/null || return 1
    done
}

# configured FOLDER [-DNAME=VALUE…]: it is, for this place (the project may have moved), with these switches.
configured() {
    local folder=$root/$1 setting
    shift
    [ -f "$folder/build.ninja" ] || return 1
    for setting in "-DCMAKE_HOME_DIRECTORY=$root" "$@"; do
        grep -qxF -e "$setting" <(sed -n 's/^\([A-Z_]*\):[A-Z]*=/-D\1=/p' "$folder/CMakeCache.txt") || return 1
    done
}

# configure PRESET FOLDER [-DNAME=VALUE…]: unless it is configured so already.
configure() {
    local preset=$1 folder=$root/$2
    configured "${@:2}" && return
    shift 2
    local fresh=--fresh
    configured "${folder##*/}" && fresh=
    say "Configuring ${folder#"$root"/} …"
    rm -f "$folder/build.ninja" # so that a failure is not taken for a configured folder
    quietly "$folder/log/configure.txt" "configuring the build failed; the lines above say what is missing." \
        cmake $fresh -S "$root" --preset "$preset" -B "$folder" "$@"
}

# Follows ninja's output: a counter on a terminal, else one line as soon as there is something to build.
show_build() {
    local terminal=
    [ -t 2 ] && terminal=yes
    awk -v terminal=$terminal '
        /^\[[0-9]+\/[0-9]+\] (Building|Linking)/ {
            if ( terminal ) printf "\rBuilding %s ", $1
            else if ( !said++ ) print "Building …"
            fflush()
        }
        END { if ( terminal ) printf "\r\033[K" }' >&2
}

# build FOLDER [TARGET…]
build() {
    local folder=$root/$1 log=$root/$1/log/build.txt targets=()
    shift
    [ $# = 0 ] || targets=(--target "$@")
    mkdir -p "${log%/*}"
    cmake --build "$folder" "${targets[@]}" 2>&1 | tee "$log" | show_build && return
    grep -vE '^\[[0-9]+/[0-9]+\] ' "$log" | head -n 60 >&2
    die "building failed; the lines above say where. The whole output is in $log."
}
