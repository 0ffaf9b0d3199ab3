import { partOfSystemCode } from '../../../server/contract/endpoints/endpoint-check.ts'
import { ApiFailure } from '../../api/client.ts'
import type { Field, FieldErrors } from './endpoint-draft.ts'

const CONFLICT = 1200
const PRECONDITION_FAILED = 412

/** Assigns the server's error message to the form field that it concerns. */
export function toFieldErrors(
  error: Error,
  { scheme, adding }: { scheme: 'tcp' | 'ssl' | 'unix'; adding: boolean },
): FieldErrors {
  return { [fieldOf(error, scheme, adding)]: error.message }
}

function fieldOf(error: Error, scheme: 'tcp' | 'ssl' | 'unix', adding: boolean): Field {
  if (!(error instanceof ApiFailure)) return 'form'
  if (error.field?.startsWith('/databases')) return 'databases'
  if (error.field?.includes('/tls')) return 'certificates'
  // The address of an existing endpoint cannot be edited, so a conflict concerns the mapping.
  if (!adding) return error.errorNum === CONFLICT ? 'databases' : 'form'
  // The precondition `onlyNew` failed: the endpoint already exists.
  if (error.status === PRECONDITION_FAILED) return scheme === 'unix' ? 'path' : 'port'
  if (error.field !== '/endpoint') return 'form'
  return partOfSystemCode(scheme, error.systemCode) ?? 'form'
}
