import { NoMatch } from '../../ui/feedback/no-match.tsx'
import { formatNoMatch } from '../model/list/endpoint-filter.ts'

/** Shown if no endpoint matches the filter, with the number of hidden rows. */
export function NoEndpoint(props: { text: string; hidden: number; onClear: () => void }) {
  return (
    <NoMatch clear="Clear filters" onClear={props.onClear}>
      {formatNoMatch(props.text, props.hidden)}
    </NoMatch>
  )
}
