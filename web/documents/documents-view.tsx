import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useMay } from '../person.ts'
import { Notice } from '../ui/notice.tsx'
import { SkeletonRows } from '../ui/skeleton-rows.tsx'
import { DocumentTable } from './document-table.tsx'
import { Pager } from './pager.tsx'
import { documentsQuery } from './queries.ts'
import { ReadFailure } from './read-failure.tsx'
import { type Place, useDocumentsLocation } from './use-documents-location.ts'

/** The documents of a collection: filtered, page by page. */
export function DocumentsView({ place }: { place: Place }) {
  const { list } = useDocumentsLocation()
  const { data, error, refetch } = useQuery(documentsQuery(place, list))
  return (
    <>
      {data === undefined && error === null && <SkeletonRows what="the documents" />}
      {data === undefined && error !== null && (
        <ReadFailure
          what={`The documents of ${place.collection}`}
          database={place.database}
          error={error}
          onRetry={refetch}
        />
      )}
      {data !== undefined && data.documents.length > 0 && (
        <DocumentTable documents={data.documents} caption={`Documents of ${place.collection}`} />
      )}
      {data?.documents.length === 0 && <Nothing place={place} />}
      <Pager next={data?.next} loading={data === undefined && error === null} />
    </>
  )
}

function Nothing({ place }: { place: Place }) {
  const { search, filter, page, create } = useDocumentsLocation()
  const mayChange = useMay('operator')
  if (search.after !== undefined) {
    return (
      <Notice
        action={
          <Button variant="default" onClick={() => page(undefined)}>
            Go to the first page
          </Button>
        }
      >
        Nothing comes after {search.after}.
      </Notice>
    )
  }
  if (search.filter !== undefined) {
    return (
      <Notice
        action={
          <Button variant="default" onClick={() => filter('')}>
            Clear filter
          </Button>
        }
      >
        No document of {place.collection} matches “{search.filter}”.
      </Notice>
    )
  }
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
      {place.collection} holds no documents.
    </Notice>
  )
}
