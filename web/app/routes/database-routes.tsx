import { createRoute } from '@tanstack/react-router'
import { readDatabasesSearch } from '../../data/databases/databases-search.ts'
import { rootRoute } from '../frame.tsx'
import { lazyPage } from '../lazy-page.tsx'

const databasesRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/databases',
  validateSearch: readDatabasesSearch,
  component: lazyPage(
    async () => (await import('../../data/databases/databases-page.tsx')).DatabasesPage,
    {
      what: 'the databases',
      heading: 'Databases',
    },
  ),
})

const createDatabaseRoute = createRoute({
  getParentRoute: () => databasesRoute,
  path: '/new',
  component: lazyPage(
    async () =>
      (await import('../../data/databases/create-database-dialog.tsx')).CreateDatabaseDialog,
  ),
})

const importDatabaseRoute = createRoute({
  getParentRoute: () => databasesRoute,
  path: '/import',
  component: lazyPage(
    async () =>
      (await import('../../data/databases/import/import-database-dialog.tsx')).ImportDatabaseDialog,
  ),
})

/** The Databases page and its dialogs. */
export const databaseRoutes = [
  databasesRoute.addChildren([createDatabaseRoute, importDatabaseRoute]),
] as const
