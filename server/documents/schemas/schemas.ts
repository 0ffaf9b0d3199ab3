import { createHash } from 'node:crypto'
import { VIOLATIONS, type Violation } from '../contract/schema.ts'
import { Failure } from '../failure.ts'
import type { Store } from '../storage/open.ts'
import type { Collection } from './documents.ts'
import { type Conditions, matches, matchesNone } from './entity-tag.ts'
import { type SchemaChecker, STEP } from './schema-checker.ts'
import { createSchemaRepository, type StoredSchema } from './schema-repository.ts'
import type { Schema } from './schema-thread.ts'
import { SizedCache } from './sized-cache.ts'
import { parseStrictly, printJson } from './strict-json.ts'
import { violated } from './violations.ts'

/** A document to be checked, as JSON. */
export interface Checked {
  readonly body: string
}

/** The JSON Schemas of collections. Conditions that do not hold fail with 412. */
export interface Schemas {
  /** @throws Failure `not-found`, `precondition-failed` */
  read(where: Collection, conditions: Conditions): Promise<StoredSchema>
  /**
   * Puts a schema on a collection, for what is changed from then on: documents that are there
   * already stay as they are, until they are changed.
   *
   * @throws Failure `bad-json`, `invalid` naming what is wrong with it, `precondition-failed`,
   * `busy`
   */
  put(where: Collection, text: string, conditions: Conditions): Promise<StoredSchema>
  /** Answers what was deleted. @throws Failure `not-found`, `precondition-failed` */
  delete(where: Collection, conditions: Conditions): Promise<StoredSchema>
  /**
   * Checks documents, as they are to be stored, against the schema of their collection.
   *
   * @param indexed whether they came in an array: pointers then begin with the index.
   * @param from the index of the first of them, where they are a part of it.
   * @returns undefined, at the cost of looking that up, where there is known to be no schema.
   * @throws Failure `invalid` with every violation and its pointer; `busy` where the schema is rejected
   * for a while, or too many checks wait.
   */
  check: CheckDocuments
  /** See {@link ValidatorOf}. */
  validatorOf: ValidatorOf
  /** Forgets what is remembered, after another process has changed the store. */
  forget(): void
  /** Deletes the schemas of databases that were dropped. */
  purge(): Promise<void>
}

/** See {@link Schemas.check}. */
export type CheckDocuments = (
  where: Collection,
  documents: readonly Checked[],
  indexed: boolean,
  from?: number,
) => Promise<void> | undefined

/** Checks documents: see {@link Schemas.check}. */
export type Validate = (
  documents: readonly Checked[],
  indexed: boolean,
  from?: number,
) => Promise<void>

/**
 * Returns the validator of a collection's schema as it is now; undefined where it has none. The
 * validator makes no query, so a transaction may use it.
 */
export type ValidatorOf = (where: Collection) => Promise<Validate | undefined>

/** Schemas that are remembered: how many, and their characters. Others are read when they are needed. */
const REMEMBERED = { entries: 1_000, size: 8 * 1024 * 1024 } as const

/**
 * Makes {@link Schemas}. On SQLite, where every change of another process is noticed before the next
 * request, it is remembered which collections have one; with PostgreSQL the store is asked at every
 * check, so that a schema put at one node counts at the others at once. A tag is never given twice:
 * what was read of it stays right.
 */
export function createSchemas(store: Store, checker: SchemaChecker): Schemas {
  const repository = createSchemaRepository(store)
  const remembers = store.engine === 'sqlite'
  const texts = new SizedCache<Schema>(REMEMBERED)
  let known: Map<string, string> | undefined
  let forgotten = 0

  function forget(): void {
    forgotten++
    known = undefined
  }

  async function look(): Promise<Map<string, string>> {
    const since = forgotten
    const rows = await repository.tags()
    const found = new Map(rows.map((row) => [keyOf(row), row.tag]))
    // What was read before a change must not be remembered after it.
    if (since === forgotten) known = found
    return found
  }

  /** A schema by its tag; of the state that is there now, where the tag has moved on. */
  async function schemaOf(where: Collection, tag: string): Promise<Schema | undefined> {
    const remembered = texts.get(tag)
    if (remembered !== undefined) return remembered
    const found = await repository.read(where)
    return found && keep(where, found)
  }

  function keep(where: Collection, { tag, body }: StoredSchema): Schema {
    const schema = toSchema(where, body)
    texts.set(tag, schema, body.length)
    return schema
  }

  /** The tag of a collection's schema, from the store. */
  async function askFor(where: Collection): Promise<string | undefined> {
    if (remembers) return (await look()).get(keyOf(where))
    return repository.tag(where)
  }

  const validatorOf: ValidatorOf = async (where) => {
    const tag = known === undefined ? await askFor(where) : known.get(keyOf(where))
    const schema = tag === undefined ? undefined : await schemaOf(where, tag)
    return schema && validatorBy(checker, schema)
  }

  const checkNow = async (...[where, documents, indexed, from]: Parameters<CheckDocuments>) => {
    const validate = await validatorOf(where)
    await validate?.(documents, indexed, from)
  }

  async function required(where: Collection, conditions: Conditions): Promise<StoredSchema> {
    const found = await repository.read(where)
    if (found === undefined) {
      if (conditions.match !== undefined) throw movedOn()
      throw new Failure('not-found', `The collection ${where.collection} has no schema.`)
    }
    if (!matches(conditions, found.tag)) throw movedOn()
    return found
  }

  return {
    read: required,
    async put(where, text, conditions) {
      const schema = parseStrictly(text)
      const body = printJson(schema)
      await checker.compile(toSchema(where, body))
      for (;;) {
        const found = await repository.read(where)
        if (!holds(conditions, found?.tag)) throw movedOn()
        const tag = await repository.put(where, found?.tag, body)
        if (tag === undefined) continue
        keep(where, { tag, body })
        forget()
        return { tag, body }
      }
    },
    async delete(where, conditions) {
      for (;;) {
        const found = await required(where, conditions)
        if (!matchesNone(conditions, found.tag)) throw movedOn()
        if (!(await repository.delete(where, found.tag))) continue
        forget()
        return found
      }
    },
    check(where, documents, indexed, from) {
      if (known !== undefined && !known.has(keyOf(where))) return undefined
      return checkNow(where, documents, indexed, from)
    },
    validatorOf,
    forget,
    purge: repository.purge,
  }
}

/** Returns what checks documents a part at a time, beside the event loop. */
const validatorBy =
  (checker: SchemaChecker, schema: Schema): Validate =>
  async (documents, indexed, from = 0) => {
    const violations: Violation[] = []
    let count = 0
    let at = 0
    while (at < documents.length) {
      const first = at
      let size = 0
      while (at < documents.length && (at === first || size < STEP)) {
        size += documents[at++]?.body.length ?? 0
      }
      const some = documents.slice(first, at).map(({ body }) => body)
      const found = await checker.check(schema, some, indexed ? from + first : undefined)
      violations.push(...found.violations.slice(0, VIOLATIONS - violations.length))
      count += found.count
    }
    if (count === 0) return
    throw violated('does not fit the schema of its collection', { violations, count })
  }

/** A schema of a collection. What one collection does with it says nothing to others with the same. */
const toSchema = (where: Collection, text: string): Schema => ({
  key: `${keyOf(where)} ${createHash('sha256').update(text).digest('base64url')}`,
  text,
})

/** Neither the id of a database nor the name of a collection holds a slash. */
const keyOf = ({ database, collection }: Collection) => `${database}/${collection}`

/** Whether the conditions hold of a state, or of nothing being there. */
function holds(conditions: Conditions, tag: string | undefined): boolean {
  if (tag === undefined) return conditions.match === undefined
  return matches(conditions, tag) && matchesNone(conditions, tag)
}

const movedOn = () =>
  new Failure('precondition-failed', 'The schema is not in the state that the request asks for.')
