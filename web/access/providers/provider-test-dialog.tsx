import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import {
  type ProviderSetup,
  type ProviderTest,
  TEST_STEPS,
} from '../../../server/contract/access/provider.ts'
import { QueryResult } from '../../ui/feedback/query-result.tsx'
import { type BadgeState, StateBadge } from '../../ui/feedback/state-badge.tsx'
import { Dialog } from '../../ui/overlay/dialog.tsx'
import { providerTestQuery } from '../queries.ts'
import { useAccessLocation } from '../use-access-location.ts'
import classes from './providers-page.module.css'

const titles: Readonly<Record<(typeof TEST_STEPS)[number], string>> = {
  start: 'Go to the provider',
  response: 'Come back with a code',
  exchange: 'Exchange the code and identify the person',
}

const summaries: Readonly<Record<ProviderTest['state'], string>> = {
  waiting: 'Open the sign-in in its tab. Nobody is signed in by a test.',
  started: 'Sign in at the provider, in the other tab.',
  passed: 'The test passed. People can sign in with this provider.',
  failed: 'The test failed. Fix what the failed step says, and test again.',
}

/** Shows the steps of a test as they happen in another tab. */
export function ProviderTestDialog(props: {
  provider: ProviderSetup
  id: string
  onAgain: () => void
}) {
  const { provider, id, onAgain } = props
  const { close } = useAccessLocation()
  return (
    <Dialog title={`Test of ${provider.label}`} width={560} onClose={close}>
      <QueryResult query={useQuery(providerTestQuery(provider.name, id))} what="the test">
        {(test) => (
          <div className={classes.test}>
            <p role="status">{summaries[test.state]}</p>
            {test.state === 'waiting' && (
              <p>
                <a href={`/_oauth2/${provider.name}/test/${id}`} target="_blank" rel="noreferrer">
                  Open the sign-in in a new tab
                </a>
              </p>
            )}
            <ol className={classes.steps}>
              {TEST_STEPS.map((name) => (
                <Step key={name} name={name} test={test} />
              ))}
            </ol>
            <div className={classes.actions}>
              <Button variant="default" onClick={onAgain}>
                Test again
              </Button>
              <Button onClick={close}>
                {test.state === 'waiting' || test.state === 'started' ? 'Close' : 'Done'}
              </Button>
            </div>
          </div>
        )}
      </QueryResult>
    </Dialog>
  )
}

function Step({ name, test }: { name: (typeof TEST_STEPS)[number]; test: ProviderTest }) {
  const step = test.steps.find((each) => each.name === name)
  const isNext = test.state === 'started' && test.steps.length === TEST_STEPS.indexOf(name)
  const [state, label]: [BadgeState, string] =
    step === undefined
      ? isNext
        ? ['opening', 'In progress…']
        : ['unknown', 'Not reached']
      : step.outcome === 'done'
        ? ['listening', 'Done']
        : ['failed', 'Failed']
  return (
    <li>
      <p className={classes.step}>
        <strong>{titles[name]}</strong>
        <StateBadge state={state} label={label} />
      </p>
      {step !== undefined && (
        <>
          <p>{step.detail}</p>
          {step.requests.map((request) => (
            <p key={request} className="mono meta dim">
              {request}
            </p>
          ))}
        </>
      )}
    </li>
  )
}
