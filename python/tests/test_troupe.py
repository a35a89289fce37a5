"""The module against the built library: motion, memory, errors, drags."""

import gc
import tempfile
import unittest
import weakref
from pathlib import Path

import numpy

import troupe

LAYER = """layer_add id=pull kind=cage members=p01.left_arm range=2,14
handle_add id=grip layer=pull frame=8 point=p01.LeftHand"""


def short_scene(ops=""):
    return troupe.Scene.open("high_five").apply("scene_set range=0,16\n" + ops)


def rotate(q, v):
    """Rotates vectors v (…, 3) by quaternions q (…, 4) in the order x, y, z, w."""
    axis = q[..., :3]
    return v + 2 * numpy.cross(axis, numpy.cross(axis, v) + q[..., 3:] * v)


class Motion(unittest.TestCase):
    def test_arrays_belong_together(self):
        result = troupe.solve(short_scene("cast_scale id=p01 scale=1.3"))
        clip = result["p01"]
        positions, world, parents = clip.positions(), clip.world_rotations(), clip.parents()
        self.assertEqual(positions.shape, (17, clip.joint_count, 3))
        self.assertEqual(clip.rotations().shape, (17, clip.joint_count, 4))
        self.assertEqual(parents[0], -1)
        self.assertEqual(len(clip.names), clip.joint_count)
        offsets = clip.offsets() if clip.translations() is None else clip.translations()
        offsets = numpy.broadcast_to(offsets, positions.shape)[:, 1:]
        built = positions[:, parents[1:]] + rotate(world[:, parents[1:]], offsets)
        numpy.testing.assert_allclose(built, positions[:, 1:], atol=1e-9)
        numpy.testing.assert_allclose(numpy.linalg.norm(world, axis=2), 1, atol=1e-9)

    def test_bodies_are_scaled(self):
        scene = short_scene("cast_scale id=p01 scale=1.3")
        target, source = troupe.solve(scene)["p01"], troupe.source(scene)["p01"]
        ratio = numpy.linalg.norm(target.offsets()[1]) / numpy.linalg.norm(source.offsets()[1])
        self.assertAlmostEqual(ratio, 1.3)

    def test_props_have_tracks(self):
        result = troupe.solve(short_scene("prop_add id=ball position=1,2,3"))
        self.assertEqual(result["ball"].positions().shape, (17, 3))
        numpy.testing.assert_allclose(result["ball"].positions()[5], [1, 2, 3])
        numpy.testing.assert_allclose(numpy.linalg.norm(result["ball"].rotations(), axis=1), 1)
        with self.assertRaises(KeyError):
            result["nobody"]

    def test_threads_change_no_bit(self):
        stage = short_scene("cast_scale id=p02 scale=0.8").stage()
        one, two = troupe.solve(stage, threads=1), troupe.solve(stage, threads=2)
        for a, b in zip(one.clips, two.clips):
            self.assertTrue(numpy.array_equal(a.positions(), b.positions()))

    def test_figures(self):
        figures = troupe.measure(troupe.solve(short_scene()))
        self.assertLess(figures["bone_length_error_pct"]["value"], 1e-6)
        self.assertIn("mean", figures["foot_skate_mm_s"])


class Memory(unittest.TestCase):
    def test_views_are_not_copies_and_cannot_be_written(self):
        clip = troupe.solve(short_scene()).clips[0]
        first, second = clip.positions(), clip.positions()
        self.assertTrue(numpy.shares_memory(first, second))
        self.assertFalse(first.flags.writeable or first.flags.owndata)

    def test_views_keep_their_result(self):
        positions = troupe.solve(short_scene()).clips[0].positions()
        before = positions.copy()
        gc.collect()
        [troupe.solve(short_scene()) for _ in range(3)]  # would take the memory if it were free
        self.assertTrue(numpy.array_equal(positions, before))

    def test_results_go_with_their_last_view(self):
        gc.disable()  # by counting alone
        try:
            result = troupe.solve(short_scene())
            gone, positions = weakref.ref(result), result.clips[0].positions()
            del result
            self.assertIsNotNone(gone())
            del positions
            self.assertIsNone(gone())
        finally:
            gc.enable()


class Calls(unittest.TestCase):
    def test_progress_and_cancelling(self):
        # The calling thread tells of progress; with others, a short solve may be over before it does.
        stage, seen = short_scene().stage(), []
        troupe.solve(stage, threads=1, progress=lambda done, total: seen.append((done, total)))
        self.assertTrue(seen and all(0 <= done <= total for done, total in seen))
        with self.assertRaises(troupe.Cancelled):
            troupe.solve(stage, threads=1, progress=lambda done, total: False)

        def interrupt(done, total):
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            troupe.solve(stage, threads=1, progress=interrupt)

    def test_errors_say_where(self):
        with self.assertRaises(troupe.Error) as caught:
            short_scene("\n\ncast_scale id=nobody scale=2")
        self.assertEqual(caught.exception.line, 4)
        with self.assertRaises(troupe.Error) as caught:
            troupe.Scene.open("missing.json")
        self.assertEqual(caught.exception.file, "missing.json")
        with self.assertRaisesRegex(troupe.Error, "posegraph"):
            troupe.solve(short_scene(), method="posegraf")

    def test_edits_undo_and_files(self):
        scene = short_scene("cast_scale id=p01 scale=1.2")
        self.assertTrue(scene.undo() and scene.redo())
        self.assertFalse(scene.redo())
        self.assertEqual(scene.cast, ["p01", "p02"])
        self.assertIn("high_five", troupe.builtin_scenes())
        with tempfile.TemporaryDirectory() as folder:
            scene.save(Path(folder) / "duet.json")
            stage = troupe.Scene.open(Path(folder) / "duet.json").stage()
            result = troupe.solve(stage)
            result.save(Path(folder) / "out")
            again = troupe.Result.load(stage, Path(folder) / "out")
            numpy.testing.assert_allclose(again.clips[0].positions(), result.clips[0].positions(), atol=1e-5)

    def test_drag(self):
        stage = short_scene(LAYER).stage()
        below = troupe.solve(stage, below="pull")
        drag = troupe.Drag(below, "grip")
        shown, hand = drag.result["p01"].positions(), below["p01"].names.index("LeftHand")
        for step in range(1, 5):
            drag.move("grip", (0, 0.02 * step, 0), 8)
        drag.finish(refine=True)
        rise = shown[8, hand, 1] - below["p01"].positions()[8, hand, 1]
        self.assertAlmostEqual(rise, 0.08, places=3)
        self.assertLess(drag.error("grip"), 2e-3)
        with self.assertRaises(KeyError):
            drag.move("other", (0, 0, 0), 8)
        with self.assertRaises(IndexError):
            drag.move("grip", (0, 0, 0), 99)
        with self.assertRaises(troupe.Error):
            troupe.Drag(troupe.solve(stage), "grip")


if __name__ == "__main__":
    unittest.main()
