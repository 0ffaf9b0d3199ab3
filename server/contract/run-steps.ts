/** A computation in steps. Yields between them, so that the caller can wait between them. */
export type Steps<Result> = Generator<undefined, Result, void>

/** Runs all steps of a computation at once. Returns its result. */
export function runSteps<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}
