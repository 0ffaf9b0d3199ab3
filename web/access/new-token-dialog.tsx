import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answer, api } from '../api.ts'
import { announce } from '../ui/announce.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { FormFrame } from '../ui/form-frame.tsx'
import { useKeptDraft } from '../use-kept-draft.ts'
import { MadeToken } from './made-token.tsx'
import {
  emptyTokenDraft,
  type TokenDraft,
  type TokenField,
  tokenFaults,
  toTokenInput,
} from './token-draft.ts'
import { TokenFields } from './token-fields.tsx'
import { type TokensPath, useTokensLocation } from './use-access-location.ts'

/** The form in which a token is made, and then the token: it is shown there once and kept nowhere. */
export function NewTokenDialog({ path }: { path: TokensPath }) {
  const { close } = useTokensLocation(path)
  const queryClient = useQueryClient()
  const kept = useKeptDraft('token', emptyTokenDraft)
  const { draft } = kept
  const [{ faults, raised }, setFaults] = useState<{
    faults: Partial<Record<TokenField, string>>
    raised: number
  }>({ faults: {}, raised: 0 })
  const make = useMutation({
    mutationFn: () => answer(api._api.token.$post({ json: toTokenInput(draft, Date.now()) })),
    // The cache of mutations would hold the secret for minutes.
    gcTime: 0,
    onSuccess: ({ info }) => {
      announce(`${info.name} was made.`)
      kept.forget()
      return queryClient.invalidateQueries({ queryKey: ['token'] })
    },
    onError: (error) => raise({ form: error.message }),
  })
  const raise = (found: Partial<Record<TokenField, string>>) =>
    setFaults((now) => ({ faults: found, raised: now.raised + 1 }))
  const change = (part: Partial<TokenDraft>) => {
    kept.change(part)
    setFaults((now) => ({ ...now, faults: {} }))
  }
  const submit = () => {
    const found = tokenFaults(draft, Date.now())
    if (Object.keys(found).length > 0) raise(found)
    else make.mutate()
  }
  if (make.data !== undefined) {
    const { token, info } = make.data
    return (
      <Dialog title={`${info.name} was made`} width={560} deliberate onClose={close}>
        <MadeToken token={token} info={info} onDone={close} />
      </Dialog>
    )
  }
  return (
    <Dialog title="Make token" width={560} onClose={close}>
      <FormFrame
        saveLabel="Make token"
        busy={make.isPending}
        fault={faults.form}
        raised={raised}
        sentences={[]}
        onStartAfresh={kept.restored ? kept.startAfresh : undefined}
        onSave={submit}
        onCancel={close}
      >
        <TokenFields draft={draft} faults={faults} onChange={change} />
      </FormFrame>
    </Dialog>
  )
}
