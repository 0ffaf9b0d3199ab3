import type { AuditEntry } from '../contract/audit.ts'
import type { Failure } from '../failure.ts'
import { createRateLimit } from '../rate-limit.ts'
import { failureKey } from '../storage/changes/failure-limit.ts'

/**
 * Maximum number of rows that a node writes per period for failed sign-ins, excluding the summary
 * row.
 */
export const FAILED_SIGN_IN_ROWS = 10

/**
 * Maximum number of these rows per address. IPv6 addresses of the same /64 network count as one.
 */
export const FAILED_SIGN_IN_ROWS_PER_ADDRESS = 3

/** Length of a period, ms. */
export const FAILED_SIGN_IN_PERIOD = 60_000

/** Maximum number of distinct addresses counted for the summary row. */
const COUNTED_ADDRESSES = 1_000

/** A failed sign-in. It contains nothing that the browser sent. */
export interface FailedSignIn {
  readonly provider: string
  /** Address of the client; null for a Unix socket. */
  readonly address: string | null
  readonly failure: Failure
  /** The username, if the provider confirmed it. */
  readonly username?: string | undefined
}

/** Records a failed sign-in in the audit log, or adds it to the summary row. Never rejects. */
export type RecordFailedSignIn = (failed: FailedSignIn) => Promise<void>

export interface FailedSignInDeps {
  readonly record: (entry: AuditEntry) => Promise<void>
  /** Returns the time, ms since 1970. */
  readonly now: () => number
  readonly onRecorded: () => void
  readonly onError: (error: unknown) => void
}

/** The recording of failed sign-ins. Disposing it writes the summary row that is due later. */
export interface FailedSignIns extends AsyncDisposable {
  readonly record: RecordFailedSignIn
}

/**
 * Creates {@link FailedSignIns}. Anyone can cause failed sign-ins, so a node writes at most
 * {@link FAILED_SIGN_IN_ROWS} rows per period. It counts the others and writes a summary row
 * {@link FAILED_SIGN_IN_PERIOD} after the first of them.
 */
export function createFailedSignIns(deps: FailedSignInDeps): FailedSignIns {
  const { now } = deps
  const period = FAILED_SIGN_IN_PERIOD
  const ofAddress = createRateLimit({ max: FAILED_SIGN_IN_ROWS_PER_ADDRESS, period, now })
  const ofNode = createRateLimit({ max: FAILED_SIGN_IN_ROWS, period, now })
  let rest: { failures: number; addresses: Set<string> } | undefined
  let timer: NodeJS.Timeout | undefined

  const mayWrite = (key: string) => ofAddress.consume(key) === 0 && ofNode.consume('rows') === 0

  async function write(entry: Pick<AuditEntry, 'actor' | 'target' | 'after'>): Promise<void> {
    try {
      await deps.record({ ...entry, action: 'session.fail', outcome: 'refused', before: null })
      deps.onRecorded()
    } catch (error) {
      deps.onError(error)
    }
  }

  async function sumUp(): Promise<void> {
    clearTimeout(timer)
    if (rest === undefined) return
    const { failures, addresses } = rest
    rest = undefined
    await write({
      actor: { name: ANONYMOUS, by: 'system', address: null },
      target: 'further failed sign-ins',
      after: { failures, addresses: addresses.size },
    })
  }

  const record: RecordFailedSignIn = async ({ provider, address, failure, username }) => {
    // The store is unavailable or the server is stopping: nothing can be recorded.
    if (failure.kind.status === 503) return
    const key = failureKey('sign-in', address)
    if (mayWrite(key)) {
      return write({
        actor: { name: username ?? ANONYMOUS, by: 'system', address },
        target: provider,
        after: { refused: failure.code, reason: reasonOf(failure) },
      })
    }
    if (rest === undefined) {
      rest = { failures: 0, addresses: new Set() }
      timer = setTimeout(sumUp, FAILED_SIGN_IN_PERIOD).unref()
    }
    rest.failures += 1
    if (rest.addresses.size < COUNTED_ADDRESSES) rest.addresses.add(key)
  }
  return { record, [Symbol.asyncDispose]: sumUp }
}

/** Actor of failed sign-ins that no provider confirmed. */
const ANONYMOUS = 'anonymous'

/**
 * Returns the reason. An error that the provider reports arrives through the browser, so anyone can
 * forge its text.
 */
const reasonOf = ({ code, message }: Failure): string =>
  code === 'internal' ? 'The provider reported an error.' : message.slice(0, 200)
