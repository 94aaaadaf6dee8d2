# by .ci/stubs: not to be edited
from typing import final

@final
class Crew: ...
