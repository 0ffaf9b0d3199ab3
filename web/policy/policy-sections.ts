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
