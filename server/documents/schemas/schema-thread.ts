import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { LRUCache } from 'lru-cache'
import type { Failure } from '../../failure.ts'
import type { ValidationResult } from './violations.ts'

/** A task for the worker, with the compiled schema of the key. */
export interface Task {
  readonly key: string
  /** The schema as JSON, if it must be compiled first. */
  readonly schema?: string
  /** The documents to validate, as JSON. */
  readonly documents: readonly string[]
  /** The index of the first document in an array; undefined for a single document. */
  readonly from?: number | undefined
}

/** A message to the worker: compiled schemas to drop first, then tasks to run in order. */
export interface Request {
  readonly drop: readonly string[]
  readonly tasks: readonly Task[]
}

/** The result of a task. */
export interface Outcome {
  readonly result?: ValidationResult
  /** Why the schema or the documents are rejected: the content of a `Failure` `invalid`. */
  readonly rejection?: { readonly message: string; readonly details: Failure['details'] }
  /** An unexpected error, which fails this task alone. */
  readonly error?: unknown
  /** CPU time of the task, ms. */
  readonly time: number
}

/**
 * A message from the worker. The first one has no outcomes and reports that the worker is ready.
 */
export interface Reply {
  readonly outcomes: readonly Outcome[]
  /** Total CPU time of the thread, ms. */
  readonly used: number
}

/** A schema as JSON, with a unique key. */
export interface Schema {
  readonly key: string
  readonly text: string
}

/** The state of a compiled schema. */
export interface LoadedSchema {
  /** Whether the last check was quick. */
  isQuick: boolean
}

/** A worker thread that compiles schemas and validates documents. */
export interface SchemaThread {
  /** Returns the state of a schema that the worker holds, or undefined. */
  loaded(key: string): LoadedSchema | undefined
  /**
   * Compiles a schema.
   *
   * @param budget maximum CPU time, ms.
   * @throws {@link TooSlow}
   */
  compile(schema: Schema, budget: number): Promise<Outcome>
  /**
   * Runs tasks in order. The worker must hold their schemas. Calls must not overlap.
   *
   * @param budget maximum CPU time of all tasks together, ms.
   * @throws {@link TooSlow}
   */
  run(tasks: readonly Task[], budget: number): Promise<readonly Outcome[]>
  close(): Promise<void>
}

/** Thrown after a task exceeded its CPU time or memory and the worker was terminated. */
export class TooSlow extends Error {}

/** Heap limit of the worker, MiB. */
const HEAP_MIB = 256

/** Maximum number of compiled schemas in the worker, and of characters of their texts. */
const MAX_LOADED = { max: 1_000, maxSize: 4 * 1024 * 1024 } as const

/**
 * A step is terminated when its wall-clock time exceeds its budget by this factor, regardless of
 * its CPU time: the machine is overloaded, or the worker does not report.
 */
const WALL_TIME_FACTOR = 20

// The built file has the extension of this one, `.js`.
const FILE = new URL(`./schema-worker${extname(import.meta.url)}`, import.meta.url)

interface Running {
  readonly worker: Worker
  readonly held: LRUCache<string, LoadedSchema>
  /** Keys to drop with the next message. */
  drop: string[]
  /** Total CPU time of the thread at its last reply, ms. */
  used: number
}

/**
 * Returns a schema thread. The worker starts with the first task, and restarts after a
 * {@link TooSlow}.
 */
export function createSchemaThread(): SchemaThread {
  let starting: Promise<Running> | undefined
  let running: Running | undefined

  async function start(): Promise<Running> {
    const worker = new Worker(FILE, {
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
    })
    worker.unref()
    // The next call reports the error; without a listener it would end the process.
    worker.on('error', () => {})
    const held = new LRUCache<string, LoadedSchema>({
      ...MAX_LOADED,
      dispose: (_, key, reason) => {
        if (reason === 'evict') started.drop.push(key)
      },
    })
    const started: Running = { worker, held, drop: [], used: 0 }
    started.used = (await reply(started)).used
    running = started
    return started
  }

  async function ask(tasks: readonly Task[], budget: number): Promise<readonly Outcome[]> {
    starting ??= start()
    const thread = await starting.catch((error: unknown) => {
      starting = undefined
      throw error
    })
    let tooSlow = false
    const stop = watch(thread, budget, () => {
      tooSlow = true
      void thread.worker.terminate()
    })
    try {
      const response = reply(thread)
      thread.worker.postMessage({ drop: thread.drop, tasks } satisfies Request)
      thread.drop = []
      const { outcomes, used } = await response
      if (tooSlow) throw new Error('the worker replied while it was terminated')
      thread.used = used
      return outcomes
    } catch (error) {
      starting = undefined
      running = undefined
      if (tooSlow || isOutOfMemory(error)) throw new TooSlow('', { cause: error })
      throw error
    } finally {
      stop()
    }
  }

  return {
    loaded: (key) => running?.held.get(key),
    async compile({ key, text }, budget) {
      const [outcome] = await ask([{ key, schema: text, documents: [] }], budget)
      if (outcome === undefined) throw new Error('the worker did not complete a task')
      if (outcome.result !== undefined) {
        running?.held.set(key, { isQuick: false }, { size: text.length })
      }
      return outcome
    },
    run: ask,
    async close() {
      const closing = await starting?.catch(() => undefined)
      await closing?.worker.terminate()
    },
  }
}

const isOutOfMemory = (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'

/** Waits for the next message of a worker. @throws the worker's error, or an error if it exits. */
function reply({ worker }: Running): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const settle = (done: () => void) => {
      worker.off('message', onMessage).off('error', onError).off('exit', onExit)
      done()
    }
    const onMessage = (message: Reply) => settle(() => resolve(message))
    const onError = (error: unknown) => settle(() => reject(error))
    const onExit = () => settle(() => reject(new Error('the worker has ended')))
    worker.on('message', onMessage).on('error', onError).on('exit', onExit)
  })
}

/**
 * Calls `onOver` when a worker has used more CPU time than `budget` since its last reply.
 * Time that it waits for a busy CPU does not count.
 *
 * @returns a function that ends the watch.
 */
function watch({ worker, used }: Running, budget: number, onOver: () => void): () => void {
  let ended = false
  const end = () => {
    ended = true
    clearTimeout(next)
    clearTimeout(last)
  }
  const stopOver = () => {
    end()
    onOver()
  }
  const checkCpuTime = async () => {
    const { user, system } = await worker.cpuUsage()
    const left = used + budget - (user + system) / 1000
    if (ended) return
    if (left <= 0) stopOver()
    else next = setTimeout(checkNow, Math.max(left, 10))
  }
  // Fails if the worker has just exited, which its reply reports.
  const checkNow = () => void checkCpuTime().catch(() => {})
  let next = setTimeout(checkNow, budget)
  const last = setTimeout(stopOver, budget * WALL_TIME_FACTOR)
  return end
}
