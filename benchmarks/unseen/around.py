"""Troubles of installs and of what stands around an environment: each adds one to a draft, with a way to mend it."""

from unseen.draft import indented


def shared_file(draft):
    """Two distributions own one module; the one that came later has won, or its removal took the module away."""
    module, first, second = draft.name(), draft.name(), draft.name()
    pins = (draft.version(), draft.version())
    file = draft.chance.choice((f"{module}.py", f"{module}/__init__.py"))
    draft.shelf.wheel(
        first, pins[0], {file: "def work():\n    return 1\n", f"{first}.py": f"import {module}\n"}, day=draft.day(-5)
    )
    draft.shelf.wheel(second, pins[1], {file: "def other():\n    return 2\n", f"{second}.py": ""}, day=draft.day())
    lines = [f"{first}=={pins[0]}", f"{second}=={pins[1]}"]
    draft.steps = [{"install": [lines[0]]}, {"install": [lines[1]]}]
    if draft.chance.random() < 0.35:
        draft.steps.append({"uninstall": [second]})
    draft.build["requirements"] = [lines[0]]
    draft.keep.append(lines[0])
    draft.probe += [f"import {first}, {module}", f"{module}.work()"]
    draft.blame(*((kind, name) for kind in ("conflict", "package") for name in (first, second)))


def shadowing_file(draft):
    """A file in the folder, or on PYTHONPATH, has the name of a module that is meant."""
    top, dep, pin = draft.name(), draft.name(), draft.version()
    standard = draft.chance.random() < 0.35
    shadowed = (
        draft.chance.choice(("queue", "statistics", "secrets", "calendar", "token", "fractions")) if standard else dep
    )
    use = {
        "queue": "Queue",
        "statistics": "mean",
        "secrets": "choice",
        "calendar": "monthrange",
        "token": "NAME",
        "fractions": "Fraction",
    }
    draft.shelf.wheel(dep, "1.0", {f"{dep}.py": "def work():\n    return 1\n"}, day=draft.day(-9))
    code = f"from {shadowed} import {use[shadowed]}\n" if standard else f"from {dep} import work\n"
    draft.shelf.wheel(top, pin, {f"{top}.py": code}, requires=[dep], day=draft.day())
    draft.ask(f"{top}=={pin}")
    draft.probe.append(f"import {top}")
    text = draft.chance.choice(
        (f"import {top}\nprint('started')\n", "notes = []\n", "raise SystemExit('run me alone')\n")
    )
    if draft.chance.random() < 0.3 and "PYTHONPATH" not in draft.variables:
        place = f"home/{draft.name()}"
        draft.files[f"{place}/{shadowed}.py"] = "notes = []\n"
        draft.variables["PYTHONPATH"] = "{home}/" + place.removeprefix("home/")
        draft.unset.append("PYTHONPATH")
        draft.blame(("env-state", "PYTHONPATH"), ("env-state", f"{shadowed}.py"))
        return
    package = draft.chance.random() < 0.3
    path = f"cwd/{shadowed}/__init__.py" if package else f"cwd/{shadowed}.py"
    draft.files[path] = text
    draft.remove.append(f"cwd/{shadowed}" if package else path)
    draft.blame(*(("env-state", name) for name in (f"{shadowed}.py", f"cwd/{shadowed}.py", shadowed)))


def variable(draft):
    """A variable breaks it, or must have one of the values that the library lists."""
    top, pin = draft.name(), draft.version()
    name = f"{top.upper()}_{draft.name().upper()}"
    values = [draft.name() for _ in range(3)]
    right = values[draft.chance.randrange(3)]
    how = draft.chance.choice(("unset", "silent", "foreign", "listed", "needed", "needed"))
    if how == "foreign":
        name = f"{draft.name().upper()}_{draft.name().upper()}"
    listed = draft.chance.choice(
        (
            f"{name} must be one of: {', '.join(values)}",
            f"unknown {name}; available: {values}",
            f"{name} is none of {' | '.join(values)}",
        )
    )
    ask = f"import os\nvalue = os.environ.get('{name}')\n"
    code = {
        "unset": f"if value is not None:\n    raise ValueError('{name}: %r is no mode' % value)\n",
        "silent": "if value is not None:\n    raise ValueError('cannot start')\n",
        "foreign": "if value is not None:\n    raise OSError('no such unit')\n",
        "listed": f"if value not in (None, '{right}'):\n    raise ValueError('cannot use %s: {_quoted(listed)}' % value)\n",
        "needed": f"if value != '{right}':\n    raise RuntimeError('{_quoted(listed)}' if value not in {values} else 'no driver for %s' % value)\n",
    }[how]
    late = draft.chance.random() < 0.4
    body = ask + (f"def work():\n{indented(code)}" if late else code)
    draft.shelf.wheel(top, pin, {f"{top}.py": body}, day=draft.day())
    draft.ask(f"{top}=={pin}")
    draft.probe += [f"import {top}", f"getattr({top}, 'work', int)()"]
    draft.blame(("env-state", name))
    if how == "needed":
        draft.wanted[name] = right
        if draft.chance.random() < 0.4:
            draft.variables[name] = "none"
        return
    draft.variables[name] = draft.chance.choice(("1", "on", draft.name()))
    draft.unset.append(name)


def _quoted(text):
    return text.replace("'", '"')


def settings_file(draft):
    """A key of a library's settings in HOME breaks it."""
    top, pin, key = draft.name(), draft.version(), draft.name()
    path = draft.chance.choice((f".{top}/{top}.json", f".config/{top}/settings.json"))
    code = (
        f"import json, os\npath = os.path.expanduser('~/{path}')\n"
        f"if os.path.exists(path) and json.load(open(path)).get('{key}') == 'old':\n"
        f"    raise ValueError({draft.chance.choice((f'the {key} is not supported any more', 'cannot go on'))!r})\n"
    )
    draft.shelf.wheel(top, pin, {f"{top}.py": code}, day=draft.day())
    draft.files[f"home/{path}"] = f'{{"{draft.name()}": 3, "{key}": "old"}}'
    draft.ask(f"{top}=={pin}")
    draft.probe.append(f"import {top}")
    draft.remove.append(f"home/{path}")
    draft.blame(("env-state", path.rsplit("/", 1)[-1]), ("env-state", path), ("env-state", f"home/{path}"))


def wrong_platform(draft):
    """What is pinned has wheels for other systems alone: another release serves here, or nobody imports it, or nothing helps."""
    top, pin = draft.name(), "2.5"
    tag = draft.chance.choice(("py3-none-win_amd64", "py3-none-macosx_11_0_arm64", "py3-none-macosx_10_9_x86_64"))
    how = draft.chance.choice(("other", "other", "idle", "none"))
    draft.shelf.wheel(top, pin, {f"{top}.py": ""}, day=draft.day(), tag=tag)
    line = f"{top}=={pin}"
    draft.ask(line, keep=False)
    draft.blame(("platform", None), ("package", top))
    if how == "other":
        other = draft.chance.choice(("2.4", "2.6"))
        draft.shelf.wheel(top, other, {f"{top}.py": ""}, day=draft.day(-30 if other == "2.4" else 30))
        draft.swaps[line] = f"{top}=={other}"
        draft.probe.append(f"import {top}")
    elif how == "idle":
        front, version = draft.name(), draft.version()
        draft.shelf.wheel(front, version, {f"{front}.py": ""}, day=draft.day())
        draft.ask(f"{front}=={version}")
        draft.swaps[line] = None
        draft.probe.append(f"import {front}")
    else:
        draft.hopeless = True
        draft.probe.append(f"import {top}")


BACKEND = """
import base64, hashlib, os, sys, zipfile
KEYS = {keys}
def _read():
    told = {{}}
    class Tool:
        @staticmethod
        def describe(**words):
            told.update(words)
    sys.modules["{name}.describe"] = Tool
    exec(compile(open("build.py").read(), "build.py", "exec"), {{"describe": Tool.describe}})
    for key in told:
        if key not in KEYS:
            raise SystemExit("error in %s: %s is invalid" % (told.get("name"), key))
    return told
def get_requires_for_build_wheel(config_settings=None):
    return []
def prepare_metadata_for_build_wheel(folder, config_settings=None):
    told = _read()
    info = "%s-%s.dist-info" % (told["name"], told["version"])
    os.makedirs(os.path.join(folder, info))
    with open(os.path.join(folder, info, "METADATA"), "w") as file:
        file.write("Metadata-Version: 2.1\\nName: %s\\nVersion: %s\\n" % (told["name"], told["version"]))
    return info
def build_wheel(folder, config_settings=None, metadata_directory=None):
    told = _read()
    stem = "%s-%s" % (told["name"], told["version"])
    info = stem + ".dist-info"
    files = {{
        told["name"] + ".py": open(told["name"] + ".py").read(),
        info + "/METADATA": "Metadata-Version: 2.1\\nName: %s\\nVersion: %s\\n" % (told["name"], told["version"]),
        info + "/WHEEL": "Wheel-Version: 1.0\\nGenerator: tool\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
    }}
    files[info + "/RECORD"] = "".join("%s,,\\n" % path for path in [*files, info + "/RECORD"])
    name = stem + "-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(folder, name), "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return name
"""


def build_tool(draft):
    """A source archive that the newest build tool does not accept, or whose build imports what it does not declare."""
    top, pin, tool = draft.name(), draft.version(), draft.name()
    key, need = draft.name(), draft.name()
    olds = BACKEND.format(name=tool, keys=["name", "version", key])
    news = BACKEND.format(name=tool, keys=["name", "version"])
    for version, day in (("1.0", -400), ("1.4", -30)):
        draft.shelf.wheel(tool, version, {f"{tool}.py": olds}, day=draft.day(day))
    for version, day in (("2.0", 300), ("2.1", 420)):
        draft.shelf.wheel(tool, version, {f"{tool}.py": news}, day=draft.day(day))
    for seed in ("setuptools", "wheel"):  # what every build without isolation stands beside
        draft.shelf.wheel(seed, "50.0", {f"{seed}.py": ""})
    draft.shelf.wheel(need, "1.2", {f"{need}.py": "value = 1\n"}, day=draft.day(-30))
    dropped = draft.chance.random() < 0.6
    script = f"describe(name='{top}', version='{pin}'" + (f", {key}=True)\n" if dropped else ")\n")
    script = script if dropped else f"import {need}\n{script}"
    project = f'[build-system]\nrequires = ["{tool}"]\nbuild-backend = "{tool}"\n'
    draft.shelf.source(
        top, pin, {"pyproject.toml": project, "build.py": script, f"{top}.py": "value = 1\n"}, day=draft.day()
    )
    draft.ask(f"{top}=={pin}")
    draft.probe.append(f"import {top}")
    if dropped:
        draft.build["build_constraints"] = [f"{tool}<2"]
        draft.blame(("package", tool), ("package", top))
    else:
        draft.build["build_requires"] = {top: [need, tool]}
        draft.blame(("missing", need), ("package", top))


def missing_release(draft):
    """The release that is asked for was withdrawn, never was, or is a build that no index here has."""
    top = draft.name()
    for minor in (0, 1, 3, 4):
        draft.shelf.wheel(top, f"1.{minor}.0", {f"{top}.py": "value = 1\n"}, day=draft.day(40 * minor))
    how = draft.chance.choice(("absent", "label", "withdrawn", "beyond"))
    if how == "withdrawn":
        draft.shelf.wheel(top, "2.0.0", {f"{top}.py": "value = 1\n"}, day=draft.day(300), yanked=True)
    line = {
        "absent": f"{top}==1.2.0",
        "label": f"{top}==1.3.0+{draft.name()}",
        "withdrawn": f"{top}>=2",
        "beyond": f"{top}>=3.1",
    }[how]
    draft.ask(line, keep=False)
    draft.swaps[line] = {"absent": f"{top}==1.3.0", "label": f"{top}==1.3.0"}.get(how, f"{top}==1.4.0")
    draft.probe.append(f"import {top}")
    draft.blame(("package", top), ("index", None))
