import { setFlagsFromString } from 'node:v8'
import { parentPort } from 'node:worker_threads'
import { parseJson } from '../../contract/json/parse-json.ts'
import { Failure } from '../../failure.ts'
import { type Check, compileSchema } from './compile-schema.ts'
import type { Outcome, Reply, Request, Task } from './schema-thread.ts'
import type { ValidationResult } from './violations.ts'

// A worker thread that compiles schemas and validates documents. `schema-thread.ts` starts it, and
// terminates it when a task takes too long.

// V8 compiles a regular expression without interruption, even if the worker is terminated. With its
// optimizations, this takes minutes for some expressions; without them, at most about 0.2 s for the
// maximum length of one (`PATTERN_LENGTH`).
setFlagsFromString('--no-regexp-optimization')

const checks = new Map<string, Check>()

const usedTime = () => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

function work({ key, schema, documents, from }: Task): ValidationResult {
  const check = schema === undefined ? checks.get(key) : compileSchema(parseJson(schema))
  if (check === undefined) throw new Error(`no compiled schema for ${key}`)
  checks.set(key, check)
  return check(
    documents.map((text) => parseJson(text)),
    from,
  )
}

function outcomeOf(task: Task): Outcome {
  const begun = usedTime()
  try {
    const result = work(task)
    return { result, time: usedTime() - begun }
  } catch (error) {
    if (!(error instanceof Failure)) return { error, time: usedTime() - begun }
    const { message, details } = error
    return { rejection: { message, details }, time: usedTime() - begun }
  }
}

parentPort?.on('message', ({ drop, tasks }: Request) => {
  for (const key of drop) checks.delete(key)
  parentPort?.postMessage({ outcomes: tasks.map(outcomeOf), used: usedTime() } satisfies Reply)
})
parentPort?.postMessage({ outcomes: [], used: usedTime() } satisfies Reply)
