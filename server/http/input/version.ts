import { VERSIONS } from '../contract/document.ts'
import { Failure } from '../failure.ts'

/**
 * The version of documents that a request asks for by `Accept: application/json; version=1`; the
 * newest where it names none.
 *
 * @throws Failure `not-acceptable` naming the versions there are.
 */
export function acceptedVersion(accept: string | undefined): number {
  const newest = VERSIONS[0]
  if (accept === undefined) return newest
  const asked = accept
    .split(',')
    .map((range) => /;\s*version\s*=\s*"?([^";\s]*)"?/i.exec(range)?.[1])
    .filter((version) => version !== undefined)
  if (asked.length === 0) return newest
  const known = VERSIONS.find((version) => asked.includes(String(version)))
  if (known !== undefined) return known
  throw new Failure(
    'not-acceptable',
    `There is no version ${asked[0]?.slice(0, 32)}. There is: ${VERSIONS.join(', ')}.`,
  )
}
