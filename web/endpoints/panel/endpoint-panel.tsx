import { Button } from '@mantine/core'
import { SidePanel } from '../../side-panel.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { LoadFailure } from '../../ui/load-failure.tsx'
import { Notice } from '../../ui/notice.tsx'
import { SkeletonRows } from '../../ui/skeleton-rows.tsx'
import { findRow } from '../find-row.ts'
import { PanelBody } from './panel-body.tsx'
import { usePanelEndpoint } from './use-panel-endpoint.ts'

/** What an {@link EndpointPanel} is of. */
export interface EndpointPanelProps {
  readonly address: string
  readonly onClose: () => void
}

/** All that is known of one endpoint. */
export function EndpointPanel({ address, onClose }: EndpointPanelProps) {
  return (
    <SidePanel
      title={address}
      action={<CopyButton text={address} />}
      onClose={onClose}
      backTo={() => findRow(address)}
    >
      <Content key={address} address={address} onClose={onClose} />
    </SidePanel>
  )
}

/** What is known of one endpoint; another begins anew. */
function Content({ address, onClose }: EndpointPanelProps) {
  const { endpoint, failure, retry } = usePanelEndpoint(address)
  if (endpoint) return <PanelBody endpoint={endpoint} onClose={onClose} />
  if (failure !== null) return <LoadFailure what="The endpoint" error={failure} onRetry={retry} />
  if (endpoint === undefined) return <SkeletonRows what="the endpoint" />
  return (
    <Notice
      action={
        <Button variant="default" onClick={onClose}>
          Back to the list
        </Button>
      }
    >
      There is no endpoint {address}. It was removed, or never was.
    </Notice>
  )
}
