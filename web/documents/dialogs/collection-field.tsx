import { Autocomplete, type AutocompleteProps } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { collectionsQuery } from '../../app/queries.ts'

/** A field for the name of a collection of a database, which suggests the existing ones. */
export function CollectionField({ database, ...input }: AutocompleteProps & { database: string }) {
  const { data = [] } = useQuery(collectionsQuery(database))
  return (
    <Autocomplete
      label="Collection"
      placeholder="articles"
      classNames={{ input: 'mono', option: 'mono' }}
      data={data.map(({ name }) => name)}
      spellCheck={false}
      autoComplete="off"
      autoCapitalize="off"
      openOnFocus={false}
      maxDropdownHeight={240}
      comboboxProps={{
        withinPortal: false,
        floatingStrategy: 'fixed',
        offset: 4,
        transitionProps: { duration: 120 },
      }}
      data-autofocus
      {...input}
    />
  )
}
