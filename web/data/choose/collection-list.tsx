import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { CollectionList as CollectionSizes } from '../../../server/contract/document.ts'
import { collectionsQuery } from '../../api/queries.ts'
import { QueryResult } from '../../ui/feedback/query-result.tsx'
import { useFilterText } from '../../ui/form/use-filter-text.ts'
import { formatBytes, formatCount } from '../../ui/text/format-number.ts'
import { NoDocuments } from '../documents-view.tsx'
import { ReadFailure } from '../read-result.tsx'
import { NameList } from './name-list.tsx'

/** Lists the collections of a database, each with a link to its documents. */
export function CollectionList({ database }: { database: string }) {
  const query = useQuery({
    ...collectionsQuery(database),
    // A first count finishes soon, so poll every 2 s until then.
    refetchInterval: ({ state }) =>
      state.data?.some(({ measured }) => measured === null) === true ? 2_000 : 10_000,
  })
  return (
    <QueryResult
      query={query}
      what="the collections"
      failed={(error) => (
        <ReadFailure
          what={`The collections of ${database}`}
          database={database}
          error={error}
          onRetry={query.refetch}
        />
      )}
    >
      {(collections) =>
        collections.length === 0 ? (
          <NoDocuments>
            {database} contains no documents. A collection is created with its first document and
            removed with its last.
          </NoDocuments>
        ) : (
          <Collections database={database} collections={collections} />
        )
      }
    </QueryResult>
  )
}

function Collections(props: { database: string; collections: CollectionSizes }) {
  const { database, collections } = props
  const [text, filter] = useFilterText('/documents/$database')
  return (
    <NameList
      title="Collections"
      kind="collection"
      rows={collections}
      text={text}
      onChange={filter}
      link={({ name }, className) => (
        <Link
          to="/documents/$database/$collection"
          params={{ database, collection: name }}
          className={className}
        >
          {name}
        </Link>
      )}
      facts={({ documents, bytes }) =>
        documents !== null &&
        bytes !== null && (
          <>
            <span>
              {formatCount(documents)} document{documents === 1 ? '' : 's'}
            </span>
            <span>{formatBytes(bytes)}</span>
          </>
        )
      }
    />
  )
}
