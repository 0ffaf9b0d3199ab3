import { NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { collectionsQuery, databasesQuery } from '../../api/queries.ts'
import filterBar from '../../ui/form/filter-bar.module.css'
import { useDocumentsLocation } from '../use-documents-location.ts'
import classes from './collection-picker.module.css'
import type { CollectionTab } from './collection-tabs.tsx'

export interface CollectionPickerProps {
  readonly database: string
  /** Undefined if no collection is selected. */
  readonly collection: string | undefined
  /** The tab that stays open when another collection is selected. */
  readonly tab: CollectionTab
}

/** Selects the database and the collection. */
export function CollectionPicker({ database, collection, tab }: CollectionPickerProps) {
  const { goTo } = useDocumentsLocation()
  const navigate = useNavigate()
  const { data: databases = [] } = useQuery(databasesQuery)
  const { data: collections = [] } = useQuery(collectionsQuery(database))
  return (
    <div className={filterBar.bar}>
      <NativeSelect
        label="Database"
        classNames={{ root: classes.choice, input: 'mono' }}
        data={withOwn(databases, database)}
        value={database}
        onChange={(event) => goTo({ database: event.currentTarget.value })}
      />
      <NativeSelect
        label="Collection"
        classNames={{
          root: classes.choice,
          ...(collection !== undefined && { input: 'mono' }),
        }}
        data={[
          { value: '', label: 'All collections' },
          ...withOwn(
            collections.map(({ name }) => name),
            collection,
          ),
        ]}
        value={collection ?? ''}
        onChange={(event) => {
          const chosen = event.currentTarget.value
          if (chosen === '') return goTo({ database })
          const params = { database, collection: chosen }
          void navigate({ to: `/documents/$database/$collection${tab}`, params })
        }}
      />
    </div>
  )
}

/** Adds the name from the URL, which may not exist. */
const withOwn = (names: readonly string[], own: string | undefined): string[] =>
  own === undefined || names.includes(own) ? [...names] : [own, ...names]
