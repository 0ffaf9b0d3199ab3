import { VIOLATIONS, type Violation } from '../../contract/schema.ts'
import { Failure } from '../../failure.ts'
import type { NewDocument } from '../document.ts'
import type { Validate } from '../schemas/schemas.ts'
import type { ImportTally } from './import-tally.ts'

/** A document to import. */
export interface ImportedDocument extends NewDocument {
  readonly tag: string
  readonly line: number
}

/**
 * Validates documents by a schema, if there is one; returns the valid ones, in order.
 *
 * A check lists a limited number of violations, which may be those of its first documents only. The
 * next check then gets at most twice as many documents, so that the total work is linear.
 *
 * @param rejected receives the others.
 * @param signal aborted when the client disconnects or the job ends.
 * @throws Failure `busy`; the reason of the signal
 */
export async function validate(
  check: Validate | undefined,
  documents: readonly ImportedDocument[],
  rejected: Pick<ImportTally, 'fail'>,
  signal: AbortSignal,
): Promise<readonly ImportedDocument[]> {
  if (check === undefined) return documents
  const valid: ImportedDocument[] = []
  let size = documents.length
  for (let rest = documents; rest.length > 0; ) {
    signal.throwIfAborted()
    const some = rest.slice(0, size)
    const failure = await failureOf(check(some, 0))
    let checked = some.length
    if (failure === undefined) {
      valid.push(...some)
    } else {
      const invalid = byDocument(failure)
      if (invalid.size === 0) {
        valid.push(...(await validateHalves(check, some, rejected, failure, signal)))
      } else {
        if (isTruncated(failure)) checked = Math.max(...invalid.keys()) + 1
        for (const [at, violations] of invalid) {
          const { line } = some[at] as ImportedDocument
          rejected.fail(line, failure.with({ violations }))
        }
        valid.push(...some.slice(0, checked).filter((_, at) => !invalid.has(at)))
      }
    }
    rest = rest.slice(checked)
    size = 2 * checked
  }
  return valid
}

/** Returns whether documents after the last one with violations may have further ones. */
const isTruncated = ({ details: { violations = [] } }: Failure) => violations.length >= VIOLATIONS

async function failureOf(checking: Promise<void>): Promise<Failure | undefined> {
  try {
    await checking
    return undefined
  } catch (error) {
    if (error instanceof Failure && error.kind.status < 500) return error
    throw error
  }
}

/** Returns the violations of each document, with pointers into the document. */
function byDocument({ details: { violations = [] } }: Failure): Map<number, Violation[]> {
  const found = new Map<number, Violation[]>()
  for (const { pointer, message } of violations) {
    const [, index = ''] = /^\/([0-9]+)/.exec(pointer) ?? []
    if (index === '') continue
    const violation = { pointer: pointer.slice(index.length + 1), message }
    const others = found.get(Number(index))
    if (others === undefined) found.set(Number(index), [violation])
    else others.push(violation)
  }
  return found
}

/** Validates each half separately, to find the documents whose validation takes too long. */
async function validateHalves(
  check: Validate,
  documents: readonly ImportedDocument[],
  rejected: Pick<ImportTally, 'fail'>,
  failure: Failure,
  signal: AbortSignal,
): Promise<readonly ImportedDocument[]> {
  const [first, second] = documents
  if (first !== undefined && second === undefined) {
    rejected.fail(first.line, failure)
    return []
  }
  const middle = documents.length >> 1
  return [
    ...(await validate(check, documents.slice(0, middle), rejected, signal)),
    ...(await validate(check, documents.slice(middle), rejected, signal)),
  ]
}
