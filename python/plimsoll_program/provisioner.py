"""Puts the guard before every kernel that Jupyter starts, with one line of Jupyter's configuration:

    c.KernelProvisionerFactory.default_provisioner_name = "plimsoll"

or JUPYTER_DEFAULT_PROVISIONER_NAME=plimsoll in its environment. The line is drawn with c.GuardProvisioner.memory, else as the guard does.
"""
from jupyter_client.provisioning import LocalProvisioner
from traitlets import Float, Unicode

from plimsoll_program import find_program


class GuardProvisioner(LocalProvisioner):
    memory = Unicode("", config=True, help='The memory line of each kernel, such as "4GiB" or "60%"; empty: the guard chooses')
    stall_timeout = Float(0, config=True, help="Interrupt a cell after so many seconds without progress; 0: never")

    async def pre_launch(self, **kwargs):
        kwargs = await super().pre_launch(**kwargs)
        if "plimsoll_guards" not in self.kernel_spec.metadata:  # else the kernel is a guarded twin already
            kwargs["cmd"] = self.guarded(kwargs["cmd"])
        return kwargs

    def guarded(self, command):
        words = [find_program("plimsoll-guard"), "-f", self.parent.connection_file, "--name", self.parent.kernel_name or "kernel",
                 "--language", self.kernel_spec.language or "unknown"]
        if self.memory:
            words += ["--memory", self.memory]
        if self.stall_timeout:
            words += ["--stall-timeout", str(self.stall_timeout)]
        return [*words, "--", *command]
