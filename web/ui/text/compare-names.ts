const collator = new Intl.Collator('en', { numeric: true })

/**
 * Compares names in natural order: `c2` before `c10`, in any case. Names that differ only in case or
 * leading zeros have a fixed order.
 */
export const compareNames = (a: string, b: string): number =>
  collator.compare(a, b) || (a < b ? -1 : a > b ? 1 : 0)
