import { NoMatch } from '../feedback/no-match.tsx'
import { formatCount } from '../text/format-number.ts'
import { FilterField, type FilterFieldProps } from './filter-field.tsx'
import classes from './name-filter.module.css'

/** Number of names from which the filter is shown. */
const SHOWN_FROM = 8

export interface NameFilterProps extends Pick<FilterFieldProps, 'text' | 'onChange'> {
  /** What the rows are, in the singular. */
  readonly kind: 'database' | 'collection'
  /** Number of rows, with and without a match. */
  readonly total: number
}

/** Filter by name above a list that is long enough to need it. */
export function NameFilter({ kind, total, ...props }: NameFilterProps) {
  if (total < SHOWN_FROM && props.text === '') return null
  return (
    <div className={classes.filter}>
      <FilterField
        {...props}
        label={`Filter ${kind}s`}
        placeholder={`Filter ${formatCount(total)} ${kind}s by name`}
        clear="Clear filter"
      />
    </div>
  )
}

/** Shown in place of the list if the filter matches no name. */
export function NoNameMatch({ kind, total, text, onChange }: NameFilterProps) {
  return (
    <NoMatch clear="Clear filter" onClear={() => onChange('')}>
      No {kind} matches “{text}”. {total === 1 ? '1 is' : `${formatCount(total)} are`} hidden.
    </NoMatch>
  )
}

/** Returns the rows whose name contains a text, ignoring case. */
export function filterByName<Row extends { readonly name: string }>(
  rows: readonly Row[],
  text: string,
): readonly Row[] {
  const wanted = text.trim().toLowerCase()
  return wanted === '' ? rows : rows.filter(({ name }) => name.toLowerCase().includes(wanted))
}
