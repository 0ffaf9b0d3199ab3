import type { Person } from '../../server/contract/person.ts'
import { nameOf } from '../person.ts'
import { Dialog } from '../ui/dialog.tsx'
import { SessionList } from './session-list.tsx'
import { usePeopleLocation } from './use-access-location.ts'

/** The open sessions of somebody else, in a dialog. */
export function SessionsDialog({ person }: { person: Person }) {
  const { close } = usePeopleLocation()
  return (
    <Dialog title={`Sessions of ${nameOf(person)}`} width={720} onClose={close}>
      <SessionList of={person.id} />
    </Dialog>
  )
}
