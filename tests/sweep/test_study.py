import errno
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import sweep_points

from routh import sweep
from routh.sweep import chunks
from routh.sweep.driver import InProcess, Processes, Progress, make_executor
from routh.sweep.manifest import StudyPlan

pytest.importorskip("xarray")
OVER = {"mu": [0.1, 0.3, 0.6], "speed": [0.5, 1.0]}
HERE = Path(__file__).parent


def made(folder, problems=sweep_points.block, over=OVER, n=16, **options):
    return sweep.study(folder, problems=problems, over=over, measure=[sweep.ambiguity(n)], **options)


def fixed_size(study, size):
    """Settle the size of the chunks by hand, so that there are several."""
    (study.folder / "chunks.json").write_text(json.dumps({"size": size}))
    return study


def files_of(study):
    return sorted((study.folder / "chunks").iterdir())


def assert_same(one, other):
    assert set(one.data_vars) == set(other.data_vars)
    for name in one.data_vars:
        np.testing.assert_array_equal(one[name].values, other[name].values)


def test_a_study_from_beginning_to_end(tmp_path):
    study = made(tmp_path / "s")
    before = study.table()
    assert np.all(before["status"] == chunks.PENDING)
    assert np.all(np.isnan(before["ambiguity"]))
    report = study.run("here")
    assert (report.computed, report.stored_before) == (6, 0)
    table = study.table()
    assert table["ambiguity"].dims == ("mu", "speed")
    assert study.status_counts() == {"SOLVED": 6}
    assert float(table["ambiguity"].sel(mu=0.6, speed=1.0)) > 0.01
    assert "SOLVED" in table["status"].attrs["meaning"]
    again = sweep.open_study(tmp_path / "s", functions=[sweep_points.block])
    assert again.run("here").computed == 0  # nothing is left to do
    assert_same(again.table(), table)


def test_a_plan_is_read_once_whatever_its_length(tmp_path, monkeypatch):
    """Long axes took a quarter of a second for each chunk, and chunks were made small for it."""
    read = []
    from_data = StudyPlan.from_data
    monkeypatch.setattr(StudyPlan, "from_data", lambda data: read.append(1) or from_data(data))
    monkeypatch.setattr(chunks, "_PLANS", {})
    study = fixed_size(made(tmp_path / "s"), 1)
    study.run("here")
    assert len(read) == 1
    assert "digest" not in json.loads((tmp_path / "s" / "manifest.json").read_text())


def test_points_are_counted_by_files(tmp_path):
    study = fixed_size(made(tmp_path / "s"), 4)  # of six points: the second chunk is shorter
    assert study.stored_points() == 0
    study.run("here")
    first, second = (study._path(chunk) for chunk in chunks.chunks_of(6, 4))
    assert study.stored_points() == 6
    second.unlink()
    assert study.stored_points() == 4
    study.run("here")
    first.unlink()
    assert study.stored_points() == 2


def test_results_depend_neither_on_chunks_nor_on_the_executor(tmp_path):
    tables = []
    for name, size, executor in (("a", 1, InProcess()), ("b", 4, InProcess()), ("c", 2, Processes(2))):
        study = fixed_size(made(tmp_path / name), size)
        study.run(executor)
        tables.append(study.table())
    assert_same(tables[0], tables[1])
    assert_same(tables[0], tables[2])


def test_points_of_several_sizes_do_not_depend_on_their_neighbours(tmp_path):
    """A chunk is drawn as one padded batch with gaps; each row has the bits that it has alone."""
    directions = [[0.0, 1.0, 0.0], [1.0, 0.0, -1.0]]
    measures = [sweep.ambiguity(300), sweep.extremes(directions, 64), sweep.mode_shares(64)]
    tables = []
    for size in (1, 5, 11):
        study = sweep.study(
            tmp_path / str(size), problems=sweep_points.mixed, over={"x": np.arange(11.0)}, measure=measures
        )
        fixed_size(study, size).run("here")
        tables.append(study.columns())
    assert np.sum(np.isfinite(tables[0]["ambiguity"])) == 8
    for other in tables[1:]:
        for name, values in tables[0].items():
            np.testing.assert_array_equal(values, other[name])


def test_batches_stay_small_whatever_the_chunk(tmp_path, monkeypatch):
    from routh.sweep import measures

    drawn = []
    monkeypatch.setattr(measures, "_PIECE", 8_000)
    real = measures.sample
    monkeypatch.setattr(
        measures, "sample", lambda batch, n, **options: drawn.append(len(batch)) or real(batch, n, **options)
    )
    fixed_size(made(tmp_path, over={"mu": np.linspace(0.1, 0.9, 12)}), 12).run("here")
    assert sum(drawn) == 12
    assert max(drawn) <= 4


def test_points_that_fail_are_rows_with_a_status(tmp_path):
    study = fixed_size(made(tmp_path, sweep_points.sometimes, {"x": [0.0, 1.0, 2.0, 3.0]}), 3)
    study.run("here")
    assert study.status_counts() == {"SOLVED": 1, "NO_IMPACT": 1, "NO_CONTACT": 1, "RAISED": 1}
    assert study.messages() == {2: "ZeroDivisionError: no such point"}
    np.testing.assert_array_equal(np.isnan(study.columns()["ambiguity"]), [False, True, True, True])


def test_a_function_that_returns_no_problem_is_told_point_by_point(tmp_path):
    study = made(tmp_path, sweep_points.no_problem, {"x": [0.0, 1.0]})
    study.run("here")
    assert study.status_counts() == {"RAISED": 2}
    assert study.messages()[1] == "TypeError: problems: got dict; wanted an ImpactProblem or None"


def test_a_point_that_kills_its_worker_is_recorded_and_the_rest_goes_on(tmp_path):
    study = fixed_size(made(tmp_path, sweep_points.poison, {"x": np.arange(8.0)}), 4)
    report = study.run(Processes(2))
    assert report.statuses == {"SOLVED": 7, "KILLED": 1}
    assert study.columns()["status"][5] == chunks.KILLED
    assert study.messages() == {5: "its worker died"}


@pytest.mark.parametrize("damage", ["truncate", "garbage", "other"])
def test_a_chunk_that_cannot_be_read_is_computed_again(tmp_path, damage):
    study = fixed_size(made(tmp_path), 2)
    study.run("here")
    table, (first, second, *_) = study.table(), files_of(study)
    whole = first.read_bytes()
    first.write_bytes({"truncate": whole[:-30], "garbage": b"nonsense", "other": second.read_bytes()}[damage])
    assert study.status_counts()["PENDING"] == 2
    report = sweep.open_study(tmp_path, functions=[sweep_points.block]).run("here")
    assert (report.computed, report.mended) == (2, 1)
    assert_same(study.table(), table)
    assert first.read_bytes() == whole  # equal results give equal bytes


def test_another_study_in_the_folder_is_refused_with_the_difference(tmp_path):
    made(tmp_path)
    with pytest.raises(ValueError, match=r"seed: 0 there, 1 here"):
        made(tmp_path, seed=1)
    with pytest.raises(ValueError, match=r"over\.mu: '3 values' there, '1 values' here"):
        made(tmp_path, over={"mu": [0.1], "speed": [0.5, 1.0]})
    with pytest.raises(ValueError, match=r"measures\[0\]\.arguments\.n: 16 there, 17 here"):
        made(tmp_path, n=17)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    (tmp_path / "manifest.json").write_text(json.dumps({**manifest, "numpy": "0.1"}))
    with pytest.raises(ValueError, match=r"numpy: '0\.1' there"):
        sweep.open_study(tmp_path, functions=[sweep_points.block]).run("here")


def test_a_changed_source_file_is_another_study(tmp_path, monkeypatch):
    module = tmp_path / "moving_ground.py"
    module.write_text("from sweep_points import block\ndef at(mu):\n    return block(mu)\n")
    monkeypatch.syspath_prepend(tmp_path)
    sweep.study(tmp_path / "s", problems="moving_ground:at", over={"mu": [0.1]})
    module.write_text("from sweep_points import block\ndef at(mu):\n    return block(2 * mu)\n")
    with pytest.raises(ValueError, match=r"problems\.digest"):
        sweep.open_study(tmp_path / "s", functions=["moving_ground:at"]).run("here")


def test_a_folder_without_a_study_is_refused(tmp_path):
    with pytest.raises(ValueError, match="holds no study"):
        sweep.open_study(tmp_path)
    (tmp_path / "manifest.json").write_text("{")
    with pytest.raises(ValueError, match="holds no study"):
        sweep.open_study(tmp_path)


def test_a_full_disk_loses_nothing_that_was_stored(tmp_path, monkeypatch):
    study = fixed_size(made(tmp_path), 2)
    write, count = chunks.write_arrays, []

    def full(path, content):
        count.append(path)
        if len(count) == 2:
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        return write(path, content)

    monkeypatch.setattr(chunks, "write_arrays", full)
    with pytest.raises(OSError, match="No space left"):
        study.run("here")
    assert len(files_of(study)) == 1
    assert study.run("here").computed == 4
    assert study.status_counts() == {"SOLVED": 6}


def test_own_measures_and_bad_ones(tmp_path):
    own = sweep.own(sweep_points.energy, {"energy": (), "place": (2,)}, factor=2.0)
    study = sweep.study(tmp_path / "a", problems=sweep_points.block, over=OVER, measure=[own], seed=7)
    study.run("here")
    found = study.columns()
    assert found["energy"][0, 0] == 2.0 * sweep_points.block(0.1, 0.5).kinetic_energy()
    np.testing.assert_array_equal(found["place"][2, 1], [5, 7])
    bad = sweep.own(sweep_points.wrong_shape, ["energy"])
    study = sweep.study(tmp_path / "b", problems=sweep_points.block, over={"mu": [0.1]}, measure=[bad])
    study.run("here")
    assert "declared was (1,)" in study.messages()[0]
    with pytest.raises(ValueError, match="each once"):
        sweep.study(tmp_path / "c", problems=sweep_points.block, over=OVER, measure=[own, own])


def test_all_measures_give_finite_columns(tmp_path):
    directions = [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    measures = [
        sweep.ambiguity(64),
        sweep.extremes(directions, 64),
        sweep.mode_shares(64),
        sweep.audits("sweep_points:rest", 64),
    ]
    study = sweep.study(tmp_path, problems=sweep_points.block, over=OVER, measure=measures)
    study.run("here")
    found = study.columns()
    assert study.messages() == {}
    assert all(np.all(np.isfinite(values)) for values in found.values())
    np.testing.assert_allclose(found["separates"] + found["sticks"] + found["slides"], 1.0)
    assert np.all(found["possible"] == 1.0)


def test_exact_widths_bound_the_samples(tmp_path):
    pytest.importorskip("ppl")
    measures = [sweep.exact_widths([[0.0, 0.0, 1.0]]), sweep.extremes([[0, 0, 1.0], [0, 0, -1.0]], 256)]
    study = sweep.study(tmp_path, problems=sweep_points.block, over={"mu": [0.3, 0.6]}, measure=measures)
    study.run("here")
    found = study.columns()
    sampled = found["extreme"].sum(axis=-1)
    assert np.all(sampled <= found["outer_width"][:, 0] + 1e-6)
    assert np.all(found["inner_width"] <= found["outer_width"] + 1e-12)


def test_tables_for_others(tmp_path):
    import xarray

    study = made(tmp_path / "s")
    study.run("here")
    netcdf, csv = study.export(tmp_path / "t.nc"), study.export(tmp_path / "t.csv")
    with xarray.open_dataset(netcdf, engine="scipy") as read:
        np.testing.assert_array_equal(read["ambiguity"].values, study.table()["ambiguity"].values)
    lines = csv.read_text().splitlines()
    assert lines[0] == "mu,speed,ambiguity,share_solved,contacts,status"
    assert [float(x) for x in lines[2].split(",")][:2] == [0.1, 1.0]
    assert len(lines) == 7
    with pytest.raises(ValueError, match=r"ends in \.csv or \.nc"):
        study.export(tmp_path / "t.xlsx")
    assert len(study.table().to_dataframe()) == 6


def test_pictures_and_report(tmp_path):
    pytest.importorskip("matplotlib")
    from routh.sweep.pictures import write_report

    study = made(tmp_path / "s", sweep_points.sometimes, {"x": [0.0, 1.0, 2.0]})
    study.plot()  # also before anything is there
    study.run("here")
    page = write_report(study, tmp_path / "r.html").read_text()
    assert "ZeroDivisionError" in page
    assert "data:image/png" in page


COMMAND = [sys.executable, "-c", "from routh.cli import main; main()", "sweep"]


def command(*arguments, **options):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), *sys.path])}
    return subprocess.run(
        [*COMMAND, *map(str, arguments)], capture_output=True, text=True, env=environment, **options
    )


def test_the_command_makes_resumes_and_explains(tmp_path):
    folder = tmp_path / "s"
    arguments = ("rocking-block", "--over", "mu=0.2:0.6:3", "--executor", "here", "-n", "16", "--json")
    first = command(*arguments, "--out", folder)
    assert first.returncode == 0, first.stderr
    assert json.loads(first.stdout)["statuses"] == {"SOLVED": 3}
    again = command("--resume", folder, "--json", "--executor", "here")
    assert again.returncode == 0
    assert json.loads(again.stdout)["computed"] == 0
    other = command(*arguments, "--out", folder, "--seed", "1")
    assert other.returncode == 2
    assert "seed: 0 there, 1 here" in other.stderr
    assert command("--resume", tmp_path / "none").returncode == 2


def test_kills_at_random_moments_change_nothing(tmp_path):
    """A driver is killed again and again, also while it writes; in the end the table is the calm one."""
    over = {"x": np.arange(40.0)}
    calm = fixed_size(made(tmp_path / "calm", sweep_points.slow, over), 1)
    calm.run("here")
    study = fixed_size(made(tmp_path / "s", sweep_points.slow, over), 1)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), *sys.path])}
    rng, own = np.random.default_rng(0), ("--function", "sweep_points:slow")
    for _ in range(4):
        run = subprocess.Popen(
            [*COMMAND, "--resume", str(study.folder), *own, "--executor", "here", "-q"],
            env=environment,
            stdout=subprocess.DEVNULL,
        )
        seen = len(list(study.folder.glob("chunks/*.npz")))
        while run.poll() is None and len(list(study.folder.glob("chunks/*.npz"))) < seen + 3:
            time.sleep(0.005)
        time.sleep(float(rng.uniform(0.0, 0.05)))
        run.send_signal(signal.SIGKILL)
        run.wait()
    study.run("here")
    assert_same(study.table(), calm.table())
    assert [p.read_bytes() for p in files_of(study)] != []


def test_dask_gives_the_same_table(tmp_path):
    distributed = pytest.importorskip("distributed")
    here = fixed_size(made(tmp_path / "a"), 2)
    here.run("here")
    there = fixed_size(made(tmp_path / "b"), 2)
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        there.run(client)
    assert_same(here.table(), there.table())


#: a worker that dies is no accident; one that is slow to come back, or to answer, is not lost
PATIENT = {
    "distributed.scheduler.allowed-failures": 0,
    "distributed.scheduler.worker-ttl": None,
    "distributed.deploy.lost-worker-timeout": "1 hour",
    "distributed.comm.timeouts.connect": "1 hour",
    "distributed.comm.timeouts.tcp": "1 hour",
}


def test_dask_without_workers_waits_and_one_that_dies_is_replaced(tmp_path, monkeypatch):
    """Workers come late, one is killed by a point; the rest of the study is computed all the same."""
    distributed, dask = pytest.importorskip("distributed"), pytest.importorskip("dask")
    study = fixed_size(made(tmp_path, sweep_points.poison, {"x": np.arange(4.0, 8.0)}), 2)
    # workers of Dask's own import the tests' module by its path, as a user's workers import the user's
    path = os.pathsep.join([str(HERE), *sys.path])
    with (
        dask.config.set(PATIENT),
        distributed.LocalCluster(
            n_workers=0,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            env={"PYTHONPATH": path},
            silence_logs=50,
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        executor = make_executor(client)
        assert executor.workers == 1
        submit, asked = client.submit, threading.Event()
        monkeypatch.setattr(client, "submit", lambda *given, **more: (submit(*given, **more), asked.set())[0])
        late = threading.Thread(target=lambda: asked.wait() and cluster.scale(1))
        late.start()
        report = study.run(executor)
        late.join()
    assert report.statuses == {"SOLVED": 3, "KILLED": 1}


def test_the_address_of_the_dashboard_is_told(tmp_path, capsys):
    from routh.sweep.studies import watcher

    with watcher(True, "http://127.0.0.1:8787/status") as tell:
        tell(Progress(total=10, done=5))
    assert "http://127.0.0.1:8787/status" in capsys.readouterr().err


def test_executors_are_named_where_unknown(tmp_path):
    study = made(tmp_path)
    with pytest.raises(ValueError, match="executor: got 'cloud'"):
        study.run("cloud")


def forged(folder, problems=None, measure=None):
    """A folder whose manifest names what its author likes: it makes a file."""
    study = sweep.study(
        folder,
        problems=sweep.recipe("routh.systems:impact", name="rocking-block"),
        over={"mu": [0.3]},
        measure=[sweep.ambiguity(n=16)],
    )
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["problems"] |= problems or {}
    manifest["measures"][0] |= measure or {}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return study.folder


def strangers(mark):
    """Ways to name a function in a manifest."""
    shell = {"args": f"touch {mark}", "shell": True}
    touch = {"function": "os:system", "arguments": {}}
    return {
        "problems": {"problems": {"function": "subprocess:run", "arguments": shell}},
        "inside routh": {
            "problems": {"function": "routh.base.storage:os.mknod", "arguments": {"path": str(mark)}}
        },
        "measure": {"measure": {"function": "subprocess:run", "arguments": shell}},
        "own": {"measure": {"function": "routh.sweep.measures:measure_own", "arguments": touch}},
        "answer": {
            "measure": {
                "function": "routh.sweep.measures:measure_audits",
                "arguments": {"answer": "os:system", "arguments": {}, "n": 16},
            }
        },
    }


@pytest.mark.parametrize("way", list(strangers("")))
def test_a_folder_does_not_decide_what_runs(tmp_path, way):
    mark = tmp_path / "mark"
    folder = forged(tmp_path / "s", **strangers(mark)[way])
    with pytest.raises(ValueError, match="which is not routh's own"):
        sweep.open_study(folder).run("here")
    assert sweep.open_study(folder).status_counts() == {"PENDING": 1}  # to read it is harmless
    assert not mark.exists()


def test_the_command_refuses_what_a_folder_names_and_takes_what_its_caller_names(tmp_path):
    mark = tmp_path / "mark"
    folder = forged(tmp_path / "s", **strangers(mark)["problems"])
    told = command("--resume", folder, "--executor", "here")
    assert told.returncode == 2
    assert "subprocess:run" in told.stderr
    assert not mark.exists()
    made(tmp_path / "own")
    told = command("--resume", tmp_path / "own", "--executor", "here", "--function", "sweep_points:block")
    assert told.returncode == 0, told.stderr


def test_names_from_a_folder_do_not_command_a_terminal(tmp_path):
    folder = forged(tmp_path / "s", problems={"function": "\x1b]0;owned\x07:x"})
    with pytest.raises(ValueError, match="which is not routh's own") as raised:
        sweep.open_study(folder).run("here")
    assert "\x1b" not in str(raised.value)


@pytest.mark.parametrize(
    "change",
    [
        {"problems": 3},
        {"problems": {"function": 3, "arguments": {}, "files": []}},
        {"measures": [{"function": "x:y", "arguments": {}, "files": [], "columns": {"a": [-1]}}]},
        {"over": [1]},
        {"seed": "0"},
        {"seed": -1},
    ],
)
def test_a_manifest_that_is_not_whole_is_refused(tmp_path, change):
    folder = forged(tmp_path / "s")
    path = folder / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(ValueError, match=r"manifest\.json: is not whole"):
        sweep.open_study(folder)


def test_links_in_a_folder_are_not_written_through(tmp_path):
    kept = tmp_path / "kept"
    kept.write_bytes(b"x")
    study = fixed_size(made(tmp_path / "s"), 2)
    study.run("here")
    table, victim = study.table(), files_of(study)[0]
    victim.unlink()
    victim.symlink_to(kept)
    study.run("here")
    assert kept.read_bytes() == b"x"
    assert_same(study.table(), table)
    folder = tmp_path / "s" / "chunks"
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    files_of(study)[0].unlink()
    with pytest.raises(ValueError, match="is a link"):
        study.run("here")
