"""Edit and retarget the motion of groups of characters: a thin module over libtroupe.

    import troupe
    scene = troupe.Scene.open("high_five")         # built-in scene, FILE.json, folder or FILE.bvh
    scene.apply("cast_scale id=p01 scale=1.2")     # every edit is a line of text
    result = troupe.solve(scene)
    hands = result["p01"].positions()              # numpy, (frames, joints, 3), metres, no copy
    print(troupe.measure(result)["foot_skate_mm_s"]["mean"])
    result.save("out")

Arrays are views of the result's own memory. They cannot be written to, and keep the result alive.
"""

import ctypes
from ctypes import POINTER, byref, c_bool, c_char, c_char_p, c_double, c_int, c_size_t, c_void_p
from os import fsencode

import numpy

from ._library import load

__all__ = ["Cancelled", "Clip", "Drag", "Error", "Result", "Scene", "Stage", "Track", "builtin_scenes", "measure",
           "solve", "source", "version"]


class _Error(ctypes.Structure):
    _fields_ = [("message", c_char * 1024), ("file", c_char * 512), ("path", c_char * 160), ("line", c_int),
                ("column", c_int), ("cancelled", c_bool)]


_PROGRESS = ctypes.CFUNCTYPE(c_bool, c_void_p, c_int, c_int)


class _Work(ctypes.Structure):
    _fields_ = [("threads", c_int), ("progress", _PROGRESS), ("wanted", c_void_p), ("context", c_void_p)]


class _SolveDef(ctypes.Structure):
    _fields_ = [("method", c_char_p), ("below", c_char_p), ("work", _Work)]


class _Clip(ctypes.Structure):
    _fields_ = [("id", c_char_p), ("frame_count", c_int), ("joint_count", c_int), ("fps", c_double),
                ("positions", c_void_p), ("rotations", c_void_p), ("world_rotations", c_void_p),
                ("translations", c_void_p), ("parents", c_void_p), ("offsets", c_void_p),
                ("names", POINTER(c_char_p))]


class _Track(ctypes.Structure):
    _fields_ = [("id", c_char_p), ("frame_count", c_int), ("fps", c_double), ("transforms", c_void_p)]


class _Figure(ctypes.Structure):
    _fields_ = [("key", c_char_p), ("field", c_char_p), ("unit", c_char_p), ("value", c_double),
                ("source", c_double), ("value_known", c_bool), ("source_known", c_bool), ("worse", c_bool)]


_ERROR = POINTER(_Error)
_WORK = POINTER(_Work)
_library = load({
    "tr_version": (c_char_p,),
    "troupe_error_print": (None, _ERROR, c_char_p, c_size_t),
    "troupe_scene_create": (c_void_p, _ERROR),
    "troupe_scene_open": (c_void_p, c_char_p, c_int, _ERROR),
    "troupe_scene_destroy": (None, c_void_p),
    "troupe_builtin_scene": (c_char_p, c_int),
    "troupe_scene_apply": (c_bool, c_void_p, c_char_p, _ERROR),
    "troupe_scene_undo": (c_bool, c_void_p),
    "troupe_scene_redo": (c_bool, c_void_p),
    "troupe_scene_save": (c_bool, c_void_p, c_char_p, _ERROR),
    "troupe_scene_cast_count": (c_int, c_void_p),
    "troupe_scene_cast_id": (c_char_p, c_void_p, c_int),
    "troupe_stage_create": (c_void_p, c_void_p, _WORK, _ERROR),
    "troupe_stage_destroy": (None, c_void_p),
    "troupe_stage_warning": (c_char_p, c_void_p, c_int),
    "troupe_solve": (c_void_p, c_void_p, POINTER(_SolveDef), _ERROR),
    "troupe_source": (c_void_p, c_void_p, _ERROR),
    "troupe_result_destroy": (None, c_void_p),
    "troupe_result_save": (c_bool, c_void_p, c_char_p, _WORK, _ERROR),
    "troupe_result_load": (c_void_p, c_void_p, c_char_p, _ERROR),
    "troupe_result_clip_count": (c_int, c_void_p),
    "troupe_result_clip": (_Clip, c_void_p, c_int),
    "troupe_result_track_count": (c_int, c_void_p),
    "troupe_result_track": (_Track, c_void_p, c_int),
    "troupe_measure": (c_void_p, c_void_p, _WORK, _ERROR),
    "troupe_measures_destroy": (None, c_void_p),
    "troupe_measures_count": (c_int, c_void_p),
    "troupe_measures_figure": (_Figure, c_void_p, c_int),
    "troupe_drag_begin": (c_void_p, c_void_p, c_char_p, _WORK, _ERROR),
    "troupe_drag_end": (None, c_void_p),
    "troupe_drag_move": (c_bool, c_void_p, c_char_p, POINTER(c_double), c_int),
    "troupe_drag_more": (c_bool, c_void_p, c_int),
    "troupe_drag_refine": (c_bool, c_void_p, c_int),
    "troupe_drag_error": (c_double, c_void_p, c_char_p),
    "troupe_drag_result": (c_void_p, c_void_p),
})

version = _library.tr_version().decode()


class Error(Exception):
    """What went wrong, and where: message, file, path (in JSON), line, column."""

    def __init__(self, error):
        text = ctypes.create_string_buffer(2048)
        _library.troupe_error_print(byref(error), text, len(text))
        super().__init__(text.value.decode(errors="replace"))
        self.message, self.file, self.path = (
            value.decode(errors="replace") for value in (error.message, error.file, error.path))
        self.line, self.column = error.line, error.column


class Cancelled(Error):
    """The progress function returned False."""


def _text(value):
    return None if value is None else value.encode()


def _call(function, *arguments, progress=None):
    """Calls a function that fills an error. An exception of the progress function is raised again here."""
    error = _Error()
    answer = function(*arguments, byref(error))
    if progress is not None and progress.raised:
        raise progress.raised[0]
    if not answer:
        raise (Cancelled if error.cancelled else Error)(error)
    return answer


class _Progress:
    """A troupe_work whose progress is a function of Python."""

    def __init__(self, function, threads):
        self.work = _Work(threads=threads)
        raised = self.raised = []

        def report(_context, done, total):
            try:
                return function(done, total) is not False
            except BaseException as exception:  # Ctrl-C, too: it must not be lost in C
                raised.append(exception)
                return False

        if function is not None:
            self.work.progress = _PROGRESS(report)


class _Memory:
    """Memory of an owner as numpy sees it; arrays made of it keep the owner alive."""

    def __init__(self, owner, address, shape, kind):
        self.owner = owner
        self.__array_interface__ = {"version": 3, "shape": shape, "typestr": numpy.dtype(kind).str,
                                    "data": (address, True)}


def _view(owner, address, shape, kind=numpy.float64):
    return numpy.asarray(_Memory(owner, address, shape, kind))


class _Object:
    """Owns one object of the library and what it borrows from."""

    def __init__(self, handle, destroy, *borrowed):
        self._handle, self._destroy, self._borrowed = handle, destroy, borrowed

    def __del__(self):
        if getattr(self, "_destroy", None) is not None:
            self._destroy(self._handle)


class Scene(_Object):
    """A document: cast, props, constraints, layers. Scene() is empty."""

    def __init__(self, _handle=None):
        super().__init__(_handle or _call(_library.troupe_scene_create), _library.troupe_scene_destroy)

    @classmethod
    def open(cls, what, cast=0):
        """A built-in scene by name, a scene file, a folder, or a motion file; cast: size of a built-in one."""
        return cls(_call(_library.troupe_scene_open, fsencode(what), cast))

    def apply(self, ops):
        """Applies ops, one a line. Those before a line that fails stay applied."""
        _call(_library.troupe_scene_apply, self._handle, ops.encode())
        return self

    def undo(self):
        return _library.troupe_scene_undo(self._handle)

    def redo(self):
        return _library.troupe_scene_redo(self._handle)

    def save(self, path):
        _call(_library.troupe_scene_save, self._handle, fsencode(path))

    @property
    def cast(self):
        """Ids of the characters."""
        count = _library.troupe_scene_cast_count(self._handle)
        return [_library.troupe_scene_cast_id(self._handle, i).decode() for i in range(count)]

    def stage(self, threads=0):
        return Stage(self, threads)


class Stage(_Object):
    """A scene as it is now, with its files loaded: what is solved."""

    def __init__(self, scene, threads=0):
        handle = _call(_library.troupe_stage_create, scene._handle, byref(_Work(threads=threads)))
        super().__init__(handle, _library.troupe_stage_destroy)

    @property
    def warnings(self):
        lines = []
        while (line := _library.troupe_stage_warning(self._handle, len(lines))) is not None:
            lines.append(line.decode(errors="replace"))
        return lines


class Clip:
    """The motion of one character. Rotations are quaternions in the order x, y, z, w."""

    def __init__(self, owner, clip):
        self._owner, self._clip = owner, clip
        self.id, self.fps = clip.id.decode(), clip.fps
        self.frame_count, self.joint_count = clip.frame_count, clip.joint_count
        self.names = [clip.names[j].decode(errors="replace") for j in range(clip.joint_count)]

    def _frames(self, address, numbers):
        return _view(self._owner, address, (self.frame_count, self.joint_count, numbers))

    def positions(self):
        """(frames, joints, 3): joints in the world, metres."""
        return self._frames(self._clip.positions, 3)

    def rotations(self):
        """(frames, joints, 4): against the parent; of the root in the world."""
        return self._frames(self._clip.rotations, 4)

    def world_rotations(self):
        """(frames, joints, 4): in the world."""
        return self._frames(self._clip.world_rotations, 4)

    def translations(self):
        """(frames, joints, 3): used in place of the offsets; None where there are none."""
        return self._frames(self._clip.translations, 3) if self._clip.translations else None

    def parents(self):
        """(joints,): -1 of the root."""
        return _view(self._owner, self._clip.parents, (self.joint_count,), numpy.intc)

    def offsets(self):
        """(joints, 3): from the parent, in its frame."""
        return _view(self._owner, self._clip.offsets, (self.joint_count, 3))


class Track:
    """The motion of one prop."""

    def __init__(self, owner, track):
        self._owner, self._track = owner, track
        self.id, self.fps, self.frame_count = track.id.decode(), track.fps, track.frame_count

    def rotations(self):
        """(frames, 4): x, y, z, w."""
        return self._transforms()[:, :4]

    def positions(self):
        """(frames, 3): of its middle, metres."""
        return self._transforms()[:, 4:]

    def _transforms(self):
        return _view(self._owner, self._track.transforms, (self.frame_count, 7))


class Result(_Object):
    """The motion of every character and prop: result["p01"], result.clips, result.tracks."""

    @property
    def clips(self):  # made anew: a result that held them would be freed late, since they hold it
        return [Clip(self, _library.troupe_result_clip(self._handle, i))
                for i in range(_library.troupe_result_clip_count(self._handle))]

    @property
    def tracks(self):
        return [Track(self, _library.troupe_result_track(self._handle, i))
                for i in range(_library.troupe_result_track_count(self._handle))]

    @classmethod
    def load(cls, stage, folder):
        """Reads a folder of results back, for a stage of the same scene."""
        return cls(_call(_library.troupe_result_load, stage._handle, fsencode(folder)),
                   _library.troupe_result_destroy, stage)

    def __getitem__(self, name):
        for item in (*self.clips, *self.tracks):
            if item.id == name:
                return item
        raise KeyError(name)

    def save(self, folder):
        """Writes BVH files, scene.json and report.json."""
        _call(_library.troupe_result_save, self._handle, fsencode(folder), None)


def solve(scene, method=None, below=None, threads=0, progress=None):
    """Solves a Scene or a Stage. progress(done, total) may return False to cancel. below: see Drag."""
    stage = scene.stage(threads) if isinstance(scene, Scene) else scene
    watcher = _Progress(progress, threads)
    chosen = _SolveDef(_text(method), _text(below), watcher.work)
    handle = _call(_library.troupe_solve, stage._handle, byref(chosen), progress=watcher)
    return Result(handle, _library.troupe_result_destroy, stage)


def source(scene):
    """The source motion of a Scene or a Stage."""
    stage = scene.stage() if isinstance(scene, Scene) else scene
    return Result(_call(_library.troupe_source, stage._handle), _library.troupe_result_destroy, stage)


def measure(result, threads=0, progress=None):
    """Figures of quality: {key: {field: value}}, None where one cannot be computed. docs/metrics.md defines them."""
    watcher = _Progress(progress, threads)
    handle = _call(_library.troupe_measure, result._handle, byref(watcher.work), progress=watcher)
    figures = {}
    for i in range(_library.troupe_measures_count(handle)):
        figure = _library.troupe_measures_figure(handle, i)
        fields = figures.setdefault(figure.key.decode(), {})
        fields[figure.field.decode()] = figure.value if figure.value_known else None
    _library.troupe_measures_destroy(handle)
    return figures


class Drag(_Object):
    """A layer whose handle is held. below: solve(stage, below=LAYER). Arrays of drag.result change with each move."""

    def __init__(self, below, handle, threads=0):
        drag = _call(_library.troupe_drag_begin, below._handle, handle.encode(), byref(_Work(threads=threads)))
        super().__init__(drag, _library.troupe_drag_end, below)
        self._frame_count = max((item.frame_count for item in (*below.clips, *below.tracks)), default=0)

    @property
    def result(self):
        return Result(_library.troupe_drag_result(self._handle), None, self)

    def move(self, handle, move, frame):
        """Moves a handle by x, y, z metres and solves the frames around `frame`."""
        if not 0 <= frame < self._frame_count:
            raise IndexError(f"frame {frame} is not one of the stage")
        if not _library.troupe_drag_move(self._handle, handle.encode(), (c_double * 3)(*move), frame):
            raise KeyError(handle)

    def finish(self, refine=False):
        """Solves all other frames; refine: exactly as solve() will have them."""
        while _library.troupe_drag_more(self._handle, 4):
            pass
        while refine and _library.troupe_drag_refine(self._handle, 4):
            pass

    def error(self, handle):
        """Metres between where the handle was put and where it is."""
        return _library.troupe_drag_error(self._handle, handle.encode())


def builtin_scenes():
    """Names of the built-in scenes."""
    names = []
    while (name := _library.troupe_builtin_scene(len(names))) is not None:
        names.append(name.decode())
    return names
