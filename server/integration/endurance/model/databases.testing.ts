import { expect } from 'vitest'
import { pick, type Random } from '../settings.testing.ts'
import {
  type Body,
  type Call,
  type Database,
  type Model,
  type Operation,
  withCondition,
  without,
} from './model.testing.ts'

const SCHEMA = { properties: { v: { type: 'number' } } }
const INDEXES: Readonly<Record<string, Body>> = {
  'by-v': { fields: ['v'] },
  'by-m': { fields: ['m', '-v'] },
}
const EMPTY: Database = { documents: {}, indexes: [], schema: null }

/** Returns the model with a changed or new database. */
export const withDatabase = (model: Model, name: string, next: Partial<Database>): Model => ({
  ...model,
  databases: { ...model.databases, [name]: { ...EMPTY, ...model.databases[name], ...next } },
})

/** Returns the model without a database. */
export const withoutDatabase = (model: Model, name: string): Model => ({
  ...model,
  databases: without(model.databases, name),
})

export const createDatabase = (model: Model, name: string): Operation => ({
  ...{ method: 'POST', path: '/_api/database', body: { name } },
  after: [withDatabase(model, name, {})],
})

export const dropDatabase = (model: Model, name: string): Operation => ({
  ...{ method: 'DELETE', path: `/_api/database/${name}` },
  after: [withoutDatabase(model, name)],
})

/** Creates or deletes an index. */
export function changeIndex(model: Model, name: string, random: Random): Operation {
  const { indexes } = model.databases[name] ?? EMPTY
  const index = pick(random, Object.keys(INDEXES))
  const path = `/_db/${name}/_index/things/${index}`
  const after = (next: readonly string[]) => [withDatabase(model, name, { indexes: next })]
  return indexes.includes(index)
    ? { method: 'DELETE', path, after: after(indexes.filter((each) => each !== index)) }
    : { method: 'PUT', path, body: INDEXES[index], after: after([...indexes, index].sort()) }
}

/** Sets or deletes the schema. */
export function changeSchema(model: Model, name: string): Operation {
  const path = `/_db/${name}/_schema/things`
  const after = (schema: Body | null) => [withDatabase(model, name, { schema })]
  return model.databases[name]?.schema == null
    ? { method: 'PUT', path, body: SCHEMA, after: after(SCHEMA) }
    : { method: 'DELETE', path, after: after(null) }
}

/** Changes or deletes the documents that match a filter. */
export function changeMatching(
  model: Model,
  name: string,
  random: Random,
  value: number,
): Operation {
  const least = value - random(20)
  const isDelete = random(2) === 0
  const { documents } = model.databases[name] ?? EMPTY
  const next = Object.entries(documents).flatMap(([id, each]) => {
    if (Number(each.v) < least) return [[id, each] as const]
    return isDelete ? [] : [[id, { ...each, m: value }] as const]
  })
  const path = `/_db/${name}/things?v:gte=${least}`
  const after = [withDatabase(model, name, { documents: Object.fromEntries(next) })]
  return isDelete
    ? { method: 'DELETE', path, after }
    : { method: 'PATCH', path, body: { m: value }, after }
}

/** Changes a document, in some cases only if it has a certain tag. */
export async function changeDocument(
  model: Model,
  name: string,
  random: Random,
  value: number,
  call: Call,
): Promise<Operation> {
  const operation = changeOne(model, name, random, value)
  if (operation.method === 'POST' || random(3) > 0) return operation
  const { headers } = await call('GET', operation.path)
  return withCondition(operation, model, { tag: String(headers.etag), other: '"other"' }, random)
}

/** Creates, replaces, changes or deletes a document. */
function changeOne(model: Model, name: string, random: Random, value: number): Operation {
  const { documents } = model.databases[name] ?? EMPTY
  const id = `d${random(20)}`
  const document = documents[id]
  const after = (next: Readonly<Record<string, Body>>) => [
    withDatabase(model, name, { documents: next }),
  ]
  const put = (next: Body) => after({ ...documents, [id]: next })
  if (document === undefined) {
    const body = { id, v: value }
    return { method: 'POST', path: `/_db/${name}/things`, body, after: put(body) }
  }
  const path = `/_db/${name}/things/${id}`
  switch (random(3)) {
    case 0:
      return { method: 'DELETE', path, after: after(without(documents, id)) }
    case 1:
      return { method: 'PATCH', path, body: { m: value }, after: put({ ...document, m: value }) }
    default:
      return { method: 'PUT', path, body: { v: value }, after: put({ id, v: value }) }
  }
}

/** Reads the databases of a server. */
export async function readDatabases(call: Call): Promise<Model['databases']> {
  const databases: Record<string, Database> = {}
  for (const { name } of (await call('GET', '/_api/database')).json as { name: string }[]) {
    if (name === '_system') continue
    const { status, text } = await call('GET', `/_db/${name}/_export`)
    expect([name, status, text]).toEqual([name, 200, text])
    const documents: Record<string, Body> = {}
    let { indexes, schema } = EMPTY
    for (const line of text.trim().split('\n')) {
      const entry = JSON.parse(line)
      if ('collection' in entry) {
        schema = entry.schema
        indexes = entry.indexes.map((index: { name: string }) => index.name).sort()
      }
      if ('document' in entry) documents[entry.document.id] = entry.document
    }
    databases[name] = { documents, indexes, schema }
  }
  return databases
}
