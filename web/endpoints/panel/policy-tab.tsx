import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { policiesQuery } from '../../api/queries.ts'
import { PolicyFacts, TrialNotice } from '../../policy/policy-facts.tsx'
import { POLICY_SECTIONS, type PolicySection } from '../../policy/policy-sections.ts'
import { hasClients } from '../../policy/rule-changes.ts'
import { QueryResult } from '../../ui/feedback/query-result.tsx'
import { preloadForms } from '../load-forms.ts'
import { useEndpointsLocation } from '../use-endpoints-location.ts'
import { PanelSection } from './panel-section.tsx'
import type { PanelEndpoint } from './use-panel-endpoint.ts'

const sections = Object.entries(POLICY_SECTIONS) as [PolicySection, string][]

/** The sections of the policy of an endpoint. Each is edited alone. */
export function PolicyTab({ endpoint: { address, mapping } }: { endpoint: PanelEndpoint }) {
  const { changePolicy } = useEndpointsLocation()
  const query = useQuery(policiesQuery)
  const shown = sections.filter(([section]) => section !== 'tls' || address.startsWith('ssl:'))
  return (
    <QueryResult query={query} what="the policy">
      {(records) => {
        const record = records.find((each) => each.endpoint === address)
        return (
          <>
            <TrialNotice record={record} />
            {shown.map(([section, title]) => (
              <PanelSection
                key={section}
                title={title}
                action={
                  (section !== 'access' || hasClients(address)) && (
                    <Button
                      variant="subtle"
                      aria-label={`Edit: ${title}`}
                      onClick={() => changePolicy(address, section)}
                      onPointerEnter={preloadForms}
                      onFocus={preloadForms}
                    >
                      Edit
                    </Button>
                  )
                }
              >
                <PolicyFacts {...{ record, section, address, mapping: mapping ?? [] }} />
              </PanelSection>
            ))}
          </>
        )
      }}
    </QueryResult>
  )
}
