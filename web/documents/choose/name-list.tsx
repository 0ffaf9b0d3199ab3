import type { ReactNode } from 'react'
import { Section } from '../../shared/ui/layout/section.tsx'
import classes from './name-list.module.css'

export interface NameListProps {
  readonly title: string
  readonly names: readonly string[]
  /** Renders the link for a name with the given class. */
  readonly link: (name: string, className: string | undefined) => ReactNode
  /** Renders details at the right of a name. */
  readonly facts?: (name: string) => ReactNode
}

export function NameList({ title, names, link, facts }: NameListProps) {
  return (
    <Section title={title} count={names.length}>
      <ul className={classes.list} aria-label={title}>
        {names.map((name) => (
          <li key={name}>
            {link(name, `mono ${classes.name}`)}
            {facts !== undefined && <span className={classes.facts}>{facts(name)}</span>}
          </li>
        ))}
      </ul>
    </Section>
  )
}
