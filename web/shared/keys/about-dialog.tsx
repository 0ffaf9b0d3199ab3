import { useQuery } from '@tanstack/react-query'
import { version } from '../../../package.json'
import { API_BASE } from '../../api/client.ts'
import { nodesQuery } from '../../api/queries.ts'
import { Dialog } from '../../ui/overlay/dialog.tsx'
import { RelativeTime } from '../../ui/text/relative-time.tsx'
import classes from './about-dialog.module.css'

/** Shows the version, and the node that serves the page. */
export function AboutDialog({ onClose }: { onClose: () => void }) {
  const { data: nodes = [] } = useQuery({ ...nodesQuery, staleTime: 0 })
  const own = nodes.find((node) => node.own)
  const store = own?.store === 'postgres' ? 'PostgreSQL' : 'SQLite'
  return (
    <Dialog title="About Gatehouse" width={440} onClose={onClose}>
      <dl className={classes.facts}>
        <dt>Version</dt>
        <dd>{version}</dd>
        {own !== undefined && (
          <>
            <dt>Node</dt>
            <dd>
              <span className="mono">{own.name}</span>
              {nodes.length > 1 && `, one of ${nodes.length}`}
            </dd>
          </>
        )}
        {own?.started !== undefined && (
          <>
            <dt>Started</dt>
            <dd>
              <RelativeTime time={own.started} tabIndex={0} />
            </dd>
            <dt>Store</dt>
            <dd>{store}</dd>
          </>
        )}
        <dt>Documentation</dt>
        <dd>
          The folder <span className="mono">docs</span> of the installation, and the{' '}
          <a href={`${API_BASE}/_api/openapi.json`} target="_blank" rel="noreferrer">
            OpenAPI description
          </a>
        </dd>
      </dl>
    </Dialog>
  )
}
