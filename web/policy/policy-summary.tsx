import type { PolicyRecord } from '../../server/contract/endpoints/policy.ts'
import { Countdown } from '../ui/feedback/countdown.tsx'
import { useStore } from '../ui/store.ts'
import { capitalize } from '../ui/text/capitalize.ts'
import { exactTime } from '../ui/text/relative-time.tsx'
import { useClock } from '../ui/text/use-clock.ts'
import { splitRules } from './describe-policy.ts'
import { useKeepTrial } from './policy-requests.ts'
import classes from './policy-summary.module.css'
import { formatRemoval } from './rule-labels.ts'
import { type PolicyTrial, trialStore } from './trial.ts'

/** The rules of an endpoint, one sentence each, and the defaults of the others. */
export function PolicySummary(props: {
  record: PolicyRecord | undefined
  mapping: readonly string[]
}) {
  const { policy = {}, trial } = props.record ?? {}
  const { rules, defaults } = splitRules(policy, props.mapping)
  const { closesAt } = policy
  const isDefault = rules.length === 0 && closesAt === undefined
  return (
    <div className={classes.summary}>
      {trial !== undefined && <TrialNotice endpoint={props.record?.endpoint} until={trial.until} />}
      {!isDefault && (
        <ul className={classes.rules} aria-label="Rules">
          {closesAt !== undefined && (
            <li>
              <Removal at={closesAt} />
            </li>
          )}
          {rules.map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ul>
      )}
      <p className={classes.defaults}>
        {isDefault ? 'The defaults apply' : 'Otherwise the defaults apply'}. {defaults.join(' ')}
      </p>
    </div>
  )
}

/** Counts down to the end of a trial. On a narrow screen, the panel covers the banner. */
function TrialNotice({ endpoint, until }: { endpoint: string | undefined; until: string }) {
  const own = useStore(trialStore)
  return (
    <p className={classes.trial}>
      This policy is being tried. The previous one returns in <Countdown to={Date.parse(until)} />.{' '}
      {own?.endpoint === endpoint && own && <Keep trial={own} />}
    </p>
  )
}

function Keep({ trial }: { trial: PolicyTrial }) {
  const keep = useKeepTrial(trial)
  return (
    <button
      type="button"
      className="link-button"
      aria-disabled={keep.isPending || undefined}
      onClick={() => keep.mutate()}
    >
      Keep policy
    </button>
  )
}

/** Counts down to the removal of the endpoint: "Removed in 1 h 20 min." */
function Removal({ at }: { at: string }) {
  const moment = Date.parse(at)
  const text = useClock((now) => formatRemoval(moment - now))
  return (
    <time dateTime={at} data-tip={exactTime(moment)}>
      {capitalize(text)}.
    </time>
  )
}
