import { Button, NativeSelect } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { type KeyboardEvent, useState } from 'react'
import type { PolicyInput } from '../../server/contract/endpoints/policy.ts'
import { usePresence } from '../api/session/person.ts'
import { CodeInput } from '../ui/form/code-input.tsx'
import classes from './policy-dialog.module.css'
import { FormSection } from './policy-fields.tsx'
import { ownAddressQuery, type TestedRequest, testPolicy } from './policy-requests.ts'

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

const credentials = [
  { value: 'none', label: 'No token' },
  { value: 'invalid', label: 'An invalid token' },
  { value: 'viewer', label: 'Role viewer' },
  { value: 'editor', label: 'Role editor' },
  { value: 'operator', label: 'Role operator' },
  { value: 'admin', label: 'Role admin' },
]

/** Tells which rule of the edited policy decides on a request, without sending the request. */
export function RequestTest(props: {
  address: string
  policy: PolicyInput | null
  /** Whether the form has no errors. */
  isValid: boolean
}) {
  const { address, policy, isValid } = props
  const { person } = usePresence()
  const { data: own } = useQuery(ownAddressQuery(person.id))
  const hasClients = !address.startsWith('unix:')
  const [client, setClient] = useState<string>()
  const [typed, setTyped] = useState<Omit<TestedRequest, 'client'>>({
    credential: 'none',
    method: 'GET',
    path: '/articles',
    origin: '',
  })
  const shownClient = client ?? own ?? ''
  const test = useMutation({
    mutationFn: async (request: TestedRequest) => {
      if (!isValid) throw new Error('Correct the policy first.')
      return { ...(await testPolicy(address, policy, request)), policy, request }
    },
  })
  const run = () =>
    test.mutate({ ...typed, client: hasClients && shownClient !== '' ? shownClient : null })
  const change = (change: Partial<TestedRequest>) => {
    test.reset()
    setTyped((now) => ({ ...now, ...change }))
  }
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    if (event.key !== 'Enter' || event.ctrlKey || event.metaKey) return
    if (!(event.target instanceof HTMLInputElement)) return
    // It would submit the form around it.
    event.preventDefault()
    run()
  }
  // A result for another version of the policy would mislead.
  const isCurrent = JSON.stringify(test.data?.policy) === JSON.stringify(policy)
  const result = isCurrent && test.data !== undefined ? test.data : undefined
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Enter in its fields runs the test
    <div onKeyDown={onKeyDown}>
      <FormSection title="Test a request">
        <p className={classes.sentence}>
          Shows which rule decides with the policy above. The request is not sent.
        </p>
        <div className={classes.three}>
          <NativeSelect
            label="Method"
            data={METHODS}
            value={typed.method}
            onChange={({ currentTarget: { value } }) => change({ method: value })}
          />
          <CodeInput
            label="Path"
            value={typed.path}
            onChange={({ currentTarget: { value } }) => change({ path: value })}
          />
          <NativeSelect
            label="Credential"
            data={credentials}
            value={typed.credential}
            onChange={({ currentTarget: { value } }) =>
              change({ credential: value as TestedRequest['credential'] })
            }
          />
          {hasClients && (
            <CodeInput
              label="Client"
              placeholder="203.0.113.7"
              value={shownClient}
              onChange={({ currentTarget: { value } }) => {
                test.reset()
                setClient(value)
              }}
            />
          )}
          <CodeInput
            label="Origin"
            placeholder="none"
            value={typed.origin}
            onChange={({ currentTarget: { value } }) => change({ origin: value })}
          />
          <Button
            variant="default"
            className={classes.run ?? ''}
            aria-disabled={test.isPending || undefined}
            onClick={run}
          >
            Test
          </Button>
        </div>
        <p
          role="status"
          className={classes.result}
          data-rejected={
            (result ? result.rule !== null && result.rule !== 'cors' : false) || undefined
          }
        >
          {result && describeDecision(result.rule, result.status)}
          {isCurrent || test.data === undefined ? test.error?.message : undefined}
        </p>
      </FormSection>
    </div>
  )
}

type Decision = Awaited<ReturnType<typeof testPolicy>>

const decisions: Readonly<Record<NonNullable<Decision['rule']>, string>> = {
  allow: '“Who may connect” does not admit the client',
  host: 'The host of the request is not that of the endpoint',
  database: 'The endpoint does not serve the database, or the database does not exist',
  administration: 'There is no administration at this endpoint',
  cors: 'The rule for web pages answers this preflight request',
  path: 'There is no such path',
  method: 'The path does not support the method',
  credential: 'The request needs a valid token',
  role: 'The role does not permit the request',
  readOnly: 'Documents can only be read',
  rateLimit: 'The client has sent too many requests',
}

/** Formats the outcome of a test: "Rejected with 403: Documents can only be read." */
export function describeDecision(rule: Decision['rule'], status: Decision['status']): string {
  if (rule === null) return 'Admitted: every rule permits the request.'
  const verb = rule === 'cors' ? 'Answered' : 'Rejected'
  return `${verb} with ${status}: ${decisions[rule]}.`
}
