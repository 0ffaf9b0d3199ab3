import type { QueryClient } from '@tanstack/react-query'
import { showToast, type ToastOptions } from '../shared/toast/toast.ts'
import { changeEndpoint } from './endpoint-requests.ts'
import type { ChangeGuard, EndpointChange } from './guard/check-changes.ts'
import type { OtherConsole } from './model/admin-access.ts'
import { sameState } from './model/mapping.ts'
import { revealRow } from './model/reveal-row.ts'
import { refetchEndpoints } from './queries.ts'

/**
 * Shows a change of an endpoint, with Undo or, if the change disconnects this page, with a link to
 * the console at another endpoint.
 */
export function showEndpointChange(
  queryClient: QueryClient,
  change: EndpointChange,
  guard?: Pick<ChangeGuard, 'disconnects' | 'otherConsole'>,
  text = describeChange(change),
): void {
  const { address: name, before, after, policy } = change
  const isChanged = !sameState(before, after) || policy !== undefined
  const canUndo = guard?.disconnects !== true && isChanged
  if (guard?.otherConsole !== undefined) showConsoleLink(change, guard.otherConsole)
  else {
    showToast({
      text,
      name,
      ...(kindOf(change) === 'added' && { actions: [openAction(name)] }),
      ...(canUndo && { undo: () => undoChange(queryClient, change) }),
    })
  }
}

/** Links to the console at another endpoint, after a change that disconnected this page. */
export function showConsoleLink(change: EndpointChange, { address, url }: OtherConsole): void {
  showToast({
    text: describeChange(change),
    name: change.address,
    actions: [{ label: `Open the console at ${address}`, href: url }],
    stays: true,
  })
}

const openAction = (open: string) => ({ label: 'Open', to: { to: '/endpoints', search: { open } } })

async function undoChange(queryClient: QueryClient, change: EndpointChange): Promise<ToastOptions> {
  const { address: name, before, after, policy } = change
  const reason = await changeEndpoint({
    address: name,
    before: after,
    after: before,
    policy: policy && { before: policy.after, after: policy.before },
  })
  await refetchEndpoints(queryClient, [name])
  if (reason !== undefined) {
    return {
      text: `${name} could not be ${UNDONE[kindOf(change)]}`,
      name,
      failures: [{ reason }],
      undo: () => undoChange(queryClient, change),
      undoLabel: 'Try again',
    }
  }
  focusSoon(name)
  return { text: `${name} ${UNDONE[kindOf(change)]}`, name }
}

/** Moves the focus from the button of the toast, which disappears, to the row. */
function focusSoon(address: string): void {
  const lost =
    document.activeElement === document.body || document.activeElement?.closest('[data-undo]')
  if (lost) setTimeout(() => revealRow(address)?.focus())
}

type Kind = 'added' | 'removed' | 'mapped' | 'ruled'

function kindOf({ before, after, policy }: EndpointChange): Kind {
  if (after === null) return 'removed'
  if (before === null) return 'added'
  return policy === undefined ? 'mapped' : 'ruled'
}

const UNDONE: Record<Kind, string> = {
  added: 'removed',
  removed: 'restored',
  mapped: 'changed back',
  ruled: 'changed back',
}

function describeChange(change: EndpointChange): string {
  const kind = kindOf(change)
  if (kind === 'mapped') return `Mapping of ${change.address} saved`
  return kind === 'ruled' ? `Policy of ${change.address} saved` : `${change.address} ${kind}`
}
