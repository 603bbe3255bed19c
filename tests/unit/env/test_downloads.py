"""What uv tells of its downloads, as one line for people."""

from pathlib import Path
from types import SimpleNamespace

from envmgr.env.downloads import DONE, Downloads, warn_of_size, without_progress
from envmgr.env.installer import Ports, run_installer
from envmgr.outside import Completed, Event

LINES = (
    "Resolved 3 packages in 12ms",
    "Downloading numpy (16.0MiB)",
    "Downloading scipy (32.0MiB)",
    " Downloaded numpy",
    "   Building absl-py==0.15.0",
    " Downloaded scipy",
    "      Built absl-py==0.15.0",
    "Prepared 3 packages in 4.02s",
    "Installed 3 packages in 20ms",
)


def told(*lines, seconds=(0.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0)):
    ticks = iter(seconds)
    downloads = Downloads(lambda: next(ticks))
    return [downloads.hear(line) for line in lines]


def test_sizes_add_up_and_the_pace_so_far_tells_the_time_left():
    assert told(*LINES) == [
        None,
        "0 of 1 downloads, 0 of 16 MiB",
        "0 of 2 downloads, 0 of 48 MiB",
        "1 of 2 downloads, 16 of 48 MiB, about 12 s left",
        "1 of 2 downloads, 16 of 48 MiB, about 14 s left; building absl-py==0.15.0",
        "building absl-py==0.15.0",
        "small files, unpacking",
        DONE,
        None,
    ]


def stages(*argv):
    """Have an installer say what uv says, and return what is told of on the way."""

    class Said:
        def run(self, request):
            for line in LINES:
                request.hear(line)
            return Completed(request.argv, 0)

    class Kept(dict):
        read = dict.get

        def write(self, path, text, *, durable):
            self[path] = text

    heard = Heard()
    ports = Ports(Said(), Kept(), SimpleNamespace(monotonic=lambda: 0.0), heard)
    run_installer(("uv", *argv), {}, Path("env"), Event("install", "one", "3 distributions", 0, 3), ports)
    assert {event.subject for event in heard} == {"one"}
    return [event.stage for event in heard]


def test_an_index_is_waited_for_until_it_has_answered():
    assert stages() == ["look up", "install", *["fetch"] * 4, "build", "fetch", "install"]
    assert stages("--offline") == ["install", *["fetch"] * 4, "build", "fetch", "install"]


def test_what_went_well_is_no_part_of_what_went_wrong():
    output = "\n".join((*LINES, "  x Failed to download `gone`", ""))
    assert without_progress(output) == (
        "Resolved 3 packages in 12ms\nPrepared 3 packages in 4.02s\nInstalled 3 packages in 20ms\n  x Failed to download `gone`\n"
    )


class Heard(list):
    on_event = list.append


def test_only_what_may_take_long_is_told_of_in_advance():
    heard = Heard()
    warn_of_size(999_999_999, "one", heard)
    warn_of_size(2_340_000_000, "one@cpu", heard)
    assert heard == [Event("warning", "one@cpu", "up to 2.3 GB will be downloaded unless they are cached")]


def test_sizes_are_told_as_facts_while_something_is_on_its_way():
    downloads = Downloads(lambda: 0.0)
    facts = [downloads.hear(line) and downloads.sizes for line in LINES]
    mib = 1 << 20
    assert facts[1:4] == [
        {"done": "0", "whole": str(16 * mib)}, {"done": "0", "whole": str(48 * mib)},
        {"done": str(16 * mib), "whole": str(48 * mib)},
    ]  # fmt: skip
    assert facts[5] == {}
