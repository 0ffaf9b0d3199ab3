import { expect } from 'vitest'
import { pick, type Random } from '../settings.testing.ts'
import {
  findConflict,
  isValid,
  storeDocuments,
  UNIQUE,
  untilBuilt,
  withIndex,
} from './constraints.testing.ts'
import {
  type Body,
  type Call,
  type Database,
  EMPTY,
  type Model,
  type Operation,
  withDatabase,
} from './model.testing.ts'

/** Maximum number of documents that an operation stores. */
const DOCUMENTS = 300

type Document = Body & { readonly id: string }

/** Returns new documents, and the request that stores their array. */
function chooseNew(model: Model, name: string, random: Random, value: number) {
  const documents = makeDocuments(model, name, random, (n) => ({ id: `v${value}-${n}`, v: value }))
  const request = { method: 'POST', path: `/_db/${name}/things`, body: documents }
  return { documents, request }
}

/** Stores an array of new documents: all or none. */
export function createMany(model: Model, name: string, random: Random, value: number): Operation {
  const { documents, request } = chooseNew(model, name, random, value)
  const added = Object.fromEntries(documents.map((each) => [each.id, each]))
  const all = { ...model.databases[name]?.documents, ...added }
  return storeDocuments(model, name, all, Object.keys(added), request)
}

/** Stores an array of new documents in a job, in their order. */
export function createManyInSteps(
  model: Model,
  name: string,
  random: Random,
  value: number,
): Operation {
  const { documents, request } = chooseNew(model, name, random, value)
  const { states, counts } = storeEach(model.databases[name] ?? EMPTY, documents, 'fail')
  return { ...request, ...predict(model, name, states, counts) }
}

/** Imports documents, some of which exist already. Without a response, some may be stored. */
export function importMany(model: Model, name: string, random: Random, value: number): Operation {
  const documents = makeDocuments(model, name, random, (n) => ({ id: `d${n}`, v: value }))
  const conflict = pick(random, ['replace', 'skip', 'fail'] as const)
  const isCsv = random(2) === 0
  const lines = isCsv
    ? ['id,v,m,u', ...documents.map(({ id, v, m, u }) => [id, v, m, u].join(','))]
    : documents.map((each) => JSON.stringify(each))
  const { states, counts } = storeEach(model.databases[name] ?? EMPTY, documents, conflict)
  return {
    method: 'POST',
    path: `/_db/${name}/things?on-conflict=${conflict}`,
    body: lines.map((line) => `${line}\n`).join(''),
    headers: { 'Content-Type': isCsv ? 'text/csv' : 'application/x-ndjson' },
    ...predict(model, name, states, counts),
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
  const { documents, indexes, schema } = model.databases[source] ?? EMPTY
  const sorted = Object.keys(documents).sort()
  const { states, counts } = storeEach(
    model.databases[name] ?? EMPTY,
    sorted.map((id) => documents[id] as Document),
    'replace',
  )
  let last = states.at(-1) ?? model.databases[name] ?? EMPTY
  const add = (next: Partial<Database>) => {
    last = { ...last, ...next }
    states.push(last)
  }
  if (schema !== null) add({ schema })
  for (const index of Object.keys(indexes).sort()) add({ indexes: withIndex(last, index) })
  // A failed index is built again, also by a job that is resumed after the build has failed.
  const before = model.databases[name] ?? EMPTY
  const builds = UNIQUE in indexes ? [before, last] : []
  const isFailed = (database: Database) => database.indexes[UNIQUE] === 'failed'
  const { finish, ...predicted } = predict(model, name, states, counts)
  return {
    method: 'POST',
    path: `/_db/${name}/_import?on-conflict=replace`,
    body: text,
    headers: { 'Content-Type': 'application/x-ndjson' },
    ...predicted,
    possibleRows: builds.filter(isFailed).map(() => `index.create ${name}/things/${UNIQUE}`),
    async finish(response) {
      await finish?.(response)
      await untilBuilt(name, UNIQUE, call)
    },
  }
}

/** The counts in the result of an import. */
interface Counts {
  created: number
  replaced: number
  skipped: number
  failed: number
}

/**
 * Stores documents one after the other. Returns the states of the database after each of them, and
 * the counts.
 */
export function storeEach(
  database: Database,
  documents: readonly Document[],
  onConflict: 'replace' | 'skip' | 'fail',
): { readonly states: Database[]; readonly counts: Counts } {
  const states: Database[] = []
  const counts: Counts = { created: 0, replaced: 0, skipped: 0, failed: 0 }
  let last = database
  for (const document of documents) {
    const exists = document.id in last.documents
    if (!isValid(last, document) || (exists && onConflict === 'fail')) counts.failed++
    else if (exists && onConflict === 'skip') counts.skipped++
    else if (findConflict(last, document) !== undefined) counts.failed++
    else {
      last = { ...last, documents: { ...last.documents, [document.id]: document } }
      states.push(last)
      counts[exists ? 'replaced' : 'created']++
    }
  }
  return { states, counts }
}

/** Predicts a change in steps: its last state, or another one if it does not end. */
export function predict(
  model: Model,
  name: string,
  states: readonly Database[],
  counts: Partial<Counts>,
): Pick<Operation, 'after' | 'partial' | 'finish'> {
  const models = states.map((each) => withDatabase(model, name, each))
  return {
    after: [models.at(-1) ?? model],
    partial: models.slice(0, -1),
    async finish({ json }) {
      expect(json).toMatchObject(counts)
    },
  }
}

/** Makes documents, some of which violate the schema or the unique index. */
function makeDocuments(
  model: Model,
  name: string,
  random: Random,
  make: (n: number) => Document,
): Document[] {
  const documents = Array.from({ length: 1 + random(DOCUMENTS) }, (_, n) => make(n))
  const value = Number(documents[0]?.v)
  const stored = Object.values(model.databases[name]?.documents ?? {})
  switch (random(4)) {
    case 0:
      // Values of stored documents, and new ones.
      return documents.map((each, n) => {
        const { u } = n % 7 === 0 ? (stored[n % stored.length] ?? {}) : { u: value * 1_000 + n }
        return u === undefined ? each : { ...each, u }
      })
    case 1:
      return documents.map((each, n) => (n % 5 === 0 ? { ...each, m: value + n } : each))
    case 2:
      return documents.map((each, n) => (n % 3 === 0 ? { ...each, u: value * 1_000 + n } : each))
    default:
      return documents
  }
}
