import { createRecorder } from '../../../audit/record.ts'
import type { CollectionRef } from '../../../storage/document-ref.ts'
import type { Store } from '../../../storage/store.ts'
import { createIndexRepository } from '../index-repository.ts'
import { createIndexes } from '../indexes.ts'
import { type BuilderDeps, createBuilder } from './builder.ts'

/**
 * Returns the indexes of a store, with a loop that builds them on this node.
 *
 * @param pace how the loop builds them; by default without delay.
 */
export function openIndexesOf(
  store: Store,
  pace: Partial<Pick<BuilderDeps, 'pause' | 'stepLimits' | 'onEnded'>> = {},
) {
  const repository = createIndexRepository(store, Date.now)
  const errors: unknown[] = []
  const builder = createBuilder({
    store,
    repository,
    holdsBuildLock: async () => true,
    pause: () => new Promise(setImmediate),
    onEnded() {},
    onError: (error) => errors.push(error),
    ...pace,
  })
  const indexes = createIndexes(repository, () => {})
  const on = {
    record: createRecorder(),
    actor: { name: 'test', by: 'system', address: null } as const,
    target: 'test',
  }
  return {
    repository,
    builder,
    errors,
    list: indexes.list,
    put: (where: CollectionRef, name: string, fields: readonly string[], unique = false) =>
      indexes.put(where, name, { fields, unique }, on),
    delete: (where: CollectionRef, name: string) => indexes.delete(where, name, on),
    /** Builds all indexes, and cleans up after deleted ones. */
    async build(): Promise<void> {
      const loop = createBuilder({
        store,
        repository,
        holdsBuildLock: async () => true,
        pause: () => new Promise(setImmediate),
        onEnded() {},
        onError: (error) => errors.push(error),
      })
      loop.wake()
      while ((await repository.next()) !== undefined && errors.length === 0) {
        await new Promise(setImmediate)
      }
      await loop.stop()
      if (errors.length > 0) throw errors[0]
    },
  }
}
