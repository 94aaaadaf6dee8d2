# by .ci/stubs: not to be edited
class Model:
    @property
    def path(self) -> str: ...
