"""Where `build_tools/` finds the sources of native libraries."""
import hashlib
import json
import os
import shutil
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest
from engine.threads import start
from waiting import join

ROOT = Path(__file__).resolve().parents[2]
NAME = "tiny_lib-1.2.3.tar.gz"

pytestmark = pytest.mark.skipif(not (ROOT / "build_tools").is_dir(), reason="the build code is not installed")


@pytest.fixture
def server(tmp_path):
    """A web server: its folder `site`, its address `url`; `seen`: (path, Authorization) of each request; `troubles`:
    its reactions to the next ones, a status to answer or None to hang up."""
    seen, troubles = [], []

    class Handler(SimpleHTTPRequestHandler):
        extensions_map = {".html": "text/html", ".json": "application/vnd.pypi.simple.v1+json", "": "x/y"}

        def do_GET(self):
            seen.append((self.path, self.headers["Authorization"]))
            if troubles:
                trouble = troubles.pop(0)
                if trouble:
                    self.send_error(trouble)
                return
            if os.path.isfile(self.translate_path(self.path + "index.json")):
                self.path += "index.json"
            super().do_GET()

        def log_message(self, *args):
            pass

    site = tmp_path / "site"
    site.mkdir()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(site))) as http:
        thread = start(http.serve_forever, 0.02)
        yield SimpleNamespace(site=site, url=f"http://127.0.0.1:{http.server_port}", seen=seen,
                              troubles=troubles)
        http.shutdown()
        join(thread)


def use_index(monkeypatch, url, *, extra=""):
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.setenv("PIP_INDEX_URL", url)
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", extra)


def publish_html(site, tarball, link=f"../../files/{NAME}#sha256=0"):
    page = site / "simple" / "tiny-lib" / "index.html"
    page.parent.mkdir(parents=True)
    old = "../../files/tiny_lib-1.2.2.tar.gz"
    page.write_text(f'<a href="{old}">old</a>\n<a class="x"\n href="{link}">{NAME}</a>')
    (site / "files").mkdir(exist_ok=True)
    shutil.copy(tarball, site / "files")



def test_variable_names_a_folder(build_tools, sdist, folder, monkeypatch):
    monkeypatch.setenv("CYPOOL_TINY_SOURCE", str(folder))
    assert build_tools.sdist.find(sdist) == folder


def test_variable_names_a_tarball(build_tools, sdist, tarball, monkeypatch):
    monkeypatch.setenv("CYPOOL_TINY_SOURCE", str(tarball))
    assert build_tools.sdist.find(sdist) == tarball


@pytest.mark.parametrize("what, message", [
    ("another version", "expected version 1.2.3, got 9.9"),
    ("no version", "expected version 1.2.3, got no version.txt"),
    ("another tarball", "expected sha256"),
    ("nothing", "no such file or folder"),
])
def test_variable_names_something_else(build_tools, sdist, folder, tarball, monkeypatch, what, message):
    path = {"another tarball": tarball, "nothing": ROOT / "nothing"}.get(what, folder)
    if what == "another version":
        (folder / "version.txt").write_text("9.9")
    elif what == "no version":
        (folder / "version.txt").unlink()
    elif what == "another tarball":
        tarball.write_bytes(b"something else")
    monkeypatch.setenv("CYPOOL_TINY_SOURCE", str(path))
    with pytest.raises(build_tools.sdist.SourceNotFound, match=message) as error:
        build_tools.sdist.find(sdist)
    assert str(error.value).startswith(f"CYPOOL_TINY_SOURCE={path}")


@pytest.mark.parametrize("form", ["path", "file url", "page", "page url"])
def test_find_links(build_tools, sdist, tarball, monkeypatch, form, tmp_path):
    page = tmp_path / "links.html"
    page.write_text(f"<a href='given/{NAME}'>it</a>")
    entry = {"path": str(tarball.parent), "file url": tarball.parent.as_uri(),
             "page": str(page), "page url": page.as_uri()}[form]
    monkeypatch.setenv("PIP_FIND_LINKS", f"/does/not/exist {entry}")
    found = build_tools.sdist.find(sdist)
    assert found.read_bytes() == tarball.read_bytes()
    assert found.is_relative_to(build_tools.cache.folder())
    # from now on the cache has it
    monkeypatch.delenv("PIP_FIND_LINKS")
    assert build_tools.sdist.find(sdist) == found


@pytest.mark.parametrize("kind", ["relative", "absolute"])
def test_html_index(build_tools, sdist, tarball, server, monkeypatch, kind):
    absolute = f"{server.url}/files/{NAME}?a=1&amp;b=2#sha256=0"
    publish_html(server.site, tarball, **({"link": absolute} if kind == "absolute" else {}))
    use_index(monkeypatch, server.url + "/simple/")
    assert build_tools.sdist.find(sdist).read_bytes() == tarball.read_bytes()


def test_json_index(build_tools, sdist, tarball, server, monkeypatch):
    page = server.site / "simple" / "tiny-lib" / "index.json"
    page.parent.mkdir(parents=True)
    page.write_text(json.dumps({"files": [{"filename": "tiny_lib-1.2.3-py3-none-any.whl", "url": "no.whl"},
                                          {"filename": NAME, "url": NAME}]}))
    shutil.copy(tarball, page.parent)
    use_index(monkeypatch, server.url + "/simple")
    assert build_tools.sdist.find(sdist).read_bytes() == tarball.read_bytes()


def test_file_index(build_tools, sdist, tarball, tmp_path, monkeypatch):
    publish_html(tmp_path, tarball)
    use_index(monkeypatch, "file:///does/not/exist", extra=(tmp_path / "simple").as_uri())
    assert build_tools.sdist.find(sdist).read_bytes() == tarball.read_bytes()


def test_login_is_used_and_not_told(build_tools, sdist, tarball, server, monkeypatch):
    publish_html(server.site, tarball)
    use_index(monkeypatch, server.url.replace("//", "//me:s%40cret@") + "/simple")
    build_tools.sdist.find(sdist)
    login = "Basic bWU6c0BjcmV0"
    assert server.seen == [("/simple/tiny-lib/", login), (f"/files/{NAME}", login)]
    shutil.rmtree(server.site / "simple")
    shutil.rmtree(build_tools.cache.folder())
    with pytest.raises(build_tools.sdist.SourceNotFound, match="tiny-lib/: HTTP Error 404") as error:
        build_tools.sdist.find(sdist)
    assert "cret" not in str(error.value)


def test_a_request_that_breaks_off_is_made_again(build_tools, sdist, tarball, server, monkeypatch):
    publish_html(server.site, tarball)
    use_index(monkeypatch, server.url + "/simple")
    server.troubles[:] = [None, 503]
    assert build_tools.sdist.find(sdist).read_bytes() == tarball.read_bytes()
    assert [path for path, _ in server.seen] == 3 * ["/simple/tiny-lib/"] + [f"/files/{NAME}"]
    shutil.rmtree(build_tools.cache.folder())
    server.troubles[:] = 3 * [None]
    with pytest.raises(build_tools.sdist.SourceNotFound, match="/simple/tiny-lib/: Remote end closed connection"):
        build_tools.sdist.find(sdist)


def test_wrong_hash_goes_on_to_the_next_place(build_tools, sdist, tarball, tmp_path, monkeypatch):
    wrong = tmp_path / "wrong"
    wrong.mkdir()
    (wrong / NAME).write_bytes(b"something else")
    monkeypatch.setenv("PIP_FIND_LINKS", f"{wrong} {tarball.parent}")
    assert build_tools.sdist.find(sdist).read_bytes() == tarball.read_bytes()


def test_no_access(build_tools, sdist, tarball, tmp_path, server, monkeypatch):
    tarball.write_bytes(b"something else")
    got = hashlib.sha256(b"something else").hexdigest()
    monkeypatch.setenv("PIP_FIND_LINKS", str(tarball.parent))
    use_index(monkeypatch, "http://127.0.0.1:9/simple", extra=server.url)
    with pytest.raises(build_tools.sdist.SourceNotFound) as error:
        build_tools.sdist.find(sdist)
    text = str(error.value)
    assert f"{tarball.parent}: expected sha256 {sdist.sha256}, got {got}" in text
    assert "http://127.0.0.1:9/simple/tiny-lib/: " in text
    assert f"{server.url}/tiny-lib/: HTTP Error 404" in text
    assert f"set CYPOOL_TINY_SOURCE to {NAME}" in text
    assert not (build_tools.cache.folder() / "sdist").exists()


def test_pip_configuration(build_tools, tmp_path, monkeypatch):
    pytest.importorskip("pip")
    file = tmp_path / "pip.conf"
    file.write_text("[global]\nindex-url = https://a/simple\nextra-index-url =\n    https://b\n    https://c\n"
                    "[install]\nfind-links = /one\n    /two\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(file))
    monkeypatch.setenv("PIP_CERT", "/my.pem")
    monkeypatch.delenv("PIP_NO_INDEX")
    pip = build_tools.sdist.PipSettings.read()
    assert pip.indexes == ("https://a/simple", "https://b", "https://c")
    assert pip.find_links == ("/one", "/two")
    assert pip.cert == "/my.pem"
    monkeypatch.setenv("PIP_INDEX_URL", "https://d")
    assert build_tools.sdist.PipSettings.read().indexes[0] == "https://d"
    monkeypatch.setenv("PIP_NO_INDEX", "true")
    assert build_tools.sdist.PipSettings.read().indexes == ()
