import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { TokenInfo } from '../../server/contract/token.ts'
import { ApiFailure, answer, api } from '../api.ts'
import { announce } from '../ui/announce.tsx'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'
import { RelativeTime } from '../ui/relative-time.tsx'
import { type TokensPath, useTokensLocation } from './use-access-location.ts'

/** Asks before a token is revoked; `token` is undefined where there is none (any more). */
export function RevokeTokenDialog(props: { token: TokenInfo | undefined; path: TokensPath }) {
  const { token, path } = props
  const { close } = useTokensLocation(path)
  const queryClient = useQueryClient()
  const revoke = useMutation({
    mutationFn: async ({ id }: TokenInfo) => {
      await answer(api._api.token[':id'].$delete({ param: { id } })).catch((error: unknown) => {
        // Revoked by somebody else is revoked.
        if (!(error instanceof ApiFailure && error.status === 404)) throw error
      })
    },
    onSuccess: async (_, { name }) => {
      announce(`${name} was revoked.`)
      await queryClient.invalidateQueries({ queryKey: ['token'] })
      close()
    },
  })
  if (token === undefined) {
    if (!revoke.isIdle) return null
    return (
      <ConfirmDialog title="There is no such token" keep="Back to the list" onClose={close}>
        <p>It was revoked, or never was.</p>
      </ConfirmDialog>
    )
  }
  return (
    <ConfirmDialog
      title={`Revoke ${token.name}?`}
      keep="Keep it"
      fault={revoke.error?.message ?? ''}
      confirm={{
        label: 'Revoke token',
        busy: revoke.isPending,
        run: () => revoke.mutate(token),
      }}
      onClose={close}
    >
      <p>
        Whatever asks with <span className="mono">{token.prefix}…</span> is refused at once, and it
        cannot be brought back.{' '}
        {token.lastUsed === null ? (
          'It was never used.'
        ) : (
          <>
            It was last used <RelativeTime time={token.lastUsed} />.
          </>
        )}
      </p>
    </ConfirmDialog>
  )
}
