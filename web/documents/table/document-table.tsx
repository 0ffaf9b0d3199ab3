import { Link } from '@tanstack/react-router'
import type { DocumentFields } from '../../../server/contract/document.ts'
import { type Column, RecordTable } from '../../shared/ui/table/record-table.tsx'
import { type DocumentsSearch, readDocumentsSearch } from '../documents-search.ts'
import { summarizeDocument } from '../editor/document-text.ts'
import classes from './document-table.module.css'

const idOf = ({ id }: DocumentFields) => id

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
    cell: (document) => (
      <span className={`mono ${classes.fields}`}>{summarizeDocument(document)}</span>
    ),
  },
]

/** Table of documents with their ids and first fields. The id opens the document. */
export function DocumentTable(props: { documents: readonly DocumentFields[]; caption: string }) {
  const { documents, caption } = props
  return <RecordTable caption={caption} records={documents} columns={columns} idOf={idOf} />
}
