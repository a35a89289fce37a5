# The packages Troupe needs on Debian and Ubuntu: one line each, `stage package reason`.
# Stages: build (what ./run needs), test (on top of it, for ./test), ci (on top of both, for .ci/run).
# Everything else that has to know a package, its name or its reason, reads it from here.

package_list() {
    cat <<'LIST'
build gcc                      compiles the C17 sources, with OpenMP
build libc6-dev                headers of the C library
build cmake                    configures the build (3.25 or newer)
build ninja-build              runs the build
build pkg-config               tells cmake where the libraries are
build libjansson-dev           reads and writes scenes and reports as JSON
build libsuitesparse-dev       sparse QR: which constraints contradict each other, and the exact reference; UMFPACK, a baseline of the benchmark
build libopenblas-pthread-dev  dense linear algebra below it; this flavour may be called from several threads
build liblbfgs-dev             minimises functions in general: a baseline of the benchmark
build liblapacke-dev           small dense least squares from C
build libepoxy-dev             loads the OpenGL functions
build libegl-dev               OpenGL without a window or an X server
build libgl1-mesa-dri          draws pictures in software when there is no graphics card
build libglfw3-dev             opens the editor's window
build fonts-roboto-unhinted    the editor's type
build libstb-dev               reads PNG pictures
build ffmpeg                   turns pictures into videos
test  libcmocka-dev            runs the unit tests
test  libqhull-dev             Delaunay tetrahedra of a second opinion, for the tests
test  libode-dev               collisions of capsules with triangle meshes, a second opinion for the tests
test  g++                      compiles the public header as C++
test  python3-numpy            arrays of the Python module
test  xvfb                     a screen in memory, for the test of the editor with real clicks
test  xauth                    lets programs onto it
test  xdotool                  moves the pointer and presses keys there
ci    clang                    compiles for the fuzzers and the thread sanitizer
ci    libclang-rt-14-dev       run-time library of clang's sanitizers and fuzzer
ci    libomp-14-dev            OpenMP for clang
ci    clang-format             checks the layout of the sources
ci    cppcheck                 looks for mistakes the compiler does not see
ci    jq                       reads figures for the tables of docs/quality.md
LIST
}
