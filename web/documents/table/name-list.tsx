import type { ReactNode } from 'react'
import { Section } from '../ui/section.tsx'
import classes from './name-list.module.css'

/** What a {@link NameList} lists. */
export interface NameListProps {
  readonly title: string
  readonly names: readonly string[]
  /** The way to what has that name, with the class that it is to have. */
  readonly link: (name: string, className: string | undefined) => ReactNode
  /** What stands at the right of a name. */
  readonly facts?: (name: string) => ReactNode
}

/** Names to choose one from, each a row of its own. */
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
