import type { PolicyRecord } from '../../server/contract/endpoints/policy.ts'
import { Countdown } from '../ui/feedback/countdown.tsx'
import { capitalize } from '../ui/text/capitalize.ts'
import { exactTime } from '../ui/text/relative-time.tsx'
import { useClock } from '../ui/text/use-clock.ts'
import { splitRules } from './describe-policy.ts'
import classes from './policy-summary.module.css'
import { formatRemoval } from './rule-labels.ts'

/** The rules of an endpoint, one sentence each, and the defaults of the others. */
export function PolicySummary(props: {
  record: PolicyRecord | undefined
  mapping: readonly string[]
}) {
  const { policy = {}, trial } = props.record ?? {}
  const { rules, defaults } = splitRules(policy, props.mapping)
  const { closesAt, note } = policy
  const isDefault = rules.length === 0 && closesAt === undefined
  return (
    <div className={classes.summary}>
      {trial !== undefined && (
        <p className={classes.trial}>
          This policy is being tried. The previous one returns in{' '}
          <Countdown to={Date.parse(trial.until)} />.
        </p>
      )}
      {(!isDefault || note) && (
        <ul className={classes.rules} aria-label="Rules">
          {closesAt !== undefined && (
            <li>
              <Removal at={closesAt} />
            </li>
          )}
          {rules.map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
          {note && <li>Note: {note}</li>}
        </ul>
      )}
      <p className={classes.defaults}>
        {isDefault ? 'The defaults apply' : 'Otherwise the defaults apply'}: {defaults.join(' ')}
      </p>
    </div>
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
