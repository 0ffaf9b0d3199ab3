import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { DEFAULT_CERTIFICATE } from '../../../server/contract/certificate.ts'
import type { EndpointRecord } from '../../../server/contract/endpoints/endpoint.ts'
import type { Policy, PolicyRecord } from '../../../server/contract/endpoints/policy.ts'
import { useAllDatabases } from '../../api/all-databases.ts'
import { endpointsQuery, policiesQuery } from '../../api/queries.ts'
import { certificatesQuery } from '../../certificates/queries.ts'
import { useDraftForm } from '../../shared/forms/use-draft-form.ts'
import { announce } from '../../ui/announce.tsx'
import { FormFrame } from '../../ui/form/form-frame.tsx'
import { Dialog } from '../../ui/overlay/dialog.tsx'
import { addEndpoint } from '../endpoint-requests.ts'
import { showEndpointChange } from '../endpoint-toast.ts'
import { formatMapping } from '../model/mapping.ts'
import { revealRow } from '../model/reveal-row.ts'
import { RuleChips } from '../table/cells/rule-chips.tsx'
import { AddressFields } from './address-fields.tsx'
import {
  canonicalAddress,
  draftMapping,
  duplicateEndpoint,
  type EndpointDraft,
  emptyDraft,
  endpointFieldGroups,
  endpointSchema,
  mappingDraft,
  withAddressSplit,
} from './endpoint-draft.ts'
import { toFieldErrors } from './field-errors.ts'
import { MappingEditor } from './mapping/mapping-editor.tsx'
import { NotApplied } from './save-steps.ts'
import { splitAddress } from './split-address.ts'
import { useAddressCheck } from './use-address-check.ts'
import { formatStage, useSaveEndpoint } from './use-save-endpoint.ts'

export interface AddEndpointProps {
  /** The address of the endpoint to copy. */
  readonly like?: string | undefined
  /** The database to begin the mapping with. */
  readonly serve?: string | undefined
  readonly onClose: () => void
}

/**
 * The form that adds an endpoint, prefilled from another endpoint, whose rules it copies. The input is
 * kept if the server rejects it.
 */
export function AddEndpointDialog(props: AddEndpointProps) {
  const { like, serve } = props
  const { data: endpoints, isPending } = useQuery(endpointsQuery)
  const policies = useQuery({ ...policiesQuery, enabled: like !== undefined })
  // Wait for the endpoint to copy; without one, the form opens at once.
  if (like !== undefined && (isPending || policies.isPending)) return null
  return (
    <AddForm key={like ?? serve} {...props} endpoints={endpoints ?? []} policies={policies.data} />
  )
}

interface AddFormProps extends AddEndpointProps {
  readonly endpoints: readonly EndpointRecord[]
  /** `undefined` if they could not be loaded or are not needed. */
  readonly policies: readonly PolicyRecord[] | undefined
}

function AddForm({ like, serve, endpoints, policies, onClose: close }: AddFormProps) {
  const queryClient = useQueryClient()
  const taken = endpoints.map(({ endpoint }) => endpoint)
  const [copied] = useState(() => copiedPolicy(like, policies))
  const { data: certificates } = useQuery(certificatesQuery)
  // The server decides while they are not known.
  const hasDefault = certificates?.some(({ name }) => name === DEFAULT_CERTIFICATE) ?? true
  const [initialValues] = useState(() => {
    if (like === undefined) return { ...emptyDraft, ...(serve && mappingDraft([serve])) }
    const found = endpoints.find(({ endpoint }) => endpoint === like)
    if (found !== undefined) {
      return {
        ...duplicateEndpoint(found, taken),
        certificates: copied?.tls?.certificates ?? [],
      }
    }
    return { ...emptyDraft, ...splitAddress(like) }
  })
  const form = useDraftForm({
    draft: like === undefined ? 'endpoint' : `endpoint like ${like}`,
    initialValues,
    schema: endpointSchema(taken, hasDefault),
    groups: endpointFieldGroups,
  })
  const draft = form.values
  const [added, setAdded] = useState<string>()
  const { stage, save, stopWaiting } = useSaveEndpoint(close)
  const existing = useAllDatabases()
  const found = useAddressCheck(draft, taken)
  // Once the endpoint is added, the check would report its own address as taken.
  const addressProblem = stage === 'idle' && added === undefined ? found : undefined
  const reason = addressProblem?.message
  useEffect(() => {
    if (reason !== undefined) announce(reason)
  }, [reason])

  const submit = () => {
    // An address typed as the host is split before validation if the field still has the focus.
    form.setValues(withAddressSplit(draft))
    form.submit((valid) => {
      const address = canonicalAddress(valid)
      const databases = draftMapping(valid)
      if (copied === undefined) return form.showErrors({ form: RULES_UNKNOWN })
      void save(
        {
          change: { what: `Endpoint ${address}`, done: 'added' },
          address,
          databases,
          send: () =>
            addEndpoint(
              { endpoint: address, databases: [...databases] },
              withCertificates(copied, valid),
            ),
        },
        {
          onSuccess: () => {
            showEndpointChange(queryClient, { address, before: null, after: databases })
            setAdded(address)
            form.deleteDraft()
          },
          onError: (error) =>
            form.showErrors(
              error instanceof NotApplied
                ? { form: NOT_ADDED }
                : toFieldErrors(error, { scheme: valid.scheme, adding: true }),
            ),
        },
      )
    })
  }
  const fieldProps = {
    draft,
    errors: form.errors,
    onChange: (changes: Partial<EndpointDraft>) => {
      stopWaiting()
      form.setValues(changes)
    },
  }
  const mapped = draft.reach === 'all' || draft.names.length > 0
  return (
    <Dialog
      title="Add endpoint"
      width={560}
      onClose={close}
      returnTo={() => (added === undefined ? undefined : revealRow(added))}
    >
      <FormFrame
        form={form}
        saveLabel="Add endpoint"
        busy={stage !== 'idle'}
        progress={formatStage(stage, 'added')}
        sentences={mapped ? [formatMapping(draftMapping(draft), existing)] : []}
        onSave={submit}
        onCancel={close}
      >
        <AddressFields {...fieldProps} addressProblem={addressProblem} />
        <MappingEditor {...fieldProps} />
        {copied != null && (
          <div>
            <p className="dim">Copies the rules of {like}, except a time of removal:</p>
            <RuleChips policy={copied} />
          </div>
        )}
      </FormFrame>
    </Dialog>
  )
}

/** Returns a policy with the certificates of an endpoint; without TLS if it is not `ssl`. */
function withCertificates(
  policy: Policy | null,
  { scheme, certificates }: EndpointDraft,
): Policy | null {
  const { tls, ...rest } = policy ?? {}
  const own = scheme === 'ssl' && certificates.length > 0
  const next = own ? { ...rest, tls: { ...tls, certificates: [...certificates] } } : rest
  return Object.keys(next).length === 0 ? null : next
}

/**
 * Returns the policy of the endpoint to copy without its time of removal; null if the defaults apply,
 * and undefined if it is not known.
 */
function copiedPolicy(
  like: string | undefined,
  policies: readonly PolicyRecord[] | undefined,
): Policy | null | undefined {
  if (like === undefined) return null
  if (policies === undefined) return undefined
  const { closesAt: _, ...policy } =
    policies.find(({ endpoint }) => endpoint === like)?.policy ?? {}
  return Object.keys(policy).length === 0 ? null : policy
}

const RULES_UNKNOWN = 'The rules of the endpoint to copy could not be loaded. Try again later.'

const NOT_ADDED = 'The connection failed and the endpoint was not added. Add it again.'
