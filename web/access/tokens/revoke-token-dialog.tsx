import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { TokenInfo } from '../../../server/contract/access/token.ts'
import { api, ignoreMissing, readJson } from '../../api/client.ts'
import { tokensQuery } from '../../api/queries.ts'
import { useReportedMutation } from '../../shared/reports/use-reported-mutation.ts'
import { showToast } from '../../shared/toast/toast.ts'
import { ConfirmDialog } from '../../ui/overlay/confirm-dialog.tsx'
import { UnavailableDialog } from '../../ui/overlay/unavailable-dialog.tsx'
import { RelativeTime } from '../../ui/text/relative-time.tsx'

/** Asks for confirmation before a token is revoked. `token` is undefined if it does not exist. */
export function RevokeTokenDialog(props: {
  token: TokenInfo | undefined
  whose: 'own' | 'everybody'
  onClose: () => void
}) {
  const { token, whose, onClose: close } = props
  const [opened] = useState(Date.now)
  // Reads the tokens again when the dialog opens.
  const { dataUpdatedAt, isFetching } = useQuery(tokensQuery(whose))
  const isCurrent = dataUpdatedAt >= opened
  const revoke = useRevokeToken()
  if (token === undefined) {
    if (!revoke.isIdle) return null
    return (
      <UnavailableDialog title="Token not found" onClose={close}>
        It was revoked or never existed.
      </UnavailableDialog>
    )
  }
  return (
    <ConfirmDialog
      title={`Revoke token ${token.name}?`}
      keep="Keep it"
      error={revoke.error?.message ?? ''}
      confirm={{
        label: 'Revoke token',
        busy: revoke.isPending,
        // A callback of `mutate` does not run if the dialog was closed before the response.
        run: () => revoke.mutate(token, { onSuccess: close }),
      }}
      onClose={close}
    >
      <p>
        Requests with <span className="mono">{token.prefix}…</span> will be rejected immediately.
        This cannot be undone.{' '}
        {isCurrent ? (
          <LastUse time={token.lastUsed} />
        ) : (
          `${isFetching ? 'Checking' : 'It is unknown'} when it was last used.`
        )}
      </p>
    </ConfirmDialog>
  )
}

function LastUse({ time }: { time: string | null }) {
  if (time === null) return 'It was never used.'
  return (
    <>
      It was last used <RelativeTime time={time} />.
    </>
  )
}

const revokeToken = ({ id }: TokenInfo) =>
  ignoreMissing(readJson(api._api.token[':id'].$delete({ param: { id } })))

/** Revokes a token. */
function useRevokeToken() {
  const queryClient = useQueryClient()
  return useReportedMutation({
    mutationFn: revokeToken,
    // Several tokens can have the same name.
    change: ({ name, prefix }) => ({ what: `Token ${name} (${prefix}…)`, done: 'revoked' }),
    onSuccess: (_, { name }) => {
      showToast({ text: `Token ${name} revoked`, name })
      return queryClient.invalidateQueries({ queryKey: ['token'] })
    },
  })
}
