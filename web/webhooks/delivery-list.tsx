import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { WebhookDelivery } from '../../server/contract/webhook.ts'
import { QueryResult } from '../ui/feedback/query-result.tsx'
import { StateBadge } from '../ui/feedback/state-badge.tsx'
import shared from '../ui/table/record-details.module.css'
import { formatBytes } from '../ui/text/format-number.ts'
import { RelativeTime } from '../ui/text/relative-time.tsx'
import { describeContent, describeOutcome } from './describe-webhook.ts'
import { deliveriesQuery } from './queries.ts'
import { useDeliverAgain } from './webhook-requests.ts'
import classes from './webhooks.module.css'

/** Lists the last deliveries of a webhook. Each opens its request and response. */
export function DeliveryList({ name }: { name: string }) {
  const query = useQuery(deliveriesQuery(name))
  return (
    <section aria-label={`Deliveries of ${name}`}>
      <h2 className={classes.heading}>Last deliveries</h2>
      <QueryResult query={query} what="the deliveries">
        {(deliveries) =>
          deliveries.length === 0 ? (
            <p className="dim">Nothing has been sent yet.</p>
          ) : (
            <ul className={classes.deliveries}>
              {deliveries.map((delivery) => (
                <li key={delivery.id}>
                  <Delivery webhook={name} delivery={delivery} />
                </li>
              ))}
            </ul>
          )
        }
      </QueryResult>
    </section>
  )
}

function Delivery({ webhook, delivery }: { webhook: string; delivery: WebhookDelivery }) {
  const { id, delivered, attempts, request, outcome } = delivery
  const again = useDeliverAgain(webhook)
  return (
    <details>
      <summary>
        <StateBadge
          state={delivered ? 'listening' : 'failed'}
          label={delivered ? 'Delivered' : 'Failed'}
          detail={
            <>
              {describeContent(delivery)}, <RelativeTime time={delivery.at} />,{' '}
              {describeOutcome(outcome)}
              {attempts > 1 && `, ${attempts} attempts`}
            </>
          }
        />
      </summary>
      <div className={classes.exchange}>
        <Message title="Request" id={id} message={request} />
        {outcome.response === null ? (
          <p className={shared.failed}>{outcome.error ?? 'There was no response.'}</p>
        ) : (
          <Message title={`Response: ${outcome.status}`} id={id} message={outcome.response} />
        )}
        <div className={classes.test}>
          <Button
            variant="default"
            aria-disabled={again.isPending || undefined}
            onClick={() => again.mutate(id)}
          >
            {again.isPending ? 'Sending…' : 'Deliver again'}
          </Button>
          <p
            role="status"
            className={again.data?.delivered === false || again.error ? shared.failed : undefined}
          >
            {again.error?.message}
            {again.data !== undefined && `Sent again: ${describeOutcome(again.data.outcome)}.`}
          </p>
        </div>
      </div>
    </details>
  )
}

/** The headers and the beginning of the body of a request or response. */
function Message(props: { title: string; id: string; message: WebhookDelivery['request'] }) {
  const { title, id, message } = props
  const { headers, body, bytes } = message
  const lines = Object.entries(headers).map(([header, value]) => `${header}: ${value}`)
  return (
    <section aria-label={`${title}, ${id}`}>
      <h3 className={classes.heading}>
        {title} <span className="dim">{formatBytes(bytes)}</span>
      </h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users scroll it */}
      <pre className={`mono ${classes.message}`} tabIndex={0}>
        {[...lines, '', body].join('\n')}
      </pre>
    </section>
  )
}
