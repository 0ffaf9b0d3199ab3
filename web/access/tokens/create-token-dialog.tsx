import type { FormErrors } from '@mantine/form'
import { useBlocker } from '@tanstack/react-router'
import { useEffect } from 'react'
import { NoResponse } from '../../api/client.ts'
import { useCreateToken } from '../../shared/create-token.ts'
import { toFormErrors } from '../../shared/forms/to-form-errors.ts'
import { useDraftForm } from '../../shared/forms/use-draft-form.ts'
import { FormFrame } from '../../ui/form/form-frame.tsx'
import { Dialog } from '../../ui/overlay/dialog.tsx'
import { useLatest } from '../../ui/use-latest.ts'
import { useAccessLocation } from '../use-access-location.ts'
import { CreatedToken } from './created-token.tsx'
import {
  emptyTokenDraft,
  type TokenDraft,
  tokenFieldGroups,
  tokenSchema,
  toTokenInput,
} from './token-draft.ts'
import { TokenFields } from './token-fields.tsx'

/** The dialog of a page that lists tokens. */
export function NewTokenDialog() {
  return <CreateTokenDialog onClose={useAccessLocation().close} />
}

export interface CreateTokenProps {
  readonly initialValues?: Partial<TokenDraft>
  /** Takes the new token, which is then not shown here. */
  readonly onCreated?: (token: string) => void
  readonly onClose: () => void
}

/** Form that creates a token and then shows it. The token is shown once and not stored. */
export function CreateTokenDialog({ initialValues, onCreated, onClose: close }: CreateTokenProps) {
  const form = useDraftForm({
    draft: 'token',
    initialValues: { ...emptyTokenDraft, ...initialValues },
    schema: tokenSchema(Date.now),
    groups: tokenFieldGroups,
  })
  const create = useCreateToken({ onCreated: form.deleteDraft })
  const leave = () => {
    if (!create.isPending) close()
  }
  useBlocker({ shouldBlockFn: () => create.isPending, enableBeforeUnload: () => create.isPending })
  const pass = useLatest((token: string) => {
    if (onCreated === undefined) return
    onCreated(token)
    close()
  })
  const token = create.data?.token
  useEffect(() => {
    if (token !== undefined) pass.current(token)
  }, [token, pass])
  const submit = () =>
    form.submit((draft) =>
      create.mutate(toTokenInput(draft, Date.now()), {
        onError: (error) => form.showErrors(errorsOf(error, draft)),
      }),
    )
  if (create.data !== undefined && onCreated === undefined) {
    const { token, info } = create.data
    return <CreatedToken token={token} info={info} onDone={close} />
  }
  return (
    <Dialog
      title="Create token"
      width={560}
      // Closing the dialog during the request would lose the token.
      deliberate={create.isPending}
      onClose={leave}
    >
      <FormFrame
        saveLabel="Create token"
        busy={create.isPending}
        form={form}
        onSave={submit}
        onCancel={leave}
      >
        <TokenFields form={form} />
      </FormFrame>
    </Dialog>
  )
}

const errorsOf = (error: Error, draft: TokenDraft): FormErrors =>
  error instanceof NoResponse
    ? { form: `${error.message} ${UNKNOWN}` }
    : toFormErrors(error, fieldsOf(draft))

const UNKNOWN =
  'The token may or may not have been created. If it is in the list, revoke it before you try again.'

/** Returns the form field of each member of the request. A hidden field cannot show an error. */
const fieldsOf = ({ reach, lifetime }: TokenDraft) => ({
  name: 'name',
  role: 'role',
  ...(reach === 'only' && { databases: 'databases' }),
  ...(lifetime === 'date' && { expires: 'day' }),
})
