"""HP23's Algorithm 1: many samples of impacts, each a sequence of implicit steps with random bounds.

A sample begins with the contact velocities before the impact. Each step draws a bound ``lambda_max`` for the
normal impulse of every contact, uniformly from a box, and solves HP23 (72): normal impulses between zero and
their bounds, friction of maximal dissipation, both for the velocities *after* the step. A contact whose
impulse is below its bound does not approach any more; one at its bound may. Steps follow each other until no
contact approaches; which outcome a sample reaches depends on the order in which its bounds let contacts push.

The steps are solved in one of two ways, both from no impulse, without memory of other steps or samples:

- **Polygons** (`polygons`; the plane has polygons with two corners). The step is the linear complementarity
  problem HP23 (75) with unknowns ``[beta; lambda_n; lambda_D; gamma]``, solved by Lemke's method (`lemke`:
  the readable `routh.lcp.lemke.follow_path`, compiled as it stands). A step can have several solutions; the
  canonical one is Lemke's with a covering vector of ones in SI units and lexicographic ties.
- **The true cone in space** (`cone`). Contact by contact, each solved exactly, in sweeps until nothing
  changes any more, or all of them by Newton's method, along a path of softer contacts. The few steps that
  do not get there say so; the caller draws such samples again by the readable solver.

Whichever it is, it gets a `Work` with a problem and the step's inputs (velocities and bounds), writes the
step's impulses, and returns a residual that is recomputed from them alone: the one judge of whether a step is
solved. Everything is in the problem's own units (`routh.problem.impact.Scaling`), and velocities always
follow from those before the impact and the sum of all impulses, so that rounding does not gather.

A sample is one of a row (a problem) of a batch; a single problem is a batch of one row. Random numbers
depend on seed, row, sample and step alone, so that neither threads nor slices nor the number of samples
change a bit. On a GPU every sample has a thread, which runs the same source.

In which order to read:

1. `work`: the data, a problem's row in the scratch of a thread, velocities from impulses.
2. `loop`: the steps of a sample, the samples of rows.
3. `polygons` and `lemke`, or `cone`: one step.
4. `sampling` and `gpu`: calls of the loop, on CPU threads and on a GPU.

`routh.sampling.algorithm1` is what users call; `routh.laws.set_valued` is the readable reference.
"""
