"""Programs whose calls do not fit the installed source, and their neighbours that do."""

from broken import broken
from broken_blind_e import asked
from healthy import healthy

KITCHEN = {
    "kitchen/__init__.py": "from kitchen.stoves import Stove as Stove\nfrom .pans import *\nfrom kitchen import pans\n"
                           "from ._tools import knife, whisk, native_or_not, grater\n",
    "kitchen/stoves.py": "from .base import Appliance\nfrom abc import ABCMeta\n\n\nclass Stove(Appliance, metaclass=ABCMeta):\n"
                         "    @classmethod\n    def again(cls): pass\n\n"
                         "    def __init__(self, rings, heat='low, or \"high\"', **kwargs):\n"
                         "        super().__init__(**kwargs)\n",
    "kitchen/base.py": "class Appliance:\n    def __new__(cls, *args, **kwargs):\n        return super().__new__(cls)\n\n"
                       "    def __init__(self, *, name=None, **kwargs):\n        shape = kwargs.pop('input_shape', None)\n"
                       "        if kwargs:\n            raise ValueError(kwargs)\n\n\n"
                       "class Changing:\n    def __new__(cls, *args, **kwargs):\n        if cls is Changing:\n"
                       "            return Made('Other', (), {})\n        return super().__new__(cls)\n\n    def __init__(self, a): pass\n\n\n"
                       "class Made(type):\n    def __call__(cls, *args, **kwargs): pass\n\n\n"
                       "class ByMeta(metaclass=Made):\n    def __init__(self, a): pass\n",
    "kitchen/_fast.py": "def native_or_not(*anything): pass\n",
    "kitchen/pans.py": "__all__ = ['fry', 'boil']\n\n\ndef fry(egg, /, *, salt=1, pepper: int = 2) -> None: pass\n\n\ndef boil(*eggs, minutes=4): pass\n",
    "kitchen/_tools.py": "import functools\n\n\ndef twice_as_many(f): return lambda *args, **kwargs: None\n\n\ndef changed(f): return lambda *args, **kwargs: None\n\n\n@functools.lru_cache(maxsize=None)\ndef knife(edge, length=3): pass\n\n\n"
                         "@twice_as_many\ndef whisk(a): pass\n\n\ntry:\n    from ._fast import native_or_not\nexcept ImportError:\n"
                         "    def native_or_not(a): pass\n\n\ndef grater(a, b=1): pass\n\n\ngrater = changed(grater)\n",
}


PROGRAMS = []  # name, whether it fails, text


def says(what, name, text):
    def breaks(env):
        env.package("kitchen", "2.4", KITCHEN)
        asked(env, "cook.py", text)
    breaks.__name__ = name
    PROGRAMS.append((name, bool(what), text))
    (broken("program", f"cook.py {what}") if what else healthy)(breaks)


says("gives rnigs= to Stove(), which kitchen 2.4 does not take", "argument_of_a_class_that_is_handed_on",
     "import kitchen\nkitchen.Stove(2)\nkitchen.Stove(rings=3, rnigs=4)\n")
says("gives length= to Stove(), which kitchen 2.4 does not take", "argument_that_a_base_class_refuses",
     "from kitchen.stoves import Stove\nStove(\n    2, heat='a',  # b\n    name='x', length=[1, 2])\n")
says("calls Stove() without rings, which kitchen 2.4 insists on", "call_without_what_a_class_insists_on",
     "from kitchen import Stove as S, Stove\nStove(heat='high')\n")
says("gives sugar= to fry(), which kitchen 2.4 does not take", "argument_of_a_function_behind_a_star",
     "import kitchen as k\n\n\ndef breakfast():\n    k.fry(1, sugar=2)\n\n\nbreakfast()\n")
says("gives egg= to fry(), which kitchen 2.4 does not take", "argument_that_has_a_place_only", "from kitchen.pans import fry\nfry(egg=1)\n")
says("gives 3 arguments without a name to knife(), which takes 2 in kitchen 2.4", "arguments_too_many",
     "from kitchen import knife\nknife(1, (2, [2])[0], (3, 3))\n")
says("gives minute= to boil(), which kitchen 2.4 does not take", "argument_of_a_function_of_any_number",
     "from kitchen import pans\npans.boil(1, 2, 3, minute=lambda a, b=1: a)\n")
says("gives indnet= to shorten(), which Python 3.11 does not take".replace("3.11", f"3.{__import__('sys').version_info.minor}"),
     "argument_of_the_standard_library", "import textwrap\nfrom shutil import copytree\ntextwrap.dedent('a')\n"
     "from string import Template\nfrom fnmatch import filter\nfrom textwrap import indent as shorten\nshorten('a', 'b', indnet=1)\n")
says("", "calls_that_fit",
     "import kitchen\nfrom kitchen import Stove, fry, boil, knife\nStove(2, name='a', input_shape=(1,))\nfry(1, salt=2)\n"
     "boil(a for a, b in [])\nboil(*[1], minutes=3)\nknife('a')\nknife(*[1, 2])\nknife(lambda a, b: a, 'x')\nkitchen.pans.fry('egg')\n")
says("", "calls_of_what_cannot_be_told",
     "from kitchen import whisk, native_or_not, grater\nfrom kitchen.base import Changing, ByMeta\nwhisk(1, 2, b=3)\nnative_or_not(1, 2)\n"
     "grater(1, c=2)\nChanging(b=1)\nByMeta(b=1)\n")
says("", "names_that_a_program_binds_itself",
     "import kitchen as k\nfrom kitchen import Stove, fry, boil, knife\n\n\ndef boil(a, time): pass\n\n\nboil(1, time=2)\nfry = print\nfry(1, end='')\n"
     "for knife in []:\n    knife(1, 2, 3)\n\n\ndef cook(Stove):\n    Stove(colour=1)\n\n\nk.fry = print\nk.fry(1, end='')\n")
says("", "calls_that_the_program_guards",
     "import unittest\nfrom kitchen import knife\ntry:\n    knife(point=1)\nexcept TypeError:\n    knife(1)\ncheck = unittest.TestCase()\nwith check.assertRaises(TypeError):\n    knife(1, 2, 3)\n"
     "KITCHEN_LT_2 = False\nif KITCHEN_LT_2:\n    knife(sharp=1)\n")


@broken("program", "train.py imports lr_schedulr, which is neither installed nor beside it")
def misspelt_module_of_the_program(env):
    (env.folder / "lr_scheduler.py").write_text("def step(): pass\n")
    asked(env, "train.py", "import lr_schedulr\nlr_schedulr.step()\n")


@broken("program", "train.py imports seaborn, which is not installed")
def project_that_is_known(env):
    asked(env, "train.py", "import seaborn\n")
