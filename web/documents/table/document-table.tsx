import { Link } from '@tanstack/react-router'
import { type Column, RecordTable } from '../ui/record-table.tsx'
import classes from './document-table.module.css'
import { type DocumentFields, summarise } from './document-text.ts'
import { type DocumentsSearch, readDocumentsSearch } from './documents-search.ts'

const idOf = ({ id }: DocumentFields) => `${id}`

const columns: readonly Column<DocumentFields>[] = [
  {
    head: 'Id',
    width: 288,
    cell: (document) => (
      <Link
        to="."
        search={(now: DocumentsSearch) =>
          readDocumentsSearch({ after: now.after, filter: now.filter, open: idOf(document) })
        }
        resetScroll={false}
        className={`mono ${classes.id}`}
      >
        {idOf(document)}
      </Link>
    ),
  },
  {
    head: 'Fields',
    cell: (document) => <span className={`mono ${classes.fields}`}>{summarise(document)}</span>,
  },
]

/** Documents by their ids, each with its first fields; the id leads to the whole. */
export function DocumentTable(props: { documents: readonly DocumentFields[]; caption: string }) {
  const { documents, caption } = props
  return <RecordTable caption={caption} records={documents} columns={columns} idOf={idOf} />
}
