import { NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import type { AddressList } from '../../../server/contract/endpoints/listener.ts'
import { CodeInput } from '../../ui/form/code-input.tsx'
import { addressesQuery } from '../queries.ts'
import { type AddressDraft, splitAddress } from './split-address.ts'

/** The value of the option for typing a name or address. */
const OTHER = 'other'

/**
 * Selects the address on which an endpoint listens: loopback, all addresses, an address of this
 * machine, or a typed one. Pasting a whole address fills the other fields at once; a typed one
 * fills them when the field loses the focus.
 */
export function HostField(props: {
  host: string
  error: ReactNode
  onChange: (changes: Partial<AddressDraft>) => void
}) {
  const { host, error, onChange } = props
  const { data: addresses, isPending } = useQuery(addressesQuery)
  const [isTyping, setIsTyping] = useState(false)
  const choices = hostChoices(addresses ?? [])
  const listed = choices.some(({ value }) => value === host)
  // A host that is not in the list was typed, for example before a reload, or copied from another
  // endpoint.
  const typed = isTyping || (!listed && !isPending)
  const shown = listed || typed ? choices : [...choices, { value: host, label: host }]
  return (
    <div>
      <NativeSelect
        label="Host"
        data={[...shown, { value: OTHER, label: 'Another name or address…' }]}
        value={typed ? OTHER : host}
        error={typed ? undefined : error}
        onChange={(event) => {
          const { value } = event.currentTarget
          setIsTyping(value === OTHER)
          onChange({ host: value === OTHER ? '' : value })
        }}
      />
      {typed && (
        <CodeInput
          mt={8}
          aria-label="Host name or address"
          placeholder="db.example.com"
          autoFocus={isTyping}
          value={host}
          error={error}
          onChange={({ currentTarget: { value } }) =>
            onChange(value.length > host.length + 1 ? splitAddress(value) : { host: value })
          }
          onBlur={() => {
            const split = splitAddress(host)
            if (split.host !== host) onChange(split)
          }}
        />
      )}
    </div>
  )
}

/** Returns loopback and the wildcard addresses first, then each address of this machine. */
function hostChoices(addresses: AddressList): { value: string; label: string }[] {
  const v6 = addresses.some(({ family }) => family === 'IPv6')
  const first = [
    { value: '127.0.0.1', label: 'This machine only (127.0.0.1)' },
    { value: '0.0.0.0', label: 'All addresses (0.0.0.0)' },
    ...(v6 ? [{ value: '[::]', label: 'All IPv6 addresses ([::])' }] : []),
  ]
  const ownAddresses = addresses
    .filter((address) => first.every(({ value }) => value !== address.host))
    .map(({ host, interface: name, loopback }) => ({
      value: host,
      label: loopback ? `This machine only (${host})` : `${host} (${name})`,
    }))
  return [...first, ...ownAddresses]
}
