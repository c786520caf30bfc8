"""start_kernel.py KERNELSPEC: starts it as Jupyter does and runs a cell."""
import sys
from jupyter_client.manager import KernelManager
m = KernelManager(kernel_name=sys.argv[1])
m.start_kernel()
try:
    c = m.blocking_client(); c.start_channels(); c.wait_for_ready(timeout=15)
    r = c.execute_interactive(sys.argv[2] if len(sys.argv) > 2 else "1 + 1", timeout=30)
    assert r["content"]["status"] == "ok", r["content"]
finally:
    m.shutdown_kernel(now=True)
