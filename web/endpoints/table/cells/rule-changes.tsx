import type { Policy } from '../../../../server/contract/endpoints/policy.ts'
import { compareRules } from '../../../policy/rule-changes.ts'
import classes from './rule-chips.module.css'

/** Lists the rules that a change of a policy changes; null for the defaults. */
export function RuleChanges(props: { before: Policy | null; after: Policy | null }) {
  return (
    <ul aria-label="Changed rules" className={classes.changes}>
      {compareRules(props.before, props.after).map(({ rule, before, after }) => (
        <li key={rule}>
          <span className="dim">{rule}:</span> {before} → {after}
        </li>
      ))}
    </ul>
  )
}
