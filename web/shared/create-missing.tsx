import { useHasRole } from '../api/session/person.ts'
import { keepFocus } from '../ui/layout/keep-focus.ts'
import { useCreateDatabase } from './create-database.ts'
import { showToast } from './toast/toast.ts'

/** Button that creates a database that a mapping names. Viewers do not see it. */
export function CreateMissing({
  name,
  label = `Create “${name}”`,
  tabIndex,
}: {
  name: string
  label?: string
  tabIndex?: number
}) {
  const mayCreate = useHasRole('operator')
  const create = useCreateDatabase({ acceptExisting: true })
  if (!mayCreate) return null
  return (
    <button
      ref={keepFocus}
      type="button"
      className="link-button"
      tabIndex={tabIndex}
      aria-disabled={create.isPending || undefined}
      onClick={() =>
        create.mutate(name, {
          onError: ({ message }) =>
            showToast({ text: `Database ${name} not created`, failures: [{ reason: message }] }),
        })
      }
    >
      {label}
    </button>
  )
}
