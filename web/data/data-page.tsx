import { Outlet } from '@tanstack/react-router'
import { lazy } from 'react'
import { LazyBoundary } from '../ui/feedback/lazy-boundary.tsx'
import { useNarrowScreen } from '../ui/layout/use-narrow-screen.ts'
import classes from './data-page.module.css'
import { Rail } from './rail.tsx'
import { useDataLocation } from './use-data-location.ts'

const CreateDatabaseDialog = lazy(async () => ({
  default: (await import('./databases/create-database-dialog.tsx')).CreateDatabaseDialog,
}))
const ImportDatabaseDialog = lazy(async () => ({
  default: (await import('./databases/import/import-database-dialog.tsx')).ImportDatabaseDialog,
}))
const DropDatabaseDialog = lazy(async () => ({
  default: (await import('./databases/drop-database-dialog.tsx')).DropDatabaseDialog,
}))

/** The Data page: the databases and collections at the left, and what is chosen. */
export function DataPage() {
  const { database, search } = useDataLocation()
  const narrow = useNarrowScreen()
  return (
    <div className={classes.page}>
      {!narrow && <Rail />}
      <div className={classes.content}>
        <Outlet />
      </div>
      <LazyBoundary>
        {search.dialog === 'create' && <CreateDatabaseDialog />}
        {search.dialog === 'import' && <ImportDatabaseDialog />}
        {search.dialog === 'drop' && database !== undefined && (
          <DropDatabaseDialog key={database} name={database} />
        )}
      </LazyBoundary>
    </div>
  )
}
