import { useQuery } from '@tanstack/react-query'
import * as z from 'zod/mini'
import { COLLECTION_NAME_RULE, isCollectionName } from '../../server/contract/document.ts'
import { collectionsQuery } from '../api/queries.ts'
import { SuggestField, type SuggestFieldProps } from '../ui/form/suggest-field.tsx'

type CollectionFieldProps = Omit<SuggestFieldProps, 'suggestions'> & { readonly database: string }

/** A field for the name of a collection of a database, which suggests the existing ones. */
export function CollectionField({ database, ...input }: CollectionFieldProps) {
  const { data = [] } = useQuery(collectionsQuery(database))
  return (
    <SuggestField
      label="Collection"
      placeholder="articles"
      suggestions={data.map(({ name }) => name)}
      // The name may be new, and begin like that of another collection.
      highlight={false}
      data-autofocus
      {...input}
    />
  )
}

/** The schema of the name of a collection as it is typed. */
export const collectionName = z
  .string()
  .check(z.refine((name) => isCollectionName(name.trim()), COLLECTION_NAME_RULE))
