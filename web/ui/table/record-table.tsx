import { useMediaQuery } from '@mantine/hooks'
import { Fragment, type ReactNode } from 'react'
import { useNarrowScreen } from '../layout/use-narrow-screen.ts'
import classes from './record-table.module.css'
import base from './table.module.css'

export interface Column<T> {
  readonly head: string
  readonly cell: (record: T) => ReactNode
  /** Width in pixels. Columns without one share the remaining width. */
  readonly width?: number
  /** Whether the cells are numbers, which are right-aligned. */
  readonly figures?: boolean
  /** Whether the column is hidden on screens narrower than 1280 px. */
  readonly wideOnly?: boolean
  /**
   * Whether the cells contain actions. The header is then visually hidden, and in the list the
   * cells are at the right of the title.
   */
  readonly actions?: boolean
}

/** Props of {@link RecordTable}. The first column names the record. */
export interface RecordTableProps<T> {
  /** Describes the records to screen readers. */
  readonly caption: string
  readonly records: readonly T[]
  readonly columns: readonly Column<T>[]
  readonly idOf: (record: T) => string
  /** Returns the content below an expanded record; undefined if it is collapsed. */
  readonly detailOf?: (record: T) => ReactNode
}

/** Renders records as a table, or as a list on narrow screens. */
export function RecordTable<T>(props: RecordTableProps<T>) {
  const narrow = useNarrowScreen()
  const wide = useMediaQuery('(min-width: 1280px)', undefined, { getInitialValueInEffect: false })
  if (narrow) return <RecordList {...props} />
  const { caption, records, idOf, detailOf } = props
  const columns = props.columns.filter(({ wideOnly = false }) => wide || !wideOnly)
  return (
    <table className={`${base.table} ${classes.table}`}>
      <caption className="visually-hidden">{caption}</caption>
      <thead>
        <tr>
          {columns.map(({ head, width, figures, actions }) => (
            <th key={head} scope="col" style={{ width }} data-figures={figures}>
              {actions ? <span className="visually-hidden">{head}</span> : head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {records.map((record) => {
          const id = idOf(record)
          const detail = detailOf?.(record)
          return (
            <Fragment key={id}>
              <tr data-row={id} tabIndex={-1} data-open={detail !== undefined || undefined}>
                {columns.map(({ head, cell, figures }, index) =>
                  index === 0 ? (
                    <th key={head} scope="row">
                      {cell(record)}
                    </th>
                  ) : (
                    <td key={head} data-figures={figures}>
                      {cell(record)}
                    </td>
                  ),
                )}
              </tr>
              {detail !== undefined && (
                <tr className={classes.detail}>
                  <td colSpan={columns.length}>{detail}</td>
                </tr>
              )}
            </Fragment>
          )
        })}
      </tbody>
    </table>
  )
}

function RecordList<T>({ caption, records, columns, idOf, detailOf }: RecordTableProps<T>) {
  const [first, ...rest] = columns.filter(({ wideOnly }) => !wideOnly)
  return (
    <ul className={classes.list} aria-label={caption}>
      {records.map((record) => {
        const id = idOf(record)
        return (
          <li key={id} data-row={id} tabIndex={-1} className={classes.record}>
            <div className={classes.title}>
              {first?.cell(record)}
              {rest
                .filter(({ actions }) => actions)
                .map(({ head, cell }) => (
                  <Fragment key={head}>{cell(record)}</Fragment>
                ))}
            </div>
            <dl className={classes.facts}>
              {rest
                .filter(({ actions }) => !actions)
                .map(({ head, cell }) => (
                  <div key={head}>
                    <dt dir="auto">{head}</dt>
                    <dd>{cell(record)}</dd>
                  </div>
                ))}
            </dl>
            {detailOf?.(record)}
          </li>
        )
      })}
    </ul>
  )
}
