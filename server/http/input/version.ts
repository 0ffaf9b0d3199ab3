import { VERSIONS } from '../../contract/document.ts'
import { Failure } from '../../failure.ts'

/**
 * Returns the document version that `Accept: application/json; version=1` requests. Without a
 * version it returns the newest.
 *
 * @throws Failure `not-acceptable` naming the available versions.
 */
export function acceptedVersion(accept: string | undefined): number {
  const newest = VERSIONS[0]
  if (accept === undefined) return newest
  const requested = accept
    .split(',')
    .map((range) => /;\s*version\s*=\s*"?([^";\s]*)"?/i.exec(range)?.[1])
    .filter((version) => version !== undefined)
  if (requested.length === 0) return newest
  const version = VERSIONS.find((version) => requested.includes(String(version)))
  if (version !== undefined) return version
  throw new Failure(
    'not-acceptable',
    `Version ${requested[0]?.slice(0, 32)} is not supported. Supported: ${VERSIONS.join(', ')}.`,
    { field: 'Accept' },
  )
}
