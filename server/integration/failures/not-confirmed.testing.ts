import type { TestResponse } from '../../test-support/start.testing.ts'

/**
 * Returns whether a node rejected a request before it did anything, because PostgreSQL responded too
 * slowly to it. Happens on a busy machine.
 */
export const isNotConfirmed = ({ status, text }: TestResponse): boolean =>
  status === 503 && text.includes('cannot confirm that its state is current')
