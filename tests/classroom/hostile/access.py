"""Submissions that look for files and data outside the sandbox.

Their answers are right only if something was found, so that a mark would show a way out. The twelve canaries
are in `tests/classroom/test_sandbox.py`.
"""

from tests.classroom.hostile.submission import case


def seeks(look, *before):
    """Return a case whose answer is right only if `look` finds something (or does not raise)."""
    lines = "".join(f"\n    {line}" for line in look.strip().splitlines())
    source = f"""
import glob, os, socket, subprocess, sys
def files(*ends):
    for folder, folders, names in os.walk("/"):
        folders[:] = [name for name in folders if folder != "/" or name not in ("proc", "sys")]
        paths = (os.path.join(folder, name) for name in names + folders)
        yield from (path for path in paths if path.endswith(ends))
def look():
    found = None{lines}
    return found
def three_calls():
    try:
        return (12, 3, 30) if look() else (0, 0, 0)
    except BaseException as error:
        return type(error).__name__, 0, 0
"""
    return case("failed", *before, source)


CASES = {
    "the checks, imported": seeks(
        "from course.checks.ch04_closures import three_calls as found\nfound = found.mistakes"
    ),
    "the answers of the tests, imported": seeks(
        "from tests.answers.ch04_closures import worked_out\nfound = [worked_out]"
    ),
    "the checks' files": seeks("found = list(files('ch04_closures.py', 'ch04_closures.pyc'))"),
    "the solutions": seeks("found = list(files('/solutions'))"),
    "other notebooks": seeks("found = list(files('.ipynb'))"),
    "a gradebook": seeks("found = list(files('.sqlite', '.sqlite-wal'))"),
    "the grader's environment": seeks(
        """
paths = glob.glob("/proc/[0-9]*/environ")
names = "".join(open(path, errors="replace").read() for path in paths).split(chr(0))
found = [name for name in names if name.startswith(("USER", "LOGNAME", "SHELL", "MINIGRAD", "PYTEST"))]
"""
    ),
    "the grader's memory": seeks("found = open(f'/proc/{os.getppid()}/mem', 'rb').read(1)"),
    "the processes of the machine": seeks(
        "found = [p for p in glob.glob('/proc/[0-9]*/cmdline') if b'pytest' in open(p, 'rb').read()]"
    ),
    "the network": seeks("found = socket.create_connection(('1.1.1.1', 53), 1)"),
    "the machine's own ports": seeks("found = socket.create_connection(('127.0.0.1', 22), 1)"),
    "names of the network": seeks("found = socket.getaddrinfo('example.org', 80)"),
    "a home": seeks(
        "found = glob.glob('/home/*/.*')\n"
        "for name in ('ssh', 'bash*', 'conf*', 'jupyter'): found += glob.glob(f'/*/.{name}')"
    ),
    "the passwords": seeks("found = open('/etc/passwd').read()"),
    "the secrets of the course": seeks("found = list(files('/secret', '/secret.key', '/course_secret'))"),
    "a program of the machine": seeks("found = subprocess.run(['/bin/sh', '-c', 'true'], check=True)"),
    "another user": seeks("os.setuid(0)\nfound = True"),
    "another root": seeks("os.chroot('/proc/1/root')\nfound = True"),
    "a way out through an open folder": seeks(
        "found = [fd for fd in range(3, 64) if os.path.exists(f'/proc/self/fd/{fd}/course')]"
    ),
    "a place beside NumPy": seeks("import numpy\nopen(numpy.__file__, 'a').close()\nfound = True"),
    "a place beside the child": seeks("open('/sandbox/child.py', 'a').close()\nfound = True"),
    "the edition of later chapters": seeks("from minigrad import Adam, Dropout, replica\nfound = Adam"),
    "what an earlier process left": seeks(
        "found = glob.glob('/tmp/left') + glob.glob('/dev/shm/left')",
        "import os\nif True:  # one statement, which the next process leaves out\n"
        "    open('/tmp/left', 'w').write('a')\n    open('/dev/shm/left', 'w').write('b')\n    os._exit(0)",
    ),
}
