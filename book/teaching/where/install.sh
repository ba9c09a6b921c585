#!/bin/bash
# The course on The Littlest JupyterHub. On the server, after the hub's own installer:
#
#     sudo bash install.sh minigrad-course-VERSION-student.zip
#
# Again with a newer bundle, it brings everybody's work folder along, and leaves alone what a learner changed.
set -euo pipefail

bundle=${1:?"Which bundle? sudo bash install.sh BUNDLE.zip"}
here=$(cd "$(dirname "$0")" && pwd) # tljh.yaml and jupyterhub_config.py lie here
python=${PYTHON:-/opt/tljh/user/bin/python} # the environment that all learners share
course=${COURSE:-/srv/minigrad-course}
new_homes=${NEW_HOMES:-/etc/skel} # what a new learner's home begins with
homes=${HOMES:-/home}
hub=${HUB:-/opt/tljh}

"$python" -c 'import sys; sys.version_info >= (3, 11) or sys.exit("The course needs Python 3.11 or newer, "
    "and the environment of the learners has " + sys.version.split()[0] + ".")'

# The bundle has one folder at its top. A newer one takes its place.
unpacked=$(mktemp -d)
trap 'rm -rf "$unpacked"' EXIT
"$python" -m zipfile -e "$bundle" "$unpacked"
rm -rf "$course"
mkdir -p "$(dirname "$course")"
mv "$unpacked"/* "$course"
chmod -R a+rX "$course"

# The environment: the locked versions, then the course itself.
"$python" -m pip install --quiet --require-hashes -r "$course/requirements.lock"
"$python" -m pip install --quiet --force-reinstall --no-deps --no-build-isolation "$course"

# JupyterLab's settings, and work folders: for those who come, and for those who are there.
cd "$course"
"$python" -m authoring lab
MINIGRAD_WORK=$new_homes/minigrad-course/work "$python" -m authoring work
for home in "$homes"/jupyter-*; do
    [ -d "$home" ] || continue
    learner=$(stat -c %U "$home")
    setpriv --reuid="$learner" --regid="$(id -g "$learner")" --init-groups \
        env HOME="$home" MINIGRAD_WORK="$home/minigrad-course/work" "$python" -m authoring work
done

# The hub's settings, where there are none yet; and what the course adds.
if [ ! -s "$hub/config/config.yaml" ]; then
    install -D -m 600 "$here/tljh.yaml" "$hub/config/config.yaml"
else
    echo "$hub/config/config.yaml is left as it is: compare it with tljh.yaml."
fi
install -D -m 644 "$here/jupyterhub_config.py" "$hub/config/jupyterhub_config.d/course.py"
"$hub/hub/bin/tljh-config" reload
