import { Failure } from '../failure.ts'
import type { NextTurn } from '../storage/turns.ts'
import { OutcomeUnknown } from '../storage/unavailable.ts'
import { type Collection, type MadeDocument, quoted, toDocument } from './documents.ts'
import type { DocumentRepository } from './repository.ts'
import type { CheckDocuments } from './schemas.ts'
import { parseStrictly } from './strict-json.ts'

/** Arrays up to this size, bytes as they were sent, are stored by one statement after another. */
const SMALL = { documents: 1_000, bytes: 1024 * 1024 } as const

/** The documents of an array, stored. */
export interface CreatedMany {
  /** In the order in which they were sent. */
  readonly documents: readonly { readonly id: string; readonly tag: string }[]
  /** The bodies of all of them together, bytes. */
  readonly bytes: number
  /** The bodies in that order, read where there are many. */
  readonly bodies: Iterable<string> | AsyncIterable<string>
  /** To be called where the bodies are not read to their end. */
  release(): void
}

/** Creates the documents of large arrays (`jobs/jobs.ts`), all or none. */
export interface LargeArrays {
  /**
   * @param parts read as they are stored.
   * @param later whether the caller asks for a job. Otherwise, an array of more than
   * `BULK_AT_ONCE` documents becomes a job all the same.
   */
  create(
    where: Collection,
    parts: AsyncIterable<readonly MadeDocument[]>,
    later: boolean,
  ): Promise<CreatedMany | { readonly job: string }>
}

/** What {@link createMany} needs. */
export interface CreateManyDeps {
  readonly repository: Pick<DocumentRepository, 'insert'>
  readonly now: () => number
  readonly check: CheckDocuments
  readonly large: LargeArrays
  readonly nextTurn: NextTurn
}

/**
 * Creates the documents of an array, all or none.
 *
 * @param parts the elements as JSON (`create-body.ts`).
 * @throws Failure `bad-json`, `invalid`, `conflict`, `too-large`, `too-many-requests`
 */
export async function createMany(
  deps: CreateManyDeps,
  where: Collection,
  parts: AsyncIterable<readonly string[]>,
  later: boolean,
): Promise<CreatedMany | { readonly job: string }> {
  const rest = parts[Symbol.asyncIterator]()
  const made: MadeDocument[] = []
  let bytes = 0
  try {
    while (!later && made.length <= SMALL.documents && bytes <= SMALL.bytes) {
      const { done, value } = await rest.next()
      if (done) return await storeSmall(deps, where, made)
      if (made.length > 0) await deps.nextTurn()
      made.push(...madeOf(value, deps.now))
      for (const text of value) bytes += Buffer.byteLength(text)
    }
  } catch (error) {
    await rest.return?.()
    throw error
  }
  return deps.large.create(where, checked(deps, where, made, rest), later)
}

const madeOf = (texts: readonly string[], now: () => number): MadeDocument[] =>
  texts.map((text) => toDocument(parseStrictly(text), undefined, now))

/** Checks what has been read already, then each part as it is read. */
async function* checked(
  { now, check, nextTurn }: CreateManyDeps,
  where: Collection,
  first: MadeDocument[],
  rest: AsyncIterator<readonly string[]>,
): AsyncGenerator<readonly MadeDocument[]> {
  let from = 0
  try {
    for (let made = first.splice(0); ; ) {
      if (made.length > 0) await check(where, made, true, from)
      from += made.length
      if (made.length > 0) yield made
      const { done, value } = await rest.next()
      if (done) return
      await nextTurn()
      made = madeOf(value, now)
    }
  } finally {
    await rest.return?.()
  }
}

async function storeSmall(
  { repository, check }: CreateManyDeps,
  where: Collection,
  made: readonly MadeDocument[],
): Promise<CreatedMany> {
  await check(where, made, true)
  const twice = firstTwice(made.map(({ id }) => id))
  if (twice !== undefined) throw new Failure('conflict', `The id ${quoted(twice)} stands twice.`)
  const result = await repository.insert(where, made).catch(naming(made))
  if ('exists' in result) throw exists(result.exists)
  const bodies = made.map(({ body }) => body)
  return {
    documents: made.map(({ id }, at) => ({ id, tag: result.tags[at] ?? '' })),
    bytes: bodies.reduce((sum, body) => sum + Buffer.byteLength(body), 0),
    bodies,
    release() {},
  }
}

function firstTwice(ids: readonly string[]): string | undefined {
  const seen = new Set<string>()
  return ids.find((id) => seen.size === seen.add(id).size)
}

/** Tells by which ids to look, where it is not known whether documents were stored. */
export const naming = (made: readonly MadeDocument[]) => (error: unknown) => {
  if (!(error instanceof OutcomeUnknown)) throw error
  throw new OutcomeUnknown({ cause: error.cause, details: { ids: made.map(({ id }) => id) } })
}

/** Fails where a document is there already. */
export const exists = (id: string) =>
  new Failure('conflict', `There is a document with the id ${quoted(id)}.`)
