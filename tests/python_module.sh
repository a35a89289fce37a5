#!/usr/bin/env bash
# Runs the tests of python/troupe with the first python that has numpy.
#   python_module.sh SOURCE LIBRARY
set -euo pipefail
for python in python3 /usr/bin/python3; do
    "$python" -c 'import numpy' 2>/dev/null || continue
    cd "$1/python/tests"
    export PYTHONPATH=$1/python${PYTHONPATH:+:$PYTHONPATH} TROUPE_LIBRARY=$2 PYTHONDONTWRITEBYTECODE=1
    exec "$python" -m unittest -v test_troupe
done
echo "skipped: no python3 has numpy (python3-numpy)"
exit 77
