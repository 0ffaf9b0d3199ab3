import { Button, Menu } from '@mantine/core'
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { Outlet } from '@tanstack/react-router'
import { useState } from 'react'
import { groupChanges } from '../shared/changes/group-changes.ts'
import { LazyBoundary } from '../ui/feedback/lazy-boundary.tsx'
import { NoMatch } from '../ui/feedback/no-match.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { QueryResult } from '../ui/feedback/query-result.tsx'
import { keepFocus } from '../ui/layout/keep-focus.ts'
import { PageHead } from '../ui/layout/page-head.tsx'
import { usePageTitle } from '../ui/layout/use-page-title.ts'
import { MenuButton } from '../ui/overlay/menu-button.tsx'
import { PrintNote } from '../ui/table/printed-rows.tsx'
import { ActivityFilter } from './activity-filter.tsx'
import { ActivityList } from './activity-list.tsx'
import classes from './activity-page.module.css'
import { type ActivitySearch, isFiltered } from './activity-search.ts'
import { EXPORT_FORMATS, useExportActivity } from './export-activity.ts'
import { activityQuery, newestQuery } from './queries.ts'
import { useActivityLocation } from './use-activity-location.ts'

/** The Activity page, which lists the audit log, newest first. */
export function ActivityPage() {
  usePageTitle('Activity')
  const { search, filter, clear: clearSearch, toggle } = useActivityLocation()
  const [clears, setClears] = useState(0)
  const clear = () => {
    setClears(clears + 1)
    clearSearch()
  }
  const log = useInfiniteQuery(activityQuery(search))
  const save = useExportActivity(search)
  return (
    <>
      <PageHead
        title="Activity"
        action={
          <MenuButton label={save.isPending ? 'Exporting…' : 'Export'} position="bottom-end">
            <Menu.Label>Filtered rows, times in UTC</Menu.Label>
            {EXPORT_FORMATS.map((format) => (
              <Menu.Item key={format.name} onClick={() => save.isPending || save.mutate(format)}>
                {format.label}
              </Menu.Item>
            ))}
          </MenuButton>
        }
      />
      {save.error !== null && (
        <p role="alert" className={classes.problem}>
          The export failed. {save.error.message}
        </p>
      )}
      <LazyBoundary>
        <Outlet />
      </LazyBoundary>
      <ActivityFilter search={search} onChange={filter} onClear={clear} clears={clears} />
      <QueryResult query={log} what="the activity">
        {({ pages }) => {
          const rows = pages.flatMap((page) => page.rows)
          return (
            <>
              <Newer search={search} newest={rows[0]?.seq ?? 0} />
              {rows.length === 0 ? (
                <Nothing
                  filtered={isFiltered(search)}
                  searchedAll={!log.hasNextPage}
                  onClear={clear}
                />
              ) : (
                <ActivityList
                  rows={rows}
                  open={search.open === undefined ? undefined : Number(search.open)}
                  onToggle={toggle}
                />
              )}
              {log.hasNextPage && <PrintNote>Older rows are not printed.</PrintNote>}
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
          )
        }}
      </QueryResult>
    </>
  )
}

/** Shows how many newer entries exist, and loads them on click. Rows never move on their own. */
function Newer({ search, newest }: { search: ActivitySearch; newest: number }) {
  const queryClient = useQueryClient()
  const { data } = useQuery(newestQuery(search))
  const count = groupChanges(data?.rows.filter(({ seq }) => seq > newest) ?? []).length
  // The server has not scanned rows below `next`, so there may be more new rows.
  const more = data?.next != null && data.next > newest
  return (
    <div role="status">
      {count > 0 && (
        <Button
          ref={keepFocus}
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
  /** Whether the server has searched the whole log. */
  readonly searchedAll: boolean
  readonly onClear: () => void
}

function Nothing({ filtered, searchedAll, onClear }: NothingProps) {
  if (!filtered) {
    return <Notice>No activity yet. Every change to this server will be listed here.</Notice>
  }
  return (
    <NoMatch clear="Clear filters" onClear={onClear}>
      {searchedAll
        ? 'No activity matches the filter.'
        : 'No match so far. Older activity has not been searched yet.'}
    </NoMatch>
  )
}
