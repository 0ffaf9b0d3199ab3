import { UnstyledButton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { NodeStatus as Node } from '../../server/contract/node.ts'
import { nodesQuery } from '../api/queries.ts'
import { UnreachableSince } from '../ui/feedback/countdown.tsx'
import { useEscape } from '../ui/overlay/use-escape.ts'
import classes from './node-status.module.css'

/** The id of the list, which the button refers to. */
const ID = 'nodes'

/**
 * Shows how many nodes share the store, or how many are unreachable. Hidden with a single node.
 */
export function NodeStatus() {
  const { data: nodes = [] } = useQuery(nodesQuery)
  const [open, setOpen] = useState(false)
  useEscape('dialog', open ? () => setOpen(false) : undefined)
  if (nodes.length < 2) return null
  const silent = nodes.filter(({ state }) => state === 'silent').length
  return (
    <div className={classes.container}>
      <UnstyledButton
        className={classes.button}
        data-short={silent > 0 || undefined}
        aria-expanded={open}
        aria-controls={open ? ID : undefined}
        onBlur={() => setOpen(false)}
        onClick={({ currentTarget }) => {
          // Some browsers don't focus a clicked button, and the list closes on blur.
          currentTarget.focus()
          setOpen(!open)
        }}
      >
        {silent > 0 && `${silent} of `}
        {nodes.length} nodes{silent > 0 && <span className={classes.word}> unreachable</span>}
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
      {own && <span className="meta dim">serves this page</span>}
      <span className={classes.state} data-silent={silent || undefined}>
        <svg viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">
          <circle cx="6" cy="6" r="4" strokeWidth="1.5" stroke="currentColor" />
        </svg>
        {silent ? <UnreachableSince since={seen} word="Unreachable" /> : 'Running'}
      </span>
    </li>
  )
}
