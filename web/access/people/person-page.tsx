import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import type { Person } from '../../../server/contract/access/principal.ts'
import { peopleQuery, tokensQuery } from '../../api/queries.ts'
import { nameOf } from '../../api/session/person.ts'
import { roleLabels } from '../../shared/session/role-labels.ts'
import { Notice } from '../../ui/feedback/notice.tsx'
import { QueryResult } from '../../ui/feedback/query-result.tsx'
import { Section } from '../../ui/layout/section.tsx'
import { usePageTitle } from '../../ui/layout/use-page-title.ts'
import { Fact, Facts } from '../../ui/table/record-details.tsx'
import { RelativeTime } from '../../ui/text/relative-time.tsx'
import { roleDescriptions, withoutDatabases } from '../roles.ts'
import { RevokeTokenDialog } from '../tokens/revoke-token-dialog.tsx'
import { TokenTable } from '../tokens/token-table.tsx'
import { useAccessLocation } from '../use-access-location.ts'
import classes from './people.module.css'
import { AccessButtons, PeopleDialogs } from './person-access.tsx'
import { SessionList } from './session-list.tsx'

const route = getRouteApi('/access/people/$id')

/** The page of a person: role, sessions, tokens, and where their changes are. */
export function PersonPage() {
  const { id } = route.useParams()
  return (
    <QueryResult query={useQuery(peopleQuery)} what="the person">
      {(people) => {
        const person = people.find((each) => each.id === id)
        return person === undefined ? (
          <Notice action={<Link to="/access/people">Back to the people</Link>}>
            There is no such person.
          </Notice>
        ) : (
          <>
            <PersonSections person={person} />
            <PeopleDialogs people={people} />
          </>
        )
      }}
    </QueryResult>
  )
}

function PersonSections({ person }: { person: Person }) {
  const name = nameOf(person)
  usePageTitle(name, 'People', 'Access')
  return (
    <>
      <p className={classes.back}>
        <Link to="/access/people">All people</Link>
      </p>
      <Section
        title={name}
        note={roleDescriptions[person.role]}
        action={<AccessButtons person={person} />}
      >
        <Facts>
          <Fact term="Username" isCode>
            {person.username}
          </Fact>
          <Fact term="Role">
            {roleLabels[person.role]}
            {person.roleSource === 'groups' && ', from groups'}
          </Fact>
          <Fact term="Databases" isCode={person.databases !== null}>
            {withoutDatabases(person.role) ?? person.databases?.join(', ') ?? 'All'}
          </Fact>
          <Fact term="Issuer" isCode>
            {person.issuer}
          </Fact>
          <Fact term="First seen">
            <RelativeTime time={person.created} tabIndex={0} />
          </Fact>
          <Fact term="Last sign-in">
            {person.lastSignIn === null ? (
              'Never'
            ) : (
              <RelativeTime time={person.lastSignIn} tabIndex={0} />
            )}
          </Fact>
        </Facts>
      </Section>
      <Section title="Sessions" note="Browsers where this person is signed in.">
        <SessionList of={person.id} />
      </Section>
      <Tokens person={person} />
      <Section title="Activity">
        <p>
          <Link to="/activity" search={{ who: person.username }}>
            Show what {name} did
          </Link>
        </p>
      </Section>
    </>
  )
}

function Tokens({ person }: { person: Person }) {
  const query = useQuery(tokensQuery('everybody'))
  const { search, open, close } = useAccessLocation()
  const own = query.data?.filter(({ ownerId }) => ownerId === person.id)
  return (
    <Section title="Tokens" count={own?.length} note="Programs that act for this person.">
      <QueryResult query={query} what="the tokens">
        {(tokens) => (
          <>
            {own?.length === 0 ? (
              <Notice>{nameOf(person)} has no tokens.</Notice>
            ) : (
              <TokenTable
                tokens={own ?? []}
                withOwner={false}
                onRevoke={(revoke) => open({ revoke })}
              />
            )}
            {search.revoke !== undefined && (
              <RevokeTokenDialog
                key={search.revoke}
                token={tokens.find(({ id }) => id === search.revoke)}
                whose="everybody"
                onClose={close}
              />
            )}
          </>
        )}
      </QueryResult>
    </Section>
  )
}
