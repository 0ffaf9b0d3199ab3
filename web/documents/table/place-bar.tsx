import { NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { PropsWithChildren } from 'react'
import { collectionsQuery, databasesQuery } from '../queries.ts'
import classes from './place-bar.module.css'
import { useDocumentsLocation } from './use-documents-location.ts'

/** Where one is. */
export interface PlaceBarProps {
  readonly database: string
  /** Undefined: in none of them yet. */
  readonly collection: string | undefined
}

/** The database and the collection one is in, and the way to others; then what else narrows it. */
export function PlaceBar(props: PropsWithChildren<PlaceBarProps>) {
  const { database, collection, children } = props
  const { goTo } = useDocumentsLocation()
  const { data: databases = [] } = useQuery(databasesQuery)
  const { data: collections = [] } = useQuery(collectionsQuery(database))
  return (
    <div className={classes.bar}>
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
          goTo(chosen === '' ? { database } : { database, collection: chosen })
        }}
      />
      {children}
    </div>
  )
}

/** The address may name what is not there (yet). */
const withOwn = (names: readonly string[], own: string | undefined): string[] =>
  own === undefined || names.includes(own) ? [...names] : [own, ...names]
