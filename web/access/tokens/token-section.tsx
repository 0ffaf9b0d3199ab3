import { useQuery } from '@tanstack/react-query'
import { tokensQuery } from '../../api/queries.ts'
import { Notice } from '../../ui/feedback/notice.tsx'
import { QueryResult } from '../../ui/feedback/query-result.tsx'
import { AddButton } from '../../ui/form/add-button.tsx'
import { Section } from '../../ui/layout/section.tsx'
import { useAccessLocation } from '../use-access-location.ts'
import { RevokeTokenDialog } from './revoke-token-dialog.tsx'
import { TokenTable } from './token-table.tsx'

/** Section that lists tokens, with buttons to create and revoke them. */
export function TokenSection({ whose }: { whose: 'own' | 'everybody' }) {
  const query = useQuery(tokensQuery(whose))
  const { search, addToken, open, close } = useAccessLocation()
  return (
    <Section
      title="Tokens"
      count={query.data?.length}
      note="A token lets a program access this server on a person’s behalf, with its own role and databases."
      action={
        <AddButton variant={whose === 'own' ? 'default' : 'filled'} onClick={addToken}>
          Create token
        </AddButton>
      }
    >
      <QueryResult query={query} what="the tokens">
        {(tokens) => (
          <>
            {tokens.length === 0 ? (
              <Notice>
                {whose === 'own' ? 'You have no tokens.' : 'There are no tokens.'} Create one for a
                script, a backup or another server.
              </Notice>
            ) : (
              <TokenTable
                tokens={tokens}
                withOwner={whose === 'everybody'}
                onRevoke={(revoke) => open({ revoke })}
              />
            )}
            {search.revoke !== undefined && (
              <RevokeTokenDialog
                key={search.revoke}
                token={tokens.find(({ id }) => id === search.revoke)}
                whose={whose}
                onClose={close}
              />
            )}
          </>
        )}
      </QueryResult>
    </Section>
  )
}
