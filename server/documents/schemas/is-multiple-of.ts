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
