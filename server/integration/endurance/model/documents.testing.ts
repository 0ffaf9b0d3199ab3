import { pick, type Random } from '../settings.testing.ts'
import { storeDocuments } from './constraints.testing.ts'
import { predict, storeEach } from './imports.testing.ts'
import {
  type Body,
  type Call,
  EMPTY,
  type Model,
  type Operation,
  withCondition,
  withDatabase,
  without,
} from './model.testing.ts'

/** Number of values of the field of the unique index in single documents. */
const UNIQUE_VALUES = 30

/** Returns the field of the unique index for some documents, none for others. */
const uniqueField = (random: Random): Body => (random(2) === 0 ? { u: random(UNIQUE_VALUES) } : {})

/** A change of the documents that match a filter. */
function chooseMatching(model: Model, name: string, random: Random, value: number) {
  const least = value - random(20)
  const { documents } = model.databases[name] ?? EMPTY
  const matching = Object.keys(documents).filter((id) => Number(documents[id]?.v) >= least)
  const path = `/_db/${name}/things?v:gte=${least}`
  const kind = random(5)
  if (kind < 2) return { documents, matching, request: { method: 'DELETE', path } }
  // The last kind violates a unique index if several documents match.
  const body = kind < 4 ? { m: value } : { m: null, u: random(UNIQUE_VALUES) }
  const patched = Object.fromEntries(matching.map((id) => [id, patch(documents[id] as Body, body)]))
  return { documents, matching, patched, request: { method: 'PATCH', path, body } }
}

/** Changes or deletes the documents that match a filter, all or none. */
export function changeMatching(
  model: Model,
  name: string,
  random: Random,
  value: number,
): Operation {
  const { documents, matching, patched, request } = chooseMatching(model, name, random, value)
  if (patched === undefined) {
    const kept = withoutAll(documents, matching)
    return { ...request, after: [withDatabase(model, name, { documents: kept })] }
  }
  return storeDocuments(model, name, { ...documents, ...patched }, matching, request)
}

/** Changes or deletes the documents that match a filter in a job, in the order of their ids. */
export function changeMatchingInSteps(
  model: Model,
  name: string,
  random: Random,
  value: number,
): Operation {
  const change = chooseMatching(model, name, random, value)
  const { documents, patched, request } = change
  const matching = change.matching.sort()
  const database = model.databases[name] ?? EMPTY
  if (patched === undefined) {
    const states = matching.map((_, at) => {
      return { ...database, documents: withoutAll(documents, matching.slice(0, at + 1)) }
    })
    return { ...request, ...predict(model, name, states, { failed: 0 }) }
  }
  const changed = matching.map((id) => ({ ...patched[id], id }))
  const { states, counts } = storeEach(database, changed, 'replace')
  return { ...request, ...predict(model, name, states, { failed: counts.failed }) }
}

const withoutAll = (documents: Readonly<Record<string, Body>>, ids: readonly string[]) =>
  Object.fromEntries(Object.entries(documents).filter(([id]) => !ids.includes(id)))

/** Merges a patch into a document. */
function patch(document: Body, body: Body): Body {
  const merged = Object.entries({ ...document, ...body }).filter(([, value]) => value !== null)
  return Object.fromEntries(merged)
}

/** Changes a document, in some cases only if it has a certain tag. */
export async function changeDocument(
  model: Model,
  name: string,
  random: Random,
  value: number,
  call: Call,
): Promise<Operation> {
  const id = `d${random(20)}`
  if (random(6) === 0) return putNew(model, name, id, random, value)
  const operation = changeOne(model, name, id, random, value)
  // An invalid document is rejected before its condition is checked.
  if (operation.method === 'POST' || operation.status === 422 || random(3) > 0) return operation
  const { headers } = await call('GET', operation.path)
  return withCondition(operation, model, { tag: String(headers.etag), other: '"other"' }, random)
}

/** Creates, replaces, changes or deletes a document. */
function changeOne(
  model: Model,
  name: string,
  id: string,
  random: Random,
  value: number,
): Operation {
  const { documents } = model.databases[name] ?? EMPTY
  const document = documents[id]
  const store = (next: Body, method: string, path: string, body: Body) =>
    storeDocuments(model, name, { ...documents, [id]: next }, [id], { method, path, body })
  const collection = `/_db/${name}/things`
  if (document === undefined) {
    const body = { id, v: value, ...uniqueField(random) }
    return store(body, 'POST', collection, body)
  }
  const path = `${collection}/${id}`
  switch (random(8)) {
    case 0:
    case 1: {
      const after = [withDatabase(model, name, { documents: without(documents, id) })]
      return { method: 'DELETE', path, after }
    }
    case 2:
    case 3:
    case 4: {
      const body = pick(random, [{ m: value }, { m: null }, { u: random(UNIQUE_VALUES) }])
      return store(patch(document, body), 'PATCH', path, body)
    }
    case 5: {
      const body = { id, v: value }
      return { method: 'POST', path: collection, body, status: 409, after: [model] }
    }
    default: {
      const body = { v: value, ...uniqueField(random) }
      return store({ id, ...body }, 'PUT', path, body)
    }
  }
}

/** Creates a document with `PUT`, unless it exists. */
function putNew(model: Model, name: string, id: string, random: Random, value: number): Operation {
  const { documents } = model.databases[name] ?? EMPTY
  const body = { v: value, ...uniqueField(random) }
  const request = {
    method: 'PUT',
    path: `/_db/${name}/things/${id}`,
    body,
    headers: { 'If-None-Match': '*' },
  }
  if (id in documents) return { ...request, status: 412, after: [model] }
  const operation = storeDocuments(
    model,
    name,
    { ...documents, [id]: { id, ...body } },
    [id],
    request,
  )
  return { status: 201, ...operation }
}
