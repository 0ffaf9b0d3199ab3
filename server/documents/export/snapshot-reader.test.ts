import { expect, it, vi } from 'vitest'
import type { Store } from '../../storage/store.ts'
import { openSnapshotReader } from './snapshot-reader.ts'

it('closes its snapshot if the first query fails', async () => {
  const close = vi.fn(async () => {})
  const failure = new Error('the connection was lost')
  const prepareRead = () => () => Promise.reject(failure)
  const db = { getExecutor: () => ({}) }
  const openSnapshot = async () => ({ prepareRead, [Symbol.asyncDispose]: close })
  const store = { db, openSnapshot } as unknown as Store
  await expect(openSnapshotReader(store, { database: 'db' }, () => {})).rejects.toThrow()
  expect(close).toHaveBeenCalledOnce()
})
