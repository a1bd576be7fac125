"""Random two-body impacts of every kind, shared by the tests and the benchmark."""

import numpy as np

KINDS = ("any", "slow", "still", "invariant", "grazing", "steep")


def inverse_inertias(rng, n):
    """W (n, 3, 3) of pairs of random bodies: masses over four decades, inertia ratios to 1e4."""
    w = np.zeros((n, 3, 3))
    for _ in range(2):
        mass = 10.0 ** rng.uniform(-2, 2, n)
        inertia = 10.0 ** (rng.uniform(-4, 0, (n, 3)) + rng.uniform(-1, 1, (n, 1))) * mass[:, None]
        turn = np.linalg.qr(rng.normal(size=(n, 3, 3)))[0]
        arm = rng.normal(size=(n, 3)) * 10.0 ** rng.uniform(-2, 0, (n, 1))
        cross = np.zeros((n, 3, 3))
        cross[:, 0, 1], cross[:, 0, 2], cross[:, 1, 2] = -arm[:, 2], arm[:, 1], -arm[:, 0]
        cross -= np.swapaxes(cross, 1, 2)
        inverse = np.einsum("nij,nj,nkj->nik", turn, 1.0 / inertia, turn)
        w += np.eye(3) / mass[:, None, None] + np.einsum("nji,njk,nkl->nil", cross, inverse, cross)
    return 0.5 * (w + np.swapaxes(w, 1, 2))


def impacts(seed, n):
    """W, v, mu, e and the kind of each: an index into KINDS."""
    rng = np.random.default_rng(seed)
    w = inverse_inertias(rng, n)
    v = rng.normal(size=(n, 3))
    v[:, 2] = -np.abs(v[:, 2])
    mu = np.where(rng.random(n) < 0.5, rng.uniform(0, 1, n), rng.uniform(0, 10, n))
    mu[rng.random(n) < 0.02] = 0.0
    e = rng.uniform(0, 1, n)
    e[rng.random(n) < 0.05] = 0.0
    e[rng.random(n) < 0.05] = 1.0
    kind = rng.choice(len(KINDS), n, p=[0.6, 0.1, 0.05, 0.1, 0.1, 0.05])
    v[kind == 1, :2] *= 10.0 ** rng.uniform(-14, -1, ((kind == 1).sum(), 1))
    v[kind == 2, :2] = 0.0
    v[kind == 4, 2] *= 10.0 ** rng.uniform(-4, -1, (kind == 4).sum())
    v[kind == 5, :2] *= 0.1
    invariant = np.flatnonzero(kind == 3)
    for rows in np.array_split(invariant, 1 + len(invariant) // 2000):
        speed = np.hypot(v[rows, 0], v[rows, 1])
        v[rows, :2] = speed[:, None] * rest_directions(w[rows], mu[rows], rng)
    return w, v, mu, e, kind


def rest_directions(w, mu, rng):
    """One invariant direction of each contact, (n, 2), by scanning and bisection; any of them by chance."""
    n = len(mu)
    theta = np.linspace(0, 2 * np.pi, 721) + 0.1
    f = direction_rate(w, mu, np.broadcast_to(theta, (n, 721)))
    change = f[:, :-1] * f[:, 1:] <= 0.0
    pick = np.where(change, rng.random(change.shape), -1.0).argmax(axis=1)
    low, high = theta[pick], theta[pick + 1]
    sign = np.sign(f[np.arange(n), pick])
    for _ in range(60):
        middle = 0.5 * (low + high)
        same = np.sign(direction_rate(w, mu, middle[:, None])[:, 0]) == sign
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return np.stack([np.cos(high), np.sin(high)], axis=-1)


def direction_rate(w, mu, theta):
    """f at angles (n, k)."""
    c, s = np.cos(theta), np.sin(theta)
    wxx, wxy, wyy = (w[:, i, j, None] for i, j in ((0, 0), (0, 1), (1, 1)))
    fx = w[:, 0, 2, None] - mu[:, None] * (wxx * c + wxy * s)
    fy = w[:, 1, 2, None] - mu[:, None] * (wxy * c + wyy * s)
    return c * fy - s * fx
