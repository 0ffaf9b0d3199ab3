import { NativeSelect, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { addressesQuery } from './queries.ts'

/** Stands in the list for a name that is typed. */
const OTHER = 'other'

const fixed = [
  { value: '127.0.0.1', label: 'This machine only (127.0.0.1)' },
  { value: '0.0.0.0', label: 'Every address (0.0.0.0)' },
]

/** Chooses where an endpoint listens: this machine only, every address, one of them, or a name. */
export function HostField(props: {
  host: string
  fault: string | undefined
  onChange: (host: string) => void
}) {
  const { host, fault, onChange } = props
  const { data: addresses = [] } = useQuery(addressesQuery)
  const [typed, setTyped] = useState(false)
  const every = addresses.some(({ family }) => family === 'IPv6')
    ? [...fixed, { value: '[::]', label: 'Every IPv6 address ([::])' }]
    : fixed
  const own = addresses
    .filter((address) => every.every(({ value }) => value !== address.host))
    .map(({ host, interface: name, loopback }) => ({
      value: host,
      label: loopback ? `This machine only (${host})` : `${host} (${name})`,
    }))
  return (
    <div>
      <NativeSelect
        label="Host"
        data={[...every, ...own, { value: OTHER, label: 'Another name or address…' }]}
        value={typed ? OTHER : host}
        error={typed ? undefined : fault}
        onChange={(event) => {
          const { value } = event.currentTarget
          setTyped(value === OTHER)
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
          autoFocus
          value={host}
          error={fault}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      )}
    </div>
  )
}
