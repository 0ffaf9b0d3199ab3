import type { ImportError } from '../../../server/contract/import.ts'

/** Returns the errors of an import as CSV. */
export const formatErrors = (errors: readonly ImportError[]): string =>
  ['line,pointer,message', ...errors.map(formatError)].map((line) => `${line}\r\n`).join('')

const formatError = ({ line, pointer, message }: ImportError) =>
  [line, quote(pointer), quote(message)].join(',')

const quote = (text: string) => `"${text.replaceAll('"', '""')}"`
