import { isDeepStrictEqual } from 'node:util'
import { expect, vi } from 'vitest'
import { pick, type Random } from '../settings.testing.ts'
import {
  type Body,
  type Call,
  type Database,
  EMPTY,
  ENDED,
  type Model,
  type Operation,
  withCondition,
  withDatabase,
} from './model.testing.ts'

type Documents = Database['documents']

export const UNIQUE = 'by-u'

const INDEXES: Readonly<Record<string, Body>> = {
  'by-v': { fields: ['v'] },
  'by-m': { fields: ['m', '-v'] },
  [UNIQUE]: { fields: ['u'], unique: true },
}

/** The schema that some changes violate. */
const EVEN: Body = { properties: { m: { multipleOf: 2 } } }
const SCHEMAS: readonly Body[] = [EVEN, { properties: { v: { type: 'number' } } }]

/** Returns whether the schema of a database accepts a document. */
export const isValid = ({ schema }: Database, { m }: Body): boolean =>
  !isDeepStrictEqual(schema, EVEN) || m === undefined || Number(m) % 2 === 0

/** Returns the ids of documents that have the same value in the field of the unique index. */
function findDuplicates(documents: Documents): string[] {
  const ids = new Map<unknown, string[]>()
  for (const [id, { u }] of Object.entries(documents)) {
    if (u !== undefined) ids.set(u, [...(ids.get(u) ?? []), id])
  }
  return [...ids.values()].filter(({ length }) => length > 1).flat()
}

/** Returns the document with the same value in the unique index, unless the index has failed. */
export function findConflict({ documents, indexes }: Database, changed: Body): string | undefined {
  if (indexes[UNIQUE] !== 'usable' || changed.u === undefined) return undefined
  return Object.keys(documents).find((id) => id !== changed.id && documents[id]?.u === changed.u)
}

/**
 * Returns the indexes after the addition of one. A unique index fails if there are duplicates. One
 * that has failed is built again.
 */
export function withIndex({ documents, indexes }: Database, name: string): Database['indexes'] {
  if (indexes[name] === 'usable') return indexes
  const isFailed = name === UNIQUE && findDuplicates(documents).length > 0
  return { ...indexes, [name]: isFailed ? 'failed' : 'usable' }
}

/**
 * Returns an operation that stores documents, all or none, or the same operation with the rejection
 * of documents that violate the schema or the unique index.
 *
 * @param documents all documents of the database after the operation.
 * @param changed the ids of those that it stores.
 */
export function storeDocuments(
  model: Model,
  name: string,
  documents: Documents,
  changed: readonly string[],
  request: Pick<Operation, 'method' | 'path' | 'body' | 'headers'>,
): Operation {
  const database = model.databases[name] ?? EMPTY
  if (changed.some((id) => !isValid(database, documents[id] as Body))) {
    return { ...request, status: 422, after: [model] }
  }
  const duplicates = database.indexes[UNIQUE] === 'usable' ? findDuplicates(documents) : []
  if (duplicates.length === 0) {
    return { ...request, after: [withDatabase(model, name, { documents })] }
  }
  return {
    ...request,
    status: 409,
    after: [model],
    async finish({ json }) {
      expect(json).toMatchObject({ index: UNIQUE, document: expect.toBeOneOf(duplicates) })
    },
  }
}

/** Creates or deletes an index. */
export function changeIndex(
  model: Model,
  name: string,
  random: Random,
  _value: number,
  call: Call,
): Operation {
  const database = model.databases[name] ?? EMPTY
  const { indexes, documents } = database
  const index = pick(random, Object.keys(INDEXES))
  const path = `/_db/${name}/_index/things/${index}`
  if (index in indexes) {
    const { [index]: _deleted, ...others } = indexes
    return { method: 'DELETE', path, after: [withDatabase(model, name, { indexes: others })] }
  }
  const next = withIndex(database, index)
  return {
    method: 'PUT',
    path,
    body: INDEXES[index],
    after: [withDatabase(model, name, { indexes: next })],
    async finish() {
      if (next[index] === 'usable') return
      const failed = await untilBuilt(name, index, call)
      expect(failed).toMatchObject({ state: 'failed', duplicates: expect.any(Array) })
      const duplicates = findDuplicates(documents)
      for (const id of failed?.duplicates ?? []) expect(duplicates).toContain(id)
    },
  }
}

interface IndexState {
  readonly name: string
  readonly state: 'building' | 'ready' | 'failed'
  readonly duplicates: readonly string[]
}

const listIndexes = async (name: string, call: Call): Promise<IndexState[]> =>
  (await call('GET', `/_db/${name}/_index/things`)).json

/**
 * Returns an index after its build has ended. Until then, a unique index rejects documents although
 * it will fail.
 */
export async function untilBuilt(
  name: string,
  index: string,
  call: Call,
): Promise<IndexState | undefined> {
  let found: IndexState | undefined
  await vi.waitUntil(async () => {
    found = (await listIndexes(name, call)).find((each) => each.name === index)
    return found?.state !== 'building'
  }, ENDED)
  return found
}

/** Reads the indexes, after a build of the unique one has ended. */
export async function readIndexes(name: string, call: Call): Promise<Database['indexes']> {
  await untilBuilt(name, UNIQUE, call)
  const list = await listIndexes(name, call)
  return Object.fromEntries(
    list.map((each) => [each.name, each.state === 'failed' ? 'failed' : 'usable']),
  )
}

/** Sets or deletes the schema, in some cases only if it has a certain tag or does not exist. */
export async function changeSchema(
  model: Model,
  name: string,
  random: Random,
  _value: number,
  call: Call,
): Promise<Operation> {
  const path = `/_db/${name}/_schema/things`
  const after = (schema: Body | null) => [withDatabase(model, name, { schema })]
  const exists = model.databases[name]?.schema != null
  const body = pick(random, SCHEMAS)
  const put: Operation = { method: 'PUT', path, body, after: after(body) }
  const operation = exists && random(2) === 0 ? { method: 'DELETE', path, after: after(null) } : put
  switch (random(3)) {
    case 0:
      return operation
    case 1: {
      const create = { ...put, headers: { 'If-None-Match': '*' } }
      return exists ? { ...create, status: 412, after: [model] } : create
    }
    default: {
      if (!exists) return operation
      const tag = String((await call('GET', path)).headers.etag)
      return withCondition(operation, model, { tag, other: '"other"' }, random)
    }
  }
}
