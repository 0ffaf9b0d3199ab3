import { Button, Menu } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { isRestorable } from '../../../server/contract/audit-action.ts'
import { leadOf, stateOf } from '../../../server/contract/endpoints/listener-state.ts'
import type { Policy } from '../../../server/contract/endpoints/policy.ts'
import { useHasRole, useOwnEndpoint } from '../../api/session/person.ts'
import { useDialogNavigation } from '../../shared/use-dialog-navigation.ts'
import { StateBadge } from '../../ui/feedback/state-badge.tsx'
import { IconDots } from '../../ui/icon/icons.tsx'
import { usePhoneScreen } from '../../ui/layout/use-narrow-screen.ts'
import { MenuButton } from '../../ui/overlay/menu-button.tsx'
import { exactTime } from '../../ui/text/relative-time.tsx'
import { preloadForms } from '../load-forms.ts'
import { sumFigures } from '../model/live-figures.ts'
import { StateCell } from '../table/cells/state-cell.tsx'
import { YouAreHere } from '../table/cells/you-are-here.tsx'
import { useEndpointsLocation } from '../use-endpoints-location.ts'
import classes from './panel-head.module.css'
import { endpointLogQuery } from './queries.ts'
import type { PanelEndpoint } from './use-panel-endpoint.ts'

/** The note, the state with its reason, and the actions of an endpoint. */
export function PanelHead(props: {
  endpoint: PanelEndpoint
  /** `undefined` until it is loaded, and for viewers. */
  policy: Policy | undefined
  onClose: () => void
}) {
  const { endpoint, policy, onClose } = props
  const { address, listeners, goneAt } = endpoint
  const mayChange = useHasRole('operator')
  const gone = goneAt !== undefined
  const here = useOwnEndpoint() === address && !gone
  const lead = leadOf(listeners)
  const state = lead === undefined ? 'unknown' : stateOf(lead)
  const { connections } = sumFigures(listeners)
  const reason =
    state === 'failed' ? lead?.error : state === 'closed' && 'Turned off by its policy.'
  return (
    <div className={classes.head}>
      {policy?.note && <p className={classes.note}>{policy.note}</p>}
      <div className={classes.state}>
        {gone && listeners.length === 0 ? (
          <StateBadge state="closed" label="Removed" />
        ) : (
          <StateCell row={{ state, lead, listeners, connections }} />
        )}
        {here && <YouAreHere />}
      </div>
      {reason && <p className={classes.reason}>{reason}</p>}
      {gone && (
        <div role="alert" className={classes.gone}>
          <p>This endpoint was removed. The data shown is from {exactTime(goneAt)}.</p>
          <RemovedActions address={address} onClose={onClose} />
        </div>
      )}
      {mayChange && !gone && <Actions address={address} policy={policy} />}
    </div>
  )
}

/** What can be done about a removed endpoint: restore it, if its removal is in the log. */
export function RemovedActions({ address, onClose }: { address: string; onClose: () => void }) {
  const mayChange = useHasRole('operator')
  const { link } = useDialogNavigation()
  const { data: log } = useQuery({ ...endpointLogQuery(address), enabled: mayChange })
  const removal = log?.rows.find((row) => row.action === 'endpoint.remove' && isRestorable(row))
  return (
    <div className={classes.actions}>
      {mayChange && removal !== undefined && (
        <Button
          variant="default"
          renderRoot={(props) => (
            <Link to="/activity/restore" search={{ row: `${removal.seq}` }} {...props} {...link} />
          )}
        >
          Restore…
        </Button>
      )}
      <Button variant="default" onClick={onClose}>
        Back to the list
      </Button>
    </div>
  )
}

/** On a phone, the last actions are in a menu. */
function Actions({ address, policy }: { address: string; policy: Policy | undefined }) {
  const { changePort, duplicate, switch: turn, remove } = useEndpointsLocation()
  const phone = usePhoneScreen()
  const all = [
    ...(address.startsWith('unix:') ? [] : [{ label: 'Change port…', run: changePort }]),
    { label: 'Duplicate', run: duplicate },
    ...(policy === undefined
      ? []
      : [{ label: policy.enabled === false ? 'Turn on' : 'Turn off', run: turn }]),
    { label: 'Remove', run: remove, danger: true },
  ]
  const shown = phone ? all.slice(0, 2) : all
  const hidden = all.slice(shown.length)
  return (
    <div className={classes.actions}>
      {shown.map(({ label, run, danger }) => (
        <Button
          key={label}
          variant="default"
          data-danger={danger}
          onClick={() => run(address)}
          onPointerEnter={preloadForms}
          onFocus={preloadForms}
        >
          {label}
        </Button>
      ))}
      {hidden.length > 0 && (
        <MenuButton label="More actions" icon={<IconDots />} position="bottom-end">
          {hidden.map(({ label, run, danger }) => (
            <Menu.Item key={label} data-danger={danger} onClick={() => run(address)}>
              {label}
            </Menu.Item>
          ))}
        </MenuButton>
      )}
    </div>
  )
}
