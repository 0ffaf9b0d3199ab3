import { Failure } from '../failure.ts'
import type { Store } from '../storage/open.ts'
import { type Checked, compileSchema, type Validate } from './compile-schema.ts'
import type { Collection } from './documents.ts'
import { type Conditions, matches, matchesNone } from './entity-tag.ts'
import { createSchemaRepository, type StoredSchema } from './schema-repository.ts'
import { parseStrictly, printJson } from './strict-json.ts'

/** The JSON Schemas of collections. Conditions that do not hold fail with 412. */
export interface Schemas {
  /** @throws Failure `not-found`, `precondition-failed` */
  read(where: Collection, conditions: Conditions): Promise<StoredSchema>
  /**
   * Puts a schema on a collection, for what is changed from then on: documents that are there
   * already stay as they are, until they are changed.
   *
   * @throws Failure `bad-json`, `invalid` naming what is wrong with it, `precondition-failed`
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
   * @throws Failure `invalid` with every violation and its pointer.
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

/**
 * Returns the validator of a collection's schema as it is now; undefined where it has none. The
 * validator makes no query, so a transaction may use it.
 */
export type ValidatorOf = (where: Collection) => Promise<Validate | undefined>

/** How many compiled schemas are kept; then the oldest is compiled again when it is needed. */
const MOST_COMPILED = 1_000

/**
 * Makes {@link Schemas}. On SQLite, where every change of another process is noticed before the next
 * request, it is remembered which collections have one; with PostgreSQL the store is asked at every
 * check, so that a schema put at one node counts at the others at once. A tag is never given twice:
 * what was compiled for it stays right.
 */
export function createSchemas(store: Store): Schemas {
  const repository = createSchemaRepository(store)
  const remembers = store.engine === 'sqlite'
  const validators = new Map<string, Validate>()
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

  /** The validator of a schema; of the state that is there now, where the tag has moved on. */
  async function compiled(where: Collection, tag: string): Promise<Validate | undefined> {
    const kept = validators.get(tag)
    if (kept !== undefined) return kept
    const schema = await repository.read(where)
    if (schema === undefined) return undefined
    return validators.get(schema.tag) ?? keep(schema.tag, compileSchema(JSON.parse(schema.body)))
  }

  function keep(tag: string, validate: Validate): Validate {
    const [oldest] = validators.keys()
    if (oldest !== undefined && validators.size >= MOST_COMPILED) validators.delete(oldest)
    validators.set(tag, validate)
    return validate
  }

  /** The tag of a collection's schema, from the store. */
  async function askFor(where: Collection): Promise<string | undefined> {
    if (remembers) return (await look()).get(keyOf(where))
    return repository.tag(where)
  }

  const validatorOf: ValidatorOf = async (where) => {
    const tag = known === undefined ? await askFor(where) : known.get(keyOf(where))
    return tag === undefined ? undefined : compiled(where, tag)
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
      const validate = compileSchema(schema)
      const body = printJson(schema)
      for (;;) {
        const found = await repository.read(where)
        if (!holds(conditions, found?.tag)) throw movedOn()
        const tag = await repository.put(where, found?.tag, body)
        if (tag === undefined) continue
        keep(tag, validate)
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

/** Neither the id of a database nor the name of a collection holds a slash. */
const keyOf = ({ database, collection }: Collection) => `${database}/${collection}`

/** Whether the conditions hold of a state, or of nothing being there. */
function holds(conditions: Conditions, tag: string | undefined): boolean {
  if (tag === undefined) return conditions.match === undefined
  return matches(conditions, tag) && matchesNone(conditions, tag)
}

const movedOn = () =>
  new Failure('precondition-failed', 'The schema is not in the state that the request asks for.')
