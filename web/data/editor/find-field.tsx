import { useMemo, useState } from 'react'
import { FilterField } from '../../ui/form/filter-field.tsx'
import { formatCount } from '../../ui/text/format-number.ts'
import classes from './find-field.module.css'
import type { TextRange } from './pointer-range.ts'

/** Maximum matches to count and mark. */
const MAX_MATCHES = 1_000

export interface FindFieldProps {
  readonly text: string
  /** Called with the matches and the index of the one to show. */
  readonly onFind: (found: readonly TextRange[], at: number) => void
}

/** Field that finds a text in a document. Enter shows the next match, Shift Enter the previous one. */
export function FindField({ text, onFind }: FindFieldProps) {
  const [query, setQuery] = useState('')
  const [at, setAt] = useState(0)
  const found = useMemo(() => findRanges(text, query), [text, query])
  const show = (matches: readonly TextRange[], next: number) => {
    setAt(next)
    onFind(matches, next)
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys act in the field
    <div
      className={classes.find}
      onKeyDown={({ key, shiftKey }) => {
        const { length } = found
        if (key === 'Enter' && length > 0) show(found, (at + (shiftKey ? -1 : 1) + length) % length)
      }}
    >
      <FilterField
        label="Find in the document"
        placeholder="Find"
        clear="Clear the search"
        text={query}
        onChange={(next) => {
          setQuery(next)
          show(findRanges(text, next), 0)
        }}
      />
      <span role="status" className="dim">
        {query !== '' &&
          (found.length === 0
            ? 'No match'
            : `${Math.min(at + 1, found.length)} of ${formatCount(found.length)}${found.length === MAX_MATCHES ? '+' : ''}`)}
      </span>
    </div>
  )
}

/** Returns where a text occurs in another, ignoring case. */
export function findRanges(text: string, query: string): readonly TextRange[] {
  const [all, wanted] = [text.toLowerCase(), query.toLowerCase()]
  const found: TextRange[] = []
  // A few characters change their length with their case.
  if (wanted === '' || all.length !== text.length) return found
  for (
    let from = all.indexOf(wanted);
    from >= 0;
    from = all.indexOf(wanted, from + wanted.length)
  ) {
    found.push({ from, to: from + wanted.length })
    if (found.length === MAX_MATCHES) break
  }
  return found
}
