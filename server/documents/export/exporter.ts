import { Semaphore } from '../../concurrency/semaphore.ts'
import { createTimeSlice } from '../../concurrency/turns.ts'
import { Failure } from '../../failure.ts'
import type { CollectionRef } from '../../storage/document-ref.ts'
import type { Store } from '../../storage/store.ts'
import type { OnDamaged } from '../damage-log.ts'
import { idsOf } from '../find/read-by-ids.ts'
import { planQuery } from '../indexes/plan.ts'
import {
  type ExportFormat,
  type ExportQuery,
  isPlanned,
  requireOwnFilters,
} from '../query/query.ts'
import { createDocumentPrinter } from '../query/select-fields.ts'
import { ifReadable } from '../read-fields.ts'
import { CsvColumns, columnsOf, createCsvFormat } from './csv.ts'
import { databaseText } from './database-text.ts'
import type { MatchingDocument, ReadMatchingDeps } from './matching-document.ts'
import { readMatching } from './read-matching.ts'
import { openSnapshotReader } from './snapshot-reader.ts'

/** An export that has begun. The caller must read all chunks, or call `return` on them. */
export interface Export {
  readonly chunks: AsyncGenerator<string, void>
  /** When the export must end, by `performance.now()`. */
  readonly deadline: number
  /** Name of the index that serves the query; undefined for a scan. */
  readonly index: string | undefined
  /** The ids of documents that were left out so far, because their stored text is not JSON. */
  readonly damaged: ReadonlySet<string>
}

export interface Exporter {
  /**
   * Begins to export all documents of a collection that match, from one snapshot.
   *
   * @throws Failure `busy`, `unavailable`. The chunks throw these, `query-too-expensive` and
   * `bad-parameter`.
   */
  begin(
    where: CollectionRef,
    query: ExportQuery,
    format: ExportFormat,
    signal: AbortSignal,
  ): Promise<Export>
  /** Begins to export all collections of a database. @throws Failure as {@link begin} */
  beginDatabase(
    database: { readonly id: string; readonly name: string },
    signal: AbortSignal,
  ): Promise<Export>
  /** Number of exports that run. */
  readonly running: number
}

/**
 * Returns the exporter of a store.
 *
 * @param onDamaged called for each document that is left out, because its stored text is not JSON.
 */
export function createExporter(
  store: Store,
  limit = new ExportLimit(),
  onDamaged: OnDamaged = () => {},
): Exporter {
  return {
    get running() {
      return limit.running
    },
    begin: (where, parsed, format, signal) =>
      begin(signal, async (deps, damaged) => {
        const leaveOut = (id: string) => {
          damaged.add(id)
          onDamaged(where, id)
        }
        const query = { ...parsed, onDamaged: leaveOut }
        const { conditions, sort } = query
        const usesIndex = isPlanned(query) && idsOf(conditions) === undefined
        const indexes = usesIndex ? await deps.reader.indexes.ready(where) : []
        const plan = planQuery(indexes, { conditions, sort, count: false })
        const read = () => readMatching(deps, where, query, plan)
        const texts = FORMATS[format](read, query)
        return { texts, index: plan?.index.name }
      }),
    beginDatabase: (database, signal) =>
      begin(signal, async (deps) => ({
        texts: databaseText({ ...deps, db: store.db }, database),
        index: undefined,
      })),
  }

  /** Waits for the slot of an export, and opens a snapshot for it. */
  async function begin(
    signal: AbortSignal,
    open: (
      deps: ReadMatchingDeps,
      damaged: Set<string>,
    ) => Promise<{
      readonly texts: AsyncGenerator<string, void>
      readonly index: string | undefined
    }>,
  ): Promise<Export> {
    const opened = new AsyncDisposableStack()
    try {
      const slot = opened.use(await limit.enter(signal))
      const { check, deadline } = slot
      const reader = opened.use(await openSnapshotReader(store))
      const damaged = new Set<string>()
      const { texts, index } = await open({ reader, check }, damaged)
      return { chunks: disposing(texts, opened), deadline, index, damaged }
    } catch (error) {
      await opened.disposeAsync()
      throw error
    }
  }
}

/** Disposes the resources of a generator when it ends, even if it has not begun. */
function disposing(
  texts: AsyncGenerator<string, void>,
  opened: AsyncDisposableStack,
): AsyncGenerator<string, void> {
  const end = async <T>(result: Promise<T>): Promise<T> => {
    try {
      return await result
    } finally {
      await opened.disposeAsync()
    }
  }
  return {
    async next() {
      try {
        const result = await texts.next()
        if (result.done) await opened.disposeAsync()
        return result
      } catch (error) {
        await opened.disposeAsync()
        throw error
      }
    },
    return: (value) => end(texts.return(value)),
    throw: (error) => end(texts.throw(error)),
    [Symbol.asyncIterator]() {
      return this
    },
    async [Symbol.asyncDispose]() {
      await end(texts.return())
    },
  }
}

type Read = () => AsyncGenerator<readonly MatchingDocument[], void>

async function* ndjsonOf(read: Read, query: ExportQuery): AsyncGenerator<string, void> {
  const print = createDocumentPrinter(query.fields)
  for await (const texts of textsOf(read, print, query)) yield `${texts.join('\n')}\n`
}

async function* csvOf(read: Read, query: ExportQuery): AsyncGenerator<string, void> {
  const { fields } = query
  const columns = fields === undefined ? await collectColumns(read, query) : columnsOf(fields)
  const { header, row } = createCsvFormat(columns, query)
  let before = header
  const rowOf = (body: string) => ifReadable(() => row(body))
  for await (const rows of textsOf(read, rowOf, query)) {
    yield before + rows.join('')
    before = ''
  }
  if (before !== '') yield before
}

async function* arrayOf(read: Read, query: ExportQuery): AsyncGenerator<string, void> {
  const print = createDocumentPrinter(query.fields)
  let before = '[\n'
  for await (const texts of textsOf(read, print, query)) {
    yield before + texts.join(',\n')
    before = ',\n'
  }
  yield before === ',\n' ? '\n]\n' : '[]\n'
}

/**
 * Yields the texts of each batch of documents that has any. Printing a document may take long: it is
 * large, or the text has a cell for each of many columns.
 *
 * @throws Failure `bad-parameter` if there are none, as `requireOwnFilters`
 */
async function* textsOf(
  read: Read,
  print: (body: string) => string | undefined,
  { conditions, onDamaged }: ExportQuery,
): AsyncGenerator<readonly string[], void> {
  let isEmpty = true
  for await (const documents of read()) {
    if (documents.length === 0) continue
    isEmpty = false
    const timeSlice = createTimeSlice()
    const texts: string[] = []
    for (const each of documents) {
      const turn = timeSlice()
      if (turn !== undefined) await turn
      const text = print(each.body)
      if (text === undefined) onDamaged?.(each.id)
      else texts.push(text)
    }
    if (texts.length > 0) yield texts
  }
  if (isEmpty) requireOwnFilters(conditions)
}

const FORMATS: Readonly<Record<ExportFormat, typeof csvOf>> = {
  ndjson: ndjsonOf,
  csv: csvOf,
  json: arrayOf,
}

/** Returns the fields of all documents. */
async function collectColumns(read: Read, { onDamaged }: ExportQuery) {
  const columns = new CsvColumns()
  const timeSlice = createTimeSlice()
  for await (const documents of read()) {
    for (const each of documents) {
      const turn = timeSlice()
      if (turn !== undefined) await turn
      if (ifReadable(() => columns.add(each.body)) === undefined) onDamaged?.(each.id)
    }
  }
  return columns.paths
}

/**
 * Limits of exports: how many run at once on a node, how many wait, and for how long they wait and
 * run, ms. A running export holds a snapshot of the store.
 */
export const EXPORTS = {
  running: 3,
  waiting: 100,
  wait: 5_000,
  duration: 30 * 60_000,
} as const

/** The slot of an export. */
interface ExportSlot extends Disposable {
  /** When the export must end, by `performance.now()`. */
  readonly deadline: number
  /** @throws Failure `busy` if the export must end. */
  readonly check: () => void
}

/** Limits the exports of a node ({@link EXPORTS}). */
export class ExportLimit {
  readonly #slots: Semaphore
  readonly #duration: number

  constructor(limits: Readonly<Record<keyof typeof EXPORTS, number>> = EXPORTS) {
    this.#slots = new Semaphore(limits.running, { ...limits, busy })
    this.#duration = limits.duration
  }

  /** Number of exports that run. */
  get running(): number {
    return this.#slots.held
  }

  /**
   * Waits for the slot of an export.
   *
   * @throws Failure `busy` with `Retry-After`
   */
  async enter(signal: AbortSignal): Promise<ExportSlot> {
    await this.#slots.enter(() => signal)
    const deadline = performance.now() + this.#duration
    return {
      deadline,
      check: () => {
        if (signal.aborted) throw new Failure('busy', 'The client has disconnected.')
        if (performance.now() > deadline) throw tooLong(this.#duration)
      },
      [Symbol.dispose]: () => this.#slots.leave(),
    }
  }
}

const busy = () =>
  new Failure('busy', 'Too many exports are running. Try again.', {
    headers: { 'Retry-After': '5' },
  })

const tooLong = (duration: number) =>
  new Failure('busy', `The export was stopped after ${duration / 60_000} minutes.`)
