import { Link } from '@tanstack/react-router'
import { type DocumentsSearch, withoutDialog } from '../documents-search.ts'
import { toLine } from '../model/format-cell.ts'
import classes from './document-table.module.css'

/** The id of a document, which opens it. */
export const DocumentLink = ({ id, tabIndex }: { id: string; tabIndex?: number }) => (
  <Link
    tabIndex={tabIndex}
    to="."
    search={(now: DocumentsSearch) => ({ ...withoutDialog(now), open: id })}
    resetScroll={false}
    className={`mono ${classes.id}`}
    dir="auto"
  >
    {toLine(id)}
  </Link>
)
