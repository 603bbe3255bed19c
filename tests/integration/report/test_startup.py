import subprocess
import sys

import pytest


@pytest.mark.integration
@pytest.mark.parametrize("module", ["json", "summary", "markdown", "original", "look"])
def test_reports_for_programs_do_not_load_rich(module):
    code = f"import sys, envmgr.report.{module}; sys.exit('rich' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
