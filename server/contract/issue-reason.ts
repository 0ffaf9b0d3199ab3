import type * as z from 'zod/mini'

/** Maximum length of an unknown key in a reason, characters. */
const KEY_LENGTH = 64

/** Returns why a value does not match its schema: "expected string, received number", "missing". */
export function issueReason(issue: z.core.$ZodIssue): string {
  const { message } = issue
  if (issue.code === 'unrecognized_keys' && message.startsWith('Unrecognized key')) {
    return unknownKeys(issue.keys)
  }
  return message.endsWith(', received undefined')
    ? 'missing'
    : message.replace(/^Invalid input: /, '')
}

/** Names the first key only: there can be thousands. */
function unknownKeys([first = '', ...others]: readonly string[]): string {
  const key = JSON.stringify(first.slice(0, KEY_LENGTH))
  return others.length === 0 ? `unknown key ${key}` : `unknown key ${key} and ${others.length} more`
}
