import { isDeepStrictEqual } from 'node:util'
import { _, type Ajv2020, str } from 'ajv/dist/2020.js'
import type { Json } from '../../contract/json/json.ts'

/**
 * Replaces keywords of an instance. `const`, `enum` and `uniqueItems` then compare JSON values, and
 * `multipleOf` uses decimal arithmetic.
 *
 * Ajv calls the methods `toString` and `valueOf` of objects and compares their property
 * `constructor`, but a document may have fields with these names. Its tolerance for `multipleOf` is
 * absolute, so it would accept any small number.
 */
export function replaceKeywords(ajv: Ajv2020): Ajv2020 {
  ajv.removeKeyword('const').addKeyword({
    keyword: 'const',
    error: {
      message: 'must be equal to constant',
      params: ({ schemaCode }) => _`{allowedValue: ${schemaCode}}`,
    },
    errors: false,
    compile: (allowed: Json) => (value: Json) => isDeepStrictEqual(allowed, value),
  })
  ajv.removeKeyword('enum').addKeyword({
    keyword: 'enum',
    schemaType: 'array',
    error: {
      message: 'must be equal to one of the allowed values',
      params: ({ schemaCode }) => _`{allowedValues: ${schemaCode}}`,
    },
    errors: false,
    compile: (allowed: readonly Json[]) => (value: Json) =>
      allowed.some((each) => isDeepStrictEqual(each, value)),
  })
  ajv.removeKeyword('multipleOf').addKeyword({
    keyword: 'multipleOf',
    type: 'number',
    schemaType: 'number',
    error: {
      message: ({ schemaCode }) => str`must be multiple of ${schemaCode}`,
      params: ({ schemaCode }) => _`{multipleOf: ${schemaCode}}`,
    },
    errors: false,
    compile: (divisor: number) => (value: number) => isMultipleOf(value, divisor),
  })
  return ajv.removeKeyword('uniqueItems').addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    compile: (isUnique: boolean) => (isUnique ? validateUnique : () => true),
  })
}

interface ValidateUnique {
  (items: readonly Json[]): boolean
  /** Set by a call that returns false, as Ajv expects. */
  errors?: { keyword: string; message: string; params: object }[]
}

const validateUnique: ValidateUnique = (items) => {
  const seen = new Map<string, number>()
  for (const [at, item] of items.entries()) {
    const text = canonicalJson(item)
    const before = seen.get(text)
    if (before !== undefined) {
      const message = `must not have equal items (at ${before} and ${at})`
      validateUnique.errors = [{ keyword: 'uniqueItems', message, params: { i: at, j: before } }]
      return false
    }
    seen.set(text, at)
  }
  return true
}

/** Returns JSON that is the same for equal values: the keys of objects are sorted. */
function canonicalJson(value: Json): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`
  const entries = Object.entries(value as Readonly<Record<string, Json>>)
  entries.sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`).join()}}`
}

/**
 * Returns whether a number is an integer multiple of a positive divisor. Both count as the decimal
 * numbers that JSON shows, so 19.99 is a multiple of 0.01.
 */
export function isMultipleOf(value: number, divisor: number): boolean {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(divisor)) return value % divisor === 0
  const [a, b] = [toDecimal(value), toDecimal(divisor)]
  const exponent = Math.min(a.exponent, b.exponent)
  const scaled = ({ digits, exponent: own }: Decimal) => digits * 10n ** BigInt(own - exponent)
  return scaled(a) % scaled(b) === 0n
}

/** The number `digits` · 10^`exponent`. The exponent is between -324 and 308. */
interface Decimal {
  readonly digits: bigint
  readonly exponent: number
}

function toDecimal(value: number): Decimal {
  const [digits = '', exponent = ''] = value.toExponential().split('e')
  const [whole = '', fraction = ''] = digits.split('.')
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length }
}
