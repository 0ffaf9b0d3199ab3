import { type KeyboardEvent, lazy, useEffect, useLayoutEffect, useRef } from 'react'
import { LazyBoundary } from '../../ui/feedback/lazy-boundary.tsx'
import { SkeletonRows } from '../../ui/feedback/skeleton-rows.tsx'
import { tabClass } from '../../ui/layout/tabs.tsx'
import { PANEL_TABS, type PanelTab } from '../use-endpoints-location.ts'
import classes from './panel-tabs.module.css'
import { StatusTab } from './status-tab.tsx'
import type { PanelEndpoint } from './use-panel-endpoint.ts'

const views = {
  status: StatusTab,
  databases: lazy(async () => ({ default: (await import('./databases-tab.tsx')).DatabasesTab })),
  policy: lazy(async () => ({ default: (await import('./policy-tab.tsx')).PolicyTab })),
  requests: lazy(async () => ({ default: (await import('./requests-tab.tsx')).RequestsTab })),
  connect: lazy(async () => ({ default: (await import('./connect-tab.tsx')).ConnectTab })),
  changes: lazy(async () => ({ default: (await import('./changes-tab.tsx')).ChangesTab })),
}

const idOf = (tab: PanelTab) => `panel-tab-${tab}`

interface PanelTabsProps {
  readonly tabs: readonly PanelTab[]
  readonly selected: PanelTab
  readonly onSelect: (tab: PanelTab) => void
}

/** The tabs of the panel. The arrow keys, Home and End select one (WAI-ARIA tabs pattern). */
export function PanelTabs({ tabs, selected, onSelect }: PanelTabsProps) {
  const list = useRef<HTMLDivElement>(null)
  useEffect(() => {
    // On a phone, the list is wider than the screen.
    const tab = list.current?.querySelector(`#${idOf(selected)}`)
    tab?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [selected])
  const onKeyDown = (event: KeyboardEvent) => {
    const at = tabs.indexOf(selected)
    const targets: Readonly<Record<string, PanelTab | undefined>> = {
      ArrowLeft: tabs.at(at - 1),
      ArrowRight: tabs[(at + 1) % tabs.length],
      Home: tabs[0],
      End: tabs.at(-1),
    }
    const target = targets[event.key]
    if (target === undefined || event.altKey || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    onSelect(target)
    list.current?.querySelector<HTMLElement>(`#${idOf(target)}`)?.focus()
  }
  return (
    <div
      ref={list}
      role="tablist"
      aria-label="Details of the endpoint"
      className={classes.tabs}
      onKeyDown={onKeyDown}
    >
      {tabs.map((tab) => (
        <button
          key={tab}
          id={idOf(tab)}
          type="button"
          role="tab"
          aria-selected={tab === selected}
          aria-controls={tab === selected ? 'panel-content' : undefined}
          tabIndex={tab === selected ? 0 : -1}
          className={`${tabClass} ${classes.tab}`}
          onClick={() => onSelect(tab)}
        >
          {PANEL_TABS[tab]}
        </button>
      ))}
    </div>
  )
}

/** The content of a tab. Mount it again for each tab and endpoint. */
export function PanelContent({ tab, endpoint }: { tab: PanelTab; endpoint: PanelEndpoint }) {
  const View = views[tab]
  const content = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    content.current?.closest('[data-panel-body]')?.scrollTo(0, 0)
  }, [])
  return (
    <div
      ref={content}
      id="panel-content"
      role="tabpanel"
      aria-labelledby={idOf(tab)}
      tabIndex={-1}
      className={classes.content}
    >
      <LazyBoundary fallback={<SkeletonRows what="the tab" />}>
        <View endpoint={endpoint} />
      </LazyBoundary>
    </div>
  )
}
