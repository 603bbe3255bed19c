"""The page as one self-contained HTML text."""

from __future__ import annotations

from pydantic_core import to_json

from envmgr.errors import HostError
from envmgr.report.page.model import Page


def html(page: Page) -> str:
    """Return the page: it opens from disk and asks nothing of any network. Needs the extra `report` (Jinja2)."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 - an extra
    except ImportError:
        raise HostError(
            "the HTML report needs Jinja2",
            "wanted the extra `report` of envmgr; found no jinja2",
            "python -m pip install 'envmgr[report]'",
        ) from None
    environment = Environment(
        loader=PackageLoader("envmgr.report.page", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html").render(page=page, data=_embedded(page))


def _embedded(page: Page) -> str:
    """Return the data as JSON that nothing in it can end early."""
    text = to_json(page.data, inf_nan_mode="strings").decode()
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
