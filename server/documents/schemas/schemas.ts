import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { type Conditions, matches, matchesNone } from '../../contract/conditions.ts'
import { parseStrictly, printJson } from '../../contract/json/strict-json.ts'
import { VIOLATIONS, type Violation } from '../../contract/schema.ts'
import { Failure } from '../../failure.ts'
import type { OnTargetRecord } from '../../storage/changes/recorder.ts'
import type { CollectionRef } from '../../storage/document-ref.ts'
import type { Store } from '../../storage/store.ts'
import { MAX_BATCH_LENGTH, type SchemaChecker } from './schema-checker.ts'
import { createSchemaRepository, type StoredSchema } from './schema-repository.ts'
import type { Schema } from './schema-thread.ts'
import { violationFailure } from './violations.ts'

/** A document to validate, as JSON. */
export interface CheckedDocument {
  readonly body: string
}

/** The JSON Schemas of collections. Unmet conditions fail with 412. */
export interface Schemas {
  /** @throws Failure `not-found`, `precondition-failed` */
  read(where: CollectionRef, conditions: Conditions): Promise<StoredSchema>
  /**
   * Sets the schema of a collection and audits it. It applies to later changes; stored documents are
   * not validated until they change.
   *
   * @returns the schema, and whether the collection had none.
   * @throws Failure `bad-json`, `invalid` that names the error in it, `precondition-failed`,
   * `busy`
   */
  put(
    where: CollectionRef,
    text: string,
    conditions: Conditions,
    on: OnTargetRecord,
  ): Promise<StoredSchema & { readonly created: boolean }>
  /** Audits and returns the deleted schema. @throws Failure `not-found`, `precondition-failed` */
  delete(where: CollectionRef, conditions: Conditions, on: OnTargetRecord): Promise<StoredSchema>
  /**
   * Validates documents against the schema of their collection before they are stored.
   *
   * @param from the index of the first document in an array, with which pointers then begin;
   * undefined if the documents do not come from an array.
   * @returns undefined, synchronously, if the collection is known to have no schema.
   * @throws Failure `invalid` with the violations and their pointers; `busy` if the schema is
   * rejected for a while or too many checks are queued.
   */
  check: CheckDocuments
  current: CurrentSchemaOf
  /** Clears the cache of tags after another process has changed the database. */
  clearCache(): void
  /** Deletes the schemas of dropped databases. */
  purge(): Promise<void>
}

/** See {@link Schemas.check}. */
export type CheckDocuments = (
  where: CollectionRef,
  documents: readonly CheckedDocument[],
  from?: number,
) => Promise<void> | undefined

/** Validates documents: see {@link Schemas.check}. */
export type Validate = (documents: readonly CheckedDocument[], from?: number) => Promise<void>

/** The schema of a collection at one moment. */
export interface CurrentSchema {
  /** Null if the collection has no schema. */
  readonly tag: string | null
  /** Makes no query, so a transaction may call it. */
  readonly validate?: Validate
}

export type CurrentSchemaOf = (where: CollectionRef) => Promise<CurrentSchema>

/** Maximum number of cached schemas, and of their characters. Others are read when needed. */
const MAX_CACHED = { max: 1_000, maxSize: 8 * 1024 * 1024 } as const

/**
 * Returns the schemas of a store. On SQLite, which notices every outside change before the next
 * request, the tags of all collections are cached. With PostgreSQL each check queries the tag, so
 * that a schema set on one node applies on all nodes immediately. Tags are unique, so a cached
 * schema stays valid for its tag.
 */
export function createSchemas(store: Store, checker: SchemaChecker): Schemas {
  const repository = createSchemaRepository(store)
  const isCached = store.engine === 'sqlite'
  const texts = new LRUCache<string, Schema>(MAX_CACHED)
  let cached: Map<string, string> | undefined
  let cleared = 0

  function clearCache(): void {
    cleared++
    cached = undefined
  }

  /**
   * Changes the cached tag of a collection, if it is the one that was replaced. Reading all tags
   * again takes long if there are many.
   */
  function replaceTag(where: CollectionRef, before: string | undefined, tag: string | undefined) {
    const key = keyOf(where)
    const tags = cached
    clearCache()
    if (tags === undefined || tags.get(key) !== before) return
    if (tag === undefined) tags.delete(key)
    else tags.set(key, tag)
    cached = tags
  }

  async function readTags(): Promise<Map<string, string>> {
    const since = cleared
    const rows = await repository.tags()
    const found = new Map(rows.map((row) => [keyOf(row), row.tag]))
    // Tags read before a change must not be cached after it.
    if (since === cleared) cached = found
    return found
  }

  /** Returns a schema by its tag, or the current one if it was replaced. */
  async function schemaOf(where: CollectionRef, tag: string) {
    const cached = texts.get(tag)
    if (cached !== undefined) return { tag, schema: cached }
    const found = await repository.read(where)
    return found && { tag: found.tag, schema: keep(where, found) }
  }

  function keep(where: CollectionRef, { tag, body }: StoredSchema): Schema {
    const schema = toSchema(where, body)
    texts.set(tag, schema, { size: body.length })
    return schema
  }

  /** Queries the tag of a collection's schema. */
  async function readTag(where: CollectionRef): Promise<string | undefined> {
    if (isCached) return (await readTags()).get(keyOf(where))
    return repository.tag(where)
  }

  const current: CurrentSchemaOf = async (where) => {
    const tag = cached === undefined ? await readTag(where) : cached.get(keyOf(where))
    const found = tag === undefined ? undefined : await schemaOf(where, tag)
    if (found === undefined) return { tag: null }
    return { tag: found.tag, validate: validatorBy(checker, found.schema) }
  }

  const checkNow = async (...[where, documents, from]: Parameters<CheckDocuments>) => {
    const { validate } = await current(where)
    await validate?.(documents, from)
  }

  async function required(where: CollectionRef, conditions: Conditions): Promise<StoredSchema> {
    const found = await repository.read(where)
    if (found === undefined) {
      if (conditions.match !== undefined) throw preconditionFailed()
      throw new Failure('not-found', `The collection ${where.collection} has no schema.`)
    }
    if (!matches(conditions, found.tag)) throw preconditionFailed()
    return found
  }

  return {
    read: required,
    async put(where, text, conditions, on) {
      const schema = parseStrictly(text)
      const body = printJson(schema)
      await checker.compile(toSchema(where, body))
      for (;;) {
        const found = await repository.read(where)
        if (!holds(conditions, found?.tag)) throw preconditionFailed()
        const tag = await repository.put(where, found, body, on)
        if (tag === undefined) continue
        keep(where, { tag, body })
        replaceTag(where, found?.tag, tag)
        return { tag, body, created: found === undefined }
      }
    },
    async delete(where, conditions, on) {
      for (;;) {
        const found = await required(where, conditions)
        if (!matchesNone(conditions, found.tag)) throw preconditionFailed()
        if (!(await repository.delete(where, found, on))) continue
        replaceTag(where, found.tag, undefined)
        return found
      }
    },
    check(where, documents, from) {
      if (cached !== undefined && !cached.has(keyOf(where))) return undefined
      return checkNow(where, documents, from)
    },
    current,
    clearCache,
    purge: repository.purge,
  }
}

/** Returns a function that validates documents in parts, off the event loop. */
const validatorBy =
  (checker: SchemaChecker, schema: Schema): Validate =>
  async (documents, from) => {
    const violations: Violation[] = []
    let count = 0
    let checked = 0
    for (const batch of batchesOf(documents)) {
      const found = await checker.check(
        schema,
        batch,
        from === undefined ? undefined : from + checked,
      )
      violations.push(...found.violations.slice(0, VIOLATIONS - violations.length))
      count += found.count
      checked += batch.length
    }
    if (count === 0) return
    throw violationFailure('does not match the schema of its collection', { violations, count })
  }

/** Yields the documents in batches of about {@link MAX_BATCH_LENGTH} characters. */
function* batchesOf(documents: readonly CheckedDocument[]): Generator<string[]> {
  let batch: string[] = []
  let length = 0
  for (const { body } of documents) {
    if (batch.length > 0 && length >= MAX_BATCH_LENGTH) {
      yield batch
      batch = []
      length = 0
    }
    batch.push(body)
    length += body.length
  }
  if (batch.length > 0) yield batch
}

/**
 * Returns the schema of a collection. The key includes the collection, so that rejecting a slow
 * schema does not affect another collection with the same schema.
 */
const toSchema = (where: CollectionRef, text: string): Schema => ({
  key: `${keyOf(where)} ${createHash('sha256').update(text).digest('base64url')}`,
  text,
})

/** Ids of databases and names of collections contain no slash. */
const keyOf = ({ database, collection }: CollectionRef) => `${database}/${collection}`

/** Returns whether the conditions hold for a state, or for a missing schema. */
function holds(conditions: Conditions, tag: string | undefined): boolean {
  if (tag === undefined) return conditions.match === undefined
  return matches(conditions, tag) && matchesNone(conditions, tag)
}

const preconditionFailed = () =>
  new Failure(
    'precondition-failed',
    'The schema has changed, or does not match the precondition of the request.',
  )
