import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach } from 'vitest'
import { openStore } from '../../storage/open.ts'
import type { Store } from '../../storage/store.ts'

/** Returns a function that opens a new store, which is closed and removed after the test. */
export function createOpenStore(): () => Promise<Store> {
  const undo: (() => unknown)[] = []
  afterEach(async () => {
    for (const close of undo.splice(0).reverse()) await close()
  })
  return async () => {
    const data = mkdtempSync(join(tmpdir(), 'gatehouse-sign-in-'))
    undo.push(() => rmSync(data, { recursive: true, force: true }))
    const store = await openStore({ data }, 'node')
    undo.push(() => store.close())
    return store
  }
}
