#!/usr/bin/env bash
# Readers of others on files that 'troupe convert' writes. Skipped, and said so, where they are missing.
#   exchange_readers.sh validator|positions|numpy|blender|sources TROUPE READERS
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
    "$troupe" convert dance_pair.glb worn.glb --quiet --names ue5 # with the mesh of the file
    "$troupe" convert "$readers/../fuzz/corpus/fbx/strip.fbx" strip.glb --quiet 2>strip.txt || cat strip.txt # a picture is missing
    [ "$(ls -- *.glb | wc -l)" -ge 17 ]
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
blender)
    command -v blender >/dev/null || skip "there is no blender (Debian: apt-get install --no-install-recommends blender python3-numpy)"
    for scene in sword_pair wolf; do
        "$troupe" convert "$scene" two.glb --quiet --no-figures
        "$troupe" convert "$scene" two.npz --quiet
        blender --background --factory-startup --python-exit-code 1 --python "$readers/blender.py" -- two.glb two.npz \
            >blender.log 2>&1 || { tail -20 blender.log; exit 1; }
        grep '^Blender .* places' blender.log
    done
    ;;
sources) # files of others, as three.js reads them
    need_node three
    [ -n "${TROUPE_DATA_DIR:-}" ] || skip "TROUPE_DATA_DIR names no folder of files"
    compared=0
    for file in "$TROUPE_DATA_DIR"/{gltf,gltf-edge,gltf-quaternius,fbx,geno}/*.{glb,gltf,fbx}; do
        case $file in */maya_anim_layers_over*) continue ;; esac # three.js knows no layers
        [ -f "$file" ] || continue
        "$troupe" convert "$file" source.npz --quiet --take 1 2>message.txt ||
            "$troupe" convert "$file" source.npz --quiet 2>message.txt || continue
        node "$readers/sources.mjs" "$modules" "$file" source.npz
        compared=$((compared + 1))
    done
    [ "$compared" -gt 20 ]
    ;;
esac
