import { type DraftForm, useDraftForm } from '../../../shared/forms/use-draft-form.ts'
import type { EndpointRow } from '../../model/endpoint-rows.ts'
import { sameMapping } from '../../model/mapping.ts'
import {
  draftMapping,
  type EndpointDraft,
  emptyDraft,
  endpointFieldGroups,
  mappingDraft,
  mappingSchema,
} from '../endpoint-draft.ts'
import { splitAddress } from '../split-address.ts'

interface MappingValues extends Pick<EndpointDraft, 'reach' | 'names' | 'typing'> {
  readonly base: readonly string[]
  readonly revision: number | undefined
}

/** A mapping being edited, with the saved mapping. */
export interface MappingDraft {
  readonly draft: EndpointDraft
  /**
   * The mapping on which the draft is based: when editing began, or when a conflict was resolved.
   */
  readonly base: readonly string[]
  /** The revision of the endpoint when it had the mapping {@link base}, sent as `If-Match`. */
  readonly revision: number | undefined
  /** The saved mapping; `undefined` if the endpoint was removed. */
  readonly theirs: readonly string[] | undefined
  /** Whether another user saved a mapping that differs from both `base` and the draft. */
  readonly inConflict: boolean
  readonly form: DraftForm<MappingValues>
  /**
   * Resolves a conflict by rebasing on the saved mapping, with its names or with those of the
   * draft.
   */
  readonly settle: (takeTheirs: boolean) => void
}

/**
 * Returns the draft of a mapping, kept in the tab together with the mapping on which it is based. A
 * draft restored after a sign-in or a server restart therefore detects changes by other users.
 */
export function useMappingDraft(
  address: string,
  row: EndpointRow | undefined,
  begun: EndpointRow | undefined,
): MappingDraft {
  const begin = begun?.databases ?? []
  const form = useDraftForm<MappingValues>({
    draft: `mapping of ${address}`,
    initialValues: { ...mappingDraft(begin), base: begin, revision: begun?.revision },
    schema: mappingSchema,
    groups: endpointFieldGroups,
  })
  const { base } = form.values
  const draft: EndpointDraft = { ...emptyDraft, ...splitAddress(address), ...form.values }
  const theirs = row?.databases ?? undefined
  const unmoved = theirs === undefined || sameMapping(theirs, base)
  const agreed = theirs !== undefined && sameMapping(theirs, draftMapping(draft))
  // If the mapping was changed back, or matches the draft, there is no conflict and the current
  // revision applies.
  const follows = theirs !== undefined && (unmoved || agreed)
  return {
    draft,
    base,
    revision: (follows ? row?.revision : undefined) ?? form.values.revision,
    theirs,
    inConflict: !unmoved && !agreed,
    form,
    settle: (takeTheirs) => {
      if (theirs === undefined) return
      form.setValues({
        ...(takeTheirs ? mappingDraft(theirs) : {}),
        base: theirs,
        revision: row?.revision,
      })
    },
  }
}
