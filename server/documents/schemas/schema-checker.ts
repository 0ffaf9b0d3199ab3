import { toIsoTime } from '../../contract/iso-time.ts'
import {
  CHECK_TIME,
  COMPILE_TIME,
  SLOW_SCHEMA_PAUSE,
  WAITING_CHECKS,
} from '../../contract/schema.ts'
import { Failure } from '../../failure.ts'
import { createCheckQueue, type QueuedCheck } from './check-queue.ts'
import { createSchemaThread, type Outcome, type Schema, TooSlow } from './schema-thread.ts'
import { unusableSchema, type ValidationResult } from './violations.ts'

/** Compiles schemas and validates documents in a worker, off the event loop. */
export interface SchemaChecker {
  /** @throws Failure `invalid` that names the error in the schema, `busy` */
  compile(schema: Schema): Promise<void>
  /**
   * Validates documents, as JSON, against a schema. Pass at most about {@link MAX_BATCH_LENGTH}
   * characters.
   *
   * @param from the index of the first document in an array; undefined for a single document.
   * @throws Failure `invalid` if the time limit is exceeded, `busy`
   */
  check(
    schema: Schema,
    documents: readonly string[],
    from: number | undefined,
  ): Promise<ValidationResult>
  /** Terminates the worker; queued checks fail with `busy`. */
  close(): Promise<void>
}

/** Limits of a {@link SchemaChecker}. The defaults come from `contract/schema.ts`. */
export interface SchemaLimits {
  /** Maximum CPU time of a compilation, ms. */
  readonly compile: number
  /** Maximum CPU time of a check, ms. */
  readonly check: number
  /** How long a schema that exceeded its limit is rejected, ms. */
  readonly pause: number
  /** Maximum number of queued checks. */
  readonly waiting: number
}

const LIMITS: SchemaLimits = {
  compile: COMPILE_TIME,
  check: CHECK_TIME,
  pause: SLOW_SCHEMA_PAUSE,
  waiting: WAITING_CHECKS,
}

/** Characters of documents that are validated in one step. */
export const MAX_BATCH_LENGTH = 256 * 1024

/** Maximum number of quick checks in one message to the worker. */
const MAX_BATCH = 64

/** A schema is quick while its checks take less CPU time than this, ms. */
const QUICK_LIMIT = 2

/** Maximum number of rejected schemas that are cached. */
const MAX_REJECTED = 1_000

/**
 * Returns a schema checker. The worker starts with the first schema.
 *
 * A check that takes too long terminates the worker, and its schema is rejected for a while.
 *
 * @param onSlow called with the key of each schema that took too long.
 */
export function createSchemaChecker(
  limits: Partial<SchemaLimits> = {},
  now: () => number = Date.now,
  onSlow: (key: string) => void = () => {},
): SchemaChecker {
  const { compile, check, pause, waiting: maxWaiting } = { ...LIMITS, ...limits }
  const thread = createSchemaThread()
  const rejected = new Map<string, number>()
  let waiting = 0
  let working = false
  let closed = false

  const queue = createCheckQueue(
    ({ schema, documents }) =>
      documents !== undefined && thread.loaded(schema.key)?.isQuick === true,
    { checks: MAX_BATCH, size: MAX_BATCH_LENGTH },
  )

  /** Returns the failure for a rejected schema, or undefined if it is not rejected. */
  function rejectionOf({ key }: Schema): Failure | undefined {
    const until = rejected.get(key)
    if (until === undefined) return undefined
    const left = until - now()
    // More than a full pause is left if the clock was set back.
    if (left > 0 && left <= pause)
      return busy(
        `Validating with this schema took too long. The schema is rejected until ${toIsoTime(until)}.`,
        left,
      )
    rejected.delete(key)
    return undefined
  }

  /** Rejects a schema and its queued checks; returns the end of the rejection. */
  function reject(schema: Schema): string {
    const until = now() + pause
    const [oldest] = rejected.keys()
    if (rejected.size >= MAX_REJECTED && oldest !== undefined) rejected.delete(oldest)
    rejected.set(schema.key, until)
    for (const { fail } of queue.remove(schema.key)) {
      waiting--
      fail(rejectionOf(schema))
    }
    onSlow(schema.key)
    return toIsoTime(until)
  }

  function settle({ schema, done, fail }: QueuedCheck, outcome: Outcome) {
    const { result, rejection, error, time: took } = outcome
    waiting--
    const held = thread.loaded(schema.key)
    if (held !== undefined) held.isQuick = took < QUICK_LIMIT
    if (error !== undefined) fail(error)
    else if (rejection !== undefined)
      fail(new Failure('invalid', rejection.message, rejection.details))
    else done(result ?? NONE)
  }

  /** Compiles the schema of a check if the worker does not hold it. */
  async function compileFor(one: QueuedCheck): Promise<boolean> {
    const { schema, documents } = one
    if (thread.loaded(schema.key) !== undefined && documents !== undefined) return true
    const outcome = await thread.compile(schema, compile)
    if (outcome.result !== undefined && documents !== undefined) return true
    settle(one, outcome)
    return false
  }

  async function work(): Promise<void> {
    for (let some = queue.take(); some.length > 0; some = queue.take()) {
      const [one] = some as [QueuedCheck, ...QueuedCheck[]]
      let step: 'compile' | 'check' = 'compile'
      try {
        if (some.length === 1 && !(await compileFor(one))) continue
        step = 'check'
        const tasks = some.map(({ schema: { key }, documents = [], from }) => {
          return { key, documents, from }
        })
        const outcomes = await thread.run(tasks, check)
        for (const [at, each] of some.entries()) settle(each, outcomes[at] as Outcome)
      } catch (error) {
        onTooSlow(some, step, error)
      }
    }
    // Set in the turn that found the queue empty, so that a later check restarts the loop.
    working = false
  }

  /**
   * Fails the checks that the worker could not run. If a batch took too long, each of its checks is
   * retried alone.
   */
  function onTooSlow(
    some: readonly QueuedCheck[],
    step: 'compile' | 'check',
    error: unknown,
  ): void {
    const [{ schema }] = some as [QueuedCheck, ...QueuedCheck[]]
    if (!(error instanceof TooSlow)) {
      waiting -= some.length
      for (const { fail } of some) fail(closed ? stopping() : error)
    } else if (some.length > 1) {
      // The next worker holds no schema, so none is quick until it has run alone.
      for (const each of some) queue.add(each)
    } else {
      const until = reject(schema)
      waiting--
      some[0]?.fail(
        unusableSchema(
          step === 'compile'
            ? `Compiling the schema takes too long (more than ${compile} ms) or too much memory. ` +
                `The schema is rejected until ${until}.`
            : 'Checking this against the schema of its collection takes too long (more than ' +
                `${check} ms) or too much memory. Changes to the collection are rejected until ${until}.`,
        ),
      )
    }
  }

  async function start(): Promise<void> {
    if (working) return
    working = true
    // Sends all checks of one turn of the event loop together.
    await new Promise(setImmediate)
    await work()
  }

  function enqueue(schema: Schema, documents?: readonly string[], from?: number) {
    if (closed) throw stopping()
    const rejection = rejectionOf(schema)
    if (rejection !== undefined) throw rejection
    if (waiting >= maxWaiting) throw busy(`More than ${maxWaiting} validations are waiting.`, 1_000)
    waiting++
    return new Promise<ValidationResult>((done, fail) => {
      queue.add({ schema, documents, from, done, fail })
      void start()
    })
  }

  return {
    async compile(schema) {
      await enqueue(schema)
    },
    check: async (schema, documents, from) => enqueue(schema, documents, from),
    async close() {
      closed = true
      for (const { fail } of queue.remove()) fail(stopping())
      await thread.close()
    },
  }
}

const NONE: ValidationResult = { violations: [], count: 0 }

const busy = (message: string, wait: number) =>
  new Failure('busy', message, { headers: { 'Retry-After': String(Math.ceil(wait / 1000)) } })

const stopping = () => busy('The node is stopping.', 1_000)
