import type { ReactNode } from 'react'
import {
  filterByName,
  NameFilter,
  type NameFilterProps,
  NoNameMatch,
} from '../../ui/form/name-filter.tsx'
import { Section } from '../../ui/layout/section.tsx'
import classes from './name-list.module.css'

export interface NameListProps<Row> extends Omit<NameFilterProps, 'total'> {
  readonly title: string
  readonly rows: readonly Row[]
  /** Renders the link of a row with the given class. */
  readonly link: (row: Row, className: string | undefined) => ReactNode
  /** Renders details at the right of a name. */
  readonly facts?: (row: Row) => ReactNode
}

/** Lists the names that a filter matches, each with a link. */
export function NameList<Row extends { readonly name: string }>(props: NameListProps<Row>) {
  const { title, rows, link, facts, kind, text, onChange } = props
  const filter = { kind, text, onChange, total: rows.length }
  const shown = filterByName(rows, text)
  return (
    <>
      <NameFilter {...filter} />
      {shown.length === 0 && text !== '' ? (
        <NoNameMatch {...filter} />
      ) : (
        <Section title={title} count={shown.length}>
          <ul className={classes.list} aria-label={title}>
            {shown.map((row) => (
              <li key={row.name}>
                {link(row, `mono ${classes.name}`)}
                {facts !== undefined && <span className={classes.facts}>{facts(row)}</span>}
              </li>
            ))}
          </ul>
        </Section>
      )}
    </>
  )
}
