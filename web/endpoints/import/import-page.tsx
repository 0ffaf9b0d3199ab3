import { Link } from '@tanstack/react-router'
import { useHasRole } from '../../shared/session/person.ts'
import { Notice } from '../../shared/ui/feedback/notice.tsx'
import { PageHead } from '../../shared/ui/layout/page-head.tsx'
import { usePageTitle } from '../../shared/ui/layout/use-page-title.ts'
import { formatCount } from '../../shared/ui/text/format-number.ts'
import { ImportForm } from './import-form.tsx'
import { isImporting, useImportRun } from './import-run.ts'

/** The page that imports endpoints from a file, with a preview of the changes. */
export function ImportPage() {
  const mayChange = useHasRole('operator')
  const run = useImportRun()
  const progress =
    isImporting(run) && `${formatCount(run.made + run.unchanged)} of ${formatCount(run.total)}`
  usePageTitle(progress, 'Import', 'Endpoints')
  return (
    <>
      <PageHead title="Import endpoints" action={<Link to="/endpoints">All endpoints</Link>} />
      {mayChange ? (
        <ImportForm />
      ) : (
        <Notice>You are a viewer. Only operators and admins can change endpoints.</Notice>
      )}
    </>
  )
}
