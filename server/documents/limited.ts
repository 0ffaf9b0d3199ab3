import { createContext, Script } from 'node:vm'
import { systemCode } from '../failure.ts'

const room: { task: (() => unknown) | undefined } = { task: undefined }
const script = new Script('task()')
createContext(room)

/**
 * Runs something that must not hold up everybody else, such as a pattern that somebody wrote: it is
 * broken off after that time, also in the middle of a regular expression. Costs 0.2 ms.
 *
 * @param ms measured by the clock on the wall.
 * @returns undefined where it was broken off, for which it must have been prepared.
 */
export function limited<T>(task: () => T, ms: number): { readonly result: T } | undefined {
  room.task = task
  try {
    return { result: script.runInContext(room, { timeout: ms }) as T }
  } catch (error) {
    if (systemCode(error) === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return undefined
    throw error
  } finally {
    room.task = undefined
  }
}
