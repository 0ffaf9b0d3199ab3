import { setTimeout as pause } from 'node:timers/promises'
import type { TestResponse } from './start.testing.ts'
import { WAIT } from './wait.testing.ts'

/**
 * Returns whether a node rejected a request before it did anything, because PostgreSQL responded too
 * slowly to it. Happens on a busy machine.
 */
export const isNotConfirmed = ({ status, text }: Pick<TestResponse, 'status' | 'text'>): boolean =>
  status === 503 && text.includes('cannot confirm that its state is current')

/** Sends a request, and again while it {@link isNotConfirmed}. */
export async function sendUntilConfirmed(send: () => Promise<TestResponse>): Promise<TestResponse> {
  for (;;) {
    const response = await send()
    if (!isNotConfirmed(response)) return response
    await pause(WAIT.interval)
  }
}
