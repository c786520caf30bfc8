"""Limits of the system around it. The doctor runs under the same limit."""
from lib import broken
from more import limited
from env2_jupyter import JUPYTER, start


@broken("", proof=start(), error="Too many open files", cause=r"(open files|RLIMIT_NOFILE|ulimit -n|descriptors)", fix="ulimit -n higher", fix_text=r"ulimit -n|nofile|limits",
        wrap=limited("ulimit -n 20"), level="warning")
def twenty_open_files(c):
    c.venv()
    c.install(*JUPYTER)
    c.kernel()


@broken("", proof="import numpy as n\na = n.ones((500, 500))\nwhile True: a @ a", error=r"signal (24|9)\b", cause=r"(ulimit -t|RLIMIT_CPU|processor time|cpu time|cpu seconds)", fix="ulimit -t higher, or a job of the scheduler",
        fix_text=r"ulimit -t|cpu|limit", wrap=limited("ulimit -t 5"), level="warning")
def login_node_ends_after_seconds_of_processor(c):
    c.venv()
    c.install("numpy==1.26.4")


@broken("", proof=start(), error=r"No space left on device|Errno 28", cause=r"(inode|no space|full|files)", fix="remove files: the space is there, the inodes are not", fix_text=r".", level="warning",
        wrap=["unshare", "-m", "bash", "-c", 'mount -t tmpfs -o size=256m,nr_inodes=4 tmpfs {home} && touch {home}/a {home}/b {home}/c; exec "$@"', "sh"])
def home_without_inodes(c):
    c.venv()
    c.install(*JUPYTER)
    c.kernel()


@broken("", proof="import numpy as n; a = n.ones((3000, 3000)); print((a @ a).sum())", error=r"(?i)MemoryError|memory allocation|signal|failed to map|out of memory", cause=r"(ulimit -d|RLIMIT_DATA|data seg)", fix="ulimit -d higher",
        fix_text=r"ulimit -d|data|limits", wrap=limited("ulimit -d 65536"), level="warning")
def data_segment_of_64_megabytes(c):
    c.venv()
    c.install("numpy==1.26.4")


@broken("", proof="import tensorflow", error=r"signal 9", cause=r"(memory)", fix="a container with more memory", fix_text=r"memory|limit|container", level="warning",
        wrap=["bash", "-c", 'g=/sys/fs/cgroup/memory/blind2; mkdir -p $g; echo 120M > $g/memory.limit_in_bytes; echo $$ > $g/cgroup.procs; exec "$@"', "sh"])
def container_of_120_megabytes(c):
    c.venv()
    c.install("tensorflow-cpu==2.17.1", "setuptools==75.1.0")
