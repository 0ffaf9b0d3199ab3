import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import type { Policy } from '../../server/contract/endpoints/policy.ts'
import { useOwnEndpoint, usePresence } from '../api/session/person.ts'
import { type DraftForm, useDraftForm } from '../shared/forms/use-draft-form.ts'
import { FormFrame } from '../ui/form/form-frame.tsx'
import { Conflict } from '../ui/overlay/conflict.tsx'
import { Dialog } from '../ui/overlay/dialog.tsx'
import type { FindFocusTarget } from '../ui/overlay/use-focus-return.ts'
import { describeLockOut } from './describe-policy.ts'
import classes from './policy-dialog.module.css'
import {
  orDefaults,
  type PolicyChange,
  type PolicyDraft,
  policyDraftSchema,
  policyFieldGroups,
  toPolicy,
  toPolicyDraft,
  toPolicyErrors,
  toPolicyInput,
  withChange,
  withSection,
} from './policy-draft.ts'
import { PolicyFields } from './policy-fields.tsx'
import {
  admissionQuery,
  isPolicyConflict,
  ownAddressQuery,
  type PolicySave,
  useSavePolicy,
} from './policy-requests.ts'
import { POLICY_SECTIONS, type PolicySection } from './policy-sections.ts'
import { compareRules } from './rule-changes.ts'

/** The effects of a policy on this page and on other clients. */
export interface PolicyGuard {
  /** Why the policy cannot be set. */
  readonly refused: string | undefined
  readonly consequences: readonly string[]
  readonly disconnects: boolean
  readonly otherConsole: PolicySave['otherConsole']
}

/** The endpoint of a dialog, and what the page provides for it. */
export interface PolicyDialogProps {
  readonly address: string
  readonly mapping: readonly string[]
  /** The stored policy; null if the defaults apply. */
  readonly stored: Policy | null
  readonly revision: number | undefined
  readonly check: (policy: Policy | null) => PolicyGuard
  /** Shows the consequences of a policy that disconnects the page or cannot be set. */
  readonly renderGuard: (guard: PolicyGuard) => ReactNode
  readonly onClose: () => void
  readonly returnTo: FindFocusTarget
}

interface PolicyFormProps extends PolicyDialogProps {
  readonly section: PolicySection
  /** A change with which the form opens. */
  readonly change: PolicyChange
}

interface PolicyValues extends PolicyDraft {
  /** The policy on which the draft is based, so that a change by someone else is noticed. */
  readonly base: Policy | null
}

/** The form that changes one section of the policy of an endpoint. */
export function PolicyDialog(props: PolicyFormProps) {
  const { address, mapping, stored, revision, section, change, onClose } = props
  const form = useDraftForm<PolicyValues>({
    draft: `${section} of the policy of ${address}`,
    initialValues: useState(() => ({
      ...toPolicyDraft(withChange(stored, change)),
      base: stored,
    }))[0],
    schema: policyDraftSchema,
    groups: policyFieldGroups,
  })
  const { base } = form.values
  const input = toPolicyInput(withSection(stored, section, form.values), stored)
  const draft = orDefaults(toPolicy(input, Date.now()))
  const changes = compareRules(stored, draft)
  // Errors of fields are shown when the form is submitted.
  const isUnchanged = changes.length === 0 && policyDraftSchema.safeParse(form.values).success
  const inConflict = changes.length > 0 && compareRules(stored, base, section).length > 0
  const { guard, lockOut } = useGuard(props, draft)
  const save = useSavePolicy(address)

  const submit = (isTrial: boolean) => {
    if (inConflict) return form.showErrors({ form: CHOOSE })
    form.submit(() => {
      if (guard.refused !== undefined) return form.showErrors({ form: guard.refused })
      save.mutate(
        {
          before: stored,
          revision,
          input: orDefaults(input),
          isTrial,
          done: draft ? `Policy of ${address} saved` : `Policy of ${address} reset to the defaults`,
          disconnects: lockOut !== undefined,
          otherConsole: guard.otherConsole,
        },
        {
          onSuccess: () => {
            form.deleteDraft()
            onClose()
          },
          onError: (error) =>
            form.showErrors(
              isPolicyConflict(error) ? { form: CONFLICT } : toPolicyErrors(error, section),
            ),
        },
      )
    })
  }
  const settle = (takeTheirs: boolean) => {
    form.setValues({ ...(takeTheirs && toPolicyDraft(stored)), base: stored })
    form.clearErrors()
  }
  // The messages are out of date once there is a conflict to show, or once it is settled.
  const error =
    form.errors.form === guard.refused || (inConflict && form.errors.form === CONFLICT)
      ? null
      : form.errors.form === CHOOSE && !inConflict
        ? null
        : form.errors.form
  const isTrialFirst = lockOut !== undefined
  return (
    <Dialog
      title={`${POLICY_SECTIONS[section]} · ${address}`}
      name={address}
      width={640}
      onClose={onClose}
      returnTo={props.returnTo}
    >
      <FormFrame
        form={form}
        saveLabel={isTrialFirst ? TRY : 'Save policy'}
        busy={save.isPending}
        unavailable={isUnchanged ? 'There are no changes to save.' : undefined}
        error={error}
        sentences={[
          ...changes.map(
            ({ rule, before, after }) => `${rule}: ${cut(after)} (was ${cut(before)})`,
          ),
          ...(guard.disconnects || lockOut ? [] : guard.consequences),
        ]}
        other={
          !isUnchanged &&
          guard.refused === undefined && (
            <Button
              variant="subtle"
              data-danger={isTrialFirst || undefined}
              aria-disabled={save.isPending || undefined}
              onClick={() => submit(!isTrialFirst)}
            >
              {isTrialFirst ? 'Save without trying' : TRY}
            </Button>
          )
        }
        onSave={() => submit(isTrialFirst)}
        onCancel={onClose}
      >
        {inConflict && (
          <Conflict
            message="Someone changed this policy while you were editing it. Your changes were not saved. Compare, choose, then save again."
            theirs={{ label: 'Theirs (saved)', value: <RuleList {...{ stored, draft }} theirs /> }}
            yours={{ label: 'Yours (not saved)', value: <RuleList {...{ stored, draft }} /> }}
            onTakeTheirs={() => settle(true)}
            onKeepYours={() => settle(false)}
          />
        )}
        <PolicyFields
          form={form as unknown as DraftForm<PolicyDraft>}
          section={section}
          address={address}
          mapping={mapping}
          policy={draft ?? {}}
        />
        {(guard.refused !== undefined || guard.disconnects || lockOut) &&
          props.renderGuard(
            lockOut === undefined
              ? guard
              : {
                  ...guard,
                  disconnects: true,
                  consequences: [
                    lockOut,
                    ...guard.consequences,
                    'Try the policy first: after 60 seconds, the previous one returns unless you keep the new one.',
                  ],
                },
          )}
      </FormFrame>
    </Dialog>
  )
}

const TRY = 'Try for 60 seconds'
const CHOOSE = 'Choose “Take theirs” or “Keep mine” first.'
const CONFLICT = 'Someone changed this policy. Check the changes, then save again.'

/** Maximum length of a rule in a sentence, such as a list of addresses. */
const LONGEST = 80

const cut = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text)

/** The rules that differ between the stored policy and the edited one. */
function RuleList(props: { stored: Policy | null; draft: Policy | null; theirs?: boolean }) {
  return (
    <ul className={classes.rules}>
      {compareRules(props.stored, props.draft).map(({ rule, before, after }) => (
        <li key={rule}>
          {rule}: {cut(props.theirs ? before : after)}
        </li>
      ))}
    </ul>
  )
}

/** Returns the effects of a policy, and why it may lock out this page, if it may. */
function useGuard({ address, check }: PolicyDialogProps, policy: Policy | null) {
  const { person } = usePresence()
  const isHere = useOwnEndpoint() === address
  const own = useQuery({ ...ownAddressQuery(person.id), enabled: isHere })
  const rules = policy ?? {}
  const query = admissionQuery(address, rules, own.data)
  const { data: admitted } = useQuery({ ...query, enabled: isHere && query.enabled === true })
  const guard = check(policy)
  const lockOut =
    isHere && guard.refused === undefined ? describeLockOut(rules, admitted) : undefined
  return { guard, lockOut }
}
