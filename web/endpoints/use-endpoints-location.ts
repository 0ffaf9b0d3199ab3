import { useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import type { PolicyChange } from '../policy/policy-draft.ts'
import { isPolicySection, type PolicySection } from '../policy/policy-sections.ts'
import { useDialogNavigation } from '../shared/use-dialog-navigation.ts'

/** The tabs of the panel. The first one is not in the URL. */
export const PANEL_TABS = {
  status: 'Status',
  databases: 'Databases',
  policy: 'Policy',
  requests: 'Requests',
  connect: 'Connect',
  changes: 'Changes',
} as const

export type PanelTab = keyof typeof PANEL_TABS

/** The search parameters of the Endpoints page: filter, order, and the open panel and dialog. */
export interface EndpointsSearch {
  readonly q?: string
  /** The sort column, prefixed with `-` for descending order. */
  readonly sort?: string
  /** The address of the endpoint in the panel. */
  readonly open?: string
  /** The tab of the panel. Default: `status`. */
  readonly tab?: PanelTab
  /** The address of the endpoint whose mapping is edited. */
  readonly edit?: string
  /** The address of the endpoint to remove. */
  readonly remove?: string
  /** The address of the endpoint whose port is changed. */
  readonly port?: string
  /** The address of the endpoint whose policy is edited. */
  readonly policy?: string
  /** The section of the policy that is edited. */
  readonly section?: PolicySection
  /** A client to block in the section Who may connect. */
  readonly deny?: string
  /** The only client to allow in the section Who may connect. */
  readonly allow?: string
  /** A client to add to those that the section Who may connect allows. */
  readonly alsoAllow?: string
  /** A certificate to add in the section TLS. */
  readonly certificate?: string
  /** The address of the endpoint to turn off or on. */
  readonly switch?: string
  /** The address of the endpoint to duplicate. */
  readonly like?: string
  /** The database that a new endpoint serves. */
  readonly serve?: string
  /** The bulk action on the selected rows, such as `remove`. */
  readonly bulk?: string
}

/** The parameters that open a dialog. */
const DIALOGS = ['edit', 'remove', 'port', 'policy', 'switch', 'bulk'] as const

/** The parameters that change a client of a policy. */
const CLIENTS = ['deny', 'allow', 'alsoAllow'] as const

const TEXTS = ['q', 'sort', 'open', 'tab', 'section', 'certificate', 'like', 'serve'] as const

/** Returns whether a dialog is open, except that of a new endpoint. */
export const hasDialog = (search: EndpointsSearch): boolean =>
  DIALOGS.some((key) => search[key] !== undefined)

/**
 * Parses the search parameters of the URL; unknown ones are dropped. A policy without a section is
 * shown in the panel.
 */
export function readEndpointsSearch(search: Record<string, unknown>): EndpointsSearch {
  const text = (key: string) => {
    const value = search[key]
    return typeof value === 'string' && value !== '' ? { [key]: value } : {}
  }
  const { tab, section, policy, ...read }: Record<string, string> = Object.assign(
    {},
    ...[...TEXTS, ...CLIENTS, ...DIALOGS].map(text),
  )
  const changesClients = CLIENTS.some((key) => read[key] !== undefined)
  const edited = isPolicySection(section) ? section : changesClients ? 'access' : undefined
  const dialog = policy !== undefined && edited !== undefined && { policy, section: edited }
  const open = dialog ? (read.open ?? policy) : (policy ?? read.open)
  const shown = policy === undefined || (dialog && read.open !== undefined) ? tab : 'policy'
  return {
    ...read,
    ...(open !== undefined && { open }),
    ...(open !== undefined && isPanelTab(shown) && shown !== 'status' && { tab: shown }),
    ...dialog,
  }
}

const isPanelTab = (text: string | undefined): text is PanelTab =>
  text !== undefined && Object.hasOwn(PANEL_TABS, text)

/**
 * Returns the location within the Endpoints page, and functions to navigate. The Back button closes
 * the open panel or dialog.
 */
export function useEndpointsLocation() {
  const merged = useSearch({ from: '/endpoints' })
  // The router keeps parameters that its validation has dropped.
  const search = useMemo(() => readEndpointsSearch({ ...merged }), [merged])
  const dialogs = useDialogNavigation()
  const actions = useMemo(() => {
    const at = (
      to: '/endpoints' | '/endpoints/new',
      change: (now: EndpointsSearch) => EndpointsSearch,
    ) => ({
      to,
      search: (merged: EndpointsSearch) => {
        const now = readEndpointsSearch({ ...merged })
        return readEndpointsSearch({ q: now.q, sort: now.sort, ...change(now) })
      },
    })
    const panelOf = ({ open, tab }: EndpointsSearch) => ({
      ...(open !== undefined && { open }),
      ...(tab !== undefined && { tab }),
    })
    // A dialog opens over the panel, which reappears when the dialog closes.
    const openDialog = (change: EndpointsSearch) =>
      dialogs.open(at('/endpoints', (now) => ({ ...panelOf(now), ...change })))
    // The panel of another endpoint keeps the tab.
    const openPanel = (address: string, tab?: PanelTab) =>
      dialogs.open(
        at('/endpoints', (now) => ({ ...panelOf(now), open: address, ...(tab && { tab }) })),
      )
    return {
      add: () => dialogs.open(at('/endpoints/new', () => ({}))),
      duplicate: (address: string) => dialogs.open(at('/endpoints/new', () => ({ like: address }))),
      open: openPanel,
      // Replaces the history entry, so that going back closes the panel.
      showTab: (tab: PanelTab) =>
        dialogs.replace(at('/endpoints', (now) => ({ ...panelOf(now), tab }))),
      edit: (address: string) => openDialog({ edit: address }),
      remove: (address: string) => openDialog({ remove: address }),
      changePort: (address: string) => openDialog({ port: address }),
      showPolicy: (address: string) => openPanel(address, 'policy'),
      changePolicy: (address: string, section: PolicySection, change: PolicyChange = {}) =>
        openDialog({ policy: address, section, ...change }),
      switch: (address: string) => openDialog({ switch: address }),
      bulk: (action: string) => openDialog({ bulk: action }),
      closePanel: () => dialogs.close(at('/endpoints', () => ({}))),
      /** Closes the dialog and keeps the panel beneath it. */
      close: () => dialogs.close(at('/endpoints', (now) => (hasDialog(now) ? panelOf(now) : {}))),
      // Sorting replaces the history entry.
      sort: (sort: string | undefined) =>
        dialogs.replace(at('/endpoints', (now) => ({ ...panelOf(now), sort: sort ?? '' }))),
    }
  }, [dialogs])
  return { search, ...actions }
}
