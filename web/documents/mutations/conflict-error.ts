import { ApiFailure } from '../../api/client.ts'
import type { StoredJson } from '../document-client.ts'

/** Someone else changed the record. `current` is the stored version; null if it was deleted. */
export class ConflictError extends Error {
  override readonly name = 'ConflictError'
  readonly current: StoredJson | null

  constructor(current: StoredJson | null) {
    super('Someone else changed it.')
    this.current = current
  }
}

/** Returns whether the server rejected a request with one of these statuses. */
export const hasStatus = (error: unknown, ...statuses: number[]): boolean =>
  error instanceof ApiFailure && statuses.includes(error.status)
