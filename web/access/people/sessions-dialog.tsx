import type { Person } from '../../../server/contract/access/person.ts'
import { nameOf } from '../../shared/session/person.ts'
import { Dialog } from '../../shared/ui/overlay/dialog.tsx'
import { usePeopleLocation } from '../use-access-location.ts'
import { SessionList } from './session-list.tsx'

/** Dialog with the open sessions of another person. */
export function SessionsDialog({ person }: { person: Person }) {
  const { close } = usePeopleLocation()
  return (
    <Dialog title={`Sessions of ${nameOf(person)}`} width={720} onClose={close}>
      <SessionList of={person.id} />
    </Dialog>
  )
}
