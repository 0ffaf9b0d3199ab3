import { isIP } from 'node:net'
import { domainToASCII } from 'node:url'
import type { InvalidPart } from '../contract/acknowledgement.ts'
import { Failure } from '../failure.ts'

/**
 * Checks that an ACME directory can validate names.
 *
 * @throws Failure `invalid` with all problems.
 */
export function parseOrdered(names: string[], challenge: string | undefined): string[] {
  const errors = names.flatMap((name, at) =>
    name.startsWith('*.')
      ? { field: `/names/${at}`, reason: 'is a wildcard, which needs a challenge over DNS' }
      : isIP(name) !== 0 && challenge === 'tls-alpn-01'
        ? { field: `/names/${at}`, reason: 'is an IP address; tls-alpn-01 validates only names' }
        : [],
  )
  if (errors.length > 0) throw invalidNames(errors)
  return names
}

function invalidNames(errors: InvalidPart[]): Failure {
  const sentences = errors.map(({ field = '', reason }) => `${field.slice(1)}: ${reason}`)
  return new Failure('invalid', `The names are invalid. ${sentences.join('; ')}.`, {
    field: errors[0]?.field,
    errors,
  })
}

/**
 * Returns DNS names in ASCII and IP addresses, without duplicates.
 *
 * @throws Failure `invalid` with all problems.
 */
export function parseNames(names: readonly string[]): string[] {
  const parsed = names.map((name) => (isIP(name) !== 0 && !name.includes('%') ? name : toDns(name)))
  const errors = parsed.flatMap((name, at) =>
    name === undefined
      ? {
          field: `/names/${at}`,
          reason: `${JSON.stringify(names[at])} is neither a DNS name nor an IP address`,
        }
      : [],
  )
  if (errors.length > 0) throw invalidNames(errors)
  return [...new Set(parsed.filter((name) => name !== undefined))]
}

function toDns(name: string): string | undefined {
  const prefix = name.startsWith('*.') ? '*.' : ''
  const ascii = domainToASCII(name.slice(prefix.length))
  const isName =
    ascii.length <= 253 &&
    isIP(ascii) === 0 &&
    ascii.split('.').every((label) => /^[a-z0-9_-]{1,63}$/.test(label))
  return isName ? prefix + ascii : undefined
}
