/** Returns why a value does not match its schema: "expected string, received number". */
export const issueReason = ({ message }: { readonly message: string }): string =>
  message.replace(/^Invalid input: /, '')
