import { UnstyledButton } from '@mantine/core'
import type { PropsWithChildren } from 'react'
import { IconChevronRight } from '../icon/icons.tsx'
import classes from './record-details.module.css'

/** The name of a record, which expands and collapses its details. */
export const DetailsToggle = (props: { name: string; isOpen: boolean; onToggle: () => void }) => (
  <UnstyledButton
    className={classes.toggle}
    aria-expanded={props.isOpen}
    aria-label={`${props.name}, details`}
    onClick={props.onToggle}
  >
    <IconChevronRight size={14} stroke={1.75} />
    <span className="mono">{props.name}</span>
  </UnstyledButton>
)

/** A list of {@link Fact}s. */
export const Facts = ({ children }: PropsWithChildren) => (
  <dl className={classes.facts}>{children}</dl>
)

export const Fact = (props: PropsWithChildren<{ term: string; isCode?: boolean }>) => (
  <div>
    <dt>{props.term}</dt>
    <dd className={props.isCode ? 'mono' : undefined}>{props.children}</dd>
  </div>
)
