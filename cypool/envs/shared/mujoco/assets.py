"""Gymnasium's robots: the XML files that it ships, in the versions that cypool's environments are written for."""
from __future__ import annotations

import errno
import hashlib
import os
import re

from cypool.util.arguments import shown
from cypool.util.packages import folder_of

# SHA-256 of the files of Gymnasium 1.4, the same since 1.2.2
CHECKSUMS = {
    "ant.xml": "cd5f83ef0ea35b0969e65d360c5bacd5b74ccaef6b27e4433b5168c605e3e2be",
    "half_cheetah.xml": "11797a5d69e8ac955e89ca6fdd3a0087f1c990094fda401ac51420de1b6c5494",
    "hopper.xml": "3ce93a055ffdcd83c0c701d2400768e40d2cbb9532f3c4ae33377c27f8b39f9e",
    "humanoid.xml": "85816f372c826d2094b4a598918233bd9c5843b2439119eece2733bdc2e0d073",
    "humanoidstandup.xml": "9f72a3c4ef956d0d8b1fb555a6ae1a5c22334c5c58cf814ef987ea4d3880e8fc",
    "inverted_double_pendulum.xml": "2b4eadf03bd79a8772abd4c1a626b5755747f841801a694ea9528cc49211ba46",
    "inverted_pendulum.xml": "80910a9af85cd47072be82d6f92c5e6a115d0eecc3eb464e58542b285c89fb7f",
    "point.xml": "d0f71754a08c82fb4421801c56abeab45f7c186aa55f88809909a8ae2ff5c24f",
    "pusher.xml": "561fb1a4f254afbbcdaf44b980aeaeb1a77ed67773f5f4d1653ecf2e1457dff5",
    "pusher_v5.xml": "3c9a717f6d2cecd555ab9b78694dba71019fa233230c68c8197ebb07d6713879",
    "reacher.xml": "3fabc64fc738326485a8231a9a649f784090a0c3d8215f8d2ccd6038b8e60cc4",
    "swimmer.xml": "25b0d46bf5522920fea6a579353aee39d391ad9e2a0574b53f83704c11b21b12",
    "walker2d.xml": "ac13373c7ac9003a5311c4704b314ed11149b3dd7600bbc02770487300f9ad2d",
    "walker2d_v5.xml": "6bed53a6cc3ca73c4fe8ac3486d3b4228927264a6454f4ef16d3eed3c58bc09d",
}

# files and folders that an XML file may name, such as meshdir; a pattern that begins with letters is found quickly
_FILE = re.compile(r"""file\w*\s*=\s*["']([^"'\0]+)["']""")
_FOLDER = re.compile(r"""dir\s*=\s*["']([^"'\0]+)["']""")


def asset_path(name: str) -> str:
    """Returns the path of one of Gymnasium's robots.

    Raises:
        ValueError: There is no file of that name.
    """
    if name not in CHECKSUMS:
        raise ValueError(f"xml_file: expected a path that begins with '.', '/' or '~', or one of Gymnasium's files "
                         f"({', '.join(CHECKSUMS)}), got {shown(name)}")
    return os.path.join(folder_of("gymnasium") or "", "envs", "mujoco", "assets", name)


def stamps_of(path: str) -> tuple[tuple[str, int, int], ...]:
    """Returns the modification time and size of an XML file and of all files that it includes or names, such as meshes.

    Raises:
        OSError: The file itself cannot be read.
    """
    if not os.path.isfile(path):
        # a pipe, say, has no end
        os.stat(path)
        raise OSError(errno.EINVAL, "it is not a file")
    found: dict[str, tuple[str, int, int]] = {}
    # where MuJoCo may look for the named files
    folders, waiting = {os.path.dirname(path)}, [(path, True)]
    while waiting:
        each, is_xml = waiting.pop()
        if each in found or not os.path.isfile(each):
            continue
        status = os.stat(each)
        found[each] = each, status.st_mtime_ns, status.st_size
        if not is_xml:
            continue
        with open(each, "rb") as file:
            text = os.fsdecode(file.read())
        folders.add(os.path.dirname(each))
        for name in _FOLDER.findall(text):
            folders.update(filter(os.path.isdir, [os.path.join(folder, name) for folder in folders]))
        for named in _FILE.finditer(text):
            is_included = text.startswith("<include", text.rfind("<", 0, named.start()))
            waiting += [(os.path.normpath(os.path.join(folder, named[1])), is_included) for folder in folders]
    return tuple(found.values())


def check_asset(path: str) -> None:
    """Compares one of Gymnasium's robots with the one that cypool's environment is written for.

    Raises:
        ValueError: They differ.
        OSError: The file cannot be read.
    """
    with open(path, "rb") as file:
        found = hashlib.sha256(file.read()).hexdigest()
    name = os.path.basename(path)
    if found != CHECKSUMS[name]:
        raise ValueError(f"xml_file: expected Gymnasium 1.4's {name}, but {path} differs: pip install "
                         '"gymnasium==1.4.*", or pass the path of your own file')
