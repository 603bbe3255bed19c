from envmgr.api import Cell as Cell
from envmgr.api import CellResult as CellResult
from envmgr.api import Comparisons as Comparisons
from envmgr.api import Env as Env
from envmgr.api import EnvmgrError as EnvmgrError
from envmgr.api import Event as Event
from envmgr.api import HostFacts as HostFacts
from envmgr.api import JudgedCell as JudgedCell
from envmgr.api import Listener as Listener
from envmgr.api import Plan as Plan
from envmgr.api import Run as Run
from envmgr.api import Verification as Verification
from envmgr.api import build as build
from envmgr.api import compare as compare
from envmgr.api import facts as facts
from envmgr.api import judge as judge
from envmgr.api import load as load
from envmgr.api import measure as measure
from envmgr.api import plan as plan
from envmgr.api import verify as verify

__version__: str
