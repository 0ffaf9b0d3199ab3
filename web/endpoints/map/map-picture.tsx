import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { StateBadge } from '../../shared/ui/feedback/state-badge.tsx'
import { formatList } from '../model/list/format-list.ts'
import { formatCount } from '../model/traffic.ts'
import { AddressText } from '../table/cells/address-text.tsx'
import { ALL, type MapGraph, type MapGroup, type MapName } from './map-graph.ts'
import { positionOf } from './map-layout.ts'
import classes from './map-picture.module.css'

/** Height of a node including its spacing, px. */
const NODE_HEIGHT = 40

/**
 * Draws endpoints at the left, databases at the right, and lines between them, with a heavier line
 * for the default. Hovering or focusing a node highlights its lines.
 */
export function MapPicture({ graph, onShow }: { graph: MapGraph; onShow: (id: string) => void }) {
  const { groups, names, lines } = graph
  const [lit, setLit] = useState<string>()
  const height = Math.max(groups.length, names.length) * NODE_HEIGHT
  const left = positions(groups, height)
  const right = positions(names, height)
  const isLit = ({ group, name }: { group: string; name: string }) =>
    lit === `g ${group}` || lit === `n ${name}`
  const related = new Set(
    lines.filter(isLit).flatMap(({ group, name }) => [`g ${group}`, `n ${name}`]),
  )
  const node = (key: string, top: number, content: ReactNode, more: object = {}) => (
    <li
      key={key}
      className={classes.node}
      style={{ top: top - NODE_HEIGHT / 2 }}
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
    <figure className={classes.map} aria-label="Endpoints and the databases they serve">
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
            positionOf(left, group.id),
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
            const from = positionOf(left, line.group)
            const to = positionOf(right, line.name)
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
            positionOf(right, name.id),
            <NameNode name={name} joined={joined.has(name.id)} />,
            {
              'data-missing': !name.exists || undefined,
            },
          ),
        )}
      </ul>
      <figcaption className={classes.key}>
        <svg viewBox="0 0 24 8" width="24" height="8" aria-hidden="true">
          <path d="M0 4H24" data-default="" />
        </svg>
        default: gets the requests that name no database
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
  const joined = formatList(served.map((name) => titles.get(name) ?? name))
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
      <Link to="/databases" className={classes.control}>
        All databases
      </Link>
    )
  }
  if (!exists) {
    return (
      <Link to="/endpoints" search={{ q: `db:${name}` }} className={classes.control}>
        <span className={`mono ${classes.name}`}>{name}</span>
        <span className={classes.detail}> does not exist yet</span>
      </Link>
    )
  }
  return (
    <Link to="/databases" search={{ open: name }} className={classes.control}>
      <span className={`mono ${classes.name}`}>{name}</span>
      {through === 0 && <span className={classes.detail}> not served</span>}
      {through > 0 && !joined && <span className={classes.detail}> through All databases</span>}
    </Link>
  )
}

/** Returns the vertical center of each node. The shorter side is spread over the full height. */
function positions(nodes: readonly { readonly id: string }[], height: number): Map<string, number> {
  return new Map(nodes.map(({ id }, at) => [id, ((at + 0.5) * height) / nodes.length]))
}
