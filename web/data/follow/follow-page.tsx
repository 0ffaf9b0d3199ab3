import { Button, NativeSelect } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import type { FeedView } from '../../../server/contract/feed.ts'
import { ignoreMissing, pollWhileSignedIn } from '../../api/client.ts'
import { feedQuery, removeFeed, setFeed } from '../../api/feed.ts'
import { useHasRole } from '../../api/session/person.ts'
import { CopyWithToken } from '../../shared/copy-with-token.tsx'
import { useReportedMutation } from '../../shared/reports/use-reported-mutation.ts'
import { useOwnRole } from '../../shared/session/role-labels.ts'
import { showToast } from '../../shared/toast/toast.ts'
import { Notice } from '../../ui/feedback/notice.tsx'
import { keepFocus } from '../../ui/layout/keep-focus.ts'
import { Section } from '../../ui/layout/section.tsx'
import { usePageTitle } from '../../ui/layout/use-page-title.ts'
import { ConfirmDialog } from '../../ui/overlay/confirm-dialog.tsx'
import { Fact, Facts } from '../../ui/table/record-details.tsx'
import { CopyLine } from '../../ui/text/copy-line.tsx'
import { formatBytes, formatCount } from '../../ui/text/format-number.ts'
import { CollectionHead } from '../collection-head.tsx'
import { ReadResult } from '../read-result.tsx'
import { type CollectionRef, formatCollection } from '../use-data-location.ts'
import { followWithCurl, followWithJavaScript } from './follow-code.ts'
import classes from './follow-page.module.css'

/** Poll interval of the positions and followers, ms. */
const POLL_MS = 2_000

/** Offered times for which a feed keeps changes. */
const RETAINS = [
  ['1h', '1 hour'],
  ['12h', '12 hours'],
  ['1d', '1 day'],
  ['7d', '7 days'],
  ['30d', '30 days'],
  ['90d', '90 days'],
] as const

/** The Follow page, which turns the feed of a collection on and off, and shows how to follow it. */
export function FollowPage() {
  const { database = '', collection = '' }: Partial<CollectionRef> = useParams({ strict: false })
  const collectionRef = { database, collection }
  const mayChange = useHasRole('editor')
  const ownRole = useOwnRole()
  const query = useQuery({
    ...feedQuery(collectionRef),
    refetchInterval: pollWhileSignedIn(POLL_MS),
  })
  usePageTitle('Follow', collection, database, 'Data')
  return (
    <>
      <CollectionHead database={database} collection={collection} tab="/follow" />
      {!mayChange && (
        <p className={classes.role}>
          {ownRole}. Only editors, operators and admins can turn feeds on and off.
        </p>
      )}
      <ReadResult query={query} what="the feed" database={database}>
        {(feed) =>
          feed === null ? (
            <Off key={formatCollection(collectionRef)} collectionRef={collectionRef} />
          ) : (
            <On key={formatCollection(collectionRef)} collectionRef={collectionRef} feed={feed} />
          )
        }
      </ReadResult>
    </>
  )
}

function Off({ collectionRef }: { collectionRef: CollectionRef }) {
  const mayChange = useHasRole('editor')
  const set = useSetFeed(collectionRef)
  return (
    <>
      <Notice
        action={
          mayChange && (
            <Button
              ref={keepFocus}
              variant="filled"
              aria-disabled={set.isPending || undefined}
              onClick={() => set.mutate({})}
            >
              {set.isPending ? 'Turning on…' : 'Turn on the feed'}
            </Button>
          )
        }
      >
        {collectionRef.collection} has no feed. With a feed, browsers, services and webhooks follow
        its changes in order, and miss none. Each change of a document is then stored twice, for 7
        days unless you choose another time.
      </Notice>
      <Failure error={set.error} />
    </>
  )
}

function On({ collectionRef, feed }: { collectionRef: CollectionRef; feed: FeedView }) {
  const { retain, first, last, changes, bytes, followers } = feed
  // Fixed, so that the code can be selected and copied while the feed moves on.
  const [from] = useState(last)
  const command = followWithCurl(collectionRef, location.origin, from)
  const mayChange = useHasRole('editor')
  const offered = RETAINS.find(([value]) => value === retain)
  return (
    <div className={classes.page} tabIndex={-1}>
      <Section title="Feed">
        <Facts>
          <Fact term="Keeps changes for">{offered?.[1] ?? retain}</Fact>
          <Fact term="Kept changes">
            {formatCount(changes)}, {formatBytes(bytes)}
          </Fact>
          <Fact term="First position" isCode>
            {first}
          </Fact>
          <Fact term="Last position" isCode>
            {last}
          </Fact>
          <Fact term="Followers">{formatCount(followers)} on this node</Fact>
        </Facts>
        {mayChange && <Settings key={retain} collectionRef={collectionRef} retain={retain} />}
      </Section>
      <Section
        title="Follow it"
        note="To copy the collection first, read the last position, list the documents, then follow from that position. A position that is no longer kept gets 410: copy the collection again."
      >
        <div className={classes.code}>
          <div>
            <CopyLine label="curl" text={command} name="the command" />
            <CopyWithToken
              label="curl"
              text={command}
              token={{
                name: `Follow ${formatCollection(collectionRef)}`,
                role: 'viewer',
                database: collectionRef.database,
              }}
            />
          </div>
          <CopyLine
            label="JavaScript"
            text={followWithJavaScript(collectionRef, location.origin, from)}
            name="the JavaScript"
          />
        </div>
        <p className="meta dim">
          <code className="mono">$TOKEN</code> is an API token with the role viewer and the database{' '}
          <span className="mono">{collectionRef.database}</span>. <Link to="/me">Create one</Link>
        </p>
      </Section>
    </div>
  )
}

/** Changes how long the feed keeps changes, and turns it off. */
function Settings({ collectionRef, retain }: { collectionRef: CollectionRef; retain: string }) {
  const { collection } = collectionRef
  const [chosen, setChosen] = useState(retain)
  const [isOpen, setIsOpen] = useState(false)
  const set = useSetFeed(collectionRef)
  const remove = useRemoveFeed(collectionRef)
  const own = RETAINS.some(([value]) => value === retain) ? [] : [retain]
  return (
    <>
      <form
        className={classes.settings}
        onSubmit={(event) => {
          event.preventDefault()
          if (chosen !== retain) set.mutate({ retain: chosen })
        }}
      >
        <NativeSelect
          label="Keep changes for"
          data={[...own, ...RETAINS.map(([value, label]) => ({ value, label }))]}
          value={chosen}
          onChange={(event) => setChosen(event.currentTarget.value)}
        />
        <Button
          type="submit"
          variant="default"
          aria-disabled={set.isPending || chosen === retain || undefined}
          data-unavailable={chosen === retain || undefined}
          data-tip={chosen === retain ? 'There are no changes to save.' : undefined}
        >
          Save
        </Button>
        <Button variant="subtle" data-danger onClick={() => setIsOpen(true)}>
          Turn off the feed
        </Button>
      </form>
      <Failure error={set.error} />
      {isOpen && (
        <ConfirmDialog
          title={`Turn off the feed of ${collection}?`}
          name={collection}
          keep="Keep it"
          error={remove.error?.message ?? ''}
          confirm={{
            label: 'Turn off the feed',
            busy: remove.isPending,
            run: () => remove.mutate(undefined, { onSuccess: () => setIsOpen(false) }),
          }}
          onClose={() => setIsOpen(false)}
        >
          <p>
            The kept changes are deleted and followers are disconnected. If you turn the feed on
            again, they must copy the collection again. Documents will not be changed. Webhooks of
            this collection stop.
          </p>
        </ConfirmDialog>
      )}
    </>
  )
}

function Failure({ error }: { error: Error | null }) {
  return (
    <p role="alert" className={classes.failed}>
      {error?.message}
    </p>
  )
}

/** Turns the feed of a collection on, or changes how long it keeps changes. */
function useSetFeed(collectionRef: CollectionRef) {
  const queryClient = useQueryClient()
  const { collection } = collectionRef
  return useReportedMutation({
    mutationFn: ({ retain }: { retain?: string }) => setFeed(collectionRef, retain),
    change: () => ({ what: `The feed of ${formatCollection(collectionRef)}`, done: 'saved' }),
    onSuccess: (feed, { retain }) => {
      const done = retain === undefined ? 'turned on' : 'saved'
      showToast({ text: `Feed of ${collection} ${done}`, name: collection })
      queryClient.setQueryData(feedQuery(collectionRef).queryKey, feed)
    },
  })
}

/** Turns the feed of a collection off. */
function useRemoveFeed(collectionRef: CollectionRef) {
  const queryClient = useQueryClient()
  const { collection } = collectionRef
  return useReportedMutation({
    mutationFn: () => ignoreMissing(removeFeed(collectionRef)),
    change: () => ({ what: `The feed of ${formatCollection(collectionRef)}`, done: 'turned off' }),
    onSuccess: () => {
      showToast({ text: `Feed of ${collection} turned off`, name: collection })
      queryClient.setQueryData(feedQuery(collectionRef).queryKey, null)
    },
  })
}
