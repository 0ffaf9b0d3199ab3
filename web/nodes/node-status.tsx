import { UnstyledButton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { NodeStatus as Node } from '../../server/contract/node.ts'
import { NoNews } from '../ui/no-news.tsx'
import classes from './node-status.module.css'
import { nodesQuery } from './queries.ts'

/** The list, which the button names. */
const ID = 'nodes'

/** How many nodes share the store, and which of them fell silent; nothing where there is one. */
export function NodeStatus() {
  const { data: nodes = [] } = useQuery(nodesQuery)
  const [open, setOpen] = useState(false)
  if (nodes.length < 2) return null
  const alive = nodes.filter(({ state }) => state === 'alive').length
  const all = alive === nodes.length
  return (
    <div className={classes.place}>
      <UnstyledButton
        className={classes.button}
        data-short={!all || undefined}
        aria-expanded={open}
        aria-controls={open ? ID : undefined}
        onBlur={() => setOpen(false)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') setOpen(false)
        }}
        onClick={({ currentTarget }) => {
          // Not every browser focuses what is clicked; leaving it closes the list.
          currentTarget.focus()
          setOpen(!open)
        }}
      >
        {all ? nodes.length : `${alive} of ${nodes.length}`} nodes
      </UnstyledButton>
      {open && (
        <ul id={ID} aria-label="Nodes" className={classes.nodes}>
          {nodes.map((node) => (
            <NodeLine key={node.name} node={node} />
          ))}
        </ul>
      )}
    </div>
  )
}

function NodeLine({ node: { name, own, state, seen } }: { node: Node }) {
  const silent = state === 'silent'
  return (
    <li className={classes.node}>
      <span className={`mono ${classes.name}`}>{name}</span>
      {own && <span className="meta dim">answers this page</span>}
      <span className={classes.state} data-silent={silent || undefined}>
        <svg viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">
          <circle cx="6" cy="6" r="4" strokeWidth="1.5" stroke="currentColor" />
        </svg>
        {silent ? (
          <>
            Unknown, <NoNews since={seen} />
          </>
        ) : (
          'Running'
        )}
      </span>
    </li>
  )
}
