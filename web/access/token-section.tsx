import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { LoadFailure } from '../ui/load-failure.tsx'
import { Notice } from '../ui/notice.tsx'
import { Section } from '../ui/section.tsx'
import { SkeletonRows } from '../ui/skeleton-rows.tsx'
import { tokensQuery } from './queries.ts'
import { RevokeTokenDialog } from './revoke-token-dialog.tsx'
import { TokenTable } from './token-table.tsx'
import { type TokensPath, useTokensLocation } from './use-access-location.ts'

/** What a {@link TokenSection} lists, and where. */
export interface TokenSectionProps {
  readonly title: string
  readonly whose: 'own' | 'everybody'
  readonly path: TokensPath
}

/** Tokens, with the way to make one and to revoke one. */
export function TokenSection({ title, whose, path }: TokenSectionProps) {
  const { data: tokens, error, refetch } = useQuery(tokensQuery(whose))
  const { search, add, revoke } = useTokensLocation(path)
  const asked = tokens?.find(({ id }) => id === search.revoke)
  return (
    <Section
      title={title}
      count={tokens?.length}
      note="A token lets a program ask this server in somebody’s name, with a role and databases of its own."
      action={
        <Button
          variant={whose === 'own' ? 'default' : 'filled'}
          leftSection={<IconPlus size={16} stroke={1.75} aria-hidden="true" />}
          onClick={add}
        >
          Make token
        </Button>
      }
    >
      {tokens === undefined && error === null && <SkeletonRows what="the tokens" />}
      {tokens === undefined && error !== null && (
        <LoadFailure what="The tokens" error={error} onRetry={refetch} />
      )}
      {tokens?.length === 0 && (
        <Notice>
          {whose === 'own' ? 'You have no token.' : 'Nobody has a token.'} Make one for a script, a
          backup or another server.
        </Notice>
      )}
      {tokens !== undefined && tokens.length > 0 && (
        <TokenTable tokens={tokens} withOwner={whose === 'everybody'} onRevoke={revoke} />
      )}
      {search.revoke !== undefined && tokens !== undefined && (
        <RevokeTokenDialog key={search.revoke} token={asked} path={path} />
      )}
    </Section>
  )
}
