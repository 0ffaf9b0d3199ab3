import { ApiFailure, NoAnswer } from '../api.ts'
import { deleteEndpoint, postEndpoint, readEndpoint } from './endpoint-requests.ts'
import { sameMapping } from './mapping.ts'
import type { SeveralAction } from './selection-bar.tsx'
import type { SeveralTask } from './several.ts'

/** How far it has come; every task is in one of the three. */
export interface SeveralOutcome {
  readonly done: readonly SeveralTask[]
  readonly failures: readonly { readonly task: SeveralTask; readonly reason: string }[]
  readonly left: readonly SeveralTask[]
}

/** What {@link runSeveral} needs. */
export interface SeveralRun {
  /** Does one; throws with a sentence why not. */
  readonly change: (task: SeveralTask) => Promise<void>
  readonly onProgress: (outcome: SeveralOutcome) => void
  /** Asked before each: what is not begun then stays as it is. */
  readonly isStopped: () => boolean
}

/** Does one after the other; what fails stops no other, but without an answer nothing more is begun. */
export async function runSeveral(
  tasks: readonly SeveralTask[],
  { change, onProgress, isStopped }: SeveralRun,
): Promise<SeveralOutcome> {
  const done: SeveralTask[] = []
  const failures: { task: SeveralTask; reason: string }[] = []
  const outcome = (begun: number): SeveralOutcome => ({
    done: [...done],
    failures: [...failures],
    left: tasks.slice(begun),
  })
  for (const [at, task] of tasks.entries()) {
    if (isStopped()) return outcome(at)
    const error = await change(task).then(
      () => undefined,
      (thrown: Error) => thrown,
    )
    if (error === undefined) done.push(task)
    else failures.push({ task, reason: error.message })
    onProgress(outcome(at + 1))
    if (error !== undefined && !(error instanceof ApiFailure)) return outcome(at + 1)
  }
  return outcome(tasks.length)
}

/** Does what is wanted with one of several, if nobody has changed it meanwhile. */
export async function changeOne(action: SeveralAction, { row, record }: SeveralTask) {
  try {
    if (action === 'remove') await deleteEndpoint(row.address, row.revision)
    else await postEndpoint(record, { revision: row.revision })
  } catch (error) {
    if (error instanceof ApiFailure && error.status === 412) {
      throw new ApiFailure(412, error.errorNum, 'Somebody has changed it meanwhile.')
    }
    if (!(error instanceof NoAnswer)) throw error
    // It may have been done: look, instead of guessing.
    const found = await readEndpoint(record.endpoint).catch(() => null)
    if (found === null) {
      throw new Error('Gatehouse does not answer. We do not know whether it was changed.')
    }
    if (found === undefined || !sameMapping(found.databases, record.databases)) {
      throw new Error('The connection broke before it was changed.')
    }
  }
}

/** How it went, in a sentence: "7 of 12 were removed. 2 could not be, 3 were not begun." */
export function sayOutcome(
  action: SeveralAction,
  { done, failures, left }: SeveralOutcome,
): string {
  const all = done.length + failures.length + left.length
  const verb = action === 'remove' ? 'removed' : 'changed'
  const first = `${done.length} of ${all} ${done.length === 1 ? 'was' : 'were'} ${verb}.`
  const rest = [
    failures.length > 0 && `${failures.length} could not be`,
    left.length > 0 && `${left.length} ${left.length === 1 ? 'was' : 'were'} not begun`,
  ].filter((part) => part !== false)
  return rest.length === 0 ? first : `${first} ${rest.join(', ')}.`
}
