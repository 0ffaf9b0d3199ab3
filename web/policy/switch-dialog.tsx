import { Button } from '@mantine/core'
import { useOwnEndpoint } from '../api/session/person.ts'
import { ConfirmDialog } from '../ui/overlay/confirm-dialog.tsx'
import type { PolicyDialogProps } from './policy-dialog.tsx'
import { orDefaults } from './policy-draft.ts'
import { useSavePolicy } from './policy-requests.ts'

/** Asks for confirmation before an endpoint is turned off or on, with the consequences. */
export function SwitchDialog(props: PolicyDialogProps) {
  const { address, stored, revision, check, renderGuard, onClose, returnTo } = props
  const save = useSavePolicy(address)
  const isHere = useOwnEndpoint() === address
  const { enabled, ...rest } = stored ?? {}
  const isOff = enabled === false
  const after = isOff ? orDefaults(rest) : { ...rest, enabled: false }
  const guard = check(after)
  const send = (isTrial: boolean) =>
    save.mutate(
      {
        before: stored,
        revision,
        input: after,
        isTrial,
        done: `${address} turned ${isOff ? 'on' : 'off'}`,
        ...guard,
      },
      { onSuccess: onClose },
    )
  const dialog = { name: address, onClose, returnTo, error: save.error?.message ?? '' }
  if (guard.refused !== undefined) {
    return (
      <ConfirmDialog {...dialog} title={`${address} cannot be turned off`} keep="Close">
        <p>{guard.refused}</p>
      </ConfirmDialog>
    )
  }
  return (
    <ConfirmDialog
      {...dialog}
      title={`Turn ${isOff ? 'on' : 'off'} ${address}?`}
      keep={isOff ? 'Keep it off' : 'Keep it on'}
      confirm={{
        label: isOff ? 'Turn on' : guard.disconnects ? 'Turn off and disconnect' : 'Turn off',
        busy: save.isPending,
        harmless: isOff,
        run: () => send(false),
      }}
      other={
        isHere &&
        !isOff && (
          <Button variant="default" onClick={() => send(true)}>
            Try for 60 seconds
          </Button>
        )
      }
    >
      <p>
        {isOff
          ? 'The endpoint opens again on every node, with the same databases and rules.'
          : 'The endpoint keeps its databases and rules, and can be turned on again.'}
      </p>
      {renderGuard(guard)}
    </ConfirmDialog>
  )
}
