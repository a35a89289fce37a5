#!/usr/bin/env bash
# Readers of others on files that 'troupe convert' writes. Skipped, and said so, where they are missing.
#   exchange_readers.sh validator|positions|numpy TROUPE READERS
# Programs of node are looked for in the folder that TROUPE_NODE_MODULES names: npm install gltf-validator three tinyusdz
set -euo pipefail
mode=$1 troupe=$2 readers=$3
modules=${TROUPE_NODE_MODULES:-}

skip() {
    echo "skipped: $*"
    exit 77
}

need_node() { # MODULE
    command -v node >/dev/null || skip "there is no node"
    [ -n "$modules" ] && [ -d "$modules/$1" ] || skip "TROUPE_NODE_MODULES names no folder with $1 (npm install $1)"
}

folder=$(mktemp -d /tmp/troupe_test_XXXXXX)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

case $mode in
validator) # every built-in scene; figures, which take time, of some
    need_node gltf-validator
    "$troupe" scenes | awk '{ print $1 }' | while read -r scene; do
        figures=--no-figures
        case $scene in high_five | mixed_cast | spider) figures= ;; esac
        "$troupe" convert "$scene" "$scene.glb" --quiet $figures
    done
    "$troupe" convert dance_pair each.glb --quiet --each --bones --no-figures
    [ "$(ls -- *.glb | wc -l)" -ge 13 ]
    NODE_PATH=$modules node "$readers/gltf_validator.cjs" ./*.glb
    ;;
positions)
    need_node three
    for ending in glb usda npz; do
        "$troupe" convert sword_pair "one.$ending" --quiet --only p01
    done
    node "$readers/positions.mjs" "$modules" one
    ;;
numpy)
    "$troupe" convert sword_pair two.npz --quiet
    for python in python3 /usr/bin/python3; do
        "$python" -c 'import numpy' 2>/dev/null || continue
        exec "$python" "$readers/arrays.py" two.npz
    done
    skip "no python3 has numpy (python3-numpy)"
    ;;
esac
