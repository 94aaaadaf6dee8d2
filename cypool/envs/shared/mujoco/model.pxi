# Models: compiled by MuJoCo from an XML file.
import os
import weakref

import numpy as np

from cypool.util.arguments import shown
from cypool.util.warn import warn_caller
from cypool.envs.shared.mujoco.assets import asset_path, check_asset, stamps_of

from libcpp.pair cimport pair
from libcpp.string cimport string
from libcpp.vector cimport vector

from cypool.envs.shared.mujoco cimport guard, libmujoco
from cypool.envs.shared.mujoco.fields cimport Field, VariedModel, fields_of

cdef extern from "cypool/envs/shared/mujoco/fields.h":
    pass

# models in use: by path, time and size of the file and of those that it includes, by path and edit, or by the key of a
# text
_models = weakref.WeakValueDictionary()
# of texts that families write: by the part in front of the ":" of an `xml_file`, a function that takes that and returns
# the text
text_makers = {}
# the last one, until an environment has it: a pool is described before its environments are made. A name of Python's,
# as several threads may set it at once
_latest = None


cdef class Model:
    """See the `.pxd`. Only `load_model` and `load_model_text` create one.

    Thread safety: any number of threads: it never changes.
    """

    def __dealloc__(self):
        if self.mj != NULL:
            libmujoco.mj_deleteModel(self.mj)

    cpdef int named(self, int kind, object name) except -2:
        cdef bytes text
        # C's text would end at a zero
        if not isinstance(name, str) or "\0" in name:
            return -1
        try:
            text = name.encode()
        except UnicodeEncodeError:
            return -1
        return libmujoco.mj_name2id(self.mj, kind, text)

    cpdef list names(self, int kind, int count):
        cdef const char* name
        cdef int k
        found = []
        for k in range(count):
            # some have none
            name = libmujoco.mj_id2name(self.mj, kind, k)
            if name != NULL:
                found.append((<bytes>name).decode(errors="replace"))
        return found

    cdef int find(self, int kind, str name) except -1:
        cdef int found = self.named(kind, name)
        if found < 0:
            raise ValueError(f"{self.path}: expected the {libmujoco.mju_type2Str(kind).decode()} {name!r} in this "
                             "model")
        return found

    cpdef int body(self, object name) except -1:
        cdef int found = self.named(libmujoco.mjOBJ_BODY, name)
        if isinstance(name, int) and 0 <= name < self.mj.nbody:
            found = name
        if found < 0:
            raise ValueError(f"xml_file: expected a robot with a body {shown(name)}, found none in {self.path}")
        return found

    cdef int check(self, object spec, object describe) except -1:
        # all environments of a pool have the same
        if self.fits is not spec:
            now = describe(**spec.options)
            if (now.observation, now.action, now.info) != (spec.observation, spec.action, spec.info):
                raise ValueError(f"xml_file: {spec.options['xml_file']} has changed since its spec was made")
            self.fits = spec
        return 0

    def fields(self):
        """Returns the name, rows and columns of each field, and "float64", "float32" or None (other types)."""
        return [((<bytes>field.name).decode(), field.rows, field.columns,
                 "float64" if field.is_double else "float32" if field.is_float else None)
                for field in fields_of(self.mj)]

    def numbers(self, size_t number):
        """Returns the values of a real-valued field, given by its index in `fields`."""
        cdef Field field = fields_of(self.mj)[number]
        cdef VariedModel* shared = new VariedModel(self.mj)
        cdef size_t k
        found = [shared.get(field, k) for k in range(field.rows * field.columns)]
        del shared
        return found

    cpdef object control_range(self, double unlimited):
        cdef int k
        bounds = np.empty((2, self.mj.nu))
        for k in range(self.mj.nu):
            bounds[:, k] = -unlimited, unlimited
            if self.mj.actuator_ctrllimited[k]:
                bounds[:, k] = self.mj.actuator_ctrlrange[2 * k], self.mj.actuator_ctrlrange[2 * k + 1]
        return bounds


cdef Model _keep(object key, Model model):
    """Keeps a complete model until an environment uses it."""
    global _latest
    cdef const mjModel* mj = model.mj
    model.nq, model.nv, model.nu, model.nbody, model.nsensordata = mj.nq, mj.nv, mj.nu, mj.nbody, mj.nsensordata
    model.nsite, model.ncam, model.ntendon, model.timestep = mj.nsite, mj.ncam, mj.ntendon, mj.opt.timestep
    model.key = key
    _models[key] = _latest = model
    return model


cpdef Model load_model(object xml_file):
    """Returns the model of an XML file.

    Args:
        xml_file: A path that begins with ".", "/" or "~", or a name that `text_makers` knows; else the name of one of
            Gymnasium's files.

    Raises:
        TypeError: It is not a string.
        ValueError: There is no such file, or MuJoCo cannot read it.
    """
    cdef Model model
    cdef string warning
    if not isinstance(xml_file, str):
        raise TypeError(f"xml_file: expected a str, got {shown(xml_file)}")
    maker = text_makers.get(xml_file.partition(":")[0])
    if maker is not None:
        text = maker(xml_file)
        return load_model_text((xml_file, text), xml_file, text, {})
    is_own = xml_file[:1] in (".", "/", "~")
    path = os.path.expanduser(xml_file) if is_own else asset_path(xml_file)
    try:
        if is_own:
            key = stamps_of(os.path.abspath(path))
        else:
            status = os.stat(path)
            key = path, status.st_mtime_ns, status.st_size
    except OSError as error:
        raise ValueError(f"xml_file: {path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        # there is a zero in it, or something that no file can be called
        raise ValueError(f"xml_file: {shown(path)} cannot be read: {error}") from error
    model = _models.get(key)
    if model is None:
        model = Model()
        model.path = path
        if not is_own:
            check_asset(path)
        try:
            model.mj = guard.load_xml(os.fsencode(path), warning)
        except (ValueError, RuntimeError) as error:
            raise ValueError(f"xml_file: MuJoCo cannot read {path}: {error}") from None
        if is_own and warning.size() > 0:
            warn_caller(f"xml_file: MuJoCo warns about {path}: {warning.decode()}")
        if model.mj.nu == 0 or model.mj.nv == 0:
            raise ValueError(f"xml_file: expected a robot with joints and actuators, found {model.mj.nv} degrees of "
                             f"freedom and {model.mj.nu} actuators in {path}")
        _keep(key, model)
    return model


cdef Model load_edited(str path, Edit edit):
    """Returns the model of an XML file shipped with a package: the same object as long as it is in use.

    Raises:
        ValueError: MuJoCo cannot read it.
    """
    key = path, <size_t>edit
    cdef Model model = _models.get(key)
    cdef string warning
    if model is not None:
        return model
    model = Model()
    model.path = path
    try:
        model.mj = guard.load_xml(os.fsencode(path), warning)
    except (ValueError, RuntimeError) as error:
        raise ValueError(f"MuJoCo cannot read {path}: {error}") from None
    if edit != NULL:
        edit(model)
    return _keep(key, model)


cpdef Model load_model_text(object key, str name, bytes text, dict files):
    """Returns the model that an MJCF text and its files describe; messages give the name.

    It is the same object as long as a model with this key is in use.

    Raises:
        ValueError: MuJoCo cannot read it.
    """
    cdef Model model = _models.get(key)
    cdef vector[pair[string, string]] contents
    if model is not None:
        return model
    for file_name, content in files.items():
        contents.push_back(pair[string, string](<string>file_name.encode(), <string>content))
    model = Model()
    model.path = name
    try:
        model.mj = guard.load_xml_text(text, contents)
    except (ValueError, RuntimeError) as error:
        raise ValueError(f"MuJoCo cannot read the model of {name}: {error}") from None
    return _keep(key, model)


cdef Model held(Model model):
    """Returns a model that an environment holds from now on."""
    global _latest
    if model is _latest:
        _latest = None
    return model
