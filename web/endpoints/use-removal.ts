import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { EndpointRecord } from '../../server/contract/endpoint.ts'
import { announce } from '../ui/announce.tsx'
import { deleteEndpoint } from './endpoint-requests.ts'
import type { EndpointRow } from './endpoint-rows.ts'
import { endpointsQuery } from './queries.ts'
import { readAgain } from './read-again.ts'
import { undo } from './undo.ts'
import { preloadUndo } from './undo-place.tsx'

/** An endpoint to be removed. */
export interface ToRemove {
  readonly row: EndpointRow
  /** Given for the endpoint through which this page came: where its console is then to be had. */
  readonly wayOut?:
    | { readonly to: string | undefined; readonly url: string | undefined }
    | undefined
}

/** Removes an endpoint; afterwards it can be brought back for a while, or, one's own, gone on from. */
export function useRemoval(onDone: () => void) {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: async ({ row, wayOut }: ToRemove) => {
      // The way out is shown by a part of the page that can be loaded only as long as there is one in.
      if (wayOut !== undefined) await preloadUndo()
      return deleteEndpoint(row.address, row.revision)
    },
    onSuccess: (removed, { row, wayOut }) => {
      const { address: endpoint } = row
      announce(`${endpoint} was removed.`)
      // Shown at once, not with the next reading: through one's own there will be none.
      queryClient.setQueryData(endpointsQuery.queryKey, (list: EndpointRecord[] | undefined) =>
        list?.filter((each) => each.endpoint !== endpoint),
      )
      // Removed by somebody else is removed, too, but not ours to bring back.
      if (removed && wayOut === undefined) {
        undo.offer([{ endpoint, databases: [...(row.databases ?? [])] }])
      }
      if (wayOut?.to !== undefined && wayOut.url !== undefined) {
        undo.leadOut({ removed: endpoint, to: wayOut.to, url: wayOut.url })
      }
      void readAgain(queryClient, [endpoint])
      onDone()
    },
  })
}
