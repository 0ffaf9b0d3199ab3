/** The sections of a policy, with their titles. Each is shown and edited alone. */
export const POLICY_SECTIONS = {
  general: 'General',
  access: 'Who may connect',
  tls: 'TLS',
  documents: 'What clients may do',
  administration: 'Administration',
  pages: 'Web pages',
  limits: 'Limits',
} as const

export type PolicySection = keyof typeof POLICY_SECTIONS

export const isPolicySection = (text: string | undefined): text is PolicySection =>
  text !== undefined && Object.hasOwn(POLICY_SECTIONS, text)

/** Returns whether an endpoint has clients with IP addresses, which a policy can admit. */
export const hasClients = (address: string): boolean => !address.startsWith('unix:')

export const UNIX_CLIENTS =
  'Clients of a Unix socket have no IP address. Every program that may open the socket file can connect.'
