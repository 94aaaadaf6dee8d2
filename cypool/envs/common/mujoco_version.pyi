# by .ci/stubs: not to be edited
VERSION: str
