import { useQuery } from '@tanstack/react-query'
import { policiesQuery } from '../../api/queries.ts'
import { useHasRole } from '../../api/session/person.ts'
import { LoadFailure } from '../../ui/feedback/load-failure.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { SkeletonRows } from '../../ui/feedback/skeleton-rows.tsx'
import { SidePanel } from '../../ui/layout/side-panel.tsx'
import { CopyButton } from '../../ui/text/copy-button.tsx'
import { revealRow } from '../model/reveal-row.ts'
import { type PanelTab, useEndpointsLocation } from '../use-endpoints-location.ts'
import { PanelHead, RemovedActions } from './panel-head.tsx'
import { PanelContent, PanelTabs } from './panel-tabs.tsx'
import { type PanelEndpoint, usePanelEndpoint } from './use-panel-endpoint.ts'

/** The side panel of an endpoint: its state and actions, and tabs with its details. */
export function EndpointPanel({ address, onClose }: { address: string; onClose: () => void }) {
  const mayChange = useHasRole('operator')
  const { search, showTab } = useEndpointsLocation()
  const { data: policies } = useQuery({ ...policiesQuery, enabled: mayChange })
  const { endpoint, failure, retry } = usePanelEndpoint(address)
  const tabs = endpoint ? tabsOf(endpoint, mayChange) : []
  const tab = tabs.find((each) => each === search.tab) ?? 'status'
  return (
    <SidePanel
      title={address}
      action={<CopyButton text={address} />}
      head={
        endpoint && (
          <>
            <PanelHead
              key={address}
              endpoint={endpoint}
              policy={
                policies && (policies.find((each) => each.endpoint === address)?.policy ?? {})
              }
              onClose={onClose}
            />
            <PanelTabs tabs={tabs} selected={tab} onSelect={showTab} />
          </>
        )
      }
      onClose={onClose}
      backTo={() => revealRow(address)}
    >
      {endpoint && <PanelContent key={`${address} ${tab}`} tab={tab} endpoint={endpoint} />}
      {!endpoint && failure !== null && (
        <LoadFailure what="The endpoint" error={failure} onRetry={retry} />
      )}
      {endpoint === undefined && failure === null && <SkeletonRows what="the endpoint" />}
      {endpoint === null && failure === null && (
        <Notice action={<RemovedActions address={address} onClose={onClose} />}>
          There is no endpoint {address}. It was removed or never existed.
        </Notice>
      )}
    </SidePanel>
  )
}

/** Returns the tabs that have content: fewer for a removed endpoint, and without policy for viewers. */
function tabsOf({ mapping, goneAt }: PanelEndpoint, mayChange: boolean): PanelTab[] {
  const mapped = mapping === null ? [] : (['databases'] as const)
  if (goneAt !== undefined || mapping === null) return ['status', ...mapped, 'changes']
  const policy = mayChange ? (['policy'] as const) : []
  return ['status', ...mapped, ...policy, 'requests', 'connect', 'changes']
}
