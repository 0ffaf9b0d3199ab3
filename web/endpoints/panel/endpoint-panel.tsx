import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { policiesQuery } from '../../api/queries.ts'
import { useHasRole } from '../../api/session/person.ts'
import { LoadFailure } from '../../ui/feedback/load-failure.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { SkeletonRows } from '../../ui/feedback/skeleton-rows.tsx'
import { SidePanel } from '../../ui/layout/side-panel.tsx'
import { CopyButton } from '../../ui/text/copy-button.tsx'
import { revealRow } from '../model/reveal-row.ts'
import { PanelBody } from './panel-body.tsx'
import { usePanelEndpoint } from './use-panel-endpoint.ts'

export interface EndpointPanelProps {
  readonly address: string
  readonly onClose: () => void
}

/** The side panel with the details of an endpoint. */
export function EndpointPanel({ address, onClose }: EndpointPanelProps) {
  const enabled = useHasRole('operator')
  const { data: policies } = useQuery({ ...policiesQuery, enabled })
  const note = policies?.find(({ endpoint }) => endpoint === address)?.policy.note
  return (
    <SidePanel
      title={address}
      note={note || undefined}
      action={<CopyButton text={address} />}
      onClose={onClose}
      backTo={() => revealRow(address)}
    >
      <Content key={address} address={address} onClose={onClose} />
    </SidePanel>
  )
}

/** The panel content, remounted for each endpoint. */
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
      There is no endpoint {address}. It was removed or never existed.
    </Notice>
  )
}
