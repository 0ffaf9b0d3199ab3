import { VIOLATIONS, type Violation } from '../../contract/schema.ts'
import { Failure } from '../../failure.ts'
import type { CollectionRef } from '../../storage/document-ref.ts'
import type { NewDocument } from '../document.ts'
import type { CheckDocuments } from '../schemas/schemas.ts'
import type { ImportTally } from './import-tally.ts'

/** A document to import. */
export interface ImportedDocument extends NewDocument {
  readonly line: number
}

/**
 * Validates documents by the schema of their collection; returns the valid ones, in order. The
 * others count as failed.
 *
 * @throws Failure `busy`
 */
export async function validate(
  check: CheckDocuments,
  where: CollectionRef,
  documents: readonly ImportedDocument[],
  tally: ImportTally,
): Promise<readonly ImportedDocument[]> {
  let rest = documents
  while (rest.length > 0) {
    const failure = await failureOf(check(where, rest, true))
    if (failure === undefined) return rest
    const invalid = byDocument(failure)
    if (invalid.size === 0) return validateHalves(check, where, rest, tally, failure)
    for (const [at, violations] of invalid) {
      const { line } = rest[at] as ImportedDocument
      const { code, message, details } = failure
      tally.fail(line, new Failure(code, message, { ...details, violations }))
    }
    rest = rest.filter((_, at) => !invalid.has(at))
    // Of many violations, only the first are known: each check could find just one document.
    const isCut = failure.details.violations?.length === VIOLATIONS
    if (isCut && rest.length > 1) return validateHalves(check, where, rest, tally, failure)
  }
  return rest
}

async function failureOf(checking: Promise<void> | undefined): Promise<Failure | undefined> {
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

/**
 * Validates each half separately, to find the documents whose validation takes too long or that have
 * too many violations.
 */
async function validateHalves(
  check: CheckDocuments,
  where: CollectionRef,
  documents: readonly ImportedDocument[],
  tally: ImportTally,
  failure: Failure,
): Promise<readonly ImportedDocument[]> {
  const [first, second] = documents
  if (first !== undefined && second === undefined) {
    tally.fail(first.line, failure)
    return []
  }
  const middle = documents.length >> 1
  return [
    ...(await validate(check, where, documents.slice(0, middle), tally)),
    ...(await validate(check, where, documents.slice(middle), tally)),
  ]
}
