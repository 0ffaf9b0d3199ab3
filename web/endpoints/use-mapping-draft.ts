import { useKeptDraft } from '../use-kept-draft.ts'
import { draftMapping, type EndpointDraft, emptyDraft, mappingDraft } from './endpoint-draft.ts'
import type { EndpointRow } from './endpoint-rows.ts'
import { sameMapping } from './mapping.ts'

/** A mapping while it is edited, beside what is in force. */
export interface MappingDraft {
  readonly draft: EndpointDraft
  /** The mapping that the edit began from, or that was chosen to be compared with since. */
  readonly base: readonly string[]
  /** To be sent as If-Match: of the endpoint as it was when it had the mapping {@link base}. */
  readonly revision: number | undefined
  /** The mapping in force; `undefined` where the endpoint is gone. */
  readonly theirs: readonly string[] | undefined
  /** Whether somebody else has changed it since, to something else than what is typed here. */
  readonly inConflict: boolean
  readonly restored: boolean
  readonly change: (part: Partial<EndpointDraft>) => void
  /** Goes on from what is in force: with its mapping, or with what is typed. */
  readonly settle: (takeTheirs: boolean) => void
  readonly forget: () => void
  readonly startAfresh: () => void
}

/**
 * The draft of a mapping, kept with what it was begun from: whoever comes back to it, after a sign-in
 * or a restart of the server, is told what others have changed since.
 */
export function useMappingDraft(
  address: string,
  row: EndpointRow | undefined,
  begun: EndpointRow | undefined,
): MappingDraft {
  const begin = begun?.databases ?? []
  const kept = useKeptDraft(`mapping of ${address}`, {
    ...mappingDraft(begin),
    base: begin,
    revision: begun?.revision,
  })
  const { base } = kept.draft
  const draft: EndpointDraft = { ...emptyDraft, ...kept.draft }
  const theirs = row?.databases ?? undefined
  const unmoved = theirs === undefined || sameMapping(theirs, base)
  const agreed = theirs !== undefined && sameMapping(theirs, draftMapping(draft))
  // Changed and changed back, or to what is typed here, is no conflict: then the revision of now is
  // the one to go by.
  const follows = theirs !== undefined && (unmoved || agreed)
  return {
    draft,
    base,
    revision: (follows ? row?.revision : undefined) ?? kept.draft.revision,
    theirs,
    inConflict: !unmoved && !agreed,
    restored: kept.restored,
    change: ({ reach, names, typing }) =>
      kept.change({
        ...(reach === undefined ? {} : { reach }),
        ...(names === undefined ? {} : { names }),
        ...(typing === undefined ? {} : { typing }),
      }),
    settle: (takeTheirs) => {
      if (theirs === undefined) return
      kept.change({
        ...(takeTheirs ? mappingDraft(theirs) : {}),
        base: theirs,
        revision: row?.revision,
      })
    },
    forget: kept.forget,
    startAfresh: kept.startAfresh,
  }
}
