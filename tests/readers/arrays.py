# Arrays of an NPZ file as numpy reads them: shapes, and positions that follow from rotations and offsets.
#   arrays.py FILE.npz
import sys
import numpy as np

z = np.load(sys.argv[1], allow_pickle=False)
assert str(z["quat_order"]) == "xyzw" and float(z["fps"]) > 0
assert len(z["characters"]) >= 1
several = len(z["characters"]) > 1


def rotate(q, v):
    u, w = q[..., :3], q[..., 3:]
    t = 2 * np.cross(u, v)
    return v + w * t + np.cross(u, t)


def multiply(a, b):
    u, s, v, t = a[..., :3], a[..., 3:], b[..., :3], b[..., 3:]
    return np.concatenate([s * v + t * u + np.cross(u, v), s * t - np.sum(u * v, -1, keepdims=True)], -1)


for name in z["characters"]:
    get = lambda key: z[f"{name}/{key}" if several else key]
    parents, quats, offsets = get("parents"), get("local_quat"), get("offsets")
    frames, joints = quats.shape[:2]
    assert get("names").shape == (joints,) and get("names").dtype.kind == "U"
    assert get("positions").shape == (frames, joints, 3) and get("root_pos").shape == (frames, 3)
    assert get("contacts").shape == (frames, joints) and get("contacts").dtype == bool
    assert parents[0] == -1 and (parents[1:] < np.arange(1, joints)).all()
    turns, places = np.zeros((frames, joints, 4)), np.zeros((frames, joints, 3))
    for j in range(joints):
        p = parents[j]
        turns[:, j] = quats[:, j] if p < 0 else multiply(turns[:, p], quats[:, j])
        places[:, j] = get("root_pos") if p < 0 else places[:, p] + rotate(turns[:, p], offsets[j])
    off = np.abs(places - get("positions")).max()
    assert off < 1e-9, off
    print(f"{name}: {frames} frames, {joints} joints, {get('contacts').sum()} contacts, off by {off:.1e} m")
for name in z["things"]:
    assert z[f"{name}/pos"].shape[1] == 3 and z[f"{name}/quat"].shape[1] == 4
    assert z[f"{name}/triangles"].max() < len(z[f"{name}/points"])
