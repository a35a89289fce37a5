#!/usr/bin/env bash
# Readers of others on files that 'troupe convert' writes. Skipped, and said so, where they are missing.
#   exchange_readers.sh validator|positions|numpy|blender|pipeline|sources TROUPE READERS
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
pipeline) # docs/pipeline.md as it stands, and what Blender makes of its end
    command -v blender >/dev/null || skip "there is no blender (Debian: apt-get install --no-install-recommends blender python3-numpy)"
    "$troupe" info "$readers/../fuzz/corpus/fbx/arm.fbx" >/dev/null 2>&1 || skip "this build cannot read FBX (scripts/headers.sh ufbx)"
    "$troupe" info "$readers/../fuzz/corpus/gltf/arm.glb" >/dev/null 2>&1 || skip "this build cannot read glTF (scripts/headers.sh cgltf)"
    mkdir bin page
    ln -s "$troupe" bin/troupe
    python3 -c 'import numpy' 2>/dev/null || ln -s /usr/bin/python3 bin/python3
    awk '/^```/ { inside = !inside; next } inside' "$readers/../../docs/pipeline.md" >page.sh
    (cd page && PATH=$folder/bin:$PATH bash -euo pipefail ../page.sh) >page.log 2>&1 || { tail -20 page.log; exit 1; }
    cd page
    ls scene.glb result.usda anna.bvh result.blend result.png >/dev/null
    blender --background --factory-startup --python-exit-code 1 --python "$readers/blender.py" -- result.glb result.npz \
        >blender.log 2>&1 || { tail -20 blender.log; exit 1; }
    grep '^Blender .* places' blender.log
    "$troupe" measure scene.json result --json | python3 -c '
import json, sys
turned = json.load(sys.stdin)["metrics"]["pose_error_deg"]["out"]["value"]
print("poses differ by", turned, "degrees on average")
sys.exit(0 if turned < 10 else 1)' # as bound; in the pose that the FBX files were saved in it were 27
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
