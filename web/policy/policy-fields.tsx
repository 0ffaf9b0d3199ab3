import { NativeSelect, Textarea, TextInput } from '@mantine/core'
import { useQueries } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { includesDatabase, SYSTEM_DATABASE } from '../../server/contract/database.ts'
import type { Policy } from '../../server/contract/endpoints/policy.ts'
import { useAllDatabases } from '../api/all-databases.ts'
import { collectionsQuery } from '../api/queries.ts'
import { useIsServedHere } from '../api/session/use-is-served-here.ts'
import type { DraftForm } from '../shared/forms/use-draft-form.ts'
import { ChoiceGroup } from '../ui/form/choice-group.tsx'
import { CodeInput } from '../ui/form/code-input.tsx'
import lines from '../ui/form/lines.module.css'
import { BELOW, Lines } from '../ui/form/lines.tsx'
import { exactTime } from '../ui/text/relative-time.tsx'
import { describeRules } from './describe-policy.ts'
import classes from './policy-dialog.module.css'
import { fromLines, type PolicyDraft } from './policy-draft.ts'
import type { PolicySection } from './policy-sections.ts'
import { hasClients, UNIX_CLIENTS } from './rule-changes.ts'
import { TlsFields } from './tls-fields.tsx'

export interface PolicyFieldsProps {
  readonly form: DraftForm<PolicyDraft>
  readonly section: PolicySection
  readonly address: string
  readonly mapping: readonly string[]
  /** The edited policy, which the sentences describe. */
  readonly policy: Policy
}

/** The fields of one section of a policy. A sentence below each rule says what it does. */
export function PolicyFields({ form, section, address, mapping, policy }: PolicyFieldsProps) {
  const { values: draft, setValues } = form
  const says = describeRules(policy, mapping)
  const fields: Readonly<Record<PolicySection, () => ReactNode>> = {
    general: () => (
      <>
        <div className={classes.pair}>
          <NativeSelect
            label="Removal"
            data-autofocus
            data={removals}
            description={describeRemoval(policy.closesAt)}
            inputWrapperOrder={BELOW}
            {...form.getInputProps('closes')}
          />
          {draft.closes === 'at' && (
            <TextInput
              type="datetime-local"
              label="Time of removal"
              {...form.getInputProps('closesAt')}
            />
          )}
        </div>
        <Textarea
          label="Note"
          description="Shown wherever the address is shown."
          inputWrapperOrder={BELOW}
          classNames={{ input: lines.lines ?? '' }}
          rows={2}
          {...form.getInputProps('note')}
        />
      </>
    ),
    access: () => (
      <>
        {hasClients(address) ? (
          <>
            <ChoiceGroup
              label="Clients"
              first
              choices={[
                { value: 'all', label: 'All clients' },
                {
                  value: 'only',
                  label: 'Only these networks',
                  detail: (
                    <Lines
                      aria-label="Networks that may connect"
                      className={classes.detail ?? ''}
                      placeholder={'192.0.2.0/24\n2001:db8::/32'}
                      {...form.getInputProps('allow')}
                    />
                  ),
                },
              ]}
              value={draft.clients}
              onChange={(clients) => setValues({ clients })}
            />
            <Lines
              label="Blocked"
              description="One address or range per line. Blocked clients are rejected even if their network may connect."
              placeholder="198.51.100.7"
              {...form.getInputProps('deny')}
            />
            <Sentence text={says.clients} />
          </>
        ) : (
          <Sentence text={UNIX_CLIENTS} />
        )}
      </>
    ),
    tls: () => <TlsFields form={form} says={says.tls} />,
    documents: () => (
      <>
        <ChoiceGroup
          label="Documents"
          first
          inline
          choices={[
            { value: 'write', label: 'Read and write' },
            { value: 'read', label: 'Read-only' },
          ]}
          value={draft.documents}
          note={says.documents}
          onChange={(documents) => setValues({ documents })}
        />
        <ChoiceGroup
          label="Without a token"
          choices={[
            { value: 'none', label: 'Nothing' },
            { value: 'all', label: 'Read all collections' },
            {
              value: 'some',
              label: 'Read these collections',
              detail: <CollectionsField form={form} mapping={mapping} />,
            },
          ]}
          value={draft.anonymous}
          note={`${says.anonymous} ${SYSTEM_DATABASE} always needs one.`}
          onChange={(anonymous) => setValues({ anonymous })}
        />
      </>
    ),
    administration: () => (
      <>
        <ChoiceGroup
          label="Console, sign-in and API of the administration"
          first
          inline
          choices={[
            { value: 'on', label: 'As mapped' },
            { value: 'off', label: 'None here' },
          ]}
          value={draft.administration}
          note={says.administration}
          onChange={(administration) => setValues({ administration })}
        />
      </>
    ),
    pages: () => (
      <>
        <ChoiceGroup
          label="Pages of other origins (CORS)"
          first
          choices={[
            { value: 'none', label: 'None' },
            { value: 'all', label: 'All origins' },
            {
              value: 'some',
              label: 'These origins',
              detail: (
                <Lines
                  aria-label="Origins"
                  className={classes.detail ?? ''}
                  placeholder="https://app.example"
                  {...form.getInputProps('origins')}
                />
              ),
            },
          ]}
          value={draft.pages}
          note={says.cors}
          onChange={(pages) => setValues({ pages })}
        />
        {draft.pages !== 'none' && (
          <div className={classes.pair}>
            <CodeInput
              label="Kept by browsers (seconds)"
              placeholder="600"
              inputMode="numeric"
              {...form.getInputProps('maxAge')}
            />
          </div>
        )}
      </>
    ),
    limits: () => (
      <>
        <div className={classes.three}>
          <CodeInput
            label="Requests per second"
            data-autofocus
            placeholder="not limited"
            inputMode="decimal"
            {...form.getInputProps('rate')}
          />
          <CodeInput
            label="At once"
            placeholder="those of one second"
            inputMode="numeric"
            {...form.getInputProps('burst')}
          />
          <NativeSelect
            label="Counted for each"
            data={[
              { value: 'client', label: 'Client' },
              { value: 'token', label: 'Token' },
              { value: 'endpoint', label: 'Endpoint' },
            ]}
            {...form.getInputProps('by')}
          />
        </div>
        <Sentence text={says.rate} />
        <div className={classes.pair}>
          <CodeInput
            label="Connections"
            placeholder="not limited"
            inputMode="numeric"
            description={says.connections}
            inputWrapperOrder={BELOW}
            {...form.getInputProps('connections')}
          />
          <CodeInput
            label="Size of a request body"
            placeholder="limit of the server"
            description={says.bodies}
            inputWrapperOrder={BELOW}
            {...form.getInputProps('bodySize')}
          />
        </div>
      </>
    ),
  }
  return fields[section]()
}

/** Maximum number of databases whose collections are listed. */
const MAX_DATABASES = 20

/** Suggests the collections of an endpoint, and warns of entered names that no database has. */
function CollectionsField({ form, mapping }: Pick<PolicyFieldsProps, 'form' | 'mapping'>) {
  const isServedHere = useIsServedHere()
  const all = useAllDatabases() ?? []
  const own = all.filter((name) => name !== SYSTEM_DATABASE && includesDatabase(mapping, name))
  const listed = own.length > MAX_DATABASES ? [] : own.filter(isServedHere)
  const lists = useQueries({ queries: listed.map((database) => collectionsQuery(database)) })
  const names = new Set(lists.flatMap(({ data = [] }) => data.map(({ name }) => name)))
  const entered = fromLines(form.values.collections)
  const isComplete = listed.length === own.length && lists.every(({ isSuccess }) => isSuccess)
  const offered = [...names].filter((name) => !entered.includes(name)).slice(0, 10)
  const unknown = own.length > 0 && isComplete ? entered.filter((name) => !names.has(name)) : []
  const add = (name: string) => form.setValues({ collections: [...entered, name].join('\n') })
  return (
    <div className={classes.detail}>
      <Lines
        aria-label="Collections that can be read without a token"
        placeholder={'articles\nnotes'}
        {...form.getInputProps('collections')}
      />
      {offered.map((name) => (
        <button key={name} type="button" className="link-button meta" onClick={() => add(name)}>
          Add {name}
        </button>
      ))}
      {unknown.slice(0, 3).map((name) => (
        <p key={name} className="warning">
          No database of this endpoint has a collection {name}.
        </p>
      ))}
    </div>
  )
}

const removals = [
  { value: 'never', label: 'Never' },
  { value: '1h', label: 'In 1 hour' },
  { value: '8h', label: 'In 8 hours' },
  { value: '2d', label: 'In 2 days' },
  { value: '7d', label: 'In 7 days' },
  { value: 'at', label: 'At a time…' },
]

function describeRemoval(closesAt: string | undefined): string {
  if (closesAt === undefined) return 'The endpoint stays until it is removed by hand.'
  const moment = Date.parse(closesAt)
  return `The endpoint is removed on ${exactTime(moment)}. Open connections can finish.`
}

const Sentence = ({ text }: { text: string }) => <p className={classes.sentence}>{text}</p>
