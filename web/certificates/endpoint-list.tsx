import { Link } from '@tanstack/react-router'
import classes from './certificates.module.css'

/** Maximum endpoints to list; the rest are counted. */
const MAX_LISTED = 20

/** The endpoints that use a certificate, as links to their panels. */
export function EndpointList({ endpoints }: { endpoints: readonly string[] }) {
  return (
    <ul className={classes.endpoints}>
      {endpoints.slice(0, MAX_LISTED).map((endpoint) => (
        <li key={endpoint}>
          <Link to="/endpoints" search={{ open: endpoint }} className="mono">
            {endpoint}
          </Link>
        </li>
      ))}
      {endpoints.length > MAX_LISTED && (
        <li className="dim">and {endpoints.length - MAX_LISTED} more</li>
      )}
    </ul>
  )
}
