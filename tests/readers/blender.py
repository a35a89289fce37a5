# Blender on a GLB file of ours: joints of all characters against the positions of an NPZ file.
#   blender -b --factory-startup -P blender.py -- FILE.glb FILE.npz
import sys
import numpy as np

if "bool" not in np.__dict__:  # the importer of Blender 3.4 uses a name that newer versions of numpy do not have
    np.bool = bool
import bpy

glb, npz = sys.argv[sys.argv.index("--") + 1 :]
z = np.load(npz, allow_pickle=False)
characters = [str(c) for c in z["characters"]]
fps, several = float(z["fps"]), len(characters) > 1
bpy.ops.wm.read_factory_settings(use_empty=True)
scene = bpy.context.scene
scene.render.fps, scene.render.fps_base = round(fps), round(fps) / fps
bpy.ops.import_scene.gltf(filepath=glb)
worst = compared = 0


def names_above(o):
    return [o.name] + (names_above(o.parent) if o.parent else [])


for character in characters:
    get = lambda key: z[f"{character}/{key}" if several else key]
    names, positions = [str(n) for n in get("names")], get("positions")
    rigs = [o for o in scene.objects if o.type == "ARMATURE" and character in names_above(o)]
    assert len(rigs) == 1, (character, [o.name for o in scene.objects])
    bones = rigs[0].pose.bones
    parents = set(get("parents").tolist())
    missing = [j for j, n in enumerate(names) if n not in bones]
    assert not [names[j] for j in missing if j in parents], "only tips, which no skin uses, are no bones in Blender"
    for frame in range(0, len(positions), 7):
        scene.frame_set(frame)
        for j, name in enumerate(names):
            if j in missing:
                continue
            p = rigs[0].matrix_world @ bones[name].head
            worst = max(worst, float(np.abs(np.array([p.x, p.z, -p.y]) - positions[frame, j]).max()))
            compared += 1
print(f"Blender {bpy.app.version_string}: {compared} places, farthest off {worst:.1e} m")
sys.exit(0 if compared > 0 and worst < 1e-4 else 1)
