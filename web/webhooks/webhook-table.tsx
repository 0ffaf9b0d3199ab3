import { Button } from '@mantine/core'
import type { WebhookRecord } from '../../server/contract/webhook.ts'
import { useRecordLocation } from '../shared/use-record-location.ts'
import { StateBadge } from '../ui/feedback/state-badge.tsx'
import { keepFocus } from '../ui/layout/keep-focus.ts'
import shared from '../ui/table/record-details.module.css'
import { DetailsToggle, Fact, Facts } from '../ui/table/record-details.tsx'
import { type Column, RecordTable } from '../ui/table/record-table.tsx'
import { exactTime, RelativeTime, TimeLeft } from '../ui/text/relative-time.tsx'
import { useClock } from '../ui/text/use-clock.ts'
import { DeliveryList } from './delivery-list.tsx'
import { describeBehind, describeGaps, describeOutcome, states } from './describe-webhook.ts'
import { usePauseWebhook, useResumeWebhook, useTestWebhook } from './webhook-requests.ts'
import classes from './webhooks.module.css'

/** Lists webhooks. Expanding a row shows the details, actions and deliveries of one. */
export function WebhookTable({ webhooks }: { webhooks: readonly WebhookRecord[] }) {
  const { search, toggle } = useRecordLocation('/webhooks')
  const columns: readonly Column<WebhookRecord>[] = [
    {
      head: 'Name',
      width: 176,
      cell: ({ name }) => (
        <DetailsToggle name={name} isOpen={name === search.open} onToggle={() => toggle(name)} />
      ),
    },
    { head: 'State', width: 224, cell: (each) => <State webhook={each} /> },
    { head: 'Progress', width: 232, cell: ({ behind }) => <Behind behind={behind} /> },
    {
      head: 'Last response',
      width: 184,
      wideOnly: true,
      cell: (each) => <LastResponse webhook={each} />,
    },
    { head: 'URL', cell: ({ url }) => <span className={`mono ${classes.url}`}>{url}</span> },
  ]
  return (
    <RecordTable
      caption="Webhooks"
      records={webhooks}
      columns={columns}
      idOf={({ name }) => name}
      detailOf={(each) =>
        each.name === search.open ? <Details key={each.name} webhook={each} /> : undefined
      }
    />
  )
}

function State({ webhook: { state, retryAt } }: { webhook: WebhookRecord }) {
  const { badge, label } = states[state]
  const detail = retryAt !== null && (
    <>
      next attempt <TimeLeft until={retryAt} over="now" tabIndex={0} />
    </>
  )
  return <StateBadge state={badge} label={label} detail={detail} />
}

function Behind({ behind }: Pick<WebhookRecord, 'behind'>) {
  return useClock((now) => describeBehind(behind, now))
}

function LastResponse({ webhook: { lastResponse: last } }: { webhook: WebhookRecord }) {
  if (last === null) return <span className="dim">No delivery yet</span>
  return (
    <span className={shared.lines}>
      <span>
        {last.status ?? 'No response'}, <RelativeTime time={last.at} tabIndex={0} />
      </span>
      {last.error !== undefined && <span className={shared.failed}>{last.error}</span>}
    </span>
  )
}

/** What a webhook sends, its actions, and its deliveries. */
function Details({ webhook }: { webhook: WebhookRecord }) {
  const { name, database, collections, filter, reason, previousSecretUntil } = webhook
  const { openDialog } = useRecordLocation('/webhooks')
  return (
    // The focus moves here from a button that its own action removes.
    <div className={shared.details} tabIndex={-1}>
      {reason !== null && <p className={shared.failed}>{reason}</p>}
      <Facts>
        <Fact term="Database" isCode>
          {database}
        </Fact>
        <Fact term="Collections" isCode>
          {collections.join(', ')}
        </Fact>
        {filter !== '' && (
          <Fact term="Filter" isCode>
            {filter}
          </Fact>
        )}
        <Fact term="Created">
          <RelativeTime time={webhook.created} tabIndex={0} /> by {webhook.creator}
        </Fact>
        {previousSecretUntil !== null && (
          <Fact term="Secret">
            The previous one also signs until {exactTime(Date.parse(previousSecretUntil))}
          </Fact>
        )}
      </Facts>
      <div className={shared.actions}>
        <PauseOrResume webhook={webhook} />
        <Button variant="default" onClick={() => openDialog('edit', name)}>
          Edit…
        </Button>
        <Button variant="default" onClick={() => openDialog('rotate', name)}>
          Rotate secret…
        </Button>
        <Button
          variant="subtle"
          className={shared.delete}
          onClick={() => openDialog('remove', name)}
        >
          Delete webhook
        </Button>
      </div>
      <Test webhook={webhook} />
      <DeliveryList name={name} />
    </div>
  )
}

/** Pauses or resumes a webhook, and reports the changes that were skipped. */
function PauseOrResume({ webhook }: { webhook: WebhookRecord }) {
  const pause = usePauseWebhook()
  const resume = useResumeWebhook()
  const { state } = webhook
  const isBusy = pause.isPending || resume.isPending
  const error = resume.error ?? pause.error
  return (
    <>
      {state !== 'active' && (
        <Button
          ref={keepFocus}
          variant="default"
          aria-disabled={isBusy || undefined}
          onClick={() => resume.mutate(webhook)}
        >
          {state === 'paused' ? 'Resume' : 'Try now'}
        </Button>
      )}
      {state !== 'paused' && (
        <Button
          ref={keepFocus}
          variant="default"
          aria-disabled={isBusy || undefined}
          onClick={() => {
            resume.reset()
            pause.mutate(webhook)
          }}
        >
          Pause
        </Button>
      )}
      <div role="alert" className={classes.report}>
        {error !== null && <p className={shared.failed}>{error.message}</p>}
        {describeGaps(resume.data?.gaps ?? []).map((gap) => (
          <p key={gap} className="warning">
            {gap}
          </p>
        ))}
      </div>
    </>
  )
}

/** Sends a test, and shows the outcome. */
function Test({ webhook }: { webhook: WebhookRecord }) {
  const test = useTestWebhook()
  const { data, error } = test
  return (
    <div className={classes.test}>
      <Button
        variant="default"
        aria-disabled={test.isPending || undefined}
        onClick={() => test.mutate(webhook)}
      >
        {test.isPending ? 'Sending…' : 'Send a test'}
      </Button>
      <p role="status" className={data?.delivered === false || error ? shared.failed : undefined}>
        {error?.message}
        {data !== undefined &&
          (data.delivered
            ? `The test arrived: ${describeOutcome(data.outcome)}.`
            : `The test failed: ${describeOutcome(data.outcome)}.`)}
      </p>
    </div>
  )
}
