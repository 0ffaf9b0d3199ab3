import { Button, NativeSelect } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { PolicyInput } from '../../server/contract/endpoints/policy.ts'
import { usePresence } from '../api/session/person.ts'
import { CodeInput } from '../ui/form/code-input.tsx'
import { ownAddressQuery, type TestedRequest, testPolicy } from './policy-requests.ts'
import classes from './request-test.module.css'
import { hasClients } from './rule-changes.ts'

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

const credentials = [
  { value: 'none', label: 'No token' },
  { value: 'invalid', label: 'An invalid token' },
  { value: 'viewer', label: 'Role viewer' },
  { value: 'editor', label: 'Role editor' },
  { value: 'operator', label: 'Role operator' },
  { value: 'admin', label: 'Role admin' },
]

/** Tells which rule of a policy decides on a request, without sending the request. */
export function RequestTest({ address, policy }: { address: string; policy: PolicyInput | null }) {
  const { person } = usePresence()
  const { data: own } = useQuery(ownAddressQuery(person.id))
  const takesClient = hasClients(address)
  const [client, setClient] = useState<string>()
  const [typed, setTyped] = useState<Omit<TestedRequest, 'client'>>({
    credential: 'none',
    method: 'GET',
    path: '/articles',
    origin: '',
  })
  const shownClient = client ?? own ?? ''
  const test = useMutation({
    mutationFn: async (request: TestedRequest) => ({
      ...(await testPolicy(address, policy, request)),
      policy,
    }),
  })
  const run = () =>
    test.mutate({ ...typed, client: takesClient && shownClient !== '' ? shownClient : null })
  const change = (change: Partial<TestedRequest>) => {
    test.reset()
    setTyped((now) => ({ ...now, ...change }))
  }
  // A result for another version of the policy would mislead.
  const isCurrent = JSON.stringify(test.data?.policy) === JSON.stringify(policy)
  const result = isCurrent && test.data !== undefined ? test.data : undefined
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        run()
      }}
    >
      <p className="meta dim">Shows which rule of the policy decides. The request is not sent.</p>
      <div className={classes.fields}>
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
        {takesClient && (
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
          type="submit"
          aria-disabled={test.isPending || undefined}
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
    </form>
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
