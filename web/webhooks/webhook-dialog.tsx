import { Button, NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useBlocker } from '@tanstack/react-router'
import { type PropsWithChildren, useState } from 'react'
import type { WebhookRecord } from '../../server/contract/webhook.ts'
import { ApiFailure, NoResponse } from '../api/client.ts'
import { collectionsQuery, databasesQuery } from '../api/queries.ts'
import { type DraftForm, useDraftForm } from '../shared/forms/use-draft-form.ts'
import { SecretDialog } from '../shared/secret-dialog.tsx'
import { useRecordLocation } from '../shared/use-record-location.ts'
import { CodeInput } from '../ui/form/code-input.tsx'
import { FormFrame } from '../ui/form/form-frame.tsx'
import { Lines } from '../ui/form/lines.tsx'
import { keepFocus } from '../ui/layout/keep-focus.ts'
import { Dialog } from '../ui/overlay/dialog.tsx'
import {
  toWebhookErrors,
  type WebhookDraft,
  webhookDraft,
  webhookGroups,
  webhookSchema,
} from './webhook-draft.ts'
import { useAddWebhook, useEditWebhook, useTurnOnFeeds } from './webhook-requests.ts'
import classes from './webhooks.module.css'

/** The form that adds a webhook, and then shows its secret once. */
export function AddWebhookDialog() {
  const { close, show } = useRecordLocation('/webhooks')
  const form = useWebhookForm('webhook')
  const add = useAddWebhook()
  useBlocker({ shouldBlockFn: () => add.isPending, enableBeforeUnload: () => add.isPending })
  const leave = () => {
    if (!add.isPending) close()
  }
  if (add.data !== undefined) {
    const { secret, webhook } = add.data
    return (
      <WebhookSecret title="Webhook added" secret={secret} onDone={() => show(webhook.name)}>
        <p>
          Copy the secret of <strong>{webhook.name}</strong> now. It will not be shown again. The
          receiver verifies signatures with it.
        </p>
      </WebhookSecret>
    )
  }
  return (
    // Closing the dialog during the request would lose the secret.
    <Dialog title="Add a webhook" width={560} deliberate={add.isPending} onClose={leave}>
      <FormFrame
        form={form}
        saveLabel="Add webhook"
        busy={add.isPending}
        onSave={() =>
          form.submit((draft) =>
            add.mutate(draft, {
              onSuccess: form.deleteDraft,
              onError: (error) =>
                form.showErrors(
                  error instanceof NoResponse
                    ? { form: `${error.message} ${UNKNOWN}` }
                    : toWebhookErrors(error),
                ),
            }),
          )
        }
        onCancel={leave}
      >
        <CodeInput
          label="Name"
          placeholder="search-index"
          data-autofocus
          {...form.getInputProps('name')}
        />
        <DatabaseField form={form} />
        <WebhookFields form={form} error={add.error} />
      </FormFrame>
    </Dialog>
  )
}

const UNKNOWN =
  'The webhook may or may not have been added. If it is in the list, rotate its secret to get one.'

/** The form that changes the URL, the collections and the filter of a webhook. */
export function EditWebhookDialog({ webhook }: { webhook: WebhookRecord }) {
  const { close } = useRecordLocation('/webhooks')
  // The form keeps the revision that it began with.
  const [edited] = useState(webhook)
  const form = useWebhookForm(`webhook ${edited.name}`, edited)
  const edit = useEditWebhook()
  return (
    <Dialog title={`Edit ${edited.name}`} name={edited.name} width={560} onClose={close}>
      <FormFrame
        form={form}
        saveLabel="Save webhook"
        busy={edit.isPending}
        sentences={['An added collection begins at its last change.']}
        onSave={() =>
          form.submit((draft) =>
            edit.mutate(
              { edited, draft },
              {
                onSuccess: () => {
                  form.deleteDraft()
                  close()
                },
                onError: (error) =>
                  form.showErrors(
                    error instanceof ApiFailure && error.status === 412
                      ? { form: CHANGED }
                      : toWebhookErrors(error),
                  ),
              },
            ),
          )
        }
        onCancel={close}
      >
        <WebhookFields form={form} error={edit.error} />
      </FormFrame>
    </Dialog>
  )
}

const CHANGED =
  'This webhook was changed or paused while you were editing it. Close this dialog and look at it again.'

const useWebhookForm = (draft: string, edited?: WebhookRecord): DraftForm<WebhookDraft> => {
  const [initialValues] = useState(() => webhookDraft(edited))
  return useDraftForm<WebhookDraft>({
    draft,
    initialValues,
    schema: webhookSchema,
    groups: webhookGroups,
  })
}

function DatabaseField({ form }: { form: DraftForm<WebhookDraft> }) {
  const { data: databases = [] } = useQuery(databasesQuery)
  return (
    <NativeSelect
      label="Database"
      classNames={{ input: 'mono' }}
      data={[{ value: '', label: 'Choose a database' }, ...databases]}
      {...form.getInputProps('database')}
    />
  )
}

/** Number of collections that the description of the field names. */
const NAMED = 8

/** The fields that can be changed later. */
function WebhookFields(props: { form: DraftForm<WebhookDraft>; error: Error | null }) {
  const { form, error } = props
  const { database } = form.values
  const { data: collections = [] } = useQuery({
    ...collectionsQuery(database),
    enabled: database !== '',
  })
  const names = collections.map(({ name }) => name)
  const more = names.length > NAMED ? ', …' : ''
  const known = names.length > 0 && ` In ${database}: ${names.slice(0, NAMED).join(', ')}${more}`
  const lacksFeed =
    error instanceof ApiFailure && error.status === 409 && error.field === '/collections'
  return (
    <>
      <CodeInput
        label="URL"
        description="Changes are sent here as POST requests. The address must be public, unless the configuration of the server permits its network."
        placeholder="https://example.org/hook"
        {...form.getInputProps('url')}
      />
      <Lines
        label="Collections"
        description={<>One per line.{known}</>}
        placeholder="articles"
        {...form.getInputProps('collections')}
      />
      {lacksFeed && form.errors.collections === error.message && <TurnOnFeeds form={form} />}
      <CodeInput
        label="Filter"
        description="Optional. A query as in a listing. A document that no longer matches is sent as deleted."
        placeholder="year:gte=2000&fields=title,year"
        {...form.getInputProps('filter')}
      />
    </>
  )
}

/** Offers to turn on the feeds that the collections lack. */
function TurnOnFeeds({ form }: { form: DraftForm<WebhookDraft> }) {
  const turnOn = useTurnOnFeeds()
  return (
    <div>
      <Button
        ref={keepFocus}
        variant="default"
        aria-disabled={turnOn.isPending || undefined}
        onClick={() =>
          turnOn.mutate(form.values, {
            onSuccess: () => form.clearFieldError('collections'),
            onError: (error) => form.showErrors({ form: error.message }),
          })
        }
      >
        {turnOn.isPending ? 'Turning on…' : 'Turn on the feed'}
      </Button>
      <p className={classes.hint}>It keeps the changes of the collection for 7 days.</p>
    </div>
  )
}

/** Shows the secret of a webhook once. */
export const WebhookSecret = (
  props: PropsWithChildren<{ title: string; secret: string; onDone: () => void }>,
) => <SecretDialog what="secret" {...props} />
