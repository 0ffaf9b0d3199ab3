import { useMediaQuery } from '@mantine/hooks'
import { Fragment, type ReactNode } from 'react'
import classes from './record-table.module.css'
import { useLittleRoom } from './use-little-room.ts'

/** A column of a {@link RecordTable}. */
export interface Column<T> {
  readonly head: string
  readonly cell: (record: T) => ReactNode
  /** In pixels; the columns without one share what is left. */
  readonly width?: number
  /** Figures stand at the right. */
  readonly figures?: boolean
  /** Left out where there is less room than a wide screen gives. */
  readonly wideOnly?: boolean
  /** Holds what can be done: its head is read, not seen, and on a phone it stands at the right. */
  readonly actions?: boolean
}

/** What a {@link RecordTable} shows. The first column names the record. */
export interface RecordTableProps<T> {
  /** What the records are, for whoever does not see them. */
  readonly caption: string
  readonly records: readonly T[]
  readonly columns: readonly Column<T>[]
  readonly idOf: (record: T) => string
  /** What stands below a record that is open. */
  readonly detailOf?: (record: T) => ReactNode
}

/** Records of one kind: a table, or where there is little room a list of their facts. */
export function RecordTable<T>(props: RecordTableProps<T>) {
  const narrow = useLittleRoom()
  const wide = useMediaQuery('(min-width: 1280px)', undefined, { getInitialValueInEffect: false })
  if (narrow) return <RecordList {...props} />
  const { caption, records, idOf, detailOf } = props
  const columns = props.columns.filter(({ wideOnly = false }) => wide || !wideOnly)
  return (
    <table className={classes.table}>
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
                    <dt>{head}</dt>
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
