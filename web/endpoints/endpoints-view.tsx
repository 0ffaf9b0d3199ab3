import { lazy, Suspense, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { useAllDatabases } from '../api/all-databases.ts'
import { useHasRole, useOwnEndpoint } from '../api/session/person.ts'
import type { RuleWord } from '../policy/rule-labels.ts'
import { announce } from '../ui/announce.tsx'
import { LazyBoundary } from '../ui/feedback/lazy-boundary.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { useFilterText } from '../ui/form/use-filter-text.ts'
import { useNarrowScreen } from '../ui/layout/use-narrow-screen.ts'
import { activeRow } from '../ui/table/active-row.ts'
import { NotPrinted } from '../ui/table/printed-rows.tsx'
import { copyText } from '../ui/text/copy-text.ts'
import { useLatest } from '../ui/use-latest.ts'
import { BulkDialogOutlet, preloadBulkDialog } from './bulk/bulk-dialog-outlet.tsx'
import { type BulkRun, useBulkRun } from './bulk/bulk-store.ts'
import classes from './endpoints-view.module.css'
import { preloadForms } from './load-forms.ts'
import { searchTexts, withRule, withState } from './model/endpoint-filter.ts'
import type { EndpointRow } from './model/endpoint-rows.ts'
import { readSort, TRAFFIC_COLUMNS, writeSort } from './model/endpoint-sort.ts'
import type { LiveFigures } from './model/live-figures.ts'
import { revealRow } from './model/reveal-row.ts'
import { EndpointCounts } from './table/endpoint-counts.tsx'
import { EndpointFilterField, NoEndpoint } from './table/endpoint-filter-field.tsx'
import { EndpointList } from './table/endpoint-list.tsx'
import { EndpointTable } from './table/endpoint-table.tsx'
import { PendingUpdates } from './table/pending-updates.tsx'
import foot from './table/table-foot.module.css'
import { useDisplayedRows } from './table/use-displayed-rows.ts'
import { useSelection } from './table/use-selection.ts'
import { useTableLayout } from './table/use-table-layout.ts'
import { useEndpointsLocation } from './use-endpoints-location.ts'
import { useListenerActions } from './use-listener-actions.ts'

const EndpointSelectionBar = lazy(async () => ({
  default: (await import('./table/endpoint-selection-bar.tsx')).EndpointSelectionBar,
}))

const EndpointMenu = lazy(async () => ({
  default: (await import('./table/row/endpoint-menu.tsx')).EndpointMenu,
}))

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium', hourCycle: 'h23' })

const copy = async ({ address }: EndpointRow) =>
  announce((await copyText(address)) ? `${address} was copied.` : `${address} could not be copied.`)

export interface EndpointsViewProps {
  readonly rows: readonly EndpointRow[]
  readonly figures: LiveFigures
  /** Time of the last read, ms since 1970. */
  readonly readAt: number
  /** Refetches the figures of all rows. */
  readonly readFigures: () => Promise<{ readonly dataUpdatedAt: number }>
}

/**
 * Shows the counts, the filter and the matching rows, as a table or, on a narrow screen, a list.
 */
export function EndpointsView({ rows, figures, readAt, readFigures }: EndpointsViewProps) {
  const where = useEndpointsLocation()
  const { search, add, edit, remove, open } = where
  const databases = useAllDatabases()
  const { retry, closeConnections, problem } = useListenerActions()
  const mayChange = useHasRole('operator')
  const [menu, setMenu] = useState<{ id: string; button: HTMLElement }>()
  const narrow = useNarrowScreen()
  const layout = useTableLayout(search.open !== undefined)

  const [text, filter] = useFilterText('/endpoints')
  const latestText = useLatest(text)
  const onRule = useCallback(
    (rule: RuleWord) => filter(withRule(latestText.current, rule)),
    [filter, latestText],
  )
  const sort = useMemo(() => readSort(search.sort), [search.sort])
  const byTraffic = TRAFFIC_COLUMNS.includes(sort.column)
  const { shown, headOf, fresh, moved, settle } = useDisplayedRows(rows, {
    filter: text,
    sort,
    readAt,
    onSort: (next) => {
      where.sort(writeSort(next))
      if (TRAFFIC_COLUMNS.includes(next.column)) void settleByFigures()
    },
  })
  // Rows out of sight have old figures, so sorting by traffic refetches them all.
  const settleByFigures = async () => settle((await readFigures()).dataUpdatedAt)
  const selection = useSelection(rows, shown)
  const { selected } = selection
  useDeselectDone(selection.deselect)
  const here = useOwnEndpoint()
  // Viewers see no actions that they may not take.
  const changes = mayChange
    ? {
        add,
        edit: ({ address }: EndpointRow) => edit(address),
        remove: ({ address }: EndpointRow) => remove(address),
      }
    : undefined
  const menuRow = menu && rows.find(({ id }) => id === menu.id)
  // Otherwise the menu would open again if the endpoint is added again.
  if (menu !== undefined && menuRow === undefined) setMenu(undefined)
  const shows = {
    rows: shown,
    here,
    databases,
    figures,
    menuOf: menu?.id,
    panelOf: search.open,
    onMenu: useCallback((row: EndpointRow, button: HTMLElement) => {
      preloadForms()
      setMenu({ id: row.id, button })
    }, []),
    actions: {
      copy,
      open: ({ address }: EndpointRow) => open(address),
      tryIt: ({ address }: EndpointRow) => open(address, 'connect'),
      ...changes,
    },
    selection: mayChange ? selected : undefined,
    onSelect: selection.onSelect,
    onSelectIndex: selection.onSelectIndex,
    onSelectAll: selection.onSelectAll,
    // Viewers may not read policies.
    onRule: mayChange ? onRule : undefined,
    // Sort a newly added endpoint into its place when the user looks for it.
    onBeforeFocus: (id: string) => {
      if (fresh.some((row) => row.id === id)) settle()
    },
  }
  return (
    <>
      <div className={classes.bar}>
        <EndpointCounts
          rows={rows}
          filter={text}
          onChoose={(state) => filter(withState(text, state))}
        />
        <EndpointFilterField text={text} onChange={filter} onFocus={() => searchTexts(rows)} />
      </div>
      <p role="alert" className={classes.problem}>
        {problem}
      </p>
      {shown.length > 0 &&
        (narrow ? (
          <EndpointList {...shows} />
        ) : (
          <EndpointTable {...shows} {...layout} headOf={headOf} />
        ))}
      <NotPrinted
        count={shown.length}
        what="endpoints"
        advice="Filter the table to see others, or export all of them."
      />
      {shown.length === 0 && text !== '' && (
        <NoEndpoint text={text} hidden={rows.length} onClear={() => filter('')} />
      )}
      {mayChange && rows.length === 1 && text === '' && (
        <FirstStart own={rows[0]?.address === here} />
      )}
      {selected.size > 0 && (
        <LazyBoundary>
          <EndpointSelectionBar
            count={selected.size}
            compact={layout.beside}
            off={
              rows.filter(
                ({ address, policy }) => policy?.enabled === false && selected.has(address),
              ).length
            }
            hidden={selection.hidden}
            onBulk={(action) => {
              // The dialog shows how many connections a removal closes, from current figures.
              void readFigures()
              where.bulk(action)
            }}
            onIntent={preloadBulkDialog}
            onExport={async () => {
              const { exportEndpoints } = await import('./export-endpoints.ts')
              exportEndpoints(rows.filter(({ address }) => selected.has(address)))
            }}
            onClear={selection.clear}
          />
        </LazyBoundary>
      )}
      <div className={foot.foot}>
        <PendingUpdates
          fresh={fresh.length}
          moved={moved}
          onShow={() => {
            settle()
            const [first] = fresh
            if (first !== undefined) revealRow(first.id)?.focus()
          }}
          onSort={async () => {
            if (byTraffic) await settleByFigures()
            else settle()
            focusActiveRow()
          }}
        />
        <p className={classes.asOf}>As of {clock.format(readAt)}.</p>
      </div>
      {mayChange && (
        <BulkDialogOutlet rows={rows} selected={selected} here={here} returnTo={activeRow} />
      )}
      {menu !== undefined && menuRow !== undefined && (
        <LazyBoundary key={menuRow.id}>
          <Suspense>
            <EndpointMenu
              row={menuRow}
              button={menu.button}
              onClose={() => setMenu(undefined)}
              onCopy={copy}
              changes={
                changes && {
                  onEdit: changes.edit,
                  onChangePolicy: ({ address }) => where.showPolicy(address),
                  onRetry: ({ address }) => retry(address),
                  onChangePort: ({ address }) => where.changePort(address),
                  onCloseConnections: ({ address }) => closeConnections(address),
                  onRemove: changes.remove,
                }
              }
            />
          </Suspense>
        </LazyBoundary>
      )}
    </>
  )
}

/** Moves the focus to the rows, because the pressed button disappears. */
const focusActiveRow = () => setTimeout(() => activeRow()?.focus())

function FirstStart({ own }: { own: boolean }) {
  return (
    <Notice>
      One endpoint so far{own && ', the one you are connected through'}. Add another to open a port
      for your data.
    </Notice>
  )
}

/**
 * Deselects, after a bulk change of this page, the endpoints that are as planned. Failed endpoints
 * and later choices stay selected.
 */
function useDeselectDone(deselect: (addresses: Iterable<string>) => void): void {
  const run = useBulkRun()
  const handled = useRef<BulkRun>(undefined)
  useEffect(() => {
    if (run?.isRefetched !== true || run.kind !== 'change' || run === handled.current) return
    handled.current = run
    deselect(run.done)
  }, [run, deselect])
}
