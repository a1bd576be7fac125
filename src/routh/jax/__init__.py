"""Outcomes as a differentiable function of JAX (extra ``jax``): under ``jit``, ``vmap`` and ``grad``.

The samples are drawn by the compiled kernels on the CPU; JAX calls them back. First derivatives only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from routh.base.status import optional
from routh.base.validation import Array, integer
from routh.problem.impact import ImpactProblem
from routh.sampling.sampler import sample

_FIELDS = ("M", "Jn", "Jt", "mu", "v", "restitution")


def outcome_function(n: int, **options: Any) -> Callable[..., Any]:
    """A function ``after(M, Jn, Jt, mu, v, restitution) -> (n, nv)``: the velocities of n sampled outcomes.

    ``options`` are those of `routh.sample`; equal seeds give equal decisions, so the function is
    deterministic and, away from changes of piece, smooth (`routh.Outcomes.jacobian`). The shapes are those of
    `routh.ImpactProblem`; mu and restitution (nc,). Its derivative is a ``custom_jvp``: one of a sample
    without an outcome is NaN, and that of M is by its symmetric part. Precision is that of the arguments:
    switch JAX to 64 bits for differences that are to be compared.
    """
    count = integer("n", n, at_least=1)
    jax, jnp = optional("jax", "jax"), optional("jax.numpy", "jax")

    def drawn(*fields: ArrayLike) -> list[Array]:
        return [sample(_problem(fields), count, **options).v]

    def differentiated(*fields: ArrayLike) -> list[Array]:
        problem = _problem(fields)
        outcomes = sample(problem, count, **options)
        found = outcomes.jacobian()
        shapes = (np.shape(field) for field in fields)  # Jt may have been given without its axis
        each = zip(_FIELDS, shapes, strict=True)
        return [outcomes.v, *(found[name].reshape(count, problem.nv, *shape) for name, shape in each)]

    def call(function: Callable[..., list[Array]], shapes: list[tuple[int, ...]], fields: Any) -> Any:
        kind = jnp.result_type(*fields)

        def host(*given: ArrayLike) -> list[Array]:
            return [np.asarray(array, dtype=kind) for array in function(*given)]

        wanted = [jax.ShapeDtypeStruct(shape, kind) for shape in shapes]
        return jax.pure_callback(host, wanted, *fields, vmap_method="sequential")

    @jax.custom_jvp
    def after(M: Any, Jn: Any, Jt: Any, mu: Any, v: Any, restitution: Any) -> Any:
        return call(drawn, [(count, *jnp.shape(v))], (M, Jn, Jt, mu, v, restitution))[0]

    @after.defjvp
    def derivative(primals: Any, tangents: Any) -> Any:
        out = (count, *jnp.shape(primals[4]))
        shapes = [out, *((*out, *jnp.shape(field)) for field in primals)]
        value, *found = call(differentiated, shapes, primals)
        each = zip(found, tangents, strict=True)
        return value, sum(jnp.tensordot(array, tangent, axes=jnp.ndim(tangent)) for array, tangent in each)

    return after


def _problem(fields: tuple[ArrayLike, ...]) -> ImpactProblem:
    """The problem that JAX hands over: arrays of its own, in double precision."""
    M, Jn, Jt, mu, v, restitution = (np.array(field, dtype=np.float64) for field in fields)
    return ImpactProblem(M, Jn, Jt, mu, v, restitution=restitution)
