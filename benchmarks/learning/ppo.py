"""Proximal policy optimisation of small networks in NumPy.

Schulman et al. 2017, with what is usual since: advantages by GAE, normalised per minibatch and observations
over all of the training, clipped values left out, Adam, and a spread that does not depend on the state.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

Weights = dict[str, np.ndarray]


@dataclass(frozen=True)
class Options:
    """Of the learner; plan.md says how these were found."""

    units: int = 64
    rollout: int = 128  # steps of each environment between two updates
    environments: int = 16
    epochs: int = 8
    minibatch: int = 256
    rate: float = 7e-4  # of Adam, falls linearly to a tenth
    discount: float = 0.995
    trace: float = 0.95  # lambda of GAE
    clip: float = 0.2
    spread: float = 0.6  # standard deviation of actions at the beginning
    entropy: float = 0.0
    value_rate: float = 1.0  # weight of the value's error
    largest_gradient: float = 0.5


@dataclass
class Agent:
    """Policy, value and what their training needs to go on."""

    weights: Weights
    options: Options = field(default_factory=Options)
    first: Weights = field(default_factory=dict)  # Adam's moments
    second: Weights = field(default_factory=dict)
    updates: int = 0
    seen: float = 1e-4  # observations so far, their mean and sum of squares
    mean: np.ndarray = field(default_factory=lambda: np.zeros(0))
    square: np.ndarray = field(default_factory=lambda: np.zeros(0))

    @classmethod
    def new(cls, observations: int, actions: int, rng: np.random.Generator, options: Options) -> Agent:
        """Orthogonal weights, a policy that begins near zero."""
        weights: Weights = {}
        for net, last, gain in (("p", actions, 0.01), ("v", 1, 1.0)):
            sizes = (observations, options.units, options.units, last)
            for layer, (a, b) in enumerate(pairwise(sizes)):
                q, _ = np.linalg.qr(rng.normal(size=(max(a, b), min(a, b))))
                w = q if a >= b else q.T
                weights[f"{net}{layer}w"] = ((gain if layer == 2 else np.sqrt(2.0)) * w).astype(np.float32)
                weights[f"{net}{layer}b"] = np.zeros(b, dtype=np.float32)
        weights["spread"] = np.full(actions, np.log(options.spread), dtype=np.float32)
        zeros = {name: np.zeros_like(w) for name, w in weights.items()}
        again = {name: np.zeros_like(w) for name, w in weights.items()}
        size = np.zeros(observations)
        return cls(weights, options, zeros, again, mean=size, square=size.copy())

    def watch(self, observations: np.ndarray) -> None:
        """Take new observations (n, k) into their mean and spread."""
        n = len(observations)
        mean, total = observations.mean(axis=0), self.seen + n
        apart = mean - self.mean
        self.square = (
            self.square
            + ((observations - mean) ** 2).sum(axis=0)
            + apart**2 * (self.seen * n / total if self.square.any() else 0.0)
        )
        self.mean = self.mean + apart * (n / total)
        self.seen = total

    def scaled(self, observations: np.ndarray) -> np.ndarray:
        """Observations (n, k) as the networks see them."""
        size = np.sqrt(self.square / self.seen + 1e-6)
        return np.clip((observations - self.mean) / size, -8.0, 8.0).astype(np.float32)

    def act(self, observations: np.ndarray) -> np.ndarray:
        """The middle of the policy's actions, (n, m)."""
        return forward(self.weights, "p", self.scaled(observations))[-1]

    def value(self, observations: np.ndarray) -> np.ndarray:
        """Of observations (n, k), (n,)."""
        return forward(self.weights, "v", self.scaled(observations))[-1][:, 0]

    def arrays(self) -> Weights:
        """All that `from_arrays` needs."""
        moments = {f"first_{k}": v for k, v in self.first.items()}
        moments |= {f"second_{k}": v for k, v in self.second.items()}
        count = np.array([self.updates, self.seen])
        return {**self.weights, **moments, "mean": self.mean, "square": self.square, "count": count}

    @classmethod
    def from_arrays(cls, given: Weights, options: Options) -> Agent:
        """As it was."""
        moments: dict[str, Weights] = {
            kind: {k.removeprefix(kind): v for k, v in given.items() if k.startswith(kind)}
            for kind in ("first_", "second_")
        }
        weights = {name: given[name] for name in moments["first_"]}
        updates, seen = given["count"]
        return cls(
            weights,
            options,
            moments["first_"],
            moments["second_"],
            int(updates),
            float(seen),
            given["mean"],
            given["square"],
        )


def forward(weights: Weights, net: str, x: np.ndarray) -> list[np.ndarray]:
    """Inputs, both hidden layers and the output."""
    found = [x]
    for layer in range(3):
        x = x @ weights[f"{net}{layer}w"] + weights[f"{net}{layer}b"]
        if layer < 2:
            x = np.tanh(x)
        found.append(x)
    return found


def backward(weights: Weights, net: str, layers: list[np.ndarray], slope: np.ndarray) -> Weights:
    """The gradient of the weights, from that of the output."""
    found: Weights = {}
    for layer in (2, 1, 0):
        found[f"{net}{layer}w"] = layers[layer].T @ slope
        found[f"{net}{layer}b"] = slope.sum(axis=0)
        if layer:
            slope = (slope @ weights[f"{net}{layer}w"].T) * (1.0 - layers[layer] ** 2)
    return found


def likelihood(actions: np.ndarray, middle: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """Logarithms, (n,), less a constant."""
    return -0.5 * (((actions - middle) / np.exp(spread)) ** 2).sum(axis=1) - spread.sum()


@dataclass(frozen=True)
class Steps:
    """What was seen between two updates, (n, ...) each."""

    observations: np.ndarray  # scaled
    actions: np.ndarray
    likelihood: np.ndarray
    advantage: np.ndarray
    returns: np.ndarray
    counts: np.ndarray  # whether the action did anything


def advantages(
    rewards: np.ndarray, values: np.ndarray, after: np.ndarray, ended: np.ndarray, options: Options
) -> np.ndarray:
    """GAE of (t, n) steps. ``after``: the value of what followed, zero where nothing does."""
    found, last = np.zeros_like(rewards), np.zeros(rewards.shape[1])
    for t in reversed(range(len(rewards))):
        error = rewards[t] + options.discount * after[t] - values[t]
        last = error + options.discount * options.trace * ~ended[t] * last
        found[t] = last
    return found


def improve(agent: Agent, steps: Steps, share: float, rng: np.random.Generator) -> None:
    """Some epochs over the steps; ``share`` of the training is over."""
    options, n = agent.options, len(steps.actions)
    rate = options.rate * (1.0 - 0.9 * share)
    for _ in range(options.epochs):
        order = rng.permutation(n)
        for begin in range(0, n - options.minibatch + 1, options.minibatch):
            _descend(agent, slopes(agent, steps, order[begin : begin + options.minibatch]), rate)


def slopes(agent: Agent, steps: Steps, rows: np.ndarray) -> Weights:
    """The gradient of PPO's loss on some steps."""
    options, weights = agent.options, agent.weights
    x, actions, counts = steps.observations[rows], steps.actions[rows], steps.counts[rows]
    spread, number = weights["spread"], np.float32(max(counts.sum(), 1))
    policy, value = forward(weights, "p", x), forward(weights, "v", x)
    gain = steps.advantage[rows]
    gain = (gain - gain[counts].mean()) / (gain[counts].std() + 1e-8) if counts.any() else 0.0 * gain
    ratio = np.exp(likelihood(actions, policy[-1], spread) - steps.likelihood[rows])
    clipped = np.where(gain > 0.0, ratio > 1.0 + options.clip, ratio < 1.0 - options.clip)
    push = np.where(clipped | ~counts, 0.0, -gain * ratio / number).astype(np.float32)[:, None]
    apart = (actions - policy[-1]) / np.exp(spread)
    found = backward(weights, "p", policy, push * apart / np.exp(spread))
    found["spread"] = (push * (apart**2 - 1.0)).sum(axis=0) - np.float32(options.entropy)
    error = value[-1] - steps.returns[rows][:, None]
    found |= backward(weights, "v", value, np.float32(options.value_rate / len(rows)) * error)
    return found


def _descend(agent: Agent, slope_of: Weights, rate: float) -> None:
    """One step of Adam, of policy and value each with a gradient that is not too large."""
    agent.updates += 1
    for net in ("p", "v"):
        names = [k for k in slope_of if k.startswith(net) or (net == "p" and k == "spread")]
        size = np.sqrt(sum(float((slope_of[k] ** 2).sum()) for k in names))
        scale = np.float32(min(1.0, agent.options.largest_gradient / (size + 1e-12)))
        step = rate * np.sqrt(1.0 - 0.999**agent.updates) / (1.0 - 0.9**agent.updates)
        for k in names:
            slope = scale * slope_of[k]
            agent.first[k] += np.float32(0.1) * (slope - agent.first[k])
            agent.second[k] += np.float32(0.001) * (slope**2 - agent.second[k])
            size_of_step = np.sqrt(agent.second[k]) + np.float32(1e-5)
            agent.weights[k] -= np.float32(step) * agent.first[k] / size_of_step
