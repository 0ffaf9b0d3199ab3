import { Button } from '@mantine/core'
import type { PropsWithChildren } from 'react'
import { useHasRole } from '../../shared/session/person.ts'
import { useDocumentsLocation } from '../use-documents-location.ts'
import classes from './table-toolbar.module.css'

/** Actions on the collection. Its children choose what the table shows. */
export function TableToolbar({ children }: PropsWithChildren) {
  const { load, empty } = useDocumentsLocation()
  const mayChange = useHasRole('operator')
  return (
    <div className={classes.toolbar}>
      {children}
      {mayChange && (
        <>
          <Button variant="default" onClick={load}>
            Import
          </Button>
          <Button variant="subtle" className={classes.delete} onClick={empty}>
            Delete all documents
          </Button>
        </>
      )}
    </div>
  )
}
