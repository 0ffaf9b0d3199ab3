import { ApiFailure, answer, api, NoAnswer } from '../../api.ts'
import type { ImportChange } from './import-plan.ts'

/**
 * Makes one change by the ordinary routes, and only if the endpoint is still as it was compared:
 * nobody's change is overwritten.
 *
 * @throws ApiFailure, NoAnswer
 */
export async function sendChange(change: ImportChange): Promise<void> {
  const { kind, address, after, revision } = change
  if (kind !== 'added' && revision === undefined) {
    throw new Error('It is not known yet what runs for it. Try again.')
  }
  const headers: Record<string, string> =
    kind === 'added' ? { 'If-None-Match': '*' } : { 'If-Match': `"${revision}"` }
  if (after !== null) {
    const json = { endpoint: address, databases: [...after] }
    await answer(api._api.endpoint.$post({ json }, { headers }))
    return
  }
  const param = { address: encodeURIComponent(address) }
  await answer(api._api.endpoint[':address{.+}'].$delete({ param }, { headers })).catch(
    (error: unknown) => {
      // Removed by somebody else is removed.
      if (!(error instanceof ApiFailure && error.status === 404)) throw error
    },
  )
}

/** Whether every other change would fail likewise: nobody answers, or to nobody signed in. */
export const isInterruption = (error: Error): boolean =>
  error instanceof NoAnswer ||
  (error instanceof ApiFailure && (error.status === 401 || error.status === 503))
