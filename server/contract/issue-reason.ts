/** Returns why a value does not match its schema: "expected string, received number", "missing". */
export const issueReason = ({ message }: { readonly message: string }): string =>
  message.endsWith(', received undefined') ? 'missing' : message.replace(/^Invalid input: /, '')
