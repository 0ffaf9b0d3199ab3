import { Button, NativeSelect } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import { ApiFailure, isSignedOut } from '../api/client.ts'
import { useHasRole } from '../api/session/person.ts'
import { announce } from '../ui/announce.tsx'
import { NoMatch } from '../ui/feedback/no-match.tsx'
import { QueryResult } from '../ui/feedback/query-result.tsx'
import { IconRefresh } from '../ui/icon/icons.tsx'
import { keepFocus } from '../ui/layout/keep-focus.ts'
import { useNarrowScreen } from '../ui/layout/use-narrow-screen.ts'
import { copyText } from '../ui/text/copy-text.ts'
import { NoDocuments } from './create-document.tsx'
import classes from './documents-view.module.css'
import { ExportMenu } from './export/export-menu.tsx'
import { FilterBar } from './filter/filter-bar.tsx'
import { RequestLine } from './filter/request-line.tsx'
import { LiveChanges } from './follow/live-changes.tsx'
import { PlanLine } from './indexes/plan-line.tsx'
import { isFilter } from './model/conditions.ts'
import { fieldsOf } from './model/field-path.ts'
import { describeSort, formatSort, parseSort, toggleSort } from './model/sort.ts'
import { documentsQuery, listKey, loadedPages } from './queries.ts'
import { QueryFailure } from './query-failure.tsx'
import { DocumentSelectionBar } from './selection/document-selection-bar.tsx'
import { useSelectedIds } from './selection/use-selected-ids.ts'
import { ColumnsMenu } from './table/columns-menu.tsx'
import { DocumentTable } from './table/document-table.tsx'
import { Pager } from './table/pager.tsx'
import { TableActions } from './table/table-actions.tsx'
import { useColumns } from './table/use-columns.ts'
import { useRefetchOnFocus } from './table/use-refetch-on-focus.ts'
import { type CollectionRef, useDataLocation } from './use-data-location.ts'

const copyId = async (id: string) =>
  announce((await copyText(id)) ? `${id} was copied.` : `${id} could not be copied.`)

/** Lists the documents of a collection, filtered, sorted and in pages. */
export function DocumentsView({ collectionRef }: { collectionRef: CollectionRef }) {
  const { list, search, query: change, open, edit, remove, create } = useDataLocation()
  const narrow = useNarrowScreen()
  const query = useQuery({
    ...documentsQuery(collectionRef, list),
    enabled: isFilter(list.filter),
  })
  useRefetchOnFocus(collectionRef)
  /** Whether the rows are those of the previous order or page. */
  const isBefore = query.isPlaceholderData
  // A dropped database has no documents to show, not even earlier ones, and no actions.
  const isGone = query.error instanceof ApiFailure && query.error.status === 404
  const chosen = useColumns(collectionRef, query.data?.documents ?? [])
  const { columns = [], change: setColumns } = chosen
  const isOpening = query.data === undefined ? query.isLoading : chosen.columns === undefined
  const queryClient = useQueryClient()
  // biome-ignore lint/correctness/useExhaustiveDependencies: each page that is loaded changes it
  const seen = useMemo(
    () => loadedPages(queryClient, collectionRef).flatMap(({ documents }) => documents),
    [query.data, chosen.columns === undefined],
  )
  const fields = useMemo(() => fieldsOf(seen), [seen])
  const sort = parseSort(list.sort)
  const mayChange = useHasRole('editor')
  const shown = query.data?.documents.map(({ id }) => id) ?? []
  const { selection, select, toggle, togglePage, ...choice } = useSelectedIds(shown)
  return (
    <>
      {!isGone && (
        <FilterBar
          collectionRef={collectionRef}
          error={query.error}
          actions={(editText) => (
            <>
              <LiveChanges key={collectionRef.collection} collectionRef={collectionRef} />
              <RefreshButton collectionRef={collectionRef} />
              <ColumnsMenu
                fields={fields}
                columns={columns}
                onChange={setColumns}
                onReset={chosen.reset}
              />
              {isFilter(list.filter) && <ExportMenu collectionRef={collectionRef} />}
              <TableActions onEditText={editText} />
            </>
          )}
        />
      )}
      {narrow && !isGone && (
        <SortSelect
          fields={columns.map(({ field }) => field).filter((field) => field !== 'id')}
          sort={list.sort ?? ''}
          onChange={(text) => change({ sort: text })}
        />
      )}
      {query.isRefetchError && !isGone && (
        <NotUpdated error={query.error} onRetry={query.refetch} />
      )}
      {isFilter(list.filter) && (
        <QueryResult
          query={isGone || chosen.columns === undefined ? { ...query, data: undefined } : query}
          what="the documents"
          failed={(error) => (
            <QueryFailure collectionRef={collectionRef} error={error} onRetry={query.refetch} />
          )}
        >
          {({ documents }) =>
            documents.length === 0 ? (
              <Nothing collectionRef={collectionRef} />
            ) : (
              <DocumentTable
                caption={`Documents of ${collectionRef.collection}`}
                documents={documents}
                seen={seen}
                columns={columns}
                sort={sort}
                stale={isBefore}
                onSort={(field, extend) =>
                  change({ sort: formatSort(toggleSort(sort, field, extend)) })
                }
                onResize={setColumns}
                onOpen={open}
                openId={search.open ?? search.edit}
                keysOf={(id) => ({
                  open: () => open(id),
                  copy: () => copyId(id),
                  ...(mayChange && {
                    add: create,
                    edit: () => edit(id),
                    remove: () => remove(id),
                  }),
                })}
                selection={
                  mayChange
                    ? {
                        isSelected: (id) => selection.isAll || selection.ids.has(id),
                        select,
                        toggle,
                        togglePage,
                      }
                    : undefined
                }
              />
            )
          }
        </QueryResult>
      )}
      {isFilter(list.filter) && (
        <DocumentSelectionBar
          collectionRef={collectionRef}
          selection={selection}
          hasMore={
            query.data?.next !== undefined || list.after !== undefined || list.cursor !== undefined
          }
          onChoose={choice.choose}
          onChooseAll={choice.chooseAll}
          onClear={choice.clear}
        />
      )}
      {/* Above it, the table replaces a skeleton of another height. */}
      {!isOpening && !isGone && isFilter(list.filter) && (
        <div className={classes.foot}>
          <Pager
            collectionRef={collectionRef}
            size={isBefore ? undefined : query.data?.documents.length}
            next={isBefore ? undefined : query.data?.next}
            loading={isBefore}
          />
          <PlanLine
            collectionRef={collectionRef}
            plan={isBefore ? undefined : query.data?.plan}
            loading={isBefore}
          />
          <RequestLine collectionRef={collectionRef} />
        </div>
      )}
    </>
  )
}

/** Reports that the documents shown could not be updated. Banners report lost connections. */
function NotUpdated({ error, onRetry }: { error: Error; onRetry: () => void }) {
  if (!(error instanceof ApiFailure) || isSignedOut(error)) return null
  return (
    <p role="alert" className="dim">
      The documents could not be updated. {error.message}{' '}
      <button type="button" ref={keepFocus} className="link-button" onClick={onRetry}>
        Try again
      </button>
    </p>
  )
}

function Nothing({ collectionRef }: { collectionRef: CollectionRef }) {
  const { search, query, page } = useDataLocation()
  if (search.after !== undefined || search.cursor !== undefined) {
    return (
      <NoMatch clear="Go to the first page" onClear={() => page({})}>
        No more documents.
      </NoMatch>
    )
  }
  if (search.filter !== undefined) {
    return (
      <NoMatch clear="Clear filters" onClear={() => query({ filter: '' })}>
        No documents in {collectionRef.collection} match the filter.
      </NoMatch>
    )
  }
  return <NoDocuments>{collectionRef.collection} contains no documents.</NoDocuments>
}

/** Returns a function that refetches the documents that are shown, and their count. */
function useRefresh(collectionRef: CollectionRef): () => void {
  const queryClient = useQueryClient()
  return () =>
    void queryClient
      .invalidateQueries({ queryKey: listKey(collectionRef) }, { throwOnError: true })
      .then(
        () => announce('The documents are up to date.'),
        // The page reports why they could not be updated.
        () => {},
      )
}

/** Button that refetches the documents, because collections without a feed have no live changes. */
function RefreshButton({ collectionRef }: { collectionRef: CollectionRef }) {
  const refresh = useRefresh(collectionRef)
  return (
    <Button
      variant="default"
      px={8}
      aria-label="Refresh documents"
      data-tip="Refresh documents"
      onClick={refresh}
    >
      <IconRefresh />
    </Button>
  )
}

interface SortSelectProps {
  readonly fields: readonly string[]
  /** The active order; empty for the order of ids. */
  readonly sort: string
  readonly onChange: (sort: string) => void
}

/** Selects the order on narrow screens, where the list has no column headers. */
function SortSelect({ fields, sort, onChange }: SortSelectProps) {
  const orders = ['', '-id', ...fields.flatMap((field) => [field, `-${field}`])]
  return (
    <NativeSelect
      aria-label="Sort by"
      // A line of its own, so that the field and the direction fit.
      maw={400}
      mt={4}
      mb={8}
      data={[...new Set([...orders, sort])].map((value) => ({
        value,
        label: `Sort by ${describeSort(parseSort(value === '' ? 'id' : value))}`,
      }))}
      value={sort}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}
