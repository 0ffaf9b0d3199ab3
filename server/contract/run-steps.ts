/** Runs all steps of a computation at once. Returns its result. */
export function runSteps<Result>(steps: Generator<undefined, Result, void>): Result {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}
