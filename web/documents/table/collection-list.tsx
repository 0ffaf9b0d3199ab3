import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMay } from '../person.ts'
import { collectionsQuery } from '../queries.ts'
import { Notice } from '../ui/notice.tsx'
import { sayBytes, sayCount } from '../ui/say-bytes.ts'
import { SkeletonRows } from '../ui/skeleton-rows.tsx'
import { NameList } from './name-list.tsx'
import { ReadFailure } from './read-failure.tsx'
import { useDocumentsLocation } from './use-documents-location.ts'

/** The collections of a database, to choose one. */
export function CollectionList({ database }: { database: string }) {
  const {
    data: collections,
    error,
    refetch,
  } = useQuery({
    ...collectionsQuery(database),
    // What is being counted is soon there.
    refetchInterval: ({ state }) =>
      state.data?.some(({ measured }) => measured === null) === true ? 2_000 : 10_000,
  })
  const { create } = useDocumentsLocation()
  const mayChange = useMay('operator')
  if (collections === undefined) {
    if (error === null) return <SkeletonRows what="the collections" />
    const what = `The collections of ${database}`
    return <ReadFailure what={what} database={database} error={error} onRetry={refetch} />
  }
  if (collections.length === 0) {
    return (
      <Notice
        action={
          mayChange && (
            <Button variant="default" onClick={create}>
              Create the first document
            </Button>
          )
        }
      >
        {database} holds no documents. A collection begins with its first document, and is gone with
        its last.
      </Notice>
    )
  }
  return (
    <NameList
      title="Collections"
      names={collections.map(({ name }) => name)}
      link={(collection, className) => (
        <Link
          to="/documents/$database/$collection"
          params={{ database, collection }}
          className={className}
        >
          {collection}
        </Link>
      )}
      facts={(collection) => {
        const { documents, bytes } = collections.find(({ name }) => name === collection) ?? {}
        if (documents == null || bytes == null) return null
        return (
          <>
            <span>
              {sayCount(documents)} document{documents === 1 ? '' : 's'}
            </span>
            <span>{sayBytes(bytes)}</span>
          </>
        )
      }}
    />
  )
}
