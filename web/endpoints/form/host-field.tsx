import { NativeSelect, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { AddressList } from '../../server/contract/listener.ts'
import { addressesQuery } from './queries.ts'

/** Stands in the list for a name that is typed. */
const OTHER = 'other'

/** Chooses where an endpoint listens: this machine only, every address, one of them, or a name. */
export function HostField(props: {
  host: string
  fault: string | undefined
  onChange: (host: string) => void
}) {
  const { host, fault, onChange } = props
  const { data: addresses, isPending } = useQuery(addressesQuery)
  const [asked, setAsked] = useState(false)
  const choices = hostChoices(addresses ?? [])
  const listed = choices.some(({ value }) => value === host)
  // One that is not in the list was typed, say before a reload, or stands in another endpoint.
  const typed = asked || (!listed && !isPending)
  const shown = listed || typed ? choices : [...choices, { value: host, label: host }]
  return (
    <div>
      <NativeSelect
        label="Host"
        data={[...shown, { value: OTHER, label: 'Another name or address…' }]}
        value={typed ? OTHER : host}
        error={typed ? undefined : fault}
        onChange={(event) => {
          const { value } = event.currentTarget
          setAsked(value === OTHER)
          onChange(value === OTHER ? '' : value)
        }}
      />
      {typed && (
        <TextInput
          mt={8}
          aria-label="Name or address of the host"
          placeholder="db.example.com"
          classNames={{ input: 'mono' }}
          spellCheck={false}
          autoComplete="off"
          autoFocus={asked}
          value={host}
          error={fault}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      )}
    </div>
  )
}

/** This machine only and every address first, then each address of this machine. */
function hostChoices(addresses: AddressList): { value: string; label: string }[] {
  const v6 = addresses.some(({ family }) => family === 'IPv6')
  const first = [
    { value: '127.0.0.1', label: 'This machine only (127.0.0.1)' },
    { value: '0.0.0.0', label: 'Every address (0.0.0.0)' },
    ...(v6 ? [{ value: '[::]', label: 'Every IPv6 address ([::])' }] : []),
  ]
  const own = addresses
    .filter((address) => first.every(({ value }) => value !== address.host))
    .map(({ host, interface: name, loopback }) => ({
      value: host,
      label: loopback ? `This machine only (${host})` : `${host} (${name})`,
    }))
  return [...first, ...own]
}
