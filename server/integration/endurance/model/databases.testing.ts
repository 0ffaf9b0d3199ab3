import { expect } from 'vitest'
import { readIndexes } from './constraints.testing.ts'
import {
  type Body,
  type Call,
  type Database,
  EMPTY,
  type Model,
  type Operation,
  withDatabase,
  withoutDatabase,
} from './model.testing.ts'

export const createDatabase = (model: Model, name: string): Operation => ({
  method: 'POST',
  path: '/_api/database',
  body: { name },
  after: [withDatabase(model, name, {})],
})

export const dropDatabase = (model: Model, name: string): Operation => ({
  method: 'DELETE',
  path: `/_api/database/${name}`,
  after: [withoutDatabase(model, name)],
})

/** Reads the databases of a server. */
export async function readDatabases(call: Call): Promise<Model['databases']> {
  const databases: Record<string, Database> = {}
  for (const { name } of (await call('GET', '/_api/database')).json as { name: string }[]) {
    if (name === '_system') continue
    const { status, text } = await call('GET', `/_db/${name}/_export`)
    expect([name, status, text]).toEqual([name, 200, text])
    const documents: Record<string, Body> = {}
    let { schema } = EMPTY
    const indexes = await readIndexes(name, call)
    let exported: string[] = []
    for (const line of text.trim().split('\n')) {
      const entry = JSON.parse(line)
      if ('collection' in entry) {
        schema = entry.schema
        exported = entry.indexes.map((index: { name: string }) => index.name)
      }
      if ('document' in entry) documents[entry.document.id] = entry.document
    }
    expect(exported.sort(), name).toEqual(Object.keys(indexes).sort())
    databases[name] = { documents, indexes, schema }
  }
  return databases
}
