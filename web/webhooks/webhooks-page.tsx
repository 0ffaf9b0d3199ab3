import { useQuery } from '@tanstack/react-query'
import { Link, Outlet } from '@tanstack/react-router'
import { lazy } from 'react'
import type { WebhookRecord } from '../../server/contract/webhook.ts'
import { useHasRole } from '../api/session/person.ts'
import { useOwnRole } from '../shared/session/role-labels.ts'
import { useRecordLocation } from '../shared/use-record-location.ts'
import { LazyBoundary } from '../ui/feedback/lazy-boundary.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { QueryResult } from '../ui/feedback/query-result.tsx'
import { AddButton } from '../ui/form/add-button.tsx'
import { PageHead } from '../ui/layout/page-head.tsx'
import { usePageTitle } from '../ui/layout/use-page-title.ts'
import { ConfirmDialog } from '../ui/overlay/confirm-dialog.tsx'
import { UnavailableDialog } from '../ui/overlay/unavailable-dialog.tsx'
import { webhooksQuery } from './queries.ts'
import { useDeleteWebhook, useRotateSecret } from './webhook-requests.ts'
import { WebhookTable } from './webhook-table.tsx'

const loadDialogs = () => import('./webhook-dialog.tsx')
const AddWebhookDialog = lazy(async () => ({ default: (await loadDialogs()).AddWebhookDialog }))
const EditWebhookDialog = lazy(async () => ({ default: (await loadDialogs()).EditWebhookDialog }))
const WebhookSecret = lazy(async () => ({ default: (await loadDialogs()).WebhookSecret }))

/** The Webhooks page for editors, with the webhooks of their databases. Others see a notice. */
export function WebhooksPage() {
  const mayRead = useHasRole('editor')
  const ownRole = useOwnRole()
  const { add } = useRecordLocation('/webhooks')
  usePageTitle('Webhooks')
  return (
    <>
      <PageHead
        title="Webhooks"
        action={mayRead && <AddButton onClick={add}>Add webhook</AddButton>}
      />
      {mayRead ? (
        <Webhooks />
      ) : (
        <Notice action={<Link to="/documents">Go to Documents</Link>}>
          {ownRole}. Only editors, operators and admins can see and change webhooks.
        </Notice>
      )}
    </>
  )
}

function Webhooks() {
  const { search } = useRecordLocation('/webhooks')
  const named = search.edit ?? search.rotate ?? search.remove
  return (
    <QueryResult query={useQuery(webhooksQuery)} what="the webhooks">
      {(webhooks) => (
        <>
          {webhooks.length === 0 ? (
            <Notice>
              There are no webhooks yet. A webhook sends the changes of collections to another
              server, signed, in order and at least once.
            </Notice>
          ) : (
            <WebhookTable webhooks={webhooks} />
          )}
          {named !== undefined && (
            <NamedDialog key={named} webhook={webhooks.find(({ name }) => name === named)} />
          )}
          <Outlet />
        </>
      )}
    </QueryResult>
  )
}

/** The dialog of a webhook, which may not exist. */
function NamedDialog({ webhook }: { webhook: WebhookRecord | undefined }) {
  const { search, close } = useRecordLocation('/webhooks')
  if (search.remove !== undefined) return <DeleteWebhookDialog webhook={webhook} />
  if (webhook === undefined) return <NotFound onClose={close} />
  if (search.rotate !== undefined) return <RotateSecretDialog webhook={webhook} />
  return (
    <LazyBoundary>
      <EditWebhookDialog webhook={webhook} />
    </LazyBoundary>
  )
}

const NotFound = ({ onClose }: { onClose: () => void }) => (
  <UnavailableDialog title="Webhook not found" onClose={onClose}>
    It was deleted or never existed.
  </UnavailableDialog>
)

/** The dialog of the page `/webhooks/new`. */
export const AddWebhookOutlet = () => (
  <LazyBoundary>
    <AddWebhookDialog />
  </LazyBoundary>
)

function DeleteWebhookDialog({ webhook }: { webhook: WebhookRecord | undefined }) {
  const { close, closeRemoved } = useRecordLocation('/webhooks')
  const remove = useDeleteWebhook()
  if (webhook === undefined) return remove.isIdle ? <NotFound onClose={close} /> : null
  const { name, behind } = webhook
  return (
    <ConfirmDialog
      title={`Delete webhook ${name}?`}
      name={name}
      keep="Keep it"
      error={remove.error?.message ?? ''}
      confirm={{
        label: 'Delete webhook',
        busy: remove.isPending,
        run: () => remove.mutate(webhook, { onSuccess: closeRemoved }),
      }}
      onClose={close}
    >
      <p>
        {behind.changes > 0
          ? 'Changes that are not delivered yet will not be sent.'
          : 'Further changes will not be sent.'}{' '}
        The secret and the list of deliveries are deleted with it. Feeds stay on. To stop it for a
        while, pause it instead.
      </p>
    </ConfirmDialog>
  )
}

function RotateSecretDialog({ webhook }: { webhook: WebhookRecord }) {
  const { close } = useRecordLocation('/webhooks')
  const rotate = useRotateSecret()
  const { name } = webhook
  if (rotate.data !== undefined) {
    return (
      <LazyBoundary>
        <WebhookSecret title="Secret rotated" secret={rotate.data.secret} onDone={close}>
          <p>
            Copy the new secret of <strong>{name}</strong> now. It will not be shown again. For 24
            hours, requests have signatures with both secrets.
          </p>
        </WebhookSecret>
      </LazyBoundary>
    )
  }
  return (
    <ConfirmDialog
      title={`Rotate the secret of ${name}?`}
      name={name}
      keep="Keep it"
      error={rotate.error?.message ?? ''}
      confirm={{
        label: 'Rotate secret',
        busy: rotate.isPending,
        run: () => rotate.mutate(webhook),
      }}
      onClose={close}
    >
      <p>
        The new secret is shown once. The present one also signs requests for 24 hours, so that the
        receiver can be changed in between.
      </p>
    </ConfirmDialog>
  )
}
