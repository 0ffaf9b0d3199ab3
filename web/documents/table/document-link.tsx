import { Link } from '@tanstack/react-router'
import { useDialogNavigation } from '../../shared/navigation/use-dialog-navigation.ts'
import { type DocumentsSearch, withoutDialog } from '../documents-search.ts'
import { toLine } from '../model/format-cell.ts'
import classes from './document-table.module.css'

/** The id of a document, which opens it. */
export function DocumentLink({ id, tabIndex }: { id: string; tabIndex?: number }) {
  const { link } = useDialogNavigation()
  return (
    <Link
      tabIndex={tabIndex}
      to="."
      search={(now: DocumentsSearch) => ({ ...withoutDialog(now), open: id })}
      {...link}
      className={`mono ${classes.id}`}
      dir="auto"
    >
      {toLine(id)}
    </Link>
  )
}
