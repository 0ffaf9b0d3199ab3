import { Popover, UnstyledButton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { NodeStatus as Node } from '../../server/contract/node.ts'
import { sayLeft } from '../ui/countdown.tsx'
import { useClock } from '../ui/use-clock.ts'
import classes from './node-status.module.css'
import { nodesQuery } from './queries.ts'

/** How many nodes share the store, and which of them fell silent; nothing where there is one. */
export function NodeStatus() {
  const { data: nodes = [] } = useQuery(nodesQuery)
  if (nodes.length < 2) return null
  const alive = nodes.filter(({ state }) => state === 'alive').length
  const all = alive === nodes.length
  return (
    <Popover
      position="bottom-end"
      offset={8}
      width={280}
      // Within the header, where a landmark holds it.
      withinPortal={false}
      trapFocus
      returnFocus
      transitionProps={{ transition: 'fade', duration: 120 }}
    >
      <Popover.Target>
        <UnstyledButton className={classes.button} data-short={!all || undefined}>
          {all ? nodes.length : `${alive} of ${nodes.length}`} nodes
        </UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown aria-label="Nodes">
        <ul className={classes.nodes} tabIndex={-1} data-autofocus>
          {nodes.map((node) => (
            <NodeLine key={node.name} node={node} />
          ))}
        </ul>
      </Popover.Dropdown>
    </Popover>
  )
}

function NodeLine({ node: { name, own, state, seen } }: { node: Node }) {
  const silent = state === 'silent'
  const silence = useClock((now) => `no news for ${sayLeft(now - Date.parse(seen))}`)
  return (
    <li className={classes.node}>
      <span className={`mono ${classes.name}`}>{name}</span>
      {own && <span className="meta dim">answers this page</span>}
      <span className={classes.state} data-silent={silent || undefined}>
        <svg viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">
          <circle cx="6" cy="6" r="4" strokeWidth="1.5" stroke="currentColor" />
        </svg>
        {silent ? `Unknown, ${silence}` : 'Running'}
      </span>
    </li>
  )
}
