import type { EndpointRecord } from '../../contract/endpoints/endpoint.ts'
import { invariant } from '../../contract/invariant.ts'
import type { OnRecord, Recorder } from '../../storage/changes/recorder.ts'
import type { Store } from '../../storage/store.ts'
import { type EndpointChange, type EndpointWrite, type Written, writeBatch } from './write-batch.ts'

/** Maximum number of writes in one transaction: a few milliseconds of work. */
const BATCH = 32

/** Stores a change of an endpoint (see {@link writeBatch}). */
export type EndpointWriter = (write: EndpointWrite) => Promise<Written>

/**
 * Creates an {@link EndpointWriter}. Writes that arrive during a transaction are stored together in
 * the next one.
 */
export function createEndpointWriter(store: Store, record: Recorder): EndpointWriter {
  const waiting: {
    readonly write: EndpointWrite
    readonly resolve: (written: Written) => void
    readonly reject: (reason: unknown) => void
  }[] = []
  let running = false

  async function run(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, BATCH)
      try {
        const results = await writeBatch(
          store,
          record,
          batch.map(({ write }) => write),
        )
        for (const [at, result] of results.entries()) {
          if (result.status === 'fulfilled') batch[at]?.resolve(result.value)
          else batch[at]?.reject(result.reason)
        }
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    running = false
  }

  return (write) =>
    new Promise((resolve, reject) => {
      waiting.push({ write, resolve, reject })
      if (running) return
      running = true
      void run()
    })
}

/**
 * Stores an endpoint, or updates the databases of a stored one.
 *
 * @returns its revision, once the change is durable.
 * @throws Failure `precondition-failed`; the guard's Failure.
 */
export async function writeEndpoint(
  store: Store,
  { endpoint, databases }: EndpointRecord,
  { record, ...change }: EndpointChange & OnRecord,
): Promise<number> {
  const { revision } = await writeOne(store, record, { ...change, endpoint, databases })
  invariant(revision !== undefined, 'a stored endpoint has a revision')
  return revision
}

/**
 * Removes an endpoint durably. Returns false if it does not exist.
 *
 * @throws Failure `precondition-failed`; the guard's Failure.
 */
export async function deleteEndpoint(
  store: Store,
  endpoint: string,
  { record, ...change }: EndpointChange & OnRecord,
): Promise<boolean> {
  const { isChanged } = await writeOne(store, record, { ...change, endpoint, databases: null })
  return isChanged
}

async function writeOne(store: Store, record: Recorder, write: EndpointWrite) {
  const [result] = await writeBatch(store, record, [write])
  if (result?.status === 'fulfilled') return result.value
  throw result?.reason
}
