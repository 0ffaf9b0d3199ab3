import { pick, type Random } from '../settings.testing.ts'
import { withDatabase } from './databases.testing.ts'
import type { Body, Call, Database, Model, Operation } from './model.testing.ts'

/** Maximum number of documents that an operation stores. */
const DOCUMENTS = 300

/** Stores an array of new documents: all or none. */
export function createMany(model: Model, name: string, random: Random, value: number): Operation {
  const documents = makeDocuments(random, (n) => ({ id: `v${value}-${n}`, v: value }))
  return {
    method: 'POST',
    path: `/_db/${name}/things`,
    body: documents,
    after: [stored(model, name, documents)],
  }
}

/** Imports documents, some of which exist already. Without a response, some may be stored. */
export function importMany(model: Model, name: string, random: Random, value: number): Operation {
  const documents = makeDocuments(random, (n) => ({ id: `d${n}`, v: value }))
  const conflict = pick(random, ['replace', 'skip', 'fail'])
  const existing = model.databases[name]?.documents ?? {}
  const kept =
    conflict === 'replace' ? documents : documents.filter(({ id }) => existing[id] === undefined)
  const isCsv = random(2) === 0
  const lines = isCsv
    ? ['id,v', ...documents.map(({ id, v }) => `${id},${v}`)]
    : documents.map((each) => JSON.stringify(each))
  return {
    ...{ method: 'POST', path: `/_db/${name}/things?on-conflict=${conflict}` },
    body: lines.map((line) => `${line}\n`).join(''),
    headers: { 'Content-Type': isCsv ? 'text/csv' : 'application/x-ndjson' },
    after: [stored(model, name, kept)],
    partial: kept.map((_, count) => stored(model, name, kept.slice(0, count))),
  }
}

/**
 * Imports the export of a database into another one, or into itself: first the documents, then the
 * schema and the indexes. Without a response, a part of them may be stored.
 */
export async function importDatabase(
  model: Model,
  name: string,
  random: Random,
  _value: number,
  call: Call,
): Promise<Operation> {
  const source = pick(random, Object.keys(model.databases))
  const { text } = await call('GET', `/_db/${source}/_export`)
  const { documents = {}, indexes = [], schema = null } = model.databases[source] ?? {}
  const to = model.databases[name]
  const states: Model[] = []
  const add = (state: Partial<Database>) =>
    states.push(withDatabase(states.at(-1) ?? model, name, state))
  for (const id of Object.keys(documents).sort()) {
    const before = states.at(-1)?.databases[name]?.documents ?? to?.documents
    add({ documents: { ...before, [id]: documents[id] as Body } })
  }
  if (schema !== null) add({ schema })
  for (const index of indexes) {
    const before = states.at(-1)?.databases[name]?.indexes ?? to?.indexes ?? []
    add({ indexes: [...new Set([...before, index])].sort() })
  }
  return {
    ...{ method: 'POST', path: `/_db/${name}/_import?on-conflict=replace`, body: text },
    headers: { 'Content-Type': 'application/x-ndjson' },
    after: [states.at(-1) ?? model],
    partial: states.slice(0, -1),
  }
}

type Document = Body & { readonly id: string }

const makeDocuments = (random: Random, make: (n: number) => Document): Document[] =>
  Array.from({ length: 1 + random(DOCUMENTS) }, (_, n) => make(n))

function stored(model: Model, name: string, documents: readonly Document[]): Model {
  const added = Object.fromEntries(documents.map((each) => [each.id, each]))
  return withDatabase(model, name, {
    documents: { ...model.databases[name]?.documents, ...added },
  })
}
