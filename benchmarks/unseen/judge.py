"""Judges worlds with plain uv: that each fails as given and passes with its mend, and what a diagnosis of it is worth."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

from uv import find_uv_bin

_KEPT = ("PATH", "LANG", "PYENV_ROOT", "TMPDIR")
_SECONDS = 300
UV = find_uv_bin()


def interpreters():
    """Return the Pythons of this machine that worlds may use, by minor version: pyenv's, else those on PATH."""
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    own = f"3.{sys.version_info.minor}"
    found = {own: sys.executable}
    for minor in (f"3.{number}" for number in range(8, 14)):
        installed = sorted(root.glob(f"{minor}.*/bin/python"))
        path = str(installed[-1]) if installed else shutil.which(f"python{minor}")
        if path:
            found[minor] = path
    return found


class Place:
    """A HOME and a folder for one world, at an index, with a cache that worlds share."""

    def __init__(self, root, case, address, cache, pythons):
        self.root, self.case, self.pythons = Path(root), case, pythons
        self.own = {
            "HOME": str(self.root / "home"),
            "PIP_INDEX_URL": f"{address}/{case.index}",
            "PIP_CONFIG_FILE": os.devnull,
        }
        self.own |= {
            "UV_CACHE_DIR": str(cache),
            "PYENV_ROOT": os.environ.get("PYENV_ROOT", str(Path.home() / ".pyenv")),
        }
        for name in ("home", "cwd"):
            (self.root / name).mkdir(parents=True)
        for path, text in case.files.items():
            self.write(path, text)

    def write(self, path, text):
        """Write one file of the world: `home/…` or `cwd/…`."""
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    def variables(self, change=None):
        """Return what the probe gets, with a fix's changes."""
        base = {name: os.environ[name] for name in _KEPT if name in os.environ} | self.own
        given = {**self.case.variables, **((change or {}).get("set") or {})}
        base |= {name: str(value).replace("{home}", self.own["HOME"]) for name, value in given.items()}
        return {name: value for name, value in base.items() if name not in ((change or {}).get("unset") or ())}

    def passes(self, fix):
        """Build the world with a fix, by hand, and run the probe; returns (it passes, the last words)."""
        self._amend(fix.get("files") or {})
        done = self._build(fix)
        if done.returncode:
            return False, _last(done)
        python = str(self.root / "venv" / "bin" / "python")
        done = _run([python, "-c", self.case.probe], self.root / "cwd", self.variables(fix.get("env")))
        return done.returncode == 0, _last(done)

    def _amend(self, files):
        for name in files.get("remove") or ():
            path = self.root / name
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        for name, text in (files.get("write") or {}).items():
            self.write(name, text)
        for edit in files.get("edit") or ():
            data = json.loads((self.root / edit["path"]).read_text())
            data.pop(edit["key"], None)
            data |= {} if edit.get("value") is None else {edit["key"]: edit["value"]}
            self.write(edit["path"], json.dumps(data))

    def _build(self, fix):
        case, venv = self.case, self.root / "venv"
        minor = re.search(r"3\.\d+", fix.get("python") or case.python)[0]
        variables = {
            name: value for name, value in self.variables(fix.get("env")).items() if not name.startswith("PYTHON")
        }
        steps = fix.get("steps") or ([] if "requirements" in fix else case.steps)
        steps = steps or [{"install": fix.get("requirements", case.requirements)}]
        pip = [UV, "pip", "install", "-q", "-p", str(venv), "--default-index", self.own["PIP_INDEX_URL"]]
        tail = ["--exclude-newer", fix["exclude_newer"]] if fix.get("exclude_newer") else []
        for key, flag in (("build_constraints", "--build-constraints"), ("overrides", "--overrides")):
            lines = fix.get(key) or case.build.get(key)
            if lines:
                (self.root / f"{key}.txt").write_text("\n".join(lines) + "\n")
                tail += [flag, str(self.root / f"{key}.txt")]
        calls = [[UV, "venv", "-q", "--clear", "-p", self.pythons[minor], str(venv)]]
        requires = fix.get("build_requires") or case.build.get("build_requires") or {}
        if requires:
            calls.append([*pip, *(line for lines in requires.values() for line in lines), "setuptools", "wheel", *tail])
            tail += [word for name in requires for word in ("--no-build-isolation-package", name)]
        for step in steps:
            if step.get("uninstall"):
                calls.append([UV, "pip", "uninstall", "-q", "-p", str(venv), *step["uninstall"]])
            if step.get("install"):
                calls.append([*pip, *(step.get("flags") or ()), *step["install"], *tail])
        done = None
        for call in calls:
            done = _run(call, self.root, variables)
            if done.returncode:
                break
        return done


def _run(argv, folder, variables):
    return subprocess.run(
        argv,
        cwd=folder,
        env=variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )


def _last(done):
    lines = (done.stderr.strip() or done.stdout.strip()).splitlines()
    return lines[-1].strip()[:160] if lines else ""


class Judge:
    """Judges worlds of one index; `pythons` are paths by minor version, `command` starts envmgr."""

    def __init__(self, address, cache, pythons, command, budget):
        self._address, self._cache, self._pythons = address, cache, pythons
        self._command, self._budget = command, budget

    def _place(self, case, root):
        """Return a place with a cache of its own kind: uv keeps what it has built, whatever it was built with."""
        return Place(root, case, self._address, Path(self._cache) / root.name, self._pythons)

    def honest(self, case):
        """Tell why a world is not what it claims to be; empty if it fails as given and passes with its own mend."""
        with tempfile.TemporaryDirectory() as room:
            passes, words = self._place(case, Path(room) / "given").passes({})
            if passes != case.sound:
                return f"as given: {'passes' if passes else words}"
            if case.sound or case.hopeless:
                return ""
            passes, words = self._place(case, Path(room) / "mended").passes(case.fix)
            return "" if passes else f"with its mend: {words}"

    def judge(self, case):
        """Diagnose a world, apply the fix by hand, and return what was right: a row of the table."""
        with tempfile.TemporaryDirectory() as room:
            begun = time.monotonic()
            finding, trouble = self._diagnose(case, self._place(case, Path(room) / "diagnosed"))
            row = {
                **asdict(case),
                "seconds": time.monotonic() - begun,
                "finding": finding,
                "words": trouble,
                "crash": bool(trouble),
            }
            causes = (finding or {}).get("causes") or []
            told = (causes[0]["kind"], causes[0]["name"]) if causes else ("", "")
            row["cause"] = not finding if case.sound else any(_same(told, one) for one in case.causes)
            row["words"] = trouble or " ".join(told).strip() or "no finding"
            fix = (finding or {}).get("fix")
            confirmed = bool((finding or {}).get("confirmed"))
            row["false"] = finding is not None if case.sound else False
            if case.sound or (case.hopeless and not confirmed):
                row["fix"] = not finding or not confirmed
                return row
            works, words = self._place(case, Path(room) / "fixed").passes(fix) if fix else (False, "no fix")
            moved = _moved(case, fix or {})
            row["fix"] = works and confirmed and not moved
            row["false"] = confirmed and not works
            row["words"] += (
                ""
                if row["fix"]
                else f"; fix {json.dumps(fix)}: {words or (f'moves {moved}' if moved else 'not confirmed')}"
            )
            return row

    def applied(self, case, room):
        """Let a diagnosis write its fix into the manifest; tell whether the env is then built and passes the probe."""
        place = self._place(case, Path(room) / "applied")
        place.write("cwd/manifests/case.toml", _manifest(case))
        calls = (
            ["diagnose", "case", "--probe", case.probe, "--apply"],
            ["run", "case", "--", "python", "-c", case.probe],
        )
        done = [_run([*self._command, *words], place.root / "cwd", place.variables()) for words in calls]
        return done[1].returncode == 0, f"{_last(done[0])} {_last(done[1])}"

    def _diagnose(self, case, place):
        place.write("cwd/manifests/case.toml", _manifest(case))
        argv = [*self._command, "diagnose", "case", "--probe", case.probe, "--json", "--budget", f"{self._budget}s"]
        done = _run(argv, place.root / "cwd", place.variables())
        try:
            answer = json.loads(done.stdout)
            if answer["error"]:
                return None, f"error: {answer['error']['what']}"
            return answer["data"]["finding"], ""
        except ValueError:
            return None, f"exit {done.returncode}: {_last(done)}"


def _same(told, wanted):
    plain = [re.sub(r"[-_.]+", "-", name.lower()) for name in (told[1], wanted[1] or told[1])]
    return told[0] == wanted[0] and plain[0] == plain[1]


def _moved(case, fix):
    """Return the first pin that the fix should have left alone and has moved."""
    steps = fix.get("steps") or []
    lines = (
        fix.get("requirements")
        if "requirements" in fix
        else [line for step in steps for line in step.get("install", ())]
    )
    return next((line for line in case.keep if lines and line not in lines), "")


def _manifest(case):
    lines = ["schema = 1", 'name = "case"', f'python = "=={case.python}.*"', 'allow-source = ["*"]']
    lines += [f"requirements = {json.dumps(case.requirements)}"] if not case.steps else []
    lines += (
        [f"build-constraints = {json.dumps(case.build['build_constraints'])}"]
        if "build_constraints" in case.build
        else []
    )
    for name, needs in case.build.get("build_requires", {}).items():
        lines += ["[build-requires]", f"{name} = {json.dumps(needs)}"]
    for step in case.steps:
        lines += ["[[step]]", *(f"{key} = {json.dumps(value)}" for key, value in step.items())]
    return "\n".join(lines) + "\n"
