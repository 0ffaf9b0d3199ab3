import { Link } from '@tanstack/react-router'
import { type CSSProperties, type ReactNode, useState } from 'react'
import { StateBadge } from '../../ui/feedback/state-badge.tsx'
import { formatCount } from '../../ui/text/format-number.ts'
import { formatList } from '../model/format-list.ts'
import { AddressText } from '../table/cells/address-text.tsx'
import {
  ALL,
  type CollapsedNames,
  type MapGroup,
  type MapName,
  NODE_HEIGHT,
  type PictureGraph,
} from './map-graph.ts'
import classes from './map-picture.module.css'

/**
 * Draws endpoints at the left, databases at the right, and lines between them, with a heavier line
 * for the default. Hovering or focusing a node highlights its lines.
 */
export function MapPicture({
  graph,
  onShow,
}: {
  graph: PictureGraph
  onShow: (id: string) => void
}) {
  const { groups, names, collapsed, lines, height, left, right } = graph
  const [lit, setLit] = useState<string>()
  const isLit = ({ group, name }: { group: string; name: string }) =>
    lit === `g ${group}` || lit === `n ${name}`
  const related = new Set(
    lines.filter(isLit).flatMap(({ group, name }) => [`g ${group}`, `n ${name}`]),
  )
  const node = (key: string, center: number | undefined, content: ReactNode, more: object = {}) => (
    <li
      key={key}
      className={classes.node}
      style={{ top: (center ?? 0) - NODE_HEIGHT / 2 }}
      data-faded={(lit !== undefined && lit !== key && !related.has(key)) || undefined}
      {...more}
      onPointerEnter={() => setLit(key)}
      onPointerLeave={() => setLit(undefined)}
      onFocus={() => setLit(key)}
      onBlur={() => setLit(undefined)}
    >
      {content}
    </li>
  )
  const joined = new Set(lines.map(({ name }) => name))
  const titles = new Map(names.map(({ id, name }) => [id, name ?? 'all databases']))
  return (
    <figure
      className={classes.map}
      style={{ '--names': `${widthOf(names)}px` } as CSSProperties}
      aria-label="Endpoints and the databases they serve"
    >
      <p className={classes.title} aria-hidden="true">
        Endpoints
      </p>
      <p className={classes.title} aria-hidden="true">
        Databases
      </p>
      <ul aria-label="Endpoints" className={classes.side} style={{ height }}>
        {groups.map((group) =>
          node(
            `g ${group.id}`,
            left.get(group.id),
            <GroupNode group={group} titles={titles} onShow={onShow} />,
          ),
        )}
      </ul>
      <svg
        aria-hidden="true"
        className={classes.lines}
        viewBox={`0 0 100 ${height}`}
        preserveAspectRatio="none"
        style={{ height }}
      >
        {lines
          // Draw highlighted lines last, on top of the others.
          .toSorted((a, b) => Number(isLit(a)) - Number(isLit(b)))
          .map((line) => {
            const from = left.get(line.group)
            const to = right.get(line.name)
            return (
              <path
                key={`${line.group} ${line.name}`}
                d={`M0 ${from}C50 ${from} 50 ${to} 100 ${to}`}
                data-default={line.isDefault || undefined}
                data-lit={isLit(line) || undefined}
                data-faded={(lit !== undefined && !isLit(line)) || undefined}
              />
            )
          })}
      </svg>
      <ul aria-label="Databases" className={classes.side} style={{ height }}>
        {names.map((name) =>
          node(
            `n ${name.id}`,
            right.get(name.id),
            <NameNode name={name} joined={joined.has(name.id)} />,
            {
              'data-missing': !name.exists || undefined,
            },
          ),
        )}
        {collapsed.map((each) =>
          node(`n ${each.id}`, right.get(each.id), <CollapsedNode collapsed={each} />),
        )}
      </ul>
      <figcaption className={classes.key}>
        <svg viewBox="0 0 24 8" width="24" height="8" aria-hidden="true">
          <path d="M0 4H24" data-default="" />
        </svg>
        default: gets the requests without a database name
      </figcaption>
    </figure>
  )
}

function GroupNode(props: {
  group: MapGroup
  titles: ReadonlyMap<string, string>
  onShow: (id: string) => void
}) {
  const { group, titles, onShow } = props
  const { rows, state, mapping } = group
  const [first, ...others] = rows
  const served = mapping.length === 0 ? [ALL] : mapping
  const joined = formatList(
    served.map((name) => titles.get(name) ?? name),
    { max: 3 },
  )
  const serves = <span className="visually-hidden">, serves {joined}</span>
  const alike = rows.filter((row) => row.state === state).length
  const detail = alike < rows.length ? `${alike} of ${rows.length}` : undefined
  if (first !== undefined && others.length === 0) {
    return (
      <Link to="/endpoints" search={{ open: first.address }} className={classes.control}>
        <AddressText address={first.address} />
        <StateBadge state={state} />
        {serves}
      </Link>
    )
  }
  return (
    <button type="button" className={classes.control} onClick={() => onShow(group.id)}>
      <span>{formatCount(rows.length)} endpoints</span>
      <StateBadge state={state} detail={detail} />
      {serves}
    </button>
  )
}

function NameNode(props: { name: MapName; joined: boolean }) {
  const { joined, name: node } = props
  const { name, exists, through } = node
  if (name === null) {
    return (
      <Link to="/data" className={classes.control}>
        All databases
      </Link>
    )
  }
  if (!exists) {
    return (
      <Link to="/endpoints" search={{ q: `db:${name}` }} className={classes.control}>
        <span className={`mono ${classes.name}`} data-tip={tipOf(name)}>
          {name}
        </span>
        <span className={classes.detail}> does not exist</span>
      </Link>
    )
  }
  return (
    <Link to="/data/$database" params={{ database: name }} className={classes.control}>
      <span className={`mono ${classes.name}`} data-tip={tipOf(name)}>
        {name}
      </span>
      {through === 0 && <span className={classes.detail}> not served</span>}
      {through > 0 && !joined && <span className={classes.detail}> through All databases</span>}
    </Link>
  )
}

/** Longer names may be cut off in a narrow window, so they get a tooltip. */
const TOOLTIP_LENGTH = 16

const tipOf = (name: string) => (name.length > TOOLTIP_LENGTH ? name : undefined)

function CollapsedNode({ collapsed: { count, served } }: { collapsed: CollapsedNames }) {
  return (
    <Link
      to="/data"
      search={served ? {} : { sort: 'endpoints' }}
      className={`${classes.control} ${classes.collapsed}`}
    >
      {formatCount(count)} more {served ? 'through All databases' : 'that are not served'}
    </Link>
  )
}

/** Width of a character of a name, and of the other parts of its node, px. */
const CHARACTER = 7.8
const NODE_PADDING = 24
const DETAIL = 132

/** Returns the width that the longest name needs, px. */
const widthOf = (names: readonly MapName[]): number =>
  Math.ceil(
    names.reduce((widest, { name, exists, through }) => {
      const detail = exists && through > 0 ? 0 : DETAIL
      return Math.max(widest, (name?.length ?? 0) * CHARACTER + NODE_PADDING + detail)
    }, 240),
  )
