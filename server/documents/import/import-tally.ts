import {
  IMPORT_DOCUMENTS,
  IMPORT_ERRORS,
  type ImportError,
  type ImportResponse,
  type ImportResult,
} from '../../contract/import.ts'
import type { Failure } from '../../failure.ts'

/** Maximum length of a message and of a pointer in the result of an import, in characters. */
const TEXT_LENGTH = 1_000

/** Counts what an import has done, and keeps its first errors. */
export class ImportTally {
  created = 0
  replaced = 0
  skipped = 0
  failed = 0
  #errors: readonly ImportError[]
  /** Errors since the last batch ended, in any order. */
  #latest: ImportError[] = []

  #documents: NonNullable<ImportResponse['documents']> | undefined

  /**
   * @param before the result so far of an import that continues.
   * @param lists whether to list the created documents. Default: false.
   */
  constructor(before?: ImportResult, lists = false) {
    this.#documents = lists ? [] : undefined
    this.created = before?.created ?? 0
    this.replaced = before?.replaced ?? 0
    this.skipped = before?.skipped ?? 0
    this.failed = before?.failed ?? 0
    this.#errors = before?.errors ?? []
  }

  create({ id, tag }: { readonly id: string; readonly tag: string }): void {
    this.created++
    if (this.created > IMPORT_DOCUMENTS) this.#documents = undefined
    this.#documents?.push({ id, etag: `"${tag}"` })
  }

  /** Counts a document that cannot be stored. A schema may report several errors of it. */
  fail(line: number, { message, details: { field = '', violations } }: Failure): void {
    this.failed++
    if (this.#errors.length >= IMPORT_ERRORS) return
    const errors = violations ?? [{ pointer: field, message }]
    for (const error of errors) {
      const pointer = error.pointer.slice(0, TEXT_LENGTH)
      this.#latest.push({ line, pointer, message: error.message.slice(0, TEXT_LENGTH) })
    }
    if (this.#latest.length > 10 * IMPORT_ERRORS) this.#latest = first(this.#latest)
  }

  /** Adds the counts and errors of another tally, of lines between those of this one. */
  add(other: ImportTally): void {
    other.endBatch()
    this.created += other.created
    this.replaced += other.replaced
    this.skipped += other.skipped
    this.failed += other.failed
    this.#latest.push(...other.#errors)
  }

  /** Lists an error that does not concern a document. Call it between two batches. */
  list(error: ImportError): void {
    if (this.#errors.length < IMPORT_ERRORS) this.#errors = [...this.#errors, error]
  }

  /** Ends a batch: later errors are on later lines. */
  endBatch(): void {
    if (this.#latest.length === 0) return
    this.#errors = [...this.#errors, ...first(this.#latest)].slice(0, IMPORT_ERRORS)
    this.#latest = []
  }

  /** The created documents; undefined if they are not listed, or too many. */
  get documents() {
    return this.#documents
  }

  get result(): ImportResult {
    const { created, replaced, skipped, failed } = this
    return { created, replaced, skipped, failed, errors: [...this.#errors] }
  }
}

const first = (errors: readonly ImportError[]): ImportError[] =>
  errors.toSorted((one, other) => one.line - other.line).slice(0, IMPORT_ERRORS)
