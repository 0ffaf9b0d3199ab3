import { Link } from '@tanstack/react-router'
import { useMay } from '../../person.ts'
import { Notice } from '../../ui/notice.tsx'
import { PageHead } from '../../ui/page-head.tsx'
import { usePageTitle } from '../../ui/use-page-title.ts'
import { sayCount } from '../traffic.ts'
import { ImportForm } from './import-form.tsx'
import { useImportRun } from './import-run.ts'

/** The page where endpoints are taken from a file: what would change first, then the changes. */
export function ImportPage() {
  const mayChange = useMay('operator')
  const run = useImportRun()
  const going = run !== undefined && run.end === undefined
  const progress = going && `${sayCount(run.made)} of ${sayCount(run.changes.length)}`
  usePageTitle(progress, 'Import', 'Endpoints')
  return (
    <>
      <PageHead title="Import endpoints" action={<Link to="/endpoints">All endpoints</Link>} />
      {mayChange ? (
        <ImportForm />
      ) : (
        <Notice>You are a viewer: endpoints are changed by operators.</Notice>
      )}
    </>
  )
}
