import { createStore, useStore } from '../store.ts'
import { formatCount } from '../text/format-number.ts'
import classes from './printed-rows.module.css'

/** Maximum rows that a table prints, about 40 pages. On screen, tables render only visible rows. */
const PRINTED_ROWS = 1_000

/** Returns the indexes of the rows to print. */
export const printedRange = (count: number): number[] =>
  Array.from({ length: Math.min(count, PRINTED_ROWS) }, (_, index) => index)

/** In print, reports rows that the table omits. `advice` says how to get them. */
export function NotPrinted(props: { count: number; what: string; advice: string }) {
  const { count, what, advice } = props
  const printing = usePrinting()
  if (!printing || count <= PRINTED_ROWS) return null
  return (
    <PrintNote>
      The first {formatCount(PRINTED_ROWS)} of {formatCount(count)} {what} are printed. {advice}
    </PrintNote>
  )
}

/** A sentence that appears only in print. */
export function PrintNote({ children }: { children: React.ReactNode }) {
  return <p className={classes.note}>{children}</p>
}

const isPrinting = createStore(false)

// Node, where the pure parts are tested, has no `addEventListener`.
if (typeof addEventListener === 'function') {
  addEventListener('beforeprint', () => isPrinting.set(true))
  addEventListener('afterprint', () => isPrinting.set(false))
}

/** Returns whether the page is being printed. */
export const usePrinting = (): boolean => useStore(isPrinting)
