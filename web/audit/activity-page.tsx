import { Button } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { announce } from '../ui/announce.tsx'
import { LoadFailure } from '../ui/load-failure.tsx'
import { Notice } from '../ui/notice.tsx'
import { PageHead } from '../ui/page-head.tsx'
import { SkeletonRows } from '../ui/skeleton-rows.tsx'
import { usePageTitle } from '../ui/use-page-title.ts'
import { ActivityFilter } from './activity-filter.tsx'
import classes from './activity-page.module.css'
import { type ActivitySearch, isFiltered } from './activity-search.ts'
import { ActivityTable } from './activity-table.tsx'
import { exportActivity } from './export-activity.ts'
import { activityQuery, newestQuery } from './queries.ts'
import { useActivityLocation } from './use-activity-location.ts'

/** The Activity page: what was changed, when, by whom and from where; newest first. */
export function ActivityPage() {
  usePageTitle('Activity')
  const { search, filter, clear, toggle } = useActivityLocation()
  const log = useInfiniteQuery(activityQuery(search))
  const rows = log.data?.pages.flatMap((page) => page.rows)
  const save = useMutation({
    mutationFn: () => exportActivity(search),
    onSuccess: (count) => announce(`${count} ${count === 1 ? 'row was' : 'rows were'} exported.`),
  })
  return (
    <>
      <PageHead
        title="Activity"
        action={
          <Button
            variant="default"
            leftSection={<IconDownload size={16} stroke={1.5} aria-hidden="true" />}
            data-tip="What is filtered, as JSON lines, times in UTC"
            aria-disabled={save.isPending || undefined}
            onClick={() => save.isPending || save.mutate()}
          >
            {save.isPending ? 'Exporting…' : 'Export'}
          </Button>
        }
      />
      {save.error !== null && (
        <p role="alert" className={classes.problem}>
          Nothing was exported. {save.error.message}
        </p>
      )}
      <ActivityFilter search={search} onChange={filter} onClear={clear} />
      {rows === undefined && log.error === null && <SkeletonRows what="the activity" />}
      {rows === undefined && log.error !== null && (
        <LoadFailure what="The activity" error={log.error} onRetry={log.refetch} />
      )}
      {rows !== undefined && (
        <>
          <Newer search={search} newest={rows[0]?.seq ?? 0} />
          {rows.length === 0 ? (
            <Nothing filtered={isFiltered(search)} searchedAll={!log.hasNextPage} onClear={clear} />
          ) : (
            <ActivityTable
              rows={rows}
              open={search.open === undefined ? undefined : Number(search.open)}
              onToggle={toggle}
            />
          )}
          {log.hasNextPage && (
            <Button
              variant="default"
              mt={16}
              aria-disabled={log.isFetchingNextPage || undefined}
              onClick={() => log.isFetchingNextPage || log.fetchNextPage()}
            >
              {olderLabel(rows.length === 0, log.isFetchingNextPage)}
            </Button>
          )}
          {log.isFetchNextPageError && (
            <p role="alert" className={classes.problem}>
              Older rows could not be loaded. {log.error?.message}
            </p>
          )}
        </>
      )}
    </>
  )
}

/** Says that there is something newer, and shows it when asked to: rows never move by themselves. */
function Newer({ search, newest }: { search: ActivitySearch; newest: number }) {
  const queryClient = useQueryClient()
  const { data } = useQuery(newestQuery(search))
  const count = data?.rows.filter(({ seq }) => seq > newest).length ?? 0
  // Rows before `next` were not looked at; those that are shown begin at `newest`.
  const more = data?.next != null && data.next > newest
  return (
    <div role="status">
      {count > 0 && (
        <Button
          variant="subtle"
          className={classes.newer}
          onClick={() => queryClient.resetQueries(activityQuery(search))}
        >
          {count}
          {more && '+'} new · Show
        </Button>
      )}
    </div>
  )
}

function olderLabel(nothingFound: boolean, isLoading: boolean): string {
  if (nothingFound) return isLoading ? 'Searching…' : 'Search older'
  return isLoading ? 'Loading…' : 'Load older'
}

interface NothingProps {
  readonly filtered: boolean
  /** Whether the whole log was searched. */
  readonly searchedAll: boolean
  readonly onClear: () => void
}

function Nothing({ filtered, searchedAll, onClear }: NothingProps) {
  if (!filtered) {
    return (
      <Notice>Nothing was changed yet. Every change of this server is put on record here.</Notice>
    )
  }
  return (
    <Notice
      action={
        <Button variant="default" onClick={onClear}>
          Clear filters
        </Button>
      }
    >
      {searchedAll
        ? 'Nothing on record matches the filter.'
        : 'Nothing found yet. Older activity has not been searched.'}
    </Notice>
  )
}
