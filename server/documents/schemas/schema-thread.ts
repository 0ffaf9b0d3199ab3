import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Failure } from '../failure.ts'
import { SizedCache } from './sized-cache.ts'
import type { Findings } from './violations.ts'

/** Something to be done, with the compiled schema that has the key. */
export interface Task {
  readonly key: string
  /** The schema as JSON, where it is to be compiled first. */
  readonly schema?: string
  /** The documents to be checked, as JSON. */
  readonly documents: readonly string[]
  /** The index of the first document in an array; undefined: no array was sent. */
  readonly from?: number | undefined
}

/** What the worker is sent: tasks to be done in order, and compiled schemas to be dropped first. */
export interface Request {
  readonly drop: readonly string[]
  readonly tasks: readonly Task[]
}

/** What became of a task. */
export interface Outcome {
  readonly findings?: Findings
  /** Why the schema cannot be used, or the documents cannot be checked: a `Failure` `invalid`. */
  readonly refusal?: { readonly message: string; readonly details: Failure['details'] }
  /** Processor time that the task took, ms. */
  readonly time: number
}

/** What the worker answers; without outcomes once, when it is ready. */
export interface Reply {
  readonly outcomes: readonly Outcome[]
  /** Processor time that the thread has had, ms. */
  readonly used: number
}

/** A schema as JSON, under a key that no other schema has. */
export interface Schema {
  readonly key: string
  readonly text: string
}

/** What is known of a compiled schema. */
export interface Held {
  /** Whether its last check took little time. */
  isQuick: boolean
}

/** A worker thread that compiles schemas and checks documents. */
export interface SchemaThread {
  /** What is known of a schema that the worker has compiled and still holds. */
  held(key: string): Held | undefined
  /**
   * Compiles a schema.
   *
   * @param budget the processor time that it may take, ms.
   * @throws {@link TooSlow}
   */
  compile(schema: Schema, budget: number): Promise<Outcome>
  /**
   * Does tasks in order, whose schemas the worker holds. One call at a time.
   *
   * @param budget the processor time that they may take together, ms.
   * @throws {@link TooSlow}
   */
  run(tasks: readonly Task[], budget: number): Promise<readonly Outcome[]>
  close(): Promise<void>
}

/** Thrown where a task takes too much processor time, or memory: the worker was terminated. */
export class TooSlow extends Error {}

/** Memory for objects of the worker, MiB. */
const MEMORY = 256

/** Compiled schemas that the worker holds: how many, and the characters of their texts. */
const HELD = { entries: 1_000, size: 4 * 1024 * 1024 } as const

/**
 * A step is terminated after so many times its budget by the clock, whatever processor time it had: the
 * machine is overloaded, or the worker does not tell.
 */
const PATIENCE = 20

// Built, it is JavaScript, as this file is.
const FILE = new URL(`./schema-worker${extname(import.meta.url)}`, import.meta.url)

interface Running {
  readonly worker: Worker
  readonly held: SizedCache<Held>
  /** Keys to be dropped with the next message. */
  drop: string[]
  /** Processor time that the thread had had at its last reply, ms. */
  used: number
}

/** Makes a {@link SchemaThread}. The worker starts with the first task, and again after a {@link TooSlow}. */
export function createSchemaThread(): SchemaThread {
  let starting: Promise<Running> | undefined
  let running: Running | undefined

  async function start(): Promise<Running> {
    const worker = new Worker(FILE, {
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: MEMORY },
    })
    worker.unref()
    // Reported by the next call; without a listener it would end the process.
    worker.on('error', () => {})
    const started: Running = { worker, held: new SizedCache(HELD), drop: [], used: 0 }
    started.used = (await reply(started)).used
    running = started
    return started
  }

  async function ask(tasks: readonly Task[], budget: number): Promise<readonly Outcome[]> {
    starting ??= start()
    const asked = await starting.catch((error: unknown) => {
      starting = undefined
      throw error
    })
    let tooSlow = false
    const stop = watch(asked, budget, () => {
      tooSlow = true
      void asked.worker.terminate()
    })
    try {
      const answer = reply(asked)
      asked.worker.postMessage({ drop: asked.drop, tasks } satisfies Request)
      asked.drop = []
      const { outcomes, used } = await answer
      asked.used = used
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
    held: (key) => running?.held.get(key),
    async compile({ key, text }, budget) {
      const [outcome] = await ask([{ key, schema: text, documents: [] }], budget)
      if (outcome === undefined) throw new Error('the worker did not answer a task')
      if (outcome.refusal === undefined) {
        const dropped = running?.held.set(key, { isQuick: false }, text.length)
        running?.drop.push(...(dropped ?? []))
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

/** Waits for the next message of a worker. @throws its error, or that it has ended. */
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
 * Calls `onOver` once a worker has had more processor time since its last reply. Time that the worker
 * waits for a busy processor does not count.
 *
 * @returns what ends the watch.
 */
function watch({ worker, used }: Running, budget: number, onOver: () => void): () => void {
  let ended = false
  const end = () => {
    ended = true
    clearTimeout(next)
    clearTimeout(last)
  }
  const over = () => {
    end()
    onOver()
  }
  const look = async () => {
    const { user, system } = await worker.cpuUsage()
    const left = used + budget - (user + system) / 1000
    if (ended) return
    if (left <= 0) over()
    else next = setTimeout(lookAgain, Math.max(left, 10))
  }
  // It fails where the worker has just ended, which its reply tells.
  const lookAgain = () => void look().catch(() => {})
  let next = setTimeout(lookAgain, budget)
  const last = setTimeout(over, budget * PATIENCE)
  return end
}
