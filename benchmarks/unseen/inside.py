"""Troubles between distributions: each adds one to a draft, with its true cause and one way to mend it."""

import platform


def removed_name(draft):
    """A dependency's newer release has lost what a pinned package uses."""
    top, dep, name, middle = draft.name(), draft.name(), draft.name(), draft.name()
    how = draft.chance.choice(("from", "attribute", "module", "argument", "late"))
    use = {
        "from": f"from {dep} import {name}\n",
        "attribute": f"import {dep}\nbase = {dep}.{name}\n",
        "module": f"import {dep}.{name}\n",
        "argument": f"import {dep}\ndef work():\n    return {dep}.make(1, {name}=True)\n",
        "late": f"import {dep}\ndef work():\n    return {dep}.{name}(1)\n",
    }[how]
    has = {
        "module": {f"{dep}/__init__.py": "", f"{dep}/{name}.py": "value = 1\n"},
        "argument": {f"{dep}/__init__.py": f"def make(size, {name}=False):\n    return size\n"},
    }.get(how, {f"{dep}/__init__.py": f"def {name}(size=0):\n    return size\ndef make(size):\n    return size\n"})
    lacks = {f"{dep}/__init__.py": "def make(size):\n    return size\n"}
    _, bad = draft.releases(dep, has, lacks)
    indirect = draft.chance.random() < 0.3  # the user has never heard of who needs it
    if indirect:
        draft.shelf.wheel(middle, "1.0", {f"{middle}.py": use}, requires=[dep], day=draft.day(-90))
        use = f"import {middle}\ndef work():\n    getattr({middle}, 'work', int)()\n"
    pin = draft.version()
    draft.shelf.wheel(top, pin, {f"{top}/__init__.py": use}, requires=[middle if indirect else dep], day=draft.day())
    draft.shelf.wheel(top, "20.1", {f"{top}/__init__.py": "def work():\n    return 1\n"}, day=draft.day(500))
    draft.ask(f"{top}=={pin}")
    draft.probe += [f"import {top}", f"getattr({top}, 'work', int)()"]
    draft.blame(("package", dep), ("conflict", dep))
    draft.added.append(f"{dep}<{bad}")


def abi_stamp(draft):
    """A pinned package was compiled against a dependency whose layout has changed."""
    top, dep = draft.name(), draft.name()
    pin, old, new = draft.version(), draft.chance.randrange(2, 9), 0
    new = old + draft.chance.randrange(1, 4)
    words = draft.chance.choice(
        (
            f"RuntimeError('module compiled against API version 0x{old:x} but this version of {dep} is 0x%x' % {dep}.api())",
            f"ImportError('{top}._core was built for ABI {old} of {dep}, and the one here has ABI %d' % {dep}.api())",
            f"ValueError('{dep}.field size changed, may indicate binary incompatibility. Expected {old} from C header, got %d from PyObject' % {dep}.api())",
            f"ImportError('{{}}/_core.so: undefined symbol: _ZN{len(dep)}{dep}4initEv'.format(__file__.rsplit('/', 1)[0]))",
            "SystemError('initialization of _core raised unreported exception')",
        )
    )
    core = f"import {dep}\nif {dep}.api() != {old}:\n    raise {words}\n"
    code = {f"{top}/__init__.py": f"from {top} import _core\n", f"{top}/_core.py": core}
    _, bad = draft.releases(
        dep, {f"{dep}.py": f"def api():\n    return {old}\n"}, {f"{dep}.py": f"def api():\n    return {new}\n"}
    )
    draft.shelf.wheel(top, pin, code, requires=[f"{dep}>=0.1"], day=draft.day())
    draft.ask(f"{top}=={pin}")
    draft.probe.append(f"import {top}")
    draft.blame(("package", dep), ("conflict", dep))
    draft.added.append(f"{dep}<{bad}")


def marker(draft):
    """A requirement is kept out by a marker that does not hold here."""
    top, dep = draft.name(), draft.name()
    words = draft.chance.choice(
        ("sys_platform == 'win32'", "python_version < '3.5'", "platform_machine == 'sparc64'", "os_name == 'nt'")
    )
    draft.shelf.wheel(dep, "1.1", {f"{dep}.py": "value = 1\n"}, day=draft.day(-20))
    by_user = draft.chance.random() < 0.5
    pin = draft.version()
    needs = [] if by_user else [f"{dep} ; {words}"]
    draft.shelf.wheel(top, pin, {f"{top}.py": f"import {dep}\n"}, requires=needs, day=draft.day())
    draft.ask(f"{top}=={pin}")
    if by_user:
        line = f"{dep}==1.1; {words}"
        draft.ask(line, keep=False)
        draft.swaps[line] = f"{dep}==1.1"
    else:
        draft.added.append(dep)
    draft.probe.append(f"import {top}")
    draft.blame(("missing", dep), ("package", dep), ("package", top))


def extra(draft):
    """What is needed comes with an extra that was not asked for, or was asked for by a wrong name."""
    top, module, word = draft.name(), draft.name(), draft.name()
    dist = draft.chance.choice((module, f"py-{module}", f"{module}-{draft.name()}"))
    draft.shelf.wheel(dist, "2.0", {f"{module}/__init__.py": "value = 1\n"}, day=draft.day(-20))
    pin = draft.version()
    code = draft.chance.choice(
        (
            f"import {module}\n",
            f"try:\n    import {module}\nexcept ImportError:\n    raise ImportError('this needs the extra: pip install {top}[{word}]') from None\n",
            (
                f"try:\n    import {module}\nexcept ImportError:\n    {module} = None\n"
                f"def work():\n    if {module} is None:\n        raise RuntimeError('{word} support is not there')\n"
            ),
        )
    )
    others = [draft.name(), draft.name()]
    for other in others:
        draft.shelf.wheel(other, "1.0", {f"{other}.py": ""}, day=draft.day(-20))
    needs = [f"{dist} ; extra == '{word}'", *(f"{other} ; extra == '{other}'" for other in others)]
    draft.shelf.wheel(top, pin, {f"{top}.py": code}, requires=needs, extras=[word, *others], day=draft.day())
    wrong = draft.chance.random() < 0.3
    line = f"{top}[{word[1:] + word[0]}]=={pin}" if wrong else f"{top}=={pin}"
    draft.ask(line, keep=False)
    draft.swaps[line] = f"{top}[{word}]=={pin}"
    draft.probe += [f"import {top}", f"getattr({top}, 'work', int)()"]
    draft.blame(("missing", dist), ("package", top), ("package", dist), ("missing", module))


def family(draft):
    """Two that belong together have come apart: one was pinned, the other is the newest or was pinned to another."""
    stem = draft.name()
    core, bridge = f"{stem}-core", f"{stem}-{draft.name()}"
    module, front = core.replace("-", "_"), bridge.replace("-", "_")
    versions = [f"0.{minor}.0" for minor in range(4, 9)]
    check = draft.chance.choice(
        (
            "raise RuntimeError('core %s does not fit bridge {version}' % {module}.__version__)",
            "raise AttributeError('_hooks_{short}')",
            "raise TypeError('start() takes %d positional arguments but {short} were given' % len({module}.__version__))",
        )
    )
    for at, version in enumerate(versions):
        told = check.format(version=version, module=module, short=version.replace(".", ""))
        code = f"import {module}\nif {module}.__version__ != '{version}':\n    {told}\n"
        draft.shelf.wheel(
            core, version, {f"{module}/__init__.py": f"__version__ = '{version}'\n"}, day=draft.day(150 * (at - 2))
        )
        draft.shelf.wheel(
            bridge, version, {f"{front}/__init__.py": code}, requires=[core], day=draft.day(150 * (at - 2))
        )
    both = draft.chance.random() < 0.4  # either pin may give way then
    draft.ask(f"{bridge}=={versions[2]}", keep=not both)
    if both:
        wrong = f"{core}=={draft.chance.choice((versions[1], versions[4]))}"
        draft.ask(wrong, keep=False)
        draft.swaps[wrong] = f"{core}=={versions[2]}"
    else:
        draft.added.append(f"{core}=={versions[2]}")
    draft.probe.append(f"import {front}")
    draft.blame(("package", core), ("conflict", core), ("package", bridge), ("conflict", bridge))


def undeclared(draft):
    """A package imports what it never declared, or a step kept dependencies out."""
    top, dep, further = draft.name(), draft.name(), draft.name()
    pin = draft.version()
    draft.shelf.wheel(further, "1.4", {f"{further}.py": ""}, day=draft.day(-10))
    draft.shelf.wheel(dep, "1.3", {f"{dep}.py": f"import {further}\n"}, requires=[further], day=draft.day(-10))
    bare = draft.chance.random() < 0.5
    draft.shelf.wheel(top, pin, {f"{top}.py": f"import {dep}\n"}, requires=[dep] if bare else [], day=draft.day())
    draft.probe.append(f"import {top}")
    line = f"{top}=={pin}"
    draft.blame(("missing", dep), ("package", dep), ("package", top))
    if bare and not draft.requirements:
        draft.keep.append(line)
        draft.steps = [{"install": [line], "flags": ["--no-deps"]}]
        draft.build["steps"] = [{"install": [line]}]
    else:
        draft.shelf.wheel(top, f"{pin}.post1", {f"{top}.py": f"import {dep}\n"}, day=draft.day(5))
        draft.ask(f"{line}.post1")
        draft.added.append(dep)


def newer_python(draft):
    """A newer Python has removed what a pinned package imports, or what is pinned is for other Pythons."""
    lost = {
        "3.9": ("from fractions import gcd", "import dummy_threading"),
        "3.10": (
            "from collections import Mapping",
            "from collections import Iterable",
            "import formatter",
            "import parser",
        ),
        "3.11": ("from inspect import getargspec", "from asyncio import coroutine", "import binhex"),
        "3.12": (
            "import imp",
            "import asynchat",
            "import distutils.version",
            "from configparser import SafeConfigParser",
            "import smtpd",
        ),
        "3.13": (
            "import cgi",
            "import telnetlib",
            "import crypt",
            "import imghdr",
            "import pipes",
            "from typing import io",
        ),
    }
    top, pin = draft.name(), draft.version()
    order = sorted(draft.pythons, key=lambda minor: int(minor.split(".")[1]))
    removals = [
        minor for minor in lost if any(minor <= other for other in order) and order[0] != minor and minor in order
    ]
    gone_in = draft.chance.choice(sorted(removals, key=order.index))
    draft.python = draft.chance.choice([minor for minor in order if order.index(minor) >= order.index(gone_in)])
    good = order[order.index(gone_in) - 1]
    how = draft.chance.choice(("code", "code", "code", "requires", "wheels"))
    code = {f"{top}.py": draft.chance.choice(lost[gone_in]) + "\n" if how == "code" else "value = 1\n"}
    if how == "wheels":
        tag = f"cp{good.replace('.', '')}"
        draft.shelf.wheel(top, pin, code, day=draft.day(), tag=f"{tag}-{tag}-manylinux2014_{platform.machine()}")
    elif how == "requires":
        draft.python, good = good, draft.python
        draft.shelf.wheel(top, pin, code, day=draft.day(), python=f">={good}")
    else:
        draft.shelf.wheel(top, pin, code, day=draft.day())
    draft.ask(f"{top}=={pin}")
    draft.probe.append(f"import {top}")
    draft.blame(("python", None), ("package", top))
    draft.build["python"] = good
