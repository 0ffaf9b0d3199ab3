import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { databasesQuery } from '../../api/queries.ts'
import { useHasRole } from '../../api/session/person.ts'
import { ImportDialog } from '../../shared/import/import-dialog.tsx'
import { UNREADABLE } from '../../shared/import/import-failure.ts'
import { ImportOutcome } from '../../shared/import/import-outcome.tsx'
import { useImport, useImportForm, useRead } from '../../shared/import/use-import.ts'
import { LoadFailure } from '../../ui/feedback/load-failure.tsx'
import { SkeletonRows } from '../../ui/feedback/skeleton-rows.tsx'
import { RecordSection } from '../../ui/table/record-section.tsx'
import type { Column } from '../../ui/table/record-table.tsx'
import type { BulkFailure } from '../bulk/bulk-store.ts'
import { NotAllowedDialog } from '../form/not-allowed-dialog.tsx'
import { guardedLabel } from '../guard/check-changes.ts'
import { GuardNotice } from '../guard/guard-notice.tsx'
import { useChangeGuard } from '../guard/use-change-guard.ts'
import { AddressText } from '../table/cells/address-text.tsx'
import { DatabaseChips } from '../table/cells/database-chips.tsx'
import { RuleChanges } from '../table/cells/rule-changes.tsx'
import { RuleChips } from '../table/cells/rule-chips.tsx'
import { useEndpointRows } from '../table/use-endpoint-rows.ts'
import { useEndpointsLocation } from '../use-endpoints-location.ts'
import { formatImportResult, formatPlan, formatPlural } from './format-import.ts'
import { useImportEndpoints } from './import-endpoints.ts'
import classes from './import-endpoints-dialog.module.css'
import { readImport } from './import-file.ts'
import { type ImportChange, type ImportPlan, importWarnings, planImport } from './import-plan.ts'

/** Imports endpoints from a file or from text. */
export function ImportEndpointsDialog() {
  return useHasRole('operator') ? <ImportForm /> : <NotAllowedDialog />
}

const WORDS = {
  file: 'JSON in the format of an exported file',
  accept: '.json,application/json',
  text: {
    label: 'Or paste endpoints as JSON',
    placeholder:
      '[\n  {"endpoint": "tcp://127.0.0.1:8530", "databases": ["shop"], "policy": {"readOnly": true}}\n]',
  },
  progress: 'Importing endpoints',
  kept: 'changes that are already made are kept',
  interrupted:
    'An import was interrupted. Some of its changes may have been made. Import again to make the others.',
}

/** Maximum file size in bytes, more than 10,000 endpoints take. */
const MAX_BYTES = 16 * 1024 * 1024

const readFile = async (file: File) =>
  file.size > MAX_BYTES
    ? { error: `${file.name} is larger than 16 MiB. Choose a smaller file.` }
    : { text: await file.text() }

function ImportForm() {
  const { close } = useEndpointsLocation()
  const form = useImportForm('Choose a file, or paste endpoints.', {
    draft: 'import',
    initialValues: {
      /** Whether to remove the endpoints that are not in the file. */
      remove: false,
      /** Whether to remove them after another change failed. */
      removeAnyway: false,
    },
  })
  const { file, text, remove, removeAnyway } = form.values
  const read = useRead(file, readFile)
  const source = file === null ? text : read?.text
  const imported = useMemo(
    () => (source === undefined || source.trim() === '' ? undefined : readImport(source)),
    [source],
  )
  const errors = imported?.ok === false ? imported.errors : []
  const { rows, failure, stateFailure, retry } = useEndpointRows()
  const loadFailure = failure ?? stateFailure
  const { data: databases } = useQuery(databasesQuery)
  const plan = useMemo(
    () => (rows && imported?.ok ? planImport(imported.wanted, rows, remove) : undefined),
    [imported, rows, remove],
  )
  const guard = useChangeGuard(rows ?? [], { named: true })(plan?.changes ?? [])
  const run = useImport(form, useImportEndpoints(), {
    close,
    cancelled: 'The import was cancelled. Changes in progress may have been made.',
    errorsOf: ({ message }) => ({ form: message }),
  })
  const start = () =>
    form.submit(() => {
      const field = file === null ? 'text' : 'file'
      if (fileError !== undefined) return form.showErrors({ file: fileError })
      if (errors.length > 0)
        return form.showErrors({ [field]: `Fix ${formatPlural(errors.length, 'error')} first.` })
      if (plan !== undefined) run.begin({ changes: plan.changes, guard, removeAnyway })
    })
  const fileError = read === null ? UNREADABLE : read?.error
  const count = formatPlural(plan?.changes.length ?? 0, 'change')
  return (
    <ImportDialog
      title="Import endpoints"
      form={form}
      run={run}
      words={WORDS}
      saveLabel={plan ? guardedLabel(guard, 'Import', `Import ${count}`) : 'Import endpoints'}
      danger={guard.disconnects}
      unavailable={plan?.changes.length === 0 ? 'No changes needed.' : guard.refused}
      sentences={plan ? [formatPlan(plan, remove)] : []}
      fileError={fileError}
      errors={errors}
      preview={
        loadFailure !== null ? (
          <LoadFailure
            what={failure === null ? 'The state of the endpoints' : 'The endpoints'}
            error={loadFailure}
            onRetry={retry}
          />
        ) : rows === undefined ? (
          <SkeletonRows what="the endpoints" />
        ) : (
          plan && (
            <>
              <ImportPreview plan={plan} databases={databases} />
              <GuardNotice guard={guard} />
            </>
          )
        )
      }
      outcome={(result) => (
        <ImportOutcome
          summary={formatImportResult(result)}
          errors={result.failures}
          listed={({ endpoint, reason }: BulkFailure) => ({ path: endpoint, message: reason })}
          name="endpoints"
          onClose={close}
        >
          {result.made + result.unchanged < result.total && (
            <Button variant="default" onClick={run.reset}>
              Show remaining changes
            </Button>
          )}
        </ImportOutcome>
      )}
      onStart={start}
      onClose={close}
    >
      <div>
        <label className={classes.option}>
          <input
            type="checkbox"
            checked={remove}
            onChange={(event) => form.setValues({ remove: event.currentTarget.checked })}
          />
          Remove endpoints that are not in the file
        </label>
        {remove && (
          <label className={classes.option}>
            <input
              type="checkbox"
              checked={removeAnyway}
              onChange={(event) => form.setValues({ removeAnyway: event.currentTarget.checked })}
            />
            Remove them even if another change fails
          </label>
        )}
      </div>
    </ImportDialog>
  )
}

/** Warns of likely mistakes, and lists the changes of an import by kind. */
function ImportPreview(props: { plan: ImportPlan; databases: readonly string[] | undefined }) {
  const { plan, databases } = props
  const warnings = importWarnings(plan, databases)
  const isRuled = plan.changes.some(({ policy }) => policy !== undefined)
  const address: Column<ImportChange> = {
    head: 'Address',
    width: isRuled ? 200 : 300,
    cell: (change) => <AddressText address={change.address} />,
  }
  const chips = (head: string, of: (change: ImportChange) => readonly string[] | null) => ({
    head,
    cell: (change: ImportChange) => (
      <DatabaseChips mapping={of(change)} existing={databases} room={4} />
    ),
  })
  const before = chips('Now', (change) => change.before)
  const after = chips('After', (change) => change.after)
  const rules = (side: 'before' | 'after') => ({
    head: 'Rules',
    cell: ({ policy }: ImportChange) => policy?.[side] && <RuleChips policy={policy[side]} />,
  })
  const changed = {
    head: 'Rules',
    cell: ({ policy }: ImportChange) => policy && <RuleChanges {...policy} />,
  }
  const when = (column: Column<ImportChange>) => (isRuled ? [column] : [])
  const lists = [
    { title: 'Removed', kind: 'removed', columns: [address, before, ...when(rules('before'))] },
    { title: 'Changed', kind: 'changed', columns: [address, before, after, ...when(changed)] },
    { title: 'Added', kind: 'added', columns: [address, after, ...when(rules('after'))] },
  ].map((list) => ({ ...list, records: plan.changes.filter(({ kind }) => kind === list.kind) }))
  return (
    <>
      {warnings.length > 0 && (
        <ul className={`warning ${classes.warnings}`} aria-label="Before you import">
          {warnings.map((warning) => (
            <li key={warning}>{warning}</li>
          ))}
        </ul>
      )}
      {plan.changes.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
        <div className={classes.changes} tabIndex={0}>
          {lists.map(
            ({ title, columns, records }) =>
              records.length > 0 && (
                <RecordSection
                  key={title}
                  title={title}
                  columns={columns}
                  records={records}
                  idOf={(change) => change.address}
                />
              ),
          )}
        </div>
      )}
    </>
  )
}
